//! The writer's transport: everything between a socket and a function that answers a request.
//!
//! tiny_http serves the requests, but it gives a client all the time in the world, a thread of its
//! own, and a banner. So no client ever speaks to it. One thread, the *door*, accepts, reads whole
//! requests under limits and a deadline, turns strangers away ([`Guard`]) and decides what may run
//! now. It writes what is let in, in a normal form, into one of a few *lanes*: lasting connections
//! to tiny_http over a Unix socket in a directory that only we can enter. Handler threads take
//! requests from tiny_http, call the [`Answer`], and write the reply back into the lane; the door
//! passes it on. A reply is whole in the door's memory before its client sees a byte of it, so the
//! slowest reader holds up nobody.
//!
//! Not here: which paths there are and what they say ([`Answer`] is handed in). Invariants: an
//! [`Answer`] sees only whole requests of clients that proved themselves; the door never waits for
//! one client, one lane or one file; everything a client can make us keep has a bound.

mod crew;
mod door;
mod guard;
pub mod hold;
mod intake;
mod lanes;
mod listen;
mod reply;
pub mod routing;
mod stop;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use guard::{Guard, Token};
pub use listen::Listener;
pub use reply::Reply;
pub use stop::Stop;

/// A request, whole, checked and authorised.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The method as sent: `GET`.
    pub method: String,
    /// The path as sent, still percent-encoded; it starts with `/`.
    pub path: String,
    /// What follows the first `?`, still percent-encoded; empty without one.
    pub query: String,
    /// The body, its transfer coding undone.
    pub body: Vec<u8>,
}

/// What answering a request costs, and so when it may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Microseconds: may take any worker.
    Cheap,
    /// Real work: one worker of several is kept free of it.
    Read,
    /// Waits for a commit that it shares with others: takes no worker, up to [`WRITES`] at once.
    Write,
}

/// How many writes are answered at once: as many as one commit can usefully carry, and as many
/// threads as that costs. More wait in the parking lane.
pub const WRITES: usize = 64;

/// What answers requests.
pub trait Answer: Send + Sync + 'static {
    /// What the request will cost. Called in the door's thread: it must not wait or read files.
    fn class(&self, request: &Request) -> Class;

    /// The answer. A panic in it answers 500, where panics unwind at all.
    fn answer(&self, request: &Request) -> Reply;
}

/// How much a client may ask for. [`Limits::default`] is the contract; tests are less patient.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Request line and header fields, in bytes; beyond it 431.
    pub head: usize,
    /// One body, in bytes; beyond it 413.
    pub body: usize,
    /// Bodies that are being read, together, in bytes; beyond it 503.
    pub reading: usize,
    /// Bodies of requests in the parking lane, together, in bytes; beyond it 503.
    pub parked: usize,
    /// Replies that clients have not taken yet, together, in bytes; beyond it nothing new runs.
    pub unsent: usize,
    /// Open connections; beyond it the one that has been quiet longest is closed.
    pub open: usize,
    /// From accept to the last byte of the request; then 408.
    pub request: Duration,
    /// Between two bytes that the client takes of its reply, and a sixth of the whole time it has.
    pub reply: Duration,
    /// How long a connection with unread bytes stays open behind the reply. Closed at once, the
    /// system would reset it and the client might never see what we said.
    pub linger: Duration,
    /// From the wish to stop until requests in flight are given up.
    pub drain: Duration,
}

impl Default for Limits {
    /// Head, body, parked bytes and request time are the page's. The others are ours: two bodies
    /// of the largest kind may be on their way at once; 4,096 quiet connections cost about 2 MB.
    fn default() -> Self {
        Self {
            head: 64 << 10,
            body: 64 << 20,
            reading: 128 << 20,
            parked: 64 << 20,
            unsent: 64 << 20,
            open: 4096,
            request: Duration::from_secs(10),
            reply: Duration::from_secs(10),
            linger: Duration::from_secs(2),
            drain: Duration::from_secs(10),
        }
    }
}

