//! The module's memory, and all that is unsafe: what the host's pointers point to, and what lives from call to call.
//!
//! ```text
//! 0           stack, constants, statics
//! __heap_base the head of the file, as the host wrote it
//!             the module's own: the index, places in the header; while it parses, a heap
//! floor       the host's buffer, for names, pieces of tensors, and numbers
//! ```
//!
//! Everything from `__heap_base` on is handed out upward and taken back as a whole, with the file.

use core::cell::UnsafeCell;

use crate::fault::{Fault, Trouble};

/// What lives from call to call. A module is called by one thread at a time and calls nothing itself, so nothing is
/// entered twice.
pub(crate) struct Global<T>(UnsafeCell<T>);

// SAFETY: an instance without shared memory, which this module is built as, has one thread.
unsafe impl<T> Sync for Global<T> {}

impl<T> Global<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// `f` must not come back here: no closure that is given does more than its few lines.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: one thread, and no call within a call: this is the only reference.
        f(unsafe { &mut *self.0.get() })
    }

    /// Where it lies, for the host to read.
    pub(crate) fn address(&self) -> *const T {
        self.0.get()
    }
}

/// What everything is aligned to.
const ALIGN: usize = 16;

struct Regions {
    /// The end of the head; 0 before there is one.
    head_end: usize,
    /// The end of what is handed out.
    top: usize,
}

static REGIONS: Global<Regions> = Global::new(Regions { head_end: 0, top: 0 });

/// Takes everything back, and gives `len` bytes for a head.
pub(crate) fn start(len: usize) -> Option<usize> {
    REGIONS.with(|regions| *regions = Regions { head_end: 0, top: base() });
    let at = take(len, ALIGN)?;
    REGIONS.with(|regions| regions.head_end = at.saturating_add(len));
    Some(at)
}

/// The head, as the host wrote it.
pub(crate) fn head() -> &'static [u8] {
    let (start, end) = (base(), REGIONS.with(|regions| regions.head_end));
    let len = end.saturating_sub(start);
    // SAFETY: `start` gave these bytes to the host, which has written them and, says the manual, does so no more. The
    // module gives them to nothing else before the next `start`, which drops what was made of them: see `file`.
    unsafe { core::slice::from_raw_parts(start as *const u8, len) }
}

/// Takes back all but the head.
pub(crate) fn keep_head() {
    REGIONS.with(|regions| regions.top = regions.head_end);
}

/// Room for `len` items, which `make` makes in turn, until the next `start`. They are never dropped.
pub(crate) fn list<T>(len: usize, mut make: impl FnMut() -> T) -> Option<&'static mut [T]> {
    let at = take(len.checked_mul(size_of::<T>())?, align_of::<T>().max(ALIGN))? as *mut T;
    for i in 0..len {
        // SAFETY: within the bytes just taken, which are aligned.
        unsafe { at.add(i).write(make()) };
    }
    // SAFETY: taken for this list alone, and filled.
    Some(unsafe { core::slice::from_raw_parts_mut(at, len) })
}

/// Where the host's buffer starts; makes sure that `len` bytes are there.
pub(crate) fn buffer(len: usize) -> Option<usize> {
    let floor = floor();
    grow_to(floor.checked_add(len)?)?;
    Some(floor)
}

/// Bytes that the host has written to its buffer.
pub(crate) fn input(at: usize, len: usize) -> Result<&'static [u8], Fault> {
    check(at, len, 1)?;
    // SAFETY: within the host's buffer, of which the module keeps no reference from call to call. `both` sees to it
    // that nothing is written to them in the call.
    Ok(unsafe { core::slice::from_raw_parts(at as *const u8, len) })
}

/// Bytes of the host's buffer to read, and numbers of it to write.
#[cfg(feature = "numbers")]
pub(crate) fn both<T: Number>(
    read: (usize, usize),
    write: (usize, usize),
) -> Result<(&'static [u8], &'static mut [T]), Fault> {
    let written = write.1.checked_mul(size_of::<T>()).ok_or(Fault::Own(Trouble::Outside))?;
    let apart = |a: (usize, usize), b: (usize, usize)| a.0.saturating_add(a.1) <= b.0 || a.1 == 0 || b.1 == 0;
    let write_bytes = (write.0, written);
    if !apart(read, write_bytes) && !apart(write_bytes, read) {
        return Err(Fault::Own(Trouble::Outside));
    }
    check(write.0, written, align_of::<T>())?;
    // SAFETY: within the host's buffer, aligned, any bits are a number, and no other reference to them is made.
    let numbers = unsafe { core::slice::from_raw_parts_mut(write.0 as *mut T, write.1) };
    Ok((input(read.0, read.1)?, numbers))
}

