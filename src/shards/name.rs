//! What a shard may be called.

use crate::error::ShardNameFault;
use crate::text::Text;

/// The longest name, and the longest part of one, in bytes: what file systems take.
const MAX_LEN: usize = 1024;
const MAX_PART: usize = 255;

/// Whether a name from an index may be joined to the index's folder: a relative path of plain parts, with `/`
/// between them, that ends in `.safetensors`. The answer is the same on every system, so that a checkpoint that
/// opens on one opens on all. Links in the file system are not looked at.
///
/// ```
/// use weightview::shards::{ShardNameFault, check_name};
///
/// assert!(check_name("model-00001-of-00002.safetensors".into()).is_ok());
/// assert_eq!(check_name("../model.safetensors".into()), Err(ShardNameFault::Parent));
/// assert_eq!(check_name("C:\\model.safetensors".into()), Err(ShardNameFault::Colon));
/// ```
///
/// # Errors
/// The first fault, in the order of the name's characters.
pub fn check_name(name: Text<'_>) -> Result<(), ShardNameFault> {
    check_name_with(name, ".safetensors")
}

/// [`check_name`] for shards that end in `extension`, for example `.bin`.
///
/// # Errors
/// As there.
pub fn check_name_with(name: Text<'_>, extension: &str) -> Result<(), ShardNameFault> {
    if name.is_empty() {
        return Err(ShardNameFault::Empty);
    }
    let mut part = Part::default();
    let mut len = 0usize;
    for (i, c) in name.chars().enumerate() {
        len = len.saturating_add(c.len_utf8());
        match c {
            '/' if i == 0 => return Err(ShardNameFault::Absolute),
            '/' => core::mem::take(&mut part).finish()?,
            '\\' => return Err(ShardNameFault::Backslash),
            ':' => return Err(ShardNameFault::Colon),
            '<' | '>' | '"' | '|' | '?' | '*' => return Err(ShardNameFault::Character),
            c if c.is_control() => return Err(ShardNameFault::Character),
            c => part.push(c),
        }
        if len > MAX_LEN || part.len > MAX_PART {
            return Err(ShardNameFault::TooLong);
        }
    }
    part.finish()?;
    if ends_with(name, extension) { Ok(()) } else { Err(ShardNameFault::Extension) }
}

/// Whether the last part of the decoded name ends so, with something before it.
fn ends_with(name: Text<'_>, extension: &str) -> bool {
    let before = name.chars().count().checked_sub(extension.chars().count()).and_then(|len| len.checked_sub(1));
    before.is_some_and(|before| {
        let mut end = name.chars().skip(before);
        end.next() != Some('/') && end.eq(extension.chars())
    })
}

/// What stands between two slashes.
#[derive(Default)]
struct Part {
    len: usize,
    last: Option<char>,
    /// Nothing but dots so far.
    dots: bool,
    stem: Stem,
}

impl Part {
    fn push(&mut self, c: char) {
        self.dots = c == '.' && (self.dots || self.len == 0);
        self.stem.push(c);
        self.len = self.len.saturating_add(c.len_utf8());
        self.last = Some(c);
    }

    fn finish(self) -> Result<(), ShardNameFault> {
        match (self.len, self.dots) {
            (0, _) | (1, true) => Err(ShardNameFault::EmptyPart),
            (2, true) => Err(ShardNameFault::Parent),
            _ if matches!(self.last, Some('.' | ' ')) => Err(ShardNameFault::Trailing),
            _ if self.stem.is_device() => Err(ShardNameFault::Device),
            _ => Ok(()),
        }
    }
}

/// What stands before the first dot of a part and the spaces there, in capitals: Windows takes `nul .x` for `NUL`.
#[derive(Default)]
struct Stem {
    /// As long as the longest device's name.
    name: [u8; 7],
    len: usize,
    /// Spaces were met: what follows them, if not a dot, makes it the name of no device.
    gap: bool,
    over: bool,
}

impl Stem {
    fn push(&mut self, c: char) {
        match c {
            _ if self.over => {}
            '.' => self.over = true,
            ' ' => self.gap = true,
            _ => {
                // Windows takes superscript digits for digits here.
                let capital = match c {
                    '¹' => b'1',
                    '²' => b'2',
                    '³' => b'3',
                    c => u8::try_from(c.to_ascii_uppercase()).unwrap_or(0),
                };
                match self.name.get_mut(self.len) {
                    Some(free) if !self.gap => *free = capital,
                    _ => self.over = true,
                }
                self.len = self.len.saturating_add(1);
            }
        }
    }

    fn is_device(&self) -> bool {
        let name = self.name.get(..self.len).unwrap_or_default(); // none when it is longer
        matches!(name, b"CON" | b"PRN" | b"AUX" | b"NUL" | b"CONIN$" | b"CONOUT$")
            || matches!(name, [b'C', b'O', b'M', b'0'..=b'9'] | [b'L', b'P', b'T', b'0'..=b'9'])
    }
}
