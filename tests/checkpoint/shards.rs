//! What can be wrong with a shard as a file: one test a fault.

use std::fs;
use std::io::ErrorKind as Io;

use weightview::checkpoint::FindingKind;
use weightview::detect::Format;
use weightview::error::ErrorKind;

use crate::build::{Model, file, shard, table};

const ONE: &str = "model-00001-of-00002.safetensors";
const TWO: &str = "model-00002-of-00002.safetensors";
const MAP: &[(&str, &str)] = &[("a", ONE), ("b", TWO), ("c", TWO)];

/// A checkpoint of two shards, of which the second is to be written yet.
fn half(name: &str) -> Model {
    Model::new(name).index(MAP).shard(ONE, &["a"])
}

#[test]
fn whole() {
    let catalog = half("whole").shard(TWO, &["c", "b"]).opens();
    assert_eq!(table(&catalog), [("a".into(), ONE), ("b".into(), TWO), ("c".into(), TWO)]);
    let b = catalog.tensor("b").expect("there");
    assert_eq!(b.info().data_offsets(), 2..4);
    assert_eq!(b.info().file_range().end, b.shard().file_len());
    assert_eq!((b.shard().number(), b.is_whole()), (1, true));
    let numbers: Vec<_> = catalog.shards().iter().map(|shard| (shard.number(), shard.name())).collect();
    assert_eq!(numbers, [(0, ONE), (1, TWO)]);
    assert_eq!(catalog.tensor("d").expect_err("not there").kind(), ErrorKind::NotFound);
}

#[test]
fn missing() {
    let model = half("missing");
    let catalog = model.refuses(&[(
        "shard-missing",
        r#""model-00002-of-00002.safetensors" is missing: the index places 2 tensors in it"#,
    )]);
    assert_eq!(table(&catalog), [("a".into(), ONE)]);
    let finding = &catalog.findings()[0];
    assert_eq!((finding.shard(), finding.tensor()), (Some(TWO), None));
    assert_eq!(*finding.kind(), FindingKind::ShardMissing { shard: TWO.into(), tensors: 2, link: None });
}

#[test]
fn truncated() {
    let bytes = shard(&["c", "b"]);
    let model = half("truncated").file(TWO, &bytes[..bytes.len() - 1]);
    let len = bytes.len();
    let catalog = model.refuses(&[(
        "shard-truncated",
        &format!(
            r#""{TWO}" is truncated: {len} bytes expected, {} there; the first tensor that is cut is "b""#,
            len - 1
        ),
    )]);
    // What is there can be listed, and each tensor says whether it is whole.
    assert_eq!(table(&catalog).len(), 3);
    let whole: Vec<_> = catalog.tensors().map(|entry| entry.is_whole()).collect();
    assert_eq!(whole, [true, false, true]);
    assert_eq!(catalog.findings()[0].tensor(), Some("b"));
}

