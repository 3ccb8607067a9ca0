//! `packset grade ID [--lapsed] [WS]`: marks a review recalled, or lapsed.

use serde_json::{Value, json};

use crate::cli::args::Grade;
use crate::cli::{Exit, Failure};
use crate::command::Context;
use crate::desk::{Given, route};

/// Runs the verb.
///
/// # Errors
/// No such claim, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Grade) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let given = Given::of([
        ("workspace", json!(name)),
        ("id", json!(args.id)),
        ("recalled", json!(!args.lapsed)),
    ]);
    let answer = context.ask(&route::GRADE, given)?;
    if context.json {
        context.answer("grade", answer)?;
    } else {
        let due = answer["record"].get("due_at").and_then(Value::as_str).unwrap_or("graded");
        context.ui.line(due)?;
    }
    Ok(Exit::Done)
}
