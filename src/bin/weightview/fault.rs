//! What is wrong with a file, in words for a terminal: what it is, where, and what to do.

use std::fmt::Display;
use std::io;
use std::path::Path;

use weightview::checkpoint::{CheckpointError, Finding};
use weightview::detect::Format;
use weightview::error::{Blame, ErrorKind};
use weightview::{CastError, Dtype, Error};

use crate::escape;
use crate::ls::{FILE_AT_FAULT, USAGE_OR_IO};

/// Something that went wrong.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    /// The exit status that it calls for.
    pub(crate) exit: u8,
    /// Nothing in it acts on a terminal.
    pub(crate) message: String,
}

impl Fault {
    fn file(path: &Path, what: impl Display, help: &str) -> Self {
        Self::new(FILE_AT_FAULT, path, what, help)
    }

    fn new(exit: u8, path: &Path, what: impl Display, help: &str) -> Self {
        let path = escape::path(path);
        let message = match help {
            "" => format!("{path}: {what}"),
            help => format!("{path}: {what}\n  help: {help}"),
        };
        Self { exit, message }
    }
}

/// A path that cannot be opened or read.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Fault {
    Fault::new(USAGE_OR_IO, path, format_args!("cannot be read: {error}"), "")
}

/// A checkpoint that is not opened.
pub(crate) fn checkpoint(error: &CheckpointError) -> Fault {
    let exit = match error {
        CheckpointError::Io { .. } | CheckpointError::SeveralIndexes { .. } | CheckpointError::NoWeights { .. } => {
            USAGE_OR_IO
        }
        _ => FILE_AT_FAULT,
    };
    let help = match error {
        CheckpointError::Refused { findings, .. } => findings.first().map(Finding::advice),
        _ => None,
    };
    let help = help.map_or(String::new(), |help| format!("\n  help: {help}"));
    Fault { exit, message: format!("{error}{help}") }
}

/// Something that is wrong with a checkpoint that was opened all the same.
pub(crate) fn finding(path: &Path, finding: &Finding) -> Fault {
    Fault::file(path, format_args!("{}: {finding}", finding.id()), finding.advice())
}

/// The listing could not be written.
pub(crate) fn unwritable(error: &io::Error) -> Fault {
    Fault { exit: USAGE_OR_IO, message: format!("cannot write the listing: {error}") }
}

/// No tensor of the file has the name that was asked for.
pub(crate) fn no_tensor(path: &Path, name: &str) -> Fault {
    let what = format!("no tensor is called {}", escape::str(name));
    Fault::new(USAGE_OR_IO, path, what, &format!("weightview ls {} lists them", escape::path(path)))
}

pub(crate) fn not_in_numpy(path: &Path, dtype: Dtype) -> Fault {
    let what = format!("numpy has no type for {dtype}");
    Fault::new(USAGE_OR_IO, path, what, "add --f32 to widen it, or --as raw for the bytes")
}

pub(crate) fn not_widened(path: &Path, error: &CastError) -> Fault {
    Fault::new(USAGE_OR_IO, path, error, "leave out --f32, or take --as raw for the bytes")
}

pub(crate) fn not_seekable(path: &Path) -> Fault {
    Fault::new(USAGE_OR_IO, path, "a tensor can only be read from a file, not from a pipe", "save it first")
}

/// A file whose length was right when its head was read.
pub(crate) fn became_shorter(path: &Path) -> Fault {
    Fault::file(path, "the file became shorter while it was read", "see who writes to it, and try again")
}

/// A digest is not the one that was expected.
pub(crate) fn digest(path: &Path, expected: &str, actual: &str) -> Fault {
    let what = format!("the digest is {actual}, but {expected} is expected");
    Fault::file(path, what, "this is not the file that was meant, or it is damaged: fetch it again")
}

/// One digest is expected of several files.
pub(crate) fn expect_many(path: &Path, files: usize) -> Fault {
    let what = format!("there are {files} files, each with a SHA-256 of its own");
    Fault::new(USAGE_OR_IO, path, what, "give one of them with --expect, or leave out --sha256")
}

/// A tensor would go to a terminal.
pub(crate) fn terminal() -> Fault {
    let message = "the tensor would be written to the terminal\n  help: give -o FILE, or send it to a file or a pipe";
    Fault { exit: USAGE_OR_IO, message: message.into() }
}

pub(crate) fn unwritten(path: &Path, error: &io::Error) -> Fault {
    Fault::new(USAGE_OR_IO, path, format_args!("cannot be written: {error}"), "")
}

