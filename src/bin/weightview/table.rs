//! A listing for people.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr as _;

use crate::escape;
use crate::listing::{Listing, Row, Total};

const HEADINGS: [&str; 4] = ["Tensor", "Dtype", "Shape", "Offsets"];
/// Between the cells of two columns. A heading that is wider than all its cells may reach into one of these.
const GAP: usize = 2;

/// Prints the table: once through the rows for the widths, once for the lines, so that no line need be kept.
pub(crate) fn write(listing: &Listing<'_>, out: &mut dyn Write) -> io::Result<()> {
    let [name, dtype, shape, offsets] = HEADINGS.map(str::len);
    let mut widths = [name, dtype - 1, shape - 1, offsets - 1];
    for row in listing.rows() {
        for (width, cell) in widths.iter_mut().zip(cells(&row)) {
            *width = (*width).max(cell.width());
        }
    }
    line(out, HEADINGS, widths)?;
    writeln!(out, "{}", "-".repeat(widths.iter().sum::<usize>() + GAP * (HEADINGS.len() - 1)))?;
    for row in listing.rows() {
        line(out, cells(&row).each_ref().map(String::as_str), widths)?;
    }
    writeln!(out, "{}", total(listing.total))
}

fn cells(row: &Row<'_, '_>) -> [String; 4] {
    [
        escape::text(row.name).into_owned(),
        row.dtype.to_string(),
        format!("{:?}", row.shape),
        format!("{}..{}", row.begin, row.end),
    ]
}

/// The name to the left, the rest to the right. The formatter's `width` counts characters, which is not what a
/// terminal does: it is right for all but the name, which are ASCII.
fn line(out: &mut dyn Write, cells: [&str; 4], widths: [usize; 4]) -> io::Result<()> {
    let [name, dtype, shape, offsets] = cells;
    let [name_width, dtype_width, shape_width, offsets_width] = widths.map(|width| width + GAP);
    let dtype_width = dtype_width + name_width - GAP - name.width();
    writeln!(out, "{name}{dtype:>dtype_width$}{shape:>shape_width$}{offsets:>offsets_width$}")
}

/// The last line.
pub(crate) fn total(total: Total) -> String {
    let Total { tensors, parameters, bytes } = total;
    let short = human(bytes).map_or(String::new(), |short| format!(" ({short})"));
    format!("Total: {tensors} tensors, {parameters} parameters, {bytes} bytes{short}")
}

/// Three digits and a unit, for what is longer than that.
fn human(bytes: u128) -> Option<String> {
    let units = ["kB", "MB", "GB", "TB", "PB", "EB"];
    let mut scaled = bytes as f64;
    let mut unit = None;
    for larger in units {
        // 999.5 would be shown as 1000.
        if scaled < 999.5 {
            break;
        }
        scaled /= 1000.0;
        unit = Some(larger);
    }
    let digits = if scaled < 9.995 { 2 } else { usize::from(scaled < 99.95) };
    unit.map(|unit| format!("{scaled:.digits$} {unit}"))
}

#[cfg(test)]
mod tests {
    use super::human;

    #[test]
    fn units() {
        for (bytes, short) in [
            (0, None),
            (999, None),
            (1000, Some("1.00 kB")),
            (9_994, Some("9.99 kB")),
            (9_999, Some("10.0 kB")),
            (99_990, Some("100 kB")),
            (999_499, Some("999 kB")),
            (999_500, Some("1.00 MB")),
            (4_063_479_808, Some("4.06 GB")),
            (u128::from(u64::MAX), Some("18.4 EB")),
        ] {
            assert_eq!(human(bytes).as_deref(), short, "{bytes}");
        }
    }
}
