//! `packset undo [GENERATION]`: takes back what one commit did, by a new commit.

use serde_json::json;

use crate::claim;
use crate::cli::args::Undo;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure, FailureKind};
use crate::command::{Context, schema};
use crate::pack::history::{self, UndoError};
use crate::pack::record;

/// Runs the verb.
///
/// # Errors
/// A commit that cannot be taken back, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Undo) -> Result<Exit, Failure> {
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let done = context
        .store(&name)?
        .commit_existing(|transaction| history::undo(transaction, args.generation, claim::keys))?;
    let Some(((generation, records), committed)) = done else {
        return Err(Failure::new(FailureKind::Refused, format!("there is no workspace {name}")));
    };
    if context.json {
        context.ui.json(&json!({
            "schema": schema("undo"),
            "workspace": name,
            "undone": generation,
            "generation": committed.map(|committed| committed.generation),
            "records": records,
        }))?;
        return Ok(Exit::Done);
    }
    for restored in records {
        let state = if record::tombstone(&restored) { "deleted" } else { "restored" };
        context.ui.row(&[
            Cell::accent(state),
            Cell::dim(record::id(&restored)),
            Cell::plain(record::string(&restored, "text").unwrap_or_default()),
        ])?;
    }
    Ok(Exit::Done)
}

impl From<UndoError> for Failure {
    fn from(error: UndoError) -> Self {
        match error {
            UndoError::Pack(error) => error.into(),
            refused => Self::new(FailureKind::Refused, refused.to_string())
                .hint("`packset log` shows the generations"),
        }
    }
}
