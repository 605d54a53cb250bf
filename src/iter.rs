//! Elements one by one: any alignment, any host, no heap.

use core::iter::FusedIterator;
use core::marker::PhantomData;

use crate::dtype::Dtype;
use crate::element::Element;
use crate::widen;

/// Elements that a fold widens at once.
const BLOCK: usize = 64;

/// The elements of a tensor as they are: see [`TensorView::iter`](crate::TensorView::iter).
#[derive(Clone, Debug)]
pub struct Iter<'a, T> {
    /// Whole elements, each proven a value.
    bytes: &'a [u8],
    elements: PhantomData<T>,
}

impl<'a, T: Element> Iter<'a, T> {
    /// `bytes` are whole elements, each a value of the type.
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, elements: PhantomData }
    }
}

impl<T: Element> Iterator for Iter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let (head, rest) = self.bytes.split_at_checked(T::SIZE)?;
        self.bytes = rest;
        T::from_le(head)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.bytes.len().checked_div(T::SIZE).unwrap_or(0);
        (left, Some(left))
    }

    fn nth(&mut self, n: usize) -> Option<T> {
        self.bytes = n.checked_mul(T::SIZE).and_then(|skipped| self.bytes.get(skipped..)).unwrap_or_default();
        self.next()
    }

    fn count(self) -> usize {
        self.len()
    }

    fn last(mut self) -> Option<T> {
        self.next_back()
    }

    fn fold<B, F: FnMut(B, T) -> B>(self, init: B, f: F) -> B {
        self.bytes.chunks_exact(T::SIZE).filter_map(T::from_le).fold(init, f)
    }
}

impl<T: Element> DoubleEndedIterator for Iter<'_, T> {
    fn next_back(&mut self) -> Option<T> {
        let (rest, tail) = self.bytes.split_at_checked(self.bytes.len().checked_sub(T::SIZE)?)?;
        self.bytes = rest;
        T::from_le(tail)
    }

    fn nth_back(&mut self, n: usize) -> Option<T> {
        let left = n.checked_mul(T::SIZE).and_then(|skipped| self.bytes.len().checked_sub(skipped));
        self.bytes = left.and_then(|left| self.bytes.get(..left)).unwrap_or_default();
        self.next_back()
    }
}

impl<T: Element> ExactSizeIterator for Iter<'_, T> {}
impl<T: Element> FusedIterator for Iter<'_, T> {}

/// A run of packed elements that is consumed from both ends.
#[derive(Clone, Debug)]
struct Packed<'a> {
    dtype: Dtype,
    bytes: &'a [u8],
    front: usize,
    back: usize,
}

impl Packed<'_> {
    fn take_front(&mut self, skip: usize) -> Option<usize> {
        self.front = self.front.saturating_add(skip).min(self.back);
        let index = self.front;
        if index == self.back {
            return None;
        }
        self.front = self.front.wrapping_add(1); // below back
        Some(index)
    }

    fn take_back(&mut self, skip: usize) -> Option<usize> {
        self.back = self.back.saturating_sub(skip).max(self.front);
        if self.front == self.back {
            return None;
        }
        self.back = self.back.wrapping_sub(1); // above front
        Some(self.back)
    }

    fn len(&self) -> usize {
        self.back.saturating_sub(self.front)
    }

    /// The bytes from the next element on, where that starts on one.
    fn bytes_from_front(&self) -> Option<&[u8]> {
        if self.dtype.block_len() > 1 && self.front & 1 == 1 {
            return None;
        }
        self.bytes.get(widen::bytes_of(self.dtype, self.front)..)
    }
}

macro_rules! widening {
    ($($(#[$doc:meta])* $name:ident: $float:ty, $at:path, $bulk:path;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name<'a>(Packed<'a>);

        impl<'a> $name<'a> {
            /// `bytes` hold so many elements of the dtype, which widens to the float.
            pub(crate) const fn new(dtype: Dtype, bytes: &'a [u8], elements: usize) -> Self {
                Self(Packed { dtype, bytes, front: 0, back: elements })
            }
        }

        impl Iterator for $name<'_> {
            type Item = $float;

            #[inline]
            fn next(&mut self) -> Option<$float> {
                self.nth(0)
            }

            #[inline]
            fn nth(&mut self, n: usize) -> Option<$float> {
                let index = self.0.take_front(n)?;
                $at(self.0.dtype, self.0.bytes, index)
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                (self.0.len(), Some(self.0.len()))
            }

            fn count(self) -> usize {
                self.0.len()
            }

            fn last(mut self) -> Option<$float> {
                self.next_back()
            }

            /// Widens block by block: what `sum`, `for_each` and the like are made of.
            fn fold<B, F: FnMut(B, $float) -> B>(mut self, init: B, mut f: F) -> B {
                let mut folded = init;
                let mut block: [$float; BLOCK] = [0.0; BLOCK];
                while self.0.len() > 0 {
                    let wanted = self.0.len().min(BLOCK);
                    match (self.0.bytes_from_front(), block.get_mut(..wanted)) {
                        (Some(bytes), Some(block)) => {
                            $bulk(self.0.dtype, bytes, block);
                            self.0.front = self.0.front.saturating_add(wanted);
                            folded = block.iter().fold(folded, |folded, &x| f(folded, x));
                        }
                        _ => match self.next() {
                            Some(x) => folded = f(folded, x),
                            None => break,
                        },
                    }
                }
                folded
            }
        }

        impl DoubleEndedIterator for $name<'_> {
            #[inline]
            fn next_back(&mut self) -> Option<$float> {
                self.nth_back(0)
            }

            #[inline]
            fn nth_back(&mut self, n: usize) -> Option<$float> {
                let index = self.0.take_back(n)?;
                $at(self.0.dtype, self.0.bytes, index)
            }
        }

        impl ExactSizeIterator for $name<'_> {}
        impl FusedIterator for $name<'_> {}
    )*};
}

widening! {
    /// The elements of a tensor, widened to `f32`: see [`TensorView::iter_f32`](crate::TensorView::iter_f32).
    IterF32: f32, widen::f32_at, widen::to_f32;
    /// The elements of a tensor, widened to `f64`: see [`TensorView::iter_f64`](crate::TensorView::iter_f64).
    IterF64: f64, widen::f64_at, widen::to_f64;
}
