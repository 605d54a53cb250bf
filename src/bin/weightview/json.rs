//! A listing for programs. It is written as it goes, an entry a line, so that a million tensors need no tree in
//! memory.

use std::io::{self, Write};
use std::path::Path;

use weightview::safetensors::Header;

use crate::escape;
use crate::listing::{Listing, Total};

/// Prints the document.
pub(crate) fn write(listing: &Listing<'_>, out: &mut impl Write) -> io::Result<()> {
    write!(out, "{{\"files\":[")?;
    files(&listing.files, out)?;
    write!(out, "\n],\"tensors\":[")?;
    for (i, row) in listing.rows().enumerate() {
        separate(out, i)?;
        write!(out, "{{\"name\":")?;
        string(out, row.name.chars())?;
        // A slice of integers has the same form in Rust and JSON.
        write!(
            out,
            ",\"dtype\":\"{}\",\"shape\":{:?},\"data_offsets\":[{}, {}]",
            row.dtype, row.shape, row.begin, row.end
        )?;
        write!(out, ",\"file\":")?;
        string(out, row.path.to_string_lossy().chars())?;
        write!(out, "}}")?;
    }
    let Total { tensors, parameters, bytes } = listing.total;
    writeln!(out, "\n],\"total\":{{\"tensors\":{tensors},\"parameters\":{parameters},\"bytes\":{bytes}}}}}")
}

/// The entries of `files`.
pub(crate) fn files(files: &[(&Path, Header<'_>)], out: &mut impl Write) -> io::Result<()> {
    for (i, (path, header)) in files.iter().enumerate() {
        separate(out, i)?;
        write!(out, "{{\"path\":")?;
        string(out, path.to_string_lossy().chars())?;
        let (header_len, data_start) = (header.header_len(), header.data_start());
        write!(out, ",\"format\":\"safetensors\",\"header_len\":{header_len},\"data_start\":{data_start}")?;
        write!(out, ",\"metadata\":{{")?;
        for (i, (key, value)) in header.metadata().enumerate() {
            if i > 0 {
                write!(out, ",")?;
            }
            string(out, key.chars())?;
            write!(out, ":")?;
            string(out, value.chars())?;
        }
        write!(out, "}}}}")?;
    }
    Ok(())
}

/// What stands before entry `i`.
pub(crate) fn separate(out: &mut (impl Write + ?Sized), i: usize) -> io::Result<()> {
    out.write_all(if i == 0 { b"\n" } else { b",\n" })
}

/// A string of JSON. What is not safe on a terminal is escaped too, which JSON allows for any character.
pub(crate) fn string(out: &mut (impl Write + ?Sized), text: impl Iterator<Item = char>) -> io::Result<()> {
    write!(out, "\"")?;
    for c in text {
        match c {
            '"' | '\\' => write!(out, "\\{c}")?,
            c if escape::is_unsafe(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04x}")?;
                }
            }
            c => out.write_all(c.encode_utf8(&mut [0; 4]).as_bytes())?,
        }
    }
    write!(out, "\"")
}
