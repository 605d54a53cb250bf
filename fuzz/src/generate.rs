//! Headers that are valid, nearly valid, or merely look like headers, made from a few decisions each.
//!
//! The layout comes first: tensors that tile the data section, a few of them put wrong. Then their order in the
//! header, then the spelling, then stray edits of the text. With no input left, each step does nothing.

use crate::choices::Choices;
use crate::respell::respell;

/// A header's text, and how long its data section should be.
pub struct Draft {
    pub text: String,
    pub data_len: u64,
}

/// A header in any spelling.
pub fn free(choices: &mut Choices<'_>) -> Draft {
    let padding = if choices.one_in(256) { 128 << 10 } else { 0 }; // then names are checked with the heap
    let (entries, data_len) = layout(choices);
    let mut text = members(choices, &entries, spell_freely);
    if choices.one_in(3) {
        text = respell(&text, choices.byte()).text;
    }
    surround(choices, &mut text);
    edit(choices, &mut text);
    text.push_str(&" ".repeat(padding));
    Draft { text, data_len }
}

/// A header whose entries are spelt as every common writer spells them, or nearly so.
pub fn canonical(choices: &mut Choices<'_>) -> Draft {
    let (entries, data_len) = layout(choices);
    let mut text = members(choices, &entries, |_, entry| spell_canonically(entry));
    edit(choices, &mut text);
    Draft { text, data_len }
}

/// A tensor's entry. All of it is JSON text, so that anything can be wrong with it; the name is without quotes.
#[derive(Clone)]
struct Entry {
    name: String,
    dtype: &'static str,
    shape: Vec<String>,
    offsets: Vec<String>,
}

/// Dtypes and their bits; the plain case first.
const DTYPES: [(&str, u64); 22] = [
    ("F32", 32),
    ("BF16", 16),
    ("F16", 16),
    ("U8", 8),
    ("I8", 8),
    ("BOOL", 8),
    ("F4", 4),
    ("F6_E2M3", 6),
    ("F6_E3M2", 6),
    ("F8_E5M2", 8),
    ("F8_E4M3", 8),
    ("F8_E8M0", 8),
    ("F8_E4M3FNUZ", 8),
    ("F8_E5M2FNUZ", 8),
    ("I16", 16),
    ("U16", 16),
    ("I32", 32),
    ("U32", 32),
    ("C64", 64),
    ("F64", 64),
    ("I64", 64),
    ("U64", 64),
];

/// What is written where a dtype should be: wrong ones, and `F32` in an unusual spelling.
const ODD_DTYPES: [&str; 10] =
    ["f32", "F32 ", " F32", "", "F8_E4M3FN", "F", "F321", r"\u0046\u0033\u0032", r"F32\u0000", "F\u{ff13}2"];

/// Inside a JSON string: names that something could trip over. Some are one name in two spellings.
const ODD_NAMES: [&str; 37] = [
    "a",
    r"\u0061",
    "A",
    r"\u00e9",
    r"\u00E9",
    "é",
    "e\u{301}",
    "__metadata_",
    "__metadata___",
    "",
    r"\u0000",
    r"\n",
    r"\u000a",
    "../x",
    r"\/",
    "/",
    r#"\""#,
    r"\\",
    "a}",
    r#"{\"a\":["#,
    "重み",
    r"\u91cd\u307f",
    "\u{1f600}",
    r"\ud83d\ude00",
    "a name that is longer than a word of eight bytes, and so takes several steps, \u{7f}\u{80}",
    // From here on, no tensor can be called so:
    "__metadata__",
    r"__metadata\u005f_",
    r"\u005f_metadata__",
    // and this is no JSON:
    r"\uD83D",
    r"\uDE00",
    r"\uDE00\uD83D",
    r"\x41",
    r"\",
    r"\u00",
    "\u{1}",
    "\n",
    "\"",
];

/// How many of them are sound.
const SOUND_NAMES: usize = 25;

/// Numbers at the edges of what is a number, an integer, and 64 bits.
const ODD_NUMBERS: [&str; 40] = [
    "0",
    "1",
    "00",
    "01",
    "-0",
    "-1",
    "1.0",
    "1e0",
    "1E+2",
    "1e",
    "1.",
    ".5",
    "+1",
    "0x1",
    "9",
    "10",
    "99999999",
    "100000000",
    "012345678",
    "1234567890123456",
    "0123456789012345",
    "12345678901234567",
    "4294967295",
    "4294967296",
    "2305843009213693951",
    "2305843009213693952",
    "9223372036854775808",
    "9999999999999999999",
    "10000000000000000000",
    "18446744073709551607",
    "18446744073709551608",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999",
    "018446744073709551615",
    "1e308",
    "null",
    "\"1\"",
    "[1]",
    "",
];

