//! `packset cards [--set NAME] [WS]`: the cards that an agent reads whole.

use serde_json::{Value, json};

use crate::cards::Card;
use crate::cli::args::Cards;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, text};
use crate::desk::{Given, route};

/// Runs the verb.
///
/// # Errors
/// A set name that is none, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Cards) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let given =
        Given::of([("workspace", json!(name)), ("set", json!(args.set)), ("atoms", json!("omit"))]);
    let answer = context.ask(&route::PACK, given)?;
    print(context, "cards", answer)
}

/// Prints cards, as JSON or in rows.
pub(super) fn print(
    context: &mut Context<'_>,
    verb: &str,
    mut answer: Value,
) -> Result<Exit, Failure> {
    if let Value::Object(members) = &mut answer {
        members.shift_remove("atoms");
    }
    if context.json {
        context.answer(verb, answer)?;
        return Ok(Exit::Done);
    }
    for card in Card::ALL {
        let lines = text(&answer, card.name()).lines();
        for line in lines.filter(|line| !line.trim().is_empty()) {
            context.ui.row(&[Cell::accent(card.name()), Cell::plain(line)])?;
        }
    }
    Ok(Exit::Done)
}
