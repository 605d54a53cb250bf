//! What is wrong with a text, in two words.
//!
//! An [`Error`] has numbers and is ten words long on small hosts. Handed up through every reader it costs more code and
//! stack than the reading. So readers hand up a [`Fault`], in registers, and the one who knows the file makes the error
//! of it.

use crate::error::{Error, ErrorKind, Field, JsonFault, Token};

/// A fault at a byte of a text.
#[derive(Clone, Copy)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) reason: Reason,
}

/// What is wrong: an [`ErrorKind`] without its numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    ExpectedValue,
    ExpectedKey,
    ExpectedColon,
    ExpectedCommaOrBrace,
    ExpectedCommaOrBracket,
    AfterEnd,
    ControlCharacter,
    BadEscape,
    LoneSurrogate,
    BadNumber,
    OpenString,
    NestingTooDeep,
    NumberTooLarge,
    HeaderNotObject,
    HeaderLeadingSpace,
    HeaderPadding,
    TooManyTensors,
    DuplicateMetadata,
    MetadataNotObject,
    MetadataNotString,
    EntryNotObject,
    DuplicateDtype,
    DuplicateShape,
    DuplicateDataOffsets,
    MissingDtype,
    MissingShape,
    MissingDataOffsets,
    DtypeType,
    ShapeType,
    DataOffsetsType,
    UnknownField,
    UnknownDtype,
    NotAnInteger,
    IntegerTooLarge,
    OffsetCount,
    RankTooHigh,
    SizeOverflow,
    PartialByte,
    OffsetsReversed,
    SizeMismatch,
    IndexNotObject,
    WeightMapType,
}

impl Fault {
    /// The error, of a text that starts at byte `base` of its file. `numbers` are those that the kind has.
    #[cold]
    #[inline(never)]
    pub(crate) fn error(self, base: u64, numbers: (u64, u64)) -> Error {
        Error::at(base.saturating_add(self.at as u64), self.reason.kind(numbers))
    }

    /// The same for faults that any JSON text may have; `limit` is that on nesting.
    pub(crate) fn json_error(self, text: &str, base: u64, limit: u32) -> Error {
        self.error(base, (self.json_number(text, limit), 0))
    }

    /// The number of a fault that any JSON text may have.
    pub(crate) fn json_number(self, text: &str, limit: u32) -> u64 {
        match self.reason {
            Reason::ControlCharacter => text.as_bytes().get(self.at).copied().unwrap_or(0).into(),
            _ => limit.into(),
        }
    }
}

impl Reason {
    fn kind(self, (first, second): (u64, u64)) -> ErrorKind {
        match self {
            Self::ExpectedValue => ErrorKind::Json(JsonFault::Expected(Token::Value)),
            Self::ExpectedKey => ErrorKind::Json(JsonFault::Expected(Token::Key)),
            Self::ExpectedColon => ErrorKind::Json(JsonFault::Expected(Token::Colon)),
            Self::ExpectedCommaOrBrace => ErrorKind::Json(JsonFault::Expected(Token::CommaOrBrace)),
            Self::ExpectedCommaOrBracket => ErrorKind::Json(JsonFault::Expected(Token::CommaOrBracket)),
            Self::AfterEnd => ErrorKind::Json(JsonFault::AfterEnd),
            Self::ControlCharacter => ErrorKind::Json(JsonFault::ControlCharacter(first as u8)), // it is one
            Self::BadEscape => ErrorKind::Json(JsonFault::BadEscape),
            Self::LoneSurrogate => ErrorKind::Json(JsonFault::LoneSurrogate),
            Self::BadNumber => ErrorKind::Json(JsonFault::BadNumber),
            Self::OpenString => ErrorKind::Json(JsonFault::OpenString),
            Self::NestingTooDeep => ErrorKind::NestingTooDeep { limit: first },
            Self::NumberTooLarge => ErrorKind::NumberTooLarge,
            Self::HeaderNotObject => ErrorKind::HeaderNotObject,
            Self::HeaderLeadingSpace => ErrorKind::HeaderLeadingSpace,
            Self::HeaderPadding => ErrorKind::HeaderPadding,
            Self::TooManyTensors => ErrorKind::TooManyTensors { limit: first },
            Self::DuplicateMetadata => ErrorKind::DuplicateMetadata,
            Self::MetadataNotObject => ErrorKind::MetadataNotObject,
            Self::MetadataNotString => ErrorKind::MetadataNotString,
            Self::EntryNotObject => ErrorKind::EntryNotObject,
            Self::DuplicateDtype => ErrorKind::DuplicateField(Field::Dtype),
            Self::DuplicateShape => ErrorKind::DuplicateField(Field::Shape),
            Self::DuplicateDataOffsets => ErrorKind::DuplicateField(Field::DataOffsets),
            Self::MissingDtype => ErrorKind::MissingField(Field::Dtype),
            Self::MissingShape => ErrorKind::MissingField(Field::Shape),
            Self::MissingDataOffsets => ErrorKind::MissingField(Field::DataOffsets),
            Self::DtypeType => ErrorKind::FieldType(Field::Dtype),
            Self::ShapeType => ErrorKind::FieldType(Field::Shape),
            Self::DataOffsetsType => ErrorKind::FieldType(Field::DataOffsets),
            Self::UnknownField => ErrorKind::UnknownField,
            Self::UnknownDtype => ErrorKind::UnknownDtype,
            Self::NotAnInteger => ErrorKind::NotAnInteger,
            Self::IntegerTooLarge => ErrorKind::IntegerTooLarge,
            Self::OffsetCount => ErrorKind::OffsetCount,
            Self::RankTooHigh => ErrorKind::RankTooHigh,
            Self::SizeOverflow => ErrorKind::SizeOverflow,
            Self::PartialByte => ErrorKind::PartialByte { bits: first },
            Self::OffsetsReversed => ErrorKind::OffsetsReversed { begin: first, end: second },
            Self::SizeMismatch => ErrorKind::SizeMismatch { expected: first, actual: second },
            Self::IndexNotObject => ErrorKind::IndexNotObject,
            Self::WeightMapType => ErrorKind::WeightMapType,
        }
    }
}
