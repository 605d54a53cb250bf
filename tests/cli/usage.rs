//! Help, wrong words, and paths that cannot be read.

use crate::Dir;
use crate::build::{F32, Model};

#[test]
fn help_has_examples_for_each_thing() {
    let dir = Dir::new("help_has_examples");
    let help = dir.run(&["ls", "--help"]).ok();
    let examples = help.split("\nExamples:\n").nth(1).unwrap();
    for option in ["--sort", "--filter", "--json", "--strict", "--max-header", "--max-tensors", "ls -\n"] {
        assert!(examples.contains(option), "no example of {option}");
    }
    assert!(help.contains("Exit status:"));
    let widest = help.lines().map(str::len).max().unwrap();
    assert!(widest <= 110, "{widest} columns");
    assert!(dir.run(&["--help"]).ok().contains("weightview ls model.safetensors"));
    assert!(dir.run(&["ls", "-h"]).ok().contains("--filter <GLOB>"));
}

#[test]
fn version() {
    let version = Dir::new("version").run(&["--version"]).ok();
    assert_eq!(version, concat!("weightview ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn wrong_words() {
    let dir = Dir::new("wrong_words");
    Model::new().tensor("a", F32, &[1]).write(&dir, "m");
    for (args, part) in [
        (&[][..], "Usage: weightview"),
        (&["ls"], "<FILE>"),
        (&["list", "m"], "unrecognized subcommand"),
        (&["ls", "--sort", "colour", "m"], "[possible values: name, offset, size, header]"),
        (&["ls", "--filter", "fc[1", "m"], "invalid value 'fc[1' for '--filter <GLOB>'"),
        (&["ls", "--max-header", "lots", "m"], "--max-header"),
        (&["ls", "--max-tensors", "-1", "m"], "'-1'"),
    ] {
        let err = dir.run(args).fails(2);
        assert!(err.contains(part), "no {part:?} in {err}");
    }
}

#[test]
fn a_file_that_is_not_there() {
    let err = Dir::new("a_file_that_is_not_there").run(&["ls", "nothing.safetensors"]).fails(2);
    assert!(err.starts_with("weightview: nothing.safetensors: cannot be read: "), "{err}");
}

#[test]
fn a_directory_without_weights() {
    let dir = Dir::new("a_directory");
    std::fs::create_dir(dir.path("model")).unwrap();
    let err = dir.run(&["ls", "model"]).fails(2);
    assert_eq!(err, "weightview: model: there are no safetensors files here; it has no files at all\n");
    dir.write("model/README.md", "# A model\n");
    let err = dir.run(&["ls", "model"]).fails(2);
    assert!(err.contains("but these files: \"README.md\" (a text file)"), "{err}");
}

#[cfg(unix)]
#[test]
fn a_file_without_permission() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = Dir::new("a_file_without_permission");
    Model::new().tensor("a", F32, &[1]).write(&dir, "m");
    std::fs::set_permissions(dir.path("m"), std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::File::open(dir.path("m")).is_ok() {
        println!("skipped: this user may read everything");
        return;
    }
    assert!(dir.run(&["ls", "m"]).fails(2).contains("cannot be read"));
}

#[test]
fn a_name_that_begins_with_a_dash() {
    let dir = Dir::new("a_name_that_begins_with_a_dash");
    Model::new().tensor("a", F32, &[1]).write(&dir, "--json");
    assert_eq!(dir.run(&["ls", "--", "--json"]).names(), ["a"]);
}
