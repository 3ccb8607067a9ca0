//! `import --records`: records of any kind but a claim's, stored as they stand and searchable.

use std::fs;

use crate::harness::{Done, Pack};

fn import(pack: &Pack, bytes: impl Into<Vec<u8>>) -> Done {
    pack.run(["import", "--records", "-"]).stdin(bytes).done()
}

#[test]
fn a_document_is_found_when_its_kind_is_asked_for() {
    let pack = Pack::new();
    pack.remember("The vault holds the deploy key.");
    let line =
        r#"{"kind":"document","id":"doc-1","text":"A long page on the vault.","path":"a.md"}"#;
    import(&pack, line).code(0).out("1 stored, 0 already there, 0 refused\n").err("");
    let page = ["A long page on the vault."];
    assert_eq!(pack.found_with(&["--kind", "document"], "vault page"), page);
    assert_eq!(pack.found("vault"), ["The vault holds the deploy key."], "no claim, no hit");
    assert_eq!(pack.atoms(&[]).len(), 1);
    assert_eq!(pack.atoms(&["--kind", "document"])[0]["path"], "a.md");
    let status = pack.ok(["status", "--json"]).json();
    assert_eq!(status["live"], 1);
    assert_eq!(status["records_by_kind"]["document"], 1);
    import(&pack, line).code(0).out("0 stored, 1 already there, 0 refused\n");
    let newer = line.replace("long", "short");
    import(&pack, newer).code(0).out("1 stored, 0 already there, 0 refused\n");
    assert_eq!(pack.found_with(&["--kind", "document"], "page"), ["A short page on the vault."]);
    assert!(pack.found_with(&["--kind", "document"], "long").is_empty(), "the old text is gone");
    pack.ok(["delete", "doc-1"]);
    assert!(pack.found_with(&["--kind", "document"], "page").is_empty());
    import(&pack, line).code(1).err_has("retired");
    pack.ok(["verify"]);
}

#[test]
fn a_record_comes_back_as_it_stood() {
    let pack = Pack::new();
    let lines = [
        r#"{"n":1.0,"kind":"event","id":"e-1","lease":{"until":1e400,"by":null},"m":[]}"#,
        r#"{"id":"e-2","kind":"event","text":"With \u0001 text","updated":"never","tombstone":0}"#,
        r#"{"kind":"document","id":"d-1","text":"","ts":"yesterday","prose":7}"#,
    ];
    import(&pack, lines.join("\n")).code(0).err("");
    pack.ok(["export", "--into", "out"]);
    let exported = fs::read_to_string(pack.work().join("out/default.records.jsonl")).unwrap();
    let exported = exported.replace("1e+400", "1e400");
    assert_eq!(exported.lines().collect::<Vec<_>>(), lines);
    assert_eq!(fs::read_to_string(pack.work().join("out/default.jsonl")).unwrap(), "");
    pack.ok(["compact"]);
    let other = Pack::new();
    let file = pack.work().join("out/default.records.jsonl");
    other.ok(["import", "--records", file.to_str().unwrap()]).out_has("3 stored");
    let listed = |pack: &Pack, kind| pack.ok(["atoms", "--kind", kind]).out;
    for kind in ["event", "document"] {
        assert_eq!(listed(&pack, kind), listed(&other, kind));
    }
}

#[test]
fn records_that_may_not_be() {
    let pack = Pack::new();
    for (line, part) in [
        (r#"{"text":"a"}"#, "needs a kind"),
        (r#"{"kind":"","text":"a"}"#, "needs a kind"),
        (r#"{"kind":"a\nb"}"#, "needs a kind"),
        (r#"{"kind":"lesson","text":"a"}"#, "without --records"),
        (r#"{"kind":"document","text":"a\u200bb"}"#, "invisible unicode"),
    ] {
        import(&pack, line).code(1).err_has("packset: line 1: ").err_has(part);
    }
    import(&pack, "nonsense").code(65);
    assert!(
        pack.ok(["status", "--json"]).json()["records_by_kind"].as_object().unwrap().is_empty()
    );
    // Without the flag a document is no claim.
    let run = pack.run(["import", "-"]).stdin(r#"{"kind":"document","text":"a"}"#);
    run.done().code(1).err_has("unknown atom kind: document");
}

#[test]
fn a_text_of_one_mebibyte() {
    let pack = Pack::new();
    let words: String = (0..).map(|n| format!("word{n} ")).take(130_000).collect();
    let limit = 1 << 20;
    let text = &words[..limit];
    let line = |text: &str| format!(r#"{{"kind":"document","id":"big","text":"{text}"}}"#);
    import(&pack, line(text)).code(0).out("1 stored, 0 already there, 0 refused\n");
    let done = pack.ok(["search", "--json", "--kind", "document", "word4711"]).json();
    assert_eq!(done["hits"][0]["id"], "big");
    assert_eq!(done["hits"][0]["text"], text);
    import(&pack, line(&format!("{text}x"))).code(1).err_has("at most 1048576 bytes");
    pack.ok(["export", "--into", "out"]);
    let exported = fs::read_to_string(pack.work().join("out/default.records.jsonl")).unwrap();
    assert_eq!(exported, line(text) + "\n");
    pack.ok(["verify"]).out_has("whole");
}
