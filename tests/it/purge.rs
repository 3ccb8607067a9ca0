//! `purge`: what was erased is in no file, and nothing else is harmed.

use crate::harness::{Pack, all_files, keys};

const TEXT: &str = "The vault in room nine opens with quicksilver.";
const CHINESE: &str = "\u{91d1}\u{5e93}\u{7684}\u{94a5}\u{5319}\u{5728}\u{4e5d}\u{53f7}\u{623f}";

/// Which files of the pack hold these bytes.
fn holding(pack: &Pack, bytes: &[u8]) -> Vec<std::path::PathBuf> {
    let holds = |file: &[u8]| file.windows(bytes.len()).any(|window| window == bytes);
    let files = all_files(&pack.home()).into_iter();
    files.filter(|(_, file)| holds(file)).map(|(path, _)| path).collect()
}

/// Nothing of a record with this id and these texts is left.
#[track_caller]
fn gone(pack: &Pack, id: &str, texts: &[&str]) {
    for text in texts {
        assert!(holding(pack, text.as_bytes()).is_empty(), "{text}");
    }
    assert!(holding(pack, id.as_bytes()).is_empty(), "{id}");
    if let Ok(key) = u128::from_str_radix(id, 16) {
        assert!(holding(pack, &key.to_be_bytes()).is_empty(), "the key of {id}");
    }
    pack.run(["show", id]).done().fails(1);
    pack.run(["log", id]).done().fails(1);
    pack.ok(["verify"]).out_has("whole");
}

#[test]
fn a_purged_claim_is_in_no_file() {
    let pack = Pack::new();
    let kept = pack.remember("The build needs protoc 28 or newer.");
    let id = pack.remember(TEXT);
    assert!(!holding(&pack, TEXT.as_bytes()).is_empty());
    let done = pack.ok(["purge", &id]);
    let rows: Vec<&str> = done.out.lines().collect();
    assert_eq!(rows[0], format!("purged\t{id}\t1 versions"));
    assert!(rows.len() == 2 && rows[1].starts_with("checked\t"), "{rows:?}");
    let done = done.never_says("quicksilver");
    assert_eq!(done.err, "");
    gone(&pack, &id, &[TEXT, "quicksilver"]);
    assert!(pack.found("quicksilver vault").is_empty());
    assert_eq!(pack.found("protoc"), ["The build needs protoc 28 or newer."]);
    assert_eq!(pack.ok(["log", "--json", &kept]).json_lines().len(), 1);
    let status = pack.ok(["status", "--json"]).json();
    // The other claim, and the note of the day's sweep.
    assert_eq!((&status["live"], &status["versions"]), (&1.into(), &2.into()), "{status}");
    pack.run(["purge", &id]).done().fails(1).err_has(&id);
}

#[test]
fn what_it_checked_is_what_there_is() {
    let pack = Pack::new();
    pack.remember("Another claim.");
    let id = pack.remember(TEXT);
    let done = pack.ok(["purge", "--json", &id]).json();
    let shape =
        ["schema", "workspace", "dry_run", "generation", "records", "files", "bytes", "found"];
    assert_eq!(keys(&done), shape);
    assert_eq!(done["schema"], "packset.purge/v1");
    let record = serde_json::json!({ "id": id, "kind": "lesson", "versions": 1 });
    assert_eq!(done["records"], serde_json::json!([record]));
    let files = all_files(&pack.home());
    let bytes: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    assert_eq!((&done["files"], &done["bytes"]), (&files.len().into(), &bytes.into()));
    assert_eq!(done["found"], serde_json::json!([]));
}

