//! Look-up by name in O(log n), in memory that the caller gives or in its own.

use core::fmt;

use crate::cursor::len_u64;
use crate::error::{Error, ErrorKind};
use crate::text::Text;

/// A place in an [`Index`]: a name's hash, and where in the file's head the name stands. 16 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    hash: u64,
    position: u64,
}

/// What can be indexed: tensors that stand, by name, at positions of a file's head.
pub trait Directory: sealed::Directory {}

impl<D: sealed::Directory> Directory for D {}

/// An index of a file's tensors: look-ups are a binary search over plain integers that touches a name only
/// where hashes meet. Equal hashes are told apart by name, so no chosen set of names makes it slow.
///
/// Made by `index()` or `index_in()` of a [`Header`](crate::safetensors::Header) or of
/// [`SafeTensors`](crate::SafeTensors).
#[derive(Clone, Copy)]
pub struct Index<D, S> {
    directory: D,
    /// Sorted by hash, then by name.
    slots: S,
}

impl<'s, D: Directory> Index<D, &'s [Slot]> {
    pub(crate) fn build_in(directory: D, slots: &'s mut [Slot]) -> Result<Self, Error> {
        let (needed, given) = (directory.len(), slots.len());
        let too_few = Error::call(ErrorKind::TooFewSlots { needed: len_u64(needed), given: len_u64(given) });
        let slots = slots.get_mut(..needed).ok_or(too_few)?;
        for (slot, (position, name)) in slots.iter_mut().zip(directory.names()) {
            *slot = Slot { hash: name.hash64(), position };
        }
        sort(&directory, slots);
        Ok(Self { directory, slots })
    }
}

#[cfg(feature = "alloc")]
impl<D: Directory> Index<D, alloc::boxed::Box<[Slot]>> {
    pub(crate) fn build(directory: D) -> Self {
        let mut slots = alloc::vec::Vec::with_capacity(directory.len()); // tensors that were seen, not declared
        slots.extend(directory.names().map(|(position, name)| Slot { hash: name.hash64(), position }));
        let mut slots = slots.into_boxed_slice();
        sort(&directory, &mut slots);
        Self { directory, slots }
    }
}

impl<D: Directory, S: AsRef<[Slot]>> Index<D, S> {
    /// The tensor of that name.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`].
    pub fn tensor(&self, name: &str) -> Result<D::Item, Error> {
        let name = Text::from(name);
        let hash = name.hash64();
        let slots = self.slots.as_ref();
        let start = slots.partition_point(|slot| slot.hash < hash);
        // Nearly always one slot, or none, has the hash; those that share it stand in the order of names.
        let equal = match slots.get(start..).unwrap_or_default() {
            [slot, next, ..] if next.hash != hash => core::slice::from_ref(slot),
            tail => tail.get(..tail.partition_point(|slot| slot.hash == hash)).unwrap_or_default(),
        };
        let place = match equal {
            [_] => 0,
            _ => equal.partition_point(|slot| self.directory.name_at(slot.position) < name),
        };
        let slot = equal.get(place).ok_or(Error::call(ErrorKind::NotFound))?;
        self.directory.item_at(slot.position, name)
    }

    /// How many tensors the index holds: all of the file.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.as_ref().len()
    }

    /// Whether the file has no tensors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.as_ref().is_empty()
    }
}

impl<D, S: AsRef<[Slot]>> fmt::Debug for Index<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index").field("len", &self.slots.as_ref().len()).finish_non_exhaustive()
    }
}

/// By hash first, over plain integers; then by name where hashes meet.
fn sort<D: Directory>(directory: &D, slots: &mut [Slot]) {
    slots.sort_unstable_by_key(|slot| slot.hash);
    for equal in slots.chunk_by_mut(|a, b| a.hash == b.hash).filter(|equal| equal.len() > 1) {
        equal.sort_unstable_by(|a, b| directory.name_at(a.position).cmp(&directory.name_at(b.position)));
    }
}

pub(crate) mod sealed {
    use crate::error::Error;
    use crate::text::Text;

    /// See [`super::Directory`].
    pub trait Directory {
        /// What a look-up gives.
        type Item;

        /// How many tensors there are.
        fn len(&self) -> usize;

        /// The position and name of each tensor, each name once.
        fn names(&self) -> impl Iterator<Item = (u64, Text<'_>)>;

        /// The name at a position.
        fn name_at(&self, position: u64) -> Text<'_>;

        /// The tensor at a position that `names` gave, if it has this name.
        fn item_at(&self, position: u64, name: Text<'_>) -> Result<Self::Item, Error>;
    }
}
