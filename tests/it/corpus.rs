//! Real claims, if `PACKSET_CLAIMS` names a JSON Lines file of them (`text` and `repo`).

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::harness::{Pack, skip};

#[test]
fn real_claims_go_in_are_found_and_come_out() {
    let Some(path) = std::env::var_os("PACKSET_CLAIMS") else {
        return skip("PACKSET_CLAIMS names no file of real claims");
    };
    let text = fs::read_to_string(&path).unwrap();
    let mut lines = String::new();
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for line in text.lines() {
        let claim: Value = serde_json::from_str(line).unwrap();
        let record = json!({
            "kind": "lesson", "id": claim["id"], "text": claim["text"],
            "workspace": claim["repo"], "source": { "path": claim["path"] },
        });
        *count.entry(claim["repo"].as_str().unwrap().to_owned()).or_default() += 1;
        lines += &format!("{record}\n");
    }
    let pack = Pack::new();
    let done = pack.run(["import", "--json", "-"]).stdin(&*lines).done();
    assert!(matches!(done.code, Some(0 | 1)), "{:?} {}", done.code, done.err);
    let tally = done.json();
    let number = |field: &str| tally[field].as_u64().unwrap();
    let total = number("stored") + number("known") + number("refused");
    assert_eq!(total, text.lines().count() as u64, "every line is accounted for");
    assert_eq!(done.err.lines().count() as u64, number("refused"), "each refused line is named");
    assert!(number("refused") * 20 < total, "most real claims are claims: {}", done.err);
    pack.ok(["verify", "--all"]);
    let status = pack.ok(["status", "--all", "--json"]).json();
    assert_eq!(status["live"].as_u64().unwrap(), number("stored"));
    // The whole text of a claim finds it, at or near the top.
    let (largest, _) = count.iter().max_by_key(|(_, count)| **count).unwrap();
    let atoms = pack.atoms(&[largest]);
    for atom in atoms.iter().step_by(atoms.len() / 10 + 1) {
        let text = atom["text"].as_str().unwrap();
        let found = pack.ok(["search", "--json", "--workspace", largest, "--", text]).json();
        let hits = found["hits"].as_array().unwrap();
        let at = hits.iter().position(|hit| hit["id"] == atom["id"]);
        assert!(at.is_some_and(|at| at < 3), "{text}: {at:?}");
    }
    let again = pack.run(["import", "--json", "-"]).stdin(&*lines).done().json();
    assert_eq!(again["stored"], 0);
}
