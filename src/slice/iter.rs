//! A slice one by one: its elements, as they are or widened, and its runs of bytes.

use core::iter::FusedIterator;
use core::marker::PhantomData;

use super::layout::{Layout, Walk, byte_range};
use super::read::{Wide, fill};
use crate::dtype::Dtype;
use crate::element::Element;

/// Elements that a fold widens at once.
const BLOCK: usize = 64;

/// Elements that must lie one behind the other for that to be quicker than one by one.
const WORTH_IT: usize = 8;

/// The elements of a slice as they are: see [`Slice::iter`](crate::Slice::iter).
#[derive(Clone, Debug)]
pub struct Iter<'a, 's, T> {
    walk: Walk<'s>,
    /// The whole tensor's. Each element of the slice is proven a value.
    data: &'a [u8],
    elements: PhantomData<T>,
}

impl<'a, 's, T: Element> Iter<'a, 's, T> {
    pub(super) fn new(data: &'a [u8], layout: Layout<'s>) -> Self {
        Self { walk: Walk::new(layout), data, elements: PhantomData }
    }

    fn at(&self, place: usize) -> Option<T> {
        T::from_le(self.data.get(place.checked_mul(T::SIZE)?..)?)
    }

    fn fold_rest<B>(mut self, init: B, mut f: impl FnMut(B, T) -> B) -> B {
        let mut folded = init;
        while let Some(stretch) = self.walk.stretch(usize::MAX) {
            let layout = self.walk.layout();
            folded = match stretch.one_piece(layout) {
                Some(start) => {
                    let bytes = self.data.get(byte_range(T::DTYPE, start, stretch.len())).unwrap_or_default();
                    bytes.chunks_exact(T::SIZE).filter_map(T::from_le).fold(folded, &mut f)
                }
                None => stretch.places(layout).filter_map(|place| self.at(place)).fold(folded, &mut f),
            };
        }
        folded
    }
}

/// The elements of a slice, widened to the float `F`: see [`Slice::iter_f32`](crate::Slice::iter_f32) and
/// [`Slice::iter_f64`](crate::Slice::iter_f64).
#[derive(Clone, Debug)]
pub struct Widened<'a, 's, F> {
    walk: Walk<'s>,
    dtype: Dtype,
    /// The whole tensor's.
    data: &'a [u8],
    floats: PhantomData<F>,
}

/// The elements of a slice, widened to `f32`: see [`Slice::iter_f32`](crate::Slice::iter_f32).
pub type IterF32<'a, 's> = Widened<'a, 's, f32>;

/// The elements of a slice, widened to `f64`: see [`Slice::iter_f64`](crate::Slice::iter_f64).
pub type IterF64<'a, 's> = Widened<'a, 's, f64>;

impl<'a, 's, F: Wide> Widened<'a, 's, F> {
    /// The dtype is one that widens.
    pub(super) fn new(dtype: Dtype, data: &'a [u8], layout: Layout<'s>) -> Self {
        Self { walk: Walk::new(layout), dtype, data, floats: PhantomData }
    }

    fn at(&self, place: usize) -> Option<F> {
        F::one(self.dtype, self.data, place)
    }

    /// Widens block by block, mostly: what `sum`, `for_each` and the like are made of.
    fn fold_rest<B>(mut self, init: B, mut f: impl FnMut(B, F) -> B) -> B {
        let mut folded = init;
        if self.walk.layout().piece() < WORTH_IT {
            for x in self.by_ref() {
                folded = f(folded, x);
            }
            return folded;
        }
        let mut block = [F::default(); BLOCK];
        while self.walk.len() > 0 {
            let block = block.get_mut(..self.walk.len().min(BLOCK)).unwrap_or_default();
            fill(self.dtype, self.data, &mut self.walk, block);
            folded = block.iter().fold(folded, |folded, &x| f(folded, x));
        }
        folded
    }
}

macro_rules! walks {
    ($($name:ident<$item:ident: $bound:path>;)*) => {$(
        impl<$item: $bound> Iterator for $name<'_, '_, $item> {
            type Item = $item;

            #[inline]
            fn next(&mut self) -> Option<$item> {
                let place = self.walk.next()?;
                self.at(place)
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                (self.walk.len(), Some(self.walk.len()))
            }

            fn nth(&mut self, n: usize) -> Option<$item> {
                self.walk.skip(n);
                self.next()
            }

            fn count(self) -> usize {
                self.walk.len()
            }

            fn last(mut self) -> Option<$item> {
                self.next_back()
            }

            fn fold<B, G: FnMut(B, $item) -> B>(self, init: B, f: G) -> B {
                self.fold_rest(init, f)
            }
        }

        impl<$item: $bound> DoubleEndedIterator for $name<'_, '_, $item> {
            #[inline]
            fn next_back(&mut self) -> Option<$item> {
                let place = self.walk.next_back()?;
                self.at(place)
            }

            fn nth_back(&mut self, n: usize) -> Option<$item> {
                self.walk.skip_back(n);
                self.next_back()
            }
        }

        impl<$item: $bound> ExactSizeIterator for $name<'_, '_, $item> {}
        impl<$item: $bound> FusedIterator for $name<'_, '_, $item> {}
    )*};
}

walks! {
    Iter<T: Element>;
    Widened<F: Wide>;
}

/// The runs of bytes that a slice lies in: see [`Slice::runs`](crate::Slice::runs).
#[derive(Clone, Debug)]
pub struct Runs<'a, 's> {
    dtype: Dtype,
    /// The whole tensor's.
    data: &'a [u8],
    /// From piece to piece.
    walk: Walk<'s>,
    /// Where the next run starts, when there is one: the walk has gone past its first piece.
    start: Option<usize>,
}

impl<'a, 's> Runs<'a, 's> {
    pub(super) fn new(dtype: Dtype, data: &'a [u8], layout: Layout<'s>) -> Self {
        let mut runs = Self { dtype, data, walk: Walk::new(layout), start: None };
        runs.start = runs.next_piece();
        runs
    }

    fn next_piece(&mut self) -> Option<usize> {
        let start = self.walk.next()?;
        self.walk.skip(self.walk.layout().piece().saturating_sub(1));
        Some(start)
    }
}

impl<'a> Iterator for Runs<'a, '_> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.start?;
        let piece = self.walk.layout().piece();
        let mut len = piece;
        self.start = loop {
            match self.next_piece() {
                Some(next) if next == start.wrapping_add(len) => len = len.wrapping_add(piece),
                other => break other,
            }
        };
        Some(self.data.get(byte_range(self.dtype, start, len)).unwrap_or_default())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let one = usize::from(self.start.is_some());
        let pieces = self.walk.len().checked_div(self.walk.layout().piece()).unwrap_or(0);
        (one, pieces.checked_add(one))
    }
}

impl FusedIterator for Runs<'_, '_> {}
