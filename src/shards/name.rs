//! What a shard may be called.

use core::fmt;

use crate::text::Text;

/// The longest name, and the longest part of one, in bytes: what file systems take.
const MAX_LEN: usize = 1024;
const MAX_PART: usize = 255;

/// Why a name from an index must not be joined to a folder. `Display` is half a sentence: "it …".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ShardNameFault {
    /// It is empty.
    Empty,
    /// It is longer than file systems take: 1024 bytes in all, 255 between slashes.
    TooLong,
    /// It starts at the root: `/etc/passwd`.
    Absolute,
    /// It has a part `..`, which leads out of the folder.
    Parent,
    /// It has an empty part, or a part `.`: `a//b`, `./a`.
    EmptyPart,
    /// It has a backslash, which separates folders on Windows and nowhere else.
    Backslash,
    /// It has a colon, which on Windows follows a drive's letter, or names a stream of a file.
    Colon,
    /// It has a control character or one of `<>"|?*`, which Windows does not take and a shell may act on.
    Character,
    /// A part ends in a dot or a space, which Windows drops.
    Trailing,
    /// A part is the name of a device on Windows: `NUL`, `com1.safetensors`.
    Device,
    /// It does not end as shards of the format do.
    Extension,
}

impl fmt::Display for ShardNameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "it is empty",
            Self::TooLong => "it is longer than file systems take",
            Self::Absolute => "it starts at the root of the file system",
            Self::Parent => "it leads out of the folder, through `..`",
            Self::EmptyPart => "it has an empty part or a part `.`",
            Self::Backslash => "it has a backslash, which separates folders on some systems",
            Self::Colon => "it has a colon, which names a drive or a stream on some systems",
            Self::Character => "it has a control character or one of <>\"|?*",
            Self::Trailing => "it has a part that ends in a dot or a space, which some systems drop",
            Self::Device => "it has a part that is the name of a device on some systems",
            Self::Extension => "it does not end as the files of the format do",
        })
    }
}

impl core::error::Error for ShardNameFault {}

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

/// Whether the decoded name ends so, with something before it.
fn ends_with(name: Text<'_>, extension: &str) -> bool {
    let before = name.chars().count().checked_sub(extension.chars().count());
    before.is_some_and(|before| before > 0 && name.chars().skip(before).eq(extension.chars()))
}

/// What stands between two slashes.
#[derive(Default)]
struct Part {
    len: usize,
    last: Option<char>,
    /// Nothing but dots so far.
    dots: bool,
    /// What stands before the first dot, in capitals, if it is so short that it may be a device's name.
    stem: [u8; 4],
    stem_len: usize,
    in_extension: bool,
}

impl Part {
    fn push(&mut self, c: char) {
        self.dots = c == '.' && (self.dots || self.len == 0);
        self.in_extension |= c == '.';
        if !self.in_extension {
            // Windows takes superscript digits for digits here.
            let c = match c {
                '¹' => '1',
                '²' => '2',
                '³' => '3',
                c => c.to_ascii_uppercase(),
            };
            if let Some(free) = self.stem.get_mut(self.stem_len) {
                *free = u8::try_from(c).unwrap_or(0);
            }
            self.stem_len = self.stem_len.saturating_add(1);
        }
        self.len = self.len.saturating_add(c.len_utf8());
        self.last = Some(c);
    }

    fn finish(self) -> Result<(), ShardNameFault> {
        match (self.len, self.dots) {
            (0, _) | (1, true) => return Err(ShardNameFault::EmptyPart),
            (2, true) => return Err(ShardNameFault::Parent),
            _ => {}
        }
        if matches!(self.last, Some('.' | ' ')) {
            return Err(ShardNameFault::Trailing);
        }
        match self.stem.get(..self.stem_len) {
            Some(b"CON" | b"PRN" | b"AUX" | b"NUL") => Err(ShardNameFault::Device),
            Some([b'C', b'O', b'M', b'0'..=b'9'] | [b'L', b'P', b'T', b'0'..=b'9']) => Err(ShardNameFault::Device),
            _ => Ok(()),
        }
    }
}
