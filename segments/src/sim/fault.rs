//! What a test may script into a [`SimFs`](super::SimFs): faults at the n-th call, and protocol
//! steps that claim success and do nothing.
//!
//! Not here: what a call does when it is let through. Every call passes [`Script::pass`] once,
//! so the n that a loop over `fail_at(n, ..)` reaches is exact and repeatable.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The calls that reach the file system, one variant per method of the traits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is the trait method of the same name")]
pub enum Call {
    CreateNew,
    CreateDir,
    RenameNew,
    RenameOver,
    Unlink,
    RemoveDir,
    SyncDir,
    List,
    Kind,
    Id,
    Read,
    Open,
    Lock,
    FreeSpace,
    /// [`NewFile::write_all`](crate::vfs::NewFile::write_all).
    Write,
    Seal,
    Sync,
    LockId,
    Note,
}

impl Call {
    /// Whether the call can change what a crash leaves behind.
    pub fn mutates(self) -> bool {
        !matches!(
            self,
            Self::List
                | Self::Kind
                | Self::Id
                | Self::Read
                | Self::Open
                | Self::Lock
                | Self::FreeSpace
                | Self::LockId
        )
    }

    /// Whether the call makes something durable.
    pub fn syncs(self) -> bool {
        matches!(self, Self::SyncDir | Self::Seal | Self::Sync)
    }
}

/// The two refusals that storage code meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The device failed.
    Eio,
    /// The disk is full.
    Enospc,
}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Eio => Self::from_raw_os_error(libc::EIO),
            Refusal::Enospc => io::ErrorKind::StorageFull.into(),
        }
    }
}

/// What happens to the chosen call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is done, and the call fails.
    Error(Refusal),
    /// A write does the first half of its bytes, then the disk is full. Other calls only fail.
    ShortWrite,
    /// A sync fails and what it was to save is lost, though reads still show it and the next
    /// sync claims success (what Linux does with pages after a failed write-back). Other calls
    /// only fail.
    SyncFailsAndDrops,
    /// The call does its work and reports EIO all the same. Calls that change nothing only fail.
    ErrorAfterSuccess,
    /// The machine stops before the call: it and every later one fail with [`Stopped`].
    Crash,
}

/// The error of every call after [`Fault::Crash`]; [`is_stopped`] recognises it.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the simulated machine has stopped")]
pub struct Stopped;

/// Whether an error means that the simulated machine has stopped.
pub fn is_stopped(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Stopped>())
}

/// Decides, for a call and its path, whether it is passed over.
pub type Chooser = Arc<dyn Fn(Call, &Path) -> bool + Send + Sync>;

/// A step of the commit protocol that claims success and does nothing (a negative control).
///
/// A *tail* is compared with the last components of a path, as many as the tail has: `t/seg`
/// takes `/home/ws/x/t/seg-1.tmp` and `/t/segment`, but not `/t/man-1.tmp`.
#[derive(Clone)]
pub enum Step {
    /// [`NewFile::seal`](crate::vfs::NewFile::seal) of files created under this tail.
    Seal(String),
    /// [`NewFile::sync`](crate::vfs::NewFile::sync) of files created under this tail.
    SyncFile(String),
    /// [`Vfs::sync_dir`](crate::vfs::Vfs::sync_dir) of directories of this name.
    SyncDir(String),
    /// The no-clobber check of [`Vfs::rename_new`](crate::vfs::Vfs::rename_new) into
    /// directories of this name: the rename is done, over what is there.
    NoClobber(String),
    /// Whatever the closure takes, of the calls that can be left out: writes, syncs, renames,
    /// removals and notes. It may count, to take one of several equal calls.
    When(Chooser),
}

/// What the script says of one call.
pub(super) enum Verdict {
    Do,
    Pretend,
    Clobber,
    Fail(Fault),
    Stopped,
}

