//! `packset island [--fire] CUE`: the memories that a cue activates, strongest first.

use serde_json::json;

use crate::cli::args::Island;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, number, rows, text};
use crate::desk::{Given, route};

/// Runs the verb.
///
/// # Errors
/// What the pack says.
pub fn run(context: &mut Context<'_>, args: &Island) -> Result<Exit, Failure> {
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let given = Given::of([
        ("workspace", json!(name)),
        ("q", json!(args.cue())),
        ("limit", json!(args.limit)),
        ("fire", json!(args.fire.then_some("1"))),
    ]);
    let answer = context.ask(&route::ACTIVATE, given)?;
    if context.json {
        context.answer("island", answer)?;
        return Ok(Exit::Done);
    }
    for row in rows(&answer, "island") {
        let seed = row["seed"] == json!(true);
        context.ui.row(&[
            Cell::dim(format!("{:.3}", number(row, "activation"))),
            Cell::accent(if seed { "seed" } else { "    " }),
            Cell::dim(text(row, "id")),
            Cell::plain(text(row, "text")),
        ])?;
    }
    Ok(Exit::Done)
}
