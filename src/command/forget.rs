//! `packset forget WS`: drops a workspace whole.

use serde_json::json;

use crate::cli::args::Forget;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};

/// Runs the verb.
///
/// # Errors
/// What the pack says.
pub fn run(context: &mut Context<'_>, args: &Forget) -> Result<Exit, Failure> {
    let name = context.workspace(Some(&args.workspace))?.name;
    let forgotten = context.store(&name)?.forget()?;
    if context.json {
        context.ui.json(&json!({
            "schema": schema("forget"), "workspace": name, "forgotten": forgotten,
        }))?;
    } else {
        context.ui.line(&format!("{forgotten} forgotten from {name}"))?;
    }
    Ok(Exit::Done)
}
