//! The one door from bytes to integers. Everything in a model file is little-endian unless its format says
//! otherwise; a read past the end is `None`, never a panic.

/// The 8 bytes at the head of a slice and the rest.
pub(crate) fn split_u64(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<8>()?;
    Some((u64::from_le_bytes(*head), rest))
}

/// The length of memory as a fact of a file. `usize` is never wider than 64 bits where Rust runs.
pub(crate) const fn len_u64(len: usize) -> u64 {
    len as u64
}

/// The bytes `begin..end` of a slice, when they are there and can be addressed.
pub(crate) fn range(bytes: &[u8], begin: u64, end: u64) -> Option<&[u8]> {
    bytes.get(usize::try_from(begin).ok()?..usize::try_from(end).ok()?)
}
