//! `packset due [WS]`: claims whose review clock has run out, soonest first.

use serde_json::{Value, json};

use crate::claim;
use crate::cli::args::Listing;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};
use crate::pack::View;
use crate::pack::record;
use crate::review;

/// Runs the verb.
///
/// # Errors
/// What the pack says.
pub fn run(context: &mut Context<'_>, args: &Listing) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let Some(snapshot) = context.store(&name)?.snapshot()? else { return Ok(Exit::Done) };
    let now = context.clock.now();
    let mut due = Vec::new();
    for place in claim::overdue(&snapshot, &View::now(now), now) {
        let record = snapshot.record(place)?;
        if review::is_due(&record, now) {
            due.push(record);
        }
    }
    due.sort_by(review::due_order);
    for record in due {
        if context.json {
            let record = Value::Object(claim::shown(record));
            context.ui.json(&json!({ "schema": schema("due"), "record": record }))?;
        } else {
            context.ui.row(&[
                Cell::dim(record::string(&record, "due_at").unwrap_or("-")),
                Cell::dim(record::id(&record)),
                Cell::plain(record::string(&record, "text").unwrap_or_default()),
            ])?;
        }
    }
    Ok(Exit::Done)
}
