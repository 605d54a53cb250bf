//! Files that are read into memory, to a boundary of 64 bytes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use weightview::aligned::ReadOptions;
use weightview::{AlignedBytes, SafeTensors};

use crate::build::Build;
use crate::scratch::{Scratch, made_up, no_files, pattern};

const DIGITS: &str = "tests/data/digits.safetensors";

/// The length of what a thread reads at a time. Not public, but what is tested around it must be around it.
const PIECE: usize = 4 << 20;

/// Asserts the bytes, and where they start.
#[track_caller]
fn assert_bytes(bytes: &AlignedBytes, expected: &[u8]) {
    assert_eq!(bytes.as_ptr().addr() % 64, 0);
    assert_eq!(bytes.len(), expected.len());
    assert!(**bytes == *expected, "of {} bytes some are others", expected.len());
}

#[track_caller]
fn assert_error(result: io::Result<AlignedBytes>, kind: ErrorKind, words: &str) {
    let error = result.expect_err("it cannot be read");
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn a_file() {
    let bytes = AlignedBytes::read(DIGITS).expect("it is there");
    assert_bytes(&bytes, &fs::read(DIGITS).expect("it is there"));
    assert_eq!(SafeTensors::parse(&bytes).expect("well").len(), 4);
}

/// Whether numbers are in place is up to their own offset in the file, and that is the writer's: common ones pad the
/// header to a multiple of 8.
#[test]
fn numbers_are_in_place_where_the_header_is_padded() {
    let build = Build::new().tensor("weight", "F64", &[3], 0..24).tensor("bias", "F32", &[2], 24..32);
    let header = build.clone().file(32).bytes.len() - 40;
    let padded = build.padding(&" ".repeat(header.next_multiple_of(8) - header)).file(32);
    let bytes = AlignedBytes::copy_from(&padded.bytes).expect("memory");
    let model = SafeTensors::parse(&bytes).expect("well");
    assert_eq!(model.data_start() % 8, 0);
    let weight = model.tensor("weight").expect("it is there");
    let numbers: &[f64] = weight.as_slice().expect("in place");
    assert_eq!(numbers.as_ptr().cast(), weight.data().as_ptr());
    assert_eq!(model.tensor("bias").expect("it is there").as_slice::<f32>().expect("in place").len(), 2);
}

#[test]
fn an_empty_file() {
    let scratch = Scratch::new("aligned-empty");
    let path = scratch.write("file", b"");
    assert_bytes(&AlignedBytes::read(&path).expect("it is there"), b"");
    assert_bytes(&ReadOptions::new().threads(3).range(0..0).read(&path).expect("it is there"), b"");
}

#[test]
fn copies_of_every_length() {
    let pattern = pattern(300);
    for len in 0..pattern.len() {
        assert_bytes(&AlignedBytes::copy_from(&pattern[..len]).expect("memory"), &pattern[..len]);
    }
}

#[test]
fn any_number_of_threads_reads_the_same() {
    let scratch = Scratch::new("aligned-threads");
    for len in [1, PIECE - 1, PIECE, PIECE + 1, 4 * PIECE + 12_345] {
        let expected = pattern(len);
        let path = scratch.write("file", &expected);
        for threads in [0, 1, 2, 3, 64, usize::MAX] {
            assert_bytes(&ReadOptions::new().threads(threads).read(&path).expect("it is there"), &expected);
        }
    }
}

#[test]
fn ranges() {
    let scratch = Scratch::new("aligned-ranges");
    let expected = pattern(2 * PIECE + 100);
    let path = scratch.write("file", &expected);
    let len = expected.len();
    let piece = PIECE;
    for range in [0..0, 0..1, 5..17, 1..len, piece - 1..piece + 1, 3..2 * piece + 3, len - 1..len, len..len, 0..len] {
        for threads in [1, 2] {
            let options = ReadOptions::new().threads(threads).range(range.start as u64..range.end as u64);
            assert_bytes(&options.read(&path).expect("in the file"), &expected[range.clone()]);
        }
    }
}

#[test]
#[allow(clippy::reversed_empty_ranges)]
fn ranges_that_are_not_in_the_file() {
    for (range, words) in [
        (0..6_201, "the range 0..6201 is not in the file, which has 6200 bytes"),
        (6_201..6_201, "the range 6201..6201 is not in the file"),
        (5..u64::MAX, "the range 5..18446744073709551615 is not in the file"),
        (u64::MAX..u64::MAX, "is not in the file"),
        (7..5, "the range 7..5 ends before it begins"),
        (u64::MAX..0, "ends before it begins"),
    ] {
        assert_error(ReadOptions::new().range(range).read(DIGITS), ErrorKind::InvalidInput, words);
    }
}

/// The cursor of an open file says nothing about what is read.
#[test]
fn an_open_file_is_read_from_its_start() {
    let mut file = File::open(DIGITS).expect("it is there");
    file.seek(io::SeekFrom::Start(1_000)).expect("a place in the file");
    let expected = fs::read(DIGITS).expect("it is there");
    assert_bytes(&ReadOptions::new().read_file(&file).expect("open"), &expected);
    assert_bytes(&ReadOptions::new().range(8..72).read_file(&file).expect("open"), &expected[8..72]);
}

#[test]
fn a_file_that_is_not_open_for_reading() {
    let scratch = Scratch::new("aligned-write-only");
    for bytes in [&b""[..], b"bytes"] {
        let path = scratch.write("file", bytes);
        let file = OpenOptions::new().write(true).open(path).expect("it is there");
        assert!(ReadOptions::new().read_file(&file).is_err());
    }
}

#[cfg(unix)]
#[test]
fn a_symbolic_link_is_followed() {
    let scratch = Scratch::new("aligned-link");
    let expected = pattern(100);
    std::os::unix::fs::symlink(scratch.write("file", &expected), scratch.path("link")).expect("a link");
    assert_bytes(&AlignedBytes::read(scratch.path("link")).expect("it is there"), &expected);
}

#[test]
fn a_file_that_is_not_there() {
    assert_error(AlignedBytes::read("tests/data/none"), ErrorKind::NotFound, "");
}

/// Opening a pipe waits for a writer, and the test would not end.
#[test]
fn what_is_no_file_is_named() {
    let scratch = Scratch::new("aligned-no-files");
    for (path, words) in no_files(&scratch) {
        let directory = words == "a directory";
        let kind = if directory { ErrorKind::IsADirectory } else { ErrorKind::InvalidInput };
        assert_error(AlignedBytes::read(&path), kind, words);
        if !directory {
            assert_error(AlignedBytes::read(&path), kind, "read it as a stream");
        }
    }
    if let Some(path) = made_up() {
        assert_error(AlignedBytes::read(path), ErrorKind::InvalidInput, "gives its length as 0, but it has bytes");
        let file = File::open(path).expect("it is there");
        assert_error(ReadOptions::new().read_file(&file), ErrorKind::InvalidInput, "read it as a stream");
        let bytes = AlignedBytes::from_reader(file).expect("a stream");
        assert!(bytes.starts_with(b"Name:"));
    }
}

/// What a reading told of itself.
fn told(options: ReadOptions<'_>, path: &std::path::Path) -> Vec<(u64, u64)> {
    let calls = Mutex::new(Vec::new());
    let tell = |done, total| {
        calls.lock().expect("no panic").push((done, total));
        Ok(())
    };
    options.progress(&tell).read(path).expect("it is there");
    calls.into_inner().expect("no panic")
}

#[test]
fn progress_grows_from_nothing_to_the_total() {
    let scratch = Scratch::new("aligned-progress");
    let path = scratch.sparse("file", 5 * PIECE as u64 + 1).expect("small");
    for threads in [1, 2, 5] {
        for (range, pieces) in [(0..5 * PIECE as u64 + 1, 6), (7..2 * PIECE as u64, 2), (9..9, 0)] {
            let total = range.end - range.start;
            let calls = told(ReadOptions::new().threads(threads).range(range), &path);
            assert_eq!(calls.first(), Some(&(0, total)));
            assert_eq!(calls.last(), Some(&(total, total)));
            assert!(calls.is_sorted_by(|a, b| a.0 < b.0), "{calls:?}");
            assert!(calls.iter().all(|call| call.1 == total));
            assert_eq!(calls.len(), pieces + 1);
        }
    }
}

#[test]
fn an_error_of_the_callback_ends_the_reading() {
    let scratch = Scratch::new("aligned-cancel");
    let path = scratch.sparse("file", 8 * PIECE as u64).expect("small");
    for threads in [1, 2, 8] {
        for after in [0, 1, 3] {
            let calls = Mutex::new(0);
            let cancel = |done: u64, _| {
                *calls.lock().expect("no panic") += 1;
                if done >= after * PIECE as u64 { Err(io::Error::other("enough")) } else { Ok(()) }
            };
            let result = ReadOptions::new().threads(threads).progress(&cancel).read(&path);
            assert_error(result, ErrorKind::Other, "enough");
            assert_eq!(calls.into_inner().expect("no panic"), after + 1, "it is called again after its error");
        }
    }
}

#[test]
fn a_panic_of_the_callback_reaches_the_caller() {
    let scratch = Scratch::new("aligned-panic");
    let path = scratch.sparse("file", 8 * PIECE as u64).expect("small");
    for threads in [1, 2, 8] {
        let tell = |done: u64, _| if done > 0 { panic!("of the callback") } else { Ok(()) };
        let options = ReadOptions::new().threads(threads).progress(&tell);
        let panic = catch_unwind(AssertUnwindSafe(|| options.read(&path))).expect_err("it panics");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"of the callback"));
    }
}

