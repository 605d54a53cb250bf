//! What a slice takes of one axis.

use core::ops::{Bound, Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use self::sealed::Position as _;
use crate::slice::error::SliceError;

/// What [`TensorView::slice`](crate::TensorView::slice) takes of one axis.
///
/// | | Takes | The axis |
/// |---|---|---|
/// | [`Axis::all()`](Self::all), `(..).into()` | everything | stays |
/// | [`Axis::at(i)`](Self::at) | one position | goes |
/// | `Axis::from(a..b)`, `(a..b).into()` and the other ranges | from `a` up to `b` | stays |
/// | [`Axis::range(1, -1)`](Self::range) | the same as `1..-1`, which clippy holds for a slip | stays |
/// | `Axis::from(a..b).step(n)` | every `n`-th from `a` | stays |
/// | [`Axis::list(&[…])`](Self::list) | the positions listed, in that order | stays |
///
/// Numbers are of any [`Position`] type. A negative one counts from the end, as in Python: on an axis of length 5,
/// −1 is position 4. Ranges are Rust's: `a..=b` takes `b` too, so that `..=-1` is everything. What is outside the
/// axis is an error, as is a range that ends before it starts; one that ends where it starts takes nothing.
///
/// ```
/// use weightview::Axis;
///
/// let n: usize = 3;
/// let axes: [Axis; 5] = [Axis::at(-1), (..n).into(), Axis::range(1, -1), Axis::from(2..).step(2), Axis::all()];
/// # let _ = axes;
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Axis<'s> {
    select: Select<'s>,
    step: usize,
}

#[derive(Clone, Copy, Debug)]
enum Select<'s> {
    At(i64),
    Range(Bound<i64>, Bound<i64>),
    List(List<'s>),
}

impl<'s> Axis<'s> {
    /// Everything.
    #[must_use]
    pub const fn all() -> Self {
        Self { select: Select::Range(Bound::Unbounded, Bound::Unbounded), step: 1 }
    }

    /// One position: the slice has no such axis any more.
    #[must_use]
    pub fn at(i: impl Position) -> Self {
        Self { select: Select::At(i.to_i64()), step: 1 }
    }

    /// From one position up to another, which is not taken: `start..end`, also where one counts from the end.
    /// (Clippy's `reversed_empty_ranges` takes a literal `1..-1` for a mistake.)
    #[must_use]
    pub fn range(start: impl Position, end: impl Position) -> Self {
        Self { select: Select::Range(Bound::Included(start.to_i64()), Bound::Excluded(end.to_i64())), step: 1 }
    }

    /// These positions, in this order; they may repeat. The slice borrows the list.
    #[must_use]
    pub fn list<I: Position>(positions: &'s [I]) -> Self {
        Self { select: Select::List(I::list(positions)), step: 1 }
    }

    /// Of a range every `step`-th only, starting with its first. A step of 0, and a step of anything but a range,
    /// is an error when the slice is made.
    #[must_use]
    pub const fn step(self, step: usize) -> Self {
        Self { step, ..self }
    }

    /// What this takes of an axis of length `dim`.
    pub(super) fn resolve(&self, axis: usize, dim: usize) -> Result<Taken<'s>, SliceError> {
        let is_range = matches!(self.select, Select::Range(..));
        if self.step == 0 || (self.step != 1 && !is_range) {
            return Err(SliceError::Step { axis, step: self.step });
        }
        match self.select {
            Select::At(index) => match position(index, dim) {
                Some(position) if position < dim => Ok(Taken::At(position)),
                _ => Err(SliceError::Index { axis, index, dim }),
            },
            Select::Range(start, end) => {
                let start = match start {
                    Bound::Unbounded => 0,
                    Bound::Included(bound) => before(axis, bound, dim)?,
                    Bound::Excluded(bound) => behind(axis, bound, dim)?,
                };
                let end = match end {
                    Bound::Unbounded => dim,
                    Bound::Included(bound) => behind(axis, bound, dim)?,
                    Bound::Excluded(bound) => before(axis, bound, dim)?,
                };
                let len = end.checked_sub(start).ok_or(SliceError::Reversed { axis, start, end })?;
                Ok(Taken::Range { start, len: len.div_ceil(self.step), step: self.step })
            }
            Select::List(list) => list.resolve(axis, dim),
        }
    }
}

/// What is taken of an axis, in positions that are there.
pub(super) enum Taken<'s> {
    At(usize),
    Range { start: usize, len: usize, step: usize },
    List(List<'s>),
}

