//! A file system in memory that can crash: [`SimFs`] implements [`Vfs`] for tests.
//!
//! It keeps apart what a reader sees and what is durable. Per file: the durable bytes and the
//! writes since; per directory: the durable names and the operations on them since. A crash
//! ([`SimFs::crash_states`]) keeps any part of the rest that the weak model allows; a kill
//! ([`SimFs::kill`]) keeps everything. Any call can be made to fail ([`SimFs::fail_at`]), any
//! protocol step to do nothing ([`SimFs::skip`]).
//!
//! Not here: links, modes, waiting (a lock that is held says `WouldBlock` at once).
//!
//! Invariants: a clone is a machine of its own, with the same disk, no locks, counters at zero
//! and no fault to come; a handle belongs to the machine that gave it; equal calls give equal
//! states (nothing here depends on time, addresses or hash order).

mod crash;
mod disk;
mod fault;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::bytes::Bytes;
use crate::vfs::{FileId, Kind, Lock, NewFile, Vfs};

use disk::{DirNode, Disk, FileNode, Ino, Node, ROOT, Way, Write, names_of};
use fault::Verdict;
pub use fault::{Call, Chooser, Fault, Refusal, Step, Stopped, is_stopped};

/// The device number of every file here.
const DEVICE: u64 = 0x51;
/// A machine with one in-memory disk. See the module for the model.
///
/// A clone is a fork: it shares nothing that either side changes later, and costs one reference
/// per file. [`SimFs::share`] gives a second handle on the same machine.
pub struct SimFs {
    disk: Arc<Mutex<Disk>>,
}

impl Default for SimFs {
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for SimFs {
    fn clone(&self) -> Self {
        let disk = self.disk();
        Self::from_disk(disk.fork(disk.nodes.clone()))
    }
}

impl SimFs {
    /// An empty disk: the root directory, durable.
    pub fn new() -> Self {
        Self::from_disk(Disk::new())
    }

    /// A second handle on the same machine: same disk, locks, counters and faults.
    pub fn share(&self) -> Self {
        Self { disk: Arc::clone(&self.disk) }
    }

    /// What kill -9 of the process leaves: all that was written, synced or not, and no locks.
    pub fn kill(&self) -> Self {
        self.clone()
    }

    /// Has the `n`-th call from now (1 is the next one) suffer `fault`. Several may be armed.
    pub fn fail_at(&self, n: u64, fault: Fault) {
        self.disk().script.arm(n, false, fault);
    }

    /// As [`SimFs::fail_at`], counting only calls that [change](Call::mutates) something.
    pub fn fail_mutation_at(&self, n: u64, fault: Fault) {
        self.disk().script.arm(n, true, fault);
    }

    /// Takes back the faults that have not come yet.
    pub fn clear_faults(&self) {
        self.disk().script.disarm();
    }

    /// The call that the last fault hit, for the failure message of a test; `None` when the
    /// program ended before the fault came, which ends a loop over n.
    pub fn hit(&self) -> Option<(Call, PathBuf)> {
        self.disk().script.hit.clone()
    }

    /// Whether [`Fault::Crash`] has come.
    pub fn stopped(&self) -> bool {
        self.disk().script.stopped
    }

    /// Calls so far, the one that a fault hit among them; none after the machine has stopped.
    pub fn ops(&self) -> u64 {
        self.disk().script.ops
    }

    /// As [`SimFs::ops`], counting only calls that [change](Call::mutates) something.
    pub fn mutating_ops(&self) -> u64 {
        self.disk().script.mutating_ops
    }

    /// Leaves a protocol step out from now on, in clones and after crashes too.
    pub fn skip(&self, step: Step) {
        self.disk().script.leave_out(step);
    }

    /// [`Step::SyncDir`] for directories of this name.
    pub fn skip_sync_dir(&self, name: &str) {
        self.skip(Step::SyncDir(name.to_owned()));
    }

    /// [`Step::Seal`] for files created under this tail, such as `t/seg`.
    pub fn skip_seal(&self, tail: &str) {
        self.skip(Step::Seal(tail.to_owned()));
    }

    /// Whether every lock succeeds, held or not (a network file system that lies).
    pub fn break_locks(&self, broken: bool) {
        self.disk().locks_broken = broken;
    }

