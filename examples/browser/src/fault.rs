//! What goes wrong, as a number, a byte of the file, and a sentence.

use core::fmt::{self, Write as _};

use weightview::Error;
use weightview::error::ErrorKind;
#[cfg(feature = "numbers")]
use weightview::{CastError, SliceError};

use crate::memory::Global;

/// Why a call was refused.
#[derive(Clone, Copy)]
pub(crate) enum Fault {
    /// By the library.
    File(Error),
    #[cfg(feature = "numbers")]
    Cast(CastError),
    #[cfg(feature = "numbers")]
    Slice(SliceError),
    /// By this module.
    Own(Trouble),
}

/// What the host did, or lacks.
#[derive(Clone, Copy)]
pub(crate) enum Trouble {
    NoMemory,
    NoFile,
    #[cfg(feature = "numbers")]
    NoTensor,
    Range,
    Outside,
    NotUtf8,
    NoText,
}

/// The last fault, for the host to read.
#[repr(C)]
pub(crate) struct Record {
    /// The file's byte; the largest number when there is none.
    byte: u64,
    code: u32,
    /// The sentence.
    text: *const u8,
    text_len: u32,
}

static RECORD: Global<Record> = Global::new(Record { byte: 0, code: 0, text: core::ptr::null(), text_len: 0 });

/// What the library said last.
static ERROR: Global<Option<Error>> = Global::new(None);

/// The text of the record. It is all zeros, as no static with room in it is to be anything else: then it takes nothing
/// of the module.
static LINE: Global<Line> = Global::new(Line { bytes: [0; 4096], len: 0 });

/// Where the record of the last fault is.
#[unsafe(no_mangle)]
pub extern "C" fn wv_error() -> *const Record {
    RECORD.address()
}

/// The status that a call returns: 0, or the fault's code, and then the fault is on record.
pub(crate) fn status(result: Result<(), Fault>) -> u32 {
    match result {
        Ok(()) => 0,
        Err(fault) => {
            record(fault);
            fault.code()
        }
    }
}

/// The text of the last fault again, with the place in the head that it speaks of.
#[cfg(feature = "explain")]
#[unsafe(no_mangle)]
pub extern "C" fn wv_explain() {
    let head = crate::memory::head();
    if let Some(error) = ERROR.with(|error| *error) {
        write(format_args!("{}", error.explain(head)));
    }
}

fn record(fault: Fault) {
    let error = match fault {
        Fault::File(error) => Some(error),
        _ => None,
    };
    ERROR.with(|last| *last = error);
    RECORD.with(|record| {
        record.code = fault.code();
        record.byte = error.and_then(|error| error.offset()).unwrap_or(u64::MAX);
    });
    write(format_args!("{fault}"));
}

fn write(text: fmt::Arguments<'_>) {
    let (text, len) = LINE.with(|line| {
        line.len = 0;
        // Never an error: what does not fit is left out.
        let _ = line.write_fmt(text);
        (line.bytes.as_ptr(), line.len as u32)
    });
    RECORD.with(|record| (record.text, record.text_len) = (text, len));
}

/// A text of limited length.
struct Line {
    bytes: [u8; 4096],
    len: usize,
}

impl fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let free = self.bytes.get_mut(self.len..).unwrap_or_default();
        let fits = crate::file::prefix(text, free.len());
        if let Some(place) = free.get_mut(..fits.len()) {
            place.copy_from_slice(fits.as_bytes());
            self.len = self.len.saturating_add(fits.len());
        }
        Ok(())
    }
}

