//! Writing a claim, and changing one: what is decided about it under the store's lock.
//!
//! Every front door writes claims through [`write()`], so that a rule stands here once. What can be
//! decided about a claim alone is in [`crate::atom`], what it does to others in
//! [`settle`]. Not here: how bytes reach the disk.
//!
//! Invariants: one live claim per duplicate key; a deleted id is never used again; the answer is
//! always the record as it is stored.

pub mod linking;
pub mod mining;
pub mod network;
pub mod proposals;
pub mod recall;
pub mod settle;
pub mod upkeep;

pub use linking::link_unlinked;
pub use upkeep::{Sweep, allow, keep_cap, open_day, overdue, sweep};

use std::collections::BTreeMap;

use serde_json::Value;

use crate::atom::{
    self, Kind, NotMerged, Prose, Reading, Refusal, Rise, absorb, admit, inherit, is_accession,
    is_live, prose_report, same_key, shortened, stamp, unsafe_text,
};
use crate::graph::{Edges, topics};
use crate::pack::history::{self, UndoError};
use crate::pack::record::{self, Record};
use crate::pack::{self, Prepared, Transaction, View};
use crate::review;
use crate::text::Tokenizer;
use crate::time::Micros;

/// What became of a claim.
#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    /// It was stored.
    Stored(Record),
    /// A live claim already says the same; this is it, with what else the repeat brought.
    Known(Record),
}

impl Written {
    /// The record as it is stored.
    pub fn record(&self) -> &Record {
        match self {
            Self::Stored(record) | Self::Known(record) => record,
        }
    }
}