/// The callback stands for another process, that shortens the file once its length is known.
#[test]
fn a_file_that_becomes_shorter_meanwhile() {
    let scratch = Scratch::new("aligned-shorter");
    let len = 3 * PIECE as u64 + 10;
    for threads in [1, 3] {
        for shorter in [0, 1, PIECE as u64, len - 1] {
            let path = scratch.sparse("file", len).expect("small");
            let shorten = |done, _| {
                if done == 0 { OpenOptions::new().write(true).open(&path)?.set_len(shorter) } else { Ok(()) }
            };
            let result = ReadOptions::new().threads(threads).progress(&shorten).read(&path);
            let words = format!("became shorter while it was read: {len} bytes expected, {shorter} there");
            assert_error(result, ErrorKind::UnexpectedEof, &words);
        }
    }
}

#[test]
fn a_range_before_the_new_end_of_a_shorter_file_is_read() {
    let scratch = Scratch::new("aligned-shorter-range");
    let path = scratch.write("file", &pattern(1_000));
    let shorten = |_, _| OpenOptions::new().write(true).open(&path)?.set_len(500);
    let options = ReadOptions::new().progress(&shorten);
    assert_bytes(&options.clone().range(100..500).read(&path).expect("still there"), &pattern(1_000)[100..500]);
    scratch.write("file", &pattern(1_000));
    let words = "501 bytes expected, 500 there";
    assert_error(options.range(100..501).read(&path), ErrorKind::UnexpectedEof, words);
}

