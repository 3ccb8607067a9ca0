//! `packset stop`: ends the writer of this home, and no other process.

use serde_json::json;

use crate::cli::{Exit, Failure};
use crate::command::Context;
use crate::lifecycle;
use crate::place;

/// Runs the verb. Nothing to stop is no failure.
///
/// # Errors
/// A writer that cannot be told or does not end.
pub fn run(context: &mut Context<'_>) -> Result<Exit, Failure> {
    let home = context.home()?;
    let stopped = lifecycle::stop::stop(&*context.vfs, &home)?;
    let port = place::port(&context.env);
    context.ui.note(&match &stopped {
        Some(writer) => format!("packset: stopped {}", writer.pid),
        None => format!("packset: nothing of ours to stop on {port}"),
    });
    if context.json {
        context.answer("stop", json!({ "stopped": stopped.map(|writer| writer.pid) }))?;
    }
    Ok(Exit::Done)
}
