//! Where things are: the pack's home, the workspace in force, and a workspace's directory name.
//!
//! Each answer comes with how it was found, for `packset where --explain`. Not here: making
//! anything ([`home`] and [`workspace`] only look). Invariants: an older program's home is named
//! and never touched; all worktrees of a repository are one workspace; no credential of a remote
//! is ever in a name; two workspace names never share a directory.

mod git;

use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};

use packset_segments::vfs::{Kind, Vfs};

use crate::atom::{Unsafe, unsafe_text};
use crate::cli::Env;
use crate::cli::env::absent;
use crate::cli::exit::{Failure, FailureKind};

/// Variables that name the home, the one that counts first.
const HOME_VARIABLES: [&str; 3] = ["PACKSET_HOME", "GROKINSIDE_HOME", "GROK_INSIDE_MEMORY_HOME"];

/// The variable that names the workspace.
const WORKSPACE_VARIABLE: &str = "PACKSET_WORKSPACE";

/// The variable that names the directory to look at instead of the working directory.
const DIRECTORY_VARIABLE: &str = "GROKOS_WORKSPACE";

/// The workspace when nothing names one.
const DEFAULT_WORKSPACE: &str = "default";

/// The default home, below `$HOME`.
const STANDARD_HOME: &str = ".local/share/packset";

/// The previous default home, below `$HOME`.
const PREVIOUS_HOME: &str = ".grokinside/memory";

/// What an older program keeps its claims in, inside its home.
const OLD_STORE: &str = "memory.lmdb";

/// Variables that name the writer's port, the one that counts first.
const PORT_VARIABLES: [&str; 2] = ["PACKSET_PORT", "GROK_MEM_PORT"];

/// The writer's port when nothing names one (the page).
const PORT: u16 = 8761;

/// Directories that only our own homes have.
const OUR_DIRECTORIES: [&str; 2] = ["ws", "sys"];

/// Longest workspace name in bytes: what clients of the known program may rely on.
pub const NAME_MAX_BYTES: usize = 512;

/// Why a place could not be told.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// No variable leads to a home.
    #[error("there is no home for the pack: HOME is not set to an absolute path")]
    NoHome,
    /// The home is an older program's.
    #[error("{} holds the store of an older program ({OLD_STORE}), which this one leaves alone",
        home.display())]
    OldHome {
        /// The older program's home.
        home: PathBuf,
    },
    /// The home is not the default one.
    #[error("{variable} names the home, so that no default is in force")]
    Named {
        /// The variable.
        variable: &'static str,
    },
    /// A name that no workspace can have.
    #[error("the workspace name from {from} {fault}")]
    Name {
        /// Where the name came from.
        from: &'static str,
        /// What is wrong with it.
        fault: NameFault,
    },
    /// The file system failed while the place was looked for.
    #[error(transparent)]
    Look(#[from] Look),
}

/// A path that could not be looked at. Going on as if nothing were there could end in another
/// home or workspace than the user's own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot look at {}: {why}", path.display())]
pub struct Look {
    /// The path.
    pub path: PathBuf,
    /// What the system said.
    pub why: String,
}

/// What is wrong with a workspace name.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
pub enum NameFault {
    /// Nothing but blanks.
    #[error("is blank")]
    Blank,
    /// A line break, an escape, a NUL.
    #[error("holds a control character")]
    Control,
    /// Over [`NAME_MAX_BYTES`].
    #[error("is over {NAME_MAX_BYTES} bytes")]
    Long,
    /// What looks like a secret: a name is a directory, and is said in many answers.
    #[error("looks like a secret")]
    Secret,
    /// Bytes that are no text.
    #[error("is not UTF-8")]
    NotText,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::NoHome => Self::new(FailureKind::Refused, message)
                .hint("set HOME, or PACKSET_HOME to the directory that shall hold the pack"),
            Error::OldHome { .. } => Self::new(FailureKind::Refused, message).hint(
                "run that program's `export --into DIR` for each workspace, set PACKSET_HOME to \
                 a new directory, then `packset import DIR/WS.jsonl`",
            ),
            Error::Named { variable } => {
                Self::new(FailureKind::Refused, message).hint(format!("run it without {variable}"))
            }
            Error::Name { .. } => Self::usage(message),
            Error::Look(_) => Self::new(FailureKind::Io, message),
        }
    }
}

