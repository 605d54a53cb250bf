//! Files mapped into memory: open at once, whatever their size, and read where and when they are touched.
//!
//! ```
//! use weightview::SafeTensors;
//! use weightview::mmap::MappedFile;
//!
//! // SAFETY: this file belongs to the package, and nothing writes to it.
//! let map = unsafe { MappedFile::open("tests/data/digits.safetensors") }?;
//! let model = SafeTensors::parse(&map)?; // touches the header alone
//!
//! let weight = model.header().tensor("fc1.weight")?;
//! map.prefetch(weight.file_range())?; // has it read at once, not page by page
//! assert_eq!(model.tensor("fc1.weight")?.iter_f32()?.count(), 32 * 64);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A mapping shares the system's cache of the file with every other process: nothing is copied, and a second start is
//! a warm one. The price is a promise that no program can check, under [`MappedFile::open`]; and that a page which is
//! not in the cache is fetched when it is touched, a few at a time, while the thread waits. From a fast disk that is
//! about as fast as reading; from a network file system each wait may be a request.
//! [`AlignedBytes`] asks for no promise and reads in large pieces on several threads.
//!
//! This is the one module of the crate with `unsafe` code.
//!
//! [`AlignedBytes`]: crate::AlignedBytes

mod checkpoint;

use core::fmt;
use core::ops::{Deref, Range};
use std::format;
use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::{Mmap, MmapOptions};

use crate::file;

/// A file that is mapped into memory, read-only. It is a `[u8]` of the file's length, which starts on a page, so on a
/// multiple of 4096 or more.
///
/// The mapping outlives the [`File`], and a file that is deleted, or replaced by renaming another onto its path, stays
/// as it was for those who have it mapped.
pub struct MappedFile {
    /// None for an empty file, which not every system can map.
    map: Option<Mmap>,
}

impl MappedFile {
    /// Maps a whole file. An empty one is an empty mapping.
    ///
    /// # Errors
    /// - [`IsADirectory`](io::ErrorKind::IsADirectory), or [`InvalidInput`](io::ErrorKind::InvalidInput) for what has
    ///   no length: a pipe, a device, a file of `/proc`. [`AlignedBytes::from_reader`] reads those.
    /// - [`FileTooLarge`](io::ErrorKind::FileTooLarge) on a 32-bit host, for 2 GiB and more.
    /// - What opening and mapping give: no permission to read; no room in the address space; a file system that cannot
    ///   map.
    ///
    /// # Safety
    /// The caller answers for the file: as long as the mapping lives, nobody may write to it, shorten it, or change
    /// it in any way in place, neither this process nor another, nor another machine that shares the file system.
    /// Nothing checks that, and no lock that is common to all systems enforces it. What happens otherwise:
    ///
    /// - *Bytes that change* show up in slices that are borrowed already, behind whatever was proven of them: offsets
    ///   that were in bounds, names that were UTF-8, flags that were 0 or 1. Rust's references promise that this does
    ///   not happen and the compiler relies on it, so it is undefined behaviour, not only a wrong number.
    /// - *A file that becomes shorter* takes its pages along. Whoever touches one that is wholly past the new end dies:
    ///   on Unix by the signal SIGBUS, which no `Result` and no `catch_unwind` sees. What is left of the last page reads
    ///   as 0. Windows does not let a file be shortened while it is mapped.
    /// - *A page that cannot be fetched*, because the disk is broken or the server gone, ends the same: SIGBUS on Unix, a
    ///   structured exception (`EXCEPTION_IN_PAGE_ERROR`) on Windows. The promise covers these too: only map what
    ///   can be relied on to stay readable.
    /// - *On a network file system* (NFS, SMB, FUSE) all this can come from another machine, and when a change shows
    ///   up is up to the file system.
    ///
    /// The promise can be kept where files are replaced and never rewritten: a writer that writes a new file and renames
    /// it onto the old one harms nobody. It can be kept for files that nobody but this program may write to. Where it
    /// cannot, because strangers can write to the file, or downloads and training runs write it in place, read it:
    /// [`AlignedBytes::read`] is safe in all of these cases, and gives an error in those where this one kills.
    ///
    /// [`AlignedBytes::read`]: crate::AlignedBytes::read
    /// [`AlignedBytes::from_reader`]: crate::AlignedBytes::from_reader
    pub unsafe fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let (file, len) = file::open(path.as_ref())?;
        // SAFETY: the caller's promise.
        unsafe { Self::map_len(&file, len) }
    }

    /// Maps a whole file that is open for reading. It may be closed while it is mapped.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    ///
    /// # Safety
    /// As [`open`](Self::open).
    pub unsafe fn map(file: &File) -> io::Result<Self> {
        let len = file::len(file)?;
        // SAFETY: the caller's promise.
        unsafe { Self::map_len(file, len) }
    }

    /// Maps so many bytes of a regular file.
    ///
    /// # Safety
    /// As [`open`](Self::open).
    unsafe fn map_len(file: &File, len: u64) -> io::Result<Self> {
        let len = file::addressable(len)?;
        if len == 0 {
            return Ok(Self { map: None });
        }
        // SAFETY: the caller promises that the file stays as it is, and so as long as it is, while it is mapped. If it
        // has become shorter since it was measured, the promise is broken already. The mapping is read-only, and the
        // slice that it is seen as ends with it.
        let map = unsafe { MmapOptions::new().len(len).map(file) };
        let map = map.map_err(|error| {
            let message = format!("the file's {len} bytes cannot be mapped: {error}; they may still be read");
            io::Error::new(error.kind(), message)
        })?;
        Ok(Self { map: Some(map) })
    }

    /// Tells the system how these bytes of the file are about to be used. Advice changes no byte and no result, only
    /// what is read when. It is given for whole pages, those that the range touches.
    ///
    /// Returns whether the system took the advice: false where it knows none such, as Windows does not, and Linux before
    /// 5.14 does not know [`PopulateRead`](Advice::PopulateRead).
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) when the range is not in the file. What else the system gives;
    /// `PopulateRead` of bytes that cannot be fetched, as when the file was shortened, is "Bad address" on Linux.
    pub fn advise(&self, range: Range<u64>, advice: Advice) -> io::Result<bool> {
        let (begin, len) = self.within(range)?;
        match &self.map {
            Some(map) if len > 0 => advise(map, begin, len, advice),
            _ => Ok(true),
        }
    }

    /// Has the system fetch these bytes of the file in large pieces, so that they need not be waited for page by page
    /// when they are touched: a tensor, say, by its [`file_range`](crate::TensorInfo::file_range).
    ///
    /// Returns what was done: [`PopulateRead`](Advice::PopulateRead) where the system can, so that all is there on
    /// return; else [`WillNeed`](Advice::WillNeed), and it is on its way; else `None`, and nothing was done.
    ///
    /// It makes no sense for more than memory can hold: what came first would be gone before it is touched.
    ///
    /// # Errors
    /// As [`advise`](Self::advise).
    pub fn prefetch(&self, range: Range<u64>) -> io::Result<Option<Advice>> {
        for advice in [Advice::PopulateRead, Advice::WillNeed] {
            if self.advise(range.clone(), advice)? {
                return Ok(Some(advice));
            }
        }
        Ok(None)
    }

    /// The range as a start and a length in the mapping.
    fn within(&self, Range { start, end }: Range<u64>) -> io::Result<(usize, usize)> {
        let fits = || {
            let (begin, end) = (usize::try_from(start).ok()?, usize::try_from(end).ok()?);
            self.get(begin..end).map(|bytes| (begin, bytes.len()))
        };
        fits().ok_or_else(|| file::past_the_end(start, end, self.len() as u64))
    }
}

