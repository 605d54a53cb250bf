//! What can be wrong, where, and whose fault it is.

mod shard_name;

use core::fmt;

pub use shard_name::ShardNameFault;

use crate::limits::MAX_RANK;

/// Why a file, or a call, was refused.
///
/// An `Error` is small and `Copy`: it holds numbers, never strings. [`kind`](Self::kind) is what a program
/// matches on, [`offset`](Self::offset) is the byte of the file where the fault lies, and `Display` is a
/// sentence for a person. With the file at hand, [`explain`](Self::explain) shows the place.
///
/// ```
/// use weightview::{SafeTensors, error::{Blame, ErrorKind}};
///
/// let error = SafeTensors::parse(b"\x02\0\0\0\0\0\0\0[]").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::HeaderNotObject);
/// assert_eq!(error.offset(), Some(8));
/// assert_eq!(error.blame(), Blame::File);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Error {
    kind: ErrorKind,
    offset: Option<u64>,
}

impl Error {
    /// A fault at a byte of the file.
    pub(crate) const fn at(offset: u64, kind: ErrorKind) -> Self {
        Self { kind, offset: Some(offset) }
    }

    /// A fault that is not in the file.
    pub(crate) const fn call(kind: ErrorKind) -> Self {
        Self { kind, offset: None }
    }

    /// What is wrong.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The byte of the file, counted from 0, where the fault lies; `None` when the file is not at fault.
    #[must_use]
    pub const fn offset(&self) -> Option<u64> {
        self.offset
    }

    /// Whose fault it is.
    #[must_use]
    pub const fn blame(&self) -> Blame {
        match self.kind {
            ErrorKind::HeaderTooLong { .. }
            | ErrorKind::TooManyTensors { .. }
            | ErrorKind::NestingTooDeep { .. }
            | ErrorKind::IndexTooLong { .. }
            | ErrorKind::TooManyKeys { .. } => Blame::Limit,
            ErrorKind::UnknownDtype
            | ErrorKind::RankTooHigh
            | ErrorKind::NumberTooLarge
            | ErrorKind::TooLargeForHost => Blame::Unsupported,
            ErrorKind::NotFound | ErrorKind::DataLen { .. } | ErrorKind::TooFewSlots { .. } => Blame::Caller,
            _ => Blame::File,
        }
    }
}

/// Whose fault an [`Error`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Blame {
    /// The file is malformed: fetch it again, or tell who wrote it.
    File,
    /// The file may be well, but holds something that this crate, or this host, does not handle.
    Unsupported,
    /// The file goes past a limit that the caller may raise.
    Limit,
    /// The call was wrong: the file is not involved.
    Caller,
}

