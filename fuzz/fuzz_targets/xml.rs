#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| selenite_fuzzing::target::xml::fuzz(data));
