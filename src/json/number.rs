//! JSON numbers: their grammar, and a size that readers can hold.

use super::Scanner;
use crate::error::{Error, ErrorKind, JsonFault};

/// Numbers of this power of ten and above are refused: the reference refuses what overflows a double, and
/// which of 1e308 to 1.8e308 overflow depends on its rounding.
const MAX_POWER: i64 = 308;

impl<'a> Scanner<'a> {
    /// The number that starts here.
    pub(super) fn number(&mut self) -> Result<(), Error> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.step(1);
        }
        let whole = self.digits();
        match (whole.len(), whole.first()) {
            (0, _) => return Err(self.bad_number(start)),
            (2.., Some(b'0')) => return Err(self.bad_number(start)),
            _ => {}
        }
        let mut fraction: &[u8] = &[];
        if self.peek() == Some(b'.') {
            self.step(1);
            fraction = self.digits();
            if fraction.is_empty() {
                return Err(self.bad_number(start));
            }
        }
        let mut exponent = 0;
        if let Some(b'e' | b'E') = self.peek() {
            self.step(1);
            exponent = self.exponent().ok_or_else(|| self.bad_number(start))?;
        }
        if power_of_ten(whole, fraction).is_some_and(|power| power.saturating_add(exponent) >= MAX_POWER) {
            return Err(Error::at(self.offset_of(start), ErrorKind::NumberTooLarge));
        }
        Ok(())
    }

    fn digits(&mut self) -> &'a [u8] {
        let rest = self.rest();
        let len = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        self.step(len);
        rest.get(..len).unwrap_or_default()
    }

    /// What follows the `e`; a large exponent saturates.
    fn exponent(&mut self) -> Option<i64> {
        let negative = self.peek() == Some(b'-');
        if let Some(b'+' | b'-') = self.peek() {
            self.step(1);
        }
        let digits = self.digits();
        let magnitude = digits
            .iter()
            .fold(0i64, |value, &digit| value.saturating_mul(10).saturating_add(i64::from(digit.wrapping_sub(b'0'))));
        (!digits.is_empty()).then_some(if negative { magnitude.saturating_neg() } else { magnitude })
    }

    fn bad_number(&self, start: usize) -> Error {
        Error::at(self.offset_of(start), ErrorKind::Json(JsonFault::BadNumber))
    }
}

/// The power of ten of the first digit that is not 0; `None` for zero.
fn power_of_ten(whole: &[u8], fraction: &[u8]) -> Option<i64> {
    if whole != b"0" {
        return i64::try_from(whole.len()).ok()?.checked_sub(1);
    }
    let zeros = fraction.iter().position(|&digit| digit != b'0')?;
    (-1i64).checked_sub(i64::try_from(zeros).ok()?)
}
