//! JSON numbers: their grammar, and a size that readers can hold.

use super::Scanner;
use crate::fault::{Fault, Reason};

/// Numbers of this power of ten and above are refused: the reference refuses what overflows a double, and
/// which of 1e308 to 1.8e308 overflow depends on its rounding.
const MAX_POWER: isize = 308;

impl<'a> Scanner<'a> {
    /// The number that starts here.
    pub(super) fn number(&mut self) -> Result<(), Fault> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.step(1);
        }
        let whole = self.digits();
        match (whole.len(), whole.first()) {
            (0, _) => return Err(bad_number(start)),
            (2.., Some(b'0')) => return Err(bad_number(start)),
            _ => {}
        }
        match self.peek() {
            Some(b'.' | b'e' | b'E') => self.rest_of_number(start, whole),
            _ if whole.len() > MAX_POWER.unsigned_abs() => Err(Fault { at: start, reason: Reason::NumberTooLarge }),
            _ => Ok(()),
        }
    }

    /// The fraction and the exponent of a number, behind its `whole` digits.
    fn rest_of_number(&mut self, start: usize, whole: &[u8]) -> Result<(), Fault> {
        let mut fraction: &[u8] = &[];
        if self.peek() == Some(b'.') {
            self.step(1);
            fraction = self.digits();
            if fraction.is_empty() {
                return Err(bad_number(start));
            }
        }
        let mut exponent = 0;
        if let Some(b'e' | b'E') = self.peek() {
            self.step(1);
            exponent = self.exponent().ok_or(bad_number(start))?;
        }
        if power_of_ten(whole, fraction).is_some_and(|power| power.saturating_add(exponent) >= MAX_POWER) {
            return Err(Fault { at: start, reason: Reason::NumberTooLarge });
        }
        Ok(())
    }

    fn digits(&mut self) -> &'a [u8] {
        let rest = self.rest();
        let len = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        self.step(len);
        rest.get(..len).unwrap_or_default()
    }

    /// What follows the `e`. A large exponent saturates: no text has the digits to make up for it.
    fn exponent(&mut self) -> Option<isize> {
        let negative = self.peek() == Some(b'-');
        if let Some(b'+' | b'-') = self.peek() {
            self.step(1);
        }
        let digits = self.digits();
        let magnitude = digits.iter().fold(0isize, |value, &digit| {
            value.saturating_mul(10).saturating_add(isize::from(digit.wrapping_sub(b'0')))
        });
        (!digits.is_empty()).then_some(if negative { magnitude.saturating_neg() } else { magnitude })
    }
}

const fn bad_number(start: usize) -> Fault {
    Fault { at: start, reason: Reason::BadNumber }
}

/// The power of ten of the first digit that is not 0; `None` for zero.
fn power_of_ten(whole: &[u8], fraction: &[u8]) -> Option<isize> {
    if whole != b"0" {
        return isize::try_from(whole.len()).ok()?.checked_sub(1);
    }
    let zeros = fraction.iter().position(|&digit| digit != b'0')?;
    (-1isize).checked_sub(isize::try_from(zeros).ok()?)
}
