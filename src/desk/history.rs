//! What was: every version, what changed between two moments, and taking a commit back.

use serde_json::{Value, json};

use super::atoms::{generation, no_atom};
use super::{Desk, Given};
use crate::claim;
use crate::cli::{Failure, FailureKind};
use crate::pack::history::{self as past, Difference, Entry, Moment};
use crate::pack::record::{self, Record};

/// Every version that is kept, newest first: when, by which generation, what it did, and why if
/// it says so.
///
/// # Errors
/// No such record, or what the pack says.
pub fn log(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let id = given.text("id");
    let mut entries = match (desk.snapshot(&name)?, &id) {
        (Some(snapshot), Some(id)) => past::of_record(&snapshot, id)?,
        (Some(snapshot), None) => past::of_workspace(&snapshot)?,
        (None, _) => Vec::new(),
    };
    if let Some(id) = id.filter(|_| entries.is_empty()) {
        return Err(no_atom(&name, &id));
    }
    entries.reverse();
    let entries: Vec<Value> = entries.into_iter().map(entry).collect();
    Ok(json!({ "workspace": name, "entries": entries }))
}

fn entry(entry: Entry) -> Value {
    json!({
        "recorded": entry.recorded.format_ms(),
        "generation": entry.generation,
        "change": entry.change.word(),
        "who": who(&entry.record),
        "why": why(&entry.record),
        "record": entry.record,
    })
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

/// What changed between two generations (`g12`) or two times.
///
/// # Errors
/// A range that is none, or what the pack says.
pub fn diff(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let (from, to) = range(desk, &given.need("range")?)?;
    let name = given.workspace()?;
    let mut rows: Vec<Value> = Vec::new();
    if let Some(snapshot) = desk.snapshot(&name)? {
        for Difference { before, after } in past::difference(&snapshot, from, to)? {
            rows.push(json!({ "before": before, "after": after }));
        }
    }
    Ok(json!({ "workspace": name, "differences": rows }))
}

fn range(desk: &Desk, text: &str) -> Result<(Moment, Moment), Failure> {
    let moment = |text: &str| {
        Moment::parse(text).ok_or_else(|| {
            Failure::usage(format!("{text} is neither a generation nor a time"))
                .hint("write g12..g15, or 2026-01-31..2026-02-28; an open end is now")
        })
    };
    let Some((from, to)) = text.split_once("..") else {
        return Err(
            Failure::usage(format!("{text} is no range")).hint("write A..B, as in g12..g15")
        );
    };
    let now = Moment::Time(desk.clock.now());
    let start = Moment::Generation(0);
    Ok((
        if from.is_empty() { start } else { moment(from)? },
        if to.is_empty() { now } else { moment(to)? },
    ))
}

/// Takes back what one commit did, by a new commit.
///
/// # Errors
/// A commit that cannot be taken back, or what the pack says.
pub fn undo(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let which = match given.text("generation") {
        None => None,
        Some(_) => Some(given.count("generation", 0)? as u64),
    };
    let done = desk.commit_existing(&desk.store(&name)?, move |transaction| {
        Ok(claim::undo(transaction, which)?)
    })?;
    let Some(((undone, records), committed)) = done else {
        return Err(Failure::new(FailureKind::Missing, format!("there is no workspace {name}")));
    };
    Ok(json!({
        "workspace": name,
        "undone": undone,
        "generation": generation(committed),
        "records": records,
    }))
}
