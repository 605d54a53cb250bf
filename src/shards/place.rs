//! Looking into an index that may be broken, to explain what is wrong with it.

use crate::error::ErrorKind;
use crate::fault::Reason;
use crate::json::Scanner;
use crate::limits::MAX_NESTING;
use crate::text::Text;

/// As much of an index as is UTF-8; `None` when the bytes are no index, as far as they and the kind of fault tell.
pub(crate) fn text(bytes: &[u8], kind: ErrorKind) -> Option<&str> {
    let is_index = match kind {
        ErrorKind::IndexTooLong { .. }
        | ErrorKind::IndexNotUtf8
        | ErrorKind::IndexNotObject
        | ErrorKind::NoWeightMap
        | ErrorKind::WeightMapType
        | ErrorKind::ShardNotString
        | ErrorKind::IndexMetadataType
        | ErrorKind::DuplicateIndexKey { .. }
        | ErrorKind::TooManyKeys { .. }
        | ErrorKind::ShardName(_) => true,
        // Faults of headers too. A file with one begins with its length, whose last byte is 0: JSON has no such byte.
        ErrorKind::Json(_)
        | ErrorKind::NestingTooDeep { .. }
        | ErrorKind::NumberTooLarge
        | ErrorKind::TooManyTensors { .. }
        | ErrorKind::DuplicateName { .. } => bytes.get(7) != Some(&0),
        _ => false,
    };
    match core::str::from_utf8(bytes) {
        _ if !is_index => None,
        Ok(text) => Some(text),
        Err(error) => core::str::from_utf8(bytes.get(..error.valid_up_to())?).ok(),
    }
}

/// The text before and from a byte of it.
pub(crate) fn text_around(text: &str, offset: u64) -> Option<(&str, &str)> {
    text.split_at_checked(usize::try_from(offset).ok()?)
}

/// The name of the tensor in whose line of `weight_map` a byte lies, where the index can be read up to it.
pub(crate) fn tensor_at(text: &str, offset: u64) -> Option<Text<'_>> {
    let place = usize::try_from(offset).ok()?;
    let mut scanner = Scanner::new(text, 0);
    scanner.skip_space();
    let (mut map, key) = member_at(&mut scanner, place)?;
    (key == "weight_map").then_some(())?;
    member_at(&mut map, place).map(|(_, tensor)| tensor)
}

/// The member of the object at which the scanner stands that holds the byte `place`: a scanner at its value, and its
/// key.
fn member_at<'a>(scanner: &mut Scanner<'a>, place: usize) -> Option<(Scanner<'a>, Text<'a>)> {
    scanner.open_object(Reason::IndexNotObject).ok()?;
    let mut first = true;
    loop {
        let (at, key) = scanner.next_key(first).ok()??;
        first = false;
        let value = *scanner;
        if at > place {
            return None;
        }
        // A value that cannot be passed over is where the fault lies.
        if scanner.value(MAX_NESTING).is_err() || scanner.at() > place {
            return Some((value, key));
        }
    }
}
