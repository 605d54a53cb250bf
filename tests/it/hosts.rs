//! The builds answer alike, and so do the hosts: a few thousand headers, generated the same way everywhere, are
//! judged, and all that was said of them is folded into one number, which stands here. The same test runs
//! without a heap, with `alloc`, with `std`, on 32-bit and on big-endian hosts.

use weightview::error::ErrorKind;
use weightview::safetensors::{Header, ParseOptions};
use weightview::{Dtype, Error};

use crate::agree::assert_invariants;
use crate::build::with_data;
use crate::names::{self, Random};

/// What was said of all headers. It changes when the generator below does, or what the parser accepts, or the
/// names of error kinds: then, and only then, put the new number here, after a look at `COUNTS`.
const DIGEST: u64 = 33_223_178_000_793_105;

/// How many headers were accepted, and how many kinds of errors the others had.
const COUNTS: (usize, usize) = (2444, 31);

const HEADERS: u64 = 4000;

#[test]
fn all_hosts_and_builds_answer_alike() {
    for heap in [true, false] {
        let options = ParseOptions { heap, ..ParseOptions::default() };
        let mut fold = Fold(0xCBF2_9CE4_8422_2325);
        let mut kinds = std::collections::BTreeSet::new();
        let mut accepted = 0;
        for seed in 0..HEADERS {
            let head = generate(&mut Random::new(seed));
            let answer = options.parse_header(&head);
            match answer {
                Ok(_) => accepted += 1,
                Err(error) => _ = kinds.insert(kind_name(error.kind())),
            }
            fold.answer(&answer);
        }
        assert_eq!((accepted, kinds.len()), COUNTS, "heap: {heap}; {kinds:?}");
        assert_eq!(fold.0, DIGEST, "heap: {heap}");
    }
}

#[test]
fn generated_headers_are_judged_right() {
    for seed in (0..HEADERS).step_by(if cfg!(debug_assertions) { 5 } else { 1 }) {
        assert_invariants(&generate(&mut Random::new(seed)));
    }
}

fn kind_name(kind: ErrorKind) -> String {
    let debug = format!("{kind:?}");
    debug.split([' ', '{']).next().unwrap_or_default().to_string()
}

/// FNV-1a.
struct Fold(u64);

impl Fold {
    fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
        }
    }

    fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    fn answer(&mut self, answer: &Result<Header<'_>, Error>) {
        match answer {
            Ok(header) => {
                self.number(header.len() as u64);
                self.number(header.data_start());
                self.number(header.file_len());
                for tensor in header.tensors() {
                    self.bytes(tensor.name().to_string().as_bytes());
                    self.number(names::hash(tensor.name()));
                    self.bytes(tensor.dtype().as_str().as_bytes());
                    tensor.shape().iter().for_each(|&dim| self.number(dim));
                    self.number(tensor.elements());
                    self.number(tensor.file_range().start);
                    self.number(tensor.file_range().end);
                }
                for (key, value) in header.metadata() {
                    self.bytes(key.to_string().as_bytes());
                    self.bytes(value.to_string().as_bytes());
                }
            }
            Err(error) => {
                self.bytes(format!("{:?}", error.kind()).as_bytes());
                self.number(error.offset().unwrap_or(u64::MAX));
            }
        }
    }
}

const SPELLINGS: [&str; 8] = [r"\u0061", "", r"\ud83e\udd80", "重み", r"a\/b", "a/b", r"\n", "é"];

/// The head of a file: nearly always sound but for one thing, if that.
fn generate(random: &mut Random) -> Vec<u8> {
    let count = match random.below(100) {
        0 => 2500, // more than 128 KiB
        1..5 => 300,
        5..40 => 12,
        _ => 3,
    };
    let mut names = names::checkpoint(count);
    if random.once_in(3) {
        names::shuffle(&mut names, random.next());
    }
    for name in names.iter_mut().take(12) {
        if random.once_in(8) {
            *name = format!("{}{}", SPELLINGS[random.below(SPELLINGS.len())], random.below(30));
        }
    }
    if random.once_in(12) {
        names[random.below(count)] = names[random.below(count)].clone();
    }

    let mut end = 0u64;
    let mut entries: Vec<String> = names.iter().map(|name| entry(name, &mut end, random)).collect();
    if random.once_in(3) {
        names::shuffle(&mut entries, random.next());
    }
    if random.once_in(4) {
        const METADATA: [&str; 4] =
            [r#"{"format":"pt","k\u0065y":"a\nb"}"#, "null", r#"{"b":"","a":"","\u0061":""}"#, r#"{"n":1}"#];
        let metadata = METADATA[random.below(30).saturating_sub(26)];
        entries.insert(random.below(count), format!(r#""__metadata__":{metadata}"#));
    }
    let mut text = format!("{{{}}}", entries.join(",")).into_bytes();
    if random.once_in(4) {
        text.extend_from_slice(b"  \n "[..random.below(5)].as_ref());
    }
    if random.once_in(3) {
        // Damage, of the sort that matters to JSON.
        const BYTES: &[u8] = b"\"\\{}[],:0 19-.eu\x01\xff";
        let (place, byte) = (random.below(text.len()), BYTES[random.below(BYTES.len())]);
        match random.below(3) {
            0 => text[place] = byte,
            1 => text.insert(place, byte),
            _ => _ = text.remove(place),
        }
    }
    with_data(&text, 0)
}

/// A tensor that begins where the one before it ended, unless something is to be wrong.
fn entry(name: &str, end: &mut u64, random: &mut Random) -> String {
    let dtype = Dtype::ALL[random.below(Dtype::ALL.len())];
    let mut dims: Vec<u64> = (0..random.below(4)).map(|_| random.below(5) as u64).collect();
    if dtype.bits() < 8 {
        dims.push(4);
    }
    if random.once_in(300) {
        dims.push([1 << 31, 1 << 33, 1 << 61, u64::MAX][random.below(4)]);
    }
    let begin = *end;
    let elements = dims.iter().fold(1u64, |product, &dim| product.wrapping_mul(dim));
    *end = end.wrapping_add(elements.wrapping_mul(u64::from(dtype.bits())) / 8);
    let mut offsets = [begin, *end];
    if random.once_in(200) {
        let by = [1, 2, 1 << 32, 1 << 63][random.below(4)];
        offsets[random.below(2)] = offsets[random.below(2)].wrapping_add(by);
    }
    if random.once_in(200) {
        let by = [1, 8, 1 << 32, u64::MAX][random.below(4)]; // the last moves it back by one
        offsets = offsets.map(|offset| offset.wrapping_add(by));
    }

    let space = if random.once_in(6) { " " } else { "" };
    let dims: Vec<_> = dims.iter().map(u64::to_string).collect();
    let mut fields = vec![
        format!(r#""dtype":{space}"{dtype}""#),
        format!(r#""shape":[{}]"#, dims.join(&format!("{space},"))),
        format!(r#""data_offsets":[{},{space}{}]"#, offsets[0], offsets[1]),
    ];
    if random.once_in(10) {
        fields.insert(random.below(4), [r#""x":[{"y":[]},1.5e3]"#, r#""x":"}""#][random.below(2)].into());
    }
    if random.once_in(6) {
        names::shuffle(&mut fields, random.next());
    }
    if random.once_in(250) {
        fields.remove(random.below(fields.len()));
    }
    format!(r#""{name}":{space}{{{}}}"#, fields.join(","))
}
