//! What the caller may choose about opening a checkpoint.

use super::finding::FindingKind;
use crate::safetensors::ParseOptions;

/// How a checkpoint is opened. The default is right for checkpoints that one means to load.
///
/// ```
/// use weightview::checkpoint::{Action, Catalog, Options, Policy};
///
/// // As by default, but a stray file is a reason to refuse.
/// let policy = Policy { shard_stray: Action::Refuse, ..Policy::default() };
/// let catalog = Catalog::open("tests/data/digits.safetensors", &Options { policy, ..Options::default() })?;
/// assert!(catalog.findings().is_empty());
/// # Ok::<(), weightview::checkpoint::CheckpointError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// How the header of each file is parsed. Its `max_header_len` bounds the index file too.
    pub parse: ParseOptions,
    /// Which findings are errors.
    pub policy: Policy,
}

/// What is done about a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// The checkpoint is not opened: the error lists the finding.
    Refuse,
    /// The checkpoint is opened, and [`findings`](super::Catalog::findings) lists the finding.
    Report,
    /// The checkpoint is opened, and nobody is told.
    Ignore,
}

/// What is done about each kind of finding: see the [table](super#findings). The default refuses what leaves a
/// tensor missing, ambiguous or unreadable, or is unsafe, and reports the rest.
///
/// Whatever the policy, no file is opened under a name that is not safe, and no tensor that the index does not
/// name can be looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// [`FindingKind::ShardMissing`]. Default: refuse.
    pub shard_missing: Action,
    /// [`FindingKind::ShardUnreadable`]. Default: refuse.
    pub shard_unreadable: Action,
    /// [`FindingKind::ShardForeign`]. Default: refuse.
    pub shard_foreign: Action,
    /// [`FindingKind::ShardTruncated`]. Default: refuse.
    pub shard_truncated: Action,
    /// [`FindingKind::ShardMalformed`]. Default: refuse.
    pub shard_malformed: Action,
    /// [`FindingKind::ShardNameInvalid`]. Default: refuse.
    pub shard_name_invalid: Action,
    /// [`FindingKind::ShardStray`]. Default: report.
    pub shard_stray: Action,
    /// [`FindingKind::TensorMissing`]. Default: refuse.
    pub tensor_missing: Action,
    /// [`FindingKind::TensorMisplaced`]. Default: refuse.
    pub tensor_misplaced: Action,
    /// [`FindingKind::TensorDuplicate`]. Default: refuse.
    pub tensor_duplicate: Action,
    /// [`FindingKind::TensorUnindexed`]. Default: report.
    pub tensor_unindexed: Action,
    /// [`FindingKind::TotalSizeWrong`]. Default: report.
    pub total_size_wrong: Action,
    /// [`FindingKind::IndexEmpty`]. Default: refuse.
    pub index_empty: Action,
}

impl Policy {
    /// Refuses whatever is found.
    pub const STRICT: Self = Self::all(Action::Refuse);

    /// Reports whatever is found, and goes on with what is left: right for listing what is there.
    pub const LENIENT: Self = Self::all(Action::Report);

    /// The default, as a constant.
    const DEFAULT: Self = Self {
        shard_stray: Action::Report,
        tensor_unindexed: Action::Report,
        total_size_wrong: Action::Report,
        ..Self::STRICT
    };

    /// The same for every kind.
    const fn all(action: Action) -> Self {
        Self {
            shard_missing: action,
            shard_unreadable: action,
            shard_foreign: action,
            shard_truncated: action,
            shard_malformed: action,
            shard_name_invalid: action,
            shard_stray: action,
            tensor_missing: action,
            tensor_misplaced: action,
            tensor_duplicate: action,
            tensor_unindexed: action,
            total_size_wrong: action,
            index_empty: action,
        }
    }

    /// What this policy does about a finding.
    #[must_use]
    pub const fn action(&self, kind: &FindingKind) -> Action {
        match kind {
            FindingKind::ShardMissing { .. } => self.shard_missing,
            FindingKind::ShardUnreadable { .. } => self.shard_unreadable,
            FindingKind::ShardForeign { .. } => self.shard_foreign,
            FindingKind::ShardTruncated { .. } => self.shard_truncated,
            FindingKind::ShardMalformed { .. } => self.shard_malformed,
            FindingKind::ShardNameInvalid { .. } => self.shard_name_invalid,
            FindingKind::ShardStray { .. } => self.shard_stray,
            FindingKind::TensorMissing { .. } => self.tensor_missing,
            FindingKind::TensorMisplaced { .. } => self.tensor_misplaced,
            FindingKind::TensorDuplicate { .. } => self.tensor_duplicate,
            FindingKind::TensorUnindexed { .. } => self.tensor_unindexed,
            FindingKind::TotalSizeWrong { .. } => self.total_size_wrong,
            FindingKind::IndexEmpty => self.index_empty,
        }
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::DEFAULT
    }
}
