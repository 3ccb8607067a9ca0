//! The way to tiny_http and back: [`Lanes`] owns its server and the handler threads, a [`Lane`] is
//! the door's end of one connection to it.
//!
//! A lane carries one request at a time, in the form that tiny_http reads best, and one reply,
//! written in one piece: tiny_http's own printing would add a banner and cut bodies up. There are
//! as many handlers as lanes, so a request that goes into a lane is answered without a wait. Lanes
//! are opened when they are first needed and stay.
//!
//! Not here: which request goes in when (`super::crew`). Invariants: the socket lies in a
//! directory that was new and 0700 when it was made; only the door connects to it; it is gone
//! when the lanes are. These are sockets, not files: they do not pass the `Vfs`.

use std::io::{self, Read, Write};
use std::os::unix::net as unix;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use mio::net::UnixStream;
use rustix::fs::Mode;
use rustix::io::Errno;

use super::reply::{Reply, length_on_wire};
use super::{Answer, Class, Request, Result, Wanted};

/// The socket's name in its directory.
const SOCKET: &str = "s";
/// The target of the request that proves a lane; clients' begin with `/` or are `*`.
const PROOF: &str = "lane";
/// How long a lane may take to be served: a machine that needs longer has other troubles.
const PROOF_WITHIN: Duration = Duration::from_secs(1);
/// Up to this many bytes a body is copied behind its head, to leave in one write.
const ONE_WRITE: usize = 16 << 10;

/// tiny_http and the threads that take requests from it.
pub(super) struct Lanes {
    server: Option<Arc<tiny_http::Server>>,
    directory: PathBuf,
    handlers: Vec<JoinHandle<()>>,
    answer: Arc<dyn Answer>,
}

impl Lanes {
    /// Makes the directory and starts tiny_http in it. What a dead process left there goes.
    pub(super) fn open(directory: &Path, answer: Arc<dyn Answer>) -> Result<Self> {
        let (directory, listener) = match listen(directory) {
            // A socket's path has room for about 100 bytes. Where the home's has more, the lanes
            // lie among the temporary files.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                let spare = std::env::temp_dir().join(format!("packset-{}", std::process::id()));
                let listener = listen(&spare).wanted(|| format!("open {}", spare.display()))?;
                (spare, listener)
            }
            result => {
                let listener = result.wanted(|| format!("open {}", directory.display()))?;
                (directory.to_owned(), listener)
            }
        };
        let server = tiny_http::Server::from_listener(listener, None)
            .map_err(io::Error::other)
            .wanted(|| "start the HTTP server".to_owned())?;
        Ok(Self { server: Some(Arc::new(server)), directory, handlers: Vec::new(), answer })
    }

    /// One more lane, and a handler for it.
    pub(super) fn connect(&mut self) -> io::Result<UnixStream> {
        let Some(server) = &self.server else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let mut stream = unix::UnixStream::connect(self.directory.join(SOCKET))?;
        let (server, answer) = (Arc::clone(server), Arc::clone(&self.answer));
        let name = format!("answer-{}", self.handlers.len());
        let handler = std::thread::Builder::new().name(name).spawn(move || {
            while let Ok(request) = server.recv() {
                handle(request, answer.as_ref());
            }
        })?;
        self.handlers.push(handler);
        prove(&mut stream)?;
        stream.set_nonblocking(true)?;
        Ok(UnixStream::from_std(stream))
    }

    /// Ends the handlers. Those that are still at work are left to the end of the process.
    pub(super) fn close(&mut self, idle: bool) {
        let Some(server) = self.server.take() else {
            return;
        };
        for _ in &self.handlers {
            server.unblock();
        }
        if idle {
            for handler in self.handlers.drain(..) {
                // A handler catches its answers' panics; there is nothing to learn from it.
                let _ = handler.join();
            }
        }
        // The last one who holds the server ends it, and with it goes the socket.
        drop(server);
        let _ = rustix::fs::unlink(self.directory.join(SOCKET));
        let _ = rustix::fs::rmdir(&self.directory);
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        self.close(false);
    }
}

fn listen(directory: &Path) -> io::Result<unix::UnixListener> {
    let socket = directory.join(SOCKET);
    match rustix::fs::unlink(&socket) {
        Err(error) if !matches!(error, Errno::NOENT | Errno::NOTDIR) => return Err(error.into()),
        _ => {}
    }
    match rustix::fs::rmdir(directory) {
        Err(error) if error != Errno::NOENT => return Err(error.into()),
        _ => {}
    }
    // A mask can only take bits away, and these are the owner's alone.
    rustix::fs::mkdir(directory, Mode::RWXU)?;
    unix::UnixListener::bind(&socket).inspect_err(|_| {
        let _ = rustix::fs::rmdir(directory);
    })
}

