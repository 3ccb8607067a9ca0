//! `packset batch FILE|-`: mixed operations, one JSON object a line, in one commit.

use serde_json::{Value, json};

use crate::cli::args::Batch;
use crate::cli::{Exit, Failure};
use crate::command::{Context, count, rows, text};
use crate::desk::{Given, route};

/// Most bytes of a batch, which is held in memory whole and done in one commit: as many as an
/// import puts into one.
const BATCH_BYTES: u64 = 64 << 20;

/// Runs the verb. What is refused is data: it is printed, and the run ends in [`Exit::Refused`],
/// or in [`Exit::Data`] if a line could not be read.
///
/// # Errors
/// A file that cannot be read, or what the pack says; then nothing is stored.
pub fn run(context: &mut Context<'_>, args: &Batch) -> Result<Exit, Failure> {
    let named = args.within.workspace.as_deref();
    let name = context.workspace(named)?.name;
    // What is set wrong is said of an empty batch too.
    context.live_cap()?;
    let lines = context.text_of(&args.file, BATCH_BYTES)?;
    if lines.trim().is_empty() {
        return Ok(Exit::Done);
    }
    let given = Given::of([
        ("workspace", json!(name)),
        ("lines", json!(lines)),
        // A record goes to the workspace that was named whichever it names itself.
        ("rename", json!(named.is_some())),
        ("best_effort", json!(args.best_effort)),
        ("over_cap", json!(args.over_cap)),
    ]);
    let answer = context.ask(&route::BATCH, given)?;
    for line in rows(&answer, "lines") {
        if let Some(warning) = line.get("warning").and_then(Value::as_str) {
            let number = count(line, "line");
            context.ui.note(&format!("packset: line {number}: stored, although {warning}"));
        }
        let mut shown = json!({ "workspace": text(&answer, "workspace") });
        if let (Value::Object(shown), Value::Object(line)) = (&mut shown, line.clone()) {
            shown.extend(line.into_iter().filter(|(name, _)| name != "warning"));
        }
        context.answer("batch", shown)?;
    }
    let said = |what: &str| answer.get(what) == Some(&Value::Bool(true));
    Ok(match (said("malformed"), said("refused")) {
        (true, _) => Exit::Data,
        (false, true) => Exit::Refused,
        (false, false) => Exit::Done,
    })
}
