//! `weightview ls`: what is in these files?

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use weightview::safetensors::ParseOptions;

use crate::cli::LsArgs;
use crate::fault::{self, Fault};
use crate::listing::Listing;
use crate::opened::{Opened, Take};
use crate::{json, table, tree};

/// The exit status when a file is at fault.
pub(crate) const FILE_AT_FAULT: u8 = 1;
/// The exit status when the command is wrong, or a file could not be read.
pub(crate) const USAGE_OR_IO: u8 = 2;

pub(crate) fn run(args: &LsArgs) -> ExitCode {
    let options = args.limits.parse_options();
    let mut faults = Vec::new();
    let opened = open_all(&args.files, &options, Take::Part, &mut faults);
    let mut listing = Listing::default();
    for model in opened.iter().flat_map(Opened::model) {
        listing.add(&model, &args.filter);
    }
    listing.sort(args.sort);
    if let Err(error) = print(&listing, args) {
        // Whoever closed the pipe has read enough.
        if error.kind() != io::ErrorKind::BrokenPipe {
            faults.push(fault::unwritable(&error));
        }
    }
    report(&faults)
}

/// Opens all, and says what is wrong with each: what is given back can be read.
pub(crate) fn open_all<'a>(
    paths: &'a [PathBuf],
    options: &ParseOptions,
    take: Take,
    faults: &mut Vec<Fault>,
) -> Vec<Opened<'a>> {
    let mut all = Vec::new();
    for path in paths {
        let opened = Opened::open(path, options, take);
        match opened.and_then(|opened| opened.model().map(drop).map(|()| opened)) {
            Ok(opened) => {
                faults.extend(opened.faults());
                all.push(opened);
            }
            Err(fault) => faults.push(fault),
        }
    }
    all
}

/// Prints the listing. A program gets its document even of no file; a person would only wonder at an empty table.
fn print(listing: &Listing<'_>, args: &LsArgs) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(64 * 1024, io::stdout().lock());
    if args.json {
        json::write(listing, &mut out)?;
    } else if listing.files.is_empty() {
        return Ok(());
    } else if args.tree {
        tree::write(listing, &mut out)?;
    } else {
        table::write(listing, &mut out)?;
    }
    out.flush()
}

/// Says what is wrong, after the listing: at a terminal, the end is what is seen.
pub(crate) fn report(faults: &[Fault]) -> ExitCode {
    let mut err = io::stderr().lock();
    for fault in faults {
        let _ = writeln!(err, "weightview: {}", fault.message); // there is nobody else to tell
    }
    ExitCode::from(faults.iter().map(|fault| fault.exit).max().unwrap_or(0))
}
