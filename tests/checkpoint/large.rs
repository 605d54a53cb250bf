//! Checkpoints as large as they come.

use std::fs::File;
use std::io::Write as _;
use std::time::{Duration, Instant};

use weightview::Catalog;
use weightview::checkpoint::Options;

use crate::build::{INDEX, Model, index, listed, shard};

/// As the largest published models have them. That the time is linear `tests/alloc.rs` and the benchmark show.
#[test]
fn a_hundred_thousand_tensors_over_150_shards() {
    let names: Vec<_> = (1..=150).map(|part| format!("model-{part:05}-of-00150.safetensors")).collect();
    // In the order of the model, in which names are not sorted.
    let tensors: Vec<_> = (0..100_000).map(|place| format!("model.layers.{}.part{}", place / 7, place % 7)).collect();
    let mut model = Model::new("hundred-thousand");
    let mut map = Vec::new();
    for (name, tensors) in names.iter().zip(tensors.chunks(tensors.len().div_ceil(150))) {
        let tensors: Vec<_> = tensors.iter().map(|tensor| &**tensor).collect();
        map.extend(tensors.iter().map(|tensor| (*tensor, &**name)));
        model = model.shard(name, &tensors);
    }
    let catalog = model.index_of(200_000, &map).opens();
    assert_eq!((catalog.len(), catalog.shards().len()), (100_000, 150));
    for (tensor, shard) in &map {
        let entry = catalog.tensor(tensor).expect("there");
        assert_eq!((entry.shard().name(), entry.info().byte_len()), (*shard, 2));
    }
    assert!(catalog.tensors().is_sorted_by(|a, b| a.name() < b.name()));
    assert!(catalog.tensor("model.layers.1.part7").is_err());
}

/// Four gigabytes that take no room: nothing of them is read.
#[test]
fn four_gigabytes() {
    const HALF: u64 = 2 << 30;
    let mut model = Model::new("sparse");
    let mut map = Vec::new();
    let names = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
    for (name, (x, y)) in names.iter().zip([("a", "b"), ("c", "d")]) {
        let header = format!(
            r#"{{"{x}":{{"dtype":"BF16","shape":[{},1024],"data_offsets":[0,{}]}},"{y}":{{"dtype":"U8","shape":[{}],"data_offsets":[{},{HALF}]}}}}"#,
            HALF / 4096,
            HALF / 2,
            HALF / 2,
            HALF / 2,
        );
        model = model.file(name, "");
        let mut file = File::create(model.path(name)).expect("a file");
        file.write_all(&(header.len() as u64).to_le_bytes()).expect("room");
        file.write_all(header.as_bytes()).expect("room");
        file.set_len(8 + header.len() as u64 + HALF).expect("a sparse file");
        map.extend([(x, *name), (y, *name)]);
    }
    let model = model.index_of(2 * HALF, &map);
    let start = Instant::now();
    let catalog = model.opens();
    let bytes: u64 = catalog.tensors().map(|entry| entry.info().byte_len()).sum();
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(bytes, 2 * HALF);
    assert!(catalog.tensors().all(|entry| entry.is_whole()));
    assert_eq!(catalog.tensor("d").expect("there").info().file_range().end, catalog.shards()[1].file_len());
    // A byte less, and it is truncated.
    let last = File::options().write(true).open(model.path(names[1])).expect("a file");
    last.set_len(catalog.shards()[1].file_len() - 1).expect("a sparse file");
    let error = model.open(Default::default()).expect_err("truncated");
    assert_eq!((error.findings()[0].id(), error.findings()[0].tensor()), ("shard-truncated", Some("d")));
}

/// An index may name more files than there can be.
#[test]
fn an_index_of_files_that_are_not_there() {
    let names: Vec<_> = (0..20_000).map(|part| format!("{part}.safetensors")).collect();
    let map: Vec<_> = names.iter().map(|name| (&**name, &**name)).collect();
    let model = Model::new("not-there").file("0.safetensors", shard(&["0.safetensors"])).file(INDEX, index(&map, None));
    let error = Catalog::open(model.path(""), &Options::default()).expect_err("nothing is there");
    assert_eq!(error.findings().len(), 19_999);
    assert_eq!(listed(&error.findings()[..1])[0].0, "shard-missing");
    assert!(error.to_string().len() < 2_000);
}
