//! `weightview export`: one tensor, for other programs.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal as _, Read, Seek as _, SeekFrom, Write};
use std::process::ExitCode;

use weightview::TensorView;
use weightview::safetensors::ParseOptions;

use crate::cli::{ExportArgs, ExportFormat};
use crate::fault::{self, Fault};
use crate::ls;
use crate::npy;
use crate::opened::{Opened, Take};
use crate::tensors::Source;

/// Elements that are widened at once.
const BLOCK: usize = 64 * 1024;

pub(crate) fn run(args: &ExportArgs) -> ExitCode {
    match export(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => ls::report(&[fault]),
    }
}

fn export(args: &ExportArgs) -> Result<(), Fault> {
    let opened = Opened::open(&args.file, &ParseOptions::default(), Take::PartOfFiles)?;
    let sources = opened.model()?.sources();
    let source = sources.iter().find(|source| source.info.name() == args.name.as_str());
    let Some(&Source { path, info }) = source else { return Err(no_tensor(args, &opened)) };

    let dtype = info.dtype();
    let descr = if args.f32 { Some("<f4") } else { npy::descr(dtype) };
    let before = match (args.format, descr) {
        (ExportFormat::Raw, _) => Vec::new(),
        (ExportFormat::Npy, Some(descr)) => npy::header(descr, info.shape()),
        (ExportFormat::Npy, None) => return Err(fault::not_in_numpy(path, dtype)),
    };
    let mut file = File::open(path).map_err(|error| fault::unreadable(path, &error))?;
    file.seek(SeekFrom::Start(info.file_range().start)).map_err(|_| fault::not_seekable(path))?;
    let mut data = file.take(info.byte_len());
    let mut bytes = Vec::new();
    let wide = if args.f32 {
        data.read_to_end(&mut bytes).map_err(|error| fault::unreadable(path, &error))?;
        let view = info.view(&bytes).map_err(|error| fault::malformed(path, &error, &[]))?;
        // Asked before anything is written.
        view.iter_f32().map_err(|error| fault::not_widened(path, &error))?;
        Some(view)
    } else {
        None
    };

    let out: Box<dyn Write> = if args.output.as_os_str() == "-" {
        let stdout = io::stdout();
        if stdout.is_terminal() {
            return Err(fault::terminal());
        }
        Box::new(stdout.lock())
    } else {
        Box::new(File::create(&args.output).map_err(|error| fault::unwritten(&args.output, &error))?)
    };
    let mut out = BufWriter::with_capacity(1 << 18, out);
    let written = out.write_all(&before).and_then(|()| match wide {
        Some(view) => widen(&view, &mut out),
        None => copy(&mut data, info.byte_len(), &mut out),
    });
    match written.and_then(|()| out.flush()) {
        // Whoever closed the pipe has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(fault::unwritten(&args.output, &error)),
        Ok(()) => Ok(()),
    }
}

/// It is not there, or what should have it is at fault.
fn no_tensor(args: &ExportArgs, opened: &Opened<'_>) -> Fault {
    opened.faults().into_iter().next().unwrap_or_else(|| fault::no_tensor(&args.file, &args.name))
}

/// The tensor as `f32`, little-endian.
fn widen(view: &TensorView<'_>, out: &mut impl Write) -> io::Result<()> {
    let mut wide = vec![0f32; BLOCK];
    for piece in view.chunks(BLOCK).map_err(io::Error::other)? {
        let wide = wide.get_mut(..piece.elements()).unwrap_or_default(); // pieces are no longer than that
        piece.read_f32(wide).map_err(io::Error::other)?;
        let bytes: Vec<u8> = wide.iter().flat_map(|number| number.to_le_bytes()).collect();
        out.write_all(&bytes)?;
    }
    Ok(())
}

/// The tensor's bytes as they are. The file was as long as its header says; it may have become shorter.
fn copy(data: &mut impl Read, len: u64, out: &mut impl Write) -> io::Result<()> {
    if io::copy(data, out)? != len {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter while it was read"));
    }
    Ok(())
}
