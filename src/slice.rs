//! Parts of tensors: views of views, still borrowed from the file's bytes.
//!
//! | To take | Use | What comes back |
//! |---|---|---|
//! | one row (the outermost axis goes) | [`TensorView::index`] | a [`TensorView`] |
//! | every row in turn | [`TensorView::rows`] | an iterator of [`TensorView`]s |
//! | pieces of a length, to share out over threads | [`TensorView::chunks`] | an iterator of [`TensorView`]s of rank 1 |
//! | a range of one axis | [`TensorView::narrow`] | a [`Slice`] |
//! | anything else: ranges, steps, lists, on any axes | [`TensorView::slice`] | a [`Slice`] |
//! | one number | [`TensorView::element`], [`element_f32`](TensorView::element_f32) | the number |
//!
//! A [`Slice`] that happens to lie in one piece is one [`TensorView`]: [`Slice::as_view`]. Any other reads, widens
//! and iterates just the same, or yields the pieces that it lies in: [`Slice::runs`].
//!
//! Shapes follow numpy: an index drops its axis, a range keeps it, however short. A tensor `[4, 6]` has at
//! `index(1)` the shape `[6]`, at `narrow(0, 1..2)` the shape `[1, 6]`, and at
//! `slice(&[Axis::all(), (2..5).into()])` the shape `[4, 3]`. A slice may have no elements; nothing then goes wrong.
//!
//! # Dtypes below a byte
//! F4 and F6 elements have no address of their own. A part of such a tensor must be made of whole bytes: each of
//! its pieces starts at a multiple of [`block_len`](Dtype::block_len) elements, counted from the tensor's first, and
//! has a multiple of it (F4: 2, in one byte; F6: 4, in three). Anything else is [`SliceError::PartialByte`]. Single
//! F4 elements can be had all the same, with [`TensorView::element_f32`].

mod axis;
mod error;
mod iter;
mod layout;
mod pieces;
mod read;

use core::ops::RangeBounds;

pub use axis::{Axis, Position};
pub use error::SliceError;
pub use iter::{Iter, IterF32, IterF64, Runs, Widened};
pub use pieces::{Chunks, Rows};

use axis::Taken;
use axis::sealed::Position as _;
use layout::{Layout, Steps};

use crate::dtype::Dtype;
use crate::element::{CastError, Element};
use crate::shape::Dims;
use crate::text::Text;
use crate::view::TensorView;
use crate::widen;

