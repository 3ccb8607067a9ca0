//! The n-th call to the file system fails, for every n and every verb.
//!
//! The verbs run as the program runs them, on a file system that fails on request. Whatever
//! fails: the run ends in 0 or 74, 0 only if the work is done; a failure is one line that says
//! what failed; nothing acknowledged before is lost; the next commit leaves no file over.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use packset::cli::ui::Stream;
use packset::cli::{Env, Ui};
use packset::clock::FixedClock;
use packset::command::run;
use packset::time::Micros;
use packset_segments::manifest::{Manifest, generation_of};
use packset_segments::sim::{Fault, Refusal, SimFs};
use serde_json::Value;

/// 2026-05-28T20:26:40Z; any moment would do.
const NOW: FixedClock = FixedClock(Micros(1_780_000_000_000_000));

/// An hour later, so that all that is recorded counts as past.
const LATER: FixedClock = FixedClock(Micros(1_780_003_600_000_000));

const FAULTS: [Fault; 5] = [
    Fault::Error(Refusal::Eio),
    Fault::Error(Refusal::Enospc),
    Fault::ShortWrite,
    Fault::SyncFailsAndDrops,
    Fault::ErrorAfterSuccess,
];

#[derive(Clone, Default)]
struct Caught(Rc<RefCell<Vec<u8>>>);

impl Write for Caught {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Caught {
    fn text(&self) -> String {
        String::from_utf8(self.0.borrow().clone()).unwrap()
    }
}

struct Ran {
    code: u8,
    out: String,
    err: String,
}

fn run(fs: &SimFs, args: &[&str], input: &str) -> Ran {
    run_at(fs, LATER, args, input)
}

fn run_at(fs: &SimFs, clock: FixedClock, args: &[&str], input: &str) -> Ran {
    let (out, err) = (Caught::default(), Caught::default());
    let plain = Stream::default();
    let input = io::Cursor::new(input.as_bytes().to_vec());
    let mut ui =
        Ui::new((Box::new(out.clone()), plain), (Box::new(err.clone()), plain), Box::new(input));
    let vars = [("HOME", "/h"), ("PACKSET_HOME", "/p")];
    let env = Env::new(args.iter().copied(), vars, Some(Path::new("/w")));
    let exit = run::run(env, Arc::new(fs.share()), Arc::new(clock), &mut ui);
    Ran { code: exit.code(), out: out.text(), err: err.text() }
}

#[track_caller]
fn ok(fs: &SimFs, args: &[&str], input: &str) -> String {
    let Ran { code, out, err } = run(fs, args, input);
    assert_eq!(code, 0, "{args:?}: {err}");
    out
}

const BASE: &str = r#"{"kind":"lesson","id":"a","text":"Vault one."}
{"kind":"lesson","id":"b","text":"Vault two."}
{"kind":"preference","id":"c","text":"Vault three."}
"#;

const MORE: &str = r#"{"kind":"lesson","id":"m1","text":"More one."}
{"kind":"lesson","id":"m2","text":"More two."}
{"kind":"lesson","id":"m3","text":"More three."}
"#;

const GIT: &str = "[remote \"origin\"]\n\turl = https://example.org/team/tool.git\n";

/// A pack with a history, a second workspace, and a repository to stand in.
fn base() -> SimFs {
    let fs = SimFs::new();
    let install = |path: &str, text: &str| fs.install(Path::new(path), text.as_bytes()).unwrap();
    install("/w/f.jsonl", MORE);
    install("/w/.git/HEAD", "ref: refs/heads/main\n");
    install("/w/.git/config", GIT);
    install("/h/x", "");
    // Batches of one make segments that are not all folded into one.
    let then = |args: &[&str], input: &str| {
        let ran = run_at(&fs, NOW, args, input);
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.err);
    };
    then(&["import", "--batch", "1", "-"], BASE);
    then(&["remember", "Vault", "to", "go."], "");
    let gone = atoms(&fs, "git:example.org/team/tool");
    let gone = gone.iter().find(|(_, text)| text == "Vault to go.").unwrap();
    then(&["delete", &gone.0], "");
    then(&["remember", "--workspace", "other", "Elsewhere."], "");
    fs.clone()
}

