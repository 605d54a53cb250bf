//! `__metadata__`: strings by name, anywhere in the header, at most once.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use weightview::error::ErrorKind::{
    DuplicateMetadata, DuplicateMetadataKey, MetadataNotObject, MetadataNotString, NestingTooDeep,
};
use weightview::safetensors::ParseOptions;

use crate::agree::Intended;
use crate::build::{Build, File, NONE, ONE, accepted, refusals, refused_again};
use crate::duplicates::chained;
use crate::names;

refusals! {
    number: r#"{"__metadata__":»1}"#, 0 => MetadataNotObject;
    string: r#"{"__metadata__":»"pt"}"#, 0 => MetadataNotObject;
    bool: r#"{"__metadata__":»false}"#, 0 => MetadataNotObject;
    array: r#"{"__metadata__":»[]}"#, 0 => MetadataNotObject;
    array_of_pairs: r#"{"__metadata__": »[["format","pt"]]}"#, 0 => MetadataNotObject;
    with_an_escaped_key: r#"{"__metadata\u005f_":»1}"#, 0 => MetadataNotObject;

    value_number: r#"{"__metadata__":{"a":"b","n":»1}}"#, 0 => MetadataNotString;
    value_null: r#"{"__metadata__":{"n": »null}}"#, 0 => MetadataNotString;
    value_bool: r#"{"__metadata__":{"n":»true}}"#, 0 => MetadataNotString;
    value_array: r#"{"__metadata__":{"n":»["a"]}}"#, 0 => MetadataNotString;
    value_object: r#"{"__metadata__":{"n":»{"a":"b"}}}"#, 0 => MetadataNotString;

    twice: r#"{"__metadata__":{"a":"b"},»"__metadata__":{"a":"b"}}"#, 0 => DuplicateMetadata;
    twice_far_apart: format!(r#"{{"__metadata__":{{}},"a":{NONE},"b":{NONE}, »"__metadata__":{{}}}}"#), 0
        => DuplicateMetadata;
    twice_and_null: r#"{"__metadata__":null,»"__metadata__":null}"#, 0 => DuplicateMetadata;
    twice_first_null: r#"{"__metadata__":null,»"__metadata__":{"a":"b"}}"#, 0 => DuplicateMetadata;
    twice_second_null: r#"{"__metadata__":{"a":"b"},»"__metadata__":null}"#, 0 => DuplicateMetadata;
    twice_with_escapes: r#"{"__metadata__":{},»"\u005f_metadata__":{}}"#, 0 => DuplicateMetadata;

    /// A tensor of this name can be written by the reference, and not be read again.
    a_tensor_of_this_name: r#"{"__metadata__":{"dtype":"U8","shape":»[1],"data_offsets":[0,1]}}"#, 1
        => MetadataNotString;
    a_tensor_of_this_name_with_fields_in_another_order:
        r#"{"__metadata__":{"data_offsets":»[0,1],"dtype":"U8","shape":[1]}}"#, 1 => MetadataNotString;
}

#[test]
fn none() {
    accepted(&format!(r#"{{"a":{NONE}}}"#), 0, |file| {
        assert_eq!(file.metadata().count(), 0);
        assert_eq!(file.metadata().get("format"), None);
    });
}

#[test]
fn null() {
    for text in [r#"{"__metadata__":null}"#, r#"{ "__metadata__" : null } "#, r#"{"\u005f_metadata__":null}"#] {
        accepted(text, 0, |file| assert_eq!((file.len(), file.metadata().count()), (0, 0)));
    }
}

#[test]
fn empty() {
    for text in [r#"{"__metadata__":{}}"#, r#"{"__metadata__": { } }"#] {
        accepted(text, 0, |file| assert_eq!((file.len(), file.metadata().count()), (0, 0)));
    }
}

#[test]
fn anywhere() {
    let metadata = r#""__metadata__":{"format":"pt"}"#;
    let [a, b] = [format!(r#""a":{ONE}"#), format!(r#""b":{}"#, r#"{"dtype":"U8","shape":[1],"data_offsets":[1,2]}"#)];
    for members in [[metadata, &a, &b], [&a, metadata, &b], [&a, &b, metadata]] {
        accepted(&format!("{{{}}}", members.join(",")), 2, |file| {
            assert_eq!(file.len(), 2);
            assert!(file.metadata().get("format").is_some_and(|value| value == "pt"));
            let names: Vec<_> = file.tensors().map(|tensor| tensor.name().to_string()).collect();
            assert_eq!(names, ["a", "b"]);
        });
    }
}

/// Its inside looks like anything: the parts of a header must not be found in it.
#[test]
fn that_looks_like_tensors() {
    let text = format!(
        r#"{{"__metadata__":{{"a":"{{\"dtype\":\"U8\"}}","}}":"}},\"b\":{{}}","dtype":"F32","shape":"[1]"}},"a":{ONE}}}"#
    );
    accepted(&text, 1, |file| {
        assert_eq!(file.len(), 1);
        assert!(file.metadata().get("a").is_some_and(|value| value == r#"{"dtype":"U8"}"#));
        assert!(file.metadata().get("}").is_some_and(|value| value == r#"},"b":{}"#));
    });
}

#[test]
fn keys_and_values_of_every_kind() {
    let text =
        r#"{"__metadata__":{"":"","\u0000":"\ud83e\udd80","k\u0065y":"重み","key2":"\"\\\n","__metadata__":"x"}}"#;
    accepted(text, 0, |file| {
        let metadata = file.metadata();
        for (key, value) in [("", ""), ("\0", "🦀"), ("key", "重み"), ("key2", "\"\\\n"), ("__metadata__", "x")] {
            assert!(metadata.get(key).is_some_and(|found| found == value), "{key}");
        }
        assert_eq!(metadata.get("absent"), None);
        let order: Vec<_> = metadata.map(|(key, _)| key.to_string()).collect();
        assert_eq!(order, ["", "\0", "key", "key2", "__metadata__"]);
    });
}

#[test]
fn a_key_twice() {
    for (first, again) in [("k", "k"), ("k", r"\u006b"), ("", ""), (r"\n", r"\u000a"), ("🦀", r"\ud83e\udd80")] {
        let text = format!(r#"{{"__metadata__":{{"a":"1",«"{first}":"x","b":"2",»"{again}":"y","c":"3"}}}}"#);
        let difference = refused_again(&text, 0, |first| DuplicateMetadataKey { first });
        assert_eq!(difference, Some(Intended::DuplicateMetadataKey));
    }
}

#[test]
fn a_key_twice_with_one_value() {
    let text = r#"{"__metadata__":{«"format":"pt",»"format":"pt"}}"#;
    let difference = refused_again(text, 0, |first| DuplicateMetadataKey { first });
    assert_eq!(difference, Some(Intended::DuplicateMetadataKey));
}

/// Many keys, in several orders, one of them twice.
#[test]
fn many_keys() {
    for count in [380, 390, if cfg!(debug_assertions) { 900 } else { 3000 }] {
        let sorted = names::checkpoint(count);
        let mut shuffled = sorted.clone();
        names::shuffle(&mut shuffled, 11);
        let colliding = names::colliding(count.min(400));
        for keys in [sorted, shuffled, colliding] {
            let text_of = |twice: Option<(usize, usize)>| {
                let mut text = String::from(r#"{"__metadata__":{"#);
                for (place, key) in keys.iter().enumerate() {
                    let key = twice.filter(|twice| twice.1 == place).map_or(key, |twice| &keys[twice.0]);
                    let mark = match twice {
                        Some((first, _)) if first == place => "«",
                        Some((_, again)) if again == place => "»",
                        _ => "",
                    };
                    write!(text, r#"{}{mark}"{key}":"{place}""#, if place > 0 { "," } else { "" }).expect("a String");
                }
                text + "}}"
            };
            for heap in [false, true] {
                let options = ParseOptions { heap, ..ParseOptions::default() };
                let file = File::new(&text_of(None), 0);
                let found: BTreeMap<_, _> = options.parse(&file.bytes).map_or(BTreeMap::new(), |file| {
                    file.metadata().map(|(key, value)| (key.to_string(), value.to_string())).collect()
                });
                assert_eq!(found.len(), keys.len());
                let last = keys.len() - 1;
                assert_eq!(found[&keys[last]], last.to_string());

                for (first, again) in [(0, last), (last / 2, last / 2 + 1), (0, 1)] {
                    let file = File::new(&text_of(Some((first, again))), 0);
                    let error = options.parse(&file.bytes).expect_err("a duplicate");
                    assert_eq!(error.kind(), DuplicateMetadataKey { first: file.first() });
                    assert_eq!(error.offset(), Some(file.fault()));
                }
            }
        }
    }
}

#[test]
fn deep() {
    let deep = |depth: usize| format!("{}»{}", "[".repeat(depth), "[".repeat(100_000));
    for (text, depth) in [(r#"{"__metadata__":"#, 126), (r#"{"__metadata__":{"k":"#, 125)] {
        let file = File::new(&format!("{text}{}", deep(depth)), 0);
        let error = file.parse().expect_err("too deep");
        assert_eq!((error.kind(), error.offset()), (NestingTooDeep { limit: 127 }, Some(file.fault())));
    }
}

#[test]
fn debug_and_clones() {
    let file = Build::new().metadata(&[("b", "1"), (r"\u0061", "2")]).file(0);
    let model = file.parse().expect("well");
    let mut metadata = model.metadata();
    let clone = metadata.clone();
    assert_eq!(format!("{metadata:?}"), r#"{"b": "1", "a": "2"}"#);
    assert!(metadata.next().is_some() && metadata.next().is_some());
    assert!(metadata.next().is_none() && metadata.next().is_none());
    assert_eq!(clone.count(), 2);
}

/// A key that stands three times among many, once with escapes: the second time is at fault, named with the first.
#[test]
fn a_key_three_times_among_many() {
    for count in [380, 500] {
        let mut keys = names::checkpoint(count);
        names::shuffle(&mut keys, 2);
        let name = std::mem::replace(&mut keys[count / 4], "«model.x".into());
        assert_eq!(keys.iter().filter(|key| **key == name).count(), 0);
        keys[count / 2] = r"»model\u002ex".into();
        keys[count - 1] = "model.x".into();
        // The marks stand behind the quote, the error at it.
        let pairs: Vec<_> = keys.iter().map(|key| format!(r#""{key}":"v""#)).collect();
        let file = File::new(&format!(r#"{{"a":{NONE},"__metadata__":{{{}}}}}"#, pairs.join(",")), 0);
        for heap in [false, true] {
            let error = ParseOptions { heap, ..ParseOptions::default() }.parse(&file.bytes).expect_err("a duplicate");
            assert_eq!(error.kind(), DuplicateMetadataKey { first: file.first() - 1 });
            assert_eq!(error.offset(), Some(file.fault() - 1));
        }
    }
}

/// Twenty thousand keys of one hash, in no order: with a heap they cost what others cost.
#[test]
fn twenty_thousand_keys_of_one_hash() {
    if !cfg!(feature = "alloc") {
        return; // without a heap this is what `max_header_len` is for
    }
    let mut keys = chained(20_000);
    let text_of = |keys: &[String]| {
        let pairs: Vec<_> = keys.iter().map(|key| format!(r#""{key}":"""#)).collect();
        format!(r#"{{"__metadata__":{{{}}}}}"#, pairs.join(","))
    };
    let file = File::new(&text_of(&keys), 0);
    assert_eq!(file.parse().map(|file| file.metadata().count()), Ok(keys.len()));
    keys[19_000] = format!("»{}", keys[77]);
    keys[77] = format!("«{}", keys[77]);
    let file = File::new(&text_of(&keys), 0);
    let error = file.parse().expect_err("a duplicate");
    assert_eq!(error.kind(), DuplicateMetadataKey { first: file.first() - 1 });
    assert_eq!(error.offset(), Some(file.fault() - 1));
}
