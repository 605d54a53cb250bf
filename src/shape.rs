//! Dims, held inline.

use core::fmt;

use crate::dtype::Dtype;
use crate::limits::MAX_RANK;

/// Up to [`MAX_RANK`] dims, inline. `u64` for a fact of a file, `usize` for memory.
#[derive(Clone, Copy)]
pub(crate) struct Dims<T> {
    dims: [T; MAX_RANK],
    rank: u8,
}

impl<T: Copy + Default> Dims<T> {
    /// No dims: a scalar.
    pub(crate) fn scalar() -> Self {
        Self { dims: [T::default(); MAX_RANK], rank: 0 }
    }

    /// Back to a scalar.
    pub(crate) fn clear(&mut self) {
        self.rank = 0;
    }

    /// Where dims can be put that [`set_rank`](Self::set_rank) then makes the dims.
    pub(crate) fn room(&mut self) -> &mut [T; MAX_RANK] {
        &mut self.dims
    }

    /// Makes the first so many of the room the dims. There are no more.
    pub(crate) fn set_rank(&mut self, rank: usize) {
        self.rank = u8::try_from(rank).unwrap_or(0);
    }

    /// Adds the next inner dim; false when there is no room.
    pub(crate) fn push(&mut self, dim: T) -> bool {
        let Some(slot) = self.dims.get_mut(usize::from(self.rank)) else { return false };
        *slot = dim;
        self.rank = self.rank.wrapping_add(1); // rank < MAX_RANK here
        true
    }
}

impl<T> Dims<T> {
    /// The dims, outermost first.
    pub(crate) fn as_slice(&self) -> &[T] {
        self.dims.get(..usize::from(self.rank)).unwrap_or_default()
    }
}

impl Dims<u64> {
    /// Whether every dim fits this host's `usize`.
    pub(crate) fn fit_host(&self) -> bool {
        self.as_slice().iter().all(|&dim| usize::try_from(dim).is_ok())
    }
}

impl Dims<usize> {
    /// Facts of a file as facts of memory: `dims` must fit the host.
    pub(crate) fn from_file(dims: &Dims<u64>) -> Self {
        let mut host = Self::scalar();
        for &dim in dims.as_slice() {
            host.push(usize::try_from(dim).unwrap_or(usize::MAX));
        }
        host
    }
}

impl<T: fmt::Debug> fmt::Debug for Dims<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

/// Bits that a tensor takes. The product runs outermost dim first and must fit 64 bits at every step: so does
/// the reference, which makes `[0, 2, u64::MAX]` well and `[2, u64::MAX, 0]` not.
pub(crate) fn bit_len(dtype: Dtype, dims: &[u64]) -> Option<u64> {
    let elements = dims.iter().try_fold(1u64, |product, &dim| product.checked_mul(dim))?;
    elements.checked_mul(u64::from(dtype.bits()))
}
