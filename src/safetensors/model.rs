//! A whole file in memory.

use super::entry::Entry;
use super::header::Header;
use super::metadata::Metadata;
use super::options::ParseOptions;
use super::walk::Entries;
use crate::cursor::{len_u64, range};
use crate::error::Error;
use crate::index::sealed::Directory;
use crate::index::{Index, Slot};
use crate::shape::Dims;
use crate::text::Text;
use crate::view::TensorView;

/// A safetensors file in memory, proven whole and sound.
///
/// It is `Copy`, and all that it hands out borrows from the file's bytes, not from it.
///
/// ```
/// # let mut bytes = b"\x48\0\0\0\0\0\0\0".to_vec();
/// # bytes.extend(br#"{"fc1.bias":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}           "#);
/// # bytes.extend([0; 8]);
/// use weightview::{Dtype, SafeTensors};
///
/// let model = SafeTensors::parse(&bytes)?;
/// for tensor in model.tensors() {
///     println!("{} {} {:?}", tensor.name(), tensor.dtype(), tensor.shape());
/// }
/// let bias = model.tensor("fc1.bias")?;
/// assert_eq!(bias.dtype(), Dtype::F32);
/// assert_eq!(bias.shape(), [2]);
/// assert_eq!(bias.data().len(), 8);
/// # Ok::<(), weightview::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SafeTensors<'a> {
    header: Header<'a>,
    /// The data section.
    data: &'a [u8],
}

impl<'a> SafeTensors<'a> {
    /// Proves `bytes`, a whole file, sound. Everything is checked here; nothing is allocated for headers in a
    /// usual order (see [`ParseOptions::heap`]).
    ///
    /// # Errors
    /// All that [`Header::parse`] finds; a file that is shorter or longer than its header implies; and, on
    /// hosts below 64 bits, a dim that does not fit `usize` ([`TooLargeForHost`](crate::error::ErrorKind::TooLargeForHost), which only a
    /// tensor without elements can have in a file that fits memory; [`Header`] reads such a file too).
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        ParseOptions::default().parse(bytes)
    }

    pub(super) fn new(header: Header<'a>, bytes: &'a [u8]) -> Result<Self, Error> {
        header.check_file_len(len_u64(bytes.len()))?;
        header.check_host()?;
        let data = range(bytes, header.data_start(), header.file_len()).unwrap_or_default(); // it is there
        Ok(Self { header, data })
    }

    /// What the head of the file says.
    #[must_use]
    pub const fn header(&self) -> Header<'a> {
        self.header
    }

    /// How many tensors the file has.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.header.len()
    }

    /// Whether the file has no tensors.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.header.is_empty()
    }

    /// The tensors, in header order.
    #[must_use]
    pub fn tensors(&self) -> Views<'a> {
        Views { entries: self.header.entries(), data: self.data, left: self.len() }
    }

    /// The tensor of that name, by scanning the header: right for a few look-ups. For many, see
    /// [`index_in`](Self::index_in), and `index` with the feature `alloc`.
    ///
    /// # Errors
    /// [`NotFound`](crate::error::ErrorKind::NotFound).
    pub fn tensor(&self, name: &str) -> Result<TensorView<'a>, Error> {
        self.item_at(self.header.position(name)?, name.into())
    }

    /// The strings of `__metadata__`.
    #[must_use]
    pub fn metadata(&self) -> Metadata<'a> {
        self.header.metadata()
    }

    /// Where the data section starts in the file: `8 + N`.
    #[must_use]
    pub const fn data_start(&self) -> u64 {
        self.header.data_start()
    }

    /// An index in memory that the caller gives: see [`Header::index_in`].
    ///
    /// # Errors
    /// [`TooFewSlots`](crate::error::ErrorKind::TooFewSlots).
    pub fn index_in<'s>(&self, slots: &'s mut [Slot]) -> Result<Index<Self, &'s [Slot]>, Error> {
        Index::build_in(*self, slots)
    }

    /// An index in memory of its own: one allocation of 16 bytes a tensor.
    ///
    /// ```
    /// # let bytes = b"\x02\0\0\0\0\0\0\0{}";
    /// let index = weightview::SafeTensors::parse(bytes)?.index();
    /// assert!(index.tensor("fc1.weight").is_err());
    /// # Ok::<(), weightview::Error>(())
    /// ```
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn index(&self) -> Index<Self, alloc::boxed::Box<[Slot]>> {
        Index::build(*self)
    }
}

/// The view of a tensor of a file that was proven whole, and to fit this host.
fn view<'a>(entry: &Entry<'a>, data: &'a [u8]) -> TensorView<'a> {
    let data = range(data, entry.begin, entry.end).unwrap_or_default();
    TensorView::new(entry.name, entry.dtype, Dims::from_file(&entry.dims), data)
}

impl<'a> Directory for SafeTensors<'a> {
    type Item = TensorView<'a>;

    fn len(&self) -> usize {
        self.header.len()
    }

    fn names(&self) -> impl Iterator<Item = (u64, Text<'_>)> {
        self.header.names()
    }

    fn name_at(&self, position: u64) -> Text<'_> {
        self.header.name_at(position)
    }

    fn item_at(&self, position: u64, name: Text<'_>) -> Result<TensorView<'a>, Error> {
        let mut entry = Entry::empty();
        self.header.entry_at(position, name, &mut entry)?;
        Ok(view(&entry, self.data))
    }
}

/// The tensors of a file, in header order.
#[derive(Clone)]
pub struct Views<'a> {
    entries: Entries<'a>,
    data: &'a [u8],
    left: usize,
}

impl<'a> Iterator for Views<'a> {
    type Item = TensorView<'a>;

    fn next(&mut self) -> Option<TensorView<'a>> {
        let mut entry = Entry::empty();
        if !self.entries.next(&mut entry) {
            return None;
        }
        self.left = self.left.saturating_sub(1);
        Some(view(&entry, self.data))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Views<'_> {}
impl core::iter::FusedIterator for Views<'_> {}
