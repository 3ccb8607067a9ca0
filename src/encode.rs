//! Encoders: a child process that turns texts into vectors, and one that scores pairs of texts.
//!
//! The child speaks lines of JSON, one each way (behaviour spec, 4.14). It is started when it is
//! first needed and serves one request at a time; there may be several. Not here: what vectors are
//! for ([`crate::search::dense`]), and the child ([`crate::embed`]). Invariants: no write and no lexical search ever fails for an
//! encoder's sake, or waits for one longer than its time; what a child says is believed only if it
//! answers what was asked, in finite numbers; no child outlives us by more than its next read.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Condvar, Mutex, PoisonError};
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
/// Longest line that is read from a child, bytes: the vectors of a request of 4,096 numbers each
/// have a fifth of it.
const LINE: u64 = 4 << 20;

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
/// Texts of one request: what a child holds for them and what it answers is bounded, and a query
/// that comes in between waits for no more than these.
const BATCH: usize = 16;
/// How long a search waits for a reranker that is busy (behaviour spec, 4.10): what it is busy with
/// takes about as long as the search itself may.
const BUSY: Duration = Duration::from_millis(400);
/// Children of one kind at most: each holds a model.
const WORKERS: usize = 16;

/// What vectors are of: only those of one space are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// Which model made them.
    pub model: String,
    /// How many numbers each has.
    pub dims: usize,
    /// The sha256 of the model's graph; empty for an encoder that says nothing of its model.
    pub hash: String,
}

impl Space {
    /// What tells it from every other.
    pub fn id(&self) -> u128 {
        xxh3_128(format!("{} {} {}", self.model, self.dims, self.hash).as_bytes())
    }

    /// What a manifest says of it.
    pub fn entry(&self) -> SpaceEntry {
        let dims = u32::try_from(self.dims).unwrap_or(u32::MAX);
        let (model, file) = (self.model.clone(), self.hash.clone());
        SpaceEntry { id: Hex(self.id()), model, dims, file }
    }
}

/// The encoders of one process.
pub struct Encoders {
    program: Option<PathBuf>,
    /// What its children see beside our own environment.
    vars: Vec<(&'static str, OsString)>,
    enabled: bool,
    /// Whether it is wanted for more than reranking.
    vectors: bool,
    time: Duration,
    dense: Crew,
    rerank: Crew,
    answering: Mutex<Option<bool>>,
    space: Mutex<Known>,
}

/// What is known of the vectors' space.
#[derive(Default)]
enum Known {
    #[default]
    Unasked,
    /// The child has none to tell; so many numbers came of it, once any did.
    Untold(Option<usize>),
    Told(Space),
}

/// Children of one kind, side by side; each is used by one request at a time.
struct Crew {
    flags: &'static [&'static str],
    waiting: Mutex<Waiting>,
    freed: Condvar,
}

struct Waiting {
    /// Those that nobody uses, running or not; the one used last comes first.
    free: Vec<Option<Running>>,
    queries: usize,
    failed: Option<Instant>,
}

/// Whom a request keeps waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum For {
    /// Somebody who searches.
    Query,
    /// A write, which lets queries go first.
    Write,
}

/// One of a crew, in use.
struct Worker<'a> {
    crew: &'a Crew,
    running: Option<Running>,
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        locked(&self.crew.waiting).free.push(self.running.take());
        self.crew.freed.notify_all();
    }
}

