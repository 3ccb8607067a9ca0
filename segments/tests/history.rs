//! A store in memory beside a plain model of it: what any merge must leave unchanged.
//!
//! Commits resolve versions as the store does (`src/pack/transaction.rs`): each ends the current
//! version of its record and shares its text if it is the same. Reading resolves texts as a
//! snapshot does (`src/pack/snapshot.rs`). The model knows neither segments nor sharing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use packset_segments::merge::{GONE, Moved, Plan, merge, rebuild};
use packset_segments::{
    Builder, Bytes, Ended, Flags, Identity, KEYWORDS, NULL, Reason, Row, Segment, Space, Text,
    check, key_of, tag,
};

use crate::samples::{STORE, T};

/// Numbers that look random and are the same in every run.
pub struct Lcg(u64);

impl Lcg {
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0xd1b5_4a32_d192_ed03);
        random.below(1);
        random
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound
    }

    pub fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }
}

/// One version of a record, as its writer meant it.
#[derive(Clone, Debug, PartialEq)]
pub struct Version {
    recorded: i64,
    end: Option<(i64, Reason)>,
    flags: Flags,
    kind: &'static str,
    shape: Vec<u8>,
    rest: Vec<u8>,
    valid_to: i64,
    columns: Vec<i64>,
    /// None: the record has no text at all.
    text: Option<String>,
}

const TAGS: [u16; 3] = [tag::DECLARED, tag::DECLARED + 1, tag::DECLARED + 7];
const KINDS: [(&str, u8); 4] = [("lesson", 1), ("decision", 1), ("mail", 2), ("lease", 3)];

fn corpus_of(kind: &str) -> u8 {
    KINDS.iter().find(|(name, _)| *name == kind).unwrap().1
}

fn terms_of(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

fn keywords_of(text: &str) -> Vec<String> {
    text.split_whitespace().next().map(|word| format!("first={word}")).into_iter().collect()
}

/// A row of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    segment: usize,
    row: u32,
}

/// What became of a compaction beside writers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// It took the place of what it merged.
    Adopted,
    /// It was thrown away because a later version continues one that lost its text.
    Missed,
    /// As `Missed`, and a text would really have been lost.
    Saved,
}

/// The store and its model.
#[derive(Default)]
pub struct History {
    pub segments: Vec<Segment>,
    pub model: BTreeMap<u128, Vec<Version>>,
    recorded: i64,
    named: u128,
}

fn reopen(segment: &Segment) -> Segment {
    Segment::parse(segment.path(), Bytes::copy_of(segment.bytes())).unwrap()
}

impl Clone for History {
    fn clone(&self) -> Self {
        Self {
            segments: self.segments.iter().map(reopen).collect(),
            model: self.model.clone(),
            ..*self
        }
    }
}

/// Two spaces: one in which every text has a code, one in which every other text has one.
const SPACES: [Space; 2] = [Space { id: 7, dims: 3 }, Space { id: 1 << 90, dims: 70 }];

