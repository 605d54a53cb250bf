//! A header that owns its text, for what outlives a borrow.

use alloc::string::String;
use alloc::vec::Vec;

use super::LEN_FIELD;
use super::entry::Entry;
use super::header::{self, Header};
use super::options::ParseOptions;
use super::walk;
use crate::cursor::len_u64;
use crate::error::{Error, ErrorKind};
use crate::view::TensorInfo;

/// A proven header and its text. Rust has no struct that borrows from itself, so what was proven is kept without
/// the text, and the two are put together whenever the header is asked for: nothing is parsed twice.
pub(crate) struct OwnedHeader {
    text: String,
    proven: Header<'static>,
}

impl OwnedHeader {
    /// Proves the text of a header: what follows the length field. It is given back when it is refused.
    pub(crate) fn parse(text: Vec<u8>, options: &ParseOptions) -> Result<Self, (Error, Vec<u8>)> {
        let text = String::from_utf8(text).map_err(|error| {
            let at = LEN_FIELD.saturating_add(len_u64(error.utf8_error().valid_up_to()));
            (Error::at(at, ErrorKind::NotUtf8), error.into_bytes())
        })?;
        match header::read(&text, options).map(detached) {
            Ok(proven) => Ok(Self { text, proven }),
            Err(error) => Err((error, text.into_bytes())),
        }
    }

    /// The header, at no cost.
    pub(crate) fn header(&self) -> Header<'_> {
        Header { text: &self.text, ..self.proven }
    }

    /// The tensor at a position that the header's `names` gave.
    pub(crate) fn info_at(&self, position: u64) -> TensorInfo<'_> {
        let mut entry = Entry::empty();
        // Proven: an entry stands there.
        let _ = usize::try_from(position).ok().and_then(|at| walk::entry_at(&self.text, at, &mut entry));
        entry.info(self.header().data_start())
    }

    /// The header's text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

/// What was proven of a header, without its text.
const fn detached(header: Header<'_>) -> Header<'static> {
    let Header { tensors, data_len, metadata, canonical, .. } = header;
    Header { text: "", tensors, data_len, metadata, canonical }
}
