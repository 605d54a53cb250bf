//! `weightview check`: is this sound, and what would a reader stumble over?

mod beside;
mod mount;
mod report;
mod shard;
mod values;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use weightview::checkpoint::{self, Action, Catalog, CheckpointError, FindingKind, Options, Policy};
use weightview::safetensors::ParseOptions;

use self::report::{Finding, Report, Severity};
use crate::cli::CheckArgs;
use crate::fault::{self, Fault};
use crate::ls::{self, FILE_AT_FAULT, USAGE_OR_IO};
use crate::opened::is_one_file;

pub(crate) fn run(args: &CheckArgs) -> ExitCode {
    let mut report = Report::default();
    let mut faults = Vec::new();
    for path in &args.paths {
        match check(path, args) {
            Ok(findings) => report.add(path, findings),
            Err(fault) => faults.push(fault),
        }
    }
    if let Err(fault) = report.print(args.json) {
        faults.push(fault);
    }
    let status = ls::report(&faults);
    let trouble = faults.iter().any(|fault| fault.exit == USAGE_OR_IO);
    if !trouble && report.is_bad(args.strict) { ExitCode::from(FILE_AT_FAULT) } else { status }
}

/// All that can be said of what stands at a path. Only what cannot be read is no finding.
fn check(path: &Path, args: &CheckArgs) -> Result<Vec<Finding>, Fault> {
    let options = Options { parse: args.limits.parse_options(), policy: Policy::LENIENT };
    let catalog = match Catalog::open(path, &options) {
        Ok(catalog) => catalog,
        Err(error @ CheckpointError::Io { .. }) => return Err(fault::checkpoint(&error)),
        Err(error) => {
            let mut findings = vec![unopened(path, &error)];
            beside::check(path, None, &mut findings);
            return Ok(findings);
        }
    };
    let mut findings: Vec<Finding> = catalog.findings().iter().map(|finding| of_catalog(&catalog, finding)).collect();
    for opened in catalog.shards() {
        shard::check(&catalog, opened, &options.parse, &mut findings)?;
    }
    if catalog.shards().is_empty() {
        look_closer(path, &options.parse, &mut findings);
    }
    shard::check_tied(&catalog, &mut findings);
    beside::check(path, Some(&catalog), &mut findings);
    mount::check(path, &mut findings);
    if args.values {
        values::check(&catalog, &mut findings)?;
    }
    Ok(findings)
}

/// A checkpoint of which nothing can be opened.
fn unopened(path: &Path, error: &CheckpointError) -> Finding {
    let (id, help) = match error {
        CheckpointError::Index { .. } => {
            ("index-malformed", "fetch the index again, or check the shards by their names")
        }
        CheckpointError::SeveralIndexes { .. } => ("several-indexes", "check each by its name"),
        CheckpointError::NoWeights { .. } => {
            ("no-weights", "this version reads safetensors files; see whether the model has them")
        }
        CheckpointError::Pickles { .. } => ("pickles", "look for safetensors files of the model"),
        CheckpointError::TooLarge { .. } => {
            ("over-limit", "raise the limit, if this is meant: --max-header, --max-tensors")
        }
        _ => ("unreadable", "see what else writes to these files"),
    };
    // The path stands before every finding; the error begins with it, too.
    let message = error.to_string();
    let message = message.strip_prefix(&format!("{}: ", crate::escape::path(path))).unwrap_or(&message).to_owned();
    let detail = match error {
        CheckpointError::Index { detail, .. } => detail.lines().skip(1).map(String::from).collect(),
        _ => Vec::new(),
    };
    let byte = match error {
        CheckpointError::Index { error, .. } => error.offset(),
        _ => None,
    };
    Finding { detail, byte, ..Finding::new(Severity::Error, id, message, help) }
}

/// What the library has found.
fn of_catalog(catalog: &Catalog, finding: &checkpoint::Finding) -> Finding {
    let kind = finding.kind();
    let severity = match Policy::default().action(kind) {
        Action::Refuse => Severity::Error,
        _ => Severity::Warning,
    };
    let byte = match kind {
        FindingKind::ShardMalformed { error, .. } => error.offset(),
        FindingKind::ShardNameInvalid { at, .. } => Some(*at),
        _ => None,
    };
    let help = match kind {
        // A file of its own that is of another format is not lost: this version does not know it.
        FindingKind::ShardForeign { format, .. } if beside::is_model(*format) && catalog.index_path().is_none() => {
            "this version cannot read files of that format, so it cannot check it either"
        }
        _ => finding.advice(),
    };
    let detail = finding.detail().map(|detail| detail.lines().skip(1).map(String::from).collect());
    Finding {
        file: finding.shard().map(PathBuf::from),
        tensor: finding.tensor().map(String::from),
        byte,
        detail: detail.unwrap_or_default(),
        ..Finding::new(severity, finding.id(), finding.to_string(), help)
    }
}

/// Of a file whose header was refused, what the header shows all the same.
fn look_closer(path: &Path, parse: &ParseOptions, findings: &mut Vec<Finding>) {
    if is_one_file(path) {
        shard::check_refused(path, parse, findings);
    }
}
