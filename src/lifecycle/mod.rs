//! The writer seen from outside: whether a home has one, where it is, and whether it answers.
//!
//! A writer is ours when the runtime file of our home names its process and that process has the
//! home's `serve.lock` open. Neither alone is enough: a dead writer leaves its file behind, and
//! its number may be another program's by now. Not here: serving ([`crate::serve`]), asking for
//! claims ([`crate::client`]). Invariants: no process is signalled that is not ours by that rule;
//! nothing here changes what a pack holds.

pub mod checkup;
pub mod log;
pub mod migrate;
pub mod start;
pub mod stop;

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use packset_segments::vfs::Vfs;

use crate::cli::{Failure, FailureKind};
use crate::serve::hold::{self, At, LOCK, Runtime};

/// How long a writer has to answer `GET /health`, which it does without looking at any store.
const HEALTH_WAIT: Duration = Duration::from_secs(1);

/// More than the answer to `GET /health` has, head and all.
const HEALTH_MOST_BYTES: u64 = 4096;

/// How the body of `GET /health` begins: ours, and that of the program before (observed).
const HEALTH_WORDS: [&str; 2] = ["packsetd", "inside-memd"];

/// How often a process that comes or goes is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Why a writer could not be started, found or stopped.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something else answers where the writer should.
    #[error("port {port} is answered by {what}")]
    Foreign {
        /// The port.
        port: u16,
        /// By what.
        what: &'static str,
    },
    /// A process holds the home and has not said where it answers.
    #[error("{} is held by a process that does not say where it listens ({holder})",
        home.display())]
    Silent {
        /// The home.
        home: PathBuf,
        /// What its lock says about it.
        holder: String,
    },
    /// The writer is there and does not answer.
    #[error("the writer at {url} (process {pid}) does not answer")]
    Deaf {
        /// Where.
        url: String,
        /// Its process.
        pid: u32,
    },
    /// The writer of this home listens where no `PACKSET_URL` leads.
    #[error("the writer of this home (process {pid}) listens on {url} alone")]
    Socket {
        /// Where.
        url: String,
        /// Its process.
        pid: u32,
    },
    /// The new writer ended before it answered.
    #[error("the writer ended before it answered: {said}")]
    Ended {
        /// The last lines of its log.
        said: String,
    },
    /// It was asked to end and still runs.
    #[error("process {pid} was asked to end and still runs")]
    Lingers {
        /// Its process.
        pid: u32,
    },
    /// What a home says about its writer cannot be read, or the system refused.
    #[error(transparent)]
    Hold(#[from] hold::Error),
}

/// A result of this module.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::Foreign { .. } => Self::new(FailureKind::Refused, message)
                .hint("name another port with PACKSET_PORT, or end what listens there"),
            Error::Silent { .. } => Self::new(FailureKind::Busy, message)
                .hint("it may be starting, or run in another container: try again"),
            Error::Deaf { .. } => Self::new(FailureKind::Busy, message)
                .hint("`packset stop` ends it, `packset ensure` starts a new one"),
            Error::Socket { .. } => Self::new(FailureKind::Refused, message)
                .hint("`packset stop` ends it; without PACKSET_URL the verbs work on the files"),
            Error::Ended { .. } => Self::new(FailureKind::Refused, message)
                .hint("`packset serve` runs it in the foreground"),
            Error::Lingers { pid } => Self::new(FailureKind::Busy, message).hint(format!(
                "it finishes what it was asked; `kill -9 {pid}` loses nothing acknowledged"
            )),
            Error::Hold(error) => error.into(),
        }
    }
}

/// Whether a home has a writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Nobody serves it.
    Down,
    /// A process holds it and has not said where it answers, or runs where we cannot see it.
    Held,
    /// This writer serves it.
    Up(Runtime),
}

/// Whether the home has a writer now: two small files and a look at one process.
///
/// # Errors
/// What the system says.
pub fn find(vfs: &dyn Vfs, home: &Path) -> Result<State> {
    if let Some(runtime) = hold::read_runtime(vfs, home)?
        && is_writer(vfs, home, runtime.pid)
    {
        return Ok(State::Up(runtime));
    }
    Ok(if hold::is_held(vfs, home)? { State::Held } else { State::Down })
}

/// Whether a process is the writer of a home.
///
/// On Linux it has the home's lock file open, which only a process of our own user shows us and no
/// other program has any reason to do. Elsewhere the lock is held and its note names the process.
fn is_writer(vfs: &dyn Vfs, home: &Path, pid: u32) -> bool {
    let lock = home.join(LOCK);
    if !cfg!(target_os = "linux") {
        let note = vfs.read(&lock).unwrap_or_default();
        let named = String::from_utf8_lossy(&note).contains(&format!("(process {pid},"));
        return named && hold::is_held(vfs, home).unwrap_or(false);
    }
    let Ok(lock) = vfs.id(&lock) else { return false };
    let open = PathBuf::from(format!("/proc/{pid}/fd"));
    let files = vfs.list(&open).unwrap_or_default();
    files.iter().any(|file| vfs.id(&open.join(file)).is_ok_and(|id| id == lock))
}

