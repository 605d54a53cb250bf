//! One file of a checkpoint: its head, read and proven. Its data is never read here.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::string::{String, ToString};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::vec::Vec;

use super::finding::{Finding, FindingKind};
use crate::cursor::len_u64;
use crate::detect::{self, Format};
use crate::error::{Error, ErrorKind};
use crate::file;
use crate::index::sealed::Directory as _;
use crate::safetensors::owned::OwnedHeader;
use crate::safetensors::{Header, ParseOptions};
use crate::text::Text;

/// A file of a checkpoint, of which the head was read and proven.
pub struct Shard {
    number: usize,
    name: Arc<str>,
    path: PathBuf,
    file_len: u64,
    header: OwnedHeader,
}

impl Shard {
    /// Its place in [`Catalog::shards`](super::Catalog::shards).
    #[must_use]
    pub const fn number(&self) -> usize {
        self.number
    }

    /// Its name as the index spells it; without an index, the name of the file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it is: the directory that was opened, and its name. Links are not resolved.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How long the file was when its head was read, in bytes.
    ///
    /// It is what the [header](Header::file_len) implies, unless the policy let something else pass.
    #[must_use]
    pub const fn file_len(&self) -> u64 {
        self.file_len
    }

    /// What its head says. This costs nothing: the header was proven when the file was opened.
    ///
    /// It knows all tensors of the file, those too that are no part of the checkpoint.
    #[must_use]
    pub fn header(&self) -> Header<'_> {
        self.header.header()
    }

    pub(super) fn shared_name(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    pub(super) const fn owned_header(&self) -> &OwnedHeader {
        &self.header
    }
}

impl fmt::Debug for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shard")
            .field("path", &self.path)
            .field("file_len", &self.file_len)
            .field("header", &self.header())
            .finish_non_exhaustive()
    }
}

/// A file that is to be opened.
pub(super) struct Wanted {
    pub(super) name: Arc<str>,
    pub(super) path: PathBuf,
    /// How many tensors the index places in it; 0 without an index.
    pub(super) tensors: usize,
}

/// What became of it.
pub(super) struct Opened {
    /// The shard, when its header can be used.
    pub(super) shard: Option<Shard>,
    /// What is wrong with it.
    pub(super) finding: Option<Finding>,
    /// Whether it was left alone because the heads together take more than the limit.
    pub(super) over_limit: bool,
}

/// Bytes that heads may take together, over all threads.
pub(super) struct Budget {
    left: AtomicU64,
}

impl Budget {
    pub(super) const fn new(bytes: u64) -> Self {
        Self { left: AtomicU64::new(bytes) }
    }

    /// Whether so many bytes were left.
    fn take(&self, bytes: u64) -> bool {
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }
}

/// Opens a file and reads its head. Whatever is wrong is a finding.
pub(super) fn open(wanted: &Wanted, options: &ParseOptions, budget: &Budget) -> Opened {
    let mut opened = Opened { shard: None, finding: None, over_limit: false };
    let (mut file, file_len) = match file::open(&wanted.path) {
        Ok(file) => file,
        Err(error) => {
            opened.finding = Some(unreadable(wanted, &error));
            return opened;
        }
    };
    match read_head(&mut file, file_len, options, budget) {
        Ok(Head::Proven(header)) => {
            if let Err(error) = header.header().check_file_len(file_len) {
                opened.finding = Some(wrong_len(wanted, error, &header));
            }
            let (name, path) = (Arc::clone(&wanted.name), wanted.path.clone());
            opened.shard = Some(Shard { number: 0, name, path, file_len, header });
        }
        Ok(Head::Refused(error, head)) => {
            opened.finding = Some(match beginning(&mut file) {
                Ok(prefix) => refused(wanted, error, &head, &prefix),
                Err(error) => unreadable(wanted, &error),
            });
        }
        Ok(Head::OverLimit) => opened.over_limit = true,
        Err(error) => opened.finding = Some(unreadable(wanted, &error)),
    }
    opened
}

/// The shards that can be used, numbered in order.
pub(super) fn number(shards: &mut [Shard]) {
    shards.iter_mut().enumerate().for_each(|(number, shard)| shard.number = number);
}

/// What the head of a file turned out to be.
enum Head {
    Proven(OwnedHeader),
    /// Refused for this reason; the bytes of the head are as many as were read.
    Refused(Error, Vec<u8>),
    /// Not read: too much with the others.
    OverLimit,
}

