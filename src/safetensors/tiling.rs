//! Holes and overlaps: the tensors must tile the data section, from 0 to its end, without either.
//!
//! Intervals that chain, each beginning where another ends, tile what they span. Header order is nearly always
//! file order, or a few interleaved runs of it, so a handful of open chains in fixed memory proves nearly every
//! header in the pass that reads it. What they cannot prove is collected for a sort, where there is a heap, or
//! is left to repeated passes ([`first_fault`]), which is also what finds the tensor to blame.

use super::entry::Entry;
use super::heap::Buffer;
use super::walk::Walk;
use super::{LEN_FIELD, TYPICAL_ENTRY};
use crate::cursor::len_u64;
use crate::error::{Error, ErrorKind};

/// Chains that are kept open at once.
const CHAINS: usize = 8;

/// Intervals that one pass without a heap picks out.
const PICKED: usize = 32;

/// `[begin, end)` in the data section.
type Interval = (u64, u64);

/// The intervals seen so far.
pub(super) struct Tiling {
    /// The chain that grew last; the usual interval extends it.
    hot: Interval,
    /// The others, the first `cold_len` of them.
    cold: [Interval; CHAINS],
    cold_len: usize,
    /// Where chains go when there are too many.
    spilled: Option<Buffer<Interval>>,
    /// How many chains there might be, where a heap may be used.
    may_spill: Option<usize>,
    /// Something was seen that cannot be judged here.
    unsure: bool,
    /// The largest end.
    end: u64,
}

impl Tiling {
    pub(super) fn new(may_spill: Option<usize>) -> Self {
        Self { hot: (0, 0), cold: [(0, 0); CHAINS], cold_len: 0, spilled: None, may_spill, unsure: false, end: 0 }
    }

    /// Takes the next tensor of the header.
    pub(super) fn push(&mut self, begin: u64, end: u64) {
        self.end = self.end.max(end);
        if begin == self.hot.1 {
            self.hot.1 = end;
            if self.cold_len > 0 && begin < end {
                self.join_front();
            }
        } else if begin == end {
            // At 0 and on the edge of a chain it is well. Elsewhere it may stand inside a tensor.
            let on_edge = |&(from, to): &Interval| begin == from || begin == to;
            self.unsure |= !(begin == 0 || on_edge(&self.hot) || self.cold_chains().iter().any(on_edge));
        } else {
            self.open_chain((begin, end));
        }
    }

    /// Whether the tensors are proven to tile the data section; false when that is not known.
    pub(super) fn prove(&mut self) -> bool {
        if self.unsure {
            return false;
        }
        let Some(mut spilled) = self.spilled.take() else {
            return self.cold_len == 0 && self.hot.0 == 0;
        };
        if !spilled.push(self.hot) {
            return false;
        }
        let chains = spilled.as_mut_slice();
        chains.sort_unstable_by_key(|chain| chain.0);
        let mut end = 0;
        chains.iter().all(|chain| chain.0 == core::mem::replace(&mut end, chain.1))
    }

    /// The length of the data section: where its last tensor ends.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    fn cold_chains(&self) -> &[Interval] {
        self.cold.get(..self.cold_len).unwrap_or_default()
    }

    /// Goes on with the chain that `interval` extends, or with a new one.
    fn open_chain(&mut self, interval: Interval) {
        if let Some(spilled) = &mut self.spilled {
            if !spilled.push(self.hot) {
                self.unsure = true;
            }
            self.hot = interval;
            return;
        }
        let behind = self.cold_chains().iter().position(|chain| chain.1 == interval.0);
        let next = match behind.and_then(|index| self.cold.get_mut(index)) {
            Some(chain) => {
                let longer = (chain.0, interval.1);
                *chain = self.hot;
                longer
            }
            None => {
                self.put_away();
                interval
            }
        };
        self.hot = next;
        self.join_front();
    }

    /// Joins the hot chain with the one that begins where it ends.
    fn join_front(&mut self) {
        let Some((last, others)) = self.cold.get_mut(..self.cold_len).and_then(|cold| cold.split_last_mut()) else {
            return;
        };
        let joined = if last.0 == self.hot.1 {
            *last
        } else if let Some(ahead) = others.iter_mut().find(|chain| chain.0 == self.hot.1) {
            core::mem::replace(ahead, *last)
        } else {
            return;
        };
        self.hot.1 = joined.1;
        self.cold_len = self.cold_len.wrapping_sub(1); // not 0: it has a last
    }

    /// Moves the hot chain to the cold ones. When those are full, all go to the heap.
    fn put_away(&mut self) {
        if self.hot == (0, 0) {
            return; // nothing yet, or only empty tensors at 0, which is a boundary however the rest falls
        }
        if let Some(slot) = self.cold.get_mut(self.cold_len) {
            *slot = self.hot;
            self.cold_len = self.cold_len.wrapping_add(1); // below CHAINS
            return;
        }
        let spilled = self.may_spill.and_then(Buffer::new);
        let Some(mut spilled) = spilled else {
            self.unsure = true;
            return;
        };
        let kept = self.cold.iter().chain([&self.hot]).all(|chain| spilled.push(*chain));
        self.unsure |= !kept;
        self.cold_len = 0;
        self.spilled = Some(spilled);
    }
}

