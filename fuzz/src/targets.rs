//! The fuzz targets: what each does with its input.

use weightview::error::ErrorKind;
use weightview::safetensors::{Header, ParseOptions};
use weightview::{Error, Slot};

use crate::agree::{assert_agrees, assert_invariants};
use crate::agree_index::assert_index;
use crate::choices::Choices;
use crate::generate::{self, Draft};
use crate::respell::{AFTER_COLON, ALL_KINDS, Respelt, respell};

/// The most data that is put behind a header.
const MAX_DATA: u64 = 1 << 16;

/// Bytes of any kind, taken twice: as a file, and as the text of a header, so that the fuzzer need not guess the
/// length field or the length of the data.
pub fn header(input: &[u8]) {
    assert_invariants(input);
    assert_invariants(&file(input, 0));
}

/// Our answer against the reference's. An input that starts with `f` goes on with a file, one that starts with
/// `t` with the text of a header; any other is decisions for the generator.
pub fn header_vs_reference(input: &[u8]) {
    match input {
        [b'f', bytes @ ..] => {
            assert_agrees(bytes);
        }
        [b't', text @ ..] => {
            assert_agrees(&file(text, 0));
        }
        _ => {
            let mut choices = Choices::new(input);
            let Draft { text, data_len } = generate::free(&mut choices);
            let mut bytes = file(text.as_bytes(), data_len);
            if choices.one_in(16) {
                bytes.push(0);
            }
            if choices.one_in(16) {
                bytes.truncate(bytes.len() - choices.below(9));
            }
            if choices.one_in(16) {
                let place = choices.below(bytes.len().clamp(1, 8)); // the length field
                bytes.get_mut(place).into_iter().for_each(|byte| *byte ^= choices.byte());
            }
            assert_agrees(&bytes);
            assert_invariants(&bytes);
        }
    }
}

/// The fast path for entries in the canonical spelling against the general one: the same header, spelt so that
/// only the general path can read it, must say the same. An input that starts with `t` goes on with a spelling
/// (see `respell`) and the text of a header; any other is decisions for the generator.
pub fn canonical_vs_general(input: &[u8]) {
    if let [b't', style, text @ ..] = input {
        if let Ok(text) = str::from_utf8(text) {
            assert_paths_agree(text, *style);
        }
        return;
    }
    let mut choices = Choices::new(input);
    let style = choices.byte();
    let Draft { text, .. } = generate::canonical(&mut choices);
    assert_paths_agree(&text, style);
}

/// The file with this header, and as much data as the header implies; or, where we refuse it, `otherwise`.
fn file(text: &[u8], otherwise: u64) -> Vec<u8> {
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.extend(text);
    let data_len = Header::parse(&bytes).map_or(otherwise, |header| header.data_len());
    if data_len <= MAX_DATA {
        bytes.resize(bytes.len() + data_len as usize, 0);
    }
    bytes
}

fn assert_paths_agree(text: &str, style: u8) {
    let style = style | AFTER_COLON; // no canonical entry is left
    let default = ParseOptions::default();
    assert_spellings_agree(text, style, &default);
    assert_spellings_agree(text, style, &ParseOptions { heap: false, ..default });
    assert_spellings_agree(text, style, &ParseOptions { max_tensors: 2, max_nesting: 4, ..default });
    // Strict minds the kind of white space at the ends, though only there.
    assert_spellings_agree(text, style & !ALL_KINDS, &ParseOptions::strict());
}

/// Both spellings of a header get the same answer: the same tensors, or the same fault at the same place.
fn assert_spellings_agree(text: &str, style: u8, options: &ParseOptions) {
    let respelt = respell(text, style);
    // Padded to the same length, so that the data starts at the same byte.
    let padding = " ".repeat(respelt.text.len() - text.len());
    let fast = head(&format!("{text}{padding}"));
    let general = head(&respelt.text);
    match (options.parse_header(&fast), options.parse_header(&general)) {
        (Ok(fast), Ok(general)) => assert_same_header(&fast, &general),
        (Err(fast), Err(general)) => assert_same_fault(&fast, &general, &respelt),
        (fast, general) => panic!("canonical {fast:?}, general {general:?}, {options:?}\n{text}"),
    }
}

fn head(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

fn assert_same_header(fast: &Header<'_>, general: &Header<'_>) {
    assert_eq!(
        (fast.len(), fast.data_start(), fast.data_len(), fast.file_len()),
        (general.len(), general.data_start(), general.data_len(), general.file_len())
    );
    assert!(fast.metadata().eq(general.metadata()));
    assert_eq!(fast.check_file_len(0).is_err(), general.check_file_len(0).is_err());

    let (mut fast_slots, mut general_slots) = (vec![Slot::default(); fast.len()], vec![Slot::default(); general.len()]);
    let fast_index = fast.index_in(&mut fast_slots).expect("a slot a tensor");
    let general_index = general.index_in(&mut general_slots).expect("a slot a tensor");
    let mut general_tensors = general.tensors();
    for (place, tensor) in fast.tensors().enumerate() {
        let name = tensor.name().to_string();
        let same = |other: weightview::TensorInfo<'_>| {
            assert_eq!(tensor.name().raw(), other.name().raw());
            assert_eq!(tensor.dtype(), other.dtype(), "{name:?}");
            assert_eq!(tensor.shape(), other.shape(), "{name:?}");
            assert_eq!(tensor.data_offsets(), other.data_offsets(), "{name:?}");
            assert_eq!(tensor.file_range(), other.file_range(), "{name:?}");
        };
        same(general_tensors.next().expect("as many"));
        same(fast_index.tensor(&name).expect("in the index"));
        same(general_index.tensor(&name).expect("in the index"));
        if place < 16 {
            same(fast.tensor(&name).expect("in the header")); // a scan each: the first few will do
            same(general.tensor(&name).expect("in the header"));
        }
    }
    assert!(general_tensors.next().is_none());
}

fn assert_same_fault(fast: &Error, general: &Error, respelt: &Respelt) {
    let same_place = |fast: u64, general: u64| {
        let (fast, general) = (fast.checked_sub(8), general.checked_sub(8));
        let same = match (fast, general) {
            (Some(fast), Some(general)) => match respelt.place(fast as usize) {
                Some(place) => place == general as usize,
                None => respelt.is_end(general as usize),
            },
            (fast, general) => fast == general,
        };
        assert!(same, "byte {fast:?} of the canonical text, byte {general:?} of the other:\n{}", respelt.text);
    };
    match (fast.kind(), general.kind()) {
        (ErrorKind::DuplicateName { first: a }, ErrorKind::DuplicateName { first: b }) => same_place(a, b),
        (ErrorKind::DuplicateMetadataKey { first: a }, ErrorKind::DuplicateMetadataKey { first: b }) => {
            same_place(a, b)
        }
        (a, b) => assert_eq!(a, b, "{fast}; {general}:\n{}", respelt.text),
    }
    same_place(fast.offset().expect("a fault of the file"), general.offset().expect("a fault of the file"));
}

/// Bytes of any kind as a shard index; and, since the outer form is the same in all, as what `weight_map` and `metadata`
/// hold, cut in two at a NUL.
pub fn index(input: &[u8]) {
    assert_index(input);
    let mut halves = input.splitn(2, |&byte| byte == 0);
    let (map, metadata) = (halves.next().unwrap_or_default(), halves.next().unwrap_or(b"{}"));
    assert_index(&[b"{\"weight_map\":{".as_slice(), map, b"},\"metadata\":", metadata, b"}"].concat());
}
