//! Holes and overlaps: tensors must tile the data section, in whatever order the header has them.

use weightview::Error;
use weightview::error::ErrorKind::{self, Hole, Overlap};
use weightview::safetensors::{Header, ParseOptions};

use crate::agree::{assert_agrees, assert_invariants};
use crate::build::{Build, accepted, refusals};
use crate::names::{self, Random};

/// Entries of U8 tensors, named in order, at these offsets, as they stand: `"0,1"`, or `"»0,1"` for the fault.
fn at(offsets: &[&str]) -> String {
    let entry = |(place, offsets): (usize, &&str)| {
        let (mark, offsets) = offsets.strip_prefix('»').map_or(("", *offsets), |rest| ("»", rest));
        let (begin, end) = offsets.split_once(',').expect("two numbers");
        let len = end.parse::<u64>().expect("a number") - begin.parse::<u64>().expect("a number");
        format!(r#""t{place}":{{"dtype":"U8","shape":[{len}],"data_offsets":{mark}[{offsets}]}}"#)
    };
    format!("{{{}}}", offsets.iter().enumerate().map(entry).collect::<Vec<_>>().join(","))
}

refusals! {
    first_does_not_begin_at_zero: at(&["»1,2"]), 2 => Hole { expected: 0, begin: 1 };
    hole_of_one: at(&["0,4", "»5,8"]), 8 => Hole { expected: 4, begin: 5 };
    hole_that_a_later_tensor_does_not_fill: at(&["0,2", "»4,6", "6,8"]), 8 => Hole { expected: 2, begin: 4 };
    two_holes: at(&["0,1", "4,5", "»2,3"]), 5 => Hole { expected: 1, begin: 2 };
    hole_at_the_start_of_two: at(&["3,5", "»1,3"]), 5 => Hole { expected: 0, begin: 1 };
    overlap_of_one: at(&["0,4", "»3,8"]), 8 => Overlap { expected: 4, begin: 3 };
    overlap_in_reverse: at(&["»3,8", "0,4"]), 8 => Overlap { expected: 4, begin: 3 };
    one_range_twice: at(&["0,4", "»0,4"]), 4 => Overlap { expected: 4, begin: 0 };
    one_range_thrice: at(&["0,4", "»0,4", "0,4"]), 4 => Overlap { expected: 4, begin: 0 };
    one_range_behind_another: at(&["0,2", "2,4", "»2,4", "4,6"]), 6 => Overlap { expected: 4, begin: 2 };
    one_inside_another: at(&["0,8", "»2,4"]), 8 => Overlap { expected: 8, begin: 2 };
    one_inside_another_in_reverse: at(&["»2,4", "0,8"]), 8 => Overlap { expected: 8, begin: 2 };
    same_begin: at(&["»0,8", "0,4"]), 8 => Overlap { expected: 4, begin: 0 };
    same_end: at(&["0,8", "»4,8"]), 8 => Overlap { expected: 8, begin: 4 };
    overlap_and_hole: at(&["0,4", "»2,6", "8,9"]), 9 => Overlap { expected: 4, begin: 2 };
    /// The lengths add up to the end all the same.
    overlap_that_a_hole_makes_up_for: at(&["0,4", "»2,6", "8,10"]), 10 => Overlap { expected: 4, begin: 2 };
    empty_inside_another: at(&["0,8", "»4,4"]), 8 => Overlap { expected: 8, begin: 4 };
    empty_inside_another_in_reverse: at(&["»4,4", "0,8"]), 8 => Overlap { expected: 8, begin: 4 };
    empty_past_the_end: at(&["0,8", "»9,9"]), 8 => Hole { expected: 8, begin: 9 };
    empty_past_the_end_in_reverse: at(&["»9,9", "0,8"]), 8 => Hole { expected: 8, begin: 9 };
    empty_alone_past_the_end: at(&["»1,1"]), 0 => Hole { expected: 0, begin: 1 };
    empty_alone_far_past_the_end: at(&["»18446744073709551615,18446744073709551615"]), 0
        => Hole { expected: 0, begin: u64::MAX };
    empty_in_a_hole: at(&["0,2", "»3,3", "4,6"]), 6 => Hole { expected: 2, begin: 3 };
    empty_at_both_edges_of_a_hole: at(&["0,2", "2,2", "»4,4", "4,6"]), 6 => Hole { expected: 2, begin: 4 };
    empty_on_the_edge_of_a_part_of_another: at(&["0,2", "2,4", "»0,4", "2,2"]), 4 => Overlap { expected: 2, begin: 0 };
}

#[test]
fn empty_on_every_boundary() {
    let orders: [&[&str]; 6] = [
        &["0,0", "0,2", "2,2", "2,5", "5,5"],
        &["5,5", "2,5", "2,2", "0,2", "0,0"],
        &["0,2", "2,5", "0,0", "2,2", "5,5"],
        &["0,0", "2,2", "5,5", "0,2", "2,5"],
        &["2,2", "2,5", "5,5", "0,0", "0,2"],
        &["2,5", "2,2", "2,2", "2,2", "0,2", "0,0", "0,0", "5,5", "5,5"],
    ];
    for offsets in orders {
        accepted(&at(offsets), 5, |file| {
            assert_eq!(file.len(), offsets.len());
            for (place, tensor) in file.tensors().enumerate() {
                let (begin, end) = offsets[place].split_once(',').expect("two numbers");
                let range = begin.parse::<u8>().expect("a number")..end.parse::<u8>().expect("a number");
                assert!(tensor.data().iter().copied().eq(range));
            }
        });
    }
}

#[test]
fn empty_alone() {
    accepted(&at(&["0,0"]), 0, |file| assert_eq!(file.tensor("t0").map(|tensor| tensor.data()), Ok(&[][..])));
    accepted(&at(&["0,0", "0,0", "0,0"]), 0, |file| assert_eq!(file.len(), 3));
}

/// The answer, found the plain way: in order of (begin, end, place in the header), each begins where the one
/// before it ends. Gives the place of the one that does not.
fn plainly(ranges: &[(u64, u64)]) -> Option<(usize, ErrorKind)> {
    let mut order: Vec<_> = (0..ranges.len()).collect();
    order.sort_by_key(|&place| (ranges[place], place));
    let mut expected = 0;
    for place in order {
        let (begin, end) = ranges[place];
        if begin != expected {
            let kind = if begin > expected { Hole { expected, begin } } else { Overlap { expected, begin } };
            return Some((place, kind));
        }
        expected = end;
    }
    None
}

fn build(ranges: &[(u64, u64)], names: &[String], long: bool) -> Vec<u8> {
    let mut build = Build::new();
    for (&(begin, end), name) in ranges.iter().zip(names) {
        build.push_tensor(name, "U8", &[end - begin], begin..end);
    }
    // White space makes a short header a long one.
    build.padding(&" ".repeat(if long { 128 * 1024 } else { 0 })).head()
}

/// The parser says what the plain way says, with a heap and without, however long the header.
fn assert_as_plainly(ranges: &[(u64, u64)], names: &[String], long: bool) {
    let head = build(ranges, names, long);
    let expected = plainly(ranges);
    let mut answers = Vec::new();
    for heap in [false, true] {
        let options = ParseOptions { heap, ..ParseOptions::default() };
        let answer: Result<Header<'_>, Error> = options.parse_header(&head);
        match (&answer, expected) {
            (Ok(header), None) => assert_eq!(header.data_len(), ranges.iter().map(|range| range.1).max().unwrap_or(0)),
            (Err(error), Some((place, kind))) => {
                assert_eq!(error.kind(), kind, "{ranges:?}");
                let name = format!(r#""{}":"#, names[place]);
                let text = std::str::from_utf8(&head[8..]).expect("ASCII");
                let entry = text.find(&name).expect("it is there");
                let key = r#""data_offsets":"#;
                let value = entry + text[entry..].find(key).expect("it is there") + key.len();
                assert_eq!(error.offset(), Some(8 + value as u64), "{ranges:?}");
            }
            (answer, expected) => panic!("{ranges:?}: {answer:?}, but it is {expected:?}"),
        }
        answers.push(answer.map(|header| header.data_len()));
    }
    assert_eq!(answers[0], answers[1]);
}

/// All headers of up to four tensors in a space of three bytes: 11,111 of them, each judged right.
#[test]
fn all_small_headers() {
    let names: Vec<String> = ["a", "b", "c", "d"].map(String::from).to_vec();
    let all: Vec<(u64, u64)> = (0..=3).flat_map(|begin| (begin..=3).map(move |end| (begin, end))).collect();
    assert_eq!(all.len(), 10);
    let mut accepted = 0;
    for count in 0..=4u32 {
        for number in 0..10usize.pow(count) {
            let ranges: Vec<_> = (0..count).map(|digit| all[number / 10usize.pow(digit) % 10]).collect();
            assert_as_plainly(&ranges, &names, false);
            accepted += usize::from(plainly(&ranges).is_none());
        }
    }
    assert_eq!(accepted, 638); // 1 + 4 orders of nothing but empty ones, 147 with one other, 384 with two, 102 with three
}

/// Ranges that tile, some of them empty, in file order.
fn layout(count: usize, random: &mut Random) -> Vec<(u64, u64)> {
    let mut end = 0;
    let mut next = || {
        let begin = end;
        end += if random.once_in(9) { 0 } else { 1 + random.below(5) as u64 };
        (begin, end)
    };
    (0..count).map(|_| next()).collect()
}

/// Several header orders of ranges that are in file order.
fn orders(sorted: &[(u64, u64)], seed: u64) -> Vec<Vec<(u64, u64)>> {
    let mut orders = vec![sorted.to_vec()];
    orders.push(sorted.iter().rev().copied().collect());
    let mut shuffled = sorted.to_vec();
    names::shuffle(&mut shuffled, seed);
    orders.push(shuffled);
    // Runs: every n-th together, and file order cut into n pieces; 8 chains fit fixed memory, more do not.
    for runs in [2, 3, 8, 9, 10, 17] {
        orders.push((0..runs).flat_map(|run| sorted.iter().skip(run).step_by(runs).copied()).collect());
        let piece = sorted.len().div_ceil(runs).max(1);
        orders.push(sorted.chunks(piece).rev().flatten().copied().collect());
        let pieces: Vec<_> = sorted.chunks(piece).collect();
        orders
            .push((0..piece).flat_map(|place| pieces.iter().filter_map(move |run| run.get(place))).copied().collect());
    }
    orders
}

/// Tensors in many orders: accepted; and with one tensor moved, grown, doubled or left out, refused for it.
#[test]
fn every_order_and_fault() {
    let mut random = Random::new(9);
    for (count, rounds) in
        [(1, 2), (2, 4), (9, 4), (10, 4), (40, 2), (if cfg!(debug_assertions) { 60 } else { 150 }, 2)]
    {
        let names = names::checkpoint(count + 1);
        for round in 0..rounds {
            let sorted = layout(count, &mut random);
            for ranges in orders(&sorted, round) {
                assert_eq!(plainly(&ranges), None);
                assert_as_plainly(&ranges, &names, round == 1);
                let place = random.below(count);
                let (begin, end) = ranges[place];
                let faulty = [
                    Some((begin + 1, end + 1)),
                    Some((begin, end + 1)),
                    begin.checked_sub(1).map(|begin| (begin, end)),
                    (begin < end).then(|| (begin, end - 1)),
                    (begin + 1 < end).then_some((begin + 1, begin + 1)),
                ];
                let skipped = if cfg!(debug_assertions) { random.below(5) } else { 0 };
                let kept = if cfg!(debug_assertions) { 1 } else { 5 };
                for fault in faulty.into_iter().flatten().skip(skipped).take(kept) {
                    let mut ranges = ranges.clone();
                    ranges[place] = fault;
                    assert_as_plainly(&ranges, &names, round == 1);
                    // As one tensor more: an overlap, or an empty one inside another.
                    ranges[place] = (begin, end);
                    ranges.push(fault);
                    assert_as_plainly(&ranges, &names, round == 1);
                }
                let mut ranges = ranges;
                ranges.remove(place);
                assert_as_plainly(&ranges, &names, false);
            }
        }
    }
}

/// Thousands of tensors in no order, below 128 KiB of header and above, with the fault near the end.
#[test]
fn many_in_no_order() {
    let mut random = Random::new(4);
    for count in [1000, if cfg!(debug_assertions) { 2100 } else { 6000 }] {
        let names = names::checkpoint(count);
        let sorted = layout(count, &mut random);
        for mut ranges in orders(&sorted, 1).into_iter().skip(2).step_by(3) {
            assert_as_plainly(&ranges, &names, false);
            let last = ranges.iter().position(|range| *range == sorted[count - 3]).expect("it is there");
            ranges[last].1 += 1;
            assert_as_plainly(&ranges, &names, false);
        }
    }
}

/// Names and offsets in no order at once, held against the reference too.
#[test]
fn in_no_order_as_the_reference() {
    let mut random = Random::new(2);
    for count in [12, 100, 2100] {
        let mut names = names::checkpoint(count);
        names::shuffle(&mut names, 8);
        let sorted = layout(count, &mut random);
        let mut ranges = sorted.clone();
        names::shuffle(&mut ranges, 5);
        let mut file = build(&ranges, &names, false);
        file.resize(file.len() + sorted.last().map_or(0, |range| range.1) as usize, 7);
        assert_invariants(&file);
        assert_eq!(assert_agrees(&file), None);
        assert!(Header::parse(&file).is_ok_and(|header| header.len() == count));
    }
}

/// Empty tensors by the hundred at each boundary, some listed before anything shows that it is one.
#[test]
fn hundreds_of_empty_tensors_at_each_boundary() {
    let sorted: Vec<_> = (0..12).map(|place| (place * 4, place * 4 + 4)).collect();
    let empty: Vec<_> = (0..=12).flat_map(|place| std::iter::repeat_n((place * 4, place * 4), 40)).collect();
    let mut mixed = [&empty[..], &sorted[..]].concat();
    let names = names::checkpoint(mixed.len() + 1);
    let before = mixed.clone();
    names::shuffle(&mut mixed, 6);
    let behind = [&sorted[..], &empty[..]].concat();
    for ranges in [before, mixed, behind] {
        assert_eq!(plainly(&ranges), None);
        assert_as_plainly(&ranges, &names, false);
        // One strictly inside a tensor, one past the end; listed first and last.
        for stray in [(21, 21), (49, 49), (u64::MAX, u64::MAX)] {
            assert_as_plainly(&[&[stray], &ranges[..]].concat(), &names, false);
            assert_as_plainly(&[&ranges[..], &[stray]].concat(), &names, true);
        }
    }
}

/// Names and offsets in no order, several faults at once: the first in file order is blamed.
#[test]
fn several_faults_in_no_order() {
    let mut random = Random::new(12);
    for count in [20, 300, if cfg!(debug_assertions) { 700 } else { 3000 }] {
        let mut names = names::checkpoint(count);
        names::shuffle(&mut names, 4);
        for faults in 1..=6 {
            let mut ranges = layout(count, &mut random);
            for _ in 0..faults {
                let range = &mut ranges[random.below(count)];
                *range = [(range.0, range.1 + 1), (range.0 + 1, range.1 + 1), (range.1, range.1)][random.below(3)];
            }
            names::shuffle(&mut ranges, faults);
            for long in [false, true] {
                assert_as_plainly(&ranges, &names, long);
            }
        }
    }
}
