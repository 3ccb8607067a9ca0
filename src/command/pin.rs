//! `packset pin [NAME]`: reads or sets the pinned set. Its answer is JSON in either mode.

use serde_json::json;

use crate::cli::args::Pin;
use crate::cli::{Exit, Failure};
use crate::command::Context;
use crate::desk::{Given, route};

/// Runs the verb.
///
/// # Errors
/// A set name that is none, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Pin) -> Result<Exit, Failure> {
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let route = if args.name.is_some() { &route::PIN } else { &route::READ_PIN };
    let given = Given::of([("workspace", json!(name)), ("set", json!(args.name))]);
    let answer = context.ask(route, given)?;
    if context.json {
        context.answer("pin", answer)?;
    } else {
        context.ui.json(&answer)?;
    }
    Ok(Exit::Done)
}
