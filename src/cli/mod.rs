//! The shell's parts: the command line's grammar, the environment, the terminal, the exit codes.
//!
//! Not here: what a verb does, and how a run goes from one part to the next
//! ([`crate::command::run`]).

pub mod args;
pub mod env;
mod examples;
pub mod exit;
pub mod parse;
pub mod ui;

pub use args::Args;
pub use env::Env;
pub use exit::{Exit, Failure, FailureKind};
pub use ui::Ui;
