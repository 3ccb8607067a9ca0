//! `packset sweep [WS | --all]`: the neglect sweep now.

use serde_json::{Value, json};

use crate::cli::args::Scope;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, count, rows, text};
use crate::desk::{Given, route};

/// Runs the verb.
///
/// # Errors
/// What the pack says; workspaces that were swept before it stay swept.
pub fn run(context: &mut Context<'_>, args: &Scope) -> Result<Exit, Failure> {
    if !args.all {
        let name = context.workspace(args.workspace.as_deref())?.name;
        return sweep(context, &name, false);
    }
    let answer = context.ask(&route::WORKSPACES, Given::default())?;
    for row in rows(&answer, "workspaces") {
        sweep(context, text(row, "name"), true)?;
    }
    Ok(Exit::Done)
}

/// Sweeps one workspace; of several, each row says which it is of.
fn sweep(context: &mut Context<'_>, name: &str, of_several: bool) -> Result<Exit, Failure> {
    let mut answer = context.ask(&route::SWEEP, Given::of([("workspace", json!(name))]))?;
    if context.json {
        if of_several {
            answer["workspace"] = name.into();
        }
        context.answer("sweep", answer)?;
        return Ok(Exit::Done);
    }
    let (lapsed, forgotten) = (count(&answer, "lapsed"), count(&answer, "forgotten"));
    let said = format!("{lapsed} lapsed by neglect, {forgotten} forgotten");
    let mut row = if of_several { vec![Cell::plain(name)] } else { Vec::new() };
    row.push(Cell::plain(said));
    context.ui.row(&row)?;
    for id in rows(&answer, "forgotten_ids").iter().filter_map(Value::as_str) {
        let mut row = if of_several { vec![Cell::plain(name)] } else { Vec::new() };
        row.extend([Cell::accent("forgotten"), Cell::plain(id)]);
        context.ui.row(&row)?;
    }
    Ok(Exit::Done)
}
