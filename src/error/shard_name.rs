//! What a shard must not be called.

use core::fmt;

/// Why a name from an index must not be joined to a folder. `Display` is half a sentence: "it …".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u64)] // as the enums beside it
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
    /// A part is the name of a device on Windows, whatever follows its first dot: `NUL`, `com1.safetensors`.
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
