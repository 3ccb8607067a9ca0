//! The inbox: what waits for a person, and what a person takes.

use std::sync::Arc;

use serde_json::{Value, json};

use super::atoms::{changed, generation};
use super::{Desk, Given};
use crate::atom::{Kind, SCHEMA};
use crate::cards::{self, Card};
use crate::claim::mining::{self, Job};
use crate::claim::{self, proposals};
use crate::cli::Failure;
use crate::time::Micros;

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

/// The text of the seat's own card, which is known wherever something is proposed.
fn seat_card(desk: &Desk) -> Result<Vec<String>, Failure> {
    let pack = desk.snapshot_of(&desk.pack_store()?)?;
    Ok(vec![cards::read(pack.as_deref(), Card::User, None)?])
}

/// Proposes the first sentence of a text. One that is open already is answered, and no second one
/// is made. A text that nobody gave a job is filed whole, as an agent's own claim would be held.
///
/// # Errors
/// A job that is not done at that point, nothing to propose, or what the pack says.
pub fn propose(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let (name, text) = (given.workspace()?, given.need("text")?);
    let (job, when) = (given.text("job"), given.text("when"));
    let filed = job.is_none() && when.is_none() && given.text("transcript").is_none();
    let ids = Arc::clone(&desk.ids);
    let store = desk.store(&name)?;
    let (proposal, committed) = if filed {
        let Given(claim) = Given::of([
            ("schema", json!(SCHEMA)),
            ("kind", json!(Kind::Lesson.name())),
            ("level", json!("explicit")),
            ("text", json!(text)),
            ("workspace", json!(name)),
            ("origin", json!("agent-derived")),
        ]);
        desk.commit(&store, move |transaction| {
            let id = proposals::hold(transaction, claim, &ids)?;
            Ok(transaction.get(&id)?.unwrap_or_default())
        })?
    } else {
        let job = Job::at(job.as_deref(), when.as_deref())?;
        let transcript = given.whole_text("transcript").unwrap_or_default();
        let others = seat_card(desk)?;
        desk.commit(&store, move |transaction| {
            Ok(mining::propose(transaction, &text, job, &transcript, &others, &ids)?)
        })?
    };
    Ok(json!({
        "workspace": name, "generation": generation(committed), "proposal": proposal,
    }))
}

/// Mines what was archived on a day into proposals.
///
/// # Errors
/// A day that is none, or what the pack says.
pub fn mine(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let day = given.text("day");
    if let Some(day) = &day {
        let is_day = day.len() == "YYYY-MM-DD".len() && Micros::parse(day).is_some();
        if !is_day {
            return Err(Failure::usage(format!("day must be a date, not {day}"))
                .hint("write it as 2026-01-31"));
        }
    }
    let transcript = given.whole_text("transcript").unwrap_or_default();
    let others = seat_card(desk)?;
    let ids = Arc::clone(&desk.ids);
    let done = desk.commit_existing(&desk.store(&name)?, move |transaction| {
        Ok(mining::mine(transaction, day.as_deref(), &transcript, &others, &ids)?)
    })?;
    let mined = done.map(|(mined, _)| mined).unwrap_or_default();
    Ok(json!({ "workspace": name, "n": mined.len(), "proposals": mined }))
}

/// Makes a proposal a claim of the person who accepts it.
///
/// # Errors
/// No such proposal, a claim that may not be stored, or what the pack says.
pub fn accept(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let (name, id) = (given.workspace()?, given.need("id")?);
    let (its, ids) = (id.clone(), Arc::clone(&desk.ids));
    let cap = desk.live_cap()?;
    let done = desk.commit_existing(&desk.store(&name)?, move |transaction| {
        let accepted = proposals::accept(transaction, &its, &ids)?;
        claim::keep_cap(transaction, cap);
        Ok(accepted)
    })?;
    match done {
        Some(done) => changed(&name, &id, Some(done)),
        None => Err(proposals::Error::Unknown(id).into()),
    }
}