/// Tensors one behind the other from 0, as many as the input says; and where the last ends. Half of all layouts are
/// sound, and have no worse than two names alike; in the others anything may be wrong.
fn layout(choices: &mut Choices<'_>) -> (Vec<Entry>, u64) {
    let count = match choices.below(32) {
        few @ 0..=25 => few,
        26..=30 => 26 + choices.below(32),
        // More than the parser holds against each other at once, with its smaller and its larger table.
        _ if choices.one_in(8) => 384 + choices.below(256) + choices.pick(&[0, 0, 800]),
        _ => 6,
    };
    let faults = choices.pick(&[None, None, Some(32), Some(4)]);
    let naming = choices.byte();
    let mut entries = Vec::with_capacity(count);
    let mut end = 0u64;
    for index in 0..count {
        let (dtype, bits) = if choices.one_in(2) { choices.pick(&DTYPES) } else { DTYPES[0] };
        let dims = match faults {
            _ if count > 25 => vec![8 * u64::from(index % 5 != 0)],
            None => sound_dims(choices, bits),
            Some(_) => any_dims(choices),
        };
        let elements = dims.iter().fold(1u64, |product, &dim| product.saturating_mul(dim));
        let begin = end;
        end = end.saturating_add((u128::from(elements) * u128::from(bits) / 8).try_into().unwrap_or(u64::MAX));
        let mut entry = Entry {
            name: name(choices, naming, index, faults.is_none()),
            dtype,
            shape: dims.iter().map(u64::to_string).collect(),
            offsets: vec![begin.to_string(), end.to_string()],
        };
        if faults.is_some_and(|rarity| choices.one_in(rarity)) {
            spoil(choices, &mut entry, begin, end);
        }
        entries.push(entry);
    }
    reorder(choices, &mut entries);
    (entries, end)
}

/// Whole bytes, and few of them; now and then more than anybody has.
fn sound_dims(choices: &mut Choices<'_>, bits: u64) -> Vec<u64> {
    let seed = choices.byte();
    let rank = [1, 2, 0, 3, 4, 16][usize::from(seed) % 6];
    let mut dims: Vec<u64> = (0..rank).map(|place| u64::from(seed >> (place % 7)) % 4).collect();
    if bits < 8 {
        dims.push(4);
        dims.truncate(16);
        dims.rotate_right(1);
    }
    if seed == 255 {
        dims = vec![(1 << 61) - 4, 1];
    }
    dims
}

fn any_dims(choices: &mut Choices<'_>) -> Vec<u64> {
    let rank = match choices.below(64) {
        63 => 15 + choices.below(4),
        rank => [1, 2, 0, 3, 4][rank % 5],
    };
    let dim = |_| match choices.byte() {
        small @ 0..=243 => u64::from(small) % 5,
        244..=246 => 1 << 32,
        247..=249 => (1 << 61) - 1,
        250..=252 => 1 << 61,
        253 | 254 => 1 << 63,
        255 => u64::MAX,
    };
    (0..rank).map(dim).collect()
}

fn name(choices: &mut Choices<'_>, naming: u8, index: usize, sound: bool) -> String {
    let odd = if sound { &ODD_NAMES[..SOUND_NAMES] } else { &ODD_NAMES[..] };
    match naming % 7 {
        0 => format!("t{index:05}"),
        1 => format!("t{index}"), // in runs: t9 stands behind t10
        2 => format!("model.layers.{}.{}", index / 3, ["w", "b", "norm.weight"][index % 3]),
        // No order at all; each once, but where there are more than 1200. (Both numbers are prime.)
        3 => format!("{}", (index + 1) * 7919 % 1201),
        4 => format!("{}{index}", choices.pick(odd)),
        5 => match choices.byte() {
            byte @ 0..=63 => odd[usize::from(byte) % odd.len()].to_owned(),
            byte => format!("t{}", usize::from(byte) + 256 * index),
        },
        _ if sound => {
            let name = format!("{:x}.{index}", choices.byte());
            let (plain, escape) = choices.pick(&[("", ""), ("a", r"\u0061"), ("1", r"\u0031")]);
            if plain.is_empty() { name } else { name.replace(plain, escape) }
        }
        _ => {
            let len = choices.below(20);
            String::from_utf8_lossy(choices.take(len)).into_owned()
        }
    }
}

