//! An error together with the place in the file that it speaks of.

use core::fmt::{self, Write as _};

use crate::error::Error;
use crate::safetensors::head;
use crate::shards::place;
use crate::text::Text;

/// Characters of the header shown before and behind the fault.
const CONTEXT: usize = 32;

/// Characters shown of a tensor's name.
const NAME: usize = 200;

impl Error {
    /// The error with the place it speaks of: the tensor's name, and an excerpt of the header with a caret
    /// under the byte. `bytes` is the file, or as much of its head as was parsed; or a shard index.
    ///
    /// ```
    /// let header = br#"{"fc1.bias":{"dtype":"F31","shape":[2],"data_offsets":[0,8]}}"#;
    /// let bytes = [&(header.len() as u64).to_le_bytes()[..], header].concat();
    /// let error = weightview::SafeTensors::parse(&bytes).unwrap_err();
    /// assert_eq!(error.explain(&bytes).to_string(), r#"
    /// byte 29: this dtype is none of the format's; the file may be newer than this reader
    ///   tensor: "fc1.bias"
    ///   header: {"fc1.bias":{"dtype":"F31","shape":[2],"data_offsets"
    ///                                ^"#.trim_start());
    /// ```
    #[must_use]
    pub const fn explain<'a>(&self, bytes: &'a [u8]) -> Explanation<'a> {
        Explanation { error: *self, bytes }
    }
}

/// An [`Error`] with the place it speaks of, for a person to read: see [`Error::explain`].
///
/// What it shows of the file is escaped where a terminal might act on it.
#[derive(Clone, Copy)]
pub struct Explanation<'a> {
    error: Error,
    bytes: &'a [u8],
}

impl<'a> Explanation<'a> {
    /// The error itself.
    #[must_use]
    pub const fn error(&self) -> Error {
        self.error
    }

    /// The name of the tensor whose entry holds the fault, where the header or the index can be read up to it.
    #[must_use]
    pub fn tensor(&self) -> Option<Text<'a>> {
        let offset = self.error.offset()?;
        match place::text(self.bytes, self.error.kind()) {
            Some(index) => place::tensor_at(index, offset),
            None => head::tensor_at(self.bytes, offset),
        }
    }

    /// The text before and behind the fault, when it lies in a header or an index, and what it is of.
    fn excerpt(&self) -> Option<(&'static str, &'a str, &'a str)> {
        let offset = self.error.offset()?;
        let (of, (before, behind)) = match place::text(self.bytes, self.error.kind()) {
            Some(index) => ("index", place::text_around(index, offset)?),
            None => ("header", head::text_around(self.bytes, offset)?),
        };
        let start = before.char_indices().rev().nth(CONTEXT.saturating_sub(1)).map_or(0, |(at, _)| at);
        let end = behind.char_indices().nth(CONTEXT).map_or(behind.len(), |(at, _)| at);
        Some((of, before.get(start..)?, behind.get(..end)?))
    }
}

impl fmt::Display for Explanation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)?;
        if let Some(name) = self.tensor() {
            f.write_str("\n  tensor: \"")?;
            name.chars().take(NAME).try_for_each(|c| write!(f, "{}", c.escape_debug()))?;
            f.write_str(if name.chars().nth(NAME).is_some() { "…\"" } else { "\"" })?;
        }
        if let Some((of, before, behind)) = self.excerpt() {
            write!(f, "\n  {of}: ")?;
            let mut column = of.len().saturating_add("  : ".len());
            for shown in before.chars().flat_map(harmless) {
                f.write_char(shown)?;
                column = column.saturating_add(1);
            }
            behind.chars().flat_map(harmless).try_for_each(|shown| f.write_char(shown))?;
            write!(f, "\n{:column$}^", "")?;
        }
        Ok(())
    }
}

/// The character as it is where a terminal only draws it, else its escape.
fn harmless(c: char) -> impl Iterator<Item = char> {
    let plain = matches!(c, '"' | '\'' | '\\');
    let escape = (!plain).then(|| c.escape_debug()).into_iter().flatten();
    plain.then_some(c).into_iter().chain(escape)
}

impl fmt::Debug for Explanation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Explanation").field("error", &self.error).finish_non_exhaustive()
    }
}
