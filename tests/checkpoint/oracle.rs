//! The table and the findings about tensors, against their slow twin: one that looks everywhere for every name.

use std::collections::BTreeSet;

use proptest::prelude::*;
use weightview::checkpoint::{FindingKind, Policy};

use crate::build::{Model, index, shard};

const SHARDS: [&str; 4] = ["a.safetensors", "b.safetensors", "c.safetensors", "not-there.safetensors"];

/// Names whose order is not that of their lengths, nor of their spelling with escapes.
const NAMES: [&str; 7] = ["", "A", "a", "a.b", "ab", "é", "😀"];

/// The name in one of two spellings.
fn spelt(name: &str, escaped: bool) -> String {
    if !escaped {
        return name.to_string();
    }
    let mut units = [0; 2];
    name.chars().flat_map(|c| c.encode_utf16(&mut units).to_vec()).map(|unit| format!("\\u{unit:04x}")).collect()
}

/// Which tensors each of three files has, in which order, and how they are spelt there.
fn files() -> impl Strategy<Value = [Vec<(usize, bool)>; 3]> {
    let tensors = proptest::sample::subsequence((0..NAMES.len()).collect::<Vec<_>>(), 0..=5).prop_shuffle();
    let file = tensors.prop_flat_map(|names| {
        let len = names.len();
        proptest::collection::vec(any::<bool>(), len).prop_map(move |spelt| names.iter().copied().zip(spelt).collect())
    });
    [file.clone(), file.clone(), file]
}

/// Where the index, if there is one, places each tensor; and its `total_size`.
type Placed = Option<(Vec<Option<(usize, bool)>>, Option<u64>)>;

fn placed() -> impl Strategy<Value = Placed> {
    let places = proptest::collection::vec(proptest::option::of((0..SHARDS.len(), any::<bool>())), NAMES.len());
    proptest::option::weighted(0.8, (places, proptest::option::of((0..8u64).prop_map(|tensors| 2 * tensors))))
}

