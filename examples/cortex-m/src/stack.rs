//! How deep the stack gets: it is painted, and where the paint is gone it was used.

use core::arch::asm;

const PAINT: u32 = 0xA5C3_96D2;

unsafe extern "C" {
    /// Behind the last static in RAM, by the linker. From here up to the stack pointer nothing is in use.
    static mut __ebss: u32;
}

/// Does the work and says how many bytes of stack it took, its own frame and all that it called.
#[inline(never)]
pub fn peak<R>(work: impl FnOnce() -> R) -> (R, usize) {
    let bottom = &raw mut __ebss;
    let top = stack_pointer();
    let mut place = bottom;
    while place < top {
        // SAFETY: RAM below the stack pointer and above all statics, and no interrupt is enabled that would use it.
        unsafe {
            place.write_volatile(PAINT);
            place = place.add(1);
        }
    }

    let result = work();

    let mut place = bottom;
    // SAFETY: as above.
    while place < top && unsafe { place.read_volatile() } == PAINT {
        // SAFETY: as above.
        place = unsafe { place.add(1) };
    }
    (result, top.addr() - place.addr())
}

fn stack_pointer() -> *mut u32 {
    let pointer: *mut u32;
    // SAFETY: reads a register.
    unsafe {
        #[cfg(target_arch = "arm")]
        asm!("mov {}, sp", out(reg) pointer, options(nomem, nostack, preserves_flags));
        #[cfg(target_arch = "riscv32")]
        asm!("mv {}, sp", out(reg) pointer, options(nomem, nostack, preserves_flags));
    }
    pointer
}