/// Waits until tiny_http serves the lane. Its pool counts a thread as free until that thread has
/// woken: of two connections in quick succession the second may be left to a thread that never
/// comes, because lanes never end. One at a time, none is. Costs some 100 us, once in a lane's life.
fn prove(stream: &mut unix::UnixStream) -> io::Result<()> {
    stream.set_read_timeout(Some(PROOF_WITHIN))?;
    stream.write_all(format!("GET {PROOF} HTTP/1.1\r\n\r\n").as_bytes())?;
    let (mut back, mut scratch) = (Vec::new(), [0; 512]);
    loop {
        let read = stream.read(&mut scratch)?;
        back.extend_from_slice(scratch.get(..read).unwrap_or_default());
        match length_on_wire(&back, false) {
            Ok(Some(length)) if length == back.len() => return Ok(()),
            Ok(None) if read > 0 => {}
            Ok(Some(length)) if read > 0 && length > back.len() => {}
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// Answers one request.
fn handle(mut inner: tiny_http::Request, answer: &dyn Answer) {
    let target = inner.url();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut request = Request {
        method: inner.method().as_str().to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        body: Vec::with_capacity(inner.body_length().unwrap_or(0)),
    };
    if request.path == PROOF {
        let mut writer = inner.into_writer();
        let wire = Reply::text(200, "").to_wire(false);
        let _ = writer.write_all(&wire).and_then(|()| writer.flush());
        return;
    }
    let reply = match inner.as_reader().read_to_end(&mut request.body) {
        // Where a panic ends the process nobody is answered, and every write that was
        // acknowledged is on disk; where it unwinds, this one request has failed.
        Ok(_) => catch_unwind(AssertUnwindSafe(|| answer.answer(&request)))
            .unwrap_or_else(|_| Reply::error(500, "the writer has a bug: this request panicked")),
        Err(error) => Reply::error(500, &format!("the request got lost: {error}")),
    };
    let wire = reply.to_wire(request.method == "HEAD");
    // It fails when the door has closed its end, and then nobody wants it.
    let mut writer = inner.into_writer();
    let _ = writer.write_all(&wire).and_then(|()| writer.flush());
}

/// What came back from a lane.
pub(super) enum Back {
    /// Not all of it.
    Part,
    /// The response, as the client gets it.
    Whole(Vec<u8>),
    /// The other end is gone.
    Lost,
}

/// A request on its way.
pub(super) struct Errand {
    /// Whose it is.
    pub(super) client: Option<usize>,
    /// Which place it takes.
    pub(super) class: Class,
}

/// The door's end of a lane.
pub(super) struct Lane {
    pub(super) stream: UnixStream,
    pub(super) errand: Option<Errand>,
    out: [Vec<u8>; 2],
    sent: usize,
    back: Vec<u8>,
    length: Option<usize>,
    bodiless: bool,
}

impl Lane {
    pub(super) fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            errand: None,
            out: [Vec::new(), Vec::new()],
            sent: 0,
            back: Vec::new(),
            length: None,
            bodiless: false,
        }
    }

    /// Starts to send a request; [`Lane::push`] goes on with it.
    pub(super) fn load(&mut self, errand: Errand, request: Request) {
        self.errand = Some(errand);
        self.bodiless = request.method == "HEAD";
        let [head, rest] = &mut self.out;
        head.clear();
        for part in [request.method.as_str(), " ", &request.path] {
            head.extend_from_slice(part.as_bytes());
        }
        if !request.query.is_empty() {
            head.push(b'?');
            head.extend_from_slice(request.query.as_bytes());
        }
        let end = format!(" HTTP/1.1\r\nContent-Length: {}\r\n\r\n", request.body.len());
        head.extend_from_slice(end.as_bytes());
        *rest = request.body;
        if rest.len() <= ONE_WRITE {
            head.append(rest);
        }
        self.sent = 0;
    }

    /// Writes what the lane takes now.
    pub(super) fn push(&mut self) -> io::Result<()> {
        let [head, rest] = &mut self.out;
        loop {
            let now = match self.sent.checked_sub(head.len()) {
                None => head.get(self.sent..),
                Some(sent) => rest.get(sent..),
            };
            let now = now.unwrap_or_default();
            if now.is_empty() {
                // A large body's memory is not the lane's to keep.
                *rest = Vec::new();
                head.truncate(0);
                head.shrink_to(ONE_WRITE);
                self.sent = 0;
                return Ok(());
            }
            match self.stream.write(now) {
                Ok(written) => self.sent += written,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads what has come back.
    pub(super) fn pull(&mut self, scratch: &mut [u8]) -> Back {
        loop {
            match self.stream.read(scratch) {
                Ok(0) => return Back::Lost,
                Ok(read) => self.back.extend_from_slice(scratch.get(..read).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Back::Part,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return Back::Lost,
            }
            if self.length.is_none() {
                match length_on_wire(&self.back, self.bodiless) {
                    Ok(length) => self.length = length,
                    Err(_) => return Back::Lost,
                }
                let more = self.length.unwrap_or(0).saturating_sub(self.back.len());
                self.back.reserve_exact(more);
            }
            if self.length.is_some_and(|length| length <= self.back.len()) {
                self.length = None;
                return Back::Whole(std::mem::take(&mut self.back));
            }
        }
    }
}
