//! Claims that were used together: their links gain weight, their other links lose a little.
//!
//! It moves weights, and makes the links that are missing between the fired; it writes nothing,
//! keeps no list of holds and knows no clock. Invariants: a link weighs the same on both ends
//! after a fire; weights stay in (0, 1]; no claim gets more than [`MOST`] links; an id that names
//! no live claim does nothing and holds nothing; an id named twice is one claim.

use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::xxh3_128;

use super::links::MOST;
use super::{Claims, DEFAULT_WEIGHT, Desk, Edges};
use crate::time::{Micros, SECOND};

/// The share of a weight that a link to a claim which did not fire keeps (behaviour spec, 4.5).
pub const KEEP: f64 = 0.98;

/// The share of what is missing to 1 that a link between fired claims gains (the same).
pub const GAIN: f64 = 0.1;

/// How long a fire holds the next one of the same claims, or of the same cue: "within an hour"
/// (the page, `POST /v1/fire`).
pub const HOLD_SECONDS: i64 = 3600;

/// A claim that a fire changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Its id.
    pub id: String,
    /// All its edges, if they changed.
    pub edges: Option<Edges>,
    /// Whether its `review.used` goes up by one.
    pub used: bool,
}

/// What a fire did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fired {
    /// The claims that were found, in the order first named, each once.
    pub found: Vec<String>,
    /// The claims to write, by id.
    pub changes: Vec<Change>,
}

/// The claims among `ids`, in the order first named, each once: what fires, and what is held.
///
/// # Errors
/// What [`Claims::claim`] says.
pub fn found<C: Claims>(ids: &[&str], claims: &C) -> Result<Vec<String>, C::Error> {
    find(ids, &mut Desk::new(claims))
}

fn find<C: Claims>(ids: &[&str], desk: &mut Desk<'_, C>) -> Result<Vec<String>, C::Error> {
    let mut seen = FxHashSet::default();
    let mut found = Vec::new();
    for id in ids {
        if seen.insert(*id) && desk.get(id)?.is_some() {
            found.push((*id).to_owned());
        }
    }
    Ok(found)
}

/// Fires claims together, with everybody's weights or with one persona's.
///
/// First every link from a fired claim to one that did not fire keeps [`KEEP`] of its weight;
/// then every pair of fired claims is linked, if both have room, and gains [`GAIN`] of what it
/// lacks. One claim alone fired with nothing: it was used, but no weight moves (recorded case
/// `fire`). Costs a read per fired claim and neighbour; pairs grow with the square of the fired.
///
/// # Errors
/// What [`Claims::claim`] says.
pub fn fire<C: Claims>(ids: &[&str], persona: Option<&str>, claims: &C) -> Result<Fired, C::Error> {
    let mut desk = Desk::new(claims);
    let found = find(ids, &mut desk)?;
    if found.len() > 1 {
        fade(&mut desk, &found, persona)?;
        for (at, one) in found.iter().enumerate() {
            for other in &found[at + 1..] {
                bind(&mut desk, one, other, persona)?;
            }
        }
    }
    let mut changes: Vec<Change> = Vec::new();
    for id in &found {
        if desk.get(id)?.is_some_and(|claim| claim.reviewed) {
            changes.push(Change { id: id.clone(), edges: None, used: true });
        }
    }
    changes.sort_unstable_by(|a, b| a.id.cmp(&b.id));
    let used = changes.len();
    for (id, edges) in desk.changes() {
        match changes[..used].binary_search_by(|change| change.id.cmp(&id)) {
            Ok(at) => changes[at].edges = Some(edges),
            Err(_) => changes.push(Change { id, edges: Some(edges), used: false }),
        }
    }
    changes.sort_unstable_by(|a, b| a.id.cmp(&b.id));
    Ok(Fired { found, changes })
}

/// Lets the links fade that lead from fired claims to others.
fn fade<C: Claims>(
    desk: &mut Desk<'_, C>,
    fired: &[String],
    persona: Option<&str>,
) -> Result<(), C::Error> {
    let together: FxHashSet<&str> = fired.iter().map(String::as_str).collect();
    for id in fired {
        for link in desk.links(id)? {
            if !together.contains(link.as_str()) && desk.get(&link)?.is_some() {
                let weight = weight(desk, id, &link, persona)?;
                weigh(desk, id, &link, persona, weight * KEEP)?;
            }
        }
    }
    Ok(())
}