/// The exact answer, in any order: the first tensor, by begin and end, that does not begin where the one before
/// it ends.
///
/// A function of its own, so that its memory is on the stack only while it is needed.
#[inline(never)]
pub(super) fn first_fault(text: &str, heap: bool) -> Option<Error> {
    let sorted = if heap { sort(text) } else { None };
    let mut expected = 0;
    match sorted {
        Some(mut sorted) => sorted.as_mut_slice().iter().find_map(|key| key.fault(&mut expected)),
        None => {
            let mut last = None;
            loop {
                let mut picked = Picked::after(last);
                Walk::proven(text).all(|entry| {
                    picked.offer(Key::of(entry));
                    true
                });
                if let Some(fault) = picked.as_slice().iter().find_map(|key| key.fault(&mut expected)) {
                    return Some(fault);
                }
                last = Some(*picked.as_slice().last()?);
            }
        }
    }
}

/// A tensor's place in file order; tensors at one place stand in header order.
#[derive(Clone, Copy, Default)]
struct Key {
    interval: Interval,
    /// Where its `data_offsets` stand in the file.
    at: u64,
}

impl Key {
    fn of(entry: &Entry<'_>) -> Self {
        Self { interval: (entry.begin, entry.end), at: LEN_FIELD.saturating_add(len_u64(entry.offsets_at)) }
    }

    fn is_before(&self, other: &Self) -> bool {
        // One comparison a field, which on 32-bit hosts is a third of what those of tuples compile to.
        if self.interval.0 != other.interval.0 {
            return self.interval.0 < other.interval.0;
        }
        if self.interval.1 != other.interval.1 {
            return self.interval.1 < other.interval.1;
        }
        self.at < other.at
    }

    /// The fault, when the tensor does not begin where it is expected to. Moves the expectation on.
    fn fault(&self, expected: &mut u64) -> Option<Error> {
        let (begin, end) = self.interval;
        let expected = core::mem::replace(expected, end);
        let kind = match begin.cmp(&expected) {
            core::cmp::Ordering::Equal => return None,
            core::cmp::Ordering::Greater => ErrorKind::Hole { expected, begin },
            core::cmp::Ordering::Less => ErrorKind::Overlap { expected, begin },
        };
        Some(Error::at(self.at, kind))
    }
}

fn sort(text: &str) -> Option<Buffer<Key>> {
    let mut keys = Buffer::new(text.len() / TYPICAL_ENTRY)?;
    if !Walk::proven(text).all(|entry| keys.push(Key::of(entry))) {
        return None;
    }
    keys.as_mut_slice().sort_unstable_by_key(|key| (key.interval, key.at));
    Some(keys)
}

/// The least few keys above a bound, in order.
struct Picked {
    after: Option<Key>,
    keys: [Key; PICKED],
    len: usize,
}

impl Picked {
    fn after(after: Option<Key>) -> Self {
        Self { after, keys: [Key::default(); PICKED], len: 0 }
    }

    fn as_slice(&self) -> &[Key] {
        self.keys.get(..self.len).unwrap_or_default()
    }

    fn offer(&mut self, key: Key) {
        if self.after.is_some_and(|bound| !bound.is_before(&key)) {
            return;
        }
        // Into the free place, or that of the last, which falls off; then down to where it belongs.
        if let Some(free) = self.keys.get_mut(self.len) {
            *free = key;
            self.len = self.len.wrapping_add(1); // at most PICKED
        } else if let Some(last) = self.keys.last_mut().filter(|last| key.is_before(last)) {
            *last = key;
        } else {
            return;
        }
        let mut end = self.len;
        while let Some([.., before, here]) = self.keys.get_mut(..end)
            && here.is_before(before)
        {
            core::mem::swap(before, here);
            end = end.saturating_sub(1);
        }
    }
}
