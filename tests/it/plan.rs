//! Headers as plans, for the tests against the reference: sound ones, ones with something odd about them, and
//! edits of their text. A plan that fails a test is made smaller until it is short to read.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use weightview::Dtype;

use crate::build::with_data;

/// A tensor as a header should have it, and what is odd about its entry.
#[derive(Clone, Debug)]
struct Tensor {
    name: String,
    dtype: Dtype,
    dims: Vec<u64>,
    /// The order of the three fields, as a number below 6.
    order: usize,
    space: &'static str,
    /// Escapes a letter of a key: of the name, or of a field.
    escape: Option<usize>,
    odd: Vec<Odd>,
}

/// What can be odd about an entry. Some of it is well.
#[derive(Clone, Debug)]
enum Odd {
    /// The value of a field is this text.
    Value(usize, &'static str),
    /// The offsets are moved.
    Moved(i64, i64),
    Missing(usize),
    Twice(usize),
    Unknown(String, String),
    /// The whole entry is this text.
    Entry(&'static str),
    /// The entry is an array of its values.
    Array,
}

/// A header to be.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    tensors: Vec<Tensor>,
    /// How the entries are shuffled: each in turn changes places with the one so far ahead.
    swaps: Vec<usize>,
    /// Entries that take the name of the one before them.
    doubles: Vec<usize>,
    metadata: Option<(usize, String)>,
    before: &'static str,
    behind: &'static str,
    /// Bytes of data too many, or too few.
    data: i64,
}

const FIELDS: [&str; 3] = ["dtype", "shape", "data_offsets"];

impl Plan {
    pub(crate) fn file(&self) -> Vec<u8> {
        let (text, data) = self.text();
        with_data(text.as_bytes(), data)
    }

