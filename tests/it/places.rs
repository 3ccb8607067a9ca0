//! Where things are: the home, the workspace in force, a workspace's directory, modes on disk.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::harness::{Pack, all_files, mode, skip};

#[test]
fn modes_on_disk() {
    let pack = Pack::new();
    let id = pack.remember("One.");
    pack.remember("Two.");
    pack.ok(["delete", &id]);
    pack.ok(["export", "--into", "out"]);
    let store = pack.store("default");
    let ws = store.parent().unwrap();
    for dir in [&pack.home(), ws, &store, &store.join("m"), &store.join("s"), &store.join("t")] {
        assert_eq!(mode(dir), 0o700, "{}", dir.display());
    }
    for (path, _) in all_files(&pack.home()) {
        let sealed = path.extension().is_some_and(|end| end == "seg" || end == "manifest");
        let want = if sealed { 0o444 } else { 0o600 };
        assert_eq!(mode(&path), want, "{}", path.display());
    }
    assert_eq!(mode(&store.join("LOCK")), 0o600);
    assert_eq!(mode(&pack.work().join("out")), 0o700);
    assert_eq!(mode(&pack.work().join("out/default.jsonl")), 0o600);
}

#[test]
fn modes_do_not_depend_on_the_umask() {
    let pack = Pack::new();
    for (name, umask) in [("wide", "000"), ("narrow", "077")] {
        let run = pack.run([""; 0]).command;
        let line = format!(
            "umask {umask}; exec {} remember --workspace {name} One.",
            crate::harness::PROGRAM
        );
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &line]).env_clear().current_dir(pack.work());
        shell.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
        assert!(shell.output().unwrap().status.success());
        assert_eq!(mode(&pack.store(name)), 0o700, "{umask}");
        assert!(pack.files(name, "s").iter().all(|file| mode(file) == 0o444), "{umask}");
    }
}

#[test]
fn without_a_home_there_is_no_pack() {
    let pack = Pack::new();
    for args in [&["remember", "One."][..], &["search", "one"], &["where", "--explain"]] {
        let done = pack.run(args.iter().copied()).no_var("HOME").done().fails(1);
        done.err_has("HOME is not set").err_has("hint: set HOME");
    }
    pack.run(["where"]).no_var("HOME").done().code(0).out("default\n");
    pack.run(["remember", "-h"]).no_var("HOME").done().code(0);
    let xdg = pack.root.join("xdg");
    let run = pack.run(["remember", "One."]).no_var("HOME").var("XDG_DATA_HOME", &xdg);
    run.done().code(0);
    assert!(xdg.join("packset/ws/default").is_dir());
}

#[test]
fn a_relative_home_is_taken_from_the_working_directory() {
    let pack = Pack::new();
    pack.run(["remember", "One."]).var("PACKSET_HOME", "sub/pack").done().code(0);
    assert!(pack.work().join("sub/pack/ws/default").is_dir());
    assert!(!pack.home().exists());
    let below = pack.work().join("sub");
    let run = pack.run(["search", "-q", "one"]).var("PACKSET_HOME", "../sub/./pack").cwd(&below);
    run.done().code(0).out_has("One.");
}

#[test]
fn an_older_programs_home_is_named_and_left_alone() {
    let pack = Pack::new();
    let old = pack.home().join("memory.lmdb");
    fs::create_dir_all(&old).unwrap();
    fs::write(old.join("data.mdb"), "old").unwrap();
    let before = all_files(&pack.root);
    for args in [
        &["remember", "One."][..],
        &["search", "one"],
        &["atoms"],
        &["status", "--all"],
        &["verify"],
        &["import", "-"],
        &["forget", "default"],
        &["export", "--into", "out"],
    ] {
        let done = pack.run(args.iter().copied()).stdin("{\"kind\":\"lesson\",\"text\":\"a\"}");
        let done = done.done().fails(1);
        done.err_has("memory.lmdb").err_has("export --into DIR").err_has("packset import");
    }
    pack.ok(["where", "--explain"]).err_has("memory.lmdb");
    let answer = pack.ok(["where", "--explain", "--json"]).json();
    assert_eq!(answer["home_usable"], false);
    assert_eq!(all_files(&pack.root), before);
    // Once the home is ours, the old store beside it is no reason any more.
    fs::create_dir(pack.home().join("ws")).unwrap();
    pack.remember("One.");
}

