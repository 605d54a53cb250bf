//! Files read into memory, safely, on several threads, to where numbers can be used in place.
//!
//! ```
//! use weightview::{AlignedBytes, SafeTensors};
//!
//! let bytes = AlignedBytes::read("tests/data/digits.safetensors")?;
//! let model = SafeTensors::parse(&bytes)?;
//! let bias: &[f32] = model.tensor("fc1.bias")?.as_slice()?; // in place: no copy was made
//! assert_eq!(bias.len(), 32);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use core::fmt;
use core::ops::{Deref, Range};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::vec::Vec;

use crate::file;

/// How much a thread reads at a time, and so how often progress is reported.
const PIECE: usize = 4 << 20;

/// The most threads that are used unless the caller says otherwise.
const MOST_THREADS: usize = 16;

/// Bytes in memory that start on a boundary of 64 bytes.
///
/// That is as much as any vector instruction asks for, the length of a cache line, and where systems copy to fastest.
/// What counts for a tensor is where its own bytes start, which is the writer's choice: the common writers of
/// safetensors pad the header so that the data section starts on a multiple of 8, and lay out wide dtypes first. Of
/// files by them, [`as_slice`](crate::TensorView::as_slice) gives any tensor in place, F64 among them. Where a writer
/// took no such care it names the misalignment, and the calls that copy work.
///
/// These bytes belong to the program alone: no other process can change them, and a file that becomes shorter while it
/// is read is an error. With the feature `mmap` there is another way, at another price.
pub struct AlignedBytes {
    /// `len` bytes from `start` on, with what it takes before them to start on the boundary.
    memory: Vec<u8>,
    start: usize,
    len: usize,
}

impl AlignedBytes {
    /// The bytes start on a multiple of this.
    pub const ALIGNMENT: usize = 64;

    /// Reads a whole file, on as many threads as the machine has cores.
    ///
    /// # Errors
    /// As [`ReadOptions::read`].
    pub fn read(path: impl AsRef<Path>) -> io::Result<Self> {
        ReadOptions::new().read(path)
    }

    /// Reads a stream to its end: a pipe, standard input, what a decompressor gives. For one that may have no end,
    /// [`Read::take`] sets a bound.
    ///
    /// # Errors
    /// What the stream gives, but `Interrupted`, which is tried again; or [`io::ErrorKind::OutOfMemory`].
    pub fn from_reader(mut reader: impl Read) -> io::Result<Self> {
        let mut bytes = Self { memory: Vec::new(), start: 0, len: 0 };
        loop {
            bytes.make_room()?;
            let room = bytes.memory.capacity().saturating_sub(bytes.memory.len());
            let read = reader.by_ref().take(room as u64).read_to_end(&mut bytes.memory)?;
            bytes.len = bytes.len.saturating_add(read);
            if read < room {
                // Nothing says that the last read left the memory where it was.
                bytes.align()?;
                return Ok(bytes);
            }
        }
    }

    /// A copy.
    ///
    /// # Errors
    /// [`io::ErrorKind::OutOfMemory`] when there is no memory for it.
    pub fn copy_from(bytes: &[u8]) -> io::Result<Self> {
        let mut copy = Self::zeroed(bytes.len())?;
        copy.bytes_mut().copy_from_slice(bytes);
        Ok(copy)
    }

    /// So many zeros. The system hands out large memory zeroed, so it is written to once only, by what reads into it.
    /// (The allocator would itself write the zeros of a type that is aligned to 64; hence bytes, with room to shift.)
    fn zeroed(len: usize) -> io::Result<Self> {
        let room = len.checked_add(Self::ALIGNMENT);
        let memory = room.and_then(|room| bytemuck::allocation::try_zeroed_vec::<u8>(room).ok());
        let memory = memory.ok_or_else(|| file::no_memory(len as u64))?;
        Ok(Self { start: to_boundary(&memory), memory, len })
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        let end = self.start.saturating_add(self.len);
        self.memory.get_mut(self.start..end).unwrap_or_default()
    }

    /// Makes room for more at the end, twice as much as before or more.
    fn make_room(&mut self) -> io::Result<()> {
        let more = self.memory.len().max(1 << 20);
        self.memory.try_reserve(more).map_err(|_| file::no_memory(self.len.saturating_add(more) as u64))?;
        self.align()
    }

