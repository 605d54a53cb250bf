//! What is done about findings is for the caller to choose, kind by kind.

use weightview::checkpoint::{Action, Policy};

use crate::build::{Model, listed, shard};

const A: &str = "a.safetensors";
const B: &str = "b.safetensors";
const BAD: &str = "bad.safetensors";
const CUT: &str = "cut.safetensors";
const DIRECTORY: &str = "directory.safetensors";
const GONE: &str = "gone.safetensors";
const LFS: &str = "lfs.safetensors";

/// A checkpoint in which everything is wrong that can be at once: all but `index-empty`.
fn all_wrong(name: &str) -> Model {
    let whole = shard(&["cut"]);
    let model = Model::new(name)
        .shard(A, &["duplicate", "misplaced", "sound"])
        .shard(B, &["duplicate", "unindexed"])
        .file(BAD, b"\x02\0\0\0\0\0\0\0[]")
        .file(CUT, &whole[..whole.len() - 1])
        .file(LFS, "version https://git-lfs.github.com/spec/v1\n")
        .shard("stray.safetensors", &["sound"])
        .index(&[
            ("bad", BAD),
            ("cut", CUT),
            ("directory", DIRECTORY),
            ("duplicate", A),
            ("gone", GONE),
            ("lfs", LFS),
            ("misplaced", B),
            ("missing", B),
            ("sound", A),
            ("unsafe", "../unsafe.safetensors"),
        ]);
    std::fs::create_dir(model.path(DIRECTORY)).expect("a directory");
    model
}

type Field = fn(&mut Policy) -> &mut Action;

/// Every kind: its id, its field, what the default does about it.
const KINDS: [(&str, Field, Action); 11] = [
    ("shard-name-invalid", |policy| &mut policy.shard_name_invalid, Action::Refuse),
    ("shard-malformed", |policy| &mut policy.shard_malformed, Action::Refuse),
    ("shard-truncated", |policy| &mut policy.shard_truncated, Action::Refuse),
    ("shard-unreadable", |policy| &mut policy.shard_unreadable, Action::Refuse),
    ("shard-missing", |policy| &mut policy.shard_missing, Action::Refuse),
    ("shard-foreign", |policy| &mut policy.shard_foreign, Action::Refuse),
    ("shard-stray", |policy| &mut policy.shard_stray, Action::Report),
    ("tensor-duplicate", |policy| &mut policy.tensor_duplicate, Action::Refuse),
    ("tensor-misplaced", |policy| &mut policy.tensor_misplaced, Action::Refuse),
    ("tensor-missing", |policy| &mut policy.tensor_missing, Action::Refuse),
    ("tensor-unindexed", |policy| &mut policy.tensor_unindexed, Action::Report),
];

fn ids(findings: &[weightview::checkpoint::Finding]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.id()).collect()
}

#[test]
fn each_kind_each_way() {
    let model = all_wrong("policy");
    for (id, field, _) in KINDS {
        // Refused alone.
        let mut policy = Policy::LENIENT;
        *field(&mut policy) = Action::Refuse;
        assert_eq!(ids(model.open(policy).expect_err(id).findings()), [id]);
        // Reported alone.
        let mut policy = ignoring();
        *field(&mut policy) = Action::Report;
        assert_eq!(ids(model.open(policy).expect(id).findings()), [id]);
        // Ignored alone.
        let mut policy = Policy::LENIENT;
        *field(&mut policy) = Action::Ignore;
        let others: Vec<_> = KINDS.iter().map(|kind| kind.0).filter(|other| *other != id).collect();
        assert_eq!(ids(model.open(policy).expect(id).findings()), others);
    }
}

fn ignoring() -> Policy {
    let mut policy = Policy::default();
    KINDS.iter().for_each(|(_, field, _)| *field(&mut policy) = Action::Ignore);
    policy
}

#[test]
fn as_by_default() {
    let model = all_wrong("policy-default");
    let mut policy = Policy::default();
    for (id, field, action) in KINDS {
        assert_eq!(*field(&mut policy), action, "{id}");
    }
    let refused: Vec<_> = KINDS.iter().filter(|kind| kind.2 == Action::Refuse).map(|kind| kind.0).collect();
    let error = model.open(policy).expect_err("faults");
    assert_eq!(ids(error.findings()), refused);
    let strict = model.open(Policy::STRICT).expect_err("faults");
    assert_eq!(ids(strict.findings()), KINDS.map(|kind| kind.0));
    let lenient = model.open(Policy::LENIENT).expect("reported");
    assert_eq!(listed(lenient.findings()), listed(strict.findings()));
}

/// Whatever the policy, the same tensors can be looked up: it never makes one appear.
#[test]
fn the_table_is_the_same() {
    let model = all_wrong("policy-table");
    let lenient = model.open(Policy::LENIENT).expect("reported");
    let ignoring = model.open(ignoring()).expect("ignored");
    let names = |catalog: &weightview::Catalog| -> Vec<_> {
        catalog.tensors().map(|entry| (entry.name().to_string(), entry.shard().name().to_string())).collect()
    };
    assert_eq!(names(&ignoring), names(&lenient));
    let expected = [("cut", CUT), ("duplicate", A), ("misplaced", A), ("sound", A)];
    assert_eq!(names(&lenient), expected.map(|(name, shard)| (name.to_string(), shard.to_string())));
}

#[test]
fn every_finding_says_what_to_do() {
    let catalog = all_wrong("policy-advice").open(Policy::LENIENT).expect("reported");
    for finding in catalog.findings() {
        assert!(!finding.advice().is_empty() && !finding.advice().ends_with('.'), "{}", finding.id());
        assert!(finding.shard().is_some());
    }
}
