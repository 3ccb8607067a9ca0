//! Encoders: a child process that turns texts into vectors, and one that scores pairs of texts.
//!
//! The child speaks lines of JSON, one each way (behaviour spec, 4.14). It is started when it is
//! first needed and serves one request at a time. Not here: what vectors are for
//! ([`crate::search::dense`]). Invariants: no write and no lexical search ever fails for an
//! encoder's sake, or waits for one longer than its time; what a child says is believed only if it
//! answers what was asked, in finite numbers; no child outlives us by more than its next read.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use packset_segments::manifest::{Hex, SpaceEntry};
use packset_segments::vfs::{Kind, Vfs};
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_128;

use crate::cli::{Env, env};

/// The program, when nothing names one.
const PROGRAM: &str = "packset-embed";
/// How long an answer may take unless `PACKSET_EMBED_TIMEOUT_MS` says: a model loads in seconds
/// and takes some ten milliseconds for a text, and a write must not wait longer than a person.
const TIME: Duration = Duration::from_secs(10);
/// How long a child that failed is left alone (behaviour spec, 4.14).
const PAUSE: Duration = Duration::from_secs(5);
/// Longest line that is read from a child, bytes: a vector of 4,096 numbers has a tenth of it.
const LINE: u64 = 1 << 20;
/// The variable that names the model of the dense child.
const MODEL: &str = "PACKSET_EMBED_MODEL";
/// What a child reads of the environment, and may have from the seat's file or from the pack, which
/// it does not read itself.
const PASSED: [&str; 10] = [
    MODEL,
    "PACKSET_EMBED_MODEL_PATH",
    "PACKSET_EMBED_CACHE",
    "PACKSET_EMBED_THREADS",
    "PACKSET_RERANK_MODEL",
    "PACKSET_RERANK_MAX_LENGTH",
    "ORT_DYLIB_PATH",
    "XDG_CACHE_HOME",
    "HF_HUB_OFFLINE",
    "LJOS_OFFLINE",
];

