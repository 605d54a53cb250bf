//! What a path of the command line leads to: a file, or a checkpoint of several.

use std::path::{Path, PathBuf};

use weightview::TensorInfo;
use weightview::checkpoint::{Action, Catalog, Options, Policy};
use weightview::safetensors::{Header, ParseOptions};

use crate::fault::{self, Fault};
use crate::input::{self, Head};
use crate::tensors::Source;

/// The heads of what stands at a path.
pub(crate) enum Opened<'a> {
    File { path: &'a Path, head: Head, options: ParseOptions },
    Checkpoint(Box<Catalog>),
}

/// How it is opened.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Take {
    /// As much as there is, for listing; a pipe too.
    Part,
    /// As much as there is, from files that can be read again.
    PartOfFiles,
    /// The whole, or nothing.
    Whole,
}

impl<'a> Opened<'a> {
    pub(crate) fn open(path: &'a Path, options: &ParseOptions, take: Take) -> Result<Self, Fault> {
        if !is_one_file(path) {
            let policy = if take == Take::Whole { Policy::default() } else { Policy::LENIENT };
            let catalog = Catalog::open(path, &Options { parse: *options, policy });
            return catalog
                .map(|catalog| Self::Checkpoint(Box::new(catalog)))
                .map_err(|error| fault::checkpoint(&error));
        }
        let read = if take == Take::Part { input::read_head } else { input::read_file_head };
        Ok(Self::File { path, head: read(path, options)?, options: *options })
    }

    /// Proves what the heads say.
    pub(crate) fn model(&self) -> Result<Model<'_>, Fault> {
        Ok(match self {
            Self::File { path, head, options } => {
                Model { files: vec![(path, input::parse(path, head, options)?)], catalog: None }
            }
            Self::Checkpoint(catalog) => {
                let files = catalog.shards().iter().map(|shard| (shard.path(), shard.header()));
                Model { files: files.collect(), catalog: Some(catalog) }
            }
        })
    }

    /// What is wrong with it, though it was opened: that by which tensors are missing, ambiguous or unreadable.
    pub(crate) fn faults(&self) -> Vec<Fault> {
        let Self::Checkpoint(catalog) = self else { return Vec::new() };
        let grave = |kind| Policy::default().action(kind) == Action::Refuse;
        let findings = catalog.findings().iter().filter(|finding| grave(finding.kind()));
        findings.map(|finding| fault::finding(catalog.path(), finding)).collect()
    }

    /// The files.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        match self {
            Self::File { path, .. } => vec![path.to_path_buf()],
            Self::Checkpoint(catalog) => catalog.shards().iter().map(|shard| shard.path().into()).collect(),
        }
    }
}

/// What the heads say: the files, and the tensors in them.
pub(crate) struct Model<'a> {
    pub(crate) files: Vec<(&'a Path, Header<'a>)>,
    catalog: Option<&'a Catalog>,
}

impl<'a> Model<'a> {
    /// Calls `each` with the tensors and the places of their files, in the order of the files and their headers.
    /// Tensors of a shard that its checkpoint does not have are not among them.
    pub(crate) fn for_each(&self, mut each: impl FnMut(usize, &TensorInfo<'a>)) {
        let all: usize = self.files.iter().map(|(_, header)| header.len()).sum();
        let catalog = self.catalog.filter(|catalog| catalog.len() < all);
        for (file, (_, header)) in self.files.iter().enumerate() {
            for info in header.tensors() {
                let is_meant = |catalog: &Catalog| {
                    catalog.tensor(&info.name().to_cow()).is_ok_and(|entry| entry.shard().number() == file)
                };
                if catalog.is_none_or(is_meant) {
                    each(file, &info);
                }
            }
        }
    }

    /// The tensors that are there whole, and where they are.
    pub(crate) fn sources(&self) -> Vec<Source<'a>> {
        let len = |file: usize| self.catalog?.shards().get(file).map(|shard| shard.file_len());
        let mut sources = Vec::new();
        self.for_each(|file, info| {
            let whole = len(file).is_none_or(|len| info.file_range().end <= len);
            if let Some(&(path, _)) = self.files.get(file).filter(|_| whole) {
                sources.push(Source { path, info: *info });
            }
        });
        sources
    }
}

/// Whether the path is that of one file, not of a checkpoint of several.
pub(crate) fn is_one_file(path: &Path) -> bool {
    let is_index = || path.extension().is_some_and(|extension| extension == "json") && path.is_file();
    !path.is_dir() && !is_index()
}
