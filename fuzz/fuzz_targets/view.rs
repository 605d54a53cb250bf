//! Parts of tensors against nested loops: any dtype, shape, bytes, alignment and selectors. See the oracle, which the
//! crate's tests share; `tests/it/slicing.rs` replays the seeds.

#![no_main]

#[path = "../../tests/it/slice_oracle/mod.rs"]
mod slice_oracle;

libfuzzer_sys::fuzz_target!(|input: &[u8]| slice_oracle::view(input));
