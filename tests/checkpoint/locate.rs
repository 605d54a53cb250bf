//! What is opened: files, directories, indexes; and what is said when there is nothing to open.

use std::fs;

use weightview::Catalog;
use weightview::checkpoint::{CheckpointError, Options};

use crate::build::{INDEX, Model, index, shard, table};

const A: &str = "a.safetensors";
const B: &str = "b.safetensors";

fn open(path: impl AsRef<std::path::Path>) -> Catalog {
    Catalog::open(path, &Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_file() {
    let model = Model::new("file").shard(A, &["y", "x"]).file(B, "beside it, and no concern");
    let catalog = open(model.path(A));
    assert_eq!(table(&catalog), [("x".into(), A), ("y".into(), A)]);
    assert_eq!((catalog.path(), catalog.index_path()), (&*model.path(A), None));
    assert_eq!(catalog.shards()[0].path(), model.path(A));
}

/// A file of any name is what it is; one of a set that is given by itself stands alone.
#[test]
fn a_file_of_another_name() {
    let model = Model::new("file-name").shard("weights", &["x"]).shard("m-00001-of-00002.safetensors", &["y"]);
    assert_eq!(open(model.path("weights")).len(), 1);
    assert_eq!(open(model.path("m-00001-of-00002.safetensors")).len(), 1);
}

#[test]
fn a_directory_of_one_file() {
    let model = Model::new("one").shard("model.safetensors", &["x"]).file("config.json", "{}");
    assert_eq!(table(&model.opens()), [("x".into(), "model.safetensors")]);
}

#[test]
fn a_directory_of_a_set() {
    let model = Model::new("set")
        .shard("model-00002-of-00002.safetensors", &["x"])
        .shard("model-00001-of-00002.safetensors", &["y"])
        .shard("sub/model.safetensors", &["not meant"])
        .file(".model.safetensors", "nor this");
    let catalog = model.opens();
    let expected = [("x".into(), "model-00002-of-00002.safetensors"), ("y".into(), "model-00001-of-00002.safetensors")];
    assert_eq!(table(&catalog), expected);
    assert_eq!(catalog.shards()[0].name(), "model-00001-of-00002.safetensors");
}

#[test]
fn a_set_with_a_gap() {
    let model = Model::new("gap")
        .shard("model-00002-of-00004.safetensors", &["x"])
        .shard("model-00004-of-00004.safetensors", &["y"]);
    let because = "is missing: the other files of the set are numbered so that it must be there";
    let catalog = model.refuses(&[
        ("shard-missing", &format!(r#""model-00001-of-00004.safetensors" {because}"#)),
        ("shard-missing", &format!(r#""model-00003-of-00004.safetensors" {because}"#)),
    ]);
    assert_eq!(catalog.len(), 2);
}

#[test]
fn an_index_by_its_name() {
    let model = Model::new("by-index").shard(A, &["x"]).file("v2.safetensors.index.json", index(&[("x", A)], None));
    let path = model.path("v2.safetensors.index.json");
    let catalog = open(&path);
    assert_eq!((catalog.path(), catalog.index_path()), (&*path, Some(&*path)));
    assert_eq!(table(&catalog), [("x".into(), A)]);
    // A directory with this one index has it.
    assert_eq!(model.opens().index_path(), Some(&*path));
}

#[test]
fn an_index_of_shards_in_a_directory() {
    let model = Model::new("sub").shard("shards/a.safetensors", &["x"]);
    let model = model.index(&[("x", "shards/a.safetensors")]);
    let catalog = model.opens();
    assert_eq!(table(&catalog), [("x".into(), "shards/a.safetensors")]);
}

#[test]
fn the_main_index_of_several() {
    let model = Model::new("main-index")
        .shard(A, &["x"])
        .index(&[("x", A)])
        .file("model.fp16.safetensors.index.json", "not looked at")
        .file("zz.safetensors.index.json", index(&[("x", B)], None));
    assert_eq!(model.opens().index_path(), Some(&*model.path(INDEX)));
}

#[test]
fn several_indexes() {
    let model = Model::new("several")
        .shard(A, &["x"])
        .file("diffusion_pytorch_model.safetensors.index.json", index(&[("x", A)], None))
        .file("diffusion_pytorch_model.fp16.safetensors.index.json", index(&[("x", A)], None));
    assert_eq!(
        model.error(""),
        "DIR: there are 2 index files here; open one by its name: \
         \"diffusion_pytorch_model.fp16.safetensors.index.json\", \"diffusion_pytorch_model.safetensors.index.json\""
    );
    let error = Catalog::open(model.path(""), &Options::default()).expect_err("several");
    let CheckpointError::SeveralIndexes { indexes, .. } = error else { panic!("{error}") };
    assert_eq!(indexes.len(), 2);
    assert_eq!(open(model.path(&indexes[0])).len(), 1);
}

#[test]
fn an_empty_directory() {
    let model = Model::new("empty");
    assert_eq!(model.error(""), "DIR: there are no safetensors files here; it has no files at all");
}

#[test]
fn a_directory_of_other_files() {
    let model = Model::new("other")
        .file("README.md", "# A model")
        .file("config.json", "{}")
        .file("model.gguf", b"GGUF\x03\0\0\0")
        .file("pytorch_model.bin", b"\x80\x02}q\0.")
        .file("odd", b"\xff\xfe");
    assert_eq!(
        model.error(""),
        "DIR: there are no safetensors files here, but these files: \"model.gguf\" (a GGUF file), \
         \"pytorch_model.bin\" (a Python pickle), \"README.md\" (a text file), \"config.json\" (a JSON file), \"odd\""
    );
}

#[test]
fn many_other_files() {
    let model = (0..25).fold(Model::new("many-other"), |model, place| model.file(&format!("{place:02}.txt"), "text"));
    let error = model.error("");
    assert!(error.ends_with("\"09.txt\" (a text file), and 15 more"), "{error}");
}

#[test]
fn a_directory_of_components() {
    let model = Model::new("components")
        .file("model_index.json", "{}")
        .shard("unet/diffusion_pytorch_model.safetensors", &["x"])
        .shard("vae/diffusion_pytorch_model.safetensors", &["x"])
        .file("scheduler/config.json", "{}");
    let expected = "DIR: there are no safetensors files here, but in these directories: \"unet\", \"vae\"";
    assert_eq!(model.error(""), expected);
}

#[test]
fn pickles() {
    let model = Model::new("pickles")
        .file("pytorch_model.bin.index.json", r#"{"weight_map":{"x":"pytorch_model-00001-of-00001.bin"}}"#)
        .file("pytorch_model-00001-of-00001.bin", b"\x80\x02}q\0.");
    let expected = "DIR/pytorch_model.bin.index.json: this is the index of PyTorch pickles, which this version cannot \
                    open; look for safetensors files of the model";
    assert_eq!(model.error("").replace('\\', "/"), expected);
    assert_eq!(model.error("pytorch_model.bin.index.json").replace('\\', "/"), expected);
    // Beside safetensors files they are no concern.
    let model = model.shard("model.safetensors", &["x"]);
    assert_eq!(model.opens().len(), 1);
}

#[test]
fn nothing_at_all() {
    let model = Model::new("nothing");
    let error = model.error("gone").replace('\\', "/");
    assert!(error.starts_with("DIR/gone: cannot be read: "), "{error}");
    let error = Catalog::open(model.path("gone"), &Options::default()).expect_err("gone");
    let CheckpointError::Io { path, error } = error else { panic!("{error}") };
    assert_eq!((path, error.kind()), (model.path("gone"), std::io::ErrorKind::NotFound));
}

#[test]
fn a_malformed_index() {
    let model = Model::new("index-malformed").shard(A, &["x"]).file(INDEX, r#"{"weight_map":{"x":"a.safetensors"}"#);
    let error = Catalog::open(model.path(""), &Options::default()).expect_err("cut");
    assert!(std::error::Error::source(&error).is_some());
    let CheckpointError::Index { path, error, detail, format: None } = &error else { panic!("{error}") };
    assert_eq!((path, error.offset()), (&model.path(INDEX), Some(35)));
    assert!(detail.contains(r#""x":"a.safetensors"}"#) && detail.ends_with('^'), "{detail}");
}

#[test]
fn an_index_that_is_something_else() {
    let model =
        Model::new("index-foreign").file(INDEX, "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n");
    let error = model.error("").replace('\\', "/");
    let start = "DIR/model.safetensors.index.json: this is a Git LFS pointer, not an index; run `git lfs pull`";
    assert!(error.starts_with(start), "{error}");
    let error = model.file(INDEX, "<!DOCTYPE html><title>Sign in</title>").error("").replace('\\', "/");
    assert_eq!(error, "DIR/model.safetensors.index.json: this is an HTML page, not an index");
}

#[test]
fn an_index_over_the_limit() {
    let model = Model::new("index-limit").shard(A, &["x"]).index(&[("x", A)]);
    let parse = weightview::safetensors::ParseOptions { max_header_len: 20, ..Default::default() };
    let error = Catalog::open(model.path(""), &Options { parse, ..Default::default() }).expect_err("a limit");
    assert!(error.to_string().contains("over the limit of 20"), "{error}");
}

/// An index that is no file, or cannot be read.
#[test]
fn an_index_that_is_a_directory() {
    let model = Model::new("index-directory").shard(A, &["x"]);
    fs::create_dir(model.path(INDEX)).expect("a directory");
    assert_eq!(
        model.error("").replace('\\', "/"),
        "DIR/model.safetensors.index.json: cannot be read: this is a directory, not a file"
    );
}

#[test]
fn limits_of_the_whole() {
    let model = Model::new("limits").shard(A, &["x", "y"]).shard(B, &["z"]);
    let parse = weightview::safetensors::ParseOptions { max_tensors: 2, ..Default::default() };
    let error = Catalog::open(model.path(""), &Options { parse, ..Default::default() }).expect_err("a limit");
    assert!(error.to_string().contains("more than 2 tensors together"), "{error}");

    let len = shard(&["x"]).len() as u64 - 8 - 2;
    let model =
        (0..11).fold(Model::new("limits-many"), |model, place| model.shard(&format!("{place}.safetensors"), &["x"]));
    let parse = weightview::safetensors::ParseOptions { max_header_len: len, ..Default::default() };
    let error = Catalog::open(model.path(""), &Options { parse, ..Default::default() }).expect_err("a limit");
    assert!(error.to_string().contains("the headers of its files are longer than"), "{error}");
}