#[test]
fn names_that_look_alike_are_different_workspaces() {
    let pack = Pack::new();
    let long = "x".repeat(512);
    let longer = format!("{}y", &long[..511]);
    let names = [
        "a/b",
        "a:b",
        "a_b",
        "a b",
        "A",
        "a",
        "a%2fb",
        "..",
        ".",
        "a.",
        ".a",
        "\u{e9}",
        "e\u{301}",
        "CON",
        &long,
        &longer,
        "git:example.org/a/b",
    ];
    for name in names {
        pack.ok(["remember", "--workspace", name, "The same claim everywhere."]);
    }
    assert_eq!(fs::read_dir(pack.home().join("ws")).unwrap().count(), names.len());
    let all = pack.ok(["status", "--all", "--json"]).json();
    assert_eq!(all["workspaces"].as_object().unwrap().len(), names.len());
    for name in names {
        assert_eq!(all["workspaces"][name], 1, "{name}");
    }
    pack.ok(["forget", "a/b"]).out("1 forgotten from a/b\n");
    for name in names {
        let left = pack.ok(["atoms", name]).json_lines();
        let want = usize::from(name != "a/b");
        assert_eq!(left.len(), want, "{name}");
        assert!(left.iter().all(|atom| atom["workspace"] == name));
    }
    let verified = pack.ok(["verify", "--all"]).out;
    assert_eq!(verified.lines().count(), names.len() - 1);
    let too_long = "x".repeat(513);
    for name in ["", " ", "a\tb", "a\0b", &too_long] {
        if !name.contains('\0') {
            pack.run(["atoms", "--", name]).done().fails(64);
        }
    }
}

#[test]
fn a_forgotten_workspace_frees_its_ids() {
    let pack = Pack::new();
    let line = r#"{"kind":"lesson","id":"fixed","text":"One."}"#;
    pack.import(&[line]);
    pack.ok(["delete", "fixed"]);
    pack.run(["import", "-"]).stdin(line).done().code(1);
    pack.ok(["forget", "default"]).out("0 forgotten from default\n");
    pack.import(&[line]);
    assert_eq!(pack.atoms(&[]).len(), 1);
    let left = fs::read_dir(pack.home().join("ws")).unwrap().count();
    assert_eq!(left, 1, "nothing of the old one stays");
}

#[test]
fn the_variable_names_the_workspace() {
    let pack = Pack::new().var("PACKSET_WORKSPACE", "mine");
    pack.ok(["where"]).out("mine\n");
    pack.ok(["where", "--explain"]).out_has("mine\tPACKSET_WORKSPACE\n");
    pack.remember("One.");
    assert_eq!(pack.atoms(&["mine"]).len(), 1);
    pack.ok(["remember", "--workspace", "other", "Two."]);
    assert_eq!(pack.atoms(&["other"]).len(), 1, "an argument comes first");
    assert_eq!(pack.atoms(&[]).len(), 1);
}

fn git(dir: &Path, args: &[&str]) -> bool {
    let mut git = Command::new("git");
    git.args(args).current_dir(dir).env("HOME", dir).env("GIT_CONFIG_NOSYSTEM", "1");
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        git.env_remove(name);
    }
    match git.output() {
        Ok(output) => {
            assert!(output.status.success(), "{args:?}: {output:?}");
            true
        }
        Err(_) => false,
    }
}

#[test]
fn a_git_remote_names_the_workspace_in_every_worktree() {
    let pack = Pack::new();
    let repo = pack.work().join("repo");
    fs::create_dir_all(repo.join("deep/er")).unwrap();
    if !git(&repo, &["init", "-q", "."]) {
        return skip("there is no git");
    }
    let which = |dir: &Path| pack.run(["where"]).cwd(dir).done().code(0).out;
    assert_eq!(which(&repo), "default\n", "no remote yet");
    git(&repo, &["remote", "add", "origin", "https://me:pass@Example.org:8443/team/tool.git"]);
    let name = "git:example.org/team/tool\n";
    let explained = pack.run(["where", "--explain"]).cwd(&repo).done().code(0);
    explained.out_has("remote origin in ").never_says("pass");
    git(&repo, &["config", "user.name", "A"]);
    git(&repo, &["config", "user.email", "a@example.org"]);
    git(&repo, &["commit", "-q", "--allow-empty", "-m", "one"]);
    git(&repo, &["worktree", "add", "-q", "../tree"]);
    git(&repo, &["worktree", "add", "-q", "deep/inner"]);
    for dir in ["repo", "repo/deep/er", "tree", "repo/deep/inner", "repo/.git"] {
        assert_eq!(which(&pack.work().join(dir)), name, "{dir}");
    }
    pack.run(["remember", "From the repository."]).cwd(&repo).done().code(0);
    let tree = pack.work().join("tree");
    let found = pack.run(["search", "repository"]).cwd(&tree).done().code(0);
    found.out_has("From the repository.").err("packset: workspace git:example.org/team/tool\n");
    assert_eq!(which(&pack.work()), "default\n");
    git(&pack.work(), &["clone", "-q", "--bare", "repo", "bare.git"]);
    git(&pack.work().join("bare.git"), &["remote", "set-url", "origin", "git@host:x/y.git"]);
    assert_eq!(which(&pack.work().join("bare.git")), "git:host/x/y\n");
}

#[test]
fn the_seat_file_adds_variables_and_replaces_none() {
    let pack = Pack::new();
    let dir = pack.root.join("home/.config/ljos");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("env"), "# seat\nPACKSET_WORKSPACE = seat\n").unwrap();
    pack.ok(["where"]).out("seat\n");
    pack.run(["where"]).var("PACKSET_WORKSPACE", "own").done().code(0).out("own\n");
}
