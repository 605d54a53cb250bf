//! Errors as a user meets them: small, `Copy`, a sentence for a person, and whose fault it is.

use weightview::error::{Blame, ErrorKind, Field, JsonFault, Token};
use weightview::safetensors::ParseOptions;
use weightview::{Dtype, Error, SafeTensors, Slot};

use crate::build::{Build, File, NONE};

#[test]
fn small_and_copy() {
    fn is_copy<T: Copy + Send + Sync + std::hash::Hash + Eq + 'static>() {}
    fn is_error<T: std::error::Error>() {}
    is_copy::<Error>();
    is_copy::<ErrorKind>();
    is_error::<Error>();
    assert!(size_of::<Error>() <= 48, "{}", size_of::<Error>());
    assert!(size_of::<Result<SafeTensors<'_>, Error>>() <= 96);
}

fn fault(text: &str, data: usize) -> Error {
    File::new(text, data).parse().expect_err("a fault")
}

/// An error of every kind that a file can cause, and whose fault it is.
fn every_kind() -> Vec<(Error, Blame)> {
    let entry = |fields: &str| format!(r#"{{"a":{{{fields}}}}}"#);
    let shape = |shape: &str| entry(&format!(r#""dtype":"U8","shape":{shape},"data_offsets":[0,1]"#));
    let offsets = |offsets: &str| entry(&format!(r#""dtype":"U8","shape":[1],"data_offsets":{offsets}"#));
    let strict = |text: &str| ParseOptions::strict().parse(&File::new(text, 0).bytes).expect_err("a fault");
    let small = ParseOptions { max_header_len: 100, max_tensors: 1, ..ParseOptions::default() };
    let limited = |text: &str| small.parse(&File::new(text, 0).bytes).expect_err("a fault");
    let two = Build::new().raw(&format!(r#""a":{NONE}"#)).raw(&format!(r#""b":{NONE}"#)).text();
    let file = File::new("{}", 0);
    let empty = file.parse().expect("well");
    let one = Build::new().tensor("a", "U8", &[0], 0..0).file(0);
    let few = one.parse().expect("well").index_in(&mut [] as &mut [Slot]).expect_err("too few");

    let mut all = Vec::new();
    for error in [
        SafeTensors::parse(b"1234567").expect_err("a fault"),
        SafeTensors::parse(b"\x09\0\0\0\0\0\0\0{}").expect_err("a fault"),
        SafeTensors::parse(b"\x01\0\0\0\0\0\0\0\xff").expect_err("a fault"),
        fault("[]", 0),
        fault("{1", 0),
        fault("{}x", 0),
        fault("{\"\u{1}", 0),
        fault(r#"{"\x"#, 0),
        fault(r#"{"\ud800"#, 0),
        fault(&shape("[01]"), 1),
        fault(r#"{"a"#, 0),
        fault(r#"{"a""#, 0),
        fault(&shape("[1 1]"), 1),
        fault(&shape("[1,]"), 1),
        fault(r#"{"__metadata__":{"a":"b" "c"}}"#, 0),
        strict(" {}"),
        strict("{}\n"),
        strict(&entry(r#""x":1"#)),
        fault(r#"{"__metadata__":null,"__metadata__":null}"#, 0),
        fault(r#"{"__metadata__":1}"#, 0),
        fault(r#"{"__metadata__":{"a":1}}"#, 0),
        fault(r#"{"__metadata__":{"a":"","a":""}}"#, 0),
        fault(&format!(r#"{{"a":{NONE},"a":{NONE}}}"#), 0),
        fault(r#"{"a":1}"#, 0),
        fault(&entry(r#""shape":[],"shape":[]"#), 0),
        fault(&entry(""), 0),
        fault(&entry(r#""dtype":1"#), 0),
        fault(&shape("1"), 0),
        fault(&offsets("1"), 0),
        fault(&shape("[1.0]"), 1),
        fault(&shape("[99999999999999999999]"), 1),
        fault(&offsets("[0]"), 1),
        fault(&shape("[4294967296,4294967296]"), 1),
        fault(&entry(r#""dtype":"F4","shape":[1],"data_offsets":[0,1]"#), 1),
        fault(&offsets("[1,0]"), 1),
        fault(&offsets("[0,2]"), 2),
        fault(&offsets("[1,2]"), 2),
        fault(&Build::new().tensor("a", "U8", &[2], 0..2).tensor("b", "U8", &[2], 1..3).text(), 3),
        fault(&Build::new().tensor("a", "U8", &[1 << 60], 0..1 << 60).text().replace("U8", "F64"), 0),
        fault(&offsets("[0,1]"), 0),
        fault(&offsets("[0,1]"), 2),
    ] {
        all.push((error, Blame::File));
    }
    for error in [
        fault(&entry(r#""dtype":"F31","shape":[],"data_offsets":[0,4]"#), 4),
        fault(&shape(&format!("[{}1]", "1,".repeat(16))), 1),
        fault(&entry(r#""x":1e308"#), 0),
    ] {
        all.push((error, Blame::Unsupported));
    }
    for error in [
        SafeTensors::parse(&[0xff; 9]).expect_err("a fault"),
        limited(&format!("{{}}{}", " ".repeat(99))),
        ParseOptions { max_tensors: 1, ..ParseOptions::default() }
            .parse(&File::new(&two, 0).bytes)
            .expect_err("a fault"),
        fault(&entry(&format!(r#""x":{}"#, "[".repeat(200))), 0),
    ] {
        all.push((error, Blame::Limit));
    }
    for error in [empty.tensor("a").expect_err("not there"), few] {
        all.push((error, Blame::Caller));
    }
    all
}

#[test]
fn blame() {
    for (error, blame) in every_kind() {
        assert_eq!(error.blame(), blame, "{error}");
        assert_eq!(error.offset().is_none(), blame == Blame::Caller, "{error}");
    }
    // A name that is no dtype's, given by a caller.
    let error = "F31".parse::<Dtype>().expect_err("no dtype");
    assert_eq!((error.kind(), error.offset()), (ErrorKind::UnknownDtype, None));
}

/// Sentences: they say the byte first, hold no `Debug` output, and are of one line.
#[test]
fn sentences() {
    let mut kinds = std::collections::HashSet::new();
    for (error, _) in every_kind() {
        kinds.insert(std::mem::discriminant(&error.kind()));
        let text = error.to_string();
        let sentence = match error.offset() {
            Some(offset) => text.strip_prefix(&format!("byte {offset}: ")).expect("the byte comes first"),
            None => &text,
        };
        assert_eq!(error.kind().to_string(), sentence);
        assert!(sentence.split_whitespace().count() >= 4, "{text}");
        assert!(sentence.starts_with(|c: char| c.is_lowercase() || c == '`'), "{text}");
        assert!(!sentence.ends_with(['.', ' ']), "{text}");
        let debug = format!("{:?}", error.kind());
        let name = debug.split([' ', '(', '{']).next().expect("a name");
        assert!(!text.contains(name), "{text}");
        for wrong in ["\"", "\n", "Some(", "None", "{ ", "  ", "Error", "error"] {
            assert!(!text.contains(wrong), "{text} has {wrong:?}");
        }
    }
    // All but TooLargeForHost (32-bit hosts alone) and FileLenOverflow (see `sizes`) were met.
    assert!(kinds.len() >= 36, "{}", kinds.len());
}

#[test]
fn words() {
    let cases = [
        (fault("[]", 0), "byte 8: the header must be a JSON object, starting with `{`"),
        (
            fault(&Build::new().tensor("a", "F32", &[2], 0..9).text(), 9),
            "byte 55: shape and dtype need 8 bytes, but `data_offsets` spans 9",
        ),
        (
            fault("{\"a\u{1b}\":0}", 0),
            "byte 11: this is not valid JSON: the control character 0x1b stands raw in a string; it must be written \\u001b",
        ),
    ];
    for (error, text) in cases {
        assert_eq!(error.to_string(), text);
    }
    for (field, name) in [(Field::Dtype, "dtype"), (Field::Shape, "shape"), (Field::DataOffsets, "data_offsets")] {
        assert_eq!((field.as_str(), field.to_string().as_str()), (name, name));
        assert!(ErrorKind::MissingField(field).to_string().contains(&format!("`{name}`")));
        assert!(ErrorKind::DuplicateField(field).to_string().contains(&format!("`{name}`")));
        assert!(ErrorKind::FieldType(field).to_string().contains(&format!("`{name}` must be ")));
    }
    let tokens = [Token::Value, Token::Key, Token::Colon, Token::CommaOrBrace, Token::CommaOrBracket];
    let said: std::collections::HashSet<_> = tokens.map(|token| JsonFault::Expected(token).to_string()).into();
    assert_eq!(said.len(), 5);
}

/// The numbers of an error are in its sentence.
#[test]
fn numbers() {
    for (error, numbers) in [
        (ErrorKind::HeaderTooLong { len: 1234, limit: 567 }, &["1234", "567"][..]),
        (ErrorKind::HeaderCut { expected: 1234, actual: 567 }, &["1234", "567"]),
        (ErrorKind::TooManyTensors { limit: 1234 }, &["1234", "max_tensors"]),
        (ErrorKind::NestingTooDeep { limit: 1234 }, &["1234"]),
        (ErrorKind::DuplicateName { first: 1234 }, &["1234"]),
        (ErrorKind::DuplicateMetadataKey { first: 1234 }, &["1234"]),
        (ErrorKind::PartialByte { bits: 1234 }, &["1234"]),
        (ErrorKind::OffsetsReversed { begin: 1234, end: 567 }, &["1234", "567"]),
        (ErrorKind::SizeMismatch { expected: 1234, actual: 567 }, &["1234", "567"]),
        (ErrorKind::Hole { expected: 567, begin: 1234 }, &["1234", "567"]),
        (ErrorKind::Overlap { expected: 1234, begin: 567 }, &["1234", "567"]),
        (ErrorKind::Truncated { expected: 1234, actual: 567 }, &["1234", "567"]),
        (ErrorKind::TrailingData { expected: 567, actual: 1234 }, &["1234", "567"]),
        (ErrorKind::TooFewSlots { needed: 1234, given: 567 }, &["1234", "567"]),
        (ErrorKind::FileTooShort { actual: 3 }, &["3", "8"]),
        (ErrorKind::RankTooHigh, &["16"]),
    ] {
        let text = error.to_string();
        assert!(numbers.iter().all(|number| text.contains(number)), "{text}");
    }
}
