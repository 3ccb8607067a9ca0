//! `packset consolidate [--apply] [WS]`: the replacement rule over the whole live set.

use serde_json::json;

use crate::cli::args::Consolidate;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, count, rows, text};
use crate::desk::{Given, route};

/// Runs the verb.
///
/// # Errors
/// What the pack says.
pub fn run(context: &mut Context<'_>, args: &Consolidate) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let given = Given::of([("workspace", json!(name)), ("apply", json!(args.apply))]);
    let answer = context.ask(&route::CONSOLIDATE, given)?;
    if context.json {
        context.answer("consolidate", answer)?;
        return Ok(Exit::Done);
    }
    for pair in rows(&answer, "pairs") {
        context.ui.row(&[
            Cell::dim(text(pair, "old")),
            Cell::plain(text(pair, "old_text")),
            Cell::dim(text(pair, "new")),
            Cell::plain(text(pair, "new_text")),
        ])?;
    }
    let word = if args.apply { "closed" } else { "would close; --apply closes them" };
    let (closed, live) = (count(&answer, "closed"), count(&answer, "live"));
    context.ui.note(&format!("packset: {closed} of {live} {word}"));
    Ok(Exit::Done)
}
