//! Manifests, as they are and with their first line made right.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    packset_segments_fuzz::drive::manifest(data);
});
