//! One generation of a workspace, open for reading: its manifest and its segments.
//!
//! A snapshot never changes, takes no lock and stays readable after its files were merged away.
//! Which version of a record is visible is decided here and nowhere else.
//!
//! Not here: ranking (`crate::search`), writing (`super::store`).

use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use packset_segments::manifest::{CountEntry, Hex, Manifest, SpaceEntry};
use packset_segments::{Flags, NULL, Reason, Segment, Space, tag};

use super::record::{self, Record};
use crate::time::Micros;

/// A row of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Which segment, oldest first.
    pub segment: u32,
    /// Which row of it.
    pub row: u32,
}

/// A point in the pack's two times: what it knew, and when it must have been true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Versions recorded after this are unknown, microseconds.
    pub recorded: i64,
    /// The record must be valid at this time, microseconds.
    pub valid: i64,
    /// Whether a record that was first recorded later still shows its first version: what makes
    /// a backdated claim part of the past it speaks of.
    pub backdated: bool,
}

impl View {
    /// All that is known, valid now.
    pub fn now(now: Micros) -> Self {
        Self { recorded: i64::MAX - 1, valid: now.0, backdated: false }
    }

    /// The last version recorded by `at`, else the first, if valid at `at`.
    pub fn as_of(at: Micros) -> Self {
        Self { recorded: at.0, valid: at.0, backdated: true }
    }

    /// Only what was recorded by `known`, valid at `valid`.
    pub fn known_at(known: Micros, valid: Micros) -> Self {
        Self { recorded: known.0, valid: valid.0, backdated: false }
    }
}

/// An open generation.
#[derive(Debug)]
pub struct Snapshot {
    manifest: Manifest,
    segments: Vec<Segment>,
    /// Per segment: where newer segments end its rows.
    overlay: Vec<Endings>,
    numbers: HashMap<u128, u32>,
}

/// Questions that are answered from the lists of the newer segments before they are put together:
/// to look into the twenty lists of a usual store costs 1 us, to put ten thousand entries together
/// some 200 us. A verb that asks for a few claims never pays for the length of the history.
const ASKED: u32 = 64;

/// Where newer segments end the rows of one segment.
#[derive(Debug, Default)]
struct Endings {
    /// Newer segments, and the ranges of their overlays that speak of this one.
    lists: Vec<(u32, Range<u32>)>,
    asked: AtomicU32,
    /// All entries by row, once many have asked.
    together: OnceLock<Vec<(u32, i64, Reason)>>,
}

impl Endings {
    fn of(&self, row: u32, segments: &[Segment]) -> Option<(i64, Reason)> {
        if self.lists.is_empty() {
            return None;
        }
        if self.together.get().is_none() && self.asked.fetch_add(1, Ordering::Relaxed) < ASKED {
            return self.lists.iter().find_map(|(number, range)| {
                segments.get(*number as usize)?.overlay_end(range.clone(), row)
            });
        }
        let together = self.together.get_or_init(|| self.put_together(segments));
        let at = together.binary_search_by_key(&row, |(row, ..)| *row).ok()?;
        together.get(at).map(|(_, at, reason)| (*at, *reason))
    }

    fn put_together(&self, segments: &[Segment]) -> Vec<(u32, i64, Reason)> {
        let mut all = Vec::new();
        for (number, range) in &self.lists {
            if let Some(segment) = segments.get(*number as usize) {
                all.extend(segment.overlay_in(range.clone()));
            }
        }
        // Runs that are sorted already: this merges them.
        all.sort_by_key(|(row, ..)| *row);
        all
    }

    fn rows<'a>(&'a self, segments: &'a [Segment]) -> impl Iterator<Item = u32> + 'a {
        self.lists.iter().flat_map(|(number, range)| {
            let segment = segments.get(*number as usize);
            segment.into_iter().flat_map(|segment| segment.overlay_rows(range.clone()))
        })
    }
}

type Result<T> = std::result::Result<T, packset_segments::Error>;

