//! `packset log [ID]`: every version that is kept, newest first: when, by which generation, what
//! it did, and why if it says so.

use serde_json::{Value, json};

use crate::cli::args::Log;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure, FailureKind};
use crate::command::{Context, schema};
use crate::pack::history::{self, Entry};
use crate::pack::record::{self, Record};

/// Runs the verb.
///
/// # Errors
/// No such record, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Log) -> Result<Exit, Failure> {
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let snapshot = context.store(&name)?.snapshot()?;
    let mut entries = match (&snapshot, &args.id) {
        (Some(snapshot), Some(id)) => history::of_record(snapshot, id)?,
        (Some(snapshot), None) => history::of_workspace(snapshot)?,
        (None, _) => Vec::new(),
    };
    if let Some(id) = args.id.as_ref().filter(|_| entries.is_empty()) {
        return Err(Failure::new(FailureKind::Refused, format!("no atom {id}")));
    }
    entries.reverse();
    for entry in entries {
        if context.json {
            context.ui.json(&json!({
                "schema": schema("log"),
                "recorded": entry.recorded.format_ms(),
                "generation": entry.generation,
                "change": entry.change.word(),
                "who": who(&entry.record),
                "why": why(&entry.record),
                "record": Value::Object(entry.record),
            }))?;
        } else {
            row(context, &entry)?;
        }
    }
    Ok(Exit::Done)
}

fn row(context: &mut Context<'_>, entry: &Entry) -> Result<(), Failure> {
    let generation = entry.generation.map_or_else(|| "-".into(), |at| format!("g{at}"));
    let said = match why(&entry.record) {
        Some(why) => format!("{} ({why})", entry.change.word()),
        None => entry.change.word().to_owned(),
    };
    context.ui.row(&[
        Cell::dim(entry.recorded.format_ms()),
        Cell::dim(generation),
        Cell::accent(said),
        Cell::plain(who(&entry.record).unwrap_or_else(|| "-".into())),
        Cell::dim(record::id(&entry.record)),
        Cell::plain(record::string(&entry.record, "text").unwrap_or_default()),
    ])
}

/// Who wrote it, as far as the record says: its seat, else its origin.
fn who(record: &Record) -> Option<String> {
    let source = record.get("source").and_then(Value::as_object);
    let seat = source.and_then(|source| record::string(source, "seat"));
    seat.or_else(|| record::string(record, "origin")).map(str::to_owned)
}

/// Why it was withdrawn or forgotten, if it was.
fn why(record: &Record) -> Option<String> {
    let deed = record::string(record, "retracted_by").or(record::string(record, "forgotten"));
    let undone = record.get("undone").map(|generation| format!("undo of g{generation}"));
    deed.map(str::to_owned).or(undone)
}
