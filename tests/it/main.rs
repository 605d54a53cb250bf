//! The tests of the library, by what they know. `build` is how they write their bytes; `agree` is what must
//! hold of any bytes at all, and is held against every file that any of them writes.

mod agree;
mod agree_index;
mod build;
#[cfg(feature = "std")]
mod scratch;

#[cfg(feature = "std")]
mod aligned;
mod codes;
mod dtype;
mod duplicates;
mod errors;
mod grid;
mod head;
mod hosts;
mod index;
mod json;
mod large;
mod limits;
#[cfg(feature = "mmap")]
mod mapped;
mod metadata;
mod names;
mod narrow;
mod oddities;
mod piece;
mod plan;
mod real;
mod reference;
mod rejections;
mod shard_index;
mod shard_names;
mod sizes;
mod slice_oracle;
mod slicing;
mod slicing_dtypes;
mod strict;
mod summary;
mod text;
mod tiling;
mod truncation;
mod views;