/// Bytes of the host's buffer to write.
pub(crate) fn output(at: usize, len: usize) -> Result<&'static mut [u8], Fault> {
    check(at, len, 1)?;
    // SAFETY: within the host's buffer, and no other reference to it is made in this call.
    Ok(unsafe { core::slice::from_raw_parts_mut(at as *mut u8, len) })
}

/// Types of which every pattern of bits is a value.
#[cfg(feature = "numbers")]
pub(crate) trait Number {}

#[cfg(feature = "numbers")]
impl Number for f32 {}

#[cfg(feature = "numbers")]
impl Number for f64 {}

/// Whether bytes lie in the host's buffer.
fn check(at: usize, len: usize, align: usize) -> Result<(), Fault> {
    let inside = at >= floor() && at.checked_add(len).is_some_and(|end| end as u64 <= size());
    let usable = inside && len <= isize::MAX as usize && at & align.wrapping_sub(1) == 0;
    if usable { Ok(()) } else { Err(Fault::Own(Trouble::Outside)) }
}

fn floor() -> usize {
    let top = REGIONS.with(|regions| regions.top);
    // No overflow: a host's memory ends where `usize` does, and `take` has kept away from there.
    top.max(base()).checked_next_multiple_of(ALIGN).unwrap_or(usize::MAX)
}

/// The next `len` bytes.
fn take(len: usize, align: usize) -> Option<usize> {
    let at = REGIONS.with(|regions| regions.top).checked_next_multiple_of(align)?;
    let end = at.checked_add(len)?;
    if len > isize::MAX as usize {
        return None;
    }
    grow_to(end.checked_next_multiple_of(ALIGN)?)?;
    REGIONS.with(|regions| regions.top = end);
    Some(at)
}

/// Where memory is free from: behind the stack and the statics.
fn base() -> usize {
    unsafe extern "C" {
        /// Set by the linker.
        static __heap_base: u8;
    }
    (&raw const __heap_base as usize).checked_next_multiple_of(ALIGN).unwrap_or(usize::MAX)
}

const PAGE: u64 = 0x1_0000;

/// The memory's bytes.
fn size() -> u64 {
    (core::arch::wasm32::memory_size(0) as u64).saturating_mul(PAGE)
}

/// Makes the memory reach to `end`.
fn grow_to(end: usize) -> Option<()> {
    let missing = (end as u64).saturating_sub(size());
    if missing == 0 {
        return Some(());
    }
    let pages = usize::try_from(missing.div_ceil(PAGE)).ok()?;
    (core::arch::wasm32::memory_grow(0, pages) != usize::MAX).then_some(())
}

/// The heap that the parser sorts in: what is taken is given back when the last block goes, or with everything.
#[cfg(feature = "heap")]
mod heap {
    use core::alloc::{GlobalAlloc, Layout};

    use super::{REGIONS, take};

    struct Heap;

    #[global_allocator]
    static HEAP: Heap = Heap;

    // SAFETY: `take` gives each block once, aligned. A block is given back, or made longer in its place, only when it
    // is the last.
    unsafe impl GlobalAlloc for Heap {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            take(layout.size(), layout.align()).map_or(core::ptr::null_mut(), |at| at as *mut u8)
        }

        unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
            if is_last(block, layout) {
                REGIONS.with(|regions| regions.top = block as usize);
            }
        }

        unsafe fn realloc(&self, block: *mut u8, layout: Layout, len: usize) -> *mut u8 {
            if is_last(block, layout) && len >= layout.size() {
                let more = take(len.wrapping_sub(layout.size()), 1);
                return more.map_or(core::ptr::null_mut(), |_| block);
            }
            let moved = take(len, layout.align()).map_or(core::ptr::null_mut(), |at| at as *mut u8);
            if !moved.is_null() {
                // SAFETY: two blocks, both at least this long, of which the second is new.
                unsafe { core::ptr::copy_nonoverlapping(block, moved, layout.size().min(len)) };
            }
            moved
        }
    }

    fn is_last(block: *mut u8, layout: Layout) -> bool {
        (block as usize).checked_add(layout.size()) == Some(REGIONS.with(|regions| regions.top))
    }
}
