//! The index file.

use core::fmt;

use super::name::{check_name, check_name_with};
use crate::cursor::len_u64;
use crate::error::{Error, ErrorKind, ShardNameFault};
use crate::fault::{Fault, Reason};
use crate::json::Scanner;
use crate::limits::MAX_NESTING;
use crate::safetensors::{self, ParseOptions};
use crate::text::Text;

/// A shard index, proven to be one: JSON to the letter, in which every tensor has one file.
///
/// It is `Copy` and borrows from the bytes alone. Nothing is allocated, unless more than a few hundred tensors
/// stand in no order and the crate has a heap: see [`ParseOptions::heap`].
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

    /// The same within the limits of `options`: `max_header_len` bytes of index, `max_nesting`, and `max_tensors`, which
    /// also bounds the keys of the outer object and of `metadata`. `strict` concerns headers alone.
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

    /// The tensors and their files, in the order of the index. The names of files are as they stand there: see
    /// [`ShardEntry::checked_shard`].
    #[must_use]
    pub fn entries(&self) -> ShardEntries<'a> {
        ShardEntries { members: Members::new(self.text, self.weight_map), left: self.len }
    }

    /// What the index says of a tensor, by scanning it: right for a few look-ups.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`].
    pub fn entry(&self, tensor: &str) -> Result<ShardEntry<'a>, Error> {
        self.entries().find(|entry| entry.tensor == tensor).ok_or(Error::call(ErrorKind::NotFound))
    }

    /// The file that holds a tensor, as [`entry`](Self::entry) finds it. Its name is as it stands in the index.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`].
    pub fn shard_of(&self, tensor: &str) -> Result<Text<'a>, Error> {
        self.entry(tensor).map(|entry| entry.shard)
    }

    /// `total_size` of `metadata`: the bytes of all tensors, without headers, as the writer counted them.
    ///
    /// It is an integer of up to 64 bits in any spelling of a JSON number: some tools write a float
    /// (`352494542848.0`, `1.5e3`). `None` when it is missing or anything else: a fraction, a negative number, a
    /// string of digits. Nothing is read by it, so that is no error; [`metadata`](Self::metadata) has what stands there.
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
    let refused = |fault: Fault| fault.json_error(text, 0, nesting);
    let mut scanner = Scanner::new(text, 0);
    scanner.skip_space();
    let start = scanner.at();
    scanner.open_object(Reason::IndexNotObject).map_err(refused)?;
    let mut index = ShardIndex { text, weight_map: 0, metadata: None, len: 0, total_size: None };
    let mut has_weight_map = false;
    let mut keys = Keys::new(options);
    while let Some((key_at, key)) = scanner.next_key(keys.count == 0).map_err(refused)? {
        keys.push(key_at, key, TOO_MANY_KEYS)?;
        let at = scanner.at();
        if key == "weight_map" {
            has_weight_map = true;
            index.weight_map = at;
            index.len = weight_map(text, &mut scanner, options)?;
            continue;
        }
        scanner.value(nesting.saturating_sub(1)).map_err(refused)?;
        if key == "metadata" {
            let value = scanner.since(at);
            index.metadata = value.starts_with('{').then_some(at);
            if index.metadata.is_none() && value != "null" {
                return Err(Error::at(len_u64(at), ErrorKind::IndexMetadataType));
            }
        }
    }
    scanner.end().map_err(refused)?;
    keys.once(text, start, DUPLICATE_KEY)?;
    if !has_weight_map {
        return Err(Error::at(len_u64(start), ErrorKind::NoWeightMap));
    }
    if let Some(at) = index.metadata {
        let mut keys = Keys::new(options);
        let mut members = Members::new(text, at);
        while let Some((key_at, key, _)) = members.as_mut().and_then(Members::next) {
            keys.push(key_at, key, TOO_MANY_KEYS)?;
        }
        keys.once(text, at, DUPLICATE_KEY)?;
    }
    let total_size = index.metadata().find(|(key, _)| *key == "total_size");
    index.total_size = total_size.and_then(|(_, value)| whole_number(value));
    Ok(index)
}

/// Proves the value of `weight_map`, and counts its tensors.
fn weight_map(text: &str, scanner: &mut Scanner<'_>, options: &ParseOptions) -> Result<usize, Error> {
    let (start, nesting) = (scanner.at(), options.nesting());
    let refused = |fault: Fault| fault.json_error(text, 0, nesting);
    scanner.open_object(Reason::WeightMapType).map_err(refused)?;
    let mut names = Keys::new(options);
    while let Some((at, tensor)) = scanner.next_key(names.count == 0).map_err(refused)? {
        names.push(at, tensor, |limit| ErrorKind::TooManyTensors { limit })?;
        if scanner.peek() != Some(b'"') {
            let offset = len_u64(scanner.at());
            scanner.value(nesting.saturating_sub(2)).map_err(refused)?;
            return Err(Error::at(offset, ErrorKind::ShardNotString));
        }
        scanner.string().map_err(refused)?;
    }
    names.once(text, start, |first| ErrorKind::DuplicateName { first })?;
    Ok(names.count)
}

const TOO_MANY_KEYS: fn(u64) -> ErrorKind = |limit| ErrorKind::TooManyKeys { limit };
const DUPLICATE_KEY: fn(u64) -> ErrorKind = |first| ErrorKind::DuplicateIndexKey { first };

/// The keys of one object, as they are read.
struct Keys<'a, 'o> {
    options: &'o ParseOptions,
    count: usize,
    last: Option<Text<'a>>,
    /// Each comes behind the one before it, as most tools write them: then none stands twice.
    ascending: bool,
}

