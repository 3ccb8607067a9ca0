//! The on-disk format of packset.

pub mod bytes;
pub mod error;
pub mod vfs;

pub use bytes::Bytes;
pub use error::{Error, IoContext, Result};
