//! Duplicate names: found however they are spelt, without a heap if need be.
//!
//! Writers sort names within a dtype, so most headers are a few ascending runs. A run holds no name twice, and
//! runs are held against each other by merging them: no memory, no hashing. Names in no order are hashed: in
//! the pass that reads the header, and sorted, where there is a heap; else group by group into a fixed bitmap,
//! which proves most names unique, and what collides is compared for real. Equal hashes alone decide nothing.

use super::heap::Buffer;
use super::walk::Keys;
use crate::text::Text;

/// Ascending runs that are merged.
const RUNS: usize = 6;

/// Bits of the bitmap.
const BITS: usize = 4096;

/// Names that go into the bitmap at once: few enough that about 18 of them collide by chance.
const GROUP: usize = 384;

/// Collisions that are remembered before they are looked into.
const SUSPECTS: usize = 32;

/// The names seen so far, in header order.
pub(super) struct Names<'a> {
    keys: Keys<'a>,
    last: Option<Text<'a>>,
    /// Where each run but the first starts.
    starts: [usize; RUNS],
    runs: usize,
    /// The hashes of all names, once there are too many runs.
    hashes: Option<Buffer<u64>>,
    may_spill: bool,
}

impl<'a> Names<'a> {
    /// `keys` are those of the same object, from its start.
    pub(super) fn new(keys: Keys<'a>, may_spill: bool) -> Self {
        Self { keys, last: None, starts: [0; RUNS], runs: 0, hashes: None, may_spill }
    }

    /// Takes the next name, which stands at `at`.
    pub(super) fn push(&mut self, at: usize, name: Text<'a>) {
        if let Some(hashes) = &mut self.hashes {
            if !hashes.push(name.hash64()) {
                self.hashes = None;
                self.may_spill = false;
            }
            return;
        }
        if self.last.is_none_or(|last| last >= name) {
            if let Some(slot) = self.starts.get_mut(self.runs) {
                *slot = at;
            } else if self.may_spill {
                self.spill(at);
            }
            self.runs = self.runs.saturating_add(1);
        }
        self.last = Some(name);
    }

    /// Whether all names are proven unique; false when that is not known. `canonical`: see [`Keys`].
    pub(super) fn prove(mut self, keys: Keys<'a>) -> bool {
        if let Some(hashes) = &mut self.hashes {
            let hashes = hashes.as_mut_slice();
            hashes.sort_unstable();
            return hashes.is_sorted_by(|a, b| a < b);
        }
        match self.starts.get(..self.runs) {
            None => false,
            Some([] | [_]) => true,
            Some(starts) => merge(keys, starts),
        }
    }

    /// Hashes the names up to and with the one at `at`; from then on they are hashed as they come.
    fn spill(&mut self, at: usize) {
        self.hashes = Buffer::new();
        self.may_spill = false;
        for (key_at, key) in self.keys {
            let Some(hashes) = &mut self.hashes else { return };
            if !hashes.push(key.hash64()) {
                self.hashes = None;
            }
            if key_at == at {
                return;
            }
        }
    }
}

/// Whether runs of ascending names, which start at these places, have no name in common.
fn merge(keys: Keys<'_>, starts: &[usize]) -> bool {
    let mut runs = [None; RUNS];
    for (index, (run, &start)) in runs.iter_mut().zip(starts).enumerate() {
        let end = index.checked_add(1).and_then(|next| starts.get(next)).copied().unwrap_or(usize::MAX);
        *run = Run { keys: keys.resume(start), end, head: None }.advance();
    }
    let Some(runs) = runs.get_mut(..starts.len()) else { return false };
    loop {
        // The least head; a tie is a duplicate.
        let mut least: Option<(usize, Text<'_>)> = None;
        for (index, run) in runs.iter().enumerate() {
            let Some(head) = run.as_ref().and_then(|run| run.head) else { continue };
            match least.map(|(_, name)| head.cmp(&name)) {
                Some(core::cmp::Ordering::Equal) => return false,
                Some(core::cmp::Ordering::Greater) => {}
                _ => least = Some((index, head)),
            }
        }
        let Some((index, _)) = least else { return true };
        if let Some(run) = runs.get_mut(index) {
            *run = run.take().and_then(Run::advance);
        }
    }
}

/// An ascending run of names that is being merged.
#[derive(Clone, Copy)]
struct Run<'a> {
    keys: Keys<'a>,
    /// Where the next run starts.
    end: usize,
    head: Option<Text<'a>>,
}

