//! Checkpoints: models whose tensors lie in one safetensors file or in many.
//!
//! | To | Use | It reads |
//! |---|---|---|
//! | list what is there, find where each tensor lies, know what is wrong | [`Catalog::open`] | the heads alone: a checkpoint of any size, at once, on any host |
//! | have the numbers, come what may to the files | [`Checkpoint::open_read`] | everything, into memory aligned to 64 bytes |
//! | have the numbers of files that nobody writes to | `Checkpoint::open_mapped` (feature `mmap`) | nothing until it is touched |
//!
//! ```
//! use weightview::checkpoint::{Catalog, Options};
//!
//! # let directory = std::env::temp_dir().join(format!("weightview-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&directory).unwrap();
//! # std::fs::copy("tests/data/digits.safetensors", directory.join("model.safetensors")).unwrap();
//! # let path = &directory;
//! let catalog = Catalog::open(path, &Options::default())?; // a file, a directory, an index
//! for finding in catalog.findings() {
//!     eprintln!("{}: {finding}; {}", finding.id(), finding.advice());
//! }
//! let weight = catalog.tensor("fc1.weight")?;
//! println!("bytes {:?} of {}", weight.info().file_range(), weight.shard().path().display());
//! # std::fs::remove_dir_all(&directory).unwrap();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is opened
//! | Path | What is opened |
//! |---|---|
//! | a safetensors file, of any name | that file, and nothing beside it |
//! | a file `*.json` | that index, and the shards that it names, from the directory where the index stands |
//! | a directory with `model.safetensors.index.json` | that index |
//! | a directory with one other `*.safetensors.index.json` | that index |
//! | a directory with several others | an error that lists them ([`CheckpointError::SeveralIndexes`]): name one |
//! | a directory without an index | every `*.safetensors` file that stands directly in it |
//! | a directory without any of these | an error that says what is there ([`CheckpointError::NoWeights`]) |
//!
//! Hidden files, whose names start with a dot, are never meant. An index of PyTorch pickles
//! (`pytorch_model.bin.index.json`) is [an error](CheckpointError::Pickles): unpickling runs what the file says, and
//! this crate does not.
//!
//! Files may be symbolic links to anywhere, as they are in the caches of model hubs. Links are the user's own; the
//! *names* in an index are not, and those are held to the [rules](crate::shards) for names: no name leads out of the
//! directory. Directories, pipes and devices in the place of a file are refused before they are opened.
//!
//! Of the index the whole is read, of each other file exactly the head: eight bytes, then as many as they say, once
//! that number was held against the limit and the file's length. Each head is judged as
//! [`Header::parse`](crate::safetensors::Header::parse) does, and the file's length as
//! [`check_file_len`](crate::safetensors::Header::check_file_len) does. The heads are kept, since all names are borrowed
//! from them; the table of tensors takes 24 bytes a tensor beside them.
//!
//! # Which tensor counts
//! Where there is an index, it is the authority.
//!
//! - A tensor that it names is looked up in the shard that it says. One of the same name in another shard never
//!   overrides it.
//! - A tensor that it does not name cannot be looked up, and is not among the [`tensors`](Catalog::tensors), whatever
//!   the policy. The [header](Shard::header) of the shard that has it still knows it.
//! - A tensor that is not where the index says but in another shard is refused; under a policy that reports this
//!   instead, it is taken from the first shard that has it.
//!
//! Without an index, tensors are where they are. When two files have the same tensor, that is refused; under a policy
//! that reports it instead, the first file by name counts.
//!
//! # Findings
//! What is wrong beyond a single file is a [`Finding`]: a kind, with the names of what is concerned, a stable id, a
//! sentence, and advice. The [`Policy`] says what is done about each kind. By default, what leaves a tensor missing,
//! ambiguous or unreadable, or is unsafe, is refused; the rest is reported. [`Policy::STRICT`] refuses everything,
//! [`Policy::LENIENT`] reports everything and goes on with what is left. An error lists everything that is refused,
//! not the first alone.
//!
//! | Id | Default | What was found | When it is reported | What to do |
//! |---|---|---|---|---|
//! | `shard-missing` | refuse | a file that the index names, or that the numbers of a set (`…-00002-of-00003…`) promise, is not there, or is a link to nothing | its tensors are missing | fetch it |
//! | `shard-unreadable` | refuse | a file that cannot be read, or is a directory, a pipe, a device | its tensors are missing | see to its permissions |
//! | `shard-foreign` | refuse | a file of another format: a Git LFS pointer, a web page, nothing at all | its tensors are missing | `git lfs pull`, or fetch the file itself |
//! | `shard-truncated` | refuse | a file that is shorter than its header implies (bytes expected, bytes there, the first tensor that is cut) | its tensors are listed, [those that are cut](Entry::is_whole) too; if the header is cut, they are missing | repeat the download |
//! | `shard-malformed` | refuse | a file that the parser refuses (its error, the byte, an excerpt) | its tensors are missing, unless it is only too long | fetch it again, tell who made it |
//! | `shard-name-invalid` | refuse | a name in the index that leads elsewhere, or is no shard's (which entry, what is wrong) | it is never opened; its tensors are missing | do not trust the model |
//! | `shard-stray` | report | a `*.safetensors` file beside the index that no index there names | it is not opened | remove it, or open it by its name |
//! | `tensor-missing` | refuse | a tensor that the index names and no shard has (and which should) | it is missing | fetch index and shards again |
//! | `tensor-misplaced` | refuse | a tensor in another shard than the index says (both) | it is taken from there | fetch index and shards again |
//! | `tensor-duplicate` | refuse | a tensor in several shards (all of them, and which the index means) | that of the index, or of the first file | tell who publishes it; without an index, open one file |
//! | `tensor-unindexed` | report | a tensor of a shard that the index does not name | it cannot be looked up | fetch index and shards again |
//! | `total-size-wrong` | report | `total_size` of the index is not the sum of its tensors' bytes (both numbers) | nothing else | none is needed to read it |
//! | `index-empty` | refuse | the index names no tensor | there are no tensors | fetch the index again |
//!
//! Where a shard as a whole is missing or cannot be used, the finding about the shard says how many tensors that
//! concerns; there is not one more for each tensor. `total_size` is held against the tensors only when all are there.
//! It counts each tensor once: in safetensors files no two share storage.
//!
//! What leaves nothing to go on with is no finding but another [`CheckpointError`]: a path that cannot be read, a
//! malformed index, [limits](Limit) on the whole.

mod catalog;
mod error;
mod finding;
mod locate;
pub(crate) mod model;
mod open;
mod placement;
mod policy;
mod set;
mod shard;
mod show;
mod table;

pub use catalog::{Catalog, Entries, Entry};
pub use error::{CheckpointError, Limit};
pub use finding::{Finding, FindingKind};
pub use model::{Checkpoint, Views};
pub use policy::{Action, Options, Policy};
pub use shard::Shard;
