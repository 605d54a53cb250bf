//! The one pass: numbers in, block by block.

use super::Summary;
use super::histogram::{CODES, NEGATIVE, PART_BITS};
use crate::cursor::len_u64;
use crate::dtype::Dtype;

/// The most numbers that are summed together: so many `f32`s, or half as many `f64`s. They are gone over several
/// times, and stay in the nearest cache. The same in every build, because the last digit of a sum depends on it.
pub(super) const BLOCK: usize = 512;

/// Numbers that are encoded, widened or sifted together.
const CHUNK: usize = 64;

/// Numbers of extremes that are followed side by side.
const LANES: usize = 32;

/// Counters for each code: numbers that follow each other are counted in different ones, because a counter
/// cannot be raised twice in the time of one.
const TABLES: usize = if cfg!(feature = "std") { 4 } else { 1 };

type Tables = [[u32; CODES]; TABLES];

/// Gathers a [`Summary`] from numbers that come in pieces, in any order.
pub(crate) struct Summarizer {
    summary: Summary,
    /// Counts not yet in the summary's histogram.
    tables: Tables,
    pending: u32,
    /// Magnitudes below 2^this are subnormal.
    normal: i32,
    /// Zeros, by sign, that stand among the histogram's small numbers.
    misplaced: [u64; 2],
}

impl Summarizer {
    /// For numbers of that dtype, which is what subnormal numbers are told by.
    pub(crate) const fn new(dtype: Dtype) -> Self {
        Self {
            summary: Summary::EMPTY,
            tables: [[0; CODES]; TABLES],
            pending: 0,
            normal: match dtype.min_normal_exponent() {
                Some(exponent) => exponent,
                None => i32::MIN,
            },
            misplaced: [0; 2],
        }
    }

    /// Takes numbers that are `f32`s, or were widened to such.
    pub(crate) fn push_f32(&mut self, numbers: &[f32]) {
        self.push(numbers);
    }

    /// Takes numbers that are `f64`s, or were widened to such.
    pub(crate) fn push_f64(&mut self, numbers: &[f64]) {
        self.push(numbers);
    }

    /// Takes bytes, each of which stands for the numbers that `decode` says.
    pub(super) fn push_codes<const N: usize>(&mut self, bytes: &[u8], decode: impl Fn(u8) -> [f32; N]) {
        // The histogram's counters are free as long as nothing else goes in.
        self.flush();
        for bytes in bytes.chunks(1 << 30) {
            let (rows, rest) = bytes.as_chunks::<TABLES>();
            for row in rows {
                row.iter().zip(&mut self.tables).for_each(|(&byte, table)| count(table, byte));
            }
            rest.iter().zip(&mut self.tables).for_each(|(&byte, table)| count(table, byte));
            for code in 0..=u8::MAX {
                let times = self.take(code);
                if times > 0 {
                    decode(code).into_iter().for_each(|number| self.repeat(f64::from(number), times));
                }
            }
        }
    }

    /// Takes the same number so many times.
    pub(super) fn repeat(&mut self, number: f64, times: u64) {
        let summary = &mut self.summary;
        if number.is_nan() {
            summary.nans = summary.nans.saturating_add(times);
        } else if number == f64::INFINITY {
            summary.infinities = summary.infinities.saturating_add(times);
        } else if number == f64::NEG_INFINITY {
            summary.negative_infinities = summary.negative_infinities.saturating_add(times);
        } else {
            self.raise(octave(number));
            let summary = &mut self.summary;
            summary.low = less(number, summary.low);
            summary.high = more(number, summary.high);
            let scaled = number * summary.moments.scale();
            let pivot = summary.moments.pivot(scaled);
            let off = scaled - pivot;
            summary.moments.add(pivot, times, off * times as f64, off * off * times as f64);
            if number == 0.0 {
                summary.histogram.add_zeros(times);
            } else {
                let code = f64::code(number.head(), summary.histogram.base(f64::BIAS));
                summary.histogram.add(code, times);
                if code & !NEGATIVE == 0 && number.is_below(f64::power(self.normal)) {
                    summary.subnormals = summary.subnormals.saturating_add(times);
                }
            }
        }
    }

