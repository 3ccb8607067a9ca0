//! What each verb prints: the columns, and the shape behind `--json`.

use serde_json::{Value, json};

use crate::harness::{Pack, is_id, is_time, keys, unscored};

#[test]
fn remember_and_prefer_print_id_kind_and_due() {
    let pack = Pack::new();
    for (verb, kind) in [("remember", "lesson"), ("prefer", "preference")] {
        let done = pack.ok([verb, "words", "are", "joined  by", "one space"]).err("");
        let row: Vec<&str> = done.out.strip_suffix('\n').unwrap().split('\t').collect();
        let [id, said, due] = row[..] else { panic!("{row:?}") };
        assert!(is_id(id), "{id}");
        assert_eq!(said, kind);
        assert!(is_time(due.strip_prefix("due ").unwrap()), "{due}");
    }
    let atoms = pack.atoms(&[]);
    assert_eq!(atoms.len(), 2);
    assert!(atoms.iter().all(|atom| atom["text"] == "words are joined  by one space"));
}

#[test]
fn a_stored_claim_has_what_the_page_says() {
    let pack = Pack::new();
    let id = pack.remember("The build needs protoc 28.");
    let [atom] = &pack.atoms(&[])[..] else { panic!("not one") };
    assert_eq!(
        keys(atom),
        [
            "schema",
            "kind",
            "level",
            "text",
            "workspace",
            "id",
            "ts",
            "valid_from",
            "tombstone",
            "due_at",
            "review",
            "updated",
            "links",
            "prose",
            "embedding",
        ]
    );
    assert_eq!(atom["schema"], "inside.atom/v1");
    assert_eq!(atom["level"], "explicit");
    assert_eq!(atom["workspace"], "default");
    assert_eq!(atom["id"], id.as_str());
    assert_eq!(atom["tombstone"], false);
    assert_eq!(atom["valid_from"], atom["ts"]);
    let micros = |field: &str| {
        let text = atom[field].as_str().unwrap();
        assert!(is_time(text), "{text}");
        packset::time::Micros::parse(text).unwrap().0
    };
    assert_eq!(micros("due_at") - micros("ts"), 86_400_000_000, "due after one day");
    let review = &atom["review"];
    assert_eq!(review["reps"], 0);
    assert_eq!(review["interval_s"], 86_400);
    assert_eq!(review["stability"], 1.0);
    assert_eq!(review["difficulty"], 5.0);
    assert_eq!(review["last"], atom["ts"]);
    assert_eq!(atom["prose"]["words"], 4, "a number is no word");
    assert_eq!(atom["prose"]["sentences"], 1);
}

#[test]
fn remember_json() {
    let pack = Pack::new();
    for verb in ["remember", "prefer"] {
        let answer = pack.ok([verb, "--json", "One claim."]).json();
        assert_eq!(keys(&answer), ["schema", "workspace", "stored", "generation", "record"]);
        assert_eq!(answer["schema"], format!("packset.{verb}/v1"));
        assert_eq!(answer["workspace"], "default");
        assert_eq!(answer["stored"], true);
        let again = pack.ok(["--json", verb, "One claim."]).json();
        assert_eq!(again["stored"], false);
        assert_eq!(again["record"]["id"], answer["record"]["id"]);
    }
}

#[test]
fn a_repeat_answers_the_stored_claim() {
    let pack = Pack::new();
    let first = pack.ok(["remember", "Say it once."]);
    let again = pack.ok(["remember", "Say", "it", "once."]);
    assert_eq!(first.out, again.out);
    assert_eq!(pack.atoms(&[]).len(), 1);
    // Another kind or another workspace is another claim.
    assert_ne!(pack.ok(["prefer", "Say it once."]).out, first.out);
    assert_ne!(pack.ok(["remember", "--workspace", "b", "Say it once."]).out, first.out);
    assert_eq!(pack.atoms(&[]).len(), 2);
}

