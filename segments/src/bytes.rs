//! The bytes of one file, however they came into memory.
//!
//! Invariant: the slice starts on a 64-byte boundary, which is what the sections of a segment
//! rely on (they start on multiples of 64 from the file's start).

use rkyv::util::AlignedVec;

/// Read into memory, or mapped read-only.
#[derive(Debug)]
pub enum Bytes {
    /// In our own memory.
    Owned(AlignedVec<64>),
    /// Mapped; a page is only read when it is touched.
    Mapped(memmap2::Mmap),
}

impl Bytes {
    /// Copies a slice into aligned memory.
    pub fn copy_of(bytes: &[u8]) -> Self {
        let mut owned = AlignedVec::with_capacity(bytes.len());
        owned.extend_from_slice(bytes);
        Self::Owned(owned)
    }
}

impl std::ops::Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Owned(bytes) => bytes,
            Self::Mapped(map) => map,
        }
    }
}
