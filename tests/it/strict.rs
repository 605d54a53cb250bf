//! `strict`: the letter of the specification. And the limits that a caller may set.

use weightview::error::ErrorKind::{
    self, HeaderCut, HeaderLeadingSpace, HeaderNotObject, HeaderPadding, HeaderTooLong, Json, NestingTooDeep,
    TooManyTensors, UnknownField,
};
use weightview::error::{Blame, JsonFault};
use weightview::limits;
use weightview::safetensors::ParseOptions;

use crate::build::{Build, File, NONE, ONE};

const STRICT: ParseOptions = ParseOptions {
    max_header_len: limits::MAX_HEADER_LEN,
    max_tensors: limits::MAX_TENSORS,
    max_nesting: limits::MAX_NESTING,
    strict: true,
    heap: true,
};

/// Refused when strict, at the byte marked `»`, and accepted else.
fn only_lax(marked: &str, data: usize, kind: ErrorKind) {
    let file = File::new(marked, data);
    let error = STRICT.parse(&file.bytes).expect_err("against the letter");
    assert_eq!((error.kind(), error.offset()), (kind, Some(file.fault())), "{marked}");
    assert_eq!(STRICT.parse_header(&file.bytes).err(), Some(error));
    assert!(file.parse().is_ok(), "{marked}");
}

#[test]
fn strict_is_the_default_but_for_one_field() {
    assert_eq!(ParseOptions::strict(), STRICT);
    assert_eq!(ParseOptions { strict: false, ..STRICT }, ParseOptions::default());
}

