//! Becoming `packset` with one of its verbs: what the programs named after a verb do.
//!
//! Nothing of the library is used, so that they are small and start at once. Not here: the verbs.
//! Invariants: the program that lies beside the one that runs comes before any on PATH; its
//! arguments are passed on untouched.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// The exit code of a program that could not be run (EX_IOERR of sysexits.h).
const NOT_RUN: u8 = 74;

/// Runs `packset VERB` with this program's arguments; `name` says who we are in a message.
pub fn launch(name: &str, verb: &str) -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let file = format!("packset{}", std::env::consts::EXE_SUFFIX);
    let beside = std::env::current_exe().ok().map(|program| program.with_file_name(&file));
    let program = beside.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(&file));
    let mut command = Command::new(&program);
    // The version is the program's; a verb has none of its own.
    if words != ["--version"] && words != ["-V"] {
        command.arg(verb);
    }
    let error = become_it(command.args(words));
    match error {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{name}: cannot run {}: {error}", program.display());
            ExitCode::from(NOT_RUN)
        }
    }
}

#[cfg(unix)]
fn become_it(command: &mut Command) -> std::io::Result<ExitCode> {
    use std::os::unix::process::CommandExt as _;
    Err(command.exec())
}

#[cfg(not(unix))]
fn become_it(command: &mut Command) -> std::io::Result<ExitCode> {
    let code = command.status()?.code();
    Ok(code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}
