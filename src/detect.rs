//! What a file is, told from its first bytes.
//!
//! Weights come under any name and extension, and what a download leaves behind is not always the file that was
//! asked for. [`detect`] knows the formats that hold weights, the containers that they are packed in, and the
//! usual things that stand where a model should: a Git LFS pointer, a login page, a server's message, nothing.

use core::fmt;

use crate::cursor::split_u64;

/// How many bytes of a file's head [`detect`] looks at: give it so many, or the whole file when it is shorter.
pub const PREFIX_LEN: usize = 1024;

/// What a file's first bytes say that it is. `Display` is a short noun phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// [safetensors](crate::safetensors): a length, then a JSON object.
    Safetensors,
    /// GGUF, the format of llama.cpp, of either byte order.
    Gguf,
    /// A zip archive: a PyTorch checkpoint since 1.6, a NumPy `.npz`, a Keras `.keras`.
    Zip,
    /// A Python pickle: a PyTorch checkpoint before 1.6, and much else. Unpickling runs what it says.
    Pickle,
    /// HDF5: Keras `.h5`.
    Hdf5,
    /// A NumPy array, `.npy`.
    Npy,
    /// An ONNX model. The format has no magic: this is told from how its first fields lie.
    Onnx,
    /// A TensorFlow Lite (LiteRT) model.
    TfLite,
    /// An ExecuTorch program (`.pte`) or its data (`.ptd`).
    ExecuTorch,
    /// A pointer that Git LFS puts in the place of a file that was not fetched.
    GitLfsPointer,
    /// An HTML page.
    Html,
    /// An XML document: object stores answer so when they refuse a request.
    Xml,
    /// A JSON object: a `*.index.json`, a `config.json`.
    Json,
    /// A gzip stream.
    Gzip,
    /// A bzip2 stream.
    Bzip2,
    /// An xz stream.
    Xz,
    /// A Zstandard frame.
    Zstd,
    /// A 7z archive.
    SevenZip,
    /// A tar archive.
    Tar,
    /// Text that is none of the above.
    Text,
    /// Nothing but zeros: space that was reserved and never filled.
    Zeros,
    /// No bytes at all.
    Empty,
}

/// Tells what a file is from its first bytes, of which up to [`PREFIX_LEN`] are looked at.
///
/// It proves nothing: a file that begins as it should may still be broken. `None` means that the bytes are like
/// none of the formats, or too few to tell.
///
/// ```
/// use weightview::detect::{Format, detect};
///
/// assert_eq!(detect(b"GGUF\x03\0\0\0"), Some(Format::Gguf));
/// assert_eq!(detect(b"\x02\0\0\0\0\0\0\0{}"), Some(Format::Safetensors));
/// assert_eq!(detect(b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a"), Some(Format::GitLfsPointer));
/// assert_eq!(detect(b"<!DOCTYPE html><title>Sign in</title>"), Some(Format::Html));
/// assert_eq!(detect(b"\xff\xfe\xfd"), None);
/// ```
#[must_use]
pub fn detect(prefix: &[u8]) -> Option<Format> {
    let prefix = prefix.get(..PREFIX_LEN).unwrap_or(prefix);
    if prefix.is_empty() {
        return Some(Format::Empty);
    }
    // First: its length field could spell another format's magic, but a `{` behind it could not follow there.
    if is_safetensors(prefix) {
        return Some(Format::Safetensors);
    }
    let magic = MAGICS.iter().find(|(at, magic, _)| prefix.get(*at..).is_some_and(|rest| rest.starts_with(magic)));
    if let Some(&(_, _, format)) = magic {
        return Some(format);
    }
    if is_pickle(prefix) {
        return Some(Format::Pickle);
    }
    if is_onnx(prefix) {
        return Some(Format::Onnx);
    }
    if prefix.len() >= 16 && prefix.iter().all(|&byte| byte == 0) {
        return Some(Format::Zeros);
    }
    detect_text(prefix)
}

