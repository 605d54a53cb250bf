//! What must hold of any bytes that are taken for a shard index: serde_json reads the same. Shared with the fuzz targets.

use weightview::error::ErrorKind;
use weightview::safetensors::ParseOptions;
use weightview::shards::{ShardIndex, check_name};

/// What we accept, serde_json accepts, with the same tensors and shards; what only serde_json accepts is of the kinds
/// that are listed here. With and without a heap the answer is the same.
pub(crate) fn assert_index(bytes: &[u8]) {
    let theirs: Option<serde_json::Value> = serde_json::from_slice(bytes).ok();
    let ours = ShardIndex::parse(bytes);
    let no_heap = ParseOptions { heap: false, ..ParseOptions::default() };
    assert_eq!(ours.map(|index| index.len()), ShardIndex::parse_with(bytes, &no_heap).map(|index| index.len()));
    match ours {
        Ok(index) => {
            let theirs = theirs.expect("what we accept is JSON");
            let map = theirs["weight_map"].as_object().expect("an object");
            assert_eq!((index.len(), index.entries().count()), (map.len(), map.len()));
            for entry in index.entries() {
                let shard = map[&entry.tensor.to_string()].as_str().expect("a string");
                assert_eq!(entry.shard, shard);
                assert_eq!(bytes[entry.at as usize], b'"', "where the name stands");
                if check_name(entry.shard).is_ok() {
                    assert!(shard.split('/').all(|part| !["", ".", ".."].contains(&part)), "{shard}");
                    assert!(!shard.contains(['\\', ':', '\0']) && shard.ends_with(".safetensors"), "{shard}");
                }
            }
            let size = &theirs["metadata"]["total_size"];
            if size.is_u64() {
                assert_eq!(index.total_size(), size.as_u64());
            }
            for (key, value) in index.metadata() {
                let value: serde_json::Value = serde_json::from_str(value).expect("the text of a value");
                assert_eq!(theirs["metadata"][&key.to_string()], value);
            }
            assert!(index.fields().any(|(key, _)| key == "weight_map"));
        }
        Err(error) => {
            let _ = error.explain(bytes).to_string();
            match error.kind() {
                // Ambiguous, or not of the form.
                ErrorKind::DuplicateName { first } | ErrorKind::DuplicateIndexKey { first } => {
                    assert!(error.offset().is_some_and(|again| first < again));
                }
                ErrorKind::IndexNotObject | ErrorKind::IndexMetadataType | ErrorKind::NoWeightMap => {}
                ErrorKind::WeightMapType | ErrorKind::ShardNotString => {}
                // Readers disagree on numbers that large, and on nesting that deep.
                ErrorKind::NumberTooLarge | ErrorKind::NestingTooDeep { .. } => {}
                kind => assert!(theirs.is_none(), "serde_json reads {:?}: {kind:?}", String::from_utf8_lossy(bytes)),
            }
        }
    }
}