/// Puts one thing wrong, or at least at an edge.
fn spoil(choices: &mut Choices<'_>, entry: &mut Entry, begin: u64, end: u64) {
    let number = |choices: &mut Choices<'_>| match choices.byte() {
        odd @ 0..=199 => ODD_NUMBERS[usize::from(odd) % ODD_NUMBERS.len()].to_owned(),
        other => {
            let digits = choices.take(usize::from(other - 199) % 24);
            digits.iter().map(|digit| char::from(b'0' + digit % 10)).collect()
        }
    };
    match choices.below(20) {
        0 => entry.dtype = choices.pick(&ODD_DTYPES),
        1 => entry.dtype = choices.pick(&DTYPES).0,
        2 => entry.offsets[0] = number(choices),
        3 => entry.offsets[1] = number(choices),
        4 => entry.offsets.swap(0, 1),
        5 => entry.offsets[0] = begin.wrapping_add(1).to_string(),
        6 => entry.offsets[0] = begin.wrapping_sub(1).to_string(),
        7 => entry.offsets[1] = end.wrapping_add(1).to_string(),
        8 => entry.offsets[1] = end.wrapping_sub(1).to_string(),
        9 => entry.offsets = vec![begin.wrapping_sub(1).to_string(); 2],
        10 => entry.offsets.push(number(choices)),
        11 => drop(entry.offsets.pop()),
        12 => entry.shape.push(number(choices)),
        13 => drop(entry.shape.pop()),
        14 => entry.shape.insert(0, number(choices)),
        15 => entry.offsets = vec![begin.saturating_add(1).to_string(), end.saturating_add(1).to_string()],
        16 => entry.offsets = vec![begin.saturating_sub(1).to_string(), end.saturating_sub(1).to_string()],
        17 | 18 => entry.offsets = vec!["0".to_owned(), (end - begin).to_string()],
        _ => entry.name = ODD_NAMES[usize::from(choices.byte()) % ODD_NAMES.len()].to_owned(),
    }
}

/// The order in the header.
fn reorder(choices: &mut Choices<'_>, entries: &mut [Entry]) {
    if entries.is_empty() {
        return;
    }
    match choices.below(12) {
        0..=5 => {}
        6 => entries.reverse(),
        7 => entries.rotate_left(choices.byte() as usize % entries.len()),
        8 => {
            // Interleaved runs, as writers leave them that sort by name.
            let runs = 2 + choices.below(12);
            let mut keyed: Vec<_> = entries.iter().cloned().enumerate().collect();
            keyed.sort_by_key(|(index, _)| index % runs);
            entries.iter_mut().zip(keyed).for_each(|(slot, (_, entry))| *slot = entry);
        }
        9 => entries.sort_by(|a, b| a.name.cmp(&b.name)),
        10 => {
            for _ in 0..1 + choices.below(16) {
                let (a, b) = (choices.byte() as usize, choices.byte() as usize * 7);
                entries.swap(a % entries.len(), b % entries.len());
            }
        }
        _ => {
            // The same entry twice.
            let (from, to) = (choices.byte() as usize, choices.byte() as usize);
            entries[to % entries.len()] = entries[from % entries.len()].clone();
        }
    }
}

