//! What a write does for its workspace: the sweep of the day, and the live cap.

use packset::claim::{self, Written, upkeep};
use packset::pack::{Transaction, record};
use packset::time::{DAY, SECOND};
use serde_json::json;

use crate::harness::Pack;
use crate::lab::{Lab, START};

fn lesson(id: &str, text: &str) -> serde_json::Value {
    json!({"kind": "lesson", "id": id, "text": text})
}

fn neglected(lab: &Lab, id: &str) -> u64 {
    lab.get(id)["review"].get("neglected").and_then(|n| n.as_u64()).unwrap_or(0)
}

#[test]
fn the_first_write_of_a_day_sweeps_and_the_next_does_not() {
    let lab = Lab::new();
    lab.write(lesson("a", "Vault is sealed at night."));
    // Due on day 1, overdue by more than two days from day 3 on.
    lab.day(3);
    lab.write(lesson("b", "Ports above 9000 are free."));
    assert_eq!(neglected(&lab, "a"), 0, "two days exactly are not more than two");
    lab.set(START.plus(3 * DAY + SECOND));
    lab.write(lesson("c", "Tabs stand in makefiles."));
    assert_eq!(neglected(&lab, "a"), 0, "this day was swept already");
    lab.day(4);
    let generation = lab.snapshot().manifest().generation;
    lab.write(lesson("d", "Lint before each push."));
    assert_eq!(neglected(&lab, "a"), 1);
    assert_eq!(lab.snapshot().manifest().generation, generation + 1, "one commit does both");
    lab.write(lesson("e", "Squash before each merge."));
    assert_eq!(neglected(&lab, "a"), 1);
    let log = packset::pack::history::of_workspace(&lab.snapshot()).unwrap();
    assert!(log.iter().all(|entry| record::kind(&entry.record) == "lesson"), "no note is listed");
}

#[test]
fn a_claim_that_nobody_looks_at_is_gone_on_its_third_miss() {
    let lab = Lab::new();
    lab.write(lesson("a", "Vault is sealed at night."));
    for day in 1..=12 {
        lab.day(day);
        // Preferences are never forgotten, and are not what this is about.
        let text = format!("Wish number {day}, {}.", "x".repeat(day as usize));
        lab.write(json!({"kind": "preference", "text": text}));
        // The hand-computed days of `review::neglect`: misses on days 4, 8 and 12.
        let there = lab.live_ids().contains(&"a".to_owned());
        assert_eq!(there, day < 12, "day {day}");
    }
    assert_eq!(lab.get("a")["forgotten"], "neglect");
}

#[test]
fn a_refused_write_and_a_repeat_sweep_nothing() {
    let lab = Lab::new();
    lab.write(lesson("a", "Vault is sealed at night."));
    lab.write(lesson("gone", "This one is withdrawn."));
    lab.commit(|transaction| claim::delete(transaction, "gone", None));
    lab.day(5);
    let generation = lab.snapshot().manifest().generation;
    assert!(lab.write_under(lesson("gone", "Ports are free."), None).is_err());
    let known = lab.write_under(lesson("x", "Vault is sealed at night."), None).unwrap().0;
    assert!(matches!(known, Written::Known(_)));
    assert_eq!(lab.snapshot().manifest().generation, generation);
    assert_eq!(neglected(&lab, "a"), 0);
}

#[test]
fn a_clock_that_jumps_back_holds_no_sweep_back() {
    let lab = Lab::new();
    lab.write(lesson("a", "Vault is sealed at night."));
    lab.day(4);
    lab.write(lesson("b", "Ports above 9000 are free."));
    assert_eq!(neglected(&lab, "a"), 1);
    // Recorded times do not run back, so the day stays the same and nothing is swept twice.
    lab.day(2);
    lab.write(lesson("c", "Tabs stand in makefiles."));
    assert_eq!(neglected(&lab, "a"), 1);
    lab.day(8);
    lab.write(lesson("d", "Lint before each push."));
    assert_eq!(neglected(&lab, "a"), 2);
}

#[test]
fn one_of_many_processes_sweeps() {
    let lab = Lab::new();
    lab.write(lesson("a", "Vault is sealed at night."));
    lab.day(4);
    std::thread::scope(|scope| {
        for number in 0..6 {
            let lab = &lab;
            scope.spawn(move || {
                let text = format!("Machine {number}{number} stands in room {number}.");
                let claim = json!({"kind": "preference", "text": text});
                // A simulated lock does not wait.
                while lab.write_under(claim.clone(), None).is_err() {
                    std::thread::yield_now();
                }
            });
        }
    });
    assert_eq!(neglected(&lab, "a"), 1);
}

