//! The table: its form, its order, what is in it.

use std::time::{Duration, Instant};

use crate::build::{BF16, F32, Model, U8, head};
use crate::{Dir, data};

#[test]
fn the_sample_model() {
    let digits = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/digits.safetensors");
    let expected = "\
Tensor     Dtype     Shape     Offsets
--------------------------------------
fc1.bias     F32      [32]      0..128
fc1.weight  BF16  [32, 64]   168..4264
fc2.bias     F32      [10]    128..168
fc2.weight  BF16  [10, 32]  4264..4904
Total: 4 tensors, 2410 parameters, 4904 bytes (4.90 kB)
";
    assert_eq!(Dir::new("the_sample_model").run(&["ls", digits]).ok(), expected);
}

#[test]
fn a_real_model() {
    let Some(silero) = data("safetensors/silero_vad_16k.safetensors") else { return };
    let table = Dir::new("a_real_model").run(&["ls", silero.to_str().unwrap()]).ok();
    assert!(table.contains("\nstft_conv.weight      F32  [258, 1, 256]         0..264192\n"), "{table}");
    assert!(table.ends_with("\nTotal: 15 tensors, 309633 parameters, 1238532 bytes (1.24 MB)\n"), "{table}");
}

/// Two shards laid out as Qwen3-1.7B is: 4 GB that take no disk.
fn qwen3(dir: &Dir) {
    let mut first = Model::new().tensor("model.embed_tokens.weight", BF16, &[151_936, 2048]);
    for layer in 0..28 {
        let shapes: [(&str, &[u64]); 11] = [
            ("input_layernorm", &[2048]),
            ("mlp.down_proj", &[2048, 6144]),
            ("mlp.gate_proj", &[6144, 2048]),
            ("mlp.up_proj", &[6144, 2048]),
            ("post_attention_layernorm", &[2048]),
            ("self_attn.k_norm", &[128]),
            ("self_attn.k_proj", &[1024, 2048]),
            ("self_attn.o_proj", &[2048, 2048]),
            ("self_attn.q_norm", &[128]),
            ("self_attn.q_proj", &[2048, 2048]),
            ("self_attn.v_proj", &[1024, 2048]),
        ];
        for (part, shape) in shapes {
            first = first.tensor(&format!("model.layers.{layer}.{part}.weight"), BF16, shape);
        }
    }
    first.tensor("model.norm.weight", BF16, &[2048]).write(dir, "model-00001-of-00002.safetensors");
    let second = Model::new().tensor("lm_head.weight", BF16, &[151_936, 2048]);
    second.write(dir, "model-00002-of-00002.safetensors");
}

const QWEN3: [&str; 3] = ["ls", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];

#[test]
fn two_shards_of_qwen3() {
    let dir = Dir::new("two_shards_of_qwen3");
    qwen3(&dir);
    let start = Instant::now();
    let table = dir.run(&QWEN3).ok();
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert!(table.ends_with("\nTotal: 311 tensors, 2031739904 parameters, 4063479808 bytes (4.06 GB)\n"), "{table}");
    assert_eq!(table.lines().count(), 2 + 311 + 1);
    let widths: Vec<usize> = table.lines().take(313).map(str::len).collect();
    assert!(widths.iter().all(|width| *width == widths[0]), "{widths:?}");
    let names = dir.run(&QWEN3).names();
    assert!(names.is_sorted());
    assert_eq!(names[0], "lm_head.weight");
}

#[test]
fn columns_as_wide_as_their_content() {
    let dir = Dir::new("columns_as_wide_as_their_content");
    qwen3(&dir);
    let mut args = QWEN3.to_vec();
    args.extend(["--filter", "lm_head.weight", "--filter", "*embed*", "--filter", "*layers.0.input_layernorm*"]);
    let expected = "\
Tensor                                Dtype           Shape               Offsets
---------------------------------------------------------------------------------
lm_head.weight                         BF16  [151936, 2048]          0..622329856
model.embed_tokens.weight              BF16  [151936, 2048]          0..622329856
model.layers.0.input_layernorm.weight  BF16          [2048]  622329856..622333952
Total: 3 tensors, 622331904 parameters, 1244663808 bytes (1.24 GB)
";
    assert_eq!(dir.run(&args).ok(), expected);
    let mut args = QWEN3.to_vec();
    args.extend(["--filter", "*norm.weight"]); // four a layer, and the last
    assert!(dir.run(&args).ok().contains("\nTotal: 113 tensors, "));
}

#[test]
fn scalars_empty_tensors_and_high_ranks() {
    let dir = Dir::new("scalars_empty_tensors_and_high_ranks");
    let sixteen = [1; 16];
    let model = Model::new()
        .tensor("empty", F32, &[0, 7])
        .tensor("scalar", ("F8_E4M3FNUZ", 1), &[])
        .tensor("high", U8, &sixteen);
    model.write(&dir, "m");
    let expected = "\
Tensor        Dtype                                             Shape Offsets
-----------------------------------------------------------------------------
empty           F32                                            [0, 7]    0..0
high             U8  [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]    1..2
scalar  F8_E4M3FNUZ                                                []    0..1
Total: 3 tensors, 2 parameters, 2 bytes
";
    assert_eq!(dir.run(&["ls", "m"]).ok(), expected);
}

#[test]
fn a_file_without_tensors() {
    let dir = Dir::new("a_file_without_tensors");
    dir.write("m", head("{}"));
    let expected = "\
Tensor Dtype Shape Offsets
--------------------------
Total: 0 tensors, 0 parameters, 0 bytes
";
    assert_eq!(dir.run(&["ls", "m"]).ok(), expected);
}

