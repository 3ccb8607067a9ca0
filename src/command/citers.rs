//! `packset citers ACCESSION [WS]`: the live claims that cite one accession.

use serde_json::json;

use crate::cli::args::Citers;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, rows, text};
use crate::desk::{Given, route};

/// Runs the verb.
///
/// # Errors
/// What the pack says.
pub fn run(context: &mut Context<'_>, args: &Citers) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let given = Given::of([("workspace", json!(name)), ("accession", json!(args.accession))]);
    let answer = context.ask(&route::CITERS, given)?;
    for record in rows(&answer, "atoms") {
        if context.json {
            context.answer("citers", json!({ "record": record }))?;
        } else {
            context.ui.row(&[Cell::dim(text(record, "id")), Cell::plain(text(record, "text"))])?;
        }
    }
    Ok(Exit::Done)
}
