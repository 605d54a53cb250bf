//! Large headers. What they cost is bounded: these tests are slow only when something is quadratic.

use std::fmt::Write as _;

use weightview::Slot;
use weightview::error::ErrorKind::{self, DuplicateName, Overlap, TooManyTensors};
use weightview::safetensors::{Header, ParseOptions};

use crate::names::{self, Random};

/// Debug builds parse about twenty times slower.
const SCALE: usize = if cfg!(debug_assertions) { 100 } else { 1 };

const UNLIMITED: ParseOptions = ParseOptions {
    max_header_len: u64::MAX,
    max_tensors: u64::MAX,
    max_nesting: weightview::limits::MAX_NESTING,
    strict: false,
    heap: true,
};

/// The head of a file of so many tensors; `entry` writes what stands behind the place of each, which names it.
fn head(count: usize, entry: impl Fn(&mut Vec<u8>, usize)) -> Vec<u8> {
    let mut bytes = vec![0; 8];
    bytes.push(b'{');
    for place in 0..count {
        if place > 0 {
            bytes.push(b',');
        }
        entry(&mut bytes, place);
    }
    bytes.push(b'}');
    let len = bytes.len() as u64 - 8;
    bytes[..8].copy_from_slice(&len.to_le_bytes());
    bytes
}

fn write(bytes: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    std::io::Write::write_fmt(bytes, text).expect("memory");
}