/// What is wrong: the kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file ends before the 8 bytes that give the header's length.
    FileTooShort {
        /// Bytes there.
        actual: u64,
    },
    /// The header's declared length is over the limit.
    HeaderTooLong {
        /// The declared length in bytes.
        len: u64,
        /// The limit in force.
        limit: u64,
    },
    /// The file, or the prefix given, ends inside the header.
    HeaderCut {
        /// Bytes that file head needs, the length field included.
        expected: u64,
        /// Bytes there.
        actual: u64,
    },
    /// The header is not UTF-8.
    NotUtf8,
    /// The header, or the index, is not JSON.
    Json(JsonFault),
    /// Arrays or objects are nested deeper than the limit.
    NestingTooDeep {
        /// The limit in force, the outermost object counted.
        limit: u64,
    },
    /// The header is JSON, but not an object.
    HeaderNotObject,
    /// `strict`: the header does not start with `{` at once.
    HeaderLeadingSpace,
    /// `strict`: the header is padded with something else than spaces (0x20).
    HeaderPadding,
    /// A header, or an index, declares more tensors than the limit.
    TooManyTensors {
        /// The limit in force.
        limit: u64,
    },
    /// `__metadata__` stands twice in the header.
    DuplicateMetadata,
    /// `__metadata__` is neither an object nor `null`.
    MetadataNotObject,
    /// A value in `__metadata__` is not a string.
    MetadataNotString,
    /// A key stands twice in `__metadata__`.
    DuplicateMetadataKey {
        /// The byte where the key stood first.
        first: u64,
    },
    /// Two tensors have the same name.
    DuplicateName {
        /// The byte where the name stood first.
        first: u64,
    },
    /// A tensor's entry is not an object.
    EntryNotObject,
    /// A field stands twice in one tensor's entry.
    DuplicateField(Field),
    /// A tensor's entry lacks a field.
    MissingField(Field),
    /// A field of a tensor's entry has the wrong JSON type.
    FieldType(Field),
    /// `strict`: a tensor's entry has a field that the specification does not know.
    UnknownField,
    /// The dtype is none of the format's.
    UnknownDtype,
    /// A number is not a plain non-negative integer (`1.0`, `1e3`, `-1` and `"1"` are not).
    NotAnInteger,
    /// An integer does not fit 64 bits.
    IntegerTooLarge,
    /// A number in a field that is ignored is 1e308 or more.
    NumberTooLarge,
    /// `data_offsets` does not hold exactly two numbers.
    OffsetCount,
    /// A tensor has more dimensions than [`MAX_RANK`].
    RankTooHigh,
    /// The product of a shape, times the bits of its dtype, does not fit 64 bits.
    SizeOverflow,
    /// A tensor of a dtype below 8 bits does not end on a whole byte.
    PartialByte {
        /// Its size in bits.
        bits: u64,
    },
    /// `data_offsets` ends before it begins.
    OffsetsReversed {
        /// Declared begin.
        begin: u64,
        /// Declared end.
        end: u64,
    },
    /// Shape and dtype need another number of bytes than `data_offsets` spans.
    SizeMismatch {
        /// Bytes that shape and dtype need.
        expected: u64,
        /// Bytes that `data_offsets` spans.
        actual: u64,
    },
    /// Bytes of the data section belong to no tensor.
    Hole {
        /// Where the tensor should begin, in the data section.
        expected: u64,
        /// Where it begins.
        begin: u64,
    },
    /// Two tensors share bytes of the data section.
    Overlap {
        /// Where the tensor should begin, in the data section.
        expected: u64,
        /// Where it begins.
        begin: u64,
    },
    /// A shard index is longer than the limit.
    IndexTooLong {
        /// Its length in bytes.
        len: u64,
        /// The limit in force.
        limit: u64,
    },
    /// A shard index is not UTF-8.
    IndexNotUtf8,
    /// A shard index is JSON, but not an object.
    IndexNotObject,
    /// A shard index has no `weight_map`.
    NoWeightMap,
    /// `weight_map` is not an object.
    WeightMapType,
    /// A value in `weight_map` is not a string.
    ShardNotString,
    /// `metadata` of a shard index is neither an object nor `null`.
    IndexMetadataType,
    /// A key stands twice in a shard index, or in its `metadata`.
    DuplicateIndexKey {
        /// The byte where the key stood first.
        first: u64,
    },
    /// A shard index, or its `metadata`, has more keys than there may be tensors.
    TooManyKeys {
        /// The limit in force.
        limit: u64,
    },
    /// The name of a shard must not be joined to a folder.
    ShardName(ShardNameFault),
    /// Header and data together would be longer than 2^64 bytes.
    FileLenOverflow,
    /// The file ends before its tensors do.
    Truncated {
        /// The length that the header implies, in bytes.
        expected: u64,
        /// Bytes there.
        actual: u64,
    },
    /// The file goes on after its last tensor.
    TrailingData {
        /// The length that the header implies, in bytes.
        expected: u64,
        /// Bytes there.
        actual: u64,
    },
    /// A dimension does not fit this host's `usize`.
    TooLargeForHost,
    /// No tensor has that name.
    NotFound,
    /// The bytes given are not as many as the tensor has.
    DataLen {
        /// Bytes that the tensor has.
        expected: u64,
        /// Bytes given.
        actual: u64,
    },
    /// The memory given is too small for the index.
    TooFewSlots {
        /// Slots that the index needs: one a tensor.
        needed: u64,
        /// Slots given.
        given: u64,
    },
}

// The enums below are as wide as a word: an `Error` is then copied in whole words. With bytes among them the
// scanner's results were stored in one width and loaded in another, which made it a third slower.