/// The encoders of one process.
pub struct Encoders {
    program: Option<PathBuf>,
    vars: Vec<(&'static str, OsString)>,
    enabled: bool,
    time: Duration,
    dense: Mutex<Line>,
    rerank: Mutex<Line>,
    answering: Mutex<Option<bool>>,
}

/// A child of one kind, running or not.
#[derive(Default)]
struct Line {
    running: Option<Running>,
    failed: Option<Instant>,
}

struct Running {
    child: Child,
    to: SyncSender<String>,
    from: Receiver<String>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Encoders {
    /// Finds the program: `PACKSET_EMBED`, else one beside ours, else one on `PATH`.
    /// `INSIDE_EMBED=off` does without. `model` is what the pack is set to; the environment wins.
    pub fn find(vars: &Env, vfs: &dyn Vfs, model: Option<&str>) -> Self {
        let off = |text: &str| ["off", "0", "false", "no"].contains(&text.trim());
        let enabled = !vars.get("INSIDE_EMBED").is_some_and(off);
        let is_file = |path: &Path| matches!(vfs.kind(path), Ok(Kind::File(_)));
        let program = match vars.path("PACKSET_EMBED") {
            Some(named) => Some(named.to_owned()).filter(|path| is_file(path)),
            None => env::companion(vars, vfs, PROGRAM),
        };
        let named = vars.get("PACKSET_EMBED_TIMEOUT_MS").and_then(|time| time.trim().parse().ok());
        let time = named.map_or(TIME, Duration::from_millis);
        let set = PASSED.into_iter().filter_map(|name| Some((name, vars.raw(name)?.to_owned())));
        let mut vars: Vec<(&'static str, OsString)> = set.collect();
        if let Some(model) = model.filter(|_| vars.iter().all(|(name, _)| *name != MODEL)) {
            vars.push((MODEL, model.into()));
        }
        Self { program, vars, enabled, time, ..Self::none() }
    }

    /// None at all.
    pub fn none() -> Self {
        Self {
            program: None,
            vars: Vec::new(),
            enabled: true,
            time: TIME,
            dense: Mutex::default(),
            rerank: Mutex::default(),
            answering: Mutex::new(None),
        }
    }

    /// Whether there is anything to ask.
    pub fn are_there(&self) -> bool {
        self.enabled && self.program.is_some()
    }

    /// What a status says of them: `embedder`, then whether pairs can be scored.
    pub fn status(&self) -> (Value, bool) {
        let answering = *locked(&self.answering);
        let available = self.are_there() && answering != Some(false);
        let embedder = json!({
            "enabled": self.enabled,
            "binary": self.program.as_ref().map(|path| path.to_string_lossy()),
            "available": available,
            "answering": answering,
        });
        (embedder, available)
    }

    /// The vector of a text, or of a query; none if there is no encoder that answers.
    pub fn vector(&self, text: &str, query: bool) -> Option<Vec<f32>> {
        let asked = json!({ "id": "0", "text": text, "query": query });
        let said = self.ask(&self.dense, &[], &asked)?;
        let vector = crate::search::dense::vector(said.get("v"));
        if vector.is_none() {
            self.failed(&self.dense);
        }
        vector
    }

    /// The space that vectors of so many numbers are of.
    pub fn space(&self, dims: usize) -> SpaceEntry {
        let file = self.program.as_deref().unwrap_or(Path::new("")).to_string_lossy();
        let id = xxh3_128(format!("{file} {dims}").as_bytes());
        SpaceEntry { id: Hex(id), model: "encoder".into(), dims: dims as u32, file: file.into() }
    }

    /// How well each text answers the query, the more the better; none if nothing scores them.
    pub fn scores(&self, query: &str, texts: &[&str]) -> Option<Vec<f64>> {
        let asked = json!({ "id": "q", "q": query, "d": texts });
        let said = self.ask(&self.rerank, &["--rerank"], &asked)?;
        let scores = said.get("s").and_then(Value::as_array).map(Vec::as_slice);
        let scores: Option<Vec<f64>> =
            scores.unwrap_or_default().iter().map(Value::as_f64).collect();
        let scores = scores
            .filter(|scores| scores.len() == texts.len() && scores.iter().all(|it| it.is_finite()));
        if scores.is_none() {
            self.failed(&self.rerank);
        }
        scores
    }

    /// Asks a child, and a fresh one if that has ended. One that is too slow is not asked again:
    /// the next would be as slow.
    fn ask(&self, line: &Mutex<Line>, flags: &[&str], asked: &Value) -> Option<Value> {
        let program = self.program.as_ref().filter(|_| self.enabled)?;
        let mut line = locked(line);
        if line.failed.is_some_and(|failed| failed.elapsed() < PAUSE) {
            return None;
        }
        let mut said = None;
        for _ in 0..2 {
            if line.running.is_none() {
                line.running = start(program, flags, &self.vars);
            }
            let answer = line.running.as_mut().map(|running| running.ask(asked, self.time));
            let slow = matches!(answer, Some(Err(RecvTimeoutError::Timeout)));
            said = answer.and_then(Result::ok).flatten();
            if said.is_some() {
                break;
            }
            line.running = None;
            if slow {
                break;
            }
        }
        line.failed = said.is_none().then(Instant::now);
        *locked(&self.answering) = Some(said.is_some());
        said
    }

    /// What a child said is no answer: it is not asked again for a while.
    fn failed(&self, line: &Mutex<Line>) {
        *locked(line) = Line { running: None, failed: Some(Instant::now()) };
        *locked(&self.answering) = Some(false);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a child; its words to a person go nowhere.
fn start(program: &Path, flags: &[&str], vars: &[(&'static str, OsString)]) -> Option<Running> {
    let mut child = Command::new(program)
        .args(flags)
        .envs(vars.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let hears = child.stdin.take();
    let said = child.stdout.take();
    // Dropped before it is whole, a child is waited for here.
    let (Some(mut hears), Some(said)) = (hears, said) else {
        let _ = child.kill();
        let _ = child.wait();
        return None;
    };
    let (lines, from) = sync_channel(1);
    // The thread ends with the child's output, or when nobody listens any more.
    let reads = std::thread::Builder::new().name("encoder".into()).spawn(move || {
        let mut said = BufReader::new(said);
        loop {
            let mut line = String::new();
            match said.by_ref().take(LINE).read_line(&mut line) {
                Ok(read) if read > 0 && line.ends_with('\n') => {
                    if lines.send(line).is_err() {
                        return;
                    }
                }
                _ => return,
            }
        }
    });
    // A pipe holds 64 KiB: a child that does not read would hold up whoever writes past that, so
    // nobody writes who has a deadline. The thread ends with the child, or when we do.
    let (to, asked) = sync_channel::<String>(1);
    let writes = std::thread::Builder::new().name("encoder".into()).spawn(move || {
        for line in asked {
            if hears.write_all(line.as_bytes()).and_then(|()| hears.flush()).is_err() {
                return;
            }
        }
    });
    let running = Running { child, to, from };
    (reads.is_ok() && writes.is_ok()).then_some(running)
}

impl Running {
    /// One line each way. What is no answer to this very question is none.
    fn ask(&mut self, asked: &Value, time: Duration) -> Result<Option<Value>, RecvTimeoutError> {
        self.to.send(format!("{asked}\n")).map_err(|_| RecvTimeoutError::Disconnected)?;
        let said = self.from.recv_timeout(time)?;
        let said: Option<Value> = serde_json::from_str(&said).ok();
        Ok(said.filter(|said| said.get("id") == asked.get("id")))
    }
}
