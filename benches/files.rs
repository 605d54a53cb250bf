//! Ways to get a whole file into memory, in one run: `cargo bench --bench files`.
//!
//! The file is a model of 256 MB, with `--full` of 2 GB, and is deleted at the end. Each figure is the median of
//! interleaved rounds. What is printed is time, throughput, and the ratio to `read, thrown away`: what `cat` does,
//! which keeps nothing, so that it writes to the same few pages again and again. Whoever keeps the bytes has the system
//! find and clear a page of memory for each page of the file besides; whoever maps them has it enter the pages of its
//! cache in a table.
//!
//! The cache is warm. With `--cold`, on Linux, `dd` (GNU) has the system forget the file before each turn, and what is
//! measured is the disk.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use weightview::aligned::ReadOptions;
use weightview::mmap::{Advice, MappedFile};
use weightview::{AlignedBytes, SafeTensors};

const MIB: usize = 1 << 20;

/// The model's file, gone when it is dropped.
struct Model(PathBuf);

impl Model {
    /// Tensors of 16 MiB, of numbers in no order.
    fn write(tensors: usize) -> Self {
        let model = Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-files.safetensors"));
        let entry = |i: usize| {
            let begin = i * 16 * MIB;
            let end = begin + 16 * MIB;
            format!(r#""layers.{i}.weight":{{"dtype":"F32","shape":[2048,2048],"data_offsets":[{begin},{end}]}}"#)
        };
        let mut header = format!("{{{}}}", (0..tensors).map(entry).collect::<Vec<_>>().join(","));
        header.push_str(&" ".repeat(header.len().next_multiple_of(8) - header.len()));

        let mut file = BufWriter::with_capacity(MIB, File::create(&model.0).expect("a file"));
        file.write_all(&(header.len() as u64).to_le_bytes()).expect("room on the disk");
        file.write_all(header.as_bytes()).expect("room on the disk");
        let mut state = 1u32;
        for _ in 0..tensors * 4 * MIB {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Between 1 and 2.
            let number = f32::from_bits(0x3F80_0000 | state >> 9);
            file.write_all(&number.to_le_bytes()).expect("room on the disk");
        }
        file.into_inner().expect("room on the disk").sync_all().expect("room on the disk");
        model
    }

    fn forget(&self) {
        let mut dd = Command::new("dd");
        let file = format!("if={}", self.0.display());
        let status = dd.args([&file, "iflag=nocache", "count=0"]).stderr(Stdio::null()).status();
        assert!(status.expect("dd is there").success(), "dd cannot drop the cache of this file");
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Something of every page, so that it must be there.
fn touch(bytes: &[u8]) -> u64 {
    bytes.iter().step_by(4096).map(|&byte| u64::from(byte)).sum()
}

fn cat(path: &Path) -> u64 {
    let mut file = File::open(path).expect("it is there");
    let mut buffer = vec![0; 128 << 10];
    let mut sum = 0;
    loop {
        match file.read(&mut buffer).expect("a disk that works") {
            0 => return sum,
            n => sum += touch(black_box(&buffer[..n])),
        }
    }
}

fn read(path: &Path, threads: usize) -> u64 {
    touch(&ReadOptions::new().threads(threads).read(path).expect("memory"))
}

fn map(path: &Path, advise: impl Fn(&MappedFile)) -> u64 {
    // SAFETY: the file was written by this process, which only reads it now.
    let map = unsafe { MappedFile::open(path) }.expect("it can be mapped");
    advise(&map);
    touch(&map)
}

/// A way to get the file, and what it is called.
type Way<'a> = (String, Box<dyn Fn() -> u64 + 'a>);

/// The median times of the ways, taken in turns.
fn medians(ways: &[Way<'_>], rounds: usize, before: impl Fn()) -> Vec<Duration> {
    let mut times = vec![Vec::new(); ways.len()];
    for _ in 0..rounds {
        for ((_, way), times) in ways.iter().zip(&mut times) {
            before();
            let start = Instant::now();
            black_box(way());
            times.push(start.elapsed());
        }
    }
    let median = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2]
    };
    times.iter_mut().map(median).collect()
}

fn main() {
    let given = |name: &str| std::env::args().any(|arg| arg == name);
    let (full, cold) = (given("--full"), given("--cold"));
    let model = Model::write(if full { 128 } else { 16 });
    let path = &*model.0;
    let len = fs::metadata(path).expect("it is there").len();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);

    let mut ways: Vec<Way<'_>> = vec![
        ("read, thrown away (as cat)".into(), Box::new(|| cat(path))),
        ("std::fs::read".into(), Box::new(|| touch(&fs::read(path).expect("memory")))),
    ];
    let mut threads = vec![1, 2, cores, 2 * cores];
    threads.dedup();
    for threads in threads {
        ways.push((format!("AlignedBytes, threads: {threads}"), Box::new(move || read(path, threads))));
    }
    let sequential = move |map: &MappedFile| drop(map.advise(0..len, Advice::Sequential));
    let will_need = move |map: &MappedFile| drop(map.advise(0..len, Advice::WillNeed));
    let prefetch = move |map: &MappedFile| drop(map.prefetch(0..len));
    ways.push(("MappedFile".into(), Box::new(|| map(path, |_| {}))));
    ways.push(("MappedFile, Sequential".into(), Box::new(move || map(path, sequential))));
    ways.push(("MappedFile, WillNeed".into(), Box::new(move || map(path, will_need))));
    ways.push(("MappedFile, prefetch".into(), Box::new(move || map(path, prefetch))));

    let bytes = AlignedBytes::read(path).expect("memory");
    println!("{} MB, {} tensors, {cores} cores", len / 1_000_000, SafeTensors::parse(&bytes).expect("sound").len());
    drop(bytes);
    let times = medians(&ways, if full { 5 } else { 9 }, || {
        if cold {
            model.forget()
        }
    });
    for ((what, _), time) in ways.iter().zip(&times) {
        let rate = len as f64 / time.as_secs_f64() / 1e9;
        let ratio = time.as_secs_f64() / times[0].as_secs_f64();
        println!("{what:<28} {:>8.1} ms {rate:>6.2} GB/s {ratio:>6.2}x", time.as_secs_f64() * 1e3);
    }
}
