//! What a tensor's numbers are like, in one pass and without a heap.

mod histogram;
mod moments;
mod summarizer;

pub use histogram::{Bin, Histogram};

use moments::Moments;
use summarizer::BLOCK;
pub(crate) use summarizer::Summarizer;

use crate::dtype::Dtype;
use crate::element::CastError;
use crate::float;
use crate::view::TensorView;
use crate::widen;

/// What a tensor's numbers are like: [`TensorView::summary`] makes it in one pass.
///
/// Counts, least, greatest and histogram are exact. Mean and standard deviation are summed in `f64`, in an order
/// that keeps them stable: of numbers that are all the same the deviation is exactly 0, numbers far from zero
/// and close to each other do not cancel out, and no sum overflows.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    nans: u64,
    infinities: u64,
    negative_infinities: u64,
    subnormals: u64,
    /// Of the finite numbers.
    low: f64,
    high: f64,
    moments: Moments,
    histogram: Histogram,
}

impl Summary {
    /// Of no numbers: what merging starts from.
    pub const EMPTY: Self = Self {
        nans: 0,
        infinities: 0,
        negative_infinities: 0,
        subnormals: 0,
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
        moments: Moments::EMPTY,
        histogram: Histogram::EMPTY,
    };

    /// How many elements there are.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a count among others")]
    pub const fn len(&self) -> u64 {
        self.finite().saturating_add(self.infinities()).saturating_add(self.nans)
    }

    /// How many are finite numbers.
    #[must_use]
    pub const fn finite(&self) -> u64 {
        self.moments.count()
    }

    /// How many are not a number.
    #[must_use]
    pub const fn nans(&self) -> u64 {
        self.nans
    }

    /// How many are infinite, of either sign.
    #[must_use]
    pub const fn infinities(&self) -> u64 {
        self.infinities.saturating_add(self.negative_infinities)
    }

    /// How many are −∞.
    #[must_use]
    pub const fn negative_infinities(&self) -> u64 {
        self.negative_infinities
    }

    /// How many are 0, of either sign.
    #[must_use]
    pub const fn zeros(&self) -> u64 {
        self.histogram.zeros()
    }

    /// How many are below 0, −∞ among them; −0 is not.
    #[must_use]
    pub fn negatives(&self) -> u64 {
        self.histogram.negatives().saturating_add(self.negative_infinities)
    }

    /// How many are subnormal in the tensor's own dtype: not 0, but smaller than its smallest normal number, with
    /// fewer digits than that.
    #[must_use]
    pub const fn subnormals(&self) -> u64 {
        self.subnormals
    }

    /// The least number; an infinity is one, NaN is not. `None` when there are none. A zero is +0.
    ///
    /// Of I64 and U64 it is the nearest `f64`.
    #[must_use]
    pub fn min(&self) -> Option<f64> {
        let infinity = |there: u64, infinity: f64| (there > 0).then_some(infinity);
        infinity(self.negative_infinities, f64::NEG_INFINITY)
            .or((self.finite() > 0).then_some(self.low + 0.0))
            .or(infinity(self.infinities, f64::INFINITY))
    }

    /// The greatest number, as [`min`](Self::min) is the least.
    #[must_use]
    pub fn max(&self) -> Option<f64> {
        let infinity = |there: u64, infinity: f64| (there > 0).then_some(infinity);
        infinity(self.infinities, f64::INFINITY)
            .or((self.finite() > 0).then_some(self.high + 0.0))
            .or(infinity(self.negative_infinities, f64::NEG_INFINITY))
    }

    /// The mean of the finite numbers; `None` when there are none.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        self.moments.mean().map(|mean| mean.max(self.low).min(self.high) + 0.0)
    }

    /// The standard deviation of the finite numbers, taken as the whole population (what numpy's `std` gives by
    /// default); `None` when there are none.
    #[must_use]
    pub fn std(&self) -> Option<f64> {
        // Rounding could take it past what is possible: half of all numbers at either end.
        self.moments.std().map(|std| std.min(self.high / 2.0 - self.low / 2.0))
    }

    /// How the finite numbers are spread.
    #[must_use]
    pub const fn histogram(&self) -> &Histogram {
        &self.histogram
    }

    /// The summary of the elements of both: threads can each take a part of a tensor.
    ///
    /// What is exact in a summary is exact in this one; mean and deviation are as stable.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors").unwrap();
    /// use weightview::Summary;
    ///
    /// let weight = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.weight")?;
    /// let rows = weight.rows().unwrap().map(|row| row.summary().unwrap());
    /// let merged = rows.fold(Summary::EMPTY, |all, row| all.merge(&row));
    /// assert_eq!(merged.max(), weight.summary().unwrap().max());
    /// # Ok::<(), weightview::Error>(())
    /// ```
    #[must_use]
    pub fn merge(&self, other: &Self) -> Self {
        let (mut both, mut other) = (*self, *other);
        let top = both.histogram.top().max(other.histogram.top());
        both.moments.fit(top);
        other.moments.fit(top);
        both.moments.merge(&other.moments);
        both.histogram.merge(&other.histogram);
        both.low = both.low.min(other.low);
        both.high = both.high.max(other.high);
        both.nans = both.nans.saturating_add(other.nans);
        both.infinities = both.infinities.saturating_add(other.infinities);
        both.negative_infinities = both.negative_infinities.saturating_add(other.negative_infinities);
        both.subnormals = both.subnormals.saturating_add(other.subnormals);
        both
    }
}

