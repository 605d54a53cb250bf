//! Real files: the sample, and, where they are at hand, those of the folder that `WEIGHTVIEW_DATA` names or
//! that stands beside the repository. Held against the reference, byte for byte.

use std::path::{Path, PathBuf};

use weightview::{Dtype, SafeTensors};

use crate::agree::{assert_agrees, assert_invariants};

const DIGITS: &[u8] = include_bytes!("../data/digits.safetensors");

#[test]
fn digits() {
    let model = SafeTensors::parse(DIGITS).expect("well");
    assert_invariants(DIGITS);
    assert_eq!(assert_agrees(DIGITS), None);
    assert_eq!(model.len(), 4);
    for (name, dtype, shape) in [
        ("fc1.weight", Dtype::BF16, &[32, 64][..]),
        ("fc1.bias", Dtype::F32, &[32]),
        ("fc2.weight", Dtype::BF16, &[10, 32]),
        ("fc2.bias", Dtype::F32, &[10]),
    ] {
        let tensor = model.tensor(name).expect("it is there");
        assert_eq!((tensor.dtype(), tensor.shape()), (dtype, shape));
    }
    assert_eq!(model.metadata().count(), 11);
    assert_eq!(model.header().file_len(), DIGITS.len() as u64);
    let data: usize = model.tensors().map(|tensor| tensor.data().len()).sum();
    assert_eq!(model.data_start() as usize + data, DIGITS.len());
    assert!(weightview::safetensors::ParseOptions::strict().parse(DIGITS).is_ok());
}

/// Where real files may be.
fn folder(name: &str) -> Option<PathBuf> {
    let data = std::env::var_os("WEIGHTVIEW_DATA").map(PathBuf::from);
    let data = data.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"));
    let folder = data.join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: there is no {}", folder.display());
    None
}

fn assert_well(path: &Path) -> usize {
    let bytes = std::fs::read(path).expect("a file that can be read");
    let model = SafeTensors::parse(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_invariants(&bytes);
    assert_eq!(assert_agrees(&bytes), None);
    for len in [0, 7, 8, 100, model.data_start() as usize, bytes.len() - 1] {
        assert!(SafeTensors::parse(&bytes[..len]).is_err());
    }
    model.len()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder that can be listed");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "safetensors")).collect()
}

#[test]
fn files_at_hand() {
    let Some(folder) = folder("safetensors") else { return };
    for path in files(&folder) {
        let tensors = assert_well(&path);
        if path.file_name().is_some_and(|name| name == "silero_vad_16k.safetensors") {
            assert_eq!(tensors, 15);
        }
    }
}

/// The shards together hold exactly the tensors that their index lists.
#[test]
fn shards_at_hand() {
    let Some(folder) = folder("sharded") else { return };
    let mut held = 0;
    for path in files(&folder) {
        held += assert_well(&path);
    }
    let index = folder.join("model.safetensors.index.json");
    if let Ok(text) = std::fs::read(index) {
        let index: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
        assert_eq!(index["weight_map"].as_object().map(|map| map.len()), Some(held));
        for (name, shard) in index["weight_map"].as_object().expect("an object") {
            let bytes = std::fs::read(folder.join(shard.as_str().expect("a name"))).expect("a shard");
            assert!(SafeTensors::parse(&bytes).expect("well").tensor(name).is_ok());
        }
    }
}
