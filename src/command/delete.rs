//! `packset delete ID [--why ACCESSION]`: withdraws one claim and keeps its history.

use serde_json::json;

use crate::cli::args::Delete;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::Context;
use crate::desk::{Given, route};

/// Runs the verb.
///
/// # Errors
/// No such claim, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Delete) -> Result<Exit, Failure> {
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let given =
        Given::of([("workspace", json!(name)), ("id", json!(args.id)), ("why", json!(args.why))]);
    let answer = context.ask(&route::DELETE, given)?;
    if context.json {
        context.answer("delete", answer)?;
    } else {
        context.ui.row(&[Cell::plain(&*args.id), Cell::plain("deleted")])?;
    }
    Ok(Exit::Done)
}