#[test]
fn a_file_that_grows_meanwhile_is_read_to_its_old_end() {
    let scratch = Scratch::new("aligned-longer");
    for len in [0, 1_000] {
        let expected = pattern(len);
        let path = scratch.write("file", &expected);
        let lengthen = |_, _| OpenOptions::new().write(true).open(&path)?.set_len(5_000);
        assert_bytes(&ReadOptions::new().progress(&lengthen).read(&path).expect("it is there"), &expected);
    }
}

/// The files of /sys give a page as their length, and most end sooner.
#[test]
fn a_file_that_ends_before_its_length() {
    let path = "/sys/kernel/mm/transparent_hugepage/enabled";
    let Ok(content) = fs::read(path) else { return println!("skipped: there is no {path}") };
    let words = format!("the file ends at byte {}, before the length that it gives: 4096 bytes", content.len());
    assert_error(AlignedBytes::read(path), ErrorKind::UnexpectedEof, &words);
}

/// A length is a claim like any other: here no memory is that large, and the process lives on.
#[test]
fn a_file_that_no_memory_can_hold() {
    let scratch = Scratch::new("aligned-sparse");
    let (path, len) = scratch.longest("file");
    if len < 1 << 43 {
        return println!("skipped: the longest file here, of {len} bytes, may fit the memory of some machine");
    }
    // Where the system promises any memory that is asked for, reading would not end: then it is not begun.
    let stop = |done: u64, _| if done == 0 { Ok(()) } else { Err(io::Error::other("the system promised the memory")) };
    let error = ReadOptions::new().progress(&stop).read(&path).expect_err("no memory");
    match error.kind() {
        ErrorKind::OutOfMemory => assert_eq!(error.to_string(), format!("there is no memory for {len} bytes")),
        ErrorKind::FileTooLarge if usize::BITS == 32 => assert!(error.to_string().contains("of 32 bits"), "{error}"),
        kind => println!("skipped: {kind}: {error}"),
    }
}

#[test]
fn the_callback_can_refuse_a_length_before_memory_is_taken() {
    let scratch = Scratch::new("aligned-refuse");
    let (path, _) = scratch.longest("file");
    let refuse = |_, total| if total > 1 << 20 { Err(io::Error::other("too long for me")) } else { Ok(()) };
    if usize::BITS == 64 {
        assert_error(ReadOptions::new().progress(&refuse).read(&path), ErrorKind::Other, "too long for me");
    }
}