/// Bytes that stand at a fixed place.
const MAGICS: &[(usize, &[u8], Format)] = &[
    (0, b"GGUF", Format::Gguf),
    (0, b"FUGG", Format::Gguf), // big-endian, of a few old writers
    (0, b"PK\x03\x04", Format::Zip),
    (0, b"PK\x05\x06", Format::Zip), // without members
    (0, b"\x89HDF\r\n\x1a\n", Format::Hdf5),
    (512, b"\x89HDF\r\n\x1a\n", Format::Hdf5), // behind a user block
    (0, b"\x93NUMPY", Format::Npy),
    (4, b"TFL3", Format::TfLite),
    (4, b"ET12", Format::ExecuTorch),
    (4, b"FT01", Format::ExecuTorch),
    (0, b"\x1f\x8b\x08", Format::Gzip),
    (0, b"\xfd7zXZ\0", Format::Xz),
    (0, b"\x28\xb5\x2f\xfd", Format::Zstd),
    (0, b"7z\xbc\xaf\x27\x1c", Format::SevenZip),
    (0, b"BZh", Format::Bzip2),
    (257, b"ustar", Format::Tar),
    (0, b"version https://git-lfs.github.com/spec/", Format::GitLfsPointer),
    (0, b"version https://hawser.github.com/spec/", Format::GitLfsPointer), // its first name
];

/// A length below 2^32, white space or none, `{`. From 2^32 on the length is no header's, and a GGUF file of 123
/// (`{`) tensors would be taken for one.
fn is_safetensors(prefix: &[u8]) -> bool {
    split_u64(prefix).is_some_and(|(len, text)| len <= u64::from(u32::MAX) && trim(text).first() == Some(&b'{'))
}

/// Protocols 2 to 5 say so: `PROTO`, and then an opcode. Of the older ones, text throughout, only those that
/// begin as Python writes them.
fn is_pickle(prefix: &[u8]) -> bool {
    match prefix {
        [0x80, 2..=5] | [0x80, 2..=5, b'('..=b'}' | 0x85..=0x98, ..] => true,
        [b'(', b'd' | b'l' | b't', b'p', b'0'..=b'9', ..] => true,
        [b'c', rest @ ..] => is_global(rest).unwrap_or(false),
        _ => false,
    }
}

/// The operands of `GLOBAL`, a module's and an object's name, each on its line; then what is done with it.
fn is_global(operands: &[u8]) -> Option<bool> {
    let mut lines = operands.splitn(3, |&byte| byte == b'\n');
    let (module, object, next) = (lines.next()?, lines.next()?, lines.next()?);
    let dotted = |name: &[u8]| {
        !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
    };
    Some(dotted(module) && dotted(object) && matches!(next.first(), Some(b'(' | b'p' | b'q' | b')')))
}

/// ModelProto as every writer lays it: `ir_version`, who produced it, and then `graph` or `opset_import`. Other
/// protobuf files (Core ML's) begin alike, but have a message where a name should stand.
fn is_onnx(prefix: &[u8]) -> bool {
    let [0x08, 1..=32, rest @ ..] = prefix else { return false };
    let mut rest = rest;
    loop {
        let Some((&tag, tail)) = rest.split_first() else { return false };
        let Some((value, tail)) = varint(tail) else { return false };
        rest = match tag {
            0x28 => tail, // model_version
            // producer_name, producer_version, domain, doc_string
            0x12 | 0x1a | 0x22 | 0x32 => {
                let Some((text, tail)) = usize::try_from(value).ok().and_then(|len| tail.split_at_checked(len)) else {
                    return false;
                };
                if !is_text(text) {
                    return false;
                }
                tail
            }
            0x3a => return value > 0 && matches!(tail.first(), Some(0x0a | 0x12 | 0x2a | 0x52 | 0x5a | 0x62 | 0x6a)),
            0x42 => return value > 0 && matches!(tail.first(), Some(0x0a | 0x10)),
            _ => return false,
        };
    }
}

/// A protobuf integer and what follows it.
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    let mut rest = bytes;
    for shift in [0, 7, 14, 21, 28, 35, 42, 49, 56] {
        let (&byte, tail) = rest.split_first()?;
        value |= u64::from(byte & 0x7f) << shift;
        rest = tail;
        if byte & 0x80 == 0 {
            return Some((value, rest));
        }
    }
    None
}

