//! `packset accessions [WS]`: the deed accessions that the live claims cite.

use serde_json::{Value, json};

use crate::cli::args::Listing;
use crate::cli::{Exit, Failure};
use crate::command::{Context, rows};
use crate::desk::{Given, route};

/// Runs the verb.
///
/// # Errors
/// What the pack says.
pub fn run(context: &mut Context<'_>, args: &Listing) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let answer = context.ask(&route::ACCESSIONS, Given::of([("workspace", json!(name))]))?;
    if context.json {
        context.answer("accessions", answer)?;
        return Ok(Exit::Done);
    }
    for accession in rows(&answer, "accessions").iter().filter_map(Value::as_str) {
        context.ui.line(accession)?;
    }
    Ok(Exit::Done)
}
