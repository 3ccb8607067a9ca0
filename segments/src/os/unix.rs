//! What Unix says differently from other systems: modes, directory syncs, renames that do not
//! clobber, inode numbers, and the bus error.
//!
//! Not here: policy. Every function is one question or one act, with its fallback beside it.

use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::OnceLock;

use rustix::io::{Errno, retry_on_intr};

use crate::vfs::FileId;

/// A file while it grows: its owner's alone.
pub(super) const PRIVATE_FILE: u32 = 0o600;
/// A file that is never written again. World-readable on purpose: the 0700 directory above it
/// keeps others out, and a copy of it by `cp -p` or `tar` stays readable and unwritable.
pub(super) const SEALED_FILE: u32 = 0o444;
const PRIVATE_DIR: u32 = 0o700;

pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options.mode(PRIVATE_FILE)
}

pub(super) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    tolerate_modeless(file.set_permissions(Permissions::from_mode(mode)))
}

pub(super) fn create_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(PRIVATE_DIR).create(path)?;
    tolerate_modeless(std::fs::set_permissions(path, Permissions::from_mode(PRIVATE_DIR)))
}

/// The file is our own, new a moment ago: a refusal means that the file system keeps no modes
/// (FAT, some FUSE mounts), and there the mount decides who may read.
fn tolerate_modeless(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) => match Errno::from_io_error(&error) {
            Some(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            _ => Err(error),
        },
        done => done,
    }
}

pub(super) fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

pub(super) fn file_id(found: &Metadata) -> FileId {
    FileId { device: found.dev(), inode: found.ino() }
}

pub(super) fn free_space(path: &Path) -> io::Result<u64> {
    let found = retry_on_intr(|| rustix::fs::statvfs(path))?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
fn rename_without_clobber(from: &Path, to: &Path) -> Result<(), Errno> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    retry_on_intr(|| renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE))
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn rename_without_clobber(_: &Path, _: &Path) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

pub(super) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match rename_without_clobber(from, to) {
        // EINVAL: this file system does not know the flag (NFS, older FUSE). ENOSYS: the kernel
        // or a sandbox does not know the call. OPNOTSUPP: the same, said by Apple.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => rename_by_link(from, to),
        result => Ok(result?),
    }
}

/// The way without the flag. A hard link never clobbers, on NFS neither; a directory cannot be
/// linked, but its rename is refused by any target that is not an empty directory.
fn rename_by_link(from: &Path, to: &Path) -> io::Result<()> {
    if std::fs::symlink_metadata(from)?.is_dir() {
        return std::fs::rename(from, to).map_err(|error| match error.kind() {
            io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotADirectory => {
                io::ErrorKind::AlreadyExists.into()
            }
            _ => error,
        });
    }
    match std::fs::hard_link(from, to) {
        // A server's lost reply makes the client ask twice: the second time our own link is
        // already there, and that is success.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && same_file(from, to)? => {}
        result => result?,
    }
    std::fs::remove_file(from)
}

fn same_file(one: &Path, other: &Path) -> io::Result<bool> {
    let (one, other) = (std::fs::symlink_metadata(one)?, std::fs::symlink_metadata(other)?);
    Ok(file_id(&one) == file_id(&other))
}

