//! `stats` and `export` against numpy: on a file of every dtype that Python's safetensors wrote, and on a real model.
//! The tables are made by `tests/data/make_golden.py`.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::{Dir, data};

const EVERY_DTYPE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/golden/every_dtype.safetensors");

/// The sections of the table: for each tensor the values by their keys.
fn every_dtype() -> BTreeMap<&'static str, BTreeMap<&'static str, &'static str>> {
    let mut sections = BTreeMap::new();
    for section in include_str!("../data/golden/every_dtype.txt").split('[').skip(1) {
        let (name, lines) = section.split_once("]\n").unwrap();
        sections.insert(name, lines.lines().map(|line| line.split_once(' ').unwrap()).collect());
    }
    assert_eq!(sections.len(), 20, "all dtypes but F6");
    sections
}

/// What `stats --json` says of each tensor.
fn stats(dir: &Dir, file: &str) -> BTreeMap<String, Value> {
    let mut document: Value = serde_json::from_str(&dir.run(&["stats", "--json", file]).ok()).unwrap();
    let Value::Array(tensors) = document["tensors"].take() else { panic!("{document}") };
    tensors.into_iter().map(|tensor| (tensor["name"].as_str().unwrap().to_owned(), tensor)).collect()
}

/// numpy's number is ours: exactly, or, for what is summed up, but for rounding.
#[track_caller]
fn assert_number(ours: &Value, theirs: &str, exact: bool, what: &str) {
    let theirs: f64 = theirs.parse().unwrap();
    match ours.as_f64() {
        Some(ours) if exact => assert_eq!(ours, theirs, "{what}"),
        Some(ours) => {
            let size = theirs.abs().max(f64::MIN_POSITIVE);
            assert!((ours - theirs).abs() <= 1e-12 * size, "{what}: {ours:e}, numpy has {theirs:e}");
        }
        None => {
            let text = if theirs > 0.0 { "Infinity" } else { "-Infinity" };
            assert_eq!((ours.as_str(), theirs.is_infinite()), (Some(text), true), "{what}");
        }
    }
}

#[test]
fn the_summary_of_every_dtype_is_numpys() {
    let dir = Dir::new("numpy_stats");
    let ours = stats(&dir, EVERY_DTYPE);
    for (name, theirs) in every_dtype() {
        let ours = &ours[name];
        assert_eq!((ours["dtype"].as_str(), ours["count"].as_u64()), (Some(name), Some(24)));
        if name == "C64" {
            assert_eq!(ours["why"], "complex numbers have no order");
            continue;
        }
        for key in ["nans", "infinities", "zeros", "negatives"] {
            assert_eq!(ours[key].as_u64().unwrap(), theirs[key].parse::<u64>().unwrap(), "{name} {key}");
        }
        let subnormals = theirs.get("subnormals").unwrap_or(&"0");
        assert_eq!(ours["subnormals"].as_u64().unwrap(), subnormals.parse::<u64>().unwrap(), "{name}");
        for key in ["min", "max"] {
            assert_number(&ours[key], theirs[key], true, &format!("{name} {key}"));
        }
        for key in ["mean", "std"] {
            assert_number(&ours[key], theirs[key], false, &format!("{name} {key}"));
        }
        let bars = ours["histogram"].as_array().unwrap();
        let counted: u64 = bars.iter().map(|bar| bar[2].as_u64().unwrap()).sum();
        assert_eq!(counted, ours["finite"].as_u64().unwrap(), "{name}: each number is in one bar");
    }
}

#[test]
fn every_dtype_is_exported_as_numpy_saves_it() {
    let dir = Dir::new("numpy_export");
    let file = fs::read(EVERY_DTYPE).unwrap();
    let model = weightview::SafeTensors::parse(&file).unwrap();
    for (name, theirs) in every_dtype() {
        let npy = dir.run(&["export", EVERY_DTYPE, name, "-o", "npy"]);
        match theirs.get("npy") {
            Some(bytes) => {
                npy.ok();
                let ours: String = fs::read(dir.path("npy")).unwrap().iter().map(|b| format!("{b:02x}")).collect();
                assert_eq!(ours, *bytes, "{name}");
            }
            None => assert!(npy.fails(2).contains("numpy has no type for"), "{name}"),
        }
        dir.run(&["export", EVERY_DTYPE, name, "--as", "raw", "-o", "raw"]).ok();
        assert_eq!(fs::read(dir.path("raw")).unwrap(), model.tensor(name).unwrap().data(), "{name}");
    }
}

#[test]
fn every_dtype_widens_to_numpys_float32() {
    let dir = Dir::new("numpy_widen");
    for (name, theirs) in every_dtype() {
        let raw = dir.run(&["export", EVERY_DTYPE, name, "--f32", "--as", "raw", "-o", "f32"]);
        let Some(theirs) = theirs.get("f32") else {
            assert!(raw.fails(2).contains(name), "{name}");
            continue;
        };
        raw.ok();
        let bytes = fs::read(dir.path("f32")).unwrap();
        let ours = bytes.chunks_exact(4).map(|four| {
            let number = f32::from_le_bytes(four.try_into().unwrap());
            if number.is_nan() { "NaN".into() } else { format!("{:08x}", number.to_bits()) }
        });
        assert_eq!(ours.collect::<Vec<_>>().join(" "), *theirs, "{name}");
    }
}

#[test]
fn the_summary_of_a_real_model_is_numpys() {
    let Some(path) = data("safetensors/silero_vad_16k.safetensors") else { return };
    let ours = stats(&Dir::new("numpy_silero"), path.to_str().unwrap());
    let table = include_str!("../data/golden/silero_summary.txt");
    assert_eq!((ours.len(), table.lines().count()), (15, 15));
    for line in table.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [name, count, zeros, negatives, subnormals, min, max, mean, std] = words[..] else { panic!("{line}") };
        let ours = &ours[name];
        for (key, theirs) in [("count", count), ("zeros", zeros), ("negatives", negatives), ("subnormals", subnormals)]
        {
            assert_eq!(ours[key].as_u64().unwrap(), theirs.parse::<u64>().unwrap(), "{name} {key}");
        }
        assert_number(&ours["min"], min, true, name);
        assert_number(&ours["max"], max, true, name);
        assert_number(&ours["mean"], mean, false, name);
        assert_number(&ours["std"], std, false, name);
    }
}
