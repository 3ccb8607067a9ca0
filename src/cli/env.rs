//! The one door to the environment: variables, arguments and the working directory.
//!
//! An [`Env`] is a snapshot taken once; tests build theirs by hand. Not here: what a variable
//! means. Invariants: an empty variable counts as unset; `$HOME/.config/ljos/env` adds variables
//! and never replaces one.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use packset_segments::vfs::{Kind, Vfs};

/// The seat's own file of variables, below `$HOME`.
pub(crate) const SEAT_FILE: &str = ".config/ljos/env";

/// Largest seat file that is read, in bytes. A hand-written file has a few hundred; anything
/// beyond this is not one.
pub(crate) const SEAT_FILE_MAX_BYTES: u64 = 1 << 20;

/// What the process was started with.
#[derive(Clone, Debug, Default)]
pub struct Env {
    args: Vec<OsString>,
    vars: BTreeMap<OsString, OsString>,
    cwd: Option<PathBuf>,
    warning: Option<String>,
}

impl Env {
    /// A snapshot made by hand. `args` are the words after the program's name.
    pub fn new<A, K, V>(
        args: impl IntoIterator<Item = A>,
        vars: impl IntoIterator<Item = (K, V)>,
        cwd: Option<&Path>,
    ) -> Self
    where
        A: Into<OsString>,
        K: Into<OsString>,
        V: Into<OsString>,
    {
        Self {
            args: args.into_iter().map(Into::into).collect(),
            vars: vars.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
            cwd: cwd.map(Path::to_owned),
            warning: None,
        }
    }

    /// The process's own, with the seat's file read into it.
    #[expect(clippy::disallowed_methods, reason = "this is the door to the environment")]
    pub fn of_process(vfs: &dyn Vfs) -> Self {
        let cwd = std::env::current_dir().ok();
        let mut env = Self::new(std::env::args_os().skip(1), std::env::vars_os(), cwd.as_deref());
        env.read_seat_file(vfs);
        env
    }

    /// Adds the variables of `$HOME/.config/ljos/env` that are not there yet.
    ///
    /// A file that cannot be read is no reason to stop (help must work); it leaves a
    /// [`Env::warning`].
    pub fn read_seat_file(&mut self, vfs: &dyn Vfs) {
        let Some(home) = self.path("HOME") else {
            return;
        };
        let path = home.join(SEAT_FILE);
        let read = match vfs.kind(&path) {
            Ok(Kind::File(len)) if len <= SEAT_FILE_MAX_BYTES => vfs.read(&path),
            Ok(Kind::File(_)) => Err(io::Error::from(io::ErrorKind::FileTooLarge)),
            Ok(Kind::Dir) => Err(io::Error::from(io::ErrorKind::IsADirectory)),
            Err(error) => Err(error),
        };
        match read {
            Ok(bytes) => self.add_missing(&bytes),
            Err(error) if absent(&error) => {}
            Err(error) => self.warning = Some(format!("cannot read {}: {error}", path.display())),
        }
    }

    /// `KEY=VALUE` lines; the first of two lines with one key counts. Lines that are blank, start
    /// with `#`, name no key or are not UTF-8 say nothing.
    fn add_missing(&mut self, file: &[u8]) {
        for line in file.split(|&byte| byte == b'\n') {
            let Ok(line) = std::str::from_utf8(line) else {
                continue;
            };
            if line.trim_start().starts_with('#') {
                continue;
            }
            let Some((name, value)) = line.split_once('=') else {
                continue;
            };
            let (name, value) = (name.trim(), value.trim());
            if !name.is_empty() {
                self.vars.entry(name.into()).or_insert_with(|| value.into());
            }
        }
    }

    /// Sets a variable: a flag that wins over it.
    pub fn set(&mut self, name: &str, value: &str) {
        self.vars.insert(name.into(), value.into());
    }

    /// A variable's text; `None` when it is unset, empty or not UTF-8.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.raw(name)?.to_str()
    }

    /// A variable that is a path, whatever its bytes; `None` when it is unset or empty.
    pub fn path(&self, name: &str) -> Option<&Path> {
        self.raw(name).map(Path::new)
    }

    /// A variable's bytes; `None` when it is unset or empty.
    pub fn raw(&self, name: &str) -> Option<&OsStr> {
        self.vars.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// The words after the program's name.
    pub fn args(&self) -> &[OsString] {
        &self.args
    }

    /// The working directory; `None` when it was removed under us.
    pub fn cwd(&self) -> Option<&Path> {
        self.cwd.as_deref()
    }

    /// What went wrong while the snapshot was taken, to be said once.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }
}

/// The running program's file, as the system has it.
pub fn program() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

/// A program of ours that others run too: the one beside the running program, else the one on PATH.
pub fn companion(env: &Env, vfs: &dyn Vfs, name: &str) -> Option<PathBuf> {
    let is_file = |path: &PathBuf| matches!(vfs.kind(path), Ok(Kind::File(_)));
    let beside = program().map(|program| program.with_file_name(name));
    beside
        .filter(is_file)
        .or_else(|| std::env::split_paths(env.raw("PATH")?).map(|dir| dir.join(name)).find(is_file))
}

/// Whether an error only says that there is nothing at the path.
pub(crate) fn absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Disk;

    fn env(vars: &[(&str, &str)]) -> Env {
        Env::new([""; 0], vars.iter().copied(), None)
    }

    #[test]
    fn empty_counts_as_unset() {
        let env = env(&[("A", ""), ("B", " "), ("C", "c")]);
        assert_eq!(
            (env.get("A"), env.get("B"), env.get("C"), env.get("D")),
            (None, Some(" "), Some("c"), None)
        );
        assert_eq!(env.path("A"), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_path_may_hold_any_bytes() {
        use std::os::unix::ffi::OsStringExt;
        let odd = OsString::from_vec(b"/a\xff".to_vec());
        let env = Env::new([""; 0], [("P", odd.clone())], None);
        assert_eq!(env.get("P"), None);
        assert_eq!(env.path("P"), Some(Path::new(&odd)));
    }

    #[test]
    fn the_seat_file_adds_and_never_replaces() {
        let mut disk = Disk::default();
        disk.file(
            "/h/.config/ljos/env",
            "# c\n\n  KEPT = file \nEMPTY=file\nA = one two \nA=second\n\
             #B=1\n  # C=1\nnoise\n=x\nE=a=b\r\n",
        );
        let mut env = env(&[("HOME", "/h"), ("KEPT", "own"), ("EMPTY", "")]);
        env.read_seat_file(&disk);
        assert_eq!(env.get("KEPT"), Some("own"));
        assert_eq!(env.get("EMPTY"), None, "set to nothing is set");
        assert_eq!(env.get("A"), Some("one two"));
        assert_eq!(env.get("E"), Some("a=b"));
        for name in ["B", "# C", "C", "noise", ""] {
            assert_eq!(env.raw(name), None, "{name:?}");
        }
        assert_eq!(env.warning(), None);
    }

    #[test]
    fn a_missing_seat_file_is_silent_and_an_unreadable_one_is_not() {
        let mut disk = Disk::default();
        let mut without = env(&[("HOME", "/h")]);
        without.read_seat_file(&disk);
        assert_eq!(without.warning(), None);
        disk.file("/h/.config/ljos/env/inner", "");
        let mut directory = env(&[("HOME", "/h")]);
        directory.read_seat_file(&disk);
        let warning = directory.warning().unwrap_or_default();
        assert!(warning.starts_with("cannot read /h/.config/ljos/env: "), "{warning}");
    }
}
