//! What holds of a workspace whatever was done to it: links, weights, replacement, the past, undo.
//!
//! Random lives of a few claims out of few words and few topics, so that they meet all the time.
//! Every step opens the store anew, and merges are steps like others: so each rule is tested
//! across restarts and compactions too.

use std::collections::{BTreeMap, BTreeSet};

use packset::claim::{self, network};
use packset::graph::Edges;
use packset::pack::{Record, Snapshot, View, record};
use packset::time::{DAY, Micros, SECOND};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::lab::{Lab, object};

/// One thing that is done. Numbers choose among what there is.
#[derive(Clone, Debug)]
enum Step {
    Write { kind: usize, words: [usize; 5], topics: Vec<usize>, set: bool },
    Post { claim: usize, words: [usize; 5], topics: Vec<usize> },
    Update { claim: usize, words: [usize; 5] },
    Delete { claim: usize },
    Grade { claim: usize, recalled: bool },
    Fire { claims: Vec<usize>, persona: Option<usize> },
    Consolidate,
    Link,
    Sweep,
    Undo,
    Compact,
    Wait { days: i64 },
}

const KINDS: [&str; 4] = ["lesson", "lesson", "correction", "preference"];
const WORDS: [&str; 8] = ["build", "runs", "port", "night", "gateway", "cache", "green", "token"];
const TOPICS: [&str; 4] = ["vault", "gateway", "ledger", "cache"];
const PERSONAS: [&str; 2] = ["skeptic", "optimist"];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let words = || prop::array::uniform5(0..WORDS.len());
    let topics = || prop::collection::vec(0..TOPICS.len(), 0..3);
    let claim = || 0..40_usize;
    let step = prop_oneof![
        8 => (0..KINDS.len(), words(), topics(), any::<bool>())
            .prop_map(|(kind, words, topics, set)| Step::Write { kind, words, topics, set }),
        2 => (claim(), words(), topics())
            .prop_map(|(claim, words, topics)| Step::Post { claim, words, topics }),
        2 => (claim(), words()).prop_map(|(claim, words)| Step::Update { claim, words }),
        1 => claim().prop_map(|claim| Step::Delete { claim }),
        1 => (claim(), any::<bool>()).prop_map(|(claim, recalled)| Step::Grade { claim, recalled }),
        3 => (prop::collection::vec(claim(), 1..4), prop::option::of(0..PERSONAS.len()))
            .prop_map(|(claims, persona)| Step::Fire { claims, persona }),
        1 => Just(Step::Consolidate),
        1 => Just(Step::Link),
        1 => Just(Step::Sweep),
        2 => Just(Step::Undo),
        1 => Just(Step::Compact),
        1 => (1..9_i64).prop_map(|days| Step::Wait { days }),
    ];
    prop::collection::vec(step, 1..40)
}

fn text(words: [usize; 5]) -> String {
    let words: Vec<&str> = words.iter().map(|word| WORDS[*word]).collect();
    format!("The {} so.", words.join(" "))
}

fn names(topics: &[usize]) -> Value {
    topics.iter().map(|topic| TOPICS[*topic]).collect::<BTreeSet<_>>().into_iter().collect()
}

struct Life {
    lab: Lab,
    ids: Vec<String>,
}

impl Life {
    fn id(&self, number: usize) -> String {
        let ids = &self.ids;
        if ids.is_empty() { "nobody".into() } else { ids[number % ids.len()].clone() }
    }

    /// Does a step; refusals are steps too.
    fn step(&mut self, step: &Step) {
        let lab = &self.lab;
        lab.set(lab.now().plus(SECOND));
        match step {
            Step::Write { kind, words, topics, set } => {
                let mut claim = json!({"kind": KINDS[*kind], "text": text(*words)});
                if !topics.is_empty() {
                    claim["entities"] = names(topics);
                }
                if *set {
                    claim["set"] = json!("dev");
                }
                let written = lab.write(claim);
                self.ids.push(record::id(&written).to_owned());
            }
            Step::Post { claim, words, topics } => {
                let id = self.id(*claim);
                let claim = json!({
                    "kind": "lesson", "id": id, "text": text(*words), "entities": names(topics)
                });
                let _ = lab.write_under(claim, None);
            }
            Step::Update { claim, words } => {
                let (id, fields) = (self.id(*claim), object(json!({"text": text(*words)})));
                let _ = lab.store().commit(|t| claim::update(t, &id, &fields));
            }
            Step::Delete { claim } => {
                let id = self.id(*claim);
                let _ = lab.store().commit(|t| claim::delete(t, &id, None));
            }
            Step::Grade { claim, recalled } => {
                let id = self.id(*claim);
                let _ = lab.store().commit(|t| claim::grade(t, &id, *recalled));
            }
            Step::Fire { claims, persona } => {
                let ids: Vec<String> = claims.iter().map(|claim| self.id(*claim)).collect();
                let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
                let persona = persona.map(|persona| PERSONAS[persona]);
                lab.commit(|t| network::fire_as(t, &ids, None, persona));
            }
            Step::Consolidate => {
                lab.commit(|t| claim::consolidate(t, true));
            }
            Step::Link => {
                claim::link_unlinked(&lab.store()).unwrap();
            }
            Step::Sweep => {
                lab.commit(claim::sweep);
            }
            Step::Undo => {
                let _ = lab.store().commit(|t| claim::undo(t, None));
            }
            Step::Compact => {
                lab.store().compact(i64::MIN).unwrap();
            }
            Step::Wait { days } => lab.set(lab.now().plus(days * DAY)),
        }
    }

