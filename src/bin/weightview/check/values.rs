//! The numbers: what is none in a tensor of weights.

use weightview::checkpoint::{Catalog, Entry};
use weightview::{Dtype, Summary, TensorView};

use super::report::Finding;
use crate::escape;
use crate::fault::Fault;
use crate::tensors::{self, Source};

/// Counts over a tensor.
#[derive(Clone, Copy, Default)]
struct Counts {
    nans: u64,
    infinities: u64,
    /// Bytes of BOOL other than 0 and 1.
    bools: u64,
}

pub(super) fn check(catalog: &Catalog, findings: &mut Vec<Finding>) -> Result<(), Fault> {
    let whole = catalog.tensors().filter(Entry::is_whole).filter(|entry| may_hold_none(entry.info().dtype()));
    let items: Vec<_> = whole.map(|entry| [Source { path: entry.shard().path(), info: entry.info() }]).collect();
    let mut counts = Counts::default();
    tensors::numbers(&items, count, |item, last, piece| {
        let piece = piece.unwrap_or_default();
        counts.nans += piece.nans;
        counts.infinities += piece.infinities;
        counts.bools += piece.bools;
        if let Some([source]) = items.get(item).filter(|_| last) {
            let Counts { nans, infinities, bools } = std::mem::take(&mut counts);
            let (name, all) = (escape::text(source.info.name()), source.info.elements());
            for (id, count, what, help) in [
                (
                    "nan",
                    nans,
                    "are NaN",
                    "a model with NaNs in its weights gives NaNs: fetch it again, or tell who made it",
                ),
                (
                    "infinity",
                    infinities,
                    "are infinite",
                    "most likely a cast from a wider type: fetch it again, or tell who made it",
                ),
                (
                    "bool-value",
                    bools,
                    "are neither 0 nor 1",
                    "readers disagree on what they are: true, or no value at all",
                ),
            ] {
                if count > 0 {
                    let message = format!("{name}: {count} of {all} elements {what}");
                    let tensor = Some(source.info.name().to_cow().into_owned());
                    findings.push(Finding { tensor, ..Finding::warning(id, message, help) });
                }
            }
        }
        Ok(())
    })
}

/// Whether a tensor of the dtype can hold what is no number.
fn may_hold_none(dtype: Dtype) -> bool {
    dtype == Dtype::Bool || dtype == Dtype::C64 || dtype.is_float() && dtype != Dtype::F4
}

fn count(views: &[TensorView<'_>]) -> Option<Counts> {
    let view = views.first()?;
    Some(match view.dtype() {
        Dtype::Bool => {
            Counts { bools: view.data().iter().filter(|&&byte| byte > 1).count() as u64, ..Counts::default() }
        }
        Dtype::C64 => {
            let mut counts = Counts::default();
            for parts in view.iter::<[f32; 2]>().ok()? {
                let nan = parts.iter().any(|part| part.is_nan());
                counts.nans += u64::from(nan);
                counts.infinities += u64::from(!nan && parts.iter().any(|part| part.is_infinite()));
            }
            counts
        }
        _ => {
            let summary = view.summary().unwrap_or(Summary::EMPTY);
            Counts { nans: summary.nans(), infinities: summary.infinities(), bools: 0 }
        }
    })
}
