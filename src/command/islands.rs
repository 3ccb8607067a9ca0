//! `packset islands [WS]`: the link graph's clusters, largest first.

use serde_json::json;

use crate::cli::args::Listing;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, count, rows, text};
use crate::desk::{Given, route};

/// Runs the verb.
///
/// # Errors
/// What the pack says.
pub fn run(context: &mut Context<'_>, args: &Listing) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let answer = context.ask(&route::ISLANDS, Given::of([("workspace", json!(name))]))?;
    if context.json {
        context.answer("islands", answer)?;
        return Ok(Exit::Done);
    }
    for island in rows(&answer, "islands") {
        let first = rows(island, "atoms").first().map(|atom| text(atom, "text"));
        context.ui.row(&[
            Cell::accent(count(island, "size").to_string()),
            Cell::plain(first.unwrap_or_default()),
        ])?;
    }
    Ok(Exit::Done)
}
