//! `packset accept ID`: makes a proposal a claim of the person who accepts it.

use serde_json::{Value, json};

use crate::claim;
use crate::claim::proposals;
use crate::cli::args::Accept;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};
use crate::pack::record;

/// Runs the verb.
///
/// # Errors
/// No such proposal, a claim that may not be stored, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Accept) -> Result<Exit, Failure> {
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let ids = &*context.ids;
    let done = context
        .store(&name)?
        .commit_existing(|transaction| proposals::accept(transaction, &args.id, ids))?;
    let Some((record, committed)) = done else {
        return Err(proposals::Error::Unknown(args.id.clone()).into());
    };
    if let Some(warning) = claim::warning(&record) {
        context.ui.note(&format!("packset: stored, although {warning}"));
    }
    if context.json {
        context.ui.json(&json!({
            "schema": schema("accept"),
            "workspace": name,
            "generation": committed.map(|committed| committed.generation),
            "record": Value::Object(claim::shown(record)),
        }))?;
    } else {
        let due = record::string(&record, "due_at").unwrap_or("-");
        context.ui.row(&[
            Cell::plain(record::id(&record)),
            Cell::accent(record::kind(&record)),
            Cell::plain(format!("due {due}")),
        ])?;
    }
    Ok(Exit::Done)
}
