#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| weightview_fuzz::targets::index(input));
