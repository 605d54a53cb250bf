//! One tensor's entry in the header, however it is written.

use super::fields;
use super::options::Rules;
use crate::dtype::Dtype;
use crate::error::{Error, ErrorKind, Field};
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

    /// Why they do not, and the field at fault.
    fn fault(&self) -> Option<(Field, ErrorKind)> {
        let Some(actual) = self.end.checked_sub(self.begin) else {
            return Some((Field::DataOffsets, ErrorKind::OffsetsReversed { begin: self.begin, end: self.end }));
        };
        match bit_len(self.dtype, self.dims.as_slice()) {
            None => Some((Field::Shape, ErrorKind::SizeOverflow)),
            Some(bits) if bits & 7 != 0 => Some((Field::Shape, ErrorKind::PartialByte { bits })),
            Some(bits) if bits >> 3 != actual => {
                Some((Field::DataOffsets, ErrorKind::SizeMismatch { expected: bits >> 3, actual }))
            }
            Some(_) => None,
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
) -> Result<(), Error> {
    let start = scanner.offset();
    scanner.open_object(ErrorKind::EntryNotObject)?;
    let (mut dtype, mut dims, mut offsets) = (None, None, None);
    let mut first = true;
    while let Some((key_at, key)) = scanner.next_key(first)? {
        first = false;
        let value_at = scanner.at();
        // The header and the entry are open already.
        scanner.value(rules.max_nesting.saturating_sub(2), rules.max_nesting)?;
        let value = scanner.since(value_at);
        let offset = scanner.offset_of(value_at);
        let twice = if key == Field::Dtype.as_str() {
            dtype.replace(fields::dtype(value, offset)?).is_some().then_some(Field::Dtype)
        } else if key == Field::Shape.as_str() {
            fields::shape(value, offset, &mut entry.dims)?;
            dims.replace(value_at).is_some().then_some(Field::Shape)
        } else if key == Field::DataOffsets.as_str() {
            offsets.replace((fields::data_offsets(value, offset)?, value_at)).is_some().then_some(Field::DataOffsets)
        } else if rules.strict {
            return Err(Error::at(scanner.offset_of(key_at), ErrorKind::UnknownField));
        } else {
            None
        };
        if let Some(field) = twice {
            return Err(Error::at(scanner.offset_of(key_at), ErrorKind::DuplicateField(field)));
        }
    }
    let missing = |field| Error::at(start, ErrorKind::MissingField(field));
    entry.at = at;
    entry.name = name;
    entry.dtype = dtype.ok_or(missing(Field::Dtype))?;
    let shape_at = dims.ok_or(missing(Field::Shape))?;
    ((entry.begin, entry.end), entry.offsets_at) = offsets.ok_or(missing(Field::DataOffsets))?;
    match entry.fault() {
        None => Ok(()),
        Some((Field::Shape, kind)) => Err(Error::at(scanner.offset_of(shape_at), kind)),
        Some((_, kind)) => Err(Error::at(scanner.offset_of(entry.offsets_at), kind)),
    }
}
