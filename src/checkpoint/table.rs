//! The table of a checkpoint's tensors: which file has each, by name, held against what the index says.

use std::string::String;
use std::sync::Arc;
use std::vec::Vec;

use super::finding::{Finding, FindingKind};
use super::placement::Placement;
use super::policy::{Action, Policy};
use super::shard::{Shard, decoded};
use crate::cursor::len_u64;
use crate::index::sealed::Directory as _;
use crate::text::Text;
use crate::view::TensorInfo;

/// A tensor: its shard, and where in that shard's header its name stands. The header has the rest; so the table
/// takes 24 bytes a tensor beside the headers.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// Where the quote before the name stands in the header's text.
    at: usize,
    /// Bytes of the name as it is spelt there.
    len: usize,
    shard: u32,
    escaped: bool,
}

impl Row {
    pub(super) fn shard(self, shards: &[Shard]) -> Option<&Shard> {
        shards.get(usize::try_from(self.shard).ok()?)
    }

    pub(super) fn name(self, shards: &[Shard]) -> Text<'_> {
        let start = self.at.saturating_add(1);
        let text = self.shard(shards).map(|shard| shard.owned_header().text());
        let raw = text.and_then(|text| text.get(start..start.saturating_add(self.len)));
        Text::json(raw.unwrap_or_default(), self.escaped)
    }

    pub(super) fn info(self, shards: &[Shard]) -> Option<TensorInfo<'_>> {
        Some(self.shard(shards)?.owned_header().info_at(len_u64(self.at)))
    }
}

/// All tensors of all shards, by name and then by shard.
pub(super) fn rows(shards: &[Shard]) -> Vec<Row> {
    let mut rows = Vec::with_capacity(shards.iter().map(|shard| shard.header().len()).sum());
    for (shard, number) in shards.iter().zip(0..) {
        for (at, name) in shard.header().names() {
            let at = usize::try_from(at).unwrap_or(usize::MAX); // a place in memory
            rows.push(Row { at, len: name.raw().len(), shard: number, escaped: name.as_str().is_none() });
        }
    }
    // Stable, and so shards stay in order; and headers mostly come in few runs, which this makes use of.
    rows.sort_by(|a, b| a.name(shards).cmp(&b.name(shards)));
    rows
}

/// What was found so far: what the policy refuses, and what it reports.
pub(super) struct Findings {
    policy: Policy,
    pub(super) refused: Vec<Finding>,
    pub(super) reported: Vec<Finding>,
}

impl Findings {
    pub(super) const fn new(policy: Policy) -> Self {
        Self { policy, refused: Vec::new(), reported: Vec::new() }
    }

    pub(super) fn push(&mut self, finding: Finding) {
        match self.policy.action(finding.kind()) {
            Action::Refuse => self.refused.push(finding),
            Action::Report => self.reported.push(finding),
            Action::Ignore => {}
        }
    }

    fn add(&mut self, kind: FindingKind) {
        self.push(Finding::new(kind));
    }
}

/// The rows that can be looked up when there is no index: the first of each name.
pub(super) fn settle(rows: Vec<Row>, shards: &[Shard], findings: &mut Findings) -> Vec<Row> {
    let mut kept = rows;
    let mut again: Vec<(usize, Vec<Row>)> = Vec::new();
    // In place: mostly, nothing is to be taken out.
    let mut place = 0usize;
    kept.dedup_by(|row, first| {
        let twice = row.name(shards) == first.name(shards);
        if !twice {
            place = place.saturating_add(1);
        } else if let Some((_, rows)) = again.last_mut().filter(|(last, _)| *last == place) {
            rows.push(*row);
        } else {
            again.push((place, std::vec![*first, *row]));
        }
        twice
    });
    for (_, copies) in again {
        duplicate(&copies, shards, None, findings);
    }
    kept
}

/// The rows that can be looked up when there is an index: those that it names, where it says that they are.
pub(super) fn settle_by(
    placement: &Placement<'_>,
    rows: &[Row],
    shards: &[Shard],
    findings: &mut Findings,
) -> Vec<Row> {
    let mut kept = Vec::with_capacity(rows.len().min(placement.tensors.len()));
    let mut placed = placement.tensors.iter().peekable();
    for copies in rows.chunk_by(|a, b| a.name(shards) == b.name(shards)) {
        let Some(first) = copies.first() else { continue };
        let name = first.name(shards);
        while let Some(&(tensor, file)) = placed.next_if(|(tensor, _)| *tensor < name) {
            missing(placement, tensor, file, findings);
        }
        let Some(&(_, file)) = placed.next_if(|(tensor, _)| *tensor == name) else {
            for row in copies {
                let shard = shard_name(*row, shards);
                findings.add(FindingKind::TensorUnindexed { tensor: decoded(name), shard });
            }
            continue;
        };
        let (indexed, number) = placement.file(file);
        let right = copies.iter().find(|row| Some(row.shard) == number);
        if right.is_none() {
            let found = shard_name(*first, shards);
            let indexed = Arc::clone(&indexed);
            findings.add(FindingKind::TensorMisplaced { tensor: decoded(name), indexed, found });
        }
        if copies.len() > 1 {
            duplicate(copies, shards, Some(indexed), findings);
        }
        kept.push(*right.unwrap_or(first));
    }
    for &(tensor, file) in placed {
        missing(placement, tensor, file, findings);
    }
    if let Some(declared) = placement.total_size
        && kept.len() == placement.tensors.len()
    {
        let actual = total_size(&kept, rows.len(), shards);
        if actual != declared {
            findings.add(FindingKind::TotalSizeWrong { declared, actual });
        }
    }
    kept
}

/// A tensor that no shard has. Where its shard could not be opened, that is what was found, not this.
fn missing(placement: &Placement<'_>, tensor: Text<'_>, file: u32, findings: &mut Findings) {
    if let (shard, Some(_)) = placement.file(file) {
        findings.add(FindingKind::TensorMissing { tensor: decoded(tensor), shard });
    }
}

fn duplicate(copies: &[Row], shards: &[Shard], indexed: Option<Arc<str>>, findings: &mut Findings) {
    let tensor = copies.first().map_or_else(String::new, |row| decoded(row.name(shards)));
    let shards = copies.iter().map(|row| shard_name(*row, shards)).collect();
    findings.add(FindingKind::TensorDuplicate { tensor, shards, indexed });
}

fn shard_name(row: Row, shards: &[Shard]) -> Arc<str> {
    row.shard(shards).map(Shard::shared_name).unwrap_or_default()
}

/// The bytes of all tensors that are kept. Where those are all there are, they are the data sections: the
/// tensors of a file tile it.
fn total_size(kept: &[Row], all: usize, shards: &[Shard]) -> u64 {
    if kept.len() == all {
        return shards.iter().map(|shard| shard.header().data_len()).fold(0, u64::saturating_add);
    }
    kept.iter().filter_map(|row| row.info(shards)).map(|info| info.byte_len()).fold(0, u64::saturating_add)
}
