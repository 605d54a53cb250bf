//! The head of a file alone: how long it is, and what it says without the data.

use weightview::error::ErrorKind::{
    FileTooShort, HeaderCut, HeaderNotObject, HeaderTooLong, NotFound, NotUtf8, TrailingData, Truncated,
};
use weightview::safetensors::{Header, ParseOptions, header_len};
use weightview::{Dtype, Error, SafeTensors};

use crate::agree::{assert_agrees, assert_invariants};
use crate::build::{Build, File, ONE, with_data};

/// The bytes are refused for this reason, at this byte, by both doors.
fn assert_refused(bytes: &[u8], kind: weightview::error::ErrorKind, offset: u64) {
    let error = SafeTensors::parse(bytes).expect_err("a fault");
    assert_eq!((error.kind(), error.offset()), (kind, Some(offset)));
    assert_eq!(Header::parse(bytes).err(), Some(error));
    assert_invariants(bytes);
    assert_eq!(assert_agrees(bytes), None);
}

#[test]
fn shorter_than_the_length_field() {
    for len in 0..8 {
        assert_refused(&[0; 8][..len], FileTooShort { actual: len as u64 }, 0);
        assert_refused(&[0xff; 8][..len], FileTooShort { actual: len as u64 }, 0);
    }
}

#[test]
fn a_header_of_no_bytes() {
    assert_refused(&[0; 8], HeaderNotObject, 8);
    assert_refused(&[0; 80], HeaderNotObject, 8);
}

#[test]
fn a_header_over_the_limit() {
    for len in [100_000_001, 1 << 32, (1 << 32) + 2, 1 << 63, u64::MAX - 8, u64::MAX - 7, u64::MAX] {
        let bytes = [&len.to_le_bytes()[..], b"{}"].concat();
        assert_refused(&bytes, HeaderTooLong { len, limit: 100_000_000 }, 0);
        let error = header_len(&len.to_le_bytes()).expect_err("too long");
        assert_eq!((error.kind(), error.offset()), (HeaderTooLong { len, limit: 100_000_000 }, Some(0)));
    }
}

#[test]
fn a_header_that_is_cut() {
    for len in [3, 100, 99_999_999, 100_000_000u64] {
        let bytes = [&len.to_le_bytes()[..], b"{}"].concat();
        assert_refused(&bytes, HeaderCut { expected: 8 + len, actual: 10 }, 10);
        assert_eq!(header_len(&len.to_le_bytes()), Ok(len));
    }
}

/// With the limit raised, a length near 2^64 must not wrap round.
#[test]
fn a_header_of_2_to_the_64_bytes() {
    let options = ParseOptions { max_header_len: u64::MAX, ..ParseOptions::default() };
    for len in [u64::MAX, u64::MAX - 7, u64::MAX - 8, 1 << 63, (1 << 32) + 2] {
        let bytes = [&len.to_le_bytes()[..], b"{}"].concat();
        let error = options.parse(&bytes).expect_err("cut");
        assert_eq!(error.kind(), HeaderCut { expected: len.saturating_add(8), actual: 10 });
        assert_eq!(options.header_len(&len.to_le_bytes()), Ok(len));
    }
}

#[test]
fn other_files() {
    let gguf = b"GGUF\x03\0\0\0\x01\0\0\0\0\0\0\0";
    let zip = b"PK\x03\x04\x14\0\0\0\x08\0";
    let html = b"<!DOCTYPE html><html>";
    for bytes in [&gguf[..], zip, html, b"version https://git-lfs.github.com/spec/v1\n"] {
        let error = SafeTensors::parse(bytes).expect_err("no safetensors file");
        assert!(matches!(error.kind(), HeaderTooLong { .. }), "{error}");
        assert_invariants(bytes);
        assert_eq!(assert_agrees(bytes), None);
    }
}

/// The first byte that is not UTF-8, wherever it stands.
#[test]
fn not_utf8() {
    let bad: [&[u8]; 9] = [
        b"\xff",
        b"\x80",
        b"\xc0\xaf",         // a slash, in two bytes
        b"\xe2\x82",         // a euro sign, cut
        b"\xed\xa0\xbd",     // a surrogate
        b"\xf4\x90\x80\x80", // above U+10FFFF
        b"\xf0\x9f\xa6",     // a crab, cut
        b"\xc3(",
        b"\xfe\xff{\0}",
    ];
    for bytes in bad {
        for (before, behind) in [
            ("", "{}"),
            ("{\"", "\":1}"),
            ("{\"a\":{\"dtype\":\"U8\",\"x\":\"重", "\"}}"),
            ("{}", ""),
            ("not JSON at all ", ""),
        ] {
            let header = [before.as_bytes(), bytes, behind.as_bytes()].concat();
            assert_refused(&with_data(&header, 0), NotUtf8, 8 + before.len() as u64);
        }
    }
}

