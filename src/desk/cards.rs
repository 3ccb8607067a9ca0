//! The cards, the pin, the pack as one document, and the body held for the next turn.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Desk, Given, atoms};
use crate::cards::{self, Attachment, Card, SetName};
use crate::claim::mining;
use crate::cli::{Failure, FailureKind};
use crate::pack::record::{self, Record};
use crate::pack::{Snapshot, Store, View};

fn set(given: &Given, name: &str) -> Result<Option<SetName>, Failure> {
    Ok(given.text(name).map(|name| SetName::new(&name)).transpose()?)
}

/// The cards of a set, or those of the pack and the workspace, each with its text.
fn texts(
    desk: &Desk,
    snapshot: Option<&Snapshot>,
    set: Option<&SetName>,
) -> Result<Vec<(Card, String)>, Failure> {
    let mut texts = Vec::with_capacity(Card::ALL.len());
    for card in Card::ALL {
        let text = if cards::is_of_pack(card, set) {
            let pack = desk.snapshot_of(&desk.pack_store()?)?;
            cards::read(pack.as_deref(), card, set)?
        } else if card == Card::Instructions && set.is_none() {
            continue;
        } else {
            cards::read(snapshot, card, set)?
        };
        texts.push((card, text));
    }
    Ok(texts)
}

/// The cards and claims of a set, or the cards of pack and workspace with all claims; without
/// `claims` the cards alone.
fn document(
    desk: &Desk,
    name: &str,
    set: Option<&SetName>,
    claims: bool,
) -> Result<Value, Failure> {
    let snapshot: Option<Arc<Snapshot>> = desk.snapshot(name)?;
    let mut document = Record::new();
    document.insert("workspace".into(), name.into());
    if let Some(set) = set {
        document.insert("set".into(), set.as_str().into());
    }
    let texts = texts(desk, snapshot.as_deref(), set)?;
    document.extend(texts.into_iter().map(|(card, text)| (card.name().to_owned(), text.into())));
    if claims {
        let mut claims: Vec<Value> = Vec::new();
        if let Some(snapshot) = &snapshot {
            atoms::each(snapshot, &View::now(desk.clock.now()), None, |place, record| {
                let record = atoms::whole(snapshot, place, record)?;
                if set.is_none_or(|set| record::string(&record, "set") == Some(set.as_str())) {
                    claims.push(Value::Object(record));
                }
                Ok(())
            })?;
        }
        document.insert("atoms".into(), claims.into());
    }
    Ok(document.into())
}

/// The cards and the claims as one document; `atoms=omit` leaves the claims out.
///
/// # Errors
/// A set name that is none, or what the pack says.
pub fn pack(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let claims = given.text("atoms").as_deref() != Some("omit");
    document(desk, &name, set(&given, "set")?.as_ref(), claims)
}

/// A set's cards and claims.
///
/// # Errors
/// As [`pack`].
pub fn read_set(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let set = SetName::new(&given.need("name").or_else(|_| given.need("set"))?)?;
    document(desk, &name, Some(&set), true)
}

/// Writes cards of a set: all that are named in one commit, or none.
///
/// # Errors
/// A name or a text that may not be stored, or what the pack says.
pub fn write_set(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let set = SetName::new(&given.need("name").or_else(|_| given.need("set"))?)?;
    let named: Vec<(Card, String)> = Card::ALL
        .into_iter()
        .filter_map(|card| Some((card, given.whole_text(card.name())?)))
        .collect();
    if !named.is_empty() {
        let (its, store) = (set.clone(), desk.store(&name)?);
        let texts = named.clone();
        let done = desk.commit(&store, move |transaction| {
            for (card, text) in texts {
                cards::write(transaction, card, Some(&its), &text)?;
            }
            Ok(())
        });
        if let Err(failure) = done {
            for (card, text) in named {
                archive(desk, &store, card, Some(set.clone()), text, &failure)?;
            }
            return Err(failure);
        }
    }
    document(desk, &name, Some(&set), true)
}

/// Keeps for mining what a card was too short to take.
fn archive(
    desk: &Desk,
    store: &Store,
    card: Card,
    set: Option<SetName>,
    text: String,
    why: &Failure,
) -> Result<(), Failure> {
    if why.kind == FailureKind::Long && text.chars().count() > card.limit() {
        desk.commit(store, move |transaction| {
            Ok(mining::archive(transaction, card, set.as_ref(), &text)?)
        })?;
    }
    Ok(())
}

