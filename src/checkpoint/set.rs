//! File names that are numbered as the parts of a set: `model-00002-of-00005.safetensors`.

use std::collections::BTreeMap;
use std::format;
use std::string::String;
use std::vec::Vec;

/// What safetensors files end in.
pub(super) const EXTENSION: &str = ".safetensors";

/// Digits that a number may have. No model comes in 100,000 files, and a name alone should not make us count far.
const DIGITS: usize = 5;

/// The most names of missing parts that are given: a set of which more is missing is hardly there.
const MOST: usize = 1000;

/// What the names of a set have in common: all but the part's own number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Set<'a> {
    before: &'a str,
    /// `of` with what stands around it: `-of-`.
    of: &'a str,
    count: &'a str,
    after: &'a str,
}

/// The names that the sets among `names` lack: as many of a set as its count says, counted from 1, or from 0
/// where there is a part 0.
pub(super) fn missing<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut sets: BTreeMap<Set<'a>, Vec<u32>> = BTreeMap::new();
    for (set, part) in names.filter_map(parse) {
        sets.entry(set).or_default().push(part);
    }
    let mut missing = Vec::new();
    for (set, mut parts) in sets {
        parts.sort_unstable();
        let count: u32 = set.count.parse().unwrap_or(0); // digits, few enough
        let first = u32::from(parts.first() != Some(&0));
        let absent = (first..first.saturating_add(count)).filter(|part| parts.binary_search(part).is_err());
        let Set { before, of, count, after } = set;
        let width = count.len();
        let room = MOST.saturating_sub(missing.len());
        missing.extend(absent.take(room).map(|part| format!("{before}{part:0width$}{of}{count}{after}")));
    }
    missing
}

/// The set that a name belongs to, and its number there. Both numbers have as many digits.
fn parse(name: &str) -> Option<(Set<'_>, u32)> {
    let stem = name.strip_suffix(EXTENSION)?;
    let at = stem.rfind("-of-").or_else(|| stem.rfind("_of_"))?;
    let (before, rest) = stem.split_at_checked(at)?;
    let (of, rest) = rest.split_at_checked("-of-".len())?;
    let count = rest.get(..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()))?;
    let start = before.len().checked_sub(count.len())?;
    let (before, part) = before.split_at_checked(start)?;
    let numbers = (1..=DIGITS).contains(&count.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    // A longer number, of which these would be the last digits, is another matter.
    if !numbers || before.ends_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let after = name.get(at.checked_add(of.len())?.checked_add(count.len())?..)?;
    Some((Set { before, of, count, after }, part.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::missing;

    #[track_caller]
    fn lacks(names: &[&str], lacking: &[&str]) {
        assert_eq!(missing(names.iter().copied()), lacking);
    }

    #[test]
    fn gaps() {
        lacks(&["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"], &[]);
        lacks(
            &["model-00003-of-00003.safetensors"],
            &["model-00001-of-00003.safetensors", "model-00002-of-00003.safetensors"],
        );
        lacks(&["model_00002-of-00002.safetensors"], &["model_00001-of-00002.safetensors"]);
        lacks(&["m-1_of_2.safetensors"], &["m-2_of_2.safetensors"]);
        lacks(&["model-00001-of-00002.fp16.safetensors"], &["model-00002-of-00002.fp16.safetensors"]);
    }

    #[test]
    fn counted_from_0() {
        lacks(
            &["model-00000-of-00003.safetensors", "model-00001-of-00003.safetensors"],
            &["model-00002-of-00003.safetensors"],
        );
    }

    #[test]
    fn sets_stand_apart() {
        lacks(&["a-1-of-2.safetensors", "b-2-of-2.safetensors"], &["a-2-of-2.safetensors", "b-1-of-2.safetensors"]);
    }

    #[test]
    fn other_names_are_no_sets() {
        for name in [
            "model.safetensors",
            "best-of-breed.safetensors",
            "model-00001-of-00002.bin",
            "model-1-of-00002.safetensors",
            "model-100001-of-00002.safetensors",
            "model-000001-of-000002.safetensors",
            "-of-1.safetensors",
            "é-of-1.safetensors",
            "1-of-.safetensors",
        ] {
            lacks(&[name], &[]);
        }
    }

    #[test]
    fn names_are_not_counted_far() {
        let names: Vec<_> = (0..5).map(|set| std::format!("{set}x-00001-of-99999.safetensors")).collect();
        assert_eq!(missing(names.iter().map(|name| &**name)).len(), super::MOST);
    }
}
