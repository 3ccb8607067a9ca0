//! `packset forget WS`: drops a workspace whole.

use serde_json::json;

use crate::cli::args::Forget;
use crate::cli::{Exit, Failure};
use crate::command::{Context, count};
use crate::desk::{Given, route};

/// Runs the verb.
///
/// # Errors
/// What the pack says.
pub fn run(context: &mut Context<'_>, args: &Forget) -> Result<Exit, Failure> {
    let name = context.workspace(Some(&args.workspace))?.name;
    let answer = context.ask(&route::FORGET, Given::of([("workspace", json!(name))]))?;
    if context.json {
        context.answer("forget", answer)?;
    } else {
        context.ui.line(&format!("{} forgotten from {name}", count(&answer, "forgotten")))?;
    }
    Ok(Exit::Done)
}
