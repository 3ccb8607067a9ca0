//! `packset accessions [WS]`: the deed accessions that the live claims cite.

use std::collections::BTreeSet;

use serde_json::json;

use crate::cli::args::Listing;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};
use crate::pack::View;

/// Runs the verb.
///
/// # Errors
/// What the pack says.
pub fn run(context: &mut Context<'_>, args: &Listing) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let mut cited = BTreeSet::new();
    if let Some(snapshot) = context.store(&name)?.snapshot()? {
        for place in snapshot.shown(&View::now(context.clock.now())) {
            super::cited(&snapshot.record(place)?, &mut cited);
        }
    }
    if context.json {
        context.ui.json(&json!({
            "schema": schema("accessions"), "workspace": name, "accessions": cited,
        }))?;
        return Ok(Exit::Done);
    }
    for accession in cited {
        context.ui.line(&accession)?;
    }
    Ok(Exit::Done)
}
