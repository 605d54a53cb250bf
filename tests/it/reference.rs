//! Against the reference crate, over generated headers: sound ones, nearly sound ones, damaged ones, and noise.
//! What must hold is in `agree`; here is what it is held against. The seed is fixed: every run is the same.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{RngSeed, TestRunner};

use crate::agree::{Intended, assert_agrees, assert_invariants};
use crate::build::with_data;
use crate::plan::{Plan, edit, edited, odd_plan, sound_plan};

/// Files of each sort.
const CASES: u32 = if cfg!(debug_assertions) { 1_500 } else { 20_000 };

/// How the answers came out: the generators must reach what they are for.
#[derive(Default)]
struct Tally {
    cases: Cell<u32>,
    accepted: Cell<u32>,
    intended: RefCell<HashMap<Intended, u32>>,
}

/// Holds the parser against the reference and against itself over files that a strategy makes.
fn hold<S: Strategy>(seed: u64, strategy: S, file: impl Fn(&S::Value) -> Vec<u8>) -> Tally {
    let tally = Tally::default();
    let config = ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed),
        ..ProptestConfig::default()
    };
    let outcome = TestRunner::new(config).run(&strategy, |value| {
        let bytes = file(&value);
        assert_invariants(&bytes);
        let intended = assert_agrees(&bytes);
        tally.cases.set(tally.cases.get() + 1);
        tally.accepted.set(tally.accepted.get() + u32::from(weightview::SafeTensors::parse(&bytes).is_ok()));
        if let Some(why) = intended {
            *tally.intended.borrow_mut().entry(why).or_default() += 1;
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    tally
}

impl Tally {
    /// At least so many of a hundred were accepted, and at most.
    fn assert_accepted(&self, least: u32, most: u32) {
        let percent = self.accepted.get() * 100 / self.cases.get();
        assert!((least..=most).contains(&percent), "{percent} % of the files were accepted");
    }
}

#[test]
fn sound_headers() {
    let tally = hold(1, sound_plan(), Plan::file);
    tally.assert_accepted(100, 100);
}

#[test]
fn nearly_sound_headers() {
    let tally = hold(2, odd_plan(), Plan::file);
    tally.assert_accepted(15, 60);
    // Each intended difference that a short header can show was met.
    let intended = tally.intended.into_inner();
    for why in [
        Intended::DuplicateName,
        Intended::DuplicateMetadataKey,
        Intended::EntryAsArray,
        Intended::DtypeAsObject,
        Intended::Rank,
        Intended::HugeNumber,
    ] {
        assert!(intended.contains_key(&why), "{why:?} was never met: {intended:?}");
    }
}

/// Sound headers after a few edits of their text.
#[test]
fn damaged_headers() {
    let strategy = (sound_plan(), vec(edit(), 1..3));
    let tally = hold(3, strategy, |(plan, edits)| {
        let (text, data) = plan.text();
        with_data(&edited(text.into_bytes(), edits), data)
    });
    tally.assert_accepted(3, 40);
}

/// Whole files after a few edits, the length field among what is hit.
#[test]
fn damaged_files() {
    let tally = hold(4, (sound_plan(), vec(edit(), 1..3)), |(plan, edits)| edited(plan.file(), edits));
    tally.assert_accepted(0, 40);
}

/// Tokens in no order, between braces or not.
#[test]
fn tokens() {
    const TOKENS: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        " ",
        "0",
        "1",
        "-1",
        "1.5",
        "\"a\"",
        "\"b\"",
        "\"dtype\"",
        "\"shape\"",
        "\"data_offsets\"",
        "\"__metadata__\"",
        "\"U8\"",
        "null",
        "true",
        "[0,1]",
        "[1]",
        "\"\\u0061\"",
        r#""a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}"#,
        r#""b":{"dtype":"U8","shape":[0],"data_offsets":[1,1]}"#,
    ];
    let tally = hold(5, (vec(select(TOKENS), 0..12), any::<bool>(), 0..3usize), |(tokens, braces, data)| {
        let text = tokens.concat();
        with_data(if *braces { format!("{{{text}}}") } else { text }.as_bytes(), *data)
    });
    tally.assert_accepted(0, 40);
}

/// Bytes of any kind, as a file, and as a header.
#[test]
fn noise() {
    hold(6, vec(any::<u8>(), 0..64), |bytes| bytes.clone());
    hold(7, vec(any::<u8>(), 0..64), |bytes| with_data(bytes, 0));
    hold(8, ".{0,40}", |text| with_data(text.as_bytes(), 0));
}
