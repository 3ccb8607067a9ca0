//! Every call of every operation fails once, in every way.
//!
//! The answer is a typed error or an acknowledgement; what was acknowledged before is there; the
//! store holds what it held before or what it should hold after, the latter under an error only
//! if the error says that it does not know or the call lied; the next commit works and leaves
//! nothing behind; and no file is synced again after its sync failed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use packset::pack::Error;
use packset_segments::sim::{Call, Fault, Refusal, SimFs, Step};

use super::crash::{crash_next, follow};
use super::judge::Judge;
use super::operation;

const FAULTS: [Fault; 5] = [
    Fault::Error(Refusal::Eio),
    Fault::Error(Refusal::Enospc),
    Fault::ShortWrite,
    Fault::SyncFailsAndDrops,
    Fault::ErrorAfterSuccess,
];

/// Whether a fault means something other than a plain refusal for a call.
fn is_of_its_own(fault: Fault, call: Call) -> bool {
    match fault {
        Fault::Error(Refusal::Eio) => true,
        Fault::Error(_) => matches!(call, Call::CreateNew | Call::Write | Call::RenameNew),
        Fault::ShortWrite => call == Call::Write,
        Fault::SyncFailsAndDrops => call.syncs(),
        Fault::ErrorAfterSuccess => call.mutates(),
        Fault::Crash => false,
    }
}

/// Notes the paths of all syncs from now on.
fn watch_syncs(fs: &SimFs) -> Arc<Mutex<Vec<PathBuf>>> {
    let synced: Arc<Mutex<Vec<PathBuf>>> = Arc::default();
    let list = Arc::clone(&synced);
    fs.skip(Step::When(Arc::new(move |call, path| {
        if matches!(call, Call::Seal | Call::Sync) {
            list.lock().unwrap().push(path.to_owned());
        }
        false
    })));
    synced
}

#[test]
fn every_call_may_fail() {
    let mut judge = Judge::default();
    let mut count = 0;
    let mut violations = Vec::new();
    for operation in operation::all() {
        for fault in FAULTS {
            for n in 1.. {
                let fs = operation.base.clone();
                fs.fail_at(n, fault);
                let synced = watch_syncs(&fs);
                let (result, done) = operation.run(&fs);
                let Some((call, path)) = fs.hit() else { break };
                if !is_of_its_own(fault, call) {
                    continue;
                }
                count += 1;
                let at = format!("{}: {fault:?} at call {n}, {call:?} {path:?}", operation.name);
                if call.syncs() && call != Call::SyncDir && synced.lock().unwrap().contains(&path) {
                    violations.push(format!("{at}: synced again"));
                }
                let found = match judge.look(&fs.kill()) {
                    Ok(found) => found,
                    Err(what) => {
                        violations.push(format!("{at}, said {result:?}: {what}"));
                        continue;
                    }
                };
                let is = |step: usize| operation.contents.get(step).is_some_and(|c| *c == found);
                let unknown = matches!(result, Err(Error::Unknown { .. }));
                let lied = fault == Fault::ErrorAfterSuccess;
                if !(is(done) || (unknown || lied) && is(done + 1)) {
                    violations.push(format!("{at}, said {result:?} after {done}: {found:?}"));
                }
                // What is acknowledged stays, whatever was dropped, once the power goes.
                if result.is_ok() {
                    for state in fs.crash_states() {
                        match judge.look(&state) {
                            Ok(found) if operation.contents.last() == Some(&found) => {}
                            other => violations.push(format!("{at}, after a crash: {other:?}")),
                        }
                    }
                }
            }
        }
    }
    println!("faults: {count}, distinct states {}", judge.seen());
    let first: Vec<_> = violations.iter().take(12).collect();
    assert!(violations.is_empty(), "{} violations: {first:#?}", violations.len());
    assert!(count > 1_000, "the enumeration has shrunk to {count}");
}

/// After a fault the next commit succeeds, and then the power goes: it is there.
#[test]
fn a_commit_after_a_fault_survives_a_power_loss() {
    let mut judge = Judge::lenient();
    let mut violations = Vec::new();
    let mut count = 0;
    for operation in [operation::first_write(), operation::write(), operation::forget()] {
        for fault in [Fault::SyncFailsAndDrops, Fault::ErrorAfterSuccess] {
            for n in 1.. {
                let fs = operation.base.clone();
                fs.fail_at(n, fault);
                let (_, done) = operation.run(&fs);
                let Some((call, path)) = fs.hit() else { break };
                if !is_of_its_own(fault, call) {
                    continue;
                }
                let at = format!("{}: {fault:?} at call {n}, {call:?} {path:?}", operation.name);
                let live = judge.look(&fs.kill());
                assert!(follow(&fs, 1), "{at}");
                let after = judge.look(&fs.kill());
                for state in fs.crash_states() {
                    count += 1;
                    let found = judge.look(&state);
                    if found != after {
                        violations.push(format!("{at} ({done}, {live:?}): {found:?}"));
                    }
                }
            }
        }
    }
    println!("states after a fault, a commit and a crash: {count}");
    let first: Vec<_> = violations.iter().take(6).collect();
    assert!(violations.is_empty(), "{} violations: {first:#?}", violations.len());
}

/// A sync fails and drops what it was to save, and the power goes anywhere in the next commit,
/// whose own syncs claim success: what was acknowledged before both is there.
#[test]
fn a_power_loss_in_the_commit_after_a_failed_sync_loses_nothing_older() {
    let mut judge = Judge::lenient();
    let mut count = 0;
    for operation in [operation::first_write(), operation::write(), operation::new_rule()] {
        for n in 1.. {
            let fs = operation.base.clone();
            fs.fail_at(n, Fault::SyncFailsAndDrops);
            let (_, done) = operation.run(&fs);
            let Some((call, path)) = fs.hit() else { break };
            if !call.syncs() || done > 0 {
                continue;
            }
            let fs = fs.kill();
            let holds = judge.look(&fs).unwrap();
            let mut states = BTreeMap::new();
            let before = &operation.contents;
            crash_next(&fs, &holds, before, 1, &mut judge, &mut states)
                .unwrap_or_else(|what| panic!("{}, {call:?} {path:?}: {what}", operation.name));
            count += states.len();
        }
    }
    assert!(count > 500, "the enumeration has shrunk to {count}");
}