#[test]
fn a_range_of_a_large_sparse_file() {
    let scratch = Scratch::new("aligned-sparse-range");
    let Some(path) = scratch.sparse("file", 1 << 40) else { return };
    let mut file = OpenOptions::new().write(true).open(&path).expect("it is there");
    file.seek(io::SeekFrom::Start(5 << 30)).expect("a place");
    io::Write::write_all(&mut file, b"far inside").expect("room on the disk");
    let bytes = ReadOptions::new().range((5 << 30) - 2..(5 << 30) + 12).read(&path).expect("in the file");
    assert_bytes(&bytes, b"\0\0far inside\0\0");
    let bytes = ReadOptions::new().range((1 << 40) - 3..1 << 40).read(&path).expect("in the file");
    assert_bytes(&bytes, &[0; 3]);
}

/// A stream that gives a few bytes at a time, is interrupted, and ends with an error if it is to.
struct Stream<'a> {
    bytes: &'a [u8],
    most: usize,
    calls: usize,
    end: Option<ErrorKind>,
}

impl<'a> Stream<'a> {
    fn new(bytes: &'a [u8], most: usize) -> Self {
        Self { bytes, most, calls: 0, end: None }
    }
}

impl Read for Stream<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.calls += 1;
        if self.calls % 3 == 1 {
            return Err(ErrorKind::Interrupted.into());
        }
        let most = self.most.min(out.len());
        match (self.bytes.is_empty(), self.end) {
            (true, Some(kind)) => Err(kind.into()),
            _ => self.bytes.read(&mut out[..most]),
        }
    }
}

#[test]
fn streams_of_every_length() {
    let mib = 1 << 20;
    let expected = pattern(5 * mib);
    let small = 0..200;
    let large = [mib - 64, mib - 63, mib - 1, mib, mib + 1, 2 * mib - 64, 2 * mib, 2 * mib + 1, 5 * mib];
    for len in small.chain(large) {
        let bytes = AlignedBytes::from_reader(Stream::new(&expected[..len], 65_536)).expect("a stream");
        assert_bytes(&bytes, &expected[..len]);
        let bytes = AlignedBytes::from_reader(&expected[..len]).expect("a stream");
        assert_bytes(&bytes, &expected[..len]);
    }
}

#[test]
fn a_stream_of_few_bytes_at_a_time() {
    let expected = pattern(10_000);
    for most in [1, 7] {
        let bytes = AlignedBytes::from_reader(Stream::new(&expected, most)).expect("a stream");
        assert_bytes(&bytes, &expected);
    }
}

#[test]
fn the_error_of_a_stream_is_given() {
    let expected = pattern(100);
    let stream = Stream { end: Some(ErrorKind::ConnectionReset), ..Stream::new(&expected, 7) };
    assert_error(AlignedBytes::from_reader(stream), ErrorKind::ConnectionReset, "");
}

#[test]
fn a_stream_without_an_end_is_read_as_far_as_it_is_taken() {
    let bytes = AlignedBytes::from_reader(io::repeat(7).take(3_000_000)).expect("a stream");
    assert_bytes(&bytes, &[7; 3_000_000]);
}

/// What one does with a pipe: open it, which waits for the writer, and read it as the stream that it is.
#[cfg(unix)]
#[test]
fn a_pipe_is_read_as_a_stream() {
    let scratch = Scratch::new("aligned-pipe");
    let Some((path, _)) = no_files(&scratch).into_iter().find(|(_, words)| *words == "a pipe") else { return };
    let expected = pattern(200_000);
    let bytes = std::thread::scope(|scope| {
        scope.spawn(|| fs::write(&path, &expected).expect("a reader"));
        AlignedBytes::from_reader(File::open(&path).expect("a pipe")).expect("a stream")
    });
    assert_bytes(&bytes, &expected);
}

#[test]
fn debug_output_is_short() {
    let bytes = AlignedBytes::read(DIGITS).expect("it is there");
    assert_eq!(format!("{bytes:?}"), "AlignedBytes { len: 6200, .. }");
    let tell = |_, _| Ok(());
    let options = ReadOptions::new().threads(2).range(3..5).progress(&tell);
    assert_eq!(format!("{options:?}"), "ReadOptions { threads: 2, range: Some(3..5), progress: true }");
}

#[test]
fn bytes_go_from_thread_to_thread() {
    fn assert<T: Send + Sync + 'static>(_: &T) {}
    let bytes = AlignedBytes::read(DIGITS).expect("it is there");
    assert(&bytes);
    let address = bytes.as_ptr().addr();
    let moved = std::thread::spawn(move || bytes.as_ptr().addr()).join().expect("no panic");
    assert_eq!(moved, address);
}
