//! What the fuzz targets do with their input. `tests/replay.rs` of the crate includes the same modules and runs
//! them over the committed seeds on stable, so they use nothing of libFuzzer, and no `crate::` path but these.

#[path = "../../tests/it/agree.rs"]
mod agree;
#[path = "../../tests/it/agree_index.rs"]
mod agree_index;
mod choices;
mod generate;
mod respell;
pub mod targets;
