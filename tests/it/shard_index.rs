//! Shard indexes: what is read, what is refused and at which byte, and that serde_json reads the same.

use proptest::prelude::*;
use weightview::Error;
use weightview::error::{Blame, ErrorKind, JsonFault, Token};
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
        ("9007199254740992.0", None),
        ("1.5", None),
        ("-1", None),
        ("-0", Some(0)),
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
fn an_error_is_explained_at_its_place() {
    let text = r#"{"weight_map":{"a":"x.safetensors","a":"y.safetensors"}}"#;
    let error = ShardIndex::parse(text.as_bytes()).expect_err("a fault");
    let explained = error.explain(text.as_bytes()).to_string();
    let lines: Vec<&str> = explained.lines().collect();
    assert!(lines[0].starts_with("byte 35: a tensor of this name already stands at byte 15"), "{explained}");
    assert_eq!(lines[1], r#"  index: eight_map":{"a":"x.safetensors","a":"y.safetensors"}}"#);
    assert_eq!(lines[2].find('^'), lines[1].rfind("\"a\""), "{explained}");
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
