//! The command line's grammar: help wins, flags end at `--`, what makes no sense is 64 with one
//! line and a hint, and clap's own 2 never gets out.

use std::ffi::OsString;

use crate::harness::Pack;

const VERBS: [&str; 25] = [
    "remember",
    "prefer",
    "search",
    "atoms",
    "status",
    "forget",
    "export",
    "import",
    "delete",
    "compact",
    "verify",
    "where",
    "show",
    "log",
    "diff",
    "undo",
    "why",
    "ensure",
    "start",
    "stop",
    "port",
    "url",
    "which",
    "migrate-home",
    "doctor",
];

#[test]
fn help_before_the_dashes_wins_and_runs_nothing() {
    let pack = Pack::new();
    for verb in VERBS {
        let short = pack.ok([verb, "-h"]).err("").out_has(&format!("Usage: packset {verb}")).out;
        pack.ok(["-h", verb]).out(&short);
        pack.ok([verb, "word", "--no-such-flag", "-h"]).out(&short);
        pack.ok([verb, "-h", "--", "x"]).out(&short);
        let long = pack.ok([verb, "--help"]).out_has("Exit codes:").out_has("Examples:").out;
        pack.ok(["help", verb]).out(&long);
        assert!(long.lines().all(|line| line.chars().count() <= 80), "{verb}: wider than 80");
    }
    assert!(!pack.home().exists());
    pack.ok(["remember", "--", "-h"]);
    assert_eq!(pack.atoms(&[])[0]["text"], "-h");
    pack.ok(["-h"]).out_has("Verbs:");
    pack.ok(["--help"]).out_has("  76  damaged store");
    pack.ok(["-V"]).out(concat!("packset ", env!("CARGO_PKG_VERSION"), "\n"));
    pack.ok(["--version"]).out(concat!("packset ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn no_verb_is_help_on_stderr_and_64() {
    let pack = Pack::new();
    pack.run([""; 0]).done().code(64).out("").err_has("Verbs:");
    pack.run(["--json"]).done().code(64).out("");
}

#[test]
fn dashes_end_the_flags() {
    let pack = Pack::new();
    pack.ok(["remember", "--", "--offline", "skips", "the", "fetch."]);
    assert_eq!(pack.found("--offline"), ["--offline skips the fetch."]);
    pack.ok(["remember", "--workspace=-odd", "Here."]);
    assert_eq!(pack.atoms(&["--", "-odd"]).len(), 1);
    pack.ok(["forget", "--", "-odd"]).out("1 forgotten from -odd\n");
    pack.ok(["remember", "a", "--", "--", "b"]);
    assert!(pack.atoms(&[]).iter().any(|atom| atom["text"] == "a -- b"));
    pack.run(["import", "-"])
        .stdin("")
        .done()
        .code(0)
        .out("0 stored, 0 already there, 0 refused\n");
}

#[test]
fn what_makes_no_sense_is_64_in_one_line_with_a_hint() {
    let pack = Pack::new();
    let table: [(&[&str], &str); 45] = [
        (&["no-such-verb"], "no-such-verb"),
        (&["serch", "x"], "did you mean search"),
        (&["--no-such-flag"], "--no-such-flag"),
        (&["remember"], "TEXT"),
        (&["remember", ""], "TEXT is blank"),
        (&["remember", " ", "\t"], "TEXT is blank"),
        (&["prefer", "--"], "TEXT"),
        (&["remember", "a", "--no-such-flag"], "--no-such-flag"),
        (&["remember", "--workspace"], "--workspace"),
        (&["remember", "--workspace", "", "x"], "--workspace"),
        (&["remember", "--workspace", "a\nb", "x"], "control character"),
        (&["remember", "--as-of", "2026-01-01", "x"], "--as-of"),
        (&["search"], "QUERY"),
        (&["search", " "], "QUERY is blank"),
        (&["search", "--limit", "0", "x"], "--limit"),
        (&["search", "--limit=-1", "x"], "--limit"),
        (&["search", "--limit", "many", "x"], "--limit"),
        (&["search", "--limit", "4294967296", "x"], "--limit"),
        (&["search", "--rank", "best", "x"], "fused, relevance"),
        (&["search", "--kind", "", "x"], "--kind"),
        (&["search", "--rerank=yes", "x"], "--rerank"),
        (&["atoms", "a", "b"], "\"b\""),
        (&["atoms", ""], "blank"),
        (&["status", "--all", "ws"], "exclude"),
        (&["verify", "--all", "ws"], "exclude"),
        (&["compact", "--all", "ws"], "exclude"),
        (&["compact", "--keep", "90"], "90d"),
        (&["compact", "--keep=-1d"], "--keep"),
        (&["compact", "--keep", "1y"], "--keep"),
        (&["forget"], "WS"),
        (&["forget", " "], "blank"),
        (&["forget", "a", "b"], "\"b\""),
        (&["export"], "--into"),
        (&["import"], "FILE"),
        (&["import", "--batch", "0", "f"], "--batch"),
        (&["where", "ws"], "\"ws\""),
        (&["show"], "ID"),
        (&["rm", "x"], "did you mean delete?"),
        (&["list"], "did you mean atoms?"),
        (&["version"], "did you mean --version?"),
        (&["why", "id"], "--query"),
        (&["diff", "g1"], "g1"),
        (&["diff", "x..y"], "x"),
        (&["undo", "x"], "x"),
        (&["log", "a", "b"], "\"b\""),
    ];
    for (args, part) in table {
        let done = pack.run(args.iter().copied()).done().fails(64).err_has(part);
        let hinted = done.err.contains("\nhint: ") || done.err.contains("workspace name");
        assert!(hinted, "{args:?}: {}", done.err);
    }
    assert!(!pack.home().exists(), "nothing was made");
}

#[test]
fn two_is_no_exit_code_of_ours() {
    let pack = Pack::new();
    let words =
        ["", "-", "--", "-x", "--all", "--json=1", "-q", "--help=x", "\u{202e}", "-hV", "@f"];
    for verb in VERBS.iter().chain(&["help", "", "-", "--json"]) {
        for word in words {
            let done = pack.run([verb, word]).done();
            let code = done.code.expect("because no signal ends it");
            assert!([0, 1, 64, 65].contains(&code), "{verb:?} {word:?}: {code} {}", done.err);
        }
    }
}

#[test]
fn an_argument_that_is_no_text_is_64() {
    use std::os::unix::ffi::OsStringExt as _;
    let pack = Pack::new();
    let odd = OsString::from_vec(b"caf\xe9".to_vec());
    pack.run([OsString::from("remember"), odd]).done().fails(64).err_has("not UTF-8");
}

#[test]
fn the_last_of_two_flags_counts() {
    let pack = Pack::new();
    pack.ok(["remember", "--workspace", "a", "--workspace", "b", "Here."]);
    assert_eq!(pack.atoms(&["b"]).len(), 1);
    assert!(pack.atoms(&["a"]).is_empty());
}
