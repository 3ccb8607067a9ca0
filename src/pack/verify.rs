//! Whether a workspace is whole: every byte of every file, and what the files say of each other.
//!
//! Reads everything and changes nothing; takes no lock. What [`packset_segments::check`] proves
//! of one segment is joined here: version chains, shared texts, live counts, frequencies.
//!
//! Not here: mending. A damaged file is named, and what to do about it is said by the verb.

use std::collections::HashMap;

use packset_segments::manifest::{CountEntry, SegmentEntry};
use packset_segments::{Flags, KEYWORDS, check};

use super::record;
use super::snapshot::{Place, Snapshot};
use super::store::Store;
use super::{Error, Result};

/// What a verification found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The generation that was read.
    pub generation: u64,
    /// Segments read.
    pub segments: usize,
    /// Bytes read.
    pub bytes: u64,
    /// Versions read.
    pub versions: u64,
    /// What is wrong, one line each; empty if the workspace is whole.
    pub problems: Vec<String>,
}

impl Store {
    /// Verifies the newest generation; none if there is no such workspace.
    ///
    /// # Errors
    /// Only what keeps it from reading at all; damage is in the report.
    pub fn verify(&self) -> Result<Option<Report>> {
        let snapshot = match self.snapshot() {
            Ok(Some(snapshot)) => snapshot,
            Ok(None) => return Ok(None),
            Err(Error::Segment(error)) if error.io_kind().is_none() => {
                let problems = vec![error.to_string()];
                return Ok(Some(Report { problems, ..Report::default() }));
            }
            Err(error) => return Err(error),
        };
        Ok(Some(verify(&snapshot)))
    }
}

/// Verifies an open snapshot.
pub fn verify(snapshot: &Snapshot) -> Report {
    let mut report = Report {
        generation: snapshot.manifest().generation,
        segments: snapshot.segments().len(),
        ..Report::default()
    };
    for segment in snapshot.segments() {
        report.bytes += segment.sealed().len;
        report.versions += u64::from(segment.rows());
        if let Err(error) = check::check(segment) {
            report.problems.push(error.to_string());
        }
    }
    // Files that are damaged by themselves would only be reported again, less clearly.
    if report.problems.is_empty()
        && let Err(error) = together(snapshot, &mut report.problems)
    {
        report.problems.push(error.to_string());
    }
    report
}

type Check = std::result::Result<(), packset_segments::Error>;

fn together(snapshot: &Snapshot, problems: &mut Vec<String>) -> Check {
    for (segment, entry) in snapshot.segments().iter().zip(&snapshot.manifest().segments) {
        let counts: Vec<CountEntry> = segment
            .counts()?
            .into_iter()
            .map(|count| CountEntry(count.kind, count.corpus, count.live, count.tokens))
            .collect();
        let overlay = segment.overlay().count() as u32;
        if counts != entry.counts || overlay != entry.overlay || !within(segment, entry) {
            problems.push(format!("{}: the manifest says otherwise", segment.path().display()));
        }
    }
    chains(snapshot, problems)?;
    frequencies(snapshot, problems)
}

fn within(segment: &packset_segments::Segment, entry: &SegmentEntry) -> bool {
    (0..segment.rows()).all(|row| {
        let id = segment.id(row).unwrap_or_default();
        let at = segment.recorded(row);
        (entry.ids.0.0..=entry.ids.1.0).contains(&id)
            && (entry.recorded.0..=entry.recorded.1).contains(&at)
    })
}

/// Each record has one version without an end, each end is where the next version starts, and
/// every version gives its record back.
fn chains(snapshot: &Snapshot, problems: &mut Vec<String>) -> Check {
    let mut by_id: HashMap<u128, Vec<Place>> = HashMap::new();
    for place in snapshot.places() {
        let id = snapshot.segment(place).id(place.row).unwrap_or_default();
        by_id.entry(id).or_default().push(place);
    }
    for (id, mut places) in by_id {
        let recorded = |place: &Place| snapshot.segment(*place).recorded(place.row);
        places.sort_by_key(|place| (recorded(place), *place));
        let mut say = |what: &str| problems.push(format!("record {id:032x}: {what}"));
        let ends: Vec<_> = places.iter().map(|place| snapshot.end_of(*place)).collect();
        if ends.iter().filter(|end| end.is_none()).count() != 1 {
            say("it has not exactly one current version");
        }
        for (pair, end) in places.windows(2).zip(&ends) {
            let [_, next] = pair else { continue };
            if end.map(|(at, _)| at) != Some(recorded(next)) {
                say("a version does not end where the next one starts");
            }
        }
        let first =
            |place: &Place| snapshot.segment(*place).flags(place.row).contains(Flags::FIRST);
        if !places.first().is_some_and(first) || places.iter().filter(|p| first(p)).count() != 1 {
            say("its first version is not marked, or another one is");
        }
        for place in &places {
            let record = snapshot.record(*place)?;
            if record::key(record::id(&record)) != id {
                say("its id is not the one in its record");
            }
        }
    }
    Ok(())
}

/// The sums of live counts and live document frequencies are those of the records that count.
fn frequencies(snapshot: &Snapshot, problems: &mut Vec<String>) -> Check {
    let mut counted: Vec<Vec<bool>> =
        snapshot.segments().iter().map(|s| vec![false; s.rows() as usize]).collect();
    let mut kinds: HashMap<String, i64> = HashMap::new();
    for place in snapshot.places() {
        let segment = snapshot.segment(place);
        if snapshot.end_of(place).is_none() && segment.flags(place.row).contains(Flags::COUNTED) {
            *kinds.entry(segment.kind(place.row)?.to_owned()).or_default() += 1;
            if let Some(owner) = snapshot.text_owner(place)
                && let Some(slot) = counted
                    .get_mut(owner.segment as usize)
                    .and_then(|rows| rows.get_mut(owner.row as usize))
            {
                *slot = true;
            }
        }
    }
    let mut said: HashMap<String, i64> = HashMap::new();
    for CountEntry(kind, _, live, _) in snapshot.counts() {
        *said.entry(kind).or_default() += live;
    }
    said.retain(|_, live| *live != 0);
    if said != kinds {
        problems.push("the live counts are not those of the records".into());
    }
    let mut balance: HashMap<Vec<u8>, i64> = HashMap::new();
    for (segment, counted) in snapshot.segments().iter().zip(&counted) {
        let terms = segment.terms();
        for number in 0..terms.len() {
            let term = terms.term(number);
            let mut live = -terms.live(number);
            terms
                .cursor(number)?
                .walk(u32::MAX, |row, _| {
                    live += i64::from(counted.get(row as usize) == Some(&true));
                })
                .map_err(|_| segment.corrupt("postings", "a list that no writer made"))?;
            if term.first() != Some(&KEYWORDS) && live != 0 {
                *balance.entry(term.to_vec()).or_default() += live;
            }
        }
    }
    if balance.values().any(|balance| *balance != 0) {
        problems.push("a live document frequency is not that of the records".into());
    }
    Ok(())
}