/// Ids and texts that a workspace lists.
#[track_caller]
fn atoms(fs: &SimFs, workspace: &str) -> BTreeSet<(String, String)> {
    let listed = ok(fs, &["atoms", workspace], "");
    let pair = |line| {
        let atom: Value = serde_json::from_str(line).unwrap();
        let field = |name: &str| atom[name].as_str().unwrap().to_owned();
        (field("id"), field("text"))
    };
    listed.lines().map(pair).collect()
}

const HERE: &str = "git:example.org/team/tool";

fn texts(fs: &SimFs, workspace: &str) -> BTreeSet<String> {
    atoms(fs, workspace).into_iter().map(|(_, text)| text).collect()
}

fn has(fs: &SimFs, workspace: &str, wanted: &[&str]) -> bool {
    let texts = texts(fs, workspace);
    wanted.iter().all(|text| texts.contains(*text))
}

/// What must be there after the verb said 0. Reads have none: their output says it.
type Effect = fn(&SimFs) -> bool;

struct Case {
    args: &'static [&'static str],
    input: &'static str,
    effect: Option<Effect>,
    /// Texts of the base that the verb may take away.
    takes: &'static [&'static str],
}

const fn read(args: &'static [&'static str]) -> Case {
    Case { args, input: "", effect: None, takes: &[] }
}

const fn write(args: &'static [&'static str], input: &'static str, effect: Effect) -> Case {
    Case { args, input, effect: Some(effect), takes: &[] }
}

const VAULT: [&str; 3] = ["Vault one.", "Vault two.", "Vault three."];

fn segments(fs: &SimFs) -> u64 {
    let status: Value = serde_json::from_str(&ok(fs, &["status", "--json"], "")).unwrap();
    status["segments"].as_u64().unwrap()
}

/// Whether an older moment still shows the deleted claim.
fn has_history(fs: &SimFs) -> bool {
    let status: Value = serde_json::from_str(&ok(fs, &["status", "--json"], "")).unwrap();
    // Three claims, the two versions of the deleted one, and the note of the day's sweep.
    status["versions"] == 6
}

fn exported(fs: &SimFs) -> bool {
    let tree = fs.tree();
    let ours = |path: &str| path.ends_with("w/out/git%3aexample.org%2fteam%2ftool.jsonl");
    let Some((_, bytes)) = tree.iter().find(|(path, _)| ours(path)) else { return false };
    String::from_utf8_lossy(bytes).lines().count() == 3
}

/// The whole of it, once for each fault and each call that it can hit.
fn try_all(base: &SimFs, case: &Case) {
    let clean = base.clone();
    let expected = run(&clean, case.args, case.input);
    assert_eq!(expected.code, 0, "{:?}: {}", case.args, expected.err);
    assert!(case.effect.is_none_or(|effect| effect(&clean)), "{:?}: no effect", case.args);
    for fault in FAULTS {
        // What cannot change anything can only fail, and does so once.
        let plain = fault == FAULTS[0];
        for n in 1.. {
            let fs = base.clone();
            match plain {
                true => fs.fail_at(n, fault),
                false => fs.fail_mutation_at(n, fault),
            }
            let ran = run(&fs, case.args, case.input);
            let Some((call, path)) = fs.hit() else { break };
            fs.clear_faults();
            let story = format!(
                "{:?}: {fault:?} at call {n}, {call:?} {}: exit {}\n{}{}",
                case.args,
                path.display(),
                ran.code,
                ran.out,
                ran.err
            );
            judge(base, &fs, case, &expected, &ran, &story);
        }
    }
}

