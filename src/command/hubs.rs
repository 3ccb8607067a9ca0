//! `packset hubs [WS]`: the claims that the link graph turns on, highest first.

use serde_json::json;

use crate::cli::args::Hubs;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, count, number, rows, text};
use crate::desk::{Given, route};

/// Runs the verb.
///
/// # Errors
/// What the pack says.
pub fn run(context: &mut Context<'_>, args: &Hubs) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let given = Given::of([("workspace", json!(name)), ("limit", json!(args.limit))]);
    let answer = context.ask(&route::HUBS, given)?;
    if context.json {
        context.answer("hubs", answer)?;
        return Ok(Exit::Done);
    }
    for row in rows(&answer, "hubs") {
        context.ui.row(&[
            Cell::dim(format!("{:.4}", number(row, "score"))),
            Cell::dim(count(row, "links").to_string()),
            Cell::dim(text(row, "id")),
            Cell::plain(text(row, "text")),
        ])?;
    }
    Ok(Exit::Done)
}
