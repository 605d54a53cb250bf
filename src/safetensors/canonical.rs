//! The fast path: an entry written as every common writer writes it, byte for byte:
//!
//! ```json
//! "name":{"dtype":"BF16","shape":[2048,64],"data_offsets":[0,262144]}
//! ```
//!
//! No white space, no escapes, fields in this order. Such an entry is sound if and only if the general path
//! (`entry::read`) says so and reads the same from it; a fuzz target holds the two equal. Anything else, and
//! anything wrong, is `None`: the general path then reads it and finds the fault.

use super::METADATA;
use super::entry::Entry;
use crate::dtype::Dtype;
use crate::json::{find, plain_len};
use crate::text::Text;

/// Fills `entry` with the one at `at`, and says where the text goes on behind it. A `,` stands before every
/// entry but the first.
pub(super) fn read<'a>(text: &'a str, at: usize, first: bool, entry: &mut Entry<'a>) -> Option<usize> {
    let bytes = text.as_bytes().get(at..)?;
    let quoted = if first { bytes } else { bytes.strip_prefix(b",")? };
    let rest = quoted.strip_prefix(b"\"")?;
    let place = |rest: &[u8]| text.len().wrapping_sub(rest.len()); // `rest` is always a tail of `text`

    let name_at = place(rest);
    let (name, rest) = rest.split_at_checked(plain_len(rest))?;
    let name = text.get(name_at..name_at.wrapping_add(name.len()))?;
    let rest = rest.strip_prefix(b"\":{\"dtype\":\"")?;
    if name == METADATA {
        return None;
    }

    let (dtype, rest) = rest.split_at_checked(plain_len(rest))?;
    entry.dtype = Dtype::from_name(dtype)?;

    let mut rest = rest.strip_prefix(b"\",\"shape\":[")?;
    entry.dims.clear();
    if let Some(empty) = rest.strip_prefix(b"]") {
        rest = empty;
    } else {
        loop {
            let (dim, tail) = integer(rest)?;
            if !entry.dims.push(dim) {
                return None;
            }
            let (delimiter, tail) = tail.split_first()?;
            rest = tail;
            match delimiter {
                b',' => {}
                b']' => break,
                _ => return None,
            }
        }
    }

    let offsets = rest.strip_prefix(b",\"data_offsets\":")?;
    let (begin, rest) = integer(offsets.strip_prefix(b"[")?)?;
    let (end, rest) = integer(rest.strip_prefix(b",")?)?;
    let rest = rest.strip_prefix(b"]}")?;

    entry.at = place(quoted);
    entry.name = Text::from(name);
    entry.begin = begin;
    entry.end = end;
    entry.offsets_at = place(offsets);
    entry.is_sound().then(|| place(rest))
}

/// Passes over the entry at `at`, which `read` has read before, or `__metadata__`, for which this is `None`:
/// where its name stands, the name, and where the text goes on.
pub(super) fn skip(text: &str, at: usize, first: bool) -> Option<(usize, Text<'_>, usize)> {
    /// The least that stands between a name and the brace that closes its entry.
    const LEAST: usize = r#":{"dtype":"U8","shape":[],"data_offsets":[0,0]"#.len();

    let bytes = text.as_bytes().get(at..)?;
    let quoted = if first { bytes } else { bytes.strip_prefix(b",")? };
    let rest = quoted.strip_prefix(b"\"")?;
    let place = |rest: &[u8]| text.len().wrapping_sub(rest.len()); // `rest` is always a tail of `text`

    let name_at = place(rest);
    let (name, rest) = rest.split_at_checked(plain_len(rest))?;
    let name = text.get(name_at..name_at.wrapping_add(name.len()))?;
    if name == METADATA {
        return None;
    }
    let rest = rest.strip_prefix(b"\"")?.get(LEAST..)?;
    let rest = rest.get(find(b'}', rest)..)?.strip_prefix(b"}")?;
    Some((place(quoted), Text::from(name), place(rest)))
}

/// A plain integer of at most 19 digits, so that it fits, and what follows it.
fn integer(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (mut value, len) = digits8(bytes);
    let mut rest = bytes.get(len..)?;
    if len == 8 {
        let (low, low_len) = digits8(rest);
        value = append(value, low, low_len);
        rest = rest.get(low_len..)?;
        if low_len == 8 {
            let (low, low_len) = digits8(rest);
            if low_len > 3 {
                return None;
            }
            value = append(value, low, low_len);
            rest = rest.get(low_len..)?;
        }
    }
    match bytes {
        [b'0', b'0'..=b'9', ..] => None,
        [b'0'..=b'9', ..] => Some((value, rest)),
        _ => None,
    }
}

/// `value` with `len` more digits behind it. At most 19 digits in all: no overflow.
fn append(value: u64, low: u64, len: usize) -> u64 {
    const POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
    value.wrapping_mul(POWERS.get(len).copied().unwrap_or(1)).wrapping_add(low)
}

/// The number that the leading digits spell, at most 8, and how many there are. Eight bytes are taken as one
/// word: digits are found, moved to the top, and added up in pairs, fours and eights.
fn digits8(bytes: &[u8]) -> (u64, usize) {
    let mut block = [0u8; 8];
    match bytes.first_chunk::<8>() {
        Some(whole) => block = *whole,
        None => block.iter_mut().zip(bytes).for_each(|(slot, &byte)| *slot = byte),
    }
    let word = u64::from_le_bytes(block) ^ u64::from_ne_bytes([b'0'; 8]);
    // A byte is a digit when it is now 9 or less. The lowest bit found is exact; later ones are not used.
    let others = (word.wrapping_add(u64::from_ne_bytes([0x76; 8])) | word) & u64::from_ne_bytes([0x80; 8]);
    let len = (others.trailing_zeros() >> 3) as usize;
    if len == 0 {
        return (0, 0);
    }
    let unused = 64u32.wrapping_sub((len as u32).wrapping_mul(8)); // 0 to 56
    let ones = word << unused;
    let pairs = ones.wrapping_mul(10).wrapping_add(ones >> 8) & 0x00FF_00FF_00FF_00FF;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_FFFF_0000_FFFF;
    let eights = fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xFFFF_FFFF;
    (eights, len)
}
