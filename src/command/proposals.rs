//! `packset proposals [WS]`: the writes that wait for a person.

use serde_json::{Value, json};

use crate::cli::args::Listing;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, rows, text};
use crate::desk::{Given, route};

/// Runs the verb.
///
/// # Errors
/// What the pack says.
pub fn run(context: &mut Context<'_>, args: &Listing) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let answer = context.ask(&route::PROPOSALS, Given::of([("workspace", json!(name))]))?;
    for proposal in rows(&answer, "proposals") {
        if context.json {
            context.answer("proposals", json!({ "proposal": proposal }))?;
        } else {
            row(context, proposal)?;
        }
    }
    Ok(Exit::Done)
}

/// Prints one proposal: its id, why it was held, its text.
pub(super) fn row(context: &mut Context<'_>, proposal: &Value) -> Result<(), Failure> {
    let why = proposal.get("why").and_then(Value::as_str).unwrap_or("-");
    context.ui.row(&[
        Cell::plain(text(proposal, "id")),
        Cell::accent(why),
        Cell::plain(text(proposal, "text")),
    ])
}
