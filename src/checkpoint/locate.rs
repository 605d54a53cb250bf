//! Which files make up a checkpoint: what stands at the path that was given.

use std::borrow::ToOwned as _;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::string::{String, ToString as _};
use std::vec::Vec;

use super::error::CheckpointError;
use super::set::EXTENSION;
use super::shard;
use crate::detect::Format;
use crate::error::{Error, ErrorKind};
use crate::file;

/// What the index of safetensors files ends in.
const INDEX: &str = ".safetensors.index.json";

/// What the index of PyTorch pickles ends in.
const PICKLE_INDEX: &str = ".bin.index.json";

/// The index that counts where there are several.
const MAIN_INDEX: &str = "model.safetensors.index.json";

/// Files of a directory without weights whose beginnings are looked at, to say what they are.
const LOOKED_AT: usize = 100;

/// What makes up a checkpoint.
pub(super) enum Layout {
    /// The one file that was given.
    File(PathBuf),
    /// All safetensors files of a directory, by name.
    Set(Vec<PathBuf>),
    /// What an index says.
    Index(PathBuf),
}

/// Finds out what stands at `path`: nothing is opened yet.
pub(super) fn locate(path: &Path) -> Result<Layout, CheckpointError> {
    let metadata = fs::metadata(path).map_err(CheckpointError::io(path))?;
    if metadata.is_dir() {
        return in_directory(path);
    }
    // A path of one's own that cannot be read is no finding.
    file::open(path).map_err(CheckpointError::io(path))?;
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    if name.ends_with(PICKLE_INDEX) {
        return Err(CheckpointError::Pickles { path: path.to_owned() });
    }
    Ok(if name.ends_with(".json") { Layout::Index(path.to_owned()) } else { Layout::File(path.to_owned()) })
}

/// The directory that the names in an index are meant from.
pub(super) fn directory_of(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// The names of the safetensors files that stand directly in a directory, in order. Hidden files are not meant.
pub(super) fn safetensors_in(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = names_in(directory)?;
    files.retain(|name| has_ending(name, EXTENSION));
    Ok(files)
}

/// The names of the indexes of safetensors files in a directory.
pub(super) fn indexes_in(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = names_in(directory)?;
    files.retain(|name| has_ending(name, INDEX));
    Ok(files)
}

/// Reads an index file, whose length is held against the limit first.
pub(super) fn read_index(path: &Path, limit: u64) -> Result<Vec<u8>, CheckpointError> {
    let (file, len) = file::open(path).map_err(CheckpointError::io(path))?;
    if len > limit {
        let error = Error::at(0, ErrorKind::IndexTooLong { len, limit });
        let detail = error.to_string().into();
        return Err(CheckpointError::Index { path: path.to_owned(), error, detail, format: None });
    }
    let mut bytes = Vec::new();
    file.take(len).read_to_end(&mut bytes).map_err(CheckpointError::io(path))?;
    Ok(bytes)
}

/// The names in a directory, sorted, but for hidden ones.
fn names_in(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        if !name.as_encoded_bytes().starts_with(b".") {
            names.push(PathBuf::from(name));
        }
    }
    names.sort_unstable();
    Ok(names)
}

fn has_ending(name: &Path, ending: &str) -> bool {
    name.as_os_str().as_encoded_bytes().ends_with(ending.as_bytes())
}

fn in_directory(directory: &Path) -> Result<Layout, CheckpointError> {
    let names = names_in(directory).map_err(CheckpointError::io(directory))?;
    let with = |ending: &str| -> Vec<&PathBuf> { names.iter().filter(|name| has_ending(name, ending)).collect() };
    let indexes = with(INDEX);
    match &indexes[..] {
        [] => {}
        [only] => return Ok(Layout::Index(directory.join(only))),
        several if several.iter().any(|name| name.as_os_str() == MAIN_INDEX) => {
            return Ok(Layout::Index(directory.join(MAIN_INDEX)));
        }
        several => {
            let indexes = several.iter().map(|name| lossy(name.as_os_str())).collect();
            return Err(CheckpointError::SeveralIndexes { path: directory.to_owned(), indexes });
        }
    }
    let files = with(EXTENSION);
    if !files.is_empty() {
        return Ok(Layout::Set(files.into_iter().map(|name| directory.join(name)).collect()));
    }
    if let [index, ..] = with(PICKLE_INDEX)[..] {
        return Err(CheckpointError::Pickles { path: directory.join(index) });
    }
    Err(no_weights(directory, &names))
}

/// What is there instead.
fn no_weights(directory: &Path, names: &[PathBuf]) -> CheckpointError {
    let (mut files, mut directories) = (Vec::new(), Vec::new());
    for name in names {
        let path = directory.join(name);
        let lossy = lossy(name.as_os_str());
        if !path.is_dir() {
            let format = if files.len() < LOOKED_AT { shard::format_of(&path) } else { None };
            files.push((lossy, format));
        } else if safetensors_in(&path).is_ok_and(|files| !files.is_empty()) {
            directories.push(lossy);
        }
    }
    let beside = |format: &Option<Format>| {
        matches!(format, None | Some(Format::Text | Format::Json | Format::Html | Format::Xml | Format::Empty))
    };
    files.sort_by_key(|(_, format)| beside(format));
    CheckpointError::NoWeights { path: directory.to_owned(), files, directories }
}

pub(super) fn lossy(name: &OsStr) -> String {
    name.to_string_lossy().into_owned()
}
