//! `packset update ID FIELD=VALUE...`: merges fields into one live claim.
//!
//! A value is JSON where it reads as JSON, else a string; `null` takes the field out.

use serde_json::{Value, json};

use crate::cli::args::Update;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, text};
use crate::desk::{Given, route};
use crate::pack::Record;

/// Runs the verb.
///
/// # Errors
/// No such claim, a field that may not be so, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Update) -> Result<Exit, Failure> {
    let mut fields = Record::new();
    for field in &args.fields {
        let (name, value) =
            field.split_once('=').filter(|(name, _)| !name.trim().is_empty()).ok_or_else(|| {
                Failure::usage(format!("{field} is no field: write NAME=VALUE"))
                    .hint("as in text='Port 8081 is taken.' or trust=0.5")
            })?;
        let value = match (name, serde_json::from_str(value)) {
            // A text is a text, also one that happens to be a number.
            ("text", _) | (_, Err(_)) => Value::String(value.to_owned()),
            (_, Ok(value)) => value,
        };
        fields.insert(name.to_owned(), value);
    }
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let given = Given::of([
        ("workspace", json!(name)),
        ("id", json!(args.id)),
        ("fields", Value::Object(fields)),
    ]);
    let answer = context.ask(&route::UPDATE, given)?;
    let record = &answer["record"];
    context.warn(record);
    if context.json {
        context.answer("update", answer)?;
    } else {
        context.ui.row(&[
            Cell::plain(text(record, "id")),
            Cell::accent(text(record, "kind")),
            Cell::plain("updated"),
        ])?;
    }
    Ok(Exit::Done)
}
