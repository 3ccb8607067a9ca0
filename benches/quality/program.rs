//! The real program: a home of its own, an import for every pack, a process for every question.
//!
//! A set becomes one home with a workspace for each of its packs. Texts go in as claims; a set
//! with a text that is longer than a claim may be goes in as generic records of kind `document`,
//! and its questions ask for that kind. Not here: what the answers are worth. Invariants: nothing
//! of this process's environment reaches the program; whatever an import refused is counted.

use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use packset::atom::TEXT_LIMIT;
use serde_json::{Map, Value};

use crate::arms::Arm;
use crate::sets::{Pack, Set};

/// Hits that are asked for: R@100 is the deepest measure in common use.
const HITS: &str = "100";

/// The kind of claims: any of the kinds that a person writes would do.
const CLAIM: &str = "lesson";
/// The kind of records that are too long for claims.
const DOCUMENT: &str = "document";

/// Reasons for refusals that are kept to be shown.
const REASONS: usize = 3;

/// A home that holds a set.
pub(crate) struct Home {
    dir: PathBuf,
    vars: Vec<(String, String)>,
    long: bool,
    /// What came of the import.
    pub(crate) import: Import,
}

/// What came of an import.
#[derive(Clone, Debug, Default)]
pub(crate) struct Import {
    pub(crate) stored: u64,
    /// Texts that were there already.
    pub(crate) known: u64,
    pub(crate) refused: u64,
    pub(crate) reasons: Vec<String>,
    pub(crate) seconds: f64,
    /// Bytes of all files of the home.
    pub(crate) bytes: u64,
}

/// What the program answered to a question.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    /// Ids, best first.
    pub(crate) hits: Vec<String>,
    /// Whether the program said that the pack does not answer this.
    pub(crate) abstained: bool,
}

impl Answer {
    /// The one place that knows how an abstention looks: no hit, or the answer's own word that it
    /// is not confident.
    fn of(answer: &Value) -> Self {
        let rows = answer.get("hits").and_then(Value::as_array);
        let id = |hit: &Value| hit.get("id").and_then(Value::as_str).map(str::to_owned);
        let hits: Vec<String> = rows.into_iter().flatten().filter_map(id).collect();
        let unsure = answer.get("confident").and_then(Value::as_bool) == Some(false);
        Self { abstained: hits.is_empty() || unsure, hits }
    }
}