/// What must be found, and in which shard each tensor must be looked up.
#[derive(Debug, Default, PartialEq, Eq)]
struct Expected {
    findings: BTreeSet<(&'static str, String)>,
    table: Vec<(String, String)>,
}

fn oracle(files: &[Vec<(usize, bool)>; 3], placed: &Placed) -> Expected {
    let mut expected = Expected::default();
    let mut found = |id, what: String| assert!(expected.findings.insert((id, what)), "found once");
    let having = |name: usize| -> Vec<usize> {
        (0..files.len()).filter(|&file| files[file].iter().any(|(tensor, _)| *tensor == name)).collect()
    };
    let indexed = placed.as_ref().map(|(places, _)| places);
    // Files that the index does not name are not opened.
    let opened = |file: usize| {
        file < files.len() && indexed.is_none_or(|places| places.iter().flatten().any(|(place, _)| *place == file))
    };
    let mut names: Vec<usize> = (0..NAMES.len()).collect();
    names.sort_by_key(|name| NAMES[*name]);
    let mut all_there = true;
    for name in names {
        let copies: Vec<usize> = having(name).into_iter().filter(|file| opened(*file)).collect();
        let place = indexed.map(|places| places[name].map(|(place, _)| place));
        match (place, &copies[..]) {
            (Some(None), copies) => {
                copies.iter().for_each(|file| found("tensor-unindexed", format!("{} {}", NAMES[name], SHARDS[*file])));
                continue;
            }
            (Some(Some(place)), []) => {
                all_there = false;
                if opened(place) {
                    found("tensor-missing", format!("{} {}", NAMES[name], SHARDS[place]));
                }
                continue;
            }
            (None, []) => continue,
            _ => {}
        }
        if copies.len() > 1 {
            found("tensor-duplicate", format!("{} {copies:?}", NAMES[name]));
        }
        let first = copies[0];
        let right = match place.flatten() {
            Some(place) if !copies.contains(&place) => {
                found("tensor-misplaced", format!("{} {} {}", NAMES[name], SHARDS[place], SHARDS[first]));
                first
            }
            Some(place) => place,
            None => first,
        };
        expected.table.push((NAMES[name].to_string(), SHARDS[right].to_string()));
    }
    let Some((places, total_size)) = placed else { return expected };
    let mut found = |id, what: String| assert!(expected.findings.insert((id, what)), "found once");
    for (file, shard) in SHARDS.iter().enumerate() {
        let named = places.iter().flatten().filter(|(place, _)| *place == file).count();
        match (file < files.len(), named) {
            (true, 0) => found("shard-stray", shard.to_string()),
            (false, 1..) => found("shard-missing", format!("{shard} {named}")),
            _ => {}
        }
    }
    let actual = 2 * expected.table.len() as u64;
    if let Some(declared) = *total_size
        && all_there
        && declared != actual
    {
        found("total-size-wrong", format!("{declared} {actual}"));
    }
    if places.iter().flatten().next().is_none() {
        found("index-empty", String::new());
    }
    expected
}

fn opened(files: &[Vec<(usize, bool)>; 3], placed: &Placed) -> Expected {
    let mut model = Model::new("oracle");
    for (file, name) in files.iter().zip(SHARDS) {
        let tensors: Vec<_> = file.iter().map(|(tensor, escaped)| spelt(NAMES[*tensor], *escaped)).collect();
        model = model.file(name, shard(&tensors.iter().map(|tensor| &**tensor).collect::<Vec<_>>()));
    }
    if let Some((places, total_size)) = placed {
        let map: Vec<_> = NAMES.iter().zip(places).filter_map(|(name, place)| Some((name, (*place)?))).collect();
        let map: Vec<_> = map
            .iter()
            .map(|(name, (place, escaped))| (spelt(name, *escaped), spelt(SHARDS[*place], !escaped)))
            .collect();
        let map: Vec<_> = map.iter().rev().map(|(name, shard)| (&**name, &**shard)).collect();
        model = model.file(crate::build::INDEX, index(&map, *total_size));
    }
    let catalog = model.open(Policy::LENIENT).expect("whatever is found is reported");
    let what = |kind: &FindingKind| match kind {
        FindingKind::ShardStray { shard } => shard.to_string(),
        FindingKind::ShardMissing { shard, tensors, link: None } => format!("{shard} {tensors}"),
        FindingKind::TensorUnindexed { tensor, shard } | FindingKind::TensorMissing { tensor, shard } => {
            format!("{tensor} {shard}")
        }
        FindingKind::TensorDuplicate { tensor, shards, .. } => {
            let numbers: Vec<_> =
                shards.iter().map(|shard| SHARDS.iter().position(|name| **name == **shard).expect("ours")).collect();
            format!("{tensor} {numbers:?}")
        }
        FindingKind::TensorMisplaced { tensor, indexed, found } => format!("{tensor} {indexed} {found}"),
        FindingKind::TotalSizeWrong { declared, actual } => format!("{declared} {actual}"),
        FindingKind::IndexEmpty => String::new(),
        other => panic!("{other:?}"),
    };
    let findings: Vec<_> = catalog.findings().iter().map(|finding| (finding.id(), what(finding.kind()))).collect();
    let count = findings.len();
    let expected = Expected {
        findings: findings.into_iter().collect(),
        table: catalog.tensors().map(|entry| (entry.name().to_string(), entry.shard().name().to_string())).collect(),
    };
    assert_eq!(expected.findings.len(), count, "found once");
    for name in NAMES {
        let found = catalog.tensor(name).ok().map(|entry| (entry.name().to_string(), entry.shard().name().to_string()));
        assert_eq!(found.as_ref(), expected.table.iter().find(|row| row.0 == name));
    }
    expected
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_placement(files in files(), placed in placed()) {
        prop_assert_eq!(opened(&files, &placed), oracle(&files, &placed));
    }
}