/// How bytes of a mapping are about to be used, in the terms of `madvise`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Advice {
    /// In no special way; takes back `Sequential` and `Random`.
    Normal,
    /// From start to end, once: read far ahead, and let go soon of what was passed.
    Sequential,
    /// Here and there: do not read ahead.
    Random,
    /// Soon: start to read them, and do not wait for it.
    WillNeed,
    /// At once: read them, enter them in the process's page tables, and return when that is done. Linux 5.14 and newer.
    /// No touch of them waits then, unless memory is so short that they are let go again.
    PopulateRead,
}

#[cfg(unix)]
fn advise(map: &Mmap, begin: usize, len: usize, advice: Advice) -> io::Result<bool> {
    let advice = match advice {
        Advice::Normal => memmap2::Advice::Normal,
        Advice::Sequential => memmap2::Advice::Sequential,
        Advice::Random => memmap2::Advice::Random,
        Advice::WillNeed => memmap2::Advice::WillNeed,
        #[cfg(target_os = "linux")]
        Advice::PopulateRead => memmap2::Advice::PopulateRead,
        #[cfg(not(target_os = "linux"))]
        Advice::PopulateRead => return Ok(false),
    };
    match map.advise_range(advice, begin, len) {
        Ok(()) => Ok(true),
        // EINVAL: the range is in the mapping, so it is the advice that the kernel does not know.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(false),
        Err(error) => {
            let message = format!("the system cannot do that with {len} bytes from byte {begin} on: {error}");
            Err(io::Error::new(error.kind(), message))
        }
    }
}

#[cfg(not(unix))]
fn advise(_: &Mmap, _: usize, _: usize, _: Advice) -> io::Result<bool> {
    Ok(false)
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}

impl AsRef<[u8]> for MappedFile {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

/// The length alone: the bytes may be many, and looking at them would read them.
impl fmt::Debug for MappedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MappedFile").field("len", &self.len()).finish_non_exhaustive()
    }
}
