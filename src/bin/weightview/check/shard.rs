//! One safetensors file: where it leaves the letter of the specification, its names, and how its data lies.

use std::path::Path;

use weightview::checkpoint::{Catalog, Shard};
use weightview::error::ErrorKind;
use weightview::safetensors::ParseOptions;
use weightview::{Dtype, TensorInfo, Text};

use super::report::{Finding, plural};
use crate::fault::Fault;
use crate::{escape, input};

/// The length field.
const LEN_FIELD: usize = 8;

pub(super) fn check(
    catalog: &Catalog,
    shard: &Shard,
    parse: &ParseOptions,
    findings: &mut Vec<Finding>,
) -> Result<(), Fault> {
    let head = input::read_file_head(shard.path(), parse)?;
    let before = findings.len();
    spelling(&head.bytes, parse, findings);
    for info in shard.header().tensors() {
        findings.extend(name(info.name()));
    }
    layout(shard, findings);
    // Where there is one file, the path says which.
    if catalog.shards().len() > 1 {
        for finding in findings.iter_mut().skip(before) {
            finding.file = Some(shard.name().into());
            finding.message = format!("{}: {}", escape::str(shard.name()), finding.message);
        }
    }
    Ok(())
}

/// Of a file whose header was refused: whether a tensor was saved under the one name that is none.
pub(super) fn check_refused(path: &Path, parse: &ParseOptions, findings: &mut Vec<Finding>) {
    let Ok(head) = input::read_file_head(path, parse) else { return };
    let Err(error) = parse.parse_header(&head.bytes) else { return };
    let text = head.bytes.get(LEN_FIELD..).unwrap_or_default();
    let is_entry = [&b"\"dtype\""[..], b"\"shape\"", b"\"data_offsets\""]
        .iter()
        .all(|field| text.windows(field.len()).any(|window| window == *field));
    if matches!(error.kind(), ErrorKind::MetadataNotString | ErrorKind::MetadataNotObject) && is_entry {
        findings.push(Finding {
            byte: error.offset(),
            tensor: Some("__metadata__".into()),
            ..Finding::warning(
                "tensor-named-metadata",
                "it seems that a tensor was saved under the name __metadata__, which the format keeps for strings"
                    .into(),
                "save the tensor under another name: no reader opens this file",
            )
        });
    }
}

/// Where a header that every reader of the reference's kind accepts is not what the specification says.
fn spelling(head: &[u8], parse: &ParseOptions, findings: &mut Vec<Finding>) {
    let text = head.get(LEN_FIELD..).unwrap_or_default();
    let start = text.len() - text.trim_ascii_start().len();
    let end = text.trim_ascii_end().len();
    if start > 0 {
        findings.push(Finding {
            byte: Some(LEN_FIELD as u64),
            ..Finding::warning(
                "header-leading-space",
                "byte 8: the header starts with white space, where the specification wants a `{`".into(),
                "some readers refuse it: write the file again with a current tool",
            )
        });
    }
    if let Some(at) = text.get(end..).unwrap_or_default().iter().position(|&byte| byte != b' ') {
        let byte = LEN_FIELD + end + at;
        findings.push(Finding {
            byte: Some(byte as u64),
            ..Finding::warning(
                "header-padding",
                format!("byte {byte}: the header is padded with something else than spaces"),
                "some readers refuse it: write the file again with a current tool",
            )
        });
    }
    // The fields, in the text without what stands around it.
    let text = text.get(start..end).unwrap_or_default();
    let bare = [&(text.len() as u64).to_le_bytes()[..], text].concat();
    let strict = ParseOptions { strict: true, ..*parse };
    if let Err(error) = strict.parse_header(&bare)
        && error.kind() == ErrorKind::UnknownField
    {
        let byte = error.offset().map(|byte| byte.saturating_add(start as u64));
        let explained = error.explain(&bare);
        let tensor = explained.tensor().map(|name| name.to_cow().into_owned());
        findings.push(Finding {
            byte,
            detail: explained.to_string().lines().skip(1).map(String::from).collect(),
            tensor,
            ..Finding::warning(
                "unknown-field",
                format!("byte {}: an entry has a field that the specification does not know", byte.unwrap_or(0)),
                "readers ignore it, or refuse it; what it means to its writer is lost on others",
            )
        });
    }
}