impl Home {
    /// Imports a set into a fresh home at `dir`.
    ///
    /// # Errors
    /// A program that does not start, or an import that ends in anything but stored and refused
    /// lines.
    pub(crate) fn of(set: &Set, vars: Vec<(String, String)>, dir: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&dir)?;
        let long = set.longest() > TEXT_LIMIT;
        let mut home = Self { dir, vars, long, import: Import::default() };
        for pack in &set.packs {
            home.take_in(pack)?;
        }
        home.import.bytes = bytes_below(&home.dir.join("home"))?;
        Ok(home)
    }

    fn command(&self, vars: &[(String, String)]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_packset"));
        command.env_clear().env("PACKSET_HOME", self.dir.join("home"));
        // A set may hold more claims than one person keeps.
        command.env("PACKSET_LIVE_CAP", "off").envs(vars.iter().cloned());
        command.current_dir(&self.dir).stdin(Stdio::null());
        command
    }

    fn take_in(&mut self, pack: &Pack) -> io::Result<()> {
        let kind = if self.long { DOCUMENT } else { CLAIM };
        let file = self.dir.join("pack.ndjson");
        let mut lines = Vec::new();
        for record in &pack.records {
            let mut line = Map::new();
            line.insert("kind".into(), kind.into());
            line.extend(record.clone());
            serde_json::to_writer(&mut lines, &line)?;
            lines.push(b'\n');
        }
        fs::write(&file, lines)?;
        let mut command = self.command(&self.vars);
        command.args(["import", "--json", "--workspace", &pack.name]);
        command.args(self.long.then_some("--records")).arg(&file);
        let start = Instant::now();
        let output = command.output()?;
        self.import.seconds += start.elapsed().as_secs_f64();
        let said = last_object(&output).ok_or_else(|| failed("import", &output))?;
        let count = |field: &str| said.get(field).and_then(Value::as_u64).unwrap_or(0);
        let (stored, known, refused) = (count("stored"), count("known"), count("refused"));
        if stored + known + refused != pack.records.len() as u64 {
            return Err(failed("import", &output));
        }
        if self.vars.iter().any(|(var, _)| var == "PACKSET_EMBED") {
            let output = self.command(&self.vars).args(["embed", &pack.name]).output()?;
            if !output.status.success() {
                return Err(failed("embed", &output));
            }
        }
        self.import.stored += stored;
        self.import.known += known;
        self.import.refused += refused;
        if refused > 0 {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let room = REASONS.saturating_sub(self.import.reasons.len());
            let reasons = said.lines().filter(|line| line.contains(": line "));
            self.import
                .reasons
                .extend(reasons.take(room).map(|line| format!("{}: {line}", pack.name)));
        }
        fs::remove_file(&file)
    }

    /// Asks a pack all these questions, as many at once as there are cores; the answers come in
    /// the questions' order. An arm with an encoder asks through a writer, which keeps it warm.
    ///
    /// # Errors
    /// A search that fails: a wrong setting fails all of them.
    pub(crate) fn ask(
        &self,
        pack: &Pack,
        arm: &Arm,
        questions: &[&str],
    ) -> io::Result<Vec<Answer>> {
        let mut vars = arm.vars.clone();
        let writer = match arm.encodes() && !questions.is_empty() {
            true => Some(Writer::start(self, &arm.vars)?),
            false => None,
        };
        if let Some(writer) = &writer {
            vars.push(("PACKSET_URL".into(), writer.url.clone()));
        }
        let (next, answers) = (AtomicUsize::new(0), Mutex::new(vec![None; questions.len()]));
        let work = || -> io::Result<()> {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(question) = questions.get(at) else { return Ok(()) };
                let answer = self.search(pack, arm, &vars, question)?;
                let mut answers = answers.lock().map_err(|_| io::Error::other("a thread died"))?;
                answers[at] = Some(answer);
            }
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
            threads.into_iter().try_for_each(|thread| {
                thread.join().map_err(|_| io::Error::other("a thread died"))?
            })
        })?;
        let answers = answers.into_inner().map_err(|_| io::Error::other("a thread died"))?;
        Ok(answers.into_iter().map(Option::unwrap_or_default).collect())
    }

    fn search(
        &self,
        pack: &Pack,
        arm: &Arm,
        vars: &[(String, String)],
        question: &str,
    ) -> io::Result<Answer> {
        let mut command = self.command(vars);
        command.args(["search", "--json", "--limit", HITS, "--workspace", &pack.name]);
        command.args(self.long.then_some(["--kind", DOCUMENT]).into_iter().flatten());
        command.args(&arm.flags).args(["--", question]);
        let output = command.output()?;
        match last_object(&output) {
            Some(answer) if output.status.success() => Ok(Answer::of(&answer)),
            _ => Err(failed("search", &output)),
        }
    }
}

/// A writer that answers while this lives.
struct Writer {
    child: Child,
    url: String,
}

impl Writer {
    fn start(home: &Home, vars: &[(String, String)]) -> io::Result<Self> {
        let mut command = home.command(vars);
        command.args(["serve", "--port", "0"]).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let said = child.stderr.take();
        let mut writer = Self { child, url: String::new() };
        let mut said = BufReader::new(said.ok_or_else(|| io::Error::other("no pipe"))?).lines();
        let address = |line: &String| line.find("http://").map(|at| line[at..].trim().to_owned());
        let url = said.by_ref().map_while(Result::ok).find_map(|line| address(&line));
        writer.url = url.ok_or_else(|| io::Error::other("the writer said no address"))?;
        // Nobody reads what else it says, and it must not wait for a full pipe.
        std::thread::spawn(move || said.map_while(Result::ok).for_each(drop));
        Ok(writer)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn last_object(output: &Output) -> Option<Value> {
    let said = std::str::from_utf8(&output.stdout).ok()?;
    serde_json::from_str(said.lines().next_back()?).ok()
}

fn failed(verb: &str, output: &Output) -> io::Error {
    let said = String::from_utf8_lossy(&output.stderr);
    let mut lines = said.lines().filter(|line| !line.starts_with("packset: workspace "));
    let said = lines.next().unwrap_or("it said nothing");
    io::Error::other(format!("{verb} ended with {}: {said}", output.status))
}

fn bytes_below(dir: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let about = entry.metadata()?;
        bytes += if about.is_dir() { bytes_below(&entry.path())? } else { about.len() };
    }
    Ok(bytes)
}
