//! Checkpoints: `cargo bench --bench checkpoint --all-features`.
//!
//! *Catalogs*: opening one of 1,000 to 100,000 tensors over 1 to 150 shards. The time a tensor, held against that of
//! 1,000 tensors, is what must stay near 1.
//!
//! *Loading*: a checkpoint in four shards is opened and every tensor of it widened to `f32`, so that every page is
//! touched; then it is closed. The other side is what people write with the crates `safetensors`, `memmap2` and `half`:
//! it reads the index, maps or reads each shard, and converts slices. Both sides write into one buffer that they
//! have, run in turns, and start with the files in the page cache. The ratio is their time over ours.

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use half::slice::HalfFloatSliceExt as _;
use half::{bf16, f16};
use weightview::Checkpoint;
use weightview::checkpoint::{Catalog, Options};

/// A directory that is removed in the end.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("weightview-bench-{}-{name}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        Self(directory)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Names as a mixture of experts has them, in the order of the model.
fn names(count: usize) -> Vec<String> {
    const PARTS: [&str; 3] = ["gate_proj", "up_proj", "down_proj"];
    let name = |place: usize| {
        let (layer, rest) = (place / 192, place % 192);
        format!("model.layers.{layer}.mlp.experts.{}.{}.weight", rest / 3, PARTS[rest % 3])
    };
    (0..count).map(name).collect()
}

