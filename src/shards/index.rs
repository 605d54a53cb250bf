//! The index file.

use core::fmt;

use crate::cursor::len_u64;
use crate::error::{Error, ErrorKind};
use crate::json::Scanner;
use crate::limits::MAX_NESTING;
use crate::safetensors::{self, ParseOptions};
use crate::text::Text;

/// A shard index, proven to be one: JSON to the letter, in which every tensor has one file.
///
/// It is `Copy` and borrows from the bytes alone. Nothing is allocated, unless the tensors stand in no order and the
/// crate has a heap: see [`ParseOptions::heap`].
///
/// ```
/// use weightview::shards::ShardIndex;
///
/// let json = br#"{"metadata": {"total_size": 12},
///     "weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}}"#;
/// let index = ShardIndex::parse(json)?;
/// assert_eq!((index.len(), index.total_size()), (2, Some(12)));
/// assert_eq!(index.shard_of("b")?, "model-00002-of-00002.safetensors");
/// for entry in index.entries() {
///     println!("{} is in {}", entry.tensor, entry.shard);
/// }
/// # Ok::<(), weightview::Error>(())
/// ```
///
/// # What is accepted
/// An object with the member `weight_map`, an object of strings, perhaps empty. `metadata` may be missing, `null`, or
/// an object that holds anything. Other members may stand beside the two. White space is JSON's; a byte order mark is
/// refused, and so is anything behind the object. A tensor that stands twice is refused, however its name is spelt,
/// and so are two members of one name in the outer object or in `metadata`: readers disagree on which one counts.
#[derive(Clone, Copy)]
pub struct ShardIndex<'a> {
    text: &'a str,
    /// Where the objects stand in the text.
    weight_map: usize,
    metadata: Option<usize>,
    len: usize,
    total_size: Option<u64>,
}

impl<'a> ShardIndex<'a> {
    /// Proves `bytes`, a whole index file.
    ///
    /// # Errors
    /// What is not JSON, not an index, or ambiguous, with its byte; and what goes past the default limits.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        Self::parse_with(bytes, &ParseOptions::default())
    }

    /// The same within the limits of `options`: `max_header_len` bytes of index, `max_tensors` and `max_nesting`.
    /// `strict` concerns headers alone.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_with(bytes: &'a [u8], options: &ParseOptions) -> Result<Self, Error> {
        let (len, limit) = (len_u64(bytes.len()), options.max_header_len);
        if len > limit {
            return Err(Error::at(0, ErrorKind::IndexTooLong { len, limit }));
        }
        let text = core::str::from_utf8(bytes)
            .map_err(|error| Error::at(len_u64(error.valid_up_to()), ErrorKind::IndexNotUtf8))?;
        read(text, options)
    }

    /// How many tensors it names.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether it names none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The tensors and their files, in the order of the index.
    #[must_use]
    pub fn entries(&self) -> ShardEntries<'a> {
        ShardEntries { members: Members::new(self.text, self.weight_map), left: self.len }
    }

    /// The file that holds a tensor, by scanning the index: right for a few look-ups.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`].
    pub fn shard_of(&self, tensor: &str) -> Result<Text<'a>, Error> {
        let entry = self.entries().find(|entry| entry.tensor == tensor);
        entry.map(|entry| entry.shard).ok_or(Error::call(ErrorKind::NotFound))
    }

    /// `total_size` of `metadata`: the bytes of all tensors, without headers, as the writer counted them. An integer,
    /// or a float below 2⁵³ that is one (`352494542848.0`), as some tools write it; `None` when it is missing or
    /// anything else.
    #[must_use]
    pub const fn total_size(&self) -> Option<u64> {
        self.total_size
    }

    /// The members of `metadata`, their values as JSON text; none when it is missing or `null`.
    #[must_use]
    pub fn metadata(&self) -> Fields<'a> {
        Fields { members: self.metadata.and_then(|at| Members::new(self.text, at)) }
    }

    /// The members of the index itself, `weight_map` and `metadata` among them, their values as JSON text.
    #[must_use]
    pub fn fields(&self) -> Fields<'a> {
        let start = self.text.find('{');
        Fields { members: start.and_then(|at| Members::new(self.text, at)) }
    }
}

impl fmt::Debug for ShardIndex<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShardIndex")
            .field("tensors", &self.len)
            .field("total_size", &self.total_size)
            .finish_non_exhaustive()
    }
}

/// Proves the text, member by member.
fn read<'a>(text: &'a str, options: &ParseOptions) -> Result<ShardIndex<'a>, Error> {
    let nesting = options.nesting();
    let mut scanner = Scanner::new(text, 0, 0);
    scanner.skip_space();
    let start = scanner.at();
    scanner.open_object(ErrorKind::IndexNotObject)?;
    let mut index = ShardIndex { text, weight_map: 0, metadata: None, len: 0, total_size: None };
    let mut has_weight_map = false;
    let mut members = 0usize;
    while let Some((_, key)) = scanner.next_key(members == 0)? {
        members = members.saturating_add(1);
        if key == "weight_map" {
            has_weight_map = true;
            index.weight_map = scanner.at();
            index.len = weight_map(text, &mut scanner, options)?;
        } else if key == "metadata" {
            index.metadata = (scanner.peek() == Some(b'{')).then_some(scanner.at());
            let (at, offset) = (scanner.at(), scanner.offset());
            scanner.value(nesting.saturating_sub(1), nesting)?;
            if index.metadata.is_none() && scanner.since(at) != "null" {
                return Err(Error::at(offset, ErrorKind::IndexMetadataType));
            }
        } else {
            scanner.value(nesting.saturating_sub(1), nesting)?;
        }
    }
    scanner.end()?;
    once(text, start, members, options)?;
    if !has_weight_map {
        return Err(Error::at(len_u64(start), ErrorKind::NoWeightMap));
    }
    if let Some(at) = index.metadata {
        once(text, at, index.metadata().count(), options)?;
    }
    let total_size = index.metadata().find(|(key, _)| *key == "total_size");
    index.total_size = total_size.and_then(|(_, value)| whole_number(value));
    Ok(index)
}

