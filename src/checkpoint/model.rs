//! A checkpoint with its bytes.

use std::boxed::Box;
use std::fmt;
use std::fs;
use std::io;
use std::ops::Deref;
use std::path::Path;
use std::vec::Vec;

use super::catalog::{Catalog, Entries, Entry};
use super::error::CheckpointError;
use super::finding::{Finding, FindingKind};
use super::policy::Options;
use super::shard::Shard;
use crate::aligned::ReadOptions;
use crate::cursor::{len_u64, range};
use crate::error::{Error, ErrorKind};
use crate::text::Text;
use crate::view::TensorView;

/// A checkpoint in memory: a [`Catalog`], and the data of every file of it. Tensors are views into that.
///
/// ```
/// use weightview::checkpoint::Checkpoint;
///
/// // A file, a directory, or an index: "model/", "model/model.safetensors.index.json".
/// let checkpoint = Checkpoint::open_read("tests/data/digits.safetensors")?;
/// let bias = checkpoint.tensor("fc1.bias")?;
/// let numbers: &[f32] = bias.as_slice()?;
/// assert_eq!(numbers.len(), 32);
/// assert_eq!(checkpoint.catalog().tensor("fc1.bias")?.shard().name(), "digits.safetensors");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Checkpoint {
    catalog: Catalog,
    /// By the numbers of the shards.
    data: Vec<Data>,
    /// How many tensors are whole.
    whole: usize,
}

/// The data of a file, wherever its bytes are.
pub(crate) struct Data {
    pub(crate) bytes: Box<dyn Deref<Target = [u8]> + Send + Sync>,
    /// Where the data section starts in them.
    pub(crate) start: usize,
}

impl Checkpoint {
    /// Opens what stands at `path`, as [`Catalog::open`] does, and reads all its data into memory, on all cores. The
    /// data section of each file is then aligned to 64 bytes, whatever the length of its header: a tensor that lies
    /// where its dtype needs it in that section is there for [`as_slice`](TensorView::as_slice).
    ///
    /// It needs as much memory as the files are long. In return nothing that happens to them later matters.
    ///
    /// # Errors
    /// Those of [`Catalog::open`]; [`CheckpointError::Io`]; [`CheckpointError::Changed`] when a file is not what it was
    /// when its head was read.
    pub fn open_read(path: impl AsRef<Path>) -> Result<Self, CheckpointError> {
        Self::open_read_with(path, &Options::default(), |_, _| Ok(()))
    }

    /// [`open_read`](Self::open_read) with options, and with a callback that is told how far it is: the bytes of data
    /// that were read, and those of all files. The calls come from any thread, one at a time. An error that it
    /// returns ends the reading, and is that of the [`CheckpointError::Io`].
    ///
    /// ```
    /// use weightview::checkpoint::{Checkpoint, Options};
    ///
    /// let progress = |done: u64, total: u64| {
    ///     eprint!("\r{done} of {total} bytes");
    ///     Ok(())
    /// };
    /// let path = "tests/data/digits.safetensors";
    /// let checkpoint = Checkpoint::open_read_with(path, &Options::default(), progress)?;
    /// assert_eq!(checkpoint.tensors().len(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As there.
    pub fn open_read_with(
        path: impl AsRef<Path>,
        options: &Options,
        progress: impl Fn(u64, u64) -> io::Result<()> + Sync,
    ) -> Result<Self, CheckpointError> {
        let catalog = Catalog::open(path, options)?;
        let total = catalog.shards().iter().map(data_len).fold(0, u64::saturating_add);
        let mut before = 0u64;
        Self::load(catalog, |shard| {
            let tell = |done: u64, _| progress(before.saturating_add(done), total);
            let start = shard.header().data_start();
            let data = ReadOptions::new().range(start..shard.file_len()).progress(&tell).read(shard.path())?;
            let head = ReadOptions::new().range(0..start).threads(1).read(shard.path())?;
            before = before.saturating_add(data_len(shard));
            Ok(has_head(&head, shard).then(|| Data { bytes: Box::new(data), start: 0 }))
        })
    }

