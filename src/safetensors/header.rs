//! The head of a file: everything it says, proven, without the data.

use super::entry::Entry;
use super::metadata::{self, Metadata};
use super::options::ParseOptions;
use super::tiling::{self, Tiling};
use super::unique::{self, Names, Verdict};
use super::walk::{self, Entries, Keys, Member, Walk};
use super::{LEN_FIELD, METADATA, TYPICAL_ENTRY};
use crate::cursor::{len_u64, split_u64};
use crate::error::{Error, ErrorKind};
use crate::fault::{Fault, Reason};
use crate::index::sealed::Directory;
use crate::index::{Index, Slot};
use crate::text::Text;
use crate::view::TensorInfo;

/// Headers up to this length are checked without a heap whatever the order of their names.
const SMALL: usize = 128 * 1024;

/// The header of a safetensors file, proven sound.
///
/// It needs no data: only the first `8 + N` bytes of the file, where `N` is [`header_len`](super::header_len)
/// of the first 8. It then says where each tensor lies in the file and how long the file must be. This is the
/// door for range requests, `File.slice` in a browser, SPI flash and `pread`.
///
/// ```
/// use weightview::safetensors::{Header, header_len};
/// # fn fetch(range: core::ops::Range<u64>) -> Vec<u8> {
/// #     let mut file = b"\x48\0\0\0\0\0\0\0".to_vec();
/// #     file.extend(br#"{"bias":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}               "#);
/// #     file.extend([0; 8]);
/// #     file[range.start as usize..range.end as usize].to_vec()
/// # }
/// let first: [u8; 8] = fetch(0..8).try_into().unwrap();
/// let head = fetch(0..8 + header_len(&first)?);
///
/// let header = Header::parse(&head)?;
/// let bias = header.tensor("bias")?;
/// assert_eq!(bias.shape(), [2]);
/// let data = fetch(bias.file_range());
/// assert_eq!(data.len(), 8);
/// assert_eq!(header.file_len(), 8 + 72 + 8);
/// # Ok::<(), weightview::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct Header<'a> {
    pub(super) text: &'a str,
    pub(super) tensors: usize,
    pub(super) data_len: u64,
    /// Where the value of `__metadata__` stands in `text`, when that is an object.
    pub(super) metadata: Option<usize>,
    /// Every entry is written canonically.
    pub(super) canonical: bool,
}

/// Proves the head of a file.
pub(super) fn parse<'a>(prefix: &'a [u8], options: &ParseOptions) -> Result<Header<'a>, Error> {
    let actual = len_u64(prefix.len());
    let (len, rest) = split_u64(prefix).ok_or(Error::at(0, ErrorKind::FileTooShort { actual }))?;
    let len = checked_len(len, options)?;
    let cut = Error::at(actual, ErrorKind::HeaderCut { expected: LEN_FIELD.saturating_add(len), actual });
    let text = usize::try_from(len).ok().and_then(|len| rest.get(..len)).ok_or(cut)?;
    let text = core::str::from_utf8(text)
        .map_err(|error| Error::at(LEN_FIELD.saturating_add(len_u64(error.valid_up_to())), ErrorKind::NotUtf8))?;
    read(text, options)
}

/// The header's length, if it is within the limit.
pub(super) fn checked_len(len: u64, options: &ParseOptions) -> Result<u64, Error> {
    let limit = options.max_header_len;
    if len > limit {
        return Err(Error::at(0, ErrorKind::HeaderTooLong { len, limit }));
    }
    Ok(len)
}

/// Proves the text: first each entry in header order, then that the tensors tile the data section, then that
/// no name stands twice. Each fault is the first of its kind, whatever the build.
pub(super) fn read<'a>(text: &'a str, options: &ParseOptions) -> Result<Header<'a>, Error> {
    let mut header = Header { text, tensors: 0, data_len: 0, metadata: None, canonical: true };
    let mut unordered = 0;
    let proof = pass(&mut header, &mut unordered, options);
    // What the pass left open, in the order in which the faults stand.
    if let Some(at) = header.metadata.filter(|_| unordered > 0)
        && let Some((first, again)) = super::first_repeat(text, at, unordered, options)
    {
        return Err(Error::at(offset(again), ErrorKind::DuplicateMetadataKey { first: offset(first) }));
    }
    let proof = proof?;
    if !proof.tiles
        && let Some(fault) = tiling::first_fault(text, options.heap)
    {
        return Err(fault);
    }
    let repeat = match proof.names {
        Verdict::Unique => None,
        Verdict::Twice(repeat) => Some(repeat),
        Verdict::Open => unique::first_repeat(header.keys(), header.tensors, options.heap),
    };
    if let Some((first, again)) = repeat {
        return Err(Error::at(offset(again), ErrorKind::DuplicateName { first: offset(first) }));
    }
    if header.data_start().checked_add(header.data_len).is_none() {
        let last = header.find(&|entry| (entry.end == header.data_len).then_some(entry.offsets_at));
        return Err(Error::at(last.map_or(0, offset), ErrorKind::FileLenOverflow));
    }
    Ok(header)
}

