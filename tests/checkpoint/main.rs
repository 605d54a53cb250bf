//! The tests of checkpoints, by what they know. `build` is how they make them.

mod build;

mod errors;
mod large;
mod locate;
mod names;
mod policy;
mod real;
mod shards;
mod tensors;
