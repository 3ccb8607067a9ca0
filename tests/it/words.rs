//! What a text is found by: identifiers whole and in parts, every script, with stems and without.

use crate::harness::Pack;

#[test]
fn identifiers_are_found_whole_and_by_their_parts() {
    let pack = Pack::new();
    let table: [(&str, &[&str]); 6] = [
        ("Call tasks_claim before work starts.", &["tasks_claim", "tasks", "claim", "TASKS_CLAIM"]),
        (
            "Set SEAMLESS_DATA_DIR on the host.",
            &["SEAMLESS_DATA_DIR", "seamless_data_dir", "seamless", "data", "dir"],
        ),
        ("The compiler says E0502 on a second borrow.", &["E0502", "e0502"]),
        ("Never call getUserName in a loop.", &["getUserName", "getusername", "user name"]),
        ("Edit src/cli/args.rs for flags.", &["src/cli/args.rs", "args.rs", "args"]),
        ("Version 0.17.3 has the daemon.", &["0.17.3"]),
    ];
    for (text, _) in table {
        pack.remember(text);
    }
    for (text, queries) in table {
        for query in queries {
            let found = pack.found(query);
            assert_eq!(found.first().map(String::as_str), Some(text), "{query}: {found:?}");
        }
    }
}

#[test]
fn every_script_is_found_again() {
    let pack = Pack::new();
    pack.remember("Nothing of the kind stands here.");
    let table = [
        (
            "Chinese",
            "\u{90e8}\u{7f72}\u{5bc6}\u{94a5}\u{4fdd}\u{5b58}\u{5728}\u{4fdd}\u{9669}\u{5e93}\u{4e2d}\u{3002}",
            "\u{5bc6}\u{94a5}",
        ),
        (
            "Chinese, one longer word",
            "\u{90e8}\u{7f72}\u{5bc6}\u{94a5}\u{4fdd}\u{5b58}\u{5728}\u{4fdd}\u{9669}\u{5e93}\u{4e2d}\u{3002}",
            "\u{4fdd}\u{9669}\u{5e93}",
        ),
        (
            "Japanese",
            "\u{30c7}\u{30d7}\u{30ed}\u{30a4}\u{9375}\u{306f}\u{91d1}\u{5eab}\u{306b}\u{3042}\u{308a}\u{307e}\u{3059}\u{3002}",
            "\u{91d1}\u{5eab}",
        ),
        (
            "Japanese, katakana",
            "\u{30c7}\u{30d7}\u{30ed}\u{30a4}\u{9375}\u{306f}\u{91d1}\u{5eab}\u{306b}\u{3042}\u{308a}\u{307e}\u{3059}\u{3002}",
            "\u{30c7}\u{30d7}\u{30ed}\u{30a4}",
        ),
        (
            "Korean",
            "\u{bc30}\u{d3ec} \u{d0a4}\u{b294} \u{ae08}\u{ace0}\u{c5d0} \u{c788}\u{c2b5}\u{b2c8}\u{b2e4}.",
            "\u{ae08}\u{ace0}",
        ),
        (
            "Arabic",
            "\u{645}\u{641}\u{62a}\u{627}\u{62d} \u{627}\u{644}\u{646}\u{634}\u{631} \u{645}\u{62d}\u{641}\u{648}\u{638} \u{641}\u{64a} \u{627}\u{644}\u{62e}\u{632}\u{646}\u{629}.",
            "\u{627}\u{644}\u{62e}\u{632}\u{646}\u{629}",
        ),
        (
            "Russian, folded",
            "\u{41a}\u{43b}\u{44e}\u{447} \u{43b}\u{435}\u{436}\u{438}\u{442} \u{432} \u{425}\u{440}\u{430}\u{43d}\u{438}\u{43b}\u{438}\u{449}\u{435}.",
            "\u{445}\u{440}\u{430}\u{43d}\u{438}\u{43b}\u{438}\u{449}\u{435}",
        ),
        ("German, composed", "Der Schl\u{fc}ssel liegt im Tresor.", "Schlu\u{308}ssel"),
        (
            "Thai",
            "\u{e01}\u{e38}\u{e0d}\u{e41}\u{e08}\u{e2d}\u{e22}\u{e39}\u{e48}\u{e43}\u{e19}\u{e15}\u{e39}\u{e49}\u{e40}\u{e0b}\u{e1f}",
            "\u{e01}\u{e38}\u{e0d}\u{e41}\u{e08}",
        ),
        ("full width", "Port \u{ff18}\u{ff10}\u{ff18}\u{ff10} is taken.", "8080"),
    ];
    for (name, text, query) in table {
        pack.ok(["remember", "--workspace", name, text]);
        pack.ok(["remember", "--workspace", name, "Nothing of the kind stands here."]);
        let found = pack.found_with(&["--workspace", name], query);
        assert_eq!(found, [text], "{name}");
        assert_eq!(pack.found_with(&["--workspace", name], text)[0], text, "{name}, whole");
    }
}

