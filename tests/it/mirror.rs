//! A mirror of models on a port of its own: what is asked is kept, and what is answered is decided
//! by the test, down to where the connection breaks.
//!
//! It speaks one request a connection, by hand, because a server that behaves cannot be made to
//! stop in the middle of a file.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub path: String,
    pub from: Option<usize>,
    pub if_range: Option<String>,
}

/// What is answered.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Bytes of the body after which the connection breaks.
    pub cut: Option<usize>,
    /// Whether it stays open there instead, until the mirror goes.
    pub stall: bool,
}

impl Reply {
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: Vec::new(), body: body.into(), cut: None, stall: false }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    pub fn cut(mut self, at: usize) -> Self {
        self.cut = Some(at);
        self
    }

    pub fn stall(mut self) -> Self {
        self.stall = true;
        self
    }
}

/// Files by their path, as a server has them that minds ranges and tags.
pub type Files = BTreeMap<String, Vec<u8>>;

/// What such a server answers; `tag` is the tag of all its files.
pub fn plain(files: &Files, asked: &Asked, tag: &str) -> Reply {
    let Some(bytes) = files.get(&asked.path) else { return Reply::new(404, "none") };
    let same = asked.if_range.as_deref().is_none_or(|its| its == tag);
    match asked.from.filter(|_| same) {
        None => Reply::new(200, bytes.clone()).header("etag", tag),
        Some(from) if from >= bytes.len() => {
            Reply::new(416, "").header("content-range", &format!("bytes */{}", bytes.len()))
        }
        Some(from) => {
            let range = format!("bytes {from}-{}/{}", bytes.len() - 1, bytes.len());
            Reply::new(206, &bytes[from..]).header("etag", tag).header("content-range", &range)
        }
    }
}

/// The server.
pub struct Mirror {
    pub url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    connections: Arc<Mutex<usize>>,
    gone: Arc<AtomicBool>,
}

impl Mirror {
    /// Answers by `answers`, which is told how often its path was asked for before.
    pub fn new(answers: impl Fn(&Asked, usize) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let url = format!("http://127.0.0.1:{port}");
        let mirror =
            Self { url, asked: Arc::default(), connections: Arc::default(), gone: Arc::default() };
        let (asked, gone) = (Arc::clone(&mirror.asked), Arc::clone(&mirror.gone));
        let connections = Arc::clone(&mirror.connections);
        let answers = Arc::new(answers);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if gone.load(Ordering::Relaxed) {
                    return;
                }
                *connections.lock().unwrap() += 1;
                let (asked, gone, answers) =
                    (Arc::clone(&asked), Arc::clone(&gone), Arc::clone(&answers));
                // Whoever asked may be gone before the answer: that is what some tests are about.
                std::thread::spawn(move || answer(&stream?, &asked, &gone, &*answers));
            }
        });
        mirror
    }

    /// Serves files as they are.
    pub fn of(files: Files) -> Self {
        Self::new(move |asked, _| plain(&files, asked, "\"one\""))
    }

    /// Everything that was asked, in order.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// What was asked for a path that ends so.
    pub fn asked_for(&self, end: &str) -> Vec<Asked> {
        self.asked().into_iter().filter(|asked| asked.path.ends_with(end)).collect()
    }

    /// How many connected, whether they asked or not.
    pub fn connections(&self) -> usize {
        *self.connections.lock().unwrap()
    }
}

impl Drop for Mirror {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::Relaxed);
        // The one that it waits for.
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
    }
}

fn answer(
    stream: &TcpStream,
    all: &Mutex<Vec<Asked>>,
    gone: &AtomicBool,
    answers: &dyn Fn(&Asked, usize) -> Reply,
) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut asked = Asked { path, from: None, if_range: None };
    for line in lines {
        let line = line?;
        let Some((name, value)) = line.split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "range" => {
                let from = value.trim().trim_start_matches("bytes=").trim_end_matches('-');
                asked.from = Some(from.parse().unwrap());
            }
            "if-range" => asked.if_range = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    if asked.path.is_empty() {
        return Ok(());
    }
    let before = {
        let mut all = all.lock().unwrap();
        let before = all.iter().filter(|it| it.path == asked.path).count();
        all.push(asked.clone());
        before
    };
    let reply = answers(&asked, before);
    let mut head = format!("HTTP/1.1 {} X\r\nconnection: close\r\n", reply.status);
    head += &format!("content-length: {}\r\n", reply.body.len());
    for (name, value) in &reply.headers {
        head += &format!("{name}: {value}\r\n");
    }
    let mut to = stream;
    to.write_all(format!("{head}\r\n").as_bytes())?;
    to.write_all(&reply.body[..reply.cut.unwrap_or(reply.body.len())])?;
    to.flush()?;
    while reply.stall && !gone.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}
