//! A tensor: what a file says of it, and its bytes in memory.

use core::ops::Range;

use crate::cursor::len_u64;
use crate::dtype::Dtype;
use crate::error::{Error, ErrorKind};
use crate::shape::Dims;
use crate::slice::SliceError;
use crate::text::Text;

/// What a file's head says of a tensor: facts of a file, in `u64`, right on a 32-bit host too.
#[derive(Clone, Copy, Debug)]
pub struct TensorInfo<'a> {
    name: Text<'a>,
    dtype: Dtype,
    dims: Dims<u64>,
    begin: u64,
    end: u64,
    data_start: u64,
}

impl<'a> TensorInfo<'a> {
    /// `begin..end` are bytes of the data section, which starts at `data_start` in the file.
    pub(crate) const fn new(
        name: Text<'a>,
        dtype: Dtype,
        dims: Dims<u64>,
        begin: u64,
        end: u64,
        data_start: u64,
    ) -> Self {
        Self { name, dtype, dims, begin, end, data_start }
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

    /// Its dims, outermost first, row-major; none for a scalar.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        self.dims.as_slice()
    }

    /// How many elements it has: the product of its dims.
    #[must_use]
    pub fn elements(&self) -> u64 {
        // The parser has proven that this does not overflow.
        self.shape().iter().fold(1, |product: u64, &dim| product.saturating_mul(dim))
    }

    /// How many bytes it takes.
    #[must_use]
    pub const fn byte_len(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }

    /// Where its bytes lie, counted from the start of the data section, as the file says it.
    #[must_use]
    pub const fn data_offsets(&self) -> Range<u64> {
        self.begin..self.end
    }

    /// The tensor itself, given its bytes: those at [`file_range`](Self::file_range), wherever they were fetched
    /// from.
    ///
    /// ```
    /// # let file = std::fs::read("tests/data/digits.safetensors").unwrap();
    /// # let fetch = |range: std::ops::Range<u64>| &file[range.start as usize..range.end as usize];
    /// # let head = &file[..8 + 1288];
    /// let bias = weightview::safetensors::Header::parse(head)?.tensor("fc1.bias")?;
    /// let bytes = fetch(bias.file_range());
    /// assert_eq!(bias.view(bytes)?.iter_f32().unwrap().len(), 32);
    /// # Ok::<(), weightview::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::DataLen`] when `data` is not as long as the tensor; [`ErrorKind::TooLargeForHost`] when a dim
    /// does not fit this host's `usize`, which only a tensor without elements can have.
    pub fn view(&self, data: &'a [u8]) -> Result<TensorView<'a>, Error> {
        let (expected, actual) = (self.byte_len(), len_u64(data.len()));
        if actual != expected {
            return Err(Error::call(ErrorKind::DataLen { expected, actual }));
        }
        if !self.dims.fit_host() {
            return Err(Error::call(ErrorKind::TooLargeForHost));
        }
        Ok(TensorView::new(self.name, self.dtype, Dims::from_file(&self.dims), data))
    }

    /// A run of its elements, as a tensor of rank 1: for tensors that are fetched and read a piece at a time, however
    /// large they are. Elements are counted in row-major order.
    ///
    /// ```
    /// # let file = std::fs::read("tests/data/digits.safetensors").unwrap();
    /// # let fetch = |range: std::ops::Range<u64>| &file[range.start as usize..range.end as usize];
    /// # let head = &file[..8 + 1288];
    /// let weight = weightview::safetensors::Header::parse(head)?.tensor("fc1.weight")?; // BF16, [32, 64]
    /// let row = weight.piece(5 * 64..6 * 64).unwrap();
    /// assert_eq!((row.shape(), row.byte_len()), (&[64][..], 128));
    /// let bytes = fetch(row.file_range()); // no more than this
    /// assert!(row.view(bytes)?.summary().unwrap().max() < Some(1.0));
    /// # Ok::<(), weightview::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`SliceError`] `Elements` when the run is not within the tensor or is reversed, or `PartialByte` when it does
    /// not start and end at a multiple of the dtype's [`block_len`](Dtype::block_len).
    pub fn piece(&self, elements: Range<u64>) -> Result<Self, SliceError> {
        let (Range { start, end }, len) = (elements, self.elements());
        let outside = SliceError::Elements { start, end, len };
        let count = end.checked_sub(start).filter(|_| end <= len).ok_or(outside)?;
        let byte_of = |element: u64| {
            let (block_len, block_bytes) = (u64::from(self.dtype.block_len()), u64::from(self.dtype.block_bytes()));
            let whole = element.checked_rem(block_len) == Some(0);
            let block = element.checked_div(block_len).filter(|_| whole)?;
            // Within the tensor's bytes, which fit.
            block.checked_mul(block_bytes)?.checked_add(self.begin)
        };
        let (Some(begin), Some(end)) = (byte_of(start), byte_of(end)) else {
            let host = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
            return Err(SliceError::PartialByte { dtype: self.dtype, start: host(start), len: host(count) });
        };
        let mut dims = Dims::scalar();
        dims.push(count);
        Ok(Self { dims, begin, end, ..*self })
    }

    /// Where its bytes lie in the file.
    #[must_use]
    pub const fn file_range(&self) -> Range<u64> {
        self.data_start.saturating_add(self.begin)..self.data_start.saturating_add(self.end)
    }
}

/// A tensor in memory: its bytes, borrowed from the file's, and what they mean.
///
/// It is `Copy` and outlives what it was got from: it borrows from the file's bytes alone.
#[derive(Clone, Copy)]
pub struct TensorView<'a> {
    name: Text<'a>,
    dtype: Dtype,
    dims: Dims<usize>,
    data: &'a [u8],
}

impl<'a> TensorView<'a> {
    /// The view of `data`, the tensor's bytes.
    pub(crate) const fn new(name: Text<'a>, dtype: Dtype, dims: Dims<usize>, data: &'a [u8]) -> Self {
        Self { name, dtype, dims, data }
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

    /// Its dims, outermost first, row-major; none for a scalar.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.dims.as_slice()
    }

    /// How many elements it has: the product of its dims.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.shape().iter().fold(1, |product: usize, &dim| product.saturating_mul(dim))
    }

    /// Its bytes, as they stand in the file: little-endian, row-major, of any alignment.
    #[must_use]
    pub const fn data(&self) -> &'a [u8] {
        self.data
    }
}

impl core::fmt::Debug for TensorView<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("TensorView")
            .field("name", &self.name)
            .field("dtype", &self.dtype)
            .field("shape", &self.dims)
            .field("bytes", &self.data.len())
            .finish()
    }
}
