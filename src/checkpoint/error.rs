//! Why a checkpoint was not opened.

use std::boxed::Box;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::string::String;
use std::vec::Vec;

use super::finding::Finding;
use super::show::{At, Count, Name, Noun, list};
use crate::detect::Format;
use crate::error::Error;

/// Findings that `Display` shows.
const SHOWN: usize = 10;

/// Why a checkpoint was not opened. `Display` says it for a person, in one line, or in a line a finding of which
/// it shows the first ten; everything is in the variants.
#[derive(Debug)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The path that was given, or the index, cannot be read, or is neither a regular file nor a directory; or the
    /// data of a file cannot be read into memory, or mapped.
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the operating system says.
        error: io::Error,
    },
    /// The index file is malformed, or over a limit.
    Index {
        /// The index file.
        path: PathBuf,
        /// Why, and the byte.
        error: Error,
        /// The same with the place: an excerpt with a caret under the byte, in several lines ([`Error::explain`]).
        detail: Box<str>,
        /// What the file is instead, if that can be told: a Git LFS pointer, a web page.
        format: Option<Format>,
    },
    /// A directory has several indexes, and none of them is `model.safetensors.index.json`: name one.
    SeveralIndexes {
        /// The directory.
        path: PathBuf,
        /// The names of the index files.
        indexes: Vec<String>,
    },
    /// A directory has no safetensors files.
    NoWeights {
        /// The directory.
        path: PathBuf,
        /// What it holds instead: names of files, and what they are where that can be told. Files that hold weights
        /// in another format come first.
        files: Vec<(String, Option<Format>)>,
        /// Directories in it that do have safetensors files.
        directories: Vec<String>,
    },
    /// The index is one of Python pickles (`pytorch_model.bin.index.json`): this version cannot open them.
    Pickles {
        /// The index file.
        path: PathBuf,
    },
    /// The checkpoint as a whole goes past a limit.
    TooLarge {
        /// What was opened.
        path: PathBuf,
        /// Which limit.
        limit: Limit,
    },
    /// A file is not what it was when its head was read: something else writes it.
    Changed {
        /// The file.
        path: PathBuf,
        /// Its length when its head was read.
        expected: u64,
        /// Its length now; the same when its head differs.
        actual: u64,
    },
    /// What was found, and the policy refuses.
    Refused {
        /// What was opened.
        path: PathBuf,
        /// All of it that is refused.
        findings: Vec<Finding>,
    },
}

/// A limit on a checkpoint as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// The headers of all files together are longer than so many bytes: [`MAX_HEADERS`](crate::limits::MAX_HEADERS)
    /// times [`max_header_len`](crate::safetensors::ParseOptions::max_header_len).
    Headers(u64),
    /// All files together have more tensors than
    /// [`max_tensors`](crate::safetensors::ParseOptions::max_tensors).
    Tensors(u64),
}

impl CheckpointError {
    /// What was found, when that is why; else nothing.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        match self {
            Self::Refused { findings, .. } => findings,
            _ => &[],
        }
    }

    pub(super) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |error| Self::Io { path, error }
    }
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, error } => write!(f, "{}: cannot be read: {error}", At(path)),
            Self::Index { path, format: Some(Format::GitLfsPointer), .. } => write!(
                f,
                "{}: this is a Git LFS pointer, not an index; run `git lfs pull` in its repository, or download the file itself",
                At(path)
            ),
            Self::Index { path, format: Some(format), .. } => {
                write!(f, "{}: this is {}, not an index", At(path), Noun(*format))
            }
            Self::Index { path, error, format: None, .. } => {
                write!(f, "{}: {error}", At(path))
            }
            Self::SeveralIndexes { path, indexes } => {
                write!(
                    f,
                    "{}: there are {} here; open one by its name: ",
                    At(path),
                    Count(indexes.len(), "index file")
                )?;
                list(f, indexes.iter().map(|name| Name(name)))
            }
            Self::NoWeights { path, files, directories } => {
                write!(f, "{}: there are no safetensors files here", At(path))?;
                if !directories.is_empty() {
                    f.write_str(", but in these directories: ")?;
                    list(f, directories.iter().map(|name| Name(name)))
                } else if files.is_empty() {
                    f.write_str("; it has no files at all")
                } else {
                    f.write_str(", but these files: ")?;
                    list(f, files.iter().map(File))
                }
            }
            Self::Pickles { path } => write!(
                f,
                "{}: this is the index of PyTorch pickles, which this version cannot open; look for safetensors files of the model",
                At(path)
            ),
            Self::TooLarge { path, limit } => write!(f, "{}: {limit}", At(path)),
            Self::Changed { path, expected, actual } if expected == actual => {
                write!(f, "{}: the file was changed while it was being opened", At(path))
            }
            Self::Changed { path, expected, actual } => write!(
                f,
                "{}: the file was changed while it was being opened: it had {expected} bytes, and has {actual}",
                At(path)
            ),
            Self::Refused { path, findings } => match &findings[..] {
                [finding] => write!(f, "{}: {}: {finding}", At(path), finding.id()),
                findings => {
                    write!(f, "{}: {}:", At(path), Count(findings.len(), "fault"))?;
                    for finding in findings.iter().take(SHOWN) {
                        write!(f, "\n  {}: {finding}", finding.id())?;
                    }
                    match findings.len().saturating_sub(SHOWN) {
                        0 => Ok(()),
                        more => write!(f, "\n  and {more} more"),
                    }
                }
            },
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Headers(limit) => {
                write!(f, "the headers of its files are longer than {limit} bytes together; raise max_header_len")
            }
            Self::Tensors(limit) => {
                write!(f, "its files have more than {limit} tensors together; raise max_tensors if that is meant")
            }
        }
    }
}

/// A file that is no safetensors file, and what it is.
struct File<'a>(&'a (String, Option<Format>));

impl fmt::Display for File<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, format) = self.0;
        match format {
            Some(format) => write!(f, "{} ({})", Name(name), Noun(*format)),
            None => Name(name).fmt(f),
        }
    }
}

impl std::error::Error for CheckpointError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(error),
            Self::Index { error, .. } => Some(error),
            _ => None,
        }
    }
}
