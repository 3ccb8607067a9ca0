//! `packset where`: the workspace in force, and with `--explain` how it and the home were found.
//!
//! Touches no store, so that it can explain why one is not found.

use serde_json::json;

use crate::cli::args::Where;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};
use crate::place;

/// Runs the verb.
///
/// # Errors
/// A name that no workspace can have; with `--explain` also no home.
pub fn run(context: &mut Context<'_>, args: &Where) -> Result<Exit, Failure> {
    let workspace = context.workspace(None)?;
    let home = match args.explain {
        true => Some(place::home(&context.env, &*context.vfs)?),
        false => None,
    };
    if context.json {
        let mut answer = json!({ "schema": schema("where"), "workspace": workspace.name });
        if let Some(home) = home {
            answer["workspace_from"] = workspace.how.to_string().into();
            answer["home"] = home.path.to_string_lossy().into();
            answer["home_from"] = home.how.to_string().into();
            answer["home_usable"] = home.old_store.is_none().into();
        }
        context.ui.json(&answer)?;
        return Ok(Exit::Done);
    }
    let Some(home) = home else {
        context.ui.row(&[Cell::plain(workspace.name)])?;
        return Ok(Exit::Done);
    };
    let path = home.path.to_string_lossy();
    let rows = [
        ("workspace", &*workspace.name, workspace.how.to_string()),
        ("home", &path, home.how.to_string()),
    ];
    for (what, value, how) in rows {
        context.ui.row(&[Cell::dim(what), Cell::plain(value), Cell::dim(how)])?;
    }
    if let Err(error) = home.usable() {
        let failure = Failure::from(error);
        context.ui.note(&failure.to_string());
    }
    Ok(Exit::Done)
}
