//! Only what every use of the library needs, to see what flash that takes: parse, look up, widen.

#![no_std]
#![no_main]

use weightview_cortex_m::{entry, exit, files, status, steps};

#[entry]
fn main() -> ! {
    exit(match run() {
        Some(true) => 0,
        Some(false) => status::WRONG,
        None => status::REFUSED,
    })
}

fn run() -> Option<bool> {
    let model = steps::parse(files::model()).ok()?;
    let weight = steps::look_up(&model, "fc1.weight").ok()?;
    let mut row = [0f32; 64];
    let mut sum = 0;
    steps::widen(&weight, &mut row, |row| row.iter().for_each(|x| sum ^= x.to_bits())).ok()?;

    // BF16 are the upper halves of their numbers.
    let expected = weight.data().chunks_exact(2).fold(0, |sum, code| sum ^ u16::from_le_bytes([code[0], code[1]]));
    Some(sum == u32::from(expected) << 16)
}
