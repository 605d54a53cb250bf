//! What `weightview diff` prints: lines for people, or one JSON document, as it goes.

use std::io::{self, Write};
use std::path::Path;

use weightview::TensorInfo;

use crate::diff::{Counts, Figures, NUMBERS};
use crate::stats_table::short;
use crate::{escape, json, stats_json};

/// What goes where the differences go: first all of names, dtypes and shapes, then all of values, each in the order of
/// the names.
pub(crate) trait Report {
    fn begin(&mut self, a: &Path, b: &Path) -> io::Result<()>;
    fn added(&mut self, info: &TensorInfo<'_>) -> io::Result<()>;
    fn removed(&mut self, info: &TensorInfo<'_>) -> io::Result<()>;
    fn changed(&mut self, a: &TensorInfo<'_>, b: &TensorInfo<'_>) -> io::Result<()>;
    /// Now values follow, if they were asked for.
    fn values(&mut self, asked: bool) -> io::Result<()>;
    fn differs(&mut self, a: &TensorInfo<'_>, b: &TensorInfo<'_>, figures: &Figures) -> io::Result<()>;
    fn end(&mut self, counts: &Counts) -> io::Result<()>;
}

pub(crate) struct Lines<W> {
    out: W,
    json: bool,
    /// Entries of the list that is written.
    entries: usize,
    asked: bool,
}

impl<W: Write> Lines<W> {
    pub(crate) fn new(out: W, json: bool) -> Self {
        Self { out, json, entries: 0, asked: false }
    }

    /// The start of an entry of a JSON list: what it is, and of which tensor.
    fn entry(&mut self, kind: Option<&str>, info: &TensorInfo<'_>) -> io::Result<()> {
        json::separate(&mut self.out, self.entries)?;
        self.entries += 1;
        match kind {
            Some(kind) => write!(self.out, "{{\"kind\":\"{kind}\",\"name\":")?,
            None => write!(self.out, "{{\"name\":")?,
        }
        json::string(&mut self.out, info.name().chars())
    }

    fn one_sided(&mut self, kind: &str, sign: char, info: &TensorInfo<'_>) -> io::Result<()> {
        let (dtype, shape) = (info.dtype(), info.shape());
        if self.json {
            self.entry(Some(kind), info)?;
            return write!(self.out, ",\"dtype\":\"{dtype}\",\"shape\":{shape:?}}}");
        }
        writeln!(self.out, "{sign} {}  {dtype} {shape:?}", escape::text(info.name()))
    }
}

impl<W: Write> Report for Lines<W> {
    fn begin(&mut self, a: &Path, b: &Path) -> io::Result<()> {
        if !self.json {
            return Ok(());
        }
        write!(self.out, "{{\"a\":")?;
        json::string(&mut self.out, a.to_string_lossy().chars())?;
        write!(self.out, ",\"b\":")?;
        json::string(&mut self.out, b.to_string_lossy().chars())?;
        write!(self.out, ",\"tensors\":[")
    }

    fn added(&mut self, info: &TensorInfo<'_>) -> io::Result<()> {
        self.one_sided("added", '+', info)
    }

    fn removed(&mut self, info: &TensorInfo<'_>) -> io::Result<()> {
        self.one_sided("removed", '-', info)
    }

    fn changed(&mut self, a: &TensorInfo<'_>, b: &TensorInfo<'_>) -> io::Result<()> {
        if self.json {
            self.entry(Some("changed"), a)?;
            return write!(
                self.out,
                ",\"dtype\":[\"{}\",\"{}\"],\"shape\":[{:?},{:?}]}}",
                a.dtype(),
                b.dtype(),
                a.shape(),
                b.shape()
            );
        }
        write!(self.out, "! {}  {} {:?} -> ", escape::text(a.name()), a.dtype(), a.shape())?;
        writeln!(self.out, "{} {:?}", b.dtype(), b.shape())
    }

    fn values(&mut self, asked: bool) -> io::Result<()> {
        (self.entries, self.asked) = (0, asked);
        if self.json && asked {
            write!(self.out, "\n],\"values\":[")?;
        }
        Ok(())
    }

    fn differs(&mut self, a: &TensorInfo<'_>, _: &TensorInfo<'_>, figures: &Figures) -> io::Result<()> {
        let Figures { elements, not_finite, numbers } = figures;
        let all = a.elements();
        if self.json {
            self.entry(None, a)?;
            write!(self.out, ",\"count\":{all},\"differing\":{elements},\"not_finite\":{not_finite}")?;
            for (key, number) in NUMBERS.iter().zip(numbers.unwrap_or_default()) {
                write!(self.out, ",\"{key}\":{}", stats_json::number(number))?;
            }
            return write!(self.out, "}}");
        }
        write!(self.out, "~ {}  {elements} of {all} elements differ", escape::text(a.name()))?;
        if let Some(numbers) = numbers {
            let [max_abs, max_rel, rms, cosine] = numbers.map(|number| number.map_or("-".into(), short));
            write!(self.out, ": by up to {max_abs}, relatively {max_rel}; rms {rms}, cosine {cosine}")?;
        }
        if *not_finite > 0 {
            write!(self.out, "; {not_finite} of them are not finite")?;
        }
        writeln!(self.out)
    }

    fn end(&mut self, counts: &Counts) -> io::Result<()> {
        let Counts { same, added, removed, changed, values } = *counts;
        if self.json {
            let values = if self.asked { format!(",\"values\":{values}") } else { String::new() };
            writeln!(
                self.out,
                "\n],\"equal\":{},\"total\":{{\"same\":{same},\"added\":{added},\"removed\":{removed},\"changed\":{changed}{values}}}}}",
                counts.are_equal()
            )?;
        } else {
            write!(self.out, "Total: {same} tensors the same, {added} added, {removed} removed, {changed} changed")?;
            match self.asked {
                true => writeln!(self.out, ", {values} with other values")?,
                false => writeln!(self.out, "; values were not compared (--values)")?,
            }
        }
        self.out.flush()
    }
}
