//! Recall with and without hints.

use packset::claim::{self, recall};
use packset::pack::record;
use serde_json::json;

use crate::lab::Lab;

fn ids(lab: &Lab, hints: &recall::Hints<'_>, limit: usize, kind: Option<&str>) -> String {
    let found = recall::recall(&lab.snapshot(), hints, limit, kind, lab.now()).unwrap();
    found.iter().map(record::id).collect::<Vec<_>>().join(" ")
}

const NONE: recall::Hints<'_> = recall::Hints { cue: "", seeds: &[] };

#[test]
fn a_small_workspace_is_recalled_whole_and_in_order() {
    let lab = Lab::new();
    let lesson = |id: &str, text: &str, trust: Option<f64>| {
        let mut claim = json!({"kind": "lesson", "id": id, "text": text});
        if let Some(trust) = trust {
            claim["trust"] = json!(trust);
        }
        lab.write(claim)
    };
    lesson("old", "Vault is sealed at night.", None);
    lab.write(json!({"kind": "message", "id": "letter", "text": "Hello."}));
    lab.write(json!({"kind": "message", "id": "gone", "text": "Bye."}));
    lab.commit(|transaction| claim::delete(transaction, "gone", None));
    // Two days later `old` is due.
    lab.day(2);
    lesson("less", "Ports above 9000 are free.", Some(0.5));
    lesson("one", "Tabs stand in makefiles.", None);
    lab.set(lab.now().plus(1_000_000));
    // Both are read a second later: less time since the review, and a later `ts`.
    lesson("two", "Lint before each push.", None);
    assert_eq!(ids(&lab, &NONE, 64, None), "old two one less");
    assert_eq!(ids(&lab, &NONE, 2, None), "old two");
    assert_eq!(ids(&lab, &NONE, 0, None), "");
    assert_eq!(ids(&lab, &NONE, 64, Some("message")), "letter");
    assert_eq!(ids(&lab, &NONE, 64, Some("goal")), "");
    // It fits, so hints leave nothing out.
    let hints = recall::Hints { cue: "tabs", seeds: &[] };
    assert_eq!(ids(&lab, &hints, 64, None), "old two one less");
}

#[test]
fn hints_meet_due_claims_neighbours_and_themselves() {
    let lab = Lab::new();
    let about = |id: &str, text: &str, topics: &[&str]| {
        lab.write(json!({"kind": "lesson", "id": id, "text": text, "entities": topics}));
    };
    about("due", "Sealed at night.", &["vault"]);
    lab.day(2);
    about("near", "Opened at dawn.", &["vault", "door"]);
    about("met", "Painted green.", &["door"]);
    for number in 0..4 {
        about(
            &format!("far{number}"),
            &format!("Number {number}{number}."),
            &[&format!("x{number}")],
        );
    }
    let seeds = |seeds: &'static [&'static str]| recall::Hints { cue: "", seeds };
    // A name of an entity, whole: due first, then the neighbours of what was met, then that.
    assert_eq!(ids(&lab, &seeds(&["vault"]), 6, None), "due met near");
    assert_eq!(ids(&lab, &seeds(&["vaul"]), 6, None), "");
    assert_eq!(ids(&lab, &seeds(&["met"]), 6, None), "near met", "the id of a claim");
    // Half of the cue's words, stop words aside: `painted` of `painted`, `blue`.
    let cue = |cue: &'static str| recall::Hints { cue, seeds: &[] };
    assert_eq!(ids(&lab, &cue("the painted blue"), 6, None), "near met");
    assert_eq!(ids(&lab, &cue("painted blue or red"), 6, None), "");
    // Neighbours leave room for what was met.
    assert_eq!(ids(&lab, &seeds(&["met"]), 2, None), "near met");
    assert_eq!(ids(&lab, &seeds(&["met"]), 1, None), "near");
}

#[test]
fn no_more_than_the_caps_are_recalled() {
    let lab = Lab::new();
    for number in 0..70 {
        let text = format!("Number {number}{number}. {}", "x".repeat(470));
        lab.write(json!({"kind": "preference", "text": text}));
    }
    let found = recall::recall(&lab.snapshot(), &NONE, 99, None, lab.now()).unwrap();
    assert_eq!(found.len(), 64);
    let characters: usize = found.iter().map(|one| one["text"].as_str().unwrap().len()).sum();
    assert!(characters <= recall::MOST_CHARACTERS);
}
