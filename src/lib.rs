//! Zero-copy, strict and fast parsing of the files that model weights come in: no heap needed, no operating
//! system, and nothing that a file contains is ever run.
//!
//! ```
//! # #[cfg(feature = "std")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let bytes = std::fs::read("tests/data/digits.safetensors")?; // or include_bytes!, a mapping, an ArrayBuffer
//!
//! let model = weightview::SafeTensors::parse(&bytes)?; // checks everything, allocates nothing
//! for tensor in model.tensors() {
//!     println!("{} {} {:?}", tensor.name(), tensor.dtype(), tensor.shape());
//! }
//! let bias = model.tensor("fc1.bias")?; // borrows from `bytes`, not from `model`
//! assert_eq!((bias.dtype(), bias.shape()), (weightview::Dtype::F32, &[32][..]));
//! let mut numbers = [0f32; 32];
//! bias.read_f32(&mut numbers)?; // any alignment, any dtype that widens; or as_slice, in place
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "std"))]
//! # fn main() {}
//! ```
//!
//! # Where to look
//! | To | Use |
//! |---|---|
//! | open a file that is in memory | [`SafeTensors::parse`] |
//! | get a file there, one of many GB or on a network file system too | `AlignedBytes::read` (`std`): safe, on several threads, with progress |
//! | open a file of many GB at once, and read what is touched | `mmap::MappedFile` (`mmap`): `unsafe`, and it says why |
//! | read only the head of a file: range requests, flash, a browser | [`safetensors::Header`] |
//! | look up many tensors by name | `index()` or `index_in()` of either |
//! | a tensor's numbers in place | [`TensorView::as_slice`]; `to_cow`, which copies when it must |
//! | its numbers as `f32`, whatever they are | [`TensorView::read_f32`], [`TensorView::iter_f32`] |
//! | a row, a piece, any part of it | [`slice`](mod@slice) |
//! | what its numbers are like: range, mean, NaNs, a histogram | [`TensorView::summary`] |
//! | make numbers narrower, and know what that costs | [`narrow`](mod@narrow) |
//! | read the index of a model in several files | [`shards::ShardIndex`] |
//! | set limits for untrusted files, or hold them to the letter | [`safetensors::ParseOptions`] |
//! | open a model of one file or many shards, and know what is wrong with it | `Checkpoint`, `checkpoint` (feature `std`) |
//! | list one of any size without reading its data | `Catalog` (feature `std`) |
//! | show a person what is wrong with a file | [`Error::explain`] |
//! | tell what a file is from its first bytes | [`detect`](mod@detect) |
//!
//! # Formats
//! | Format | State |
//! |---|---|
//! | [`safetensors`] | parsed: all 22 dtypes, names and metadata of any spelling |
//! | GGUF, npy/npz, PyTorch, ONNX, TFLite, ExecuTorch, Keras, CoreML | told apart by [`detect`](mod@detect); not parsed yet |
//!
//! # Features
//! | Feature | Adds | Needs |
//! |---|---|---|
//! | none | everything but what follows | `core` |
//! | `alloc` | `index()`, `to_cow`, `to_vec` and the like, a sort for large headers in no order | an allocator |
//! | `std` (default) | `alloc`; `AlignedBytes`; checkpoints: files, directories, shards; finds the processor's F16 instructions at run time | `std` |
//! | `mmap` | `mmap::MappedFile`, `Checkpoint::open_mapped` | `std`, `memmap2` |
//! | `cli` | the command `weightview` | `mmap`, `clap`, and a few more crates |
//!
//! A feature only adds: what a call accepts and returns is the same in every build.
//!
//! # What it promises
//! - Nothing panics on any input, in debug builds either; nothing recurses by input.
//! - Nothing is sized by a number in the file before that number is bounded by the file's length.
//! - Facts of a file are `u64`, so a header is judged alike on 32-bit and 64-bit hosts, of either byte order.
//! - There is no `unsafe` code in this crate, but for the module `mmap` where the feature asks for it.
//! - Every error names the byte of the file and the fault.
//!
//! # Limits
//! See [`limits`]: header length 100,000,000 bytes and 1,000,000 tensors, both for the caller to raise; rank 16;
//! and, for all files of a checkpoint together, ten times that header length and as many tensors as in one.
//!
//! # Design
//! One pass reads the header, entry by entry. An entry that is written as every common writer writes it is read
//! by a path of its own; any other is proven well-formed by a strict JSON scanner, which has the position of
//! every fault and follows nesting without recursion, and its values are then read by `serde-json-core`. That
//! the tensors tile the data section and that no name stands twice is proven in the same pass, in fixed memory,
//! for headers in the orders that writers use; a sort takes over for others, or, without a heap, further passes.

#![no_std]
#![cfg_attr(not(feature = "mmap"), forbid(unsafe_code))]
#![cfg_attr(feature = "mmap", deny(unsafe_code))]
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

#[cfg(feature = "std")]
pub mod aligned;
#[cfg(feature = "std")]
pub mod checkpoint;
mod cursor;
pub mod detect;
mod dtype;
mod element;
pub mod error;
mod explain;
mod fault;
#[cfg(feature = "std")]
mod file;
pub mod float;
mod index;
mod iter;
mod json;
pub mod limits;
#[cfg(feature = "mmap")]
#[allow(unsafe_code)]
pub mod mmap;
pub mod narrow;
mod numbers;
pub mod safetensors;
mod shape;
pub mod shards;
pub mod slice;
mod summary;
mod text;
mod view;
mod widen;

#[cfg(feature = "std")]
pub use aligned::AlignedBytes;
#[cfg(feature = "std")]
pub use checkpoint::{Catalog, Checkpoint};
pub use dtype::Dtype;
pub use element::{CastError, Element, F8E4M3, F8E4M3Fnuz, F8E5M2, F8E5M2Fnuz, F8E8M0};
pub use error::Error;
pub use explain::Explanation;
pub use index::{Directory, Index, Slot};
pub use iter::{Iter, IterF32, IterF64};
pub use safetensors::SafeTensors;
pub use slice::{Axis, Slice, SliceError};
pub use summary::{Bin, Histogram, Summary};
pub use text::{Chars, Text};
pub use view::{TensorInfo, TensorView};

/// The examples of the README, as tests.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
struct Readme;
