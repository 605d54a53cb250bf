//! Names and paths in sentences: what stands in a file or directory is escaped, and cut when it is long.

use std::fmt::{self, Display, Write as _};
use std::path::Path;

use crate::detect::Format;

/// Characters shown of a name.
const NAME: usize = 200;

/// A name in double quotes. What acts on a terminal, or cannot be seen, is escaped.
pub(super) struct Name<'a>(pub(super) &'a str);

impl Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        self.0.chars().take(NAME).try_for_each(|c| write!(f, "{}", c.escape_debug()))?;
        f.write_str(if self.0.chars().nth(NAME).is_some() { "…\"" } else { "\"" })
    }
}

/// A path as it is, but for what acts on a terminal or cannot be seen.
pub(super) struct At<'a>(pub(super) &'a Path);

impl Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.to_string_lossy().chars().try_for_each(|c| match c {
            '"' | '\'' | '\\' => f.write_char(c),
            c => write!(f, "{}", c.escape_debug()),
        })
    }
}

/// `1 tensor`, `2 tensors`.
pub(super) struct Count(pub(super) usize, pub(super) &'static str);

impl Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.0, self.1, if self.0 == 1 { "" } else { "s" })
    }
}

/// A format with its article, as it is spoken: an HDF5 file, a GGUF file.
pub(super) struct Noun(pub(super) Format);

impl Display for Noun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Format::{Empty, ExecuTorch, Hdf5, Html, Onnx, Xml, Xz};
        let an = matches!(self.0, Hdf5 | Html | Xml | Onnx | ExecuTorch | Xz | Empty);
        write!(f, "{} {}", if an { "an" } else { "a" }, self.0)
    }
}

/// Items with commas between, the first ten, and how many more there are.
pub(super) fn list<T: Display>(f: &mut fmt::Formatter<'_>, items: impl ExactSizeIterator<Item = T>) -> fmt::Result {
    const SHOWN: usize = 10;
    let more = items.len().saturating_sub(SHOWN);
    for (place, item) in items.take(SHOWN).enumerate() {
        let comma = if place == 0 { "" } else { ", " };
        write!(f, "{comma}{item}")?;
    }
    if more > 0 { write!(f, ", and {more} more") } else { Ok(()) }
}
