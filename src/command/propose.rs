//! `packset propose TEXT`: files one proposal by hand, for a person to look at later.

use serde_json::json;

use crate::cli::args::Claim;
use crate::cli::{Exit, Failure};
use crate::command::Context;
use crate::desk::{Given, route};

/// Runs the verb. A proposal that is open already is printed, and no second one is made.
///
/// # Errors
/// A refused claim, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Claim) -> Result<Exit, Failure> {
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let given = Given::of([("workspace", json!(name)), ("text", json!(args.text()))]);
    let answer = context.ask(&route::PROPOSE, given)?;
    if context.json {
        context.answer("propose", answer)?;
    } else {
        super::proposals::row(context, &answer["proposal"])?;
    }
    Ok(Exit::Done)
}
