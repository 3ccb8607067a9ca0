//! The on-disk format of packset: write-once segments, numbered manifests, and the door to files.
//!
//! A store is a directory of segments, each an immutable file of record versions with its own
//! indexes, and of manifests, each naming the segments of one generation. This crate writes and
//! reads those bytes and nothing else: it knows no clock, no environment, no thread, no terminal,
//! and no JSON beyond the manifest. What a record means, which version is visible and when to
//! merge is decided above it. `FORMAT.md` beside this crate is the byte-exact description.
//!
//! Reading order: [`frame`](Section) (how a file is framed), [`columns`](ColumnView) (how integers
//! lie), [`postings`] (how terms lie), [`Builder`] and [`Segment`] (write, read), [`merge`] (many
//! into one), [`manifest`] (what is real), [`check`] (is it whole), [`vfs`] and [`sim`] (the door
//! to files, and its crashable twin).

mod build;
pub mod bytes;
pub mod check;
mod columns;
pub mod error;
mod frame;
pub mod manifest;
pub mod merge;
pub mod os;
pub mod postings;
mod read;
pub mod sim;
pub mod tag;
pub mod vectors;
pub mod vfs;

pub use build::{Builder, Ended, KEYWORDS, Row, Text, key_of};
pub use bytes::Bytes;
pub use columns::{ColumnView, NULL};
pub use error::{Error, IoContext, Result};
pub use frame::{Identity, MAJOR, MINOR, Sealed, Section, Sink};
pub use read::{Count, Segment, Terms};
pub use vectors::{Space, Vectors};

/// What a row is, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(u8);

impl Flags {
    /// No bit.
    pub const NONE: Self = Self(0);
    /// The oldest version of its record that is kept.
    pub const FIRST: Self = Self(1);
    /// It holds a text and stands in the postings.
    pub const OWNER: Self = Self(2);
    /// The record was deleted by this version.
    pub const TOMBSTONE: Self = Self(4);
    /// The record counted as live when this version was written.
    pub const COUNTED: Self = Self(8);
    /// An owner whose text other rows of this segment share.
    pub const SHARED: Self = Self(16);

    /// The bits as stored.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// From the bits as stored; a bit without a name is kept.
    pub fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    /// Whether all bits of `other` are set.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Without the bits of `other`.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl std::ops::BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What followed a version that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A version with a text of its own, or none.
    Replaced = 1,
    /// A version that shares this one's text.
    Continued = 2,
}

impl Reason {
    /// From the code as stored.
    pub fn from_code(code: i64) -> Option<Self> {
        match code {
            1 => Some(Self::Replaced),
            2 => Some(Self::Continued),
            _ => None,
        }
    }
}
