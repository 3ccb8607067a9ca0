//! What the targets share with the seeded mutators of the format's own tests.

#[path = "../../tests/drive.rs"]
pub mod drive;
#[path = "../../tests/reading.rs"]
pub mod reading;
#[path = "../../tests/reseal.rs"]
pub mod reseal;
#[path = "../../tests/samples.rs"]
pub mod samples;
