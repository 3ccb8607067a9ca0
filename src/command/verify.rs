//! `packset verify [WS | --all]`: reads every byte of a workspace and says what is damaged.

use serde_json::json;

use crate::cli::args::Scope;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};

/// Runs the verb. Damage is data: it is printed, and the run ends in [`Exit::Damaged`].
///
/// # Errors
/// What keeps it from reading at all.
pub fn run(context: &mut Context<'_>, args: &Scope) -> Result<Exit, Failure> {
    context.on_files("verify")?;
    let mut exit = Exit::Done;
    for store in context.stores(args)? {
        let Some(report) = store.verify()? else {
            context.ui.note(&format!("packset: there is no workspace {}", store.name()));
            continue;
        };
        let whole = report.problems.is_empty();
        if !whole {
            exit = Exit::Damaged;
        }
        let name = store.name();
        if context.json {
            context.ui.json(&json!({
                "schema": schema("verify"),
                "workspace": name,
                "whole": whole,
                "generation": report.generation,
                "segments": report.segments,
                "versions": report.versions,
                "bytes": report.bytes,
                "problems": report.problems,
            }))?;
        } else if whole {
            let read = format!(
                "generation {}, {} segments, {} versions, {} bytes",
                report.generation, report.segments, report.versions, report.bytes
            );
            context.ui.row(&[Cell::plain(name), Cell::accent("whole"), Cell::plain(read)])?;
        } else {
            for problem in report.problems {
                context.ui.row(&[
                    Cell::plain(name),
                    Cell::accent("damaged"),
                    Cell::plain(problem),
                ])?;
            }
        }
    }
    if exit == Exit::Damaged {
        context.ui.note("hint: restore the named files from a copy, or import an export anew");
    }
    Ok(exit)
}
