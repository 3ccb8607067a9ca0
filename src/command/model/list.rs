//! `packset model list`: every model that is known, which are here, and which is in use.

use serde_json::json;

use super::{BUILT_IN, in_force, megabytes, place};
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::Context;
use crate::embed::models::MODELS;
use crate::meaning;

/// Runs the verb.
///
/// # Errors
/// What the pack says.
pub fn run(context: &mut Context<'_>) -> Result<Exit, Failure> {
    let (chosen, _) = in_force(context)?;
    let used = |name: &str| chosen.name() == name;
    if context.json {
        let model = json!({
            "name": BUILT_IN, "kind": BUILT_IN, "dims": meaning::DIMS, "bytes": null,
            "licence": "MIT", "repository": null, "in_use": used(BUILT_IN), "path": null,
            "here": true,
        });
        context.answer("model", json!({ "model": model }))?;
    } else {
        let used = used(BUILT_IN);
        row(
            context,
            [BUILT_IN, BUILT_IN, &meaning::DIMS.to_string(), "-", "MIT"],
            used,
            "built in",
        )?;
    }
    for model in MODELS {
        // A directory that lacks a file is no model, and no reason not to list the others.
        let (path, wrong) = match place(context, model) {
            Ok(path) => (path.map(|path| path.to_string_lossy().into_owned()), None),
            Err(failure) => (None, Some(failure.message)),
        };
        if context.json {
            let shown = json!({
                "name": model.name,
                "kind": model.kind.name(),
                "dims": model.dims,
                "bytes": model.about_bytes,
                "licence": model.licence,
                "repository": Some(model.repository).filter(|it| !it.is_empty()),
                "in_use": used(model.name),
                "path": path,
                "here": path.is_some(),
            });
            context.answer("model", json!({ "model": shown }))?;
        } else {
            let size = model.about_bytes.map_or_else(|| "-".to_owned(), megabytes);
            let dims = model.dims.to_string();
            let cells = [model.name, model.kind.name(), &dims, &size, model.licence];
            let place = path.or(wrong).unwrap_or_else(|| "-".into());
            row(context, cells, used(model.name), &place)?;
        }
    }
    Ok(Exit::Done)
}

fn row(
    context: &mut Context<'_>,
    [name, kind, dims, size, licence]: [&str; 5],
    used: bool,
    place: &str,
) -> Result<(), Failure> {
    let used = if used { "in use" } else { "-" };
    context.ui.row(&[
        Cell::accent(name),
        Cell::plain(kind),
        Cell::plain(dims),
        Cell::plain(size),
        Cell::plain(licence),
        Cell::plain(used),
        Cell::dim(place),
    ])
}
