//! The [safetensors](https://github.com/huggingface/safetensors) format: `u64 LE N | N bytes of JSON | data`.
//!
//! [`SafeTensors`] is a whole file in memory; [`Header`] is the head of one that may be anywhere.
//!
//! # What is accepted
//! Nothing that the reference implementation (0.8) rejects, on a 64-bit host. All that it accepts, except:
//!
//! | Refused here | The reference | Why |
//! |---|---|---|
//! | a tensor name that stands twice, however spelt | the last one wins | readers disagree on which one counts |
//! | a key that stands twice in `__metadata__` | the last one wins | the same |
//! | an entry written as an array, a dtype as `{"F32": null}` | accepted | accidents of its implementation |
//! | rank over 16 | unlimited | views hold their dims inline |
//! | a number of 1e308 or more in an unknown field | some up to 1.8e308 | which ones depends on rounding |
//! | more than [`MAX_TENSORS`](crate::limits::MAX_TENSORS) tensors | unlimited | a limit; the caller may raise it |
//!
//! And on a 32-bit host tensors of 512 MiB and more are read, which the reference refuses.
//!
//! White space before the `{` and any JSON white space as padding are accepted, as are unknown fields in an
//! entry; [`ParseOptions::strict`] holds a file to the letter of the specification.

mod canonical;
mod entry;
mod fields;
pub(crate) mod head;
mod header;
#[cfg_attr(not(feature = "alloc"), path = "no_heap.rs")]
mod heap;
mod metadata;
mod model;
mod options;
#[cfg(feature = "std")]
pub(crate) mod owned;
mod tiling;
mod unique;
mod walk;

pub use header::{Header, Tensors};
pub use metadata::Metadata;
pub use model::{SafeTensors, Views};
pub use options::ParseOptions;

use crate::error::Error;
use walk::Keys;

/// Bytes of the field that gives the header's length.
const LEN_FIELD: u64 = 8;

/// About how many bytes of a header a tensor's entry takes: what lists that may grow start with.
const TYPICAL_ENTRY: usize = 96;

/// The member of the header that is no tensor.
const METADATA: &str = "__metadata__";

/// The length `N` of the header, from the first 8 bytes of a file: [`Header::parse`] needs the first `8 + N`.
///
/// # Errors
/// [`ErrorKind::HeaderTooLong`](crate::error::ErrorKind::HeaderTooLong) when it is over
/// [`MAX_HEADER_LEN`](crate::limits::MAX_HEADER_LEN): then this is hardly a safetensors file.
pub fn header_len(first: &[u8; 8]) -> Result<u64, Error> {
    ParseOptions::default().header_len(first)
}

/// Where the first key stands that stood before in the object at `at` of a text, and where it stood first. The object
/// has been proven well-formed, and has `count` keys.
pub(crate) fn first_repeat(text: &str, at: usize, count: usize, options: &ParseOptions) -> Option<(usize, usize)> {
    unique::first_repeat(Keys::new(text, at, false), count, options.heap && count > metadata::FEW)
}
