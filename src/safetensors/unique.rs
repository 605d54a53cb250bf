//! Duplicate names: found however they are spelt, without a heap if need be.
//!
//! Writers sort names within a dtype, so most headers are a few ascending runs. A run holds no name twice, and
//! each is held against the runs before it as it is read, by going through them again in step: no memory, no
//! hashing. Names in no order are hashed as they are read: into a list that is sorted, where the header is large
//! and there is a heap; else into a Bloom filter in fixed memory, which proves nearly every name new, and what
//! it suspects is looked for in a second pass. Equal hashes alone decide nothing: names do.
//!
//! Builds without a heap have little stack too. They look only whether all names ascend as the header is read, and
//! filter the others in a pass of their own, when what reading needs is gone from the stack.

use core::cmp::Ordering;

use super::TYPICAL_ENTRY;
use super::heap::{Buffer, Eager, RUNS, SIEVE_WORDS};
use super::walk::Keys;
use crate::text::Text;

/// Bits that a name sets in the sieve: one for each slice of its hash.
const PROBES: u32 = 4;

/// Bits of the sieve, as a power of two; 4 slices of up to 16 bits make a hash.
const SIEVE: u32 = SIEVE_WORDS.ilog2().wrapping_add(u64::BITS.ilog2());

/// Names that go into the sieve at once: so few that hardly one is suspected by chance.
const GROUP: usize = SIEVE_WORDS.saturating_mul(4);

/// Suspects that are remembered before they are looked into.
const SUSPECTS: usize = 32;

/// Whether a name stands twice.
pub(super) enum Verdict {
    /// None does.
    Unique,
    /// This one does: where it stands first, and where again.
    Twice((usize, usize)),
    /// Perhaps; [`first_repeat`] knows.
    Open,
}

/// The names seen so far, in header order.
pub(super) struct Names<'a> {
    /// All keys of the header, from its start.
    keys: Keys<'a>,
    last: Option<Text<'a>>,
    /// The runs before the one that is read, the first `earlier_len` of them, each as far as its names are below `last`.
    earlier: [Run<'a>; RUNS - 1],
    earlier_len: usize,
    /// The runs could not prove it: there are too many, or they have a name in common.
    unsure: bool,
    /// Once there are too many runs: the hashes of all names, where there may be a heap,
    hashes: Option<Buffer<u64>>,
    may_spill: bool,
    /// and else this.
    sieve: Option<Eager<Sieve>>,
}

impl<'a> Names<'a> {
    pub(super) fn new(text: &'a str, may_spill: bool) -> Self {
        let keys = Keys::new(text, 0, false);
        let run = Run { keys, end: 0, head: None };
        Self {
            keys,
            last: None,
            earlier: [run; RUNS - 1],
            earlier_len: 0,
            unsure: false,
            hashes: None,
            may_spill,
            sieve: None,
        }
    }

    /// Takes the next tensor's name, which stands at `at`. `canonical`: whether all entries before it are.
    pub(super) fn push(&mut self, at: usize, name: Text<'a>, canonical: bool) {
        if self.unsure {
            self.take_hash(name, at);
            return;
        }
        if self.last.is_some_and(|last| last >= name) && !self.start_run(at, canonical) {
            self.unsure = true;
            self.take_hashes_to(at);
            return;
        }
        self.last = Some(name);
        if let Some(earlier) = self.earlier.get_mut(..self.earlier_len) {
            self.unsure = !earlier.iter_mut().all(|run| run.pass(name));
        }
    }

    /// What is known after the last name. `keys` are those of the whole header.
    pub(super) fn judge(&mut self, keys: Keys<'a>) -> Verdict {
        if let Some(hashes) = &mut self.hashes {
            let hashes = hashes.as_mut_slice();
            hashes.sort_unstable();
            return if hashes.is_sorted_by(|a, b| a < b) { Verdict::Unique } else { Verdict::Open };
        }
        match &self.sieve {
            Some(sieve) => sieve.get().repeat(keys).map_or(Verdict::Unique, Verdict::Twice),
            None if self.unsure => Verdict::Open,
            None => Verdict::Unique,
        }
    }

