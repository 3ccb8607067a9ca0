//! The past of a workspace: every version of a record, what changed between two moments, and
//! taking a commit back.
//!
//! Cheap because versions are immutable: nothing here needs more than the columns that say when
//! a version was recorded and by which generation. Not here: which past is visible to a search
//! (`super::snapshot`).
//!
//! Invariants: undoing writes new versions, so that it can itself be undone; undoing an undo
//! gives back every record exactly as it was.

use std::collections::BTreeMap;

use serde_json::Value;

use super::record::{self, Record};
use super::snapshot::{Place, Snapshot, View};
use super::transaction::Transaction;
use super::{Error, Result};
use crate::time::Micros;

/// Field of a tombstone that an undo leaves: the generation that it took back.
const UNDONE: &str = "undone";

/// One version in a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// When it was recorded.
    pub recorded: Micros,
    /// The generation that wrote it.
    pub generation: Option<u64>,
    /// What it did to its record.
    pub change: Change,
    /// The record as this version has it.
    pub record: Record,
}

/// What a version did to its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The first version.
    Written,
    /// Another text.
    Reworded,
    /// The end of its validity.
    Closed,
    /// Other fields.
    Updated,
    /// A tombstone.
    Deleted,
    /// A live version after a tombstone.
    Restored,
}

impl Change {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::Reworded => "reworded",
            Self::Closed => "closed",
            Self::Updated => "updated",
            Self::Deleted => "deleted",
            Self::Restored => "restored",
        }
    }

    /// What turned `before` into `after`.
    pub fn between(before: Option<&Record>, after: &Record) -> Self {
        let Some(before) = before else {
            // The versions before a tombstone may have been dropped by a compaction.
            return if record::tombstone(after) { Self::Deleted } else { Self::Written };
        };
        match (record::tombstone(before), record::tombstone(after)) {
            (false, true) => Self::Deleted,
            (true, false) => Self::Restored,
            _ if before.get("text") != after.get("text") => Self::Reworded,
            _ if before.get("valid_to") != after.get("valid_to") => Self::Closed,
            _ => Self::Updated,
        }
    }
}

/// The versions of one record, oldest first.
///
/// # Errors
/// [`Error::Segment`] for damaged bytes.
pub fn of_record(snapshot: &Snapshot, id: &str) -> Result<Vec<Entry>> {
    let mut entries: Vec<Entry> = Vec::new();
    for place in snapshot.versions(record::key(id)) {
        let record = snapshot.record(place)?;
        if record::id(&record) == id {
            let change = Change::between(entries.last().map(|entry| &entry.record), &record);
            entries.push(entry(snapshot, place, change, record));
        }
    }
    Ok(entries)
}

/// All versions of a workspace, oldest first.
///
/// # Errors
/// [`Error::Segment`] for damaged bytes.
pub fn of_workspace(snapshot: &Snapshot) -> Result<Vec<Entry>> {
    let mut places: Vec<Place> = snapshot.places().collect();
    places.sort_by_key(|place| (snapshot.segment(*place).recorded(place.row), *place));
    let mut last: BTreeMap<u128, Record> = BTreeMap::new();
    let mut entries = Vec::with_capacity(places.len());
    for place in places {
        let record = snapshot.record(place)?;
        if record::is_note(record::kind(&record)) {
            continue;
        }
        let before = last.insert(record::key(record::id(&record)), record.clone());
        let change = Change::between(before.as_ref(), &record);
        entries.push(entry(snapshot, place, change, record));
    }
    Ok(entries)
}

fn entry(snapshot: &Snapshot, place: Place, change: Change, record: Record) -> Entry {
    Entry {
        recorded: Micros(snapshot.segment(place).recorded(place.row)),
        generation: snapshot.generation_of(place),
        change,
        record,
    }
}

/// A moment in a workspace's past: a generation, or a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// After the commit of this generation.
    Generation(u64),
    /// What was recorded by this time.
    Time(Micros),
}

impl Moment {
    /// Reads `g12` or a timestamp.
    pub fn parse(text: &str) -> Option<Self> {
        let generation = text.strip_prefix('g').and_then(|digits| digits.parse().ok());
        generation.map(Self::Generation).or_else(|| Micros::parse(text).map(Self::Time))
    }

    /// The view of it: what was recorded by then, whatever it was valid for.
    fn recorded(self, snapshot: &Snapshot) -> i64 {
        match self {
            Self::Time(time) => time.0,
            // Generations and recorded times rise together; a generation without rows (a
            // merge) stands at the commit before it.
            Self::Generation(generation) => snapshot
                .places()
                .filter(|place| snapshot.generation_of(*place).is_some_and(|at| at <= generation))
                .map(|place| snapshot.segment(place).recorded(place.row))
                .max()
                .unwrap_or(i64::MIN),
        }
    }
}