fn judge(base: &SimFs, fs: &SimFs, case: &Case, expected: &Ran, ran: &Ran, story: &str) {
    match ran.code {
        0 => match case.effect {
            None => assert_eq!(ran.out, expected.out, "another answer: {story}"),
            Some(effect) => {
                assert!(effect(fs), "acknowledged and not done: {story}");
                let worst = fs.crash_states().remove(0);
                assert!(effect(&worst), "acknowledged and lost with the power: {story}");
            }
        },
        74 => {
            let lines: Vec<&str> =
                ran.err.lines().filter(|line| !line.starts_with("packset: workspace ")).collect();
            let shaped = match lines[..] {
                [line] => line.starts_with("packset: "),
                [line, hint] => line.starts_with("packset: ") && hint.starts_with("hint: "),
                _ => false,
            };
            assert!(shaped, "no failure in one line: {story}");
        }
        _ => panic!("wrong exit code: {story}"),
    }
    let before: BTreeSet<String> = texts(base, HERE);
    let after = texts(fs, HERE);
    let lost: Vec<&String> =
        before.difference(&after).filter(|text| !case.takes.contains(&&***text)).collect();
    assert!(lost.is_empty(), "{lost:?} lost: {story}");
    assert!(has(fs, "other", &["Elsewhere."]), "the other workspace: {story}");
    let verified = run(fs, &["verify", "--all"], "");
    assert_eq!(verified.code, 0, "{}: {story}", verified.out);
    if case.effect.is_some() {
        leaves_nothing_over(fs, story);
    }
}

/// After one more commit in each workspace, and a scratch one made and forgotten, only what
/// manifests name is there.
fn leaves_nothing_over(fs: &SimFs, story: &str) {
    for workspace in [HERE, "default", "new", "scratch"] {
        ok(fs, &["remember", "--workspace", workspace, "The next commit."], "");
    }
    ok(fs, &["forget", "scratch"], "");
    let tree = fs.tree();
    let mut named = BTreeSet::new();
    for (path, bytes) in &tree {
        let path = Path::new(path);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if let Some(generation) = generation_of(&name) {
            let manifest = Manifest::decode(path, bytes, generation).expect(story);
            let dir = path.parent().and_then(Path::parent).unwrap().join("s");
            named.extend(manifest.segments.iter().map(|entry| dir.join(entry.file())));
        }
    }
    let mut manifests = std::collections::BTreeMap::<PathBuf, u32>::new();
    for path in tree.keys().map(|path| path.trim_start_matches('/')) {
        let Some(rest) = path.strip_prefix("p/ws/") else {
            let draft = path.starts_with("w/out/") && !path.ends_with(".jsonl") && path != "w/out/";
            assert!(!draft, "{path} is left over: {story}");
            continue;
        };
        assert!(!rest.starts_with('.'), "{path} is left over: {story}");
        let parts: Vec<&str> = rest.split('/').collect();
        let full = Path::new("/").join(path);
        let fine = match parts[..] {
            [] | [""] | [_, "" | "LOCK"] | [_, "m" | "s" | "t", ""] => true,
            [ws, "m", _] => {
                let count = manifests.entry(ws.into()).or_default();
                *count += 1;
                *count <= 2
            }
            [_, "s", _] => named.contains(&full) || named.contains(Path::new(path)),
            _ => false,
        };
        assert!(fine, "{path} is left over: {story}");
    }
}

#[test]
fn writing_one_claim() {
    let base = base();
    let here: Effect = |fs| has(fs, HERE, &["A new one."]);
    let there: Effect = |fs| has(fs, "new", &["A new one."]);
    try_all(&base, &write(&["remember", "A new one."], "", here));
    try_all(&base, &write(&["prefer", "--workspace", "new", "A new one."], "", there));
}

