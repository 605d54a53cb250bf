//! The tests of checkpoints, by what they know. `build` is how they make them.

mod build;

mod errors;
mod large;
mod locate;
mod model;
mod names;
mod oracle;
mod policy;
mod real;
mod shards;
mod tensors;
