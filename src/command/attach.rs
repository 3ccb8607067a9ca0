//! `packset attach [--take] [TEXT|-]`: one body, held for the next turn.
//!
//! Printing it leaves it; only `--take` takes.

use serde_json::json;

use crate::cards::{self, ATTACHMENT_LIMIT, Attachment};
use crate::cli::args::Attach;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};

/// Runs the verb.
///
/// # Errors
/// A body that may not be held, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Attach) -> Result<Exit, Failure> {
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let store = context.store(&name)?;
    let (held, given) = if args.take {
        let taken = store.commit_existing(cards::take)?;
        (taken.and_then(|(taken, _)| taken), false)
    } else if args.text.is_empty() {
        (cards::attached(store.snapshot()?.as_ref(), context.clock.now())?, false)
    } else {
        let text = context.given(&args.text, ATTACHMENT_LIMIT)?;
        let label = args.label.as_deref().unwrap_or_default();
        let (held, _) = store.commit(|transaction| cards::attach(transaction, &text, label))?;
        (Some(held), true)
    };
    let held = held.unwrap_or_default();
    if context.json {
        let Attachment { text, label, until } = held;
        let until = (!until.is_empty()).then_some(until);
        context.ui.json(&json!({
            "schema": schema("attach"),
            "workspace": name,
            "text": text,
            "label": label,
            "until": until,
        }))?;
    } else if given && held.text.is_empty() {
        context.ui.line("cleared")?;
    } else if given {
        let has = held.text.chars().count();
        context.ui.line(&format!("{has} characters held until {}", held.until))?;
    } else if !held.text.is_empty() {
        context.ui.line(held.text.trim_end_matches('\n'))?;
    }
    Ok(Exit::Done)
}
