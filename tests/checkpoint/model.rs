//! Checkpoints with their bytes: read, and mapped.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Mutex;

use weightview::Checkpoint;
use weightview::checkpoint::{CheckpointError, Options, Policy};
use weightview::error::ErrorKind;

use crate::build::{Model, file, shard};

const A: &str = "a.safetensors";
const B: &str = "b.safetensors";

fn lenient() -> Options {
    Options { policy: Policy::LENIENT, ..Options::default() }
}

/// Opened each way that this build has.
fn each_way(path: &Path, options: &Options, check: impl Fn(Checkpoint)) {
    check(Checkpoint::open_read_with(path, options, |_, _| Ok(())).unwrap_or_else(|error| panic!("{error}")));
    #[cfg(feature = "mmap")]
    // SAFETY: no other process knows the test's own files, and the test itself leaves them as they are.
    check(unsafe { Checkpoint::open_mapped_with(path, options) }.unwrap_or_else(|error| panic!("{error}")));
}

#[test]
fn views() {
    let model = Model::new("views").shard(A, &["y", "x"]).shard(B, &["z"]).index(&[("x", A), ("y", A), ("z", B)]);
    each_way(&model.path(""), &Options::default(), |checkpoint| {
        let tensors: Vec<_> =
            checkpoint.tensors().map(|tensor| (tensor.name().to_string(), tensor.data().to_vec())).collect();
        assert_eq!(tensors, [("x".into(), vec![2, 3]), ("y".into(), vec![0, 1]), ("z".into(), vec![0, 1])]);
        assert_eq!(checkpoint.tensors().len(), 3);
        assert_eq!(checkpoint.tensor("x").expect("there").data(), [2, 3]);
        assert_eq!(checkpoint.tensor("w").expect_err("not there").kind(), ErrorKind::NotFound);
        assert_eq!(checkpoint.catalog().tensor("z").expect("there").shard().name(), B);
        assert_eq!((checkpoint.data(0), checkpoint.data(1)), (Some(&[0, 1, 2, 3][..]), Some(&[0, 1][..])));
        assert_eq!(checkpoint.data(2), None);
    });
}

/// Read into memory, a tensor is in place for its dtype even when the header has an odd length.
#[test]
fn data_is_aligned_behind_any_header() {
    for spaces in 0..8 {
        let header = r#"{"x":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}}"#.to_string() + &" ".repeat(spaces);
        let model = Model::new("aligned").file(A, file(&header, 16));
        let checkpoint = Checkpoint::open_read(model.path("")).expect("sound");
        assert_eq!(checkpoint.tensor("x").expect("there").as_slice::<f64>().expect("in place").len(), 2);
        assert!(checkpoint.data(0).expect("there").as_ptr().addr().is_multiple_of(64));
    }
}

/// Of a truncated shard, what is whole can be used when the policy lets it pass.
#[test]
fn truncated() {
    let bytes = shard(&["x", "y", "z"]);
    let model = Model::new("views-truncated").shard(A, &["w"]).file(B, &bytes[..bytes.len() - 3]);
    assert!(Checkpoint::open_read(model.path("")).is_err());
    each_way(&model.path(""), &lenient(), |checkpoint| {
        let whole: Vec<_> = checkpoint.tensors().map(|tensor| tensor.name().to_string()).collect();
        assert_eq!(whole, ["w", "x"]);
        assert_eq!((checkpoint.tensors().len(), checkpoint.catalog().len()), (2, 4));
        let error = checkpoint.tensor("y").expect_err("cut");
        let (expected, actual) = (bytes.len() as u64, bytes.len() as u64 - 3);
        assert_eq!((error.kind(), error.offset()), (ErrorKind::Truncated { expected, actual }, Some(actual)));
    });
}

#[test]
fn too_long() {
    let bytes = [&shard(&["x"])[..], b"more"].concat();
    let model = Model::new("views-long").file(A, bytes);
    assert!(Checkpoint::open_read(model.path("")).is_err());
    each_way(&model.path(""), &lenient(), |checkpoint| {
        assert_eq!(checkpoint.tensor("x").expect("there").data(), [0, 1]);
    });
}

#[test]
fn empty_files() {
    let model = Model::new("views-empty").file(A, file("{}", 0)).shard(B, &["x"]);
    each_way(&model.path(""), &Options::default(), |checkpoint| {
        assert_eq!(checkpoint.tensors().len(), 1);
        assert_eq!(checkpoint.data(0), Some(&[][..]));
    });
}

#[test]
fn metadata() {
    let model = Model::new("views-metadata").file(A, file(r#"{"__metadata__":{"format":"pt"}}"#, 0));
    each_way(&model.path(""), &Options::default(), |checkpoint| {
        let pairs: Vec<_> = checkpoint.metadata().iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(pairs, ["format=pt"]);
    });
}

#[test]
fn progress() {
    let model = Model::new("progress").shard(A, &["x", "y"]).shard(B, &["z"]);
    let calls = Mutex::new(Vec::new());
    let tell = |done, total| {
        calls.lock().expect("no panic").push((done, total));
        Ok(())
    };
    Checkpoint::open_read_with(model.path(""), &Options::default(), tell).expect("sound");
    let calls = calls.into_inner().expect("no panic");
    assert!(calls.iter().all(|(_, total)| *total == 6) && calls.is_sorted(), "{calls:?}");
    assert_eq!((calls.first(), calls.last()), (Some(&(0, 6)), Some(&(6, 6))));
}

#[test]
fn progress_that_ends_it() {
    let model = Model::new("progress-ends").shard(A, &["x", "y"]);
    let end = |_, _| Err(io::Error::from(io::ErrorKind::Interrupted));
    let error = Checkpoint::open_read_with(model.path(""), &Options::default(), end).expect_err("ended");
    let CheckpointError::Io { error, path } = error else { panic!("{error}") };
    assert_eq!((error.kind(), path), (io::ErrorKind::Interrupted, model.path(A)));
}

/// What becomes of a file between its head and its data, which is when the callback is called first.
#[track_caller]
fn changed(name: &str, change: impl Fn(&Path) -> io::Result<()> + Sync) -> CheckpointError {
    let model = Model::new(name).shard(A, &["x", "y"]);
    let once = Mutex::new(true);
    let tell = |_, _| {
        let first = std::mem::take(&mut *once.lock().expect("no panic"));
        if first { change(&model.path(A)) } else { Ok(()) }
    };
    let error = Checkpoint::open_read_with(model.path(""), &Options::default(), tell).expect_err("changed");
    let CheckpointError::Changed { path, expected, .. } = &error else { panic!("{error}") };
    assert_eq!((path, *expected), (&model.path(A), shard(&["x", "y"]).len() as u64));
    error
}

#[test]
fn becomes_shorter() {
    let len = shard(&["x", "y"]).len() as u64;
    let error = changed("shorter", |path| File::options().write(true).open(path)?.set_len(len - 1));
    let expected = format!("the file was changed while it was being opened: it had {len} bytes, and has {}", len - 1);
    assert!(error.to_string().ends_with(&expected), "{error}");
}

#[test]
fn becomes_longer() {
    changed("longer", |path| File::options().append(true).open(path)?.write_all(b"x"));
}

#[test]
fn becomes_another() {
    let other = shard(&["x", "z"]);
    let error = changed("another", |path| fs::write(path, &other));
    assert!(error.to_string().ends_with("the file was changed while it was being opened"), "{error}");
}