impl<'a> TensorView<'a> {
    /// Row `i`: the view of all that has `i` on the outermost axis, which the view no longer has.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors")?;
    /// let weight = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.weight")?; // [32, 64]
    /// let row = weight.index(3)?;
    /// assert_eq!(row.shape(), [64]);
    /// assert_eq!(row.index(5)?.shape(), [0usize; 0]); // a scalar
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SliceError`] `Index`, `NoAxis` of a scalar, or `PartialByte`.
    pub fn index(&self, i: usize) -> Result<Self, SliceError> {
        pieces::row(self, i)
    }

    /// The elements whose index on one axis lies in a range: all axes stay. In one piece
    /// ([`as_view`](Slice::as_view)) on the outermost axis, and on any that only axes of length 1 stand before.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors")?;
    /// use weightview::TensorView;
    ///
    /// let weight = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.weight")?; // [32, 64]
    /// let top: TensorView = weight.narrow(0, ..8)?.try_into()?;
    /// assert_eq!(top.shape(), [8, 64]);
    ///
    /// let left = weight.narrow(1, 0..16)?; // 32 pieces of 16
    /// assert_eq!((left.shape(), left.as_view().is_none()), (&[32, 16][..], true));
    /// assert!(left.iter_f32()?.all(f32::is_finite));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SliceError`] `NoAxis`, `Bound`, `Reversed`, or `PartialByte`.
    pub fn narrow(&self, axis: usize, range: impl RangeBounds<usize>) -> Result<Slice<'a, 'static>, SliceError> {
        let rank = self.shape().len();
        if axis >= rank {
            return Err(SliceError::NoAxis { axis, rank });
        }
        let only: Axis<'static> = (range.start_bound().cloned(), range.end_bound().cloned()).into();
        Slice::take(self, |at| if at == axis { only } else { Axis::all() })
    }

    /// Any part of the tensor: what each axis gives is said by an [`Axis`], outermost first. Axes that nothing is
    /// said of stay whole.
    ///
    /// | Python | Here |
    /// |---|---|
    /// | `w[2]` | `w.slice(&[Axis::at(2)])` |
    /// | `w[-1, :3]` | `w.slice(&[Axis::at(-1), (..3).into()])` |
    /// | `w[:, 1::2]` | `w.slice(&[Axis::all(), Axis::from(1..).step(2)])` |
    /// | `w[[7, 0, 7]]` | `w.slice(&[Axis::list(&[7, 0, 7])])` |
    ///
    /// Unlike in Python, a bound past either end of its axis is an error, and so is a range that ends before it
    /// starts. Lists on several axes each select on their own, as in numpy's `ix_`.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors")?;
    /// use weightview::Axis;
    ///
    /// let weight = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.weight")?; // [32, 64]
    /// let corner = weight.slice(&[(..4).into(), Axis::from(-8..).step(2)])?;
    /// assert_eq!(corner.shape(), [4, 4]);
    /// let mut numbers = [0f32; 16];
    /// corner.read_f32(&mut numbers)?;
    ///
    /// let token_ids = [3u32, 17, 3];
    /// let embedded = weight.slice(&[Axis::list(&token_ids)])?;
    /// assert_eq!(embedded.shape(), [3, 64]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SliceError`] `Rank` when there are more selectors than axes; `Index`, `Bound`, `Reversed`, `Step`,
    /// `PartialByte`, or `TooLarge`.
    pub fn slice<'s>(&self, axes: &[Axis<'s>]) -> Result<Slice<'a, 's>, SliceError> {
        let rank = self.shape().len();
        if axes.len() > rank {
            return Err(SliceError::Rank { given: axes.len(), rank });
        }
        Slice::take(self, |at| axes.get(at).copied().unwrap_or(Axis::all()))
    }

    /// The rows: what [`index`](Self::index) gives, for every index of the outermost axis in turn.
    ///
    /// Of a tensor whose outermost axis has length 0 there are none; of one that has rows without elements there
    /// are as many as the axis is long. A scalar has no axis to go along, and is an error.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors")?;
    /// let weight = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.weight")?; // [32, 64]
    /// let rows = weight.rows()?;
    /// assert_eq!(rows.len(), 32);
    /// for row in rows {
    ///     assert_eq!(row.shape(), [64]);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SliceError`] `NoAxis` of a scalar, or `PartialByte` when a row is not whole bytes.
    pub fn rows(&self) -> Result<Rows<'a>, SliceError> {
        Rows::new(self)
    }

    /// The elements in pieces of `n`, whatever the axes: each a tensor of rank 1, the last one shorter when `n`
    /// does not divide.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors")?;
    /// let weight = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.weight")?; // 2048 elements
    /// let mut numbers = vec![0f32; weight.elements()];
    /// let mut whole = numbers.clone();
    ///
    /// let n = weight.elements().div_ceil(4); // for 4 threads
    /// std::thread::scope(|threads| -> Result<(), weightview::SliceError> {
    ///     for (chunk, out) in weight.chunks(n)?.zip(numbers.chunks_mut(n)) {
    ///         threads.spawn(move || chunk.read_f32(out));
    ///     }
    ///     Ok(())
    /// })?;
    /// weight.read_f32(&mut whole)?;
    /// assert_eq!(numbers, whole);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SliceError`] `ChunkLen` when `n` is 0 (unless the tensor has no elements: then there are no pieces), or
    /// `PartialByte` when `n` is not a multiple of the dtype's [`block_len`](Dtype::block_len).
    pub fn chunks(&self, n: usize) -> Result<Chunks<'a>, SliceError> {
        Chunks::new(self, n)
    }

    /// One element, as it is: its index on each axis, outermost first.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors")?;
    /// let bias = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.bias")?;
    /// let fourth: f32 = bias.element(&[3])?;
    /// assert_eq!(Some(fourth), bias.iter()?.nth(3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SliceError`] `Rank` when there is not one index an axis, `Index`, or `Cast` for what is wrong with the
    /// type or the value.
    pub fn element<T: Element>(&self, index: &[usize]) -> Result<T, SliceError> {
        read::expect_type::<T>(self.dtype())?;
        let flat = self.flat_index(index)?;
        let bytes = flat.checked_mul(T::SIZE).and_then(|start| self.data().get(start..));
        bytes.and_then(T::from_le).ok_or(CastError::Value { index: flat }.into())
    }

    /// One element, widened to `f32`: of the dtypes that [`iter_f32`](Self::iter_f32) takes, F4 among them.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors")?;
    /// let weight = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.weight")?; // BF16, [32, 64]
    /// let last = weight.element_f32(&[31, 63])?;
    /// assert_eq!(Some(last), weight.iter_f32()?.next_back());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SliceError`] `Rank` when there is not one index an axis, `Index`, or `Cast` when the dtype does not widen.
    pub fn element_f32(&self, index: &[usize]) -> Result<f32, SliceError> {
        self.element_at(index, widen::is_f32(self.dtype()), widen::f32_at)
    }

    /// One element, widened to `f64`: of the dtypes that [`iter_f64`](Self::iter_f64) takes, F4 among them.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors")?;
    /// let weight = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.weight")?; // BF16, [32, 64]
    /// assert_eq!(weight.element_f64(&[0, 1])?, f64::from(weight.element_f32(&[0, 1])?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SliceError`] `Rank` when there is not one index an axis, `Index`, or `Cast` when the dtype does not widen.
    pub fn element_f64(&self, index: &[usize]) -> Result<f64, SliceError> {
        self.element_at(index, widen::is_f64(self.dtype()), widen::f64_at)
    }

    fn element_at<F>(
        &self,
        index: &[usize],
        widens: bool,
        decode: fn(Dtype, &[u8], usize) -> Option<F>,
    ) -> Result<F, SliceError> {
        let other = CastError::Dtype { expected: None, actual: self.dtype() };
        if !widens {
            return Err(other.into());
        }
        let flat = self.flat_index(index)?;
        decode(self.dtype(), self.data(), flat).ok_or(other.into())
    }

    /// The place of an element among all.
    fn flat_index(&self, index: &[usize]) -> Result<usize, SliceError> {
        let shape = self.shape();
        if index.len() != shape.len() {
            return Err(SliceError::Rank { given: index.len(), rank: shape.len() });
        }
        let mut flat = 0usize;
        for (axis, (&i, &dim)) in index.iter().zip(shape).enumerate() {
            if i >= dim {
                return Err(SliceError::Index { axis, index: i.to_i64(), dim });
            }
            // Below the number of elements, or there are none: then some index is refused.
            flat = flat.wrapping_mul(dim).wrapping_add(i);
        }
        Ok(flat)
    }
}