/// A checkpoint of small tensors: an index, and shards whose headers are in order of names, as writers have them.
fn checkpoint(directory: &Path, count: usize, shards: usize) {
    let mut map: Vec<(String, String)> = Vec::new();
    for (part, names) in names(count).chunks(count.div_ceil(shards)).enumerate() {
        let file = format!("model-{:05}-of-{shards:05}.safetensors", part + 1);
        let mut names = names.to_vec();
        names.sort();
        let mut header = String::from(r#"{"__metadata__":{"format":"pt"}"#);
        for (place, name) in names.iter().enumerate() {
            let (begin, end) = (64 * place, 64 * place + 64);
            write!(header, r#","{name}":{{"dtype":"BF16","shape":[4,8],"data_offsets":[{begin},{end}]}}"#)
                .expect("memory");
        }
        header.push('}');
        header.push_str(&" ".repeat(header.len().next_multiple_of(8) - header.len()));
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(header.as_bytes());
        bytes.resize(bytes.len() + 64 * names.len(), 0);
        fs::write(directory.join(&file), bytes).expect("room");
        map.extend(names.into_iter().map(|name| (name, file.clone())));
    }
    map.sort();
    let map: Vec<_> = map.iter().map(|(name, file)| format!("    \"{name}\": \"{file}\"")).collect();
    let size = 64 * count;
    let index = format!(
        "{{\n  \"metadata\": {{\n    \"total_size\": {size}\n  }},\n  \"weight_map\": {{\n{}\n  }}\n}}\n",
        map.join(",\n")
    );
    fs::write(directory.join("model.safetensors.index.json"), index).expect("room");
}

/// The best time of a call.
fn best(mut call: impl FnMut()) -> Duration {
    let budget = Duration::from_millis(if std::env::args().any(|arg| arg == "--quick") { 200 } else { 1000 });
    let start = Instant::now();
    let mut best = Duration::MAX;
    let mut rounds = 0;
    while rounds < 3 || start.elapsed() < budget {
        let start = Instant::now();
        call();
        best = best.min(start.elapsed());
        rounds += 1;
    }
    best
}

fn catalogs() {
    println!("{:<28} {:>8} {:>7}  {:>10}  {:>12}  {:>8}", "catalog", "tensors", "shards", "open", "a tensor", "ratio");
    let mut base = None;
    for (count, shards) in [(1_000, 1), (1_000, 2), (10_000, 1), (10_000, 15), (100_000, 150)] {
        let directory = Directory::new(&format!("{count}-{shards}"));
        checkpoint(&directory.0, count, shards);
        let open = || Catalog::open(black_box(&directory.0), &Options::default()).expect("sound");
        assert_eq!((open().len(), open().findings().len()), (count, 0));
        let time = best(|| drop(black_box(open())));
        let each = time.as_secs_f64() * 1e9 / count as f64;
        let ratio = each / *base.get_or_insert(each);
        println!("{:<28} {count:>8} {shards:>7}  {time:>10.2?}  {each:>9.0} ns  {ratio:>7.2}x", "open");
        let catalog = open();
        let names = names(count);
        let time = best(|| names.iter().for_each(|name| _ = black_box(catalog.tensor(name))));
        let each = time.as_secs_f64() * 1e9 / count as f64;
        println!("{:<28} {count:>8} {shards:>7}  {time:>10.2?}  {each:>9.0} ns", "look up every name");
        let time = best(|| catalog.tensors().for_each(|entry| _ = black_box(entry)));
        let each = time.as_secs_f64() * 1e9 / count as f64;
        println!("{:<28} {count:>8} {shards:>7}  {time:>10.2?}  {each:>9.0} ns", "go through all");
    }
}

/// Rows and columns of each tensor of the checkpoint that is loaded, and tensors a shard.
const ROWS: usize = 2048;
const COLUMNS: usize = 2048;

/// A checkpoint in four shards, of tensors of one dtype; how many bytes of data it has.
fn loadable(directory: &Path, dtype: &str, width: usize, tensors: usize) -> usize {
    let mut map = Vec::new();
    let len = ROWS * COLUMNS * width;
    for part in 1..=4 {
        let file = format!("model-{part:05}-of-00004.safetensors");
        let entry = |place: usize| {
            let (begin, end) = (place * len, place * len + len);
            format!(
                r#""layers.{part}.{place}":{{"dtype":"{dtype}","shape":[{ROWS},{COLUMNS}],"data_offsets":[{begin},{end}]}}"#
            )
        };
        let entries: Vec<_> = (0..tensors).map(entry).collect();
        let mut header = format!("{{{}}}", entries.join(","));
        header.push_str(&" ".repeat(header.len().next_multiple_of(8) - header.len()));
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(header.as_bytes());
        // Finite numbers of both signs in every dtype.
        let mut state = 0x9E37_79B9_7F4A_7C15u64;
        bytes.extend((0..tensors * len).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8 & 0xB7
        }));
        fs::write(directory.join(&file), bytes).expect("room");
        map.extend((0..tensors).map(|place| format!(r#""layers.{part}.{place}":"{file}""#)));
    }
    let index = format!(r#"{{"metadata":{{}},"weight_map":{{{}}}}}"#, map.join(","));
    fs::write(directory.join("model.safetensors.index.json"), index).expect("room");
    4 * tensors * len
}

/// Every tensor, widened; and a sum over the last number of each, which both sides must agree on.
fn ours(checkpoint: &Checkpoint, numbers: &mut [f32]) -> u64 {
    let mut sum = 0;
    for tensor in checkpoint.tensors() {
        tensor.read_f32(black_box(&mut *numbers)).expect("floats");
        sum += last(numbers);
    }
    sum
}

fn last(numbers: &[f32]) -> u64 {
    u64::from(numbers.last().expect("not empty").to_bits())
}

/// The same with the reference crate. `open` maps or reads a file.
fn theirs<B: std::ops::Deref<Target = [u8]>>(directory: &Path, open: impl Fn(&Path) -> B, numbers: &mut [f32]) -> u64 {
    let mut sum = 0;
    let index = fs::read(directory.join("model.safetensors.index.json")).expect("an index");
    let index: serde_json::Value = serde_json::from_slice(&index).expect("JSON");
    let mut shards: Vec<_> = index["weight_map"].as_object().expect("a map").values().collect();
    shards.sort_by_key(|name| name.as_str());
    shards.dedup();
    for shard in shards {
        let bytes = open(&directory.join(shard.as_str().expect("a name")));
        let model = safetensors::SafeTensors::deserialize(&bytes).expect("sound");
        for (_, tensor) in model.tensors() {
            let data = tensor.data();
            let numbers = black_box(&mut *numbers);
            match tensor.dtype() {
                safetensors::Dtype::BF16 => {
                    bytemuck::cast_slice::<u8, bf16>(data).convert_to_f32_slice(numbers);
                }
                safetensors::Dtype::F16 => {
                    bytemuck::cast_slice::<u8, f16>(data).convert_to_f32_slice(numbers);
                }
                _ => numbers.copy_from_slice(bytemuck::cast_slice(data)),
            }
            sum += last(numbers);
        }
    }
    sum
}

fn loading() {
    println!(
        "\n{:<28} {:>8}  {:>12}  {:>12}  {:>8}",
        "open + read_f32 of all", "MB", "weightview", "reference", "ratio"
    );
    let quick = std::env::args().any(|arg| arg == "--quick");
    for (dtype, width) in [("BF16", 2), ("F16", 2), ("F32", 4)] {
        let directory = Directory::new(dtype);
        let bytes = loadable(&directory.0, dtype, width, if quick { 4 } else { 16 });
        let mut numbers = vec![0f32; ROWS * COLUMNS];
        let mut others = vec![0f32; ROWS * COLUMNS];
        // SAFETY: nothing else knows the bench's own files.
        let mapped = || unsafe { Checkpoint::open_mapped(&directory.0) }.expect("sound");
        // SAFETY: the same.
        let map = |path: &Path| unsafe { memmap2::Mmap::map(&fs::File::open(path).expect("a file")) }.expect("a map");
        let read = || Checkpoint::open_read(&directory.0).expect("sound");
        let times = in_turns([&mut || ours(&mapped(), &mut numbers), &mut || theirs(&directory.0, map, &mut others)]);
        row(&format!("{dtype}, mapped"), bytes, times);
        let times = in_turns([&mut || ours(&read(), &mut numbers), &mut || {
            theirs(&directory.0, |path| fs::read(path).expect("a file"), &mut others)
        }]);
        row(&format!("{dtype}, read"), bytes, times);
    }
}

fn row(what: &str, bytes: usize, [ours, theirs]: [Duration; 2]) {
    let rate = |time: Duration| format!("{:.2} GB/s", bytes as f64 / time.as_secs_f64() / 1e9);
    let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
    println!("{what:<28} {:>8}  {:>12}  {:>12}  {ratio:>7.2}x", bytes >> 20, rate(ours), rate(theirs));
}

/// The best times of two calls, run in turns.
fn in_turns(mut calls: [&mut dyn FnMut() -> u64; 2]) -> [Duration; 2] {
    let budget = Duration::from_millis(if std::env::args().any(|arg| arg == "--quick") { 500 } else { 6000 });
    let start = Instant::now();
    let mut best = [Duration::MAX; 2];
    let mut rounds = 0;
    while rounds < 4 || start.elapsed() < budget {
        let mut sums = [0; 2];
        for ((call, best), sum) in calls.iter_mut().zip(&mut best).zip(&mut sums) {
            let start = Instant::now();
            *sum = call();
            *best = (*best).min(start.elapsed());
        }
        assert_eq!(sums[0], sums[1], "both sides read the same numbers");
        rounds += 1;
    }
    best
}

fn main() {
    catalogs();
    loading();
}