/// Why a claim was not written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The claim itself is refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Its id belonged to a claim that was deleted.
    #[error("id {} is retired: its claim was deleted", shortened(.0))]
    Retired(String),
    /// Its id is that of a record which is no claim, and which it may not write over.
    #[error("id {} belongs to a record that is no claim", shortened(.0))]
    Taken(String),
    /// There is no such claim that could be changed.
    #[error("no current atom {}", shortened(.0))]
    NoCurrent(String),
    /// `why` is no accession.
    #[error(
        "{} is not an accession: deed- or sha256: and a name without blanks or commas",
        shortened(.0)
    )]
    NotAccession(String),
    /// What an update would make of a claim is not let in.
    #[error(transparent)]
    NotMerged(#[from] NotMerged),
    /// An update would say what another live claim says.
    #[error("atom {0} says the same already")]
    Repeats(String),
    /// It would raise where the live claim with its id comes from.
    #[error(transparent)]
    Rise(#[from] Rise),
    /// The pack failed.
    #[error(transparent)]
    Pack(#[from] pack::Error),
}

/// Checks a claim, gives it what the writer adds, and works out all that needs no lock.
///
/// # Errors
/// The first rule it breaks.
pub fn prepare(
    claim: &mut Record,
    workspace: &str,
    id: String,
    now: Micros,
    tokenizer: &mut Tokenizer,
) -> Result<Prepared, Refusal> {
    admit(claim, workspace)?;
    stamp(claim, id, now);
    Ok(Prepared::new(claim, settle::keys(claim), workspace, tokenizer))
}

/// Writes a prepared claim, settles it among the others ([`settle::settle`]), sweeps if it is the
/// first of the day ([`open_day`]), and returns it as it is stored. A live claim that says the
/// same takes in what else this one brings, and is returned.
///
/// # Errors
/// [`Error::Retired`], [`Error::Taken`], [`Error::Rise`], or what the pack says.
pub fn write(transaction: &mut Transaction<'_>, claim: Prepared) -> Result<Written, Error> {
    settled(transaction, claim, inherit)
}

/// As [`write()`] for a claim that a person has just accepted: it may stand higher than the claim
/// whose id it bears.
fn write_accepted(transaction: &mut Transaction<'_>, claim: Prepared) -> Result<Written, Error> {
    settled(transaction, claim, |_, _| Ok(()))
}

fn settled(
    transaction: &mut Transaction<'_>,
    claim: Prepared,
    follow: Follow,
) -> Result<Written, Error> {
    let id = claim.id().to_owned();
    let written = match enter(transaction, claim, follow)? {
        Entered::Known(same) => return Ok(Written::Known(same)),
        Entered::Grown(same) => Written::Known(settle::settle(transaction, record::id(&same))?),
        Entered::Stored => Written::Stored(settle::settle(transaction, &id)?),
    };
    open_day(transaction);
    Ok(written)
}

/// As [`write()`], and keeps the workspace under its live cap; returns also how many claims that
/// forgot, which an answer says as `forgot` and no record holds. `cap` is `PACKSET_LIVE_CAP` as
/// [`review::parse_live_cap`] read it.
///
/// # Errors
/// As [`write()`].
pub fn write_under(
    transaction: &mut Transaction<'_>,
    claim: Prepared,
    cap: Option<usize>,
) -> Result<(Written, u64), Error> {
    let written = write(transaction, claim)?;
    let forgot = match written {
        Written::Stored(_) => keep_cap(transaction, cap),
        Written::Known(_) => 0,
    };
    Ok((written, forgot))
}

/// Writes a prepared claim, unless a live one says the same: then that one is returned, with what
/// else this one brings. Closes nothing, links nothing and sweeps nothing.
///
/// # Errors
/// As [`write()`].
pub fn put(transaction: &mut Transaction<'_>, claim: Prepared) -> Result<Option<Record>, Error> {
    Ok(match enter(transaction, claim, inherit)? {
        Entered::Stored => None,
        Entered::Known(same) | Entered::Grown(same) => Some(same),
    })
}

/// What became of a claim that was put.
enum Entered {
    /// It is new, or a new version of its id.
    Stored,
    /// A live claim says all of it already.
    Known(Record),
    /// A live claim says the same, and took in what was new.
    Grown(Record),
}

/// How a claim may follow the live one whose id it bears.
type Follow = fn(&Record, &mut Record) -> Result<(), Rise>;

fn enter(
    transaction: &mut Transaction<'_>,
    claim: Prepared,
    follow: Follow,
) -> Result<Entered, Error> {
    let known = transaction.get(claim.id())?;
    if known.as_ref().is_some_and(record::tombstone) {
        return Err(Error::Retired(claim.id().to_owned()));
    }
    if known.as_ref().is_some_and(|known| Kind::of(known).is_none()) {
        return Err(Error::Taken(claim.id().to_owned()));
    }
    let name = transaction.snapshot().name();
    if let Some(mut same) = same_as(transaction, claim.keys(), || claim.record(name))? {
        if !absorb(&mut same, &claim.record(name), transaction.now()) {
            return Ok(Entered::Known(same));
        }
        put_again(transaction, &same)?;
        return Ok(Entered::Grown(same));
    }
    let Some(known) = known else {
        transaction.put_prepared(claim)?;
        return Ok(Entered::Stored);
    };
    let mut record = claim.record(name);
    // Links belong to the graph, not to whoever writes: their other ends still name this claim.
    for field in ["links", "link_weights", "link_weights_by"] {
        if let Some(value) = known.get(field) {
            record.insert(field.to_owned(), value.clone());
        }
    }
    // Mail that repeats is kept, but not the same letter twice: an import may be run again.
    if unstamped(known.clone()) == unstamped(record.clone()) {
        return Ok(Entered::Known(known));
    }
    follow(&known, &mut record)?;
    // A rewrite under a live id replaces the record, but not when it was first written.
    if let Some(ts) = known.get("ts") {
        record.insert("ts".into(), ts.clone());
    }
    transaction.put_prepared(claim.again(&record, name))?;
    Ok(Entered::Stored)
}

/// A record without what a write stamps on it whatever it brings.
fn unstamped(mut record: Record) -> Record {
    let ts = record.shift_remove("ts");
    record.shift_remove("updated");
    if record.get("valid_from") == ts.as_ref() {
        record.shift_remove("valid_from");
    }
    record
}

/// The live claim that says what a record with these keys says. Of the keys only the first is
/// that of repeats ([`settle::keys`]); the others find claims that are merely near. The record
/// itself is made only if something bears the key.
fn same_as(
    transaction: &Transaction<'_>,
    keys: &[u64],
    record: impl FnOnce() -> Record,
) -> Result<Option<Record>, pack::Error> {
    let Some(key) = keys.first() else { return Ok(None) };
    let others = transaction.with_key(*key)?;
    if others.is_empty() {
        return Ok(None);
    }
    let now = transaction.now();
    let wanted = same_key(&record());
    let same = |other: &Record| is_live(other, now) && same_key(other) == wanted;
    Ok(others.into_iter().find(|other| wanted.is_some() && same(other)))
}

/// Withdraws a claim: a version that says so, with the deed that withdrew it.
///
/// # Errors
/// [`Error::NoCurrent`] unless there is such a claim, [`Error::NotAccession`], or the pack's.
pub fn delete(
    transaction: &mut Transaction<'_>,
    id: &str,
    why: Option<&str>,
) -> Result<Record, Error> {
    if let Some(why) = why.filter(|why| !is_accession(why)) {
        return Err(Error::NotAccession(why.to_owned()));
    }
    if let Some(kind) = why.and_then(unsafe_text) {
        return Err(Refusal::Unsafe { field: "why".into(), kind }.into());
    }
    let current = transaction.get(id)?.filter(|record| !record::tombstone(record));
    let Some(mut record) = current else { return Err(Error::NoCurrent(id.to_owned())) };
    record.insert("tombstone".into(), Value::Bool(true));
    if let Some(why) = why {
        record.insert("retracted_by".into(), why.into());
    }
    record.insert("updated".into(), transaction.now().format_ms().into());
    transaction.put(record.clone(), Vec::new())?;
    Ok(record)
}

/// The live claim with an id.
///
/// # Errors
/// [`Error::NoCurrent`] unless there is one, or the pack's.
fn current(transaction: &Transaction<'_>, id: &str) -> Result<Record, Error> {
    let now = transaction.now();
    let live = |record: &Record| Kind::of(record).is_some() && is_live(record, now);
    transaction.get(id)?.filter(live).ok_or_else(|| Error::NoCurrent(id.to_owned()))
}

/// Puts a new version of a claim, found by the same keys as a first one.
fn put_again(transaction: &mut Transaction<'_>, record: &Record) -> Result<(), pack::Error> {
    transaction.put(record.clone(), keys(record))
}

/// The hashes by which a version is found: a tombstone by none.
pub fn keys(record: &Record) -> Vec<u64> {
    if record::tombstone(record) { Vec::new() } else { settle::keys(record) }
}

/// Takes back what a generation did, the newest one that wrote anything if none is named
/// ([`history::undo`]). A link of a claim that comes back goes if its other end no longer names
/// it.
///
/// # Errors
/// As [`history::undo`].
pub fn undo(
    transaction: &mut Transaction<'_>,
    generation: Option<u64>,
) -> Result<(u64, Vec<Record>), UndoError> {
    let (generation, mut restored) = history::undo(transaction, generation, keys)?;
    let now = transaction.now();
    for record in &mut restored {
        let live = Kind::of(record).is_some() && is_live(record, now);
        let mut lost = Vec::new();
        for link in Edges::of(record).links().iter().filter(|_| live) {
            let peer = transaction.get(link)?.filter(|peer| is_live(peer, now));
            if peer.is_some_and(|peer| !Edges::of(&peer).has(record::id(record))) {
                lost.push(link.clone());
            }
        }
        if !lost.is_empty() {
            let mut edges = Edges::of(record);
            lost.iter().for_each(|link| edges.remove(link));
            settle::write_edges(&edges, record);
            put_again(transaction, record)?;
        }
    }
    Ok((generation, restored))
}

/// Marks a claim's review as recalled or lapsed.
///
/// # Errors
/// As [`delete`].
pub fn grade(transaction: &mut Transaction<'_>, id: &str, recalled: bool) -> Result<Record, Error> {
    let mut record = current(transaction, id)?;
    review::grade(&mut record, recalled, transaction.now());
    put_again(transaction, &record)?;
    Ok(record)
}

/// Merges fields into a live claim; every check of a first write holds for the result.
///
/// # Errors
/// [`Error::NotMerged`] for what the result may not be, [`Error::Repeats`] when it would say what
/// another live claim says, or as [`delete`].
pub fn update(
    transaction: &mut Transaction<'_>,
    id: &str,
    fields: &Record,
) -> Result<Record, Error> {
    let live = current(transaction, id)?;
    let workspace = transaction.snapshot().name();
    let record = atom::update(&live, fields, workspace, transaction.now())?;
    let other = same_as(transaction, &keys(&record), || record.clone())?;
    if let Some(other) = other.filter(|other| record::id(other) != id) {
        return Err(Error::Repeats(record::id(&other).to_owned()));
    }
    put_again(transaction, &record)?;
    let settled = settle::settle(transaction, id)?;
    open_day(transaction);
    Ok(settled)
}

/// A pair that consolidation found: what is closed, and by what.
#[derive(Clone, Debug, PartialEq)]
pub struct Closed {
    /// The earlier claim.
    pub old: Record,
    /// The later one.
    pub new: Record,
}

/// Finds what later claims replace, over the whole live set; with `apply` closes it.
///
/// # Errors
/// The pack's.
pub fn consolidate(
    transaction: &mut Transaction<'_>,
    apply: bool,
) -> Result<(usize, Vec<Closed>), pack::Error> {
    let snapshot = transaction.snapshot();
    let now = transaction.now();
    let mut live = Vec::new();
    for place in snapshot.shown(&View::now(now)) {
        if Kind::named(snapshot.segment(place).kind(place.row)?).is_some() {
            live.push(snapshot.record(place)?);
        }
    }
    let topics: Vec<Vec<String>> = live.iter().map(topics::of).collect();
    let readings: Vec<Reading<'_>> = live
        .iter()
        .zip(&topics)
        .map(|(record, topics)| Reading::of(record, topics, topics::declared(record)))
        .collect();
    let pairs = atom::consolidate(&readings);
    drop(readings);
    let count = live.len();
    let mut closed: Vec<Closed> = Vec::with_capacity(pairs.len());
    let mut by_new: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for pair in &pairs {
        by_new.entry(pair.new).or_default().push(pair.old);
        closed.push(Closed { old: live[pair.old].clone(), new: live[pair.new].clone() });
    }
    if apply {
        for (new, olds) in by_new {
            let ids: Vec<String> =
                olds.iter().map(|old| record::id(&live[*old]).to_owned()).collect();
            for old in olds {
                atom::close(&mut live[old], now);
            }
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            atom::list_closed(&mut live[new], &ids, |_| true);
            live[new].insert("updated".into(), now.format_ms().into());
        }
        let mut touched: Vec<usize> = pairs.iter().flat_map(|pair| [pair.old, pair.new]).collect();
        touched.sort_unstable();
        touched.dedup();
        for at in touched {
            put_again(transaction, &live[at])?;
        }
        for pair in &closed {
            settle::unlist(transaction, record::id(&pair.new), &[record::id(&pair.old)])?;
        }
    }
    Ok((count, closed))
}

/// A record as an answer shows it: with what is derived from it and stored nowhere.
pub fn shown(mut record: Record) -> Record {
    if let Some(kind) = Kind::of(&record) {
        let text = record::string(&record, "text").unwrap_or_default();
        let prose = prose_report(kind, text);
        record.entry("links").or_insert_with(|| Value::Array(Vec::new()));
        record.insert("prose".into(), Value::Object(prose));
    }
    record
}

/// What a person should know about the prose of a claim that was stored all the same.
pub fn warning(record: &Record) -> Option<String> {
    let kind = Kind::of(record)?;
    let complaint = Prose::of(record::string(record, "text")?).complaint_for(kind);
    complaint.map(|complaint| complaint.to_string())
}