/// What one pass over a header proves of it as a whole.
struct Proof {
    /// The tensors tile the data section; false when that is not known.
    tiles: bool,
    names: Verdict,
}

/// Proves each member of the header, and fills in what it adds up to. `unordered` becomes the number of keys of
/// `__metadata__`, when those are in no order and may stand twice.
///
/// A function of its own, so that its memory is not on the stack while what it leaves open is proven.
#[inline(never)]
fn pass(header: &mut Header<'_>, unordered: &mut usize, options: &ParseOptions) -> Result<Proof, Error> {
    let text = header.text;
    let mut entry = Entry::empty();
    members(header, unordered, options, &mut entry).map_err(|fault| error(fault, text, &entry, options))
}

fn members<'a>(
    header: &mut Header<'a>,
    unordered: &mut usize,
    options: &ParseOptions,
    entry: &mut Entry<'a>,
) -> Result<Proof, Fault> {
    let text = header.text;
    let rules = options.rules();
    let mut walk = Walk::open(text, rules)?;
    let mut tiling = Tiling::new(options.heap.then_some(text.len() / TYPICAL_ENTRY));
    let mut names = Names::new(text, options.heap && text.len() > SMALL);
    let mut has_metadata = false;
    while let Some(member) = walk.next(entry)? {
        match member {
            Member::Tensor { canonical } => {
                if len_u64(header.tensors) >= options.max_tensors {
                    return Err(Fault { at: entry.at, reason: Reason::TooManyTensors });
                }
                header.tensors = header.tensors.saturating_add(1);
                tiling.push(entry.begin, entry.end);
                names.push(entry.at, entry.name, header.canonical);
                header.canonical &= canonical;
            }
            Member::Metadata { at } => {
                if core::mem::replace(&mut has_metadata, true) {
                    return Err(Fault { at, reason: Reason::DuplicateMetadata });
                }
                (header.metadata, *unordered) = metadata::read(walk.scanner(), rules.max_nesting)?;
            }
        }
    }
    walk.finish()?;
    header.data_len = tiling.end();
    Ok(Proof { tiles: tiling.prove(), names: names.judge(header.keys()) })
}

/// The error of a fault that a pass found; `entry` is the last it read.
fn error(fault: Fault, text: &str, entry: &Entry<'_>, options: &ParseOptions) -> Error {
    let numbers = match fault.reason {
        Reason::OffsetsReversed | Reason::SizeMismatch | Reason::PartialByte => entry.fault().1,
        Reason::TooManyTensors => (options.max_tensors, 0),
        _ => (fault.json_number(text, options.nesting()), 0),
    };
    fault.error(LEN_FIELD, numbers)
}

/// A place in the header's text as a byte of the file.
fn offset(at: usize) -> u64 {
    LEN_FIELD.saturating_add(len_u64(at))
}

impl<'a> Header<'a> {
    /// Reads and proves the header that stands at the head of `prefix`; what follows it is not looked at.
    ///
    /// Allocates nothing for headers in a usual order, whatever their size; see
    /// [`ParseOptions::heap`].
    ///
    /// # Errors
    /// Every fault of the header has a kind of its own and its byte: see [`ErrorKind`]. A prefix that ends
    /// inside the header is [`ErrorKind::HeaderCut`], which says how long it must be.
    pub fn parse(prefix: &'a [u8]) -> Result<Self, Error> {
        ParseOptions::default().parse_header(prefix)
    }

