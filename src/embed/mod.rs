//! Models: which there are, where their files lie, and the program that runs them.
//!
//! `packset-embed` is a child process that answers lines of JSON ([`child`], feature `embed`); the
//! process that asks it is in [`crate::encode`]. Not here: fetching models. Invariants: nothing is
//! dialled; the ONNX Runtime is looked at before it is entered, so that a missing or foreign
//! library is a sentence and an exit code; a text's vector does not depend on which texts were
//! asked beside it.

#[cfg(feature = "embed")]
pub mod child;
pub mod files;
pub mod models;
#[cfg(feature = "embed")]
mod net;
#[cfg(feature = "embed")]
mod pool;
#[cfg(feature = "embed")]
mod runtime;
#[cfg(feature = "embed")]
mod wire;
#[cfg(feature = "embed")]
mod words;

/// Why a model cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line or a variable makes no sense.
    #[error("{0}")]
    Usage(String),
    /// A model of another kind is asked for.
    #[error("{model} is a {is} model and not a {wanted} one")]
    Kind {
        /// Which model.
        model: String,
        /// What it is.
        is: &'static str,
        /// What was asked for.
        wanted: &'static str,
    },
    /// What lies in a model's place cannot be used.
    #[error("{what} cannot be used: {why}")]
    Model {
        /// Which file or directory.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// A model is not on this machine.
    #[error("no model {model} in {place}; {way}")]
    Missing {
        /// Which model.
        model: String,
        /// Where it was looked for.
        place: String,
        /// How it gets here.
        way: String,
    },
    /// There is no ONNX Runtime that can be used.
    #[error(
        "no ONNX Runtime: {0}; set ORT_DYLIB_PATH to libonnxruntime 1.24 or later, or run \
         `packset model pull`"
    )]
    Runtime(String),
    /// A text could not be run.
    #[error("{0}")]
    Run(String),
    /// Lines cannot be read or written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

impl Error {
    /// The exit code, of sysexits.h: 64 usage, 65 data, 69 not there, 70 a bug, 74 input or output.
    pub fn code(&self) -> u8 {
        match self {
            Self::Usage(_) => 64,
            Self::Kind { .. } | Self::Model { .. } => 65,
            Self::Missing { .. } | Self::Runtime(_) => 69,
            Self::Run(_) => 70,
            Self::Io(_) => 74,
        }
    }
}