impl Fault {
    /// The numbers that `ABI.md` lists. They stay what they are; new ones come behind.
    fn code(&self) -> u32 {
        match self {
            Self::File(error) => match error.kind() {
                ErrorKind::FileTooShort { .. } => 1,
                ErrorKind::HeaderTooLong { .. } => 2,
                ErrorKind::HeaderCut { .. } => 3,
                ErrorKind::NotUtf8 => 4,
                ErrorKind::Json(_) => 5,
                ErrorKind::NestingTooDeep { .. } => 6,
                ErrorKind::HeaderNotObject => 7,
                ErrorKind::HeaderLeadingSpace => 8,
                ErrorKind::HeaderPadding => 9,
                ErrorKind::TooManyTensors { .. } => 10,
                ErrorKind::DuplicateMetadata => 11,
                ErrorKind::MetadataNotObject => 12,
                ErrorKind::MetadataNotString => 13,
                ErrorKind::DuplicateMetadataKey { .. } => 14,
                ErrorKind::DuplicateName { .. } => 15,
                ErrorKind::EntryNotObject => 16,
                ErrorKind::DuplicateField(_) => 17,
                ErrorKind::MissingField(_) => 18,
                ErrorKind::FieldType(_) => 19,
                ErrorKind::UnknownField => 20,
                ErrorKind::UnknownDtype => 21,
                ErrorKind::NotAnInteger => 22,
                ErrorKind::IntegerTooLarge => 23,
                ErrorKind::NumberTooLarge => 24,
                ErrorKind::OffsetCount => 25,
                ErrorKind::RankTooHigh => 26,
                ErrorKind::SizeOverflow => 27,
                ErrorKind::PartialByte { .. } => 28,
                ErrorKind::OffsetsReversed { .. } => 29,
                ErrorKind::SizeMismatch { .. } => 30,
                ErrorKind::Hole { .. } => 31,
                ErrorKind::Overlap { .. } => 32,
                ErrorKind::FileLenOverflow => 33,
                ErrorKind::Truncated { .. } => 34,
                ErrorKind::TrailingData { .. } => 35,
                ErrorKind::NotFound => 65,
                ErrorKind::DataLen { .. } => 66,
                ErrorKind::TooLargeForHost => 67,
                _ => 64,
            },
            Self::Own(trouble) => match trouble {
                Trouble::NoMemory => 96,
                Trouble::NoFile => 97,
                #[cfg(feature = "numbers")]
                Trouble::NoTensor => 98,
                Trouble::Range => 99,
                Trouble::Outside => 100,
                Trouble::NotUtf8 => 101,
                Trouble::NoText => 102,
            },
            #[cfg(feature = "numbers")]
            Self::Cast(CastError::Dtype { .. }) => 128,
            #[cfg(feature = "numbers")]
            Self::Cast(CastError::Size { .. }) => 129,
            #[cfg(feature = "numbers")]
            Self::Cast(_) => 130,
            #[cfg(feature = "numbers")]
            Self::Slice(SliceError::Elements { .. }) => 131,
            #[cfg(feature = "numbers")]
            Self::Slice(SliceError::PartialByte { .. }) => 132,
            #[cfg(feature = "numbers")]
            Self::Slice(_) => 133,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            #[cfg(feature = "numbers")]
            Self::Cast(error) => error.fmt(f),
            #[cfg(feature = "numbers")]
            Self::Slice(error) => error.fmt(f),
            Self::Own(trouble) => f.write_str(match trouble {
                Trouble::NoMemory => "there is no memory left for this",
                Trouble::NoFile => "no file is open",
                #[cfg(feature = "numbers")]
                Trouble::NoTensor => "no tensor was chosen",
                Trouble::Range => "there are not as many in this file",
                Trouble::Outside => {
                    "the bytes do not lie in the buffer that wv_buffer gave, are misaligned, or meet those to be read"
                }
                Trouble::NotUtf8 => "the name is not UTF-8",
                Trouble::NoText => "there is no text of this number",
            }),
        }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::File(error)
    }
}

#[cfg(feature = "numbers")]
impl From<CastError> for Fault {
    fn from(error: CastError) -> Self {
        Self::Cast(error)
    }
}

#[cfg(feature = "numbers")]
impl From<SliceError> for Fault {
    fn from(error: SliceError) -> Self {
        Self::Slice(error)
    }
}

impl From<Trouble> for Fault {
    fn from(trouble: Trouble) -> Self {
        Self::Own(trouble)
    }
}
