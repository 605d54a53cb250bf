//! `--json`: one document, exact, valid whatever the names are.

use serde_json::{Value, json};

use crate::build::{BF16, F32, Model, head};
use crate::{Dir, Run, data};

fn document(run: Run) -> Value {
    serde_json::from_str(&run.ok()).unwrap()
}

#[test]
fn every_field() {
    let dir = Dir::new("every_field");
    let model = Model::new()
        .member(r#""__metadata__":{"format":"pt","note":"\u00e9 \"x\"\n"}"#)
        .tensor("b", BF16, &[151_936, 2048])
        .tensor("a", F32, &[]);
    model.write(&dir, "one");
    let n = model.head().len() - 8;
    Model::new().tensor("c", F32, &[0, 3]).write(&dir, "two");
    let m = Model::new().tensor("c", F32, &[0, 3]).head().len() - 8;
    let expected = json!({
        "files": [
            {"path": "one", "format": "safetensors", "header_len": n, "data_start": n + 8,
             "metadata": {"format": "pt", "note": "é \"x\"\n"}},
            {"path": "two", "format": "safetensors", "header_len": m, "data_start": m + 8, "metadata": {}},
        ],
        "tensors": [
            {"name": "a", "dtype": "F32", "shape": [], "data_offsets": [622_329_856, 622_329_860], "file": "one"},
            {"name": "b", "dtype": "BF16", "shape": [151_936, 2048], "data_offsets": [0, 622_329_856], "file": "one"},
            {"name": "c", "dtype": "F32", "shape": [0, 3], "data_offsets": [0, 0], "file": "two"},
        ],
        "total": {"tensors": 3, "parameters": 311_164_929, "bytes": 622_329_860},
    });
    assert_eq!(document(dir.run(&["ls", "--json", "one", "two"])), expected);
}

#[test]
fn integers_beyond_a_float() {
    let dir = Dir::new("integers_beyond_a_float");
    // 2^63 + 1 is no f64, and no tensor of a real file; one without elements may say it.
    let model = Model::new()
        .member(r#""a":{"dtype":"U8","shape":[0,9223372036854775809],"data_offsets":[0,0]}"#)
        .member(r#""b":{"dtype":"U8","shape":[18446744073709551615,0],"data_offsets":[0,0]}"#);
    model.write(&dir, "m");
    let out = dir.run(&["ls", "--json", "m"]).ok();
    assert!(out.contains("\"shape\":[0, 9223372036854775809]"), "{out}");
    assert!(out.contains("\"shape\":[18446744073709551615, 0]"), "{out}");
}

#[test]
fn no_file_is_a_document_too() {
    let dir = Dir::new("no_file_is_a_document_too");
    let run = dir.run(&["ls", "--json", "missing"]);
    assert_eq!(run.code, 2);
    let empty = json!({"files": [], "tensors": [], "total": {"tensors": 0, "parameters": 0, "bytes": 0}});
    assert_eq!(serde_json::from_str::<Value>(&run.out).unwrap(), empty);
}

#[test]
fn null_metadata_is_none() {
    let dir = Dir::new("null_metadata_is_none");
    dir.write("m", head(r#"{"__metadata__":null}"#));
    assert_eq!(document(dir.run(&["ls", "--json", "m"]))["files"][0]["metadata"], json!({}));
}

#[test]
fn names_of_every_kind() {
    let dir = Dir::new("names_of_every_kind");
    let mut names: Vec<String> = (0..0x300).filter_map(char::from_u32).map(|c| format!("<{c}>")).collect();
    names.extend(
        [
            "",
            "\"",
            "\\",
            "\\u0041",
            "\\\"",
            "🦀",
            "重み",
            "\u{202e}evil",
            "a\u{2028}b",
            "\u{10ffff}",
            "\u{e0041}",
            "é/../\0",
        ]
        .map(String::from),
    );
    let model = names.iter().fold(Model::new(), |model, name| model.tensor(name, F32, &[1]));
    let model = model.member(r#""\ud83d\ude00\u0000":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}"#);
    names.push("😀\0".into());
    model.member(r#""__metadata__":{"\u001b[31m":"\u009b2J\ud83d\ude00"}"#).write(&dir, "m");
    let out = dir.run(&["ls", "--json", "--sort", "header", "m"]).ok();
    assert!(!out.contains(|c: char| c != '\n' && c.is_control() || "\u{202e}\u{2028}\u{e0041}".contains(c)));
    let document: Value = serde_json::from_str(&out).unwrap();
    let found: Vec<&str> =
        document["tensors"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(found, names);
    assert_eq!(document["files"][0]["metadata"], json!({"\u{1b}[31m": "\u{9b}2J😀"}));
}

#[test]
fn filter_and_order_hold_for_json_too() {
    let dir = Dir::new("filter_and_order_hold_for_json_too");
    Model::new().tensor("b.x", F32, &[1]).tensor("a.x", F32, &[2]).tensor("c", F32, &[3]).write(&dir, "m");
    let document = document(dir.run(&["ls", "--json", "--filter", "*.x", "--sort", "size", "m"]));
    let names: Vec<&Value> = document["tensors"].as_array().unwrap().iter().map(|t| &t["name"]).collect();
    assert_eq!(names, ["a.x", "b.x"]);
    assert_eq!(document["total"], json!({"tensors": 2, "parameters": 3, "bytes": 12}));
}

#[cfg(unix)]
#[test]
fn a_path_that_is_not_unicode() {
    use std::os::unix::ffi::OsStrExt as _;
    let dir = Dir::new("a_path_that_is_not_unicode");
    let name = std::ffi::OsStr::from_bytes(b"m\xff\x1b.safetensors");
    if std::fs::write(dir.0.join(name), Model::new().tensor("a", F32, &[1]).bytes()).is_err() {
        return; // a file system of Unicode names only
    }
    let run = Run::of(dir.command(crate::WEIGHTVIEW, &["ls", "--json"]).arg(name).output().unwrap());
    let document = document(run);
    assert_eq!(document["files"][0]["path"], "m\u{fffd}\u{1b}.safetensors");
    assert_eq!(document["tensors"][0]["file"], "m\u{fffd}\u{1b}.safetensors");
}

#[test]
fn a_real_model() {
    let Some(silero) = data("safetensors/silero_vad_16k.safetensors") else { return };
    let document = document(Dir::new("json_a_real_model").run(&["ls", "--json", silero.to_str().unwrap()]));
    assert_eq!(document["total"], json!({"tensors": 15, "parameters": 309_633, "bytes": 1_238_532}));
    assert_eq!(document["files"][0]["data_start"], 1216);
}
