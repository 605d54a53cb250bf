//! Runs the fuzz targets over their committed seeds, on stable: what the fuzzers hold, and every input that once
//! broke something, holds on every host and in every build that the tests run on.

#![allow(unreachable_pub, reason = "the modules below are those of the fuzz targets, where they are reached")]

#[path = "it/agree.rs"]
mod agree;
#[path = "it/agree_index.rs"]
mod agree_index;
#[path = "../fuzz/src/choices.rs"]
mod choices;
#[path = "../fuzz/src/generate.rs"]
mod generate;
#[path = "../fuzz/src/respell.rs"]
mod respell;
#[path = "../fuzz/src/targets.rs"]
mod targets;

use std::path::Path;

fn replay(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(target);
    let mut seeds: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("a folder can be listed").path())
        .collect();
    seeds.sort();
    assert!(seeds.len() >= 10, "{} has {} seeds", folder.display(), seeds.len());
    for seed in seeds {
        println!("{}", seed.display()); // shown when one fails
        run(&std::fs::read(&seed).expect("a file can be read"));
    }
}

#[test]
fn header() {
    replay("header", targets::header);
}

#[test]
fn header_vs_reference() {
    replay("header_vs_reference", targets::header_vs_reference);
}

#[test]
fn canonical_vs_general() {
    replay("canonical_vs_general", targets::canonical_vs_general);
}

#[test]
fn index() {
    replay("index", targets::index);
}

/// The generator at work without a fuzzer: a fixed stream of noise, so that every run is the same.
#[test]
fn noise() {
    let mut state = 1u64;
    let mut noise = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    for round in 0..1000usize {
        let input: Vec<u8> = (0..round % 257).map(|_| noise()).collect();
        targets::header(&input);
        targets::index(&input);
        targets::header_vs_reference(&input);
        targets::canonical_vs_general(&input);
    }
}