    /// The header's text and the length of the data.
    pub(crate) fn text(&self) -> (String, usize) {
        let mut end = 0;
        let mut members = Vec::new();
        for (place, tensor) in self.tensors.iter().enumerate() {
            let begin = end;
            end += tensor.dims.iter().product::<u64>() * u64::from(tensor.dtype.bits()) / 8;
            let name = match place.checked_sub(1).and_then(|before| self.tensors.get(before)) {
                Some(before) if self.doubles.contains(&place) => &before.name,
                _ => &tensor.name,
            };
            members.push(tensor.member(name, begin, end));
        }
        let count = members.len();
        for (place, ahead) in self.swaps.iter().enumerate().take(count) {
            members.swap(place, (place + ahead) % count);
        }
        if let Some((place, value)) = &self.metadata {
            members.insert(place % (count + 1), format!(r#""__metadata__":{value}"#));
        }
        let data = end.saturating_add_signed(self.data);
        (format!("{}{{{}}}{}", self.before, members.join(","), self.behind), data as usize)
    }
}

impl Tensor {
    fn member(&self, name: &str, begin: u64, end: u64) -> String {
        let space = self.space;
        let escaped = |text: &str, place: usize| {
            // The first letter of the name, or of a field, as an escape; names that begin with one stay.
            match text.chars().next().filter(|c| self.escape == Some(place) && c.is_ascii_alphanumeric()) {
                Some(first) => format!("\\u{:04X}{}", u32::from(first), &text[1..]),
                None => text.to_string(),
            }
        };
        let (mut begin, mut end) = (begin, end);
        for odd in &self.odd {
            if let Odd::Moved(first, last) = odd {
                begin = begin.wrapping_add_signed(*first);
                end = end.wrapping_add_signed(*last);
            }
        }
        let dims: Vec<_> = self.dims.iter().map(u64::to_string).collect();
        let mut values = [
            format!(r#""{}""#, self.dtype),
            format!("[{}]", dims.join(&format!("{space},{space}"))),
            format!("[{begin},{space}{end}]"),
        ];
        for odd in &self.odd {
            if let Odd::Value(field, text) = odd {
                values[*field] = text.to_string();
            }
        }
        let order = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]][self.order];
        let field = |field: usize| format!(r#""{}":{space}{}"#, escaped(FIELDS[field], field), values[field]);
        let mut fields: Vec<String> = order.iter().map(|&place| field(place)).collect();
        let mut entry = None;
        for odd in &self.odd {
            match odd {
                Odd::Missing(place) => _ = fields.remove(place % fields.len()),
                Odd::Twice(place) => fields.push(field(*place)),
                Odd::Unknown(key, value) => {
                    fields.insert(key.len() % (fields.len() + 1), format!(r#""{key}":{value}"#))
                }
                Odd::Entry(text) => entry = Some(text.to_string()),
                Odd::Array => entry = Some(format!("[{}]", values.join(","))),
                Odd::Value(..) | Odd::Moved(..) => {}
            }
            if fields.is_empty() {
                break;
            }
        }
        let entry = entry.unwrap_or_else(|| format!("{{{}}}", fields.join(&format!("{space},"))));
        format!(r#"{space}"{}":{space}{entry}{space}"#, escaped(name, 3))
    }
}

/// Names that are well; a number behind each keeps them apart.
fn name() -> impl Strategy<Value = String> {
    select(&["", "w", "fc1.weight", "重", "é", r"\n", r"\u0000", r"\ud83e\udd80", "../", r"\\", r"\/", "}", " "][..])
        .prop_map(String::from)
}

fn space() -> impl Strategy<Value = &'static str> {
    prop_oneof![6 => Just(""), 1 => Just(" "), 1 => select(&["\n", "\t", "\r\n", "  \n  "][..])]
}

/// JSON values for fields that are ignored.
fn json() -> impl Strategy<Value = String> {
    let leaf = select(
        &["null", "true", "0", "-0", "1.5e-3", "1e307", "18446744073709551616", r#""""#, r#""}{\"\u0041""#, "[]", "{}"]
            [..],
    );
    leaf.prop_map(String::from).prop_recursive(5, 20, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(", "))),
            vec(inner, 0..3).prop_map(|items| {
                let members: Vec<_> = items.iter().map(|item| format!(r#""k":{item}"#)).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

/// Nested so deep, or nearly so, as the reference goes.
fn deep() -> impl Strategy<Value = String> {
    (120..130usize, any::<bool>()).prop_map(|(depth, objects)| {
        let (open, close) = if objects { (r#"{"k":"#, "}") } else { ("[", "]") };
        format!("{}0{}", open.repeat(depth), close.repeat(depth))
    })
}

fn sound_tensor() -> impl Strategy<Value = Tensor> {
    let dims = prop_oneof![6 => vec(0..5u64, 0..4), 1 => vec(1..2u64, 0..17)];
    let escape = prop_oneof![5 => Just(None), 1 => (0..4usize).prop_map(Some)];
    (name(), select(Dtype::ALL), dims, prop_oneof![2 => Just(0), 1 => 0..6usize], space(), escape).prop_map(
        |(name, dtype, mut dims, order, space, escape)| {
            if dtype.bits() < 8 && dims.len() < 16 {
                dims.push(4); // whole bytes
            }
            let dtype = if dtype.bits() < 8 && !dims.contains(&4) { Dtype::U8 } else { dtype };
            Tensor { name, dtype, dims, order, space, escape, odd: Vec::new() }
        },
    )
}

/// One thing that is odd about an entry.
fn odd() -> impl Strategy<Value = Odd> {
    const DTYPES: &[&str] = &[r#""F31""#, r#""u8""#, r#""\u00558""#, "null", "1", r#"{"U8":null}"#, r#"["U8"]"#];
    const SHAPES: &[&str] = &[
        "[1.0]",
        "[1e0]",
        "[-1]",
        "[-0]",
        "[01]",
        r#"["1"]"#,
        "[true]",
        "[null]",
        "[[1]]",
        "null",
        "1",
        "{}",
        "[,1]",
        "[1,]",
        "[0,2,18446744073709551615]",
        "[2,18446744073709551615,0]",
        "[18446744073709551616]",
        "[2305843009213693952]",
        "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]",
    ];
    const OFFSETS: &[&str] = &[
        "[]",
        "[0]",
        "[0,1,2]",
        "[1,0]",
        "[0.0,1]",
        "[0,1e0]",
        "[-0,0]",
        "[00,0]",
        r#"["0","1"]"#,
        "null",
        "{}",
        "[0,18446744073709551615]",
        "[18446744073709551615,0]",
        "[0,18446744073709551616]",
        "[ 0 , 0 ]",
    ];
    const ENTRIES: &[&str] = &["null", "0", "[]", "{}", r#""F32""#, r#"["U8",[1]]"#, r#"["U8",[0],[0,0],1]"#];
    const NUMBERS: &[&str] = &["1e308", "-1.7e308", "1e309", "0.1e309", "1e400", "0e400", "1e-400", "9.99e307"];
    let off = || prop_oneof![3 => -1..=1i64, 1 => select(&[1 << 32, -(1 << 32), i64::MAX, i64::MIN][..])];
    prop_oneof![
        2 => select(DTYPES).prop_map(|text| Odd::Value(0, text)),
        3 => select(SHAPES).prop_map(|text| Odd::Value(1, text)),
        2 => select(OFFSETS).prop_map(|text| Odd::Value(2, text)),
        3 => (off(), off()).prop_map(|(first, last)| Odd::Moved(first, last)),
        2 => off().prop_map(|by| Odd::Moved(by, by)),
        1 => (0..3usize).prop_map(Odd::Missing),
        1 => (0..3usize).prop_map(Odd::Twice),
        2 => (select(&["x", "", "Dtype", r"\u0078", "shape "][..]), json())
            .prop_map(|(key, value)| Odd::Unknown(key.into(), value)),
        1 => deep().prop_map(|value| Odd::Unknown("x".into(), value)),
        1 => select(NUMBERS).prop_map(|text| Odd::Unknown("x".into(), text.into())),
        1 => select(ENTRIES).prop_map(Odd::Entry),
        1 => Just(Odd::Array),
    ]
}

pub(crate) fn sound_plan() -> impl Strategy<Value = Plan> {
    let metadata = select(
        &[
            "null",
            "{}",
            r#"{"format":"pt"}"#,
            r#"{ "a" : "\u0062" , "b":"","重":"\ud83e\udd80" }"#,
            r#"{"z":"{}","a":"]"}"#,
        ][..],
    );
    let metadata = proptest::option::of((0..8usize, metadata.prop_map(String::from)));
    let swaps = prop_oneof![2 => Just(Vec::new()), 1 => vec(0..8usize, 0..8)];
    let padding = select(&["", "", "", "   ", "\n", " \t\r\n "][..]);
    (vec(sound_tensor(), 0..8), swaps, metadata, space(), padding).prop_map(
        |(mut tensors, swaps, metadata, before, behind)| {
            for (place, tensor) in tensors.iter_mut().enumerate() {
                tensor.name.push_str(&place.to_string());
            }
            Plan { tensors, swaps, doubles: Vec::new(), metadata, before, behind, data: 0 }
        },
    )
}

/// A sound plan with one or two things odd about it.
pub(crate) fn odd_plan() -> impl Strategy<Value = Plan> {
    const METADATA: &[&str] = &[
        "1",
        "[]",
        r#""pt""#,
        r#"{"a":1}"#,
        r#"{"a":null}"#,
        r#"{"a":"b","a":"c"}"#,
        r#"{"a":"b","\u0061":"b"}"#,
        r#"{"a":"\ud800"}"#,
        r#"null,"__metadata__":null"#,
        r#"{},"\u005f_metadata__":{}"#,
        r#"{"a":{"b":"c"}}"#,
    ];
    let fault = prop_oneof![
        8 => (0..8usize, odd()).prop_map(|(place, odd)| (Some((place, odd)), None, 0, None)),
        2 => (1..8usize).prop_map(|place| (None, Some(place), 0, None)),
        1 => (-3..4i64).prop_map(|data| (None, None, data, None)),
        2 => (0..8usize, select(METADATA)).prop_map(|(place, text)| (None, None, 0, Some((place, text.to_string())))),
    ];
    (sound_plan(), vec(fault, 1..3)).prop_map(|(mut plan, faults)| {
        for (odd, double, data, metadata) in faults {
            let count = plan.tensors.len();
            if let Some((place, odd)) = odd
                && let Some(tensor) = plan.tensors.get_mut(place % count.max(1))
            {
                tensor.odd.push(odd);
            }
            plan.doubles.extend(double.map(|place| place % count.max(1)));
            plan.data += data;
            plan.metadata = metadata.or(plan.metadata);
        }
        plan
    })
}

/// An edit of a text: at a place, in thousandths of its length.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Put(usize, &'static [u8]),
    Over(usize, u8),
    Cut(usize, usize),
    Copy(usize, usize, usize),
}

pub(crate) fn edit() -> impl Strategy<Value = Edit> {
    const PIECES: &[&[u8]] = &[
        b"\"",
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"0",
        b"1",
        b"-",
        b".",
        b"e9",
        b" ",
        b"\n",
        b"\0",
        b"\x1f",
        b"\xff",
        b"\xc3\xa9",
        b"\xef\xbb\xbf",
        b"\\u00",
        b"\\ud83e",
        b"\\udd80",
        b"null",
        b"true",
        b"[,",
        b"/**/",
        b"\"x\":0,",
        b"__metadata__",
        b"\"dtype\":\"U8\",",
        b"1e308",
        b"18446744073709551615",
        b"@!",
    ];
    let at = || 0..1000usize;
    prop_oneof![
        4 => (at(), select(PIECES)).prop_map(|(place, piece)| Edit::Put(place, piece)),
        2 => (at(), any::<u8>()).prop_map(|(place, byte)| Edit::Over(place, byte)),
        2 => (at(), 1..12usize).prop_map(|(place, len)| Edit::Cut(place, len)),
        1 => (at(), at(), 1..80usize).prop_map(|(from, to, len)| Edit::Copy(from, to, len)),
    ]
}

pub(crate) fn edited(mut text: Vec<u8>, edits: &[Edit]) -> Vec<u8> {
    for edit in edits {
        let place = |thousandths: usize| thousandths * text.len() / 1000;
        match *edit {
            Edit::Put(at, piece) => {
                let at = place(at);
                text.splice(at..at, piece.iter().copied());
            }
            Edit::Over(at, byte) => {
                let at = place(at);
                if let Some(slot) = text.get_mut(at) {
                    *slot = byte;
                }
            }
            Edit::Cut(at, len) => {
                let at = place(at);
                text.drain(at..(at + len).min(text.len()));
            }
            Edit::Copy(from, to, len) => {
                let (from, to) = (place(from), place(to));
                let piece = text[from..(from + len).min(text.len())].to_vec();
                text.splice(to..to, piece);
            }
        }
    }
    text
}
