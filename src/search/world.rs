//! Small worlds of records for the tests, and the segments they are laid out in.
//!
//! A world is a list of versions in the order in which they were written. What a view shows of it
//! and what a corpus counts is worked out from that list alone, without a segment.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use packset_segments::manifest::{CountEntry, Features, Hex, Manifest, SegmentEntry, TextRule};
use packset_segments::merge::{self, merge};
use packset_segments::{Builder, Bytes, Ended, Flags, Identity, NULL, Reason, Row, Segment, Text};

use super::score::Corpus;
use crate::pack::record;
use crate::pack::snapshot::{Snapshot, View};
use crate::text::Tokenizer;
use crate::time::DAY;

/// 2026-01-01, where the worlds begin.
pub(super) const START: i64 = 1_767_225_600 * 1_000_000;

/// Knuth's linear congruential generator; the high bits are the good ones.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    pub(super) fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.roll(list.len() as u64) as usize]
    }
}

/// One state of a record, as a test says it.
#[derive(Clone, Debug)]
pub(super) struct Version {
    pub(super) id: u128,
    pub(super) recorded: i64,
    pub(super) kind: &'static str,
    pub(super) text: String,
    /// Whether the text is new; else it is the one of the version before.
    pub(super) fresh: bool,
    pub(super) tombstone: bool,
    pub(super) valid_from: i64,
    pub(super) valid_to: i64,
    pub(super) ts: i64,
    pub(super) due: i64,
    pub(super) last: i64,
    pub(super) stability: i64,
    pub(super) trust: i64,
    pub(super) set: Option<&'static str>,
}

pub(super) fn bits(value: f32) -> i64 {
    i64::from(value.to_bits())
}

impl Version {
    pub(super) fn new(id: u128, recorded: i64, text: &str) -> Self {
        Self {
            id,
            recorded,
            kind: "lesson",
            text: text.to_owned(),
            fresh: true,
            tombstone: false,
            valid_from: NULL,
            valid_to: NULL,
            ts: recorded,
            due: NULL,
            last: NULL,
            stability: NULL,
            trust: NULL,
            set: None,
        }
    }

    pub(super) fn counted(&self) -> bool {
        !self.tombstone && self.valid_to == NULL
    }

    pub(super) fn live(&self, view: &View) -> bool {
        let begun = self.valid_from == NULL || self.valid_from <= view.valid;
        !self.tombstone && begun && self.valid_to > view.valid
    }
}

/// Versions in the order in which they were written.
#[derive(Clone, Debug, Default)]
pub(super) struct World(pub(super) Vec<Version>);

pub(super) const VOCABULARY: [&str; 44] = [
    "index",
    "indexer",
    "indexing",
    "reindex",
    "indeks",
    "search",
    "searched",
    "research",
    "serch",
    "cargo",
    "cargos",
    "escargot",
    "carg",
    "crate",
    "crates",
    "create",
    "cache",
    "caches",
    "cach",
    "build",
    "builder",
    "rebuild",
    "guild",
    "test",
    "tests",
    "testing",
    "attest",
    "tasks_claim",
    "getUserName",
    "v0.29.1",
    "user",
    "name",
    "fox",
    "foxes",
    "box",
    "ox",
    "the",
    "rust",
    "trust",
    "rusty",
    "\u{6771}\u{4eac}",
    "\u{4eac}\u{90fd}",
    "na\u{ef}ve",
    "naive",
];

impl World {
    /// A world of `count` claims that never change, and so raise the bars close to one another.
    pub(super) fn settled(seed: u64, count: usize, trusting: bool) -> Self {
        let mut dice = Dice(seed);
        let mut world = Self::default();
        for step in 0..count {
            let mut version = world.born(&mut dice, START + step as i64 * (DAY / 8));
            version.kind = "lesson";
            version.valid_to = NULL;
            // Without any trust the bounds have no slack from it.
            version.trust = if trusting { dice.pick(&[NULL, bits(0.2)]) } else { NULL };
            version.id = step as u128 * 7919 % 10_007;
            world.0.push(version);
        }
        world
    }

    /// A world of about `count` versions with every kind of change.
    pub(super) fn random(seed: u64, count: usize) -> Self {
        let mut dice = Dice(seed);
        let mut world = Self::default();
        for step in 0..count {
            let recorded = START + step as i64 * (DAY / 8);
            let new = world.0.is_empty() || dice.roll(10) < 6;
            let version = if new {
                world.born(&mut dice, recorded)
            } else {
                world.changed(&mut dice, recorded)
            };
            world.0.push(version);
        }
        world
    }

    pub(super) fn text(dice: &mut Dice) -> String {
        let count = 1 + dice.roll(9);
        let words: Vec<&str> = (0..count).map(|_| dice.pick(&VOCABULARY)).collect();
        words.join(" ")
    }