    /// How many tensors the file has.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.tensors
    }

    /// Whether the file has no tensors.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.tensors == 0
    }

    /// The length of the header in bytes: `N`, without the 8 of the length field.
    #[must_use]
    pub const fn header_len(&self) -> u64 {
        self.text.len() as u64
    }

    /// Where the data section starts in the file: `8 + N`.
    #[must_use]
    pub const fn data_start(&self) -> u64 {
        LEN_FIELD.saturating_add(self.header_len())
    }

    /// The length of the data section in bytes.
    #[must_use]
    pub const fn data_len(&self) -> u64 {
        self.data_len
    }

    /// How long the file must be, in bytes.
    #[must_use]
    pub const fn file_len(&self) -> u64 {
        self.data_start().saturating_add(self.data_len)
    }

    /// Holds a file's length against the one that the header implies.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`], whose [offset](Error::offset) is the name of the first tensor that is cut, or
    /// [`ErrorKind::TrailingData`].
    pub fn check_file_len(&self, actual: u64) -> Result<(), Error> {
        let expected = self.file_len();
        if actual > expected {
            return Err(Error::at(expected, ErrorKind::TrailingData { expected, actual }));
        }
        if actual < expected {
            return Err(Error::at(self.first_cut(actual), ErrorKind::Truncated { expected, actual }));
        }
        Ok(())
    }

    /// Where the name stands of the first tensor that a file of this length does not hold to its end.
    #[cold]
    #[inline(never)]
    fn first_cut(&self, file_len: u64) -> u64 {
        let available = file_len.saturating_sub(self.data_start());
        let mut cut = (u64::MAX, file_len);
        self.entries().all(|entry| {
            if entry.end > available {
                cut = cut.min((entry.begin, offset(entry.at)));
            }
            true
        });
        cut.1
    }

    /// The tensors, in header order.
    #[must_use]
    pub fn tensors(&self) -> Tensors<'a> {
        Tensors { entries: self.entries(), data_start: self.data_start(), left: self.tensors }
    }

    /// The tensor of that name, by scanning the header: right for a few look-ups. For many, see
    /// [`index_in`](Self::index_in), and `index` with the feature `alloc`.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`].
    pub fn tensor(&self, name: &str) -> Result<TensorInfo<'a>, Error> {
        self.item_at(self.position(name)?, name.into())
    }

    /// The strings of `__metadata__`; none when the file has no `__metadata__` or it is `null`.
    #[must_use]
    pub fn metadata(&self) -> Metadata<'a> {
        Metadata::new(self.text, self.metadata)
    }

    /// An index in memory that the caller gives: one slot a tensor. It makes every look-up a binary search.
    ///
    /// ```
    /// # let bytes = b"\x02\0\0\0\0\0\0\0{}";
    /// use weightview::{safetensors::Header, Slot};
    ///
    /// let mut slots = [Slot::default(); 64];
    /// let index = Header::parse(bytes)?.index_in(&mut slots)?;
    /// assert!(index.tensor("fc1.weight").is_err());
    /// # Ok::<(), weightview::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::TooFewSlots`].
    pub fn index_in<'s>(&self, slots: &'s mut [Slot]) -> Result<Index<Self, &'s [Slot]>, Error> {
        Index::build_in(*self, slots)
    }

    /// An index in memory of its own: one allocation of 16 bytes a tensor.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn index(&self) -> Index<Self, alloc::boxed::Box<[Slot]>> {
        Index::build(*self)
    }

    /// Whether every dim fits this host's `usize`. Where `usize` has 64 bits there is nothing to look at.
    pub(crate) fn check_host(&self) -> Result<(), Error> {
        if usize::BITS >= u64::BITS {
            return Ok(());
        }
        match self.find(&|entry| (!entry.dims.fit_host()).then_some(entry.at)) {
            Some(at) => Err(Error::at(offset(at), ErrorKind::TooLargeForHost)),
            None => Ok(()),
        }
    }

    /// Fills in the entry whose key stands at `position`, if it has this name.
    pub(super) fn entry_at(&self, position: u64, name: Text<'_>, entry: &mut Entry<'a>) -> Result<(), Error> {
        let at = usize::try_from(position).ok();
        let read = at.and_then(|at| walk::entry_at(self.text, at, entry)).is_some();
        if read && entry.name == name { Ok(()) } else { Err(Error::call(ErrorKind::NotFound)) }
    }

    /// The first place in the text that `place` sees in an entry.
    #[inline(never)]
    fn find(&self, place: &dyn Fn(&Entry<'a>) -> Option<usize>) -> Option<usize> {
        let mut entries = self.entries();
        let mut entry = Entry::empty();
        while entries.next(&mut entry) {
            if let Some(at) = place(&entry) {
                return Some(at);
            }
        }
        None
    }

    pub(super) fn entries(&self) -> Entries<'a> {
        Walk::proven(self.text)
    }

    /// Where the tensor's name stands.
    pub(super) fn position(&self, name: &str) -> Result<u64, Error> {
        let found = self.names().find(|(_, key)| *key == name);
        found.map(|(position, _)| position).ok_or(Error::call(ErrorKind::NotFound))
    }

    fn keys(&self) -> Keys<'a> {
        Keys::new(self.text, 0, self.canonical)
    }
}

impl core::fmt::Debug for Header<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Header")
            .field("tensors", &self.tensors)
            .field("data_start", &self.data_start())
            .field("data_len", &self.data_len)
            .finish_non_exhaustive()
    }
}

impl<'a> Directory for Header<'a> {
    type Item = TensorInfo<'a>;

    fn len(&self) -> usize {
        self.tensors
    }

    fn names(&self) -> impl Iterator<Item = (u64, Text<'_>)> {
        self.keys().filter(|(_, key)| *key != METADATA).map(|(at, key)| (len_u64(at), key))
    }

    fn name_at(&self, position: u64) -> Text<'_> {
        self.keys().key_at(usize::try_from(position).unwrap_or(usize::MAX))
    }

    fn item_at(&self, position: u64, name: Text<'_>) -> Result<TensorInfo<'a>, Error> {
        let mut entry = Entry::empty();
        self.entry_at(position, name, &mut entry)?;
        Ok(entry.info(self.data_start()))
    }
}

/// What a header says of its tensors, in its order.
#[derive(Clone)]
pub struct Tensors<'a> {
    entries: Entries<'a>,
    data_start: u64,
    left: usize,
}

impl<'a> Iterator for Tensors<'a> {
    type Item = TensorInfo<'a>;

    fn next(&mut self) -> Option<TensorInfo<'a>> {
        let mut entry = Entry::empty();
        if !self.entries.next(&mut entry) {
            return None;
        }
        self.left = self.left.saturating_sub(1);
        Some(entry.info(self.data_start))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Tensors<'_> {}
impl core::iter::FusedIterator for Tensors<'_> {}