/// A safetensors file that the library refuses; `head` is what was read of it.
pub(crate) fn malformed(path: &Path, error: &Error, head: &[u8]) -> Fault {
    let help = match error.kind() {
        ErrorKind::Truncated { expected, actual } | ErrorKind::HeaderCut { expected, actual } => {
            let missing = bytes(expected.saturating_sub(actual));
            format!("{missing} missing: the download or the copy was cut, repeat it")
        }
        ErrorKind::TrailingData { expected, actual } => format!(
            "{} too many: something was appended, or the file was written over a longer one; fetch it again",
            bytes(actual.saturating_sub(expected))
        ),
        ErrorKind::HeaderLeadingSpace | ErrorKind::HeaderPadding | ErrorKind::UnknownField => {
            "list it without --strict".into()
        }
        ErrorKind::TooManyTensors { .. } => "--max-tensors N raises the limit".into(),
        _ => match error.blame() {
            Blame::Unsupported => "if other readers take the file, a newer version of weightview may, too".into(),
            _ => "the file is damaged or was written wrongly: fetch it again, or tell who made it".into(),
        },
    };
    Fault::file(path, error.explain(head), &help)
}

/// A header that is declared to be over the limit. `file_len` is the length of the file, where that is known and
/// nothing but the declared length speaks for a safetensors file.
pub(crate) fn over_limit(path: &Path, error: &Error, file_len: Option<u64>) -> Fault {
    let ErrorKind::HeaderTooLong { len, limit } = error.kind() else { return malformed(path, error, &[]) };
    match file_len {
        Some(file_len) if len > file_len.saturating_sub(8) => {
            let what = format!(
                "byte 0: this is not a safetensors file: its first 8 bytes would be the length of a header of {len} \
                 bytes, but it has only {file_len} in all"
            );
            Fault::file(path, what, "see where it comes from: it begins like no other known format either")
        }
        _ => {
            let what = format!("byte 0: the header is declared to be {len} bytes long, over the limit of {limit}");
            let help = format!("if this is meant to be a safetensors file, add --max-header {len}");
            Fault::file(path, what, &help)
        }
    }
}

/// A file that is no safetensors file, from what its first bytes say.
pub(crate) fn foreign(path: &Path, format: Format, prefix: &[u8]) -> Fault {
    let get_safetensors = "only safetensors files can be listed: look for one beside it, or convert it";
    let unpack = "unpack it first";
    let (what, help) = match format {
        Format::GitLfsPointer => {
            let what = match lfs_size(prefix) {
                Some(size) => format!("this is a Git LFS pointer, not the file of {size} bytes that it stands for"),
                None => "this is a Git LFS pointer, not the file that it stands for".into(),
            };
            (what, "run `git lfs pull` in its repository, or download the file itself")
        }
        Format::Html => (
            "this is an HTML page, not a safetensors file".into(),
            "a login or error page was saved in the place of the file: check the address, sign in, fetch it again",
        ),
        Format::Xml => (
            "this is an XML document, not a safetensors file".into(),
            "most likely the error message of a server: open it to read it, then fetch the file again",
        ),
        Format::Text => (
            format!("this is text, not a safetensors file; it begins: {}", first_line(prefix)),
            "if that is the message of a server, fetch the file again (with curl, add -L to follow redirects)",
        ),
        Format::Json => (
            "this is a JSON file, not a safetensors file".into(),
            "if it is the index of a sharded model, list the shards that stand beside it",
        ),
        Format::Empty => (
            "the file is empty".into(),
            "the download or the copy never began, or failed: repeat it, and see that the disk is not full",
        ),
        Format::Zeros => (
            "the file begins with nothing but zeros".into(),
            "its space was reserved but never filled: the download did not finish, repeat it",
        ),
        Format::Pickle => (
            "this is a Python pickle (an old PyTorch checkpoint is one), not a safetensors file".into(),
            "do not load it if you do not trust it: unpickling runs the code in it; look for a safetensors file of the model",
        ),
        Format::Zip => (
            "this is a zip archive (a PyTorch checkpoint, .npz or .keras is one), not a safetensors file".into(),
            get_safetensors,
        ),
        Format::Gzip | Format::Bzip2 | Format::Xz | Format::Zstd | Format::SevenZip | Format::Tar => {
            (not_safetensors(format), unpack)
        }
        other => (not_safetensors(other), get_safetensors),
    };
    Fault::file(path, what, help)
}

fn not_safetensors(format: Format) -> String {
    let name = format.to_string();
    // As they are spoken: an HDF5, an ONNX, an ExecuTorch; but a GGUF, a NumPy.
    let an = matches!(format, Format::Hdf5 | Format::Onnx | Format::ExecuTorch | Format::Xz);
    format!("this is {} {name}, not a safetensors file", if an { "an" } else { "a" })
}

fn bytes(count: u64) -> String {
    format!("{count} byte{}", if count == 1 { "" } else { "s" })
}

/// The length of the file that a Git LFS pointer stands for.
fn lfs_size(pointer: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(pointer).ok()?;
    text.lines().find_map(|line| line.strip_prefix("size ")?.trim().parse().ok())
}

/// The first line of a text, or as much as fits a line of a terminal.
fn first_line(text: &[u8]) -> String {
    const SHOWN: usize = 60;
    let text = String::from_utf8_lossy(text);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let line = text.lines().next().unwrap_or_default().trim_end();
    let shown: String = line.chars().take(SHOWN).collect();
    let more = if shown.len() < line.len() { "…" } else { "" };
    format!("{}{more}", escape::str(&shown))
}
