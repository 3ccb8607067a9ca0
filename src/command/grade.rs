//! `packset grade ID [--lapsed] [WS]`: marks a review recalled, or lapsed.

use serde_json::{Value, json};

use crate::claim;
use crate::cli::args::Grade;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};
use crate::pack::record;

/// Runs the verb.
///
/// # Errors
/// No such claim, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Grade) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let done = context
        .store(&name)?
        .commit_existing(|transaction| claim::grade(transaction, &args.id, !args.lapsed))?;
    let Some((record, committed)) = done else {
        return Err(claim::Error::NoCurrent(args.id.clone()).into());
    };
    if context.json {
        context.ui.json(&json!({
            "schema": schema("grade"),
            "workspace": name,
            "recalled": !args.lapsed,
            "generation": committed.map(|committed| committed.generation),
            "record": Value::Object(claim::shown(record)),
        }))?;
    } else {
        let due = record::string(&record, "due_at").unwrap_or("graded");
        context.ui.line(due)?;
    }
    Ok(Exit::Done)
}
