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

/// Fills `out` from that byte of the file on. `end` is where the caller knows the file to end, or later.
pub(crate) fn read_exact_at(file: &File, out: &mut [u8], at: u64, end: u64) -> io::Result<()> {
    let read = fill(out, |rest, done| read_at(file, rest, at.saturating_add(done)))?;
    if read == out.len() {
        return Ok(());
    }
    let message = match file.metadata() {
        Ok(metadata) if metadata.len() < end => {
            format!("the file became shorter while it was read: {end} bytes expected, {} there", metadata.len())
        }
        // It has grown again; or its length was never that of its bytes, as in /sys.
        _ => {
            let there = at.saturating_add(read as u64);
            format!("the file ends at byte {there}, before the length that it gives: {end} bytes expected")
        }
    };
    Err(io::Error::new(ErrorKind::UnexpectedEof, message))
}

/// A length in a file as one in memory, if one object there can be so long.
pub(crate) fn addressable(len: u64) -> io::Result<usize> {
    // No object in memory is longer than this, whatever it is made of.
    let fits = isize::try_from(len).ok().map(isize::unsigned_abs);
    fits.ok_or_else(|| too_large(len, usize::BITS))
}

fn too_large(len: u64, bits: u32) -> io::Error {
    let message = format!("{len} bytes are more than a process of {bits} bits can address; read a part of the file");
    io::Error::new(ErrorKind::FileTooLarge, message)
}

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
    if kind.is_dir() {
        return Err(io::Error::new(ErrorKind::IsADirectory, "this is a directory, not a file"));
    }
    let message = format!("this is {}, which has no length of its own; read it as a stream", name(kind));
    Err(io::Error::new(ErrorKind::InvalidInput, message))
}

/// What it is, if it is neither a file nor a directory.
#[cfg(unix)]
fn name(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn name(_: FileType) -> &'static str {
    "a pipe or a device"
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::expect_used, reason = "tests know their bytes")]
mod tests {
    use std::io::ErrorKind;
    use std::string::ToString;
    use std::vec::Vec;

    use super::{addressable, fill, too_large};

    /// Reads from `bytes` as the system might: at most `most` at a time, and interrupted before each.
    fn fill_from(bytes: &[u8], most: usize, out: &mut [u8]) -> (usize, Vec<usize>) {
        let (mut interrupted, mut sizes) = (false, Vec::new());
        let read = fill(out, |rest, at| {
            interrupted = !interrupted;
            if interrupted {
                return Err(ErrorKind::Interrupted.into());
            }
            let there = bytes.get(at as usize..).unwrap_or_default();
            let n = there.len().min(rest.len()).min(most);
            rest[..n].copy_from_slice(&there[..n]);
            sizes.push(n);
            Ok(n)
        });
        (read.expect("interruptions are no errors"), sizes)
    }

    #[test]
    fn short_and_interrupted_reads_are_continued() {
        let mut out = [0; 10];
        assert_eq!(fill_from(b"0123456789abc", 4, &mut out), (10, [4, 4, 2].to_vec()));
        assert_eq!(&out, b"0123456789");
    }

    #[test]
    fn a_file_that_ends_early_ends_the_reading() {
        let mut out = [b'-'; 10];
        assert_eq!(fill_from(b"01234", 4, &mut out), (5, [4, 1, 0].to_vec()));
        assert_eq!(&out, b"01234-----");
        assert_eq!(fill_from(b"", 4, &mut out), (0, [0].to_vec()));
    }

    #[test]
    fn nothing_is_read_where_nothing_is_wanted() {
        assert_eq!(fill_from(b"01234", 4, &mut []), (0, Vec::new()));
    }

    #[test]
    fn an_error_ends_the_reading() {
        let mut calls = 0;
        let result = fill(&mut [0; 4], |_, at| {
            calls += 1;
            if at == 0 { Ok(1) } else { Err(ErrorKind::PermissionDenied.into()) }
        });
        assert_eq!(result.expect_err("the second call fails").kind(), ErrorKind::PermissionDenied);
        assert_eq!(calls, 2);
    }

    /// What a process of 32 bits can address ends at 2^31 - 1, and the error says so.
    #[test]
    fn lengths_that_fit_no_memory_are_errors() {
        let most = isize::MAX.unsigned_abs();
        assert_eq!(addressable(most as u64).expect("the most"), most);
        for len in [most as u64 + 1, u64::MAX] {
            assert_eq!(addressable(len).expect_err("too large").kind(), ErrorKind::FileTooLarge);
        }
        let message = "3000000000 bytes are more than a process of 32 bits can address; read a part of the file";
        assert_eq!(too_large(3_000_000_000, 32).to_string(), message);
    }
}
