//! `packset status [--all | WS]`: what a workspace holds, counted, and whether a writer is up.

use serde_json::json;

use crate::cli::args::Scope;
use crate::cli::{Exit, Failure};
use crate::command::Context;
use crate::desk::{Given, route};

/// Runs the verb.
///
/// # Errors
/// What the pack says.
pub fn run(context: &mut Context<'_>, args: &Scope) -> Result<Exit, Failure> {
    let name = match args.all {
        true => None,
        false => Some(context.workspace(args.workspace.as_deref())?.name),
    };
    let answer = context.ask(&route::STATUS, Given::of([("workspace", json!(name))]))?;
    if context.json {
        context.answer("status", answer)?;
    } else {
        let home = context.home()?;
        context.ui.line(&format!("packset: on the files at {}", home.display()))?;
        context.ui.line(&super::pretty(&super::titled("status", answer)))?;
    }
    Ok(Exit::Done)
}
