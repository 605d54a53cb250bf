//! `weightview hash`: are these the same tensors, is this the file that was listed?

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use sha2::{Digest as _, Sha256};

use crate::cli::HashArgs;
use crate::digest::{self, Content, Tree};
use crate::escape;
use crate::fault::{self, Fault};
use crate::input;
use crate::json;
use crate::ls;
use crate::opened::{self, Opened, Take};
use crate::work::{self, PIECE, Span};

pub(crate) fn run(args: &HashArgs) -> ExitCode {
    let outcome = if args.sha256 { sha256(args) } else { content(args) };
    ls::report(outcome.err().as_slice())
}

/// The digest of the tensors.
fn content(args: &HashArgs) -> Result<(), Fault> {
    let opened = Opened::open(&args.path, &args.limits.parse_options(), Take::Whole)?;
    let mut sources = opened.model()?.sources();
    sources.sort_by(|a, b| a.info.name().cmp(&b.info.name()));
    let spans: Vec<_> = sources
        .iter()
        .map(|source| [Span { path: source.path, bytes: source.info.file_range(), step: PIECE }])
        .collect();
    let node = |piece: &work::Piece<'_>| {
        let pieces = spans.get(piece.item).map(|[span]| span.pieces()).unwrap_or(1);
        digest::node(piece, pieces == 1)
    };
    let (mut content, mut tree, mut tensors) = (Content::new(), Tree::default(), Vec::new());
    work::pieces(&spans, node, |item, last, node| {
        if let (Some(digest), Some(source)) = (tree.add(node, last), sources.get(item)) {
            content.add(&source.info, digest);
            if args.tensors {
                tensors.push((source, digest.to_hex()));
            }
        }
        Ok(())
    })?;
    let digest = content.finish().to_hex();
    print(|out| {
        if args.json {
            write!(out, "{{\"path\":")?;
            json::string(out, args.path.to_string_lossy().chars())?;
            write!(out, ",\"digest\":\"{digest}\"")?;
            if args.tensors {
                write!(out, ",\"tensors\":{{")?;
                for (i, (source, digest)) in tensors.iter().enumerate() {
                    json::separate(out, i)?;
                    json::string(out, source.info.name().chars())?;
                    write!(out, ":\"{digest}\"")?;
                }
                write!(out, "\n}}")?;
            }
            return writeln!(out, "}}");
        }
        for (source, digest) in &tensors {
            writeln!(out, "{digest}  {}", escape::text(source.info.name()))?;
        }
        writeln!(out, "{digest}  {}", escape::path(&args.path))
    })?;
    expect(args, &args.path, &digest)
}

/// SHA-256 of whole files, which is what model hubs list.
fn sha256(args: &HashArgs) -> Result<(), Fault> {
    // Not opened as models: any file has a SHA-256.
    let paths = if opened::is_one_file(&args.path) {
        vec![args.path.clone()]
    } else {
        Opened::open(&args.path, &args.limits.parse_options(), Take::Whole)?.paths()
    };
    if let ([_, _, ..], Some(_)) = (paths.as_slice(), &args.expect) {
        return Err(fault::expect_many(&args.path, paths.len()));
    }
    let mut digests = Vec::new();
    for path in &paths {
        let len = input::file_len(path)?;
        let mut hasher = Sha256::new();
        let span = [Span { path, bytes: 0..len, step: PIECE }];
        work::pieces(
            &[span],
            |piece| piece.bytes.first().copied().unwrap_or_default().to_vec(),
            |_, _, bytes| {
                hasher.update(bytes);
                Ok(())
            },
        )?;
        let hex: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        digests.push((path, hex));
    }
    print(|out| {
        if !args.json {
            return digests.iter().try_for_each(|(path, digest)| writeln!(out, "{digest}  {}", escape::path(path)));
        }
        write!(out, "{{\"files\":[")?;
        for (i, (path, digest)) in digests.iter().enumerate() {
            json::separate(out, i)?;
            write!(out, "{{\"path\":")?;
            json::string(out, path.to_string_lossy().chars())?;
            write!(out, ",\"sha256\":\"{digest}\"}}")?;
        }
        writeln!(out, "\n]}}")
    })?;
    digests.iter().try_for_each(|(path, digest)| expect(args, path, digest))
}

/// Holds a digest against the one that is expected.
fn expect(args: &HashArgs, path: &Path, digest: &str) -> Result<(), Fault> {
    match &args.expect {
        Some(expected) if expected != digest => Err(fault::digest(path, expected, digest)),
        _ => Ok(()),
    }
}

/// Whoever closed the pipe has read enough.
fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Fault> {
    let mut out = BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(fault::unwritable(&error)),
        _ => Ok(()),
    }
}