#[test]
fn what_the_write_itself_says_is_not_swept_over() {
    let lab = Lab::new();
    lab.write(lesson("a", "The build uses port 8080 for tests."));
    lab.day(4);
    // It closes the overdue claim; a closed claim does not lapse.
    lab.write(lesson("b", "The build uses port 9090 for tests."));
    let old = lab.get("a");
    assert!(old["valid_to"].is_string());
    assert!(old["review"].get("neglected").is_none(), "{old:?}");
}

#[test]
fn the_cap_forgets_the_least_retrievable_and_the_answer_says_how_many() {
    let lab = Lab::new();
    for (day, id, text) in [
        (0, "a", "Vault is sealed at night."),
        (1, "b", "Ports above 9000 are free."),
        (2, "c", "Tabs stand in makefiles."),
    ] {
        lab.day(day);
        let (_, forgot) = lab.write_under(lesson(id, text), Some(3)).unwrap();
        assert_eq!(forgot, 0);
    }
    // Recalled on day 2, `a` is held more firmly than `b`, which was last looked at on day 1.
    lab.commit(|transaction| claim::grade(transaction, "a", true));
    let (written, forgot) =
        lab.write_under(lesson("d", "Lint before each push."), Some(3)).unwrap();
    assert_eq!(forgot, 1);
    assert!(!written.record().contains_key("forgot"));
    assert_eq!(lab.live_ids(), ["a", "c", "d"]);
    let gone = lab.get("b");
    assert_eq!(gone["forgotten"], "the live cap");
    assert_eq!(gone["tombstone"], true);
    // A lower cap: the one that is written stays whatever the cap.
    let (_, forgot) = lab.write_under(lesson("e", "Squash before each merge."), Some(1)).unwrap();
    assert_eq!((forgot, lab.live_ids()), (3, vec!["e".to_owned()]));
    let off = lab.write_under(lesson("f", "Docs live in the wiki."), None).unwrap();
    assert_eq!(off.1, 0);
}

#[test]
fn what_is_pinned_or_of_a_kind_that_is_kept_stays_past_the_cap() {
    let lab = Lab::new();
    let kept = [
        json!({"kind": "lesson", "id": "pinned", "text": "Vault is sealed.", "pinned": true}),
        json!({"kind": "goal", "id": "goal", "text": "Ship by spring."}),
        json!({"kind": "rule", "id": "rule", "text": "Too sharp.", "pattern": "rm *", "verdict": "deny"}),
    ];
    for claim in kept {
        lab.write_under(claim, Some(2)).unwrap();
    }
    assert_eq!(lab.live_ids(), ["goal", "pinned", "rule"]);
    lab.day(1);
    lab.write_under(lesson("a", "Tabs stand in makefiles."), Some(2)).unwrap();
    let (_, forgot) = lab.write_under(lesson("b", "Ports are free."), Some(2)).unwrap();
    assert_eq!((forgot, lab.live_ids().contains(&"a".to_owned())), (1, false));
}

#[test]
fn what_was_let_in_past_the_cap_is_kept_at_its_size() {
    let lab = Lab::new();
    for (id, text) in [
        ("a", "Vault is sealed at night."),
        ("b", "Ports above 9000 are free."),
        ("c", "Tabs stand in makefiles."),
    ] {
        lab.write(lesson(id, text));
    }
    let letting_in = |transaction: &mut Transaction<'_>| upkeep::allow(transaction, Some(2));
    lab.commit(letting_in);
    lab.day(1);
    let (_, forgot) = lab.write_under(lesson("d", "Lint before each push."), Some(2)).unwrap();
    assert_eq!((forgot, lab.live_ids().len()), (1, 3));
    assert_eq!(upkeep::room(Some(&lab.snapshot()), 2).unwrap(), 3);
    assert_eq!(upkeep::room(None, 2).unwrap(), 2);
}

#[test]
fn a_claim_whose_window_ended_leaves_room() {
    let lab = Lab::new();
    let ends = START.plus(DAY).format_ms();
    lab.write(json!({"kind": "lesson", "id": "a", "text": "Until tomorrow.", "valid_to": ends}));
    lab.write(lesson("b", "Ports above 9000 are free."));
    lab.day(2);
    let (_, forgot) = lab.write_under(lesson("c", "Tabs stand in makefiles."), Some(2)).unwrap();
    assert_eq!((forgot, lab.live_ids()), (0, vec!["b".to_owned(), "c".to_owned()]));
}

#[test]
fn a_note_is_no_file_and_no_forgotten_claim() {
    let pack = Pack::new();
    pack.remember("Vault is sealed at night.");
    pack.ok(["export", "--into", "out"]);
    assert_eq!(std::fs::read_dir(pack.work().join("out")).unwrap().count(), 1);
    pack.ok(["forget", "default"]).out("1 forgotten from default\n");
}
