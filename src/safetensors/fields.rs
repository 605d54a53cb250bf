//! The values of an entry's fields. Each comes as a piece of JSON that the scanner has proven well-formed, and
//! is read by serde-json-core; when that refuses, a second look finds the byte and the reason.

use core::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};

use crate::dtype::Dtype;
use crate::error::{Error, ErrorKind, Field};
use crate::json::Scanner;
use crate::limits::{MAX_NESTING, MAX_RANK};
use crate::shape::Dims;
use crate::text::Text;

/// The value of `dtype`; `offset` is its byte in the file, here and below.
pub(super) fn dtype(value: &str, offset: u64) -> Result<Dtype, Error> {
    let mut json = serde_json_core::de::Deserializer::new(value.as_bytes(), None);
    let raw = <&str>::deserialize(&mut json).map_err(|_| Error::at(offset, ErrorKind::FieldType(Field::Dtype)))?;
    let dtype = match Text::json(raw, raw.contains('\\')) {
        plain if plain.as_str().is_some() => Dtype::from_name(raw.as_bytes()),
        escaped => Dtype::ALL.iter().copied().find(|dtype| escaped == dtype.as_str()),
    };
    dtype.ok_or(Error::at(offset, ErrorKind::UnknownDtype))
}

/// The value of `shape`, into `dims`.
pub(super) fn shape(value: &str, offset: u64, dims: &mut Dims<u64>) -> Result<(), Error> {
    let mut json = serde_json_core::de::Deserializer::new(value.as_bytes(), None);
    dims.clear();
    Shape(dims).deserialize(&mut json).map_err(|_| blame(value, offset, Field::Shape))
}

/// The value of `data_offsets`.
pub(super) fn data_offsets(value: &str, offset: u64) -> Result<(u64, u64), Error> {
    let mut json = serde_json_core::de::Deserializer::new(value.as_bytes(), None);
    <(u64, u64)>::deserialize(&mut json).map_err(|_| blame(value, offset, Field::DataOffsets))
}

/// Reads an array of integers into dims.
struct Shape<'d>(&'d mut Dims<u64>);

impl<'de> DeserializeSeed<'de> for Shape<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Shape<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {MAX_RANK} integers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while let Some(dim) = seq.next_element()? {
            if !self.0.push(dim) {
                return Err(A::Error::invalid_length(MAX_RANK, &self));
            }
        }
        Ok(())
    }
}

/// Why `value` is not what `field` takes, and the byte.
fn blame(value: &str, offset: u64, field: Field) -> Error {
    find_fault(value, offset, field).unwrap_or(Error::at(offset, ErrorKind::FieldType(field)))
}

fn find_fault(value: &str, offset: u64, field: Field) -> Option<Error> {
    let (room, too_many) = match field {
        Field::DataOffsets => (2, ErrorKind::OffsetCount),
        _ => (MAX_RANK, ErrorKind::RankTooHigh),
    };
    let mut scanner = Scanner::new(value, 0, offset);
    scanner.open_array()?;
    for index in 0.. {
        let Some(start) = scanner.next_element(index == 0) else { break };
        scanner.value(MAX_NESTING, MAX_NESTING).ok()?;
        let element = scanner.since(start);
        let fault = if index >= room {
            too_many
        } else if !is_plain_integer(element.as_bytes()) {
            ErrorKind::NotAnInteger
        } else if element.parse::<u64>().is_err() {
            ErrorKind::IntegerTooLarge
        } else {
            continue;
        };
        return Some(Error::at(scanner.offset_of(start), fault));
    }
    (field == Field::DataOffsets).then_some(Error::at(offset, ErrorKind::OffsetCount))
}

fn is_plain_integer(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_digit) && (text.len() == 1 || text.first() != Some(&b'0'))
}
