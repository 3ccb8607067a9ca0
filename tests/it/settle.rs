//! What a written claim does to the others: it closes what it replaces and links its neighbours.

use std::collections::{BTreeMap, BTreeSet};

use crate::harness::Pack;

fn field(pack: &Pack, id: &str, name: &str) -> Vec<String> {
    let record = pack.ok(["show", "--json", id]).json();
    let list = record[name].as_array().cloned().unwrap_or_default();
    list.iter().map(|value| value.as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_rewrite_closes_the_claim_it_says_again() {
    let pack = Pack::new();
    let old = pack.remember("Staging deploys run from the green branch every night.");
    // Eight of nine tokens are shared: a Jaccard of 8/10.
    let new = pack.remember("Staging deploys run from the blue branch every night.");
    assert_eq!(field(&pack, &new, "supersedes"), std::slice::from_ref(&old));
    assert_eq!(pack.atoms(&[]).len(), 1);
    let closed = pack.ok(["show", "--json", &old]).json();
    assert!(closed["valid_to"].is_string(), "history stays: {closed}");
    // Said again, it is a new claim, not the closed one.
    let again = pack.remember("Staging deploys run from the green branch every night.");
    assert_ne!(again, old);
    assert_eq!(field(&pack, &again, "supersedes"), [new]);
    pack.ok(["verify"]);
    pack.ok(["compact"]);
    assert_eq!(pack.found("green"), ["Staging deploys run from the green branch every night."]);
    assert!(pack.found("blue").is_empty());
    pack.ok(["verify"]);
}

#[test]
fn the_same_opening_with_another_object_closes_but_not_a_preference() {
    let pack = Pack::new();
    let old = pack.remember("The release is cut on Friday.");
    let new = pack.remember("The release is cut by robots.");
    // Four of the six words at the start agree, 0.67 of the shorter; a Jaccard of 4/8 alone
    // would not do.
    assert_eq!(field(&pack, &new, "supersedes"), [old]);
    pack.ok(["prefer", "My shell prompt shows the branch."]);
    pack.ok(["prefer", "My shell prompt shows load and time."]);
    assert_eq!(pack.atoms(&["--kind", "preference"]).len(), 2);
    // Two words in common are no opening.
    pack.remember("The cache lives in memory.");
    assert_eq!(pack.atoms(&["--kind", "lesson"]).len(), 2);
}

#[test]
fn an_import_closes_and_links_nothing() {
    let pack = Pack::new();
    pack.import(&[
        r#"{"kind":"lesson","text":"The build uses port 8080.","entities":["build"]}"#,
        r#"{"kind":"lesson","text":"The build uses port 9090.","entities":["build"]}"#,
    ]);
    assert_eq!(pack.atoms(&[]).len(), 2);
    assert!(pack.atoms(&[]).iter().all(|atom| atom["links"].as_array().is_none_or(Vec::is_empty)));
    // The next written claim meets them as if they had been written one by one.
    pack.remember("The build uses port 7070.");
    assert_eq!(pack.atoms(&[]).len(), 1);
}

#[test]
fn links_are_symmetric_and_at_most_eight() {
    let pack = Pack::new();
    let mut ids = Vec::new();
    for number in 0..12u8 {
        // Words without digits, which would be names of their own.
        let c = char::from(b'a' + number);
        ids.push(pack.remember(&format!("{c}{c}ro {c}{c}li {c}{c}mu `gateway` {c}{c}so.")));
    }
    let links: BTreeMap<String, BTreeSet<String>> = ids
        .iter()
        .map(|id| (id.clone(), field(&pack, id, "links").into_iter().collect()))
        .collect();
    for (id, peers) in &links {
        assert!(peers.len() <= 8, "{id}: {peers:?}");
        assert!(!peers.contains(id));
        for peer in peers {
            assert!(links[peer].contains(id), "{id} names {peer}, but not the reverse");
        }
    }
    // A neighbour that has eight chooses among nine, so the newest may be left with none.
    let linked = links.values().filter(|peers| !peers.is_empty()).count();
    assert!(linked >= 9, "{linked}");
    pack.ok(["verify"]);
    pack.ok(["compact"]);
    let after: BTreeSet<String> = field(&pack, &ids[0], "links").into_iter().collect();
    assert_eq!(after, links[&ids[0]], "a compaction changes no link");
}

#[test]
fn sentence_capitals_link_nothing() {
    let pack = Pack::new();
    pack.remember("Use tabs in the makefile.");
    pack.remember("Use short names for branches.");
    assert!(pack.atoms(&[]).iter().all(|atom| atom["links"].as_array().is_none_or(Vec::is_empty)));
}

#[test]
fn an_update_meets_the_same_rules() {
    let pack = Pack::new();
    let old = pack.remember("The linter runs before each push.");
    let other = pack.remember("Vault tokens expire at midnight sharp.");
    pack.ok(["update", &other, "text=The linter runs before each merge."]);
    assert_eq!(field(&pack, &other, "supersedes"), [old]);
    assert_eq!(pack.atoms(&[]).len(), 1);
    pack.ok(["undo"]);
    assert_eq!(pack.atoms(&[]).len(), 2);
    pack.ok(["verify"]);
}

#[test]
fn writers_that_supersede_at_once_leave_one_live_successor() {
    let pack = Pack::new();
    let first = pack.remember("The deploy key lives in drawer zero for now.");
    std::thread::scope(|scope| {
        for number in 1..9 {
            let pack = &pack;
            scope.spawn(move || {
                pack.remember(&format!("The deploy key lives in drawer {number} for now."))
            });
        }
    });
    let live = pack.atoms(&[]);
    assert_eq!(live.len(), 1, "{live:?}");
    // Walking back from the live one, every claim is met once.
    let mut seen = BTreeSet::new();
    let mut next = live[0]["id"].as_str().unwrap().to_owned();
    loop {
        assert!(seen.insert(next.clone()), "a circle at {next}");
        match field(&pack, &next, "supersedes").as_slice() {
            [one] => next.clone_from(one),
            [] => break,
            more => panic!("{next} closed {more:?}"),
        }
    }
    assert_eq!((seen.len(), next), (9, first));
    pack.ok(["verify"]);
}