impl Run<'_> {
    /// Goes to the next name of the run; `None` when it is over.
    fn advance(mut self) -> Option<Self> {
        let (at, name) = self.keys.next_tensor()?;
        self.head = Some(name);
        (at < self.end).then_some(self)
    }
}

/// The exact answer, for keys in any order: where the first key stands that stood before, and where it stood
/// first. `count` is about how many keys there are.
pub(super) fn first_repeat(keys: Keys<'_>, count: usize, heap: bool) -> Option<(usize, usize)> {
    let sorted = if heap { sort(keys) } else { None };
    match sorted {
        Some(mut slots) => repeat_in_sorted(keys, slots.as_mut_slice()),
        None => {
            let groups = count.div_ceil(GROUP).max(1);
            (0..groups).filter_map(|group| repeat_in_group(keys, group, groups)).min_by_key(|repeat| repeat.1)
        }
    }
}

/// A name's hash, and where it stands.
type Slot = (u64, usize);

fn sort(keys: Keys<'_>) -> Option<Buffer<Slot>> {
    let mut slots = Buffer::new()?;
    if !{ keys }.all(|(at, key)| slots.push((key.hash64(), at))) {
        return None;
    }
    // Names decide between equal hashes, so that no chosen set of names makes this slow.
    slots.as_mut_slice().sort_unstable_by(|a, b| {
        a.0.cmp(&b.0).then_with(|| keys.key_at(a.1).cmp(&keys.key_at(b.1))).then_with(|| a.1.cmp(&b.1))
    });
    Some(slots)
}

fn repeat_in_sorted(keys: Keys<'_>, slots: &[Slot]) -> Option<(usize, usize)> {
    let same = |a: &Slot, b: &Slot| a.0 == b.0 && keys.key_at(a.1) == keys.key_at(b.1);
    let repeats = slots.chunk_by(same).filter_map(|equal| match equal {
        [first, again, ..] => Some((first.1, again.1)),
        _ => None,
    });
    repeats.min_by_key(|repeat| repeat.1)
}

/// The first repeat among the keys whose hash falls in one of `groups` equal parts.
fn repeat_in_group(keys: Keys<'_>, group: usize, groups: usize) -> Option<(usize, usize)> {
    let in_group = |&(_, hash): &(usize, u64)| {
        // The high half of the hash, scaled to 0..groups; the low half indexes the bitmap.
        ((hash >> 32).wrapping_mul(groups as u64) >> 32) as usize == group
    };
    let hashed = || keys.map(|(at, key)| (at, key.hash64())).filter(in_group);

    let mut seen = [0u64; BITS / 64];
    let mut suspects = Suspects { slots: [(0, 0); SUSPECTS], len: 0 };
    let mut found: Option<(usize, usize)> = None;
    for (at, hash) in hashed() {
        let Some(word) = seen.get_mut(hash as usize / 64 % (BITS / 64)) else { continue };
        let bit = 1 << (hash % 64);
        if *word & bit != 0 && !suspects.push((hash, at)) {
            found = earlier(found, suspects.repeat(keys, hashed()));
            suspects.len = 0;
            suspects.push((hash, at));
        }
        *word |= bit;
    }
    earlier(found, suspects.repeat(keys, hashed()))
}

fn earlier(a: Option<(usize, usize)>, b: Option<(usize, usize)>) -> Option<(usize, usize)> {
    a.into_iter().chain(b).min_by_key(|repeat| repeat.1)
}

/// Keys whose bit was taken when they came.
struct Suspects {
    slots: [Slot; SUSPECTS],
    len: usize,
}

impl Suspects {
    fn push(&mut self, slot: Slot) -> bool {
        let Some(free) = self.slots.get_mut(self.len) else { return false };
        *free = slot;
        self.len = self.len.wrapping_add(1); // below SUSPECTS
        true
    }

    /// Looks through the same keys again for one that stands before a suspect and has its name.
    fn repeat(&mut self, keys: Keys<'_>, hashed: impl Iterator<Item = (usize, u64)>) -> Option<(usize, usize)> {
        let slots = self.slots.get_mut(..self.len)?;
        slots.sort_unstable();
        let last = slots.iter().map(|slot| slot.1).max()?;
        let mut found = None;
        for (at, hash) in hashed.take_while(|&(at, _)| at < last) {
            let start = slots.partition_point(|slot| slot.0 < hash);
            for &(_, again) in slots.get(start..)?.iter().take_while(|slot| slot.0 == hash) {
                let better = found.is_none_or(|(first, repeat)| (again, at) < (repeat, first));
                if at < again && better && keys.key_at(at) == keys.key_at(again) {
                    found = Some((at, again));
                }
            }
        }
        found
    }
}
