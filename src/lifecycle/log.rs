//! The log of a writer that runs in the background: where it is, and how it is kept short.
//!
//! Not here: what is written to it, which is the standard error stream of the writer. Invariants:
//! it is its owner's alone; there are never more than [`KEPT`] older ones beside it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use packset_segments::os::open_log;
use packset_segments::vfs::{Kind, Vfs};

use super::{At as _, Result};
use crate::cli::Env;
use crate::pack::home::make_directories;

/// From this size on a log makes way for a new one: ten thousand lines of a writer that says
/// little.
const ROTATE_FROM_BYTES: u64 = 1 << 20;

/// Older logs that are kept.
pub const KEPT: u32 = 3;

/// Where the log of the writer on a port is: `$XDG_STATE_HOME`, else `~/.local/state`, else in the
/// pack's home, which is always there.
pub fn path(env: &Env, home: &Path, port: u16) -> PathBuf {
    let absolute = |name: &str| env.path(name).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").map(Path::to_owned);
    let state = state.or_else(|| Some(absolute("HOME")?.join(".local/state")));
    let dir = state.map_or_else(|| home.to_owned(), |state| state.join("packset"));
    dir.join(format!("packsetd-{port}.log"))
}

/// Opens the log at its end; one that is long becomes the newest of the older ones. It happens
/// only here, when a writer starts: one that runs goes on in the file that it has.
///
/// # Errors
/// What the system says.
pub fn open(vfs: &dyn Vfs, path: &Path) -> Result<File> {
    if let Some(dir) = path.parent() {
        let made = make_directories(vfs, dir).map_err(io::Error::other);
        made.at("make", dir)?;
    }
    if matches!(vfs.kind(path), Ok(Kind::File(size)) if size >= ROTATE_FROM_BYTES) {
        for number in (1..KEPT).rev() {
            // Those that are not there yet leave a gap that nobody minds.
            let _ = vfs.rename_over(&older(path, number), &older(path, number + 1));
        }
        vfs.rename_over(path, &older(path, 1)).at("rotate", path)?;
    }
    Ok(open_log(path).at("open", path)?)
}

fn older(path: &Path, number: u32) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{number}"));
    name.into()
}

/// The last lines of a log, joined by semicolons, as far as they were written after `from` bytes.
pub(super) fn last_lines(vfs: &dyn Vfs, path: &Path, from: u64, lines: usize) -> String {
    let bytes = vfs.read(path).unwrap_or_default();
    let from = usize::try_from(from).unwrap_or(0);
    let text = String::from_utf8_lossy(bytes.get(from..).unwrap_or_default()).into_owned();
    let all: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = all.get(all.len().saturating_sub(lines)..).unwrap_or_default();
    match last {
        [] => format!("nothing in {}", path.display()),
        last => last.join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packset_segments::sim::SimFs;

    fn env(vars: &[(&str, &str)]) -> Env {
        Env::new([""; 0], vars.iter().copied(), None)
    }

    #[test]
    fn where_it_is() {
        let home = Path::new("/p");
        let table: [(&[(&str, &str)], &str); 4] = [
            (&[("XDG_STATE_HOME", "/s"), ("HOME", "/h")], "/s/packset/packsetd-8761.log"),
            (&[("HOME", "/h")], "/h/.local/state/packset/packsetd-8761.log"),
            (
                &[("XDG_STATE_HOME", "s"), ("HOME", "/h")],
                "/h/.local/state/packset/packsetd-8761.log",
            ),
            (&[], "/p/packsetd-8761.log"),
        ];
        for (vars, want) in table {
            assert_eq!(path(&env(vars), home, 8761), Path::new(want), "{vars:?}");
        }
    }

    #[test]
    fn the_last_lines_since() {
        let fs = SimFs::new();
        let path = Path::new("/l/log");
        fs.install(path, b"old\none\n\ntwo\nthree\nfour\n").unwrap();
        assert_eq!(last_lines(&fs, path, 4, 3), "two; three; four");
        assert_eq!(last_lines(&fs, path, 13, 3), "three; four");
        assert_eq!(last_lines(&fs, path, 99, 3), "nothing in /l/log");
        assert_eq!(last_lines(&fs, Path::new("/l/none"), 0, 3), "nothing in /l/none");
    }
}
