//! weightview as one WebAssembly module, without an import: a C-like interface for browsers and any other host.
//!
//! `ABI.md`, beside this crate, is the manual of what is exported. A module instance holds one file at a time, and is
//! for one thread. The host reads the file, and hands in pieces of it; the module keeps nothing but the head.

#![no_std]
#![deny(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    unsafe_op_in_unsafe_fn
)]

#[cfg(feature = "heap")]
extern crate alloc;

mod fault;
mod file;
mod memory;
#[cfg(feature = "numbers")]
mod numbers;

/// What the exports are: the major version in the upper half, which changes when a host must; the minor in the lower.
#[unsafe(no_mangle)]
pub extern "C" fn wv_version() -> u32 {
    1 << 16
}

/// Nothing panics. Should it, the host gets a trap, and the instance is to be thrown away.
#[cfg(target_arch = "wasm32")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
