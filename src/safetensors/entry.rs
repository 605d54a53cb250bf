//! One tensor's entry in the header, however it is written.

use super::fields;
use super::options::Rules;
use crate::dtype::Dtype;
use crate::error::{Error, ErrorKind, Field};
use crate::json::Scanner;
use crate::shape::{Dims, byte_len};
use crate::text::Text;

/// What an entry says. Places are bytes of the header's text.
#[derive(Clone, Copy)]
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

impl Entry<'_> {
    /// Holds the entry's numbers against each other. The field is the one at fault.
    pub(super) fn check(&self) -> Result<(), (Field, ErrorKind)> {
        let Some(actual) = self.end.checked_sub(self.begin) else {
            return Err((Field::DataOffsets, ErrorKind::OffsetsReversed { begin: self.begin, end: self.end }));
        };
        let expected = byte_len(self.dtype, self.dims.as_slice()).map_err(|kind| (Field::Shape, kind))?;
        if actual != expected {
            return Err((Field::DataOffsets, ErrorKind::SizeMismatch { expected, actual }));
        }
        Ok(())
    }
}

/// Reads the entry whose value starts where the scanner stands, in any spelling that JSON allows: the scanner
/// proves each field well-formed, then serde-json-core reads it.
pub(super) fn read<'a>(scanner: &mut Scanner<'a>, at: usize, name: Text<'a>, rules: Rules) -> Result<Entry<'a>, Error> {
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
            dims.replace((fields::shape(value, offset)?, offset)).is_some().then_some(Field::Shape)
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
    let dtype = dtype.ok_or(missing(Field::Dtype))?;
    let (dims, shape_offset) = dims.ok_or(missing(Field::Shape))?;
    let ((begin, end), offsets_at) = offsets.ok_or(missing(Field::DataOffsets))?;
    let entry = Entry { at, name, dtype, dims, begin, end, offsets_at };
    entry.check().map_err(|(field, kind)| {
        let offset = if field == Field::Shape { shape_offset } else { scanner.offset_of(offsets_at) };
        Error::at(offset, kind)
    })?;
    Ok(entry)
}
