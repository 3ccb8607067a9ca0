//! `packset sweep [WS]`: the neglect sweep now.

use serde_json::json;

use crate::claim;
use crate::cli::args::Listing;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};

/// Runs the verb.
///
/// # Errors
/// What the pack says.
pub fn run(context: &mut Context<'_>, args: &Listing) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let done = context.store(&name)?.commit_existing(claim::sweep)?;
    let sweep = done.map(|(sweep, _)| sweep).unwrap_or_default();
    if context.json {
        context.ui.json(&json!({
            "schema": schema("sweep"),
            "workspace": name,
            "lapsed": sweep.lapsed,
            "forgotten": sweep.forgotten.len(),
            "forgotten_ids": sweep.forgotten,
        }))?;
        return Ok(Exit::Done);
    }
    let said = format!("{} lapsed by neglect, {} forgotten", sweep.lapsed, sweep.forgotten.len());
    context.ui.line(&said)?;
    for id in sweep.forgotten {
        context.ui.row(&[Cell::accent("forgotten"), Cell::plain(id)])?;
    }
    Ok(Exit::Done)
}
