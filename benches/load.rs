//! The writer under load: `packset serve` as a real process, asked over real sockets by client
//! threads that share its cores.
//!
//! Prints searches a second and their slowest hundredth at 10,000 claims with 8 clients, durable
//! writes a second with 32 clients, and the writer's memory before and after a long run. With
//! `--peer DIR` the public program of this name is asked the same, at a size that it can follow.
//! Flags: `--claims N`, `--searches N`, `--writes N`, `--requests N` (the long run), `--peer DIR`.
//! Linux alone.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    missing_docs,
    reason = "a bench touches the real world and prints"
)]

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

#[path = "corpus.rs"]
#[allow(dead_code, reason = "shared with other benches")]
mod corpus;

/// Clients that search, and that write (the issue).
const SEARCHERS: usize = 8;
const WRITERS: usize = 32;

struct Options {
    claims: u64,
    searches: u64,
    writes: u64,
    requests: u64,
    peer: Option<PathBuf>,
}

fn main() -> io::Result<()> {
    let options = options();
    let dir = std::env::temp_dir().join(format!("packset-load-{}", std::process::id()));
    fs::create_dir_all(&dir)?;
    let done = run(&options, &dir);
    fs::remove_dir_all(&dir)?;
    done
}

fn options() -> Options {
    let mut options =
        Options { claims: 10_000, searches: 20_000, writes: 20_000, requests: 200_000, peer: None };
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    while let Some(word) = words.next() {
        let value = words.next().expect("a flag takes a value");
        let number = || value.parse().expect("a number");
        match word.as_str() {
            "--claims" => options.claims = number(),
            "--searches" => options.searches = number(),
            "--writes" => options.writes = number(),
            "--requests" => options.requests = number(),
            "--peer" => options.peer = Some(PathBuf::from(value)),
            _ => panic!("there is no flag {word}"),
        }
    }
    options
}

/// A running writer.
struct Writer {
    child: Child,
    port: u16,
    token: String,
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Writer {
    fn ask(&self, method: &str, path: &str, body: &str) -> io::Result<u16> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_nodelay(true)?;
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.token,
            body.len()
        );
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::with_capacity(8192);
        stream.read_to_end(&mut answer)?;
        let status = answer.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok());
        Ok(status.and_then(|digits| digits.parse().ok()).unwrap_or(0))
    }

    /// Resident memory, MiB.
    fn resident(&self) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        kib.unwrap_or_default() / 1024.0
    }

    /// Processor time so far, seconds.
    fn cpu(&self) -> f64 {
        let stat =
            fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        let ticks = |at: usize| fields.get(at).and_then(|it| it.parse::<f64>().ok());
        // utime and stime, in ticks of a hundredth (USER_HZ).
        (ticks(11).unwrap_or_default() + ticks(12).unwrap_or_default()) / 100.0
    }
}

