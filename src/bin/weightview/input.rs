//! Reading the head of a file, whatever its size, and of pipes too.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use weightview::detect::{self, Format};
use weightview::safetensors::{Header, ParseOptions};

use crate::fault::{self, Fault};

/// What is read of a file: its head, or as much as there is of it.
pub(crate) struct Head {
    /// The length field and the header.
    pub(crate) bytes: Vec<u8>,
    /// The length of the whole file.
    pub(crate) file_len: u64,
}

/// Reads the head of a safetensors file; what is of another format is refused.
pub(crate) fn read_head(path: &Path, options: &ParseOptions) -> Result<Head, Fault> {
    let (mut file, len) = open(path)?;
    let unreadable = |error| fault::unreadable(path, &error);

    let mut bytes = Vec::new();
    file.by_ref().take(detect::PREFIX_LEN as u64).read_to_end(&mut bytes).map_err(unreadable)?;
    // What has no length before it is read (`/proc` says 0) is counted like a pipe.
    let len = len.filter(|&len| len >= bytes.len() as u64);
    let likely = match detect::detect(&bytes) {
        Some(Format::Safetensors) => true,
        None => false,
        Some(other) => return Err(fault::foreign(path, other, &bytes)),
    };
    let Some(first) = bytes.first_chunk::<8>() else {
        return Ok(Head { file_len: bytes.len() as u64, bytes });
    };
    let header_len =
        options.header_len(first).map_err(|error| fault::over_limit(path, &error, len.filter(|_| !likely)))?;

    let head_len = header_len.saturating_add(8);
    let read = bytes.len() as u64;
    let rest = head_len.saturating_sub(read);
    if let Some(len) = len {
        // No more than the file has: its own word is not enough to reserve memory.
        reserve(&mut bytes, rest.min(len - read)).map_err(unreadable)?;
    }
    file.by_ref().take(rest).read_to_end(&mut bytes).map_err(unreadable)?;
    let read = bytes.len() as u64;
    bytes.truncate(usize::try_from(head_len).unwrap_or(usize::MAX));
    let file_len = match len {
        Some(len) => len,
        None => read.saturating_add(io::copy(&mut file, &mut io::sink()).map_err(unreadable)?),
    };
    Ok(Head { bytes, file_len })
}

/// The same, of what can be read more than once.
pub(crate) fn read_file_head(path: &Path, options: &ParseOptions) -> Result<Head, Fault> {
    let is_file = path.as_os_str() != "-"
        && std::fs::metadata(path).map_or(true, |metadata| metadata.is_file() || metadata.is_dir());
    if is_file { read_head(path, options) } else { Err(fault::not_seekable(path)) }
}

/// Proves the head, and that the file is as long as it says.
pub(crate) fn parse<'a>(path: &Path, head: &'a Head, options: &ParseOptions) -> Result<Header<'a>, Fault> {
    let header = options.parse_header(&head.bytes);
    let whole = header.and_then(|header| header.check_file_len(head.file_len).map(|()| header));
    whole.map_err(|error| fault::malformed(path, &error, &head.bytes))
}

/// How long a file is that can be read more than once.
pub(crate) fn file_len(path: &Path) -> Result<u64, Fault> {
    let metadata = std::fs::metadata(path).map_err(|error| fault::unreadable(path, &error))?;
    if metadata.is_file() { Ok(metadata.len()) } else { Err(fault::not_seekable(path)) }
}

/// Opens a file, and says how long it is where that is known beforehand.
fn open(path: &Path) -> Result<(Box<dyn Read>, Option<u64>), Fault> {
    if path.as_os_str() == "-" {
        return Ok((Box::new(io::stdin().lock()), None));
    }
    let file = File::open(path).map_err(|error| fault::unreadable(path, &error))?;
    let metadata = file.metadata().map_err(|error| fault::unreadable(path, &error))?;
    Ok((Box::new(file), metadata.is_file().then_some(metadata.len())))
}

fn reserve(bytes: &mut Vec<u8>, more: u64) -> io::Result<()> {
    let more = usize::try_from(more).map_err(|_| io::ErrorKind::OutOfMemory)?;
    bytes.try_reserve_exact(more).map_err(|_| io::ErrorKind::OutOfMemory.into())
}
