//! Files that are mapped into memory.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Seek};
use std::path::Path;

use weightview::SafeTensors;
use weightview::mmap::{Advice, MappedFile};

use crate::scratch::{Scratch, made_up, no_files, pattern};

const DIGITS: &str = "tests/data/digits.safetensors";

const ALL: [Advice; 5] = [Advice::Normal, Advice::Sequential, Advice::Random, Advice::WillNeed, Advice::PopulateRead];

fn map(path: impl AsRef<Path>) -> io::Result<MappedFile> {
    // SAFETY: files of these tests are written before they are mapped, and shortened by those alone that say so; their
    // bytes are not looked at afterwards, but in a process that is meant to die of it.
    unsafe { MappedFile::open(path) }
}

#[track_caller]
fn assert_error<T: std::fmt::Debug>(result: io::Result<T>, kind: ErrorKind, words: &str) {
    let error = result.expect_err("it cannot be done");
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn a_file() {
    let map = map(DIGITS).expect("it is there");
    assert_eq!(*map, *fs::read(DIGITS).expect("it is there"));
    assert_eq!(map.as_ref().len(), 6_200);
    assert_eq!(map.as_ptr().addr() % 4096, 0);
    assert_eq!(SafeTensors::parse(&map).expect("well").len(), 4);
}

#[test]
fn an_open_file_may_be_closed() {
    let mut file = File::open(DIGITS).expect("it is there");
    file.seek(io::SeekFrom::Start(100)).expect("a place in the file");
    // SAFETY: nothing writes to the file.
    let map = unsafe { MappedFile::map(&file) }.expect("open");
    drop(file);
    assert_eq!(*map, *fs::read(DIGITS).expect("it is there"));
}

#[test]
fn an_empty_file_is_an_empty_mapping() {
    let scratch = Scratch::new("mapped-empty");
    let map = map(scratch.write("file", b"")).expect("it is there");
    assert!(map.is_empty());
    for advice in ALL {
        assert!(map.advise(0..0, advice).expect("in the file"));
        assert_error(map.advise(0..1, advice), ErrorKind::InvalidInput, "which has 0 bytes");
    }
    map.prefetch(0..0).expect("in the file");
}

#[test]
fn a_file_that_is_not_there() {
    assert_error(map("tests/data/none"), ErrorKind::NotFound, "");
}

/// Opening a pipe waits for a writer, and the test would not end.
#[test]
fn what_is_no_file_is_named() {
    let scratch = Scratch::new("mapped-no-files");
    for (path, words) in no_files(&scratch) {
        let kind = if words == "a directory" { ErrorKind::IsADirectory } else { ErrorKind::InvalidInput };
        assert_error(map(&path), kind, words);
    }
    if let Some(path) = made_up() {
        assert_error(map(path), ErrorKind::InvalidInput, "gives its length as 0, but it has bytes");
        let file = File::open(path).expect("it is there");
        // SAFETY: nothing is mapped.
        assert_error(unsafe { MappedFile::map(&file) }, ErrorKind::InvalidInput, "read it as a stream");
    }
}

/// A page of /sys has a length, but its file system maps nothing.
#[test]
fn a_file_system_that_cannot_map() {
    let path = "/sys/kernel/mm/transparent_hugepage/enabled";
    if !Path::new(path).exists() {
        return println!("skipped: there is no {path}");
    }
    let error = map(path).expect_err("it cannot be mapped").to_string();
    assert!(
        error.contains("the file's 4096 bytes cannot be mapped: ") && error.contains("may still be read"),
        "{error}"
    );
}

#[test]
fn a_file_that_is_not_open_for_reading() {
    let scratch = Scratch::new("mapped-write-only");
    for bytes in [&b""[..], b"bytes"] {
        let file = OpenOptions::new().write(true).open(scratch.write("file", bytes)).expect("it is there");
        // SAFETY: nothing is mapped.
        assert!(unsafe { MappedFile::map(&file) }.is_err());
    }
}

#[cfg(target_pointer_width = "64")]
#[test]
fn a_large_sparse_file() {
    let scratch = Scratch::new("mapped-sparse");
    let Some(path) = scratch.sparse("file", 1 << 40) else { return };
    let mut file = OpenOptions::new().write(true).open(&path).expect("it is there");
    file.seek(io::SeekFrom::Start(5 << 30)).expect("a place");
    io::Write::write_all(&mut file, b"far inside").expect("room on the disk");
    drop(file);
    let map = map(&path).expect("an address space of 47 bits");
    assert_eq!(map.len(), 1 << 40);
    assert_eq!(&map[(5 << 30) - 1..(5 << 30) + 11], b"\0far inside\0");
    map.prefetch((5 << 30) + 1..(5 << 30) + 5_000).expect("in the file");
}

/// More than an address space of 47 bits. Where there is no such file, or more address space, nothing is shown.
#[test]
fn a_file_that_no_address_space_can_hold() {
    let scratch = Scratch::new("mapped-too-large");
    let (path, len) = scratch.longest("file");
    match map(&path) {
        Ok(map) => println!("skipped: {} bytes can be mapped here", map.len()),
        Err(error) if usize::BITS == 32 => assert_eq!(error.kind(), ErrorKind::FileTooLarge, "{error}"),
        Err(error) => {
            assert!(error.to_string().contains(&format!("the file's {len} bytes cannot be mapped")), "{error}");
        }
    }
}

/// Whatever range in the file: the system wants pages, the caller gives bytes.
#[test]
fn advice_for_any_range_in_the_file() {
    let scratch = Scratch::new("mapped-advice");
    let expected = pattern(100_001);
    let map = map(scratch.write("file", &expected)).expect("it is there");
    for advice in ALL {
        for range in [0..100_001, 0..1, 0..0, 1..2, 4_095..4_097, 4_096..8_192, 70_000..100_001, 100_001..100_001] {
            let taken = map.advise(range.clone(), advice).expect("in the file");
            let known = cfg!(unix) && advice != Advice::PopulateRead;
            assert!(taken || !known || range.is_empty(), "{advice:?} {range:?}");
        }
    }
    assert_eq!(*map, *expected);
}

#[test]
#[allow(clippy::reversed_empty_ranges)]
fn advice_for_ranges_that_are_not_in_the_file() {
    let map = map(DIGITS).expect("it is there");
    for (range, words) in [
        (0..6_201, "the range 0..6201 is not in the file, which has 6200 bytes"),
        // Still in the last page.
        (6_200..6_300, "is not in the file"),
        (6_201..6_201, "is not in the file"),
        (8_192..8_193, "is not in the file"),
        (5..u64::MAX, "is not in the file"),
        (u64::MAX..u64::MAX, "is not in the file"),
        (7..5, "the range 7..5 ends before it begins"),
    ] {
        for advice in ALL {
            assert_error(map.advise(range.clone(), advice), ErrorKind::InvalidInput, words);
        }
        assert_error(map.prefetch(range), ErrorKind::InvalidInput, words);
    }
}

/// How much of the mapping of this file is entered in the page tables, in bytes, as /proc says.
#[cfg(target_os = "linux")]
fn resident(path: &Path) -> u64 {
    let maps = fs::read_to_string("/proc/self/smaps").expect("it is there");
    let of_file = maps.split_once(path.to_str().expect("UTF-8")).expect("a mapping of the file").1;
    let line = of_file.lines().find(|line| line.starts_with("Rss:")).expect("its size");
    line.split_whitespace().nth(1).expect("a number").parse::<u64>().expect("a number") * 1024
}

#[cfg(target_os = "linux")]
#[test]
fn prefetch_fetches() {
    let scratch = Scratch::new("mapped-prefetch");
    let path = scratch.write("file", &vec![7; 16 << 20]).canonicalize().expect("a path");
    let map = map(&path).expect("it is there");
    assert_eq!(resident(&path), 0, "nothing was touched");
    let did = map.prefetch((7 << 20) + 5..(9 << 20) - 5).expect("in the file");
    if did != Some(Advice::PopulateRead) {
        return println!("skipped: Linux before 5.14 does not know POPULATE_READ");
    }
    // The cache may be of pages much larger than 4096 bytes, but not as large as the file.
    let resident = resident(&path);
    assert!(((2 << 20)..(16 << 20)).contains(&resident), "{resident} bytes are there");
}

/// The best that the system knows.
fn best() -> Option<Advice> {
    let map = map(DIGITS).expect("it is there");
    let mut best = [Advice::PopulateRead, Advice::WillNeed].into_iter();
    best.find(|&advice| map.advise(0..1, advice).expect("in the file"))
}

#[test]
fn prefetch_does_the_best_that_the_system_knows() {
    assert_eq!(map(DIGITS).expect("it is there").prefetch(100..5_000).expect("in the file"), best());
    assert!(!cfg!(unix) || best().is_some());
    assert!(cfg!(target_os = "linux") || best() != Some(Advice::PopulateRead));
}

/// A writer that renames its new file onto the old one, or deletes that, harms nobody who has it mapped.
#[cfg(unix)]
#[test]
fn a_file_that_is_replaced_or_deleted_stays_as_it_was() {
    let scratch = Scratch::new("mapped-replaced");
    let expected = pattern(10_000);
    let path = scratch.write("file", &expected);
    let old = map(&path).expect("it is there");
    fs::rename(scratch.write("new", b"short"), &path).expect("renamed");
    assert_eq!(*old, *expected);
    let new = map(&path).expect("it is there");
    fs::remove_file(&path).expect("removed");
    assert_eq!((&*old, &*new), (&*expected, &b"short"[..]));
}

/// What `prefetch` cannot fetch is an error where the kernel knows POPULATE_READ, and kills nobody.
#[cfg(target_os = "linux")]
#[test]
fn prefetch_of_a_file_that_became_shorter() {
    let scratch = Scratch::new("mapped-prefetch-shorter");
    let path = scratch.write("file", &pattern(100_000));
    let map = map(&path).expect("it is there");
    OpenOptions::new().write(true).open(&path).expect("it is there").set_len(10_000).expect("shorter");
    match map.prefetch(50_000..60_000) {
        Err(error) => assert!(error.to_string().contains("10000 bytes from byte 50000 on"), "{error}"),
        Ok(did) => assert_eq!((did, best()), (Some(Advice::WillNeed), Some(Advice::WillNeed))),
    }
}

/// Set in the process that is to die.
#[cfg(target_os = "linux")]
const DIE: &str = "WEIGHTVIEW_TEST_DIE";

/// What the documentation says of a file that is shortened while it is mapped, in a process of its own: the last page
/// ends in zeros, and behind it waits SIGBUS. Reading the same file is an error: see `aligned`.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_becomes_shorter_kills() {
    use std::os::unix::process::ExitStatusExt;
    const SIGBUS: i32 =
        if cfg!(any(target_arch = "mips", target_arch = "mips64", target_arch = "sparc64")) { 10 } else { 7 };

    if let Some(path) = std::env::var_os(DIE) {
        return die(Path::new(&path));
    }
    let scratch = Scratch::new("mapped-shorter");
    let path = scratch.write("file", &[7; 1 << 20]);
    let mut child = std::process::Command::new(std::env::current_exe().expect("this test"));
    child.args(["--exact", "mapped::a_file_that_becomes_shorter_kills", "--nocapture"]).env(DIE, &path);
    let output = child.current_dir(scratch.path("")).output().expect("it runs");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.signal(), Some(SIGBUS), "{}\n{out}\n{err}", output.status);
    assert!(out.contains("before: 7 7 7") && out.contains("after: 7 0\n") && !out.contains("survived"), "{out}");
}

#[cfg(target_os = "linux")]
fn die(path: &Path) {
    use std::hint::black_box;
    let map = map(path).expect("it is there");
    println!("before: {} {} {}", black_box(&map)[99], black_box(&map)[100], black_box(&map)[1 << 19]);
    OpenOptions::new().write(true).open(path).expect("it is there").set_len(100).expect("shorter");
    println!("after: {} {}", black_box(&map)[99], black_box(&map)[100]);
    // The memory of the process holds nothing of worth, and a test leaves no core file behind: the working directory is
    // the test's own.
    println!("touching the second half: {}", black_box(&map)[1 << 19]);
    println!("survived");
}

#[test]
fn debug_output_is_short_and_touches_nothing() {
    assert_eq!(format!("{:?}", map(DIGITS).expect("it is there")), "MappedFile { len: 6200, .. }");
}

#[test]
fn mappings_go_from_thread_to_thread() {
    fn assert<T: Send + Sync + 'static>(_: &T) {}
    let map = map(DIGITS).expect("it is there");
    assert(&map);
    let first = std::thread::spawn(move || map[0]).join().expect("no panic");
    assert_eq!(first, fs::read(DIGITS).expect("it is there")[0]);
}