    pub(super) fn born(&self, dice: &mut Dice, recorded: i64) -> Version {
        let id = u128::from(dice.roll(1 << 30)) << 64 | u128::from(dice.roll(1 << 30));
        let mut version = Version::new(id, recorded, &Self::text(dice));
        version.kind = dice.pick(&["lesson", "lesson", "belief", "message", "task"]);
        version.ts = dice.pick(&[recorded, recorded, recorded - 40 * DAY, NULL]);
        version.valid_from = dice.pick(&[version.ts, version.ts, NULL, recorded + 3 * DAY]);
        version.valid_to = dice.pick(&[NULL, NULL, NULL, NULL, recorded + 9 * DAY]);
        version.due = dice.pick(&[NULL, recorded + DAY, recorded + 30 * DAY]);
        version.trust = dice.pick(&[NULL, NULL, bits(0.4), bits(3.0), bits(1e9), bits(-2.0)]);
        version.set = dice.pick(&[None, None, Some("red"), Some("blue")]);
        version
    }

    pub(super) fn changed(&self, dice: &mut Dice, recorded: i64) -> Version {
        let any = self.0[dice.roll(self.0.len() as u64) as usize].id;
        let latest = self.0.iter().rfind(|version| version.id == any).unwrap();
        let mut version = Version { recorded, fresh: false, ..latest.clone() };
        match dice.roll(6) {
            0 => version.tombstone = true,
            1 => version.valid_to = recorded,
            2 => {
                version.text = Self::text(dice);
                version.fresh = true;
                version.tombstone = false;
            }
            _ => {
                version.tombstone = false;
                version.last = recorded;
                version.stability = bits(1.0 + dice.roll(50) as f32);
                version.due = recorded + dice.roll(40) as i64 * DAY;
                version.trust = dice.pick(&[NULL, bits(0.9)]);
                version.set = dice.pick(&[None, Some("red")]);
                version.ts = dice.pick(&[version.ts, version.ts, recorded]);
            }
        }
        version
    }

    /// The versions that a view shows.
    pub(super) fn shown(&self, view: &View) -> Vec<&Version> {
        let mut records: Vec<Vec<&Version>> = Vec::new();
        let mut at: HashMap<u128, usize> = HashMap::new();
        for version in &self.0 {
            let record = *at.entry(version.id).or_insert_with(|| {
                records.push(Vec::new());
                records.len() - 1
            });
            records[record].push(version);
        }
        let selected = |record: &Vec<&'_ Version>| -> Option<usize> {
            let known = record.iter().rposition(|version| version.recorded <= view.recorded);
            known.or(view.backdated.then_some(0))
        };
        records
            .iter()
            .filter_map(|record| selected(record).map(|at| record[at]))
            .filter(|version| version.live(view))
            .collect()
    }

    /// Statistics of a corpus: of what is live at the end, whatever a view shows.
    pub(super) fn statistics(&self, corpus: u8) -> (Corpus, HashMap<String, i64>) {
        let mut sum = Corpus { texts: 0, tokens: 0 };
        let mut df = HashMap::new();
        for (at, version) in self.0.iter().enumerate() {
            let ended = self.0[at + 1..].iter().any(|later| later.id == version.id);
            if ended || !version.counted() || record::corpus(version.kind) != corpus {
                continue;
            }
            let terms = Tokenizer::new(true).collect(&version.text);
            sum.texts += 1;
            sum.tokens += terms.len() as i64;
            let distinct: BTreeSet<String> = terms.into_iter().collect();
            for term in distinct {
                *df.entry(term).or_insert(0) += 1;
            }
        }
        (sum, df)
    }

    /// Lays the versions out in segments of the given sizes, the rest in a last one.
    pub(super) fn laid_out(&self, sizes: &[usize]) -> Vec<Segment> {
        let mut tokenizer = Tokenizer::new(true);
        let mut latest: HashMap<u128, (u128, u32, &Version)> = HashMap::new();
        let mut segments = Vec::new();
        let mut left = &self.0[..];
        for (number, size) in sizes.iter().chain([&usize::MAX]).enumerate() {
            let (now, later) = left.split_at(left.len().min(*size));
            left = later;
            if now.is_empty() {
                continue;
            }
            let identity =
                Identity { store: 1, segment: 100 + number as u128, born: number as u64 };
            let mut builder = Builder::new();
            for version in now {
                let row = add(&mut builder, version, latest.get(&version.id), &mut tokenizer);
                if let Some((segment, before, _)) = latest.get(&version.id).copied() {
                    let reason = if version.fresh { Reason::Replaced } else { Reason::Continued };
                    if segment == identity.segment {
                        builder.end_own(before, version.recorded, reason);
                    } else {
                        builder.end(Ended { segment, row: before, at: version.recorded, reason });
                    }
                }
                latest.insert(version.id, (identity.segment, row, version));
            }
            let mut bytes = Vec::new();
            builder.finish(identity, &mut bytes).unwrap();
            segments.push(parse(&bytes));
        }
        segments
    }

    pub(super) fn snapshot(&self, sizes: &[usize]) -> Snapshot {
        snapshot(self.laid_out(sizes))
    }

    pub(super) fn end(&self) -> i64 {
        self.0.last().map_or(START, |version| version.recorded + DAY)
    }
}

