//! Headers that make the parser do all that it can: nothing in order, nothing spelt as usual, and faults that only
//! the last pass finds.

use std::fmt::Write as _;

/// Tensors of a header: more than are judged in one pass without a heap.
const MANY: usize = 300;

/// The headers, each by its name, as the head of a file.
pub fn all() -> Vec<(&'static str, Vec<u8>)> {
    let shuffled: Vec<usize> = (0..MANY).map(|index| index * 137 % MANY).collect();
    let mut twice = shuffled.clone();
    twice[MANY - 1] = twice[0]; // the interval too: an overlap and a hole, which are found first
    vec![
        ("in_no_order", head("", shuffled.iter().map(|&i| entry(i, i)))),
        ("spelt_otherwise", head(&metadata(&shuffled[..60]), shuffled.iter().map(|&i| spelt_otherwise(i)))),
        ("overlap", head("", twice.iter().map(|&i| entry(i + MANY, i)))),
        ("name_twice", head("", shuffled.iter().zip(&twice).map(|(&place, &name)| entry(name, place)))),
        ("key_twice", head(&metadata(&[&shuffled[..60], &[7]].concat()), shuffled.iter().map(|&i| entry(i, i)))),
        ("entry_wrong", head("", shuffled.iter().map(|&i| entry(i, i)).chain([wrong()]))),
    ]
}

/// The `i`th name in the order of the data is any other in the order of names.
fn name(i: usize) -> String {
    format!("layer.{:03}.weight", i * 59 % 1000)
}

fn entry(name_of: usize, place: usize) -> String {
    let (begin, end) = (place * 8, place * 8 + 8);
    format!(r#""{}":{{"dtype":"BF16","shape":[2,2],"data_offsets":[{begin},{end}]}}"#, name(name_of))
}

/// White space, escapes, fields in another order, and one that is ignored, nested as deep as can be.
fn spelt_otherwise(place: usize) -> String {
    let (begin, end) = (place * 8, place * 8 + 8);
    let name = name(place).replace('l', "\\u006c");
    let deep = if place == 0 { [&"[".repeat(125)[..], &"]".repeat(125)].concat() } else { "1e3".to_string() };
    format!(
        r#" "{name}" : {{ "data_offsets" : [ {begin} , {end} ], "old" : {deep}, "shape" : [1,1,1,1,1,1,1,1,1,1,1,1,1,1,2,2], "dtype" : "\u00421\u0036" }} "#
    )
    .replace("\\u00421", "B\\u0046\\u0031")
}

/// More dims than there may be, the last of them no integer.
fn wrong() -> String {
    r#""z": {"dtype": "F32", "shape": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1.0], "data_offsets": [0, 4]}"#.to_string()
}

fn metadata(keys: &[usize]) -> String {
    let mut text = r#""__metadata__":{"#.to_string();
    for (at, key) in keys.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        write!(text, r#"{comma}"key {}":"value""#, key * 59 % 1000).expect("memory");
    }
    text + "},"
}

fn head(metadata: &str, entries: impl Iterator<Item = String>) -> Vec<u8> {
    let text = format!("{{{metadata}{}}}", entries.collect::<Vec<_>>().join(","));
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}
