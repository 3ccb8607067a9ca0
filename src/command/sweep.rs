//! `packset sweep [WS]`: the neglect sweep now.

use serde_json::{Value, json};

use crate::cli::args::Listing;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, count, rows};
use crate::desk::{Given, route};

/// Runs the verb.
///
/// # Errors
/// What the pack says.
pub fn run(context: &mut Context<'_>, args: &Listing) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let answer = context.ask(&route::SWEEP, Given::of([("workspace", json!(name))]))?;
    if context.json {
        context.answer("sweep", answer)?;
        return Ok(Exit::Done);
    }
    let (lapsed, forgotten) = (count(&answer, "lapsed"), count(&answer, "forgotten"));
    context.ui.line(&format!("{lapsed} lapsed by neglect, {forgotten} forgotten"))?;
    for id in rows(&answer, "forgotten_ids").iter().filter_map(Value::as_str) {
        context.ui.row(&[Cell::accent("forgotten"), Cell::plain(id)])?;
    }
    Ok(Exit::Done)
}