#[test]
fn the_first_claim_of_a_pack() {
    let fs = SimFs::new();
    fs.install(Path::new("/h/x"), b"").unwrap();
    fs.install(Path::new("/w/x"), b"").unwrap();
    let effect = |fs: &SimFs| has(fs, "default", &["A new one."]);
    for fault in FAULTS {
        for n in 1.. {
            let fs = fs.clone();
            fs.fail_at(n, fault);
            let ran = run(&fs, &["remember", "A new one."], "");
            let Some((call, path)) = fs.hit() else { break };
            fs.clear_faults();
            let story = format!("{fault:?} at {n}, {call:?} {}: {}", path.display(), ran.err);
            match ran.code {
                0 => assert!(effect(&fs.crash_states().remove(0)), "lost: {story}"),
                74 => assert!(ran.err.starts_with("packset: "), "{story}"),
                code => panic!("exit {code}: {story}"),
            }
            leaves_nothing_over(&fs, &story);
            assert_eq!(run(&fs, &["verify", "--all"], "").code, 0, "{story}");
        }
    }
}

#[test]
fn importing() {
    let base = base();
    let effect: Effect = |fs| has(fs, HERE, &["More one.", "More two.", "More three."]);
    try_all(&base, &write(&["import", "--batch", "2", "-"], MORE, effect));
    try_all(&base, &write(&["import", "f.jsonl"], "", effect));
    let documents = r#"{"kind":"document","id":"d","text":"A page."}"#;
    let effect: Effect = |fs| {
        let page = ok(fs, &["search", "-q", "--kind", "document", "page"], "");
        page.ends_with("\tdocument\td\tA page.\n")
    };
    try_all(&base, &write(&["import", "--records", "-"], documents, effect));
}

#[test]
fn deleting_and_forgetting() {
    let base = base();
    let effect: Effect = |fs| !has(fs, HERE, &["Vault one."]);
    let mut delete = write(&["delete", "a", "--why", "deed-1"], "", effect);
    delete.takes = &["Vault one."];
    try_all(&base, &delete);
    let effect: Effect = |fs| texts(fs, HERE).is_empty();
    let mut forget = write(&["forget", HERE], "", effect);
    forget.takes = &VAULT;
    try_all(&base, &forget);
}

#[test]
fn undoing() {
    let effect: Effect = |fs| has(fs, HERE, &["Vault to go."]);
    try_all(&base(), &write(&["undo"], "", effect));
}

#[test]
fn compacting() {
    let base = base();
    assert!(has_history(&base), "the base has a history to drop");
    let dropped: Effect = |fs| !has_history(fs) && segments(fs) == 1;
    try_all(&base, &write(&["compact", "--keep", "0s"], "", dropped));
    // Commits over several batches of growing size leave more than one segment.
    let grown = base.clone();
    let line = |n| format!("{{\"kind\":\"lesson\",\"text\":\"Grown claim {n} of many.\"}}\n");
    ok(&grown, &["import", "-"], &(0..600).map(line).collect::<String>());
    ok(&grown, &["import", "-"], &(600..800).map(line).collect::<String>());
    if segments(&grown) > 1 {
        let effect: Effect = |fs| segments(fs) == 1;
        try_all(&grown.clone(), &write(&["compact", "--all"], "", effect));
    }
}

#[test]
fn exporting() {
    let base = base();
    try_all(&base, &write(&["export", "--into", "out"], "", exported));
}

#[test]
fn reading() {
    let base = base();
    for args in [
        &["search", "-q", "vault"][..],
        &["search", "--json", "vault"],
        &["atoms"],
        &["atoms", "--as-of", "2026-05-28T20:26:40Z"],
        &["status", "--json"],
        &["status", "--all"],
        &["verify"],
        &["verify", "--all"],
        &["where", "--explain"],
        &["show", "a"],
        &["why", "a", "--query", "vault"],
        &["log"],
        &["log", "--json", "a"],
        &["diff", "--json", "g1..g4"],
        &["search", "-q", "--workspace", "other", "elsewhere"],
    ] {
        let args: &'static [&'static str] = Box::leak(args.to_vec().into_boxed_slice());
        try_all(&base, &read(args));
    }
}
