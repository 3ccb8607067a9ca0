//! kill -9 of real writers on the real disk, with a ledger of what they were told.
//!
//! Several processes write two workspaces at a time (claims, batches, deletions, compactions, a
//! scratch workspace that is forgotten) and are killed within 30 ms. Whatever a process printed
//! on stdout was acknowledged: after each round it must be there, or withdrawn if that was
//! acknowledged, and `verify` must find the pack whole.
//!
//! `PACKSET_KILLS` says how many kills; `tests/kills.sh` runs twenty thousand.

#![allow(
    missing_docs,
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test's helpers touch the real world and may fail loudly"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Kills in a run that names no number: what the gate can bear.
const KILLS: u64 = 200;
/// Processes alive at a time: enough that most wait for the lock and some hold it.
const WRITERS: usize = 6;
/// The latest moment of a kill after its process started. A write takes 5 to 30 ms.
const LATEST: Duration = Duration::from_millis(30);
/// Claims in one import. More than one batch, so that a kill can fall between two commits.
const LINES: usize = 6;

/// The same numbers for the same seed, so that a failing run can be told apart from luck.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        // Knuth's MMIX multiplier and increment; the high bits are the random ones.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// What was asked of a process.
enum Job {
    Remember(String),
    Import(Vec<String>),
    Delete(String),
    Compact,
    Forget,
    Scratch,
}

/// What was acknowledged, by text for claims that `remember` named, by id for the rest.
#[derive(Default)]
struct Ledger {
    /// Ids that must be live.
    live: BTreeSet<String>,
    /// Ids that must be withdrawn.
    deleted: BTreeSet<String>,
    /// Ids whose deletion was asked for and not acknowledged: either is right.
    open: BTreeSet<String>,
    /// Every id and text that was ever offered: nothing else may be there.
    offered: BTreeSet<String>,
    acknowledged: u64,
    killed: u64,
}

struct Pack {
    root: PathBuf,
}

