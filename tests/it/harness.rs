//! The DSL: a [`Pack`] is a hermetic place to run in, a [`Run`] one command line, a [`Done`] what
//! came of it.
//!
//! Invariants: a child sees no variable of ours but PATH; its HOME and working directory lie in a
//! directory that goes when the pack does; a failed expectation prints the whole run.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_packset");

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A place of its own: `home` is HOME, `work` the working directory.
pub struct Pack {
    pub root: PathBuf,
    vars: BTreeMap<OsString, OsString>,
}

impl Pack {
    pub fn new() -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir();
        let root = root.join(format!("packset-it-{}-{number}", std::process::id()));
        for name in ["home", "work"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        let root = root.canonicalize().unwrap();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let home = root.join("home").into_os_string();
        // Most tests are about words: what is merely near would stand beside what they look for.
        // Those in `meaning.rs` do with the static table.
        let vars = [("PATH", path), ("HOME", home), ("PACKSET_STATIC", "off".into())];
        Self { root, vars: vars.map(|(name, value)| (name.into(), value)).into() }
    }

    /// The same pack with the static table, as users have it.
    pub fn with_meaning(mut self) -> Self {
        self.vars.remove(std::ffi::OsStr::new("PACKSET_STATIC"));
        self
    }

    /// A variable for every run.
    pub fn var(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.vars.insert(name.into(), value.into());
        self
    }

    /// The pack's home, by default.
    pub fn home(&self) -> PathBuf {
        self.root.join("home/.local/share/packset")
    }

    pub fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// The directory of a workspace whose name needs no spelling out.
    pub fn store(&self, name: &str) -> PathBuf {
        self.home().join("ws").join(name)
    }

    /// The files of a directory of a store, oldest first.
    pub fn files(&self, name: &str, part: &str) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = fs::read_dir(self.store(name).join(part))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        files
    }

    pub fn run<S: Into<OsString>>(&self, args: impl IntoIterator<Item = S>) -> Run {
        let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
        let mut command = Command::new(PROGRAM);
        command.args(&args).env_clear().envs(&self.vars).current_dir(self.work());
        Run { command, input: Vec::new() }
    }

    /// A run that must end in 0.
    pub fn ok<S: Into<OsString>>(&self, args: impl IntoIterator<Item = S>) -> Done {
        self.run(args).done().code(0)
    }

    /// Stores a lesson; its id.
    pub fn remember(&self, text: &str) -> String {
        let done = self.ok(["remember", "--", text]);
        done.out.split('\t').next().unwrap().to_owned()
    }

    /// Stores lines; they must all be taken.
    pub fn import(&self, lines: &[&str]) -> Done {
        self.run(["import", "-"]).stdin(lines.join("\n")).done().code(0)
    }

    /// Texts that a search finds, best first.
    pub fn found(&self, query: &str) -> Vec<String> {
        self.found_with(&[], query)
    }

    /// As [`Pack::found`], with flags.
    pub fn found_with(&self, flags: &[&str], query: &str) -> Vec<String> {
        let done = self.ok([&["search"], flags, &["--", query]].concat());
        done.out.lines().map(|row| row.splitn(4, '\t').nth(3).unwrap().to_owned()).collect()
    }

    /// The records that `atoms` lists.
    pub fn atoms(&self, args: &[&str]) -> Vec<Value> {
        self.ok([&["atoms"], args].concat()).json_lines()
    }
}

impl Drop for Pack {
    fn drop(&mut self) {
        let gone = fs::remove_dir_all(&self.root);
        if gone.is_err() {
            open_up(&self.root);
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}

/// Makes every directory below writable again.
fn open_up(dir: &Path) {
    set_mode(dir, 0o700);
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            open_up(&entry.path());
        }
    }
}

pub fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    let _ = fs::set_permissions(path, fs::Permissions::from_mode(mode));
}

pub fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Every regular file below, with its bytes.
pub fn all_files(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false => files.push((path.clone(), fs::read(&path).unwrap())),
            }
        }
    }
    files.sort();
    files
}

