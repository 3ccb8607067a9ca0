//! The one door to files: a trait, and the real file system behind it.
//!
//! Everything that packset reads or writes passes through [`Vfs`], so that [`crate::sim::SimFs`]
//! can stand in, lose what was not synced, and fail any call. Not here: what the bytes mean.
//!
//! Invariants: a file is created whole and never written again after [`NewFile::seal`]; a
//! published name is never overwritten ([`Vfs::rename_new`]); directories are 0700, files 0600
//! while they grow and 0444 once sealed; a directory entry counts as durable only after
//! [`Vfs::sync_dir`].

use std::io;
use std::path::Path;
use std::time::Duration;

use crate::bytes::Bytes;

/// Which file a name or a handle stands for; two names with one `FileId` are one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    /// Device number.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
}

/// What a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file of this many bytes.
    File(u64),
    /// A directory.
    Dir,
}

/// A file that is being written for the first time.
pub trait NewFile: Send {
    /// Appends all of `bytes`.
    ///
    /// # Errors
    /// Whatever the system says, a full disk above all.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Makes the content durable and the file read-only (0444). Nothing is written after it.
    ///
    /// # Errors
    /// A failed sync: the file must then be thrown away, never synced again.
    fn seal(&mut self) -> io::Result<()>;

    /// Makes the content durable and leaves the file 0600 (a lock file, a user's export).
    ///
    /// # Errors
    /// As [`NewFile::seal`].
    fn sync(&mut self) -> io::Result<()>;
}

/// An exclusive lock; dropping it releases it.
pub trait Lock: Send {
    /// The file that the lock is really on, to compare with what the path names by now.
    ///
    /// # Errors
    /// Whatever the system says.
    fn id(&self) -> io::Result<FileId>;

    /// Replaces the advisory text in the lock file (who holds it). Never synced.
    ///
    /// # Errors
    /// Whatever the system says; callers ignore it, the text is only for messages.
    fn note(&mut self, text: &str) -> io::Result<()>;
}

/// The file system, as far as packset needs one.
pub trait Vfs: Send + Sync {
    /// Creates a file that must not exist yet, 0600.
    ///
    /// # Errors
    /// `AlreadyExists` when it does; otherwise whatever the system says.
    fn create_new(&self, path: &Path) -> io::Result<Box<dyn NewFile>>;

    /// Creates a directory, 0700; its parent must exist.
    ///
    /// # Errors
    /// `AlreadyExists`, or whatever the system says.
    fn create_dir(&self, path: &Path) -> io::Result<()>;

    /// Renames a file or a directory to a name that must be free. Atomic.
    ///
    /// # Errors
    /// `AlreadyExists` when `to` exists and is not an empty directory.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Renames a file over whatever `to` is (exports only; the store never overwrites).
    ///
    /// # Errors
    /// Whatever the system says.
    fn rename_over(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file's name.
    ///
    /// # Errors
    /// `NotFound`, or whatever the system says.
    fn unlink(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty directory.
    ///
    /// # Errors
    /// `NotFound`, or whatever the system says.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;

    /// Makes the entries of a directory durable.
    ///
    /// # Errors
    /// A failed sync; what it was to make durable may or may not be so.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// Names in a directory, sorted. `.` and `..` are left out, a name that is not UTF-8 is
    /// passed over (no writer of ours makes one).
    ///
    /// # Errors
    /// `NotFound`, or whatever the system says.
    fn list(&self, dir: &Path) -> io::Result<Vec<String>>;

    /// What the path names, following links.
    ///
    /// # Errors
    /// `NotFound`, or whatever the system says.
    fn kind(&self, path: &Path) -> io::Result<Kind>;

    /// The file that the path names right now.
    ///
    /// # Errors
    /// `NotFound`, or whatever the system says.
    fn id(&self, path: &Path) -> io::Result<FileId>;

    /// The whole file, in memory.
    ///
    /// # Errors
    /// `NotFound`, or whatever the system says.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// The whole of a sealed file: read if it is small, mapped if it is large and the file
    /// system can be trusted with mappings.
    ///
    /// # Errors
    /// `NotFound`, or whatever the system says.
    fn open(&self, path: &Path) -> io::Result<Bytes>;

    /// Takes the exclusive lock on an existing file, waiting at most `wait`.
    ///
    /// # Errors
    /// `WouldBlock` when another holder keeps it that long; `NotFound` without the file.
    fn lock(&self, path: &Path, wait: Duration) -> io::Result<Box<dyn Lock>>;

    /// Bytes free to us on the file system that holds `path`.
    ///
    /// # Errors
    /// Whatever the system says.
    fn free_space(&self, path: &Path) -> io::Result<u64>;
}
