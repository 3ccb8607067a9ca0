//! `packset fire ID ID...`: these claims fired together; their links gain weight, their other
//! links lose a little.

use std::collections::BTreeSet;

use serde_json::json;

use crate::claim::network;
use crate::cli::args::Fire;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};

/// Runs the verb.
///
/// # Errors
/// Fewer than two ids, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Fire) -> Result<Exit, Failure> {
    let ids: Vec<&str> = args.ids.iter().map(String::as_str).collect();
    if ids.iter().collect::<BTreeSet<_>>().len() < 2 {
        return Err(Failure::usage("one claim cannot fire together with itself")
            .hint("name two ids or more"));
    }
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let done = context
        .store(&name)?
        .commit_existing(|transaction| network::fire_together(transaction, &ids, None))?;
    let fired = done.map(|(fired, _)| fired).unwrap_or_default();
    if context.json {
        context.ui.json(&json!({
            "schema": schema("fire"),
            "workspace": name,
            "fired": fired.found,
            "changed": fired.changed,
            "held": fired.held,
        }))?;
    } else {
        context.ui.line(&format!("{} fired, {} changed", fired.found, fired.changed))?;
    }
    Ok(Exit::Done)
}
