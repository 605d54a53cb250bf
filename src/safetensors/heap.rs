//! Memory from the heap, in builds that have one. Its twin `no_heap` has the same names and no memory.

use alloc::vec::Vec;

/// A growing list. Running out of memory is an answer, not an abort: the caller falls back to passes that need
/// none.
pub(super) struct Buffer<T>(Vec<T>);

impl<T> Buffer<T> {
    pub(super) fn new() -> Option<Self> {
        Some(Self(Vec::new()))
    }

    /// False when there is no memory left.
    #[must_use]
    pub(super) fn push(&mut self, item: T) -> bool {
        if self.0.len() == self.0.capacity() && self.0.try_reserve(1).is_err() {
            return false;
        }
        self.0.push(item);
        true
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.0
    }
}
