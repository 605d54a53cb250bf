//! The values of an entry's fields. Each comes as a piece of JSON that the scanner has proven well-formed, and
//! is read by serde-json-core; when that refuses, a second look finds the byte and the reason.

use core::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor};

use crate::dtype::Dtype;
use crate::fault::{Fault, Reason};
use crate::json::Scanner;
use crate::limits::{MAX_NESTING, MAX_RANK};
use crate::shape::Dims;
use crate::text::Text;

/// The value of `dtype`; `at` is where it stands in the text, here and below.
pub(super) fn dtype(value: &str, at: usize) -> Result<Dtype, Fault> {
    let mut json = serde_json_core::de::Deserializer::new(value.as_bytes(), None);
    let raw = <&str>::deserialize(&mut json).map_err(|_| Fault { at, reason: Reason::DtypeType })?;
    // No name has a backslash: one that has is spelt with escapes.
    let escaped = || Dtype::ALL.iter().copied().find(|dtype| Text::json(raw, true) == dtype.as_str());
    Dtype::from_name(raw.as_bytes()).or_else(escaped).ok_or(Fault { at, reason: Reason::UnknownDtype })
}

/// The value of `shape`, into `dims`.
pub(super) fn shape(value: &str, at: usize, dims: &mut Dims<u64>) -> Result<(), Fault> {
    match integers(value, dims.room()) {
        Some(rank) => {
            dims.set_rank(rank);
            Ok(())
        }
        None => {
            Err(find_fault(value, at, MAX_RANK, Reason::RankTooHigh).unwrap_or(Fault { at, reason: Reason::ShapeType }))
        }
    }
}

/// The value of `data_offsets`.
pub(super) fn data_offsets(value: &str, at: usize) -> Result<(u64, u64), Fault> {
    let mut pair = [0; 2];
    match (integers(value, &mut pair), pair) {
        (Some(2), [begin, end]) => Ok((begin, end)),
        (Some(_), _) => Err(Fault { at, reason: Reason::OffsetCount }),
        (None, _) => {
            let fault = find_fault(value, at, pair.len(), Reason::OffsetCount);
            Err(fault.unwrap_or(Fault { at, reason: Reason::DataOffsetsType }))
        }
    }
}

/// Reads an array of integers into `room`, and says how many there are. `None` when it is anything else, or there are
/// too many.
fn integers(value: &str, room: &mut [u64]) -> Option<usize> {
    let mut json = serde_json_core::de::Deserializer::new(value.as_bytes(), None);
    Integers(room).deserialize(&mut json).ok()
}

struct Integers<'r>(&'r mut [u64]);

impl<'de> DeserializeSeed<'de> for Integers<'_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Integers<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {} integers", self.0.len())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut count = 0usize;
        while let Some(integer) = seq.next_element()? {
            let slot = self.0.get_mut(count).ok_or_else(|| A::Error::custom("too many"))?;
            *slot = integer;
            count = count.saturating_add(1);
        }
        Ok(count)
    }
}

/// Why an array is not one of at most so many integers, and the byte. `None` when it is no array.
fn find_fault(value: &str, at: usize, room: usize, too_many: Reason) -> Option<Fault> {
    let mut scanner = Scanner::new(value, 0);
    scanner.open_array()?;
    for index in 0.. {
        let start = scanner.next_element(index == 0)?;
        scanner.value(MAX_NESTING).ok()?;
        let element = scanner.since(start).as_bytes();
        let reason = if index >= room {
            too_many
        } else if !is_plain_integer(element) {
            Reason::NotAnInteger
        } else if !fits(element) {
            Reason::IntegerTooLarge
        } else {
            continue;
        };
        return Some(Fault { at: at.saturating_add(start), reason });
    }
    None
}

fn is_plain_integer(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_digit) && (text.len() == 1 || text.first() != Some(&b'0'))
}

/// Whether a plain integer fits 64 bits.
fn fits(digits: &[u8]) -> bool {
    const MAX: &[u8] = b"18446744073709551615";
    digits.len() < MAX.len() || digits.len() == MAX.len() && digits <= MAX
}
