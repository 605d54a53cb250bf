//! A histogram that finds its own range in one pass.

use core::fmt;

use super::moments::power;

/// Bits of mantissa that tell parts of an octave apart.
pub(super) const PART_BITS: u32 = 3;
/// Parts of an octave.
const PARTS: i32 = 1 << PART_BITS;
/// Octaves that are told apart.
const OCTAVES: i32 = 15;
/// The highest code of a magnitude. Code 0 is all that is smaller than the octaves told apart, 1 to `PARTS` are
/// the lowest of these.
const HIGHEST: u8 = (OCTAVES as u8) << PART_BITS;
/// Counters: 7 bits of code, below a bit of sign.
pub(super) const CODES: usize = 256;
/// The bit of sign.
pub(super) const NEGATIVE: u8 = 0x80;
/// The lowest top octave: all those told apart are of normal numbers.
const LOWEST_TOP: i32 = LOWEST_NORMAL + OCTAVES - 1;
const LOWEST_NORMAL: i32 = -1022;

/// How the finite numbers of a tensor are spread.
///
/// An *octave* holds the magnitudes from a power of two up to the next. The 15 octaves down from the largest
/// magnitude are split into 8 parts of equal width, for each sign; what is smaller than these (below 2⁻¹⁴ of
/// the power of two that the largest number reaches) is counted in one bin for each sign, and zeros in one of
/// their own. So the edges are powers of two and eighths between them in every tensor, whatever its range;
/// counts are exact, do not depend on the order of the numbers, and those of two tensors can be compared or
/// added up.
///
/// There are three ways to look at it. Each goes from the most negative numbers to the most positive, begins
/// and ends with the outermost bin that is not empty, and accounts for each number once:
///
/// | | Bins | For |
/// |---|---|---|
/// | [`bars`](Self::bars) | 8 to 32 of equal width | a bar chart, a line at a terminal |
/// | [`octaves`](Self::octaves) | a power of two each, up to 33 | a heat map over tensors; what a narrower type would lose |
/// | [`bins`](Self::bins) | all, up to 243 | anything else |
///
/// ```
/// # let bytes = std::fs::read("tests/data/digits.safetensors").unwrap();
/// let weight = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.weight")?;
/// let summary = weight.summary().unwrap();
/// for bar in summary.histogram().bars() {
///     println!("{:>8.4} to {:>8.4} {}", bar.low, bar.high, "#".repeat((bar.count / 8) as usize));
/// }
/// assert_eq!(summary.histogram().bars().map(|bar| bar.count).sum::<u64>(), summary.finite());
/// # Ok::<(), weightview::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Histogram {
    /// The numbers that are not 0, by code.
    counts: [u64; CODES],
    zeros: u64,
    /// The octave of the largest magnitude, as the exponent of its lower edge.
    top: i32,
}

/// Numbers between two edges, and how many they are.
///
/// An edge belongs to the bin that lies further from zero: a bin of positive numbers holds
/// `low <= x && x < high`, one of negative numbers `low < x && x <= high`. The bin of zeros has both edges 0;
/// where zeros have none of their own, they are in the bin that begins with `low == 0`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bin {
    /// The lower edge.
    pub low: f64,
    /// The upper edge: for the largest numbers of F64, infinite.
    pub high: f64,
    /// How many.
    pub count: u64,
}

impl Histogram {
    pub(super) const EMPTY: Self = Self { counts: [0; CODES], zeros: 0, top: LOWEST_TOP };

