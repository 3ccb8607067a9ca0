//! Fetching: models and the runtime library that runs them, brought to this machine on request.
//!
//! The one place that asks the network for anything but a writer, and only when a verb says so.
//! [`cache`] knows where things lie, [`http`] asks for one URL, [`mod@file`] brings one file whole,
//! [`model`] all files of a model, [`runtime`] the library. Not here: which models there are, what
//! they are for. Invariants: offline, no [`http::Http`] can be made, so nothing is dialled; a name
//! that others look for appears only when everything under it is whole and checked; what was
//! fetched of a file stays until the rest is there or it proves wrong.

pub mod cache;
pub mod file;
pub mod http;
pub mod model;
pub mod runtime;

use std::io;
use std::path::PathBuf;

use crate::cli::{Failure, FailureKind};

/// Why something was not fetched.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The environment forbids it.
    #[error("{0} is set: nothing is fetched")]
    Offline(&'static str),
    /// Nothing says where fetched files go.
    #[error("there is no place for models: neither HOME nor PACKSET_EMBED_CACHE is set")]
    NoCache,
    /// Something that the environment or the command line names, and that is none.
    #[error("{name} is {value:?}: {why}")]
    Setting {
        /// The variable or the flag.
        name: &'static str,
        /// What it says, without a password.
        value: String,
        /// Why it will not do.
        why: String,
    },
    /// The server has no such file.
    #[error("{url}: no such file (404)")]
    Missing {
        /// What was asked for.
        url: String,
    },
    /// The server answers, but not with the file.
    #[error("{url}: the server answers {status}")]
    Status {
        /// What was asked for.
        url: String,
        /// What came back.
        status: u16,
        /// Seconds after which it wants to be asked again, if it says.
        after: Option<u64>,
    },
    /// A redirect that is not followed.
    #[error("{url}: {why}")]
    Redirect {
        /// What was asked for.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// No answer.
    #[error("{url} cannot be reached{}: {why}", through(.proxy.as_deref()))]
    Unreachable {
        /// What was asked for.
        url: String,
        /// The proxy that was to be gone through, without a password.
        proxy: Option<String>,
        /// What the network says.
        why: String,
        /// Whether that may be otherwise a moment later.
        passing: bool,
    },
    /// The transfer broke off.
    #[error("{url}: broken off after {done} bytes: {why}")]
    Cut {
        /// What was asked for.
        url: String,
        /// Bytes of the file that are here.
        done: u64,
        /// What the network says.
        why: String,
    },
    /// It is not the file that it should be.
    #[error("{file}: its sha256 is {found}, and should be {wanted}")]
    Mismatch {
        /// Which file.
        file: String,
        /// The sum of what came.
        found: String,
        /// The sum that it should have.
        wanted: String,
    },
    /// It is longer or shorter than it should be.
    #[error("{file}: it has {found} bytes, and should have {wanted}")]
    Length {
        /// Which file.
        file: String,
        /// Bytes that the server has.
        found: u64,
        /// Bytes that it should have.
        wanted: u64,
    },
    /// A file without a known sum that is not even of its form.
    #[error("{file}: what the server sends is no JSON")]
    NotJson {
        /// Which file.
        file: String,
    },
    /// The disk is full. What is here stays for the next attempt.
    #[error("no room for {}: {why}", .path.display())]
    Full {
        /// The file that grows.
        path: PathBuf,
        /// What is missing, or what the system says.
        why: String,
    },
    /// Another pull of the same thing goes on and on.
    #[error("another packset fetches {what}")]
    Busy {
        /// What.
        what: String,
    },
    /// The runtime library is not to be had for this machine.
    #[error("{0}")]
    NoRuntime(String),
    /// A directory that was filled by hand, and not wholly.
    #[error("{} lacks {file}", .dir.display())]
    Incomplete {
        /// The directory.
        dir: PathBuf,
        /// What is not in it.
        file: String,
    },
    /// A model that no hub has.
    #[error("{name} is in no hub")]
    Nowhere {
        /// The model.
        name: &'static str,
        /// Where it would be looked for.
        dir: PathBuf,
    },
    /// The files failed.
    #[error(transparent)]
    Files(#[from] packset_segments::Error),
    /// No directory can be made.
    #[error(transparent)]
    Directory(#[from] crate::pack::Error),
}

/// A result of this module.
pub type Result<T> = std::result::Result<T, Error>;

fn through(proxy: Option<&str>) -> String {
    proxy.map(|proxy| format!(" through the proxy {proxy}")).unwrap_or_default()
}

impl Error {
    /// Whether the same request may succeed a moment later.
    fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable { passing, .. } => *passing,
            Self::Cut { .. } => true,
            // Too many requests, too slow a request, and whatever ails the server.
            Self::Status { status, .. } => matches!(status, 408 | 429 | 500..600),
            _ => false,
        }
    }

    /// An error of a file that grows: a full disk is told from the rest.
    fn growing(path: &std::path::Path, error: io::Error) -> Self {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        match error.kind() {
            StorageFull | QuotaExceeded | FileTooLarge => {
                Self::Full { path: path.to_owned(), why: error.to_string() }
            }
            _ => packset_segments::Error::io("write", path, error).into(),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        let failure = |kind| Self::new(kind, message.clone());
        match error {
            Error::Offline(name) => failure(FailureKind::Refused)
                .hint(format!("unset {name}, or put the files in place by hand")),
            Error::NoCache => failure(FailureKind::Refused)
                .hint("set PACKSET_EMBED_CACHE to the directory where models shall lie"),
            Error::Setting { .. } => failure(FailureKind::Usage),
            Error::Missing { .. } => failure(FailureKind::Missing).hint(
                "a mirror has the files as the hub has them: see `packset model pull --help`",
            ),
            Error::Status { status: 401 | 403 | 407, .. } => failure(FailureKind::Forbidden),
            Error::Status { .. } | Error::Redirect { .. } => failure(FailureKind::Io),
            Error::Unreachable { proxy: Some(_), .. } => failure(FailureKind::Io)
                .hint("HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY say which way to go"),
            Error::Unreachable { proxy: None, .. } => failure(FailureKind::Io)
                .hint("--mirror or HF_ENDPOINT names another place, SSL_CERT_FILE whom to trust"),
            Error::Cut { .. } => {
                failure(FailureKind::Io).hint("the same command goes on where it broke off")
            }
            Error::Mismatch { .. } | Error::Length { .. } | Error::NotJson { .. } => {
                failure(FailureKind::Data).hint("what came was removed; try again, or elsewhere")
            }
            Error::Full { .. } => failure(FailureKind::Io)
                .hint("make room: the same command goes on where it broke off"),
            Error::Busy { .. } => failure(FailureKind::Busy),
            Error::NoRuntime(_) => failure(FailureKind::Refused)
                .hint("set ORT_DYLIB_PATH to a library that is here, or pull with --no-runtime"),
            Error::Incomplete { dir, .. } => failure(FailureKind::Refused)
                .hint(format!("put the file there, or remove {} and pull again", dir.display())),
            Error::Nowhere { dir, .. } => {
                failure(FailureKind::Refused).hint(format!("put its files into {}", dir.display()))
            }
            Error::Files(error) => error.into(),
            Error::Directory(error) => error.into(),
        }
    }
}
