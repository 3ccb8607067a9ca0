//! `packset set NAME [--user T] [--memory T] [--instructions T]`: a set's three cards.

use serde_json::json;

use crate::cli::args::SetCards;
use crate::cli::{Exit, Failure};
use crate::command::Context;
use crate::desk::{Given, route};

/// Runs the verb: all cards that are named change in one commit, or none does.
///
/// # Errors
/// A name or a text that may not be stored, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &SetCards) -> Result<Exit, Failure> {
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let given = Given::of([
        ("workspace", json!(name)),
        ("name", json!(args.name)),
        ("user", json!(args.user)),
        ("memory", json!(args.memory)),
        ("instructions", json!(args.instructions)),
    ]);
    let writes = args.user.is_some() || args.memory.is_some() || args.instructions.is_some();
    let route = if writes { &route::SET } else { &route::READ_SET };
    let answer = context.ask(route, given)?;
    if context.json {
        context.answer("set", answer)?;
        return Ok(Exit::Done);
    }
    super::cards::print(context, "set", answer)
}
