//! `packset due [WS]`: claims whose review clock has run out, soonest first.

use serde_json::json;

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
    let answer = context.ask(&route::DUE, Given::of([("workspace", json!(name))]))?;
    for record in rows(&answer, "atoms") {
        if context.json {
            context.answer("due", json!({ "record": record }))?;
        } else {
            context.ui.row(&[
                Cell::dim(text(record, "due_at")),
                Cell::dim(text(record, "id")),
                Cell::plain(text(record, "text")),
            ])?;
        }
    }
    Ok(Exit::Done)
}