    fn snapshot(&self) -> Option<Snapshot> {
        self.lab.store().snapshot().unwrap()
    }

    fn live(&self) -> BTreeMap<String, Record> {
        let Some(snapshot) = self.snapshot() else { return BTreeMap::new() };
        shown(&snapshot, &View::now(self.lab.now()))
    }
}

fn shown(snapshot: &Snapshot, view: &View) -> BTreeMap<String, Record> {
    let records = snapshot.shown(view).map(|place| snapshot.record(place).unwrap());
    let claims = records.filter(|record| packset::atom::Kind::of(record).is_some());
    claims.map(|claim| (record::id(&claim).to_owned(), claim)).collect()
}

/// Links stand on both ends, at most eight, and weigh the same on both, in (0, 1].
fn links_are_whole(live: &BTreeMap<String, Record>) {
    for (id, claim) in live {
        let edges = Edges::of(claim);
        let count = edges.links().iter().filter(|link| live.contains_key(*link)).count();
        assert!(count <= 8, "{id} has {count} links");
        assert!(!edges.has(id), "{id} names itself");
        for link in edges.links() {
            let Some(peer) = live.get(link) else { continue };
            let back = Edges::of(peer);
            assert!(back.has(id), "{id} names {link}, but not the reverse");
            for persona in [None, Some(PERSONAS[0]), Some(PERSONAS[1])] {
                let weight = edges.weight(link, persona);
                assert!(weight > 0.0 && weight <= 1.0, "{weight}");
                assert_eq!(weight, back.weight(id, persona), "{id} and {link} as {persona:?}");
            }
        }
    }
}

/// Nothing replaces what replaced it, however many steps lie between.
fn replacement_is_acyclic(snapshot: &Snapshot) {
    let mut olds: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for place in snapshot.places().filter(|place| snapshot.end_of(*place).is_none()) {
        let record = snapshot.record(place).unwrap();
        if !record::tombstone(&record) {
            let named = packset::atom::named_ids(&record).into_iter().map(str::to_owned);
            olds.insert(record::id(&record).to_owned(), named.collect());
        }
    }
    // Takes away, again and again, what replaces nothing that is left.
    loop {
        let before = olds.len();
        let left: BTreeSet<String> = olds.keys().cloned().collect();
        olds.retain(|_, named| named.iter().any(|old| left.contains(old)));
        if olds.len() == before {
            break;
        }
    }
    assert!(olds.is_empty(), "a circle: {olds:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_was_done(steps in steps()) {
        let mut life = Life { lab: Lab::new(), ids: Vec::new() };
        let mut pasts: Vec<(Micros, BTreeMap<String, Record>)> = Vec::new();
        for step in &steps {
            life.step(step);
            links_are_whole(&life.live());
            let Some(snapshot) = life.snapshot() else { continue };
            replacement_is_acyclic(&snapshot);
            // No step is backdated, so no past changes. Half a second later is past the commit
            // of this step and before the next.
            for (then, was) in &pasts {
                prop_assert_eq!(&shown(&snapshot, &View::as_of(*then)), was);
            }
            let then = life.lab.now().plus(SECOND / 2);
            pasts.push((then, shown(&snapshot, &View::as_of(then))));
        }
    }

    #[test]
    fn undo_of_undo_is_identity(steps in steps()) {
        let mut life = Life { lab: Lab::new(), ids: Vec::new() };
        for step in steps.iter().filter(|step| !matches!(step, Step::Undo)) {
            life.step(step);
        }
        let before = life.live();
        let undo = |life: &Life| {
            life.lab.store().commit(|t| claim::undo(t, None)).is_ok()
        };
        if life.snapshot().is_some() && undo(&life) {
            life.lab.store().compact(i64::MIN).unwrap();
            prop_assert!(undo(&life));
            prop_assert_eq!(life.live(), before);
        }
    }
}

