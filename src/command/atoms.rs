//! `packset atoms [--as-of TS] [WS]`: the claims that a moment shows, one JSON object a line.

use serde_json::Value;

use crate::atom::Kind;
use crate::claim;
use crate::cli::args::Atoms;
use crate::cli::{Exit, Failure};
use crate::command::Context;

/// Runs the verb.
///
/// # Errors
/// A time that is none, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Atoms) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let view = context.view(&args.moment)?;
    context.ui.note(&format!("packset: workspace {name}"));
    let Some(snapshot) = context.store(&name)?.snapshot()? else { return Ok(Exit::Done) };
    context.mind_the_gap(&snapshot, &view);
    for place in snapshot.shown(&view) {
        let kind = snapshot.segment(place).kind(place.row)?;
        let wanted = match args.kind.as_deref() {
            Some(wanted) => kind == wanted,
            None => Kind::named(kind).is_some(),
        };
        if wanted {
            let record = claim::shown(snapshot.record(place)?);
            context.ui.json(&Value::Object(record))?;
        }
    }
    Ok(Exit::Done)
}
