//! What can go wrong with a store's bytes, each variant naming the file it is about.
//!
//! Not here: anything about claims, locks' holders or exit codes; the layers above add those.

use std::io;
use std::path::{Path, PathBuf};

/// A failure of the format or of the files under it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {op} {}: {source}", path.display())]
    Io {
        /// The verb, for the sentence.
        op: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Bytes that no writer of ours wrote: damage, truncation or a foreign file.
    #[error("{}: section {section}: {what}", path.display())]
    Corrupt {
        /// The damaged file.
        path: PathBuf,
        /// The section, or `header`, `footer`, `toc`, `manifest`.
        section: &'static str,
        /// What is wrong, in a few words.
        what: &'static str,
    },
    /// A file that a newer program wrote and this one must not touch.
    #[error("{}: {what} needs a newer packset (found {found}, known {known})", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Which number or mask.
        what: &'static str,
        /// The value found.
        found: u64,
        /// The value this program knows.
        known: u64,
    },
    /// More than the format can hold.
    #[error("{what} is over the limit of {limit}")]
    TooLarge {
        /// The thing.
        what: &'static str,
        /// The limit, in the thing's own unit.
        limit: u64,
    },
}

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Wraps an I/O error with the verb and the path it is about.
    pub fn io(op: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { op, path: path.to_owned(), source }
    }

    /// Names a damaged section.
    pub fn corrupt(path: &Path, section: &'static str, what: &'static str) -> Self {
        Self::Corrupt { path: path.to_owned(), section, what }
    }

    /// The kind of the I/O error underneath, if it is one.
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        match self {
            Self::Io { source, .. } => Some(source.kind()),
            _ => None,
        }
    }
}

/// Adds the path to an `io::Result`, so that no error loses it.
pub trait IoContext<T> {
    /// Names the verb and the path of the failed call.
    ///
    /// # Errors
    /// The same failure as [`Error::Io`].
    fn at(self, op: &'static str, path: &Path) -> Result<T>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn at(self, op: &'static str, path: &Path) -> Result<T> {
        self.map_err(|source| Error::io(op, path, source))
    }
}
