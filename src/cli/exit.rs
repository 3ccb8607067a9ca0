//! How a run ends: the exit codes, once and for all, and the failure that leads to one.
//!
//! Not here: the printing of a failure ([`crate::cli::ui`]). Invariants: clap's exit 2 does not
//! exist here (a hook host takes 2 for "block the user"); every failure is one line that says
//! what went wrong and at most one more that says what to do.

use std::borrow::Cow;
use std::fmt;
use std::process::ExitCode;

use crate::cli::ui;

/// What the exit code of a run means. The values are those of sysexits.h where it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done, or nothing was found.
    Done = 0,
    /// Refused, or there is no such thing.
    Refused = 1,
    /// The command line makes no sense (EX_USAGE).
    Usage = 64,
    /// What was given to read is malformed (EX_DATAERR).
    Data = 65,
    /// A bug in packset (EX_SOFTWARE).
    Bug = 70,
    /// The system failed us, a full disk above all (EX_IOERR).
    Io = 74,
    /// Somebody else holds the store; try again (EX_TEMPFAIL).
    Busy = 75,
    /// The store's bytes are damaged (EX_PROTOCOL in sysexits.h, which nothing here could mean).
    Damaged = 76,
}

/// The table of the exit codes, as every `--help` ends.
#[macro_export]
#[doc(hidden)]
macro_rules! exit_table {
    () => {
        "Exit codes:
   0  done, or nothing found
   1  refused, or no such thing
  64  usage
  65  bad data
  70  a bug in packset
  74  I/O error or disk full
  75  busy, try again
  76  damaged store"
    };
}

impl Exit {
    /// The number that the process ends with.
    pub fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Whose fault a failure is; decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The pack said no.
    Refused,
    /// There is no such thing.
    Missing,
    /// It is known, and not for the one who asks.
    Forbidden,
    /// What stands there already keeps it from being done.
    Conflict,
    /// It is longer than what it is for may hold.
    Long,
    /// The command line makes no sense.
    Usage,
    /// What was given to read is malformed.
    Data,
    /// A bug in packset.
    Bug,
    /// The system failed us.
    Io,
    /// Somebody else holds the store.
    Busy,
    /// The store's bytes are damaged.
    Damaged,
    /// Whoever read our output has gone away: the end of the run, but not a failure to speak of.
    Closed,
}

impl FailureKind {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Refused,
        Self::Missing,
        Self::Forbidden,
        Self::Conflict,
        Self::Long,
        Self::Usage,
        Self::Data,
        Self::Bug,
        Self::Io,
        Self::Busy,
        Self::Damaged,
        Self::Closed,
    ];

    /// The word for it, where a failure is told from one process to another.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Missing => "missing",
            Self::Forbidden => "forbidden",
            Self::Conflict => "conflict",
            Self::Long => "long",
            Self::Usage => "usage",
            Self::Data => "data",
            Self::Bug => "bug",
            Self::Io => "io",
            Self::Busy => "busy",
            Self::Damaged => "damaged",
            Self::Closed => "closed",
        }
    }

    /// The kind that a word stands for.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The exit code that a failure of this kind ends with.
    pub fn exit(self) -> Exit {
        match self {
            Self::Refused | Self::Missing | Self::Forbidden | Self::Conflict | Self::Long => {
                Exit::Refused
            }
            Self::Usage => Exit::Usage,
            Self::Data => Exit::Data,
            Self::Bug => Exit::Bug,
            Self::Io => Exit::Io,
            Self::Busy => Exit::Busy,
            Self::Damaged => Exit::Damaged,
            Self::Closed => Exit::Done,
        }
    }
}

/// Why a verb did not do its work. Displays as `packset: message`, then a line `hint: ...` if
/// there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Whose fault it is.
    pub kind: FailureKind,
    /// What went wrong, without a full stop.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure without a hint.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
    }

    /// A command line that makes no sense.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, message)
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The exit code of the run that ends with this failure.
    pub fn exit(&self) -> Exit {
        self.kind.exit()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "packset: {}", one_line(&self.message))?;
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {}", one_line(hint)),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}

impl From<packset_segments::Error> for Failure {
    fn from(error: packset_segments::Error) -> Self {
        use packset_segments::Error;
        let message = error.to_string();
        match error {
            Error::Io { source, .. } if source.kind() == std::io::ErrorKind::WouldBlock => {
                Self::new(FailureKind::Busy, message)
            }
            Error::Io { .. } => Self::new(FailureKind::Io, message),
            Error::Corrupt { .. } => Self::new(FailureKind::Damaged, message)
                .hint("`packset verify` reads every byte and names what is damaged"),
            // Whole and not ours to touch: neither damage nor the caller's data.
            Error::Version { .. } => Self::new(FailureKind::Refused, message)
                .hint("use the newer packset that wrote this store"),
            Error::TooLarge { .. } => Self::new(FailureKind::Data, message),
            // The format's error grows; what this layer does not know is the system's fault.
            _ => Self::new(FailureKind::Io, message),
        }
    }
}