#[test]
fn search_prints_score_kind_id_and_text() {
    let pack = Pack::new();
    let id = pack.remember("The deploy key lives in the vault.");
    pack.remember("Tabs belong in makefiles.");
    let done = pack.ok(["search", "deploy", "key"]).err("packset: workspace default\n");
    let row: Vec<&str> = done.out.strip_suffix('\n').unwrap().split('\t').collect();
    let [score, kind, found, text] = row[..] else { panic!("{row:?}") };
    let (whole, fraction) = score.split_once('.').unwrap();
    assert!(whole.parse::<u32>().is_ok() && fraction.len() == 4, "{score}");
    assert_eq!((kind, found, text), ("lesson", &*id, "The deploy key lives in the vault."));
    pack.ok(["search", "zebra"]).out("").err("packset: workspace default\n");
}

#[test]
fn search_json() {
    let pack = Pack::new();
    let id = pack.remember("The deploy key lives in the vault.");
    let done = pack.ok(["search", "--json", "deploy", "key"]);
    let answer = done.json();
    let shape = [
        "schema",
        "workspace",
        "generation",
        "as_of",
        "known_at",
        "rank",
        "rerank",
        "engine",
        "hits",
        "confidence",
        "confident",
        "stem",
    ];
    assert_eq!(keys(&answer), shape);
    assert_eq!(answer["schema"], "packset.search/v1");
    assert_eq!(answer["rank"], "fused");
    assert_eq!(answer["as_of"], Value::Null);
    let hit = &answer["hits"][0];
    let fields = [
        "field",
        "id",
        "kind",
        "text",
        "ts",
        "due_at",
        "entities",
        "origin",
        "score",
        "ballot_score",
        "ballots",
        "of",
        "decay",
        "ranks",
        "rerank_score",
    ];
    assert_eq!(keys(hit), fields);
    assert_eq!(hit["field"], "atom");
    assert_eq!(hit["id"], id.as_str());
    assert_eq!(hit["entities"], json!([]));
    assert_eq!(hit["origin"], "user-declared", "a record with none reads so");
    assert_eq!(hit["ballots"], hit["of"], "both ballots name the only hit");
    let ranks = hit["ranks"].as_object().unwrap();
    assert!(ranks.values().all(|rank| rank["rank"] == 1), "{ranks:?}");
    let none = pack.ok(["search", "--json", "--rank", "relevance", "zebra"]).json();
    assert_eq!(none["rank"], "relevance");
    assert_eq!(none["hits"], json!([]));
}