/// How a text fails to be JSON ([RFC 8259](https://www.rfc-editor.org/rfc/rfc8259)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u64)]
pub enum JsonFault {
    /// Something else stands where this is needed, or the text ends there.
    Expected(Token),
    /// Something follows the outermost value.
    AfterEnd,
    /// A control character stands raw in a string.
    ControlCharacter(u8),
    /// A backslash is not followed by an escape that JSON knows.
    BadEscape,
    /// A `\u` escape names half of a surrogate pair.
    LoneSurrogate,
    /// A number is malformed (`01`, `1.`, `-`, `.5`).
    BadNumber,
    /// A string is not closed.
    OpenString,
}

/// What the JSON grammar needs at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u64)]
pub enum Token {
    /// A value.
    Value,
    /// A key: a string.
    Key,
    /// A `:` between key and value.
    Colon,
    /// A `,` or the `}` that closes an object.
    CommaOrBrace,
    /// A `,` or the `]` that closes an array.
    CommaOrBracket,
}

/// A field of a tensor's entry in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u64)]
pub enum Field {
    /// `dtype`.
    Dtype,
    /// `shape`.
    Shape,
    /// `data_offsets`.
    DataOffsets,
}

impl Field {
    /// The field's name in the file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Dtype => "dtype",
            Self::Shape => "shape",
            Self::DataOffsets => "data_offsets",
        }
    }

    const fn wants(self) -> &'static str {
        match self {
            Self::Dtype => "a string",
            Self::Shape => "an array of integers",
            Self::DataOffsets => "an array of two integers",
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(offset) = self.offset {
            write!(f, "byte {offset}: ")?;
        }
        self.kind.fmt(f)
    }
}