/// Whether a mapping of this file stays valid: a file system whose server or daemon may take the
/// bytes away answers a page fault with SIGBUS where a read would have been a plain error.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) fn keeps_mappings(file: &File) -> bool {
    // The numbers are from statfs(2) and linux/magic.h.
    const NFS: u32 = 0x6969;
    const SMB: u32 = 0x517B;
    const CIFS: u32 = 0xFF53_4D42;
    const SMB2: u32 = 0xFE53_4D42;
    /// virtiofs too: it is FUSE over another transport and reports FUSE's number.
    const FUSE: u32 = 0x6573_5546;
    const NINE_P: u32 = 0x0102_1997;
    const CEPH: u32 = 0x00C3_6400;
    match retry_on_intr(|| rustix::fs::fstatfs(file)) {
        // The type is a signed or an unsigned word by architecture; the numbers have 32 bits.
        #[expect(clippy::cast_possible_truncation, reason = "magic numbers have 32 bits")]
        Ok(found) => !matches!(found.f_type as u32, NFS | SMB | CIFS | SMB2 | FUSE | NINE_P | CEPH),
        Err(_) => false,
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn keeps_mappings(_: &File) -> bool {
    true
}

static BUS_ERROR: OnceLock<(&'static [u8], i32)> = OnceLock::new();

pub(super) fn on_bus_error(message: &'static [u8], exit: i32) {
    if BUS_ERROR.set((message, exit)).is_err() {
        return;
    }
    // SAFETY: an all-zero `sigaction` is a valid value of that C structure.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = bus_error as extern "C" fn(libc::c_int) as libc::sighandler_t;
    // SAFETY: `action` lives across both calls, its mask is initialised by the first, and the
    // handler has the signature that a handler without SA_SIGINFO must have.
    unsafe {
        libc::sigemptyset(&raw mut action.sa_mask);
        // It fails for signal numbers that do not exist; this one does.
        libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut());
    }
}

/// Async-signal-safe: one atomic load, write(2), _exit(2).
extern "C" fn bus_error(_: libc::c_int) {
    let (message, exit) = BUS_ERROR.get().copied().unwrap_or((b"", 1));
    // SAFETY: the slice is valid for its length, and both calls may be made in a handler.
    unsafe {
        libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len());
        libc::_exit(exit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::tests::TempDir;
    use std::io::{Read, Write};
    use std::os::fd::FromRawFd;

    fn write(path: &Path, text: &str) {
        #[expect(clippy::disallowed_methods, reason = "the test looks from outside")]
        std::fs::write(path, text).unwrap();
    }

    fn read(path: &Path) -> String {
        #[expect(clippy::disallowed_methods, reason = "the test looks from outside")]
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn the_link_way_does_not_clobber_either() {
        let dir = TempDir::new();
        let (a, b) = (dir.path("a"), dir.path("b"));
        write(&a, "one");
        rename_by_link(&a, &b).unwrap();
        assert!(!a.exists());
        assert_eq!(read(&b), "one");
        write(&a, "two");
        let refused = rename_by_link(&a, &b).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!((read(&a), read(&b)), ("two".into(), "one".into()));
    }

    #[test]
    fn a_link_that_is_already_ours_is_success() {
        let dir = TempDir::new();
        let (a, b) = (dir.path("a"), dir.path("b"));
        write(&a, "one");
        std::fs::hard_link(&a, &b).unwrap();
        rename_by_link(&a, &b).unwrap();
        assert!(!a.exists());
        assert_eq!(read(&b), "one");
    }

    #[test]
    fn the_link_way_moves_directories_onto_free_names_only() {
        let dir = TempDir::new();
        let (a, b, full, file) = (dir.path("a"), dir.path("b"), dir.path("full"), dir.path("file"));
        create_private_dir(&a).unwrap();
        write(&a.join("x"), "x");
        rename_by_link(&a, &b).unwrap();
        assert_eq!(read(&b.join("x")), "x");
        create_private_dir(&full).unwrap();
        write(&full.join("y"), "y");
        write(&file, "z");
        for taken in [full, file] {
            let refused = rename_by_link(&b, &taken).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        }
        assert_eq!(read(&b.join("x")), "x");
    }

    #[test]
    fn a_bus_error_prints_the_message_and_exits() {
        let dir = TempDir::new();
        let path = dir.path("cut");
        write(&path, &"x".repeat(3 * 65536));
        #[expect(clippy::disallowed_methods, reason = "the test cuts a file behind our back")]
        let mut file = OpenOptions::new().read(true).write(true).open(&path).unwrap();
        // SAFETY: the only access past the cut is the child's, which is meant to die of it.
        let map = unsafe { memmap2::Mmap::map(&file) }.unwrap();
        file.set_len(0).unwrap();
        file.flush().unwrap();
        let mut ends = [0; 2];
        // SAFETY: the array has room for the two descriptors.
        assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
        // SAFETY: between fork and its end the child makes only async-signal-safe calls, the
        // handler's installation and one load.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: as above; the load is of mapped memory whose file is gone.
            unsafe {
                libc::dup2(ends[1], libc::STDERR_FILENO);
                on_bus_error(b"cut short\n", 43);
                std::ptr::read_volatile(map.as_ptr().add(65536));
                libc::_exit(99)
            }
        }
        let mut status = 0;
        // SAFETY: the descriptor is ours to close; the status has room for the answer.
        unsafe {
            libc::close(ends[1]);
            assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
        }
        // SAFETY: the reading end is open and nobody else's.
        let mut said = unsafe { File::from_raw_fd(ends[0]) };
        let mut text = String::new();
        said.read_to_string(&mut text).unwrap();
        assert_eq!(text, "cut short\n");
        assert!(libc::WIFEXITED(status));
        assert_eq!(libc::WEXITSTATUS(status), 43);
    }
}
