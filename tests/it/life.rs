//! The verbs of a claim's life: due, grade, sweep, update, consolidate, accessions, citers.

use crate::harness::Pack;

/// A claim whose review ran out long ago, and one that is not due.
const OVERDUE: &str = r#"{"kind":"lesson","text":"Vault is sealed at night.","id":"old","due_at":"2020-01-02T00:00:00Z","ts":"2020-01-01T00:00:00Z"}"#;
const FRESH: &str = r#"{"kind":"lesson","text":"Ports above 9000 are free.","id":"new"}"#;

#[test]
fn due_lists_what_has_run_out_soonest_first() {
    let pack = Pack::new();
    pack.ok(["due"]).out("");
    let sooner = r#"{"kind":"note","issue":"7","text":"Sooner still.","id":"older","due_at":"2019-05-01T00:00:00Z"}"#;
    pack.import(&[OVERDUE, FRESH, sooner]);
    pack.ok(["due"]).out(
        "2019-05-01T00:00:00.000Z\tolder\tSooner still.\n\
         2020-01-02T00:00:00.000Z\told\tVault is sealed at night.\n",
    );
    pack.ok(["delete", "older"]);
    let listed = pack.ok(["due", "--json"]).json_lines();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["schema"], "packset.due/v1");
    assert_eq!(listed[0]["record"]["id"], "old");
}

#[test]
fn a_closed_claim_is_never_due_again() {
    let pack = Pack::new();
    let closed = r#"{"kind":"lesson","text":"It was so.","id":"c","due_at":"2020-01-02T00:00:00Z","valid_to":"2021-01-01T00:00:00Z"}"#;
    pack.import(&[closed]);
    pack.ok(["due"]).out("");
    pack.ok(["sweep"]).out("0 lapsed by neglect, 0 forgotten\n");
    pack.run(["grade", "c"]).done().fails(1).err_has("no current atom c");
}

#[test]
fn grade_moves_the_clock() {
    let pack = Pack::new();
    pack.import(&[FRESH]);
    pack.ok(["grade", "new"]);
    let review = pack.ok(["show", "--json", "new"]).json()["review"].clone();
    // D = 5 - 0.15; a recall at once has r = 0.99, so S = 1 + exp(1 - 0.485) * 0.01
    // = 1.0167364, and the interval is the whole seconds of that many days.
    assert_eq!(review["interval_s"], 87846);
    assert_eq!(review["difficulty"].as_f64().unwrap(), 4.85);
    assert_eq!((&review["reps"], &review["recalls"]), (&1.into(), &1.into()));
    pack.ok(["grade", "new", "--lapsed"]);
    let review = pack.ok(["show", "--json", "new"]).json()["review"].clone();
    // Half of 1.0167 is below a day, and no interval is shorter than one.
    assert_eq!(review["interval_s"], 86400);
    assert_eq!((&review["reps"], &review["recalls"]), (&0.into(), &1.into()));
    assert_eq!(pack.ok(["log", "--json", "new"]).json_lines().len(), 3);
    pack.run(["grade", "nobody"]).done().fails(1).err_has("no current atom nobody");
    pack.run(["grade", "new", "elsewhere"]).done().fails(1);
    pack.ok(["verify"]);
}

#[test]
fn a_sweep_lapses_first_and_forgets_at_the_third_miss() {
    let pack = Pack::new();
    let missed = |kind: &str, id: &str| {
        format!(
            r#"{{"kind":"{kind}","text":"Missed twice, {id}.","id":"{id}","due_at":"2020-01-02T00:00:00Z","review":{{"neglected":2,"reps":0}}}}"#
        )
    };
    let (gone, kept) = (missed("lesson", "gone"), missed("preference", "kept"));
    pack.import(&[OVERDUE, FRESH, &gone, &kept]);
    pack.ok(["sweep"]).out("2 lapsed by neglect, 1 forgotten\nforgotten\tgone\n");
    let gone = pack.ok(["show", "--json", "gone"]).json();
    assert_eq!((&gone["tombstone"], &gone["forgotten"]), (&true.into(), &"neglect".into()));
    assert_eq!(pack.ok(["show", "--json", "kept"]).json()["review"]["neglected"], 3);
    let status = pack.ok(["status", "--json"]).json();
    assert_eq!(status["forgotten_by_reason"]["neglect"], 1);
    assert_eq!(status["live"], 3);
    pack.ok(["sweep"]).out("0 lapsed by neglect, 0 forgotten\n");
    pack.ok(["verify"]);
}

