//! Directories and indexes, in every command that takes them.

use std::fs;

use serde_json::Value;

use crate::build::{BF16, F32, Model, U8};
use crate::{Dir, data};

/// Two shards, and their index, in the folder `m`.
fn sharded(dir: &Dir) {
    fs::create_dir(dir.path("m")).unwrap();
    let mut one = Model::new().tensor("b", F32, &[2]).tensor("d", U8, &[3]).head();
    one.extend([1.5f32.to_le_bytes(), 2.5f32.to_le_bytes()].concat());
    one.extend([7, 8, 9]);
    dir.write("m/model-00001-of-00002.safetensors", one);
    let mut two = Model::new().tensor("a", BF16, &[1]).tensor("c", U8, &[]).head();
    two.extend([0x80, 0x3F, 5]);
    dir.write("m/model-00002-of-00002.safetensors", two);
    index(dir, &[("a", 2), ("b", 1), ("c", 2), ("d", 1)], 14);
}

fn index(dir: &Dir, tensors: &[(&str, u8)], total_size: u64) {
    let map: Vec<String> =
        tensors.iter().map(|(name, shard)| format!(r#""{name}":"model-0000{shard}-of-00002.safetensors""#)).collect();
    let map = map.join(",");
    dir.write(
        "m/model.safetensors.index.json",
        format!(r#"{{"metadata":{{"total_size":{total_size}}},"weight_map":{{{map}}}}}"#),
    );
}

#[test]
fn a_directory_and_its_index_are_listed_alike() {
    let dir = Dir::new("checkpoint_ls");
    sharded(&dir);
    let out = dir.run(&["ls", "m"]).ok();
    let expected = "\
Tensor  Dtype  Shape  Offsets
----------------------------
a        BF16    [1]     0..2
b         F32    [2]     0..8
c          U8     []     2..3
d          U8    [3]    8..11
Total: 4 tensors, 7 parameters, 14 bytes
";
    let squeezed = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
    assert_eq!(squeezed(&out)[5..], squeezed(expected)[5..]);
    assert_eq!(dir.run(&["ls", "m/model.safetensors.index.json"]).ok(), out);
    let document: Value = serde_json::from_str(&dir.run(&["ls", "--json", "m"]).ok()).unwrap();
    assert_eq!(document["files"].as_array().unwrap().len(), 2);
    assert_eq!(document["tensors"][0]["file"], "m/model-00002-of-00002.safetensors");
    let names = dir.run(&["ls", "--sort", "header", "m"]).names();
    assert_eq!(names, ["b", "d", "a", "c"], "file by file");
}

#[test]
fn the_numbers_of_a_directory() {
    let dir = Dir::new("checkpoint_numbers");
    sharded(&dir);
    let document: Value = serde_json::from_str(&dir.run(&["stats", "--json", "m"]).ok()).unwrap();
    let means: Vec<_> = document["tensors"].as_array().unwrap().iter().map(|t| t["mean"].as_f64().unwrap()).collect();
    assert_eq!(means, [1.0, 2.0, 5.0, 8.0]);
    dir.run(&["export", "m", "d", "--as", "raw", "-o", "d"]).ok();
    assert_eq!(fs::read(dir.path("d")).unwrap(), [7, 8, 9]);
    let err = dir.run(&["export", "m", "e", "-o", "e"]).fails(2);
    assert!(err.contains("no tensor is called e"), "{err}");
}

#[test]
fn a_digest_and_a_difference_do_not_depend_on_the_sharding() {
    let dir = Dir::new("checkpoint_hash");
    sharded(&dir);
    let mut one =
        Model::new().tensor("d", U8, &[3]).tensor("c", U8, &[]).tensor("b", F32, &[2]).tensor("a", BF16, &[1]);
    one = one.member(r#""__metadata__":{"format":"pt"}"#);
    let mut bytes = one.head();
    bytes.extend([&[7, 8, 9, 5][..], &1.5f32.to_le_bytes(), &2.5f32.to_le_bytes(), &[0x80, 0x3F]].concat());
    dir.write("one", bytes);
    let digest = |path: &str| dir.run(&["hash", path]).ok().split("  ").next().unwrap().to_owned();
    assert_eq!(digest("m"), digest("one"));
    assert_eq!(digest("m/model.safetensors.index.json"), digest("one"));
    dir.run(&["diff", "--values", "m", "one"]).ok();
    let out = dir.run(&["hash", "--sha256", "m"]).ok();
    assert_eq!(out.lines().count(), 2);
    assert!(dir.run(&["hash", "--sha256", "m", "--expect", &"0".repeat(64)]).fails(2).contains("2 files"));
}

#[test]
fn a_shard_that_is_missing() {
    let dir = Dir::new("checkpoint_missing");
    sharded(&dir);
    fs::remove_file(dir.path("m/model-00002-of-00002.safetensors")).unwrap();
    // What is there is listed, and what is not is said.
    let run = dir.run(&["ls", "m"]);
    assert_eq!(run.code, 1);
    assert!(run.out.contains("Total: 2 tensors"), "{}", run.out);
    assert!(run.err.contains("shard-missing") && run.err.contains("model-00002-of-00002.safetensors"), "{}", run.err);
    // A tensor of the shard that is there can be had; of the other it is said why not.
    dir.run(&["export", "m", "d", "--as", "raw", "-o", "d"]).ok();
    let err = dir.run(&["export", "m", "a", "-o", "a"]).fails(1);
    assert!(err.contains("shard-missing"), "{err}");
    // What speaks of the whole needs the whole.
    assert!(dir.run(&["hash", "m"]).fails(1).contains("shard-missing"));
    assert!(dir.run(&["diff", "m", "m"]).fails(2).contains("shard-missing"));
}

#[test]
fn a_shard_that_is_cut() {
    let dir = Dir::new("checkpoint_cut");
    sharded(&dir);
    let path = dir.path("m/model-00001-of-00002.safetensors");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    let run = dir.run(&["stats", "m"]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("shard-truncated"), "{}", run.err);
    // `d` is cut, and its numbers are not there.
    assert!(
        run.out.contains("\nb ") && !run.out.contains("\nd ") && run.out.contains("Total: 3 tensors"),
        "{}",
        run.out
    );
}

#[test]
fn a_tensor_that_the_index_does_not_name() {
    let dir = Dir::new("checkpoint_unindexed");
    sharded(&dir);
    index(&dir, &[("a", 2), ("b", 1), ("c", 2)], 11);
    let out = dir.run(&["ls", "m"]).ok();
    assert!(out.contains("Total: 3 tensors, 4 parameters, 11 bytes"), "{out}");
    assert!(dir.run(&["export", "m", "d", "-o", "d"]).fails(2).contains("no tensor is called d"));
}

#[test]
fn an_index_that_is_none() {
    let dir = Dir::new("checkpoint_no_index");
    dir.write("config.json", r#"{"model_type":"llama"}"#);
    let err = dir.run(&["ls", "config.json"]).fails(1);
    assert!(err.contains("byte 0") && err.contains("weight_map"), "{err}");
    fs::create_dir(dir.path("p")).unwrap();
    dir.write("p/pytorch_model.bin.index.json", r#"{"weight_map":{"a":"pytorch_model-00001-of-00001.bin"}}"#);
    assert!(dir.run(&["ls", "p"]).fails(1).contains("PyTorch pickles"));
}

/// As hub caches have them: the folder holds links into another.
#[cfg(unix)]
#[test]
fn links() {
    let dir = Dir::new("checkpoint_links");
    sharded(&dir);
    fs::rename(dir.path("m"), dir.path("blobs")).unwrap();
    fs::create_dir(dir.path("m")).unwrap();
    for entry in fs::read_dir(dir.path("blobs")).unwrap() {
        let name = entry.unwrap().file_name();
        std::os::unix::fs::symlink(std::path::Path::new("../blobs").join(&name), dir.path("m").join(&name)).unwrap();
    }
    assert!(dir.run(&["ls", "m"]).ok().contains("Total: 4 tensors"));
}

#[test]
fn the_real_one() {
    let (Some(sharded), Some(one)) = (data("sharded"), data("safetensors/silero_vad_16k.safetensors")) else { return };
    let (sharded, one) = (sharded.to_str().unwrap(), one.to_str().unwrap());
    let dir = Dir::new("checkpoint_real");
    let table = |path: &str| {
        let out = dir.run(&["stats", path]).ok();
        out.lines().skip(2).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(table(sharded), table(one));
    let digest = |path: &str| dir.run(&["hash", path]).ok().split("  ").next().unwrap().to_owned();
    assert_eq!(digest(sharded), digest(one));
    let out = dir.run(&["diff", "--values", sharded, one]).ok();
    assert_eq!(out, "Total: 15 tensors the same, 0 added, 0 removed, 0 changed, 0 with other values\n");
    assert!(
        dir.run(&["ls", sharded]).ok().ends_with("Total: 15 tensors, 309633 parameters, 1238532 bytes (1.24 MB)\n")
    );
    for name in ["conv1.bias", "stft_conv.weight"] {
        dir.run(&["export", sharded, name, "-o", "a"]).ok();
        dir.run(&["export", one, name, "-o", "b"]).ok();
        assert!(fs::read(dir.path("a")).unwrap() == fs::read(dir.path("b")).unwrap(), "{name}");
    }
}