#[test]
fn a_backdated_write_alone_changes_the_past() {
    let lab = Lab::new();
    lab.write(json!({"kind": "lesson", "id": "a", "text": "Vault is sealed."}));
    let then = lab.now().plus(DAY);
    lab.day(5);
    let past = || shown(&lab.snapshot(), &View::as_of(then)).into_keys().collect::<Vec<_>>();
    lab.write(json!({"kind": "lesson", "id": "b", "text": "Ports are free."}));
    assert_eq!(past(), ["a"]);
    let early = json!({
        "kind": "lesson", "id": "c", "text": "Tabs.", "valid_from": then.plus(-SECOND).format_ms()
    });
    lab.write(early);
    assert_eq!(past(), ["a", "c"]);
}

#[test]
fn a_link_that_its_other_end_let_go_does_not_come_back() {
    let lab = Lab::new();
    let about = |id: &str, topics: &[&str]| {
        let text = format!("Word {id}{id} of {id}.");
        lab.write(json!({"kind": "lesson", "id": id, "text": text, "entities": topics}));
    };
    about("hub", &["x"]);
    about("gone", &["x"]);
    assert_eq!(lab.get("hub")["links"], json!(["gone"]));
    lab.commit(|t| claim::delete(t, "gone", None));
    let deleted = lab.snapshot().manifest().generation;
    // About something else, the hub has no links any more.
    lab.write(json!({"kind": "lesson", "id": "hub", "text": "Else.", "entities": ["y"]}));
    lab.commit(|t| claim::undo(t, Some(deleted)));
    assert_eq!(lab.live_ids(), ["gone", "hub"]);
    let snapshot = lab.snapshot();
    links_are_whole(&shown(&snapshot, &View::now(lab.now())));
    // The undo can itself be undone.
    lab.commit(|t| claim::undo(t, None));
    assert_eq!(lab.live_ids(), ["hub"]);
}

#[test]
fn a_claim_that_comes_back_is_not_replaced_by_what_it_replaces() {
    let lab = Lab::new();
    let say = |id: &str, port: &str| {
        let text = format!("The build uses port {port} for tests.");
        lab.write(json!({"kind": "lesson", "id": id, "text": text}))
    };
    say("a", "one");
    say("b", "two");
    say("c", "three");
    assert_eq!(lab.live_ids(), ["c"]);
    // The id of a closed claim, posted again: it replaces the one that is live now.
    let back = say("a", "four");
    assert_eq!(back["supersedes"], json!(["c"]));
    assert_eq!(lab.live_ids(), ["a"]);
    assert_eq!(lab.get("c")["supersedes"], json!(["b"]));
    assert!(lab.get("b").get("supersedes").is_none(), "`a` is live, so nothing replaced it");
    replacement_is_acyclic(&lab.snapshot());
}

#[test]
fn an_attempt_that_fails_leaves_nothing_of_itself() {
    let lab = Lab::new();
    let put = |transaction: &mut packset::pack::Transaction<'_>, id: &str, text: &str, key: u64| {
        let record = object(json!({"id": id, "kind": "event", "text": text}));
        transaction.put(record, vec![key]).unwrap();
    };
    let texts = |transaction: &packset::pack::Transaction<'_>, key: u64| -> Vec<String> {
        let found = transaction.with_key(key).unwrap();
        found.iter().map(|record| record["text"].as_str().unwrap().to_owned()).collect()
    };
    let (_, committed) = lab
        .store()
        .commit(|transaction| {
            put(transaction, "a", "first", 7);
            let failed = transaction.attempt(|transaction| {
                put(transaction, "a", "second", 7);
                put(transaction, "b", "new", 8);
                // One within it that succeeds goes with it.
                transaction.attempt(|transaction| {
                    put(transaction, "a", "third", 9);
                    Ok::<_, ()>(())
                })?;
                assert_eq!((texts(transaction, 7), texts(transaction, 9).len()), (vec![], 1));
                Err::<(), ()>(())
            });
            assert_eq!(failed, Err(()));
            assert_eq!(texts(transaction, 7), ["first"]);
            assert!(texts(transaction, 8).is_empty() && texts(transaction, 9).is_empty());
            assert_eq!(transaction.len(), 1);
            transaction
                .attempt(|transaction| {
                    put(transaction, "b", "kept", 8);
                    Ok::<_, ()>(())
                })
                .unwrap();
            assert_eq!(transaction.get("b").unwrap().unwrap()["text"], "kept");
            Ok::<_, packset::pack::Error>(())
        })
        .unwrap();
    assert_eq!(committed.unwrap().generation, 1);
    assert_eq!((&lab.get("a")["text"], &lab.get("b")["text"]), (&json!("first"), &json!("kept")));
}
