//! `weightview diff`: what is different, and the exit status that says whether anything is.

use std::fs;

use serde_json::Value;

use crate::Dir;
use crate::build::{BF16, F32, Model, U8};

const DIGITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/digits.safetensors");

/// A file of one tensor `x`, of shape [n].
fn file(dtype: (&str, u64), data: &[u8]) -> Vec<u8> {
    let mut bytes = Model::new().tensor("x", dtype, &[data.len() as u64 / dtype.1]).head();
    bytes.extend(data);
    bytes
}

fn f32s(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn json(dir: &Dir, code: i32, args: &[&str]) -> Value {
    let run = dir.run(&[&["diff", "--json"], args].concat());
    assert_eq!((run.code, run.err.as_str()), (code, ""));
    serde_json::from_str(&run.out).unwrap()
}

#[test]
fn a_file_is_equal_to_itself() {
    let dir = Dir::new("diff_same");
    let out = dir.run(&["diff", DIGITS, DIGITS]).ok();
    assert_eq!(out, "Total: 4 tensors the same, 0 added, 0 removed, 0 changed; values were not compared (--values)\n");
    let out = dir.run(&["diff", "--values", DIGITS, DIGITS]).ok();
    assert_eq!(out, "Total: 4 tensors the same, 0 added, 0 removed, 0 changed, 0 with other values\n");
    let document = json(&dir, 0, &["--values", DIGITS, DIGITS]);
    assert_eq!((&document["equal"], &document["total"]["same"]), (&true.into(), &4.into()));
    assert_eq!((&document["tensors"], &document["values"]), (&Value::Array(vec![]), &Value::Array(vec![])));
}

#[test]
fn added_removed_and_changed() {
    let dir = Dir::new("diff_kinds");
    Model::new().tensor("a", U8, &[2]).tensor("b", F32, &[2, 3]).tensor("c", F32, &[2]).write(&dir, "a");
    Model::new().tensor("c", BF16, &[2]).tensor("d", U8, &[]).tensor("b", F32, &[3, 2]).write(&dir, "b");
    let run = dir.run(&["diff", "a", "b"]);
    assert_eq!(run.code, 1);
    assert_eq!(
        run.out,
        "- a  U8 [2]\n! b  F32 [2, 3] -> F32 [3, 2]\n! c  F32 [2] -> BF16 [2]\n+ d  U8 []\n\
         Total: 0 tensors the same, 1 added, 1 removed, 2 changed; values were not compared (--values)\n"
    );
    let document = json(&dir, 1, &["a", "b"]);
    let kinds: Vec<_> = document["tensors"].as_array().unwrap().iter().map(|tensor| &tensor["kind"]).collect();
    assert_eq!(kinds, ["removed", "changed", "changed", "added"]);
    assert_eq!(document["tensors"][2]["dtype"], serde_json::json!(["F32", "BF16"]));
    assert_eq!(document["tensors"][1]["shape"], serde_json::json!([[2, 3], [3, 2]]));
    assert_eq!(document["equal"], false);
    assert!(document.get("values").is_none());
    // The other way round.
    let run = dir.run(&["diff", "b", "a"]);
    assert!(run.out.starts_with("+ a  U8 [2]\n") && run.out.contains("\n- d  U8 []\n"), "{}", run.out);
}

#[test]
fn values_that_differ() {
    let dir = Dir::new("diff_values");
    dir.write("a", file(F32, &f32s(&[3.0, 4.0, 0.0, 1.0])));
    dir.write("b", file(F32, &f32s(&[3.0, 2.0, 0.0, -1.0])));
    assert_eq!(dir.run(&["diff", "a", "b"]).code, 0, "values were not asked for");
    let run = dir.run(&["diff", "--values", "a", "b"]);
    assert_eq!(run.code, 1);
    assert_eq!(
        run.out,
        "~ x  2 of 4 elements differ: by up to 2, relatively 2; rms 1.414, cosine 0.8386\n\
         Total: 0 tensors the same, 0 added, 0 removed, 0 changed, 1 with other values\n"
    );
    let document = json(&dir, 1, &["--values", "a", "b"]);
    let values = &document["values"][0];
    assert_eq!(
        (values["count"].as_u64(), values["differing"].as_u64(), values["not_finite"].as_u64()),
        (Some(4), Some(2), Some(0))
    );
    assert_eq!(values["cosine"].as_f64(), Some(16.0 / 26f64.sqrt() / 14f64.sqrt()));
}

#[test]
fn bf16_against_f32_by_value() {
    let dir = Dir::new("diff_dtypes");
    dir.write("a", file(BF16, &[0x80, 0x3F, 0x20, 0xC0]));
    dir.write("b", file(F32, &f32s(&[1.0, -2.5])));
    let run = dir.run(&["diff", "--values", "a", "b"]);
    // The dtype is another, so they are not equal; the values are the same.
    assert_eq!((run.code, run.out.lines().count()), (1, 2), "{}", run.out);
    assert!(run.out.starts_with("! x  BF16 [2] -> F32 [2]\n"));
    dir.write("b", file(F32, &f32s(&[1.0, -2.500_001])));
    let run = dir.run(&["diff", "--values", "a", "b"]);
    assert!(run.out.contains("~ x  1 of 2 elements differ: by up to 9.537e-7"), "{}", run.out);
}

#[test]
fn infinities_and_nans() {
    let dir = Dir::new("diff_not_finite");
    dir.write("a", file(F32, &f32s(&[f32::NAN, f32::INFINITY, 1.0])));
    dir.write("b", file(F32, &f32s(&[f32::NAN, 2.0, 1.0])));
    let document = json(&dir, 1, &["--values", "a", "b"]);
    let values = &document["values"][0];
    assert_eq!((values["differing"].as_u64(), values["not_finite"].as_u64()), (Some(1), Some(1)));
    assert_eq!((values["max_abs"].as_f64(), values["cosine"].as_f64()), (Some(0.0), Some(1.0)));
    assert!(dir.run(&["diff", "--values", "a", "b"]).out.contains("; 1 of them are not finite\n"));
}

/// Pieces of several threads, and tensors that lie elsewhere in the other file.
#[test]
fn large_tensors_in_another_order() {
    let dir = Dir::new("diff_large");
    let data: Vec<u8> = (0..3_000_000usize).map(|i| (i.wrapping_mul(2_654_435_761) >> 9) as u8).collect();
    let mut a = Model::new().tensor("big", U8, &[3000, 1000]).tensor("small", U8, &[2]).head();
    a.extend([&data[..], &[1, 2]].concat());
    let mut other = data.clone();
    other[2_999_999] ^= 1;
    let mut b = Model::new().tensor("small", U8, &[2]).tensor("big", U8, &[3000, 1000]).head();
    b.extend([&[1, 2], &other[..]].concat());
    dir.write("a", a);
    dir.write("b", b);
    let run = dir.run(&["diff", "--values", "a", "b"]);
    assert_eq!(run.code, 1);
    assert!(run.out.starts_with("~ big  1 of 3000000 elements differ: by up to 1, "), "{}", run.out);
    assert!(run.out.ends_with("Total: 1 tensors the same, 0 added, 0 removed, 0 changed, 1 with other values\n"));
}

#[test]
fn hostile_names() {
    let dir = Dir::new("diff_names");
    Model::new().tensor("\u{1b}[31m", U8, &[1]).write(&dir, "a");
    Model::new().write(&dir, "b");
    let run = dir.run(&["diff", "a", "b"]);
    assert!(run.out.starts_with("- \\u{1b}[31m  U8 [1]\n"), "{}", run.out);
    assert_eq!(json(&dir, 1, &["a", "b"])["tensors"][0]["name"], "\u{1b}[31m");
}

#[test]
fn what_cannot_be_read_is_no_difference() {
    let dir = Dir::new("diff_faults");
    let mut cut = fs::read(DIGITS).unwrap();
    cut.pop();
    dir.write("cut", cut);
    assert!(dir.run(&["diff", "cut", DIGITS]).fails(2).contains("truncated"));
    let err = dir.run(&["diff", "cut", "nowhere"]).fails(2);
    assert!(err.contains("truncated") || err.contains("nowhere: cannot be read"), "{err}");
    assert!(dir.run(&["diff", DIGITS, "nowhere"]).fails(2).contains("nowhere: cannot be read"));
    assert_eq!(dir.run(&["diff", DIGITS]).code, 2);
}

#[cfg(unix)]
#[test]
fn a_closed_pipe() {
    let dir = Dir::new("diff_pipe");
    let model = (0..20_000).fold(Model::new(), |model, i| model.tensor(&format!("t{i}"), U8, &[1]));
    dir.write("a", model.bytes());
    Model::new().write(&dir, "b");
    assert_eq!(dir.shell("$W diff a b | head -n 1").ok(), "- t0  U8 [1]\n");
}