    /// What [`Vfs::free_space`] says, unless the capacity leaves less.
    pub fn set_free_space(&self, bytes: u64) {
        self.disk().free = bytes;
    }

    /// How many bytes the files with a name may hold together before writes give ENOSPC.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.disk().capacity = bytes;
    }

    /// Puts a file there, durable, with its directories, over what was there: a fixture, or
    /// damage. Uncounted, and nothing fails it.
    ///
    /// # Errors
    /// A path through a file or to a directory.
    pub fn install(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut disk = self.disk();
        let mut parent = ROOT;
        let mut names = names_of(path)?;
        let last = names.pop().ok_or(io::ErrorKind::InvalidInput)?;
        for name in names {
            let found = disk.dir(parent)?.live.get(&name).copied();
            let ino = match found {
                Some(ino) => ino,
                None => disk.add(Node::Dir(DirNode::default())),
            };
            disk.install_name(parent, name, ino)?;
            parent = ino;
        }
        if let Some(Node::Dir(_)) =
            disk.dir(parent)?.live.get(&last).and_then(|ino| disk.nodes.get(ino))
        {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let content = Arc::new(bytes.to_vec());
        let sealed = true;
        let file =
            FileNode { live: Arc::clone(&content), durable: content, pending: Vec::new(), sealed };
        let ino = disk.add(Node::File(file));
        disk.install_name(parent, last, ino)
    }

    /// Everything a reader sees: `dir/` for a directory, with nothing; files with their bytes.
    /// Uncounted.
    pub fn tree(&self) -> BTreeMap<String, Vec<u8>> {
        let disk = self.disk();
        let mut tree = BTreeMap::new();
        disk.walk(|path, node| {
            match node {
                Node::Dir(_) => tree.insert(format!("{path}/"), Vec::new()),
                Node::File(file) => tree.insert(path.to_owned(), file.live.to_vec()),
            };
        });
        tree
    }

    fn from_disk(disk: Disk) -> Self {
        Self { disk: Arc::new(Mutex::new(disk)) }
    }

    /// A test that panicked in another thread has left no call half-done: calls are atomic.
    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The gate that every call passes exactly once.
    fn call<T>(
        &self,
        call: Call,
        path: &Path,
        act: impl FnOnce(&mut Disk, Way) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut disk = self.disk();
        let fault = match disk.script.pass(call, path) {
            Verdict::Do => return act(&mut disk, Way::Fully),
            Verdict::Pretend => return act(&mut disk, Way::Not),
            Verdict::Clobber => return act(&mut disk, Way::Clobbering),
            Verdict::Stopped => return Err(io::Error::other(Stopped)),
            Verdict::Fail(fault) => fault,
        };
        let refusal = match fault {
            Fault::Error(refusal) => refusal,
            Fault::ShortWrite => {
                if call == Call::Write {
                    act(&mut disk, Way::Half)?;
                }
                Refusal::Enospc
            }
            Fault::SyncFailsAndDrops => {
                if call.syncs() {
                    act(&mut disk, Way::Dropping)?;
                }
                Refusal::Eio
            }
            Fault::ErrorAfterSuccess => {
                if call.mutates() {
                    act(&mut disk, Way::Fully)?;
                }
                Refusal::Eio
            }
            Fault::Crash => return Err(io::Error::other(Stopped)),
        };
        Err(refusal.into())
    }
}

fn file_id(inode: Ino) -> FileId {
    FileId { device: DEVICE, inode }
}

impl Vfs for SimFs {
    fn create_new(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        let ino = self.call(Call::CreateNew, path, |disk, _| {
            disk.create(path, Node::File(FileNode::default()))
        })?;
        Ok(Box::new(SimFile { fs: self.share(), ino, path: path.to_owned() }))
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.call(Call::CreateDir, path, |disk, _| {
            disk.create(path, Node::Dir(DirNode::default())).map(drop)
        })
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(Call::RenameNew, to, |disk, way| match way {
            Way::Not => Ok(()),
            _ => disk.rename(from, to, way == Way::Clobbering),
        })
    }