fn write(desk: &Desk, store: &Store, card: Card, given: &Given) -> Result<Value, Failure> {
    let text = given.whole_text("text").unwrap_or_default();
    let clears = text.trim().is_empty();
    let whole = text.clone();
    let work = move |transaction: &mut crate::pack::Transaction<'_>| {
        Ok(cards::write(transaction, card, None, &text)?)
    };
    let done = match clears {
        // Where nothing is, there is nothing to clear.
        true => desk.commit_existing(store, work)?,
        false => match desk.commit(store, work) {
            Ok(done) => Some(done),
            Err(failure) => {
                archive(desk, store, card, None, whole, &failure)?;
                return Err(failure);
            }
        },
    };
    let (has, committed) = done.unwrap_or_default();
    Ok(json!({
        "ok": true,
        "card": card.name(),
        "characters": has,
        "limit": card.limit(),
        "generation": atoms::generation(committed),
    }))
}

/// The seat's own card.
///
/// # Errors
/// What the pack says.
pub fn read_user(desk: &Desk, _: Given) -> Result<Value, Failure> {
    let pack = desk.snapshot_of(&desk.pack_store()?)?;
    let text = cards::read(pack.as_deref(), Card::User, None)?;
    Ok(json!({ "card": Card::User.name(), "text": text, "limit": Card::User.limit() }))
}

/// Writes the seat's own card, or clears it.
///
/// # Errors
/// A text that may not be stored, or what the pack says.
pub fn write_user(desk: &Desk, given: Given) -> Result<Value, Failure> {
    write(desk, &desk.pack_store()?, Card::User, &given)
}

/// The workspace's card.
///
/// # Errors
/// What the pack says.
pub fn read_memory(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let text = cards::read(desk.snapshot(&name)?.as_deref(), Card::Memory, None)?;
    let limit = Card::Memory.limit();
    Ok(json!({ "workspace": name, "card": Card::Memory.name(), "text": text, "limit": limit }))
}

/// Writes the workspace's card, or clears it.
///
/// # Errors
/// As [`write_user`].
pub fn write_memory(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let mut answer = write(desk, &desk.store(&name)?, Card::Memory, &given)?;
    answer["workspace"] = name.into();
    Ok(answer)
}

/// The pinned set and its instructions.
///
/// # Errors
/// What the pack says.
pub fn pinned(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let snapshot = desk.snapshot(&name)?;
    let set = cards::pinned(snapshot.as_deref())?;
    let instructions = match &set {
        Some(_) => cards::read(snapshot.as_deref(), Card::Instructions, set.as_ref())?,
        None => String::new(),
    };
    Ok(json!({
        "workspace": name,
        "set": set.as_ref().map_or("", SetName::as_str),
        "instructions": instructions,
    }))
}

/// Pins a set, or none.
///
/// # Errors
/// A set name that is none, or what the pack says.
pub fn pin(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let set = set(&given, "set")?;
    let store = desk.store(&name)?;
    match set.clone() {
        None => {
            desk.commit_existing(&store, |transaction| Ok(cards::pin(transaction, None)?))?;
        }
        Some(set) => {
            desk.commit(&store, move |transaction| Ok(cards::pin(transaction, Some(&set))?))?;
        }
    }
    Ok(json!({ "workspace": name, "set": set.as_ref().map_or("", SetName::as_str) }))
}

fn held(name: &str, held: Attachment) -> Value {
    let Attachment { text, label, until } = held;
    let until = (!until.is_empty()).then_some(until);
    json!({ "workspace": name, "text": text, "label": label, "until": until })
}

/// Holds one body for the next turn; an empty one clears the place.
///
/// # Errors
/// A body that may not be held, or what the pack says.
pub fn attach(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    // A path is not read: a writer would read for its client what the client may not.
    let Some(text) = given.whole_text("text") else { return Err(required_text()) };
    let label = given.text("label").unwrap_or_default();
    let (body, _) = desk.commit(&desk.store(&name)?, move |transaction| {
        Ok(cards::attach(transaction, &text, &label)?)
    })?;
    Ok(held(&name, body))
}

fn required_text() -> Failure {
    Failure::new(FailureKind::Refused, "text required")
}

/// The body that is held for the next turn. It is taken, unless `peek` asks to leave it.
///
/// # Errors
/// What the pack says.
pub fn attached(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let store = desk.store(&name)?;
    let body = if given.flag("peek") {
        cards::attached(desk.snapshot_of(&store)?.as_deref(), desk.clock.now())?
    } else {
        let taken = desk.commit_existing(&store, |transaction| Ok(cards::take(transaction)?))?;
        taken.and_then(|(taken, _)| taken)
    };
    Ok(held(&name, body.unwrap_or_default()))
}