/// The pack's home and how it was found. It need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// The directory.
    pub path: PathBuf,
    /// How it was found.
    pub how: HomeHow,
    /// The older program's store in it, which keeps us out.
    pub old_store: Option<PathBuf>,
}

/// How a home was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HomeHow {
    /// This variable names it.
    Variable(&'static str),
    /// `$XDG_DATA_HOME/packset`.
    Xdg,
    /// `~/.local/share/packset`.
    Standard,
    /// `~/.grokinside/memory`, while only that holds anything.
    Previous,
}

impl fmt::Display for HomeHow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => f.write_str(name),
            Self::Xdg => f.write_str("XDG_DATA_HOME"),
            Self::Standard => f.write_str("the default below HOME"),
            Self::Previous => {
                f.write_str("the previous default, while the new one is absent or empty")
            }
        }
    }
}

impl Home {
    /// The directory, if it is ours to use.
    ///
    /// # Errors
    /// [`Error::OldHome`].
    pub fn usable(self) -> Result<PathBuf, Error> {
        match self.old_store {
            None => Ok(self.path),
            Some(_) => Err(Error::OldHome { home: self.path }),
        }
    }
}

/// Finds the pack's home: at most five looks at the file system, no writes.
///
/// # Errors
/// [`Error::NoHome`], [`Error::Look`].
pub fn home(env: &Env, vfs: &dyn Vfs) -> Result<Home, Error> {
    let (path, how) = home_path(env, vfs)?;
    let old_store = old_store(&path, vfs)?;
    Ok(Home { path, how, old_store })
}

fn home_path(env: &Env, vfs: &dyn Vfs) -> Result<(PathBuf, HomeHow), Error> {
    for name in HOME_VARIABLES {
        if let Some(path) = env.path(name) {
            // Not cleaned of `..`: behind a link the system reads it differently from us.
            let path = env.cwd().map_or_else(|| path.to_owned(), |cwd| cwd.join(path));
            return Ok((path, HomeHow::Variable(name)));
        }
    }
    let user = env.path("HOME").filter(|path| path.is_absolute());
    let xdg = env.path("XDG_DATA_HOME").filter(|path| path.is_absolute());
    let (path, how) = match (xdg, user) {
        (Some(xdg), _) => (xdg.join("packset"), HomeHow::Xdg),
        (None, Some(user)) => (user.join(STANDARD_HOME), HomeHow::Standard),
        (None, None) => return Err(Error::NoHome),
    };
    if let Some(previous) = user.map(|user| user.join(PREVIOUS_HOME))
        && look(&previous, vfs)? == Some(Kind::Dir)
        && is_void(&path, vfs)?
    {
        return Ok((previous, HomeHow::Previous));
    }
    Ok((path, how))
}

/// The port of the writer on this machine; a variable that is no port counts as the default.
pub fn port(env: &Env) -> u16 {
    let named = PORT_VARIABLES.iter().find_map(|name| env.get(name));
    named.and_then(|port| port.trim().parse().ok()).unwrap_or(PORT)
}

/// From where to where a pack in the previous default home moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moves {
    /// The previous default.
    pub from: PathBuf,
    /// The default of today.
    pub to: PathBuf,
}