impl core::error::Error for Error {}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::FileTooShort { actual } => write!(
                f,
                "the file has {actual} of the 8 bytes that give the header's length; it is empty, cut, or not a safetensors file"
            ),
            Self::HeaderTooLong { len, limit } => write!(
                f,
                "the header is declared to be {len} bytes long, over the limit of {limit}; this is no safetensors file, or raise max_header_len"
            ),
            Self::HeaderCut { expected, actual } => write!(
                f,
                "the header ends at byte {expected}, but only {actual} bytes are there; fetch the file again"
            ),
            Self::NotUtf8 => f.write_str("the header is not UTF-8 here; the file is damaged or no safetensors file"),
            Self::Json(fault) => write!(f, "this is not valid JSON: {fault}"),
            Self::NestingTooDeep { limit } => {
                write!(f, "arrays or objects are nested more than {limit} deep")
            }
            Self::HeaderNotObject => f.write_str("the header must be a JSON object, starting with `{`"),
            Self::HeaderLeadingSpace => {
                f.write_str("the header must start with `{` at once (strict); parse without strict to accept white space")
            }
            Self::HeaderPadding => f.write_str(
                "the header may be padded with spaces (0x20) only (strict); parse without strict to accept other white space",
            ),
            Self::TooManyTensors { limit } => {
                write!(f, "more than {limit} tensors are declared; raise max_tensors if that is meant")
            }
            Self::DuplicateMetadata => f.write_str("`__metadata__` stands here a second time"),
            Self::MetadataNotObject => f.write_str("`__metadata__` must be an object of strings; no tensor can have this name"),
            Self::MetadataNotString => f.write_str("a value in `__metadata__` must be a string"),
            Self::DuplicateMetadataKey { first } => {
                write!(f, "this key of `__metadata__` already stands at byte {first}; readers disagree on which one counts")
            }
            Self::DuplicateName { first } => write!(
                f,
                "a tensor of this name already stands at byte {first}; readers disagree on which one counts"
            ),
            Self::EntryNotObject => f.write_str("a tensor's entry must be an object with dtype, shape and data_offsets"),
            Self::DuplicateField(field) => write!(f, "`{field}` stands twice in one tensor's entry"),
            Self::MissingField(field) => write!(f, "this tensor's entry has no `{field}`"),
            Self::FieldType(field) => write!(f, "`{field}` must be {}", field.wants()),
            Self::UnknownField => {
                f.write_str("this field is not in the specification (strict); parse without strict to ignore it")
            }
            Self::UnknownDtype => f.write_str("this dtype is none of the format's; the file may be newer than this reader"),
            Self::NotAnInteger => {
                f.write_str("a plain non-negative integer must stand here (no sign, fraction, exponent or leading zero)")
            }
            Self::IntegerTooLarge => f.write_str("this integer does not fit 64 bits"),
            Self::NumberTooLarge => f.write_str("this number is 1e308 or more; readers refuse it"),
            Self::OffsetCount => f.write_str("`data_offsets` must hold exactly two integers, begin and end"),
            Self::RankTooHigh => write!(f, "this tensor has more than {MAX_RANK} dimensions"),
            Self::SizeOverflow => f.write_str("this shape, multiplied out, does not fit 64 bits"),
            Self::PartialByte { bits } => {
                write!(f, "this tensor is {bits} bits long, which is no whole number of bytes")
            }
            Self::OffsetsReversed { begin, end } => {
                write!(f, "`data_offsets` ends at {end}, before it begins at {begin}")
            }
            Self::SizeMismatch { expected, actual } => write!(
                f,
                "shape and dtype need {expected} bytes, but `data_offsets` spans {actual}"
            ),
            Self::Hole { expected, begin } => write!(
                f,
                "this tensor begins at {begin} of the data section, but the one before it ends at {expected}: the bytes between belong to no tensor"
            ),
            Self::Overlap { expected, begin } => write!(
                f,
                "this tensor begins at {begin} of the data section, but the one before it only ends at {expected}: they overlap"
            ),
            Self::IndexTooLong { len, limit } => {
                write!(f, "the index is {len} bytes long, over the limit of {limit}; raise max_header_len if that is meant")
            }
            Self::IndexNotUtf8 => f.write_str("the index is not UTF-8 here; the file is damaged or no index of shards"),
            Self::IndexNotObject => {
                f.write_str("an index of shards must be a JSON object, starting with `{` or white space")
            }
            Self::NoWeightMap => f.write_str("this JSON object has no `weight_map`, so it is no index of shards"),
            Self::WeightMapType => {
                f.write_str("`weight_map` must be an object that gives the file of each tensor by its name")
            }
            Self::ShardNotString => f.write_str("the file of a tensor must be a string"),
            Self::IndexMetadataType => f.write_str("`metadata` must be an object or null"),
            Self::DuplicateIndexKey { first } => {
                write!(f, "this key already stands at byte {first}; readers disagree on which one counts")
            }
            Self::TooManyKeys { limit } => {
                write!(f, "more than {limit} keys stand beside each other; raise max_tensors if that is meant")
            }
            Self::ShardName(fault) => write!(f, "this name of a shard must not be joined to a folder: {fault}"),
            Self::FileLenOverflow => f.write_str("header and data together would be longer than 2^64 bytes"),
            Self::Truncated { expected, actual } => write!(
                f,
                "the file is truncated: its header implies {expected} bytes, {actual} are there, and this is the first tensor that is cut; fetch the file again"
            ),
            Self::TrailingData { expected, actual } => write!(
                f,
                "the file goes on after its last tensor: its header implies {expected} bytes, {actual} are there"
            ),
            Self::TooLargeForHost => write!(
                f,
                "a dimension of this tensor does not fit the {}-bit `usize` of this host; its header can still be read",
                usize::BITS
            ),
            Self::NotFound => f.write_str("no tensor has this name"),
            Self::DataLen { expected, actual } => {
                write!(f, "the tensor has {expected} bytes, but {actual} were given")
            }
            Self::TooFewSlots { needed, given } => {
                write!(f, "the index needs {needed} slots, one a tensor, but {given} were given")
            }
        }
    }
}

impl fmt::Display for JsonFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Expected(token) => write!(f, "{token} must stand here"),
            Self::AfterEnd => f.write_str("nothing may follow the outermost value"),
            Self::ControlCharacter(byte) => {
                write!(f, "the control character 0x{byte:02x} stands raw in a string; it must be written \\u{byte:04x}")
            }
            Self::BadEscape => f.write_str("this backslash starts no escape that JSON knows"),
            Self::LoneSurrogate => {
                f.write_str("this \\u escape is half of a surrogate pair, and the other half is missing")
            }
            Self::BadNumber => f.write_str("this number is malformed"),
            Self::OpenString => f.write_str("this string is not closed"),
        }
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Value => "a value",
            Self::Key => "a key in double quotes",
            Self::Colon => "a `:`",
            Self::CommaOrBrace => "a `,` or a `}`",
            Self::CommaOrBracket => "a `,` or a `]`",
        })
    }
}
