//! `weightview stats`: what numbers are like, at a terminal and for programs.

use std::fs;

use serde_json::Value;

use crate::Dir;
use crate::build::{F32, Model, U8};

const DIGITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/digits.safetensors");

/// A file of one F32 tensor `x` with these numbers.
fn file(numbers: &[f32]) -> Vec<u8> {
    let mut bytes = Model::new().tensor("x", F32, &[numbers.len() as u64]).head();
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    bytes
}

fn json(dir: &Dir, args: &[&str]) -> Value {
    serde_json::from_str(&dir.run(&[&["stats", "--json"], args].concat()).ok()).unwrap()
}

#[test]
fn a_row_for_each_tensor() {
    let out = Dir::new("stats_table").run(&["stats", DIGITS]).ok();
    let expected = "\
Tensor      Dtype  Elements      Min     Max       Mean     Std  Zeros  NaN  Inf  Histogram
-------------------------------------------------------------------------------------------------------
fc1.bias      F32        32  -0.4466  0.7515     0.1242  0.2844      0    0    0  ▂ ▂▄ ▂▄██▆▄▆▂▄ ▄▂▂▂ ▂
fc1.weight   BF16      2048   -0.918    1.07    0.01553  0.2129      0    0    0  ▁▁▁▁▁▁▃█▇▃▂▁▁▁▁ ▁
fc2.bias      F32        10   -0.755  0.2615   1.118e-9  0.2783      0    0    0  ▂         ▂▂ ▂█  ▄
fc2.weight   BF16       320   -1.805   2.125  -0.004351  0.5147      0    0    0  ▁▁ ▁▂▃▄█▆▃▂▂▁▁▁ ▁
Total: 4 tensors, 2410 parameters, 4904 bytes (4.90 kB), 0 NaN, 0 infinite
";
    assert_eq!(out, expected);
}

#[test]
fn what_is_no_number_is_counted() {
    let dir = Dir::new("stats_special");
    dir.write("m", file(&[f32::NAN, 1.0, f32::INFINITY, 0.0, f32::NEG_INFINITY, -0.0, 1e-40, f32::NAN]));
    let out = dir.run(&["stats", "m"]).ok();
    let row: Vec<&str> = out.lines().nth(2).unwrap().split_whitespace().take(10).collect();
    assert_eq!(row, ["x", "F32", "8", "-inf", "inf", "0.25", "0.433", "2", "2", "2"]);
    assert!(out.ends_with("Total: 1 tensors, 8 parameters, 32 bytes, 2 NaN, 2 infinite\n"), "{out}");

    let document = json(&dir, &["m"]);
    let tensor = &document["tensors"][0];
    let counts = ["count", "finite", "nans", "infinities", "negative_infinities", "zeros", "negatives", "subnormals"];
    assert_eq!(counts.map(|key| tensor[key].as_u64().unwrap()), [8, 4, 2, 2, 1, 2, 1, 1]);
    assert_eq!((&tensor["min"], &tensor["max"]), (&"-Infinity".into(), &"Infinity".into()));
    assert_eq!((tensor["mean"].as_f64(), document["total"]["nans"].as_u64()), (Some(0.25), Some(2)));
}

#[test]
fn nothing_but_nans_and_nothing_at_all() {
    let dir = Dir::new("stats_none");
    dir.write("m", file(&[f32::NAN; 3]));
    dir.write("e", file(&[]));
    for (name, row) in [
        ("m", ["x", "F32", "3", "-", "-", "-", "-", "0", "3", "0"]),
        ("e", { ["x", "F32", "0", "-", "-", "-", "-", "0", "0", "0"] }),
    ] {
        let out = dir.run(&["stats", name]).ok();
        assert_eq!(out.lines().nth(2).unwrap().split_whitespace().collect::<Vec<_>>(), row);
        let tensor = &json(&dir, &[name])["tensors"][0];
        assert_eq!(["min", "max", "mean", "std"].map(|key| tensor[key].is_null()), [true; 4]);
        assert_eq!(tensor["histogram"].as_array().unwrap().len(), 0);
    }
}

#[test]
fn a_scalar() {
    let dir = Dir::new("stats_scalar");
    let mut bytes = Model::new().tensor("x", F32, &[]).head();
    bytes.extend(2.5f32.to_le_bytes());
    dir.write("m", bytes);
    let tensor = &json(&dir, &["m"])["tensors"][0];
    assert_eq!(["min", "max", "mean", "std"].map(|key| tensor[key].as_f64().unwrap()), [2.5, 2.5, 2.5, 0.0]);
}

#[test]
fn what_has_no_summary_says_why() {
    let dir = Dir::new("stats_why_not");
    Model::new().tensor("c", ("C64", 8), &[2]).tensor("f", U8, &[2]).write(&dir, "m");
    let out = dir.run(&["stats", "m"]).ok();
    assert_eq!(out.lines().nth(2).unwrap().split_whitespace().collect::<Vec<_>>()[..5], ["c", "C64", "2", "-", "-"]);
    let document = json(&dir, &["m"]);
    assert_eq!(document["tensors"][0]["why"], "complex numbers have no order");
    assert!(document["tensors"][0].get("min").is_none() && document["tensors"][1].get("why").is_none());
    assert_eq!(document["total"]["bytes"], 18);
}