/// The two default homes. Looks at nothing.
///
/// # Errors
/// [`Error::Named`], [`Error::NoHome`].
pub fn moves(env: &Env) -> Result<Moves, Error> {
    if let Some(variable) = HOME_VARIABLES.into_iter().find(|name| env.raw(name).is_some()) {
        return Err(Error::Named { variable });
    }
    let user = env.path("HOME").filter(|path| path.is_absolute()).ok_or(Error::NoHome)?;
    let xdg = env.path("XDG_DATA_HOME").filter(|path| path.is_absolute());
    let to = xdg.map_or_else(|| user.join(STANDARD_HOME), |xdg| xdg.join("packset"));
    Ok(Moves { from: user.join(PREVIOUS_HOME), to })
}

/// Whether a directory is a home of ours, or empty.
///
/// # Errors
/// [`Error::OldHome`], [`Error::Look`].
pub fn check_ours(home: &Path, vfs: &dyn Vfs) -> Result<(), Error> {
    match old_store(home, vfs)? {
        None => Ok(()),
        Some(_) => Err(Error::OldHome { home: home.to_owned() }),
    }
}

/// The older program's store in a home, unless the home is ours by now.
fn old_store(home: &Path, vfs: &dyn Vfs) -> Result<Option<PathBuf>, Look> {
    let old = home.join(OLD_STORE);
    if look(&old, vfs)?.is_none() {
        return Ok(None);
    }
    for name in OUR_DIRECTORIES {
        if look(&home.join(name), vfs)?.is_some() {
            return Ok(None);
        }
    }
    Ok(Some(old))
}

/// Whether nothing is at the path, or an empty directory. What is not ours to see is something.
fn is_void(path: &Path, vfs: &dyn Vfs) -> Result<bool, Look> {
    match vfs.list(path) {
        Ok(names) => Ok(names.is_empty()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) if is_answer(&error) => Ok(false),
        Err(error) => Err(Look { path: path.to_owned(), why: error.to_string() }),
    }
}

/// What a path names; nothing if it is not there or not ours to see.
fn look(path: &Path, vfs: &dyn Vfs) -> Result<Option<Kind>, Look> {
    match vfs.kind(path) {
        Ok(kind) => Ok(Some(kind)),
        Err(error) if is_answer(&error) => Ok(None),
        Err(error) => Err(Look { path: path.to_owned(), why: error.to_string() }),
    }
}

/// Whether an error says how things are, rather than that the system failed to find out.
fn is_answer(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidFilename, InvalidInput, PermissionDenied};
    absent(error) || matches!(error.kind(), InvalidFilename | InvalidInput | PermissionDenied)
}

/// The workspace in force and how it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    /// Its name, checked.
    pub name: String,
    /// How it was found.
    pub how: How,
}

/// How a workspace was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// The command line names it.
    Argument,
    /// `PACKSET_WORKSPACE` names it.
    Variable,
    /// A git remote of the directory names it.
    Remote {
        /// The remote's name.
        remote: String,
        /// The configuration that has it.
        config: PathBuf,
    },
    /// Nothing names one.
    Default {
        /// Why git does not either.
        why: String,
    },
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument => f.write_str("the command line"),
            Self::Variable => f.write_str(WORKSPACE_VARIABLE),
            Self::Remote { remote, config } => {
                write!(f, "remote {remote} in {}", config.display())
            }
            Self::Default { why } => write!(f, "the default: {why}"),
        }
    }
}

