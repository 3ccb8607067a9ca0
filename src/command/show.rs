//! `packset show ID [WS]`: one record, whatever its state.

use serde_json::Value;

use crate::claim;
use crate::cli::args::Show;
use crate::cli::{Exit, Failure, FailureKind};
use crate::command::Context;
use crate::pack::record;

/// Runs the verb.
///
/// # Errors
/// No such record, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Show) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let snapshot = context.store(&name)?.snapshot()?;
    let found = match &snapshot {
        Some(snapshot) => match snapshot.current(record::key(&args.id)) {
            Some(place) => Some(snapshot.record(place)?),
            None => None,
        },
        None => None,
    };
    let Some(record) = found.filter(|record| record::id(record) == args.id) else {
        return Err(Failure::new(FailureKind::Refused, format!("no atom {}", args.id))
            .hint(format!("`packset atoms {name}` lists what is live")));
    };
    let shown = Value::Object(claim::shown(record));
    if context.json {
        context.ui.json(&shown)?;
    } else {
        context.ui.line(&super::pretty(&shown))?;
    }
    Ok(Exit::Done)
}
