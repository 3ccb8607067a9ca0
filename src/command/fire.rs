//! `packset fire ID ID...`: these claims fired together; their links gain weight, their other
//! links lose a little.

use serde_json::json;

use crate::cli::args::Fire;
use crate::cli::{Exit, Failure};
use crate::command::{Context, count};
use crate::desk::{Given, route};

/// Runs the verb.
///
/// # Errors
/// Fewer than two ids, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Fire) -> Result<Exit, Failure> {
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let given = Given::of([("workspace", json!(name)), ("ids", json!(args.ids))]);
    let answer = context.ask(&route::FIRE, given)?;
    if context.json {
        context.answer("fire", answer)?;
    } else {
        let (fired, changed) = (count(&answer, "fired"), count(&answer, "changed"));
        context.ui.line(&format!("{fired} fired, {changed} changed"))?;
    }
    Ok(Exit::Done)
}
