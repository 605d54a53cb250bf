//! Memory from the heap, in builds that have one. Its twin `no_heap` has the same names and no memory.

use alloc::vec::Vec;

/// Words of the sieve that finds repeated names (`unique`), on the stack: with a heap there is stack too.
pub(super) const SIEVE_WORDS: usize = 256;

/// Ascending runs of names that are held against each other (`unique`).
pub(super) const RUNS: usize = 6;

/// What is on the stack while a header is read, so that no later pass is needed.
pub(super) struct Eager<T>(T);

impl<T> Eager<T> {
    pub(super) fn new(make: impl FnOnce() -> T) -> Option<Self> {
        Some(Self(make()))
    }

    pub(super) fn get(&self) -> &T {
        &self.0
    }

    pub(super) fn get_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// A growing list. Running out of memory is an answer, not an abort: the caller falls back to passes that need
/// none.
pub(super) struct Buffer<T>(Vec<T>);

impl<T> Buffer<T> {
    /// An empty list with room for about so many items; `None` when there is no memory for them.
    pub(super) fn new(room: usize) -> Option<Self> {
        let mut list = Vec::new();
        list.try_reserve(room).ok()?;
        Some(Self(list))
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