/// Reads the length field and then exactly the header. Its declared length is held against the limit and the
/// file's length before there is memory for it.
fn read_head(file: &mut impl Read, file_len: u64, options: &ParseOptions, budget: &Budget) -> io::Result<Head> {
    let mut first = [0; 8];
    if file_len < len_u64(first.len()) {
        return Ok(Head::Refused(Error::at(0, ErrorKind::FileTooShort { actual: file_len }), Vec::new()));
    }
    file.read_exact(&mut first).map_err(shorter)?;
    let len = match options.header_len(&first) {
        Ok(len) => len,
        Err(error) => return Ok(Head::Refused(error, first.to_vec())),
    };
    let expected = len.saturating_add(len_u64(first.len()));
    if expected > file_len {
        let cut = Error::at(file_len, ErrorKind::HeaderCut { expected, actual: file_len });
        return Ok(Head::Refused(cut, first.to_vec()));
    }
    if !budget.take(len) {
        return Ok(Head::OverLimit);
    }
    let mut text = Vec::new();
    let room = usize::try_from(len).map_err(|_| io::ErrorKind::OutOfMemory)?;
    text.try_reserve_exact(room).map_err(|_| io::ErrorKind::OutOfMemory)?;
    file.take(len).read_to_end(&mut text)?;
    if text.len() < room {
        return Err(shorter(io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(match OwnedHeader::parse(text, options) {
        Ok(header) => Head::Proven(header),
        Err((error, text)) => Head::Refused(error, [&first[..], &text].concat()),
    })
}

/// A file that ends before the length it had when it was opened.
fn shorter(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => io::Error::new(error.kind(), "it became shorter while it was read"),
        _ => error,
    }
}

/// As much as tells what a file is.
fn beginning(file: &mut File) -> io::Result<Vec<u8>> {
    let mut prefix = Vec::new();
    file.rewind()?;
    file.take(len_u64(detect::PREFIX_LEN)).read_to_end(&mut prefix)?;
    Ok(prefix)
}

/// What a file is, if that can be told; for listing what a directory holds.
pub(super) fn format_of(path: &Path) -> Option<Format> {
    detect::detect(&beginning(&mut file::open(path).ok()?.0).ok()?)
}

fn unreadable(wanted: &Wanted, error: &io::Error) -> Finding {
    let shard = Arc::clone(&wanted.name);
    Finding::new(match error.kind() {
        io::ErrorKind::NotFound => {
            FindingKind::ShardMissing { shard, tensors: wanted.tensors, link: fs::read_link(&wanted.path).ok() }
        }
        kind => FindingKind::ShardUnreadable { shard, error: kind, reason: error.to_string() },
    })
}

/// A sound header in a file that is too short for it, or too long.
fn wrong_len(wanted: &Wanted, error: Error, header: &OwnedHeader) -> Finding {
    let shard = Arc::clone(&wanted.name);
    Finding::new(match error.kind() {
        ErrorKind::Truncated { expected, actual } => {
            let tensor = error.offset().and_then(|at| at.checked_sub(8)).map(|at| decoded(header.header().name_at(at)));
            FindingKind::ShardTruncated { shard, expected, actual, tensor }
        }
        _ => FindingKind::ShardMalformed { shard, error },
    })
}

/// A head that the parser refuses: of another format, cut, or malformed.
fn refused(wanted: &Wanted, error: Error, head: &[u8], prefix: &[u8]) -> Finding {
    let shard = Arc::clone(&wanted.name);
    match (detect::detect(prefix), error.kind()) {
        (Some(Format::Safetensors), ErrorKind::HeaderCut { expected, actual }) => {
            Finding::new(FindingKind::ShardTruncated { shard, expected, actual, tensor: None })
        }
        (None | Some(Format::Safetensors), _) => {
            let detail = error.explain(head).to_string();
            Finding::new(FindingKind::ShardMalformed { shard, error }).with_detail(detail)
        }
        (Some(format), _) => Finding::new(FindingKind::ShardForeign { shard, format }),
    }
}

/// A name as a string of its own.
pub(super) fn decoded(name: Text<'_>) -> String {
    name.to_cow().into_owned()
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};
    use std::vec::Vec;

    use super::{Budget, Head, read_head};
    use crate::error::{Error, ErrorKind};
    use crate::safetensors::ParseOptions;

    /// A file that counts what is read of it.
    struct Counting<'a> {
        rest: &'a [u8],
        read: usize,
    }

    impl Read for Counting<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let read = self.rest.read(buffer)?;
            self.read = self.read.saturating_add(read);
            Ok(read)
        }
    }

    fn read(bytes: &[u8], file_len: u64) -> (io::Result<Head>, usize) {
        let mut file = Counting { rest: bytes, read: 0 };
        let head = read_head(&mut file, file_len, &ParseOptions::default(), &Budget::new(100_000));
        (head, file.read)
    }

    fn file(header: &str, data: usize) -> Vec<u8> {
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.resize(bytes.len().saturating_add(data), 0);
        bytes
    }

    const TENSOR: &str = r#"{"x":{"dtype":"U8","shape":[90000],"data_offsets":[0,90000]}}"#;

    /// Not a byte of the data is read: it may be far away.
    #[test]
    fn exactly_the_head_is_read() {
        let bytes = file(TENSOR, 90_000);
        let (head, read) = read(&bytes, bytes.len() as u64);
        assert!(matches!(head, Ok(Head::Proven(header)) if header.header().len() == 1));
        assert_eq!(read, 8 + TENSOR.len());
    }

    /// A declared length is believed only as far as the file goes.
    #[test]
    fn nothing_is_read_of_a_header_that_is_not_there() {
        for (declared, len) in [(1000u64, 1007), (99_999_999, 1 << 20), (100_000_001, u64::MAX), (u64::MAX, u64::MAX)] {
            let (head, read) = read(&declared.to_le_bytes(), len);
            assert!(matches!(head, Ok(Head::Refused(..))), "{declared}");
            assert_eq!(read, 8);
        }
        let (head, read) = read(&[], 7);
        let too_short = |error: Error| error.kind() == ErrorKind::FileTooShort { actual: 7 };
        assert!(matches!(head, Ok(Head::Refused(error, _)) if too_short(error)));
        assert_eq!(read, 0);
    }

    #[test]
    fn a_file_that_becomes_shorter() {
        let bytes = file(TENSOR, 0);
        for len in [3, 8, 20, bytes.len().saturating_sub(1)] {
            let (head, _) = read(bytes.get(..len).unwrap_or_default(), 90_070);
            assert_eq!(head.err().map(|error| error.kind()), Some(io::ErrorKind::UnexpectedEof));
        }
    }

    #[test]
    fn heads_that_take_too_much_together() {
        let (head, read) = read(&100_001u64.to_le_bytes(), 1 << 20);
        assert!(matches!(head, Ok(Head::OverLimit)));
        assert_eq!(read, 8);
    }
}
