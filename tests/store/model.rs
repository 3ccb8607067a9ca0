//! Random histories of a store against a plain map of versions, with both times.
//!
//! After every few steps: which version every view shows, at any moment of either time; all
//! versions of all records; the current one; live counts per kind; and a clean verification.
//! The model knows nothing of segments: folding, merging and reopening must not show.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use packset::pack::snapshot::{Snapshot, View};
use packset::pack::{Error, Ground, Record, Store, record};
use packset::time::Micros;
use packset_segments::manifest::CountEntry;
use packset_segments::sim::SimFs;
use proptest::prelude::*;
use serde_json::json;

use super::between::Between;
use super::ground::{HandClock, NAME, NOON, ground, home, put};
use super::judge::no_leftovers;

/// One second: what the clock and the valid times move by.
const STEP: i64 = 1_000_000;
/// Ids: few, so that versions meet. One is an id of our own form, one is not even ASCII.
const IDS: [&str; 6] =
    ["a", "b", "019e70448800a0000000000000000001", "\u{e9}\u{4e2d}", "with space", "f"];
/// Kinds: two of claims, one of mail, one unknown.
const KINDS: [&str; 4] = ["lesson", "preference", "message", "event"];
const TEXTS: [&str; 5] =
    ["", "folding keeps all answers", "tiers merge", "folding merges tiers", "\u{65e5}\u{672c}"];

/// What one record put says.
#[derive(Clone, Debug)]
struct Put {
    id: usize,
    kind: usize,
    text: Option<usize>,
    entities: u8,
    from: Option<i64>,
    to: Option<i64>,
    tombstone: bool,
    extra: Option<u8>,
    /// Takes over everything but this from the version before it.
    touch: bool,
}

#[derive(Clone, Debug)]
enum Op {
    Commit(Vec<Put>),
    /// A record so large that no write absorbs its segment.
    Large(usize),
    Compact,
    /// Drops what ended before a moment, in steps from noon.
    Drop(i64),
    /// A commit while a compaction reads, which drops what ended before a moment, or nothing.
    Meanwhile(Vec<Put>, Option<i64>),
    Clock(i64),
    Reopen,
    Look(i64, i64),
}

fn a_put() -> impl Strategy<Value = Put> {
    let window = proptest::option::weighted(0.3, -40..80_i64);
    (
        (0..IDS.len(), 0..KINDS.len(), proptest::option::weighted(0.9, 0..TEXTS.len())),
        (0..4_u8, window.clone(), window),
        (prop::bool::weighted(0.15), proptest::option::weighted(0.3, any::<u8>())),
        prop::bool::weighted(0.4),
    )
        .prop_map(|((id, kind, text), (entities, from, to), (tombstone, extra), touch)| Put {
            id,
            kind,
            text,
            entities,
            from,
            to,
            tombstone,
            extra,
            touch,
        })
}

fn an_op() -> impl Strategy<Value = Op> {
    prop_oneof![
        12 => prop::collection::vec(a_put(), 1..4).prop_map(Op::Commit),
        1 => (0..IDS.len()).prop_map(Op::Large),
        1 => Just(Op::Compact),
        1 => (-10..60_i64).prop_map(Op::Drop),
        2 => (prop::collection::vec(a_put(), 1..4), proptest::option::of(-10..60_i64))
            .prop_map(|(puts, step)| Op::Meanwhile(puts, step)),
        3 => (-20..30_i64).prop_map(Op::Clock),
        1 => Just(Op::Reopen),
        4 => (-50..90_i64, -50..90_i64).prop_map(|(a, b)| Op::Look(a, b)),
    ]
}

