//! `packset accept ID`: makes a proposal a claim of the person who accepts it.

use serde_json::json;

use crate::cli::args::Accept;
use crate::cli::{Exit, Failure};
use crate::command::{Context, remember};
use crate::desk::{Given, route};

/// Runs the verb.
///
/// # Errors
/// No such proposal, a claim that may not be stored, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Accept) -> Result<Exit, Failure> {
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let given = Given::of([("workspace", json!(name)), ("id", json!(args.id))]);
    let answer = context.ask(&route::ACCEPT, given)?;
    let record = &answer["record"];
    context.warn(record);
    if context.json {
        context.answer("accept", answer)?;
    } else {
        remember::claim_row(context, record)?;
    }
    Ok(Exit::Done)
}
