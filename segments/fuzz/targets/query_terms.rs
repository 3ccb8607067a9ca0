//! Strings looked up in the terms of a segment that may be damaged.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    packset_segments_fuzz::drive::query_terms(data);
});