/// The record that a put means, given the version before it.
fn meant(put: &Put, before: Option<&Record>) -> Record {
    let at = |step: i64| Micros(NOON + step * STEP).format_ms();
    let mut record = match before {
        Some(before) if put.touch => before.clone(),
        _ => {
            let mut record = Record::new();
            record.insert("id".into(), json!(IDS[put.id]));
            record.insert("kind".into(), json!(KINDS[put.kind]));
            record.insert("ts".into(), json!(at(-30)));
            if let Some(text) = put.text {
                record.insert("text".into(), json!(TEXTS[text]));
            }
            let names = ["repo:x", "seat:me", "tiers"];
            let names: Vec<_> = names.iter().take(put.entities.into()).collect();
            record.insert("entities".into(), json!(names));
            if let Some(from) = put.from {
                record.insert("valid_from".into(), json!(at(from)));
            }
            record
        }
    };
    match put.to {
        Some(to) => record.insert("valid_to".into(), json!(at(to))),
        None => record.remove("valid_to"),
    };
    match put.tombstone {
        true => record.insert("tombstone".into(), json!(true)),
        false => record.remove("tombstone"),
    };
    if let Some(extra) = put.extra {
        record.insert("extra".into(), json!({ "n": extra, "list": [null, 1.0] }));
    }
    record
}

/// One version in the model.
#[derive(Clone, Debug)]
struct Version {
    recorded: i64,
    end: Option<i64>,
    first: bool,
    counted: bool,
    record: Record,
}

impl Version {
    fn time(&self, field: &str) -> Option<i64> {
        self.record.get(field)?.as_str().and_then(Micros::parse).map(|at| at.0)
    }

    fn tombstone(&self) -> bool {
        self.record.get("tombstone") == Some(&json!(true))
    }

    /// Whether another version has the same text and names in the same corpus.
    fn says(&self, other: &Self) -> bool {
        let corpus = |v: &Self| record::corpus(record::kind(&v.record));
        let same = |field| self.record.get(field) == other.record.get(field);
        let seat = |v: &Self| {
            let names = v.record.get("entities").and_then(|names| names.as_array().cloned());
            let names = names.unwrap_or_default().into_iter();
            names.filter(|name| *name != json!("seat:me")).collect::<Vec<_>>()
        };
        corpus(self) == corpus(other) && same("text") && seat(self) == seat(other)
    }

    /// design.md part 4: the last version recorded by then, else, for a backdated view, the
    /// first; if it is valid and no tombstone.
    fn shown(&self, view: &View) -> bool {
        let known = self.recorded <= view.recorded || view.backdated && self.first;
        let current = self.end.is_none_or(|end| end > view.recorded);
        // A claim without a start is valid from when it says it was written.
        let claim = self.record.get("kind") != Some(&json!("event"));
        let from = self.time("valid_from").or(self.time("ts").filter(|_| claim));
        let valid = from.is_none_or(|from| from <= view.valid)
            && self.time("valid_to").is_none_or(|to| to > view.valid);
        known && current && valid && !self.tombstone()
    }
}

#[derive(Default)]
struct Model {
    records: BTreeMap<String, Vec<Version>>,
    recorded: i64,
}

impl Model {
    fn commit(&mut self, now: i64, records: Vec<Record>) -> i64 {
        self.recorded = now.max(self.recorded + 1);
        for record in records {
            let id = record["id"].as_str().unwrap().to_owned();
            let versions = self.records.entry(id).or_default();
            // The same commit twice: the last one counts.
            versions.retain(|version| version.recorded != self.recorded);
            if let Some(last) = versions.last_mut() {
                last.end = Some(self.recorded);
            }
            let mut version = Version {
                recorded: self.recorded,
                end: None,
                first: versions.is_empty(),
                counted: false,
                record,
            };
            let open = version.time("valid_to").is_none_or(|to| to > self.recorded);
            version.counted = open && !version.tombstone();
            versions.push(version);
        }
        self.recorded
    }

    fn drop_before(&mut self, horizon: i64) {
        for versions in self.records.values_mut() {
            let stays = |v: &Version| v.end.is_none_or(|end| end > horizon);
            // Versions in a row that say the same share one text.
            for run in versions.chunk_by_mut(|a, b| a.says(b)) {
                let owner = run.first().is_some_and(&stays);
                let living = run.iter().any(|v| stays(v) && !v.tombstone());
                for version in run.iter_mut().filter(|_| !owner && !living) {
                    if version.record.contains_key("text") {
                        version.record.insert("text".into(), json!(""));
                    }
                }
            }
            versions.retain(|version| version.end.is_none_or(|end| end > horizon));
            versions[0].first = true;
        }
    }