/// Line breaks become spaces, so that a message stays one line whatever it quotes.
fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains(ui::breaks_line) {
        Cow::Owned(text.replace(ui::breaks_line, " "))
    } else {
        Cow::Borrowed(text)
    }
}

/// From here on a panic anywhere in the process prints one line with the version and exits 70.
///
/// The release build aborts on panic, which would end in a signal: the hook exits by itself.
pub fn install_panic_hook() {
    std::panic::set_hook(Box::new(|info| {
        let what = info.payload_as_str().unwrap_or("no message");
        ui::last_words(&panic_line(what, info.location()));
        std::process::exit(i32::from(Exit::Bug.code()));
    }));
}

fn panic_line(what: &str, place: Option<&std::panic::Location<'_>>) -> String {
    let place = place.map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
    format!("packset: bug in {}{place}: {}", env!("CARGO_PKG_VERSION"), one_line(what))
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::path::Path;

    use packset_segments::Error;

    use super::*;

    #[test]
    fn codes_are_fixed() {
        let table = [
            (FailureKind::Refused, 1),
            (FailureKind::Missing, 1),
            (FailureKind::Forbidden, 1),
            (FailureKind::Conflict, 1),
            (FailureKind::Long, 1),
            (FailureKind::Usage, 64),
            (FailureKind::Data, 65),
            (FailureKind::Bug, 70),
            (FailureKind::Io, 74),
            (FailureKind::Busy, 75),
            (FailureKind::Damaged, 76),
            (FailureKind::Closed, 0),
        ];
        for (kind, code) in table {
            assert_eq!(kind.exit().code(), code, "{kind:?}");
            assert_ne!(kind.exit().code(), 2, "2 blocks the prompt of a hook's host");
            let listed = format!("\n  {code:>2}  ");
            assert!(exit_table!().contains(&listed), "{code} is missing from the table");
        }
        let codes: std::collections::BTreeSet<u8> = table.iter().map(|(_, code)| *code).collect();
        assert_eq!(exit_table!().lines().count(), 1 + codes.len());
    }

    #[test]
    fn a_failure_is_one_line_and_a_hint() {
        let bare = Failure::usage("bad\nname");
        assert_eq!(bare.to_string(), "packset: bad name");
        let hinted = bare.hint("look\r\nhere");
        assert_eq!(hinted.to_string(), "packset: bad name\nhint: look  here");
    }

    #[test]
    fn errors_of_the_format_map_to_their_codes() {
        let path = Path::new("/p");
        let io = |kind| Error::io("lock", path, io::Error::from(kind));
        let table = [
            (io(io::ErrorKind::WouldBlock), Exit::Busy),
            (io(io::ErrorKind::StorageFull), Exit::Io),
            (io(io::ErrorKind::NotFound), Exit::Io),
            (Error::corrupt(path, "footer", "short"), Exit::Damaged),
            (Error::TooLarge { what: "text", limit: 9 }, Exit::Data),
            (
                Error::Version { path: path.into(), what: "segment", found: 2, known: 1 },
                Exit::Refused,
            ),
        ];
        for (error, exit) in table {
            let shown = error.to_string();
            assert_eq!(Failure::from(error).exit(), exit, "{shown}");
        }
    }

    #[test]
    fn a_panic_is_one_line_with_the_version() {
        let line = panic_line("a\nb", None);
        assert_eq!(line, concat!("packset: bug in ", env!("CARGO_PKG_VERSION"), ": a b"));
    }

    /// The other half of the next test; by itself it would end the whole run.
    #[test]
    #[ignore = "run by a_panic_exits_70_in_one_line"]
    fn panics_with_the_hook() {
        install_panic_hook();
        panic!("two\nlines");
    }

    #[test]
    fn a_panic_exits_70_in_one_line() {
        let run = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "cli::exit::tests::panics_with_the_hook"])
            .output()
            .unwrap();
        assert_eq!(run.status.code(), Some(70));
        let said = String::from_utf8(run.stderr).unwrap();
        let start = concat!("packset: bug in ", env!("CARGO_PKG_VERSION"), " at src/cli/exit.rs:");
        assert!(said.starts_with(start) && said.ends_with(": two lines\n"), "{said}");
        assert_eq!(said.lines().count(), 1);
    }
}
