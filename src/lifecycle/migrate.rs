//! Moving a pack from the previous default home to the one of today, with a link left behind.
//!
//! Not here: which home is in force ([`crate::place`]); claims of an older program, which its own
//! export and our import carry over. Invariants: the pack has its old name or its new one at every
//! moment, whatever fails; nothing is copied and nothing is removed but an empty directory.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use packset_segments::vfs::Vfs;
use rustix::fs::FileType;

use crate::cli::{Env, Failure, FailureKind};
use crate::pack::home::make_directories;
use crate::place::{self, Moves};
use crate::serve::hold::Hold;

/// Where a pack was and where it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The old name, a link by now.
    pub from: PathBuf,
    /// The new one.
    pub to: PathBuf,
}

/// Moves the pack.
///
/// # Errors
/// Nothing to move, something in the way, a writer that runs, two file systems, or what the system
/// says.
pub fn migrate(env: &Env, vfs: &dyn Vfs) -> Result<Moved, Failure> {
    let Moves { from, to } = place::moves(env)?;
    let refused = |message: String| Failure::new(FailureKind::Refused, message);
    match rustix::fs::lstat(&from) {
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => {
            return Err(refused(format!("there is nothing to move: no {}", from.display())));
        }
        Err(error) => return Err(failed("look at", &from, &error.into())),
        Ok(found) => match FileType::from_raw_mode(found.st_mode) {
            FileType::Directory => {}
            FileType::Symlink => {
                return Err(refused(format!("{} is a link already", from.display())));
            }
            _ => return Err(refused(format!("{} is no directory", from.display()))),
        },
    }
    place::check_ours(&from, vfs)?;
    match vfs.list(&to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed("look at", &to, &error)),
        Ok(names) if names.is_empty() => {
            vfs.remove_dir(&to).map_err(|error| failed("replace", &to, &error))?;
        }
        Ok(_) => {
            return Err(refused(format!("{} holds something already", to.display()))
                .hint("PACKSET_HOME can name either of the two"));
        }
    }
    // No writer comes or goes while it moves.
    let who = format!("packset migrate-home (process {})", std::process::id());
    let hold = Hold::take(vfs, &from, Duration::ZERO, &who)?;
    let above = |path: &Path| path.parent().map(Path::to_owned).unwrap_or_default();
    make_directories(vfs, &above(&to))?;
    exchange(vfs, &from, &to)?;
    for dir in [above(&to), above(&from)] {
        vfs.sync_dir(&dir).map_err(|error| failed("sync", &dir, &error))?;
    }
    drop(hold);
    Ok(Moved { from, to })
}

/// Gives the directory `from` the name `to` and makes `from` a link to it.
///
/// Verbs may work in the pack meanwhile: where the system can, a link that lies under the new name
/// and the directory change their names in one step, so that the old name never leads nowhere.
fn exchange(vfs: &dyn Vfs, from: &Path, to: &Path) -> Result<(), Failure> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        rustix::fs::symlink(to, to).map_err(|error| failed("link", to, &error.into()))?;
        let swapped = renameat_with(CWD, from, CWD, to, RenameFlags::EXCHANGE);
        if swapped.is_ok() {
            return Ok(());
        }
        vfs.unlink(to).map_err(|error| failed("remove", to, &error))?;
        match swapped {
            // A file system that does not know how.
            Err(Errno::INVAL | Errno::NOSYS) => {}
            Err(Errno::XDEV) => return Err(far(from, to)),
            Err(error) => return Err(failed("move", from, &error.into())),
            Ok(()) => {}
        }
    }
    match vfs.rename_new(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => return Err(far(from, to)),
        moved => moved.map_err(|error| failed("move", from, &error))?,
    }
    rustix::fs::symlink(to, from).map_err(|error| {
        // The old name must lead to the pack: without the link it goes back.
        let _ = vfs.rename_new(to, from);
        failed("link", from, &error.into())
    })
}

fn far(from: &Path, to: &Path) -> Failure {
    let message = format!("{} and {} are on two file systems", from.display(), to.display());
    Failure::new(FailureKind::Refused, message)
        .hint(format!("copy it with `cp -a`, or set PACKSET_HOME to {}", from.display()))
}

fn failed(what: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::new(FailureKind::Io, format!("cannot {what} {}: {error}", path.display()))
}