impl Crew {
    fn new(flags: &'static [&'static str], count: usize) -> Self {
        let free = (0..count).map(|_| None).collect();
        let waiting = Mutex::new(Waiting { free, queries: 0, failed: None });
        Self { flags, waiting, freed: Condvar::new() }
    }

    /// Whichever is free first, if that is within the time; none while the crew is left alone.
    fn take(&self, whom: For, time: Duration) -> Option<Worker<'_>> {
        let until = Instant::now() + time;
        let mut waiting = locked(&self.waiting);
        waiting.queries += usize::from(whom == For::Query);
        let running = loop {
            if waiting.failed.is_some_and(|failed| failed.elapsed() < PAUSE) {
                break None;
            }
            if whom == For::Query || waiting.queries == 0 {
                let free = &mut waiting.free;
                // A child that runs already is better than one that is yet to load its model.
                let running = free.iter().rposition(Option::is_some);
                let at = running.or_else(|| free.len().checked_sub(1));
                if let Some(at) = at {
                    break Some(free.swap_remove(at));
                }
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break None;
            }
            let waited = self.freed.wait_timeout(waiting, left);
            waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
        };
        if whom == For::Query {
            waiting.queries -= 1;
            // A write may have waited for this query alone.
            self.freed.notify_all();
        }
        running.map(|running| Worker { crew: self, running })
    }

    fn count(&self) -> usize {
        locked(&self.waiting).free.len()
    }
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
    /// Finds the program: `PACKSET_EMBED`; where a model is in use, which the environment or
    /// `model`, what the pack is set to, says, also the one beside ours or on `PATH`. The
    /// environment wins; `INSIDE_EMBED=off` does without.
    ///
    /// That a program lies there is not enough: nobody asked for a model of a fresh installation.
    pub fn find(vars: &Env, vfs: &dyn Vfs, model: Option<&str>) -> Self {
        let off = |text: &str| ["off", "0", "false", "no"].contains(&text.trim());
        let enabled = !vars.get("INSIDE_EMBED").is_some_and(off);
        let is_file = |path: &Path| matches!(vfs.kind(path), Ok(Kind::File(_)));
        let set = |name: &str| vars.raw(name).is_some();
        let vectors = model.is_some()
            || ["PACKSET_EMBED", MODEL, "PACKSET_EMBED_MODEL_PATH"].into_iter().any(set);
        let program = match vars.path("PACKSET_EMBED") {
            Some(named) => Some(named.to_owned()).filter(|path| is_file(path)),
            None if vectors || set("PACKSET_RERANK_MODEL") => env::companion(vars, vfs, PROGRAM),
            None => None,
        };
        let named = vars.get("PACKSET_EMBED_TIMEOUT_MS").and_then(|time| time.trim().parse().ok());
        let time = named.map_or(TIME, Duration::from_millis);
        let count = vars.get("PACKSET_EMBED_QUERY_WORKERS").and_then(|it| it.trim().parse().ok());
        let dense = Crew::new(&[], count.unwrap_or(1).clamp(1, WORKERS));
        let set = PASSED.into_iter().filter_map(|name| Some((name, vars.raw(name)?.to_owned())));
        let mut vars: Vec<(&'static str, OsString)> = set.collect();
        if let Some(model) = model.filter(|_| vars.iter().all(|(name, _)| *name != MODEL)) {
            vars.push((MODEL, model.into()));
        }
        Self { program, vars, enabled, vectors, time, dense, ..Self::none() }
    }

    /// None at all.
    pub fn none() -> Self {
        Self {
            program: None,
            vars: Vec::new(),
            enabled: true,
            vectors: false,
            time: TIME,
            dense: Crew::new(&[], 1),
            rerank: Crew::new(&["--rerank"], 1),
            answering: Mutex::new(None),
            space: Mutex::default(),
        }
    }

    /// Whether there is anything to ask for vectors.
    pub fn are_there(&self) -> bool {
        self.vectors && self.score_pairs()
    }

    /// Whether there is anything to ask for scores.
    pub fn score_pairs(&self) -> bool {
        self.enabled && self.program.is_some()
    }

    /// What a status says of them: `embedder`, then whether pairs can be scored.
    pub fn status(&self) -> (Value, bool) {
        let answering = *locked(&self.answering);
        let answers = answering != Some(false);
        let embedder = json!({
            "enabled": self.enabled,
            "binary": self.program.as_ref().map(|path| path.to_string_lossy()),
            "available": self.are_there() && answers,
            "answering": answering,
        });
        (embedder, self.score_pairs() && answers)
    }

    /// The vector of a text, or of a query; none if there is no encoder that answers.
    pub fn vector(&self, text: &str, query: bool) -> Option<Vec<f32>> {
        self.vectors(&[text], query)?.pop()
    }

    /// The vector of each text, or of each query; none if there is no encoder that answers them
    /// all. Many are spread over the children that are free.
    pub fn vectors(&self, texts: &[&str], query: bool) -> Option<Vec<Vec<f32>>> {
        if !self.are_there() {
            return None;
        }
        let workers = self.dense.count().max(1);
        let size = texts.len().div_ceil(workers).clamp(1, BATCH);
        let parts: Vec<&[&str]> = texts.chunks(size).collect();
        if workers == 1 || parts.len() < 2 {
            let all: Option<Vec<_>> = parts.iter().map(|part| self.part(part, query)).collect();
            return all.map(|all| all.concat());
        }
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<(usize, Vec<Vec<f32>>)>> = Mutex::default();
        std::thread::scope(|scope| {
            for _ in 0..workers.min(parts.len()) {
                scope.spawn(|| {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(part) = parts.get(at) else { return };
                        let Some(vectors) = self.part(part, query) else { return };
                        locked(&done).push((at, vectors));
                    }
                });
            }
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|(at, _)| *at);
        let whole = done.len() == parts.len();
        whole.then(|| done.into_iter().flat_map(|(_, vectors)| vectors).collect())
    }

    /// The vectors of as many texts as one request takes.
    fn part(&self, texts: &[&str], query: bool) -> Option<Vec<Vec<f32>>> {
        let whom = if query { For::Query } else { For::Write };
        // A model takes longer for many: a twentieth of the time for each.
        let time = self.time + self.time / 20 * (texts.len() as u32 - u32::from(!texts.is_empty()));
        let vector = crate::search::dense::vector;
        let vectors: Option<Vec<Vec<f32>>> = match texts {
            [] => return Some(Vec::new()),
            [text] => {
                let asked = json!({ "id": "0", "text": text, "query": query });
                let said = self.ask(&self.dense, whom, &asked, self.time, time)?;
                vector(said.get("v")).map(|vector| vec![vector])
            }
            texts => {
                let asked = json!({ "id": "b", "query": query, "texts": texts });
                let said = self.ask(&self.dense, whom, &asked, self.time, time)?;
                let all = said.get("vs").and_then(Value::as_array).map(Vec::as_slice);
                all.unwrap_or_default().iter().map(|one| vector(Some(one))).collect()
            }
        };
        let fits = |vectors: &Vec<Vec<f32>>| {
            vectors.len() == texts.len() && vectors.iter().all(|vector| self.fits(vector.len()))
        };
        let vectors = vectors.filter(fits);
        if vectors.is_none() {
            self.failed(&self.dense);
        }
        vectors
    }

    /// Whether a vector has as many numbers as those before it, or as the child says.
    fn fits(&self, dims: usize) -> bool {
        let mut known = locked(&self.space);
        match &*known {
            Known::Told(space) => space.dims == dims,
            Known::Untold(Some(before)) => *before == dims,
            // What a program of ours says when it is asked is better than a guess.
            Known::Unasked if self.tells() => true,
            Known::Unasked | Known::Untold(None) => {
                *known = Known::Untold(Some(dims));
                true
            }
        }
    }

    /// Whether the program is one that says which model it runs. Another is asked nothing but
    /// what every encoder answers.
    fn tells(&self) -> bool {
        let stem = self.program.as_deref().and_then(Path::file_stem);
        stem.is_some_and(|stem| stem == PROGRAM)
    }

    /// The space that vectors are of: what the child says of itself, which it is asked once; for
    /// a program that says nothing its file and its numbers, once it gave any. None if there is
    /// no encoder that answers.
    pub fn space(&self) -> Option<Space> {
        let program = self.program.as_deref().filter(|_| self.are_there())?;
        let ask = matches!(*locked(&self.space), Known::Unasked) && self.tells();
        if ask {
            let asked = json!({ "id": "about", "about": true });
            let said = self.ask(&self.dense, For::Write, &asked, self.time, self.time)?;
            let text = |name: &str| said.get(name).and_then(Value::as_str).map(str::to_owned);
            let dims = said.get("dims").and_then(Value::as_u64).filter(|dims| *dims > 0);
            let dims = dims.and_then(|dims| usize::try_from(dims).ok());
            *locked(&self.space) = match (text("model"), dims, text("sha256")) {
                (Some(model), Some(dims), Some(hash)) => Known::Told(Space { model, dims, hash }),
                _ => Known::Untold(None),
            };
        }
        match &*locked(&self.space) {
            Known::Told(space) => Some(space.clone()),
            Known::Untold(Some(dims)) => {
                let model = program.to_string_lossy().into_owned();
                Some(Space { model, dims: *dims, hash: String::new() })
            }
            Known::Unasked | Known::Untold(None) => None,
        }
    }

    /// How well each text answers the query, the more the better; none if nothing scores them, or
    /// if what does is busy with others.
    pub fn scores(&self, query: &str, texts: &[&str]) -> Option<Vec<f64>> {
        let asked = json!({ "id": "q", "q": query, "d": texts });
        let busy = BUSY.min(self.time);
        let said = self.ask(&self.rerank, For::Query, &asked, busy, self.time)?;
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
    /// the next would be as slow. A crew that is busy for longer than `busy` answers nothing, and
    /// has not failed.
    fn ask(
        &self,
        crew: &Crew,
        whom: For,
        asked: &Value,
        busy: Duration,
        time: Duration,
    ) -> Option<Value> {
        let program = self.program.as_ref().filter(|_| self.enabled)?;
        let mut worker = crew.take(whom, busy)?;
        let mut said = None;
        for _ in 0..2 {
            if worker.running.is_none() {
                worker.running = start(program, crew.flags, &self.vars);
            }
            let answer = worker.running.as_mut().map(|running| running.ask(asked, time));
            let slow = matches!(answer, Some(Err(RecvTimeoutError::Timeout)));
            said = answer.and_then(Result::ok).flatten();
            if said.is_some() {
                break;
            }
            worker.running = None;
            if slow {
                break;
            }
        }
        locked(&crew.waiting).failed = said.is_none().then(Instant::now);
        *locked(&self.answering) = Some(said.is_some());
        said
    }

    /// What a child said is no answer: none is asked again for a while, and by then afresh.
    fn failed(&self, crew: &Crew) {
        let mut waiting = locked(&crew.waiting);
        waiting.failed = Some(Instant::now());
        let ended: Vec<Option<Running>> = waiting.free.iter_mut().map(Option::take).collect();
        drop(waiting);
        drop(ended);
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
