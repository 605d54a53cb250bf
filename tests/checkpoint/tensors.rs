//! What can be wrong between an index and its shards, or between the files of a set: one test a fault.

use weightview::checkpoint::FindingKind;
use weightview::error::ErrorKind;

use crate::build::{Model, file, table};

const A: &str = "a.safetensors";
const B: &str = "b.safetensors";

#[test]
fn in_the_index_but_in_no_shard() {
    let model = Model::new("tensor-missing").shard(A, &["x"]).shard(B, &["z"]);
    let model = model.index(&[("w", A), ("x", A), ("y", A), ("z", B), ("zz", B)]);
    let catalog = model.refuses(&[
        ("tensor-missing", r#""w" is in no shard; the index places it in "a.safetensors""#),
        ("tensor-missing", r#""y" is in no shard; the index places it in "a.safetensors""#),
        ("tensor-missing", r#""zz" is in no shard; the index places it in "b.safetensors""#),
    ]);
    assert_eq!(table(&catalog), [("x".into(), A), ("z".into(), B)]);
    assert_eq!((catalog.findings()[2].tensor(), catalog.findings()[2].shard()), (Some("zz"), Some(B)));
}

#[test]
fn in_a_shard_but_not_in_the_index() {
    let model = Model::new("tensor-unindexed").shard(A, &["w", "x", "zz"]).shard(B, &["y", "z"]);
    let catalog = model.index(&[("x", A), ("z", B)]).reports(&[
        ("tensor-unindexed", r#""w" of "a.safetensors" is not in the index: it is no part of the checkpoint"#),
        ("tensor-unindexed", r#""y" of "b.safetensors" is not in the index: it is no part of the checkpoint"#),
        ("tensor-unindexed", r#""zz" of "a.safetensors" is not in the index: it is no part of the checkpoint"#),
    ]);
    assert_eq!(table(&catalog), [("x".into(), A), ("z".into(), B)]);
    for name in ["w", "y", "zz"] {
        assert_eq!(catalog.tensor(name).expect_err("not indexed").kind(), ErrorKind::NotFound);
    }
    // The shard's own header still knows it.
    assert!(catalog.shards()[0].header().tensor("w").is_ok());
}

/// A stale tensor in a shard never overrides the one that the index means, whichever comes first.
#[test]
fn in_two_shards_of_an_index() {
    for (shard, other) in [(A, B), (B, A)] {
        let model = Model::new("tensor-duplicate").shard(A, &["p", "x"]).shard(B, &["x", "q"]);
        let sentence =
            format!(r#""x" is in 2 shards: "a.safetensors", "b.safetensors"; the index places it in "{shard}""#);
        let catalog = model.index(&[("x", shard), ("p", A), ("q", B)]).refuses(&[("tensor-duplicate", &sentence)]);
        assert_eq!(table(&catalog), [("p".into(), A), ("q".into(), B), ("x".into(), shard)]);
        assert_ne!(catalog.tensor("x").expect("there").shard().name(), other);
        assert_eq!(catalog.findings()[0].shard(), Some(shard));
    }
}

#[test]
fn in_two_files_without_an_index() {
    let model = Model::new("set-duplicate").shard(A, &["x", "y"]).shard(B, &["y", "z"]);
    let catalog = model.shard("c.safetensors", &["y", "z"]).refuses(&[
        ("tensor-duplicate", r#""y" is in 3 shards: "a.safetensors", "b.safetensors", "c.safetensors""#),
        ("tensor-duplicate", r#""z" is in 2 shards: "b.safetensors", "c.safetensors""#),
    ]);
    // Under a policy that reports, the first counts.
    assert_eq!(table(&catalog), [("x".into(), A), ("y".into(), A), ("z".into(), B)]);
    assert!(catalog.findings()[0].advice().contains("open the one that is wanted"));
}

#[test]
fn in_another_shard_than_the_index_says() {
    let model = Model::new("tensor-misplaced").shard(A, &["x", "y"]).shard(B, &["z"]);
    let catalog = model
        .index(&[("x", A), ("y", B), ("z", B)])
        .refuses(&[("tensor-misplaced", r#""y" is in "a.safetensors", but the index places it in "b.safetensors""#)]);
    // Under a policy that reports, it is taken from where it is.
    assert_eq!(table(&catalog), [("x".into(), A), ("y".into(), A), ("z".into(), B)]);
    let finding = &catalog.findings()[0];
    let expected = FindingKind::TensorMisplaced { tensor: "y".into(), indexed: B.into(), found: A.into() };
    assert_eq!(*finding.kind(), expected);
    assert_eq!((finding.tensor(), finding.shard()), (Some("y"), Some(B)));
}

/// It is in a third and a fourth shard, and the one that should have it is not there at all.
#[test]
fn misplaced_twice_and_its_shard_missing() {
    let model = Model::new("misplaced-twice").shard(A, &["x", "y"]).shard(B, &["y"]);
    let catalog = model.index(&[("x", A), ("y", "c.safetensors"), ("z", B)]).refuses(&[
        ("shard-missing", r#""c.safetensors" is missing: the index places 1 tensor in it"#),
        ("tensor-misplaced", r#""y" is in "a.safetensors", but the index places it in "c.safetensors""#),
        (
            "tensor-duplicate",
            r#""y" is in 2 shards: "a.safetensors", "b.safetensors"; the index places it in "c.safetensors""#,
        ),
        ("tensor-missing", r#""z" is in no shard; the index places it in "b.safetensors""#),
    ]);
    assert_eq!(table(&catalog), [("x".into(), A), ("y".into(), A)]);
}

#[test]
fn total_size() {
    let model = Model::new("total-size").shard(A, &["x", "y"]).shard(B, &["z"]);
    let map = [("x", A), ("y", A), ("z", B)];
    let model = model.index_of(6, &map);
    model.opens();
    let catalog = model.index_of(10, &map).reports(&[(
        "total-size-wrong",
        "the index says that its tensors have 10 bytes (total_size), but they have 6",
    )]);
    assert_eq!(*catalog.findings()[0].kind(), FindingKind::TotalSizeWrong { declared: 10, actual: 6 });
}

/// What counts are the tensors that the index names; and where some are not there, nothing can be said.
#[test]
fn total_size_of_what_is_indexed() {
    let model = Model::new("total-indexed").shard(A, &["x", "y"]).shard(B, &["z"]);
    let unindexed = r#""y" of "a.safetensors" is not in the index: it is no part of the checkpoint"#;
    let model = model.index_of(4, &[("x", A), ("z", B)]);
    model.reports(&[("tensor-unindexed", unindexed)]);
    let model = model.index_of(6, &[("x", A), ("z", B)]);
    model.reports(&[
        ("tensor-unindexed", unindexed),
        ("total-size-wrong", "the index says that its tensors have 6 bytes (total_size), but they have 4"),
    ]);
    let model = model.index_of(6, &[("w", A), ("x", A), ("y", A), ("z", B)]);
    model.refuses(&[("tensor-missing", r#""w" is in no shard; the index places it in "a.safetensors""#)]);
}

#[test]
fn an_empty_index() {
    let catalog = Model::new("index-empty").shard(A, &["x"]).index(&[]).open(Default::default());
    let ids: Vec<_> = catalog.as_ref().expect_err("empty").findings().iter().map(|finding| finding.id()).collect();
    assert_eq!(ids, ["index-empty"]);
    let catalog =
        Model::new("index-empty").shard(A, &["x"]).index_of(0, &[]).open(weightview::checkpoint::Policy::LENIENT);
    let catalog = catalog.expect("reported");
    let ids: Vec<_> = catalog.findings().iter().map(|finding| finding.id()).collect();
    assert_eq!(ids, ["index-empty", "shard-stray"]);
    assert_eq!((catalog.len(), catalog.is_empty()), (0, true));
}

/// A name has one identity, however index and shards spell it.
#[test]
fn names_with_escapes() {
    let model = Model::new("escapes").shard(A, &["é", r"a\u0062c", r"n\n"]).shard(B, &["abd", "ab"]);
    let map = [(r"\u00e9", A), ("abc", r"\u0061.safetensors"), ("abd", B), (r"\u0061b", B), (r"n\u000a", A)];
    let catalog = model.index(&map).opens();
    let names = ["ab", "abc", "abd", "n\n", "é"].map(String::from);
    assert_eq!(table(&catalog).into_iter().map(|(name, _)| name).collect::<Vec<_>>(), names);
    assert_eq!(catalog.shards()[0].name(), A);
    assert_eq!(catalog.tensor("abc").expect("there").info().name().raw(), r"a\u0062c");
}

/// What a name holds does not reach a terminal as it is, and long names are cut.
#[test]
fn names_that_act_on_a_terminal() {
    let long = "n".repeat(300);
    let model = Model::new("terminal").shard(A, &[r"red\u001b[31m\u202e", &long]).index(&[("x", A)]);
    let shown = format!("{}…", "n".repeat(200));
    model.finds(&[
        (
            "tensor-unindexed",
            &format!(r#""{shown}" of "a.safetensors" is not in the index: it is no part of the checkpoint"#),
        ),
        (
            "tensor-unindexed",
            r#""red\u{1b}[31m\u{202e}" of "a.safetensors" is not in the index: it is no part of the checkpoint"#,
        ),
        ("tensor-missing", r#""x" is in no shard; the index places it in "a.safetensors""#),
    ]);
}

#[test]
fn metadata_of_all_shards() {
    let with = |pairs: &str| file(&format!(r#"{{"__metadata__":{{{pairs}}}}}"#), 0);
    let model = Model::new("metadata")
        .file(A, with(r#""format":"pt","z":"1","b":"2""#))
        .file(B, with(r#""b":"1","form\u0061t":"pt""#))
        .file("c.safetensors", with(r#""b":"2","a":"9""#))
        .file("d.safetensors", file("{}", 0));
    let catalog = model.opens();
    let pairs: Vec<_> = catalog.metadata().iter().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!(pairs, ["a=9", "b=2", "b=1", "format=pt", "z=1"]);
    assert_eq!(catalog.shards()[1].header().metadata().count(), 2);
}
