//! The two times: what was true at a moment, and what the pack knew at one.

use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use packset::time::Micros;

use crate::harness::Pack;

/// A moment after everything before the call and before everything after it.
fn moment() -> String {
    // Stored times are cut to milliseconds; two on each side keep them apart.
    sleep(Duration::from_millis(2));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    sleep(Duration::from_millis(2));
    Micros(i64::try_from(now.as_micros()).unwrap()).format_ms()
}

fn texts(pack: &Pack, flags: &[&str]) -> Vec<String> {
    let atoms = pack.atoms(flags);
    let listed: Vec<String> =
        atoms.iter().map(|atom| atom["text"].as_str().unwrap().to_owned()).collect();
    let mut found = pack.found_with(flags, "vault");
    let mut sorted = listed.clone();
    found.sort();
    sorted.sort();
    assert_eq!(found, sorted, "{flags:?}: a search and a listing show the same");
    listed
}

#[test]
fn a_deleted_claim_stays_in_its_past() {
    let pack = Pack::new();
    let id = pack.remember("Vault one.");
    pack.remember("Vault two.");
    let before = moment();
    pack.ok(["delete", &id, "--why", "deed-1"]);
    let after = moment();
    assert_eq!(texts(&pack, &[]), ["Vault two."]);
    assert_eq!(texts(&pack, &["--as-of", &before]), ["Vault one.", "Vault two."]);
    assert_eq!(texts(&pack, &["--as-of", &after]), ["Vault two."]);
    assert_eq!(texts(&pack, &["--known-at", &before]), ["Vault one.", "Vault two."]);
    assert_eq!(texts(&pack, &["--known-at", &after]), ["Vault two."]);
    let past = pack.atoms(&["--as-of", &before]);
    assert_eq!(past[0]["tombstone"], false, "the version of that time, not today's");
    // A merge changes no answer, and dropping the history does.
    pack.ok(["compact"]);
    assert_eq!(texts(&pack, &["--as-of", &before]), ["Vault one.", "Vault two."]);
    pack.ok(["compact", "--keep", "1h"]);
    assert_eq!(texts(&pack, &["--as-of", &before]), ["Vault one.", "Vault two."]);
    pack.ok(["compact", "--keep", "0s"]).out_has("1 versions dropped");
    assert_eq!(texts(&pack, &["--as-of", &before]), ["Vault two."]);
    assert_eq!(texts(&pack, &[]), ["Vault two."]);
    pack.ok(["verify"]);
}

#[test]
fn a_backdated_claim_is_part_of_the_past_it_speaks_of() {
    let pack = Pack::new();
    pack.import(&[
        r#"{"kind":"lesson","text":"Vault old.","ts":"2020-01-01T00:00:00Z"}"#,
        r#"{"kind":"lesson","text":"Vault closed.","ts":"2020-01-01","valid_to":"2021-01-01"}"#,
        r#"{"kind":"lesson","text":"Vault to come.","valid_from":"2999-01-01T00:00:00+01:00"}"#,
    ]);
    assert_eq!(texts(&pack, &[]), ["Vault old."]);
    assert_eq!(texts(&pack, &["--as-of", "2019-12-31T23:59:59.999Z"]), [""; 0]);
    assert_eq!(texts(&pack, &["--as-of", "2020-01-01"]), ["Vault old.", "Vault closed."]);
    assert_eq!(texts(&pack, &["--as-of", "2020-12-31T23:59:59.999Z"]).len(), 2);
    assert_eq!(texts(&pack, &["--as-of", "2021-01-01"]), ["Vault old."], "a window is half open");
    assert_eq!(texts(&pack, &["--as-of", "2998-12-31T22:59:59.999Z"]), ["Vault old."]);
    let later = texts(&pack, &["--as-of", "2998-12-31T23:00:00Z"]);
    assert_eq!(later, ["Vault old.", "Vault to come."]);
    // The pack did not know it then.
    assert_eq!(texts(&pack, &["--known-at", "2020-06-01"]), [""; 0]);
    let now = moment();
    assert_eq!(texts(&pack, &["--known-at", &now]), ["Vault old."]);
    let both = ["--known-at", &now, "--as-of", "2020-06-01"];
    assert_eq!(texts(&pack, &both), ["Vault old.", "Vault closed."]);
    let stored = pack.atoms(&["--as-of", "2020-06-01"]);
    assert_eq!(stored[1]["ts"], "2020-01-01T00:00:00.000Z", "times are stored in one form");
    assert_eq!(stored[1]["valid_to"], "2021-01-01T00:00:00.000Z");
}

#[test]
fn a_deleted_backdated_claim_stays_in_its_own_past() {
    let pack = Pack::new();
    let line = r#"{"kind":"lesson","id":"old","text":"Vault old.","ts":"2020-01-01T00:00:00Z"}"#;
    pack.import(&[line]);
    pack.ok(["delete", "old"]);
    assert_eq!(texts(&pack, &["--as-of", "2020-06-01"]), ["Vault old."]);
    assert_eq!(texts(&pack, &[]), [""; 0]);
}

#[test]
fn a_rewrite_keeps_each_version_in_its_time() {
    let pack = Pack::new();
    let write = |text: &str| {
        let line = format!(r#"{{"kind":"lesson","id":"x","text":"{text}"}}"#);
        pack.run(["import", "-"]).stdin(line).done().code(0);
    };
    write("Vault first.");
    let first = moment();
    write("Vault second.");
    let second = moment();
    write("Vault third.");
    assert_eq!(texts(&pack, &["--as-of", &first]), ["Vault first."]);
    assert_eq!(texts(&pack, &["--as-of", &second]), ["Vault second."]);
    assert_eq!(texts(&pack, &[]), ["Vault third."]);
    let ts = |flags: &[&str]| pack.atoms(flags)[0]["ts"].clone();
    assert_eq!(ts(&[]), ts(&["--as-of", &first]), "no rewrite moves ts");
    pack.ok(["compact"]);
    assert_eq!(texts(&pack, &["--as-of", &second]), ["Vault second."]);
    pack.ok(["verify"]);
}

#[test]
fn kind_holds_in_the_past_too() {
    let pack = Pack::new();
    let id = pack.remember("Vault one.");
    pack.ok(["prefer", "Vault two."]);
    let before = moment();
    pack.ok(["delete", &id]);
    assert_eq!(texts(&pack, &["--as-of", &before, "--kind", "lesson"]), ["Vault one."]);
    assert_eq!(texts(&pack, &["--as-of", &before, "--kind", "preference"]), ["Vault two."]);
}
