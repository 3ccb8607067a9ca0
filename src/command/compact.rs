//! `packset compact [WS | --all] [--keep DURATION]`: merges segments, and drops history that is
//! older than the retention it is given.

use serde_json::json;

use crate::cli::args::Compact;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};

/// Runs the verb.
///
/// # Errors
/// What the pack says; workspaces that were done before it stay done.
pub fn run(context: &mut Context<'_>, args: &Compact) -> Result<Exit, Failure> {
    context.on_files("compact")?;
    let horizon = match args.keep {
        Some(keep) => {
            let keep = i64::try_from(keep.as_micros()).unwrap_or(i64::MAX);
            context.clock.now().0.saturating_sub(keep)
        }
        None => i64::MIN,
    };
    for store in context.stores(&args.scope)? {
        let name = store.name().to_owned();
        let done = store.compact(horizon)?;
        if context.json {
            context.ui.json(&json!({
                "schema": schema("compact"),
                "workspace": name,
                "compacted": done.is_some(),
                "segments_before": done.map(|done| done.segments),
                "bytes_before": done.map(|done| done.bytes_before),
                "bytes_after": done.map(|done| done.bytes_after),
                "dropped_versions": done.map(|done| done.dropped),
            }))?;
            continue;
        }
        let said = match done {
            Some(done) => format!(
                "{} segments merged, {} to {} bytes, {} versions dropped",
                done.segments, done.bytes_before, done.bytes_after, done.dropped
            ),
            None => "nothing to merge".to_owned(),
        };
        context.ui.row(&[Cell::plain(name), Cell::plain(said)])?;
    }
    Ok(Exit::Done)
}
