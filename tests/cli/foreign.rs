//! Files that are no safetensors files: each is named for what it is, with what to do.

use crate::{Dir, data};

#[track_caller]
fn named(test: &str, bytes: impl AsRef<[u8]>, parts: &[&str]) {
    let dir = Dir::new(test);
    dir.write("model.safetensors", bytes);
    let err = dir.run(&["ls", "model.safetensors"]).fails(1);
    assert!(err.starts_with("weightview: model.safetensors: "), "{err}");
    assert!(err.contains("\n  help: "), "{err}");
    for part in parts {
        assert!(err.contains(part), "no {part:?} in {err}");
    }
}

#[test]
fn git_lfs_pointer() {
    let pointer = "version https://git-lfs.github.com/spec/v1\n\
                   oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 3441185608\n";
    named("git_lfs_pointer", pointer, &["Git LFS pointer", "3441185608 bytes", "git lfs pull"]);
    named("git_lfs_pointer_cut", &pointer[..60], &["Git LFS pointer", "git lfs pull"]);
}

#[test]
fn html_page() {
    named("html_page", "\n <!doctype HTML><html><title>Sign in</title>", &["HTML page", "login or error page"]);
}

#[test]
fn xml_document() {
    let error = "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>";
    named("xml_document", error, &["XML document", "error message of a server"]);
}

#[test]
fn text() {
    named("text", "Entry not found", &["this is text", "it begins: Entry not found\n", "message of a server"]);
    let long = "x".repeat(100) + "\nsecond line";
    named("text_long", &long, &[&format!("it begins: {}…\n", "x".repeat(60))]);
    named("text_hidden", "\u{202e}evil\u{200b} ", &["it begins: \\u{202e}evil\\u{200b}\n"]);
}

#[test]
fn json_index() {
    let index = r#"{"metadata":{"total_size":1},"weight_map":{"a":"model-00001-of-00002.safetensors"}}"#;
    named("json_index", index, &["JSON file", "index of a sharded model"]);
}

#[test]
fn empty_file() {
    named("empty_file", "", &["the file is empty", "repeat it"]);
}

#[test]
fn zeros() {
    named("zeros", [0; 4096], &["nothing but zeros", "did not finish"]);
}

#[test]
fn gguf() {
    named("gguf", b"GGUF\x03\0\0\0{\0\0\0\0\0\0\0", &["a GGUF file"]);
}

#[test]
fn zip() {
    named("zip", b"PK\x03\x04\0\0\x08\x08\0\0\0\0\0\0", &["a zip archive", "PyTorch"]);
}

#[test]
fn pickle() {
    named("pickle", b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.", &["pickle", "runs the code in it"]);
}

#[test]
fn hdf5() {
    named("hdf5", b"\x89HDF\r\n\x1a\n\0\0\0\0", &["an HDF5 file"]);
}

#[test]
fn numpy() {
    named("numpy", b"\x93NUMPY\x01\0v\0{'descr': '<f4'", &["a NumPy array"]);
}

#[test]
fn tflite() {
    named("tflite", b"\x1c\0\0\0TFL3\x14\0\x20\0", &["a TensorFlow Lite model"]);
}

#[test]
fn onnx() {
    named("onnx", b"\x08\x0a\x12\x07pytorch\x1a\x052.7.1:\xc0T\x0a\x9a\x07", &["an ONNX model"]);
}

#[test]
fn executorch() {
    named("executorch", b"\x30\0\0\0ET12eh00", &["an ExecuTorch file"]);
}

#[test]
fn archives() {
    named("gzip", b"\x1f\x8b\x08\0\0\0\0\0\0\x03", &["a gzip file", "unpack it"]);
    named("zstd", b"\x28\xb5\x2f\xfd\x04\0\0\0", &["a Zstandard file", "unpack it"]);
    named("xz", b"\xfd7zXZ\0\0\x04\xe6\xd6", &["an xz file", "unpack it"]);
}

#[test]
fn real_files_of_other_formats() {
    for (file, part) in [
        ("gguf/ggml-vocab-bert-bge.gguf", "a GGUF file"),
        ("keras/cnn_without_ne_ab.h5", "an HDF5 file"),
        ("npz/mel_filters.npz", "a zip archive"),
        ("onnx/mnist.onnx", "an ONNX model"),
        ("pytorch/tiny.pth", "a zip archive"),
        ("tflite/nmp.tflite", "a TensorFlow Lite model"),
    ] {
        let Some(path) = data(file) else { continue };
        let err = Dir::new("real_files_of_other_formats").run(&["ls", path.to_str().unwrap()]).fails(1);
        assert!(err.contains(part), "{err}");
    }
}