/// The data need not be UTF-8, of course.
#[test]
fn data_is_not_text() {
    let mut file = File::new(&format!(r#"{{"a":{ONE}}}"#), 1).bytes;
    *file.last_mut().expect("data") = 0xff;
    assert!(SafeTensors::parse(&file).is_ok());
}

#[test]
fn length_of_the_header() {
    assert_eq!(header_len(&[0; 8]), Ok(0));
    assert_eq!(header_len(&[2, 0, 0, 0, 0, 0, 0, 0]), Ok(2));
    assert_eq!(header_len(&[0, 1, 0, 0, 0, 0, 0, 0]), Ok(256));
    assert_eq!(header_len(&[0x00, 0xe1, 0xf5, 0x05, 0, 0, 0, 0]), Ok(100_000_000));
    let options = ParseOptions { max_header_len: 255, ..ParseOptions::default() };
    assert_eq!(options.header_len(&[255, 0, 0, 0, 0, 0, 0, 0]), Ok(255));
    let error = options.header_len(&[0, 1, 0, 0, 0, 0, 0, 0]).expect_err("too long");
    assert_eq!(error.kind(), HeaderTooLong { len: 256, limit: 255 });
}

fn two_tensors() -> File {
    Build::new()
        .metadata(&[("format", "pt")])
        .tensor("a", "F32", &[2, 3], 0..24)
        .tensor("b", "BF16", &[5], 24..34)
        .padding("   ")
        .file(34)
}

/// From exactly the head, from more, and from the whole file: the same header. From less: how much it needs.
#[test]
fn exactly_the_head_more_and_less() {
    let file = two_tensors();
    let head = file.bytes.len() - 34;
    for len in 0..=file.bytes.len() {
        let prefix = &file.bytes[..len];
        let header = Header::parse(prefix);
        if len < 8 {
            assert_eq!(header.err().map(|error| error.kind()), Some(FileTooShort { actual: len as u64 }));
        } else if len < head {
            let error = header.expect_err("cut");
            assert_eq!(error.kind(), HeaderCut { expected: head as u64, actual: len as u64 });
            assert_eq!(error.offset(), Some(len as u64));
        } else {
            let header = header.expect("the head is there");
            assert_eq!((header.len(), header.is_empty()), (2, false));
            assert_eq!((header.header_len(), header.data_start()), (head as u64 - 8, head as u64));
            assert_eq!((header.data_len(), header.file_len()), (34, file.bytes.len() as u64));
            assert!(header.metadata().get("format").is_some_and(|value| value == "pt"));
        }
    }
}

#[test]
fn facts_of_a_tensor() {
    let file = two_tensors();
    let header = file.header().expect("well");
    let b = header.tensor("b").expect("it is there");
    assert_eq!((b.name().as_str(), b.dtype(), b.shape()), (Some("b"), Dtype::BF16, &[5][..]));
    assert_eq!((b.elements(), b.byte_len(), b.data_offsets()), (5, 10, 24..34));
    let start = header.data_start();
    assert_eq!(b.file_range(), start + 24..start + 34);
    assert!(file.bytes[b.file_range().start as usize..].iter().copied().eq(24..34));
    for absent in ["", "c", "a ", "A", "__metadata__", "format"] {
        let error = header.tensor(absent).expect_err("it is not there");
        assert_eq!((error.kind(), error.offset()), (NotFound, None));
    }
    let names: Vec<_> = header.tensors().map(|tensor| tensor.name().to_string()).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(format!("{header:?}").split_once(' ').map(|(name, _)| name), Some("Header"));
}

/// What a header gives borrows from the bytes, not from the header.
#[test]
fn outlives_the_header() {
    let file = two_tensors();
    let (tensor, tensors) = {
        let header = file.header().expect("well");
        let copy = header;
        (copy.tensor("a").expect("it is there"), header.tensors())
    };
    assert_eq!((tensor.name().to_string(), tensors.len()), ("a".into(), 2));
}

#[test]
fn tensors_counts_down() {
    let file = two_tensors();
    let mut tensors = file.header().expect("well").tensors();
    for left in [2, 1, 0] {
        assert_eq!((tensors.len(), tensors.size_hint()), (left, (left, Some(left))));
        assert_eq!(tensors.next().is_some(), left > 0);
    }
    assert!(tensors.next().is_none() && tensors.next().is_none());
    let mut views = file.parse().expect("well").tensors();
    for left in [2, 1, 0] {
        assert_eq!(views.len(), left);
        assert_eq!(views.next().is_some(), left > 0);
    }
    assert!(views.next().is_none());
}

/// A file that is too short names the first tensor, by place in the file, that is cut.
#[test]
fn length_of_the_file() {
    let file = Build::new()
        .tensor("last", "U8", &[4], 6..10)
        .tensor("none", "U8", &[0], 6..6)
        .tensor("first", "U8", &[6], 0..6)
        .file(10);
    let header = file.header().expect("well");
    let expected = header.file_len();
    assert_eq!(header.check_file_len(expected), Ok(()));
    for (missing, name) in [(1, "last"), (3, "last"), (4, "last"), (5, "first"), (10, "first")] {
        let actual = expected - missing;
        let cut = Error::clone(&header.check_file_len(actual).expect_err("cut"));
        assert_eq!(cut.kind(), Truncated { expected, actual });
        assert_eq!(cut.offset(), Some(file.at(&format!("{name:?}"))), "{missing} missing");
        assert_eq!(SafeTensors::parse(&file.bytes[..actual as usize]).err(), Some(cut));
    }
    for actual in [expected + 1, expected + 1000, u64::MAX] {
        let long = header.check_file_len(actual).expect_err("too long");
        assert_eq!((long.kind(), long.offset()), (TrailingData { expected, actual }, Some(expected)));
    }
    let longer = [&file.bytes[..], b"\0"].concat();
    let error = SafeTensors::parse(&longer).expect_err("too long");
    assert_eq!(error.kind(), TrailingData { expected, actual: expected + 1 });
    assert_agrees(&longer);
}

#[test]
fn no_tensors_but_data() {
    for data in [1, 8, 100] {
        let file = File::new("{}", data);
        let error = file.parse().expect_err("whose are they");
        assert_eq!(error.kind(), TrailingData { expected: 10, actual: 10 + data as u64 });
        assert_eq!(error.offset(), Some(10));
        assert!(file.header().is_ok());
        assert_eq!(assert_agrees(&file.bytes), None);
    }
}