/// How [`serve`] serves.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Threads for requests that are not writes, 1 to 8.
    pub workers: usize,
    /// Requests that may wait for a worker, 1 to 4,096.
    pub queue: usize,
    /// The token that clients must show; none lets everybody in.
    pub token: Option<Token>,
    /// A directory that [`serve`] makes for itself, and takes from a dead process that left it.
    pub private: PathBuf,
    /// What clients may ask for.
    pub limits: Limits,
}

impl Settings {
    /// The settings without a word from the user: 4 workers, 128 waiting (the page's numbers).
    pub fn new(token: Option<Token>, private: PathBuf) -> Self {
        Self { workers: 4, queue: 128, token, private, limits: Limits::default() }
    }

    /// With `PACKSET_WORKERS` and `PACKSET_QUEUE` as the environment has them; what is out of
    /// range counts as the nearest number in it.
    ///
    /// # Errors
    /// A value that is no number.
    pub fn sized(mut self, workers: Option<&str>, queue: Option<&str>) -> Result<Self> {
        let number = |name, text: Option<&str>, default, most| match text {
            None => Ok(default),
            Some(text) => text
                .trim()
                .parse::<usize>()
                .map(|number| number.clamp(1, most))
                .map_err(|_| Error::Number { name, text: text.to_owned() }),
        };
        self.workers = number("PACKSET_WORKERS", workers, self.workers, 8)?;
        self.queue = number("PACKSET_QUEUE", queue, self.queue, 4096)?;
        Ok(self)
    }
}

/// Why there is no serving.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting that is no number.
    #[error("{name} is no number: {text}")]
    Number {
        /// The variable.
        name: &'static str,
        /// Its value.
        text: String,
    },
    /// Somebody listens there.
    #[error("{at} is in use by a process that answers")]
    Taken {
        /// The address.
        at: String,
    },
    /// Something else than a socket lies there.
    #[error("{} is not a socket; it stays as it is", at.display())]
    NoSocket {
        /// The path.
        at: PathBuf,
    },
    /// The system refused.
    #[error("cannot {what}: {source}")]
    Io {
        /// What we wanted.
        what: String,
        /// What it said.
        source: io::Error,
    },
}

/// A result of this module.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Names what failed.
trait Wanted<T> {
    fn wanted(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<io::Error>> Wanted<T> for std::result::Result<T, E> {
    fn wanted(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|source| Error::Io { what: what(), source: source.into() })
    }
}

/// What was left when serving ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Requests that were let in and had no answer when the time to drain was over.
    pub unanswered: usize,
}

/// Answers requests from `listener` until `stop` says so, then finishes what is in flight.
///
/// Blocks; the calling thread is the door. Raises the process's soft limit of open files towards
/// the hard one, because a thousand idle clients would exhaust the usual 1,024.
///
/// # Errors
/// What the system says while the door is set up, or about waiting for events.
pub fn serve(
    listener: Listener,
    settings: &Settings,
    answer: Arc<dyn Answer>,
    stop: &Stop,
) -> Result<Ended> {
    door::Door::open(listener, settings, answer, stop)?.run()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_clamped_and_words_refused() {
        let settings = || Settings::new(None, PathBuf::new());
        let sizes = |workers, queue| {
            settings().sized(workers, queue).map(|got| (got.workers, got.queue)).ok()
        };
        assert_eq!(sizes(None, None), Some((4, 128)));
        assert_eq!(sizes(Some("0"), Some("0")), Some((1, 1)));
        assert_eq!(sizes(Some("8"), Some("4096")), Some((8, 4096)));
        assert_eq!(sizes(Some("9"), Some("4097")), Some((8, 4096)));
        assert_eq!(sizes(Some(" 2 "), None), Some((2, 128)));
        assert_eq!(sizes(Some("two"), None), None);
        assert_eq!(sizes(None, Some("-1")), None);
        let error = settings().sized(Some("two"), None).unwrap_err();
        assert_eq!(error.to_string(), "PACKSET_WORKERS is no number: two");
    }
}