#[test]
fn strict_refuses_space_before_the_header() {
    for space in [" ", "\t", "\n", "\r", "  \n"] {
        only_lax(&format!("»{space}{{}}"), 0, HeaderLeadingSpace);
        only_lax(&format!(r#"»{space}{{"a":{ONE}}}"#), 1, HeaderLeadingSpace);
    }
}

#[test]
fn strict_refuses_other_padding_than_spaces() {
    for space in ["\t", "\n", "\r", "\r\n", "\n   "] {
        only_lax(&format!("{{}}»{space}"), 0, HeaderPadding);
        only_lax(&format!(r#"{{"a":{ONE}}}  »{space}  "#), 1, HeaderPadding);
    }
}

#[test]
fn strict_refuses_unknown_fields() {
    only_lax(r#"{"a":{»"x":1,"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#, 1, UnknownField);
    only_lax(r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1], »"":null}}"#, 1, UnknownField);
    only_lax(r#"{"a":{"dtype":"U8",»"Shape":[2],"shape":[1],"data_offsets":[0,1]}}"#, 1, UnknownField);
}

#[test]
fn strict_accepts_the_rest() {
    for (text, data) in [
        ("{}".into(), 0),
        ("{}      ".into(), 0),
        (format!(r#"{{"a":{ONE}}}   "#), 1),
        (format!(r#"{{"b":{ONE},"__metadata__":null,"a":{NONE}}}"#), 1),
        (r#"{"__metadata__":{"a":"b"},"\u0061" : { "data_offsets":[0,1],"sh\u0061pe":[1] , "dtype":"U8"} }"#.into(), 1),
    ] {
        let file = File::new(&text, data);
        assert_eq!(STRICT.parse(&file.bytes).map(|file| file.data_start()), Ok(8 + text.len() as u64));
    }
}

/// What is wrong anyway is wrong for its own reason.
#[test]
fn strict_and_faulty() {
    for (marked, kind) in [
        ("»[]", HeaderNotObject),
        ("»\u{b}{}", HeaderNotObject),
        ("»", HeaderNotObject),
        ("{}»\0", Json(JsonFault::AfterEnd)),
        ("{}  »x", Json(JsonFault::AfterEnd)),
        ("{} »\u{c}", Json(JsonFault::AfterEnd)),
    ] {
        let file = File::new(marked, 0);
        let error = STRICT.parse(&file.bytes).expect_err("a fault");
        let lax = file.parse().expect_err("a fault");
        // To Rust a form feed is white space, to JSON it is none: either name for it will do.
        let expected = if marked.contains('\u{c}') { error.kind() } else { kind };
        assert_eq!((error.kind(), error.offset()), (expected, Some(file.fault())), "{marked:?}");
        assert_eq!((lax.kind(), lax.offset()), (kind, Some(file.fault())));
    }
}

#[test]
fn longest_header() {
    let file = Build::new().tensor("a", "U8", &[1], 0..1).padding("     ").file(1);
    let len = file.bytes.len() as u64 - 9;
    for (limit, well) in [(u64::MAX, true), (len + 1, true), (len, true), (len - 1, false), (0, false)] {
        let options = ParseOptions { max_header_len: limit, ..ParseOptions::default() };
        let answer = options.parse(&file.bytes);
        assert_eq!(answer.is_ok(), well, "{limit}");
        if let Err(error) = answer {
            assert_eq!((error.kind(), error.offset()), (HeaderTooLong { len, limit }, Some(0)));
            assert_eq!(error.blame(), Blame::Limit);
            assert_eq!(options.parse_header(&file.bytes).err(), Some(error));
        }
    }
    // The limit comes before the length of the file, as in the reference.
    let options = ParseOptions { max_header_len: len - 1, ..ParseOptions::default() };
    let error = options.parse(&file.bytes[..20]).expect_err("too long");
    assert_eq!(error.kind(), HeaderTooLong { len, limit: len - 1 });
    let error = file.parse().and(weightview::SafeTensors::parse(&file.bytes[..20])).expect_err("cut");
    assert_eq!(error.kind(), HeaderCut { expected: 8 + len, actual: 20 });
}

#[test]
fn most_tensors() {
    for spaced in [false, true] {
        for metadata in [false, true] {
            let mut build = Build::new();
            for place in 0..5 {
                build.push_tensor(&format!("t{place}"), "U8", &[1], place..place + 1);
            }
            let text = if metadata { build.metadata(&[("k", "v")]).text() } else { build.text() };
            let file = File::new(&if spaced { text.replace(':', " : ") } else { text }, 5);
            for limit in 0..=6 {
                for heap in [false, true] {
                    let options = ParseOptions { max_tensors: limit, heap, ..ParseOptions::default() };
                    match options.parse(&file.bytes) {
                        Ok(file) => assert!(limit >= 5 && file.len() == 5),
                        Err(error) => {
                            assert!(limit < 5);
                            assert_eq!((error.kind(), error.blame()), (TooManyTensors { limit }, Blame::Limit));
                            assert_eq!(error.offset(), Some(file.at(&format!(r#""t{limit}""#))));
                        }
                    }
                }
            }
        }
    }
    let none = ParseOptions { max_tensors: 0, ..ParseOptions::default() };
    assert!(none.parse(&File::new(r#"{"__metadata__":{"a":"b"}}"#, 0).bytes).is_ok());
}

/// `max_nesting` counts the header's object, the entry's, and what nests in a field that is ignored.
#[test]
fn deepest_nesting() {
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"a":{{"x":{open}{close},"dtype":"U8","shape":[1],"data_offsets":[0,1]}}}}"#)
    };
    for limit in [3, 4, 10, 64, 126, 127] {
        let options = ParseOptions { max_nesting: limit, ..ParseOptions::default() };
        let room = limit as usize - 2;
        assert!(options.parse(&File::new(&nested(room), 1).bytes).is_ok());
        let text = nested(room + 1);
        let file = File::new(&text.replacen(&"[".repeat(room), &format!("{}»", "[".repeat(room)), 1), 1);
        let error = options.parse(&file.bytes).expect_err("too deep");
        assert_eq!((error.kind(), error.blame()), (NestingTooDeep { limit: limit.into() }, Blame::Limit));
        assert_eq!(error.offset(), Some(file.fault()));
    }
    // More than the parser can follow is no more than that.
    let options = ParseOptions { max_nesting: u32::MAX, ..ParseOptions::default() };
    assert!(options.parse(&File::new(&nested(125), 1).bytes).is_ok());
    let error = options.parse(&File::new(&nested(126), 1).bytes).expect_err("too deep");
    assert_eq!(error.kind(), NestingTooDeep { limit: 127 });
}

/// However low the limit: it is about fields that are ignored, and no spelling of the others needs more.
#[test]
fn no_nesting_at_all() {
    let well = format!(r#"{{"a":{ONE},"__metadata__":{{"k":"v"}}}}"#);
    for limit in 0..3 {
        let options = ParseOptions { max_nesting: limit, ..ParseOptions::default() };
        for text in [well.clone(), well.replace(':', " : "), well.replace("dtype", r"d\u0074ype")] {
            assert_eq!(options.parse(&File::new(&text, 1).bytes).map(|file| file.len()), Ok(1), "{limit}: {text}");
        }
    }
}

/// A form feed is no white space in JSON: that is the fault with `strict` as without.
#[test]
fn a_form_feed_is_no_white_space() {
    use weightview::error::{ErrorKind, JsonFault};
    for (text, at, kind) in [
        ("\u{c}{}", 8, ErrorKind::HeaderNotObject),
        ("{}\u{c}", 10, ErrorKind::Json(JsonFault::AfterEnd)),
        ("{} \u{c}", 11, ErrorKind::Json(JsonFault::AfterEnd)),
    ] {
        let bytes = crate::build::with_data(text.as_bytes(), 0);
        for options in [weightview::safetensors::ParseOptions::strict(), Default::default()] {
            let error = options.parse(&bytes).expect_err("a fault");
            assert_eq!((error.kind(), error.offset()), (kind, Some(at)), "{text:?}");
        }
    }
}