/// Links two claims, if they are not and both have room, and makes the link heavier.
fn bind<C: Claims>(
    desk: &mut Desk<'_, C>,
    one: &str,
    other: &str,
    persona: Option<&str>,
) -> Result<(), C::Error> {
    for (id, link) in [(one, other), (other, one)] {
        if !room(desk, id, link)? {
            return Ok(());
        }
    }
    desk.join(one, other)?;
    let weight = weight(desk, one, other, persona)?;
    weigh(desk, one, other, persona, (weight + GAIN * (1.0 - weight)).min(1.0))
}

/// Whether a claim has the link, or a place for it.
fn room<C: Claims>(desk: &mut Desk<'_, C>, id: &str, link: &str) -> Result<bool, C::Error> {
    if desk.has(id, link)? || desk.links(id)?.len() < MOST {
        return Ok(true);
    }
    desk.bury(id)?;
    Ok(desk.links(id)?.len() < MOST)
}

/// What a link weighs: the larger of what its ends say.
fn weight<C: Claims>(
    desk: &mut Desk<'_, C>,
    one: &str,
    other: &str,
    persona: Option<&str>,
) -> Result<f64, C::Error> {
    let mut most: Option<f64> = None;
    for (id, link) in [(one, other), (other, one)] {
        if let Some(claim) = desk.get(id)?.filter(|claim| claim.edges.has(link)) {
            let weight = claim.edges.weight(link, persona);
            most = Some(most.map_or(weight, |most| most.max(weight)));
        }
    }
    Ok(most.unwrap_or(DEFAULT_WEIGHT))
}

/// Sets what a link weighs on both its ends. It never reaches 0, however often it fades.
fn weigh<C: Claims>(
    desk: &mut Desk<'_, C>,
    one: &str,
    other: &str,
    persona: Option<&str>,
    weight: f64,
) -> Result<(), C::Error> {
    let weight = weight.max(f64::MIN_POSITIVE);
    for (id, link) in [(one, other), (other, one)] {
        if let Some(edges) = desk.edges(id)? {
            edges.weigh(link, persona, weight);
        }
    }
    Ok(())
}

/// The name under which a workspace remembers that these claims fired; none if there are none.
///
/// `found` are claims that exist, in any order. 32 hex digits, the same in every process.
pub fn hold_of_claims<S: AsRef<str>>(persona: Option<&str>, found: &[S]) -> Option<String> {
    let mut ids: Vec<&str> = found.iter().map(AsRef::as_ref).collect();
    ids.sort_unstable();
    ids.dedup();
    let fields = ["claims", persona.unwrap_or_default()].into_iter().chain(ids.iter().copied());
    (!ids.is_empty()).then(|| name(fields))
}

/// The name under which a workspace remembers that a cue fired: case and the space around it do
/// not count. 32 hex digits, the same in every process, never that of a set of claims.
pub fn hold_of_cue(persona: Option<&str>, cue: &str) -> String {
    name(["cue", persona.unwrap_or_default(), &cue.trim().to_lowercase()])
}

/// Hashes fields with their lengths, so that no two lists of fields run into the same bytes.
fn name<'a>(fields: impl IntoIterator<Item = &'a str>) -> String {
    let mut bytes = Vec::new();
    for field in fields {
        bytes.extend_from_slice(&(field.len() as u64).to_le_bytes());
        bytes.extend_from_slice(field.as_bytes());
    }
    format!("{:032x}", xxh3_128(&bytes))
}

/// Whether a fire at `now` is held by one that was accepted at `last`.
///
/// A `last` more than an hour ahead was written by a clock that went wrong; it holds nothing, or
/// the claims could not fire until that day comes.
pub fn is_held(last: Micros, now: Micros) -> bool {
    now.0.abs_diff(last.0) < (HOLD_SECONDS * SECOND) as u64
}

#[cfg(test)]
mod tests;
