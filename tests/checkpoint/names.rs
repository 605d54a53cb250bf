//! Names that an index gives to files: none may lead out of its directory, on any system.

use weightview::checkpoint::{Action, FindingKind, Policy};

use crate::build::{INDEX, Model, table};

const A: &str = "a.safetensors";

/// Names as they stand in an index, JSON escapes and all.
const UNSAFE: &[&str] = &[
    "../outside/x.safetensors",
    r"..\\outside\\x.safetensors",
    "sub/../../outside/x.safetensors",
    r"sub\\..\\..\\outside\\x.safetensors",
    r"\u002e\u002e/outside/x.safetensors",
    "/outside/x.safetensors",
    r"\\outside\\x.safetensors",
    r"\\\\server\\share\\x.safetensors",
    "//server/share/x.safetensors",
    "C:x.safetensors",
    r"C:\\outside\\x.safetensors",
    "C:/outside/x.safetensors",
    "..",
    "",
    "x.txt",
    "/etc/passwd",
];

/// Beside the model stands what the names lead to; nobody opens it.
#[test]
fn leading_out_of_the_directory() {
    for (case, name) in UNSAFE.iter().enumerate() {
        let model = Model::new(&format!("unsafe-{case}"))
            .shard("outside/x.safetensors", &["stolen"])
            .shard("model/a.safetensors", &["x"])
            .file("model/x.txt", crate::build::shard(&["stolen"]));
        let map = crate::build::index(&[("x", A), ("stolen", name), ("too", name)], None);
        let at = map.find(r#""stolen""#).expect("it is there") as u64;
        let model = model.file(&format!("model/{INDEX}"), map);
        let open = |policy| {
            let options = weightview::checkpoint::Options { policy, ..Default::default() };
            weightview::Catalog::open(model.path("model"), &options)
        };
        let plain: String = serde_json::from_str(&format!("\"{name}\"")).expect("JSON");
        for policy in [Policy::default(), Policy::STRICT] {
            let error = open(policy).expect_err("unsafe");
            let [finding] = error.findings() else { panic!("{error}") };
            assert_eq!((finding.id(), finding.tensor()), ("shard-name-invalid", Some("stolen")), "{name}");
            assert_eq!(finding.shard(), Some(&*plain));
            let FindingKind::ShardNameInvalid { at: found, tensors, .. } = finding.kind() else { panic!("{error}") };
            assert_eq!((*found, *tensors), (at, 2));
            let sentence = finding.to_string();
            let expected =
                format!("the index places \"stolen\" (byte {at}) in {plain:?}, which is no safe name of a shard: ");
            assert!(sentence.starts_with(&expected) && sentence.ends_with("; and 1 tensor more there"), "{sentence}");
        }
        // However lenient: the file is not opened.
        for policy in [Policy::LENIENT, Policy { shard_name_invalid: Action::Ignore, ..Policy::default() }] {
            let catalog = open(policy).expect("reported");
            assert_eq!(table(&catalog), [("x".into(), A)], "{name}");
        }
    }
}

#[test]
fn ordinary_names() {
    for name in ["a.safetensors", "model_00001-of-00001.safetensors", "ä ö.safetensors", "a..b.safetensors"] {
        let catalog = Model::new("ordinary").shard(name, &["x"]).index(&[("x", name)]).opens();
        assert_eq!(table(&catalog), [("x".into(), name)]);
    }
}
