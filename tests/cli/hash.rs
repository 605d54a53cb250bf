//! `weightview hash`: one digest for the same tensors, however they are written.

use std::fs;

use serde_json::Value;

use crate::build::{F32, Model, U8};
use crate::{Dir, data};

const DIGITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/digits.safetensors");

/// By a few lines of Python with the `blake3` package, from the definition in `--help`.
const DIGITS_DIGEST: &str = "cc8b366acc967d6afb5f8d093d30cc31e3dbb01c2137466a295f2383dad11778";
const SILERO_DIGEST: &str = "f9936c3cef3b565ea27270ec9359f16f402fe8f6818ee8327b4ec9234f8118d4";

fn digest(dir: &Dir, file: &str) -> String {
    let out = dir.run(&["hash", file]).ok();
    let (digest, path) = out.trim_end().split_once("  ").unwrap();
    assert_eq!((path, digest.len()), (file, 64));
    digest.into()
}

#[test]
fn the_digest_is_as_defined() {
    let dir = Dir::new("hash_defined");
    assert_eq!(digest(&dir, DIGITS), DIGITS_DIGEST);
    if let Some(silero) = data("safetensors/silero_vad_16k.safetensors") {
        assert_eq!(digest(&dir, silero.to_str().unwrap()), SILERO_DIGEST);
    }
}

/// A file of these members of a header and this data.
fn file(members: &[&str], padding: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{{}}}{padding}", members.join(","));
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
}

