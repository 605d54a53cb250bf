//! Reading files piece by piece, on all cores.
//!
//! What a command does with a piece runs on worker threads, each with a buffer of its own that is used again and
//! again; the results come back in order, item by item and piece by piece, so that they do not depend on how
//! many threads there are. Files are read with positioned reads and never mapped: one that is cut off meanwhile is
//! an error, not a signal.

use std::collections::BTreeMap;
use std::fs::File;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{io, thread};

use crate::fault::{self, Fault};
use crate::progress::Progress;

/// Bytes of a piece, at most: few enough to be in a processor's cache when they are worked on.
pub(crate) const PIECE: u64 = 1 << 20;
/// Items that are handed to a thread at once, when they are small.
const BATCH: usize = 64;
/// Batches that may be finished before an earlier one is.
const AHEAD: usize = 512;

/// Bytes of a file, and how many of them make a piece.
#[derive(Clone)]
pub(crate) struct Span<'a> {
    pub(crate) path: &'a Path,
    pub(crate) bytes: Range<u64>,
    pub(crate) step: u64,
}

impl Span<'_> {
    /// Pieces that it has: one at least, if an empty one.
    pub(crate) fn pieces(&self) -> u64 {
        (self.bytes.end - self.bytes.start).div_ceil(self.step.max(1)).max(1)
    }

    fn piece(&self, number: u64) -> Range<u64> {
        let start = self.bytes.start.saturating_add(number.saturating_mul(self.step)).min(self.bytes.end);
        start..start.saturating_add(self.step).min(self.bytes.end)
    }
}

/// A piece of an item.
pub(crate) struct Piece<'p> {
    /// Which item.
    pub(crate) item: usize,
    /// Which piece of it.
    pub(crate) number: u64,
    /// The bytes of each span of the item.
    pub(crate) bytes: &'p [&'p [u8]],
}

