//! Posting lists, block entries and term columns in an otherwise whole segment.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    packset_segments_fuzz::drive::postings(data);
});
