//! `packset atoms [--as-of TS] [WS]`: the claims that a moment shows, one JSON object a line.

use serde_json::{Value, json};

use crate::cli::args::Atoms;
use crate::cli::{Exit, Failure};
use crate::command::{Context, moment, rows};
use crate::desk::{Given, atoms, gap, route};

/// Runs the verb.
///
/// # Errors
/// A time that is none, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Atoms) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let mut given = Given::of([("workspace", json!(name)), ("kind", json!(args.kind))]);
    moment(&mut given, &args.moment);
    let view = context.view(&given)?;
    context.ui.note(&format!("packset: workspace {name}"));
    if context.is_remote() {
        let answer = context.ask(&route::ATOMS, given)?;
        context.mind_the_gap(&answer);
        for record in rows(&answer, "atoms") {
            context.ui.json(record)?;
        }
        return Ok(Exit::Done);
    }
    // On the files each claim goes out as it is read: a pack may hold a million.
    let Some(snapshot) = context.snapshot(&name)? else { return Ok(Exit::Done) };
    context.mind_the_gap(&json!({ "kept_since": gap(&snapshot, &view) }));
    let ui = &mut *context.ui;
    atoms::each(&snapshot, &view, args.kind.as_deref(), |place, record| {
        ui.json(&Value::Object(atoms::whole(&snapshot, place, record)?))
    })?;
    Ok(Exit::Done)
}
