//! Checkpoints whose files are mapped.

use std::boxed::Box;
use std::path::Path;

use super::MappedFile;
use crate::checkpoint::model::{Data, has_head};
use crate::checkpoint::{Catalog, Checkpoint, CheckpointError, Options};

impl Checkpoint {
    /// Opens what stands at `path`, as [`Catalog::open`] does, and maps every file of it: nothing is read before it is
    /// touched, whatever the size.
    ///
    /// # Errors
    /// Those of [`Catalog::open`]; [`CheckpointError::Io`] when a file cannot be mapped, as when an address space of 32
    /// bits is too small; [`CheckpointError::Changed`] when a file is not what it was when its head was read.
    ///
    /// # Safety
    /// That of [`MappedFile::open`], for every file: none may change as long as the checkpoint is there.
    ///
    /// ```
    /// use weightview::checkpoint::Checkpoint;
    ///
    /// // SAFETY: nothing writes to the files of the tests.
    /// let checkpoint = unsafe { Checkpoint::open_mapped("tests/data/digits.safetensors") }?;
    /// let mut bias = [0f32; 32];
    /// checkpoint.tensor("fc1.bias")?.read_f32(&mut bias)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn open_mapped(path: impl AsRef<Path>) -> Result<Self, CheckpointError> {
        // SAFETY: the caller's promise.
        unsafe { Self::open_mapped_with(path, &Options::default()) }
    }

    /// [`open_mapped`](Self::open_mapped) with options.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Safety
    /// As there.
    pub unsafe fn open_mapped_with(path: impl AsRef<Path>, options: &Options) -> Result<Self, CheckpointError> {
        Self::load(Catalog::open(path, options)?, |shard| {
            // SAFETY: the caller's promise.
            let file = unsafe { MappedFile::open(shard.path()) }?;
            let start = usize::try_from(shard.header().data_start()).unwrap_or(usize::MAX); // the head is in memory
            Ok(has_head(&file, shard).then(|| Data { bytes: Box::new(file), start }))
        })
    }
}