    /// Bins of equal width, the width a power of two: the largest magnitude lies in the 9th to 16th from zero.
    pub fn bars(&self) -> impl Iterator<Item = Bin> + Clone + use<> {
        // The parts of the top octave, and those of lower ones taken together until they are as wide.
        let mut bars = [[0u64; 16]; 2];
        for (negative, bars) in [false, true].into_iter().zip(&mut bars) {
            for code in 0..=HIGHEST {
                let below_top = i32::from(HIGHEST.saturating_sub(code)) >> PART_BITS;
                let part = PARTS.wrapping_add(i32::from(code.wrapping_sub(1)) & PARTS.wrapping_sub(1));
                let bar = if code == 0 { 0 } else { part.wrapping_shr(below_top.min(31) as u32) };
                add(bars.get_mut(bar as usize), self.count(negative, code));
            }
        }
        let [positive, negative] = &mut bars;
        add(positive.first_mut(), self.zeros);
        let width = power(self.top.wrapping_sub(PART_BITS as i32));
        let edges = move |bar: usize| (bar as f64 * width, bar as f64 * width + width);
        line_up(*negative, *positive, None, edges)
    }

    /// Bins of a power of two each: the 15 octaves, what is smaller, and zeros.
    pub fn octaves(&self) -> impl Iterator<Item = Bin> + Clone + use<> {
        let mut octaves = [[0u64; OCTAVES as usize + 1]; 2];
        for (negative, octaves) in [false, true].into_iter().zip(&mut octaves) {
            for code in 0..=HIGHEST {
                let octave = usize::from(code.wrapping_add(PARTS as u8).wrapping_sub(1) >> PART_BITS);
                add(octaves.get_mut(octave), self.count(negative, code));
            }
        }
        let [positive, negative] = octaves;
        let bottom = self.bottom();
        let edges = move |octave: usize| {
            let exponent = bottom.wrapping_add(octave as i32);
            (if octave == 0 { 0.0 } else { power(exponent.wrapping_sub(1)) }, power(exponent))
        };
        line_up(negative, positive, Some(self.zeros), edges)
    }

    /// All bins.
    pub fn bins(&self) -> impl Iterator<Item = Bin> + Clone + use<> {
        let sign = |negative| core::array::from_fn(|code| self.count(negative, code as u8));
        let bottom = self.bottom();
        let edge = move |code: usize| {
            let part = code & (PARTS as usize).wrapping_sub(1);
            power(bottom.wrapping_add((code >> PART_BITS) as i32)) * (1.0 + part as f64 / f64::from(PARTS))
        };
        let edges = move |code: usize| match code.checked_sub(1) {
            None => (0.0, edge(0)),
            Some(lower) => (edge(lower), edge(code)),
        };
        line_up::<{ HIGHEST as usize + 1 }>(sign(true), sign(false), Some(self.zeros), edges)
    }

    pub(super) const fn zeros(&self) -> u64 {
        self.zeros
    }

    /// Numbers below 0.
    pub(super) fn negatives(&self) -> u64 {
        self.counts.iter().skip(usize::from(NEGATIVE)).sum()
    }

    pub(super) const fn top(&self) -> i32 {
        self.top
    }

    /// The lowest octave that is told apart.
    pub(super) const fn bottom(&self) -> i32 {
        self.top.wrapping_sub(OCTAVES - 1)
    }

    /// What to subtract from a float's exponent and the upper bits of its mantissa, saturating, for its code.
    pub(super) const fn base(&self, bias: i32) -> u16 {
        // The lowest octave is that of normal numbers, so its exponent is at least 1.
        (self.bottom().wrapping_add(bias).wrapping_mul(PARTS).wrapping_sub(1)) as u16
    }

    /// Makes room for numbers of that octave. What falls out below is counted with the small ones.
    pub(super) fn raise(&mut self, top: i32) {
        let up = top.saturating_sub(self.top).max(0);
        self.top = self.top.saturating_add(up);
        let gone = up.min(OCTAVES).wrapping_mul(PARTS) as usize;
        for counts in self.counts.as_chunks_mut::<{ CODES / 2 }>().0 {
            let [small, counts @ ..] = counts;
            let sum = counts.iter().take(gone).sum::<u64>();
            *small = small.wrapping_add(sum);
            counts.rotate_left(gone);
            counts.iter_mut().rev().take(gone).for_each(|count| *count = 0);
        }
    }

