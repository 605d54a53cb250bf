//! Summaries for programs, written as they come.

use std::io::{self, Write};
use std::path::Path;

use weightview::safetensors::Header;
use weightview::{Bin, Summary};

use crate::json;
use crate::listing::Total;
use crate::stats::{self, Report, Totals};
use crate::tensors::Source;

pub(crate) struct Json<W> {
    out: W,
    tensors: usize,
}

impl<W: Write> Json<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, tensors: 0 }
    }
}

impl<W: Write> Report for Json<W> {
    fn begin(&mut self, files: &[(&Path, Header<'_>)]) -> io::Result<()> {
        write!(self.out, "{{\"files\":[")?;
        json::files(files, &mut self.out)?;
        write!(self.out, "\n],\"tensors\":[")
    }

    fn tensor(&mut self, source: &Source<'_>, summary: Option<&Summary>) -> io::Result<()> {
        let (info, out) = (&source.info, &mut self.out);
        json::separate(out, self.tensors)?;
        self.tensors += 1;
        write!(out, "{{\"name\":")?;
        json::string(out, info.name().chars())?;
        write!(out, ",\"dtype\":\"{}\",\"shape\":{:?},\"file\":", info.dtype(), info.shape())?;
        json::string(out, source.path.to_string_lossy().chars())?;
        write!(out, ",\"count\":{}", info.elements())?;
        match (summary, stats::why_not(info.dtype())) {
            (Some(summary), _) => numbers(out, summary)?,
            (None, why) => write!(out, ",\"why\":\"{}\"", why.unwrap_or_default())?,
        }
        write!(out, "}}")
    }

    fn end(&mut self, totals: &Totals) -> io::Result<()> {
        let Totals { total: Total { tensors, parameters, bytes }, nans, infinities } = totals;
        writeln!(
            self.out,
            "\n],\"total\":{{\"tensors\":{tensors},\"parameters\":{parameters},\"bytes\":{bytes},\"nans\":{nans},\"infinities\":{infinities}}}}}"
        )?;
        self.out.flush()
    }
}

fn numbers(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    for (key, count) in [
        ("finite", summary.finite()),
        ("nans", summary.nans()),
        ("infinities", summary.infinities()),
        ("negative_infinities", summary.negative_infinities()),
        ("zeros", summary.zeros()),
        ("negatives", summary.negatives()),
        ("subnormals", summary.subnormals()),
    ] {
        write!(out, ",\"{key}\":{count}")?;
    }
    for (key, value) in
        [("min", summary.min()), ("max", summary.max()), ("mean", summary.mean()), ("std", summary.std())]
    {
        write!(out, ",\"{key}\":{}", number(value))?;
    }
    write!(out, ",\"histogram\":[")?;
    for (i, Bin { low, high, count, .. }) in summary.histogram().bars().enumerate() {
        let comma = if i > 0 { "," } else { "" };
        write!(out, "{comma}[{},{},{count}]", number(Some(low)), number(Some(high)))?;
    }
    write!(out, "]")
}

/// The shortest digits that are this number and no other. JSON has no infinities: they are strings.
pub(crate) fn number(number: Option<f64>) -> String {
    match number {
        Some(f64::INFINITY) => "\"Infinity\"".into(),
        Some(f64::NEG_INFINITY) => "\"-Infinity\"".into(),
        Some(finite) => format!("{finite:?}"),
        None => "null".into(),
    }
}