#[test]
fn scores_never_rise_and_quiet_says_nothing() {
    let pack = Pack::new();
    let claims: Vec<String> = (0..12)
        .map(|number| {
            let more = "vault ".repeat(number % 4);
            format!(r#"{{"kind":"lesson","text":"Note {number} on the vault {more}here."}}"#)
        })
        .collect();
    // Written one by one, each would replace the one before.
    pack.import(&claims.iter().map(String::as_str).collect::<Vec<_>>());
    for rank in ["fused", "relevance"] {
        let answer = pack.ok(["search", "--json", "--rank", rank, "vault"]).json();
        let hits = answer["hits"].as_array().unwrap();
        let scores: Vec<f64> = hits.iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
        assert_eq!(scores.len(), 10, "ten is the default limit");
        assert!(scores.is_sorted_by(|a, b| a >= b), "{rank}: {scores:?}");
    }
    assert_eq!(pack.found_with(&["--limit", "3"], "vault").len(), 3);
    assert_eq!(pack.found_with(&["--limit", "100"], "vault").len(), 12);
    let quiet = pack.ok(["search", "-q", "vault"]).err("");
    assert_eq!(quiet.out.lines().count(), 10);
    pack.run(["search", "-q", "zebra"]).done().code(1).out("").err("");
    pack.run(["search", "--quiet", "--json", "zebra"]).done().code(1).err("").out_has("[]");
}

#[test]
fn atoms_are_json_lines_with_or_without_the_flag() {
    let pack = Pack::new();
    pack.remember("One.");
    pack.ok(["prefer", "Two."]);
    let plain = pack.ok(["atoms"]).err("packset: workspace default\n");
    assert_eq!(plain.json_lines().len(), 2);
    assert_eq!(pack.ok(["atoms", "--json"]).out, plain.out);
    let lessons = pack.atoms(&["--kind", "lesson"]);
    assert_eq!(lessons.len(), 1);
    assert_eq!(lessons[0]["text"], "One.");
    pack.ok(["atoms", "elsewhere"]).out("").err("packset: workspace elsewhere\n");
}

#[test]
fn status_counts() {
    let pack = Pack::new();
    pack.remember("One.");
    let id = pack.remember("Two.");
    pack.ok(["prefer", "Three."]);
    pack.ok(["delete", &id]);
    let line = r#"{"kind":"lesson","text":"Was true.","valid_to":"2020-01-01T00:00:00Z"}"#;
    pack.import(&[line]);
    let status = pack.ok(["status", "--json"]).json();
    assert_eq!(status["schema"], "packset.status/v1");
    assert_eq!(status["home"], pack.home().to_str().unwrap());
    assert_eq!(status["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(status["workspace"], "default");
    assert_eq!(status["live"], 2);
    assert_eq!(status["tombstone"], 1);
    assert_eq!(status["expired"], 1);
    assert_eq!(status["live_by_kind"], json!({ "lesson": 1, "preference": 1 }));
    assert_eq!(status["tombstone_by_kind"], json!({ "lesson": 1 }));
    assert_eq!(status["expired_by_kind"], json!({ "lesson": 1 }));
    assert_eq!(status["generation"], 5);
    assert!(is_time(status["last_write_ts"].as_str().unwrap()));
    assert_eq!(status["search"]["ranks"], json!(["fused", "relevance"]));

    let done = pack.ok(["status"]).err("");
    let (first, rest) = done.out.split_once('\n').unwrap();
    assert_eq!(first, format!("packset: on the files at {}", pack.home().display()));
    assert_eq!(serde_json::from_str::<Value>(rest).unwrap(), status);

    pack.ok(["remember", "--workspace", "b", "Four."]);
    let all = pack.ok(["status", "--all", "--json"]).json();
    assert_eq!(all["workspaces"], json!({ "b": 1, "default": 2 }));
    assert_eq!(all["live"], 3);
    assert_eq!(all["workspace"], "");
    assert_eq!(pack.ok(["status", "nowhere", "--json"]).json()["live"], 0);
}

#[test]
fn delete_forget_compact_verify() {
    let pack = Pack::new();
    let id = pack.remember("One.");
    let other = pack.remember("Two.");
    pack.ok(["delete", &id, "--why", "deed-7"]).out(&format!("{id}\tdeleted\n")).err("");
    let answer = pack.ok(["delete", "--json", &other]).json();
    assert_eq!(keys(&answer), ["schema", "workspace", "generation", "record"]);
    assert_eq!(answer["schema"], "packset.delete/v1");
    assert_eq!(answer["record"]["tombstone"], true);
    assert!(answer["record"].get("retracted_by").is_none());
    assert!(pack.atoms(&[]).is_empty());

    let row = pack.ok(["verify"]).err("").out;
    let cells: Vec<&str> = row.strip_suffix('\n').unwrap().split('\t').collect();
    assert_eq!(cells[..2], ["default", "whole"], "{row}");
    let report = pack.ok(["verify", "--json"]).json();
    let shape =
        ["schema", "workspace", "whole", "generation", "segments", "versions", "bytes", "problems"];
    assert_eq!(keys(&report), shape);
    assert_eq!(report["schema"], "packset.verify/v1");
    assert_eq!(report["whole"], true);
    assert_eq!(report["problems"], json!([]));
    assert_eq!(report["versions"], 5, "two claims, their ends, and the note of the sweep");
    let nowhere = pack.ok(["verify", "nowhere"]);
    drop(nowhere.out("").err("packset: there is no workspace nowhere\n"));

    let done = pack.ok(["compact", "--keep", "0s", "--json"]).json();
    let shape = [
        "schema",
        "workspace",
        "compacted",
        "segments_before",
        "bytes_before",
        "bytes_after",
        "dropped_versions",
    ];
    assert_eq!(keys(&done), shape);
    assert_eq!(done["schema"], "packset.compact/v1");
    assert_eq!(done["compacted"], true);
    assert_eq!(done["dropped_versions"], 2);
    assert_eq!(pack.ok(["compact", "--json"]).json()["compacted"], false);
    pack.ok(["compact"]).out("default\tnothing to merge\n").err("");

    pack.remember("Three.");
    let gone = pack.ok(["forget", "--json", "default"]).json();
    assert_eq!(
        gone,
        json!({"schema": "packset.forget/v1", "workspace": "default", "forgotten": 1})
    );
    pack.ok(["forget", "default"]).out("0 forgotten from default\n").err("");
    assert!(!pack.store("default").exists());
}

#[test]
fn compact_merges_and_says_so() {
    let pack = Pack::new();
    // Each larger than what it would be folded into, so that segments stay apart.
    for round in [2, 1] {
        let lines: Vec<String> = (0..400 * round)
            .map(|n| format!(r#"{{"kind":"lesson","text":"Round {round} has claim {n}."}}"#))
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        pack.import(&lines);
    }
    let before = pack.ok(["status", "--json"]).json();
    let listed = pack.ok(["atoms"]).out;
    let search = || unscored(&pack.ok(["search", "round", "claim", "17"]).out);
    let found = search();
    let segments = before["segments"].as_u64().unwrap();
    let done = pack.ok(["compact"]).err("");
    match segments {
        1 => assert_eq!(done.out, "default\tnothing to merge\n"),
        _ => assert!(done.out.starts_with(&format!("default\t{segments} segments merged, "))),
    }
    let after = pack.ok(["status", "--json"]).json();
    assert_eq!(after["segments"], 1);
    assert_eq!(after["live"], 1200);
    assert_eq!(search(), found, "no answer changes");
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&pack.ok(["atoms"]).out), sorted(&listed));
    pack.ok(["compact", "--all", "--json"]);
    pack.ok(["verify", "--all"]).out_has("whole");
}

#[test]
fn export_writes_files_and_prints_accessions() {
    let pack = Pack::new();
    pack.import(&[
        r#"{"kind":"lesson","text":"One.","entities":["deed-9","vault"]}"#,
        r#"{"kind":"lesson","text":"Two.","entities":["sha256:ab","deed-9"]}"#,
    ]);
    let gone = pack.remember("Three.");
    pack.ok(["delete", &gone]);
    let file = pack.work().join("deep/er/default.jsonl");
    let done = pack.ok(["export", "--into", "deep/er"]);
    let done = done.out("deed-9\nsha256:ab\n").err(&format!("2 atoms to {}\n", file.display()));
    drop(done);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.ends_with('\n') && text.lines().count() == 2, "{text}");
    let answer = pack.ok(["export", "--into", "deep/er", "--json"]).err("").json();
    assert_eq!(keys(&answer), ["schema", "workspace", "files", "accessions"]);
    assert_eq!(answer["schema"], "packset.export/v1");
    assert_eq!(answer["files"], json!([{ "path": file.to_str().unwrap(), "records": 2 }]));
    assert_eq!(answer["accessions"], json!(["deed-9", "sha256:ab"]));
    let inside = std::fs::read_dir(file.parent().unwrap()).unwrap().count();
    assert_eq!(inside, 1, "no draft stays behind");
}

#[test]
fn import_json_and_columns() {
    let pack = Pack::new();
    let lines =
        "{\"kind\":\"lesson\",\"text\":\"One.\"}\n{\"kind\":\"nonsense\",\"text\":\"Two.\"}\n";
    let done = pack.run(["import", "-"]).stdin(lines).done().code(1);
    done.out("1 stored, 0 already there, 1 refused\n")
        .err_has("packset: line 2: unknown atom kind");
    let done = pack.run(["import", "--json", "-"]).stdin(lines).done().code(1);
    let want = json!({"schema": "packset.import/v1", "stored": 0, "known": 1, "refused": 1});
    assert_eq!(done.json(), want);
}

#[test]
fn which_prints_the_workspace() {
    let pack = Pack::new();
    pack.ok(["where"]).out("default\n").err("");
    let answer = pack.ok(["where", "--json"]).json();
    assert_eq!(answer, json!({ "schema": "packset.where/v1", "workspace": "default" }));
    let answer = pack.ok(["where", "--json", "--explain"]).json();
    let shape = ["schema", "workspace", "workspace_from", "home", "home_from", "home_usable"];
    assert_eq!(keys(&answer), shape);
    assert_eq!(answer["home"], pack.home().to_str().unwrap());
    let rows = pack.ok(["where", "--explain"]).out;
    let rows: Vec<Vec<&str>> = rows.lines().map(|row| row.split('\t').collect()).collect();
    assert_eq!(rows[0][..2], ["workspace", "default"]);
    assert_eq!(rows[1][..2], ["home", pack.home().to_str().unwrap()]);
    assert!(!pack.home().exists(), "looking makes nothing");
}
