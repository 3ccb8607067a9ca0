//! `packset ensure` and `packset start`: see to it that the writer of this home runs; `ensure`
//! prints where it is, for a shell to take over.

use serde_json::json;

use crate::cli::{Exit, Failure};
use crate::command::Context;
use crate::lifecycle::start::{Ensured, Wanted};
use crate::place;

/// Runs `ensure`.
///
/// # Errors
/// Whatever keeps the writer from answering.
pub fn run(context: &mut Context<'_>) -> Result<Exit, Failure> {
    let ensured = started(context)?;
    if context.json {
        return say_json(context, "ensure", &ensured);
    }
    super::url::print(context, &ensured.runtime.url)?;
    Ok(Exit::Done)
}

/// Runs `start`.
///
/// # Errors
/// As [`run`].
pub fn start(context: &mut Context<'_>) -> Result<Exit, Failure> {
    let ensured = started(context)?;
    if context.json {
        return say_json(context, "start", &ensured);
    }
    Ok(Exit::Done)
}

fn started(context: &mut Context<'_>) -> Result<Ensured, Failure> {
    let home = context.home()?;
    let wanted = Wanted {
        vfs: &*context.vfs,
        env: &context.env,
        home: &home,
        port: place::port(&context.env),
    };
    let ensured = wanted.ensure()?;
    if let Some(old) = &ensured.retired {
        let said = format!("packset: {} of version {} made way", old.pid, old.version);
        context.ui.note(&said);
    }
    let url = &ensured.runtime.url;
    let at = url.strip_prefix("http://").unwrap_or(url);
    let already = if ensured.already { "already " } else { "" };
    context.ui.note(&format!("packset: {already}listening on {at}"));
    Ok(ensured)
}

fn say_json(context: &mut Context<'_>, verb: &str, ensured: &Ensured) -> Result<Exit, Failure> {
    context.answer(
        verb,
        json!({
            "url": ensured.runtime.url,
            "pid": ensured.runtime.pid,
            "version": ensured.runtime.version,
            "already": ensured.already,
            "retired": ensured.retired.as_ref().map(|old| old.pid),
        }),
    )?;
    Ok(Exit::Done)
}