    fn rename_over(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(Call::RenameOver, to, |disk, way| match way {
            Way::Not => Ok(()),
            _ => disk.rename(from, to, true),
        })
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        self.call(Call::Unlink, path, |disk, way| match way {
            Way::Not => Ok(()),
            _ => disk.remove(path, false),
        })
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.call(Call::RemoveDir, path, |disk, way| match way {
            Way::Not => Ok(()),
            _ => disk.remove(path, true),
        })
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.call(Call::SyncDir, path, |disk, way| {
            let ino = disk.find(path)?;
            let dir = disk.dir_mut(ino)?;
            match way {
                Way::Dropping => dir.pending.clear(),
                Way::Not => {}
                _ => dir.sync(),
            }
            Ok(())
        })
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.call(Call::List, dir, |disk, _| {
            Ok(disk.dir(disk.find(dir)?)?.live.keys().cloned().collect())
        })
    }

    fn kind(&self, path: &Path) -> io::Result<Kind> {
        self.call(Call::Kind, path, |disk, _| {
            let ino = disk.find(path)?;
            Ok(if disk.is_dir(ino) {
                Kind::Dir
            } else {
                Kind::File(disk.file(ino)?.live.len() as u64)
            })
        })
    }

    fn id(&self, path: &Path) -> io::Result<FileId> {
        self.call(Call::Id, path, |disk, _| disk.find(path).map(file_id))
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.call(Call::Read, path, |disk, _| Ok(disk.file(disk.find(path)?)?.live.to_vec()))
    }

    fn open(&self, path: &Path) -> io::Result<Bytes> {
        self.call(Call::Open, path, |disk, _| {
            Ok(Bytes::copy_of(&disk.file(disk.find(path)?)?.live))
        })
    }

    fn lock(&self, path: &Path, _: Duration) -> io::Result<Box<dyn Lock>> {
        let (ino, owns) = self.call(Call::Lock, path, |disk, _| {
            let ino = disk.find(path)?;
            disk.file(ino)?;
            let owns = disk.held.insert(ino);
            if owns || disk.locks_broken {
                Ok((ino, owns))
            } else {
                Err(io::ErrorKind::WouldBlock.into())
            }
        })?;
        Ok(Box::new(SimLock { fs: self.share(), ino, owns, path: path.to_owned() }))
    }

    fn free_space(&self, path: &Path) -> io::Result<u64> {
        self.call(Call::FreeSpace, path, |disk, _| {
            disk.find(path)?;
            Ok(disk.room().map_or(disk.free, |room| room.min(disk.free)))
        })
    }
}

struct SimFile {
    fs: SimFs,
    ino: Ino,
    path: PathBuf,
}

impl NewFile for SimFile {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.fs.call(Call::Write, &self.path, |disk, way| match way {
            Way::Not => Ok(()),
            Way::Half => disk.append(self.ino, &bytes[..bytes.len() / 2]),
            _ => disk.append(self.ino, bytes),
        })
    }

    fn seal(&mut self) -> io::Result<()> {
        self.fs.call(Call::Seal, &self.path, |disk, way| {
            disk.file_mut(self.ino)?.sealed = true;
            disk.sync_file(self.ino, way)
        })
    }

    fn sync(&mut self) -> io::Result<()> {
        self.fs.call(Call::Sync, &self.path, |disk, way| disk.sync_file(self.ino, way))
    }
}

struct SimLock {
    fs: SimFs,
    ino: Ino,
    owns: bool,
    path: PathBuf,
}

impl Lock for SimLock {
    fn id(&self) -> io::Result<FileId> {
        self.fs.call(Call::LockId, &self.path, |_, _| Ok(file_id(self.ino)))
    }

    fn note(&mut self, text: &str) -> io::Result<()> {
        self.fs.call(Call::Note, &self.path, |disk, way| {
            if way != Way::Not {
                disk.file_mut(self.ino)?.push(Write::Whole(text.as_bytes().into()));
            }
            Ok(())
        })
    }
}

impl Drop for SimLock {
    fn drop(&mut self) {
        if self.owns {
            self.fs.disk().held.remove(&self.ino);
        }
    }
}

#[cfg(test)]
mod protocol;
#[cfg(test)]
mod tests;