/// What is odd about a name.
fn name(name: Text<'_>) -> Option<Finding> {
    let decoded = name.to_cow();
    let shown = escape::text(name);
    let (id, message, help) = if decoded.contains('\0') {
        ("name-nul", format!("the name {shown} holds a NUL"), "programs in C see only what stands before it")
    } else if decoded.chars().any(char::is_control) {
        (
            "name-control",
            format!("the name {shown} holds control characters"),
            "they may act on a terminal: do not print it raw",
        )
    } else if decoded.chars().any(escape::is_unsafe) {
        (
            "name-invisible",
            format!("the name {shown} holds characters that cannot be seen, or change the direction of text"),
            "it may look like another name: compare it by its characters",
        )
    } else if is_path(&decoded) {
        (
            "name-path",
            format!("the name {shown} has the parts of a path that leads elsewhere"),
            "do not use it as the name of a file",
        )
    } else if decoded == "__metadata__" {
        ("tensor-named-metadata", "a tensor is called __metadata__".into(), "save it under another name")
    } else {
        return None;
    };
    Some(Finding { tensor: Some(decoded.into_owned()), ..Finding::warning(id, message, help) })
}

/// Whether a tool that writes a file for each tensor would write it elsewhere than it means to. Slashes alone are
/// common in names, and lead downwards.
fn is_path(name: &str) -> bool {
    let drive = matches!(name.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    drive || name.starts_with('/') || name.contains('\\') || name.split('/').any(|part| part == "..")
}

/// Whether numbers can be used where they lie.
fn layout(shard: &Shard, findings: &mut Vec<Finding>) {
    let header = shard.header();
    if !header.data_start().is_multiple_of(8) && !header.is_empty() {
        findings.push(Finding {
            byte: Some(header.data_start()),
            ..Finding::warning(
                "data-misaligned",
                format!("the data section starts at byte {}, which is no multiple of 8", header.data_start()),
                "numbers have to be copied before they are used; write the file again with a current tool",
            )
        });
    }
    let misaligned: Vec<TensorInfo<'_>> = header
        .tensors()
        .filter(|info| info.byte_len() > 0 && !info.file_range().start.is_multiple_of(alignment(info.dtype())))
        .collect();
    if let Some(first) = misaligned.first() {
        let bytes: u64 = misaligned.iter().map(TensorInfo::byte_len).sum();
        let start = first.file_range().start;
        findings.push(Finding {
            byte: Some(start),
            tensor: Some(first.name().to_cow().into_owned()),
            ..Finding::warning(
                "tensor-misaligned",
                format!(
                    "{} of {bytes} bytes in all lie where their numbers cannot be used in place; the first is {} ({}, at byte {start})",
                    plural(misaligned.len(), "tensor"),
                    escape::text(first.name()),
                    first.dtype()
                ),
                "readers copy them, or read them slowly; write the file again, the widest dtypes first",
            )
        });
    }
}

/// What an element's address is a multiple of, in memory.
fn alignment(dtype: Dtype) -> u64 {
    match dtype {
        Dtype::C64 => 4, // two F32
        dtype => u64::from(dtype.bits() / 8).max(1),
    }
}

/// Tensors that writers left out because they share their numbers with another: `__metadata__` then says so, the name
/// that was dropped and the name that was kept.
pub(super) fn check_tied(catalog: &Catalog, findings: &mut Vec<Finding>) {
    for (dropped, kept) in catalog.metadata() {
        let (dropped, kept) = (dropped.to_cow(), kept.to_cow());
        if catalog.tensor(&dropped).is_err() && catalog.tensor(&kept).is_ok() {
            let message = format!(
                "the tensor {} is not there: by the metadata it shares the numbers of {}",
                escape::str(&dropped),
                escape::str(&kept)
            );
            let help = "who loads the model must tie the two";
            findings.push(Finding { tensor: Some(dropped.into()), ..Finding::warning("tied-tensor", message, help) });
        }
    }
}