/// A record that differs between two moments; none where it did not exist.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// As it was.
    pub before: Option<Record>,
    /// As it became.
    pub after: Option<Record>,
}

/// What changed from one moment to another, by id. A deleted record counts as not existing.
///
/// # Errors
/// [`Error::Segment`] for damaged bytes.
pub fn difference(snapshot: &Snapshot, from: Moment, to: Moment) -> Result<Vec<Difference>> {
    let view =
        |moment: Moment| View { recorded: moment.recorded(snapshot), valid: 0, backdated: false };
    let (from, to) = (view(from), view(to));
    let (low, high) = (from.recorded.min(to.recorded), from.recorded.max(to.recorded));
    // Only records with a version recorded in between can differ.
    let mut keys: Vec<u128> = snapshot
        .places()
        .filter(|place| {
            let recorded = snapshot.segment(*place).recorded(place.row);
            low < recorded && recorded <= high
        })
        .filter_map(|place| snapshot.segment(place).id(place.row))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    let mut differences = Vec::new();
    for key in keys {
        let at = |view: &View| -> Result<Option<Record>> {
            let Some(place) = snapshot.version(key, view) else { return Ok(None) };
            let record = snapshot.record(place)?;
            let shown = !record::tombstone(&record) && !record::is_note(record::kind(&record));
            Ok(shown.then_some(record))
        };
        let (before, after) = (at(&from)?, at(&to)?);
        if before != after {
            differences.push(Difference { before, after });
        }
    }
    Ok(differences)
}

/// Why a commit cannot be taken back.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// No version bears that generation.
    #[error("there is no generation {0} to undo: it wrote nothing, or its history was dropped")]
    NoSuch(u64),
    /// A later commit changed a record again.
    #[error("generation {generation} cannot be undone: {id} was changed again since")]
    Changed {
        /// The generation.
        generation: u64,
        /// The first such record.
        id: String,
    },
    /// What it replaced is gone.
    #[error("generation {generation} cannot be undone: what it replaced in {id} was dropped")]
    Dropped {
        /// The generation.
        generation: u64,
        /// The first such record.
        id: String,
    },
    /// The pack failed.
    #[error(transparent)]
    Pack(#[from] Error),
}

/// Takes back what a generation did, the newest one that wrote anything if none is named.
/// `keys_of` gives the keys that a restored record is found by. Returns the generation and the
/// records as they are now.
///
/// # Errors
/// [`UndoError`]; nothing is put then.
pub fn undo(
    transaction: &mut Transaction<'_>,
    generation: Option<u64>,
    keys_of: impl Fn(&Record) -> Vec<u64>,
) -> std::result::Result<(u64, Vec<Record>), UndoError> {
    let snapshot = transaction.snapshot();
    let newest = || snapshot.places().filter_map(|place| snapshot.generation_of(place)).max();
    let generation = generation.or_else(newest).ok_or(UndoError::NoSuch(0))?;
    let places: Vec<Place> = snapshot
        .places()
        .filter(|place| snapshot.generation_of(*place) == Some(generation))
        .collect();
    if places.is_empty() {
        return Err(UndoError::NoSuch(generation));
    }
    let mut restored = Vec::with_capacity(places.len());
    for place in places {
        let current = snapshot.record(place).map_err(Error::from)?;
        if record::is_note(record::kind(&current)) {
            continue;
        }
        let id = record::id(&current).to_owned();
        if snapshot.end_of(place).is_some() {
            return Err(UndoError::Changed { generation, id });
        }
        let versions = snapshot.versions(record::key(&id));
        let before = versions.iter().rev().nth(1);
        let first = packset_segments::Flags::FIRST;
        let mut record = match before {
            Some(before) => snapshot.record(*before).map_err(Error::from)?,
            None if snapshot.segment(place).flags(place.row).contains(first) => {
                let mut record = current;
                record.insert("tombstone".into(), Value::Bool(true));
                record.insert(UNDONE.into(), generation.into());
                record
            }
            None => return Err(UndoError::Dropped { generation, id }),
        };
        if record::tombstone(&record) && before.is_none() {
            record.insert("updated".into(), transaction.now().format_ms().into());
        }
        restored.push(record);
    }
    for record in &restored {
        let keys = if record::tombstone(record) { Vec::new() } else { keys_of(record) };
        transaction.put(record.clone(), keys)?;
    }
    Ok((generation, restored))
}
