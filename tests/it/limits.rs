//! Limits as they stand by default, at the limit and one past it, and which of several is met first.

use std::fmt::Write as _;

use weightview::error::ErrorKind::{
    DuplicateName, HeaderTooLong, Hole, IntegerTooLarge, Json, NestingTooDeep, RankTooHigh, TooManyTensors,
    UnknownField,
};
use weightview::error::{Blame, JsonFault};
use weightview::limits;
use weightview::safetensors::{Header, ParseOptions, header_len};

use crate::build::{Build, File, NONE, ONE};

#[test]
fn defaults() {
    let options = ParseOptions::default();
    assert_eq!((options.max_header_len, limits::MAX_HEADER_LEN), (100_000_000, 100_000_000));
    assert_eq!((options.max_tensors, limits::MAX_TENSORS), (1_000_000, 1_000_000));
    assert_eq!((options.max_nesting, limits::MAX_NESTING), (127, 127));
    assert_eq!((options.strict, options.heap, limits::MAX_RANK), (false, true, 16));
}

/// A header of 100,000,000 bytes, nearly all of them padding, is read; one byte more is not.
#[test]
fn a_header_of_100_000_000_bytes() {
    if cfg!(debug_assertions) {
        return; // a long look at spaces
    }
    let text = format!(r#"{{"a":{NONE}}}"#);
    let mut bytes = Build::new().raw(&text[1..text.len() - 1]).padding(&" ".repeat(100_000_000 - text.len())).head();
    assert_eq!(Header::parse(&bytes).map(|header| (header.len(), header.header_len())), Ok((1, 100_000_000)));
    bytes.push(b' ');
    bytes[..8].copy_from_slice(&100_000_001u64.to_le_bytes());
    let error = Header::parse(&bytes).expect_err("one too many");
    assert_eq!(error.kind(), HeaderTooLong { len: 100_000_001, limit: 100_000_000 });
}

#[test]
fn a_length_field_at_the_limit_and_over() {
    for limit in [0, 1, 255, 256, 1 << 32, u64::MAX - 1] {
        let options = ParseOptions { max_header_len: limit, ..ParseOptions::default() };
        assert_eq!(options.header_len(&limit.to_le_bytes()), Ok(limit));
        let error = options.header_len(&(limit + 1).to_le_bytes()).expect_err("one too many");
        assert_eq!((error.kind(), error.blame()), (HeaderTooLong { len: limit + 1, limit }, Blame::Limit));
        assert_eq!(error.offset(), Some(0));
    }
    let options = ParseOptions { max_header_len: u64::MAX, ..ParseOptions::default() };
    assert_eq!(options.header_len(&[0xff; 8]), Ok(u64::MAX));
    assert!(header_len(&100_000_001u64.to_le_bytes()).is_err());
}

/// One million tensors are the most by default; `__metadata__` is none.
#[test]
fn a_header_of_1_000_000_tensors() {
    let most = if cfg!(debug_assertions) { 20_000 } else { 1_000_000 };
    let options = if cfg!(debug_assertions) {
        ParseOptions { max_tensors: most, ..ParseOptions::default() }
    } else {
        ParseOptions::default()
    };
    let mut text = String::from(r#"{"__metadata__":{"k":"v"}"#);
    for place in 0..most {
        write!(text, r#","{place:07}":{NONE}"#).expect("a String");
    }
    let well = crate::build::with_data(format!("{text}}}").as_bytes(), 0);
    assert_eq!(options.parse_header(&well).map(|header| header.len() as u64), Ok(most));
    let over = crate::build::with_data(format!(r#"{text},"x":{NONE}}}"#).as_bytes(), 0);
    let error = options.parse_header(&over).expect_err("one too many");
    assert_eq!((error.kind(), error.offset()), (TooManyTensors { limit: most }, Some(text.len() as u64 + 9)));
}

/// The limit of tensors is met where the first too many stands: before what is wrong behind it, before what only
/// all of them can tell, and after what is wrong in front of it or in itself.
#[test]
fn most_tensors_among_other_faults() {
    let options = ParseOptions { max_tensors: 1, ..ParseOptions::default() };
    let limit = TooManyTensors { limit: 1 };
    for (marked, kind) in [
        (format!(r#"{{"a":{ONE},»"b":{NONE},"c":null}}"#), limit),
        (format!(r#"{{"a":{ONE},»"b":{NONE}"#), limit),
        (format!(r#"{{"a":{ONE},»"a":{ONE}}}"#), limit),
        (format!(r#"{{"a":{ONE},"b":»null}}"#), weightview::error::ErrorKind::EntryNotObject),
        (format!(r#"{{"a":{ONE}»;"b":{NONE}}}"#), Json(JsonFault::Expected(weightview::error::Token::CommaOrBrace))),
    ] {
        let file = File::new(&marked, 1);
        for heap in [false, true] {
            let error = ParseOptions { heap, ..options }.parse_header(&file.bytes).expect_err("too many");
            assert_eq!((error.kind(), error.offset()), (kind, Some(file.fault())), "{marked}");
        }
    }
    // At the limit, the faults that only all of them can tell.
    let two = ParseOptions { max_tensors: 2, ..ParseOptions::default() };
    let file = File::new(&format!(r#"{{«"a":{NONE},»"a":{NONE}}}"#), 0);
    let error = two.parse_header(&file.bytes).expect_err("a duplicate");
    assert_eq!((error.kind(), error.offset()), (DuplicateName { first: file.first() }, Some(file.fault())));
    let file = File::new(&format!(r#"{{"a":{ONE},"b":{}}}"#, NONE.replace("[0,0]", "»[2,2]")), 1);
    let error = two.parse_header(&file.bytes).expect_err("a hole");
    assert_eq!((error.kind(), error.offset()), (Hole { expected: 1, begin: 2 }, Some(file.fault())));
}

/// Arrays and objects count alike, and the deepest counts, wherever it stands.
#[test]
fn nesting_of_both_kinds() {
    let field = |value: &str| {
        format!(r#"{{"a":{{"dtype":"U8","shape":[0],"x":[[1],{{"y":[]}}],"z":{value},"data_offsets":[0,0]}}}}"#)
    };
    for limit in [5, 8, 126] {
        let options = ParseOptions { max_nesting: limit, ..ParseOptions::default() };
        let open: String = (2..limit).map(|level| if level % 2 == 0 { "[" } else { r#"{"k":"# }).collect();
        let close: String = (2..limit).rev().map(|level| if level % 2 == 0 { "]" } else { "}" }).collect();
        assert!(options.parse(&File::new(&field(&format!("{open}0{close}")), 0).bytes).is_ok());
        for one_more in ["[]", "{}"] {
            let file = File::new(&field(&format!("{open}»{one_more}{close}")), 0);
            let error = options.parse(&file.bytes).expect_err("too deep");
            assert_eq!((error.kind(), error.blame()), (NestingTooDeep { limit: limit.into() }, Blame::Limit));
            assert_eq!(error.offset(), Some(file.fault()));
        }
    }
}

/// Limits that no option raises.
#[test]
fn fixed_limits() {
    let options = ParseOptions {
        max_header_len: u64::MAX,
        max_tensors: u64::MAX,
        max_nesting: u32::MAX,
        strict: false,
        heap: true,
    };
    for (shape, kind, blame) in [
        (format!("[{}»1]", "1,".repeat(16)), RankTooHigh, Blame::Unsupported),
        ("[»18446744073709551616]".into(), IntegerTooLarge, Blame::File),
    ] {
        let file = File::new(&format!(r#"{{"a":{{"dtype":"U8","shape":{shape},"data_offsets":[0,1]}}}}"#), 1);
        let error = options.parse(&file.bytes).expect_err("over a limit");
        assert_eq!((error.kind(), error.offset(), error.blame()), (kind, Some(file.fault()), blame));
    }
    let file = Build::new().tensor("a", "U8", &[1; 16], 0..1).file(1);
    assert!(options.parse(&file.bytes).is_ok());
}

/// Strict and limits at once: whichever stands first.
#[test]
fn strict_and_limits() {
    let options = ParseOptions { max_tensors: 1, max_nesting: 4, ..ParseOptions::strict() };
    let field = r#"{"dtype":"U8","shape":[0],"data_offsets":[0,0],"x":"#;
    for (marked, kind) in [
        (format!(r#"{{"a":{},"b":{NONE}}}"#, format!("{field}[[]]}}").replace(r#""x""#, r#"»"x""#)), UnknownField),
        (format!(r#"{{"a":{NONE},"b":{}}}"#, format!("{field}0}}").replace(r#""x""#, r#"»"x""#)), UnknownField),
        (format!(r#"{{"a":{NONE},»"b":{NONE}}}"#), TooManyTensors { limit: 1 }),
        (format!(r#"{{"a":{field}[[»[]]]}}}}"#), NestingTooDeep { limit: 4 }),
    ] {
        let file = File::new(&marked, 0);
        let error = options.parse(&file.bytes).expect_err("a fault");
        assert_eq!((error.kind(), error.offset()), (kind, Some(file.fault())), "{marked}");
    }
}