/// Who holds a home, by the note in its lock.
fn holder(vfs: &dyn Vfs, home: &Path) -> String {
    let note = vfs.read(&home.join(LOCK)).unwrap_or_default();
    match String::from_utf8_lossy(&note).trim() {
        "" => "it left no note".to_owned(),
        note => note.to_owned(),
    }
}

/// What is at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// A writer, of whichever home.
    Writer,
    /// Something that accepts and does not answer as a writer does.
    Other,
    /// Nothing.
    Nothing,
}

/// Asks a port of this machine whether a writer answers; within about a second.
pub fn health_of_port(port: u16) -> Health {
    let at = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let stream = TcpStream::connect_timeout(&at, HEALTH_WAIT);
    asked(stream, TcpStream::set_read_timeout, TcpStream::set_write_timeout)
}

/// Asks a writer that said where it is whether it answers there.
pub fn health(runtime: &Runtime) -> Health {
    match (runtime.port, &runtime.socket) {
        (Some(port), _) => health_of_port(port),
        (None, Some(socket)) => {
            let stream = UnixStream::connect(socket);
            asked(stream, UnixStream::set_read_timeout, UnixStream::set_write_timeout)
        }
        (None, None) => Health::Nothing,
    }
}

fn asked<S: Read + Write>(
    stream: io::Result<S>,
    read: fn(&S, Option<Duration>) -> io::Result<()>,
    write: fn(&S, Option<Duration>) -> io::Result<()>,
) -> Health {
    let Ok(mut stream) = stream else { return Health::Nothing };
    let set = read(&stream, Some(HEALTH_WAIT)).and_then(|()| write(&stream, Some(HEALTH_WAIT)));
    set.map_or(Health::Other, |()| ask_health(&mut stream))
}

fn ask_health(stream: &mut (impl Read + Write)) -> Health {
    let asked =
        stream.write_all(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let mut answer = Vec::new();
    // What came before a time-out or a reset is judged all the same.
    let _ = asked.and_then(|()| stream.take(HEALTH_MOST_BYTES).read_to_end(&mut answer));
    if is_healthy(&answer) { Health::Writer } else { Health::Other }
}

/// Whether an HTTP answer is that of a writer to `GET /health`.
fn is_healthy(answer: &[u8]) -> bool {
    let answer = String::from_utf8_lossy(answer);
    let Some((head, body)) = answer.split_once("\r\n\r\n") else { return false };
    let is_ok = head.starts_with("HTTP/1.") && head.split(' ').nth(1) == Some("200");
    is_ok && HEALTH_WORDS.iter().any(|word| body.starts_with(word))
}

/// Whether a version is older than another; one that is none is older than every other.
fn is_older(version: &str, than: &str) -> bool {
    let parts = |text: &str| -> Option<[u64; 3]> {
        let core = text.split(['-', '+']).next()?;
        let mut numbers = core.split('.').map(|part| part.parse().ok());
        Some([numbers.next()??, numbers.next()??, numbers.next()??])
    };
    parts(version) < parts(than)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number() {
        let table = [
            ("0.18.0", "0.18.0", false),
            ("0.9.21", "0.18.0", true),
            ("0.18.0", "0.9.21", false),
            ("0.18.1", "1.0.0", true),
            ("odd", "0.18.0", true),
            ("0.18.0", "odd", false),
            ("0.18.0-beta", "0.18.1", true),
        ];
        for (version, than, older) in table {
            assert_eq!(is_older(version, than), older, "{version} {than}");
        }
    }

    #[test]
    fn a_writer_is_known_by_its_health() {
        let table: [(&[u8], bool); 6] = [
            (b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\npacksetd ok", true),
            (b"HTTP/1.1 200 OK\r\n\r\npacksetd ok, busy", true),
            (b"HTTP/1.0 200 \r\n\r\ninside-memd ok", true),
            (b"HTTP/1.1 404 Not Found\r\n\r\npacksetd ok", false),
            (b"HTTP/1.1 200 OK\r\n\r\nhello", false),
            (b"SSH-2.0-OpenSSH\r\n", false),
        ];
        for (answer, healthy) in table {
            assert_eq!(is_healthy(answer), healthy, "{}", String::from_utf8_lossy(answer));
        }
    }
}