pub(super) fn add(
    builder: &mut Builder,
    version: &Version,
    before: Option<&(u128, u32, &Version)>,
    tokenizer: &mut Tokenizer,
) -> u32 {
    let terms = tokenizer.collect(&version.text);
    let terms: Vec<&str> = terms.iter().map(String::as_str).collect();
    let mut flags = Flags::NONE;
    if version.counted() {
        flags = flags | Flags::COUNTED;
    }
    if version.tombstone {
        flags = flags | Flags::TOMBSTONE;
    }
    match before {
        None => flags = flags | Flags::FIRST,
        Some((.., old)) => {
            if old.counted() && (version.fresh || !version.counted()) {
                let old_terms = tokenizer.collect(&old.text);
                let old_terms: Vec<&str> = old_terms.iter().map(String::as_str).collect();
                builder.recount(old.kind, Some(&text_of(old, &old_terms)), -1);
            }
            if !version.fresh && version.counted() && !old.counted() {
                builder.recount(version.kind, Some(&text_of(version, &terms)), 1);
            }
        }
    }
    let code = crate::meaning::code(&version.text);
    let codes = [(crate::meaning::space(), &code[..])];
    builder.push(&Row {
        id: version.id,
        recorded: version.recorded,
        valid_from: version.valid_from,
        valid_to: version.valid_to,
        kind: version.kind,
        shape: b"",
        rest: b"",
        flags,
        columns: &[
            (record::TS, version.ts),
            (record::DUE_AT, version.due),
            (record::LAST_REVIEW, version.last),
            (record::STABILITY, version.stability),
            (record::TRUST, version.trust),
            (record::SET, version.set.map_or(NULL, record::set_code)),
        ],
        keys: &[],
        text: version.fresh.then(|| Text { codes: &codes, ..text_of(version, &terms) }),
    })
}

pub(super) fn text_of<'a>(version: &'a Version, terms: &'a [&'a str]) -> Text<'a> {
    Text {
        corpus: record::corpus(version.kind),
        text: &version.text,
        terms,
        keywords: &[],
        codes: &[],
    }
}

pub(super) fn parse(bytes: &[u8]) -> Segment {
    Segment::parse(Path::new("test.seg"), Bytes::copy_of(bytes)).unwrap()
}

/// A snapshot of segments that are said to be a whole store.
pub(super) fn snapshot(segments: Vec<Segment>) -> Snapshot {
    let entry = |segment: &Segment| {
        let ids = || (0..segment.rows()).filter_map(|row| segment.id(row));
        let recorded = || (0..segment.rows()).map(|row| segment.recorded(row));
        let counts = segment.counts().unwrap();
        SegmentEntry {
            id: Hex(segment.identity().segment),
            born: segment.identity().born,
            len: segment.sealed().len,
            toc: segment.sealed().toc,
            rows: segment.rows(),
            overlay: segment.overlay().count() as u32,
            ids: (Hex(ids().min().unwrap_or(0)), Hex(ids().max().unwrap_or(0))),
            recorded: (recorded().min().unwrap_or(0), recorded().max().unwrap_or(0)),
            counts: counts
                .into_iter()
                .map(|count| CountEntry(count.kind, count.corpus, count.live, count.tokens))
                .collect(),
        }
    };
    let manifest = Manifest {
        store: Hex(1),
        name: "test".into(),
        generation: segments.len() as u64,
        recorded: 0,
        features: Features::default(),
        text: TextRule { tokenizer: "packset-words".into(), version: 1, stem: true },
        spaces: Vec::new(),
        kept_since: None,
        segments: segments.iter().map(entry).collect(),
    };
    Snapshot::from_parts(manifest, segments)
}

/// The first `count` segments merged into one, the others beside it.
pub(super) fn merged(segments: Vec<Segment>, count: usize) -> Vec<Segment> {
    let (inputs, beside) = segments.split_at(count);
    let inputs: Vec<&Segment> = inputs.iter().collect();
    let names: BTreeSet<u128> = beside.iter().map(|segment| segment.identity().segment).collect();
    let ends: Vec<Ended> = beside.iter().flat_map(Segment::overlay).collect();
    let plan = merge::Plan { ends: &ends, beside: &names, ..merge::Plan::of(&inputs) };
    let identity = Identity { store: 1, segment: 999, born: 999 };
    let mut bytes = Vec::new();
    merge(&plan, identity, &mut bytes).unwrap();
    let mut all = vec![parse(&bytes)];
    all.extend(segments.into_iter().skip(count));
    all
}
