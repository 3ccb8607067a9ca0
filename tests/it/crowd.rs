//! Thirty-two processes at a time write and read one workspace for some seconds.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::harness::Pack;

/// Processes at a time, and for how long: what the contract asks for, shortened to what a shared
/// machine's test run can bear.
const CROWD: usize = 32;
const SPAN: Duration = Duration::from_secs(5);

/// What was acknowledged, and must be so at the end.
#[derive(Default)]
struct Ledger {
    stored: BTreeSet<String>,
    deleted: BTreeSet<String>,
}

#[test]
fn a_crowd_loses_nothing_and_hinders_no_reader() {
    // A writer may have to wait for thirty others and their disk.
    let pack = Pack::new().var("PACKSET_LOCK_TIMEOUT_MS", "60000");
    pack.remember("Crowd zero.");
    let ledger = Mutex::new(Ledger::default());
    let reads = AtomicUsize::new(0);
    let end = Instant::now() + SPAN;
    std::thread::scope(|scope| {
        for number in 0..CROWD {
            let (pack, ledger, reads) = (&pack, &ledger, &reads);
            scope.spawn(move || {
                let mut round = 0;
                let mut own = Vec::new();
                while Instant::now() < end {
                    round += 1;
                    match number % 4 {
                        // Half of them read.
                        0 | 1 => {
                            read(pack, number / 4 + round, ledger);
                            reads.fetch_add(1, Ordering::Relaxed);
                        }
                        2 => own.extend(write_batch(pack, number, round, ledger)),
                        _ => own.push(write_one(pack, number, round, ledger)),
                    }
                    if round % 5 == 0
                        && let Some(id) = own.pop()
                    {
                        ledger.lock().unwrap().stored.remove(&id);
                        pack.ok(["delete", &id]);
                        ledger.lock().unwrap().deleted.insert(id);
                    }
                    if number == 3 && round % 3 == 0 {
                        compact(pack);
                    }
                }
            });
        }
    });
    let ledger = ledger.into_inner().unwrap();
    let there: BTreeSet<String> = ids(pack.atoms(&[]).iter());
    let lost: Vec<&String> = ledger.stored.difference(&there).collect();
    assert!(lost.is_empty(), "{lost:?}");
    let back: Vec<&String> = ledger.deleted.intersection(&there).collect();
    assert!(back.is_empty(), "{back:?}");
    let known = 1 + ledger.stored.len();
    assert_eq!(there.len(), known, "nothing is there that nobody was told of");
    let status = pack.ok(["status", "--json"]).json();
    assert!(status["segments"].as_u64().unwrap() <= 64, "{status}");
    assert_eq!(status["tombstone"], ledger.deleted.len());
    pack.ok(["verify"]);
    assert!(pack.files("default", "t").is_empty(), "no draft is left");
    assert!(ledger.stored.len() > CROWD / 2 && reads.into_inner() > CROWD / 2, "it was no crowd");
}

fn ids<'a>(atoms: impl Iterator<Item = &'a serde_json::Value>) -> BTreeSet<String> {
    atoms.map(|atom| atom["id"].as_str().unwrap().to_owned()).collect()
}

/// A read in the middle of it all: no error, and whatever was acknowledged before is there.
fn read(pack: &Pack, which: usize, ledger: &Mutex<Ledger>) {
    let before = ledger.lock().unwrap().stored.clone();
    match which % 4 {
        0 => drop(pack.ok(["search", "crowd", "batch"]).out_has("\tlesson\t")),
        1 => drop(pack.ok(["status", "--json"]).json()),
        2 => drop(pack.ok(["verify"]).out_has("whole")),
        _ => {
            let there = ids(pack.atoms(&[]).iter());
            let now = &ledger.lock().unwrap().stored;
            let lost: Vec<&String> =
                before.difference(&there).filter(|id| now.contains(*id)).collect();
            assert!(lost.is_empty(), "{lost:?}");
        }
    }
}

fn write_one(pack: &Pack, number: usize, round: usize, ledger: &Mutex<Ledger>) -> String {
    // Hardly a word in common: a claim that nearly repeats another one would close it.
    let text = format!("m{number}r{round} a{number}b{round} c{number}d{round} of the crowd.");
    let id = pack.remember(&text);
    ledger.lock().unwrap().stored.insert(id.clone());
    id
}

fn write_batch(pack: &Pack, number: usize, round: usize, ledger: &Mutex<Ledger>) -> Vec<String> {
    let ids: Vec<String> = (0..5).map(|n| format!("crowd-{number}-{round}-{n}")).collect();
    let line = |id| format!(r#"{{"kind":"lesson","id":"{id}","text":"Crowd batch {id}."}}"#);
    let lines: Vec<String> = ids.iter().map(line).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    pack.import(&lines).out("5 stored, 0 already there, 0 refused\n");
    ledger.lock().unwrap().stored.extend(ids.iter().cloned());
    ids
}

/// Another compaction or a merge on write may have come first; then there is nothing to do, or
/// the run says that it was overtaken.
fn compact(pack: &Pack) {
    let done = pack.run(["compact"]).done();
    assert!(matches!(done.code, Some(0 | 75)), "{:?} {}", done.code, done.err);
}
