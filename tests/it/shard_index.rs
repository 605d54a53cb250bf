//! Shard indexes: what is read, what is refused and at which byte, and that serde_json reads the same.

use proptest::prelude::*;
use weightview::Error;
use weightview::error::{Blame, ErrorKind, JsonFault, ShardNameFault, Token};
use weightview::safetensors::ParseOptions;
use weightview::shards::ShardIndex;

use crate::agree_index::assert_index;

/// An index in which `»` stands before the byte at fault, and `«` before the place that the error also names.
#[track_caller]
fn refused(marked: &str, kind: impl Fn(u64) -> ErrorKind) -> Error {
    let text: String = marked.chars().filter(|c| !"»«".contains(*c)).collect();
    let place = |mark| {
        marked
            .find(mark)
            .map(|at| marked[..at].chars().filter(|c| !"»«".contains(*c)).map(char::len_utf8).sum::<usize>())
    };
    let error = ShardIndex::parse(text.as_bytes()).expect_err("a fault");
    let at = place('»').expect("a mark") as u64;
    assert_eq!((error.kind(), error.offset()), (kind(place('«').unwrap_or(0) as u64), Some(at)), "{text}");
    // The same answer without the heap.
    let options = ParseOptions { heap: false, ..ParseOptions::default() };
    assert_eq!(ShardIndex::parse_with(text.as_bytes(), &options).expect_err("a fault"), error);
    error
}

/// Tensors and shards, decoded.
fn pairs(text: &str) -> Vec<(String, String)> {
    let index = ShardIndex::parse(text.as_bytes()).expect("an index");
    let pairs: Vec<_> = index.entries().map(|entry| (entry.tensor.to_string(), entry.shard.to_string())).collect();
    assert_eq!((index.len(), index.is_empty(), index.entries().len()), (pairs.len(), pairs.is_empty(), pairs.len()));
    for entry in index.entries() {
        assert_eq!(text.as_bytes()[entry.at as usize], b'"', "where the name stands");
        assert_eq!(index.shard_of(&entry.tensor.to_string()).expect("it is there"), entry.shard);
    }
    pairs
}

fn pair(tensor: &str, shard: &str) -> (String, String) {
    (tensor.into(), shard.into())
}

#[test]
fn a_usual_index() {
    let text = r#"{
  "metadata": {
    "total_size": 352494542848
  },
  "weight_map": {
    "lm_head.weight": "model-00002-of-00002.safetensors",
    "model.embed_tokens.weight": "model-00001-of-00002.safetensors"
  }
}
"#;
    assert_eq!(
        pairs(text),
        [
            pair("lm_head.weight", "model-00002-of-00002.safetensors"),
            pair("model.embed_tokens.weight", "model-00001-of-00002.safetensors")
        ]
    );
    let index = ShardIndex::parse(text.as_bytes()).expect("an index");
    assert_eq!(index.total_size(), Some(352_494_542_848));
    let fields: Vec<_> = index.metadata().map(|(key, value)| (key.to_string(), value)).collect();
    assert_eq!(fields, [("total_size".to_string(), "352494542848")]);
    assert_eq!(index.shard_of("no").expect_err("none").kind(), ErrorKind::NotFound);
}