#[test]
fn every_version_goes_whatever_its_state() {
    let pack = Pack::new();
    // Two segments that no later write absorbs, with the record between them.
    let many = |from: usize, count: usize| {
        let line =
            |n| format!(r#"{{"kind":"lesson","text":"Rule {n} of many holds.","id":"m{n}"}}"#);
        (from..from + count).map(line).collect::<Vec<_>>()
    };
    let import = |lines: Vec<String>| {
        pack.import(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    };
    import(many(0, 60));
    let line = format!(r#"{{"kind":"lesson","text":"{TEXT}","id":"secret-of-room-nine"}}"#);
    import([vec![line], many(60, 20)].concat());
    pack.ok(["update", "secret-of-room-nine", "trust=0.5"]);
    let second = "The vault in room nine opens with cinnabar.";
    pack.ok(["update", "secret-of-room-nine", &format!("text={second}")]);
    pack.ok(["update", "m3", "text=Rule three was reworded."]);
    pack.ok(["delete", "secret-of-room-nine", "--why", "deed-1"]);
    assert!(pack.files("default", "s").len() > 1);
    let history = pack.ok(["log", "--json", "m3"]).out;
    let all = pack.ok(["atoms"]).out;
    pack.ok(["purge", "secret-of-room-nine"]).out_has("4 versions");
    gone(&pack, "secret-of-room-nine", &[TEXT, second, "quicksilver", "cinnabar", "deed-1"]);
    assert_eq!(pack.ok(["log", "--json", "m3"]).out, history);
    assert_eq!(pack.ok(["atoms"]).out, all);
    assert!(pack.found("cinnabar").is_empty());
    assert_eq!(pack.files("default", "s").len(), 1, "the generation before it is gone too");
    // No tombstone is kept: the id can be used again.
    pack.import(&[r#"{"kind":"lesson","text":"A new one.","id":"secret-of-room-nine"}"#]);
    assert_eq!(pack.found("new"), ["A new one."]);
    pack.ok(["verify"]);
}

#[test]
fn chinese_and_quotes_go_as_well() {
    let pack = Pack::new();
    pack.remember("Another claim.");
    let quoted = "He said \"open\\sesame\" at the gate.";
    for text in [CHINESE, quoted] {
        let id = pack.remember(text);
        pack.ok(["purge", &id]);
        gone(&pack, &id, &[text]);
    }
    assert!(pack.found("\u{91d1}\u{5e93}").is_empty());
}

#[test]
fn a_query_purges_what_it_finds_first() {
    let pack = Pack::new();
    pack.remember("Tabs belong in makefiles.");
    let id = pack.remember(TEXT);
    let before = all_files(&pack.store("default").join("s"));
    let dry = pack.ok(["purge", "--dry-run", "--query", "quicksilver vault"]);
    dry.out(&format!("would purge\t{id}\t1 versions\t{TEXT}\n"));
    let dry = pack.ok(["purge", "--json", "--dry-run", &id]).json();
    assert_eq!(dry["records"][0]["record"]["text"], TEXT);
    assert_eq!((&dry["dry_run"], &dry["generation"]), (&true.into(), &serde_json::Value::Null));
    assert_eq!(all_files(&pack.store("default").join("s")), before, "a dry run changes nothing");
    pack.ok(["purge", "--query", "quicksilver vault"]).out_has(&id);
    gone(&pack, &id, &[TEXT]);
    assert_eq!(pack.found("makefiles"), ["Tabs belong in makefiles."]);
    for flags in [&["--dry-run"][..], &[]] {
        let line = [&["purge"], flags, &["--query", "quicksilver"]].concat();
        pack.run(line).done().fails(1).err_has("quicksilver");
    }
    pack.run(["purge", "--query", "tabs", "--workspace", "elsewhere"]).done().fails(1);
    assert!(!pack.store("elsewhere").exists());
    pack.run(["purge"]).done().fails(64);
    pack.run(["purge", &id, "--query", "tabs"]).done().fails(64);
}

#[test]
fn the_last_record_of_a_workspace_can_go() {
    let pack = Pack::new();
    let id = pack.remember(TEXT);
    pack.ok(["purge", &id]);
    gone(&pack, &id, &[TEXT]);
    assert!(pack.atoms(&[]).is_empty());
    pack.remember("It goes on.");
    assert_eq!(pack.found("goes"), ["It goes on."]);
    pack.ok(["verify"]);
}

#[test]
fn what_still_holds_the_text_is_named() {
    let pack = Pack::new();
    let id = pack.remember(TEXT);
    pack.ok(["remember", "--workspace", "other", TEXT]);
    // Another record that says the same: refused to be called clean, but nothing is damaged.
    let done = pack.run(["purge", &id]).done().code(1);
    done.err_has("of workspace other says the same").out_has("still there\ttext\t");
    let id = pack.remember(TEXT);
    let stray = pack.home().join("notes.txt");
    std::fs::write(&stray, format!("as said: {TEXT}")).unwrap();
    pack.ok(["forget", "other"]);
    let done = pack.run(["purge", &id]).done().code(76);
    done.err_has("notes.txt still holds an erased text");
    std::fs::remove_file(&stray).unwrap();
    gone(&pack, &id, &[TEXT]);
}

#[test]
fn a_mention_of_the_id_is_told_and_is_no_fault() {
    let pack = Pack::new();
    let id = pack.remember(TEXT);
    let line = format!(r#"{{"kind":"lesson","text":"See there.","id":"b","x":"{id}"}}"#);
    pack.import(&[&line]);
    pack.ok(["purge", &id]).err_has("record b of workspace default names what was erased");
}