    /// The records that puts mean. Within one commit the later one replaces the earlier one.
    fn meant(&self, puts: &[Put]) -> Vec<Record> {
        let mut records: Vec<Record> = Vec::new();
        for put in puts {
            let record = meant(put, self.last(IDS[put.id]));
            records.retain(|other| other["id"] != record["id"]);
            records.push(record);
        }
        records
    }

    fn last(&self, id: &str) -> Option<&Record> {
        self.records.get(id)?.last().map(|version| &version.record)
    }

    fn shown(&self, view: &View) -> BTreeSet<(String, i64)> {
        let mut shown = BTreeSet::new();
        for (id, versions) in &self.records {
            for version in versions.iter().filter(|version| version.shown(view)) {
                shown.insert((id.clone(), version.recorded));
            }
        }
        shown
    }

    fn check(&self, snapshot: &Snapshot, steps: (i64, i64)) {
        let (a, b) = (Micros(NOON + steps.0 * STEP), Micros(NOON + steps.1 * STEP));
        for view in [View::as_of(a), View::known_at(a, b), View::now(b), View::as_of(b)] {
            let shown = snapshot.shown(&view).map(|place| {
                let record = snapshot.record(place).unwrap();
                (record::id(&record).to_owned(), snapshot.segment(place).recorded(place.row))
            });
            let list: Vec<_> = shown.collect();
            let shown: BTreeSet<_> = list.iter().cloned().collect();
            assert_eq!(list.len(), shown.len(), "{view:?} shows a version twice");
            assert_eq!(shown, self.shown(&view), "{view:?}");
        }
        for (id, versions) in &self.records {
            let key = record::key(id);
            let places = snapshot.versions(key);
            let found: Vec<(i64, Option<i64>, String)> = places
                .iter()
                .map(|place| {
                    let record = snapshot.record(*place).unwrap();
                    let recorded = snapshot.segment(*place).recorded(place.row);
                    let end = snapshot.end_of(*place).map(|(at, _)| at);
                    (recorded, end, serde_json::to_string(&record).unwrap())
                })
                .collect();
            let wanted: Vec<_> = versions
                .iter()
                .map(|v| (v.recorded, v.end, serde_json::to_string(&v.record).unwrap()))
                .collect();
            assert_eq!(found, wanted, "versions of {id}");
            assert_eq!(snapshot.current(key), places.last().copied(), "current of {id}");
            for view in [View::as_of(a), View::known_at(a, b)] {
                let version = snapshot.version(key, &view);
                let shown = version.filter(|place| snapshot.live(*place, &view));
                let shown = shown.map(|place| snapshot.segment(place).recorded(place.row));
                let wanted = versions.iter().find(|v| v.shown(&view)).map(|v| v.recorded);
                assert_eq!(shown, wanted, "{id} at {view:?}");
                // A search meets the row that owns a text: it must lead to the same version.
                let owners = places.iter().filter(|p| snapshot.text_owner(**p) == Some(**p));
                let met: BTreeSet<i64> = owners
                    .filter_map(|owner| snapshot.resolve(*owner, &view))
                    .map(|place| snapshot.segment(place).recorded(place.row))
                    .collect();
                let owned = version.is_some_and(|version| snapshot.text_owner(version).is_some());
                let wanted: BTreeSet<i64> = wanted.into_iter().filter(|_| owned).collect();
                assert_eq!(met, wanted, "{id} met by its texts at {view:?}");
            }
        }
        let mut counts: BTreeMap<String, i64> = BTreeMap::new();
        for CountEntry(kind, _, live, _) in snapshot.counts() {
            *counts.entry(kind).or_default() += live;
        }
        counts.retain(|_, live| *live != 0);
        let mut wanted: BTreeMap<String, i64> = BTreeMap::new();
        for version in self.records.values().filter_map(|v| v.last()).filter(|v| v.counted) {
            *wanted.entry(version.record["kind"].as_str().unwrap().to_owned()).or_default() += 1;
        }
        assert_eq!(counts, wanted, "live counts");
        let report = packset::pack::verify::verify(snapshot);
        assert!(report.problems.is_empty(), "{:?}", report.problems);
    }
}