/// Calls `work` for all pieces of all items, and `done` with what it returned, in order, with the item's place and
/// whether that was its last piece. An item is a span, or several of as many pieces that are read side by side.
pub(crate) fn pieces<const N: usize, T: Send>(
    items: &[[Span<'_>; N]],
    work: impl Fn(&Piece<'_>) -> T + Sync,
    mut done: impl FnMut(usize, bool, T) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let total = items.iter().flatten().map(|span| u128::from(span.bytes.end - span.bytes.start)).sum();
    let mut progress = Progress::new(total);
    let plan = Plan { state: Mutex::new(State::default()), room: Condvar::new(), items };
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    thread::scope(|scope| {
        let (send, results) = mpsc::channel();
        for _ in 0..threads {
            let (send, plan, work) = (send.clone(), &plan, &work);
            scope.spawn(move || {
                let mut reader = Reader::<N>::new();
                while let Some(batch) = plan.next() {
                    let result = batch.run(items, &mut reader, work);
                    let failed = result.is_err();
                    if send.send((batch.number, result)).is_err() || failed {
                        return; // the command has stopped, or will
                    }
                }
            });
        }
        drop(send);
        let mut early = BTreeMap::new();
        let mut wanted = 0;
        let result = loop {
            progress.show();
            match results.recv_timeout(Duration::from_millis(100)) {
                Ok((number, result)) => early.insert(number, result),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => break Ok(()),
            };
            let mut outcome = Ok(());
            while let (Ok(()), Some(result)) = (&outcome, early.remove(&wanted)) {
                wanted += 1;
                outcome = result.and_then(|finished: Vec<Finished<T>>| {
                    finished.into_iter().try_for_each(|Finished { item, last, bytes, result }| {
                        progress.add(bytes);
                        done(item, last, result)
                    })
                });
            }
            plan.delivered(wanted);
            if outcome.is_err() {
                break outcome;
            }
        };
        plan.stop();
        result
    })
}

/// What is to be done, handed out in order.
struct Plan<'p, 'a, const N: usize> {
    state: Mutex<State>,
    /// Something was delivered, so that more may be begun.
    room: Condvar,
    items: &'p [[Span<'a>; N]],
}

#[derive(Default)]
struct State {
    item: usize,
    /// The item's next piece.
    piece: u64,
    number: usize,
    delivered: usize,
    stopped: bool,
}

/// Small items, or a piece of a large one.
struct Batch {
    number: usize,
    items: Range<usize>,
    piece: u64,
}

struct Finished<T> {
    item: usize,
    last: bool,
    bytes: u64,
    result: T,
}

impl<const N: usize> Plan<'_, '_, N> {
    fn next(&self) -> Option<Batch> {
        let mut state = self.lock();
        while !state.stopped && state.number >= state.delivered + AHEAD {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let first = state.item;
        let all = pieces_of(self.items.get(first).filter(|_| !state.stopped)?);
        let (number, piece) = (state.number, state.piece);
        state.number += 1;
        if all > 1 {
            (state.item, state.piece) = if piece + 1 == all { (first + 1, 0) } else { (first, piece + 1) };
            return Some(Batch { number, items: first..first + 1, piece });
        }
        let mut bytes = 0u64;
        while state.item - first < BATCH && bytes < PIECE {
            let Some(item) = self.items.get(state.item).filter(|item| pieces_of(item) == 1) else { break };
            bytes += item.iter().map(|span| span.bytes.end - span.bytes.start).sum::<u64>();
            state.item += 1;
        }
        Some(Batch { number, items: first..state.item, piece: 0 })
    }

    fn delivered(&self, number: usize) {
        self.lock().delivered = number;
        self.room.notify_all();
    }

    fn stop(&self) {
        self.lock().stopped = true;
        self.room.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn pieces_of<const N: usize>(item: &[Span<'_>; N]) -> u64 {
    item.iter().map(Span::pieces).max().unwrap_or(1)
}

impl Batch {
    fn run<const N: usize, T>(
        &self,
        items: &[[Span<'_>; N]],
        reader: &mut Reader<N>,
        work: &impl Fn(&Piece<'_>) -> T,
    ) -> Result<Vec<Finished<T>>, Fault> {
        let mut finished = Vec::with_capacity(self.items.len());
        for (item, spans) in self.items.clone().zip(items.get(self.items.clone()).unwrap_or_default()) {
            let bytes = reader.read(spans, self.piece)?;
            let len = bytes.iter().map(|bytes| bytes.len() as u64).sum();
            let result = work(&Piece { item, number: self.piece, bytes: &bytes });
            finished.push(Finished { item, last: self.piece + 1 == pieces_of(spans), bytes: len, result });
        }
        Ok(finished)
    }
}

/// A thread's buffers, and the files that it has open: the last one of each span.
struct Reader<const N: usize> {
    slots: [Slot; N],
}

#[derive(Default)]
struct Slot {
    open: Option<(Box<Path>, File)>,
    buffer: Vec<u8>,
}

impl<const N: usize> Reader<N> {
    fn new() -> Self {
        Self { slots: std::array::from_fn(|_| Slot::default()) }
    }

    /// A piece of each span.
    fn read(&mut self, spans: &[Span<'_>; N], piece: u64) -> Result<Vec<&[u8]>, Fault> {
        self.slots.iter_mut().zip(spans).map(|(slot, span)| slot.read(span.path, &span.piece(piece))).collect()
    }
}

impl Slot {
    fn read(&mut self, path: &Path, range: &Range<u64>) -> Result<&[u8], Fault> {
        let unreadable = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => fault::became_shorter(path),
            _ => fault::unreadable(path, &error),
        };
        let (_, file) = match self.open.take() {
            Some(open) if *open.0 == *path => self.open.insert(open),
            _ => self.open.insert((path.into(), File::open(path).map_err(unreadable)?)),
        };
        let len =
            usize::try_from(range.end - range.start).map_err(|_| unreadable(io::ErrorKind::OutOfMemory.into()))?;
        self.buffer.resize(len, 0); // a piece, so it is short
        read_exact_at(file, &mut self.buffer, range.start).map_err(unreadable)?;
        Ok(&self.buffer)
    }
}

#[cfg(unix)]
fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

/// The file is this thread's own, so its place is too.
#[cfg(not(unix))]
fn read_exact_at(mut file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    use std::io::{Read as _, Seek as _};
    file.seek(io::SeekFrom::Start(offset))?;
    file.read_exact(buffer)
}
