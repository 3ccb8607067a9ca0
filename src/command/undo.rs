//! `packset undo [GENERATION]`: takes back what one commit did, by a new commit.

use serde_json::json;

use crate::cli::args::Undo;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, rows, text};
use crate::desk::{Given, route};

/// Runs the verb.
///
/// # Errors
/// A commit that cannot be taken back, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Undo) -> Result<Exit, Failure> {
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let given = Given::of([("workspace", json!(name)), ("generation", json!(args.generation))]);
    let answer = context.ask(&route::UNDO, given)?;
    if context.json {
        context.answer("undo", answer)?;
        return Ok(Exit::Done);
    }
    for record in rows(&answer, "records") {
        let state = if record["tombstone"] == json!(true) { "deleted" } else { "restored" };
        context.ui.row(&[
            Cell::accent(state),
            Cell::dim(text(record, "id")),
            Cell::plain(text(record, "text")),
        ])?;
    }
    Ok(Exit::Done)
}
