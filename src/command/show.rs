//! `packset show ID [WS]`: one record, whatever its state.

use serde_json::json;

use crate::cli::args::Show;
use crate::cli::{Exit, Failure};
use crate::command::Context;
use crate::desk::{Given, route};

/// Runs the verb.
///
/// # Errors
/// No such record, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Show) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let given = Given::of([("workspace", json!(name)), ("id", json!(args.id))]);
    let answer = context.ask(&route::ATOM, given)?;
    let record = &answer["record"];
    if context.json {
        context.ui.json(record)?;
    } else {
        context.ui.line(&super::pretty(record))?;
    }
    Ok(Exit::Done)
}
