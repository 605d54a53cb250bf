//! `weightview check`: one test a finding. Each asserts the id, the severity, and the names or bytes in it.

use std::fs;

use serde_json::Value;

use crate::build::{BF16, F32, Model, U8, head};
use crate::{Dir, data};

const DIGITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/digits.safetensors");

/// The findings, but for what is said of the file system that the tests happen to run on.
fn findings(dir: &Dir, code: i32, args: &[&str]) -> Vec<Value> {
    let run = dir.run(&[&["check", "--json"], args].concat());
    let document: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((run.code, run.err.as_str()), (code, ""), "{}", run.out);
    let Value::Array(findings) = document["findings"].clone() else { panic!("{document}") };
    let errors = findings.iter().filter(|finding| finding["severity"] == "error").count();
    assert_eq!(document["total"]["errors"].as_u64().unwrap() as usize, errors);
    assert_eq!(document["total"]["warnings"].as_u64().unwrap() as usize, findings.len() - errors);
    findings.into_iter().filter(|finding| finding["id"] != "file-system").collect()
}

/// The only finding: its id and severity are these, and these parts are in its message.
#[track_caller]
fn only(dir: &Dir, args: &[&str], id: &str, severity: &str, parts: &[&str]) -> Value {
    let code = i32::from(severity == "error");
    let findings = findings(dir, code, args);
    let [finding] = &findings[..] else { panic!("{findings:?}") };
    assert_eq!((&finding["id"], &finding["severity"]), (&id.into(), &severity.into()));
    let message = finding["message"].as_str().unwrap();
    for part in parts {
        assert!(message.contains(part), "{message}");
    }
    assert!(!finding["help"].as_str().unwrap().is_empty());
    // And so for people.
    let run = dir.run(&[&["check"], args].concat());
    assert!(run.out.contains(&format!("{severity}: {id}: ")) && run.out.contains("  help: "), "{}", run.out);
    finding.clone()
}

/// A model as usual writers write it.
fn model() -> Model {
    Model::new().padded()
}

/// A file that is well but for these members of its header.
fn with_member(dir: &Dir, member: &str) {
    model().member(member).tensor("x", U8, &[1]).write(dir, "m");
}