/// Finds the workspace in force: what the command line names, `PACKSET_WORKSPACE`, the git remote
/// of the directory, `default`. Runs no git: a few looks and at most three small files read.
///
/// # Errors
/// [`Error::Name`] for a name that was given and cannot be one, [`Error::Look`].
pub fn workspace(named: Option<&str>, env: &Env, vfs: &dyn Vfs) -> Result<Workspace, Error> {
    if let Some(name) = named {
        let fault = |fault| Error::Name { from: "the command line", fault };
        check_name(name).map_err(fault)?;
        return Ok(Workspace { name: name.to_owned(), how: How::Argument });
    }
    if let Some(value) = env.raw(WORKSPACE_VARIABLE) {
        let fault = |fault| Error::Name { from: WORKSPACE_VARIABLE, fault };
        let name = value.to_str().ok_or_else(|| fault(NameFault::NotText))?;
        check_name(name).map_err(fault)?;
        return Ok(Workspace { name: name.to_owned(), how: How::Variable });
    }
    let directory = match env.path(DIRECTORY_VARIABLE) {
        Some(path) => absolute(path, env),
        None => env.cwd().map(Path::to_owned).unwrap_or_default(),
    };
    let default = |why| Workspace { name: DEFAULT_WORKSPACE.to_owned(), how: How::Default { why } };
    if !directory.is_absolute() {
        return Ok(default("the working directory cannot be told".to_owned()));
    }
    Ok(match git::remote_of(&directory, vfs) {
        Ok(found) => Workspace {
            name: found.name,
            how: How::Remote { remote: found.remote, config: found.config },
        },
        Err(git::Miss::Look(look)) => return Err(look.into()),
        Err(why) => default(why.to_string()),
    })
}

/// Checks a workspace name.
///
/// # Errors
/// What is wrong with it.
pub fn check_name(name: &str) -> Result<(), NameFault> {
    if name.trim().is_empty() {
        Err(NameFault::Blank)
    } else if name.len() > NAME_MAX_BYTES {
        Err(NameFault::Long)
    } else if name.chars().any(char::is_control) {
        Err(NameFault::Control)
    } else if matches!(unsafe_text(name), Some(Unsafe::Issued(_) | Unsafe::Named)) {
        Err(NameFault::Secret)
    } else {
        Ok(())
    }
}

/// The path from the root, without `.` and `..`, as `cd` reads it: walking up from `a/../b` by
/// its parents must not pass through `a`.
fn absolute(path: &Path, env: &Env) -> PathBuf {
    clean(&env.cwd().map_or_else(|| path.to_owned(), |cwd| cwd.join(path)))
}