    /// How many numbers in octaves that are told apart are below 2^exponent.
    pub(super) fn below(&self, exponent: i32) -> u64 {
        let parts = exponent.saturating_sub(self.bottom()).clamp(0, OCTAVES).wrapping_mul(PARTS);
        let sum = |counts: &[u64; CODES / 2]| counts.iter().skip(1).take(parts as usize).sum::<u64>();
        self.counts.as_chunks().0.iter().map(sum).sum()
    }

    pub(super) fn add(&mut self, code: u8, count: u64) {
        add(self.counts.get_mut(usize::from(code)), count);
    }

    pub(super) fn add_zeros(&mut self, count: u64) {
        self.zeros = self.zeros.wrapping_add(count);
    }

    /// Takes out zeros that were counted as small numbers, and counts them as zeros.
    pub(super) fn move_zeros(&mut self, positive: u64, negative: u64) {
        add(self.counts.get_mut(0), 0u64.wrapping_sub(positive));
        add(self.counts.get_mut(usize::from(NEGATIVE)), 0u64.wrapping_sub(negative));
        self.add_zeros(positive.wrapping_add(negative));
    }

    pub(super) fn merge(&mut self, other: &Self) {
        let mut other = *other;
        self.raise(other.top);
        other.raise(self.top);
        self.counts.iter_mut().zip(other.counts).for_each(|(ours, theirs)| *ours = ours.wrapping_add(theirs));
        self.add_zeros(other.zeros);
    }

    fn count(&self, negative: bool, code: u8) -> u64 {
        let code = code | if negative { NEGATIVE } else { 0 };
        self.counts.get(usize::from(code)).copied().unwrap_or(0)
    }
}

/// Counts cannot overflow: they count bytes in memory.
fn add(counter: Option<&mut u64>, count: u64) {
    if let Some(counter) = counter {
        *counter = counter.wrapping_add(count);
    }
}

/// The bins of both signs, counted outwards from zero, in order; `edges` says between what magnitudes one lies.
fn line_up<const N: usize>(
    negative: [u64; N],
    positive: [u64; N],
    zeros: Option<u64>,
    edges: impl Fn(usize) -> (f64, f64) + Clone,
) -> impl Iterator<Item = Bin> + Clone {
    let outermost = |counts: &[u64; N]| counts.iter().rposition(|&count| count > 0);
    let ends = [outermost(&negative), outermost(&positive)];
    let zeros = zeros.filter(|&zeros| zeros > 0 || (ends[0].is_some() && ends[1].is_some()));
    // Where all numbers have one sign, the bins begin with the innermost that is not empty.
    let innermost = |counts: &[u64; N]| counts.iter().position(|&count| count > 0).unwrap_or(N);
    let one_sided = zeros.is_none() && ends.contains(&None);
    let starts = if one_sided { [innermost(&negative), innermost(&positive)] } else { [0, 0] };
    let len = |end: Option<usize>| end.map_or(0, |end| end.saturating_add(1));
    let outer = edges.clone();
    let negative = (0..N).rev().zip(negative.into_iter().rev()).map(move |(place, count)| {
        let (low, high) = outer(place);
        (place, Bin { low: -high, high: -low + 0.0, count })
    });
    let positive = (0..N).zip(positive).map(move |(place, count)| {
        let (low, high) = edges(place);
        (place, Bin { low, high, count })
    });
    let zero = zeros.map(|count| Bin { low: 0.0, high: 0.0, count });
    let within =
        |start: usize, end: usize| move |(place, bin): (usize, Bin)| (place >= start && place < end).then_some(bin);
    let negative = negative.filter_map(within(starts[0], len(ends[0])));
    negative.chain(zero).chain(positive.filter_map(within(starts[1], len(ends[1]))))
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.bins().filter(|bin| bin.count > 0)).finish()
    }
}
