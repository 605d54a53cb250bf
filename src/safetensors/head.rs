//! Looking into a head that may be broken, to explain what is wrong with it.

use super::{LEN_FIELD, METADATA};
use crate::cursor::split_u64;
use crate::fault::Reason;
use crate::json::Scanner;
use crate::limits::MAX_NESTING;
use crate::text::Text;

/// As much of the header's text as is there and is UTF-8.
fn text(bytes: &[u8]) -> Option<&str> {
    let (len, rest) = split_u64(bytes)?;
    let text = rest.get(..usize::try_from(len).ok()?).unwrap_or(rest);
    match core::str::from_utf8(text) {
        Ok(text) => Some(text),
        Err(error) => core::str::from_utf8(text.get(..error.valid_up_to())?).ok(),
    }
}

/// A byte of the file as a place in the header's text.
fn place(offset: u64) -> Option<usize> {
    usize::try_from(offset.checked_sub(LEN_FIELD)?).ok()
}

/// The header's text before and from a byte of the file; `None` when that does not lie in it.
pub(crate) fn text_around(bytes: &[u8], offset: u64) -> Option<(&str, &str)> {
    text(bytes)?.split_at_checked(place(offset)?)
}

/// The name of the tensor in whose entry a byte of the file lies, where the header can be read up to it.
pub(crate) fn tensor_at(bytes: &[u8], offset: u64) -> Option<Text<'_>> {
    let place = place(offset)?;
    let mut scanner = Scanner::new(text(bytes)?, 0);
    scanner.skip_space();
    scanner.open_object(Reason::HeaderNotObject).ok()?;
    let mut first = true;
    loop {
        let (at, name) = scanner.next_key(first).ok()??;
        first = false;
        if at > place {
            return None;
        }
        // A value that cannot be passed over is where the fault lies.
        if scanner.value(MAX_NESTING).is_err() || scanner.at() > place {
            return (name != METADATA).then_some(name);
        }
    }
}
