//! A server with an [`Echo`] behind it, and clients that write bytes.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use packset::serve::{
    Answer, Class, Ended, Limits, Listener, Reply, Request, Settings, Stop, Token, serve,
};

/// Longer than anything here takes: only a hang meets it.
pub const HANG: Duration = Duration::from_secs(60);
pub const TOKEN: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// Says what it was asked. `/hold...` waits until the gate opens, `/write...` is a write,
/// `/cheap...` is cheap, `/panic` panics, `/large` answers with 8 MiB.
#[derive(Default)]
pub struct Echo {
    open: Mutex<bool>,
    opened: Condvar,
    pub inside: AtomicUsize,
    pub seen: Mutex<Vec<String>>,
}

impl Echo {
    pub fn open_gate(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    pub fn wait_inside(&self, count: usize) {
        for _ in 0..6000 {
            if self.inside.load(Ordering::SeqCst) >= count {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("{count} requests never ran at once");
    }
}

impl Answer for Echo {
    fn class(&self, request: &Request) -> Class {
        match request.path.as_str() {
            path if path.contains("cheap") => Class::Cheap,
            path if path.contains("write") => Class::Write,
            _ => Class::Read,
        }
    }

    fn answer(&self, request: &Request) -> Reply {
        self.seen.lock().unwrap().push(request.path.clone());
        self.inside.fetch_add(1, Ordering::SeqCst);
        if request.path.starts_with("/hold") {
            let mut open = self.open.lock().unwrap();
            while !*open {
                open = self.opened.wait(open).unwrap();
            }
        }
        self.inside.fetch_sub(1, Ordering::SeqCst);
        match request.path.as_str() {
            "/panic" => panic!("asked to"),
            "/large" => Reply::text(200, &"x".repeat(8 << 20)),
            path => {
                let mut body = format!("{} {path} {} ", request.method, request.query);
                body.push_str(&String::from_utf8_lossy(&request.body));
                Reply::text(200, &body)
            }
        }
    }
}

pub struct Server {
    pub port: u16,
    pub echo: Arc<Echo>,
    pub directory: PathBuf,
    stop: Arc<Stop>,
    thread: Option<JoinHandle<Ended>>,
}

static NEXT: AtomicU32 = AtomicU32::new(0);

impl Server {
    pub fn new() -> Self {
        Self::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("packset-http-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        let mut settings = Settings::new(None, directory.clone());
        change(&mut settings);
        let listener = Listener::tcp(0).unwrap();
        let port = listener.port().unwrap();
        let (echo, stop) = (Arc::new(Echo::default()), Arc::new(Stop::new().unwrap()));
        let (answer, asked) = (Arc::clone(&echo), Arc::clone(&stop));
        let thread =
            std::thread::spawn(move || serve(listener, &settings, answer, &asked).unwrap());
        Self { port, echo, directory, stop, thread: Some(thread) }
    }

    pub fn guarded() -> Self {
        Self::with(|settings| settings.token = Token::parse(TOKEN))
    }

    pub fn limited(change: impl FnOnce(&mut Limits)) -> Self {
        Self::with(|settings| change(&mut settings.limits))
    }

    pub fn connect(&self) -> Client {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(HANG)).unwrap();
        stream.set_write_timeout(Some(HANG)).unwrap();
        Client(stream)
    }

    /// Sends bytes and reads to the end.
    pub fn raw(&self, bytes: impl AsRef<[u8]>) -> Answered {
        let mut client = self.connect();
        client.send(bytes);
        client.read()
    }

    pub fn get(&self, path: &str) -> Answered {
        self.raw(get(path))
    }

    pub fn is_alive(&self) {
        let health = self.get("/health");
        assert_eq!((health.status, health.body.as_str()), (200, "packsetd ok"));
    }

    pub fn ask_to_stop(&self) {
        self.stop.ask();
    }

    pub fn ended(mut self) -> Ended {
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.echo.open_gate();
        self.stop.ask();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

pub fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

pub struct Client(pub TcpStream);

impl Client {
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).unwrap();
    }

    pub fn leave(&self) {
        self.0.shutdown(Shutdown::Write).unwrap();
    }

    /// The reply; status 0 when the connection ended without one.
    pub fn read(&mut self) -> Answered {
        let mut bytes = Vec::new();
        // A reset behind a reply is as good as an end.
        let read = self.0.read_to_end(&mut bytes);
        if let Err(error) = read {
            assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "the server hangs");
        }
        Answered::parse(&bytes)
    }
}

#[derive(Debug)]
pub struct Answered {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answered {
    fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let text = text.strip_prefix("HTTP/1.1 100 Continue\r\n\r\n").unwrap_or(&text);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            assert_eq!(text, "", "no whole head");
            return Self { status: 0, head: String::new(), body: String::new() };
        };
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let length = head.split("Content-Length: ").nth(1).unwrap().lines().next().unwrap();
        assert_eq!(length.parse(), Ok(body.len()), "{head}");
        assert!(head.contains("\r\nConnection: close"), "{head}");
        assert!(!head.contains("Server:") && !head.contains("Access-Control"), "{head}");
        if status >= 400 {
            assert!(head.contains("\r\nContent-Type: application/json"), "{head}");
            assert!(body.starts_with("{\"error\":\"") && !body.contains('\n'), "{body}");
        }
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }
}
