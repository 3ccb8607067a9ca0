//! `packset url` and `packset port`: where the writer of this machine is looked for.
//!
//! Neither asks whether one is there (`packset ensure` does), and no `PACKSET_URL` changes them.

use serde_json::json;

use crate::cli::{Exit, Failure};
use crate::command::Context;
use crate::place;

/// Runs `url`.
///
/// # Errors
/// Output that cannot be written.
pub fn run(context: &mut Context<'_>) -> Result<Exit, Failure> {
    let url = format!("http://127.0.0.1:{}", place::port(&context.env));
    if context.json {
        context.answer("url", json!({ "url": url }))?;
    } else {
        print(context, &url)?;
    }
    Ok(Exit::Done)
}

/// Runs `port`.
///
/// # Errors
/// As [`run`].
pub fn port(context: &mut Context<'_>) -> Result<Exit, Failure> {
    let port = place::port(&context.env);
    if context.json {
        context.answer("port", json!({ "port": port }))?;
    } else {
        context.ui.line(&port.to_string())?;
    }
    Ok(Exit::Done)
}

/// Prints a writer's address as the variables that clients read.
///
/// # Errors
/// As [`run`].
pub(super) fn print(context: &mut Context<'_>, url: &str) -> Result<(), Failure> {
    for name in ["PACKSET_URL", "INSIDE_MEMORY_URL"] {
        context.ui.line(&format!("{name}={url}"))?;
    }
    Ok(())
}
