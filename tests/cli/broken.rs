//! Safetensors files that are wrong: one clear error each, and the others are listed all the same.

use crate::Dir;
use crate::build::{BF16, F32, Model, U8, head};

/// A run over one broken file: nothing on the standard output, status 1, and a message with all these parts.
#[track_caller]
fn refuses(dir: &Dir, args: &[&str], parts: &[&str]) {
    let err = dir.run(args).fails(1);
    assert!(err.starts_with("weightview: m.safetensors: "), "{err}");
    assert_eq!(err.matches("weightview: ").count(), 1, "{err}");
    assert!(err.contains("\n  help: "), "{err}");
    for part in parts {
        assert!(err.contains(part), "no {part:?} in {err}");
    }
}

#[test]
fn a_tensor_whose_size_is_wrong() {
    let dir = Dir::new("a_tensor_whose_size_is_wrong");
    let model = Model::new()
        .tensor("good", F32, &[2])
        .member(r#""bad":{"dtype":"F32","shape":[3],"data_offsets":[8,16]}"#)
        .data(8);
    model.write(&dir, "m.safetensors");
    let at = model.head().windows(6).position(|bytes| bytes == b"[8,16]").unwrap();
    refuses(&dir, &["ls", "m.safetensors"], &[&format!("byte {at}: "), "12 bytes", "spans 8", "\"bad\"", "[8,16]"]);
}

#[test]
fn a_dtype_of_the_future() {
    let dir = Dir::new("a_dtype_of_the_future");
    Model::new().tensor("a", ("F2", 1), &[1]).write(&dir, "m.safetensors");
    refuses(&dir, &["ls", "m.safetensors"], &["byte 22: ", "dtype", "\"a\"", "newer version"]);
}

#[test]
fn a_header_that_is_no_json() {
    let dir = Dir::new("a_header_that_is_no_json");
    dir.write("m.safetensors", head(r#"{"a":{"dtype":"F32" "shape":[]}}"#));
    refuses(&dir, &["ls", "m.safetensors"], &["byte 28: ", "not valid JSON", "\"a\""]);
}

#[test]
fn a_header_that_is_no_object() {
    let dir = Dir::new("a_header_that_is_no_object");
    dir.write("m.safetensors", head("[]"));
    refuses(&dir, &["ls", "m.safetensors"], &["byte 8: ", "object"]);
}

#[test]
fn duplicate_names() {
    let dir = Dir::new("duplicate_names");
    let model = Model::new().tensor("a", F32, &[1]).tensor("b", F32, &[1]).tensor("a", F32, &[1]);
    model.write(&dir, "m.safetensors");
    refuses(&dir, &["ls", "m.safetensors"], &["already stands at byte 9", "\"a\""]);
}

#[test]
fn a_hole_between_tensors() {
    let dir = Dir::new("a_hole_between_tensors");
    Model::new().tensor("a", U8, &[4]).data(1).tensor("b", U8, &[4]).write(&dir, "m.safetensors");
    refuses(&dir, &["ls", "m.safetensors"], &["begins at 5", "ends at 4", "\"b\""]);
}

#[test]
fn a_truncated_download() {
    let dir = Dir::new("a_truncated_download");
    let model = Model::new().tensor("first", BF16, &[100]).tensor("second", F32, &[1000]).tensor("third", F32, &[8]);
    let bytes = model.bytes();
    let cut = model.head().len() + 300;
    dir.write("m.safetensors", &bytes[..cut]);
    let (expected, there) = (format!("{} bytes", bytes.len()), format!("{cut} are there"));
    let missing = format!("{} bytes missing", bytes.len() - cut);
    refuses(&dir, &["ls", "m.safetensors"], &["truncated", &expected, &there, "\"second\"", &missing, "repeat it"]);
}

#[test]
fn truncated_at_every_byte() {
    let dir = Dir::new("truncated_at_every_byte");
    let bytes = Model::new().tensor("a", F32, &[1]).tensor("b", U8, &[2]).bytes();
    for len in 0..bytes.len() {
        dir.write("m.safetensors", &bytes[..len]);
        refuses(&dir, &["ls", "m.safetensors"], &[]);
    }
    dir.write("m.safetensors", &bytes);
    dir.run(&["ls", "m.safetensors"]).ok();
}

#[test]
fn cut_inside_the_header() {
    let dir = Dir::new("cut_inside_the_header");
    let bytes = Model::new().tensor("a", F32, &[1]).tensor("b", F32, &[1]).bytes();
    dir.write("m.safetensors", &bytes[..40]);
    refuses(&dir, &["ls", "m.safetensors"], &["byte 40: ", "only 40 bytes", " missing: "]);
}

#[test]
fn fewer_bytes_than_the_length_field() {
    let dir = Dir::new("fewer_bytes_than_the_length_field");
    dir.write("m.safetensors", b"\x10\0\0");
    refuses(&dir, &["ls", "m.safetensors"], &["3 of the 8 bytes"]);
}

#[test]
fn bytes_behind_the_last_tensor() {
    let dir = Dir::new("bytes_behind_the_last_tensor");
    Model::new().tensor("a", F32, &[1]).data(3).write(&dir, "m.safetensors");
    refuses(&dir, &["ls", "m.safetensors"], &["3 bytes too many"]);
}

#[test]
fn a_header_longer_than_the_file() {
    let dir = Dir::new("a_header_longer_than_the_file");
    let mut bytes = 99_999_999_u64.to_le_bytes().to_vec();
    bytes.push(b'{');
    dir.write("m.safetensors", bytes);
    refuses(&dir, &["ls", "m.safetensors"], &["byte 9: ", "100000007", "only 9 bytes"]);
}

/// What the file says of itself must not reserve memory: here there is none to reserve.
#[cfg(target_os = "linux")]
#[test]
fn a_header_longer_than_the_file_takes_no_memory() {
    let dir = Dir::new("a_header_longer_than_the_file_takes_no_memory");
    let mut bytes = 99_999_999_u64.to_le_bytes().to_vec();
    bytes.push(b'{');
    dir.write("m.safetensors", bytes);
    for line in ["$W ls m.safetensors", "cat m.safetensors | $W ls -"] {
        let err = dir.shell(&format!("ulimit -v 65536; {line}")).fails(1);
        assert!(err.contains("only 9 bytes"), "{err}");
    }
}

#[test]
fn a_header_over_the_limit() {
    let dir = Dir::new("a_header_over_the_limit");
    let model = Model::new().tensor(&"long".repeat(50), F32, &[1]);
    model.write(&dir, "m.safetensors");
    let len = model.head().len() - 8;
    let add = format!("--max-header {len}");
    refuses(&dir, &["ls", "--max-header", "100", "m.safetensors"], &["byte 0: ", "over the limit of 100", &add]);
    dir.run(&["ls", "--max-header", &len.to_string(), "m.safetensors"]).ok();
}

#[test]
fn a_header_over_the_limit_in_a_file_that_is_cut() {
    let dir = Dir::new("a_header_over_the_limit_in_a_file_that_is_cut");
    dir.write("m.safetensors", [&200_000_000_u64.to_le_bytes()[..], br#"{"a":{"dtype":"#].concat());
    refuses(&dir, &["ls", "m.safetensors"], &["over the limit of 100000000", "--max-header 200000000"]);
    refuses(&dir, &["ls", "--max-header", "200000000", "m.safetensors"], &["only 22 bytes", "199999986 bytes missing"]);
}

#[test]
fn a_length_that_is_none() {
    let dir = Dir::new("a_length_that_is_none");
    dir.write("m.safetensors", [0xfe; 100]);
    refuses(&dir, &["ls", "m.safetensors"], &["byte 0: ", "not a safetensors file", "only 100"]);
}

#[test]
fn more_tensors_than_the_limit() {
    let dir = Dir::new("more_tensors_than_the_limit");
    Model::new().tensor("a", F32, &[1]).tensor("b", F32, &[1]).write(&dir, "m.safetensors");
    refuses(&dir, &["ls", "--max-tensors", "1", "m.safetensors"], &["more than 1 tensors", "--max-tensors N", "\"b\""]);
    dir.run(&["ls", "--max-tensors", "2", "m.safetensors"]).ok();
}

#[test]
fn strict_is_the_letter() {
    let dir = Dir::new("strict_is_the_letter");
    for (header, part) in [
        (" {}", "start with `{` at once"),
        ("{}\n", "padded with spaces"),
        (r#"{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"x":1}}"#, "not in the specification"),
    ] {
        dir.write("m.safetensors", head(header));
        dir.run(&["ls", "m.safetensors"]).ok();
        refuses(&dir, &["ls", "--strict", "m.safetensors"], &[part, "without --strict"]);
    }
}

#[test]
fn the_others_are_listed_all_the_same() {
    let dir = Dir::new("the_others_are_listed_all_the_same");
    Model::new().tensor("a", F32, &[1]).write(&dir, "a.safetensors");
    Model::new().tensor("z", F32, &[1]).write(&dir, "z.safetensors");
    dir.write("m.safetensors", head("[]"));
    dir.write("n.safetensors", "");
    let run = dir.run(&["ls", "a.safetensors", "m.safetensors", "n.safetensors", "z.safetensors"]);
    assert_eq!(run.code, 1);
    assert!(run.out.contains("\na ") && run.out.contains("\nz "), "{}", run.out);
    assert!(run.out.contains("\nTotal: 2 tensors, "), "{}", run.out);
    let errors: Vec<_> = run.err.lines().filter(|line| line.starts_with("weightview: ")).collect();
    assert_eq!(errors.len(), 2);
    assert!(errors[0].contains("m.safetensors") && errors[1].contains("n.safetensors"), "{errors:?}");
}

#[test]
fn a_missing_file_weighs_more_than_a_broken_one() {
    let dir = Dir::new("a_missing_file_weighs_more_than_a_broken_one");
    dir.write("m.safetensors", head("[]"));
    dir.write("good", head("{}"));
    let run = dir.run(&["ls", "missing", "m.safetensors", "good"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("weightview: missing: cannot be read: ") && run.err.contains("m.safetensors: byte 8"));
    assert!(run.out.contains("Total: 0 tensors"));
}
