//! `packset which`: the program that serves, for whoever starts it by other means.

use serde_json::json;

use crate::cli::{Exit, Failure, FailureKind};
use crate::command::Context;
use crate::lifecycle::start::daemon;

/// Runs the verb.
///
/// # Errors
/// No such program.
pub fn run(context: &mut Context<'_>) -> Result<Exit, Failure> {
    let found = daemon(&context.env, &*context.vfs).ok_or_else(|| {
        let message = "there is no packsetd beside packset or on PATH";
        Failure::new(FailureKind::Missing, message).hint("`packset serve` is the same")
    })?;
    let path = found.to_string_lossy();
    if context.json {
        context.answer("which", json!({ "program": path }))?;
    } else {
        context.ui.line(&path)?;
    }
    Ok(Exit::Done)
}
