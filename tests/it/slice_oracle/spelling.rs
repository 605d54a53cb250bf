//! The numbers of a case in Rust's types: any that hold them must do the same.

use std::ops::Bound;

use weightview::Axis;

use super::case::Take;

/// The lists of a case, in a type that holds them.
pub(super) struct Lists(pub(super) Vec<List>);

pub(super) enum List {
    I32(Vec<i32>),
    I64(Vec<i64>),
    Isize(Vec<isize>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    Usize(Vec<usize>),
}

impl Lists {
    pub(super) fn new(takes: &[Take], spelling: u8) -> Self {
        let list = |take: &Take| match take {
            Take::List(list) => List::new(list, spelling),
            Take::Odd(take, _) => match &**take {
                Take::List(list) => List::new(list, spelling),
                _ => List::new(&[], spelling),
            },
            _ => List::new(&[], spelling),
        };
        Self(takes.iter().map(list).collect())
    }
}

impl List {
    fn new(numbers: &[i128], spelling: u8) -> Self {
        fn all<T: TryFrom<i128>>(numbers: &[i128]) -> Option<Vec<T>> {
            numbers.iter().map(|&number| T::try_from(number).ok()).collect()
        }
        type Spell = fn(&[i128]) -> Option<List>;
        let spellings: [Spell; 6] = [
            |numbers| all(numbers).map(Self::I32),
            |numbers| all(numbers).map(Self::U64),
            |numbers| all(numbers).map(Self::Isize),
            |numbers| all(numbers).map(Self::U32),
            |numbers| all(numbers).map(Self::I64),
            |numbers| all(numbers).map(Self::Usize),
        ];
        let mut turns = spellings.iter().cycle().skip(usize::from(spelling)).take(spellings.len());
        // One of the widest types holds them, unless some are negative and others past an i64.
        turns.find_map(|spelling| spelling(numbers)).unwrap_or_else(|| {
            Self::I64(numbers.iter().map(|&number| i64::try_from(number).unwrap_or(i64::MAX)).collect())
        })
    }
}

pub(super) fn axis<'s>(take: &Take, list: &'s List, spelling: u8) -> Axis<'s> {
    match take {
        Take::At(at) => match List::new(&[*at], spelling) {
            List::I32(at) => Axis::at(at[0]),
            List::I64(at) => Axis::at(at[0]),
            List::Isize(at) => Axis::at(at[0]),
            List::U32(at) => Axis::at(at[0]),
            List::U64(at) => Axis::at(at[0]),
            List::Usize(at) => Axis::at(at[0]),
        },
        Take::List(_) => match list {
            List::I32(list) => Axis::list(list),
            List::I64(list) => Axis::list(list),
            List::Isize(list) => Axis::list(list),
            List::U32(list) => Axis::list(list),
            List::U64(list) => Axis::from(&list[..]),
            List::Usize(list) => Axis::list(list),
        },
        Take::Range(start, end, step) => range(*start, *end).step(*step),
        Take::Odd(take, step) => axis(take, list, spelling).step(*step),
    }
}

/// Through each of Rust's ranges.
fn range(start: Bound<i128>, end: Bound<i128>) -> Axis<'static> {
    use Bound::{Excluded, Included, Unbounded};
    let signed = |bound: Bound<i128>| bound.map(|number| i64::try_from(number).unwrap_or(i64::MAX));
    match (signed(start), signed(end)) {
        (Unbounded, Unbounded) => (..).into(),
        (Unbounded, Excluded(end)) => (..end).into(),
        (Unbounded, Included(end)) => (..=end).into(),
        (Included(start), Unbounded) => (start..).into(),
        (Included(start), Excluded(end)) if start < 0 => Axis::range(start, end),
        (Included(start), Excluded(end)) => (start..end).into(),
        (Included(start), Included(end)) => (start..=end).into(),
        bounds @ (Excluded(_), _) => bounds.into(),
    }
}