/// In header order c a b d; in offset order a c d b. `e` is alone in the second file.
fn out_of_order(dir: &Dir) {
    let model = Model::new()
        .member(r#""c":{"dtype":"U8","shape":[2],"data_offsets":[4,6]}"#)
        .member(r#""a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}"#)
        .member(r#""b":{"dtype":"U8","shape":[8],"data_offsets":[8,16]}"#)
        .member(r#""d":{"dtype":"U8","shape":[2],"data_offsets":[6,8]}"#)
        .data(16);
    model.write(dir, "m");
    Model::new().tensor("bb", U8, &[2]).tensor("b", U8, &[4]).write(dir, "n");
}

#[test]
fn sorted_by_name_over_all_files() {
    let dir = Dir::new("sorted_by_name_over_all_files");
    out_of_order(&dir);
    assert_eq!(dir.run(&["ls", "m", "n"]).names(), ["a", "b", "b", "bb", "c", "d"]);
    // Equal names stand as their files do.
    let table = dir.run(&["ls", "--sort", "name", "n", "m"]).ok();
    let offsets: Vec<_> = table.lines().filter(|l| l.starts_with("b ")).map(|l| l.rsplit(' ').next()).collect();
    assert_eq!(offsets, [Some("2..6"), Some("8..16")]);
}

#[test]
fn sorted_by_offset_file_by_file() {
    let dir = Dir::new("sorted_by_offset_file_by_file");
    out_of_order(&dir);
    assert_eq!(dir.run(&["ls", "--sort", "offset", "m", "n"]).names(), ["a", "c", "d", "b", "bb", "b"]);
    assert_eq!(dir.run(&["ls", "--sort=offset", "n", "m"]).names(), ["bb", "b", "a", "c", "d", "b"]);
}

#[test]
fn sorted_by_size_the_largest_first() {
    let dir = Dir::new("sorted_by_size_the_largest_first");
    out_of_order(&dir);
    assert_eq!(dir.run(&["ls", "--sort", "size", "m", "n"]).names(), ["b", "a", "b", "bb", "c", "d"]);
}

#[test]
fn in_header_order() {
    let dir = Dir::new("in_header_order");
    out_of_order(&dir);
    assert_eq!(dir.run(&["ls", "--sort", "header", "m", "n"]).names(), ["c", "a", "b", "d", "bb", "b"]);
}

#[test]
fn names_are_sorted_as_they_read_not_as_they_are_spelt() {
    let dir = Dir::new("names_are_sorted_as_they_read");
    let model = Model::new()
        .member(r#""\u0062":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}"#)
        .member(r#""c":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}"#)
        .member(r#""a":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}"#)
        .data(3);
    model.write(&dir, "m");
    assert_eq!(dir.run(&["ls", "m"]).names(), ["a", "b", "c"]);
}

#[test]
fn a_filter_of_whole_names() {
    let dir = Dir::new("a_filter_of_whole_names");
    let model = ["fc1.weight", "fc1.bias", "fc2.weight", "FC2.weight", "a/b.weight", "[x]", "重み"]
        .iter()
        .fold(Model::new(), |model, name| model.tensor(name, F32, &[3]));
    model.write(&dir, "m");
    let filtered = |globs: &[&str]| {
        let args: Vec<&str> = ["ls", "m"].into_iter().chain(globs.iter().flat_map(|glob| ["--filter", glob])).collect();
        dir.run(&args).names()
    };
    assert_eq!(filtered(&["fc1.*"]), ["fc1.bias", "fc1.weight"]);
    assert_eq!(filtered(&["fc?.weight"]), ["fc1.weight", "fc2.weight"]);
    assert_eq!(filtered(&["*.weight"]), ["FC2.weight", "a/b.weight", "fc1.weight", "fc2.weight"]);
    assert_eq!(filtered(&["fc[!1]*", "*bias"]), ["fc1.bias", "fc2.weight"]);
    assert_eq!(filtered(&["[[]x]"]), ["[x]"]);
    assert_eq!(filtered(&["?み"]), ["重み"]);
    assert_eq!(filtered(&["a**t"]), ["a/b.weight"]);
    assert_eq!(filtered(&["fc1"]), [""; 0]);
    let out = dir.run(&["ls", "m", "--filter", "fc1.*"]).ok();
    assert!(out.ends_with("\nTotal: 2 tensors, 6 parameters, 24 bytes\n"), "{out}");
}

#[test]
fn wide_characters_keep_the_columns_straight() {
    let dir = Dir::new("wide_characters_keep_the_columns_straight");
    Model::new().tensor("重み", F32, &[1]).tensor("🦀", F32, &[1]).tensor("poids", F32, &[1]).write(&dir, "m");
    let expected = "\
Tensor Dtype Shape Offsets
--------------------------
poids    F32   [1]   8..12
重み     F32   [1]    0..4
🦀       F32   [1]    4..8
Total: 3 tensors, 3 parameters, 12 bytes
";
    assert_eq!(dir.run(&["ls", "m"]).ok(), expected);
}

#[test]
fn the_same_file_twice_is_listed_twice() {
    let dir = Dir::new("the_same_file_twice");
    Model::new().tensor("a", F32, &[1]).write(&dir, "m");
    assert_eq!(dir.run(&["ls", "m", "m"]).names(), ["a", "a"]);
}
