//! The real file system: [`OsFs`] implements [`Vfs`] on the operating system's own calls.
//!
//! Not here: which files exist and why, retries of a failed sync (there are none: a second sync
//! after a failed one may claim success for data that is gone), waiting by polling.
//!
//! Invariants: modes are set by `fchmod`, so the umask cannot widen or narrow them; only sealed
//! (0444) files are mapped, and only where the file system can be trusted with mappings; a lock
//! is released by the drop of its handle and by the end of the process, whichever comes first.
#![expect(clippy::disallowed_methods, reason = "this is the door to files")]

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use memmap2::MmapOptions;
use rkyv::util::AlignedVec;

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
use other as sys;
#[cfg(unix)]
use unix as sys;

use crate::bytes::Bytes;
use crate::vfs::{FileId, Kind, Lock, NewFile, Vfs};

/// Below this many bytes a file is read, not mapped. A mapping costs about 18 us (open, map,
/// first fault), a read 7.5 us plus the copy; both were measured on ext4, and they meet near here.
const MAP_FROM: u64 = 128 * 1024;

/// Which sealed files are mapped (`PACKSET_MMAP`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MapPolicy {
    /// Large files, on file systems that keep a mapping valid.
    #[default]
    Auto,
    /// Every file that is not empty.
    Always,
    /// None: everything is read into memory.
    Never,
}

/// The operating system's files.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsFs {
    map: MapPolicy,
}

/// Opens a log at its end, private to its owner; it is made if it is missing. A log is no part of
/// any store: nothing syncs it, and several processes may write whole lines to one.
///
/// # Errors
/// What the system says.
pub fn open_log(path: &Path) -> io::Result<File> {
    let file = sys::private(OpenOptions::new().append(true).create(true)).open(path)?;
    sys::set_mode(&file, sys::PRIVATE_FILE)?;
    Ok(file)
}

impl OsFs {
    /// The real file system, mapping files by `map`.
    pub fn new(map: MapPolicy) -> Self {
        Self { map }
    }

    fn maps(&self, file: &File, len: u64) -> bool {
        match self.map {
            _ if len == 0 => false,
            MapPolicy::Never => false,
            MapPolicy::Always => true,
            MapPolicy::Auto => len >= MAP_FROM && sys::keeps_mappings(file),
        }
    }
}

impl Vfs for OsFs {
    fn create_new(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        let file = sys::private(OpenOptions::new().write(true).create_new(true)).open(path)?;
        sys::set_mode(&file, sys::PRIVATE_FILE)?;
        Ok(Box::new(OsFile(file)))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        sys::create_private_dir(path)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        sys::rename_new(from, to)
    }

