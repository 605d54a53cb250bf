//! Names that would act on a terminal, or hide from it.

use crate::Dir;
use crate::build::{F32, Model, head};

/// Commands to a terminal, and characters that must not reach one.
const HOSTILE: &str =
    "\u{1b}[2J\u{9b}31m\u{7}\u{8}\0\r\u{7f}\u{85}\u{202e}\u{2066}\u{200b}\u{200d}\u{feff}\u{2028}\u{ad}";

#[track_caller]
fn is_harmless(text: &str) {
    let found = text.chars().find(|c| *c != '\n' && (c.is_control() || HOSTILE.contains(*c) && !c.is_ascii()));
    assert_eq!(found, None, "{text:?}");
}

#[test]
fn are_escaped_in_the_table() {
    let dir = Dir::new("are_escaped_in_the_table");
    let names = [HOSTILE, "", "\"\"", "back\\slash", "two\nlines", "\u{301}combining"];
    names.iter().fold(Model::new(), |model, name| model.tensor(name, F32, &[1])).write(&dir, "m");
    let run = dir.run(&["ls", "--sort", "header", "m"]);
    is_harmless(&run.out);
    let names = run.names();
    assert!(names[0].starts_with("\\u{1b}[2J\\u{9b}31m\\u{7}\\u{8}\\u{0}\\u{d}\\u{7f}\\u{85}\\u{202e}"), "{names:?}");
    assert_eq!(names[1..], ["\"\"", "\\u{22}\"", "back\\\\slash", "two\\u{a}lines", "\\u{301}combining"]);
}

#[test]
fn are_escaped_in_errors() {
    let dir = Dir::new("are_escaped_in_errors");
    let key = serde_json::to_string(HOSTILE).unwrap();
    // JSON escapes the first 32 only: the rest stands raw in the header.
    dir.write("size", head(&format!(r#"{{{key}:{{"dtype":"F32","shape":[1],"data_offsets":[0,3]}}}}"#)));
    dir.write("raw", head("{\"\u{1b}[31m\u{202e}\u{9b}\":1}"));
    let cut = Model::new().tensor(HOSTILE, F32, &[100]).bytes();
    dir.write("cut", &cut[..cut.len() - 1]);
    for file in ["size", "raw", "cut"] {
        let err = dir.run(&["ls", file]).fails(1);
        is_harmless(&err);
    }
    assert!(dir.run(&["ls", "size"]).err.contains("tensor: \"\\u{1b}[2J"));
}

#[cfg(unix)]
#[test]
fn of_files_are_escaped_too() {
    let dir = Dir::new("of_files_are_escaped_too");
    let file = "\u{1b}[31m\u{202e}\n\u{9b}.safetensors";
    for err in [dir.run(&["ls", file]).fails(2), {
        dir.write(file, "Entry not found");
        dir.run(&["ls", file]).fails(1)
    }] {
        is_harmless(&err);
        assert!(err.starts_with("weightview: \\u{1b}[31m\\u{202e}\\u{a}\\u{9b}.safetensors: "), "{err}");
    }
    std::fs::create_dir(dir.path("\u{1b}c")).unwrap();
    is_harmless(&dir.run(&["ls", "\u{1b}c"]).fails(2));
}
