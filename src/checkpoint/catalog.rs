//! The door: the heads of a checkpoint's files, and one table of all tensors.

use std::fmt;
use std::path::{Path, PathBuf};
use std::vec::Vec;

use super::error::CheckpointError;
use super::finding::Finding;
use super::open;
use super::policy::Options;
use super::shard::Shard;
use super::table::Row;
use crate::error::{Error, ErrorKind};
use crate::text::Text;
use crate::view::TensorInfo;

/// What a checkpoint is made of: the heads of its files, proven, and one table of all tensors. The data is not
/// read, so a checkpoint of any size is listed at once, on any host.
///
/// ```
/// use weightview::checkpoint::{Catalog, Options};
///
/// // A file, a directory, or an index: "model/", "model/model.safetensors.index.json".
/// let catalog = Catalog::open("tests/data/digits.safetensors", &Options::default())?;
/// for tensor in catalog.tensors() {
///     println!("{} {:?} in {}", tensor.name(), tensor.info().shape(), tensor.shard().name());
/// }
/// let bias = catalog.tensor("fc1.bias")?;
/// assert_eq!(bias.info().shape(), [32]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Catalog {
    pub(super) path: PathBuf,
    pub(super) index: Option<PathBuf>,
    pub(super) shards: Vec<Shard>,
    /// By name, each name once.
    pub(super) rows: Vec<Row>,
    pub(super) findings: Vec<Finding>,
}

impl Catalog {
    /// Opens what stands at `path`: a safetensors file; an index (`*.index.json`) with the shards that it names; or
    /// a directory, in which [the index or the files](super#what-is-opened) are found. Reads the index and the heads
    /// of the files, nothing else.
    ///
    /// # Errors
    /// [`CheckpointError::Refused`] with everything that was found and that the policy refuses; the other variants
    /// where there is nothing to go on with.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self, CheckpointError> {
        open::open(path.as_ref(), options)
    }

    /// The path that was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The index file, when there is one.
    #[must_use]
    pub fn index_path(&self) -> Option<&Path> {
        self.index.as_deref()
    }

    /// The files whose heads were read, by name.
    #[must_use]
    pub fn shards(&self) -> &[Shard] {
        &self.shards
    }

    /// How many tensors there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no tensors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The tensors, in the order of their names (by Unicode scalar value).
    #[must_use]
    pub fn tensors(&self) -> Entries<'_> {
        Entries { shards: &self.shards, rows: self.rows.iter() }
    }

    /// The tensor of that name: a binary search.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`].
    pub fn tensor(&self, name: &str) -> Result<Entry<'_>, Error> {
        let wanted = Text::from(name);
        let place = self.rows.binary_search_by(|row| row.name(&self.shards).cmp(&wanted)).ok();
        let row = place.and_then(|place| self.rows.get(place));
        row.and_then(|row| Entry::new(*row, &self.shards)).ok_or(Error::call(ErrorKind::NotFound))
    }

    /// What was found and not refused: first what is about files, then what is about tensors, by name.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The strings of `__metadata__` of all shards, by key: each pair of key and value once. A key on which shards
    /// disagree stands several times, its values in the order of the shards. For those of a single shard, see
    /// [`Shard::header`].
    #[must_use]
    pub fn metadata(&self) -> Vec<(Text<'_>, Text<'_>)> {
        let mut pairs: Vec<_> = self.shards.iter().flat_map(|shard| shard.header().metadata()).zip(0usize..).collect();
        // Equal pairs side by side, the first of them first.
        pairs.sort();
        pairs.dedup_by(|(pair, _), (first, _)| pair == first);
        pairs.sort_by(|((a, _), a_at), ((b, _), b_at)| a.cmp(b).then(a_at.cmp(b_at)));
        pairs.into_iter().map(|(pair, _)| pair).collect()
    }
}

impl fmt::Debug for Catalog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Catalog")
            .field("path", &self.path)
            .field("shards", &self.shards.len())
            .field("tensors", &self.rows.len())
            .field("findings", &self.findings)
            .finish_non_exhaustive()
    }
}

/// A tensor of a [`Catalog`]: what its file's head says of it, and which file that is.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    info: TensorInfo<'a>,
    shard: &'a Shard,
}

impl<'a> Entry<'a> {
    fn new(row: Row, shards: &'a [Shard]) -> Option<Self> {
        Some(Self { info: row.info(shards)?, shard: row.shard(shards)? })
    }

    /// The tensor's name.
    #[must_use]
    pub const fn name(&self) -> Text<'a> {
        self.info.name()
    }

    /// What the head of its shard says: dtype, shape, and where its bytes lie *in that file*.
    #[must_use]
    pub const fn info(&self) -> TensorInfo<'a> {
        self.info
    }

    /// The file that has it.
    #[must_use]
    pub const fn shard(&self) -> &'a Shard {
        self.shard
    }

    /// Whether the file is long enough for it: always, unless the policy lets a truncated shard pass.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.info.file_range().end <= self.shard.file_len()
    }
}

impl fmt::Debug for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry").field("info", &self.info).field("shard", &self.shard.name()).finish()
    }
}

/// The tensors of a [`Catalog`], in the order of their names.
#[derive(Clone)]
pub struct Entries<'a> {
    shards: &'a [Shard],
    rows: core::slice::Iter<'a, Row>,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        Entry::new(*self.rows.next()?, self.shards)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.rows.size_hint()
    }
}

impl ExactSizeIterator for Entries<'_> {}
impl core::iter::FusedIterator for Entries<'_> {}

impl fmt::Debug for Entries<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entries").field("len", &self.rows.len()).finish_non_exhaustive()
    }
}