    /// The summary of all that was taken. (By reference, so that all of this is not copied to be given away.)
    pub(crate) fn finish(&mut self) -> Summary {
        self.flush();
        let mut summary = self.summary;
        let [positive, negative] = self.misplaced;
        summary.histogram.move_zeros(positive, negative);
        summary.subnormals = summary.subnormals.saturating_add(summary.histogram.below(self.normal));
        summary
    }

    fn push<T: Real>(&mut self, numbers: &[T]) {
        for block in numbers.chunks(T::BLOCK) {
            if self.push_finite(block) {
                continue;
            }
            for part in block.chunks(CHUNK) {
                let mut finite = [T::ZERO; CHUNK];
                let mut len = 0usize;
                for &number in part {
                    if !number.is_finite() {
                        self.repeat(number.to_f64(), 1);
                    } else if let Some(slot) = finite.get_mut(len) {
                        *slot = number;
                        len = len.wrapping_add(1); // below CHUNK
                    }
                }
                self.push_finite(finite.get(..len).unwrap_or_default());
            }
        }
    }

    /// Takes a block, unless there are NaNs or infinities in it: then false, and nothing is counted.
    fn push_finite<T: Real>(&mut self, block: &[T]) -> bool {
        let (low, high) = extremes(block);
        if !low.is_finite() || !high.is_finite() {
            return block.is_empty();
        }
        if low == high && block.iter().fold(true, |all, &number| all & (number == low)) {
            self.repeat(low.to_f64(), len_u64(block.len()));
            return true;
        }
        self.raise(octave(low.to_f64()).max(octave(high.to_f64())));
        if self.summary.histogram.bottom() >= T::LOWEST_NORMAL {
            return self.tally(block, low, high);
        }
        // Where the octaves that count go below the normal numbers of the type, a wider one has them.
        if block.iter().any(|number| !number.is_finite()) {
            return false;
        }
        for part in block.chunks(CHUNK) {
            let mut wide = [0f64; CHUNK];
            wide.iter_mut().zip(part).for_each(|(wide, number)| *wide = number.to_f64());
            self.tally(wide.get(..part.len()).unwrap_or_default(), low.to_f64(), high.to_f64());
        }
        true
    }

    /// Takes a block for which the histogram has room, whose numbers lie between these, unless there are NaNs in it.
    fn tally<T: Real>(&mut self, block: &[T], low: T, high: T) -> bool {
        // A pass for each thing: so they become vector code, and the block stays in the nearest cache.
        let summary = &mut self.summary;
        let scale = summary.moments.scale();
        let pivot = summary.moments.pivot(block.first().map_or(0.0, |first| first.scaled(scale)));
        let sum = sum(block, scale, pivot);
        if sum.is_nan() {
            return false;
        }
        summary.low = less(low.to_f64(), summary.low);
        summary.high = more(high.to_f64(), summary.high);

        let mut room = [0; BLOCK];
        let codes = room.get_mut(..block.len()).unwrap_or_default();
        encode(block, summary.histogram.base(T::BIAS), codes);
        let small_before = small(&self.tables);
        let squares = squares_and_counts(block, scale, pivot, codes, &mut self.tables);
        summary.moments.add(pivot, len_u64(block.len()), sum, squares);
        if small(&self.tables) != small_before {
            let limit = T::power(summary.histogram.bottom().min(self.normal));
            let [zeros, negative, below] = smallest(block, limit);
            let [misplaced, misplaced_negative] = &mut self.misplaced;
            *misplaced = misplaced.saturating_add(u64::from(zeros.wrapping_sub(negative)));
            *misplaced_negative = misplaced_negative.saturating_add(u64::from(negative));
            summary.subnormals = summary.subnormals.saturating_add(u64::from(below.saturating_sub(zeros)));
        }
        self.pending = self.pending.saturating_add(block.len() as u32);
        if self.pending >= 1 << 30 {
            self.flush();
        }
        true
    }

    /// Makes room for numbers of that octave.
    fn raise(&mut self, octave: i32) {
        let histogram = &mut self.summary.histogram;
        if octave > histogram.top() {
            self.flush();
            let histogram = &mut self.summary.histogram;
            // Subnormals among those that are told apart are counted when they cease to be, or at the end.
            let told_apart = histogram.below(self.normal);
            histogram.raise(octave);
            let gone = told_apart.saturating_sub(histogram.below(self.normal));
            self.summary.subnormals = self.summary.subnormals.saturating_add(gone);
            self.summary.moments.fit(octave);
        }
    }

