//! What an operating system's C library would give: the start, the exit, and the four functions that compiled
//! code may call to move and compare memory. For x86-64 Linux.

use core::arch::{asm, global_asm};

// The kernel enters here with a stack that is aligned, but not as after a call.
global_asm!(".globl _start", "_start:", "xor ebp, ebp", "and rsp, -16", "call {start}", "ud2", start = sym start);

extern "C" fn start() -> ! {
    exit(super::run())
}

fn exit(status: u8) -> ! {
    // SAFETY: the system call `exit_group` (231) takes a status and does not come back.
    unsafe { asm!("syscall", in("rax") 231, in("rdi") u64::from(status), options(noreturn, nostack)) }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    exit(101)
}

/// `value`, in a way that the compiler cannot see through.
pub(crate) fn opaque<T: Copy>(value: &T) -> T {
    // SAFETY: a reference is readable, and `T` is `Copy`.
    unsafe { core::ptr::read_volatile(value) }
}

// In assembly: a loop in Rust might be compiled to a call of the very function that it is in.
global_asm!(
    ".globl memcpy",
    "memcpy:",
    "mov rax, rdi",
    "mov rcx, rdx",
    "rep movsb",
    "ret",
    ".globl memmove",
    "memmove:",
    "mov rax, rdi",
    "mov rcx, rdx",
    "mov r8, rdi",
    "sub r8, rsi",
    "cmp r8, rdx", // below: the target starts inside the source, so go backwards
    "jb 2f",
    "rep movsb",
    "ret",
    "2:",
    "lea rdi, [rdi + rdx - 1]",
    "lea rsi, [rsi + rdx - 1]",
    "std",
    "rep movsb",
    "cld",
    "ret",
    ".globl memset",
    "memset:",
    "mov r8, rdi",
    "mov eax, esi",
    "mov rcx, rdx",
    "rep stosb",
    "mov rax, r8",
    "ret",
    ".globl memcmp",
    ".globl bcmp",
    "memcmp:",
    "bcmp:",
    "mov rcx, rdx",
    "xor eax, eax",
    "test rcx, rcx",
    "jz 3f",
    "repe cmpsb",
    "movzx eax, byte ptr [rdi - 1]",
    "movzx ecx, byte ptr [rsi - 1]",
    "sub ecx, eax",
    "mov eax, ecx",
    "3:",
    "ret",
);