/// What begins with no magic but reads as text.
fn detect_text(prefix: &[u8]) -> Option<Format> {
    let text = trim(prefix.strip_prefix(b"\xef\xbb\xbf").unwrap_or(prefix));
    let has_tag = |tag| has_ignoring_case(text, tag);
    if text.starts_with(b"<") && (has_tag(b"<html".as_slice()) || has_tag(b"<!doctype html")) {
        return Some(Format::Html);
    }
    if text.starts_with(b"<?xml") {
        return Some(Format::Xml);
    }
    if let [b'{', inside @ ..] = text
        && matches!(trim(inside).first(), Some(b'"' | b'}'))
    {
        return Some(Format::Json);
    }
    is_text(prefix).then_some(Format::Text)
}

/// UTF-8 that a person could have typed. The last character may be cut.
fn is_text(bytes: &[u8]) -> bool {
    let text = match core::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            bytes.get(..error.valid_up_to()).and_then(|whole| core::str::from_utf8(whole).ok()).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !text.is_empty() && !text.contains(|c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\x0c'))
}

/// Without the white space of JSON and HTML that stands before it.
fn trim(text: &[u8]) -> &[u8] {
    text.trim_ascii_start()
}

fn has_ignoring_case(text: &[u8], lowercase: &[u8]) -> bool {
    text.windows(lowercase.len()).any(|window| window.eq_ignore_ascii_case(lowercase))
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Safetensors => "safetensors file",
            Self::Gguf => "GGUF file",
            Self::Zip => "zip archive",
            Self::Pickle => "Python pickle",
            Self::Hdf5 => "HDF5 file",
            Self::Npy => "NumPy array",
            Self::Onnx => "ONNX model",
            Self::TfLite => "TensorFlow Lite model",
            Self::ExecuTorch => "ExecuTorch file",
            Self::GitLfsPointer => "Git LFS pointer",
            Self::Html => "HTML page",
            Self::Xml => "XML document",
            Self::Json => "JSON file",
            Self::Gzip => "gzip file",
            Self::Bzip2 => "bzip2 file",
            Self::Xz => "xz file",
            Self::Zstd => "Zstandard file",
            Self::SevenZip => "7z archive",
            Self::Tar => "tar archive",
            Self::Text => "text file",
            Self::Zeros => "file of zeros",
            Self::Empty => "empty file",
        })
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "tests know their bytes")]
mod tests {
    use super::{Format, PREFIX_LEN, detect};

    #[track_caller]
    fn is(prefix: &[u8], format: Format) {
        assert_eq!(detect(prefix), Some(format));
    }

    #[test]
    fn safetensors_with_and_without_space() {
        is(b"\x02\0\0\0\0\0\0\0{}", Format::Safetensors);
        is(b"\x04\0\0\0\0\0\0\0 \n{}", Format::Safetensors);
        is(b"PK\x03\x04\0\0\0\0{\"a\":", Format::Safetensors);
        is(b"\x80\x02}q\0\0\0\0{\"a\":", Format::Safetensors);
        assert_eq!(detect(b"\x02\0\0\0\0\0\0\0"), None);
        assert_eq!(detect(b"\x02\0\0\0\0\0\0\0[]"), None);
    }

    #[test]
    fn gguf_of_123_tensors() {
        is(b"GGUF\x03\0\0\0{\0\0\0\0\0\0\0", Format::Gguf);
        is(b"FUGG\0\0\0\x03", Format::Gguf);
    }

