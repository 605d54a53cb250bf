//! What the programs of this firmware share.

#![no_std]

pub mod files;
pub mod stack;
pub mod steps;

#[cfg(target_arch = "arm")]
pub use cortex_m_rt::entry;
#[cfg(target_arch = "riscv32")]
pub use riscv_rt::entry;
pub use semihosting::process::exit;

/// What the programs exit with, beside 0. A panic is 101, and there is none.
pub mod status {
    /// The numbers are not what they should be.
    pub const WRONG: i32 = 1;
    /// The library refused a file or a call.
    pub const REFUSED: i32 = 2;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    exit(101)
}