    /// Loads the data of every file of the catalog, which is `None` where a file's head is not the one that was read
    /// before. Then each file must still have its length.
    pub(crate) fn load(
        catalog: Catalog,
        mut load: impl FnMut(&Shard) -> io::Result<Option<Data>>,
    ) -> Result<Self, CheckpointError> {
        let mut data = Vec::with_capacity(catalog.shards().len());
        for shard in catalog.shards() {
            check_host(&catalog, shard)?;
            let loaded = load(shard);
            let expected = shard.file_len();
            let changed = |actual| CheckpointError::Changed { path: shard.path().into(), expected, actual };
            // A reason of the second rank if the file is another now.
            let actual = fs::metadata(shard.path()).map_or(expected, |metadata| metadata.len());
            if actual != expected {
                return Err(changed(actual));
            }
            let loaded = loaded.map_err(CheckpointError::io(shard.path()))?.ok_or_else(|| changed(actual))?;
            if len_u64(loaded.data().len()) != data_len(shard) {
                return Err(changed(shard.header().data_start().saturating_add(len_u64(loaded.data().len()))));
            }
            data.push(loaded);
        }
        let cut = catalog.shards().iter().any(|shard| shard.file_len() < shard.header().file_len());
        let whole = if cut { catalog.tensors().filter(Entry::is_whole).count() } else { catalog.len() };
        Ok(Self { catalog, data, whole })
    }

    /// What the heads of the files say: shards, findings, and where each tensor lies.
    #[must_use]
    pub const fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The tensor of that name: a binary search. [`Catalog::tensor`] says which file has it.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`]; and [`ErrorKind::Truncated`] for a tensor that a truncated file cuts, which only a
    /// policy that reports those can let pass.
    pub fn tensor(&self, name: &str) -> Result<TensorView<'_>, Error> {
        self.view(self.catalog.tensor(name)?)
    }

    /// The tensors, in the order of their names: all that are whole.
    #[must_use]
    pub fn tensors(&self) -> Views<'_> {
        Views { checkpoint: self, entries: self.catalog.tensors(), left: self.whole }
    }

    /// The strings of `__metadata__` of all shards: see [`Catalog::metadata`].
    #[must_use]
    pub fn metadata(&self) -> Vec<(Text<'_>, Text<'_>)> {
        self.catalog.metadata()
    }

    /// The data section of a file, by the [number](Shard::number) of the shard.
    #[must_use]
    pub fn data(&self, shard: usize) -> Option<&[u8]> {
        self.data.get(shard).map(Data::data)
    }

    fn view<'a>(&'a self, entry: Entry<'a>) -> Result<TensorView<'a>, Error> {
        let (info, shard) = (entry.info(), entry.shard());
        let place = info.data_offsets();
        match self.data(shard.number()).and_then(|data| range(data, place.start, place.end)) {
            Some(bytes) => info.view(bytes),
            None => {
                let (expected, actual) = (shard.header().file_len(), shard.file_len());
                Err(Error::at(actual, ErrorKind::Truncated { expected, actual }))
            }
        }
    }
}

impl Data {
    fn data(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }
}

/// Bytes of a file behind its head.
fn data_len(shard: &Shard) -> u64 {
    shard.file_len().saturating_sub(shard.header().data_start())
}

/// Whether a file begins with the head that was read of it before.
pub(crate) fn has_head(bytes: &[u8], shard: &Shard) -> bool {
    let text = shard.owned_header().text();
    let len = len_u64(text.len()).to_le_bytes();
    bytes.strip_prefix(&len).is_some_and(|rest| rest.starts_with(text.as_bytes()))
}

/// On hosts below 64 bits: a dim that does not fit is refused here as by the parser of a whole file.
fn check_host(catalog: &Catalog, shard: &Shard) -> Result<(), CheckpointError> {
    shard.header().check_host().map_err(|error| {
        let kind = FindingKind::ShardMalformed { shard: shard.shared_name(), error };
        CheckpointError::Refused { path: catalog.path().into(), findings: std::vec![Finding::new(kind)] }
    })
}

impl fmt::Debug for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checkpoint").field("catalog", &self.catalog).finish_non_exhaustive()
    }
}

/// The tensors of a [`Checkpoint`], in the order of their names.
#[derive(Clone)]
pub struct Views<'a> {
    checkpoint: &'a Checkpoint,
    entries: Entries<'a>,
    left: usize,
}

impl<'a> Iterator for Views<'a> {
    type Item = TensorView<'a>;

    fn next(&mut self) -> Option<TensorView<'a>> {
        let view = self.entries.by_ref().find_map(|entry| self.checkpoint.view(entry).ok())?;
        self.left = self.left.saturating_sub(1);
        Some(view)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Views<'_> {}
impl core::iter::FusedIterator for Views<'_> {}

impl fmt::Debug for Views<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Views").field("left", &self.left).finish_non_exhaustive()
    }
}
