//! What a terminal gets that a pipe does not: colour, and text that cannot act on it.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::harness::{Pack, Run};

/// Both ends of a new terminal.
fn pty() -> (File, File) {
    let ours: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let name = std::ffi::OsString::from_vec(name.into_bytes());
    let theirs = File::options().read(true).write(true).open(name).unwrap();
    (File::from(ours), theirs)
}

/// What a terminal shows of a run whose stdout and stderr it is; line ends as written.
fn shown(mut run: Run) -> (Option<i32>, String) {
    let (mut ours, theirs) = pty();
    run.command.stdin(Stdio::null());
    run.command.stdout(theirs.try_clone().unwrap()).stderr(theirs);
    let mut child = run.command.spawn().unwrap();
    // The command keeps its copies of the terminal's end, which would keep it open.
    drop(run);
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    // Reading ends in an error once nobody has the other end.
    while let Ok(length @ 1..) = ours.read(&mut part) {
        bytes.extend_from_slice(&part[..length]);
    }
    let code = child.wait().unwrap().code();
    (code, String::from_utf8(bytes).unwrap().replace("\r\n", "\n"))
}

#[test]
fn colour_is_for_a_willing_terminal() {
    let pack = Pack::new();
    let id = pack.remember("One.");
    let search = || pack.run(["search", "-q", "one"]);
    let plain = search().done().out;
    let coloured = plain.replace("lesson", "\u{1b}[36mlesson\u{1b}[0m");
    let coloured = coloured.replace(&*id, &format!("\u{1b}[2m{id}\u{1b}[0m"));
    let score = plain.split('\t').next().unwrap();
    let coloured = coloured.replacen(score, &format!("\u{1b}[2m{score}\u{1b}[0m"), 1);
    assert_eq!(shown(search().var("TERM", "xterm")), (Some(0), coloured.clone()));
    // An empty NO_COLOR does not object.
    assert_eq!(shown(search().var("TERM", "xterm").var("NO_COLOR", "")).1, coloured);
    assert_eq!(shown(search().var("TERM", "xterm").var("NO_COLOR", "1")).1, plain);
    assert_eq!(shown(search().var("TERM", "dumb")).1, plain);
    assert_eq!(shown(search()).1, plain);
    let json = pack.run(["search", "-q", "--json", "one"]).var("TERM", "xterm");
    assert!(!shown(json).1.contains('\u{1b}'));
}

#[test]
fn stored_text_cannot_act_on_a_terminal() {
    let pack = Pack::new();
    let text = "Bell \u{7} clear \u{1b}[2J back \u{8} c1 \u{9b}1m end.";
    pack.remember(text);
    let search = || pack.run(["search", "-q", "bell"]).var("TERM", "xterm").var("NO_COLOR", "1");
    assert!(search().done().out.contains(text), "a pipe gets the bytes");
    let (code, seen) = shown(search());
    assert_eq!(code, Some(0));
    let neutral = "Bell <U+0007> clear <U+001B>[2J back <U+0008> c1 <U+009B>1m end.";
    assert!(seen.contains(neutral), "{seen:?}");
    let (_, json) = shown(pack.run(["atoms"]).var("TERM", "xterm"));
    let line = json.lines().find(|line| line.starts_with('{')).unwrap();
    assert!(!line.chars().any(char::is_control), "{line:?}");
    let atom: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(atom["text"], text, "escaped, the value is the same");
}

#[test]
fn direction_marks_are_named_on_a_terminal() {
    let pack = Pack::new();
    // No claim may hold them; a name in an error message may.
    let name = "a\u{202e}b";
    let run = || pack.run(["atoms", name]);
    assert_eq!(run().done().code(0).err, format!("packset: workspace {name}\n"));
    assert_eq!(shown(run()), (Some(0), "packset: workspace a<U+202E>b\n".into()));
}

#[test]
fn a_row_is_one_line_whatever_the_text_holds() {
    let pack = Pack::new();
    let line = r#"{"kind":"lesson","text":"tabs\tand\nlines\r\nand \u2028 more"}"#;
    pack.import(&[line]);
    let done = pack.ok(["search", "-q", "tabs"]);
    assert_eq!(done.out.lines().count(), 1);
    assert!(done.out.ends_with("\ttabs and lines  and   more\n"), "{:?}", done.out);
    let json = pack.ok(["search", "-q", "--json", "tabs"]).json();
    assert_eq!(json["hits"][0]["text"], "tabs\tand\nlines\r\nand \u{2028} more");
}

#[test]
fn the_progress_bar_is_for_a_terminal_and_goes_away() {
    let pack = Pack::new();
    let line = |n| format!("{{\"kind\":\"lesson\",\"text\":\"Claim {n}.\"}}\n");
    let lines: String = (0..50).map(line).collect();
    std::fs::write(pack.work().join("f"), lines).unwrap();
    let (code, seen) = shown(pack.run(["import", "--batch", "10", "f"]).var("TERM", "xterm"));
    assert_eq!(code, Some(0));
    assert!(seen.contains("import [###"), "{seen:?}");
    assert!(seen.ends_with("\r\u{1b}[K50 stored, 0 already there, 0 refused\n"), "{seen:?}");
    pack.ok(["import", "f"]).err("").out("0 stored, 50 already there, 0 refused\n");
}
