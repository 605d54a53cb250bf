//! Names that stand twice, however they are spelt: always refused, at the second, and both places are named.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use weightview::error::ErrorKind::{self, DuplicateName};
use weightview::safetensors::{Header, ParseOptions};
use weightview::{Slot, Text};

use crate::agree::Intended;
use crate::build::{Build, File, NONE, ONE, accepted, refused, refused_again};
use crate::names::{self, Random};

/// A duplicate that the reference accepts: there the last one wins, and tiles the data.
fn last_one_wins(text: &str, data: usize) {
    let difference = refused_again(text, data, |first| DuplicateName { first });
    assert_eq!(difference, Some(Intended::DuplicateName), "{text}");
}

#[test]
fn plain() {
    last_one_wins(&format!(r#"{{«"a":{NONE},»"a":{NONE}}}"#), 0);
    last_one_wins(&format!(r#"{{«"a":{NONE},»"a":{ONE}}}"#), 1);
}

#[test]
fn behind_another() {
    last_one_wins(&format!(r#"{{"z":{NONE},«"a":{NONE},"b":{NONE},»"a":{NONE},"c":{NONE}}}"#), 0);
    last_one_wins(&format!(r#"{{«"a":{NONE},"b":{NONE},"c":{NONE}  , »"a" :{NONE}}}"#), 0);
}

#[test]
fn with_escapes() {
    last_one_wins(&format!(r#"{{«"a":{NONE},»"\u0061":{NONE}}}"#), 0);
    last_one_wins(&format!(r#"{{«"\u0061":{NONE},»"a":{NONE}}}"#), 0);
    last_one_wins(&format!(r#"{{«"a/b":{NONE},»"a\/b":{NONE}}}"#), 0);
    last_one_wins(&format!(r#"{{«"\u00E9":{NONE},»"\u00e9":{NONE}}}"#), 0);
    last_one_wins(&format!(r#"{{«"é":{NONE},»"\u00e9":{NONE}}}"#), 0);
    last_one_wins(&format!(r#"{{«"🦀":{NONE},»"\ud83e\udd80":{NONE}}}"#), 0);
    last_one_wins(&format!(r#"{{«"\n":{NONE},»"\u000A":{NONE}}}"#), 0);
    last_one_wins(&format!(r#"{{«"":{NONE},"a":{NONE},»"":{NONE}}}"#), 0);
}

#[test]
fn with_another_dtype() {
    let [f32, i32] = ["F32", "I32"].map(|dtype| format!(r#"{{"dtype":"{dtype}","shape":[0],"data_offsets":[0,0]}}"#));
    last_one_wins(&format!(r#"{{«"a":{f32},»"a":{i32}}}"#), 0);
}

#[test]
fn three_times() {
    last_one_wins(&format!(r#"{{«"a":{NONE},»"a":{NONE},"a":{NONE}}}"#), 0);
    last_one_wins(&format!(r#"{{«"a":{NONE},"b":{NONE},»"a":{NONE},"b":{NONE},"a":{NONE},"b":{NONE}}}"#), 0);
}

/// The second of the pair that is complete first counts, not the pair that began first.
#[test]
fn two_names_twice() {
    last_one_wins(&format!(r#"{{"a":{NONE},«"b":{NONE},»"b":{NONE},"a":{NONE}}}"#), 0);
}

/// Both tile the data together: the reference forgets the first, and so finds a hole.
#[test]
fn side_by_side() {
    let two = r#"{"dtype":"U8","shape":[1],"data_offsets":[1,2]}"#;
    let text = format!(r#"{{«"a":{ONE},»"a":{two}}}"#);
    assert_eq!(refused_again(&text, 2, |first| DuplicateName { first }), None);
}

/// On one range they overlap too, and that is found first.
#[test]
fn on_one_range() {
    let text = format!(r#"{{"a":{ONE},"a":{}}}"#, ONE.replace("[0,1]", "»[0,1]"));
    let overlap = ErrorKind::Overlap { expected: 1, begin: 0 };
    assert_eq!(refused(&text, 1, overlap), Some(Intended::DuplicateName));
}

/// A fault in the one that the reference forgets is none to it.
#[test]
fn the_first_is_faulty() {
    let text = format!(r#"{{"a":{{"dtype":"U8","shape":[1],"data_offsets":»[0,7]}},"a":{ONE}}}"#);
    let mismatch = ErrorKind::SizeMismatch { expected: 1, actual: 7 };
    assert_eq!(refused(&text, 1, mismatch), Some(Intended::DuplicateName));
}

/// Names that nearly are one: nothing is folded or normalised.
#[test]
fn nearly() {
    let names = ["a", "A", "a ", " a", r"a\u0000", r"\u0000a", "aa", "", "é", r"e\u0301", r"\\u0061", "𝐚"];
    let text: Vec<_> = names.iter().map(|name| format!(r#""{name}":{NONE}"#)).collect();
    accepted(&format!("{{{}}}", text.join(",")), 0, |file| assert_eq!(file.len(), names.len()));
}

/// A header of empty tensors with these names. With `long`, an unknown field makes it longer than 128 KiB.
fn header_of(names: &[String], long: bool) -> String {
    let mut text = String::from("{");
    for name in names {
        let comma = if text.len() > 1 { "," } else { "" };
        write!(text, r#"{comma}"{name}":{NONE}"#).expect("a String");
    }
    if long {
        let comma = if names.is_empty() { "" } else { "," };
        write!(text, r#"{comma}"~":{{"x":"{}",{}"#, "x".repeat(128 * 1024), &NONE[1..]).expect("a String");
    }
    text.push('}');
    text
}

/// Names in several orders, one name twice: everywhere found, by every way that the parser has of looking.
fn find_in(order: &str, names: &[String]) {
    for long in [false, true] {
        let text = header_of(names, long);
        for heap in [false, true] {
            let options = ParseOptions { heap, ..ParseOptions::default() };
            let file = File::new(&text, 0);
            let header = options.parse_header(&file.bytes);
            assert_eq!(header.map(|header| header.len()), Ok(names.len() + usize::from(long)), "{order}");
        }
    }
    let last = names.len() - 1;
    for (first, again) in [(0, 1), (0, last), (last / 2, last), (last / 3, last / 3 + 1), (last / 3, last / 2)] {
        if first == again {
            continue; // a short list
        }
        for (long, escaped) in [(false, false), (true, true)] {
            let mut twice = names.to_vec();
            let name = &names[first];
            let (head, tail) = name.split_at(name.char_indices().nth(1).map_or(name.len(), |(at, _)| at));
            let head = head.chars().map(|c| if escaped { format!("\\u{:04x}", u32::from(c)) } else { c.into() });
            twice[again] = format!("»{}{tail}", head.collect::<String>());
            twice[first] = format!("«{name}");
            // The marks stand behind the quote, the error at it.
            let file = File::new(&header_of(&twice, long), 0);
            let expected = DuplicateName { first: file.first() - 1 };
            for heap in [false, true] {
                let options = ParseOptions { heap, ..ParseOptions::default() };
                let error = options.parse_header(&file.bytes).expect_err("a duplicate");
                assert_eq!((error.kind(), error.offset()), (expected, Some(file.fault() - 1)), "{order}");
            }
        }
    }
}

#[test]
fn in_every_order() {
    for count in [2, 3, 40, if cfg!(debug_assertions) { 450 } else { 2500 }] {
        let sorted: Vec<String> = names::checkpoint(count);
        let mut reversed = sorted.clone();
        reversed.reverse();
        let mut shuffled = sorted.clone();
        names::shuffle(&mut shuffled, 7);
        find_in("sorted", &sorted);
        find_in("reversed", &reversed);
        find_in("shuffled", &shuffled);
        for runs in [2, 5, 6, 7, 12] {
            let mut interleaved = Vec::new();
            for run in 0..runs {
                interleaved.extend(sorted.iter().skip(run).step_by(runs).cloned());
            }
            find_in("runs", &interleaved);
        }
    }
}

/// Names chosen so that their 64-bit hashes are one: not taken for duplicates, and a duplicate among them found.
#[test]
fn names_of_one_hash() {
    for count in [3, 31, 32, 33, 34, 35, 66, 67, if cfg!(debug_assertions) { 150 } else { 1000 }] {
        let colliding = names::colliding(count);
        let hash = names::hash(Text::from(colliding[0].as_str()));
        assert!(colliding.iter().all(|name| names::hash(Text::from(name.as_str())) == hash), "made for another hash");
        find_in("colliding", &colliding);
    }
}

/// The same among names of other hashes, so that they are sieved or sorted together.
#[test]
fn names_of_one_hash_among_others() {
    let mut mixed = names::checkpoint(600);
    mixed.extend(names::colliding(60));
    names::shuffle(&mut mixed, 3);
    find_in("mixed", &mixed);
}

#[test]
fn built_by_pieces() {
    let file = Build::new().tensor("a", "U8", &[1], 0..1).tensor("b", "U8", &[1], 1..2);
    let file = file.raw(r#""\u0062": {"shape":[0],"dtype":"U8","data_offsets":[2,2]}"#);
    let file = file.metadata(&[("k", "v")]).padding("  \n").file(2);
    let error = file.parse().expect_err("b stands twice");
    assert_eq!(error.kind(), DuplicateName { first: file.at(r#""b""#) });
    assert_eq!(error.offset(), Some(file.at(r#""\u0062""#)));
    assert_eq!(file.header().err(), Some(error));
}

/// Names drawn at random, so that many stand many times: the first repeat is the one that a plain list finds.
#[test]
fn many_names_many_times() {
    let mut random = Random::new(6);
    for count in [40, 300, if cfg!(debug_assertions) { 600 } else { 2500 }] {
        let pool = names::checkpoint(count);
        // From a repeat at once to one near the end: what stands before it is in no order, and new.
        for fresh in [0, count / 3, count - 4] {
            let mut drawn = pool.clone();
            names::shuffle(&mut drawn, fresh as u64);
            for name in drawn.iter_mut().skip(fresh) {
                name.clone_from(&pool[random.below(count)]);
            }
            let mut seen = HashMap::new();
            let repeat = (0..count).find_map(|place| seen.insert(&drawn[place], place).map(|first| (first, place)));
            let (first, again) = repeat.expect("so many draws from so few");
            for long in [false, true] {
                let bytes = File::new(&header_of(&drawn, long), 0).bytes;
                let places = member_places(&drawn);
                for heap in [false, true] {
                    let options = ParseOptions { heap, ..ParseOptions::default() };
                    let error = options.parse_header(&bytes).expect_err("a duplicate");
                    let expected = (DuplicateName { first: places[first] }, Some(places[again]));
                    assert_eq!((error.kind(), error.offset()), expected, "{count} {fresh} {long} {heap}");
                }
            }
        }
    }
}

/// The byte where each member of such a header begins.
fn member_places(names: &[String]) -> Vec<u64> {
    let mut next = 9;
    let mut places = Vec::new();
    for name in names {
        places.push(next);
        next += (r#""":,"#.len() + name.len() + NONE.len()) as u64;
    }
    places
}

/// Twenty thousand names of one hash, in no order: with a heap they cost what others cost, and an index tells
/// them apart.
#[test]
fn twenty_thousand_names_of_one_hash() {
    if !cfg!(feature = "alloc") {
        return; // without a heap this is what `max_tensors` is for
    }
    let mut names = chained(20_000);
    let bytes = File::new(&header_of(&names, false), 0).bytes;
    let header = Header::parse(&bytes).expect("well");
    let mut slots = vec![Slot::default(); names.len()];
    let index = header.index_in(&mut slots).expect("enough");
    for name in names.iter().step_by(if cfg!(debug_assertions) { 5 } else { 1 }) {
        assert!(index.tensor(name).is_ok_and(|tensor| tensor.name() == name.as_str()));
    }
    assert_eq!(index.tensor(&names[0][..32]).err().map(|error| error.kind()), Some(ErrorKind::NotFound));

    let places = member_places(&names);
    for (first, spelt) in
        [(5, names[5].clone()), (19_998, format!(r"\u00{:02x}{}", names[19_998].as_bytes()[0], &names[19_998][1..]))]
    {
        let last = std::mem::replace(&mut names[19_999], spelt);
        let bytes = File::new(&header_of(&names, false), 0).bytes;
        let error = Header::parse(&bytes).expect_err("a duplicate");
        assert_eq!((error.kind(), error.offset()), (DuplicateName { first: places[first] }, Some(places[19_999])));
        names[19_999] = last;
    }
}

/// Many names of one hash, in no order. Like [`names::colliding`], but cheap by the ten thousand: three blocks,
/// each of 28 that lead from one state to one other, so that any three in a row will do.
pub(crate) fn chained(count: usize) -> Vec<String> {
    const BLOCKS: usize = 28;
    let step = |state: u64, word: [u8; 8]| {
        (state.rotate_left(23) ^ u64::from_le_bytes(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    };
    let mut random = Random::new(8);
    let mut state = 0u64;
    let mut names = vec![String::new()];
    for target in *b"abc" {
        let target = u64::from(target).wrapping_mul(0x0101_0101_0101_0101);
        let mut blocks = HashSet::new();
        while blocks.len() < BLOCKS {
            let first: [u8; 8] = std::array::from_fn(|_| b'a' + random.below(26) as u8);
            let second = (target ^ step(state, first).rotate_left(23)).to_le_bytes();
            if second.iter().all(|byte| (b'#'..=b'~').contains(byte) && *byte != b'\\') {
                blocks.insert([first, second].concat().into_iter().map(char::from).collect::<String>());
            }
        }
        let mut blocks: Vec<_> = blocks.into_iter().collect();
        blocks.sort_unstable(); // a HashSet's order differs from run to run
        names = names.iter().flat_map(|name| blocks.iter().map(move |block| format!("{name}{block}"))).collect();
        state = target.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    let hash = names::hash(Text::from(names[0].as_str()));
    assert!(names.iter().all(|name| names::hash(Text::from(name.as_str())) == hash), "made for another hash");
    names::shuffle(&mut names, 5);
    names.truncate(count);
    names
}