#[test]
fn oddities_that_occur() {
    assert_eq!(pairs(r#"{"weight_map":{}}"#), []);
    assert_eq!(pairs(r#"{"weight_map":{"a":"b.safetensors"},"metadata":null}"#), [pair("a", "b.safetensors")]);
    assert_eq!(
        pairs(r#" {"x":[{"y":1}],"weight_map":{"a":"pytorch_model.bin"},"z":{}} "#),
        [pair("a", "pytorch_model.bin")]
    );
    // Escapes, in the keys too; names of any kind.
    assert_eq!(
        pairs(r#"{"\u0077eight_map":{"\u0061\n":"\u006d.safetensors","":"","重み":"🦀","__metadata__":"../x"}}"#),
        [pair("a\n", "m.safetensors"), pair("", ""), pair("重み", "🦀"), pair("__metadata__", "../x")]
    );
}

#[test]
fn total_size_of_any_spelling() {
    for (spelling, expected) in [
        ("0", Some(0)),
        ("18446744073709551615", Some(u64::MAX)),
        ("18446744073709551616", None),
        ("352494542848.0", Some(352_494_542_848)),
        ("1.5e3", Some(1500)),
        ("9007199254740991.0", Some((1 << 53) - 1)),
        ("9007199254740993.0", Some((1 << 53) + 1)),
        ("1.8446744073709551615e19", Some(u64::MAX)),
        ("1.8446744073709551616e+19", None),
        ("184467440737095516150e-1", Some(u64::MAX)),
        ("0.000012E6", Some(12)),
        ("0.0", Some(0)),
        ("0e9223372036854775807", Some(0)),
        ("1e19", Some(10_000_000_000_000_000_000)),
        ("1e20", None),
        ("1e307", None),
        ("1e-9999999999", None),
        ("1.5", None),
        ("4503599627370497.1", None),
        ("0.99999999999999999999", None),
        ("10e-2", None),
        ("-1", None),
        ("-0", None),
        ("\"\"", None),
        ("\"12\"", None),
        ("null", None),
        ("[1]", None),
        ("true", None),
    ] {
        let text = format!(r#"{{"weight_map":{{}},"metadata":{{"a":{{"total_size":7}},"total_size":{spelling}}}}}"#);
        let index = ShardIndex::parse(text.as_bytes()).expect("an index");
        assert_eq!(index.total_size(), expected, "{spelling}");
        assert_eq!(index.metadata().nth(1).map(|(_, value)| value), Some(spelling));
    }
    let stray = ShardIndex::parse(br#"{"weight_map":{},"total_size":5}"#).expect("an index");
    assert_eq!((stray.total_size(), stray.metadata().count()), (None, 0), "only metadata counts");
    assert_eq!(stray.fields().map(|(key, _)| key.to_string()).collect::<Vec<_>>(), ["weight_map", "total_size"]);
}

#[test]
fn what_is_no_index() {
    let json = |fault| move |_| ErrorKind::Json(fault);
    refused("»", |_| ErrorKind::IndexNotObject);
    refused("»[]", |_| ErrorKind::IndexNotObject);
    refused("»\u{feff}{\"weight_map\":{}}", |_| ErrorKind::IndexNotObject);
    refused("»{}", |_| ErrorKind::NoWeightMap);
    refused("  »{\"model_type\":\"llama\"}", |_| ErrorKind::NoWeightMap);
    refused(r#"{"weight_map":»[]}"#, |_| ErrorKind::WeightMapType);
    refused(r#"{"weight_map":»null}"#, |_| ErrorKind::WeightMapType);
    refused(r#"{"weight_map":{"a":»1}}"#, |_| ErrorKind::ShardNotString);
    refused(r#"{"weight_map":{"a":»["x"]}}"#, |_| ErrorKind::ShardNotString);
    refused(r#"{"weight_map":{},"metadata":»"x"}"#, |_| ErrorKind::IndexMetadataType);
    refused(r#"{"weight_map":{}}»x"#, json(JsonFault::AfterEnd));
    refused(r#"{"weight_map":{"a":"b"»"#, json(JsonFault::Expected(Token::CommaOrBrace)));
    refused(r#"{"weight_map":{"a":"b",»}}"#, json(JsonFault::Expected(Token::Key)));
    refused(r#"{"weight_map":{"a":»"b}}"#, json(JsonFault::OpenString));
    refused("{\"weight_map\":{\"a\":\"»\n\"}}", json(JsonFault::ControlCharacter(b'\n')));
    refused(r#"{"weight_map":{"»\ud800":"b"}}"#, json(JsonFault::LoneSurrogate));
    refused(r#"{"weight_map":{},"x":»01}"#, json(JsonFault::BadNumber));
}

#[test]
fn what_stands_twice() {
    let name = |first| ErrorKind::DuplicateName { first };
    let key = |first| ErrorKind::DuplicateIndexKey { first };
    refused(r#"{"weight_map":{«"a":"x","b":"y",»"a":"x"}}"#, name);
    refused(r#"{"weight_map":{«"a":"x",»"\u0061":"y"}}"#, name);
    refused(r#"{«"weight_map":{},»"weight_map":{}}"#, key);
    refused(r#"{«"weight_map":{},"b":1,»"w\u0065ight_map":{}}"#, key);
    refused(r#"{«"metadata":null,"weight_map":{},»"metadata":{}}"#, key);
    refused(r#"{"weight_map":{},«"x":1,»"x":1}"#, key);
    refused(r#"{"metadata":{«"total_size":1,"a":{},»"total_size":2},"weight_map":{}}"#, key);
    // In a member that nothing is read from, it does no harm.
    assert_eq!(pairs(r#"{"x":{"a":1,"a":2},"weight_map":{}}"#), []);
}

/// More names than are held against each other in fixed memory, in no order, as tools that go from shard to shard write
/// them.
#[test]
fn one_of_thousands_stands_twice() {
    let key = |i: u32| format!("\"model.layers.{}.weight\"", i.wrapping_mul(0x9E37_79B1) >> 7);
    for (first, again) in [(0, 2999), (1, 2), (1500, 1501), (383, 384), (2000, 2500)] {
        let mut text = String::from("{\"weight_map\":{");
        let mut places = Vec::new();
        for i in 0..3000 {
            text.push_str(if i > 0 { "," } else { "" });
            places.push(text.len() as u64);
            let name = if i == again { key(first).replace("model", "\\u006dodel") } else { key(i) };
            text.push_str(&format!("{name}:\"x.safetensors\""));
        }
        text.push_str("}}");
        for heap in [true, false] {
            let options = ParseOptions { heap, ..ParseOptions::default() };
            let error = ShardIndex::parse_with(text.as_bytes(), &options).expect_err("a name stands twice");
            let kind = ErrorKind::DuplicateName { first: places[first as usize] };
            assert_eq!((error.kind(), error.offset()), (kind, Some(places[again as usize])), "heap: {heap}");
            let sound = text.replace("\\u006d", "\\u004d");
            let index = ShardIndex::parse_with(sound.as_bytes(), &options).expect("no name stands twice");
            assert_eq!(index.len(), 3000);
        }
    }
}

#[test]
fn not_utf_8() {
    let error = ShardIndex::parse(b"{\"weight_map\":{\"\xff\":\"\"}}").expect_err("a fault");
    assert_eq!((error.kind(), error.offset()), (ErrorKind::IndexNotUtf8, Some(16)));
}

#[test]
fn limits() {
    let text = br#"{"weight_map":{"a":"x","b":"x","c":"x"}}"#;
    let parse = |options: ParseOptions| ShardIndex::parse_with(text, &options).map(|index| index.len());
    let len = text.len() as u64;
    let default = ParseOptions::default();
    assert_eq!(parse(ParseOptions { max_header_len: len, max_tensors: 3, ..default }), Ok(3));
    let error = parse(ParseOptions { max_header_len: len - 1, ..default }).expect_err("over the limit");
    assert_eq!((error.kind(), error.blame()), (ErrorKind::IndexTooLong { len, limit: len - 1 }, Blame::Limit));
    let error = parse(ParseOptions { max_tensors: 2, ..default }).expect_err("over the limit");
    assert_eq!((error.kind(), error.offset()), (ErrorKind::TooManyTensors { limit: 2 }, Some(31)));
    assert_eq!(error.blame(), Blame::Limit);
}

/// Without a heap the keys of the outer object and of `metadata` cost what tensors cost: they have the same limit.
#[test]
fn keys_are_limited_as_tensors_are() {
    for (text, at) in [
        (r#"{"a":0,"b":[],"c":"","weight_map":{}}"#, 14),
        (r#"{"metadata":{"a":0,"b":[],"c":""},"weight_map":{}}"#, 26),
    ] {
        let error = ShardIndex::parse_with(text.as_bytes(), &ParseOptions { max_tensors: 2, ..Default::default() })
            .expect_err("over the limit");
        assert_eq!((error.kind(), error.offset()), (ErrorKind::TooManyKeys { limit: 2 }, Some(at)));
        assert_eq!(error.blame(), Blame::Limit);
        assert!(error.to_string().contains("more than 2 keys"));
        assert!(
            ShardIndex::parse_with(text.as_bytes(), &ParseOptions { max_tensors: 4, ..Default::default() }).is_ok()
        );
    }
}

/// Each error is one sentence about an index, not about a header.
#[test]
fn sentences() {
    let nested = format!(r#"{{"x":{}"#, "[".repeat(200));
    for text in [
        "",
        "{",
        "{}",
        "[]",
        "{1",
        r#"{"weight_map":1}"#,
        r#"{"weight_map":{"a":1}}"#,
        r#"{"metadata":1}"#,
        r#"{"x":1e308}"#,
        r#"{"a":0,"a":0}"#,
        r#"{"weight_map":{"a":"","a":""}}"#,
        &nested,
    ] {
        let said = ShardIndex::parse(text.as_bytes()).expect_err("a fault").to_string();
        assert!(said.starts_with("byte ") && said.split_whitespace().count() >= 6, "{said}");
        assert!(!said.contains("header") && !said.ends_with('.') && !said.contains('\n'), "{said}");
    }
    let long = ErrorKind::IndexTooLong { len: 1234, limit: 567 }.to_string();
    assert!(["1234", "567", "max_header_len"].iter().all(|part| long.contains(part)), "{long}");
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| format!(r#"{{"x":{}{},"weight_map":{{}}}}"#, "[".repeat(depth), "]".repeat(depth));
    assert!(ShardIndex::parse(nested(100).as_bytes()).is_ok());
    for depth in [200, 100_000] {
        let error = ShardIndex::parse(nested(depth).as_bytes()).expect_err("too deep");
        assert!(matches!(error.kind(), ErrorKind::NestingTooDeep { .. }));
    }
    let metadata = format!(r#"{{"metadata":{},"weight_map":{{}}}}"#, r#"{"a":"#.repeat(100_000));
    assert!(matches!(
        ShardIndex::parse(metadata.as_bytes()).expect_err("too deep").kind(),
        ErrorKind::NestingTooDeep { .. }
    ));
}

#[test]
fn iterators_end_at_the_end() {
    // What follows the object must not be taken for more of it.
    let index = ShardIndex::parse(br#"{"metadata":{"a":1},"weight_map":{"t":"x"},"y":"z"}"#).expect("an index");
    let (mut entries, mut metadata, mut fields) = (index.entries(), index.metadata(), index.fields());
    assert_eq!((entries.by_ref().count(), metadata.by_ref().count(), fields.by_ref().count()), (1, 1, 3));
    for _ in 0..3 {
        assert!(entries.next().is_none() && metadata.next().is_none() && fields.next().is_none());
        assert_eq!(entries.len(), 0);
    }
}

/// Names of shards are not looked at by the parser; `checked_shard` does, and says where the name stands.
#[test]
fn names_of_shards_are_checked_on_demand() {
    let text = r#"{"weight_map":{"a":"m.safetensors", "b": "\u002e./m.safetensors", "c":"m.bin"}}"#;
    let index = ShardIndex::parse(text.as_bytes()).expect("an index");
    let [a, b, c] = ["a", "b", "c"].map(|tensor| index.entry(tensor).expect("it is there"));
    for entry in index.entries() {
        assert_eq!(text.as_bytes()[entry.shard_at as usize], b'"', "where the name stands");
    }
    assert_eq!(a.checked_shard().expect("safe"), "m.safetensors");
    let error = b.checked_shard().expect_err("it leads out");
    assert_eq!((error.kind(), error.offset()), (ErrorKind::ShardName(ShardNameFault::Parent), Some(41)));
    assert_eq!(error.blame(), Blame::File);
    assert_eq!(
        error.explain(text.as_bytes()).to_string(),
        r#"byte 41: this name of a shard must not be joined to a folder: it leads out of the folder, through `..`
  tensor: "b"
  index: map":{"a":"m.safetensors", "b": "\u002e./m.safetensors", "c":"m.
                                         ^"#
    );
    assert_eq!(c.checked_shard().expect_err("no safetensors").kind(), ErrorKind::ShardName(ShardNameFault::Extension));
    assert_eq!(c.checked_shard_with(".bin").expect("safe"), "m.bin");
    assert!(a.checked_shard_with(".bin").is_err() && index.entry("d").is_err());
}

#[test]
fn an_error_is_explained_at_its_place() {
    let text = r#"{"weight_map":{"a":"x.safetensors","a":"y.safetensors"}}"#;
    let error = ShardIndex::parse(text.as_bytes()).expect_err("a fault");
    let explained = error.explain(text.as_bytes()).to_string();
    let lines: Vec<&str> = explained.lines().collect();
    assert!(lines[0].starts_with("byte 35: a tensor of this name already stands at byte 15"), "{explained}");
    assert_eq!(lines[1], r#"  tensor: "a""#);
    assert_eq!(lines[2], r#"  index: eight_map":{"a":"x.safetensors","a":"y.safetensors"}}"#);
    assert_eq!(lines[3].find('^'), lines[2].rfind("\"a\""), "{explained}");
}

/// What an explanation shows below the sentence.
fn shown(bytes: &[u8]) -> String {
    let error = ShardIndex::parse(bytes).expect_err("a fault");
    let explained = error.explain(bytes).to_string();
    explained.split_once('\n').map_or_else(String::new, |(_, place)| place.to_string())
}

#[test]
fn explanations_of_indexes_of_any_form() {
    // One whose first 8 bytes are white space is not taken for a header, nor `weight_map` for a tensor.
    assert_eq!(
        shown(br#"        {"weight_map":[]}"#),
        "  index:         {\"weight_map\":[]}\n                               ^"
    );
    assert_eq!(
        shown(br#"        {"x":0,"weight_map":{"a":1}}"#),
        "  tensor: \"a\"\n  index:        {\"x\":0,\"weight_map\":{\"a\":1}}\n                                         ^"
    );
    // One that is none at all.
    assert_eq!(shown(b"[1]"), "  index: [1]\n         ^");
    assert_eq!(shown(b""), "  index: \n         ^");
    assert!(shown("\u{feff}{}".as_bytes()).starts_with("  index: \\u{feff}{}\n"));
    assert_eq!(shown(b"{\"a\xff"), "  index: {\"a\n            ^");
    assert_eq!(shown(br#"{"a":tru}"#), "  index: {\"a\":tru}\n              ^");
    // The length of a header may look like a brace.
    let error = weightview::SafeTensors::parse(b"{\0\0\0\0\0\0\0{\"a\":").expect_err("cut");
    assert!(!error.explain(b"{\0\0\0\0\0\0\0{\"a\":").to_string().contains("index"));
    // A file of JSON that was taken for one with a header is not said to be an index.
    let error = weightview::SafeTensors::parse(br#"{"model_type":"llama"}"#).expect_err("no header");
    assert!(!error.explain(br#"{"model_type":"llama"}"#).to_string().contains("index"));
}

#[test]
fn cut_at_every_byte_and_changed_at_every_byte() {
    let text = r#" {"metadata": {"total_size": 1e1, "x": [true]},
        "weight_map": {"a\u0062": "m-00001-of-00002.safetensors", "c": "n"}} "#;
    assert_eq!(pairs(text).len(), 2);
    for end in 0..text.trim_end().len() {
        assert!(ShardIndex::parse(&text.as_bytes()[..end]).is_err(), "cut at {end}");
    }
    let mut bytes = text.as_bytes().to_vec();
    for at in 0..bytes.len() {
        let right = bytes[at];
        for wrong in 0..=u8::MAX {
            bytes[at] = wrong;
            assert_index(&bytes);
        }
        bytes[at] = right;
    }
}

fn a_string() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-d]{0,2}".prop_map(|plain| format!("\"{plain}\"")),
        Just(r#""\u0061""#.to_string()),
        Just(r#""\ud83e\udd80""#.to_string()),
        Just("\"total_size\"".to_string()),
        Just("\"model-00001-of-00002.safetensors\"".to_string()),
        Just("\"broken\\x\"".to_string()),
    ]
}

fn a_value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![a_string(), "-?[0-9]{1,22}", "[0-9]\\.[0-9]e[0-9]", Just("null".into()), Just("tru".into())];
    leaf.prop_recursive(3, 8, 3, |inner| {
        let members = prop::collection::vec((a_string(), inner.clone()), 0..3).prop_map(|members| {
            members.iter().map(|(key, value)| format!("{key}:{value}")).collect::<Vec<_>>().join(",")
        });
        prop_oneof![
            prop::collection::vec(inner, 0..3).prop_map(|values| format!("[{}]", values.join(" ,"))),
            members.prop_map(|members| format!("{{{members}}}")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn serde_json_reads_the_same(
        tensors in prop::collection::vec((a_string(), prop_oneof![9 => a_string(), 1 => a_value()]), 0..6),
        metadata in prop::option::of(a_value()),
        stray in prop::option::of((a_string(), a_value())),
        map_first: bool,
    ) {
        let map: Vec<String> = tensors.iter().map(|(tensor, shard)| format!("{tensor}: {shard}")).collect();
        let mut members = vec![format!("\"weight_map\":{{{}}}", map.join(","))];
        members.extend(metadata.map(|value| format!("\"metadata\":{value}")));
        members.extend(stray.map(|(key, value)| format!("{key}:{value}")));
        if !map_first {
            members.reverse();
        }
        assert_index(format!("{{{}}}", members.join(", ")).as_bytes());
    }
}