    #[test]
    fn magics() {
        is(b"PK\x03\x04\x00\x00\x08\x08", Format::Zip);
        is(b"PK\x05\x06\0\0", Format::Zip);
        is(b"\x89HDF\r\n\x1a\n\0\0", Format::Hdf5);
        is(b"\x93NUMPY\x01\0v\0{'descr'", Format::Npy);
        is(b"\x1c\0\0\0TFL3", Format::TfLite);
        is(b"\x30\0\0\0ET12eh00", Format::ExecuTorch);
        is(b"\x30\0\0\0FT01FH01", Format::ExecuTorch);
        is(b"\x1f\x8b\x08\0", Format::Gzip);
        is(b"\xfd7zXZ\0\0\x04", Format::Xz);
        is(b"\x28\xb5\x2f\xfd\x04", Format::Zstd);
        is(b"7z\xbc\xaf\x27\x1c\0\x04", Format::SevenZip);
        is(b"BZh91AY&SY", Format::Bzip2);
    }

    #[test]
    fn magics_further_in() {
        let mut bytes = [0; 600];
        bytes[512..520].copy_from_slice(b"\x89HDF\r\n\x1a\n");
        is(&bytes, Format::Hdf5);
        let mut bytes = [0; 512];
        bytes[..9].copy_from_slice(b"model.bin");
        bytes[257..262].copy_from_slice(b"ustar");
        is(&bytes, Format::Tar);
    }

    #[test]
    fn pickles() {
        is(b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.", Format::Pickle);
        is(b"\x80\x04\x95\x10\0\0\0\0\0\0\0}", Format::Pickle);
        is(b"\x80\x02}q\0.", Format::Pickle);
        is(b"cposix\nsystem\np0\n(S'id'\n", Format::Pickle);
        is(b"ccollections\nOrderedDict\n(", Format::Pickle);
        is(b"(dp0\nS'a'\n", Format::Pickle);
        is(b"cats\nand dogs\n(", Format::Text);
        // A length of 640 before a header that is broken.
        assert_eq!(detect(b"\x80\x02\0\0\0\0\0\0[1]"), None);
    }

    #[test]
    fn onnx_but_no_other_protobuf() {
        is(b"\x08\x0a\x12\x07pytorch\x1a\x052.7.1:\xc0T\x0a\x9a\x07", Format::Onnx);
        is(b"\x08\x07:\x80\x01\x0a\x10", Format::Onnx);
        is(b"\x08\x08B\x04\x0a\0\x10\x11", Format::Onnx);
        assert_eq!(detect(b"\x08\x06\x12\xda\x01\x0a\x18\x0a\x07input_2"), None); // Core ML
        assert_eq!(detect(b"\x08\x01:\0\0\0\0\0["), None);
        assert_eq!(detect(b"\x08\x0a\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), None);
    }

    #[test]
    fn what_stands_in_a_models_place() {
        is(b"", Format::Empty);
        is(b"version https://git-lfs.github.com/spec/v1\noid sha256:", Format::GitLfsPointer);
        is(b"\xef\xbb\xbf\r\n <!DocType HTML>", Format::Html);
        is(b"<!-- saved --><HTML lang=en>", Format::Html);
        is(b"<?xml version=\"1.0\"?><!DOCTYPE html PUBLIC", Format::Html);
        is(b"<?xml version=\"1.0\"?><Error><Code>AccessDenied", Format::Xml);
        is(b"{\n  \"metadata\": {", Format::Json);
        is(b"{}", Format::Json);
        is(b"Entry not found", Format::Text);
        is(&[0; 16], Format::Zeros);
        assert_eq!(detect(&[0; 15]), None);
        assert_eq!(detect(b"\xff\xfe\0\x01"), None);
    }

    #[test]
    fn text_cut_inside_a_character() {
        let mut text = [b' '; PREFIX_LEN];
        text[0] = b'a';
        text[PREFIX_LEN - 1] = 0xe3;
        is(&text, Format::Text);
        assert_eq!(detect(b"\xe3"), None);
    }

    #[test]
    fn never_panics_on_any_two_bytes_or_any_cut() {
        for pair in 0..=u16::MAX {
            let _ = detect(&pair.to_le_bytes());
        }
        for sample in [&b"\x08\x0a\x12\x07pytorch\x1a\x052.7.1:\xc0T\x0a\x9a\x07"[..], b"ca\nb\n(", b"<html>"] {
            for len in 0..sample.len() {
                let _ = detect(&sample[..len]);
            }
        }
    }
}
