//! Where clients come in: [`Listener`], TCP on the loopback or a Unix socket.
//!
//! Not here: what they may do. Invariants: nothing listens on an address that other machines
//! reach; a Unix socket is 0600 before it has its name; a socket that a process still listens on
//! is never taken away, and neither is anything that is not a socket.

use std::io;
use std::net::Ipv4Addr;
use std::os::unix::net as unix;
use std::path::{Path, PathBuf};

use packset_segments::vfs::Vfs;
use rustix::fs::{FileType, Mode};

use super::{Error, Result, Wanted};

/// A socket that accepts clients.
#[derive(Debug)]
pub struct Listener {
    pub(super) door: Door,
}

/// The two kinds.
#[derive(Debug)]
pub(super) enum Door {
    Tcp(mio::net::TcpListener),
    /// With the path, which goes when the listener does.
    Unix(mio::net::UnixListener, PathBuf),
}

/// The mode of a socket: its owner's alone.
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

impl Listener {
    /// On 127.0.0.1; port 0 takes a free one.
    ///
    /// # Errors
    /// [`Error::Taken`], or what the system says.
    pub fn tcp(port: u16) -> Result<Self> {
        let at = std::net::SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        match mio::net::TcpListener::bind(at) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                Err(Error::Taken { at: at.to_string() })
            }
            bound => Ok(Self { door: Door::Tcp(bound.wanted(|| format!("listen on {at}"))?) }),
        }
    }

    /// On a path, 0600. A socket that nobody listens on any more is replaced; the caller holds
    /// `serve.lock`, so that no two do so at once.
    ///
    /// # Errors
    /// [`Error::Taken`], [`Error::NoSocket`], or what the system says (a path over about 100
    /// bytes above all).
    pub fn unix(vfs: &dyn Vfs, path: &Path) -> Result<Self> {
        let wanted = || format!("listen on {}", path.display());
        if is_socket(path)? {
            if unix::UnixStream::connect(path).is_ok() {
                return Err(Error::Taken { at: path.display().to_string() });
            }
            vfs.unlink(path).wanted(wanted)?;
        }
        // Bound under a name of its own, so that nobody comes in before the mode is right.
        let mut fresh = path.as_os_str().to_owned();
        fresh.push(format!(".{}", std::process::id()));
        let fresh = PathBuf::from(fresh);
        let _ = vfs.unlink(&fresh);
        let bound = mio::net::UnixListener::bind(&fresh).wanted(wanted)?;
        let named = rustix::fs::chmod(&fresh, PRIVATE)
            .map_err(io::Error::from)
            .and_then(|()| vfs.rename_new(&fresh, path));
        if named.is_err() {
            let _ = vfs.unlink(&fresh);
        }
        named.wanted(wanted)?;
        Ok(Self { door: Door::Unix(bound, path.to_owned()) })
    }

    /// The address to call: `http://127.0.0.1:PORT`, or the path of the socket behind `unix:`.
    pub fn url(&self) -> String {
        match &self.door {
            Door::Tcp(_) => format!("http://127.0.0.1:{}", self.port().unwrap_or(0)),
            Door::Unix(_, path) => format!("unix:{}", path.display()),
        }
    }

    /// The TCP port.
    pub fn port(&self) -> Option<u16> {
        match &self.door {
            Door::Tcp(bound) => bound.local_addr().ok().map(|at| at.port()),
            Door::Unix(..) => None,
        }
    }

    /// The path of the socket.
    pub fn path(&self) -> Option<&Path> {
        match &self.door {
            Door::Tcp(_) => None,
            Door::Unix(_, path) => Some(path),
        }
    }
}

/// Whether a socket lies there; no if nothing does.
fn is_socket(path: &Path) -> Result<bool> {
    match rustix::fs::lstat(path) {
        Err(rustix::io::Errno::NOENT) => Ok(false),
        Err(error) => Err(error).wanted(|| format!("look at {}", path.display())),
        Ok(found) if FileType::from_raw_mode(found.st_mode) == FileType::Socket => Ok(true),
        Ok(_) => Err(Error::NoSocket { at: path.to_owned() }),
    }
}