    /// Moves the bytes to a boundary, when the memory has moved. (Large memory moves by whole pages, so that there is
    /// nothing to do but the first time.)
    fn align(&mut self) -> io::Result<()> {
        if self.memory.capacity().saturating_sub(self.len) < Self::ALIGNMENT {
            self.memory.try_reserve(Self::ALIGNMENT).map_err(|_| file::no_memory(self.len as u64))?;
        }
        let start = to_boundary(&self.memory);
        if start != self.start {
            let held = self.start..self.start.saturating_add(self.len);
            self.memory.resize(start.saturating_add(self.len).max(self.memory.len()), 0);
            self.memory.copy_within(held, start);
            self.memory.truncate(start.saturating_add(self.len));
            self.start = start;
        }
        Ok(())
    }
}

/// How many bytes it is from the start of this memory to a boundary.
fn to_boundary(memory: &[u8]) -> usize {
    memory.as_ptr().addr().wrapping_neg() % AlignedBytes::ALIGNMENT
}

impl Deref for AlignedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let end = self.start.saturating_add(self.len);
        self.memory.get(self.start..end).unwrap_or_default()
    }
}

impl AsRef<[u8]> for AlignedBytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for AlignedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlignedBytes").field("len", &self.len).finish_non_exhaustive()
    }
}

/// Called with the bytes that are read and the bytes that are to be read; an error ends the reading. See
/// [`ReadOptions::progress`].
pub type Progress<'a> = &'a (dyn Fn(u64, u64) -> io::Result<()> + Sync);

/// How [`AlignedBytes`] are read from a file: which part, on how many threads, and who is told of it.
///
/// ```
/// use weightview::aligned::ReadOptions;
///
/// let tell = |done: u64, total: u64| {
///     eprintln!("{done} of {total} bytes");
///     Ok(()) // an error here would end the reading
/// };
/// let header = ReadOptions::new().range(8..72).threads(1).progress(&tell).read("tests/data/digits.safetensors")?;
/// assert_eq!(header.len(), 64);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct ReadOptions<'a> {
    threads: usize,
    range: Option<Range<u64>>,
    progress: Option<Progress<'a>>,
}

impl<'a> ReadOptions<'a> {
    /// The whole file, on as many threads as the machine has cores, up to 16, and nobody is told.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// On so many threads, of which the calling one is the first; 0 for the default. More than the machine has
    /// cores help where a file is far away. A thread that cannot be started is done without.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// These bytes of the file only. The first of them is the one that is aligned.
    #[must_use]
    pub fn range(self, range: Range<u64>) -> Self {
        Self { range: Some(range), ..self }
    }

    /// Calls this with the bytes read so far and the bytes to be read: first with 0, before any memory is taken, then
    /// every few MiB with a larger number, and at the end with the two equal. The calls come from any of the
    /// threads, one at a time. An error that it returns ends the reading, and is what `read` returns.
    #[must_use]
    pub fn progress(self, progress: Progress<'a>) -> Self {
        Self { progress: Some(progress), ..self }
    }

    /// Reads the file at a path.
    ///
    /// A file that grows meanwhile is read to the length that it had at the start.
    ///
    /// # Errors
    /// - [`IsADirectory`](io::ErrorKind::IsADirectory), or [`InvalidInput`](io::ErrorKind::InvalidInput) for what has
    ///   no length: a pipe, a device, a file of `/proc`. [`AlignedBytes::from_reader`] reads those.
    /// - [`InvalidInput`](io::ErrorKind::InvalidInput) when the range is not in the file.
    /// - [`OutOfMemory`](io::ErrorKind::OutOfMemory), or [`FileTooLarge`](io::ErrorKind::FileTooLarge) when no process
    ///   of 32 bits could hold it.
    /// - [`UnexpectedEof`](io::ErrorKind::UnexpectedEof) when the file becomes shorter meanwhile.
    /// - Whatever opening and reading give, and the progress callback.
    pub fn read(&self, path: impl AsRef<Path>) -> io::Result<AlignedBytes> {
        let (file, len) = file::open(path.as_ref())?;
        self.read_len(&file, len)
    }

    /// Reads a file that is open for reading, from its start or the range's, wherever its cursor stands. (On Windows
    /// the cursor is moved.)
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_file(&self, file: &File) -> io::Result<AlignedBytes> {
        self.read_len(file, file::len(file)?)
    }