#[derive(Clone)]
struct Armed {
    left: u64,
    mutations_only: bool,
    fault: Fault,
}

/// The counters, the faults still to come, and the steps left out.
#[derive(Clone, Default)]
pub(super) struct Script {
    pub(super) ops: u64,
    pub(super) mutating_ops: u64,
    pub(super) stopped: bool,
    pub(super) hit: Option<(Call, PathBuf)>,
    armed: Vec<Armed>,
    steps: Vec<Step>,
}

impl Script {
    /// The same steps left out, with the counters at zero and no fault to come.
    pub(super) fn restarted(&self) -> Self {
        Self { steps: self.steps.clone(), ..Self::default() }
    }

    pub(super) fn arm(&mut self, n: u64, mutations_only: bool, fault: Fault) {
        if n > 0 {
            self.armed.push(Armed { left: n, mutations_only, fault });
        }
    }

    pub(super) fn disarm(&mut self) {
        self.armed.clear();
    }

    pub(super) fn leave_out(&mut self, step: Step) {
        self.steps.push(step);
    }

    pub(super) fn pass(&mut self, call: Call, path: &Path) -> Verdict {
        if self.stopped {
            return Verdict::Stopped;
        }
        self.ops += 1;
        self.mutating_ops += u64::from(call.mutates());
        let mut due = None;
        self.armed.retain_mut(|armed| {
            if armed.mutations_only && !call.mutates() {
                return true;
            }
            armed.left -= 1;
            if armed.left == 0 {
                due = due.or(Some(armed.fault));
            }
            armed.left > 0
        });
        if let Some(fault) = due {
            self.hit = Some((call, path.to_owned()));
            self.stopped = fault == Fault::Crash;
            return if self.stopped { Verdict::Stopped } else { Verdict::Fail(fault) };
        }
        for step in &self.steps {
            match step {
                Step::Seal(tail) if call == Call::Seal && has_tail(path, tail) => {}
                Step::SyncFile(tail) if call == Call::Sync && has_tail(path, tail) => {}
                Step::SyncDir(name) if call == Call::SyncDir && is_named(path, name) => {}
                Step::NoClobber(name)
                    if call == Call::RenameNew
                        && path.parent().is_some_and(|p| is_named(p, name)) =>
                {
                    return Verdict::Clobber;
                }
                Step::When(takes) if can_be_left_out(call) && takes(call, path) => {}
                _ => continue,
            }
            return Verdict::Pretend;
        }
        Verdict::Do
    }
}

fn can_be_left_out(call: Call) -> bool {
    call.mutates() && !matches!(call, Call::CreateNew | Call::CreateDir)
}

fn is_named(path: &Path, name: &str) -> bool {
    path.file_name().is_some_and(|last| last == name)
}

fn has_tail(path: &Path, tail: &str) -> bool {
    let depth = tail.split('/').count();
    let names: Vec<_> = path.iter().map(|name| name.to_string_lossy()).collect();
    names.get(names.len().saturating_sub(depth)..).unwrap_or(&[]).join("/").starts_with(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_compared_by_whole_components_from_the_end() {
        assert!(has_tail(Path::new("/home/ws/x/t/seg-1.tmp"), "t/seg"));
        assert!(has_tail(Path::new("t/seg"), "t/seg"));
        assert!(!has_tail(Path::new("/t/man-1.tmp"), "t/seg"));
        assert!(!has_tail(Path::new("/t/seg/other"), "t/seg"));
        assert!(!has_tail(Path::new("/xt/seg"), "t/seg"));
        assert!(has_tail(Path::new("/a/LOCK"), "LOCK"));
    }

    #[test]
    fn refusals_have_the_kinds_that_callers_match() {
        assert_eq!(io::Error::from(Refusal::Enospc).kind(), io::ErrorKind::StorageFull);
        assert_eq!(io::Error::from(Refusal::Eio).raw_os_error(), Some(5));
    }
}
