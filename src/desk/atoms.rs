//! Claims, one at a time and all of them.

use std::collections::BTreeSet;
use std::time::Instant;

use packset_segments::manifest::SpaceEntry;
use serde_json::{Value, json};

use super::refusal::of_change;
use super::{Desk, Given, Stages, gap};
use crate::atom::{Kind, Refusal, SCHEMA, admit, is_accession};
use crate::claim::{self, Written, proposals};
use crate::cli::{Failure, FailureKind};
use crate::pack::record::{self, Record};
use crate::pack::{Committed, Place, Snapshot, Transaction, View};
use crate::text::Tokenizer;

/// The number of the commit that did it.
pub(super) fn generation(committed: Option<Committed>) -> Option<u64> {
    committed.map(|committed| committed.generation)
}

/// A claim that was given in words.
pub fn in_words(kind: Kind, text: &str, workspace: &str) -> Record {
    let Given(record) = Given::of([
        ("schema", json!(SCHEMA)),
        ("kind", json!(kind.name())),
        ("level", json!("explicit")),
        ("text", json!(text)),
        ("workspace", json!(workspace)),
    ]);
    record
}

/// Stores one claim: what was given is the claim. One that nobody stands behind yet is held as a
/// proposal, and refused with the proposal's id.
///
/// # Errors
/// A refused claim, or what the pack says.
pub fn post(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let began = Instant::now();
    let name = given.workspace()?;
    let Given(mut record) = given;
    let store = desk.store(&name)?;
    let now = desk.clock.now();
    let ids = std::sync::Arc::clone(&desk.ids);
    let id = ids.fresh(now);
    let workspace = name.clone();
    if desk.holds(&record) {
        let (held, _) = desk
            .commit(&store, move |transaction| Ok(proposals::hold(transaction, record, &ids)?))?;
        return Err(proposals::Held(held).into());
    }
    let vector = vector_of(desk, &record, &name)?;
    if vector.is_some() {
        // What an encoder says takes the place of what a client said.
        record.shift_remove("embedding");
    }
    let cap = desk.live_cap()?;
    let prepared = Instant::now();
    let ((written, forgot), committed) = desk.commit(&store, move |transaction| {
        if let Some(vector) = &vector {
            vector.bring(transaction);
        }
        let mut tokenizer = Tokenizer::new(transaction.snapshot().manifest().text.stem);
        let claim = claim::prepare(&mut record, &workspace, id, now, &mut tokenizer)
            .map_err(claim::Error::from)?;
        Ok(claim::write_under(transaction, claim, cap)?)
    })?;
    let stages = Stages { prepare: prepared - began, commit: prepared.elapsed() };
    desk.trace(&name, record::id(written.record()), &stages);
    let mut record = told(written.record().clone());
    if forgot > 0 {
        record.insert("forgot".into(), forgot.into());
    }
    Ok(json!({
        "workspace": name,
        "stored": matches!(written, Written::Stored(_)),
        "generation": generation(committed),
        "record": record,
    }))
}

/// The vector of a claim's text, if an encoder answers; of a claim that is let in alone, so that no
/// secret is shown to a model and no refusal waits for one. Mail is found by its words alone.
///
/// # Errors
/// The first rule that the claim breaks.
fn vector_of(desk: &Desk, claim: &Record, name: &str) -> Result<Option<Vector>, Refusal> {
    let wanted = Kind::of(claim).is_some_and(|kind| !kind.is_mail());
    if !wanted || !desk.encoders().are_there() {
        return Ok(None);
    }
    let mut claim = claim.clone();
    admit(&mut claim, name)?;
    let text = record::string(&claim, "text").unwrap_or_default();
    let encoded = desk.encode(text, false);
    Ok(encoded.map(|(space, numbers)| Vector { space, text: text.to_owned(), numbers }))
}

/// The vector of a text, in the space of the model in use.
struct Vector {
    space: SpaceEntry,
    text: String,
    numbers: Vec<f32>,
}

impl Vector {
    fn bring(&self, transaction: &mut Transaction<'_>) {
        transaction.bring(&self.space, &self.text, &self.numbers);
    }
}

/// A record as the answer to its own change shows it: its vector would only be in the way.
fn told(record: Record) -> Record {
    let mut record = claim::shown(record);
    record.shift_remove("embedding");
    record
}

/// The claims, or the records of a kind, that a moment shows.
///
/// # Errors
/// A time that is none, or what the pack says.
pub fn list(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let view = desk.view(&given)?;
    let mut answer = Record::new();
    if let Some(at) = given.time("as_of")? {
        answer.insert("as_of".into(), at.format_ms().into());
    }
    let mut atoms = Vec::new();
    if let Some(snapshot) = desk.snapshot(&name)? {
        answer.extend(gap(&snapshot, &view).map(|since| ("kept_since".into(), since.into())));
        let vectors = given.text("embedding");
        each(&snapshot, &view, given.text("kind").as_deref(), |place, mut record| {
            match vectors.as_deref() {
                Some("omit") => drop(record.shift_remove("embedding")),
                Some("own") => {}
                _ => record = whole(&snapshot, place, record)?,
            }
            atoms.push(Value::Object(record));
            Ok(())
        })?;
    }
    answer.insert("atoms".into(), atoms.into());
    Ok(answer.into())
}

/// A record with its vector, or a place for it: its own, or what the model in use made of its
/// text.
///
/// # Errors
/// Damaged bytes.
pub fn whole(snapshot: &Snapshot, place: Place, mut record: Record) -> Result<Record, Failure> {
    if record.get("embedding").is_none_or(Value::is_null) {
        record.insert("embedding".into(), json!(snapshot.embedding(place)?));
    }
    Ok(record)
}