impl Snapshot {
    /// Puts a snapshot together. The segments are those of the manifest, in its order.
    pub fn from_parts(manifest: Manifest, segments: Vec<Segment>) -> Self {
        let mut numbers = HashMap::with_capacity(segments.len());
        for (number, segment) in segments.iter().enumerate() {
            numbers.insert(segment.identity().segment, number as u32);
        }
        let mut overlay: Vec<Endings> = Vec::new();
        overlay.resize_with(segments.len(), Endings::default);
        for (newer, segment) in segments.iter().enumerate() {
            for (target, range) in segment.overlay_targets() {
                // A target that is gone was merged, and its ends were applied then.
                let target =
                    numbers.get(&target).and_then(|number| overlay.get_mut(*number as usize));
                if let Some(ends) = target {
                    ends.lists.push((newer as u32, range));
                }
            }
        }
        Self { manifest, segments, overlay, numbers }
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The workspace's name.
    pub fn name(&self) -> &str {
        &self.manifest.name
    }

    /// The segments, oldest first.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Live records and their tokens, by kind and corpus.
    pub fn counts(&self) -> Vec<CountEntry> {
        self.manifest.counts()
    }

    /// The segment of a place.
    ///
    /// # Panics
    /// Never for a place of this snapshot.
    pub fn segment(&self, place: Place) -> &Segment {
        &self.segments[place.segment as usize]
    }

    /// The number of a segment in this snapshot.
    pub fn number_of(&self, segment: u128) -> Option<u32> {
        self.numbers.get(&segment).copied()
    }

    /// Every row, oldest segment first.
    pub fn places(&self) -> impl Iterator<Item = Place> {
        self.segments.iter().enumerate().flat_map(|(segment, rows)| {
            (0..rows.rows()).map(move |row| Place { segment: segment as u32, row })
        })
    }

    /// When a row ended and what followed, if it has.
    pub fn end_of(&self, place: Place) -> Option<(i64, Reason)> {
        let overlay = self.overlay.get(place.segment as usize)?;
        let later = overlay.of(place.row, &self.segments);
        later.or_else(|| self.segment(place).end_of(place.row))
    }

    /// Rows of a segment that have ended, in no order.
    pub fn ended_rows(&self, segment: u32) -> impl Iterator<Item = u32> {
        let overlay = self.overlay.get(segment as usize).into_iter();
        let overlay = overlay.flat_map(|ends| ends.rows(&self.segments));
        let own = self.segments.get(segment as usize).into_iter().flat_map(Segment::ends);
        overlay.chain(own.map(|(row, ..)| row))
    }

    /// The same with what followed each.
    pub fn endings(&self, segment: u32) -> impl Iterator<Item = (u32, Reason)> {
        let overlay = self.overlay.get(segment as usize).into_iter();
        let lists = overlay.flat_map(|ends| &ends.lists);
        let overlay = lists.flat_map(|(number, range)| {
            let newer = self.segments.get(*number as usize).into_iter();
            newer.flat_map(|newer| newer.overlay_in(range.clone()))
        });
        let own = self.segments.get(segment as usize).into_iter().flat_map(Segment::ends);
        overlay.chain(own).map(|(row, _, reason)| (row, reason))
    }

    /// Whether the row is the version of its record that the view selects.
    fn selected(&self, place: Place, view: &View) -> bool {
        let segment = self.segment(place);
        let first = view.backdated && segment.flags(place.row).contains(Flags::FIRST);
        (first || segment.recorded(place.row) <= view.recorded)
            && self.end_of(place).is_none_or(|(at, _)| at > view.recorded)
    }

    /// Whether the version is neither a tombstone nor outside its window at the view.
    pub fn live(&self, place: Place, view: &View) -> bool {
        let segment = self.segment(place);
        let value = |tag| segment.column(tag).map_or(NULL, |column| column.get(place.row));
        let from = value(tag::VALID_FROM);
        !segment.flags(place.row).contains(Flags::TOMBSTONE)
            && (from == NULL || from <= view.valid)
            && value(tag::VALID_TO) > view.valid
    }

    /// Whether the row itself is what the view shows of its record.
    pub fn visible(&self, place: Place, view: &View) -> bool {
        self.selected(place, view) && self.live(place, view)
    }

    /// All versions of a record, oldest first. One binary search per segment that may hold it.
    pub fn versions(&self, key: u128) -> Vec<Place> {
        let mut places = Vec::new();
        for (number, (segment, entry)) in
            self.segments.iter().zip(&self.manifest.segments).enumerate()
        {
            if entry.ids.0 <= Hex(key) && Hex(key) <= entry.ids.1 {
                let rows = segment.rows_of(key);
                places.extend(rows.map(|row| Place { segment: number as u32, row }));
            }
        }
        // A merge may leave a version in the place of an older one whose text it took over.
        places.sort_by_key(|place| (self.segment(*place).recorded(place.row), *place));
        places
    }

    /// The version of a record that the view selects, live or not.
    pub fn version(&self, key: u128, view: &View) -> Option<Place> {
        self.versions(key).into_iter().rfind(|place| self.selected(*place, view))
    }

    /// The newest version of a record, live or not.
    pub fn current(&self, key: u128) -> Option<Place> {
        self.versions(key).into_iter().rfind(|place| self.end_of(*place).is_none())
    }

    /// For a row that owns a text: the version of its record that the view shows with that text.
    /// Costs a lookup only if the row itself is not it.
    pub fn resolve(&self, owner: Place, view: &View) -> Option<Place> {
        if self.selected(owner, view) {
            return self.live(owner, view).then_some(owner);
        }
        let segment = self.segment(owner);
        let shared = segment.flags(owner.row).contains(Flags::SHARED)
            || self.end_of(owner).is_some_and(|(_, reason)| reason == Reason::Continued);
        if !shared {
            return None;
        }
        let version = self.version(segment.id(owner.row)?, view)?;
        let same = self.live(version, view) && self.text_owner(version) == Some(owner);
        same.then_some(version)
    }

    /// The row whose text a version shows; none if its record has no text.
    pub fn text_owner(&self, version: Place) -> Option<Place> {
        let mut at = version;
        loop {
            let segment = self.segment(at);
            if let Some(row) = segment.owner(at.row) {
                return Some(Place { row, ..at });
            }
            // It shares the text of the version before it: in its own segment, else in the
            // newest older one that knows the record.
            let id = segment.id(at.row)?;
            at = match segment.row_before(at.row) {
                Some(row) => Place { row, ..at },
                None => (0..at.segment).rev().find_map(|number| {
                    let entry = self.manifest.segments.get(number as usize)?;
                    let row = (entry.ids.0 <= Hex(id) && Hex(id) <= entry.ids.1)
                        .then(|| self.segments.get(number as usize)?.last_row_of(id))
                        .flatten()?;
                    Some(Place { segment: number, row })
                })?,
            };
        }
    }

    /// The text of a version.
    ///
    /// # Errors
    /// [`packset_segments::Error::Corrupt`].
    pub fn text(&self, version: Place) -> Result<&str> {
        match self.text_owner(version) {
            Some(owner) => self.segment(owner).text(owner.row),
            None => Ok(""),
        }
    }

    /// The record of a version, as it was written.
    ///
    /// # Errors
    /// [`packset_segments::Error::Corrupt`].
    pub fn record(&self, version: Place) -> Result<Record> {
        let text = self.text(version)?;
        record::decode(self.segment(version), version.row, text, self.name())
    }

    /// Of the record of a version only some fields: the others are passed over unread.
    ///
    /// # Errors
    /// [`packset_segments::Error::Corrupt`].
    pub fn fields(&self, version: Place, wanted: &[&str]) -> Result<Record> {
        let text = if wanted.contains(&"text") { self.text(version)? } else { "" };
        record::decode_fields(self.segment(version), version.row, text, self.name(), wanted)
    }

    /// The generation whose commit wrote a version.
    pub fn generation_of(&self, place: Place) -> Option<u64> {
        let column = self.segment(place).column(record::GENERATION)?;
        u64::try_from(column.get(place.row)).ok().filter(|at| *at <= self.manifest.generation)
    }

    /// The records that a view shows, in the order in which they were first written.
    pub fn shown(&self, view: &View) -> impl Iterator<Item = Place> {
        self.places().filter(move |place| self.visible(*place, view))
    }

    /// The vector of a version's text in the space of a model, of length one, if it has one; of
    /// several models the one that was named last. The static table's is nobody's business.
    ///
    /// # Errors
    /// [`packset_segments::Error::Corrupt`].
    pub fn embedding(&self, version: Place) -> Result<Option<Vec<f32>>> {
        let own = crate::meaning::space().id;
        for entry in self.manifest.spaces.iter().rev().filter(|entry| entry.id.0 != own) {
            let Some(owner) = self.text_owner(version) else { return Ok(None) };
            let Some(vectors) = self.segment(owner).vectors(entry.id.0)? else { continue };
            let Some(place) = vectors.place(owner.row) else { continue };
            let (code, norm) = (vectors.code(place).unwrap_or_default(), vectors.norm(place));
            let numbers = code.iter().take(vectors.space().dims as usize);
            return Ok(Some(numbers.map(|byte| f32::from(*byte as i8) * norm).collect()));
        }
        Ok(None)
    }

    /// The texts of live records, mail apart, that have no vector in a space; each once.
    ///
    /// # Errors
    /// [`packset_segments::Error::Corrupt`].
    pub fn missing(&self, space: &SpaceEntry) -> Result<Vec<String>> {
        let mut missing = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for (number, segment) in self.segments.iter().enumerate() {
            let vectors = segment.vectors(space.id.0)?;
            for row in 0..segment.rows() {
                let place = Place { segment: number as u32, row };
                let replaced = self.end_of(place).is_some_and(|(_, why)| why == Reason::Replaced);
                if !segment.flags(row).contains(Flags::OWNER)
                    || replaced
                    || record::corpus(segment.kind(row)?) == record::MAIL
                    || vectors.is_some_and(|vectors| vectors.place(row).is_some())
                {
                    continue;
                }
                let text = segment.text(row)?;
                if !text.trim().is_empty() && seen.insert(text) {
                    missing.push(text.to_owned());
                }
            }
        }
        Ok(missing)
    }

    /// Whether some text has no vector in a space.
    ///
    /// # Errors
    /// [`packset_segments::Error::Corrupt`].
    pub fn lacks(&self, space: Space) -> Result<bool> {
        for segment in &self.segments {
            let owns = |row: &u32| segment.flags(*row).contains(Flags::OWNER);
            let texts = (0..segment.rows()).filter(owns).count();
            let vectors = segment.vectors(space.id)?.map_or(0, |vectors| vectors.len());
            if vectors < texts {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// In how many rows a term stands, ended ones included.
    pub fn frequency(&self, corpus: u8, term: &str) -> u64 {
        let key = term_key(corpus, term);
        let rows = |segment: &Segment| {
            let terms = segment.terms();
            terms.find(&key).map_or(0, |number| u64::from(terms.rows(number)))
        };
        self.segments.iter().map(rows).sum()
    }

    /// Current versions whose text holds at least `least` of the terms, each once. Costs a walk
    /// over the terms' lists.
    ///
    /// # Errors
    /// [`packset_segments::Error::Corrupt`] for a damaged list.
    pub fn holding(&self, corpus: u8, terms: &[&str], least: usize) -> Result<Vec<Place>> {
        let mut owners: Vec<Place> = Vec::new();
        for (number, segment) in self.segments.iter().enumerate() {
            let list = segment.terms();
            for term in terms {
                let Some(term) = list.find(&term_key(corpus, term)) else { continue };
                let mut take = |row, _| owners.push(Place { segment: number as u32, row });
                list.cursor(term)?
                    .walk(u32::MAX, &mut take)
                    .map_err(|_| segment.corrupt("postings", "a list that no writer made"))?;
            }
        }
        owners.sort_unstable();
        let runs = owners.chunk_by(|a, b| a == b).filter(|run| run.len() >= least);
        let current = |owner: Place| {
            if self.end_of(owner).is_none() {
                return Some(owner);
            }
            let version = self.current(self.segment(owner).id(owner.row)?)?;
            (self.text_owner(version) == Some(owner)).then_some(version)
        };
        Ok(runs.filter_map(|run| current(*run.first()?)).collect())
    }

    /// Current live versions that bear a key (a few may not: compare the records).
    pub fn with_key(&self, key: u64) -> impl Iterator<Item = Place> {
        self.segments.iter().enumerate().flat_map(move |(number, segment)| {
            let places =
                segment.rows_with_key(key).map(move |row| Place { segment: number as u32, row });
            places.filter(|place| self.end_of(*place).is_none())
        })
    }
}

fn term_key(corpus: u8, term: &str) -> Vec<u8> {
    let mut key = vec![corpus];
    key.extend_from_slice(term.as_bytes());
    key
}