#[test]
fn a_picture_hinders_no_word_and_comes_back() {
    let pack = Pack::new();
    let text = "Launch\u{1f680} day needs \u{1f468}\u{1f3fd}two keys.";
    pack.remember(text);
    for query in ["launch", "two", "\u{1f680} launch", "launch\u{1f680}day"] {
        assert_eq!(pack.found(query), [text], "{query}");
    }
}

#[test]
fn stems_are_a_property_of_the_store() {
    let pack = Pack::new();
    let off = Pack::new().var("PACKSET_STEM", "off");
    for pack in [&pack, &off] {
        pack.remember("Migrations are running nightly.");
        assert_eq!(pack.found("migrations").len(), 1);
    }
    assert_eq!(pack.found("migrating").len(), 1, "one stem");
    assert_eq!(off.found("migrating").len(), 0, "and without stems none");
    let note = "packset: workspace default does not stem its words, as it was made; \
                PACKSET_STEM changes only new ones\n";
    off.run(["search", "migrations"]).var("PACKSET_STEM", "on").done().code(0).err_has(note);
    let run = pack.run(["search", "migrating"]).var("PACKSET_STEM", "off");
    run.done().code(0).out_has("Migrations").err_has("stems its words");
    let run = pack.run(["search", "-q", "migrating"]).var("PACKSET_STEM", "off");
    run.done().code(0).err("");
    // A write keeps the store's rule, whatever the environment says.
    pack.run(["remember", "Builders are caching."]).var("PACKSET_STEM", "off").done().code(0);
    assert_eq!(pack.found("cached builder").len(), 1);
    pack.run(["import", "-"])
        .stdin(r#"{"kind":"lesson","text":"Deployments were failing."}"#)
        .var("PACKSET_STEM", "off")
        .done()
        .code(0);
    assert_eq!(pack.found("deployment fails").len(), 1);
    pack.run(["compact"]).var("PACKSET_STEM", "off").done().code(0);
    assert_eq!(pack.found("cached builder").len(), 1);
    pack.ok(["verify"]);
}

#[test]
fn words_near_a_query_are_found() {
    let pack = Pack::new();
    pack.remember("The repository keeps no passwords in it.");
    for query in ["repositry", "reposit", "REPOSITORY", "repository?"] {
        assert_eq!(pack.found(query).len(), 1, "{query}");
    }
    for query in ["the", "...", "\u{3002}", "zebra"] {
        assert_eq!(pack.found(query).len(), 0, "{query}");
    }
}

#[test]
fn kind_and_set_narrow_a_search() {
    let pack = Pack::new();
    pack.import(&[
        r#"{"kind":"lesson","text":"Vault one."}"#,
        r#"{"kind":"preference","text":"Vault two."}"#,
        r#"{"kind":"lesson","text":"Vault three.","set":"Night"}"#,
        r#"{"kind":"message","text":"Vault mail.","from":"a","to":"b"}"#,
    ]);
    let sorted = |flags: &[&str]| {
        let mut found = pack.found_with(flags, "vault");
        found.sort();
        found
    };
    assert_eq!(sorted(&[]), ["Vault one.", "Vault three.", "Vault two."], "mail stays out");
    assert_eq!(sorted(&["--kind", "preference"]), ["Vault two."]);
    assert_eq!(sorted(&["--kind", "message"]), ["Vault mail."]);
    assert_eq!(sorted(&["--set", "night"]), ["Vault three."]);
    assert_eq!(sorted(&["--set", "day"]), [""; 0]);
    assert_eq!(sorted(&["--kind", "preference", "--set", "night"]), [""; 0]);
    assert_eq!(sorted(&["--kind", "no-such-kind"]), [""; 0]);
    assert_eq!(pack.atoms(&[]).len(), 4, "a listing has mail");
}

#[test]
fn nothing_to_search_is_nothing_found() {
    let pack = Pack::new();
    pack.ok(["search", "x"]).out("").err("packset: workspace default\n");
    let answer = pack.ok(["search", "--json", "x"]).json();
    assert_eq!(answer["generation"], serde_json::Value::Null);
    pack.run(["search", "-q", "x"]).done().code(1).out("").err("");
    assert!(!pack.home().exists(), "reading makes nothing");
    let id = pack.remember("One.");
    pack.ok(["delete", &id]);
    pack.ok(["search", "one"]).out("");
}

#[test]
fn every_panel_finds_the_same_claims() {
    let pack = Pack::new();
    let claim = |n| format!(r#"{{"kind":"lesson","text":"Vault {n} is number {n}."}}"#);
    let claims: Vec<String> = (0..8).map(claim).collect();
    pack.import(&claims.iter().map(String::as_str).collect::<Vec<_>>());
    for (name, values) in [
        ("PACKSET_FUSE", &["combmnz", "combsum", "rrf", "borda", "schulze"][..]),
        ("PACKSET_DIVERSIFY", &["mmr", "dpp", "none"]),
        ("PACKSET_DECAY", &["fsrs", "on", "off"]),
    ] {
        for value in values {
            let run = pack.run(["search", "-q", "vault", "number", "3"]).var(name, *value);
            let done = run.done().code(0);
            assert_eq!(done.out.lines().count(), 8, "{name}={value}");
            assert!(done.out.lines().next().unwrap().ends_with("\tVault 3 is number 3."));
        }
    }
}
