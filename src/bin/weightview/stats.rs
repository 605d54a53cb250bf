//! `weightview stats`: what are the numbers in these files like?

use std::io::{self, BufWriter};
use std::path::Path;
use std::process::ExitCode;

use weightview::safetensors::Header;
use weightview::{Dtype, Summary, TensorInfo, TensorView};

use crate::cli::StatsArgs;
use crate::fault::{self, Fault};
use crate::listing::{self, Total};
use crate::ls;
use crate::opened::{Opened, Take};
use crate::stats_json::Json;
use crate::stats_table::Table;
use crate::tensors::{self, Source};

/// What goes where the summaries go, in the order of the tensors' names.
pub(crate) trait Report {
    fn begin(&mut self, files: &[(&Path, Header<'_>)]) -> io::Result<()>;
    /// `None` for a tensor whose numbers cannot be summarised: see [`why_not`].
    fn tensor(&mut self, source: &Source<'_>, summary: Option<&Summary>) -> io::Result<()>;
    fn end(&mut self, totals: &Totals) -> io::Result<()>;
}

/// Sums over all tensors.
#[derive(Default)]
pub(crate) struct Totals {
    pub(crate) total: Total,
    pub(crate) nans: u128,
    pub(crate) infinities: u128,
}

pub(crate) fn run(args: &StatsArgs) -> ExitCode {
    let mut faults = Vec::new();
    let opened = ls::open_all(&args.files, &args.limits.parse_options(), Take::PartOfFiles, &mut faults);
    let (mut files, mut sources) = (Vec::new(), Vec::new());
    for model in opened.iter().flat_map(Opened::model) {
        sources.extend(model.sources());
        files.extend(model.files);
    }
    sources.retain(|source| listing::is_wanted(source.info.name(), &args.filter));
    sources.sort_by(|a, b| a.info.name().cmp(&b.info.name()));
    if !files.is_empty() || args.json {
        let out = BufWriter::with_capacity(64 * 1024, io::stdout().lock());
        let outcome = if args.json {
            report(&files, &sources, &mut Json::new(out))
        } else {
            report(&files, &sources, &mut Table::new(out, args.ascii))
        };
        faults.extend(outcome.err());
    }
    ls::report(&faults)
}

/// Works through the tensors. Whoever closed the pipe has read enough, which is no fault.
fn report(files: &[(&Path, Header<'_>)], sources: &[Source<'_>], report: &mut dyn Report) -> Result<(), Fault> {
    let mut closed = false;
    match summarise(files, sources, report, &mut closed) {
        Err(_) if closed => Ok(()),
        other => other,
    }
}

fn summarise(
    files: &[(&Path, Header<'_>)],
    sources: &[Source<'_>],
    report: &mut dyn Report,
    closed: &mut bool,
) -> Result<(), Fault> {
    // What is not summarised need not be read.
    let to_read: Vec<_> = sources.iter().map(|source| [unread(source)]).collect();

    let mut unwritten = |error: io::Error| {
        *closed = error.kind() == io::ErrorKind::BrokenPipe;
        fault::unwritable(&error)
    };
    report.begin(files).map_err(&mut unwritten)?;
    let mut totals = Totals::default();
    let mut whole = Summary::EMPTY;
    let summary_of = |views: &[TensorView<'_>]| views.first().and_then(|view| view.summary().ok());
    tensors::numbers(&to_read, summary_of, |item, last, summary| {
        whole = summary.map_or(whole, |summary| whole.merge(&summary));
        let Some(source) = sources.get(item).filter(|_| last) else { return Ok(()) };
        totals.total.add(&source.info);
        totals.nans += u128::from(whole.nans());
        totals.infinities += u128::from(whole.infinities());
        let whole = std::mem::replace(&mut whole, Summary::EMPTY);
        let known = why_not(source.info.dtype()).is_none();
        report.tensor(source, known.then_some(&whole)).map_err(&mut unwritten)
    })?;
    report.end(&totals).map_err(unwritten)
}

/// Why the numbers of a dtype have no summary, if they have none.
pub(crate) fn why_not(dtype: Dtype) -> Option<&'static str> {
    match dtype {
        Dtype::C64 => Some("complex numbers have no order"),
        Dtype::F6E2M3 | Dtype::F6E3M2 => Some("the packing of 6-bit floats is not defined"),
        _ => None,
    }
}

/// The tensor, or nothing of it when it has no summary.
fn unread<'a>(source: &Source<'a>) -> Source<'a> {
    let nothing = |info: TensorInfo<'a>| info.piece(0..0).unwrap_or(info);
    match why_not(source.info.dtype()) {
        Some(_) => Source { info: nothing(source.info), ..*source },
        None => *source,
    }
}
