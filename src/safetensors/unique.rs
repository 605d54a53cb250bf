//! Duplicate names: found however they are spelt, without a heap if need be.
//!
//! Writers sort names within a dtype, so most headers are a few ascending runs. A run holds no name twice, and
//! each is held against the runs before it as it is read, by going through them again in step: no memory, no
//! hashing. Names in no order are hashed: in
//! the pass that reads the header, and sorted, where there is a heap; else group by group into a fixed bitmap,
//! which proves most names unique, and what collides is compared for real. Equal hashes alone decide nothing.

use core::cmp::Ordering;

use super::heap::Buffer;
use super::walk::Keys;
use crate::text::Text;

/// Ascending runs that are held against each other.
const RUNS: usize = 6;

/// Bits of the bitmap.
const BITS: usize = 4096;

/// Names that go into the bitmap at once: few enough that about 18 of them collide by chance.
const GROUP: usize = 384;

/// Collisions that are remembered before they are looked into.
const SUSPECTS: usize = 32;

/// The names seen so far, in header order.
pub(super) struct Names<'a> {
    /// All keys of the header, from its start.
    keys: Keys<'a>,
    last: Option<Text<'a>>,
    /// The runs before it, the first `earlier_len` of them, each as far as its names are below `last`.
    earlier: [Run<'a>; RUNS - 1],
    earlier_len: usize,
    /// The runs could not prove it: there are too many, or they have a name in common.
    unsure: bool,
    /// The hashes of all names, once there are too many runs.
    hashes: Option<Buffer<u64>>,
    may_spill: bool,
}

impl<'a> Names<'a> {
    pub(super) fn new(text: &'a str, may_spill: bool) -> Self {
        let keys = Keys::new(text, 0, false);
        let run = Run { keys, end: 0, head: None };
        Self { keys, last: None, earlier: [run; RUNS - 1], earlier_len: 0, unsure: false, hashes: None, may_spill }
    }

    /// Takes the next tensor's name, which stands at `at`. `canonical`: whether all entries before it are.
    pub(super) fn push(&mut self, at: usize, name: Text<'a>, canonical: bool) {
        if self.unsure {
            if let Some(hashes) = &mut self.hashes {
                if !hashes.push(name.hash64()) {
                    self.hashes = None;
                }
            }
            return;
        }
        if self.last.is_some_and(|last| last >= name) && !self.start_run(at, canonical) {
            self.unsure = true;
            if self.may_spill {
                self.hashes = hash_to(self.keys, at);
            }
            return;
        }
        self.last = Some(name);
        if let Some(earlier) = self.earlier.get_mut(..self.earlier_len) {
            self.unsure = !earlier.iter_mut().all(|run| run.pass(name));
        }
    }

    /// Whether all names are proven unique; false when that is not known.
    pub(super) fn prove(mut self) -> bool {
        let Some(hashes) = &mut self.hashes else { return !self.unsure };
        let hashes = hashes.as_mut_slice();
        hashes.sort_unstable();
        hashes.is_sorted_by(|a, b| a < b)
    }

    /// Starts a new run at `at`, which the earlier ones follow from their beginnings. False when there are too
    /// many.
    fn start_run(&mut self, at: usize, canonical: bool) -> bool {
        let Some(free) = self.earlier.get_mut(self.earlier_len) else { return false };
        *free = Run { keys: self.keys, end: at, head: None };
        self.earlier_len = self.earlier_len.wrapping_add(1); // at most RUNS - 1
        let mut start = None;
        for run in self.earlier.iter_mut().take(self.earlier_len) {
            let from = start.replace(run.end).unwrap_or(0);
            run.keys = self.keys.from(from, canonical);
            run.advance();
        }
        true
    }
}

/// The hashes of the names up to and with the one at `at`.
fn hash_to(keys: Keys<'_>, at: usize) -> Option<Buffer<u64>> {
    let mut hashes = Buffer::new()?;
    let mut keys = keys;
    while let Some((key_at, key)) = keys.next_tensor() {
        if !hashes.push(key.hash64()) {
            return None;
        }
        if key_at == at {
            break;
        }
    }
    Some(hashes)
}

/// An ascending run of names that was read before.
#[derive(Clone, Copy)]
struct Run<'a> {
    keys: Keys<'a>,
    /// Where the next run starts.
    end: usize,
    /// The name that was not passed yet; none at the end.
    head: Option<Text<'a>>,
}

impl<'a> Run<'a> {
    /// Goes to the next name.
    fn advance(&mut self) {
        let next = self.keys.next_tensor().filter(|&(at, _)| at < self.end);
        self.head = next.map(|(_, name)| name);
    }

    /// Passes all names below `name`; false when the run holds `name` itself.
    fn pass(&mut self, name: Text<'a>) -> bool {
        while let Some(head) = self.head {
            match head.cmp(&name) {
                Ordering::Less => self.advance(),
                Ordering::Equal => return false,
                Ordering::Greater => return true,
            }
        }
        true
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