    /// Brings the counts together.
    fn flush(&mut self) {
        if self.pending > 0 {
            for code in 0..=u8::MAX {
                let count = self.take(code);
                self.summary.histogram.add(code, count);
            }
            self.pending = 0;
        }
    }

    /// What the tables have for a code, which is then 0.
    fn take(&mut self, code: u8) -> u64 {
        let counters = self.tables.iter_mut().filter_map(|table| table.get_mut(usize::from(code)));
        counters.fold(0, |sum, counter| sum.wrapping_add(u64::from(core::mem::take(counter))))
    }
}

/// The sum of numbers around the pivot.
fn sum<T: Real>(block: &[T], scale: f64, pivot: f64) -> f64 {
    let (rows, rest) = block.as_chunks::<8>();
    let mut sums = [0f64; 8];
    for row in rows {
        sums.iter_mut().zip(row).for_each(|(sum, number)| *sum += number.scaled(scale) - pivot);
    }
    let rest = rest.iter().map(|number| number.scaled(scale) - pivot);
    sums.into_iter().chain(rest).sum()
}

/// The sum of their squares; and each number is counted by its code. Adding keeps one part of the processor busy,
/// counting another.
fn squares_and_counts<T: Real>(block: &[T], scale: f64, pivot: f64, codes: &[u8], tables: &mut Tables) -> f64 {
    let (rows, rest) = block.as_chunks::<8>();
    let (code_rows, code_rest) = codes.as_chunks::<8>();
    let mut sums = [0f64; 8];
    for (row, codes) in rows.iter().zip(code_rows) {
        sums.iter_mut().zip(row).for_each(|(sum, number)| {
            let off = number.scaled(scale) - pivot;
            *sum += off * off;
        });
        for codes in codes.as_chunks::<TABLES>().0 {
            codes.iter().zip(&mut *tables).for_each(|(&code, table)| count(table, code));
        }
    }
    let [table, ..] = tables;
    code_rest.iter().for_each(|&code| count(table, code));
    let rest = rest.iter().map(|number| number.scaled(scale) - pivot);
    sums.into_iter().chain(rest.map(|off| off * off)).sum()
}

/// The codes of numbers, none of which is above the histogram's top.
fn encode<T: Real>(block: &[T], base: u16, codes: &mut [u8]) {
    let (rows, rest) = block.as_chunks::<CHUNK>();
    let (code_rows, code_rest) = codes.as_chunks_mut::<CHUNK>();
    for (row, codes) in rows.iter().zip(code_rows) {
        // First all 16 bits wide: with 32 and 8 in one loop, the vectors would be as short as the widest needs.
        let heads = row.map(T::head);
        codes.iter_mut().zip(heads).for_each(|(code, head)| *code = T::code(head, base));
    }
    code_rest.iter_mut().zip(rest).for_each(|(code, number)| *code = T::code(number.head(), base));
}

fn count(table: &mut [u32; CODES], code: u8) {
    if let Some(counter) = table.get_mut(usize::from(code)) {
        *counter = counter.wrapping_add(1);
    }
}

/// How many numbers are in the codes of small ones.
fn small(tables: &Tables) -> u32 {
    let of = |table: &[u32; CODES]| {
        let [positive, negative] = [0, NEGATIVE].map(|code| table.get(usize::from(code)).copied().unwrap_or(0));
        positive.wrapping_add(negative)
    };
    tables.iter().fold(0, |sum, table| sum.wrapping_add(of(table)))
}

/// The least and the greatest of numbers that are not NaN; of none, infinities.
fn extremes<T: Real>(numbers: &[T]) -> (T, T) {
    let (rows, rest) = numbers.as_chunks::<LANES>();
    let mut low = [T::INFINITY; LANES];
    for row in rows {
        low.iter_mut().zip(row).for_each(|(low, &number)| *low = less(number, *low));
    }
    let mut high = [T::NEG_INFINITY; LANES];
    for row in rows {
        high.iter_mut().zip(row).for_each(|(high, &number)| *high = more(number, *high));
    }
    let low = low.iter().chain(rest).fold(T::INFINITY, |low, &number| less(number, low));
    let high = high.iter().chain(rest).fold(T::NEG_INFINITY, |high, &number| more(number, high));
    (low, high)
}

