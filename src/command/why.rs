//! `packset why ID --query QUERY`: what is behind a claim's place in a search's list, or behind
//! its absence.

use serde_json::json;

use crate::cli::args::Why;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, count, moment, number, rows, text};
use crate::desk::{Given, route};

/// Runs the verb.
///
/// # Errors
/// No such claim, a time or a panel name that is none, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Why) -> Result<Exit, Failure> {
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let mut given = Given::of([
        ("workspace", json!(name)),
        ("id", json!(args.id)),
        ("q", json!(args.query)),
        ("limit", json!(args.limit)),
        ("kind", json!(args.kind)),
    ]);
    moment(&mut given, &args.moment);
    let answer = context.ask(&route::WHY, given)?;
    if context.json {
        context.answer("why", answer)?;
        return Ok(Exit::Done);
    }
    let placed = match answer["place"].as_u64() {
        Some(place) => format!("{place} of the first {}", args.limit),
        None => format!("not among the first {}", args.limit),
    };
    let mut cells = vec![("place", placed), ("state", text(&answer, "state").to_owned())];
    if let Some(score) = answer["score"].as_f64() {
        cells.push(("score", format!("{score:.4} of the query")));
    }
    for ballot in rows(&answer, "ballots") {
        let said = format!("rank {} with {:.4}", count(ballot, "rank"), number(ballot, "score"));
        cells.push((text(ballot, "ballot"), said));
    }
    if let Some(decay) = answer["decay"].as_f64() {
        cells.push(("decay", format!("{decay:.4}")));
    }
    cells.push(("links", rows(&answer, "links").len().to_string()));
    for (what, said) in cells {
        context.ui.row(&[Cell::dim(what), Cell::plain(said)])?;
    }
    Ok(Exit::Done)
}
