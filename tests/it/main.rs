//! The tests of the library, by what they know. `build` is how they write their bytes; `agree` is what must
//! hold of any bytes at all, and is held against every file that any of them writes.

mod agree;
mod build;

mod duplicates;
mod errors;
mod head;
mod hosts;
mod index;
mod json;
mod large;
mod metadata;
mod names;
mod oddities;
mod plan;
mod real;
mod reference;
mod rejections;
mod sizes;
mod strict;
mod text;
mod tiling;
mod truncation;
mod views;