/// The octave of a number, as the exponent of its lower edge; of 0 and subnormal numbers, one below the others.
fn octave(number: f64) -> i32 {
    i32::from((number.head() & !SIGN) >> f64::HEAD_BITS).wrapping_sub(f64::BIAS)
}

/// Zeros, those of them that are negative, and numbers (zeros as well) of a magnitude below the limit.
fn smallest<T: Real>(numbers: &[T], limit: T) -> [u32; 3] {
    let mut counts = [0u32; 3];
    for number in numbers {
        let [zeros, negative, below] = &mut counts;
        *zeros = zeros.wrapping_add(u32::from(number.is_below(T::LEAST)));
        *negative = negative.wrapping_add(u32::from(number.is_negative_zero()));
        *below = below.wrapping_add(u32::from(number.is_below(limit)));
    }
    counts
}

fn less<T: PartialOrd>(a: T, b: T) -> T {
    if a < b { a } else { b }
}

fn more<T: PartialOrd>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

const SIGN: u16 = 0x8000;

/// The floats that are gone over. Their *head* is the upper 16 bits: sign, exponent, and a few bits of mantissa.
trait Real: Copy + PartialOrd {
    const ZERO: Self;
    const INFINITY: Self;
    const NEG_INFINITY: Self;
    /// The least above 0.
    const LEAST: Self;
    /// Numbers that are summed together.
    const BLOCK: usize;
    const BIAS: i32;
    /// The lowest octave of normal numbers.
    const LOWEST_NORMAL: i32;
    /// Bits of mantissa in the head.
    const HEAD_BITS: u32;

    fn head(self) -> u16;
    fn is_finite(self) -> bool;
    fn to_f64(self) -> f64;
    /// Times the scale, which only f64 needs.
    fn scaled(self, scale: f64) -> f64;
    fn is_below(self, limit: Self) -> bool;
    fn is_negative_zero(self) -> bool;
    /// 2^exponent; what is below all normal numbers becomes 0.
    fn power(exponent: i32) -> Self;

    /// Under what the number with that head is counted. Nothing is above the histogram's top.
    fn code(head: u16, base: u16) -> u8 {
        let magnitude = (head & !SIGN) >> (Self::HEAD_BITS.wrapping_sub(PART_BITS));
        (magnitude.saturating_sub(base) | (head >> 8 & u16::from(NEGATIVE))) as u8
    }
}

macro_rules! reals {
    ($($float:ident: $bits:ident, $scaled:expr;)*) => {$(
        impl Real for $float {
            const ZERO: Self = 0.0;
            const INFINITY: Self = Self::INFINITY;
            const NEG_INFINITY: Self = Self::NEG_INFINITY;
            const LEAST: Self = Self::from_bits(1);
            const BLOCK: usize = BLOCK / (size_of::<Self>() / 4);
            const BIAS: i32 = Self::MAX_EXP - 1;
            const LOWEST_NORMAL: i32 = Self::MIN_EXP - 1;
            const HEAD_BITS: u32 = Self::MANTISSA_DIGITS - 1 - ($bits::BITS - 16);

            fn head(self) -> u16 {
                (self.to_bits() >> ($bits::BITS - 16)) as u16
            }

            fn is_finite(self) -> bool {
                self.is_finite()
            }

            fn to_f64(self) -> f64 {
                self.into()
            }

            fn scaled(self, scale: f64) -> f64 {
                let scaled: fn(Self, f64) -> f64 = $scaled;
                scaled(self, scale)
            }

            fn is_below(self, limit: Self) -> bool {
                // As integers: some processors take subnormal floats for 0.
                (self.abs().to_bits()) < limit.to_bits()
            }

            fn is_negative_zero(self) -> bool {
                self.to_bits() == 1 << ($bits::BITS - 1)
            }

            fn power(exponent: i32) -> Self {
                let biased = exponent.saturating_add(Self::BIAS).max(0);
                Self::from_bits((biased as $bits) << (Self::MANTISSA_DIGITS - 1))
            }
        }
    )*};
}

reals! {
    f32: u32, |number, _| f64::from(number);
    f64: u64, |number, scale| number * scale;
}
