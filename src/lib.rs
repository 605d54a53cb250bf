//! Zero-copy, strict and fast parsing of the files that model weights come in.

#![no_std]
#![forbid(unsafe_code)]
#![deny(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic
)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod cursor;
pub mod detect;
mod dtype;
pub mod error;
mod explain;
mod index;
mod json;
pub mod limits;
pub mod safetensors;
mod shape;
mod text;
mod view;

pub use dtype::Dtype;
pub use error::Error;
pub use explain::Explanation;
pub use index::{Directory, Index, Slot};
pub use safetensors::SafeTensors;
pub use text::{Chars, Text};
pub use view::{TensorInfo, TensorView};