/// Puts other bytes in the place of a sealed file.
pub fn replace(path: &Path, bytes: &[u8]) {
    fs::remove_file(path).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Says why a test proves nothing here: on stderr itself, which the test runner does not capture.
pub fn skip(why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

/// One command line, not yet run.
pub struct Run {
    pub command: Command,
    input: Vec<u8>,
}

impl Run {
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = bytes.into();
        self
    }

    pub fn var(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.command.env(name, value.into());
        self
    }

    pub fn no_var(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    pub fn cwd(mut self, dir: &Path) -> Self {
        self.command.current_dir(dir);
        self
    }

    /// Runs it to its end.
    pub fn done(mut self) -> Done {
        let line = format!("{:?}", self.command.get_args().collect::<Vec<_>>());
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = std::mem::take(&mut self.input);
        let writer = std::thread::spawn(move || {
            // A program that does not read its input closes it.
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Done::of(line, output)
    }
}

/// What came of a run.
pub struct Done {
    line: String,
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Done {
    pub fn of(line: String, output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("because output is text");
        Self {
            line,
            code: output.status.code(),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    fn story(&self) -> String {
        let Self { line, code, out, err } = self;
        format!("packset {line} ended in {code:?}\nstdout: {out:?}\nstderr: {err:?}")
    }

    #[track_caller]
    pub fn code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}", self.story());
        self
    }

    #[track_caller]
    pub fn out(self, text: &str) -> Self {
        assert_eq!(self.out, text, "{}", self.story());
        self
    }

    #[track_caller]
    pub fn err(self, text: &str) -> Self {
        assert_eq!(self.err, text, "{}", self.story());
        self
    }

    #[track_caller]
    pub fn out_has(self, part: &str) -> Self {
        assert!(self.out.contains(part), "stdout lacks {part:?}: {}", self.story());
        self
    }

    #[track_caller]
    pub fn err_has(self, part: &str) -> Self {
        assert!(self.err.contains(part), "stderr lacks {part:?}: {}", self.story());
        self
    }

    /// Neither stream has it.
    #[track_caller]
    pub fn never_says(self, part: &str) -> Self {
        let said = self.out.contains(part) || self.err.contains(part);
        assert!(!said, "{part:?} is said: {}", self.story());
        self
    }

    /// A failure as the contract has it: nothing on stdout, one line, at most one hint. A read may
    /// have said before which workspace it looks at.
    #[track_caller]
    pub fn fails(self, code: i32) -> Self {
        let done = self.code(code);
        let said = |line: &&str| *line != "packset: workspace default";
        let mut lines: Vec<&str> = done.err.lines().collect();
        if lines.len() > 1 {
            lines.retain(said);
        }
        let shaped = match lines[..] {
            [line] => line.starts_with("packset: "),
            [line, hint] => line.starts_with("packset: ") && hint.starts_with("hint: "),
            _ => false,
        };
        assert!(shaped && done.out.is_empty(), "{}", done.story());
        done
    }

    /// Stdout as one JSON value on one line.
    #[track_caller]
    pub fn json(&self) -> Value {
        let mut values = self.json_lines();
        assert_eq!(values.len(), 1, "{}", self.story());
        values.remove(0)
    }

    /// Stdout as one JSON value a line.
    #[track_caller]
    pub fn json_lines(&self) -> Vec<Value> {
        let parse =
            |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{}", self.story()));
        self.out.lines().map(parse).collect()
    }
}

/// Rows of a search without their scores: those fade with the time at which they are asked for.
pub fn unscored(rows: &str) -> String {
    let rest = |row: &str| row.split_once('\t').unwrap().1.to_owned() + "\n";
    rows.lines().map(rest).collect()
}

/// The names of an object's members, in order.
#[track_caller]
pub fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// Whether it is an id of ours.
pub fn is_id(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// Whether it is a time as stored: milliseconds and `Z`.
pub fn is_time(text: &str) -> bool {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    shape == "0000-00-00T00:00:00.000Z"
}
