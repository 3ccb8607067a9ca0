//! `packset consolidate [--apply] [WS]`: the replacement rule over the whole live set.

use serde_json::{Value, json};

use crate::claim;
use crate::cli::args::Consolidate;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};
use crate::pack::record::{self, Record};

/// Runs the verb.
///
/// # Errors
/// What the pack says.
pub fn run(context: &mut Context<'_>, args: &Consolidate) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let done = context
        .store(&name)?
        .commit_existing(|transaction| claim::consolidate(transaction, args.apply))?;
    let (live, pairs) = done.map(|(found, _)| found).unwrap_or_default();
    let text = |record: &Record| record::string(record, "text").unwrap_or_default().to_owned();
    if context.json {
        let rows: Vec<Value> = pairs
            .iter()
            .map(|pair| {
                json!({
                    "old": record::id(&pair.old),
                    "old_text": text(&pair.old),
                    "new": record::id(&pair.new),
                    "new_text": text(&pair.new),
                })
            })
            .collect();
        context.ui.json(&json!({
            "schema": schema("consolidate"),
            "workspace": name,
            "live": live,
            "closed": pairs.len(),
            "applied": args.apply,
            "pairs": rows,
        }))?;
        return Ok(Exit::Done);
    }
    for pair in &pairs {
        context.ui.row(&[
            Cell::dim(record::id(&pair.old)),
            Cell::plain(text(&pair.old)),
            Cell::dim(record::id(&pair.new)),
            Cell::plain(text(&pair.new)),
        ])?;
    }
    let word = if args.apply { "closed" } else { "would close; --apply closes them" };
    context.ui.note(&format!("packset: {} of {live} {word}", pairs.len()));
    Ok(Exit::Done)
}