/// The header's object.
fn members(
    choices: &mut Choices<'_>,
    entries: &[Entry],
    mut spell: impl FnMut(&mut Choices<'_>, &Entry) -> String,
) -> String {
    let mut members: Vec<_> = entries.iter().map(|entry| spell(choices, entry)).collect();
    for _ in 0..choices.pick(&[0, 0, 0, 0, 1, 1, 1, 2]) {
        let place = choices.byte() as usize % (members.len() + 1);
        members.insert(place, format!("\"__metadata__\":{}", metadata(choices)));
    }
    format!("{{{}}}", members.join(","))
}

fn metadata(choices: &mut Choices<'_>) -> String {
    match choices.below(8) {
        0 => r#"{"format":"pt"}"#.to_owned(),
        1 => choices
            .pick(&["{}", "null", "null", "[]", "\"\"", "0", "true", "{\"a\":null}", "{\"a\":{}}", "{\"a\":[]}"])
            .to_owned(),
        2 if choices.one_in(8) => {
            let count = 384 + choices.below(128) + choices.pick(&[0, 0, 800]); // the same
            let (step, modulus) = (1 + choices.below(7), choices.pick(&[1201, 401, 1511]));
            let pairs: Vec<_> = (0..count).map(|index| format!("\"{}\":\"\"", index * step % modulus)).collect();
            format!("{{{}}}", pairs.join(","))
        }
        kind => {
            let odd = if kind == 7 { &ODD_NAMES[..] } else { &ODD_NAMES[..SOUND_NAMES] };
            let pair = |_| format!("\"{}\":\"{}\"", choices.pick(odd), choices.pick(odd));
            let pairs: Vec<_> = (0..3).map(pair).collect();
            format!("{{{}}}", pairs.join(","))
        }
    }
}

/// Byte for byte what `canonical::read` looks for.
fn spell_canonically(entry: &Entry) -> String {
    let Entry { name, dtype, shape, offsets } = entry;
    format!(r#""{name}":{{"dtype":"{dtype}","shape":[{}],"data_offsets":[{}]}}"#, shape.join(","), offsets.join(","))
}

/// Any spelling that JSON allows, and some that serde allows.
fn spell_freely(choices: &mut Choices<'_>, entry: &Entry) -> String {
    let dtype = format!("\"{}\"", entry.dtype);
    let shape = format!("[{}]", entry.shape.join(","));
    let offsets = format!("[{}]", entry.offsets.join(","));
    let mut fields = vec![("dtype", dtype), ("shape", shape), ("data_offsets", offsets)];
    match choices.below(48) {
        9 | 10 | 24..=27 => fields.swap(0, 2),
        11 | 28 => fields.rotate_left(1),
        12 => fields.insert(choices.below(4), (choices.pick(&ODD_NAMES), value(choices))),
        13 => fields.insert(choices.below(4), ("x", value(choices))),
        14 => drop(fields.remove(choices.below(3))),
        15 => fields.push(fields[choices.below(3)].clone()),
        16 => fields[choices.below(3)].1 = value(choices),
        17 => fields[0].0 = r"dt\u0079pe",
        18 => fields[2].0 = r"data\u005Foffsets",
        19 => fields[1].0 = choices.pick(&["Shape", "shape ", "", "dtype", "data_offsets"]),
        20 => fields[0].1 = format!("{{{}:null}}", fields[0].1),
        21 => {
            // The fields by position: serde's derived code takes it.
            let values: Vec<_> = fields.iter().map(|(_, value)| value.as_str()).collect();
            return format!("\"{}\":[{}]", entry.name, values.join(","));
        }
        22 => return format!("\"{}\":{}", entry.name, value(choices)),
        23 => fields[0].1 = format!("\"{}\"", choices.pick(&ODD_DTYPES)),
        _ => {}
    }
    let fields: Vec<_> = fields.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
    format!("\"{}\":{{{}}}", entry.name, fields.join(","))
}

/// Some JSON value, or nearly one.
fn value(choices: &mut Choices<'_>) -> String {
    const SCALARS: [&str; 26] = [
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1.5",
        "1e3",
        "-1E-2",
        "1e307",
        "1e308",
        "1.7e308",
        "1.8e308",
        "1e309",
        "0e999",
        "0.000001e313",
        "\"\"",
        "\"\\u00e9\\n\"",
        "{}",
        "[]",
        "{\"a\":{\"b\":[1,2]}}",
        "[[],{},[null]]",
        "tru",
        "nul",
        "@",
        "[,1]",
        "[1,]",
    ];
    match choices.below(8) {
        0..=3 => choices.pick(&SCALARS).to_owned(),
        4 => format!("\"{}\"", choices.pick(&ODD_NAMES)),
        5 => choices.pick(&ODD_NUMBERS).to_owned(),
        kind => {
            // Depths around the limit; now and then far over it.
            let depth = match choices.below(16) {
                15 => 5000,
                near => 115 + near,
            };
            let (open, close) = if kind == 6 { ("[", "]") } else { ("{\"\":", "}") };
            format!("{}{}{}", open.repeat(depth), choices.pick(&["0", "[]", "{}", ""]), close.repeat(depth))
        }
    }
}

/// What stands before and behind the object.
fn surround(choices: &mut Choices<'_>, text: &mut String) {
    if choices.one_in(4) {
        text.insert_str(0, choices.pick(&["", " ", "\n", "\t\r\n ", "\u{feff}", "\0", "\u{a0}", "["]));
    }
    if choices.one_in(4) {
        text.push_str(choices.pick(&["", "    ", "\n", "\t\r\n ", "\0", "\u{a0}", "\u{c}", "{}", "x", ","]));
    }
}

/// A few edits of the text, wherever they fall.
fn edit(choices: &mut Choices<'_>, text: &mut String) {
    const PIECES: [&str; 32] = [
        " ",
        "\n",
        ",",
        ":",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "\\",
        "\0",
        "0",
        "1",
        "9",
        "-",
        ".",
        "e",
        "u",
        "é",
        "\u{1f600}",
        "}}",
        "]]",
        "]}",
        "],[",
        "\",\"",
        "\":",
        "{\"dtype\":\"",
        "\",\"shape\":[",
        ",\"data_offsets\":[",
        "\\u0061",
        "\\ud800",
        "null",
    ];
    for _ in 0..choices.pick(&[0, 0, 0, 0, 0, 1, 1, 3]) {
        let place = (choices.byte() as usize) << 8 | choices.byte() as usize;
        let mut at = place % (text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        match choices.below(8) {
            0..=2 => text.insert_str(at, choices.pick(&PIECES)),
            3 | 4 => drop(text[at..].chars().next().map(|c| text.replace_range(at..at + c.len_utf8(), ""))),
            5 | 6 => {
                let piece = choices.pick(&PIECES);
                if let Some(c) = text[at..].chars().next() {
                    text.replace_range(at..at + c.len_utf8(), piece);
                }
            }
            _ => text.truncate(at),
        }
    }
}
