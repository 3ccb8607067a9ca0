//! `packset citers ACCESSION [WS]`: the live claims that cite one accession.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::claim;
use crate::cli::args::Citers;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};
use crate::pack::View;
use crate::pack::record;

/// Runs the verb.
///
/// # Errors
/// What the pack says.
pub fn run(context: &mut Context<'_>, args: &Citers) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let Some(snapshot) = context.store(&name)?.snapshot()? else { return Ok(Exit::Done) };
    for place in snapshot.shown(&View::now(context.clock.now())) {
        let record = snapshot.record(place)?;
        let mut cited = BTreeSet::new();
        super::cited(&record, &mut cited);
        if !cited.contains(&args.accession) {
            continue;
        }
        if context.json {
            let record = Value::Object(claim::shown(record));
            context.ui.json(&json!({ "schema": schema("citers"), "record": record }))?;
        } else {
            context.ui.row(&[
                Cell::dim(record::id(&record)),
                Cell::plain(record::string(&record, "text").unwrap_or_default()),
            ])?;
        }
    }
    Ok(Exit::Done)
}
