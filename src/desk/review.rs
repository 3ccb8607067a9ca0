//! The review clock: what is due, grades, sweeps, and what later claims replace.

use serde_json::{Value, json};

use super::atoms::changed;
use super::refusal::of_change;
use super::{Desk, Given};
use crate::claim;
use crate::cli::Failure;
use crate::pack::View;
use crate::pack::record::{self, Record};
use crate::review as clock;

/// The claims whose review clock has run out, soonest first.
///
/// # Errors
/// What the pack says.
pub fn due(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let now = desk.clock.now();
    let mut due: Vec<Record> = Vec::new();
    if let Some(snapshot) = desk.snapshot(&name)? {
        for place in claim::overdue(&snapshot, &View::now(now), now) {
            let record = snapshot.record(place)?;
            if clock::is_due(&record, now) {
                due.push(record);
            }
        }
    }
    due.sort_by(clock::due_order);
    let due: Vec<Record> = due.into_iter().map(claim::shown).collect();
    Ok(json!({ "workspace": name, "atoms": due }))
}

/// Marks a review recalled or lapsed. Whatever does not say no is a recall (observed).
///
/// # Errors
/// No such claim, or what the pack says.
pub fn grade(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let (name, id) = (given.workspace()?, given.need("id")?);
    let recalled = match given.0.get("recalled") {
        Some(Value::Bool(recalled)) => *recalled,
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(Value::String(word)) => {
            !["0", "false", "no"].iter().any(|no| word.trim().eq_ignore_ascii_case(no))
        }
        _ => true,
    };
    let (whose, its) = (name.clone(), id.clone());
    let done = desk.commit_existing(&desk.store(&name)?, move |transaction| {
        claim::grade(transaction, &its, recalled).map_err(|error| of_change(&whose, error))
    })?;
    let mut answer = changed(&name, &id, done)?;
    answer["recalled"] = recalled.into();
    Ok(answer)
}

/// The neglect sweep now.
///
/// # Errors
/// What the pack says.
pub fn sweep(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let store = desk.store(&name)?;
    let done = desk.commit_existing(&store, |transaction| Ok(claim::sweep(transaction)?))?;
    let sweep = done.map(|(sweep, _)| sweep).unwrap_or_default();
    Ok(json!({
        "workspace": name,
        "lapsed": sweep.lapsed,
        "forgotten": sweep.forgotten.len(),
        "forgotten_ids": sweep.forgotten,
    }))
}

/// The replacement rule over the live set.
///
/// # Errors
/// What the pack says.
pub fn consolidate(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let apply = given.flag("apply");
    let store = desk.store(&name)?;
    let done = desk
        .commit_existing(&store, move |transaction| Ok(claim::consolidate(transaction, apply)?))?;
    // What an import brought has no links yet; now that the rest is settled it gets them.
    let linked = if apply { claim::link_unlinked(&store)? } else { 0 };
    let (live, pairs) = done.map(|(found, _)| found).unwrap_or_default();
    let text = |record: &Record| record::string(record, "text").unwrap_or_default().to_owned();
    let rows: Vec<Value> = pairs
        .iter()
        .map(|pair| {
            json!({
                "old": record::id(&pair.old),
                "old_text": text(&pair.old),
                "new": record::id(&pair.new),
                "new_text": text(&pair.new),
            })
        })
        .collect();
    Ok(json!({
        "workspace": name, "live": live, "closed": pairs.len(), "applied": apply, "linked": linked,
        "pairs": rows,
    }))
}