#[test]
fn a_filter_chooses() {
    let dir = Dir::new("stats_filter");
    let document = json(&dir, &["--filter", "*.bias", DIGITS]);
    assert_eq!(document["tensors"].as_array().unwrap().len(), 2);
    assert_eq!(document["total"]["parameters"], 42);
    let out = dir.run(&["stats", "--filter", "no such", DIGITS]).ok();
    assert!(out.ends_with("Total: 0 tensors, 0 parameters, 0 bytes, 0 NaN, 0 infinite\n"), "{out}");
}

#[test]
fn ascii_bars() {
    let out = Dir::new("stats_ascii").run(&["stats", "--ascii", DIGITS]).ok();
    assert!(out.is_ascii() && out.contains(".......@#-..... ") || out.contains('@'), "{out}");
}

#[test]
fn hostile_names_are_shown_escaped() {
    let dir = Dir::new("stats_names");
    Model::new().tensor("\u{1b}[31m\n", U8, &[1]).write(&dir, "m");
    let out = dir.run(&["stats", "m"]).ok();
    assert!(out.contains("\\u{1b}[31m\\u{a}") && !out.contains('\u{1b}'), "{out}");
    assert_eq!(json(&dir, &["m"])["tensors"][0]["name"], "\u{1b}[31m\n");
}

#[test]
fn a_file_at_fault_beside_one_that_is_well() {
    let dir = Dir::new("stats_fault");
    let mut cut = fs::read(DIGITS).unwrap();
    cut.pop();
    dir.write("cut", cut);
    let run = dir.run(&["stats", "cut", DIGITS]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("cut: ") && run.err.contains("truncated"), "{}", run.err);
    assert!(run.out.contains("Total: 4 tensors"), "{}", run.out);

    let err = dir.run(&["stats", "nowhere"]).fails(2);
    assert!(err.contains("nowhere: cannot be read"), "{err}");
    // A program gets its document all the same.
    let run = dir.run(&["stats", "--json", "nowhere"]);
    assert_eq!((run.code, serde_json::from_str::<Value>(&run.out).unwrap()["total"]["tensors"].as_u64()), (2, Some(0)));
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_and_a_closed_one_is_no_fault() {
    let dir = Dir::new("stats_pipe");
    let err = dir.shell(&format!("cat '{DIGITS}' | $W stats -")).fails(2);
    assert!(err.contains("not from a pipe"), "{err}");
    dir.write("many", {
        let model = (0..20_000).fold(Model::new(), |model, i| model.tensor(&format!("t{i}"), U8, &[1]));
        model.bytes()
    });
    assert_eq!(dir.shell("$W stats many | head -n 1 > out").ok(), "");
    assert_eq!(dir.shell("$W stats --json many | head -c 10 > out").ok(), "");
}

/// Pieces come from several threads, and in an order of their own; what is said does not depend on it.
#[test]
fn a_large_tensor_is_read_in_pieces() {
    let dir = Dir::new("stats_pieces");
    let numbers: Vec<f32> = (0..1_500_001u32).map(|i| ((i.wrapping_mul(2_654_435_761)) as i32 as f32) * 1e-9).collect();
    let bytes = file(&numbers);
    dir.write("m", &bytes);
    let document = json(&dir, &["m"]);
    let ours = &document["tensors"][0];
    let whole = weightview::SafeTensors::parse(&bytes).unwrap().tensor("x").unwrap().summary().unwrap();
    assert_eq!(ours["count"].as_u64(), Some(1_500_001));
    assert_eq!((ours["min"].as_f64(), ours["max"].as_f64()), (whole.min(), whole.max()));
    for (key, theirs) in [("mean", whole.mean()), ("std", whole.std())] {
        let (ours, theirs) = (ours[key].as_f64().unwrap(), theirs.unwrap());
        assert!((ours - theirs).abs() <= 1e-12 * theirs.abs(), "{key}: {ours} and {theirs}");
    }
    let bars: Vec<u64> = whole.histogram().bars().map(|bar| bar.count).collect();
    let ours_bars: Vec<u64> =
        ours["histogram"].as_array().unwrap().iter().map(|bar| bar[2].as_u64().unwrap()).collect();
    assert_eq!(ours_bars, bars);
    for _ in 0..5 {
        assert_eq!(json(&dir, &["m"]), document);
    }
}

/// A tensor far above the memory that the command may have: it takes a few pieces at a time.
#[cfg(target_os = "linux")]
#[test]
fn memory_stays_small_however_large_a_tensor_is() {
    let dir = Dir::new("stats_memory");
    Model::new().tensor("x", U8, &[160, 1 << 20]).write(&dir, "m");
    let run = dir.shell("ulimit -v 120000; MALLOC_ARENA_MAX=1 $W stats m");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("  167772160    0    0     0    0  167772160    0    0  "), "{}", run.out);
}

#[test]
fn very_many_tensors() {
    let dir = Dir::new("stats_many");
    let model = (0..30_000).fold(Model::new(), |model, i| model.tensor(&format!("layer.{i}.weight"), U8, &[2]));
    dir.write("m", model.bytes());
    let document = json(&dir, &["m"]);
    assert_eq!(document["total"]["tensors"], 30_000);
    let names: Vec<&str> =
        document["tensors"].as_array().unwrap().iter().map(|tensor| tensor["name"].as_str().unwrap()).collect();
    assert!(names.is_sorted() && names.len() == 30_000);
}

#[test]
fn help_has_examples() {
    let out = Dir::new("stats_help").run(&["stats", "--help"]).ok();
    assert!(out.contains("Examples:") && out.contains("\"why\"") && out.contains("Exit status:"), "{out}");
}
