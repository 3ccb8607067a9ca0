//! Who is asking, and from where: the workspace of a directory.

use serde_json::{Value, json};

use super::{Desk, Given};
use crate::cli::{Env, Failure};
use crate::place;

/// The workspace of a directory, and who is asking.
///
/// # Errors
/// A directory that cannot be looked at.
pub fn identity(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let named = given.text("cwd").unwrap_or_else(|| ".".into());
    let cwd = desk.path(&named);
    // The writer's own PACKSET_WORKSPACE says nothing about its client's directory.
    let there = Env::new([""; 0], [("GROKOS_WORKSPACE", cwd.as_os_str())], Some(&cwd));
    let workspace = place::workspace(None, &there, &*desk.vfs)?;
    Ok(json!({
        "schema": "inside.identity/v1",
        "workspace": workspace.name,
        "workspace_strategy": "per-repo",
        "user_peer": "user",
        "agent_peer": "agent",
        "harness": given.text("harness").unwrap_or_else(|| "any".into()),
        "profile": "",
        "session_id": null,
        "cwd": cwd.to_string_lossy(),
        "turn": 0,
    }))
}