/// Proves the value of `weight_map`, and counts its tensors.
fn weight_map(text: &str, scanner: &mut Scanner<'_>, options: &ParseOptions) -> Result<usize, Error> {
    let (start, nesting) = (scanner.at(), options.nesting());
    scanner.open_object(ErrorKind::WeightMapType)?;
    let (mut count, mut ascending) = (0usize, true);
    let mut last: Option<Text<'_>> = None;
    while let Some((at, tensor)) = scanner.next_key(last.is_none())? {
        if len_u64(count) >= options.max_tensors {
            return Err(Error::at(len_u64(at), ErrorKind::TooManyTensors { limit: options.max_tensors }));
        }
        if scanner.peek() != Some(b'"') {
            let offset = scanner.offset();
            scanner.value(nesting.saturating_sub(2), nesting)?;
            return Err(Error::at(offset, ErrorKind::ShardNotString));
        }
        scanner.string()?;
        ascending &= last.is_none_or(|last| last < tensor);
        count = count.saturating_add(1);
        last = Some(tensor);
    }
    if !ascending && let Some((first, again)) = safetensors::first_repeat(text, start, count, options) {
        return Err(Error::at(len_u64(again), ErrorKind::DuplicateName { first: len_u64(first) }));
    }
    Ok(count)
}

/// No two of the `count` members of the object at `at` have one name.
fn once(text: &str, at: usize, count: usize, options: &ParseOptions) -> Result<(), Error> {
    match safetensors::first_repeat(text, at, count, options) {
        Some((first, again)) => Err(Error::at(len_u64(again), ErrorKind::DuplicateIndexKey { first: len_u64(first) })),
        None => Ok(()),
    }
}

/// A number that was proven to be JSON, as an integer, if it is one.
fn whole_number(value: &str) -> Option<u64> {
    if value.bytes().all(|byte| byte.is_ascii_digit()) {
        return value.parse().ok();
    }
    let number: f64 = value.parse().ok()?; // "null" and strings are none
    let exact = (0.0..9_007_199_254_740_992.0).contains(&number) && number as u64 as f64 == number;
    exact.then_some(number as u64)
}

/// What an index says of one tensor.
#[derive(Clone, Copy, Debug)]
pub struct ShardEntry<'a> {
    /// The tensor's name.
    pub tensor: Text<'a>,
    /// The name of the file that holds it, as it stands in the index: see [`check_name`](super::check_name) before
    /// it is opened.
    pub shard: Text<'a>,
    /// The byte of the index where the tensor's name stands.
    pub at: u64,
}

/// The tensors of an index and their files, in its order.
#[derive(Clone)]
pub struct ShardEntries<'a> {
    members: Option<Members<'a>>,
    left: usize,
}

impl<'a> Iterator for ShardEntries<'a> {
    type Item = ShardEntry<'a>;

    fn next(&mut self) -> Option<ShardEntry<'a>> {
        let members = self.members.as_mut()?;
        let (at, tensor) = members.key()?;
        let shard = members.scanner.string().ok()?;
        self.left = self.left.saturating_sub(1);
        Some(ShardEntry { tensor, shard, at: len_u64(at) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for ShardEntries<'_> {}

impl fmt::Debug for ShardEntries<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShardEntries").field("left", &self.left).finish_non_exhaustive()
    }
}

/// Members of an object of the index: an iterator of keys, and of values as JSON text.
#[derive(Clone)]
pub struct Fields<'a> {
    members: Option<Members<'a>>,
}

impl<'a> Iterator for Fields<'a> {
    type Item = (Text<'a>, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let members = self.members.as_mut()?;
        let Some((_, key)) = members.key() else {
            self.members = None;
            return None;
        };
        let at = members.scanner.at();
        members.scanner.value(MAX_NESTING, MAX_NESTING).ok()?;
        Some((key, members.scanner.since(at)))
    }
}

impl core::iter::FusedIterator for Fields<'_> {}

impl fmt::Debug for Fields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.clone()).finish()
    }
}

/// Goes through a proven object. Whoever calls passes over each value.
#[derive(Clone, Copy)]
struct Members<'a> {
    scanner: Scanner<'a>,
    first: bool,
}

impl<'a> Members<'a> {
    /// Those of the object whose `{` stands at `at`.
    fn new(text: &'a str, at: usize) -> Option<Self> {
        let mut scanner = Scanner::new(text, at, 0);
        scanner.open_object(ErrorKind::IndexNotObject).ok()?;
        Some(Self { scanner, first: true })
    }

    fn key(&mut self) -> Option<(usize, Text<'a>)> {
        let first = core::mem::replace(&mut self.first, false);
        self.scanner.next_key(first).ok()?
    }
}