/// A part of a tensor, borrowed from the file's bytes; it need not lie in one piece.
///
/// [`TensorView::slice`] and [`TensorView::narrow`] make it. It reads as a tensor does: [`iter`](Self::iter),
/// [`iter_f32`](Self::iter_f32), [`read_f32`](Self::read_f32) and so on, elements in row-major order of its own
/// [`shape`](Self::shape). Where it lies in one piece, [`as_view`](Self::as_view) is that piece, a [`TensorView`].
///
/// It borrows the lists that it was made with (`'s`; `'static` when there are none), and nothing else but the
/// file's bytes (`'a`). It cannot be sliced again, since a list of a list has nowhere to be kept without a heap: say
/// it all in one call, or go on from `as_view`.
#[derive(Clone, Copy)]
pub struct Slice<'a, 's> {
    name: Text<'a>,
    dtype: Dtype,
    dims: Dims<usize>,
    layout: Layout<'s>,
    /// The whole tensor's.
    data: &'a [u8],
}

impl<'a, 's> Slice<'a, 's> {
    /// Takes of each axis what `axis_at` says.
    fn take(tensor: &TensorView<'a>, axis_at: impl Fn(usize) -> Axis<'s>) -> Result<Self, SliceError> {
        let all = tensor.elements();
        let (mut dims, mut layout) = (Dims::scalar(), Layout::point());
        let mut elements = Some(1usize);
        let mut stride = all;
        for (axis, &dim) in tensor.shape().iter().enumerate() {
            // Exact, or there are no elements: then the layout is not used.
            stride = stride.checked_div(dim).unwrap_or(0);
            let steps = match axis_at(axis).resolve(axis, dim)? {
                Taken::At(position) => {
                    layout.shift(position.wrapping_mul(stride));
                    continue;
                }
                Taken::Range { start, len, step } => {
                    layout.shift(start.wrapping_mul(stride));
                    Steps::Even { len, stride: stride.wrapping_mul(step) }
                }
                Taken::List(list) => Steps::Listed { list, dim, stride },
            };
            dims.push(steps.len());
            elements = match (elements, steps.len()) {
                (_, 0) => Some(0),
                (elements, len) => elements.and_then(|elements| elements.checked_mul(len)),
            };
            layout.push(steps);
        }
        // Only lists that repeat can make more of a tensor than it is.
        let elements = elements.filter(|&elements| elements <= all.max(MOST)).ok_or(SliceError::TooLarge)?;
        let layout = layout.of_elements(elements);
        layout.expect_whole_bytes(tensor.dtype())?;
        Ok(Self { name: tensor.name(), dtype: tensor.dtype(), dims, layout, data: tensor.data() })
    }

