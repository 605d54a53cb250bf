//! What stands for `heap` in builds without one: a list that cannot be made.

use core::marker::PhantomData;

/// Words of the sieve that finds repeated names (`unique`), on the stack.
pub(super) const SIEVE_WORDS: usize = 64;

pub(super) struct Buffer<T>(Never, PhantomData<T>);

enum Never {}

impl<T> Buffer<T> {
    pub(super) fn new(_room: usize) -> Option<Self> {
        None
    }

    #[must_use]
    pub(super) fn push(&mut self, _: T) -> bool {
        match self.0 {}
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [T] {
        match self.0 {}
    }
}
