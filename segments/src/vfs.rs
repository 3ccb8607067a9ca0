//! The one door to files: a trait. [`crate::os::OsFs`] is the real file system behind it.
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

    /// Replaces the advisory text in the lock file (who holds it); blanks may follow it. Never
    /// synced.
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

    /// A file's bytes from the start, a piece at a time: for files that are not ours, which may
    /// be large and may change while they are read, and so are never mapped.
    ///
    /// # Errors
    /// `NotFound`, or whatever the system says.
    fn reader(&self, path: &Path) -> io::Result<Box<dyn io::Read + Send>> {
        Ok(Box::new(io::Cursor::new(self.read(path)?)))
    }

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

#[cfg(test)]
pub(crate) mod tests {
    //! What every file system here must do alike; each calls [`behaves`] on an empty directory.

    use super::*;
    use std::io::ErrorKind;

    pub(crate) fn kind_of<T>(result: io::Result<T>) -> ErrorKind {
        result.err().map(|error| error.kind()).expect("because the call must fail")
    }

    pub(crate) fn put(vfs: &dyn Vfs, path: &Path, text: &str) {
        let mut file = vfs.create_new(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.sync().unwrap();
    }

    pub(crate) fn behaves(vfs: &dyn Vfs, root: &Path) {
        files(vfs, &root.join("files"));
        renames(vfs, &root.join("renames"));
        removals(vfs, &root.join("removals"));
        locks(vfs, &root.join("locks"));
    }

    fn files(vfs: &dyn Vfs, root: &Path) {
        assert_eq!(kind_of(vfs.create_new(&root.join("early"))), ErrorKind::NotFound);
        vfs.create_dir(root).unwrap();
        assert_eq!(kind_of(vfs.create_dir(root)), ErrorKind::AlreadyExists);
        let a = root.join("a");
        let mut file = vfs.create_new(&a).unwrap();
        file.write_all(b"first ").unwrap();
        file.write_all(b"").unwrap();
        file.write_all(b"second").unwrap();
        file.seal().unwrap();
        assert_eq!(kind_of(vfs.create_new(&a)), ErrorKind::AlreadyExists);
        assert_eq!(kind_of(vfs.create_dir(&a)), ErrorKind::AlreadyExists);
        assert_eq!(vfs.read(&a).unwrap(), b"first second");
        assert_eq!(&*vfs.open(&a).unwrap(), b"first second");
        assert_eq!(vfs.open(&a).unwrap().as_ptr() as usize % 64, 0);
        for name in ["c", "b", "B", "\u{e9}"] {
            put(vfs, &root.join(name), "");
        }
        assert_eq!(vfs.list(root).unwrap(), ["B", "a", "b", "c", "\u{e9}"]);
        assert!(vfs.open(&root.join("b")).unwrap().is_empty());
        assert_eq!(vfs.kind(&a).unwrap(), Kind::File(12));
        assert_eq!(vfs.kind(&root.join("b")).unwrap(), Kind::File(0));
        assert_eq!(vfs.kind(root).unwrap(), Kind::Dir);
        assert_eq!(vfs.id(&a).unwrap(), vfs.id(&a).unwrap());
        assert_ne!(vfs.id(&a).unwrap(), vfs.id(&root.join("b")).unwrap());
        vfs.sync_dir(root).unwrap();
        let none = root.join("none");
        assert_eq!(kind_of(vfs.kind(&none)), ErrorKind::NotFound);
        assert_eq!(kind_of(vfs.id(&none)), ErrorKind::NotFound);
        assert_eq!(kind_of(vfs.read(&none)), ErrorKind::NotFound);
        assert_eq!(kind_of(vfs.open(&none)), ErrorKind::NotFound);
        assert_eq!(kind_of(vfs.list(&none)), ErrorKind::NotFound);
        assert_eq!(kind_of(vfs.sync_dir(&none)), ErrorKind::NotFound);
        assert_eq!(kind_of(vfs.open(root)), ErrorKind::IsADirectory);
        assert_eq!(kind_of(vfs.read(root)), ErrorKind::IsADirectory);
        assert_eq!(kind_of(vfs.kind(&a.join("below"))), ErrorKind::NotADirectory);
        assert!(vfs.free_space(root).unwrap() > 0);
    }

    fn renames(vfs: &dyn Vfs, root: &Path) {
        vfs.create_dir(root).unwrap();
        let [a, b, t, full] = ["a", "b", "t", "full"].map(|name| root.join(name));
        put(vfs, &a, "one");
        let id = vfs.id(&a).unwrap();
        vfs.rename_new(&a, &b).unwrap();
        assert_eq!(kind_of(vfs.read(&a)), ErrorKind::NotFound);
        assert_eq!(vfs.id(&b).unwrap(), id);
        put(vfs, &a, "two");
        assert_eq!(kind_of(vfs.rename_new(&a, &b)), ErrorKind::AlreadyExists);
        assert_eq!(vfs.read(&a).unwrap(), b"two");
        assert_eq!(vfs.read(&b).unwrap(), b"one");
        assert_eq!(kind_of(vfs.rename_new(&root.join("none"), &t)), ErrorKind::NotFound);

        vfs.create_dir(&t).unwrap();
        put(vfs, &t.join("inner"), "deep");
        vfs.create_dir(&full).unwrap();
        vfs.rename_new(&a, &full.join("a")).unwrap();
        assert_eq!(kind_of(vfs.rename_new(&t, &full)), ErrorKind::AlreadyExists);
        assert_eq!(kind_of(vfs.rename_new(&t, &b)), ErrorKind::AlreadyExists);
        vfs.rename_new(&t, &full.join("moved")).unwrap();
        assert_eq!(vfs.read(&full.join("moved").join("inner")).unwrap(), b"deep");
        assert_eq!(vfs.list(root).unwrap(), ["b", "full"]);

        vfs.rename_over(&full.join("a"), &b).unwrap();
        assert_eq!(vfs.read(&b).unwrap(), b"two");
        assert_eq!(vfs.list(&full).unwrap(), ["moved"]);
    }

    fn removals(vfs: &dyn Vfs, root: &Path) {
        vfs.create_dir(root).unwrap();
        let (a, d) = (root.join("a"), root.join("d"));
        put(vfs, &a, "still here");
        let open = vfs.open(&a).unwrap();
        vfs.unlink(&a).unwrap();
        assert_eq!(&*open, b"still here");
        assert_eq!(kind_of(vfs.unlink(&a)), ErrorKind::NotFound);
        vfs.create_dir(&d).unwrap();
        put(vfs, &d.join("x"), "");
        assert_eq!(kind_of(vfs.remove_dir(&d)), ErrorKind::DirectoryNotEmpty);
        vfs.unlink(&d.join("x")).unwrap();
        vfs.remove_dir(&d).unwrap();
        assert_eq!(kind_of(vfs.remove_dir(&d)), ErrorKind::NotFound);
        assert!(vfs.list(root).unwrap().is_empty());
    }

    fn locks(vfs: &dyn Vfs, root: &Path) {
        vfs.create_dir(root).unwrap();
        let (path, other) = (root.join("LOCK"), root.join("OTHER"));
        assert_eq!(kind_of(vfs.lock(&path, Duration::ZERO)), ErrorKind::NotFound);
        put(vfs, &path, "");
        put(vfs, &other, "");
        let mut lock = vfs.lock(&path, Duration::ZERO).unwrap();
        assert_eq!(lock.id().unwrap(), vfs.id(&path).unwrap());
        assert_eq!(kind_of(vfs.lock(&path, Duration::ZERO)), ErrorKind::WouldBlock);
        assert_eq!(kind_of(vfs.lock(&path, Duration::from_millis(2))), ErrorKind::WouldBlock);
        drop(vfs.lock(&other, Duration::ZERO).unwrap());
        lock.note("a long text").unwrap();
        lock.note("short").unwrap();
        assert_eq!(vfs.read(&path).unwrap().trim_ascii_end(), b"short");
        // The name may go while the lock stays on the old file.
        vfs.unlink(&path).unwrap();
        put(vfs, &path, "");
        assert_ne!(lock.id().unwrap(), vfs.id(&path).unwrap());
        drop(vfs.lock(&path, Duration::ZERO).unwrap());
        drop(lock);
        let again = vfs.lock(&path, Duration::ZERO).unwrap();
        drop(again);
        drop(vfs.lock(&path, Duration::from_millis(2)).unwrap());
    }
}
