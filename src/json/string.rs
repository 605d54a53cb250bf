//! JSON strings: found eight bytes at a time, escapes proven well-formed.

use super::Scanner;
use crate::fault::{Fault, Reason};
use crate::text::Text;

const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);

/// How far the plain part of a string goes: the index of the first quote, backslash or control character, or
/// the length of `bytes`.
pub(crate) fn plain_len(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some((word, tail)) = rest.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*word);
        // The high bit of each byte that is special; exact up to the first one, which is all that is used.
        let quote = zero_bytes(word ^ u64::from_ne_bytes([b'"'; 8]));
        let backslash = zero_bytes(word ^ u64::from_ne_bytes([b'\\'; 8]));
        let control = word.wrapping_sub(u64::from_ne_bytes([0x20; 8])) & !word;
        let special = (quote | backslash | control) & HIGH;
        if special != 0 {
            return bytes.len().wrapping_sub(rest.len()).wrapping_add((special.trailing_zeros() >> 3) as usize);
        }
        rest = tail;
    }
    let tail = rest.iter().position(|&byte| matches!(byte, b'"' | b'\\' | 0..=0x1f)).unwrap_or(rest.len());
    bytes.len().wrapping_sub(rest.len()).wrapping_add(tail)
}

/// Where the first `byte` stands, or the length of `bytes`.
pub(crate) fn find(byte: u8, bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some((word, tail)) = rest.split_first_chunk::<8>() {
        let found = zero_bytes(u64::from_le_bytes(*word) ^ u64::from_ne_bytes([byte; 8])) & HIGH;
        if found != 0 {
            return bytes.len().wrapping_sub(rest.len()).wrapping_add((found.trailing_zeros() >> 3) as usize);
        }
        rest = tail;
    }
    let tail = rest.iter().position(|&other| other == byte).unwrap_or(rest.len());
    bytes.len().wrapping_sub(rest.len()).wrapping_add(tail)
}

/// Sets the high bit of the first zero byte; of later bytes perhaps too, wrongly.
const fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word
}

impl<'a> Scanner<'a> {
    /// The string whose opening quote stands here.
    pub(crate) fn string(&mut self) -> Result<Text<'a>, Fault> {
        let quote = self.at;
        self.step(1);
        let start = self.at;
        let mut escaped = false;
        loop {
            self.step(plain_len(self.rest()));
            match self.peek() {
                Some(b'"') => {
                    let raw = self.since(start);
                    self.step(1);
                    return Ok(Text::json(raw, escaped));
                }
                Some(b'\\') => {
                    self.escape()?;
                    escaped = true;
                }
                Some(_) => return Err(self.fault(Reason::ControlCharacter)),
                None => {
                    self.jump(quote);
                    return Err(self.fault(Reason::OpenString));
                }
            }
        }
    }

    /// The escape whose backslash stands here.
    fn escape(&mut self) -> Result<(), Fault> {
        match self.rest() {
            [_, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => self.step(2),
            [_, b'u', digits @ ..] => match hex4(digits) {
                None => return Err(self.fault(Reason::BadEscape)),
                Some(0xDC00..=0xDFFF) => return Err(self.fault(Reason::LoneSurrogate)),
                Some(0xD800..=0xDBFF) => {
                    let low = digits.get(4..).and_then(|rest| rest.strip_prefix(b"\\u")).and_then(hex4);
                    if !matches!(low, Some(0xDC00..=0xDFFF)) {
                        return Err(self.fault(Reason::LoneSurrogate));
                    }
                    self.step(12);
                }
                Some(_) => self.step(6),
            },
            _ => return Err(self.fault(Reason::BadEscape)),
        }
        Ok(())
    }
}

/// The number that the first four bytes spell in hexadecimal.
fn hex4(digits: &[u8]) -> Option<u32> {
    digits.first_chunk::<4>()?.iter().try_fold(0, |value, &digit| Some(value << 4 | char::from(digit).to_digit(16)?))
}
