//! `packset status [--all | WS]`: what a workspace holds, counted, and whether a writer is up.

use std::path::Path;

use serde_json::json;

use crate::cli::args::Scope;
use crate::cli::{Exit, Failure};
use crate::client::Address;
use crate::command::Context;
use crate::desk::{Given, route};

/// Runs the verb.
///
/// # Errors
/// What the pack says.
pub fn run(context: &mut Context<'_>, args: &Scope) -> Result<Exit, Failure> {
    let name = match args.all {
        true => None,
        false => Some(context.workspace(args.workspace.as_deref())?.name),
    };
    let answer = context.ask(&route::STATUS, Given::of([("workspace", json!(name))]))?;
    if context.json {
        context.answer("status", answer)?;
    } else {
        let where_it_is = match Address::of(&context.env) {
            Address::Writer(url) => format!("packset: up on {url} (packsetd ok)"),
            _ => {
                let home = context.home()?;
                match writer(context, &home) {
                    Some(url) => format!("packset: up on {url} (packsetd ok)"),
                    None => format!("packset: on the files at {}", home.display()),
                }
            }
        };
        context.ui.line(&where_it_is)?;
        context.ui.line(&super::pretty(&super::titled("status", answer)))?;
    }
    Ok(Exit::Done)
}

/// Where the writer of the home answers, if it has one.
#[cfg(unix)]
fn writer(context: &Context<'_>, home: &Path) -> Option<String> {
    use crate::lifecycle::{Health, State, find, health};
    match find(&*context.vfs, home) {
        Ok(State::Up(writer)) if health(&writer) == Health::Writer => Some(writer.url),
        _ => None,
    }
}

#[cfg(not(unix))]
fn writer(_: &Context<'_>, _: &Path) -> Option<String> {
    None
}
