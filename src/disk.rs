//! Stand-ins for the file system in this crate's unit tests; they only read.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use packset_segments::Bytes;
use packset_segments::vfs::{FileId, Kind, Lock, NewFile, Vfs};

/// Files in memory. A directory is there when something is in it, or by [`Disk::dir`].
#[derive(Default)]
pub(crate) struct Disk {
    files: BTreeMap<PathBuf, Vec<u8>>,
    dirs: Vec<PathBuf>,
}

impl Disk {
    /// Puts a file down.
    pub(crate) fn file(&mut self, path: impl Into<PathBuf>, text: &str) -> &mut Self {
        self.files.insert(path.into(), text.as_bytes().to_vec());
        self
    }

    /// Makes an empty directory.
    pub(crate) fn dir(&mut self, path: impl Into<PathBuf>) -> &mut Self {
        self.dirs.push(path.into());
        self
    }
}

/// The machine's own files.
pub(crate) struct Real;

fn read_only<T>() -> io::Result<T> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Implements [`Vfs`] for a type with inherent `kind_of`, `names_in` and `bytes_of`.
macro_rules! read_only_vfs {
    ($type:ty) => {
        impl Vfs for $type {
            fn create_new(&self, _: &Path) -> io::Result<Box<dyn NewFile>> {
                read_only()
            }
            fn create_dir(&self, _: &Path) -> io::Result<()> {
                read_only()
            }
            fn rename_new(&self, _: &Path, _: &Path) -> io::Result<()> {
                read_only()
            }
            fn rename_over(&self, _: &Path, _: &Path) -> io::Result<()> {
                read_only()
            }
            fn unlink(&self, _: &Path) -> io::Result<()> {
                read_only()
            }
            fn remove_dir(&self, _: &Path) -> io::Result<()> {
                read_only()
            }
            fn sync_dir(&self, _: &Path) -> io::Result<()> {
                read_only()
            }
            fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
                self.names_in(dir)
            }
            fn kind(&self, path: &Path) -> io::Result<Kind> {
                self.kind_of(path)
            }
            fn id(&self, _: &Path) -> io::Result<FileId> {
                read_only()
            }
            fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
                self.bytes_of(path)
            }
            fn open(&self, path: &Path) -> io::Result<Bytes> {
                Ok(Bytes::copy_of(&self.bytes_of(path)?))
            }
            fn lock(&self, _: &Path, _: Duration) -> io::Result<Box<dyn Lock>> {
                read_only()
            }
            fn free_space(&self, _: &Path) -> io::Result<u64> {
                read_only()
            }
        }
    };
}

read_only_vfs!(Disk);
read_only_vfs!(Real);

impl Disk {
    /// `a/./b` and `a/../b` lead where the system would lead them.
    fn clean(path: &Path) -> PathBuf {
        let mut clean = PathBuf::new();
        for part in path.components() {
            match part {
                std::path::Component::CurDir => {}
                std::path::Component::ParentDir => {
                    clean.pop();
                }
                part => clean.push(part),
            }
        }
        clean
    }

    fn kind_of(&self, path: &Path) -> io::Result<Kind> {
        let path = Self::clean(path);
        if let Some(bytes) = self.files.get(&path) {
            return Ok(Kind::File(bytes.len() as u64));
        }
        let known = self.files.keys().chain(&self.dirs).any(|at| at.starts_with(&path));
        if known { Ok(Kind::Dir) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    fn names_in(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.kind_of(dir)?;
        let dir = Self::clean(dir);
        let inside =
            self.files.keys().chain(&self.dirs).filter_map(|at| at.strip_prefix(&dir).ok());
        let names = inside.filter_map(|rest| Some(rest.iter().next()?.to_str()?.to_owned()));
        Ok(names.collect::<std::collections::BTreeSet<_>>().into_iter().collect())
    }

    fn bytes_of(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.files.get(&Self::clean(path)).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

#[expect(clippy::disallowed_methods, reason = "a test's own door to real files")]
impl Real {
    fn kind_of(&self, path: &Path) -> io::Result<Kind> {
        let meta = std::fs::metadata(path)?;
        Ok(if meta.is_dir() { Kind::Dir } else { Kind::File(meta.len()) })
    }

    fn names_in(&self, dir: &Path) -> io::Result<Vec<String>> {
        let names = std::fs::read_dir(dir)?.map(|entry| Ok(entry?.file_name().into_string().ok()));
        let mut names: Vec<String> =
            names.filter_map(io::Result::transpose).collect::<io::Result<_>>()?;
        names.sort();
        Ok(names)
    }

    fn bytes_of(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }
}
