//! The inbox: what waits for a person, and what a person takes.

use std::sync::Arc;

use serde_json::{Value, json};

use super::atoms::{changed, generation};
use super::{Desk, Given};
use crate::atom::{Kind, SCHEMA};
use crate::claim::proposals;
use crate::cli::Failure;
use crate::pack::record::Record;

/// The open proposals, in the order in which they were made.
///
/// # Errors
/// What the pack says.
pub fn list(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let open = match desk.snapshot(&name)? {
        Some(snapshot) => proposals::open(&snapshot)?,
        None => Vec::new(),
    };
    Ok(json!({ "workspace": name, "proposals": open }))
}

/// Files one proposal by hand. One that is open already is answered, and no second one is made.
///
/// # Errors
/// A refused claim, or what the pack says.
pub fn propose(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let (name, text) = (given.workspace()?, given.need("text")?);
    let mut claim = Record::new();
    for (field, value) in [
        ("schema", SCHEMA),
        ("kind", Kind::Lesson.name()),
        ("level", "explicit"),
        ("text", &text),
        ("workspace", &name),
        ("origin", "agent-derived"),
    ] {
        claim.insert(field.into(), value.into());
    }
    let ids = Arc::clone(&desk.ids);
    let (proposal, committed) = desk.commit(&desk.store(&name)?, move |transaction| {
        let id = proposals::hold(transaction, claim, &ids)?;
        Ok(transaction.get(&id)?.unwrap_or_default())
    })?;
    Ok(json!({
        "workspace": name, "generation": generation(committed), "proposal": proposal,
    }))
}

/// Makes a proposal a claim of the person who accepts it.
///
/// # Errors
/// No such proposal, a claim that may not be stored, or what the pack says.
pub fn accept(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let (name, id) = (given.workspace()?, given.need("id")?);
    let (its, ids) = (id.clone(), Arc::clone(&desk.ids));
    let done = desk.commit_existing(&desk.store(&name)?, move |transaction| {
        Ok(proposals::accept(transaction, &its, &ids)?)
    })?;
    match done {
        Some(done) => changed(&name, &id, Some(done)),
        None => Err(proposals::Error::Unknown(id).into()),
    }
}