impl TensorView<'_> {
    /// What the tensor's numbers are like: least, greatest, mean, standard deviation, how many are zeros, NaNs,
    /// infinities or subnormal, and a histogram, in one pass and without a heap.
    ///
    /// It takes what [`iter_f64`](Self::iter_f64) takes, and I64 and U64, whose numbers are rounded to the nearest
    /// `f64` for it. It needs about 11 KiB of stack, 8 KiB without `std`, and 2 KiB for what it returns.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors").unwrap();
    /// let weight = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.weight")?;
    /// let summary = weight.summary().unwrap();
    /// assert_eq!((summary.len(), summary.nans(), summary.infinities()), (32 * 64, 0, 0));
    /// let (min, mean, max) = (summary.min().unwrap(), summary.mean().unwrap(), summary.max().unwrap());
    /// assert!(min < mean && mean < max && summary.std().unwrap() < max - min);
    /// # Ok::<(), weightview::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`CastError::Dtype`] for C64, whose elements have no order, and for F6, which has no defined packing.
    pub fn summary(&self) -> Result<Summary, CastError> {
        let (dtype, data) = (self.dtype(), self.data());
        let mut summarizer = Summarizer::new(dtype);
        match dtype {
            Dtype::F8E4M3 => summarizer.push_codes(data, |code| [float::f8_e4m3_to_f32(code)]),
            Dtype::F8E5M2 => summarizer.push_codes(data, |code| [float::f8_e5m2_to_f32(code)]),
            Dtype::F8E8M0 => summarizer.push_codes(data, |code| [float::f8_e8m0_to_f32(code)]),
            Dtype::F8E4M3Fnuz => summarizer.push_codes(data, |code| [float::f8_e4m3fnuz_to_f32(code)]),
            Dtype::F8E5M2Fnuz => summarizer.push_codes(data, |code| [float::f8_e5m2fnuz_to_f32(code)]),
            Dtype::U8 => summarizer.push_codes(data, |code| [f32::from(code)]),
            Dtype::I8 => summarizer.push_codes(data, |code| [f32::from(i8::from_le_bytes([code]))]),
            Dtype::Bool => summarizer.push_codes(data, |code| [f32::from(u8::from(code != 0))]),
            Dtype::F4 => summarizer.push_codes(data, |pair| [pair & 0xF, pair >> 4].map(float::f4_to_f32)),
            Dtype::I64 => push_64(data, |eight| i64::from_le_bytes(eight) as f64, &mut summarizer),
            Dtype::U64 => push_64(data, |eight| u64::from_le_bytes(eight) as f64, &mut summarizer),
            Dtype::F32 => match self.as_slice() {
                Ok(numbers) => summarizer.push_f32(numbers),
                Err(_) => self.push_widened(&mut summarizer),
            },
            Dtype::F64 => match self.as_slice() {
                Ok(numbers) => summarizer.push_f64(numbers),
                Err(_) => self.push_widened(&mut summarizer),
            },
            dtype if widen::is_f64(dtype) => self.push_widened(&mut summarizer),
            actual => return Err(CastError::Dtype { expected: None, actual }),
        }
        Ok(summarizer.finish())
    }

    /// Whole bytes an element, of a dtype that widens.
    fn push_widened(&self, summarizer: &mut Summarizer) {
        let dtype = self.dtype();
        let size = dtype.block_bytes() as usize;
        if widen::is_f32(dtype) {
            let mut block = [0f32; BLOCK];
            for bytes in self.data().chunks(size.saturating_mul(BLOCK)) {
                let block = block.get_mut(..bytes.len().checked_div(size).unwrap_or(0)).unwrap_or_default();
                widen::to_f32(dtype, bytes, block);
                summarizer.push_f32(block);
            }
        } else {
            let mut block = [0f64; BLOCK / 2];
            for bytes in self.data().chunks(size.saturating_mul(BLOCK / 2)) {
                let block = block.get_mut(..bytes.len().checked_div(size).unwrap_or(0)).unwrap_or_default();
                widen::to_f64(dtype, bytes, block);
                summarizer.push_f64(block);
            }
        }
    }
}

fn push_64(bytes: &[u8], decode: impl Fn([u8; 8]) -> f64, summarizer: &mut Summarizer) {
    let mut block = [0f64; BLOCK / 2];
    for eights in bytes.as_chunks::<8>().0.chunks(block.len()) {
        let block = block.get_mut(..eights.len()).unwrap_or_default();
        block.iter_mut().zip(eights).for_each(|(number, &eight)| *number = decode(eight));
        summarizer.push_f64(block);
    }
}
