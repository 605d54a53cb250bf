//! A real checkpoint, where it is at hand: in the folder that `WEIGHTVIEW_DATA` names, or that stands beside the
//! repository. It is `silero_vad_16k.safetensors` in three shards.

use std::path::{Path, PathBuf};

use weightview::checkpoint::{Options, Policy};
use weightview::{Catalog, Checkpoint, SafeTensors};

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

#[test]
fn its_numbers_are_those_of_the_one_file() {
    let Some((sharded, single)) = at_hand() else { return };
    let bytes = std::fs::read(single).expect("a file");
    let single = SafeTensors::parse(&bytes).expect("sound");
    let same = |checkpoint: Checkpoint| {
        assert_eq!(checkpoint.tensors().len(), single.len());
        for tensor in single.tensors() {
            let view = checkpoint.tensor(&tensor.name().to_string()).expect("there");
            assert_eq!((view.dtype(), view.shape(), view.data()), (tensor.dtype(), tensor.shape(), tensor.data()));
            assert!(view.iter_f32().expect("floats").eq(tensor.iter_f32().expect("floats")));
        }
    };
    same(Checkpoint::open_read(&sharded).expect("sound"));
    #[cfg(feature = "mmap")]
    // SAFETY: nothing writes to these files.
    same(unsafe { Checkpoint::open_mapped(&sharded) }.expect("sound"));
}
