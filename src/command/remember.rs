//! `packset remember TEXT` and `packset prefer TEXT`: one claim, durable before it is answered.

use serde_json::Value;

use crate::atom::Kind;
use crate::cli::args::Claim;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, count, text};
use crate::desk::{Given, atoms, route};

/// Runs either verb; `kind` is what tells them apart.
///
/// # Errors
/// A refused claim, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Claim, kind: Kind) -> Result<Exit, Failure> {
    let verb = if kind == Kind::Preference { "prefer" } else { "remember" };
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let claim = atoms::in_words(kind, &args.text(), &name);
    let answer = context.ask(&route::POST_ATOM, Given(claim))?;
    let record = &answer["record"];
    context.warn(record);
    let forgot = count(record, "forgot");
    if forgot > 0 {
        context.ui.note(&format!("packset: {forgot} forgotten to keep the live cap"));
    }
    if context.json {
        context.answer(verb, answer)?;
    } else {
        claim_row(context, record)?;
    }
    Ok(Exit::Done)
}

/// Prints a claim as it was stored: id, kind, when it is due.
pub(super) fn claim_row(context: &mut Context<'_>, record: &Value) -> Result<(), Failure> {
    let due = record.get("due_at").and_then(Value::as_str).unwrap_or("-");
    context.ui.row(&[
        Cell::plain(text(record, "id")),
        Cell::accent(text(record, "kind")),
        Cell::plain(format!("due {due}")),
    ])
}
