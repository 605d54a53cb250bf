//! Iterators from both ends.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::iter::FusedIterator;

/// An iterator gives what is expected, from both ends, and wherever the script jumps.
pub(crate) fn assert_walks<I>(iter: I, expected: &[I::Item], same: impl Fn(&I::Item, &I::Item) -> bool, script: &[u8])
where
    I: DoubleEndedIterator<Item: Clone + Debug> + ExactSizeIterator + FusedIterator + Clone,
{
    let same_one = |a: Option<I::Item>, b: Option<I::Item>| match (&a, &b) {
        (Some(a), Some(b)) => assert!(same(a, b), "{a:?}, not {b:?}"),
        _ => assert_eq!(a.is_some(), b.is_some()),
    };
    let same_all = |a: Vec<I::Item>, b: Vec<I::Item>| {
        assert_eq!(a.len(), b.len());
        a.into_iter().zip(b).for_each(|(a, b)| same_one(Some(a), Some(b)));
    };
    let mut ours = iter;
    let mut left: VecDeque<_> = expected.iter().cloned().collect();
    let mut scans = 6; // of all that is left: dear, when that is much
    for &byte in [2, 3].iter().chain(script) {
        assert_eq!((ours.len(), ours.size_hint()), (left.len(), (left.len(), Some(left.len()))));
        let n = usize::from(byte / 8) % 13;
        match byte % 8 {
            0 => same_one(ours.next(), left.pop_front()),
            1 => same_one(ours.next_back(), left.pop_back()),
            2 | 3 if scans == 0 => {}
            2 => {
                scans -= 1;
                let mut folded = Vec::new();
                ours.clone().for_each(|x| folded.push(x)); // by fold, and below one by one
                same_all(folded, left.clone().into());
                let mut one_by_one = ours.clone();
                same_all(std::iter::from_fn(|| one_by_one.next()).collect(), left.clone().into());
            }
            3 => {
                scans -= 1;
                same_all(ours.clone().rev().collect(), left.iter().rev().cloned().collect());
            }
            4 => {
                same_one(ours.clone().last(), left.back().cloned());
                assert_eq!(ours.clone().count(), left.len());
                assert!(ours.clone().nth(left.len()).is_none() && ours.clone().nth_back(usize::MAX).is_none());
            }
            5 | 6 => {
                same_one(ours.nth(n), left.get(n).cloned());
                left.drain(..(n + 1).min(left.len()));
            }
            _ => {
                same_one(ours.nth_back(n), left.iter().rev().nth(n).cloned());
                left.truncate(left.len().saturating_sub(n + 1));
            }
        }
    }
    while let Some(next) = left.pop_front() {
        same_one(ours.next(), Some(next));
    }
    for _ in 0..2 {
        assert!(ours.next().is_none() && ours.next_back().is_none() && ours.nth(1).is_none() && ours.len() == 0);
    }
}
