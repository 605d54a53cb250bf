//! Files in memory: read to a boundary, or mapped.

use weightview::{AlignedBytes, SafeTensors};

const DIGITS: &str = "tests/data/digits.safetensors";

#[test]
fn reads_a_file() {
    let bytes = AlignedBytes::read(DIGITS).expect("it is there");
    assert_eq!(*bytes, *std::fs::read(DIGITS).expect("it is there"));
    assert_eq!(bytes.as_ptr().addr() % AlignedBytes::ALIGNMENT, 0);
    assert_eq!(SafeTensors::parse(&bytes).expect("well").len(), 4);
}
