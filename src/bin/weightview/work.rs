//! Reading the numbers of tensors, piece by piece, on all cores.
//!
//! What a command does with a piece runs on worker threads, each with a buffer of its own that is used again and
//! again; the results come back in order, tensor by tensor and piece by piece, so that they do not depend on how
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

use weightview::{TensorInfo, TensorView};

use crate::fault::{self, Fault};
use crate::progress::Progress;

/// Bytes of a piece, at most: few enough to be in a processor's cache when they are worked on.
const PIECE: u64 = 1 << 20;
/// Elements of a piece are a multiple of this, so that every dtype's pieces are whole blocks.
const ALIGN: u64 = 256;
/// Tensors that are handed to a thread at once, when they are small.
const BATCH: usize = 64;
/// Batches that may be finished before an earlier one is.
const AHEAD: usize = 8;

/// A tensor, and the file that it is in.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) path: &'a Path,
    pub(crate) info: TensorInfo<'a>,
}

/// Calls `work` for all pieces of all items, and `done` with what it returned, in order, with the item's place and
/// whether that was its last piece. An item is a tensor, or several of as many elements, of which `work` sees the same
/// elements side by side. Each has at least one piece, if an empty one.
pub(crate) fn pieces<const N: usize, T: Send>(
    items: &[[Source<'_>; N]],
    work: impl Fn(&[TensorView<'_>]) -> T + Sync,
    mut done: impl FnMut(usize, bool, T) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let total = items.iter().flatten().map(|source| u128::from(source.info.byte_len())).sum();
    let mut progress = Progress::new(total);
    let plan = Plan { state: Mutex::new(State::default()), room: Condvar::new(), items };
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    thread::scope(|scope| {
        let (send, results) = mpsc::channel();
        for _ in 0..threads {
            let (send, plan, work) = (send.clone(), &plan, &work);
            scope.spawn(move || {
                let mut reader = Reader::new();
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
    items: &'p [[Source<'a>; N]],
}

#[derive(Default)]
struct State {
    item: usize,
    /// Elements of the item that have been handed out.
    start: u64,
    number: usize,
    delivered: usize,
    stopped: bool,
}

/// Small items, or a piece of a large one.
struct Batch {
    number: usize,
    items: Range<usize>,
    elements: Range<u64>,
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
        while !state.stopped && state.number >= state.delivered + BATCH * AHEAD {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.stopped {
            return None;
        }
        let first = state.item;
        let elements = self.elements(first)?;
        let number = state.number;
        state.number += 1;
        let at_once = piece_len(self.items.get(first)?);
        if elements > at_once {
            let end = elements.min(state.start.saturating_add(at_once));
            let batch = Batch { number, items: first..first + 1, elements: state.start..end };
            (state.item, state.start) = if end == elements { (first + 1, 0) } else { (first, end) };
            return Some(batch);
        }
        let mut bytes = 0u64;
        while state.item - first < BATCH && bytes < PIECE {
            let Some(item) = self.items.get(state.item).filter(|item| is_small(item)) else { break };
            bytes += item.iter().map(|source| source.info.byte_len()).sum::<u64>();
            state.item += 1;
        }
        Some(Batch { number, items: first..state.item, elements: 0..u64::MAX })
    }

    fn elements(&self, item: usize) -> Option<u64> {
        self.items.get(item)?.first().map(|source| source.info.elements())
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

/// How many elements of the item make a piece.
fn piece_len<const N: usize>(item: &[Source<'_>; N]) -> u64 {
    let block = |source: &Source<'_>| {
        let dtype = source.info.dtype();
        (ALIGN * u64::from(dtype.block_bytes())).div_ceil(u64::from(dtype.block_len()))
    };
    let bytes = item.iter().map(block).max().unwrap_or(1);
    (PIECE / bytes).max(1) * ALIGN
}

/// Whether the item is one piece.
fn is_small<const N: usize>(item: &[Source<'_>; N]) -> bool {
    item.iter().all(|source| source.info.elements() <= piece_len(item))
}

impl Batch {
    fn run<const N: usize, T>(
        &self,
        items: &[[Source<'_>; N]],
        reader: &mut Reader<N>,
        work: &impl Fn(&[TensorView<'_>]) -> T,
    ) -> Result<Vec<Finished<T>>, Fault> {
        let mut finished = Vec::with_capacity(self.items.len());
        for (item, sources) in self.items.clone().zip(items.get(self.items.clone()).unwrap_or_default()) {
            let elements = sources.first().map_or(0, |source| source.info.elements());
            let range = self.elements.start..self.elements.end.min(elements);
            let last = range.end == elements;
            let views = reader.read(sources, &range)?;
            let bytes = views.iter().map(|view| view.data().len() as u64).sum();
            let result = work(&views);
            finished.push(Finished { item, last, bytes, result });
        }
        Ok(finished)
    }
}

/// A thread's buffers, and the files that it has open: the last one of each source.
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

    /// The elements of each source.
    fn read<'r>(&'r mut self, sources: &[Source<'r>; N], elements: &Range<u64>) -> Result<Vec<TensorView<'r>>, Fault> {
        let read = |(slot, source): (&'r mut Slot, &Source<'r>)| {
            let piece = piece(source, elements)?;
            let bytes = slot.read(source.path, &piece.file_range())?;
            piece.view(bytes).map_err(|error| fault::malformed(source.path, &error, &[]))
        };
        self.slots.iter_mut().zip(sources).map(read).collect()
    }
}

fn piece<'a>(source: &Source<'a>, elements: &Range<u64>) -> Result<TensorInfo<'a>, Fault> {
    // A tensor in one piece keeps its shape.
    if *elements == (0..source.info.elements()) {
        return Ok(source.info);
    }
    source.info.piece(elements.clone()).map_err(|error| fault::unreadable(source.path, &io::Error::other(error)))
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
