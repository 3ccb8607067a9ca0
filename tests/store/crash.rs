//! Power loss and kill -9 at every call of every operation, and again while the next commit
//! finds what is left, and again after that.
//!
//! After each: what the judge demands; and the store holds exactly what some step of the
//! operation left, no step before the last acknowledged one, and none but the next after it.

use std::collections::BTreeMap;

use super::ground::{claim, put, store};
use super::judge::{Content, Judge, class, content_of};
use super::operation::{self, Operation};
use packset_segments::sim::{Fault, SimFs};

/// Where the ids of the commits that follow a crash count from, per depth.
const LATER_IDS: u64 = 20_000_000;

/// What an exploration met.
#[derive(Default)]
pub struct Explored {
    /// Distinct disks after a crash, by what was acknowledged before it.
    pub states: BTreeMap<(u128, usize), (SimFs, Content)>,
    /// What did not hold, each with where it first did not.
    pub violations: BTreeMap<String, String>,
}

/// Whether the disk holds what `contents` allow after `done` acknowledged steps.
fn allowed(contents: &[Content], done: usize, found: &Content) -> bool {
    contents.iter().skip(done).take(2).any(|content| content == found)
}

/// Crashes an operation at every call that changes something.
pub fn explore(operation: &Operation, leave_out: &dyn Fn(&SimFs), judge: &mut Judge) -> Explored {
    let mut explored = Explored::default();
    for n in 1.. {
        let fs = operation.base.clone();
        leave_out(&fs);
        fs.fail_mutation_at(n, Fault::Crash);
        let (result, done) = operation.run(&fs);
        let over = fs.hit().is_none();
        assert!(!over || result.is_ok(), "{}: {result:?}", operation.name);
        let mut states = fs.crash_states();
        states.push(fs.kill());
        for state in states {
            let key = (class(&state), done);
            if explored.states.contains_key(&key) {
                continue;
            }
            let what = match judge.look(&state) {
                Ok(found) if allowed(&operation.contents, done, &found) => {
                    explored.states.insert(key, (state, found));
                    continue;
                }
                Ok(found) => match operation.contents.iter().position(|step| *step == found) {
                    Some(step) => format!("acknowledged {done}, but it holds step {step}"),
                    None => format!("after {done} it holds something else: {found:?}"),
                },
                Err(what) => what,
            };
            let place = format!("{}, call {n} ({:?})", operation.name, fs.hit());
            explored.violations.entry(what).or_insert(place);
        }
        if over {
            return explored;
        }
    }
    unreachable!()
}

/// The next commit after a crash, at one depth.
pub fn follow(fs: &SimFs, depth: usize) -> bool {
    let text = "what is said after a crash";
    let record = claim(&format!("later {depth}"), text);
    put(&store(fs, LATER_IDS * depth as u64), vec![record]).is_ok()
}

/// Crashes the next commit on a disk at every call, and looks at every state that may be left.
/// `holds` is what the store shows before it. Returns the new states, one of each class.
pub fn crash_next(
    base: &SimFs,
    holds: &Content,
    before: &[Content],
    depth: usize,
    judge: &mut Judge,
    states: &mut BTreeMap<u128, (SimFs, Content)>,
) -> Result<(), String> {
    let whole = base.kill();
    assert!(follow(&whole, depth));
    let after = content_of(&store(&whole, 0))?;
    for n in 1.. {
        let fs = base.kill();
        fs.fail_mutation_at(n, Fault::Crash);
        let done = follow(&fs, depth);
        for state in fs.crash_states() {
            let digest = class(&state);
            let known = states.get(&digest).map(|(_, content)| content.clone());
            let found = match known {
                Some(content) => content,
                None => {
                    let found = judge.look(&state)?;
                    states.insert(digest, (state, found.clone()));
                    found
                }
            };
            let as_before = found == *holds || before.contains(&found);
            if found != after && (done || !as_before) {
                return Err(format!(
                    "depth {depth}, call {n} ({:?}), acknowledged {done}: it holds {found:?}",
                    fs.hit()
                ));
            }
        }
        if fs.hit().is_none() {
            return Ok(());
        }
    }
    unreachable!()
}

#[test]
fn every_operation_survives_a_crash_at_every_call() {
    let mut judge = Judge::default();
    let mut report = String::new();
    let mut total = 0;
    for operation in operation::all() {
        let explored = explore(&operation, &|_| {}, &mut judge);
        assert!(explored.violations.is_empty(), "{:#?}", explored.violations);
        report += &format!("{}: {}, ", operation.name, explored.states.len());
        total += explored.states.len();
    }
    println!("states after one crash: {total} ({report}distinct {})", judge.seen());
    assert!(total >= 1_500, "the enumeration has shrunk to {total}");
}

/// A process is killed, the next one commits, and then the power goes: what the first one left
/// unsynced may still be lost, and the commit must not be lost with it.
#[test]
fn a_commit_after_a_kill_survives_a_power_loss() {
    let mut judge = Judge::default();
    let mut total = 0;
    for operation in [
        operation::first_write(),
        operation::write(),
        operation::forget(),
        operation::compact_while_written(),
        operation::new_rule(),
    ] {
        for n in 1.. {
            let fs = operation.base.clone();
            fs.fail_mutation_at(n, Fault::Crash);
            let (_, done) = operation.run(&fs);
            let killed = fs.kill();
            let holds = content_of(&store(&killed, 0)).unwrap();
            let before = &operation.contents[done..(done + 2).min(operation.contents.len())];
            let mut states = BTreeMap::new();
            crash_next(&killed, &holds, before, 1, &mut judge, &mut states).unwrap_or_else(
                |what| panic!("{}, call {n} {:?}: {what}", operation.name, fs.hit()),
            );
            total += states.len();
            if fs.hit().is_none() {
                break;
            }
        }
    }
    println!("states after a kill, a commit and a crash: {total}");
    assert!(total >= 12_000, "the enumeration has shrunk to {total}");
}

#[test]
fn a_crash_in_recovery_in_recovery_loses_nothing() {
    let mut judge = Judge::default();
    let mut level: BTreeMap<u128, (SimFs, Content)> = BTreeMap::new();
    for operation in [operation::first_write(), operation::write()] {
        let explored = explore(&operation, &|_| {}, &mut judge);
        level.extend(explored.states.into_iter().map(|((class, _), state)| (class, state)));
    }
    let mut counts = vec![level.len()];
    for depth in 2..=3 {
        let mut next = BTreeMap::new();
        for (state, holds) in level.values() {
            crash_next(state, holds, &[], depth, &mut judge, &mut next)
                .unwrap_or_else(|what| panic!("{what}"));
        }
        counts.push(next.len());
        level = next;
    }
    println!("states after one, two and three crashes: {counts:?}");
    assert!(counts[2] >= 15_000, "the enumeration has shrunk to {counts:?}");
}
