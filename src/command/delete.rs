//! `packset delete ID [--why ACCESSION]`: withdraws one claim and keeps its history.

use serde_json::{Value, json};

use crate::claim;
use crate::cli::args::Delete;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};

/// Runs the verb.
///
/// # Errors
/// No such claim, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Delete) -> Result<Exit, Failure> {
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let done = context
        .store(&name)?
        .commit_existing(|transaction| claim::delete(transaction, &args.id, args.why.as_deref()));
    let done = done.and_then(|done| done.ok_or_else(|| claim::Error::NoCurrent(args.id.clone())));
    let (record, committed) = done.map_err(|error| match error {
        claim::Error::NoCurrent(_) => {
            Failure::from(error).hint(format!("`packset atoms {name}` lists what is live"))
        }
        other => other.into(),
    })?;
    if context.json {
        context.ui.json(&json!({
            "schema": schema("delete"),
            "workspace": name,
            "generation": committed.map(|committed| committed.generation),
            "record": Value::Object(claim::shown(record)),
        }))?;
    } else {
        context.ui.row(&[Cell::plain(&*args.id), Cell::plain("deleted")])?;
    }
    Ok(Exit::Done)
}
