//! Exit codes, each reached the way a user would reach it. 70 is for bugs, and none is known.

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::harness::{Done, PROGRAM, Pack, set_mode, skip, unscored};

/// A pack with enough in it that a listing overflows every pipe and buffer.
fn large() -> Pack {
    let pack = Pack::new();
    let line =
        |n| format!(r#"{{"kind":"lesson","text":"Claim {n} of many, long enough to fill."}}"#);
    let lines: Vec<String> = (0..1000).map(line).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    pack.import(&lines);
    pack
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let pack = large();
    let mut child = pack
        .run(["atoms"])
        .command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let done = Done::of("atoms | true".into(), child.wait_with_output().unwrap());
    done.code(0).err("packset: workspace default\n");

    let mut shell = pack.run([""; 0]).command;
    let head = format!("{PROGRAM} atoms | head -1; {PROGRAM} search -q claim | head -1");
    let shell = Command::new("/bin/sh")
        .args(["-c", &head])
        .env_clear()
        .envs(shell.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .current_dir(shell.current_dir(pack.work()).get_current_dir().unwrap())
        .output()
        .unwrap();
    let done = Done::of(head, shell).code(0).err("packset: workspace default\n");
    assert_eq!(done.out.lines().count(), 2);
}

#[test]
fn a_full_disk_behind_stdout_is_74() {
    let pack = large();
    let id = pack.remember("One more.");
    for args in [
        &["atoms"][..],
        &["search", "claim"],
        &["status"],
        &["where"],
        &["verify"],
        &["export", "--into", "out", "--json"],
        &["import", "--json", "/dev/null"],
        &["remember", "Another."],
        &["delete", &id],
        &["compact"],
        &["forget", "default"],
        &["-h"],
        &["--version"],
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut run = pack.run(args.iter().copied()).command;
        let output = run.stdin(Stdio::null()).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let done = Done::of(format!("{args:?} > /dev/full"), output);
        done.code(74).err_has("packset: cannot write standard output: ");
    }
}

#[test]
fn a_held_lock_is_75_and_names_the_holder() {
    let pack = Pack::new();
    let id = pack.remember("One.");
    let path = pack.store("default").join("LOCK");
    let note = fs::read_to_string(&path).unwrap();
    assert!(note.starts_with("packset remember (process "), "{note}");
    let lock = File::options().read(true).write(true).open(&path).unwrap();
    lock.lock().unwrap();
    fs::write(&path, "somebody (process 1)").unwrap();
    for args in [
        &["remember", "Two."][..],
        &["prefer", "Two."],
        &["delete", &id],
        &["forget", "default"],
        &["compact"],
    ] {
        let run = pack.run(args.iter().copied()).var("PACKSET_LOCK_TIMEOUT_MS", "50");
        let start = Instant::now();
        let done = run.done().fails(75);
        assert!(start.elapsed() >= Duration::from_millis(50), "it waits as long as it was told");
        done.err_has("workspace default is in use by somebody (process 1)\n")
            .err_has("hint: try again");
    }
    let run = pack.run(["import", "-"]).var("PACKSET_LOCK_TIMEOUT_MS", "0");
    run.stdin(r#"{"kind":"lesson","text":"Two."}"#).done().fails(75);
    // Readers and writers of other workspaces do not wait.
    assert_eq!(pack.found("one"), ["One."]);
    pack.ok(["verify"]);
    pack.ok(["status", "--all"]);
    pack.ok(["export", "--into", "out"]);
    pack.ok(["remember", "--workspace", "other", "Two."]);
    drop(lock);
    pack.remember("Two.");
}

#[test]
fn a_writer_waits_for_another() {
    let pack = Pack::new();
    pack.remember("One.");
    let path = pack.store("default").join("LOCK");
    let lock = File::options().read(true).write(true).open(&path).unwrap();
    lock.lock().unwrap();
    let waiter = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        drop(lock);
    });
    pack.remember("Two.");
    waiter.join().unwrap();
    assert_eq!(pack.atoms(&[]).len(), 2);
}

#[test]
fn nonsense_in_the_environment_is_64() {
    let pack = Pack::new();
    pack.remember("One.");
    let search = ["search", "one"];
    for (name, value, args) in [
        ("PACKSET_FUSE", "bogus", &search[..]),
        ("PACKSET_DIVERSIFY", "bogus", &search),
        ("PACKSET_DECAY", "bogus", &search),
        ("PACKSET_MMAP", "bogus", &search),
        ("PACKSET_LOCK_TIMEOUT_MS", "soon", &["remember", "Two."]),
        ("PACKSET_LOCK_TIMEOUT_MS", "-1", &search),
        ("PACKSET_WORKSPACE", "a\nb", &search),
        ("PACKSET_WORKSPACE", " ", &["where"]),
    ] {
        pack.run(args.iter().copied()).var(name, value).done().fails(64).err_has(name);
    }
    // Empty is unset.
    for name in ["PACKSET_FUSE", "PACKSET_MMAP", "PACKSET_LOCK_TIMEOUT_MS", "PACKSET_WORKSPACE"] {
        pack.run(search).var(name, "").done().code(0);
    }
}

#[test]
fn how_segments_are_read_changes_no_answer() {
    let pack = large();
    let search = |policy: &str| {
        let run = pack.run(["search", "-q", "many", "claim", "77"]).var("PACKSET_MMAP", policy);
        unscored(&run.done().code(0).out)
    };
    let plain = search("");
    assert_eq!(plain.lines().count(), 10);
    for policy in ["auto", "always", "never"] {
        assert_eq!(search(policy), plain, "{policy}");
    }
}

#[test]
fn what_is_not_there_is_1_and_what_cannot_be_a_time_is_64() {
    let pack = Pack::new();
    let id = pack.remember("One.");
    let lists = "hint: `packset atoms default` lists what is live";
    pack.run(["delete", "0192f3a4"]).done().fails(1).err_has("atom 0192f3a4\n").err_has(lists);
    pack.run(["delete", "--workspace", "nowhere", &id]).done().fails(1).err_has("atoms nowhere");
    pack.run(["delete", &id, "--why", "because"]).done().fails(1).err_has("accession");
    pack.ok(["delete", &id]);
    pack.run(["delete", &id]).done().fails(1).err_has(&id);
    for moment in ["yesterday", "2026-13-01", "2026-02-30T00:00:00Z", "now", "1"] {
        for flag in ["--as-of", "--known-at"] {
            pack.run(["search", flag, moment, "one"]).done().fails(64).err_has(moment);
            pack.run(["atoms", flag, moment]).done().fails(64);
        }
    }
    pack.run(["import", "no-such-file"]).done().fails(1).err_has("no-such-file");
    pack.run(["import", "."]).done().fails(1).err_has("directory");
}

/// Runs as somebody whom modes bind, even if the tests run as root. None: it cannot be done here.
fn bound(pack: &Pack, args: &[&str]) -> Option<Done> {
    use std::os::unix::fs::{MetadataExt as _, chown};
    use std::os::unix::process::CommandExt as _;
    const NOBODY: u32 = 65_534;
    let run = |args: &[&str]| {
        let mut run = pack.run(args.iter().copied());
        if fs::metadata(&pack.root).unwrap().uid() == NOBODY {
            run.command.uid(NOBODY).gid(NOBODY);
        }
        run
    };
    if fs::metadata("/proc/self").unwrap().uid() == 0
        && fs::metadata(&pack.root).unwrap().uid() == 0
    {
        let mut open = vec![pack.root.clone()];
        while let Some(path) = open.pop() {
            chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
            if path.is_dir() {
                open.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            }
        }
        let mut probe = run(&["-V"]).command;
        let ran = probe.stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !ran.is_ok_and(|status| status.success()) {
            skip("modes do not bind root, and nobody else can run the program");
            return None;
        }
    }
    Some(run(args).done())
}

#[test]
fn a_read_only_pack_can_be_read_and_not_written() {
    let pack = Pack::new();
    let id = pack.remember("One.");
    let store = pack.store("default");
    let dirs = [store.join("m"), store.join("s"), store.join("t"), store.clone()];
    let ws = store.parent().unwrap().to_owned();
    let all = dirs.iter().chain([&ws]);
    // Ownership changes hands first; modes are set after it.
    if bound(&pack, &["-V"]).is_none() {
        return;
    }
    set_mode(&store.join("LOCK"), 0o400);
    all.clone().for_each(|dir| set_mode(dir, 0o500));
    let run = |args: &[&str]| bound(&pack, args).unwrap();
    run(&["search", "-q", "one"]).code(0).out_has("One.");
    assert_eq!(run(&["atoms"]).code(0).json_lines().len(), 1);
    run(&["status", "--all"]).code(0);
    run(&["verify"]).code(0).out_has("whole");
    run(&["export", "--into", "out"]).code(0);
    for args in [
        &["remember", "Two."][..],
        &["remember", "--workspace", "new", "Two."],
        &["delete", &id],
        &["compact", "--keep", "0s"],
        &["forget", "default"],
    ] {
        run(args).fails(74);
    }
    set_mode(&store.join("LOCK"), 0o600);
    for args in [&["remember", "Two."][..], &["delete", &id], &["forget", "default"]] {
        run(args).fails(74);
    }
    all.for_each(|dir| set_mode(dir, 0o700));
    assert_eq!(run(&["atoms"]).code(0).json_lines().len(), 1, "nothing came of it");
    run(&["remember", "Two."]).code(0);
    run(&["verify"]).code(0);
}

#[test]
fn an_unreadable_or_unwritable_place_is_74() {
    let pack = Pack::new();
    pack.remember("One.");
    let shut = pack.root.join("shut");
    fs::create_dir(&shut).unwrap();
    fs::write(pack.work().join("secret.jsonl"), "{}").unwrap();
    if bound(&pack, &["-V"]).is_none() {
        return;
    }
    set_mode(&shut, 0o500);
    set_mode(&pack.work().join("secret.jsonl"), 0o000);
    let run = |args: &[&str]| bound(&pack, args).unwrap();
    let into = shut.join("out");
    run(&["export", "--into", into.to_str().unwrap()]).fails(74).err_has("out");
    run(&["export", "--into", shut.to_str().unwrap()]).fails(74);
    run(&["import", "secret.jsonl"]).fails(74).err_has("secret.jsonl");
    set_mode(&shut, 0o700);
    // A file where a directory must be.
    fs::write(pack.work().join("file"), "").unwrap();
    run(&["export", "--into", "file"]).fails(74);
    let at_file = pack.run(["remember", "Two."]).var("PACKSET_HOME", "file");
    at_file.done().fails(74);
    let below_file = pack.run(["search", "two"]).var("PACKSET_HOME", "file/below");
    below_file.done().code(74);
}