    /// Takes the hash of a name in no order.
    fn take_hash(&mut self, name: Text<'a>, at: usize) {
        if let Some(hashes) = &mut self.hashes {
            if !hashes.push(name.hash64()) {
                self.hashes = None;
            }
        } else if let Some(sieve) = &mut self.sieve
            && !sieve.get_mut().offer(name.hash64(), at)
        {
            self.sieve = None;
        }
    }

    /// Takes the hashes of all names up to and with the one at `at`. Where names are in no order, that is soon.
    fn take_hashes_to(&mut self, at: usize) {
        if self.may_spill {
            self.hashes = Buffer::new(self.keys.text_len() / TYPICAL_ENTRY);
        } else {
            self.sieve = Eager::new(Sieve::new);
        }
        if self.hashes.is_none() && self.sieve.is_none() {
            return;
        }
        let mut keys = self.keys;
        while let Some((key_at, key)) = keys.next_tensor() {
            self.take_hash(key, key_at);
            if key_at == at {
                return;
            }
        }
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
///
/// A function of its own, so that its memory is on the stack only while it is needed.
#[inline(never)]
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
    let mut slots = Buffer::new(keys.text_len() / TYPICAL_ENTRY)?;
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
    let mut sieve = Sieve::new();
    let mut found: Option<(usize, usize)> = None;
    for (at, key) in keys {
        let hash = key.hash64();
        // The high half of a hash, mixed so that it is independent of the sieve's slices, scaled to 0..groups.
        let mixed = hash.wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 32;
        let in_group = (mixed.wrapping_mul(groups as u64) >> 32) as usize == group;
        if in_group && !sieve.offer(hash, at) {
            found = earlier(found, sieve.repeat(keys));
            sieve.len = 0;
            sieve.suspect(hash, at);
        }
    }
    earlier(found, sieve.repeat(keys))
}

fn earlier(a: Option<(usize, usize)>, b: Option<(usize, usize)>) -> Option<(usize, usize)> {
    a.into_iter().chain(b).min_by_key(|repeat| repeat.1)
}

/// A Bloom filter over hashes, and the keys that it could not tell from earlier ones: all repeats are among
/// them.
struct Sieve {
    bits: [u64; SIEVE_WORDS],
    /// Hashes of the suspects, and where each stands. Two lists, since pairs would not be all zero bytes: they would be
    /// made elsewhere on the stack, and copied.
    hashes: [u64; SUSPECTS],
    places: [usize; SUSPECTS],
    len: usize,
}

impl Sieve {
    fn new() -> Self {
        Self { bits: [0; SIEVE_WORDS], hashes: [0; SUSPECTS], places: [0; SUSPECTS], len: 0 }
    }

    /// Takes a key; false when it is one suspect too many.
    #[must_use]
    fn offer(&mut self, hash: u64, at: usize) -> bool {
        let mut known = true;
        for probe in 0..PROBES {
            let bit = hash >> probe.wrapping_mul(16) & (1u64 << SIEVE).wrapping_sub(1);
            if let Some(word) = self.bits.get_mut((bit >> 6) as usize) {
                known &= *word >> (bit & 63) & 1 == 1;
                *word |= 1 << (bit & 63);
            }
        }
        !known || self.suspect(hash, at)
    }

    fn suspect(&mut self, hash: u64, at: usize) -> bool {
        let (Some(free), Some(place)) = (self.hashes.get_mut(self.len), self.places.get_mut(self.len)) else {
            return false;
        };
        (*free, *place) = (hash, at);
        self.len = self.len.wrapping_add(1); // below SUSPECTS
        true
    }

    /// Looks through the keys again for one that stands before a suspect and has its name.
    fn repeat(&self, keys: Keys<'_>) -> Option<(usize, usize)> {
        // Nearly always a few, if any. They came in the order of the keys.
        let places = self.places.get(..self.len)?;
        let last = *places.last()?;
        let mut found = None;
        for (at, key) in keys.take_while(|&(at, _)| at < last) {
            let hash = key.hash64();
            for (&suspect, &again) in self.hashes.iter().zip(places) {
                let better = found.is_none_or(|(first, repeat)| (again, at) < (repeat, first));
                if suspect == hash && at < again && better && key == keys.key_at(again) {
                    found = Some((at, again));
                }
            }
        }
        found
    }
}
