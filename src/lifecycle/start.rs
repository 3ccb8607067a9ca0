//! Seeing to it that a home has a writer: the one that is there, or a new one in the background.
//!
//! Any number of shells may ask at once. Each may start a process; the home's lock lets one of
//! them serve, the others end, and every shell is told where that one is. Not here: what a writer
//! does. Invariants: a writer that is older than we are makes way, one that is newer never does; a
//! port that something else answers on is left to it.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use packset_segments::vfs::{Kind, Vfs};

use super::stop::retire;
use super::{At as _, Error, Health, LOOK_EVERY, Result, State, find, health, health_of_port};
use super::{is_older, log};
use crate::cli::Env;
use crate::cli::env::{companion, program};
use crate::pack::home::make_directories;
use crate::serve::hold::Runtime;

/// How long a writer may take until it answers, and a sibling's after ours has ended (the page).
const START_WAIT: Duration = Duration::from_secs(5);

/// How long nobody may hold the home after our process ended until we take it that no sibling
/// comes: they were started when ours was.
const NOBODY_WAIT: Duration = Duration::from_secs(1);

/// How long something else may answer on the port until we take it for a stranger: a sibling's
/// writer listens a moment before it says so.
const STRANGER_WAIT: Duration = Duration::from_millis(500);

/// Lines of its log that explain why a writer ended (the page).
const LAST_LINES: usize = 3;

/// The variable that names the program to start as the writer.
pub const PROGRAM_VARIABLE: &str = "PACKSET_BIN";

/// How a home came to have a writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ensured {
    /// The writer, which answers.
    pub runtime: Runtime,
    /// Whether it was there before.
    pub already: bool,
    /// The older one that made way.
    pub retired: Option<Runtime>,
}

/// What a start needs to know.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// The door to files.
    pub vfs: &'a dyn Vfs,
    /// The environment; the new process gets the real one.
    pub env: &'a Env,
    /// The home, which need not exist.
    pub home: &'a Path,
    /// Where to listen.
    pub port: u16,
}

