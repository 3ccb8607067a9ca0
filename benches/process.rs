//! Whole processes: how long one takes, what it uses, how much memory is its own.
//!
//! Not here: what is run. Invariants: every process of a bench gets the same empty environment
//! and is started by the same call, so that its time may be compared with that of `/bin/true`.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What a process did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ran {
    /// From before its start to after its end.
    pub(crate) wall: Duration,
    /// In user and system mode, over all its threads.
    pub(crate) cpu: Duration,
    /// Most memory it held at once, file pages included, bytes.
    pub(crate) peak: u64,
    /// Whether it ended in 0.
    pub(crate) success: bool,
}

/// A program with its environment and directory.
#[derive(Clone)]
pub(crate) struct Program {
    path: PathBuf,
    vars: Vec<(&'static str, OsString)>,
    dir: PathBuf,
}

impl Program {
    /// Ours, on a home of its own. Without the live cap: a bench keeps more claims than one person,
    /// and an import past the cap would be refused.
    pub(crate) fn packset(dir: &Path, home: &Path, workspace: &str) -> Self {
        Self::new(env!("CARGO_BIN_EXE_packset"), dir)
            .var("PACKSET_HOME", home)
            .var("PACKSET_WORKSPACE", workspace)
            .var("PACKSET_LIVE_CAP", "off")
    }

    pub(crate) fn new(path: impl Into<PathBuf>, dir: &Path) -> Self {
        Self { path: path.into(), vars: Vec::new(), dir: dir.to_owned() }
    }

    #[must_use]
    pub(crate) fn var(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.vars.push((name, value.into()));
        self
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.path);
        command.args(args).env_clear().envs(self.vars.iter().cloned()).current_dir(&self.dir);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Runs it, its output thrown away.
    pub(crate) fn run(&self, args: &[&str]) -> io::Result<Ran> {
        let mut command = self.command(args);
        let start = Instant::now();
        let child = command.spawn()?;
        ended(&child, start)
    }

    /// Runs it and returns what it printed.
    pub(crate) fn output(&self, args: &[&str]) -> io::Result<String> {
        let output = self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(io::Error::other(format!("{args:?}: {said}")));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The private memory of a run, bytes: anonymous pages (heap, stacks, relocated data) as the
    /// kernel counts them in the process's page table at the moment it exits. The allocator is
    /// told to give nothing back before, so that this is also the most that it ever touched.
    pub(crate) fn private_memory(&self, args: &[&str]) -> io::Result<u64> {
        let mut command = self.command(args);
        command.env("MALLOC_MMAP_MAX_", "0").env("MALLOC_TRIM_THRESHOLD_", "4294967296");
        // SAFETY: between fork and exec the child makes one system call.
        unsafe {
            command.pre_exec(|| {
                let none = std::ptr::null_mut::<libc::c_void>();
                match libc::ptrace(libc::PTRACE_TRACEME, 0, none, none) {
                    0 => Ok(()),
                    _ => Err(io::Error::last_os_error()),
                }
            });
        }
        let child = command.spawn()?;
        let pid = child.id().cast_signed();
        let mut found = 0;
        loop {
            let mut status = 0;
            // SAFETY: the child is ours and the status has room for the answer.
            if unsafe { libc::waitpid(pid, &raw mut status, 0) } != pid {
                return Err(io::Error::last_os_error());
            }
            if libc::WIFEXITED(status) || libc::WIFSIGNALED(status) {
                return Ok(found);
            }
            let exiting = status >> 8 == libc::SIGTRAP | (libc::PTRACE_EVENT_EXIT << 8);
            if exiting {
                found = anonymous(pid)?;
            }
            let stopped = libc::WSTOPSIG(status);
            let signal = if stopped == libc::SIGTRAP { 0 } else { stopped };
            let none = std::ptr::null_mut::<libc::c_void>();
            // SAFETY: both calls are to a child of ours that has stopped; none takes a pointer.
            unsafe {
                libc::ptrace(libc::PTRACE_SETOPTIONS, pid, none, libc::PTRACE_O_TRACEEXIT);
                libc::ptrace(libc::PTRACE_CONT, pid, none, libc::c_long::from(signal));
            }
        }
    }
}

fn anonymous(pid: i32) -> io::Result<u64> {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Anonymous:"));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.map(|kib| kib * 1024).ok_or_else(|| io::Error::other("no count of anonymous memory"))
}

/// Waits for the end of a process and says what it used.
pub(crate) fn ended(child: &Child, start: Instant) -> io::Result<Ran> {
    let pid = child.id().cast_signed();
    let mut status = 0;
    // SAFETY: `rusage` is a C structure of integers, for which zeros are a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the child is ours and nobody else waits for it; both places have room.
    if unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) } != pid {
        return Err(io::Error::last_os_error());
    }
    let wall = start.elapsed();
    let time = |t: libc::timeval| {
        Duration::from_micros(t.tv_sec.unsigned_abs() * 1_000_000 + t.tv_usec.unsigned_abs())
    };
    Ok(Ran {
        wall,
        cpu: time(usage.ru_utime) + time(usage.ru_stime),
        peak: usage.ru_maxrss.unsigned_abs() * 1024,
        success: libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0,
    })
}

/// Times of many runs of one thing.
#[derive(Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn push(&mut self, time: Duration) {
        self.0.push(time);
    }

    /// The time that `percent` of the runs stayed below, in milliseconds.
    pub(crate) fn percentile(&mut self, percent: usize) -> f64 {
        self.0.sort_unstable();
        let at = (self.0.len() * percent / 100).min(self.0.len().saturating_sub(1));
        self.0.get(at).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
    }

    pub(crate) fn median(&mut self) -> f64 {
        self.percentile(50)
    }
}
