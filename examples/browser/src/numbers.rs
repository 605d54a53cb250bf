//! Pieces of tensors: their numbers widened, and what they are like.

use weightview::{Bin, Summary};

use crate::fault::{Fault, status};
use crate::file;
use crate::memory::{self, Global};

/// What the host is told of the numbers that were added up. What there is none of is NaN.
#[repr(C)]
pub struct SummaryRecord {
    len: u64,
    finite: u64,
    nans: u64,
    infinities: u64,
    negative_infinities: u64,
    zeros: u64,
    negatives: u64,
    subnormals: u64,
    min: f64,
    max: f64,
    mean: f64,
    std: f64,
}

/// A bar of the histogram.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct BinRecord {
    low: f64,
    high: f64,
    count: u64,
}

/// The most bins of any kind of histogram.
const BINS: usize = 243;

/// The numbers added so far.
static SUMMARY: Global<Option<Summary>> = Global::new(None);

static RECORD: Global<SummaryRecord> = Global::new(SummaryRecord {
    len: 0,
    finite: 0,
    nans: 0,
    infinities: 0,
    negative_infinities: 0,
    zeros: 0,
    negatives: 0,
    subnormals: 0,
    min: 0.0,
    max: 0.0,
    mean: 0.0,
    std: 0.0,
});

static HISTOGRAM: Global<[BinRecord; BINS]> = Global::new([BinRecord { low: 0.0, high: 0.0, count: 0 }; BINS]);

/// Chooses the elements `start` to `end` of the chosen tensor, as a tensor of rank 1.
#[unsafe(no_mangle)]
pub extern "C" fn wv_piece(start: u64, end: u64) -> u32 {
    status(file::tensor().and_then(|tensor| {
        file::choose(tensor.piece(start..end)?);
        Ok(())
    }))
}

/// Widens the bytes of the chosen tensor, or piece, to `f32`.
#[unsafe(no_mangle)]
pub extern "C" fn wv_read_f32(data: usize, data_len: u32, out: usize, elements: u32) -> u32 {
    status(file::tensor().and_then(|tensor| {
        let (data, out) = memory::both((data, data_len as usize), (out, elements as usize))?;
        Ok(tensor.view(data)?.read_f32(out)?)
    }))
}

/// Widens the bytes of the chosen tensor, or piece, to `f64`.
#[unsafe(no_mangle)]
pub extern "C" fn wv_read_f64(data: usize, data_len: u32, out: usize, elements: u32) -> u32 {
    status(file::tensor().and_then(|tensor| {
        let (data, out) = memory::both((data, data_len as usize), (out, elements as usize))?;
        Ok(tensor.view(data)?.read_f64(out)?)
    }))
}

/// Begins a summary, of no numbers yet.
#[unsafe(no_mangle)]
pub extern "C" fn wv_summary_start() {
    SUMMARY.with(|summary| *summary = None);
}

/// Adds the numbers of the chosen tensor, or piece, to the summary.
#[unsafe(no_mangle)]
pub extern "C" fn wv_summary_add(data: usize, data_len: u32) -> u32 {
    status(summarize(data, data_len as usize))
}

fn summarize(data: usize, data_len: usize) -> Result<(), Fault> {
    let added = file::tensor()?.view(memory::input(data, data_len)?)?.summary()?;
    SUMMARY.with(|summary| *summary = Some(summary.map_or(added, |summary| summary.merge(&added))));
    Ok(())
}

/// Where the record of the summary is, of all numbers added so far.
#[unsafe(no_mangle)]
pub extern "C" fn wv_summary() -> *const SummaryRecord {
    let summary = so_far();
    RECORD.with(|record| {
        *record = SummaryRecord {
            len: summary.len(),
            finite: summary.finite(),
            nans: summary.nans(),
            infinities: summary.infinities(),
            negative_infinities: summary.negative_infinities(),
            zeros: summary.zeros(),
            negatives: summary.negatives(),
            subnormals: summary.subnormals(),
            min: summary.min().unwrap_or(f64::NAN),
            max: summary.max().unwrap_or(f64::NAN),
            mean: summary.mean().unwrap_or(f64::NAN),
            std: summary.std().unwrap_or(f64::NAN),
        }
    });
    RECORD.address()
}

/// Makes a histogram of all numbers added so far: 0 bars of one width, 1 octaves, 2 all bins. How many bins it has.
#[unsafe(no_mangle)]
pub extern "C" fn wv_histogram(kind: u32) -> u32 {
    let summary = so_far();
    let histogram = summary.histogram();
    HISTOGRAM.with(|bins| match kind {
        0 => fill(bins, histogram.bars()),
        1 => fill(bins, histogram.octaves()),
        _ => fill(bins, histogram.bins()),
    })
}

/// Where the bins are.
#[unsafe(no_mangle)]
pub extern "C" fn wv_bins() -> *const [BinRecord; BINS] {
    HISTOGRAM.address()
}

fn so_far() -> Summary {
    SUMMARY.with(|summary| summary.unwrap_or(Summary::EMPTY))
}

fn fill(records: &mut [BinRecord], bins: impl Iterator<Item = Bin>) -> u32 {
    let mut len = 0u32;
    for (record, bin) in records.iter_mut().zip(bins) {
        *record = BinRecord { low: bin.low, high: bin.high, count: bin.count };
        len = len.saturating_add(1);
    }
    len
}
