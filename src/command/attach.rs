//! `packset attach [--take] [TEXT|-]`: one body, held for the next turn.
//!
//! Printing it leaves it; only `--take` takes.

use serde_json::json;

use crate::cards::ATTACHMENT_LIMIT;
use crate::cli::args::Attach;
use crate::cli::{Exit, Failure};
use crate::command::{Context, text};
use crate::desk::{Given, route};

/// Runs the verb.
///
/// # Errors
/// A body that may not be held, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Attach) -> Result<Exit, Failure> {
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let holds = !args.take && !args.text.is_empty();
    let mut given = Given::of([("workspace", json!(name)), ("label", json!(args.label))]);
    let route = if holds {
        let body = context.given(&args.text, ATTACHMENT_LIMIT)?;
        given.0.insert("text".into(), body.into());
        &route::ATTACH
    } else {
        given.0.insert("peek".into(), (if args.take { "0" } else { "1" }).into());
        &route::READ_ATTACHMENT
    };
    let answer = context.ask(route, given)?;
    let body = text(&answer, "text");
    if context.json {
        context.answer("attach", answer)?;
    } else if holds && body.is_empty() {
        context.ui.line("cleared")?;
    } else if holds {
        let has = body.chars().count();
        context.ui.line(&format!("{has} characters held until {}", text(&answer, "until")))?;
    } else if !body.is_empty() {
        context.ui.line(body.trim_end_matches('\n'))?;
    }
    Ok(Exit::Done)
}