#[test]
fn how_it_is_written_does_not_matter() {
    let dir = Dir::new("hash_same");
    let a = r#""a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}"#;
    let b = r#""b":{"dtype":"I8","shape":[1,1],"data_offsets":[2,3]}"#;
    dir.write("m", file(&[a, b], "", &[1, 2, 3]));
    let expected = digest(&dir, "m");
    for (name, bytes) in [
        ("order of the header", file(&[b, a], "", &[1, 2, 3])),
        ("padding", file(&[a, b], "       ", &[1, 2, 3])),
        ("metadata", file(&[r#""__metadata__":{"x":"y"}"#, a, b], "", &[1, 2, 3])),
        ("spelling", file(&[&a.replace("\"a\"", "\"\\u0061\""), b], "", &[1, 2, 3])),
        ("order of the data", file(&[&a.replace("[0,2]", "[1,3]"), &b.replace("[2,3]", "[0,1]")], "", &[3, 1, 2])),
    ] {
        dir.write("n", bytes);
        assert_eq!(digest(&dir, "n"), expected, "{name}");
    }
    for (name, bytes) in [
        ("a byte", file(&[a, b], "", &[1, 2, 4])),
        ("a name", file(&[&a.replace("\"a\"", "\"c\""), b], "", &[1, 2, 3])),
        ("a dtype", file(&[&a.replace("U8", "BOOL"), b], "", &[1, 2, 3])),
        ("a shape", file(&[a, &b.replace("[1,1]", "[1]")], "", &[1, 2, 3])),
        ("the order of dims", file(&[&a.replace("[2]", "[1,2]"), b], "", &[1, 2, 3])),
    ] {
        dir.write("n", bytes);
        assert_ne!(digest(&dir, "n"), expected, "{name}");
    }
}

#[test]
fn a_tensor_of_each() {
    let dir = Dir::new("hash_tensors");
    let out = dir.run(&["hash", "--tensors", DIGITS]).ok();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!((lines.len(), lines[4].split_once("  ").unwrap()), (5, (DIGITS_DIGEST, DIGITS)));
    let bytes = fs::read(DIGITS).unwrap();
    let model = weightview::SafeTensors::parse(&bytes).unwrap();
    let document: Value = serde_json::from_str(&dir.run(&["hash", "--tensors", "--json", DIGITS]).ok()).unwrap();
    assert_eq!((&document["path"], &document["digest"]), (&DIGITS.into(), &DIGITS_DIGEST.into()));
    for line in &lines[..4] {
        let (digest, name) = line.split_once("  ").unwrap();
        assert_eq!(digest, blake3::hash(model.tensor(name).unwrap().data()).to_hex().as_str());
        assert_eq!(document["tensors"][name], digest);
    }
    let document: Value = serde_json::from_str(&dir.run(&["hash", "--json", DIGITS]).ok()).unwrap();
    assert!(document.get("tensors").is_none());
}

/// Tensors of several pieces, and of none.
#[test]
fn large_and_empty_tensors() {
    let dir = Dir::new("hash_large");
    for len in [0, 1, 1 << 20, (1 << 20) + 1, 3 << 20, 5_000_003] {
        let data: Vec<u8> = (0..len).map(|i: usize| (i.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
        let mut bytes = Model::new().tensor("x", U8, &[len as u64]).head();
        bytes.extend(&data);
        dir.write("m", bytes);
        let out = dir.run(&["hash", "--tensors", "m"]).ok();
        assert!(out.starts_with(&format!("{}  x\n", blake3::hash(&data).to_hex())), "{len}: {out}");
    }
}

#[test]
fn sha256_of_the_file() {
    let dir = Dir::new("hash_sha256");
    // As tests/data/README.md has it.
    let sha256 = "8bacf4585c2808c7841fe7c5498745e940d5f34e5ab4b253493e04bb57cd86a4";
    assert_eq!(dir.run(&["hash", "--sha256", DIGITS]).ok(), format!("{sha256}  {DIGITS}\n"));
    let document: Value = serde_json::from_str(&dir.run(&["hash", "--sha256", "--json", DIGITS]).ok()).unwrap();
    assert_eq!(document["files"][0]["sha256"], sha256);
    // Of any file: a file need not be well, or a model, to be compared with what a hub lists.
    dir.write("x", "hello\n");
    let hello = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
    assert_eq!(dir.run(&["hash", "--sha256", "x"]).ok(), format!("{hello}  x\n"));
    dir.write("e", "");
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(dir.run(&["hash", "--sha256", "e"]).ok(), format!("{empty}  e\n"));
}

#[test]
fn a_digest_that_is_expected() {
    let dir = Dir::new("hash_expect");
    for expected in [DIGITS_DIGEST.to_owned(), DIGITS_DIGEST.to_uppercase(), format!("blake3:{DIGITS_DIGEST}")] {
        dir.run(&["hash", DIGITS, "--expect", &expected]).ok();
    }
    let other = "0".repeat(64);
    let run = dir.run(&["hash", DIGITS, "--expect", &other]);
    assert_eq!(run.code, 1);
    assert!(
        run.err.contains(DIGITS_DIGEST) && run.err.contains(&other) && run.err.contains("fetch it again"),
        "{}",
        run.err
    );
    assert!(run.out.contains(DIGITS_DIGEST));
    let run = dir.run(&["hash", "--sha256", DIGITS, "--expect", DIGITS_DIGEST]);
    assert_eq!(run.code, 1, "the other digest");
    for bad in ["", "xyz", &"0".repeat(63), &"g".repeat(64)] {
        let err = dir.run(&["hash", DIGITS, "--expect", bad]).fails(2);
        assert!(err.contains("64 hexadecimal digits") || err.contains("--expect"), "{err}");
    }
}

#[test]
fn what_cannot_be_hashed() {
    let dir = Dir::new("hash_faults");
    assert!(dir.run(&["hash", "nowhere"]).fails(2).contains("cannot be read"));
    assert!(dir.run(&["hash", "--sha256", "nowhere"]).fails(2).contains("cannot be read"));
    let mut bytes = Model::new().tensor("x", F32, &[4]).bytes();
    bytes.pop();
    dir.write("cut", bytes);
    assert!(dir.run(&["hash", "cut"]).fails(1).contains("truncated"));
}
