//! What must hold of any bytes that are taken for a shard index: serde_json reads the same. Shared with the fuzz targets.

use std::collections::HashSet;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use weightview::error::ErrorKind;
use weightview::safetensors::ParseOptions;
use weightview::shards::{Fields, ShardIndex, check_name};

/// We accept what serde_json accepts and has the form of an index, with the same tensors and shards. All else we
/// refuse, for a fault that is there, at its byte. With and without a heap the answer is the same.
///
/// What serde_json accepts and we do not, though it has the form: what stands twice, and numbers of 1e308 and more.
pub(crate) fn assert_index(bytes: &[u8]) {
    let theirs: Option<Json> = serde_json::from_slice(bytes).ok();
    let ours = ShardIndex::parse(bytes);
    let no_heap = ParseOptions { heap: false, ..ParseOptions::default() };
    assert_eq!(ours.map(|index| index.len()), ShardIndex::parse_with(bytes, &no_heap).map(|index| index.len()));
    let faults = theirs.as_ref().map(faults);
    match ours {
        Ok(index) => {
            assert_eq!(faults.as_deref(), Some(&[][..]), "of what we accept");
            assert_same(bytes, &index, &theirs.expect("what we accept is JSON"));
        }
        Err(error) => {
            let at = error.offset().expect("a fault of the file");
            assert!(at <= bytes.len() as u64);
            assert!(error.explain(bytes).to_string().starts_with(&error.to_string()));
            if let ErrorKind::DuplicateName { first } | ErrorKind::DuplicateIndexKey { first } = error.kind() {
                assert!(first < at, "{error}");
                assert_eq!(string_at(bytes, first), string_at(bytes, at), "{error}");
            }
            match (error.kind(), faults) {
                (ErrorKind::NumberTooLarge | ErrorKind::NestingTooDeep { .. }, _) => {}
                (kind, Some(faults)) => assert!(faults.contains(&fault(kind)), "{error}, but there are {faults:?}"),
                // What is not JSON may have another fault before that.
                (_, None) => {}
            }
        }
    }
}

/// Both read the same from an index without a fault.
fn assert_same(bytes: &[u8], index: &ShardIndex<'_>, theirs: &Json) {
    let map = theirs.get("weight_map").expect("no fault").members();
    assert_eq!((index.len(), index.is_empty(), index.entries().count()), (map.len(), map.is_empty(), map.len()));
    for (entry, (tensor, shard)) in index.entries().zip(map) {
        let Json::String(shard) = shard else { panic!("no fault") };
        assert_eq!((&entry.tensor.to_string(), &entry.shard.to_string()), (tensor, shard));
        assert_eq!((&string_at(bytes, entry.at), &string_at(bytes, entry.shard_at)), (tensor, shard));
        assert_eq!(entry.checked_shard().is_ok(), check_name(entry.shard).is_ok());
        if entry.checked_shard().is_ok() {
            assert!(shard.split('/').all(|part| !["", ".", ".."].contains(&part)), "{shard}");
            assert!(!shard.contains(['\\', ':', '\0']) && shard.ends_with(".safetensors"), "{shard}");
        }
    }
    let metadata = theirs.get("metadata").map(Json::members).unwrap_or_default();
    match theirs.get("metadata").and_then(|metadata| metadata.get("total_size")) {
        Some(&Json::Integer(size)) => assert_eq!(index.total_size(), Some(size)),
        // Ours is exact, theirs is the nearest double.
        Some(&Json::Number(size)) => assert!(index.total_size().is_none_or(|exact| exact as f64 == size)),
        _ => assert_eq!(index.total_size(), None),
    }
    assert_fields(index.metadata(), metadata);
    assert_fields(index.fields(), theirs.members());
}

fn assert_fields(ours: Fields<'_>, theirs: &[(String, Json)]) {
    assert_eq!(ours.clone().count(), theirs.len());
    for ((key, value), (their_key, their_value)) in ours.zip(theirs) {
        assert_eq!(&key.to_string(), their_key);
        assert_eq!(&serde_json::from_str::<Json>(value).expect("the text of a value"), their_value);
    }
}

/// The string that stands at a byte.
fn string_at(bytes: &[u8], at: u64) -> String {
    let mut values = serde_json::Deserializer::from_slice(&bytes[at as usize..]).into_iter::<String>();
    values.next().expect("a value").expect("a string")
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Fault {
    NotObject,
    NoWeightMap,
    WeightMapType,
    ShardNotString,
    MetadataType,
    DuplicateName,
    DuplicateKey,
    /// None of the form.
    Other,
}

fn fault(kind: ErrorKind) -> Fault {
    match kind {
        ErrorKind::IndexNotObject => Fault::NotObject,
        ErrorKind::NoWeightMap => Fault::NoWeightMap,
        ErrorKind::WeightMapType => Fault::WeightMapType,
        ErrorKind::ShardNotString => Fault::ShardNotString,
        ErrorKind::IndexMetadataType => Fault::MetadataType,
        ErrorKind::DuplicateName { .. } => Fault::DuplicateName,
        ErrorKind::DuplicateIndexKey { .. } => Fault::DuplicateKey,
        _ => Fault::Other,
    }
}

/// All that keeps a JSON value from being an index.
fn faults(json: &Json) -> Vec<Fault> {
    let Json::Object(outer) = json else { return vec![Fault::NotObject] };
    let mut faults = Vec::new();
    if !outer.iter().any(|(key, _)| key == "weight_map") {
        faults.push(Fault::NoWeightMap);
    }
    if repeats(outer) {
        faults.push(Fault::DuplicateKey);
    }
    for (key, value) in outer {
        match (key.as_str(), value) {
            ("weight_map", Json::Object(map)) => {
                if map.iter().any(|(_, shard)| !matches!(shard, Json::String(_))) {
                    faults.push(Fault::ShardNotString);
                }
                if repeats(map) {
                    faults.push(Fault::DuplicateName);
                }
            }
            ("weight_map", _) => faults.push(Fault::WeightMapType),
            ("metadata", Json::Object(members)) if repeats(members) => faults.push(Fault::DuplicateKey),
            ("metadata", Json::Object(_) | Json::Null) => {}
            ("metadata", _) => faults.push(Fault::MetadataType),
            _ => {}
        }
    }
    faults
}

fn repeats(members: &[(String, Json)]) -> bool {
    let mut seen = HashSet::new();
    !members.iter().all(|(key, _)| seen.insert(key))
}

/// A JSON value as serde_json reads it, in which members stand in order, and twice where they do.
#[derive(Debug, PartialEq)]
enum Json {
    Null,
    Bool(bool),
    Integer(u64),
    Number(f64),
    String(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    fn members(&self) -> &[(String, Self)] {
        if let Self::Object(members) = self { members } else { &[] }
    }

    fn get(&self, key: &str) -> Option<&Self> {
        self.members().iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Json;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Integer(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value as f64)) // it is negative
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::String(value.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Json, A::Error> {
        let mut all = Vec::new();
        while let Some(value) = values.next_element()? {
            all.push(value);
        }
        Ok(Json::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut all = Vec::new();
        while let Some(member) = members.next_entry()? {
            all.push(member);
        }
        Ok(Json::Object(all))
    }
}
