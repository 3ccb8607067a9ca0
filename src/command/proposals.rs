//! `packset proposals [WS]`: the writes that wait for a person.

use serde_json::{Value, json};

use crate::claim::proposals;
use crate::cli::args::Listing;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};
use crate::pack::record::{self, Record};

/// Runs the verb.
///
/// # Errors
/// What the pack says.
pub fn run(context: &mut Context<'_>, args: &Listing) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let Some(snapshot) = context.store(&name)?.snapshot()? else { return Ok(Exit::Done) };
    for proposal in proposals::open(&snapshot)? {
        if context.json {
            let proposal = Value::Object(proposal);
            context.ui.json(&json!({ "schema": schema("proposals"), "proposal": proposal }))?;
        } else {
            row(context, &proposal)?;
        }
    }
    Ok(Exit::Done)
}

/// Prints one proposal: its id, why it was held, its text.
pub(super) fn row(context: &mut Context<'_>, proposal: &Record) -> Result<(), Failure> {
    context.ui.row(&[
        Cell::plain(record::id(proposal)),
        Cell::accent(record::string(proposal, "why").unwrap_or("-")),
        Cell::plain(record::string(proposal, "text").unwrap_or_default()),
    ])
}
