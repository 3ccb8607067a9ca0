//! `show`, `log`, `diff`, `undo`, `why`: what happened and why, asked for and taken back.

use crate::harness::{Pack, is_time, keys};

#[test]
fn show_prints_a_record_whatever_its_state() {
    let pack = Pack::new();
    let id = pack.remember("One.");
    let shown = pack.ok(["show", "--json", &id]).json();
    assert_eq!(shown, pack.atoms(&[])[0]);
    let pretty = pack.ok(["show", &id]).err("").out;
    assert_eq!(serde_json::from_str::<serde_json::Value>(&pretty).unwrap(), shown);
    pack.ok(["delete", &id, "--why", "deed-1"]);
    let shown = pack.ok(["show", "--json", &id]).json();
    assert_eq!(shown["tombstone"], true);
    assert_eq!(shown["retracted_by"], "deed-1");
    pack.run(["show", "nothing"]).done().fails(1).err_has("nothing");
    pack.run(["show", &id, "elsewhere"]).done().fails(1);
}

#[test]
fn log_names_every_version_newest_first() {
    let pack = Pack::new();
    let id = pack.remember("One.");
    pack.remember("Two.");
    pack.ok(["delete", &id, "--why", "deed-1"]);
    let log = pack.ok(["log", "--json"]).json_lines();
    assert_eq!(log.len(), 3);
    for entry in &log {
        let shape = ["schema", "recorded", "generation", "change", "who", "why", "record"];
        assert_eq!(keys(entry), shape);
        assert_eq!(entry["schema"], "packset.log/v1");
        assert!(is_time(entry["recorded"].as_str().unwrap()));
    }
    assert_eq!(log[0]["record"]["id"], id.as_str());
    assert_eq!(log[0]["why"], "deed-1");
    let recorded: Vec<&str> = log.iter().map(|entry| entry["recorded"].as_str().unwrap()).collect();
    assert!(recorded.is_sorted_by(|a, b| a >= b), "{recorded:?}");
    assert_eq!(pack.ok(["log", "--json", &id]).json_lines().len(), 2);
    let rows = pack.ok(["log", &id]).out;
    assert_eq!(rows.lines().count(), 2);
    assert!(rows.lines().all(|row| row.split('\t').count() == 6), "{rows}");
    pack.run(["log", "nothing"]).done().fails(1);
    pack.ok(["log", "--workspace", "elsewhere"]).out("");
}

#[test]
fn diff_says_what_changed_between_two_generations() {
    let pack = Pack::new();
    let id = pack.remember("One.");
    pack.remember("Two.");
    pack.ok(["delete", &id]);
    let changes = pack.ok(["diff", "--json", "g1..g3"]).json_lines();
    assert_eq!(changes.len(), 2, "{changes:?}");
    for change in &changes {
        assert_eq!(keys(change), ["schema", "before", "after"]);
        assert_eq!(change["schema"], "packset.diff/v1");
    }
    pack.ok(["diff", "g3..g3"]).out("");
    pack.ok(["diff", "g3.."]).out("");
    let rows = pack.ok(["diff", "g1..g2"]).out;
    let cells: Vec<&str> = rows.strip_suffix('\n').unwrap().split('\t').collect();
    assert_eq!((cells[0], cells[3]), ("+", "Two."), "{rows}");
    pack.ok(["diff", "--workspace", "elsewhere", "g0..g1"]).out("");
}

#[test]
fn undo_takes_a_commit_back() {
    let pack = Pack::new();
    pack.run(["undo"]).done().fails(1);
    let id = pack.remember("Vault one.");
    pack.ok(["delete", &id]);
    assert!(pack.found("vault").is_empty());
    pack.ok(["undo"]).out(&format!("restored\t{id}\tVault one.\n"));
    assert_eq!(pack.found("vault"), ["Vault one."]);
    let done = pack.ok(["undo", "--json"]).json();
    assert_eq!(keys(&done), ["schema", "workspace", "undone", "generation", "records"]);
    assert_eq!(done["schema"], "packset.undo/v1");
    assert!(pack.found("vault").is_empty(), "an undo can be undone");
    pack.ok(["verify"]);
    pack.ok(["compact", "--keep", "0s"]);
    pack.ok(["verify"]);
}

#[test]
fn why_explains_a_place_and_an_absence() {
    let pack = Pack::new();
    let id = pack.remember("The vault holds the deploy key.");
    let other = pack.remember("Tabs belong in makefiles.");
    let why = |id: &str| pack.ok(["why", "--json", id, "--query", "vault key"]).json();
    let found = why(&id);
    assert_eq!(found["schema"], "packset.why/v1");
    assert_eq!(found["place"], 1);
    let hit = &pack.ok(["search", "--json", "vault", "key"]).json()["hits"][0];
    let ballots: Vec<&str> = found["ballots"]
        .as_array()
        .unwrap()
        .iter()
        .map(|b| b["ballot"].as_str().unwrap())
        .collect();
    let named = keys(&hit["ranks"]);
    assert!(ballots.len() == named.len() && named.iter().all(|name| ballots.contains(name)));
    assert_eq!(why(&other)["place"], serde_json::Value::Null);
    pack.ok(["why", &id, "--query", "vault key"]);
    pack.run(["why", "nothing", "--query", "vault"]).done().fails(1);
}
