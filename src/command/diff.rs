//! `packset diff A..B`: what changed between two generations (`g12`) or two times.

use serde_json::{Value, json};

use crate::cli::args::Diff;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, rows, text};
use crate::desk::{Given, route};
use crate::pack::Record;

/// Runs the verb.
///
/// # Errors
/// A range that is none, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Diff) -> Result<Exit, Failure> {
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let given = Given::of([("workspace", json!(name)), ("range", json!(args.range))]);
    let answer = context.ask(&route::DIFF, given)?;
    for difference in rows(&answer, "differences") {
        if context.json {
            context.answer("diff", difference.clone())?;
            continue;
        }
        let (before, after) = (difference["before"].as_object(), difference["after"].as_object());
        let fields = before.zip(after).map(|(before, after)| changed(before, after).join(","));
        for (sign, side) in [("-", "before"), ("+", "after")] {
            let record = &difference[side];
            if !record.is_null() {
                row(context, sign, record, fields.as_deref().unwrap_or("-"))?;
            }
        }
    }
    Ok(Exit::Done)
}

fn row(
    context: &mut Context<'_>,
    sign: &'static str,
    record: &Value,
    fields: &str,
) -> Result<(), Failure> {
    context.ui.row(&[
        Cell::accent(sign),
        Cell::dim(text(record, "id")),
        Cell::dim(fields),
        Cell::plain(text(record, "text")),
    ])
}

/// Names of the fields that differ, in the order of the newer record.
fn changed<'a>(before: &'a Record, after: &'a Record) -> Vec<&'a str> {
    let gone = before.keys().filter(|key| !after.contains_key(*key));
    let other = after.iter().filter(|(key, value)| before.get(*key) != Some(*value));
    other.map(|(key, _)| key.as_str()).chain(gone.map(String::as_str)).collect()
}
