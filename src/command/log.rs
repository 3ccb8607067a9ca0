//! `packset log [ID]`: every version that is kept, newest first: when, by which generation, what
//! it did, and why if it says so.

use serde_json::{Value, json};

use crate::cli::args::Log;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, rows, text};
use crate::desk::{Given, route};

/// Runs the verb.
///
/// # Errors
/// No such record, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Log) -> Result<Exit, Failure> {
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let given = Given::of([("workspace", json!(name)), ("id", json!(args.id))]);
    let answer = context.ask(&route::LOG, given)?;
    for entry in rows(&answer, "entries") {
        if context.json {
            context.answer("log", entry.clone())?;
        } else {
            row(context, entry)?;
        }
    }
    Ok(Exit::Done)
}

fn row(context: &mut Context<'_>, entry: &Value) -> Result<(), Failure> {
    let generation = entry["generation"].as_u64().map_or_else(|| "-".into(), |at| format!("g{at}"));
    let change = text(entry, "change");
    let said = match entry["why"].as_str() {
        Some(why) => format!("{change} ({why})"),
        None => change.to_owned(),
    };
    let record = &entry["record"];
    context.ui.row(&[
        Cell::dim(text(entry, "recorded")),
        Cell::dim(generation),
        Cell::accent(said),
        Cell::plain(entry["who"].as_str().unwrap_or("-")),
        Cell::dim(text(record, "id")),
        Cell::plain(text(record, "text")),
    ])
}
