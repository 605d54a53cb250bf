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
//! out of it. [`check_name`] says which names are safe to join, by the same rules on every system; [`ShardIndex`]
//! gives names as they stand.

mod index;
mod name;

use crate::cursor::{len_u64, split_u64};

pub use index::{Fields, ShardEntries, ShardEntry, ShardIndex};
pub use name::{ShardNameFault, check_name, check_name_with};

/// The text of an index before and from a byte of it, as far as it is UTF-8. `None` when the bytes are those of a
/// file with a header: an index begins with a `{`, which as part of a header's length makes that longer than any.
pub(crate) fn text_around(bytes: &[u8], offset: u64) -> Option<(&str, &str)> {
    let is_json = bytes.trim_ascii_start().first() == Some(&b'{');
    let is_header = split_u64(bytes).is_some_and(|(len, rest)| len <= len_u64(rest.len()));
    let text = match core::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => core::str::from_utf8(bytes.get(..error.valid_up_to())?).ok()?,
    };
    text.split_at_checked(usize::try_from(offset).ok()?).filter(|_| is_json && !is_header)
}