fn folder(dir: &Dir, shards: &[(&str, Model)], map: &[(&str, &str)], total_size: Option<u64>) {
    fs::create_dir(dir.path("m")).unwrap();
    for (name, model) in shards {
        model.write(dir, &format!("m/{name}"));
    }
    let map: Vec<String> = map.iter().map(|(tensor, shard)| format!(r#""{tensor}":"{shard}""#)).collect();
    let metadata = total_size.map(|size| format!(r#","metadata":{{"total_size":{size}}}"#)).unwrap_or_default();
    dir.write("m/model.safetensors.index.json", format!(r#"{{"weight_map":{{{}}}{metadata}}}"#, map.join(",")));
}

const ONE: &str = "model-00001-of-00002.safetensors";
const TWO: &str = "model-00002-of-00002.safetensors";

fn one() -> Model {
    model().tensor("a", F32, &[2])
}

fn two() -> Model {
    model().tensor("b", F32, &[3])
}

#[test]
fn sound() {
    let dir = Dir::new("check_sound");
    assert!(findings(&dir, 0, &[DIGITS]).is_empty());
    folder(&dir, &[(ONE, one()), (TWO, two())], &[("a", ONE), ("b", TWO)], Some(20));
    for path in ["m", "m/model.safetensors.index.json"] {
        assert!(findings(&dir, 0, &["--values", path]).is_empty());
    }
}

#[test]
fn what_the_catalog_finds() {
    // The kinds have tests of their own, in the library's; here they come through, with their severity.
    let dir = Dir::new("check_catalog");
    folder(&dir, &[(ONE, one())], &[("a", ONE), ("b", TWO)], None);
    only(&dir, &["m"], "shard-missing", "error", &[TWO]);
    two().write(&dir, &format!("m/{TWO}"));
    assert!(findings(&dir, 0, &["m"]).is_empty());
    two().write(&dir, "m/old.safetensors");
    let finding = only(&dir, &["m"], "shard-stray", "warning", &["old.safetensors"]);
    assert_eq!(finding["file"], "old.safetensors");
    fs::remove_file(dir.path("m/old.safetensors")).unwrap();
    model().tensor("a", F32, &[2]).tensor("c", U8, &[0]).write(&dir, &format!("m/{ONE}"));
    let finding = only(&dir, &["m"], "tensor-unindexed", "warning", &["\"c\"", ONE]);
    assert_eq!(finding["tensor"], "c");
}

#[test]
fn faults_of_shards() {
    let dir = Dir::new("check_shards");
    let shards = || [(ONE, one()), (TWO, two())];
    folder(&dir, &shards(), &[("a", ONE), ("b", "../x.safetensors")], None);
    let parts = ["\"b\"", "../x.safetensors", ".."];
    let all = findings(&dir, 1, &["m"]);
    let finding = all.iter().find(|finding| finding["id"] == "shard-name-invalid").unwrap();
    assert!(parts.iter().all(|part| finding["message"].as_str().unwrap().contains(part)) && finding["byte"].is_u64());
    type Test<'t> = (&'t str, &'t [(&'t str, &'t str)], Option<u64>, &'t [&'t str]);
    let tests: [Test<'_>; 3] = [
        ("total-size-wrong", &[("a", ONE), ("b", TWO)], Some(21), &["21", "20"]),
        ("tensor-missing", &[("a", ONE), ("b", TWO), ("z", TWO)], None, &["\"z\"", TWO]),
        ("index-empty", &[], None, &["no tensor"]),
    ];
    for (id, map, size, parts) in tests {
        fs::remove_dir_all(dir.path("m")).unwrap();
        folder(&dir, &shards(), map, size);
        let all = findings(&dir, i32::from(id != "total-size-wrong"), &["m"]);
        let finding = all.iter().find(|finding| finding["id"] == id).unwrap_or_else(|| panic!("{id}: {all:?}"));
        assert!(parts.iter().all(|part| finding["message"].as_str().unwrap().contains(part)), "{finding}");
    }
    fs::remove_dir_all(dir.path("m")).unwrap();
    folder(&dir, &[(ONE, one().tensor("c", U8, &[1])), (TWO, two())], &[("a", TWO), ("b", TWO), ("c", ONE)], None);
    only(&dir, &["m"], "tensor-misplaced", "error", &["\"a\"", ONE, TWO]);
    fs::remove_dir_all(dir.path("m")).unwrap();
    folder(&dir, &[(ONE, one().tensor("b", F32, &[3])), (TWO, two())], &[("a", ONE), ("b", TWO)], None);
    only(&dir, &["m"], "tensor-duplicate", "error", &["\"b\"", ONE, TWO]);
}

#[test]
fn a_truncated_file() {
    let dir = Dir::new("check_truncated");
    let mut bytes = fs::read(DIGITS).unwrap();
    bytes.truncate(6199);
    dir.write("m", bytes);
    let finding = only(&dir, &["m"], "shard-truncated", "error", &["6200 bytes expected, 6199 there", "fc2.weight"]);
    assert_eq!(finding["tensor"], "fc2.weight");
}

#[test]
fn a_malformed_header() {
    let dir = Dir::new("check_malformed");
    dir.write("m", head(r#"{"x":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}}"#));
    let finding = only(&dir, &["m"], "shard-malformed", "error", &["byte 22", "dtype"]);
    assert_eq!(finding["byte"], 22);
    let out = dir.run(&["check", "m"]).out;
    assert!(out.contains("  tensor: \"x\"\n  header: {\"x\":{\"dtype\":\"F31\""), "{out}");
}

#[test]
fn a_git_lfs_pointer() {
    let dir = Dir::new("check_lfs");
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n";
    dir.write("m", pointer);
    only(&dir, &["m"], "shard-foreign", "error", &["Git LFS pointer"]);
    fs::create_dir(dir.path("d")).unwrap();
    one().write(&dir, "d/model.safetensors");
    dir.write("d/tokenizer.json", pointer);
    let finding = only(&dir, &["d"], "lfs-pointer", "warning", &["tokenizer.json"]);
    assert_eq!(finding["file"], "tokenizer.json");
}

#[test]
fn other_formats() {
    let dir = Dir::new("check_foreign");
    dir.write("m.gguf", b"GGUF\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    let finding = only(&dir, &["m.gguf"], "shard-foreign", "error", &["a GGUF file"]);
    assert!(finding["help"].as_str().unwrap().contains("this version cannot read files of that format"));
    fs::create_dir(dir.path("d")).unwrap();
    fs::rename(dir.path("m.gguf"), dir.path("d/m.gguf")).unwrap();
    only(&dir, &["d"], "no-weights", "error", &["m.gguf", "a GGUF file"]);
}

#[test]
fn white_space_before_the_header() {
    let dir = Dir::new("check_leading_space");
    dir.write("m", head(" {}"));
    assert_eq!(only(&dir, &["m"], "header-leading-space", "warning", &["byte 8"])["byte"], 8);
    assert!(dir.run(&["check", "--strict", "m"]).code == 1);
}

#[test]
fn padding_other_than_spaces() {
    let dir = Dir::new("check_padding");
    dir.write("m", head("{}  \n "));
    assert_eq!(only(&dir, &["m"], "header-padding", "warning", &["byte 12"])["byte"], 12);
    dir.write("m", head("{}   "));
    assert!(findings(&dir, 0, &["m"]).is_empty());
}

#[test]
fn unknown_fields() {
    let dir = Dir::new("check_unknown_field");
    with_member(&dir, r#""y":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"note":1}"#);
    let finding = only(&dir, &["m"], "unknown-field", "warning", &["byte 60"]);
    assert_eq!((&finding["byte"], &finding["tensor"]), (&60.into(), &"y".into()));
    // Behind white space too, at its place in the file.
    dir.write("m", head(" {\"y\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0],\"note\":1}}\n"));
    let all = findings(&dir, 0, &["m"]);
    let ids: Vec<_> = all.iter().map(|finding| finding["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["header-leading-space", "header-padding", "unknown-field"]);
    assert_eq!(all[2]["byte"], 61);
}

#[test]
fn a_tensor_called_metadata() {
    let dir = Dir::new("check_metadata_tensor");
    dir.write("m", head(r#"{"__metadata__":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}"#));
    let all = findings(&dir, 1, &["m"]);
    let ids: Vec<_> = all.iter().map(|finding| finding["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["shard-malformed", "tensor-named-metadata"]);
}

#[test]
fn odd_names() {
    let dir = Dir::new("check_names");
    for (name, id, shown) in [
        ("a\0b", "name-nul", "a\\u{0}b"),
        ("a\u{1b}[31m", "name-control", "a\\u{1b}[31m"),
        ("a\u{202e}b", "name-invisible", "a\\u{202e}b"),
        ("a\u{200b}", "name-invisible", "a\\u{200b}"),
        ("../../etc/passwd", "name-path", "../../etc/passwd"),
        ("/etc/passwd", "name-path", "/etc/passwd"),
        ("C:x", "name-path", "C:x"),
        ("a\\b", "name-path", "a\\\\b"),
    ] {
        model().tensor(name, U8, &[1]).write(&dir, "m");
        let finding = only(&dir, &["m"], id, "warning", &[shown]);
        assert_eq!(finding["tensor"], name);
        assert!(!dir.run(&["check", "m"]).out.contains(['\u{1b}', '\0', '\u{202e}']));
    }
    // What is usual is well.
    let names = ["encoder/layer_0/kernel:0", "重み", "a.b.c", "", "a..b", "x y"].into_iter();
    names.fold(model(), |model, name| model.tensor(name, U8, &[1])).write(&dir, "m");
    assert!(findings(&dir, 0, &["m"]).is_empty());
}

#[test]
fn data_that_cannot_be_used_in_place() {
    let dir = Dir::new("check_alignment");
    // The header is 8 + 64 bytes long, so the data section is well, but the tensors in it are not.
    let bytes = model().tensor("a", U8, &[1]).tensor("b", F32, &[2]).tensor("c", BF16, &[3]).head();
    let padded = |bytes: &[u8], to: usize| {
        let text = std::str::from_utf8(&bytes[8..]).unwrap();
        let len = text.len().next_multiple_of(8) + to;
        head(&format!("{text:<len$}"))
    };
    let write = |bytes: Vec<u8>| {
        let mut bytes = bytes;
        bytes.resize(bytes.len() + 15, 0);
        dir.write("m", bytes);
    };
    write(padded(&bytes, 0));
    let finding = only(&dir, &["m"], "tensor-misaligned", "warning", &["2 tensors of 14 bytes", "b (F32"]);
    assert_eq!(finding["tensor"], "b");
    write(padded(&bytes, 1));
    let all = findings(&dir, 0, &["m"]);
    let ids: Vec<_> = all.iter().map(|finding| finding["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["data-misaligned", "tensor-misaligned"]);
}

#[test]
fn numbers_that_are_none() {
    let dir = Dir::new("check_values");
    let mut bytes = model().tensor("w", F32, &[3]).tensor("mask", ("BOOL", 1), &[3]).head();
    bytes.extend([f32::NAN, f32::INFINITY, 1.0].iter().flat_map(|number| number.to_le_bytes()));
    bytes.extend([0, 1, 2]);
    dir.write("m", &bytes);
    let without: Vec<_> = findings(&dir, 0, &["m"]);
    assert!(without.iter().all(|finding| finding["id"] != "nan"), "only when asked");
    let all = findings(&dir, 0, &["--values", "m"]);
    let said: Vec<_> =
        all.iter().map(|finding| (finding["id"].as_str().unwrap(), finding["message"].as_str().unwrap())).collect();
    for expected in [
        ("bool-value", "mask: 1 of 3 elements are neither 0 nor 1"),
        ("infinity", "w: 1 of 3 elements are infinite"),
        ("nan", "w: 1 of 3 elements are NaN"),
    ] {
        assert!(said.contains(&expected), "{said:?}");
    }
    assert_eq!(dir.run(&["check", "--values", "--strict", "m"]).code, 1);
}

#[test]
fn a_configuration_that_says_otherwise() {
    let dir = Dir::new("check_config");
    fs::create_dir(dir.path("m")).unwrap();
    model().tensor("a", F32, &[30]).tensor("b", BF16, &[10]).write(&dir, "m/model.safetensors");
    for config in
        [r#"{"torch_dtype":"bfloat16"}"#, r#"{"dtype":"bfloat16"}"#, r#"{"text_config":{"torch_dtype":"bfloat16"}}"#]
    {
        dir.write("m/config.json", config);
        let finding = only(&dir, &["m"], "config-dtype", "warning", &["bfloat16", "75 % of the floats are F32"]);
        assert_eq!(finding["file"], "config.json");
    }
    for config in [
        r#"{"torch_dtype":"float32"}"#,
        r#"{"torch_dtype":"auto"}"#,
        r#"{"torch_dtype":"bfloat16","quantization_config":{"quant_method":"gptq"}}"#,
        "{}",
        "[]",
    ] {
        dir.write("m/config.json", config);
        assert!(findings(&dir, 0, &["m"]).is_empty(), "{config}");
    }
    dir.write("m/config.json", "{");
    only(&dir, &["m"], "config-malformed", "warning", &["config.json"]);
}

#[test]
fn tied_weights() {
    let dir = Dir::new("check_tied");
    model()
        .member(r#""__metadata__":{"lm_head.weight":"embed.weight","format":"pt"}"#)
        .tensor("embed.weight", U8, &[1])
        .write(&dir, "m");
    let finding = only(&dir, &["m"], "tied-tensor", "warning", &["lm_head.weight", "embed.weight"]);
    assert_eq!(finding["tensor"], "lm_head.weight");
}

#[test]
fn pickles_beside_the_weights() {
    let dir = Dir::new("check_pickle");
    fs::create_dir(dir.path("m")).unwrap();
    one().write(&dir, "m/model.safetensors");
    dir.write("m/pytorch_model.bin", b"\x80\x02}q\x00.");
    dir.write("m/notes.txt", "hello");
    let finding = only(&dir, &["m"], "pickle-beside", "warning", &["pytorch_model.bin"]);
    assert_eq!(finding["file"], "pytorch_model.bin");
}

#[test]
fn an_index_that_is_none() {
    let dir = Dir::new("check_index");
    dir.write("x.safetensors.index.json", r#"{"weight_map":{"a":1}}"#);
    let finding = only(&dir, &["x.safetensors.index.json"], "index-malformed", "error", &["byte 19"]);
    assert_eq!(finding["byte"], 19);
}

#[test]
fn what_is_not_there_is_no_finding() {
    let dir = Dir::new("check_nowhere");
    assert!(dir.run(&["check", "nowhere"]).fails(2).contains("nowhere: cannot be read"));
    let run = dir.run(&["check", DIGITS, "nowhere"]);
    assert_eq!((run.code, run.out.contains("digits.safetensors")), (2, true));
}

#[test]
fn many_of_a_kind_are_cut_for_people_only() {
    let dir = Dir::new("check_many");
    (0..30).fold(model(), |model, i| model.tensor(&format!("\u{1}{i}"), U8, &[1])).write(&dir, "m");
    let out = dir.run(&["check", "m"]).ok();
    assert_eq!(out.matches("name-control").count(), 10);
    assert!(out.contains("  and 20 more\n") && out.contains("30 warnings\n"), "{out}");
    assert_eq!(findings(&dir, 0, &["m"]).len(), 30);
}

/// Only the heads are read: 4 GB that take no disk are checked at once.
#[test]
fn a_large_sparse_checkpoint() {
    let dir = Dir::new("check_large");
    let shard = |name: &str| model().tensor(name, F32, &[1 << 29]);
    folder(&dir, &[(ONE, shard("a")), (TWO, shard("b"))], &[("a", ONE), ("b", TWO)], Some(1 << 32));
    let started = std::time::Instant::now();
    assert!(findings(&dir, 0, &["m"]).is_empty());
    assert!(dir.run(&["ls", "m"]).ok().contains("4294967296 bytes (4.29 GB)"));
    assert!(started.elapsed().as_secs() < 10, "nothing of the data is read");
}

#[test]
fn the_real_ones() {
    let Some(folder) = data("sharded") else { return };
    let dir = Dir::new("check_real");
    for path in
        [folder.clone(), folder.join("model.safetensors.index.json"), folder.join("model-00001-of-00003.safetensors")]
    {
        assert!(findings(&dir, 0, &["--values", path.to_str().unwrap()]).is_empty());
    }
    for (file, what) in [
        ("gguf/ggml-vocab-bert-bge.gguf", "a GGUF file"),
        ("keras/cnn_without_ne_ab.h5", "an HDF5 file"),
        ("npz/mel_filters.npz", "a zip archive"),
        ("onnx/mnist.onnx", "an ONNX model"),
        ("pytorch/tiny.pth", "a zip archive"),
        ("tflite/nmp.tflite", "a TensorFlow Lite model"),
    ] {
        let Some(path) = data(file) else { continue };
        let finding = only(&dir, &[path.to_str().unwrap()], "shard-foreign", "error", &[what]);
        assert!(finding["help"].as_str().unwrap().contains("cannot read files of that format"), "{finding}");
    }
}