/// The place before a position, or the end.
fn before(axis: usize, bound: i64, dim: usize) -> Result<usize, SliceError> {
    position(bound, dim).ok_or(SliceError::Bound { axis, bound, dim })
}

/// The place behind a position.
fn behind(axis: usize, bound: i64, dim: usize) -> Result<usize, SliceError> {
    match position(bound, dim) {
        Some(position) if position < dim => Ok(position.saturating_add(1)),
        _ => Err(SliceError::Bound { axis, bound, dim }),
    }
}

/// A number as a position from 0 up to the end, `dim`. The largest number stands for all that are too large.
fn position(number: i64, dim: usize) -> Option<usize> {
    let distance = usize::try_from(number.unsigned_abs()).ok()?;
    match number {
        i64::MAX => None,
        0.. => Some(distance).filter(|&position| position <= dim),
        _ => dim.checked_sub(distance),
    }
}

/// A number that says where on an axis: `i32`, `i64`, `isize` and the unsigned ones. (A token's id, say, is a `u32`.)
pub trait Position: Copy + sealed::Position {}

pub(super) mod sealed {
    use super::List;

    /// See [`super::Position`].
    pub trait Position: Sized {
        /// Itself, or the largest number when it is larger.
        fn to_i64(self) -> i64;
        fn list(positions: &[Self]) -> List<'_>;
    }
}

macro_rules! positions {
    ($($type:ty: $variant:ident;)*) => {
        /// Positions as the caller holds them.
        #[derive(Clone, Copy, Debug)]
        pub enum List<'s> {
            $($variant(&'s [$type]),)*
        }

        impl<'s> List<'s> {
            pub(super) const fn len(&self) -> usize {
                match self {
                    $(Self::$variant(positions) => positions.len(),)*
                }
            }

            fn number(&self, at: usize) -> Option<i64> {
                match self {
                    $(Self::$variant(positions) => positions.get(at).map(|&number| number.to_i64()),)*
                }
            }
        }

        $(
            impl Position for $type {}

            impl sealed::Position for $type {
                fn to_i64(self) -> i64 {
                    i64::try_from(self).unwrap_or(i64::MAX)
                }

                fn list(positions: &[Self]) -> List<'_> {
                    List::$variant(positions)
                }
            }
        )*
    };
}

positions! {
    i32: I32;
    i64: I64;
    isize: Isize;
    u32: U32;
    u64: U64;
    usize: Usize;
}

impl<'s> List<'s> {
    /// The position that stands at a place of a list which was resolved with this `dim`.
    pub(super) fn position(&self, at: usize, dim: usize) -> usize {
        self.number(at).and_then(|number| position(number, dim)).unwrap_or(0)
    }

    /// Proves every position to be there. Positions that follow each other at equal distances are a range.
    fn resolve(self, axis: usize, dim: usize) -> Result<Taken<'s>, SliceError> {
        let (mut first, mut last) = (0, 0);
        let mut distance = Some(1);
        for at in 0..self.len() {
            let index = self.number(at).unwrap_or(i64::MAX);
            let here = position(index, dim).filter(|&position| position < dim);
            let here = here.ok_or(SliceError::Index { axis, index, dim })?;
            match at {
                0 => first = here,
                1 => distance = here.checked_sub(last),
                _ => distance = distance.filter(|&distance| here.checked_sub(last) == Some(distance)),
            }
            last = here;
        }
        Ok(match distance {
            Some(step) => Taken::Range { start: first, len: self.len(), step },
            None => Taken::List(self),
        })
    }
}

macro_rules! ranges {
    ($($range:ty),*) => {$(
        impl<I: Position> From<$range> for Axis<'_> {
            fn from(range: $range) -> Self {
                let number = |&position: &I| position.to_i64();
                let (start, end) = (range.start_bound().map(number), range.end_bound().map(number));
                Self { select: Select::Range(start, end), step: 1 }
            }
        }
    )*};
}

ranges!(Range<I>, RangeFrom<I>, RangeTo<I>, RangeInclusive<I>, RangeToInclusive<I>, (Bound<I>, Bound<I>));

impl From<RangeFull> for Axis<'_> {
    fn from(_: RangeFull) -> Self {
        Self::all()
    }
}

impl<'s, I: Position> From<&'s [I]> for Axis<'s> {
    fn from(positions: &'s [I]) -> Self {
        Self::list(positions)
    }
}

impl<'s, I: Position, const N: usize> From<&'s [I; N]> for Axis<'s> {
    fn from(positions: &'s [I; N]) -> Self {
        Self::list(positions)
    }
}
