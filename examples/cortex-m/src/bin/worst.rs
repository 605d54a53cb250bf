//! The stack that the parser takes at the worst: headers in no order, of unusual spelling, and broken ones.

#![no_std]
#![no_main]

use core::hint::black_box;

use semihosting::println;
use weightview::Error;
use weightview::error::ErrorKind;
use weightview::safetensors::Header;
use weightview_cortex_m::{entry, exit, stack, status};

/// A header that `build/headers.rs` writes, and whether the outcome of parsing it is right.
type Case = (&'static str, &'static [u8], fn(Option<ErrorKind>) -> bool);

macro_rules! case {
    ($name:literal, $right:pat) => {
        ($name, include_bytes!(concat!(env!("OUT_DIR"), "/", $name)), |fault| matches!(fault, $right))
    };
}

const CASES: [Case; 6] = [
    case!("in_no_order", None),
    case!("spelt_otherwise", None),
    case!("overlap", Some(ErrorKind::Overlap { .. })),
    case!("name_twice", Some(ErrorKind::DuplicateName { .. })),
    case!("key_twice", Some(ErrorKind::DuplicateMetadataKey { .. })),
    case!("entry_wrong", Some(ErrorKind::RankTooHigh)),
];

#[inline(never)]
fn parse(head: &'static [u8]) -> Result<Header<'static>, Error> {
    Header::parse(head)
}

#[entry]
fn main() -> ! {
    let mut status = 0;
    let mut deepest = 0;
    for (name, head, right) in black_box(&CASES) {
        let (header, peak) = stack::peak(|| parse(head));
        deepest = deepest.max(peak);
        println!("{name}: {peak}");
        if !right(header.err().map(|error| error.kind())) {
            println!("{name} is wrong: {:?}", header.err());
            status = status::WRONG;
        }
    }
    println!("stack worst: {deepest}");
    exit(status)
}
