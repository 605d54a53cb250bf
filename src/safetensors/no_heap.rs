//! What stands for `heap` in builds without one: a list that cannot be made.

use core::marker::PhantomData;

/// Words of the sieve that finds repeated names (`unique`), on the stack.
pub(super) const SIEVE_WORDS: usize = 64;

/// Ascending runs of names that are held against each other (`unique`): the one that is read.
pub(super) const RUNS: usize = 1;

/// Where there is no heap the stack is small too: a later pass it is.
pub(super) struct Eager<T>(Never, PhantomData<T>);

impl<T> Eager<T> {
    pub(super) fn new(_make: impl FnOnce() -> T) -> Option<Self> {
        None
    }

    pub(super) fn get(&self) -> &T {
        match self.0 {}
    }

    pub(super) fn get_mut(&mut self) -> &mut T {
        match self.0 {}
    }
}

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