impl Wanted<'_> {
    /// Sees to it that the home has a writer that answers.
    ///
    /// # Errors
    /// Whatever keeps it from answering within five seconds.
    pub fn ensure(self) -> Result<Ensured> {
        let mut retired = None;
        let mut port = self.port;
        let began = Instant::now();
        let mut stranger: Option<Instant> = None;
        let mut holder: Option<Instant> = None;
        loop {
            match find(self.vfs, self.home)? {
                State::Up(old)
                    if retired.is_none() && is_older(&old.version, env!("CARGO_PKG_VERSION")) =>
                {
                    retire(self.vfs, self.home, &old)?;
                    // Its clients know it there.
                    port = old.port.unwrap_or(port);
                    retired = Some(old);
                    stranger = None;
                }
                State::Up(runtime) => {
                    let runtime = self.hear(runtime, began)?;
                    return Ok(Ensured { runtime, already: retired.is_none(), retired });
                }
                State::Held => {
                    if holder.get_or_insert_with(Instant::now).elapsed() >= START_WAIT {
                        return Err(self.silent());
                    }
                    std::thread::sleep(LOOK_EVERY);
                }
                State::Down => match health_of_port(port) {
                    Health::Nothing => {
                        let runtime = self.start(port)?;
                        return Ok(Ensured { runtime, already: false, retired });
                    }
                    found => {
                        let since = stranger.get_or_insert_with(Instant::now).elapsed();
                        if since >= STRANGER_WAIT {
                            return Err(Error::Foreign { port, what: named(found) });
                        }
                        std::thread::sleep(LOOK_EVERY);
                    }
                },
            }
        }
    }

    /// Waits until a writer that is there answers.
    fn hear(self, mut runtime: Runtime, began: Instant) -> Result<Runtime> {
        loop {
            if runtime.port.is_none() {
                return Err(Error::Socket { url: runtime.url, pid: runtime.pid });
            }
            if health(&runtime) == Health::Writer {
                return Ok(runtime);
            }
            if began.elapsed() >= START_WAIT {
                return Err(Error::Deaf { url: runtime.url, pid: runtime.pid });
            }
            std::thread::sleep(LOOK_EVERY);
            if let State::Up(now) = find(self.vfs, self.home)? {
                runtime = now;
            }
        }
    }

    fn silent(self) -> Error {
        let holder = super::holder(self.vfs, self.home);
        Error::Silent { home: self.home.to_owned(), holder }
    }

    /// Starts a writer and waits until it, or a sibling's, answers.
    fn start(self, port: u16) -> Result<Runtime> {
        let log = log::path(self.env, self.home, port);
        let mut child = self.spawn(port, &log)?;
        let before = child.log_bytes;
        let began = Instant::now();
        let mut ended: Option<Instant> = None;
        let mut free: Option<Instant> = None;
        loop {
            let state = find(self.vfs, self.home)?;
            if let State::Up(runtime) = &state
                && runtime.port.is_some()
                && health(runtime) == Health::Writer
            {
                return Ok(runtime.clone());
            }
            if ended.is_none() && child.process.try_wait().at("wait for", &log)?.is_some() {
                ended = Some(Instant::now());
            }
            let is_over = match (ended, &state) {
                (None, _) => began.elapsed() >= START_WAIT,
                (Some(ended), State::Down) => {
                    let free = *free.get_or_insert_with(Instant::now);
                    free.elapsed() >= NOBODY_WAIT || ended.elapsed() >= START_WAIT
                }
                (Some(ended), _) => {
                    free = None;
                    ended.elapsed() >= START_WAIT
                }
            };
            if is_over {
                return Err(match (state, ended) {
                    (State::Up(writer), _) => Error::Deaf { url: writer.url, pid: writer.pid },
                    (State::Held, _) => self.silent(),
                    (State::Down, _) => {
                        Error::Ended { said: log::last_lines(self.vfs, &log, before, LAST_LINES) }
                    }
                });
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn spawn(self, port: u16, log: &Path) -> Result<Spawned> {
        let home = self.home;
        make_directories(self.vfs, home).map_err(std::io::Error::other).at("make", home)?;
        let file = log::open(self.vfs, log)?;
        let log_bytes = match self.vfs.kind(log) {
            Ok(Kind::File(bytes)) => bytes,
            _ => 0,
        };
        let named = self.env.path(PROGRAM_VARIABLE).map(|path| self.absolute(path));
        let mut command = match named {
            Some(named) => Command::new(named),
            None => {
                let ours = program().unwrap_or_else(|| PathBuf::from("packset"));
                let mut command = Command::new(ours);
                command.arg("serve");
                command
            }
        };
        let program = PathBuf::from(command.get_program());
        command.env("PACKSET_HOME", home).env("PACKSET_PORT", port.to_string());
        // Read by the new process against its own directory, which is another.
        for name in ["PACKSET_TRACE_WRITES", PROGRAM_VARIABLE] {
            if let Some(path) = self.env.path(name) {
                command.env(name, self.absolute(path));
            }
        }
        command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
        // SAFETY: between fork and exec only setsid(2) is called, which is async-signal-safe and
        // touches no memory of ours.
        unsafe {
            command.pre_exec(|| {
                // It fails for the leader of a group, which a process that was just forked is not.
                let _ = rustix::process::setsid();
                Ok(())
            });
        }
        let process = command.spawn().at("run", &program)?;
        Ok(Spawned { process, log_bytes })
    }

    fn absolute(self, path: &Path) -> PathBuf {
        self.env.cwd().map_or_else(|| path.to_owned(), |cwd| cwd.join(path))
    }
}

struct Spawned {
    process: Child,
    /// How long the log was before.
    log_bytes: u64,
}

fn named(found: Health) -> &'static str {
    match found {
        Health::Writer => "the writer of another home",
        _ => "another program",
    }
}

/// The program that serves: what `PACKSET_BIN` names, `packsetd` beside the program that runs, or
/// the one on PATH.
pub fn daemon(env: &Env, vfs: &dyn Vfs) -> Option<PathBuf> {
    const NAME: &str = "packsetd";
    if let Some(named) = env.path(PROGRAM_VARIABLE) {
        return Some(env.cwd().map_or_else(|| named.to_owned(), |cwd| cwd.join(named)));
    }
    companion(env, vfs, NAME)
}