/// The path without `.` and `..`, links not considered.
fn clean(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            part => clean.push(part),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Disk;

    fn env(vars: &[(&str, &str)]) -> Env {
        Env::new([""; 0], vars.iter().copied(), Some(Path::new("/w/d")))
    }

    fn found(path: &str, how: HomeHow) -> Result<(PathBuf, HomeHow), Error> {
        Ok((path.into(), how))
    }

    #[test]
    fn home_by_variable() {
        let disk = Disk::default();
        let table: [(&[(&str, &str)], _); 8] = [
            (
                &[("PACKSET_HOME", "/a"), ("GROKINSIDE_HOME", "/b"), ("HOME", "/h")],
                found("/a", HomeHow::Variable("PACKSET_HOME")),
            ),
            (
                &[
                    ("PACKSET_HOME", ""),
                    ("GROKINSIDE_HOME", "/b"),
                    ("GROK_INSIDE_MEMORY_HOME", "/c"),
                ],
                found("/b", HomeHow::Variable("GROKINSIDE_HOME")),
            ),
            (
                &[("GROK_INSIDE_MEMORY_HOME", "/c"), ("XDG_DATA_HOME", "/x")],
                found("/c", HomeHow::Variable("GROK_INSIDE_MEMORY_HOME")),
            ),
            (&[("PACKSET_HOME", "../p")], found("/w/d/../p", HomeHow::Variable("PACKSET_HOME"))),
            (&[("XDG_DATA_HOME", "/x"), ("HOME", "/h")], found("/x/packset", HomeHow::Xdg)),
            (&[("XDG_DATA_HOME", "/x")], found("/x/packset", HomeHow::Xdg)),
            (
                &[("XDG_DATA_HOME", "x"), ("HOME", "/h")],
                found("/h/.local/share/packset", HomeHow::Standard),
            ),
            (&[("XDG_DATA_HOME", "x"), ("HOME", "h")], Err(Error::NoHome)),
        ];
        for (vars, want) in table {
            assert_eq!(home_path(&env(vars), &disk), want, "{vars:?}");
        }
        assert_eq!(home(&env(&[]), &disk), Err(Error::NoHome));
    }

    #[test]
    fn the_previous_home_counts_while_the_new_one_is_void() {
        let vars = env(&[("HOME", "/h")]);
        let previous = found("/h/.grokinside/memory", HomeHow::Previous);
        let new = found("/h/.local/share/packset", HomeHow::Standard);
        let mut disk = Disk::default();
        assert_eq!(home_path(&vars, &disk), new, "neither is there");
        disk.dir("/h/.grokinside/memory");
        assert_eq!(home_path(&vars, &disk), previous, "the new one is absent");
        disk.dir("/h/.local/share/packset");
        assert_eq!(home_path(&vars, &disk), previous, "the new one is empty");
        disk.dir("/h/.local/share/packset/ws");
        assert_eq!(home_path(&vars, &disk), new, "the new one holds something");
        let named = env(&[("HOME", "/h"), ("PACKSET_HOME", "/n")]);
        assert_eq!(home_path(&named, &disk), found("/n", HomeHow::Variable("PACKSET_HOME")));
        let mut file = Disk::default();
        file.file("/h/.grokinside/memory", "not a directory");
        assert_eq!(home_path(&vars, &file), new);
    }

    #[test]
    fn the_port_is_named_or_the_default() {
        let table: [(&[(&str, &str)], u16); 6] = [
            (&[], 8761),
            (&[("PACKSET_PORT", "9000"), ("GROK_MEM_PORT", "9001")], 9000),
            (&[("PACKSET_PORT", ""), ("GROK_MEM_PORT", " 9001 ")], 9001),
            (&[("PACKSET_PORT", "nonsense")], 8761),
            (&[("PACKSET_PORT", "nonsense"), ("GROK_MEM_PORT", "9001")], 8761),
            (&[("PACKSET_PORT", "65536")], 8761),
        ];
        for (vars, want) in table {
            assert_eq!(port(&env(vars)), want, "{vars:?}");
        }
    }

    #[test]
    fn the_defaults_move_unless_a_variable_names_the_home() {
        let to = |vars: &[(&str, &str)]| moves(&env(vars)).map(|moves| moves.to);
        assert_eq!(to(&[("HOME", "/h")]), Ok("/h/.local/share/packset".into()));
        assert_eq!(to(&[("HOME", "/h"), ("XDG_DATA_HOME", "/x")]), Ok("/x/packset".into()));
        assert_eq!(to(&[("XDG_DATA_HOME", "/x")]), Err(Error::NoHome));
        let named = to(&[("HOME", "/h"), ("GROKINSIDE_HOME", "/g")]);
        assert_eq!(named, Err(Error::Named { variable: "GROKINSIDE_HOME" }));
    }

    #[test]
    fn a_disk_that_fails_is_no_answer() {
        use packset_segments::sim::{Fault, Refusal, SimFs};
        let fs = SimFs::new();
        for path in ["/h/.grokinside/memory/x", "/w/.git/HEAD"] {
            fs.install(Path::new(path), b"").unwrap();
        }
        let config = b"[remote \"origin\"]\nurl = https://a.example/b.git\n";
        fs.install(Path::new("/w/.git/config"), config).unwrap();
        let vars = env(&[("HOME", "/h")]);
        type Find = fn(&Env, &dyn Vfs) -> Result<String, Error>;
        let finds: [(Find, &str, u64); 2] = [
            (|env, vfs| workspace(None, env, vfs).map(|found| found.name), "git:a.example/b", 6),
            (|env, vfs| home(env, vfs).map(|home| home.how.to_string()), "the previous", 3),
        ];
        for (find, answer, calls) in finds {
            for n in 1..=calls {
                let fs = fs.clone();
                fs.fail_at(n, Fault::Error(Refusal::Eio));
                let found = find(&vars, &fs);
                assert!(fs.hit().is_some(), "{answer}: {n}");
                assert!(matches!(found, Err(Error::Look(_))), "{answer}: {n}: {found:?}");
                assert_eq!(Failure::from(found.unwrap_err()).kind, FailureKind::Io);
            }
            let found = find(&vars, &fs.clone()).unwrap();
            assert!(found.starts_with(answer), "{found}");
        }
    }

    #[test]
    fn an_old_store_keeps_us_out_until_the_home_is_ours() {
        let mut disk = Disk::default();
        disk.file("/a/memory.lmdb/data.mdb", "");
        let vars = env(&[("PACKSET_HOME", "/a")]);
        let old = home(&vars, &disk).unwrap();
        assert_eq!(old.old_store, Some("/a/memory.lmdb".into()));
        let failure = Failure::from(old.usable().unwrap_err());
        assert_eq!(failure.kind, FailureKind::Refused);
        assert!(failure.message.starts_with("/a holds"), "{failure}");
        let hint = failure.hint.unwrap();
        assert!(hint.contains("export") && hint.contains("packset import"), "{hint}");
        disk.dir("/a/ws");
        assert_eq!(home(&vars, &disk).unwrap().usable(), Ok("/a".into()));
    }

    #[test]
    fn workspace_by_argument_variable_remote_default() {
        let mut disk = Disk::default();
        let config = "[remote \"origin\"]\n\turl = git@example.org:own/repo.git\n";
        disk.file("/w/.git/HEAD", "ref: refs/heads/main\n").file("/w/.git/config", config);
        let remote = How::Remote { remote: "origin".into(), config: "/w/.git/config".into() };
        let variable = ("PACKSET_WORKSPACE", "from env");
        type Vars<'a> = &'a [(&'a str, &'a str)];
        let table: [(Option<&str>, Vars<'_>, &str, How); 5] = [
            (Some("arg"), &[variable], "arg", How::Argument),
            (None, &[variable], "from env", How::Variable),
            (None, &[("PACKSET_WORKSPACE", "")], "git:example.org/own/repo", remote.clone()),
            (None, &[("GROKOS_WORKSPACE", "../e/../d/x")], "git:example.org/own/repo", remote),
            (
                None,
                &[("GROKOS_WORKSPACE", "/elsewhere")],
                "default",
                How::Default { why: "no git repository at or above /elsewhere".into() },
            ),
        ];
        for (named, vars, name, how) in table {
            let want = Workspace { name: name.into(), how };
            assert_eq!(workspace(named, &env(vars), &disk), Ok(want), "{vars:?}");
        }
        let lost = Env::new([""; 0], [("A", "b")], None);
        let Workspace { name, how } = workspace(None, &lost, &disk).unwrap();
        assert_eq!(name, "default");
        assert_eq!(how.to_string(), "the default: the working directory cannot be told");
    }

    #[test]
    fn names_that_cannot_be() {
        let long = "x".repeat(512);
        for name in ["a", "a b", " a", "\u{e9}\u{202e}", "-odd", "..", "/", long.as_str()] {
            assert_eq!(check_name(name), Ok(()), "{name:?}");
        }
        let longer = "\u{e9}".repeat(257);
        let table = [
            ("", NameFault::Blank),
            (" \u{3000}", NameFault::Blank),
            ("a\0b", NameFault::Control),
            ("a\tb", NameFault::Control),
            ("a\n", NameFault::Control),
            ("\u{7f}", NameFault::Control),
            ("\u{85}x", NameFault::Control),
            (longer.as_str(), NameFault::Long),
        ];
        let disk = Disk::default();
        for (name, fault) in table {
            assert_eq!(check_name(name), Err(fault), "{name:?}");
            let error = workspace(Some(name), &env(&[]), &disk).unwrap_err();
            assert_eq!(Failure::from(error).kind, FailureKind::Usage);
        }
        let error = workspace(None, &env(&[("PACKSET_WORKSPACE", " ")]), &disk).unwrap_err();
        assert_eq!(error.to_string(), "the workspace name from PACKSET_WORKSPACE is blank");
    }
}
