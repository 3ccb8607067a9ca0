//! Writes `completions/` and `man/` from the one clap definition: `gen-docs DIR`; with `--check`
//! before DIR it writes nothing and fails when what lies there differs.
//!
//! A tool of the repository, never installed. Invariant: the same definition gives the same
//! bytes; there are no dates in them.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Command, CommandFactory as _};
use clap_complete::Shell;
use clap_complete_nushell::Nushell;
use packset::cli::Args;

/// Every generated file below the directory given.
type Files = BTreeMap<PathBuf, Vec<u8>>;

#[expect(clippy::disallowed_methods, clippy::print_stderr, reason = "a tool, not the program")]
fn main() -> ExitCode {
    let words: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let outcome = match words.as_slice() {
        [check, dir] if check.as_os_str() == "--check" => check_against(dir),
        [dir] => write_to(dir),
        _ => Err(io::Error::other("usage: gen-docs [--check] DIR")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gen-docs: {error}");
            ExitCode::FAILURE
        }
    }
}

fn generated() -> io::Result<Files> {
    let mut files = Files::new();
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell] {
        complete(shell, &mut files);
    }
    complete(Nushell, &mut files);
    // The pages name each other; `packset help` needs no page of its own.
    let mut command = Args::command().disable_help_subcommand(true);
    command.build();
    let verbs: Vec<Command> = command.get_subcommands().cloned().collect();
    for command in std::iter::once(command).chain(verbs) {
        let source = concat!("packset ", env!("CARGO_PKG_VERSION"));
        let page = clap_mangen::Man::new(command).source(source);
        let mut bytes = Vec::new();
        page.render(&mut bytes)?;
        files.insert(Path::new("man").join(page.get_filename()), bytes);
    }
    Ok(files)
}

fn complete(shell: impl clap_complete::Generator, files: &mut Files) {
    let path = Path::new("completions").join(shell.file_name("packset"));
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "packset", &mut bytes);
    files.insert(path, bytes);
}

#[expect(clippy::disallowed_methods, reason = "a tool, not the program")]
fn write_to(dir: &Path) -> io::Result<()> {
    for (path, bytes) in generated()? {
        let path = dir.join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(dir))?;
        std::fs::write(path, bytes)?;
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a tool, not the program")]
fn check_against(dir: &Path) -> io::Result<()> {
    let mut found = Files::new();
    for part in ["completions", "man"] {
        for entry in std::fs::read_dir(dir.join(part))? {
            let name = entry?.file_name();
            let bytes = std::fs::read(dir.join(part).join(&name))?;
            found.insert(Path::new(part).join(name), bytes);
        }
    }
    let wanted = generated()?;
    let stale =
        wanted.keys().chain(found.keys()).find(|path| wanted.get(*path) != found.get(*path));
    match stale {
        None => Ok(()),
        Some(path) => Err(io::Error::other(format!(
            "{} is not what the definition gives; run gen-docs",
            path.display()
        ))),
    }
}
