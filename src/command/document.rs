//! `packset pack [--set NAME] [WS]`: the cards and the live claims as one JSON document.

use serde_json::json;

use crate::cli::args::Cards;
use crate::cli::{Exit, Failure};
use crate::command::Context;
use crate::desk::{Given, route};

/// Runs the verb.
///
/// # Errors
/// A set name that is none, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Cards) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let given = Given::of([("workspace", json!(name)), ("set", json!(args.set))]);
    let answer = context.ask(&route::PACK, given)?;
    if context.json {
        context.answer("pack", answer)?;
    } else {
        context.ui.line(&super::pretty(&super::titled("pack", answer)))?;
    }
    Ok(Exit::Done)
}
