//! `packset status [--all | WS]`: what a workspace holds, counted, and whether a writer is up.

use serde_json::json;

use crate::cli::args::Scope;
use crate::cli::{Exit, Failure};
use crate::client::Address;
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
        let where_it_is = match Address::of(&context.env) {
            Address::Writer(url) => format!("packset: up on {url} (packsetd ok)"),
            _ => format!("packset: on the files at {}", context.home()?.display()),
        };
        context.ui.line(&where_it_is)?;
        context.ui.line(&super::pretty(&super::titled("status", answer)))?;
    }
    Ok(Exit::Done)
}
