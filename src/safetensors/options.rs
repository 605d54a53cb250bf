//! What the caller may choose about parsing.

use super::header::{self, Header};
use super::model::SafeTensors;
use crate::error::Error;
use crate::limits;

/// Limits and strictness of a parse. The default accepts what the reference implementation accepts, ambiguous
/// files excepted, and is right for files that one means to load.
///
/// ```
/// use weightview::safetensors::ParseOptions;
///
/// // For firmware that knows its models: small limits bound the work that a hostile file can cause.
/// let options = ParseOptions { max_header_len: 16 * 1024, max_tensors: 64, ..ParseOptions::default() };
/// let bytes = b"\x02\0\0\0\0\0\0\0{}";
/// assert_eq!(options.parse(bytes)?.len(), 0);
/// # Ok::<(), weightview::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseOptions {
    /// The longest header that is read, in bytes without the 8 of the length field. Default:
    /// [`limits::MAX_HEADER_LEN`], the reference's figure. Of a [shard index](crate::shards), the longest file.
    pub max_header_len: u64,
    /// The most tensors. Default: [`limits::MAX_TENSORS`]. Without a heap a header in no order costs up to
    /// the square of this number; with one, never more than sorting takes.
    pub max_tensors: u64,
    /// The deepest nesting of arrays and objects in fields that are ignored, the header's own object counted.
    /// Default, and most: [`limits::MAX_NESTING`]; less than 3 counts as 3, which every tensor's `shape` needs.
    pub max_nesting: u32,
    /// The letter of the specification: the header starts with `{` at once, is padded with spaces (0x20) only,
    /// and entries have no unknown fields. Default: false.
    pub strict: bool,
    /// Whether the parser may use a heap, where the crate has one (`alloc`), to sort a header in no order.
    /// What is accepted does not change, only the time it takes. Default: true.
    pub heap: bool,
}

impl Default for ParseOptions {
    fn default() -> Self {
        Self {
            max_header_len: limits::MAX_HEADER_LEN,
            max_tensors: limits::MAX_TENSORS,
            max_nesting: limits::MAX_NESTING,
            strict: false,
            heap: true,
        }
    }
}

impl ParseOptions {
    /// The default, but to the letter of the specification.
    #[must_use]
    pub fn strict() -> Self {
        Self { strict: true, ..Self::default() }
    }

    /// [`SafeTensors::parse`] with these options.
    ///
    /// # Errors
    /// As there.
    pub fn parse<'a>(&self, bytes: &'a [u8]) -> Result<SafeTensors<'a>, Error> {
        SafeTensors::new(self.parse_header(bytes)?, bytes)
    }

    /// [`Header::parse`] with these options.
    ///
    /// # Errors
    /// As there.
    pub fn parse_header<'a>(&self, prefix: &'a [u8]) -> Result<Header<'a>, Error> {
        header::parse(prefix, self)
    }

    /// [`header_len`](super::header_len) with these options.
    ///
    /// # Errors
    /// As there.
    pub fn header_len(&self, first: &[u8; 8]) -> Result<u64, Error> {
        header::checked_len(u64::from_le_bytes(*first), self)
    }

    pub(super) fn rules(&self) -> Rules {
        Rules { strict: self.strict, max_nesting: self.nesting() }
    }

    /// The limit on nesting that is in force.
    pub(crate) fn nesting(&self) -> u32 {
        self.max_nesting.clamp(3, limits::MAX_NESTING)
    }
}

/// What of the options concerns a single entry.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    pub(super) strict: bool,
    pub(super) max_nesting: u32,
}

impl Rules {
    /// For reading again what was accepted before.
    pub(super) const PROVEN: Self = Self { strict: false, max_nesting: limits::MAX_NESTING };
}
