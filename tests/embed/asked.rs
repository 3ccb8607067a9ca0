//! A place to run `packset-embed` in, and a running one that is asked lines.
//!
//! Invariants: it sees no variable of ours but PATH and what a test sets; it is gone when the test
//! is.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::onnx::{self, Is};

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_packset-embed");

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A directory that goes with the test, and the variables to run with.
pub struct Place {
    pub root: PathBuf,
    pub vars: Vec<(OsString, OsString)>,
}

impl Place {
    pub fn new() -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir();
        let root = root.join(format!("packset-embed-{}-{number}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        let place = Self { root: root.canonicalize().unwrap(), vars: Vec::new() };
        let home = place.root.clone();
        let path = std::env::var_os("PATH").unwrap_or_default();
        place.var("HOME", home).var("PATH", path).var("PACKSET_EMBED_THREADS", "1")
    }

    /// One with the runtime that this machine has, and a model of a kind at a name's place; none
    /// where there is no runtime, which is said.
    pub fn with(name: &str, is: Is) -> Option<Self> {
        let library = runtime()?;
        let place = Self::new().var("ORT_DYLIB_PATH", library);
        let dir = place.root.join(".cache/packset/embed/user").join(name);
        onnx::lay(&dir, is);
        Some(place.var("PACKSET_EMBED_MODEL", name))
    }

    pub fn var(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.vars.push((name.into(), value.into()));
        self
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.args(words).env_clear().envs(self.vars.iter().map(|(a, b)| (a, b)));
        command.current_dir(&self.root);
        command
    }

    /// Runs it to its end, with nothing to read.
    pub fn run(&self, words: &[&str]) -> Output {
        self.command(words).stdin(Stdio::null()).output().unwrap()
    }

    /// Its exit code and what it says to a person.
    pub fn fails(&self, words: &[&str]) -> (i32, String) {
        let output = self.run(words);
        assert!(output.stdout.is_empty(), "{output:?}");
        (output.status.code().unwrap_or(-1), String::from_utf8(output.stderr).unwrap())
    }

    /// A running one.
    pub fn start(&self, words: &[&str]) -> Asked {
        let mut command = self.command(words);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let to = child.stdin.take();
        let from = BufReader::new(child.stdout.take().unwrap());
        Asked { child, to, from }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// A running `packset-embed`.
pub struct Asked {
    pub child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Asked {
    /// One line each way.
    pub fn line(&mut self, line: &str) -> Value {
        let to = self.to.as_mut().unwrap();
        writeln!(to, "{line}").unwrap();
        to.flush().unwrap();
        let mut said = String::new();
        self.from.read_line(&mut said).unwrap();
        serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said:?} to {line:.200}"))
    }

    pub fn ask(&mut self, asked: Value) -> Value {
        self.line(&asked.to_string())
    }

    /// A text's vector.
    pub fn vector(&mut self, text: &str, query: bool) -> Vec<f32> {
        let said = self.ask(json!({"id": "0", "text": text, "query": query}));
        assert_eq!(said["id"], "0", "{said}");
        numbers(&said["v"])
    }

    /// The exit code, once nothing more is asked.
    pub fn end(mut self) -> Option<i32> {
        drop(self.to.take());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn numbers(value: &Value) -> Vec<f32> {
    let all = value.as_array().unwrap_or_else(|| panic!("no numbers: {value}"));
    all.iter().map(|it| it.as_f64().unwrap() as f32).collect()
}

pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The directory of real models, if there is one.
pub fn models() -> Option<PathBuf> {
    std::env::var_os("PACKSET_TEST_MODELS").map(PathBuf::from)
}

/// Says why a test proves nothing here: on stderr itself, which the test runner does not capture.
pub fn skip(why: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {why}");
}

/// The runtime's library on this machine; where there is none that is said once.
pub fn runtime() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let name = packset::fetch::runtime::file_name();
        let named = std::env::var_os("ORT_DYLIB_PATH").map(PathBuf::from);
        let of_models = models().map(|dir| dir.join("lib").join(name));
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let pulled = home.map(|home| home.join(".cache/packset/embed/lib").join(name));
        let places = [named, of_models, pulled];
        let found = places.into_iter().flatten().find(|path| path.is_file());
        if found.is_none() {
            skip("no ONNX Runtime: set ORT_DYLIB_PATH or run `packset model pull`");
        }
        found.map(|path| path.canonicalize().unwrap())
    });
    found.as_deref()
}