    /// The tensor's name.
    #[must_use]
    pub const fn name(&self) -> Text<'a> {
        self.name
    }

    /// The type of its elements.
    #[must_use]
    pub const fn dtype(&self) -> Dtype {
        self.dtype
    }

    /// Its own dims, outermost first; none for a scalar. Axes that an index was taken of are not there.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors")?;
    /// use weightview::Axis;
    ///
    /// let weight = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.weight")?; // [32, 64]
    /// let column = weight.slice(&[Axis::all(), Axis::at(0)])?;
    /// assert_eq!((column.shape(), column.elements()), (&[32][..], 32));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.dims.as_slice()
    }

    /// How many elements it has: the product of its dims.
    #[must_use]
    pub const fn elements(&self) -> usize {
        self.layout.elements()
    }

    /// The slice as a tensor, when its elements lie one behind the other; always when it has one element or none.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors")?;
    /// use weightview::Axis;
    ///
    /// let weight = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.weight")?; // [32, 64]
    /// let part_of_a_row = weight.slice(&[Axis::at(7), (10..20).into()])?;
    /// assert_eq!(part_of_a_row.as_view().map(|view| view.data().len()), Some(10 * 2));
    /// assert!(weight.slice(&[(7..9).into(), (10..20).into()])?.as_view().is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn as_view(&self) -> Option<TensorView<'a>> {
        let start = self.layout.one_piece()?;
        let bytes = layout::byte_range(self.dtype, start, self.elements());
        Some(TensorView::new(self.name, self.dtype, self.dims, self.data.get(bytes).unwrap_or_default()))
    }

    /// The bytes of the slice, as the runs that they lie in, in order: as few and as long as can be. Put one behind
    /// the other they are the bytes of a tensor of this shape.
    ///
    /// ```
    /// # let bytes = std::fs::read("tests/data/digits.safetensors")?;
    /// let weight = weightview::SafeTensors::parse(&bytes)?.tensor("fc1.weight")?; // BF16, [32, 64]
    /// let left = weight.narrow(1, ..16)?;
    /// let mut file = Vec::new();
    /// for run in left.runs() {
    ///     assert_eq!(run.len(), 16 * 2);
    ///     file.extend_from_slice(run);
    /// }
    /// assert_eq!(file.len(), 32 * 16 * 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn runs(&self) -> Runs<'a, 's> {
        Runs::new(self.dtype, self.data, self.layout)
    }
}

/// The most elements that lists may make of a smaller tensor: eight bytes of each fit an allocation.
const MOST: usize = isize::MAX as usize >> 3;

/// All of the tensor.
impl<'a> From<TensorView<'a>> for Slice<'a, '_> {
    fn from(tensor: TensorView<'a>) -> Self {
        let mut dims = Dims::scalar();
        for &dim in tensor.shape() {
            dims.push(dim);
        }
        let elements = tensor.elements();
        let mut layout = Layout::point();
        layout.push(Steps::Even { len: elements, stride: 1 });
        let layout = layout.of_elements(elements);
        Self { name: tensor.name(), dtype: tensor.dtype(), dims, layout, data: tensor.data() }
    }
}

/// What [`Slice::as_view`] gives, or [`SliceError::NotContiguous`].
impl<'a> TryFrom<Slice<'a, '_>> for TensorView<'a> {
    type Error = SliceError;

    fn try_from(slice: Slice<'a, '_>) -> Result<Self, SliceError> {
        slice.as_view().ok_or(SliceError::NotContiguous)
    }
}

impl core::fmt::Debug for Slice<'_, '_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Slice")
            .field("name", &self.name)
            .field("dtype", &self.dtype)
            .field("shape", &self.dims)
            .field("one_piece", &self.layout.one_piece().is_some())
            .finish()
    }
}
