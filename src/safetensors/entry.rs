//! One tensor's entry in the header, however it is written.

use super::fields;
use super::options::Rules;
use crate::dtype::Dtype;
use crate::error::Field;
use crate::fault::{Fault, Reason};
use crate::json::Scanner;
use crate::shape::{Dims, bit_len};
use crate::text::Text;
use crate::view::TensorInfo;

/// What an entry says. Places are bytes of the header's text.
///
/// Readers fill one in place: with its dims it is too large to hand around by value in a loop.
pub(super) struct Entry<'a> {
    /// Where the name's opening quote stands.
    pub(super) at: usize,
    pub(super) name: Text<'a>,
    pub(super) dtype: Dtype,
    pub(super) dims: Dims<u64>,
    pub(super) begin: u64,
    pub(super) end: u64,
    /// Where the value of `data_offsets` stands.
    pub(super) offsets_at: usize,
}

impl<'a> Entry<'a> {
    /// One to be filled.
    pub(super) fn empty() -> Self {
        Self { at: 0, name: Text::from(""), dtype: Dtype::U8, dims: Dims::scalar(), begin: 0, end: 0, offsets_at: 0 }
    }

    /// The same for the crate's users; the data section starts at `data_start` in the file.
    pub(super) fn info(&self, data_start: u64) -> TensorInfo<'a> {
        TensorInfo::new(self.name, self.dtype, self.dims, self.begin, self.end, data_start)
    }

    /// Whether the entry's numbers agree with each other.
    pub(super) fn is_sound(&self) -> bool {
        self.end.checked_sub(self.begin).is_some_and(|len| {
            bit_len(self.dtype, self.dims.as_slice()).is_some_and(|bits| bits & 7 == 0 && bits >> 3 == len)
        })
    }

    /// Why they do not, and the two numbers that tell.
    pub(super) fn fault(&self) -> (Reason, (u64, u64)) {
        let Some(actual) = self.end.checked_sub(self.begin) else {
            return (Reason::OffsetsReversed, (self.begin, self.end));
        };
        match bit_len(self.dtype, self.dims.as_slice()) {
            None => (Reason::SizeOverflow, (0, 0)),
            Some(bits) if bits & 7 != 0 => (Reason::PartialByte, (bits, 0)),
            Some(bits) => (Reason::SizeMismatch, (bits >> 3, actual)),
        }
    }
}

/// Fills `entry` with the one whose value starts where the scanner stands, in any spelling that JSON allows: the scanner
/// proves each field well-formed, then serde-json-core reads it.
pub(super) fn read<'a>(
    scanner: &mut Scanner<'a>,
    at: usize,
    name: Text<'a>,
    rules: Rules,
    entry: &mut Entry<'a>,
) -> Result<(), Fault> {
    let start = scanner.at();
    scanner.open_object(Reason::EntryNotObject)?;
    let (mut dtype, mut dims, mut offsets) = (None, None, None);
    let mut first = true;
    while let Some((key_at, key)) = scanner.next_key(first)? {
        first = false;
        let value_at = scanner.at();
        // The header and the entry are open already.
        scanner.value(rules.max_nesting.saturating_sub(2))?;
        let value = scanner.since(value_at);
        let twice = if key == Field::Dtype.as_str() {
            entry.dtype = fields::dtype(value, value_at)?;
            dtype.replace(value_at).map(|_| Reason::DuplicateDtype)
        } else if key == Field::Shape.as_str() {
            fields::shape(value, value_at, &mut entry.dims)?;
            dims.replace(value_at).map(|_| Reason::DuplicateShape)
        } else if key == Field::DataOffsets.as_str() {
            (entry.begin, entry.end) = fields::data_offsets(value, value_at)?;
            offsets.replace(value_at).map(|_| Reason::DuplicateDataOffsets)
        } else {
            rules.strict.then_some(Reason::UnknownField)
        };
        if let Some(reason) = twice {
            return Err(Fault { at: key_at, reason });
        }
    }
    let missing = |reason| Fault { at: start, reason };
    entry.at = at;
    entry.name = name;
    dtype.ok_or(missing(Reason::MissingDtype))?;
    let shape_at = dims.ok_or(missing(Reason::MissingShape))?;
    entry.offsets_at = offsets.ok_or(missing(Reason::MissingDataOffsets))?;
    if entry.is_sound() {
        return Ok(());
    }
    let (reason, _) = entry.fault();
    let shape = matches!(reason, Reason::SizeOverflow | Reason::PartialByte);
    Err(Fault { at: if shape { shape_at } else { entry.offsets_at }, reason })
}