/// The codes of a text, from its bytes alone.
fn codes_of(text: &str) -> Vec<(Space, Vec<u8>)> {
    let sum = text.bytes().fold(0u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let code = |space: Space| {
        let numbers = (0..space.dims).map(|at| ((sum >> (at % 24)) as f32).sin());
        (space, space.code(&numbers.collect::<Vec<f32>>()))
    };
    let [every, some] = SPACES;
    std::iter::once(code(every)).chain((sum % 2 == 0).then(|| code(some))).collect()
}

/// Every text of a segment has the codes that it was written with, and no other row has any.
fn codes(segment: &Segment, what: &str) {
    for space in SPACES {
        let vectors = segment.vectors(space.id).unwrap();
        let mut count = 0;
        for row in 0..segment.rows() {
            let owns = segment.flags(row).contains(Flags::OWNER);
            let texts = codes_of(segment.text(row).unwrap()).into_iter();
            let mut wanted =
                texts.filter(|(found, _)| owns && *found == space).map(|(_, code)| code);
            let place = vectors.and_then(|vectors| vectors.place(row));
            let found = place.and_then(|place| vectors?.code(place)).map(<[u8]>::to_vec);
            assert_eq!(found, wanted.next(), "{what}: the code of row {row}");
            count += usize::from(place.is_some());
        }
        assert_eq!(vectors.map_or(0, |vectors| vectors.len()), count, "{what}");
    }
}

impl History {
    pub fn recorded(&self) -> i64 {
        self.recorded
    }

    fn identity(&mut self) -> Identity {
        self.named += 1;
        let segment = self.named.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        Identity { store: STORE, segment, born: self.named as u64 }
    }

    /// Commits one new version for each of some records, as one segment.
    pub fn commit(&mut self, random: &mut Lcg, records: usize, at_once: usize) {
        self.recorded = self.recorded.max(T) + 1 + random.below(3) as i64;
        let ids: BTreeSet<u128> =
            (0..at_once).map(|_| 1 + random.below(records) as u128 * 0x1234_5678_9abc).collect();
        let mut builder = Builder::new();
        for id in ids {
            let old = self.model.get(&id).and_then(|versions| versions.last()).cloned();
            let new = version(random, self.recorded, old.as_ref());
            self.put(&mut builder, id, old, new);
        }
        let identity = self.identity();
        let mut bytes = Vec::new();
        builder.finish(identity, &mut bytes).unwrap();
        self.segments.push(Segment::parse(Path::new("new.seg"), Bytes::copy_of(&bytes)).unwrap());
    }

    fn put(&mut self, builder: &mut Builder, id: u128, old: Option<Version>, mut new: Version) {
        let counted = new.flags.contains(Flags::COUNTED);
        let corpus = corpus_of(new.kind);
        let mut own = new.text.is_some();
        if let Some(old) = &old {
            let was = old.flags.contains(Flags::COUNTED);
            let same = corpus_of(old.kind) == corpus && old.text == new.text;
            // Without a text of its own a version would share the one before it.
            if !same && new.text.is_none() {
                new.text = Some(String::new());
            }
            own = !same;
            let count = |builder: &mut Builder, of: &Version, change| {
                let text = of.text.clone();
                let keywords = keywords_of(text.as_deref().unwrap_or_default());
                let keywords: Vec<&str> = keywords.iter().map(String::as_str).collect();
                let terms = terms_of(text.as_deref().unwrap_or_default());
                let corpus = corpus_of(of.kind);
                let keywords = &keywords;
                let text = Text { corpus, text: "", terms: &terms, keywords, codes: &[] };
                builder.recount(of.kind, of.text.is_some().then_some(&text), change);
            };
            if was && (!same || !counted || old.kind != new.kind) {
                count(builder, old, -1);
            }
            if same && counted && (!was || old.kind != new.kind) {
                count(builder, &new, 1);
            }
            let place = self.current(id);
            let reason = if same { Reason::Continued } else { Reason::Replaced };
            let segment = self.segments[place.segment].identity().segment;
            builder.end(Ended { segment, row: place.row, at: self.recorded, reason });
            let versions = self.model.get_mut(&id).unwrap();
            versions.last_mut().unwrap().end = Some((self.recorded, reason));
        } else if !own && counted {
            builder.recount(new.kind, None, 1);
        }
        let text = new.text.clone().unwrap_or_default();
        let keywords = keywords_of(&text);
        let keywords: Vec<&str> = keywords.iter().map(String::as_str).collect();
        let terms = terms_of(&text);
        let codes = codes_of(&text);
        let codes: Vec<(Space, &[u8])> = codes.iter().map(|(at, code)| (*at, &code[..])).collect();
        let columns: Vec<(u16, i64)> = TAGS.into_iter().zip(new.columns.iter().copied()).collect();
        builder.push(&Row {
            id,
            recorded: new.recorded,
            valid_from: NULL,
            valid_to: new.valid_to,
            kind: new.kind,
            shape: &new.shape,
            rest: &new.rest,
            flags: new.flags,
            columns: &columns,
            keys: &[key_of(&id.to_be_bytes())],
            text: own.then_some(Text {
                corpus,
                text: &text,
                terms: &terms,
                keywords: &keywords,
                codes: &codes,
            }),
        });
        self.model.entry(id).or_default().push(new);
    }

    fn end_of(&self, place: Place) -> Option<(i64, Reason)> {
        let segment = self.segments[place.segment].identity().segment;
        self.segments
            .iter()
            .flat_map(Segment::overlay)
            .find(|ended| ended.segment == segment && ended.row == place.row)
            .map(|ended| (ended.at, ended.reason))
            .or_else(|| self.segments[place.segment].end_of(place.row))
    }

    fn versions(&self, id: u128) -> Vec<Place> {
        let mut places: Vec<Place> = (0..self.segments.len())
            .flat_map(|segment| {
                let rows = self.segments[segment].rows_of(id);
                rows.map(move |row| Place { segment, row }).collect::<Vec<_>>()
            })
            .collect();
        places.sort_by_key(|at| (self.segments[at.segment].recorded(at.row), *at));
        places
    }

    fn current(&self, id: u128) -> Place {
        let open = |place: &Place| self.end_of(*place).is_none();
        self.versions(id).into_iter().rfind(open).unwrap()
    }

    fn text_owner(&self, version: Place) -> Option<Place> {
        let mut at = version;
        loop {
            let segment = &self.segments[at.segment];
            if let Some(row) = segment.owner(at.row) {
                return Some(Place { row, ..at });
            }
            let id = segment.id(at.row).unwrap();
            at = match segment.rows_of(id).take_while(|row| *row < at.row).last() {
                Some(row) => Place { row, ..at },
                None => (0..at.segment).rev().find_map(|segment| {
                    let row = self.segments[segment].rows_of(id).last()?;
                    Some(Place { segment, row })
                })?,
            };
        }
    }

    /// The version at a place, as a reader sees it.
    fn read(&self, place: Place) -> Version {
        let segment = &self.segments[place.segment];
        let row = place.row;
        let value = |tag| segment.column(tag).map_or(NULL, |column| column.get(row));
        let kind = segment.kind(row).unwrap();
        Version {
            recorded: segment.recorded(row),
            end: self.end_of(place),
            flags: segment.flags(row).without(Flags::OWNER | Flags::SHARED),
            kind: KINDS.iter().find(|(name, _)| *name == kind).unwrap().0,
            shape: segment.shape(row).unwrap().to_vec(),
            rest: segment.rest(row).unwrap().to_vec(),
            valid_to: value(tag::VALID_TO),
            columns: TAGS.map(value).to_vec(),
            text: self
                .text_owner(place)
                .map(|owner| self.segments[owner.segment].text(owner.row).unwrap().to_owned()),
        }
    }

    /// Whether every record reads as the model has it.
    pub fn agrees(&self) -> bool {
        self.model.iter().all(|(id, versions)| {
            let read: Vec<Version> =
                self.versions(*id).into_iter().map(|place| self.read(place)).collect();
            read == *versions
        })
    }

    /// Compares everything with the model.
    pub fn verify(&self, what: &str) {
        let mut rows = 0;
        for (id, versions) in &self.model {
            let places = self.versions(*id);
            let read: Vec<Version> = places.iter().map(|place| self.read(*place)).collect();
            assert_eq!(&read, versions, "{what}: record {id:x}");
            rows += places.len();
            for segment in &self.segments {
                let mut before = None;
                for row in segment.rows_of(*id) {
                    assert_eq!(segment.row_before(row), before, "{what}: record {id:x}");
                    before = Some(row);
                }
                assert_eq!(segment.last_row_of(*id), before, "{what}: record {id:x}");
            }
            for place in &places {
                // A search meets the owner and must be able to tell that others share its text.
                if let Some(owner) = self.text_owner(*place).filter(|owner| owner != place) {
                    let flags = self.segments[owner.segment].flags(owner.row);
                    let continued = self.end_of(owner).is_some_and(|e| e.1 == Reason::Continued);
                    assert!(flags.contains(Flags::SHARED) || continued, "{what}: {owner:?}");
                }
            }
            let current = self.current(*id);
            let key = key_of(&id.to_be_bytes());
            assert!(
                self.segments[current.segment].rows_with_key(key).any(|row| row == current.row),
                "{what}: the key of record {id:x}"
            );
        }
        let stored: usize = self.segments.iter().map(|segment| segment.rows() as usize).sum();
        assert_eq!(stored, rows, "{what}: rows of no record");
        for segment in &self.segments {
            check::check(segment).unwrap_or_else(|error| panic!("{what}: {error}"));
            self.postings(segment, what);
            codes(segment, what);
        }
        self.sums(what);
    }

    /// The lists of a segment name exactly the rows that own a text, as often as it says.
    fn postings(&self, segment: &Segment, what: &str) {
        let mut wanted: BTreeMap<Vec<u8>, BTreeMap<u32, u32>> = BTreeMap::new();
        for row in 0..segment.rows() {
            if segment.flags(row).contains(Flags::OWNER) {
                let text = segment.text(row).unwrap();
                let corpus = corpus_of(segment.kind(row).unwrap());
                for term in all_terms(corpus, text) {
                    *wanted.entry(term).or_default().entry(row).or_default() += 1;
                }
            }
        }
        let terms = segment.terms();
        let mut found: BTreeMap<Vec<u8>, BTreeMap<u32, u32>> = BTreeMap::new();
        for number in 0..terms.len() {
            let mut list = BTreeMap::new();
            let mut cursor = terms.cursor(number).unwrap();
            let walked = cursor.walk(u32::MAX, |row, frequency| {
                list.insert(row, frequency);
            });
            walked.unwrap();
            if list.is_empty() {
                assert_ne!(terms.live(number), 0, "{what}: a term that says nothing");
            } else {
                found.insert(terms.term(number).to_vec(), list);
            }
        }
        assert_eq!(found, wanted, "{what}: postings");
    }

    /// Sums over all segments: live records, tokens, live document frequencies.
    fn sums(&self, what: &str) {
        let (mut counts, mut live) = (BTreeMap::new(), BTreeMap::new());
        for version in self.model.values().filter_map(|versions| versions.last()) {
            if version.flags.contains(Flags::COUNTED) {
                let text = version.text.as_deref();
                let corpus = text.map_or(0, |_| corpus_of(version.kind));
                let text = text.unwrap_or_default();
                let count: &mut (i64, i64) =
                    counts.entry((version.kind.to_owned(), corpus)).or_default();
                count.0 += 1;
                count.1 += terms_of(text).len() as i64;
                for term in all_terms(corpus, text).into_iter().collect::<BTreeSet<_>>() {
                    *live.entry(term).or_insert(0i64) += 1;
                }
            }
        }
        let (mut said_counts, mut said_live) = (BTreeMap::new(), BTreeMap::new());
        for segment in &self.segments {
            for count in segment.counts().unwrap() {
                let said: &mut (i64, i64) =
                    said_counts.entry((count.kind, count.corpus)).or_default();
                said.0 += count.live;
                said.1 += count.tokens;
            }
            let terms = segment.terms();
            for number in 0..terms.len() {
                *said_live.entry(terms.term(number).to_vec()).or_insert(0) += terms.live(number);
            }
        }
        said_counts.retain(|_, count| *count != (0, 0));
        said_live.retain(|_, live| *live != 0);
        assert_eq!(said_counts, counts, "{what}: counts");
        assert_eq!(said_live, live, "{what}: live document frequencies");
    }

    /// Merges a run of neighbours and puts the output in their place.
    pub fn merge(&mut self, run: std::ops::Range<usize>) {
        let (bytes, moved) = self.merged(run.clone(), i64::MIN, None);
        self.follow(&run, &moved, &|_, _| false);
        self.segments.splice(run, [open_merged(&bytes)]);
    }

    /// Merges everything and leaves some records out, in the store and in the model. Whether the
    /// merge writes, to the byte, what it writes of a store that never had them.
    pub fn purge(&mut self, without: &BTreeSet<u128>) -> bool {
        let mut other = self.replayed(without);
        let mut written = Vec::new();
        let named = self.identity();
        for history in [&*self, &other] {
            let inputs: Vec<&Segment> = history.segments.iter().collect();
            let plan = Plan { without, ..Plan::of(&inputs) };
            let mut bytes = Vec::new();
            let moved = merge(&plan, named, &mut bytes).unwrap();
            let run = 0..history.segments.len();
            history.follow(&run, &moved, &|history, place| {
                let id = history.segments[place.segment].id(place.row).unwrap();
                without.contains(&id)
            });
            written.push(bytes);
        }
        self.segments = vec![open_merged(&written[0])];
        self.model.retain(|id, _| !without.contains(id));
        other.segments = vec![open_merged(&written[1])];
        assert_eq!(other.model, self.model);
        other.verify("a store that never had the records");
        self.verify("a store that was purged");
        written[0] == written[1]
    }

    /// A store to which the same was written but for some records. Only without horizons: a
    /// dropped version cannot be written again.
    fn replayed(&self, without: &BTreeSet<u128>) -> Self {
        let mut commits: BTreeMap<i64, Vec<(u128, Version)>> = BTreeMap::new();
        for (id, versions) in self.model.iter().filter(|(id, _)| !without.contains(id)) {
            for version in versions {
                let written = Version { end: None, ..version.clone() };
                commits.entry(version.recorded).or_default().push((*id, written));
            }
        }
        let mut other = Self { recorded: 0, named: 1 << 32, ..Self::default() };
        for (recorded, versions) in commits {
            other.recorded = recorded;
            let mut builder = Builder::new();
            for (id, version) in versions {
                let old = other.model.get(&id).and_then(|versions| versions.last()).cloned();
                other.put(&mut builder, id, old, version);
            }
            let identity = other.identity();
            let mut bytes = Vec::new();
            builder.finish(identity, &mut bytes).unwrap();
            let segment = Segment::parse(Path::new("new.seg"), Bytes::copy_of(&bytes)).unwrap();
            other.segments.push(segment);
        }
        other
    }

    /// What a merge of a run of neighbours writes.
    fn merged(
        &mut self,
        run: std::ops::Range<usize>,
        horizon: i64,
        moved: Option<&Moved>,
    ) -> (Vec<u8>, Moved) {
        let identity = self.identity();
        let inputs: Vec<&Segment> = self.segments[run.clone()].iter().collect();
        let newer = &self.segments[run.end..];
        let ends: Vec<Ended> = newer.iter().flat_map(Segment::overlay).collect();
        let beside: BTreeSet<u128> = match moved {
            Some(moved) => BTreeSet::from([moved.segment]),
            None => {
                let others = (0..self.segments.len()).filter(|number| !run.contains(number));
                others.map(|number| self.segments[number].identity().segment).collect()
            }
        };
        let plan = Plan { ends: &ends, beside: &beside, horizon, moved, ..Plan::of(&inputs) };
        let mut bytes = Vec::new();
        let moved = merge(&plan, identity, &mut bytes).unwrap();
        // Twice the same bytes: no map's order leaks into a file.
        let mut again = Vec::new();
        merge(&plan, identity, &mut again).unwrap();
        assert_eq!(bytes, again);
        (bytes, moved)
    }

    /// Checks that the map of moved rows leads each row to the same version, or nowhere if it
    /// was to be dropped.
    fn follow(
        &self,
        run: &std::ops::Range<usize>,
        moved: &Moved,
        dropped: &dyn Fn(&Self, Place) -> bool,
    ) -> usize {
        assert_eq!(moved.rows.len(), run.len());
        let mut taken = BTreeSet::new();
        for segment in run.clone() {
            let input = &self.segments[segment];
            let rows = &moved.rows[&input.identity().segment];
            assert_eq!(rows.len(), input.rows() as usize);
            for (row, to) in rows.iter().enumerate() {
                let gone = dropped(self, Place { segment, row: row as u32 });
                assert_eq!(*to == GONE, gone);
                assert!(gone || taken.insert(*to), "two rows became one");
            }
        }
        assert!(taken.iter().copied().eq(0..taken.len() as u32), "the rows have holes");
        taken.len()
    }

    /// Drops from the model what a compaction with this horizon drops. Texts that tombstones
    /// lost with the version that owned them are lost in the model too.
    fn forget(&mut self, horizon: i64) {
        for versions in self.model.values_mut() {
            let before = versions.len();
            versions.retain(|version| version.end.is_none_or(|(at, _)| at > horizon));
            if versions.len() < before {
                versions[0].flags = versions[0].flags | Flags::FIRST;
            }
        }
        let lost: Vec<(u128, usize)> = self
            .model
            .keys()
            .flat_map(|id| {
                let places = self.versions(*id).into_iter().enumerate();
                let lost = places.filter(|(_, place)| self.text_owner(*place).is_none());
                lost.map(|(number, _)| (*id, number)).collect::<Vec<_>>()
            })
            .collect();
        for (id, number) in lost {
            let version = &mut self.model.get_mut(&id).unwrap()[number];
            if version.flags.contains(Flags::TOMBSTONE) {
                version.text = None;
            }
        }
    }

    /// Merges everything and drops what ended at or before `horizon`.
    pub fn compact(&mut self, horizon: i64) {
        let run = 0..self.segments.len();
        let (bytes, moved) = self.merged(run.clone(), horizon, None);
        self.follow(&run, &moved, &|history, place| {
            history.end_of(place).is_some_and(|(at, _)| at <= horizon)
        });
        self.segments = vec![open_merged(&bytes)];
        self.forget(horizon);
    }

    /// Compacts the oldest `base` segments as they were before the later ones were written, then
    /// carries the later ones over, as a compaction without the lock does.
    pub fn compact_beside_writers(&mut self, base: usize, horizon: i64) -> Outcome {
        let run = 0..base;
        let tail = self.segments.split_off(base);
        let (bytes, moved) = self.merged(run.clone(), horizon, None);
        self.follow(&run, &moved, &|history, place| {
            history.end_of(place).is_some_and(|(at, _)| at <= horizon)
        });
        let missed = tail.iter().any(|later| moved.is_missed_by(later));
        let whole = open_merged(&bytes);
        let mut adopted = self.clone();
        adopted.segments = tail.iter().map(reopen).collect();
        let count = adopted.segments.len();
        let (late, _) = adopted.merged(0..count, i64::MIN, Some(&moved));
        adopted.segments = vec![whole, open_merged(&late)];
        adopted.forget(horizon);
        if missed {
            self.segments.extend(tail);
            return if adopted.agrees() { Outcome::Missed } else { Outcome::Saved };
        }
        *self = adopted;
        Outcome::Adopted
    }

    /// Merges everything twice, once making all terms anew, and compares the bytes.
    pub fn rebuild_is_a_merge(&mut self) {
        let identity = self.identity();
        let inputs: Vec<&Segment> = self.segments.iter().collect();
        let plan = Plan::of(&inputs);
        let (mut merged, mut rebuilt) = (Vec::new(), Vec::new());
        merge(&plan, identity, &mut merged).unwrap();
        let mut retext = |segment: &Segment, row: u32, text: &str| {
            let terms = terms_of(text).into_iter().map(str::to_owned).collect();
            Ok((corpus_of(segment.kind(row)?), terms))
        };
        rebuild(&plan, identity, &mut rebuilt, &mut retext).unwrap();
        assert!(merged == rebuilt, "a rebuild with the same terms differs from a merge");
    }
}

fn open_merged(bytes: &[u8]) -> Segment {
    Segment::parse(Path::new("merged.seg"), Bytes::copy_of(bytes)).unwrap()
}

/// Terms as the dictionary has them, repeats included.
fn all_terms(corpus: u8, text: &str) -> Vec<Vec<u8>> {
    let with = |corpus: u8, term: &str| [&[corpus], term.as_bytes()].concat();
    let words = terms_of(text).into_iter().map(|term| with(corpus, term));
    words.chain(keywords_of(text).iter().map(|word| with(KEYWORDS, word))).collect()
}

const WORDS: [&str; 8] = ["a", "bb", "ccc", "d\u{e9}d", "eeeee", "f", "gg", "\u{4e2d}"];

fn words(random: &mut Lcg) -> String {
    let count = random.below(7);
    (0..count).map(|_| WORDS[random.below(WORDS.len())]).collect::<Vec<_>>().join(" ")
}

/// A new version: of a new record, or after `old`.
fn version(random: &mut Lcg, recorded: i64, old: Option<&Version>) -> Version {
    let tombstone = old.is_some() && random.one_in(4);
    let kind = match old {
        Some(old) if !random.one_in(6) => old.kind,
        _ => KINDS[random.below(KINDS.len())].0,
    };
    let text = match old {
        Some(old) if tombstone || !random.one_in(3) => old.text.clone(),
        Some(_) if random.one_in(6) => Some(String::new()),
        None if random.one_in(4) => None,
        _ => Some(words(random)),
    };
    let mut flags = if old.is_none() { Flags::FIRST } else { Flags::NONE };
    if tombstone {
        flags = flags | Flags::TOMBSTONE;
    } else if !random.one_in(8) {
        flags = flags | Flags::COUNTED;
    }
    let columns = TAGS.map(|_| match random.below(4) {
        0 => NULL,
        1 => i64::MIN + random.below(3) as i64,
        _ => random.below(1000) as i64,
    });
    Version {
        recorded,
        end: None,
        flags,
        kind,
        shape: WORDS[random.below(3)].into(),
        rest: words(random).into(),
        valid_to: if random.one_in(3) { recorded + 5 } else { NULL },
        columns: columns.to_vec(),
        text,
    }
}
