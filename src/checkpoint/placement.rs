//! What an index says: which files there are, and in which of them each tensor is.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::string::String;
use std::sync::Arc;
use std::vec::Vec;

use super::finding::{Finding, FindingKind};
use super::locate;
use super::shard::{Shard, Wanted, decoded};
use super::table::Findings;
use crate::safetensors::ParseOptions;
use crate::shards::{self, ShardIndex, ShardNameFault};
use crate::text::Text;

/// What an index says, by name.
pub(super) struct Placement<'i> {
    /// In the order of their names.
    files: Vec<NamedFile<'i>>,
    /// In the order of their names; each with the number of its file.
    pub(super) tensors: Vec<(Text<'i>, u32)>,
    /// The index's `total_size`.
    pub(super) total_size: Option<u64>,
}

/// A file that the index names.
struct NamedFile<'i> {
    name: Arc<str>,
    /// Why it is not opened under this name.
    fault: Option<ShardNameFault>,
    /// The number of its shard, when it could be opened.
    shard: Option<u32>,
    /// The first tensor that the index places there, and the byte of that entry.
    tensor: Text<'i>,
    at: u64,
    /// How many tensors the index places there.
    tensors: usize,
}

impl<'i> Placement<'i> {
    /// Puts the index in order. What is wrong with it by itself is found here.
    pub(super) fn read(index: ShardIndex<'i>, findings: &mut Findings) -> Self {
        let mut files: Vec<NamedFile<'i>> = Vec::new();
        let mut tensors = Vec::with_capacity(index.len());
        let mut numbers: HashMap<Cow<'i, str>, u32> = HashMap::new();
        let mut last = ("", u32::MAX);
        for entry in index.entries() {
            // Mostly the tensors of a file stand together.
            if last.0 != entry.shard.raw() || last.1 == u32::MAX {
                let number = numbers.entry(entry.shard.to_cow()).or_insert_with_key(|name| {
                    files.push(NamedFile {
                        name: Arc::from(&**name),
                        fault: shards::check_name(entry.shard).err(),
                        shard: None,
                        tensor: entry.tensor,
                        at: entry.at,
                        tensors: 0,
                    });
                    u32_of(files.len()).saturating_sub(1)
                });
                last = (entry.shard.raw(), *number);
            }
            if let Some(file) = usize::try_from(last.1).ok().and_then(|number| files.get_mut(number)) {
                file.tensors = file.tensors.saturating_add(1);
            }
            tensors.push((entry.tensor, last.1));
        }
        drop(numbers);
        sort_files(&mut files, &mut tensors);
        tensors.sort(); // by name: each stands once

        if tensors.is_empty() {
            findings.push(Finding::new(FindingKind::IndexEmpty));
        }
        for file in &files {
            if let Some(fault) = file.fault {
                let (shard, tensor) = (Arc::clone(&file.name), decoded(file.tensor));
                let (at, tensors) = (file.at, file.tensors);
                findings.push(Finding::new(FindingKind::ShardNameInvalid { shard, fault, tensor, at, tensors }));
            }
        }
        Self { files, tensors, total_size: index.total_size() }
    }

    /// The files to be opened: those whose names are safe.
    pub(super) fn wanted(&self, directory: &Path) -> Vec<Wanted> {
        let safe = self.files.iter().filter(|file| file.fault.is_none());
        let wanted = safe.map(|file| Wanted {
            name: Arc::clone(&file.name),
            path: directory.join(&*file.name),
            tensors: file.tensors,
        });
        wanted.collect()
    }

    /// Takes what became of the wanted files, in their order, and numbers the shards among them.
    pub(super) fn number(&mut self, opened: Vec<Option<Shard>>) -> Vec<Shard> {
        let mut shards = Vec::new();
        let safe = self.files.iter_mut().filter(|file| file.fault.is_none());
        for (file, shard) in safe.zip(opened) {
            if let Some(shard) = shard {
                file.shard = Some(u32_of(shards.len()));
                shards.push(shard);
            }
        }
        shards
    }

    /// A file's name, and the number of its shard if it could be opened.
    pub(super) fn file(&self, number: u32) -> (Arc<str>, Option<u32>) {
        let file = usize::try_from(number).ok().and_then(|number| self.files.get(number));
        file.map(|file| (Arc::clone(&file.name), file.shard)).unwrap_or_default()
    }

    /// Finds the safetensors files beside the index that no index there names. A directory that cannot be listed
    /// has none to show.
    pub(super) fn find_strays(&self, index: &Path, directory: &Path, options: &ParseOptions, findings: &mut Findings) {
        let Ok(files) = locate::safetensors_in(directory) else { return };
        let mut strays: BTreeSet<String> = files.iter().map(|name| locate::lossy(name.as_os_str())).collect();
        for file in &self.files {
            strays.remove(&*file.name);
        }
        if strays.is_empty() {
            return;
        }
        // A variant of the model has an index of its own: its shards are not astray.
        for other in locate::indexes_in(directory).unwrap_or_default() {
            if index.file_name() == Some(other.as_os_str()) {
                continue;
            }
            let Ok(bytes) = locate::read_index(&directory.join(&other), options.max_header_len) else { continue };
            let Ok(other) = ShardIndex::parse_with(&bytes, options) else { continue };
            for entry in other.entries() {
                strays.remove(&*entry.shard.to_cow());
            }
        }
        for shard in strays {
            findings.push(Finding::new(FindingKind::ShardStray { shard: shard.into() }));
        }
    }
}

/// Puts the files in the order of their names, and gives the tensors their new numbers.
fn sort_files<'i>(files: &mut Vec<NamedFile<'i>>, tensors: &mut [(Text<'i>, u32)]) {
    let mut numbered: Vec<(u32, NamedFile<'i>)> = (0..).zip(files.drain(..)).collect();
    numbered.sort_unstable_by(|(_, a), (_, b)| a.name.cmp(&b.name));
    let mut places = std::vec![u32::MAX; numbered.len()];
    for (place, (number, file)) in numbered.into_iter().enumerate() {
        if let Some(slot) = usize::try_from(number).ok().and_then(|number| places.get_mut(number)) {
            *slot = u32_of(place);
        }
        files.push(file);
    }
    for (_, number) in tensors {
        *number = usize::try_from(*number).ok().and_then(|number| places.get(number)).copied().unwrap_or(u32::MAX);
    }
}

/// A number of files in memory, which is never larger than that.
fn u32_of(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