#[test]
fn truncated_in_the_header() {
    let bytes = shard(&["c", "b"]);
    let model = half("truncated-head").file(TWO, &bytes[..40]);
    let catalog = model.refuses(&[(
        "shard-truncated",
        &format!(r#""{TWO}" is truncated: {} bytes expected, 40 there; it ends inside its header"#, bytes.len() - 4),
    )]);
    assert_eq!(table(&catalog), [("a".into(), ONE)]);
    // Any cut at all is refused, and none makes a panic.
    for len in 0..bytes.len() {
        fs::write(model.path(TWO), &bytes[..len]).expect("a file");
        let error = model.open(Default::default()).expect_err("cut");
        assert_eq!(error.findings().len(), 1, "{len}: {error}");
        let id = error.findings()[0].id();
        assert_eq!(id == "shard-truncated", len >= 9, "{len}: {error}");
    }
}

#[test]
fn malformed() {
    let header = r#"{"b":{"dtype":"F31","shape":[2],"data_offsets":[0,8]}}"#;
    let model = half("malformed").file(TWO, file(header, 8));
    let catalog = model.refuses(&[(
        "shard-malformed",
        r#""model-00002-of-00002.safetensors" is malformed: byte 22: this dtype is none of the format's; the file may be newer than this reader"#,
    )]);
    let finding = &catalog.findings()[0];
    let FindingKind::ShardMalformed { error, .. } = finding.kind() else { panic!("{finding:?}") };
    assert_eq!((error.kind(), error.offset()), (ErrorKind::UnknownDtype, Some(22)));
    let detail = finding.detail().expect("an excerpt");
    assert!(detail.contains(r#"tensor: "b""#) && detail.contains(r#"header: {"b":{"dtype":"F31""#), "{detail}");
    assert_eq!(table(&catalog), [("a".into(), ONE)]);
}

#[test]
fn trailing_data() {
    let bytes = [&shard(&["c", "b"])[..], b"x"].concat();
    let catalog = half("trailing").file(TWO, &bytes).refuses(&[(
        "shard-malformed",
        &format!(
            r#""{TWO}" is malformed: byte {0}: the file goes on after its last tensor: its header implies {0} bytes, {1} are there"#,
            bytes.len() - 1,
            bytes.len()
        ),
    )]);
    assert_eq!(table(&catalog).len(), 3);
}

#[test]
fn git_lfs_pointer() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 9976570304\n";
    let catalog = half("lfs").file(TWO, pointer).refuses(&[(
        "shard-foreign",
        r#""model-00002-of-00002.safetensors" is a Git LFS pointer, not a safetensors file"#,
    )]);
    assert!(catalog.findings()[0].advice().contains("git lfs pull"));
    let expected = FindingKind::ShardForeign { shard: TWO.into(), format: Format::GitLfsPointer };
    assert_eq!(*catalog.findings()[0].kind(), expected);
}

#[test]
fn other_formats() {
    for (bytes, sentence) in [
        (&b"GGUF\x03\0\0\0\0\0\0\0"[..], "is a GGUF file, not a safetensors file"),
        (b"<!DOCTYPE html><title>Sign in</title>", "is an HTML page, not a safetensors file"),
        (b"PK\x03\x04 and so on", "is a zip archive, not a safetensors file"),
        (b"", "is empty"),
        (&[0; 4096], "begins with nothing but zeros: it was never filled"),
    ] {
        half("formats").file(TWO, bytes).refuses(&[("shard-foreign", &format!(r#""{TWO}" {sentence}"#))]);
    }
}

#[test]
fn header_over_the_limit() {
    let bytes = [&u64::MAX.to_le_bytes()[..], b"{}"].concat();
    let error = half("limit").file(TWO, bytes).open(Default::default()).expect_err("a fault");
    let FindingKind::ShardMalformed { error, .. } = error.findings()[0].kind() else { panic!("{error}") };
    assert!(matches!(error.kind(), ErrorKind::HeaderTooLong { len: u64::MAX, .. }));
}

#[test]
fn a_directory_in_its_place() {
    let model = half("directory");
    fs::create_dir(model.path(TWO)).expect("a directory");
    let catalog = model.refuses(&[(
        "shard-unreadable",
        r#""model-00002-of-00002.safetensors" cannot be read: this is a directory, not a file"#,
    )]);
    let FindingKind::ShardUnreadable { error, .. } = catalog.findings()[0].kind() else { panic!() };
    assert_eq!(*error, Io::IsADirectory);
}

/// A named pipe is not opened: that would wait for a writer for ever.
#[test]
#[cfg(unix)]
fn a_pipe_in_its_place() {
    let model = half("pipe");
    let made = std::process::Command::new("mkfifo").arg(model.path(TWO)).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("skipped: there is no mkfifo");
        return;
    }
    model.refuses(&[(
        "shard-unreadable",
        r#""model-00002-of-00002.safetensors" cannot be read: this is a pipe, which has no length of its own; read it as a stream"#,
    )]);
}

#[test]
#[cfg(unix)]
fn without_permission() {
    use std::os::unix::fs::PermissionsExt as _;
    let model = half("permission").shard(TWO, &["b", "c"]);
    fs::set_permissions(model.path(TWO), fs::Permissions::from_mode(0o0)).expect("our own file");
    if fs::File::open(model.path(TWO)).is_ok() {
        println!("skipped: this user may read everything");
        return;
    }
    let error = model.open(Default::default()).expect_err("unreadable");
    assert!(matches!(error.findings()[0].kind(), FindingKind::ShardUnreadable { error: Io::PermissionDenied, .. }));
}

/// As hub caches have them: the names are links to blobs elsewhere.
#[test]
#[cfg(unix)]
fn links() {
    let blobs = Model::new("blobs").shard("4d7a", &["a"]).shard("9f01", &["b", "c"]);
    let model = Model::new("links").link(ONE, blobs.path("4d7a")).link(TWO, blobs.path("9f01"));
    fs::write(blobs.path("77aa"), crate::build::index(MAP, None)).expect("a file");
    let model = model.link(crate::build::INDEX, blobs.path("77aa"));
    let catalog = model.opens();
    assert_eq!(table(&catalog), [("a".into(), ONE), ("b".into(), TWO), ("c".into(), TWO)]);
    assert_eq!(catalog.shards()[1].path(), model.path(TWO));
    // By the index, and by a link to the directory, too.
    let outer = Model::new("links-outer").link("snapshot", model.path(""));
    for path in [model.path(crate::build::INDEX), outer.path("snapshot")] {
        let catalog = weightview::Catalog::open(path, &Default::default()).expect("well");
        assert_eq!(catalog.len(), 3);
    }
}

#[test]
#[cfg(unix)]
fn a_link_to_nothing() {
    half("dangling").link(TWO, "../blobs/gone").refuses(&[(
        "shard-missing",
        r#""model-00002-of-00002.safetensors" is a link to ../blobs/gone, which is not there: the index places 2 tensors in it"#,
    )]);
    Model::new("dangling-alone")
        .link("model.safetensors", "../blobs/gone")
        .refuses(&[("shard-missing", r#""model.safetensors" is a link to ../blobs/gone, which is not there"#)]);
}

#[test]
fn stray() {
    let model = half("stray").shard(TWO, &["b", "c"]).shard("model.safetensors", &["a", "b"]);
    let catalog = model.file("old.safetensors", "anything").file(".hidden.safetensors", "").reports(&[
        ("shard-stray", r#""model.safetensors" is in no index: its tensors are no part of the checkpoint"#),
        ("shard-stray", r#""old.safetensors" is in no index: its tensors are no part of the checkpoint"#),
    ]);
    assert_eq!((catalog.len(), catalog.shards().len()), (3, 2));
}

/// The shards of a variant are named by its own index.
#[test]
fn a_variant_is_not_stray() {
    let variant = crate::build::index(&[("a", "model.fp16-00001-of-00001.safetensors")], None);
    half("variant")
        .shard(TWO, &["b", "c"])
        .shard("model.fp16-00001-of-00001.safetensors", &["a"])
        .file("model.fp16.safetensors.index.json", variant)
        .opens();
}

/// All faults at once: every one is listed.
#[test]
fn many_faults() {
    let names: Vec<_> = (1..=14).map(|part| format!("model-{part:05}-of-00014.safetensors")).collect();
    let tensors: Vec<_> = (1..=14).map(|part| format!("t{part}")).collect();
    let map: Vec<_> = tensors.iter().zip(&names).map(|(tensor, name)| (&**tensor, &**name)).collect();
    let mut model = Model::new("many").index(&map);
    for (part, name) in names.iter().enumerate() {
        model = match part % 4 {
            0 => model,
            1 => model.file(name, "version https://git-lfs.github.com/spec/v1\n"),
            2 => model.file(name, &shard(&[&tensors[part]])[..60]),
            _ => model.shard(name, &[&tensors[part]]),
        };
    }
    let error = model.open(Default::default()).expect_err("faults");
    let ids: Vec<_> = error.findings().iter().map(|finding| finding.id()).collect();
    let cycle = ["shard-missing", "shard-foreign", "shard-truncated"];
    assert_eq!(ids, (0..14).filter(|part| part % 4 != 3).map(|part| cycle[part % 4]).collect::<Vec<_>>());
    let text = error.to_string();
    assert!(text.contains(": 11 faults:\n  shard-missing: \"model-00001-of-00014.safetensors\""), "{text}");
    assert!(text.ends_with("\n  and 1 more"), "{text}");
    assert_eq!(text.lines().count(), 12);
}
