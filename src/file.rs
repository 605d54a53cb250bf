//! Regular files: opened without waiting, told from what has no length, and read at a place.

use std::format;
use std::fs::{self, File, FileType};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Opens a regular file, and says how many bytes it has.
///
/// Anything else is refused before it is opened: opening a pipe waits until another process writes to it.
pub(crate) fn open(path: &Path) -> io::Result<(File, u64)> {
    check_regular(fs::metadata(path)?.file_type())?;
    let file = File::open(path)?;
    let len = len(&file)?;
    Ok((file, len))
}

/// How many bytes a regular file has.
pub(crate) fn len(file: &File) -> io::Result<u64> {
    let metadata = file.metadata()?;
    check_regular(metadata.file_type())?;
    // The files of /proc and their like say 0, and make up their bytes when they are read.
    if metadata.len() == 0 && read_at(file, &mut [0], 0)? > 0 {
        let message = "the file gives its length as 0, but it has bytes, as files of /proc do; read it as a stream";
        return Err(io::Error::new(ErrorKind::InvalidInput, message));
    }
    Ok(metadata.len())
}

/// Fills `out` from that byte of the file on. `end` is where the caller knows the file to end.
pub(crate) fn read_exact_at(file: &File, out: &mut [u8], at: u64, end: u64) -> io::Result<()> {
    let read = fill(out, |rest, done| read_at(file, rest, at.saturating_add(done)))?;
    if read == out.len() {
        return Ok(());
    }
    let there = at.saturating_add(read as u64);
    Err(match file.metadata().map(|metadata| metadata.len()) {
        Ok(len) if len < end => shorter(end, len),
        // It has grown again, or its length is not what can be read of it.
        _ => shorter(end, there),
    })
}

/// The length as one of memory, where that many bytes can be addressed.
pub(crate) fn addressable(len: u64, most: usize) -> io::Result<usize> {
    usize::try_from(len).ok().filter(|&len| len <= most).ok_or_else(|| {
        let message = format!(
            "{len} bytes are more than a {}-bit process can address; read a part of the file, or its head",
            usize::BITS
        );
        io::Error::new(ErrorKind::FileTooLarge, message)
    })
}

/// The most bytes of one object in memory.
pub(crate) const MOST: usize = isize::MAX.unsigned_abs();

/// There is no memory for that many bytes.
pub(crate) fn no_memory(len: u64) -> io::Error {
    io::Error::new(ErrorKind::OutOfMemory, format!("there is no memory for {len} bytes"))
}

/// A part that is not in the file.
pub(crate) fn past_the_end(begin: u64, end: u64, len: u64) -> io::Error {
    let message = if begin > end {
        format!("the range {begin}..{end} ends before it begins")
    } else {
        format!("the range {begin}..{end} is not in the file, which has {len} bytes")
    };
    io::Error::new(ErrorKind::InvalidInput, message)
}

fn shorter(expected: u64, actual: u64) -> io::Error {
    let message = format!("the file became shorter while it was read: {expected} bytes expected, {actual} there");
    io::Error::new(ErrorKind::UnexpectedEof, message)
}

/// Reads until `out` is full or the file ends, in as many calls as that takes. How many bytes were read.
fn fill(out: &mut [u8], mut read: impl FnMut(&mut [u8], u64) -> io::Result<usize>) -> io::Result<usize> {
    let mut done = 0usize;
    while let Some(rest) = out.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match read(rest, done as u64) {
            Ok(0) => break,
            Ok(n) => done = done.saturating_add(n),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

#[cfg(unix)]
fn read_at(file: &File, out: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, out, at)
}

#[cfg(windows)]
fn read_at(file: &File, out: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, out, at)
}

/// Not at once: see [`AT_ONCE`].
#[cfg(not(any(unix, windows)))]
fn read_at(mut file: &File, out: &mut [u8], at: u64) -> io::Result<usize> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(at))?;
    file.read(out)
}

/// Whether several threads can read one file at a time, each at a place of its own.
pub(crate) const AT_ONCE: bool = cfg!(any(unix, windows));

fn check_regular(kind: FileType) -> io::Result<()> {
    if kind.is_file() {
        return Ok(());
    }
    let (error, what) = if kind.is_dir() { (ErrorKind::IsADirectory, "a directory") } else { other(kind) };
    let message = match error {
        ErrorKind::IsADirectory => format!("this is {what}, not a file"),
        _ => format!("this is {what}, which has no length of its own; read it as a stream"),
    };
    Err(io::Error::new(error, message))
}

#[cfg(unix)]
fn other(kind: FileType) -> (ErrorKind, &'static str) {
    use std::os::unix::fs::FileTypeExt;
    let what = if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    (ErrorKind::InvalidInput, what)
}

#[cfg(not(unix))]
fn other(_: FileType) -> (ErrorKind, &'static str) {
    (ErrorKind::InvalidInput, "a device or a pipe")
}
