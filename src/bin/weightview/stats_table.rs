//! Summaries for people.

use std::io::{self, Write};
use std::path::Path;

use unicode_width::UnicodeWidthStr as _;
use weightview::safetensors::Header;
use weightview::{Histogram, Summary};

use crate::escape;
use crate::stats::{Report, Totals};
use crate::table;
use crate::tensors::Source;

const HEADINGS: [&str; 11] =
    ["Tensor", "Dtype", "Elements", "Min", "Max", "Mean", "Std", "Zeros", "NaN", "Inf", "Histogram"];

/// One table, printed when all is known, since its columns are as wide as their widest cells. The histogram
/// stands last: it is what may be cut at the edge of a narrow terminal.
pub(crate) struct Table<W> {
    out: W,
    bars: &'static [char; 9],
    rows: Vec<[String; 11]>,
}

impl<W: Write> Table<W> {
    pub(crate) fn new(out: W, ascii: bool) -> Self {
        let bars = if ascii { &[' ', '.', ':', '-', '=', '+', '*', '#', '@'] } else { &BLOCKS };
        Self { out, bars, rows: Vec::new() }
    }

    fn line(&mut self, cells: [&str; 11], widths: [usize; 11]) -> io::Result<()> {
        let mut line = String::new();
        for (i, (cell, width)) in cells.into_iter().zip(widths).enumerate() {
            let space = " ".repeat(width.saturating_sub(cell.width()));
            match i {
                0 => line.extend([cell, &space]),
                10 => line.extend(["  ", cell]),
                _ => line.extend(["  ", &space, cell]),
            }
        }
        writeln!(self.out, "{}", line.trim_end())
    }
}

const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

impl<W: Write> Report for Table<W> {
    fn begin(&mut self, _: &[(&Path, Header<'_>)]) -> io::Result<()> {
        Ok(())
    }

    fn tensor(&mut self, source: &Source<'_>, summary: Option<&Summary>) -> io::Result<()> {
        let info = &source.info;
        let (name, dtype) = (escape::text(info.name()).into_owned(), info.dtype().to_string());
        let elements = info.elements().to_string();
        let float = |number: Option<f64>| number.map_or("-".into(), short);
        let count = |number: u64| number.to_string();
        let cells = match summary {
            Some(summary) => [
                float(summary.min()),
                float(summary.max()),
                float(summary.mean()),
                float(summary.std()),
                count(summary.zeros()),
                count(summary.nans()),
                count(summary.infinities()),
                chart(summary.histogram(), self.bars),
            ],
            None => [const { "-" }; 8].map(Into::into),
        };
        let [min, max, mean, std, zeros, nans, infinities, histogram] = cells;
        self.rows.push([name, dtype, elements, min, max, mean, std, zeros, nans, infinities, histogram]);
        Ok(())
    }

    fn end(&mut self, totals: &Totals) -> io::Result<()> {
        let mut widths = HEADINGS.map(str::len);
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        self.line(HEADINGS, widths)?;
        writeln!(self.out, "{}", "-".repeat(widths.iter().sum::<usize>() + 2 * (widths.len() - 1)))?;
        for row in std::mem::take(&mut self.rows) {
            self.line(row.each_ref().map(String::as_str), widths)?;
        }
        let Totals { total, nans, infinities } = totals;
        writeln!(self.out, "{}, {nans} NaN, {infinities} infinite", table::total(*total))?;
        self.out.flush()
    }
}

/// The histogram as a line of bars: the tallest is the fullest, and what is not empty is never blank.
fn chart(histogram: &Histogram, bars: &[char; 9]) -> String {
    let most = histogram.bars().map(|bar| bar.count).max().unwrap_or(0).max(1);
    let height = |count: u64| (u128::from(count) * 8).div_ceil(u128::from(most)) as usize;
    histogram.bars().filter_map(|bar| bars.get(height(bar.count))).collect()
}

/// A number in four significant digits, with an exponent where it is very large or small.
pub(crate) fn short(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return match number {
            f64::INFINITY => "inf".into(),
            f64::NEG_INFINITY => "-inf".into(),
            _ => "0".into(),
        };
    }
    // After rounding: 999999.9 has seven digits before the point.
    let scientific = format!("{number:.3e}");
    let exponent: i32 = scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let digits = match exponent {
        -4..6 => format!("{number:.*}", usize::try_from(3 - exponent).unwrap_or(0)),
        _ => {
            let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
            return format!("{}e{exponent}", without_zeros(digits));
        }
    };
    without_zeros(&digits).into()
}

/// Without zeros behind the point that say nothing.
fn without_zeros(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn numbers_are_short() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (0.123_456, "0.1235"),
            (0.000_123_456, "0.0001235"),
            (0.000_099_996, "0.0001"),
            (0.000_012_345_6, "1.235e-5"),
            (1234.567, "1235"),
            (65504.0, "65504"),
            (123_456.7, "123457"),
            (999_999.9, "1e6"),
            (3.389_531_4e38, "3.39e38"),
            (5e-324, "4.941e-324"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(short(number), text, "{number:e}");
        }
    }
}
