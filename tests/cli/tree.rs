//! `ls --tree`: how a model is built.

use crate::Dir;
use crate::build::{BF16, F32, Model, U8};

#[test]
fn layers_that_are_alike_are_one_line() {
    let dir = Dir::new("tree_layers");
    let mut model = Model::new().tensor("lm_head.weight", BF16, &[10, 2]).tensor("model.embed.weight", BF16, &[10, 2]);
    for layer in [0, 1, 2, 10, 11, 3, 4, 5, 6, 7, 8, 9] {
        model = model.tensor(&format!("model.layers.{layer}.mlp.weight"), BF16, &[2, 3]).tensor(
            &format!("model.layers.{layer}.norm"),
            F32,
            &[2],
        );
    }
    model.write(&dir, "m");
    let out = dir.run(&["ls", "--tree", "m"]).ok();
    let expected = "\
Part            Tensors  Parameters  Bytes
--------------  -------  ----------  -----
lm_head               1          20     40
  weight              1          20     40  BF16 [10, 2]
model                25         116    280
  embed               1          20     40
    weight            1          20     40  BF16 [10, 2]
  layers             24          96    240
    {0..11}          24          96    240
      mlp             1           6     12
        weight        1           6     12  BF16 [2, 3]
      norm            1           2      8  F32 [2]
Total: 26 tensors, 136 parameters, 320 bytes
";
    assert_eq!(out, expected);
}

#[test]
fn layers_that_differ_stand_apart() {
    let dir = Dir::new("tree_differ");
    (0..6)
        .fold(Model::new(), |model, i| model.tensor(&format!("h.{i}.w"), U8, &[if i == 3 { 2 } else { 1 }]))
        .write(&dir, "m");
    let out = dir.run(&["ls", "--tree", "m"]).ok();
    let parts: Vec<&str> =
        out.lines().skip(2).map(|line| line.split("  ").find(|cell| !cell.is_empty()).unwrap()).collect();
    assert_eq!(parts[..7], ["h", "{0..2}", "w", "3", "w", "{4..5}", "w"]);
}

#[test]
fn names_of_any_kind() {
    let dir = Dir::new("tree_names");
    let names = ["", ".", "a/b:0", "a.b", "x\u{1b}[31m.y", "重み.重", "007.a", "a"];
    names.iter().fold(Model::new(), |model, name| model.tensor(name, U8, &[1])).write(&dir, "m");
    let out = dir.run(&["ls", "--tree", "m"]).ok();
    assert!(out.contains("x\\u{1b}[31m") && !out.contains('\u{1b}'), "{out}");
    assert!(out.contains("\n007 ") && out.ends_with("Total: 8 tensors, 8 parameters, 8 bytes\n"), "{out}");
}

/// A name may have as many parts as a header has bytes.
#[test]
fn very_deep_names() {
    let dir = Dir::new("tree_deep");
    dir.write("m", Model::new().tensor(&"a.".repeat(100_000), U8, &[1]).bytes());
    let out = dir.run(&["ls", "--tree", "m"]).ok();
    assert_eq!(out.lines().count(), 2 + 64 + 1);
}

#[test]
fn with_a_filter_and_not_with_json() {
    let dir = Dir::new("tree_filter");
    Model::new().tensor("a.b", U8, &[1]).tensor("c.d", U8, &[1]).write(&dir, "m");
    let out = dir.run(&["ls", "--tree", "--filter", "a.*", "m"]).ok();
    assert!(out.contains("\na ") && !out.contains("\nc "), "{out}");
    assert_eq!(dir.run(&["ls", "--tree", "--json", "m"]).code, 2);
}

#[test]
fn completions_and_manual() {
    let dir = Dir::new("tree_manual");
    for (shell, part) in [("bash", "_weightview()"), ("zsh", "#compdef weightview"), ("fish", "complete -c weightview")]
    {
        let script = dir.run(&["completions", shell]).ok();
        assert!(script.contains(part) && script.contains("max-tensors"), "{shell}");
    }
    assert_eq!(dir.run(&["completions", "tcsh"]).code, 2);
    let page = dir.run(&["man"]).ok();
    assert!(page.contains(".TH weightview 1") || page.contains(".TH Weightview 1"), "{}", &page[..200]);
    for command in ["LS", "STATS", "CHECK", "DIFF", "HASH", "EXPORT"] {
        assert!(page.contains(&format!("WEIGHTVIEW {command}")), "{command}");
    }
}
