//! `import` of claims, and the way back from `export`: lines are taken or named, never lost.

use std::fs;

use serde_json::{Map, Value};

use crate::harness::{Done, Pack};

fn import(pack: &Pack, bytes: impl Into<Vec<u8>>) -> Done {
    pack.run(["import", "-"]).stdin(bytes).done()
}

#[test]
fn a_bad_line_is_named_and_stops_nothing() {
    let pack = Pack::new();
    let lines = "{\"kind\":\"lesson\",\"text\":\"One.\"}\n\
                 {\"kind\":\"lesson\",\"text\":\n\
                 \n\
                 [1]\n\
                 \"text\"\n\
                 {\"kind\":\"lesson\",\"text\":\"Two.\"} x\n\
                 {\"kind\":\"lesson\",\"text\":\"Three.\"}";
    let done = import(&pack, lines).code(65).out("2 stored, 0 already there, 4 refused\n");
    let said: Vec<&str> = done.err.lines().collect();
    assert_eq!(said.len(), 4, "{said:?}");
    for (line, number) in said.iter().zip([2, 4, 5, 6]) {
        assert!(line.starts_with(&format!("packset: line {number}: ")), "{line}");
    }
    let texts: Vec<Value> = pack.atoms(&[]).into_iter().map(|atom| atom["text"].clone()).collect();
    assert_eq!(texts, ["One.", "Three."]);
    let want = "packset: line 2: it is no JSON: expected value at column 25\n";
    import(&pack, "\n{\"kind\":\"lesson\",\"text\":}").code(65).err(want);
    // Bytes that are no text, and a lone surrogate, are bad lines as well.
    import(&pack, b"{\"kind\":\"lesson\",\"text\":\"\xff\"}\n").code(65).err_has("line 1");
    import(&pack, r#"{"kind":"lesson","text":"\ud800"}"#).code(65).err_has("line 1");
    // The same without a bad line but with a refused one.
    import(&pack, r#"{"kind":"nonsense","text":"x"}"#).code(1).err_has("unknown atom kind");
}

#[test]
fn line_ends_marks_and_blanks_are_no_content() {
    let pack = Pack::new();
    let mark = "\u{feff}";
    let one = r#"{"kind":"lesson","text":"One."}"#;
    let two = r#"  {"kind":"lesson","text":"Two."}  "#;
    import(&pack, format!("{mark}{one}\r\n\r\n \t \r\n{two}\r\n\n")).code(0).err("");
    let file = pack.work().join("f.jsonl");
    fs::write(&file, format!("{mark}{one}\r\n{two}")).unwrap();
    pack.ok(["import", "f.jsonl"]).out("0 stored, 2 already there, 0 refused\n").err("");
    for empty in ["", "\n", "\r\n", mark, "\n\n \n"] {
        import(&pack, empty).code(0).out("0 stored, 0 already there, 0 refused\n").err("");
        fs::write(&file, empty).unwrap();
        pack.ok(["import", "f.jsonl"]).out("0 stored, 0 already there, 0 refused\n");
    }
}

#[test]
fn numbers_of_lines_run_on_over_batches() {
    let pack = Pack::new();
    let line = |n: usize| match n % 10 {
        0 => "oops\n".to_owned(),
        _ => format!("{{\"kind\":\"lesson\",\"text\":\"Claim {n}.\"}}\n"),
    };
    let lines: String = (1..=35).map(line).collect();
    fs::write(pack.work().join("f"), &lines).unwrap();
    for file in ["f", "-"] {
        let run = pack.run(["import", "--batch", "7", file]).stdin(&*lines);
        let done = run.done().code(65);
        let numbers: Vec<&str> =
            done.err.lines().map(|line| line.split(": ").nth(1).unwrap()).collect();
        assert_eq!(numbers, ["line 10", "line 20", "line 30"], "{file}");
    }
    assert_eq!(pack.atoms(&[]).len(), 32);
    assert_eq!(pack.ok(["status", "--json"]).json()["generation"], 5, "five commits, then none");
    pack.ok(["verify"]);
}

#[test]
fn a_line_goes_to_its_workspace() {
    let pack = Pack::new();
    let lines = "{\"kind\":\"lesson\",\"text\":\"One.\",\"workspace\":\"a/b\"}\n\
                 {\"kind\":\"lesson\",\"text\":\"Two.\",\"workspace\":\"a:b\"}\n\
                 {\"kind\":\"lesson\",\"text\":\"Three.\"}\n\
                 {\"kind\":\"lesson\",\"text\":\"Four.\",\"workspace\":\"\\u0007\"}\n";
    import(&pack, lines).code(1).err_has("line 4").out("3 stored, 0 already there, 1 refused\n");
    for (name, text) in [("a/b", "One."), ("a:b", "Two."), ("default", "Three.")] {
        let atoms = pack.atoms(&[name]);
        assert_eq!(atoms.len(), 1, "{name}");
        assert_eq!(atoms[0]["text"], text);
        assert_eq!(atoms[0]["workspace"], name);
    }
    let run = pack.run(["import", "--workspace", "all", "-"]).stdin(lines);
    run.done().code(0).out("4 stored, 0 already there, 0 refused\n");
    let all = pack.atoms(&["all"]);
    assert!(all.len() == 4 && all.iter().all(|atom| atom["workspace"] == "all"));
    let run = pack.run(["import", "-"]).stdin(r#"{"kind":"lesson","text":"Five."}"#);
    run.var("PACKSET_WORKSPACE", "named").done().code(0);
    assert_eq!(pack.atoms(&["named"]).len(), 1);
}

#[test]
fn a_rerun_finds_all_already_there() {
    let pack = Pack::new();
    let line = |n| format!("{{\"kind\":\"lesson\",\"text\":\"Claim {n}.\"}}\n");
    let lines: String = (0..40).chain(0..10).map(line).collect();
    import(&pack, &*lines).code(0).out("40 stored, 10 already there, 0 refused\n");
    let before = pack.ok(["status", "--json"]).out;
    import(&pack, &*lines).code(0).out("0 stored, 50 already there, 0 refused\n");
    assert_eq!(pack.ok(["status", "--json"]).out, before, "nothing was written");
}

#[test]
fn a_kind_for_lines_without_one() {
    let pack = Pack::new();
    let lines = "{\"text\":\"One.\"}\n{\"kind\":\"goal\",\"text\":\"Two.\"}";
    let run = pack.run(["import", "--kind", "preference", "-"]).stdin(lines);
    run.done().code(0);
    assert_eq!(pack.atoms(&["--kind", "preference"]).len(), 1);
    assert_eq!(pack.atoms(&["--kind", "goal"]).len(), 1);
}

/// A record without what every write stamps.
fn unstamped(record: &Value) -> Map<String, Value> {
    let mut record = record.as_object().unwrap().clone();
    assert!(record.remove("updated").is_some());
    record
}

#[test]
fn what_no_rule_names_comes_back_value_for_value() {
    let pack = Pack::new();
    let odd = concat!(
        r#""z":1.0,"a":1e400,"n":null,"deep":{"b":[1,2.50,{"y":-0.0,"x":0}],"a":"\u0000"},"#,
        r#""big":123456789012345678901234567890,"":"","yes":true"#
    );
    import(&pack, format!(r#"{{"kind":"lesson",{odd},"text":"One."}}"#)).code(0);
    let listed = pack.ok(["atoms"]).out;
    pack.ok(["export", "--into", "out"]);
    let exported = fs::read_to_string(pack.work().join("out/default.jsonl")).unwrap();
    for text in [&listed, &exported] {
        let spelled = text.replace("1e+400", "1e400");
        assert!(spelled.contains(odd), "{text}");
    }
}

#[test]
fn an_export_imported_elsewhere_lists_the_same() {
    let pack = Pack::new();
    let id = pack.remember("Gone before the export.");
    pack.ok(["delete", &id]);
    pack.remember("One.");
    pack.ok(["prefer", "Two."]);
    pack.import(&[
        r#"{"kind":"lesson","id":"own","text":"Three.","entities":["deed-1"],"x":[1.0,null]}"#,
        r#"{"kind":"goal","text":"Four.","ts":"2020-01-01","due_at":"2030-01-01","set":"s"}"#,
        r#"{"kind":"message","text":"Five.","from":"a","to":"b"}"#,
        r#"{"kind":"message","text":"Five.","from":"a","to":"b"}"#,
        r#"{"kind":"trust","text":"Six.","from":"a","to":"b","weight":0.5}"#,
    ]);
    pack.ok(["export", "--into", "out"]);
    let file = pack.work().join("out/default.jsonl");
    let other = Pack::new();
    other.ok(["import", file.to_str().unwrap()]).out("7 stored, 0 already there, 0 refused\n");
    let records = |pack: &Pack| {
        let mut records: Vec<_> = pack.atoms(&[]).iter().map(unstamped).collect();
        records.sort_by_key(|record| record["id"].as_str().unwrap().to_owned());
        records
    };
    assert_eq!(records(&pack), records(&other));
    other.ok(["import", file.to_str().unwrap()]).out_has("0 stored, ");
    other.ok(["export", "--into", "out"]);
    let again = fs::read_to_string(other.work().join("out/default.jsonl")).unwrap();
    assert_eq!(again.lines().count(), 7);
    other.ok(["verify"]);
}

#[test]
fn files_of_every_sort_can_be_read() {
    let pack = Pack::new();
    let line = r#"{"kind":"lesson","text":"One."}"#;
    fs::write(pack.work().join("-odd"), line).unwrap();
    pack.ok(["import", "--", "-odd"]).out("1 stored, 0 already there, 0 refused\n");
    pack.run(["import", "/dev/stdin"]).stdin(line).done().code(0).out_has("1 already there");
    pack.ok(["import", "/dev/null"]).out("0 stored, 0 already there, 0 refused\n");
}