/// Hands on every claim, or every record of a kind, that a view shows, as an answer shows it.
///
/// # Errors
/// `with`'s own, or damaged bytes.
pub fn each(
    snapshot: &Snapshot,
    view: &View,
    kind: Option<&str>,
    mut with: impl FnMut(Place, Record) -> Result<(), Failure>,
) -> Result<(), Failure> {
    for place in snapshot.shown(view) {
        let its = snapshot.segment(place).kind(place.row)?;
        let wanted = match kind {
            Some(wanted) => its == wanted,
            None => Kind::named(its).is_some(),
        };
        if wanted {
            let mut record = claim::shown(snapshot.record(place)?);
            if let Some(Value::Array(links)) = record.get_mut("links") {
                // A link to a claim that is gone leads nowhere.
                links.retain(|link| {
                    let key = link.as_str().map(record::key);
                    let peer = key.and_then(|key| snapshot.version(key, view));
                    peer.is_some_and(|peer| snapshot.live(peer, view))
                });
            }
            with(place, record)?;
        }
    }
    Ok(())
}

/// One record, whatever its state; with a time, as it was then.
///
/// # Errors
/// No such record, or what the pack says.
pub fn show(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let id = given.need("id")?;
    let past = given.time("as_of")?.or(given.time("known_at")?).is_some();
    let view = desk.view(&given)?;
    let mut found = None;
    if let Some(snapshot) = desk.snapshot(&name)? {
        let key = record::key(&id);
        let place = match past {
            true => snapshot.version(key, &view),
            false => snapshot.current(key),
        };
        if let Some(place) = place {
            let record = claim::shown(snapshot.record(place)?);
            found = Some(whole(&snapshot, place, record)?);
        }
    }
    match found.filter(|record| record::id(record) == id) {
        Some(record) => Ok(json!({ "workspace": name, "record": record })),
        None => Err(no_atom(&name, &id)),
    }
}

/// There is no such record.
pub(super) fn no_atom(name: &str, id: &str) -> Failure {
    Failure::new(FailureKind::Missing, format!("no atom {id}"))
        .hint(format!("`packset atoms {name}` lists what is live"))
}

/// What a change of one claim answers.
pub(super) fn changed(
    name: &str,
    id: &str,
    done: Option<(Record, Option<Committed>)>,
) -> Result<Value, Failure> {
    let Some((record, committed)) = done else {
        return Err(of_change(name, claim::Error::NoCurrent(id.to_owned())));
    };
    Ok(json!({
        "workspace": name,
        "generation": generation(committed),
        "record": told(record),
    }))
}

/// Merges fields into one live claim.
///
/// # Errors
/// No such claim, a field that may not be so, or what the pack says.
pub fn update(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let (name, id) = (given.workspace()?, given.need("id")?);
    let fields = given.object("fields")?;
    let (whose, its) = (name.clone(), id.clone());
    let vector = match desk.snapshot(&name)? {
        Some(snapshot) if fields.contains_key("text") => {
            let live = snapshot.current(record::key(&id)).map(|place| snapshot.record(place));
            let mut changed = live.transpose()?.unwrap_or_default();
            changed.extend(fields.clone());
            vector_of(desk, &changed, &name)?
        }
        _ => None,
    };
    let done = desk.commit_existing(&desk.store(&name)?, move |transaction| {
        if let Some(vector) = &vector {
            vector.bring(transaction);
        }
        claim::update(transaction, &its, &fields).map_err(|error| of_change(&whose, error))
    })?;
    changed(&name, &id, done)
}

/// Withdraws one live claim.
///
/// # Errors
/// No such claim, or what the pack says.
pub fn delete(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let (name, id) = (given.workspace()?, given.need("id")?);
    let (whose, its, why) = (name.clone(), id.clone(), given.text("why"));
    let done = desk.commit_existing(&desk.store(&name)?, move |transaction| {
        claim::delete(transaction, &its, why.as_deref()).map_err(|error| of_change(&whose, error))
    })?;
    changed(&name, &id, done)
}

/// Adds the accessions that a record cites.
pub fn cited(record: &Record, accessions: &mut BTreeSet<String>) {
    let entities = record.get("entities").and_then(Value::as_array).into_iter().flatten();
    let names = entities.filter_map(Value::as_str).filter(|name| is_accession(name));
    accessions.extend(names.map(str::to_owned));
}

/// The accessions that the live claims cite.
///
/// # Errors
/// What the pack says.
pub fn accessions(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let mut found = BTreeSet::new();
    if let Some(snapshot) = desk.snapshot(&name)? {
        for place in snapshot.shown(&View::now(desk.clock.now())) {
            cited(&snapshot.record(place)?, &mut found);
        }
    }
    Ok(json!({ "workspace": name, "accessions": found }))
}

/// The live claims that cite one accession.
///
/// # Errors
/// What the pack says.
pub fn citers(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let accession = given.need("accession")?;
    let mut atoms = Vec::new();
    if let Some(snapshot) = desk.snapshot(&name)? {
        for place in snapshot.shown(&View::now(desk.clock.now())) {
            let record = snapshot.record(place)?;
            let mut its = BTreeSet::new();
            cited(&record, &mut its);
            if its.contains(&accession) {
                atoms.push(claim::shown(record));
            }
        }
    }
    Ok(json!({ "workspace": name, "accession": accession, "atoms": atoms }))
}
