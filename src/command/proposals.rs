//! `packset proposals [WS]`: the writes that wait for a person. `packset proposals mine` makes some
//! of what cards were too short to take.

use serde_json::{Value, json};

use crate::cli::args::{Mine, Proposals, ProposalsVerb};
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, rows, text};
use crate::desk::{Given, route};

/// Bytes of a transcript that are read at most: the page's bound of a request.
const TRANSCRIPT: u64 = 32 << 20;

/// Runs the verb.
///
/// # Errors
/// What the pack says.
pub fn run(context: &mut Context<'_>, args: &Proposals) -> Result<Exit, Failure> {
    let answer = match &args.what {
        Some(ProposalsVerb::Mine(mine)) => mined(context, mine)?,
        None => {
            let name = context.workspace(args.workspace.as_deref())?.name;
            context.ask(&route::PROPOSALS, Given::of([("workspace", json!(name))]))?
        }
    };
    for proposal in rows(&answer, "proposals") {
        if context.json {
            context.answer("proposals", json!({ "proposal": proposal }))?;
        } else {
            row(context, proposal)?;
        }
    }
    Ok(Exit::Done)
}

/// Prints one proposal: its id, why it was held, its text.
pub(super) fn row(context: &mut Context<'_>, proposal: &Value) -> Result<(), Failure> {
    let why = proposal.get("why").and_then(Value::as_str).unwrap_or("-");
    context.ui.row(&[
        Cell::plain(text(proposal, "id")),
        Cell::accent(why),
        Cell::plain(text(proposal, "text")),
    ])
}

fn mined(context: &mut Context<'_>, args: &Mine) -> Result<Value, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let transcript = match args.transcript.as_deref() {
        None => None,
        Some(file) => Some(context.text_of(file, TRANSCRIPT)?),
    };
    let given = Given::of([
        ("workspace", json!(name)),
        ("day", json!(args.day)),
        ("transcript", json!(transcript)),
    ]);
    context.ask(&route::MINE, given)
}
