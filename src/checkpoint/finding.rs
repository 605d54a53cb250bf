//! What can be wrong with a checkpoint beyond a single file, in kinds, names and sentences.

use std::boxed::Box;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::string::String;
use std::sync::Arc;
use std::vec::Vec;

use super::show::{At, Count, Name, Noun, list};
use crate::detect::Format;
use crate::error::Error;
use crate::shards::ShardNameFault;

/// Something that was found wrong with a checkpoint: its [kind](Self::kind), with the names of what is concerned.
/// `Display` is a sentence with those names in it, escaped where a terminal might act on them.
///
/// What is done about it is for the [`Policy`](super::Policy) to say.
#[derive(Clone, Debug)]
pub struct Finding {
    kind: FindingKind,
    detail: Option<Box<str>>,
}

/// The kinds of findings, each with what it concerns. Shards are named as the index spells them, or else by
/// their file names; tensors by their decoded names. The [table](super#findings) has the ids, what is done about
/// each by default, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FindingKind {
    /// `shard-missing`: a file that the index names, or a number in a set `…-00001-of-00003…`, is not there.
    ShardMissing {
        /// The file.
        shard: Arc<str>,
        /// How many tensors the index places in it; 0 without an index.
        tensors: usize,
        /// Where the file leads when it is a symbolic link to nothing.
        link: Option<PathBuf>,
    },
    /// `shard-unreadable`: the file is there but cannot be read, or is no regular file.
    ShardUnreadable {
        /// The file.
        shard: Arc<str>,
        /// What the operating system says, as a kind.
        error: io::ErrorKind,
        /// And as a sentence.
        reason: String,
    },
    /// `shard-foreign`: the file is something else than a safetensors file: a Git LFS pointer, a web page, empty.
    ShardForeign {
        /// The file.
        shard: Arc<str>,
        /// What it is.
        format: Format,
    },
    /// `shard-truncated`: the file ends before its tensors do.
    ShardTruncated {
        /// The file.
        shard: Arc<str>,
        /// Bytes expected: what the header implies, or, where the file ends inside the header, those of the head.
        expected: u64,
        /// Bytes there.
        actual: u64,
        /// The first tensor that is cut; `None` where the file ends inside the header.
        tensor: Option<String>,
    },
    /// `shard-malformed`: the file is no sound safetensors file. See [`Finding::detail`] too.
    ShardMalformed {
        /// The file.
        shard: Arc<str>,
        /// Why, and the byte.
        error: Error,
    },
    /// `shard-name-invalid`: the index names a file by something else than a plain name below its directory. The
    /// file is not looked for.
    ShardNameInvalid {
        /// What the index says.
        shard: Arc<str>,
        /// What is wrong with it.
        fault: ShardNameFault,
        /// The first tensor that the index places there.
        tensor: String,
        /// The byte of the index where that entry stands.
        at: u64,
        /// How many tensors the index places there.
        tensors: usize,
    },
    /// `shard-stray`: a `*.safetensors` file beside the index that no index there names. It is not opened.
    ShardStray {
        /// The file.
        shard: Arc<str>,
    },
    /// `tensor-missing`: the index names a tensor that no shard has.
    TensorMissing {
        /// The tensor.
        tensor: String,
        /// Where the index places it.
        shard: Arc<str>,
    },
    /// `tensor-misplaced`: the tensor is in another shard than the index says.
    TensorMisplaced {
        /// The tensor.
        tensor: String,
        /// Where the index places it.
        indexed: Arc<str>,
        /// Where it is.
        found: Arc<str>,
    },
    /// `tensor-duplicate`: the tensor is in several shards.
    TensorDuplicate {
        /// The tensor.
        tensor: String,
        /// Those that have it, in order.
        shards: Vec<Arc<str>>,
        /// Where the index places it; `None` without an index.
        indexed: Option<Arc<str>>,
    },
    /// `tensor-unindexed`: a shard has a tensor that the index does not name. It cannot be looked up.
    TensorUnindexed {
        /// The tensor.
        tensor: String,
        /// The shard that has it.
        shard: Arc<str>,
    },
    /// `total-size-wrong`: the index's `total_size` is not what its tensors take.
    TotalSizeWrong {
        /// What the index says, in bytes.
        declared: u64,
        /// The bytes of all tensors that it names.
        actual: u64,
    },
    /// `index-empty`: the index names no tensor at all.
    IndexEmpty,
}