fn wait_for(port: u16) -> io::Result<()> {
    let until = Instant::now() + Duration::from_secs(30);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        if Instant::now() > until {
            return Err(io::Error::other("the writer does not come up"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

fn start(program: &Path, flags: &[&str], home: &Path, port: u16) -> io::Result<Writer> {
    let child = Command::new(program)
        .args(flags)
        .env("PACKSET_HOME", home)
        .env("PACKSET_PORT", port.to_string())
        .env("HOME", home)
        .env("PACKSET_LIVE_CAP", "off")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let mut writer = Writer { child, port, token: String::new() };
    wait_for(port)?;
    let token = fs::read_to_string(home.join("token")).unwrap_or_default();
    token.trim().clone_into(&mut writer.token);
    Ok(writer)
}

/// Asks `total` times from `clients` threads; returns how long each took, and the whole.
fn load(
    clients: usize,
    total: u64,
    ask: impl Fn(u64) -> io::Result<u16> + Sync,
) -> (Vec<Duration>, Duration, u64) {
    let next = AtomicU64::new(0);
    let failed = AtomicU64::new(0);
    let began = Instant::now();
    let mut times: Vec<Duration> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..clients)
            .map(|_| {
                scope.spawn(|| {
                    let mut times = Vec::new();
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= total {
                            return times;
                        }
                        let began = Instant::now();
                        if !matches!(ask(number), Ok(200)) {
                            failed.fetch_add(1, Ordering::Relaxed);
                        }
                        times.push(began.elapsed());
                    }
                })
            })
            .collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    let whole = began.elapsed();
    times.sort_unstable();
    (times, whole, failed.into_inner())
}

fn report(what: &str, target: &str, loaded: &(Vec<Duration>, Duration, u64), cpu: f64) {
    let (times, whole, failed) = loaded;
    let at = |share: f64| {
        let place = ((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1));
        times.get(place).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
    };
    println!(
        "{what:<28} {:>8.0}/s  p50 {:>6.2} ms  p99 {:>6.2} ms  {:>5.0} us of its cpu each  \
         {failed} failed   ({target})",
        times.len() as f64 / whole.as_secs_f64(),
        at(0.5),
        at(0.99),
        cpu / times.len() as f64 * 1e6
    );
}

fn encoded(query: &str) -> String {
    query.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn claim(number: u64) -> String {
    // Words of its own, so that nothing repeats or replaces anything.
    let word =
        |salt: u64| format!("w{:x}", (number * 7 + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let words: Vec<String> = (0..7).map(word).collect();
    format!(
        "{{\"kind\":\"lesson\",\"level\":\"explicit\",\"workspace\":\"writes\",\"text\":\"{}.\"}}",
        words.join(" ")
    )
}

fn run(options: &Options, dir: &Path) -> io::Result<()> {
    let home = dir.join("home");
    fs::create_dir_all(&home)?;
    let mut lines = String::new();
    let mut texts = Vec::new();
    corpus::claims(options.claims, |line| {
        lines.push_str(line);
        lines.push('\n');
        let text = line.split("\"text\":\"").nth(1).and_then(|rest| rest.split('"').next());
        texts.extend(text.map(str::to_owned));
    });
    let file = dir.join("claims.ndjson");
    fs::write(&file, &lines)?;
    let program = Path::new(env!("CARGO_BIN_EXE_packset"));
    let imported = Command::new(program)
        .args(["import", "--over-cap", "--workspace", "bench"])
        .arg(&file)
        .env("PACKSET_HOME", &home)
        .stdout(Stdio::null())
        .status()?;
    assert!(imported.success());
    let queries: Vec<String> = corpus::queries(texts.iter().map(String::as_str))
        .iter()
        .map(|query| format!("/v1/search?workspace=bench&limit=10&q={}", encoded(query)))
        .collect();
    println!("{} claims", options.claims);
    let writer = start(program, &["serve"], &home, 18_931)?;
    let query = |number: u64| queries.get(number as usize % queries.len()).unwrap().as_str();
    let search = |number: u64| writer.ask("GET", query(number), "");
    load(SEARCHERS, 2_000, search);
    let before = writer.cpu();
    let loaded = load(SEARCHERS, options.searches, search);
    report("searches, 8 clients", ">= 3,000/s, p99 < 15 ms", &loaded, writer.cpu() - before);
    let before = writer.cpu();
    let write = |number: u64| writer.ask("POST", "/v1/atoms", &claim(number));
    let loaded = load(WRITERS, options.writes, write);
    report("durable writes, 32 clients", ">= 2,000/s", &loaded, writer.cpu() - before);
    // Long enough for the allocator to have seen every kind of request.
    load(SEARCHERS, 5_000, search);
    let before = writer.resident();
    let half = |number: u64| match number % 20 {
        0 => writer.ask("GET", "/v1/status?workspace=bench", ""),
        1 => writer.ask("POST", "/v1/atoms", &claim(number % 1000)),
        _ => search(number),
    };
    load(SEARCHERS, options.requests, half);
    println!(
        "memory over {} requests: {before:.1} MiB before, {:.1} MiB after   (flat)",
        options.requests,
        writer.resident()
    );
    drop(writer);
    match &options.peer {
        Some(binaries) => beside(binaries, dir, &queries, &lines),
        None => Ok(()),
    }
}

/// The public program, at 2,000 claims: what it can follow.
fn beside(binaries: &Path, dir: &Path, queries: &[String], lines: &str) -> io::Result<()> {
    let home = dir.join("peer");
    fs::create_dir_all(&home)?;
    let writer = start(&binaries.join("packsetd"), &[], &home, 18_933)?;
    let claims: Vec<String> = lines
        .lines()
        .take(2_000)
        .map(|line| line.replacen('{', "{\"workspace\":\"bench\",\"level\":\"explicit\",", 1))
        .collect();
    let body = |number: u64| claims.get(number as usize).map_or("", String::as_str);
    let before = writer.cpu();
    let loaded = load(4, claims.len() as u64, |n| writer.ask("POST", "/v1/atoms", body(n)));
    report(
        "the public one: writes",
        "4 clients, up to 2,000 claims",
        &loaded,
        writer.cpu() - before,
    );
    let query = |number: u64| queries.get(number as usize % queries.len()).unwrap().as_str();
    let before = writer.cpu();
    let loaded = load(SEARCHERS, 1_000, |number| writer.ask("GET", query(number), ""));
    report("the public one: searches", "8 clients, 2,000 claims", &loaded, writer.cpu() - before);
    Ok(())
}
