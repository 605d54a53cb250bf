//! Gives the linker the map of the chip's memory, and writes the headers that `worst` reads.

mod headers;

use std::path::Path;
use std::{env, fs};

/// Where the lm3s6965evb has flash and RAM.
const CORTEX_M: &str = "
MEMORY
{
  FLASH : ORIGIN = 0x00000000, LENGTH = 256K
  RAM : ORIGIN = 0x20000000, LENGTH = 64K
}
";

/// QEMU's machine `virt` has no flash to start from: a part of its RAM stands for it.
const RISC_V: &str = r#"
MEMORY
{
  FLASH : ORIGIN = 0x80000000, LENGTH = 256K
  RAM : ORIGIN = 0x80040000, LENGTH = 64K
}
REGION_ALIAS("REGION_TEXT", FLASH);
REGION_ALIAS("REGION_RODATA", FLASH);
REGION_ALIAS("REGION_DATA", RAM);
REGION_ALIAS("REGION_BSS", RAM);
REGION_ALIAS("REGION_HEAP", RAM);
REGION_ALIAS("REGION_STACK", RAM);
"#;

fn main() {
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let riscv = env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("riscv32");
    fs::write(Path::new(&out).join("memory.x"), if riscv { RISC_V } else { CORTEX_M }).expect("a folder to write to");
    for (name, file) in headers::all() {
        fs::write(Path::new(&out).join(name), file).expect("a folder to write to");
    }
    println!("cargo:rustc-link-search={out}");
    if riscv {
        println!("cargo:rustc-link-arg-bins=-Tmemory.x");
    }
    println!("cargo:rustc-link-arg-bins=-Tlink.x");
    println!("cargo:rerun-if-changed=build");
}