    fn read_len(&self, file: &File, file_len: u64) -> io::Result<AlignedBytes> {
        let Range { start, end } = self.range.clone().unwrap_or(0..file_len);
        let total = end.checked_sub(start).filter(|_| end <= file_len);
        let total = total.ok_or_else(|| file::past_the_end(start, end, file_len))?;
        let len = file::addressable(total)?;
        if let Some(progress) = self.progress {
            progress(0, total)?;
        }
        let mut bytes = AlignedBytes::zeroed(len)?;
        self.fill(file, bytes.bytes_mut(), start, end)?;
        Ok(bytes)
    }

    /// Reads bytes `start..end` of the file into `out`, piece by piece, on all threads.
    fn fill(&self, file: &File, out: &mut [u8], start: u64, end: u64) -> io::Result<()> {
        let others = self.threads_for(out.len()).saturating_sub(1);
        let tally = Mutex::new(Tally { done: 0, ended: false });
        let pieces = Mutex::new(out.chunks_mut(PIECE).enumerate());
        let work = || -> io::Result<()> {
            loop {
                let Some((number, piece)) = next(&pieces, &tally) else { return Ok(()) };
                let at = start.saturating_add((number as u64).saturating_mul(PIECE as u64));
                let result = file::read_exact_at(file, piece, at, end);
                self.report(&tally, result.map(|()| piece.len()), end.saturating_sub(start))?;
            }
        };
        thread::scope(|scope| {
            let spawn = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
            let handles: Vec<_> = (0..others).map_while(spawn).collect();
            let mut result = work();
            for handle in handles {
                match handle.join() {
                    Ok(other) => result = result.and(other),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            result
        })
    }

    fn threads_for(&self, len: usize) -> usize {
        let threads = match self.threads {
            0 => thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS),
            threads => threads,
        };
        if file::AT_ONCE { threads.min(len.div_ceil(PIECE)) } else { 1 }
    }

    /// Counts what a thread has read, and tells the caller. Whatever fails ends the work of the others too.
    fn report(&self, tally: &Mutex<Tally>, read: io::Result<usize>, total: u64) -> io::Result<()> {
        // Poisoned: the callback panicked on another thread, and that panic is on its way to the caller.
        let Ok(mut tally) = tally.lock() else { return Ok(()) };
        if tally.ended {
            return Ok(());
        }
        let result = read.and_then(|read| {
            tally.done = tally.done.saturating_add(read as u64);
            self.progress.map_or(Ok(()), |progress| progress(tally.done, total))
        });
        tally.ended = result.is_err();
        result
    }
}

impl fmt::Debug for ReadOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { threads, range, progress } = self;
        let mut fields = f.debug_struct("ReadOptions");
        fields.field("threads", threads).field("range", range).field("progress", &progress.is_some()).finish()
    }
}

/// How far the threads are.
struct Tally {
    done: u64,
    /// Something failed; no more is to be read or reported.
    ended: bool,
}

/// The next piece, unless something failed.
fn next<T>(pieces: &Mutex<impl Iterator<Item = T>>, tally: &Mutex<Tally>) -> Option<T> {
    let ended = tally.lock().map_or(true, |tally: MutexGuard<'_, Tally>| tally.ended);
    if ended { None } else { pieces.lock().ok()?.next() }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects, clippy::expect_used, reason = "tests know their bytes")]
mod tests {
    use std::vec::Vec;

    use super::AlignedBytes;

    /// Allocators seldom move memory from one offset to another, so here it is done to them: the bytes stand wherever
    /// they stand, with or without room behind them.
    #[test]
    fn bytes_are_moved_to_the_boundary_from_anywhere() {
        let held: Vec<u8> = (0..200).collect();
        for start in 0..150 {
            for room in [0, 1, 63, 64, 300] {
                let mut memory = Vec::with_capacity(start + held.len() + room);
                memory.resize(start, 0);
                memory.extend_from_slice(&held);
                let mut bytes = AlignedBytes { memory, start, len: held.len() };
                bytes.align().expect("memory");
                assert_eq!(*bytes, *held);
                assert_eq!(bytes.as_ptr().addr() % AlignedBytes::ALIGNMENT, 0);
                assert_eq!(bytes.memory.len(), bytes.start + bytes.len, "more is appended where they end");
            }
        }
    }
}
