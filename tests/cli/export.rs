//! `weightview export`: one tensor, for other programs.

use std::fs;

use crate::Dir;

/// The model that comes with the crate.
const DIGITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/digits.safetensors");

/// The bytes of one of its tensors, as they stand in the file.
fn bytes_of(name: &str) -> Vec<u8> {
    let file = fs::read(DIGITS).unwrap();
    weightview::SafeTensors::parse(&file).unwrap().tensor(name).unwrap().data().to_vec()
}

#[test]
fn npy_has_the_header_that_numpy_reads() {
    let dir = Dir::new("export_npy");
    assert_eq!(dir.run(&["export", DIGITS, "fc1.bias", "-o", "bias.npy"]).ok(), "");
    let npy = fs::read(dir.path("bias.npy")).unwrap();
    let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (32,), }";
    let expected = format!("{text:<117}\n"); // 10 bytes before it: 128 in all
    assert_eq!(npy[..10], *b"\x93NUMPY\x01\x00\x76\x00");
    assert_eq!(str::from_utf8(&npy[10..128]).unwrap(), expected);
    assert_eq!(npy[128..], bytes_of("fc1.bias"));
}

#[test]
fn raw_is_the_bytes_of_the_file() {
    let dir = Dir::new("export_raw");
    dir.run(&["export", DIGITS, "fc1.weight", "--as", "raw", "-o", "w"]).ok();
    assert_eq!(fs::read(dir.path("w")).unwrap(), bytes_of("fc1.weight"));
}

#[test]
fn f32_widens_each_number() {
    let dir = Dir::new("export_f32");
    dir.run(&["export", DIGITS, "fc1.weight", "--f32", "--as", "raw", "-o", "w"]).ok();
    let expected: Vec<u8> = bytes_of("fc1.weight").chunks(2).flat_map(|half| [0, 0, half[0], half[1]]).collect();
    assert_eq!(fs::read(dir.path("w")).unwrap(), expected); // BF16 is the upper half of an f32
    dir.run(&["export", DIGITS, "fc1.weight", "--f32", "-o", "npy"]).ok();
    let npy = fs::read(dir.path("npy")).unwrap();
    assert!(String::from_utf8_lossy(&npy[..128]).contains("'<f4', 'fortran_order': False, 'shape': (32, 64), }"));
    assert_eq!(npy[128..], expected);
}

#[test]
fn what_numpy_has_no_type_for_is_refused_before_anything_is_written() {
    let dir = Dir::new("export_no_type");
    let err = dir.run(&["export", DIGITS, "fc1.weight", "-o", "w.npy"]).fails(2);
    assert!(err.contains("numpy has no type for BF16") && err.contains("--f32"), "{err}");
    assert!(!dir.path("w.npy").exists());
}

#[test]
fn no_such_tensor() {
    let err = Dir::new("export_no_tensor").run(&["export", DIGITS, "fc3.\u{1b}[31m", "-o", "x"]).fails(2);
    assert!(err.contains("no tensor is called fc3.\\u{1b}[31m") && err.contains("weightview ls"), "{err}");
}

#[test]
fn broken_file() {
    let dir = Dir::new("export_broken");
    let mut bytes = fs::read(DIGITS).unwrap();
    bytes.pop();
    dir.write("cut", bytes);
    let err = dir.run(&["export", "cut", "fc1.bias", "-o", "x"]).fails(1);
    assert!(err.contains("truncated") && err.contains("fc2.weight"), "{err}");
    assert!(!dir.path("x").exists());
}

#[cfg(unix)]
#[test]
fn standard_output_into_a_pipe() {
    let dir = Dir::new("export_pipe");
    dir.shell(&format!("$W export '{DIGITS}' fc1.bias --as raw | cat > out")).ok();
    assert_eq!(fs::read(dir.path("out")).unwrap(), bytes_of("fc1.bias"));
    dir.shell(&format!("$W export '{DIGITS}' fc1.weight --f32 | head -c 1 > out")).ok();
}