    fn rename_over(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_dir(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        sys::sync_dir(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(dir)? {
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    fn kind(&self, path: &Path) -> io::Result<Kind> {
        let found = std::fs::metadata(path)?;
        Ok(if found.is_dir() { Kind::Dir } else { Kind::File(found.len()) })
    }

    fn id(&self, path: &Path) -> io::Result<FileId> {
        std::fs::metadata(path).map(|found| sys::file_id(&found))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn reader(&self, path: &Path) -> io::Result<Box<dyn io::Read + Send>> {
        let file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(Box::new(file))
    }

    fn open(&self, path: &Path) -> io::Result<Bytes> {
        let mut file = File::open(path)?;
        let found = file.metadata()?;
        if found.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let len = usize::try_from(found.len())
            .map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
        if self.maps(&file, found.len()) {
            // SAFETY: the map is read-only and its file is sealed: 0444, never written by us
            // again, and its length is compared with the manifest when the segment is opened.
            // What a stranger does to it in spite of that ends in SIGBUS (see `on_bus_error`) or
            // in changed bytes, which every reader of a segment checks or bounds.
            return unsafe { MmapOptions::new().len(len).map(&file) }.map(Bytes::Mapped);
        }
        let mut owned = AlignedVec::<64>::with_capacity(len);
        owned.extend_from_reader(&mut file)?;
        Ok(Bytes::Owned(owned))
    }

    fn lock(&self, path: &Path, wait: Duration) -> io::Result<Box<dyn Lock>> {
        // Open for writing: NFS turns flock into a write lock, and overlayfs copies the file up
        // now rather than after the lock is on the lower layer's inode.
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        match again(|| fs2::FileExt::try_lock_exclusive(&file)) {
            Ok(()) => return Ok(Box::new(OsLock(file))),
            Err(error) if !is_busy(&error) => return Err(error),
            Err(_) if wait.is_zero() => return Err(io::ErrorKind::WouldBlock.into()),
            Err(_) => {}
        }
        // The kernel has no deadline for flock. One thread blocks in it; when the caller has
        // left, the lock that the thread finally gets is dropped unsent or unread, which
        // releases it at once.
        let (granted, answer) = mpsc::sync_channel(1);
        std::thread::Builder::new().name("lock".into()).spawn(move || {
            let taken = again(|| fs2::FileExt::lock_exclusive(&file));
            let _ = granted.send(taken.map(|()| OsLock(file)));
        })?;
        match answer.recv_timeout(wait) {
            Ok(lock) => Ok(Box::new(lock?)),
            Err(_) => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    fn free_space(&self, path: &Path) -> io::Result<u64> {
        sys::free_space(path)
    }
}

/// Runs a call until no signal interrupts it.
fn again<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

fn is_busy(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
        || error.raw_os_error() == fs2::lock_contended_error().raw_os_error()
}

struct OsFile(File);

impl NewFile for OsFile {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn seal(&mut self) -> io::Result<()> {
        sys::set_mode(&self.0, sys::SEALED_FILE)?;
        self.0.sync_all()
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_all()
    }
}

/// Length of a note about the holder of a lock: longer than they are.
const NOTE: usize = 128;
/// What an odd file is overwritten to at most.
const LONGEST_NOTE: usize = 4096;

struct OsLock(File);

impl Lock for OsLock {
    fn id(&self) -> io::Result<FileId> {
        self.0.metadata().map(|found| sys::file_id(&found))
    }

    fn note(&mut self, text: &str) -> io::Result<()> {
        // Written over, blanks behind it, and never cut: giving the block back and taking it
        // again would cost a write more than all of its own system calls.
        let length = usize::try_from(self.0.metadata()?.len()).unwrap_or(0).max(NOTE);
        let mut note = text.as_bytes().to_vec();
        note.resize(length.min(LONGEST_NOTE).max(note.len()), b' ');
        self.0.rewind()?;
        self.0.write_all(&note)
    }
}

impl Drop for OsLock {
    fn drop(&mut self) {
        // Closing alone would leave the lock with a child process that was forked meanwhile and
        // has not reached its exec yet. A failure changes nothing: the close that follows counts.
        let _ = fs2::FileExt::unlock(&self.0);
    }
}

/// Has a bus error (a mapped file was cut short, or its disk failed) print `message` on the
/// standard error stream and end the process with the status `exit`.
///
/// The first call counts, for the life of the process. Does nothing where there is no SIGBUS.
pub fn on_bus_error(message: &'static [u8], exit: i32) {
    sys::on_bus_error(message, exit);
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::vfs::tests::{behaves, kind_of, put};
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Instant;

    /// A directory of the test's own, removed at its end.
    pub(crate) struct TempDir(PathBuf);

    impl TempDir {
        pub(crate) fn new() -> Self {
            static COUNT: AtomicU64 = AtomicU64::new(0);
            loop {
                let n = COUNT.fetch_add(1, Ordering::Relaxed);
                let name = format!("packset-segments-{}-{n}", std::process::id());
                let path = std::env::temp_dir().join(name);
                // A killed test of an earlier process with the same number may have left one.
                match std::fs::create_dir(&path) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    made => return Self(made.map(|()| path).unwrap()),
                }
            }
        }

        pub(crate) fn path(&self, name: &str) -> PathBuf {
            self.0.join(name)
        }
    }

    impl Drop for TempDir {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn behaves_like_a_file_system_under_every_map_policy() {
        for map in [MapPolicy::Auto, MapPolicy::Always, MapPolicy::Never] {
            let dir = TempDir::new();
            behaves(&OsFs::new(map), &dir.0);
        }
    }

    #[test]
    fn the_policy_decides_what_is_mapped() {
        let dir = TempDir::new();
        let sizes = [("empty", 0), ("small", 131_071), ("large", 131_072)];
        for (name, size) in sizes {
            put(&OsFs::default(), &dir.path(name), &"x".repeat(size));
        }
        let mapped = |map, name| {
            let bytes = OsFs::new(map).open(&dir.path(name)).unwrap();
            assert!(bytes.iter().all(|&byte| byte == b'x'));
            matches!(bytes, Bytes::Mapped(_))
        };
        for (name, _) in sizes {
            assert!(!mapped(MapPolicy::Never, name));
            assert_eq!(mapped(MapPolicy::Always, name), name != "empty");
        }
        assert!(!mapped(MapPolicy::Auto, "small"));
        let file = File::open(dir.path("large")).unwrap();
        assert_eq!(mapped(MapPolicy::Auto, "large"), sys::keeps_mappings(&file));
    }

    #[test]
    fn a_mapped_file_outlives_its_name() {
        let dir = TempDir::new();
        let (fs, path) = (OsFs::new(MapPolicy::Always), dir.path("a"));
        put(&fs, &path, "still here");
        let open = fs.open(&path).unwrap();
        assert!(matches!(open, Bytes::Mapped(_)));
        fs.unlink(&path).unwrap();
        assert_eq!(&*open, b"still here");
    }

    // Elsewhere the system refuses to make such a name.
    #[cfg(target_os = "linux")]
    #[test]
    fn names_that_are_not_utf8_are_passed_over() {
        use std::os::unix::ffi::OsStrExt;
        let dir = TempDir::new();
        put(&OsFs::default(), &dir.path("a"), "");
        std::fs::write(dir.0.join(std::ffi::OsStr::from_bytes(b"\xff")), "").unwrap();
        assert_eq!(OsFs::default().list(&dir.0).unwrap(), ["a"]);
    }

    #[cfg(unix)]
    #[test]
    fn modes_are_0700_0600_0444_whatever_the_umask() {
        use std::os::unix::fs::PermissionsExt;
        let dir = TempDir::new();
        let fs = OsFs::default();
        let mode = |name| std::fs::metadata(dir.path(name)).unwrap().permissions().mode() & 0o7777;
        // SAFETY: umask cannot fail. It is the process's: other tests' files are unharmed, since
        // theirs are set by fchmod as well or only need the owner's bits, which 0o077 leaves.
        let before = unsafe { libc::umask(0o077) };
        fs.create_dir(&dir.path("narrow")).unwrap();
        let mut narrow = fs.create_new(&dir.path("narrow/file")).unwrap();
        narrow.seal().unwrap();
        // SAFETY: as above; nothing else in this process relies on the mask being narrow.
        unsafe { libc::umask(0) };
        fs.create_dir(&dir.path("wide")).unwrap();
        let mut wide = fs.create_new(&dir.path("wide/file")).unwrap();
        // SAFETY: as above.
        unsafe { libc::umask(before) };
        assert_eq!(mode("narrow"), 0o700);
        assert_eq!(mode("narrow/file"), 0o444);
        assert_eq!(mode("wide"), 0o700);
        assert_eq!(mode("wide/file"), 0o600);
        wide.sync().unwrap();
        assert_eq!(mode("wide/file"), 0o600);
        wide.seal().unwrap();
        assert_eq!(mode("wide/file"), 0o444);
    }

    #[test]
    fn a_lock_is_waited_for_and_no_longer_than_the_deadline() {
        let dir = TempDir::new();
        let (fs, path) = (OsFs::default(), dir.path("LOCK"));
        put(&fs, &path, "");
        let held = fs.lock(&path, Duration::ZERO).unwrap();
        let start = Instant::now();
        let refused = fs.lock(&path, Duration::from_millis(20));
        let waited = start.elapsed();
        assert_eq!(kind_of(refused), io::ErrorKind::WouldBlock);
        assert!(waited >= Duration::from_millis(20), "{waited:?}");
        assert!(waited < Duration::from_secs(2), "{waited:?}");
        // The abandoned waiter gets the lock first and must give it back by itself.
        drop(held);
        let again = fs.lock(&path, Duration::from_secs(10)).unwrap();

        // Granted while waiting.
        let waiter = {
            let path = path.clone();
            std::thread::spawn(move || fs.lock(&path, Duration::from_secs(10)).map(drop))
        };
        std::thread::sleep(Duration::from_millis(5));
        assert!(!waiter.is_finished());
        drop(again);
        waiter.join().unwrap().unwrap();
    }

    #[test]
    fn an_interrupted_call_is_repeated_and_other_errors_are_not() {
        let mut left = 3;
        let result = again(|| {
            left -= 1;
            if left > 0 { Err(io::ErrorKind::Interrupted.into()) } else { Ok(left) }
        });
        assert_eq!(result.unwrap(), 0);
        let mut calls = 0;
        let result: io::Result<()> = again(|| {
            calls += 1;
            Err(io::ErrorKind::Unsupported.into())
        });
        assert_eq!((kind_of(result), calls), (io::ErrorKind::Unsupported, 1));
    }
}