fn play(ops: Vec<Op>) {
    let fs = SimFs::new();
    let clock = Arc::new(HandClock::default());
    clock.0.store(NOON, Ordering::Relaxed);
    let open = |ids: u64| {
        let ground =
            Ground { clock: Arc::<HandClock>::clone(&clock), ..ground(Arc::new(fs.share()), ids) };
        Store::new(ground, &home(), NAME)
    };
    let mut store = open(0);
    let mut model = Model::default();
    for (number, op) in ops.iter().enumerate() {
        match op {
            Op::Commit(puts) => {
                let records = model.meant(puts);
                put(&store, records.clone()).unwrap();
                model.commit(clock.0.load(Ordering::Relaxed), records);
            }
            Op::Large(id) => {
                let mut record = super::ground::large(IDS[*id]);
                record.insert("kind".into(), json!("event"));
                put(&store, vec![record.clone()]).unwrap();
                model.commit(clock.0.load(Ordering::Relaxed), vec![record]);
            }
            Op::Compact => drop(store.compact(i64::MIN).unwrap()),
            Op::Drop(step) => {
                let horizon = NOON + step * STEP;
                store.compact(horizon).unwrap();
                model.drop_before(horizon);
            }
            Op::Meanwhile(puts, step) => {
                let horizon = step.map_or(i64::MIN, |step| NOON + step * STEP);
                // A put means what it meant before the compaction: its text stays its own.
                let records = model.meant(puts);
                let between = Between::new(Arc::new(fs.share()));
                let (other, late) = (store.clone(), records.clone());
                between.when(
                    |call, path| call == "write" && path.to_string_lossy().contains("compact-"),
                    move || put(&other, late).unwrap(),
                );
                let ground = Ground {
                    clock: Arc::<HandClock>::clone(&clock),
                    ..ground(Arc::new(between.clone()), 1_000_000 + 1_000 * number as u64)
                };
                match Store::new(ground, &home(), NAME).compact(horizon) {
                    Ok(_) => model.drop_before(horizon),
                    // What was brought back meanwhile had a text that the compaction dropped.
                    Err(error) => assert!(matches!(error, Error::Busy { .. }), "{error}"),
                }
                if !between.is_waiting() {
                    model.commit(clock.0.load(Ordering::Relaxed), records);
                }
            }
            Op::Clock(steps) => {
                clock.0.fetch_add(steps * STEP, Ordering::Relaxed);
            }
            Op::Reopen => store = open(1_000 * (number as u64 + 1)),
            Op::Look(a, b) => match store.snapshot().unwrap() {
                Some(snapshot) => model.check(&snapshot, (*a, *b)),
                None => assert!(model.records.is_empty()),
            },
        }
    }
    if let Some(snapshot) = store.snapshot().unwrap() {
        model.check(&snapshot, (0, 10));
        assert_eq!(snapshot.manifest().recorded, model.recorded);
        no_leftovers(&fs, &store).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        // 256 cases; PROPTEST_CASES asks for more.
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_store_answers_as_a_map_of_versions_does(
        ops in prop::collection::vec(an_op(), 40),
    ) {
        play(ops);
    }
}

/// Recorded times rise whatever the clock does, also across processes.
#[test]
fn recorded_times_rise_while_the_clock_steps_back() {
    let fs = SimFs::new();
    let clock = Arc::new(HandClock::default());
    let mut last = i64::MIN;
    for (number, at) in [NOON, NOON - 5 * STEP, NOON, NOON, NOON + 1, 0, -1].into_iter().enumerate()
    {
        clock.0.store(at, Ordering::Relaxed);
        let ids = 1_000 * number as u64;
        let ground =
            Ground { clock: Arc::<HandClock>::clone(&clock), ..ground(Arc::new(fs.share()), ids) };
        let store = Store::new(ground, &home(), NAME);
        let put = store.commit::<_, Error>(|transaction| {
            transaction.put(super::ground::claim("a", &format!("{number}")), Vec::new())
        });
        let committed = put.unwrap().1.unwrap();
        assert!(committed.recorded > last && committed.recorded >= at);
        last = committed.recorded;
    }
}