impl<'a, 'o> Keys<'a, 'o> {
    fn new(options: &'o ParseOptions) -> Self {
        Self { options, count: 0, last: None, ascending: true }
    }

    /// Takes the next one, which stands at `at`. The limit bounds the time that it takes to prove each unique.
    fn push(&mut self, at: usize, key: Text<'a>, over: impl Fn(u64) -> ErrorKind) -> Result<(), Error> {
        if len_u64(self.count) >= self.options.max_tensors {
            return Err(Error::at(len_u64(at), over(self.options.max_tensors)));
        }
        self.ascending &= self.last.is_none_or(|last| last < key);
        self.count = self.count.saturating_add(1);
        self.last = Some(key);
        Ok(())
    }

    /// None of them stands twice in the object at `at`, which has been proven well-formed.
    fn once(&self, text: &str, at: usize, fault: impl Fn(u64) -> ErrorKind) -> Result<(), Error> {
        if self.ascending {
            return Ok(());
        }
        match safetensors::first_repeat(text, at, self.count, self.options) {
            Some((first, again)) => Err(Error::at(len_u64(again), fault(len_u64(first)))),
            None => Ok(()),
        }
    }
}

/// A JSON value as an integer of 64 bits, if it is a number that is one: exactly, not by way of a float.
fn whole_number(value: &str) -> Option<u64> {
    let (number, exponent) = value.split_once(['e', 'E']).unwrap_or((value, "0"));
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let exponent: i64 = exponent.parse().ok()?;
    // So many digits stand before the point once the exponent has moved it.
    let point = i64::try_from(whole.len()).ok()?.saturating_add(exponent);
    let mut number = 0u64;
    let mut place = 0i64;
    for c in whole.chars().chain(fraction.chars()) {
        let digit = c.to_digit(10)?; // a sign, a quote and a letter are none
        if place < point {
            number = number.checked_mul(10)?.checked_add(digit.into())?;
        } else if digit != 0 {
            return None;
        }
        place = place.saturating_add(1);
    }
    while number != 0 && place < point {
        number = number.checked_mul(10)?;
        place = place.saturating_add(1);
    }
    Some(number)
}

/// What an index says of one tensor.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ShardEntry<'a> {
    /// The tensor's name.
    pub tensor: Text<'a>,
    /// The name of the file that holds it, as it stands in the index. It is not to be trusted: it may lead out of the
    /// folder. [`checked_shard`](Self::checked_shard) gives it once it was looked at.
    pub shard: Text<'a>,
    /// The byte of the index where the tensor's name stands.
    pub at: u64,
    /// The byte of the index where the name of the file stands.
    pub shard_at: u64,
}

impl<'a> ShardEntry<'a> {
    /// The name of the file, when it is one to be joined to a folder: [`check_name`](super::check_name).
    ///
    /// ```
    /// use weightview::error::{ErrorKind, ShardNameFault};
    /// use weightview::shards::ShardIndex;
    ///
    /// let json = br#"{"weight_map": {"a": "model.safetensors", "b": "../../.ssh/x.safetensors"}}"#;
    /// let index = ShardIndex::parse(json)?;
    /// assert_eq!(index.entry("a")?.checked_shard()?, "model.safetensors");
    /// let error = index.entry("b")?.checked_shard().unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::ShardName(ShardNameFault::Parent));
    /// assert_eq!(error.offset(), Some(47));
    /// # Ok::<(), weightview::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::ShardName`] at the byte where the name stands.
    pub fn checked_shard(&self) -> Result<Text<'a>, Error> {
        self.checked(check_name(self.shard))
    }

    /// The same for shards that end in `extension`: `.bin` in `pytorch_model.bin.index.json`.
    ///
    /// # Errors
    /// As there.
    pub fn checked_shard_with(&self, extension: &str) -> Result<Text<'a>, Error> {
        self.checked(check_name_with(self.shard, extension))
    }

    fn checked(&self, outcome: Result<(), ShardNameFault>) -> Result<Text<'a>, Error> {
        outcome.map_err(|fault| Error::at(self.shard_at, ErrorKind::ShardName(fault)))?;
        Ok(self.shard)
    }
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
        self.left = self.left.checked_sub(1)?;
        let members = self.members.as_mut()?;
        let (at, tensor) = members.key()?;
        let shard_at = members.scanner.at();
        let shard = members.scanner.string().ok()?;
        Some(ShardEntry { tensor, shard, at: len_u64(at), shard_at: len_u64(shard_at) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for ShardEntries<'_> {}

impl core::iter::FusedIterator for ShardEntries<'_> {}

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
        let next = self.members.as_mut()?.next();
        if next.is_none() {
            self.members = None;
        }
        next.map(|(_, key, value)| (key, value))
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
        let mut scanner = Scanner::new(text, at);
        scanner.open_object(Reason::IndexNotObject).ok()?;
        Some(Self { scanner, first: true })
    }

    /// The next key, and where it stands. Not to be called again after `None`.
    fn key(&mut self) -> Option<(usize, Text<'a>)> {
        let first = core::mem::replace(&mut self.first, false);
        self.scanner.next_key(first).ok()?
    }

    /// The same with its value, which it passes over.
    fn next(&mut self) -> Option<(usize, Text<'a>, &'a str)> {
        let (at, key) = self.key()?;
        let start = self.scanner.at();
        self.scanner.value(MAX_NESTING).ok()?;
        Some((at, key, self.scanner.since(start)))
    }
}
