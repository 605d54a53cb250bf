//! Errors of checkpoints as errors.

use std::error::Error as _;

use weightview::checkpoint::{Catalog, CheckpointError, Options};

use crate::build::Model;

#[test]
fn they_are_errors_of_any_thread() {
    fn is<T: std::error::Error + Send + Sync + 'static>() {}
    is::<CheckpointError>();
    fn shared<T: Send + Sync>() {}
    shared::<Catalog>();
}

#[test]
fn one_finding_is_one_line() {
    let model = Model::new("one-line").file("model.safetensors", "");
    let error = Catalog::open(model.path("model.safetensors"), &Options::default()).expect_err("empty");
    let text = error.to_string().replace(&*model.path("").to_string_lossy(), "DIR").replace('\\', "/");
    assert_eq!(text, r#"DIR/model.safetensors: shard-foreign: "model.safetensors" is empty"#);
    assert!(error.source().is_none());
}

#[test]
fn what_the_system_says_is_the_source() {
    let error = Catalog::open("there/is/no/such", &Options::default()).expect_err("nothing");
    assert!(error.source().expect("the system's error").is::<std::io::Error>());
}
