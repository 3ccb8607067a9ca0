//! `packset migrate-home`: moves the pack from the previous default home to the one of today.

use serde_json::json;

use crate::cli::{Exit, Failure};
use crate::command::Context;
use crate::lifecycle::migrate::migrate;

/// Runs the verb.
///
/// # Errors
/// As [`migrate`].
pub fn run(context: &mut Context<'_>) -> Result<Exit, Failure> {
    let moved = migrate(&context.env, &*context.vfs)?;
    let (from, to) = (moved.from.to_string_lossy(), moved.to.to_string_lossy());
    if context.json {
        context.answer("migrate-home", json!({ "from": from, "to": to }))?;
    } else {
        context.ui.line(&to)?;
        context.ui.note(&format!("packset: moved; {from} is a link to it"));
    }
    Ok(Exit::Done)
}
