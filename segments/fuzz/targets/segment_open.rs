//! Whole segments: opened, read, checked and merged, behind right checksums.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    packset_segments_fuzz::drive::segment_open(data);
});
