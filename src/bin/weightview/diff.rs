//! `weightview diff`: what is different between two checkpoints?

use std::io::{self, BufWriter};
use std::process::ExitCode;

use weightview::Dtype;

use crate::cli::DiffArgs;
use crate::compare::{self, Difference};
use crate::diff_report::{Lines, Report};
use crate::fault::{self, Fault};
use crate::ls::{self, USAGE_OR_IO};
use crate::opened::{Model, Opened, Take};
use crate::tensors::{self, Source};

/// The exit status when the checkpoints differ.
const DIFFERENT: u8 = 1;

/// How many tensors are of each kind.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    pub(crate) same: usize,
    pub(crate) added: usize,
    pub(crate) removed: usize,
    pub(crate) changed: usize,
    pub(crate) values: usize,
}

impl Counts {
    pub(crate) fn are_equal(&self) -> bool {
        self.added + self.removed + self.changed + self.values == 0
    }
}

pub(crate) fn run(args: &DiffArgs) -> ExitCode {
    match diff(args) {
        Ok(counts) if counts.are_equal() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(DIFFERENT),
        // Whatever is wrong with either, they could not be compared.
        Err(faults) => {
            let as_trouble = |fault: Fault| Fault { exit: USAGE_OR_IO, ..fault };
            ls::report(&faults.into_iter().map(as_trouble).collect::<Vec<_>>())
        }
    }
}

fn diff(args: &DiffArgs) -> Result<Counts, Vec<Fault>> {
    let options = args.limits.parse_options();
    let (a, b) = both(Opened::open(&args.a, &options, Take::Whole), Opened::open(&args.b, &options, Take::Whole))?;
    let (a, b) = both(a.model(), b.model())?;
    let mut counts = Counts::default();
    let mut closed = false;
    let mut lines = Lines::new(BufWriter::with_capacity(64 * 1024, io::stdout().lock()), args.json);
    match compare(args, &a, &b, &mut lines, &mut counts, &mut closed) {
        Err(_) if closed => Ok(counts), // whoever closed the pipe has read enough
        Err(fault) => Err(vec![fault]),
        Ok(()) => Ok(counts),
    }
}

fn both<A, B>(a: Result<A, Fault>, b: Result<B, Fault>) -> Result<(A, B), Vec<Fault>> {
    match (a, b) {
        (Ok(a), Ok(b)) => Ok((a, b)),
        (a, b) => Err(a.err().into_iter().chain(b.err()).collect()),
    }
}

fn compare(
    args: &DiffArgs,
    a: &Model<'_>,
    b: &Model<'_>,
    report: &mut dyn Report,
    counts: &mut Counts,
    closed: &mut bool,
) -> Result<(), Fault> {
    let (a, b) = (a.sources(), b.sources());
    let pairs = align(&a, &b);
    let mut unwritten = |error: io::Error| {
        *closed = error.kind() == io::ErrorKind::BrokenPipe;
        fault::unwritable(&error)
    };
    report.begin(&args.a, &args.b).map_err(&mut unwritten)?;
    let mut to_compare = Vec::new();
    for pair in &pairs {
        match *pair {
            (Some(a), None) => {
                counts.removed += 1;
                report.removed(&a.info).map_err(&mut unwritten)?;
            }
            (None, Some(b)) => {
                counts.added += 1;
                report.added(&b.info).map_err(&mut unwritten)?;
            }
            (Some(a), Some(b)) => {
                let comparable =
                    a.info.shape() == b.info.shape() && compare::are_comparable(a.info.dtype(), b.info.dtype());
                let alike = a.info.shape() == b.info.shape() && a.info.dtype() == b.info.dtype();
                if !alike {
                    counts.changed += 1;
                    report.changed(&a.info, &b.info).map_err(&mut unwritten)?;
                }
                if args.values && comparable {
                    to_compare.push([*a, *b]);
                } else if alike {
                    counts.same += 1;
                }
            }
            (None, None) => {}
        }
    }
    report.values(args.values).map_err(&mut unwritten)?;
    let mut whole = Difference::default();
    let work = |views: &[weightview::TensorView<'_>]| match views {
        [a, b] => compare::difference(a, b),
        _ => None,
    };
    tensors::numbers(&to_compare, work, |item, last, difference| {
        whole.merge(&difference.unwrap_or_default());
        let Some([a, b]) = to_compare.get(item).filter(|_| last) else { return Ok(()) };
        let whole = std::mem::take(&mut whole);
        if whole.elements > 0 {
            counts.values += 1;
            return report.differs(&a.info, &b.info, &figures(&whole, a.info.dtype())).map_err(&mut unwritten);
        }
        counts.same += usize::from(a.info.dtype() == b.info.dtype());
        Ok(())
    })?;
    report.end(counts).map_err(unwritten)
}

/// What is said of numbers that differ.
pub(crate) struct Figures {
    pub(crate) elements: u64,
    pub(crate) not_finite: u64,
    /// Of F6 there are none: only that bytes differ can be told.
    pub(crate) numbers: Option<[Option<f64>; 4]>,
}

/// Largest absolute and relative difference, root mean square, cosine.
pub(crate) const NUMBERS: [&str; 4] = ["max_abs", "max_rel", "rms", "cosine"];

fn figures(whole: &Difference, dtype: Dtype) -> Figures {
    let numbers = [Some(whole.max_abs), Some(whole.max_rel), whole.rms(), whole.cosine()];
    let known = !matches!(dtype, Dtype::F6E2M3 | Dtype::F6E3M2);
    Figures { elements: whole.elements, not_finite: whole.not_finite, numbers: known.then_some(numbers) }
}

/// The tensors of both, in the order of their names, side by side where the names are the same.
fn align<'s, 'a>(a: &'s [Source<'a>], b: &'s [Source<'a>]) -> Vec<(Option<&'s Source<'a>>, Option<&'s Source<'a>>)> {
    let sorted = |sources: &'s [Source<'a>]| {
        let mut sorted: Vec<_> = sources.iter().collect();
        sorted.sort_by(|a, b| a.info.name().cmp(&b.info.name()));
        sorted.into_iter().peekable()
    };
    let (mut a, mut b) = (sorted(a), sorted(b));
    let mut pairs = Vec::new();
    loop {
        let order = match (a.peek(), b.peek()) {
            (None, None) => return pairs,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(a), Some(b)) => a.info.name().cmp(&b.info.name()),
        };
        pairs.push(match order {
            std::cmp::Ordering::Less => (a.next(), None),
            std::cmp::Ordering::Greater => (None, b.next()),
            std::cmp::Ordering::Equal => (a.next(), b.next()),
        });
    }
}