/// Ten million tensors on one range: an overlap, found at the second of them.
#[test]
fn ten_million_tensors_on_one_range() {
    let count = 10_000_000 / SCALE;
    let bytes = head(count, |bytes, place| {
        write(bytes, format_args!(r#""{place}":{{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#));
    });
    let second = bytes.iter().skip(20).position(|&byte| byte == b'}').expect("an entry") + 20;
    let second = bytes[second..].windows(5).position(|window| window == b"[0,1]").expect("another") + second;
    for heap in [false, true] {
        let error = ParseOptions { heap, ..UNLIMITED }.parse_header(&bytes).expect_err("they overlap");
        assert_eq!((error.kind(), error.offset()), (Overlap { expected: 1, begin: 0 }, Some(second as u64)));
    }
}

/// As many empty tensors at one place: all is well.
#[test]
fn many_empty_tensors_at_one_place() {
    let count = 4_000_000 / SCALE;
    let bytes = head(count, |bytes, place| {
        write(bytes, format_args!(r#""{place:08}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}"#));
    });
    for heap in [false, true] {
        let header = ParseOptions { heap, ..UNLIMITED }.parse_header(&bytes).expect("well");
        assert_eq!((header.len(), header.data_len()), (count, 0));
    }
}

/// 1.3 million tensors, with the limit raised; refused, at the first too many, with it as it is.
#[test]
fn a_header_of_1_300_000_tensors() {
    let count = 1_300_000;
    let bytes = head(count, |bytes, place| {
        let (begin, end) = (place * 4, place * 4 + 4);
        write(bytes, format_args!(r#""{place:07}":{{"dtype":"F32","shape":[],"data_offsets":[{begin},{end}]}}"#));
    });
    assert!(bytes.len() < 100_000_000);
    let header = ParseOptions { max_tensors: 1_300_000, ..ParseOptions::default() }.parse_header(&bytes).expect("well");
    assert_eq!((header.len(), header.data_len()), (count, 4 * count as u64));

    let error = Header::parse(&bytes).expect_err("too many");
    assert_eq!(error.kind(), TooManyTensors { limit: 1_000_000 });
    let at = error.offset().expect("a place") as usize;
    assert!(bytes[at..].starts_with(br#""1000000":"#));
    if cfg!(debug_assertions) {
        return; // the rest takes long, and a few tensors show it as well: see `strict`
    }
    assert!(header.tensors().last().is_some_and(|last| last.name() == "1299999"));
    let least = ParseOptions { max_tensors: 1_299_999, ..ParseOptions::default() };
    assert_eq!(least.parse_header(&bytes).err().map(|error| error.kind()), Some(TooManyTensors { limit: 1_299_999 }));
}

/// Hundreds of thousands of tensors whose names and offsets are in no order, with a heap; and an index of them.
#[test]
fn many_in_no_order_with_a_heap() {
    if !cfg!(feature = "alloc") {
        return; // without a heap this is what `max_tensors` is for
    }
    let count = 500_000 / SCALE;
    let mut order: Vec<usize> = (0..count).collect();
    names::shuffle(&mut order, 3);
    let entry = |bytes: &mut Vec<u8>, place: usize| {
        let (name, begin) = (order[place], order[place] * 2);
        let end = begin + 2;
        write(bytes, format_args!(r#""{name:x}":{{"dtype":"I16","shape":[1],"data_offsets":[{begin},{end}]}}"#));
    };
    let header_bytes = head(count, entry);
    let header = UNLIMITED.parse_header(&header_bytes).expect("well");
    assert_eq!((header.len(), header.data_len()), (count, 2 * count as u64));
    let mut slots = vec![Slot::default(); count];
    let index = header.index_in(&mut slots).expect("enough");
    let mut random = Random::new(1);
    for _ in 0..1000 {
        let name = random.below(count);
        assert_eq!(index.tensor(&format!("{name:x}")).map(|tensor| tensor.data_offsets().start), Ok(2 * name as u64));
    }

    // One name again, empty and at the end: found, with its first place.
    let twice = head(count + 1, |bytes, place| match order.get(place) {
        Some(_) => entry(bytes, place),
        None => write(bytes, format_args!(r#""{:x}":{{"dtype":"I16","shape":[0],"data_offsets":[0,0]}}"#, order[7])),
    });
    let error = UNLIMITED.parse_header(&twice).expect_err("a duplicate");
    let DuplicateName { first } = error.kind() else { panic!("{error}") };
    let name = format!(r#""{:x}":"#, order[7]);
    for at in [first, error.offset().expect("a place")] {
        assert!(twice[at as usize..].starts_with(name.as_bytes()));
    }
    assert!(first < 1000 && error.offset() > Some(twice.len() as u64 - 100));
}

/// Tens of thousands in no order without a heap: passes over the header, but a bounded number of them.
#[test]
fn many_in_no_order_without_a_heap() {
    let count = if cfg!(debug_assertions) { 2000 } else { 30_000 };
    let mut order: Vec<usize> = (0..count).collect();
    names::shuffle(&mut order, 3);
    let bytes = head(count, |bytes, place| {
        let (name, begin) = (order[place], order[place] * 2);
        let end = begin + 2;
        write(bytes, format_args!(r#""{name:x}":{{"dtype":"I16","shape":[1],"data_offsets":[{begin},{end}]}}"#));
    });
    let header = ParseOptions { heap: false, ..UNLIMITED }.parse_header(&bytes).expect("well");
    assert_eq!((header.len(), header.data_len()), (count, 2 * count as u64));
}

/// Names of one hash by the thousand: with a heap no set of names makes the parser, or an index, slow.
#[test]
fn many_names_of_one_hash() {
    let count = names::COLLIDING;
    let names = names::colliding(count);
    let bytes = head(count, |bytes, place| {
        let name = &names[place];
        write(bytes, format_args!(r#""{name}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}"#));
    });
    let header = UNLIMITED.parse_header(&bytes).expect("well");
    let mut slots = vec![Slot::default(); count];
    let index = header.index_in(&mut slots).expect("enough");
    for name in &names {
        assert!(index.tensor(name).is_ok());
    }
    assert_eq!(index.tensor("absent").err().map(|error| error.kind()), Some(ErrorKind::NotFound));
}

/// A header that is one string of 50 MB, one number of 50 MB, and white space: linear, and no memory.
#[test]
fn one_long_token() {
    let len = 50_000_000 / SCALE;
    for (token, well) in [
        (format!(r#""{}""#, "x".repeat(len)), true),
        (format!(r#""{}""#, r"\u0041".repeat(len / 6)), true),
        (format!("0.{}", "1".repeat(len)), true),
        ("1".repeat(len), false),
        (format!("[{}1]", "1,".repeat(len / 2)), true),
        (format!("{}1", " ".repeat(len)), true),
    ] {
        let mut text = String::with_capacity(len + 200);
        write!(text, r#"{{"a":{{"x":{token},"dtype":"U8","shape":[0],"data_offsets":[0,0]}}}}"#).expect("memory");
        let bytes = crate::build::with_data(text.as_bytes(), 0);
        assert_eq!(Header::parse(&bytes).is_ok(), well);
    }
}
