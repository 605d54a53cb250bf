//! A real checkpoint, where it is at hand: in the folder that `WEIGHTVIEW_DATA` names, or that stands beside the
//! repository. It is `silero_vad_16k.safetensors` in three shards.

use std::path::{Path, PathBuf};

use weightview::Catalog;
use weightview::checkpoint::{Options, Policy};

/// The sharded model, and the same in one file.
pub(crate) fn at_hand() -> Option<(PathBuf, PathBuf)> {
    let data = std::env::var_os("WEIGHTVIEW_DATA").map(PathBuf::from);
    let data = data.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data"));
    let (sharded, single) = (data.join("sharded"), data.join("safetensors/silero_vad_16k.safetensors"));
    if sharded.is_dir() && single.is_file() {
        return Some((sharded, single));
    }
    println!("skipped: there is no {}", sharded.display());
    None
}

#[test]
fn three_shards_are_the_one_file() {
    let Some((sharded, single)) = at_hand() else { return };
    let options = Options { policy: Policy::STRICT, ..Options::default() };
    let single = Catalog::open(single, &options).expect("sound");
    for path in [sharded.clone(), sharded.join("model.safetensors.index.json")] {
        let sharded = Catalog::open(path, &options).expect("sound");
        assert_eq!((sharded.shards().len(), sharded.len(), single.len()), (3, 15, 15));
        for (a, b) in sharded.tensors().zip(single.tensors()) {
            assert_eq!(a.name(), b.name());
            assert_eq!((a.info().dtype(), a.info().shape()), (b.info().dtype(), b.info().shape()));
            let bytes = |entry: weightview::checkpoint::Entry<'_>| {
                let file = std::fs::read(entry.shard().path()).expect("a shard");
                let range = entry.info().file_range();
                file[range.start as usize..range.end as usize].to_vec()
            };
            assert_eq!(bytes(a), bytes(b));
        }
    }
}
