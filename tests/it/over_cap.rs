//! Loading claims past the live cap, and linking what was loaded.

use std::fmt::Write as _;

use serde_json::json;

use crate::harness::Pack;

/// Lines of lessons that say different things, one for each number.
fn lines(numbers: std::ops::Range<u32>) -> String {
    let mut lines = String::new();
    for number in numbers {
        let text = format!("Machine {number}x stands in {number}y, {number}z.");
        writeln!(lines, "{}", json!({"kind": "lesson", "text": text})).unwrap();
    }
    lines
}

#[test]
fn an_import_that_would_pass_the_cap_stores_nothing_and_says_so() {
    let pack = Pack::new().var("PACKSET_LIVE_CAP", "5");
    pack.run(["import", "-"]).stdin(lines(0..3)).done().code(0);
    // Two of these four are there already: five fit.
    pack.run(["import", "-"]).stdin(lines(1..5)).done().code(0).out_has("2 stored, 2 already");
    let refused = pack.run(["import", "--batch", "1", "-"]).stdin(lines(4..8)).done().fails(1);
    let want = "packset: nothing is stored: in workspace default, \
                3 new claims beside 5 live ones would pass the live cap of 5\n\
                hint: --over-cap stores them and forgets none; PACKSET_LIVE_CAP sets another \
                cap, or off\n";
    refused.err(want);
    assert_eq!(pack.atoms(&[]).len(), 5);
    // A file is looked at the same way.
    std::fs::write(pack.work().join("f.jsonl"), lines(4..8)).unwrap();
    pack.run(["import", "f.jsonl"]).done().fails(1);
    // Lines that repeat one another, refused lines and closed claims come to nothing.
    let mut odd = lines(4..5).repeat(9);
    odd.push_str(r#"{"kind":"lesson","text":"Long ago.","valid_to":"2001-01-01T00:00:00Z"}"#);
    odd.push_str("\n{\"kind\":\"nonsense\",\"text\":\"x\"}");
    pack.run(["import", "-"]).stdin(odd).done().code(1).out_has("1 stored, 9 already");
    // Another workspace has room of its own.
    pack.run(["import", "--workspace", "other", "-"]).stdin(lines(0..5)).done().code(0);
    let own = r#"{"kind":"lesson","text":"One more.","workspace":"other"}"#;
    pack.run(["import", "-"]).stdin(own).done().fails(1).err_has("in workspace other, 1 new");
}

#[test]
fn over_the_cap_on_purpose_nothing_is_forgotten_then_or_later() {
    let pack = Pack::new().var("PACKSET_LIVE_CAP", "5");
    let ways = [
        pack.run(["import", "--over-cap", "-"]),
        pack.run(["import", "--workspace", "off", "-"]).var("PACKSET_LIVE_CAP", "off"),
    ];
    for way in ways {
        way.stdin(lines(0..8)).done().code(0).out("8 stored, 0 already there, 0 refused\n");
    }
    assert_eq!(pack.atoms(&[]).len(), 8);
    assert_eq!(pack.atoms(&["off"]).len(), 8);
    // What was let in on purpose is kept at its size, also by the next import.
    pack.run(["import", "-"]).stdin(lines(0..8)).done().code(0).out_has("0 stored, 8 already");
    pack.run(["import", "-"]).stdin(lines(8..9)).done().fails(1).err_has("live cap of 8");
    pack.ok(["compact"]);
    pack.run(["import", "-"]).stdin(lines(8..9)).done().fails(1).err_has("live cap of 8");
}

#[test]
fn a_batch_that_would_pass_the_cap_stores_nothing() {
    let pack = Pack::new().var("PACKSET_LIVE_CAP", "2");
    let said = |number: u32| {
        let text = format!("Machine {number}x stands in {number}y, {number}z.");
        json!({"op": "remember", "text": text}).to_string()
    };
    let batch = |count: u32| (0..count).map(|n| said(n) + "\n").collect::<String>();
    let done = pack.run(["batch", "-"]).stdin(batch(3)).done().fails(1);
    done.err_has("nothing is stored: in workspace default, 3 new claims beside 0 live ones");
    pack.run(["batch", "--best-effort", "-"]).stdin(batch(3)).done().fails(1);
    assert!(pack.atoms(&[]).is_empty());
    pack.run(["batch", "-"]).stdin(batch(2)).done().code(0);
    // One goes and one comes: the cap is not passed.
    let id = pack.atoms(&[])[0]["id"].clone();
    let swap = format!("{}\n{}", json!({"op": "delete", "id": id}), said(7));
    pack.run(["batch", "-"]).stdin(swap).done().code(0);
    assert_eq!(pack.atoms(&[]).len(), 2);
    pack.run(["batch", "--over-cap", "-"]).stdin(said(8)).done().code(0);
    assert_eq!(pack.atoms(&[]).len(), 3);
    pack.run(["batch", "-"]).stdin(said(9)).done().fails(1).err_has("live cap of 3");
    pack.run(["batch", "-"]).var("PACKSET_LIVE_CAP", "many").stdin("").done().fails(64);
}

#[test]
fn what_was_imported_is_linked_if_that_is_asked_for() {
    let pack = Pack::new();
    let about = |id: &str, topics: &[&str]| {
        json!({"kind": "lesson", "id": id, "text": format!("It is {id}."), "entities": topics})
            .to_string()
    };
    // Overlaps of topics: a and b 2/3, c with neither.
    let lines =
        [about("a", &["vault", "seal"]), about("b", &["vault", "seal", "key"]), about("c", &["x"])];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    pack.import(&lines);
    let unlinked = |atom: &serde_json::Value| {
        atom.get("links").and_then(|links| links.as_array()).is_none_or(Vec::is_empty)
    };
    assert!(pack.atoms(&[]).iter().all(unlinked));
    let again = pack.run(["import", "--link", "-"]).stdin(lines.join("\n")).done().code(0);
    again.out("0 stored, 3 already there, 0 refused\n");
    assert!(pack.atoms(&[]).iter().all(unlinked), "a run that stores nothing links nothing");
    let more = about("d", &["x", "y"]);
    pack.run(["import", "--link", "-"]).stdin(more).done().code(0);
    let links = |id: &str| pack.ok(["show", "--json", id]).json()["links"].clone();
    assert_eq!(links("a"), json!(["b"]));
    assert_eq!(links("b"), json!(["a"]));
    assert_eq!((links("c"), links("d")), (json!(["d"]), json!(["c"])));
    assert_eq!(pack.atoms(&[]).len(), 4, "nothing is closed");
    pack.ok(["verify"]);
    // An import over a claim that has links leaves them alone.
    let other =
        json!({"kind": "lesson", "id": "a", "text": "Other.", "entities": ["vault", "seal"]});
    pack.import(&[&other.to_string()]);
    assert_eq!(links("a"), json!(["b"]));
    pack.run(["import", "--link", "--records", "-"]).stdin("").done().fails(64);
}
