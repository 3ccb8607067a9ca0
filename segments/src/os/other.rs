//! The system calls where there is no Unix, Windows above all.
//!
//! Not here: a promise. Directory entries cannot be synced there, and modes do not exist; the
//! user's profile directory keeps others out.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

use crate::vfs::FileId;

pub(super) const PRIVATE_FILE: u32 = 0o600;
pub(super) const SEALED_FILE: u32 = 0o444;

pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

pub(super) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    let mut permissions = file.metadata()?.permissions();
    permissions.set_readonly(mode == SEALED_FILE);
    file.set_permissions(permissions)
}

pub(super) fn create_private_dir(path: &Path) -> io::Result<()> {
    std::fs::create_dir(path)
}

/// Nothing: a directory has no fsync here.
pub(super) fn sync_dir(_: &Path) -> io::Result<()> {
    Ok(())
}

/// One value for all: a directory that holds an open file can neither be renamed nor removed
/// here, so the file that a lock is on is the file that its path names.
pub(super) fn file_id(_: &Metadata) -> FileId {
    FileId { device: 0, inode: 0 }
}

/// By fs2, which otherwise only takes locks: rustix has no such question here.
pub(super) fn free_space(path: &Path) -> io::Result<u64> {
    fs2::available_space(path)
}

pub(super) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    if std::fs::metadata(from)?.is_dir() {
        if to.try_exists()? {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        return std::fs::rename(from, to);
    }
    std::fs::hard_link(from, to)?;
    std::fs::remove_file(from)
}

pub(super) fn keeps_mappings(_: &File) -> bool {
    true
}

pub(super) fn on_bus_error(_: &'static [u8], _: i32) {}
