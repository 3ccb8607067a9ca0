//! `batch`: mixed operations in one commit, all of them or what can be done.

use serde_json::Value;

use crate::harness::{Done, Pack, keys};

fn batch(pack: &Pack, flags: &[&str], lines: &[&str]) -> Done {
    pack.run([&["batch"], flags, &["-"]].concat()).stdin(lines.join("\n")).done()
}

/// Which lines were done.
fn oks(answers: &[Value]) -> Vec<bool> {
    answers.iter().map(|answer| answer["ok"].as_bool().unwrap()).collect()
}

const PUT: &str =
    r#"{"op":"put","record":{"kind":"lesson","text":"Vault is sealed at night.","id":"v"}}"#;

#[test]
fn every_operation_in_one_commit() {
    let pack = Pack::new();
    let old = pack.remember("An old claim.");
    let done = batch(
        &pack,
        &[],
        &[
            r#"{"op":"remember","text":"Port 8080 is taken."}"#,
            r#"{"op":"prefer","text":"Tabs in Makefiles only."}"#,
            PUT,
            r#"{"op":"update","id":"v","fields":{"trust":0.5,"text":"Vault is sealed at noon."}}"#,
            "",
            r#"{"op":"grade","id":"v"}"#,
            &format!(r#"{{"op":"delete","id":"{old}","why":"deed-1"}}"#),
            r#"{"op":"remember","text":"Port 8080 is taken."}"#,
        ],
    );
    let answers = done.code(0).err("").json_lines();
    assert_eq!(oks(&answers), [true; 7]);
    let shape = ["schema", "workspace", "line", "op", "ok", "id", "kind", "stored", "generation"];
    assert!(answers.iter().all(|answer| keys(answer) == shape));
    let column = |name: &str| answers.iter().map(|answer| answer[name].clone()).collect::<Vec<_>>();
    assert_eq!(column("line"), [1, 2, 3, 4, 6, 7, 8]);
    let ops = ["remember", "prefer", "put", "update", "grade", "delete", "remember"];
    assert_eq!(column("op"), ops);
    assert_eq!(column("kind")[..3], ["lesson", "preference", "lesson"]);
    // The last line says what the first one said: a line sees those before it.
    assert_eq!(column("stored"), [true, true, true, true, true, true, false]);
    assert_eq!(column("id")[6], column("id")[0]);
    assert_eq!(column("generation")[..6], [2; 6]);
    let live: Vec<String> =
        pack.atoms(&[]).iter().map(|atom| atom["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(
        live,
        ["Port 8080 is taken.", "Tabs in Makefiles only.", "Vault is sealed at noon."]
    );
    let graded = pack.ok(["show", "--json", "v"]).json();
    assert_eq!(graded["review"]["reps"], 1);
    assert_eq!(pack.ok(["log", "--json", "v"]).json_lines().len(), 1, "one commit, one version");
    assert_eq!(pack.ok(["show", "--json", &old]).json()["retracted_by"], "deed-1");
    pack.ok(["undo"]);
    assert_eq!(pack.atoms(&[]).len(), 1, "it is one commit to undo, too");
    pack.ok(["verify"]);
}

#[test]
fn one_refusal_stores_nothing() {
    let pack = Pack::new();
    pack.import(&[r#"{"kind":"lesson","text":"Kept as it is.","id":"k"}"#]);
    let before = pack.ok(["log", "--json"]).out;
    let lines = [
        PUT,
        r#"{"op":"delete","id":"nobody"}"#,
        r#"{"op":"grade","id":"k"}"#,
        r#"{"op":"remember","text":"the password: hunter2"}"#,
    ];
    let answers = batch(&pack, &[], &lines).code(1).json_lines();
    assert_eq!(oks(&answers), [false; 4]);
    assert_eq!(keys(&answers[0]), ["schema", "workspace", "line", "op", "ok", "error"]);
    let errors: Vec<&str> =
        answers.iter().map(|answer| answer["error"].as_str().unwrap()).collect();
    assert!(errors[0].starts_with("not stored"), "{errors:?}");
    assert_eq!(errors[1], "no current atom nobody");
    assert!(errors[2].starts_with("not stored"), "{errors:?}");
    assert!(!errors[3].starts_with("not stored") && !errors[3].contains("hunter2"), "{errors:?}");
    assert_eq!(pack.ok(["log", "--json"]).out, before);
    // The same with what can be done.
    let answers = batch(&pack, &["--best-effort"], &lines).code(1).json_lines();
    assert_eq!(oks(&answers), [true, false, true, false]);
    assert_eq!(answers[0]["generation"], answers[2]["generation"]);
    assert_eq!(pack.found("vault"), ["Vault is sealed at night."]);
    pack.ok(["verify"]);
}

#[test]
fn a_line_that_is_none_ends_in_65() {
    let pack = Pack::new();
    let lines = [PUT, "nonsense", r#"{"op":"fly"}"#];
    let answers = batch(&pack, &[], &lines).code(65).json_lines();
    assert_eq!(oks(&answers), [false; 3]);
    assert_eq!((&answers[1]["op"], &answers[2]["op"]), (&Value::Null, &"fly".into()));
    assert!(!pack.store("default").exists(), "nothing was made");
    let answers = batch(&pack, &["--best-effort"], &lines).code(65).json_lines();
    assert_eq!(oks(&answers), [true, false, false]);
    assert_eq!(pack.atoms(&[]).len(), 1);
}

#[test]
fn what_changes_nothing_makes_no_workspace() {
    let pack = Pack::new();
    batch(&pack, &[], &[]).code(0).out("");
    let lines = [r#"{"op":"delete","id":"a"}"#];
    let answers = batch(&pack, &["--best-effort"], &lines).code(1).json_lines();
    assert_eq!(answers[0]["error"], "no current atom a");
    assert!(!pack.store("default").exists());
    pack.run(["batch", "nothing.jsonl"]).done().fails(1);
}

#[test]
fn a_batch_writes_one_workspace() {
    let pack = Pack::new();
    let line = r#"{"op":"put","record":{"kind":"lesson","text":"Elsewhere.","workspace":"a"}}"#;
    batch(&pack, &["--workspace", "b"], &[line]).code(0);
    assert_eq!(pack.atoms(&["b"])[0]["workspace"], "b");
    std::fs::write(pack.work().join("changes.jsonl"), PUT).unwrap();
    let done = pack.ok(["batch", "changes.jsonl", "--workspace", "b", "--json"]);
    assert_eq!(done.json()["id"], "v");
    assert_eq!(pack.atoms(&["b"]).len(), 2);
}

#[test]
fn a_record_that_comes_and_goes_in_one_batch() {
    let pack = Pack::new();
    let lines = [PUT, r#"{"op":"delete","id":"v"}"#, r#"{"op":"grade","id":"v"}"#];
    let answers = batch(&pack, &["--best-effort"], &lines).code(1).json_lines();
    assert_eq!(oks(&answers), [true, true, false]);
    assert!(pack.atoms(&[]).is_empty() && pack.found("vault").is_empty());
    assert_eq!(pack.ok(["show", "--json", "v"]).json()["tombstone"], true);
    batch(&pack, &[], &[PUT]).code(1).out_has("retired");
    pack.ok(["verify"]);
}
