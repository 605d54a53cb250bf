//! Pipes at either end.
#![cfg(unix)]

use std::io::Write as _;
use std::process::Stdio;

use crate::build::{F32, Model};
use crate::{Dir, Run, WEIGHTVIEW};

fn model() -> Model {
    Model::new().tensor("a", F32, &[1000]).tensor("b", F32, &[3])
}

const TOTAL: &str = "\nTotal: 2 tensors, 1003 parameters, 4012 bytes (4.01 kB)\n";

/// More output than a pipe holds, so that the command must notice.
fn many() -> Model {
    (0..5000).fold(Model::new(), |model, i| model.tensor(&format!("model.layers.{i}.weight"), F32, &[1]))
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let dir = Dir::new("a_closed_pipe_ends_quietly");
    many().write(&dir, "m");
    for format in [&["ls", "m"][..], &["ls", "--json", "m"]] {
        let mut child = dir.command(WEIGHTVIEW, format).spawn().unwrap();
        drop(child.stdout.take());
        let run = Run::of(child.wait_with_output().unwrap());
        assert_eq!((run.code, run.err.as_str()), (0, ""));
    }
    let out = dir.shell("{ $W ls m; echo $? >&2; } | head -n 3").out;
    assert_eq!(out.lines().count(), 3);
    assert_eq!(dir.shell("{ $W ls m; echo $? >&2; } | head -n 3").err, "0\n");
}

#[test]
fn a_closed_pipe_does_not_hide_an_error() {
    let dir = Dir::new("a_closed_pipe_does_not_hide_an_error");
    many().write(&dir, "m");
    dir.write("bad", "");
    let mut child = dir.command(WEIGHTVIEW, &["ls", "m", "bad"]).spawn().unwrap();
    drop(child.stdout.take());
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!(run.code, 1);
    assert!(run.err.contains("bad: the file is empty"), "{}", run.err);
}

#[test]
fn help_into_a_closed_pipe() {
    let dir = Dir::new("help_into_a_closed_pipe");
    let mut child = dir.command(WEIGHTVIEW, &["ls", "--help"]).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(Run::of(child.wait_with_output().unwrap()).code, 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let dir = Dir::new("a_full_disk_is_an_error");
    model().write(&dir, "m");
    let err = dir.shell("$W ls m > /dev/full").fails(2);
    assert!(err.starts_with("weightview: cannot write the listing: "), "{err}");
}

/// Feeds the standard input and lists it.
fn fed(dir: &Dir, file: &str, bytes: Vec<u8>) -> Run {
    let mut child = dir.command(WEIGHTVIEW, &["ls", file]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let feeder = std::thread::spawn(move || stdin.write_all(&bytes));
    let run = Run::of(child.wait_with_output().unwrap());
    let _ = feeder.join(); // a command that has seen enough closes the pipe
    run
}

#[test]
fn the_standard_input() {
    let dir = Dir::new("the_standard_input");
    for file in ["-", "/dev/stdin"] {
        assert!(fed(&dir, file, model().bytes()).ok().ends_with(TOTAL));
        let mut cut = model().bytes();
        cut.pop();
        let err = fed(&dir, file, cut.clone()).fails(1);
        assert!(err.starts_with(&format!("weightview: {file}: ")), "{err}");
        assert!(err.contains("truncated") && err.contains("\"b\"") && err.contains("1 byte missing"), "{err}");
        cut.extend([0; 5]);
        assert!(fed(&dir, file, cut).fails(1).contains("4 bytes too many"));
        assert!(fed(&dir, file, b"PK\x03\x04".to_vec()).fails(1).contains("zip archive"));
        assert!(fed(&dir, file, vec![0xfe; 100_000]).fails(1).contains("over the limit"));
        assert!(fed(&dir, file, Vec::new()).fails(1).contains("the file is empty"));
    }
}

#[test]
fn a_head_longer_than_the_first_read() {
    let dir = Dir::new("a_head_longer_than_the_first_read");
    let out = fed(&dir, "-", many().bytes()).ok();
    assert!(out.ends_with("\nTotal: 5000 tensors, 5000 parameters, 20000 bytes (20.0 kB)\n"));
}

#[test]
fn a_redirected_file() {
    let dir = Dir::new("a_redirected_file");
    model().write(&dir, "m");
    for line in ["$W ls - < m", "$W ls /dev/stdin < m"] {
        assert!(dir.shell(line).ok().ends_with(TOTAL));
    }
}

#[test]
fn a_fifo() {
    let dir = Dir::new("a_fifo");
    model().write(&dir, "m");
    let run = dir.shell("mkfifo fifo && { cat m > fifo & } && $W ls fifo; status=$?; wait; exit $status");
    assert!(run.ok().ends_with(TOTAL));
}
