//! Dims, held inline.

use core::fmt;

use crate::dtype::Dtype;
use crate::error::ErrorKind;
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
    /// The same dims as facts of memory, where they fit `usize`.
    pub(crate) fn to_host(self) -> Option<Dims<usize>> {
        let mut host = Dims::scalar();
        for &dim in self.as_slice() {
            host.push(usize::try_from(dim).ok()?);
        }
        Some(host)
    }
}

impl<T: fmt::Debug> fmt::Debug for Dims<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

/// Bytes that a tensor takes. The product runs outermost dim first and must fit 64 bits at every step, in bits
/// too: so does the reference, which makes `[0, 2, u64::MAX]` well and `[2, u64::MAX, 0]` not.
pub(crate) fn byte_len(dtype: Dtype, dims: &[u64]) -> Result<u64, ErrorKind> {
    let mut bits = Some(1u64);
    for &dim in dims {
        bits = bits.and_then(|product| product.checked_mul(dim));
    }
    let bits = bits.and_then(|n| n.checked_mul(u64::from(dtype.bits()))).ok_or(ErrorKind::SizeOverflow)?;
    if bits & 7 != 0 {
        return Err(ErrorKind::PartialByte { bits });
    }
    Ok(bits >> 3)
}
