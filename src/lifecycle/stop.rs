//! Ending the writer of a home: asked by SIGTERM, waited for until it has answered what it took.
//!
//! Not here: what the writer does then. Invariants: the process that is signalled is the writer of
//! this home at that moment, whatever became of its number before; nothing is ever killed.

use std::path::Path;
use std::time::{Duration, Instant};

use packset_segments::vfs::Vfs;
use rustix::process::{Pid, Signal};

use super::{At as _, Error, LOOK_EVERY, Result, State, find, is_writer};
use crate::serve::hold::{self, Runtime};

/// How long a writer may take to finish what it was asked (the page).
const DRAIN_WAIT: Duration = Duration::from_secs(10);

/// How long a process that holds the home may take to say where it is: longer than any start.
const SAY_WAIT: Duration = Duration::from_secs(2);

/// Ends the writer of a home; none if it has none.
///
/// # Errors
/// [`Error::Silent`], [`Error::Lingers`], or what the system says.
pub fn stop(vfs: &dyn Vfs, home: &Path) -> Result<Option<Runtime>> {
    let began = Instant::now();
    loop {
        match find(vfs, home)? {
            State::Down => return Ok(None),
            State::Up(runtime) => {
                retire(vfs, home, &runtime)?;
                return Ok(Some(runtime));
            }
            State::Held if began.elapsed() < SAY_WAIT => std::thread::sleep(LOOK_EVERY),
            State::Held => {
                return Err(Error::Silent {
                    home: home.to_owned(),
                    holder: super::holder(vfs, home),
                });
            }
        }
    }
}

/// Asks a writer to end and waits until it has.
///
/// # Errors
/// [`Error::Lingers`], or what the system says.
pub(super) fn retire(vfs: &dyn Vfs, home: &Path, runtime: &Runtime) -> Result<()> {
    ask_to_end(vfs, home, runtime.pid)?;
    let began = Instant::now();
    // Another writer may take the home at once: then the one that was asked has left it.
    while is_writer(vfs, home, runtime.pid) && hold::is_held(vfs, home)? {
        if began.elapsed() >= DRAIN_WAIT {
            return Err(Error::Lingers { pid: runtime.pid });
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

/// Sends SIGTERM to the writer of a home, if the process still is that.
fn ask_to_end(vfs: &dyn Vfs, home: &Path, pid: u32) -> Result<()> {
    let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Ok(()) };
    // The handle is taken first: what is found out about the process then holds for the one that
    // is signalled, even if its number goes to another in between.
    #[cfg(target_os = "linux")]
    {
        use rustix::io::Errno;
        use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
        match pidfd_open(number, PidfdFlags::empty()) {
            Ok(process) => {
                if !is_writer(vfs, home, pid) {
                    return Ok(());
                }
                return Ok(gone_is_fine(pidfd_send_signal(process, Signal::TERM)).at("stop", home)?);
            }
            Err(Errno::SRCH) => return Ok(()),
            // A kernel or a sandbox that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            Err(error) => return Ok(Err(error).at("stop", home)?),
        }
    }
    if !is_writer(vfs, home, pid) {
        return Ok(());
    }
    Ok(gone_is_fine(rustix::process::kill_process(number, Signal::TERM)).at("stop", home)?)
}

fn gone_is_fine(sent: rustix::io::Result<()>) -> rustix::io::Result<()> {
    match sent {
        Err(rustix::io::Errno::SRCH) => Ok(()),
        sent => sent,
    }
}
