//! Damage: a file cut at every byte, and with every byte changed to every other. Never a panic; what is
//! accepted is sound; what is refused is refused by the reference too, or on the list of intended differences.

use weightview::SafeTensors;
use weightview::error::ErrorKind::{self, FileTooShort, HeaderCut, Truncated};
use weightview::safetensors::Header;

use crate::agree::{assert_agrees, assert_invariants};
use crate::build::{Build, File, ONE};

const DIGITS: &[u8] = include_bytes!("../data/digits.safetensors");

/// A small file that has all there is: metadata, escapes, an unknown field, an empty tensor, a scalar.
fn small() -> File {
    Build::new()
        .metadata(&[("k", r"\u0076")])
        .tensor("a", "F32", &[2], 0..8)
        .raw(r#""\u0062": {"shape":[],"x":[1.5,"]"],"dtype":"U8","data_offsets":[8,9]}"#)
        .tensor("c", "F4", &[0, 3], 9..9)
        .padding("  ")
        .file(9)
}

#[test]
fn a_small_file_cut_at_every_byte() {
    let file = small();
    let whole = file.bytes.len();
    assert_eq!(file.parse().map(|file| file.len()), Ok(3));
    for len in 0..whole {
        let bytes = &file.bytes[..len];
        assert_invariants(bytes);
        assert_eq!(assert_agrees(bytes), None);
        let actual = len as u64;
        let expected = match len {
            0..8 => FileTooShort { actual },
            _ if len < whole - 9 => HeaderCut { expected: whole as u64 - 9, actual },
            _ => Truncated { expected: whole as u64, actual },
        };
        assert_eq!(SafeTensors::parse(bytes).map_err(|error| error.kind()).err(), Some(expected), "{len}");
    }
}

/// A header cut at every byte, in a file whose length field says so: no JSON, at the byte where it ends or
/// where what is open began.
#[test]
fn a_header_cut_at_every_byte() {
    let file = small();
    let text = std::str::from_utf8(&file.bytes[8..file.bytes.len() - 9]).expect("ASCII").trim_end();
    for len in 0..text.len() {
        let cut = File::new(&text[..len], 9);
        assert_invariants(&cut.bytes);
        assert_eq!(assert_agrees(&cut.bytes), None);
        let error = cut.header().expect_err("it is cut");
        assert!(error.offset().is_some_and(|at| at <= 8 + len as u64), "{error}");
        assert!(
            matches!(error.kind(), ErrorKind::Json(_) | ErrorKind::HeaderNotObject | ErrorKind::EntryNotObject),
            "{error}: {}",
            &text[..len]
        );
    }
}

#[test]
fn a_model_cut_at_every_byte() {
    let data_start = Header::parse(DIGITS).expect("well").data_start();
    let step = if cfg!(debug_assertions) { 7 } else { 1 };
    for len in (0..DIGITS.len()).step_by(step) {
        let error = SafeTensors::parse(&DIGITS[..len]).expect_err("it is cut");
        let expected = match error.kind() {
            FileTooShort { .. } => 8,
            HeaderCut { expected, .. } => expected,
            Truncated { expected, .. } => expected,
            _ => panic!("{error}"),
        };
        let needed = match len as u64 {
            0..8 => 8,
            len if len < data_start => data_start,
            _ => DIGITS.len() as u64,
        };
        assert_eq!(expected, needed, "{len}");
    }
}

/// Every byte of the length field and the header, changed to each of the 255 others.
#[test]
fn every_byte_changed() {
    let file = small();
    let head = file.bytes.len() - 9;
    let mut bytes = file.bytes.clone();
    let mut accepted = 0;
    for place in 0..head {
        for value in 0..=255 {
            bytes[place] = value;
            if let Ok(changed) = SafeTensors::parse(&bytes) {
                accepted += 1;
                for tensor in changed.tensors() {
                    let (data, file) = (tensor.data().as_ptr_range(), bytes.as_ptr_range());
                    assert!(file.start <= data.start && data.end <= file.end);
                }
            }
            // In debug builds the long look is only had at the values that mean something to JSON.
            if !cfg!(debug_assertions) || b"\0 \"'+,-./0189:[\\]aeu{}~\x80\xc3\xff".contains(&value) {
                assert_invariants(&bytes);
                assert_agrees(&bytes);
            }
        }
        bytes[place] = file.bytes[place];
    }
    // Letters of names and metadata may change, and digits in the field that is ignored; hardly more.
    assert!((600..6000).contains(&accepted), "{accepted}");
}

/// The data may be anything.
#[test]
fn every_byte_of_the_data_changed() {
    let mut bytes = small().bytes;
    for place in bytes.len() - 9..bytes.len() {
        for value in 0..=255 {
            bytes[place] = value;
            assert!(SafeTensors::parse(&bytes).is_ok());
        }
    }
}

/// Every byte of the header taken out, and every byte doubled, with the length field put right.
#[test]
fn every_byte_left_out_or_doubled() {
    let file = small();
    let text = &file.bytes[8..file.bytes.len() - 9];
    for place in 0..text.len() {
        for doubled in [false, true] {
            let mut header = text.to_vec();
            if doubled {
                header.insert(place, text[place]);
            } else {
                header.remove(place);
            }
            let bytes = crate::build::with_data(&header, 9);
            assert_invariants(&bytes);
            assert_agrees(&bytes);
        }
    }
}

/// Several tensors, listed out of file order, cut at every byte of the data: the first in file order that is
/// cut is named, and empty ones never are.
#[test]
fn cut_at_every_byte_of_the_data() {
    let file = Build::new()
        .tensor("end", "U8", &[0], 12..12)
        .tensor("third", "I32", &[1], 8..12)
        .tensor("first", "U8", &[3], 0..3)
        .tensor("between", "F64", &[0], 3..3)
        .tensor("second", "U8", &[5], 3..8)
        .tensor("start", "U8", &[0], 0..0)
        .file(12);
    let expected = file.bytes.len() as u64;
    let start = file.bytes.len() - 12;
    for there in 0..12 {
        let name = match there {
            0..3 => r#""first""#,
            3..8 => r#""second""#,
            _ => r#""third""#,
        };
        let cut = &file.bytes[..start + there];
        let error = SafeTensors::parse(cut).expect_err("it is cut");
        assert_eq!(error.kind(), Truncated { expected, actual: cut.len() as u64 });
        assert_eq!(error.offset(), Some(file.at(name)), "{there}");
        assert_invariants(cut);
    }
    assert!(file.parse().is_ok());
}

/// The smallest file with a tensor, every byte of it changed to every other, and looked at long.
#[test]
fn every_byte_of_a_tiny_file_changed() {
    let file = File::new(&format!(r#"{{"a":{ONE}}}"#), 1);
    let mut bytes = file.bytes.clone();
    for place in 0..bytes.len() {
        for value in 0..=255 {
            bytes[place] = value;
            assert_invariants(&bytes);
        }
        bytes[place] = file.bytes[place];
    }
}
