//! How a catalog is made: the files are found, their heads read, several at a time, and all of it held against
//! the index.

use std::borrow::ToOwned as _;
use std::panic;
use std::path::{Path, PathBuf};
use std::string::ToString as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::vec::Vec;

use super::catalog::Catalog;
use super::error::{CheckpointError, Limit};
use super::finding::{Finding, FindingKind};
use super::locate::{self, Layout};
use super::placement::Placement;
use super::policy::Options;
use super::set;
use super::shard::{self, Budget, Opened, Shard, Wanted};
use super::table::{self, Findings, Row};
use crate::cursor::len_u64;
use crate::detect::{self, Format};
use crate::limits::MAX_HEADERS;
use crate::shards::ShardIndex;

/// The most files whose heads are read at a time: enough to hide the latency of a network.
const THREADS: usize = 8;

/// See [`Catalog::open`].
pub(super) fn open(path: &Path, options: &Options) -> Result<Catalog, CheckpointError> {
    match locate::locate(path)? {
        Layout::File(file) => open_file(path, file, options),
        Layout::Set(files) => open_set(path, files, options),
        Layout::Index(index) => open_index(path, index, options),
    }
}

/// The one file that was given.
fn open_file(path: &Path, file: PathBuf, options: &Options) -> Result<Catalog, CheckpointError> {
    let mut findings = Findings::new(options.policy);
    let wanted = [without_index(file)];
    let shards = open_all(path, &wanted, options, &mut findings)?.into_iter().flatten().collect();
    finish(path, None, shards, options, findings, |rows, _, _| rows)
}

/// All files that stand in a directory.
fn open_set(path: &Path, files: Vec<PathBuf>, options: &Options) -> Result<Catalog, CheckpointError> {
    let mut findings = Findings::new(options.policy);
    let wanted: Vec<Wanted> = files.into_iter().map(without_index).collect();
    let shards = open_all(path, &wanted, options, &mut findings)?.into_iter().flatten().collect();
    for shard in set::missing(wanted.iter().map(|wanted| &*wanted.name)) {
        findings.push(Finding::new(FindingKind::ShardMissing { shard: shard.into(), tensors: 0, link: None }));
    }
    finish(path, None, shards, options, findings, table::settle)
}

/// What an index names.
fn open_index(path: &Path, index: PathBuf, options: &Options) -> Result<Catalog, CheckpointError> {
    let bytes = locate::read_index(&index, options.parse.max_header_len)?;
    let parsed = ShardIndex::parse_with(&bytes, &options.parse).map_err(|error| {
        let format = detect::detect(&bytes).filter(|format| *format != Format::Json);
        CheckpointError::Index { path: index.clone(), error, detail: error.explain(&bytes).to_string().into(), format }
    })?;
    let directory = locate::directory_of(&index);
    let mut findings = Findings::new(options.policy);
    let mut placement = Placement::read(parsed, &mut findings);
    let wanted = placement.wanted(directory);
    let shards = placement.number(open_all(path, &wanted, options, &mut findings)?);
    placement.find_strays(&index, directory, &options.parse, &mut findings);
    finish(path, Some(index), shards, options, findings, |rows, shards, findings| {
        table::settle_by(&placement, &rows, shards, findings)
    })
}

/// Makes the table, and refuses what is to be refused.
fn finish(
    path: &Path,
    index: Option<PathBuf>,
    mut shards: Vec<Shard>,
    options: &Options,
    mut findings: Findings,
    settle: impl FnOnce(Vec<Row>, &[Shard], &mut Findings) -> Vec<Row>,
) -> Result<Catalog, CheckpointError> {
    let tensors = shards.iter().map(|shard| len_u64(shard.header().len())).fold(0, u64::saturating_add);
    if tensors > options.parse.max_tensors {
        let limit = Limit::Tensors(options.parse.max_tensors);
        return Err(CheckpointError::TooLarge { path: path.to_owned(), limit });
    }
    shard::number(&mut shards);
    let rows = settle(table::rows(&shards), &shards, &mut findings);
    let path = path.to_owned();
    if !findings.refused.is_empty() {
        return Err(CheckpointError::Refused { path, findings: findings.refused });
    }
    Ok(Catalog { path, index, shards, rows, findings: findings.reported })
}

fn without_index(path: PathBuf) -> Wanted {
    let name = path.file_name().map(locate::lossy).unwrap_or_default();
    Wanted { name: name.into(), path, tensors: 0 }
}

/// Opens the files, several at a time; what is wrong with one is a finding. Gives the shards in the order of the
/// files.
fn open_all(
    path: &Path,
    wanted: &[Wanted],
    options: &Options,
    findings: &mut Findings,
) -> Result<Vec<Option<Shard>>, CheckpointError> {
    let limit = options.parse.max_header_len.saturating_mul(MAX_HEADERS);
    let budget = Budget::new(limit);
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done: Vec<(usize, Opened)> = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(wanted) = wanted.get(place) else { return done };
            done.push((place, shard::open(wanted, &options.parse, &budget)));
        }
    };
    let mut opened = thread::scope(|scope| {
        // A host without threads, or without more of them, has this one.
        let helpers: Vec<_> = (1..THREADS.min(wanted.len()))
            .map_while(|_| thread::Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        let mut opened = work();
        for helper in helpers {
            match helper.join() {
                Ok(done) => opened.extend(done),
                Err(cause) => panic::resume_unwind(cause),
            }
        }
        opened
    });
    opened.sort_unstable_by_key(|(place, _)| *place);
    if opened.iter().any(|(_, opened)| opened.over_limit) {
        return Err(CheckpointError::TooLarge { path: path.to_owned(), limit: Limit::Headers(limit) });
    }
    let opened = opened.into_iter().map(|(_, Opened { shard, finding, .. })| {
        finding.into_iter().for_each(|finding| findings.push(finding));
        shard
    });
    Ok(opened.collect())
}
