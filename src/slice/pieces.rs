//! Whole rows, and pieces of a length: what lies in one piece however the tensor is shaped.

use core::iter::FusedIterator;
use core::ops::Range;

use super::axis::sealed::Position as _;
use crate::shape::Dims;
use crate::slice::error::SliceError;
use crate::slice::layout::byte_range;
use crate::view::TensorView;

/// Row `i` of a tensor.
pub(super) fn row<'a>(tensor: &TensorView<'a>, i: usize) -> Result<TensorView<'a>, SliceError> {
    let (dim, row) = inner(tensor)?;
    if i >= dim {
        return Err(SliceError::Index { axis: 0, index: i.to_i64(), dim });
    }
    let start = i.wrapping_mul(row.len); // within the tensor
    expect_whole_bytes(tensor, start, row.len)?;
    Ok(part(tensor, row.dims, start, row.len))
}

/// The rows of a tensor, each a view: see [`TensorView::rows`].
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    tensor: TensorView<'a>,
    row: Row,
    left: Range<usize>,
}

/// What a row is.
#[derive(Clone, Debug)]
struct Row {
    dims: Dims<usize>,
    /// In elements.
    len: usize,
}

impl<'a> Rows<'a> {
    pub(super) fn new(tensor: &TensorView<'a>) -> Result<Self, SliceError> {
        let (dim, row) = inner(tensor)?;
        if dim > 1 {
            expect_whole_bytes(tensor, 0, row.len)?; // and then they all start on a byte
        }
        Ok(Self { tensor: *tensor, row, left: 0..dim })
    }

    fn at(&self, i: usize) -> TensorView<'a> {
        part(&self.tensor, self.row.dims, i.wrapping_mul(self.row.len), self.row.len)
    }
}

/// The pieces of a tensor, each a view of rank 1: see [`TensorView::chunks`].
#[derive(Clone, Debug)]
pub struct Chunks<'a> {
    tensor: TensorView<'a>,
    len: usize,
    left: Range<usize>,
}

impl<'a> Chunks<'a> {
    pub(super) fn new(tensor: &TensorView<'a>, len: usize) -> Result<Self, SliceError> {
        let elements = tensor.elements();
        if len == 0 && elements > 0 {
            return Err(SliceError::ChunkLen);
        }
        expect_whole_bytes(tensor, 0, len)?;
        let count = if elements == 0 { 0 } else { elements.div_ceil(len) };
        Ok(Self { tensor: *tensor, len, left: 0..count })
    }

    fn at(&self, i: usize) -> TensorView<'a> {
        let start = i.wrapping_mul(self.len); // within the tensor
        let len = self.tensor.elements().saturating_sub(start).min(self.len);
        let mut dims = Dims::scalar();
        dims.push(len);
        part(&self.tensor, dims, start, len)
    }
}

macro_rules! views {
    ($($name:ident),*) => {$(
        impl<'a> Iterator for $name<'a> {
            type Item = TensorView<'a>;

            fn next(&mut self) -> Option<TensorView<'a>> {
                self.left.next().map(|i| self.at(i))
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                self.left.size_hint()
            }

            fn nth(&mut self, n: usize) -> Option<TensorView<'a>> {
                self.left.nth(n).map(|i| self.at(i))
            }

            fn count(self) -> usize {
                self.left.len()
            }

            fn last(mut self) -> Option<TensorView<'a>> {
                self.next_back()
            }
        }

        impl<'a> DoubleEndedIterator for $name<'a> {
            fn next_back(&mut self) -> Option<TensorView<'a>> {
                self.left.next_back().map(|i| self.at(i))
            }

            fn nth_back(&mut self, n: usize) -> Option<TensorView<'a>> {
                self.left.nth_back(n).map(|i| self.at(i))
            }
        }

        impl ExactSizeIterator for $name<'_> {}
        impl FusedIterator for $name<'_> {}
    )*};
}

views!(Rows, Chunks);

/// The length of the outermost axis, and what a row is.
fn inner(tensor: &TensorView<'_>) -> Result<(usize, Row), SliceError> {
    let Some((&dim, inner)) = tensor.shape().split_first() else {
        return Err(SliceError::NoAxis { axis: 0, rank: 0 });
    };
    let mut dims = Dims::scalar();
    for &dim in inner {
        dims.push(dim);
    }
    // Exact; and where there are no rows, no row is made.
    let len = tensor.elements().checked_div(dim).unwrap_or(0);
    Ok((dim, Row { dims, len }))
}

/// Some elements, which fill whole bytes.
fn part<'a>(tensor: &TensorView<'a>, dims: Dims<usize>, start: usize, len: usize) -> TensorView<'a> {
    let bytes = byte_range(tensor.dtype(), start, len);
    TensorView::new(tensor.name(), tensor.dtype(), dims, tensor.data().get(bytes).unwrap_or_default())
}

fn expect_whole_bytes(tensor: &TensorView<'_>, start: usize, len: usize) -> Result<(), SliceError> {
    let dtype = tensor.dtype();
    let is_whole = |elements: usize| elements.checked_rem(dtype.block_len() as usize) == Some(0);
    if is_whole(start) && is_whole(len) { Ok(()) } else { Err(SliceError::PartialByte { dtype, start, len }) }
}
