//! Files mapped into memory: opened at once whatever their size, read when they are touched.
//!
//! This is the one module with `unsafe` code, and [`MappedFile::open`] says what its caller answers for. Where that
//! is too much to answer for, [`AlignedBytes`](crate::AlignedBytes) are read instead.

mod checkpoint;

use core::fmt;
use core::ops::{Deref, Range};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use memmap2::{Mmap, MmapOptions};

use crate::file;

/// A file that is mapped into memory, read-only.
pub struct MappedFile {
    /// None for an empty file, which not every system can map.
    map: Option<Mmap>,
}

impl MappedFile {
    /// Maps a whole file.
    ///
    /// # Errors
    /// See [`map`](Self::map); and whatever opening gives.
    ///
    /// # Safety
    /// The file must not change as long as it is mapped.
    pub unsafe fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let (file, len) = file::open(path.as_ref())?;
        // SAFETY: the caller's promise.
        unsafe { Self::map_len(&file, len) }
    }

    /// Maps a whole file that is open for reading.
    ///
    /// # Errors
    /// A directory, a pipe, a device.
    ///
    /// # Safety
    /// As [`open`](Self::open).
    pub unsafe fn map(file: &File) -> io::Result<Self> {
        // SAFETY: the caller's promise.
        unsafe { Self::map_len(file, file::len(file)?) }
    }

    /// # Safety
    /// As [`open`](Self::open).
    unsafe fn map_len(file: &File, len: u64) -> io::Result<Self> {
        let len = file::addressable(len, file::MOST)?;
        if len == 0 {
            return Ok(Self { map: None });
        }
        // SAFETY: the caller promises that the file stays as it is while it is mapped.
        let map = unsafe { MmapOptions::new().len(len).map(file) }?;
        Ok(Self { map: Some(map) })
    }

    /// Tells the system how these bytes of the file will be used. True if the system knows the advice.
    ///
    /// # Errors
    /// The range is not in the file.
    pub fn advise(&self, range: Range<u64>, advice: Advice) -> io::Result<bool> {
        let (begin, len) = self.within(range)?;
        match &self.map {
            Some(map) if len > 0 => advise(map, begin, len, advice),
            _ => Ok(true),
        }
    }

    /// Has the system read these bytes of the file now. Which advice it took for that, if it knows any.
    ///
    /// # Errors
    /// The range is not in the file, or reading failed.
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
        let len = self.len();
        let (Ok(begin), Ok(stop)) = (usize::try_from(start), usize::try_from(end)) else {
            return Err(file::past_the_end(start, end, len as u64));
        };
        match stop.checked_sub(begin) {
            Some(count) if stop <= len => Ok((begin, count)),
            _ => Err(file::past_the_end(start, end, len as u64)),
        }
    }
}

/// How bytes will be used, as `madvise` knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Advice {
    /// Nothing special: takes back what was advised.
    Normal,
    /// From start to end.
    Sequential,
    /// In no order.
    Random,
    /// Soon.
    WillNeed,
    /// At once: reads them, and returns when they are there.
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
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(false),
        Err(error) => Err(error),
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

impl fmt::Debug for MappedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MappedFile").field("len", &self.len()).finish_non_exhaustive()
    }
}