impl Pack {
    fn new() -> Self {
        // On the disk that the build is on, which no memory stands in for.
        let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let root = root.join(format!("packset-crash-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).unwrap();
        Self { root }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_packset"));
        command.args(args).env_clear().current_dir(&self.root);
        command.env("PACKSET_HOME", self.root.join("pack")).env("PACKSET_WORKSPACE", "main");
        command.env("PACKSET_LOCK_TIMEOUT_MS", "60000");
        command
    }

    #[track_caller]
    fn ok(&self, args: &[&str]) -> String {
        let Output { status, stdout, stderr } = self.command(args).output().unwrap();
        let (out, err) = (String::from_utf8(stdout).unwrap(), String::from_utf8_lossy(&stderr));
        assert_eq!(status.code(), Some(0), "{args:?}: {out}{err}");
        out
    }

    fn spawn(&self, job: &Job) -> Child {
        let mut command = match job {
            Job::Remember(text) => self.command(&["remember", text]),
            Job::Import(_) => self.command(&["import", "--batch", "4", "-"]),
            Job::Delete(id) => self.command(&["delete", id]),
            Job::Compact => self.command(&["compact"]),
            Job::Forget => self.command(&["forget", "scratch"]),
            Job::Scratch => self.command(&["remember", "--workspace", "scratch", "Scratch."]),
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        if let (Job::Import(ids), Some(mut input)) = (job, child.stdin.take()) {
            let line = |id: &String| {
                format!("{{\"kind\":\"lesson\",\"id\":\"{id}\",\"text\":\"Imported {id}.\"}}\n")
            };
            input.write_all(ids.iter().map(line).collect::<String>().as_bytes()).unwrap();
        }
        child
    }

    /// Live ids and their texts.
    fn atoms(&self) -> BTreeMap<String, String> {
        let atoms = self.ok(&["atoms"]);
        let pair = |line| {
            let atom: Value = serde_json::from_str(line).unwrap();
            (atom["id"].as_str().unwrap().to_owned(), atom["text"].as_str().unwrap().to_owned())
        };
        atoms.lines().map(pair).collect()
    }
}

impl Drop for Pack {
    fn drop(&mut self) {
        // A pack that failed stays, for whoever looks into it.
        if std::thread::panicking() {
            eprintln!("the pack is left in {}", self.root.display());
        } else {
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}

fn next_job(dice: &mut Dice, ledger: &mut Ledger, number: u64) -> Job {
    match dice.roll(12) {
        0..=3 => {
            let text = format!("Remembered {number}.");
            ledger.offered.insert(text.clone());
            Job::Remember(text)
        }
        4..=6 => {
            let ids: Vec<String> = (0..LINES).map(|n| format!("i-{number}-{n}")).collect();
            ledger.offered.extend(ids.iter().cloned());
            Job::Import(ids)
        }
        7 | 8 => {
            let at = dice.roll(ledger.live.len().max(1) as u64) as usize;
            match ledger.live.iter().nth(at).cloned() {
                Some(id) => {
                    ledger.live.remove(&id);
                    ledger.open.insert(id.clone());
                    Job::Delete(id)
                }
                None => Job::Compact,
            }
        }
        9 => Job::Compact,
        10 => Job::Forget,
        _ => Job::Scratch,
    }
}

/// Enters what a process printed before it ended.
fn enter(ledger: &mut Ledger, job: Job, done: &Output) {
    let out = String::from_utf8_lossy(&done.stdout);
    let whole = out.ends_with('\n');
    let story = || format!("{:?} {out} {}", done.status, String::from_utf8_lossy(&done.stderr));
    match done.status.code() {
        None => ledger.killed += 1,
        // A compaction may be overtaken by another one, which says so.
        Some(75) if matches!(job, Job::Compact) => {}
        code => assert_eq!(code, Some(0), "{}", story()),
    }
    if !whole {
        assert!(out.is_empty(), "half an answer: {}", story());
        return;
    }
    ledger.acknowledged += 1;
    match job {
        Job::Remember(_) => {
            ledger.live.insert(out.split('\t').next().unwrap().to_owned());
        }
        Job::Import(ids) => {
            assert_eq!(out, format!("{LINES} stored, 0 already there, 0 refused\n"));
            ledger.live.extend(ids);
        }
        Job::Delete(id) => {
            ledger.open.remove(&id);
            ledger.deleted.insert(id);
        }
        Job::Compact | Job::Forget | Job::Scratch => {}
    }
}

fn check(pack: &Pack, ledger: &Ledger) {
    let verified = pack.ok(&["verify", "--all"]);
    assert!(!verified.contains("damaged"), "{verified}");
    let there = pack.atoms();
    let lost: Vec<&String> = ledger.live.iter().filter(|id| !there.contains_key(*id)).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    let back: Vec<&String> = ledger.deleted.iter().filter(|id| there.contains_key(*id)).collect();
    assert!(back.is_empty(), "withdrawn and back: {back:?}");
    for (id, text) in &there {
        let known = ledger.offered.contains(id) || ledger.offered.contains(text);
        assert!(known, "nobody wrote {id}: {text}");
    }
    pack.ok(&["search", "-q", "--json", "--limit", "1", "remembered imported"]);
    pack.ok(&["status", "--all"]);
}

#[test]
fn killed_writers_lose_nothing_that_was_acknowledged() {
    let kills = std::env::var("PACKSET_KILLS").ok().map(|text| text.parse().unwrap());
    let kills: u64 = kills.unwrap_or(KILLS);
    let seed = std::env::var("PACKSET_SEED").ok().map(|text| text.parse().unwrap()).unwrap_or(1);
    let pack = Pack::new();
    let mut dice = Dice(seed);
    let mut ledger = Ledger::default();
    ledger.offered.insert("Remembered first.".into());
    let first = pack.ok(&["remember", "Remembered first."]);
    ledger.live.insert(first.split('\t').next().unwrap().to_owned());
    let mut number = 0;
    while ledger.killed < kills {
        let start = Instant::now();
        let mut running = Vec::new();
        for _ in 0..WRITERS {
            number += 1;
            let job = next_job(&mut dice, &mut ledger, number);
            let child = pack.spawn(&job);
            let span = Duration::from_micros(dice.roll(LATEST.as_micros() as u64));
            running.push((start.elapsed() + span, job, child));
        }
        // One in six is left alone, so that something is acknowledged in every round.
        let spared = dice.roll(WRITERS as u64) as usize;
        running.sort_by_key(|(at, ..)| *at);
        for (place, (at, _, child)) in running.iter_mut().enumerate() {
            if place != spared {
                std::thread::sleep(at.saturating_sub(start.elapsed()));
                let _ = child.kill();
            }
        }
        for (_, job, child) in running {
            let done = child.wait_with_output().unwrap();
            enter(&mut ledger, job, &done);
        }
        check(&pack, &ledger);
        assert!(number < 1000 * kills, "the processes end before they are killed");
    }
    // Once nobody is killed, one commit and one forget leave nothing of the dead behind.
    pack.ok(&["remember", "Remembered first."]);
    ledger.offered.insert("Remembered last.".into());
    pack.ok(&["remember", "Remembered last."]);
    pack.ok(&["forget", "scratch"]);
    let left = fs::read_dir(pack.root.join("pack/ws")).unwrap();
    let names: Vec<String> =
        left.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names, ["main"]);
    assert_eq!(fs::read_dir(pack.root.join("pack/ws/main/t")).unwrap().count(), 0);
    check(&pack, &ledger);
    let Ledger { killed, acknowledged, .. } = &ledger;
    eprintln!("{killed} killed, {acknowledged} acknowledged, {} live", pack.atoms().len());
    assert!(*acknowledged > kills / 8, "too few were acknowledged to prove anything");
}