impl Finding {
    pub(super) const fn new(kind: FindingKind) -> Self {
        Self { kind, detail: None }
    }

    /// The same with the place in a header.
    pub(super) fn with_detail(self, detail: String) -> Self {
        Self { detail: Some(detail.into_boxed_str()), ..self }
    }

    /// What was found.
    #[must_use]
    pub const fn kind(&self) -> &FindingKind {
        &self.kind
    }

    /// A stable name of the kind, for programs: `shard-missing`.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        match self.kind {
            FindingKind::ShardMissing { .. } => "shard-missing",
            FindingKind::ShardUnreadable { .. } => "shard-unreadable",
            FindingKind::ShardForeign { .. } => "shard-foreign",
            FindingKind::ShardTruncated { .. } => "shard-truncated",
            FindingKind::ShardMalformed { .. } => "shard-malformed",
            FindingKind::ShardNameInvalid { .. } => "shard-name-invalid",
            FindingKind::ShardStray { .. } => "shard-stray",
            FindingKind::TensorMissing { .. } => "tensor-missing",
            FindingKind::TensorMisplaced { .. } => "tensor-misplaced",
            FindingKind::TensorDuplicate { .. } => "tensor-duplicate",
            FindingKind::TensorUnindexed { .. } => "tensor-unindexed",
            FindingKind::TotalSizeWrong { .. } => "total-size-wrong",
            FindingKind::IndexEmpty => "index-empty",
        }
    }

    /// The tensor concerned, when it is about one.
    #[must_use]
    pub fn tensor(&self) -> Option<&str> {
        match &self.kind {
            FindingKind::ShardNameInvalid { tensor, .. }
            | FindingKind::TensorMissing { tensor, .. }
            | FindingKind::TensorMisplaced { tensor, .. }
            | FindingKind::TensorDuplicate { tensor, .. }
            | FindingKind::TensorUnindexed { tensor, .. } => Some(tensor),
            FindingKind::ShardTruncated { tensor, .. } => tensor.as_deref(),
            _ => None,
        }
    }

    /// The shard concerned: the one at fault, or the one where the index places the tensor, or else the first that
    /// has it.
    #[must_use]
    pub fn shard(&self) -> Option<&str> {
        match &self.kind {
            FindingKind::ShardMissing { shard, .. }
            | FindingKind::ShardUnreadable { shard, .. }
            | FindingKind::ShardForeign { shard, .. }
            | FindingKind::ShardTruncated { shard, .. }
            | FindingKind::ShardMalformed { shard, .. }
            | FindingKind::ShardNameInvalid { shard, .. }
            | FindingKind::ShardStray { shard }
            | FindingKind::TensorMissing { shard, .. }
            | FindingKind::TensorMisplaced { indexed: shard, .. }
            | FindingKind::TensorUnindexed { shard, .. } => Some(shard),
            FindingKind::TensorDuplicate { shards, indexed, .. } => {
                indexed.as_deref().or_else(|| shards.first().map(|shard| &**shard))
            }
            FindingKind::TotalSizeWrong { .. } | FindingKind::IndexEmpty => None,
        }
    }

    /// For a malformed shard: the fault with its place, an excerpt of the header with a caret under the byte, in
    /// several lines ([`Error::explain`]).
    #[must_use]
    pub fn detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }

    /// What to do about it, in a sentence.
    #[must_use]
    pub const fn advice(&self) -> &'static str {
        match self.kind {
            FindingKind::ShardMissing { link: Some(_), .. } => {
                "the download was not finished, or the cache was cleaned: fetch the model again"
            }
            FindingKind::ShardMissing { .. } => "fetch the file",
            FindingKind::ShardUnreadable { .. } => "see to its permissions, and that it is a regular file",
            FindingKind::ShardForeign { format: Format::GitLfsPointer, .. } => {
                "run `git lfs pull` in its repository, or download the file itself"
            }
            FindingKind::ShardForeign { .. } => "fetch the file again, from where the model really is",
            FindingKind::ShardTruncated { .. } => "the download or the copy was cut: repeat it",
            FindingKind::ShardMalformed { .. } => {
                "the file is damaged or was written wrongly: fetch it again, or tell who made it"
            }
            FindingKind::ShardNameInvalid { .. } => "do not trust this model; tell who publishes it",
            FindingKind::ShardStray { .. } => {
                "remove it if it is left over from another version; open it by its own name if it is wanted"
            }
            FindingKind::TensorMissing { .. } | FindingKind::TensorMisplaced { .. } => {
                "index and shards are of different versions: fetch all of them again"
            }
            FindingKind::TensorDuplicate { indexed: None, .. } => {
                "these files are not parts of one model: open the one that is wanted by its name"
            }
            FindingKind::TensorDuplicate { .. } => "readers disagree on which one counts: tell who publishes the model",
            FindingKind::TensorUnindexed { .. } => "stale, most likely: index and shards may be of different versions",
            FindingKind::TotalSizeWrong { .. } => {
                "the index was edited or written wrongly; some tools count tied weights twice"
            }
            FindingKind::IndexEmpty => "fetch the index again, or open the shards by their names",
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            FindingKind::ShardMissing { shard, tensors, link } => {
                let shard = Name(shard);
                match link {
                    Some(target) => write!(f, "{shard} is a link to {}, which is not there", At(target))?,
                    None => write!(f, "{shard} is missing")?,
                }
                match (tensors, link) {
                    (0, None) => f.write_str(": the other files of the set are numbered so that it must be there"),
                    (0, Some(_)) => Ok(()),
                    _ => write!(f, ": the index places {} in it", Count(*tensors, "tensor")),
                }
            }
            FindingKind::ShardUnreadable { shard, reason, .. } => {
                write!(f, "{} cannot be read: {reason}", Name(shard))
            }
            FindingKind::ShardForeign { shard, format } => match format {
                Format::Empty => write!(f, "{} is empty", Name(shard)),
                Format::Zeros => write!(f, "{} begins with nothing but zeros: it was never filled", Name(shard)),
                format => write!(f, "{} is {}, not a safetensors file", Name(shard), Noun(*format)),
            },
            FindingKind::ShardTruncated { shard, expected, actual, tensor } => {
                write!(f, "{} is truncated: {expected} bytes expected, {actual} there", Name(shard))?;
                match tensor {
                    Some(tensor) => write!(f, "; the first tensor that is cut is {}", Name(tensor)),
                    None => f.write_str("; it ends inside its header"),
                }
            }
            FindingKind::ShardMalformed { shard, error } => write!(f, "{} is malformed: {error}", Name(shard)),
            FindingKind::ShardNameInvalid { shard, fault, tensor, at, tensors } => {
                let (shard, tensor) = (Name(shard), Name(tensor));
                write!(
                    f,
                    "the index places {tensor} (byte {at}) in {shard}, which is no safe name of a shard: {fault}"
                )?;
                match tensors.saturating_sub(1) {
                    0 => Ok(()),
                    more => write!(f, "; and {} more there", Count(more, "tensor")),
                }
            }
            FindingKind::ShardStray { shard } => {
                write!(f, "{} is in no index: its tensors are no part of the checkpoint", Name(shard))
            }
            FindingKind::TensorMissing { tensor, shard } => {
                write!(f, "{} is in no shard; the index places it in {}", Name(tensor), Name(shard))
            }
            FindingKind::TensorMisplaced { tensor, indexed, found } => {
                write!(f, "{} is in {}, but the index places it in {}", Name(tensor), Name(found), Name(indexed))
            }
            FindingKind::TensorDuplicate { tensor, shards, indexed } => {
                write!(f, "{} is in {}: ", Name(tensor), Count(shards.len(), "shard"))?;
                list(f, shards.iter().map(|shard| Name(shard)))?;
                match indexed {
                    Some(indexed) => write!(f, "; the index places it in {}", Name(indexed)),
                    None => Ok(()),
                }
            }
            FindingKind::TensorUnindexed { tensor, shard } => {
                write!(f, "{} of {} is not in the index: it is no part of the checkpoint", Name(tensor), Name(shard))
            }
            FindingKind::TotalSizeWrong { declared, actual } => {
                write!(f, "the index says that its tensors have {declared} bytes (total_size), but they have {actual}")
            }
            FindingKind::IndexEmpty => f.write_str("the index names no tensor"),
        }
    }
}
