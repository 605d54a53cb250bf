//! Shard indexes: which file of a checkpoint holds which tensor.
//!
//! A model in several files has an index beside them, `model.safetensors.index.json` by convention
//! (`pytorch_model.bin.index.json` is of the same form):
//!
//! ```json
//! {"metadata": {"total_size": 16060522496},
//!  "weight_map": {"lm_head.weight": "model-00004-of-00004.safetensors", …}}
//! ```
//!
//! [`ShardIndex`] reads it from memory, without a heap. It says what the index says; whether the files are there and
//! agree with it is for `checkpoint` to find out (feature `std`).
//!
//! # Untrusted names
//! A shard's name comes from the file. Joined to a folder unseen, `../../etc/passwd`, `/etc/passwd` or `C:\x` leads
//! out of it. [`check_name`] says which names are safe to join, by the same rules on every system. [`ShardIndex`] gives
//! names as they stand; [`ShardEntry::checked_shard`] those that pass.
//!
//! A name may lie in a folder below (`text_encoder/model.safetensors`): such checkpoints exist, and a path of plain parts
//! stays in its folder as surely as a plain name does. What only Windows reads in another way is refused everywhere:
//! backslashes, colons, devices (`nul.safetensors`), dots and spaces at the end.

mod index;
mod name;
pub(crate) mod place;

pub use crate::error::ShardNameFault;
pub use index::{Fields, ShardEntries, ShardEntry, ShardIndex};
pub use name::{check_name, check_name_with};