#[test]
fn update_merges_fields_and_meets_every_check() {
    let pack = Pack::new();
    pack.import(&[OVERDUE, FRESH]);
    pack.ok([
        "update",
        "new",
        "text=Sockets beyond the limit are free.",
        "trust=0.5",
        "x={\"a\":1.0}",
    ])
    .out("new\tlesson\tupdated\n");
    let record = pack.ok(["show", "--json", "new"]).json();
    assert_eq!(record["trust"].as_f64(), Some(0.5));
    assert_eq!(record["x"].to_string(), "{\"a\":1.0}");
    assert_eq!(pack.found("sockets"), ["Sockets beyond the limit are free."]);
    assert!(pack.found("ports").is_empty(), "the old text is found no more");
    pack.ok(["update", "new", "x=null"]);
    assert_eq!(pack.ok(["show", "--json", "new"]).json().get("x"), None);
    for refused in ["kind=bogus", "text=the password: hunter2", "text=Vault is sealed at night."] {
        pack.run(["update", "new", refused]).done().fails(1);
    }
    assert_eq!(
        pack.found("sockets"),
        ["Sockets beyond the limit are free."],
        "a refusal changes nothing"
    );
    pack.run(["update", "nobody", "trust=1"]).done().fails(1).err_has("no current atom");
    pack.run(["update", "new", "trust"]).done().fails(64);
    pack.ok(["verify"]);
}

#[test]
fn consolidate_reports_and_applies_the_replacement_rule() {
    let pack = Pack::new();
    let old = r#"{"kind":"lesson","text":"The build uses port 8080 for tests.","id":"a","ts":"2020-01-01T00:00:00Z"}"#;
    let new = r#"{"kind":"lesson","text":"The build uses port 9090 for tests.","id":"b","ts":"2020-01-02T00:00:00Z"}"#;
    let apart = r#"{"kind":"lesson","text":"The build uses port 7070 for tests.","id":"c","set":"dev","ts":"2020-01-03T00:00:00Z"}"#;
    pack.import(&[old, new, apart]);
    let report = pack.ok(["consolidate", "--json"]).json();
    assert_eq!((&report["closed"], &report["applied"]), (&1.into(), &false.into()));
    assert_eq!(pack.atoms(&[]).len(), 3, "a report closes nothing");
    pack.ok(["consolidate", "--apply"]);
    let live: Vec<String> =
        pack.atoms(&[]).iter().map(|atom| atom["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(live, ["b", "c"], "sets stay apart");
    assert_eq!(pack.ok(["show", "--json", "b"]).json()["supersedes"][0], "a");
    assert_eq!(
        pack.found_with(&["--as-of", "2020-01-01T12:00:00Z"], "port"),
        ["The build uses port 8080 for tests."]
    );
    pack.ok(["verify"]);
}

#[test]
fn accessions_and_their_citers() {
    let pack = Pack::new();
    let cites = r#"{"kind":"lesson","text":"Decided in the deed.","id":"a","entities":["deed-9","cargo","sha256:ab"]}"#;
    pack.import(&[cites, FRESH]);
    pack.ok(["accessions"]).out("deed-9\nsha256:ab\n");
    pack.ok(["citers", "deed-9"]).out("a\tDecided in the deed.\n");
    pack.ok(["citers", "deed-1"]).out("");
    pack.ok(["delete", "a"]);
    pack.ok(["accessions"]).out("");
    pack.ok(["accessions", "elsewhere"]).out("");
}

#[test]
fn a_claim_never_writes_over_a_record_of_another_kind() {
    let pack = Pack::new();
    let document = r#"{"kind":"document","id":"d","text":"A page."}"#;
    pack.run(["import", "--records", "-"]).stdin(document).done().code(0);
    let claim = r#"{"kind":"lesson","id":"d","text":"Not a page."}"#;
    pack.run(["import", "-"]).stdin(claim).done().code(1).err_has("belongs to a record");
    assert_eq!(pack.ok(["show", "--json", "d"]).json()["kind"], "document");
}
