//! What `doctor` finds, and that what it says helps.

use std::fs;

use serde_json::Value;

use crate::harness::{Pack, keys, mode, replace, set_mode};

/// A pack with a claim, on a port where nobody listens.
fn pack() -> Pack {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    let pack = Pack::new().var("PACKSET_PORT", port.to_string());
    pack.remember("A claim.");
    pack
}

fn verdict(answer: &Value, check: &str) -> (String, String, Value) {
    let checks = answer["checks"].as_array().unwrap();
    let found = checks.iter().find(|found| found["check"] == check);
    let found = found.unwrap_or_else(|| panic!("no check {check}: {answer}"));
    assert_eq!(keys(found), ["check", "verdict", "said", "fix"]);
    let text = |name: &str| found[name].as_str().unwrap().to_owned();
    (text("verdict"), text("said"), found["fix"].clone())
}

#[test]
fn a_sound_pack() {
    let pack = pack();
    let answer = pack.ok(["doctor", "--json"]).json();
    assert_eq!(keys(&answer), ["schema", "verdict", "checks"]);
    let checks = answer["checks"].as_array().unwrap();
    let names: Vec<&str> = checks.iter().map(|check| check["check"].as_str().unwrap()).collect();
    let wanted = [
        "home",
        "permissions",
        "space",
        "store default",
        "writer",
        "token",
        "clients",
        "encoder",
        "model",
        "runtime",
    ];
    assert_eq!(names, wanted);
    for check in ["home", "permissions", "store default", "writer", "token", "clients"] {
        assert_eq!(verdict(&answer, check).0, "ok", "{answer}");
    }
    let done = pack.ok(["doctor"]);
    assert_eq!(done.out.lines().count(), wanted.len());
    assert_eq!(done.err, "");
}

#[test]
fn nothing_yet_is_sound_and_an_older_programs_home_is_not() {
    let pack = Pack::new();
    let done = pack.run(["doctor"]).var("PACKSET_PORT", "1").done().code(0);
    done.out_has("not there yet");
    assert!(!pack.home().exists());
    fs::create_dir_all(pack.home().join("memory.lmdb")).unwrap();
    let done = pack.run(["doctor"]).var("PACKSET_PORT", "1").done().code(1);
    done.out_has("fail\thome\t").out_has("packset import");
    pack.run(["doctor"]).no_var("HOME").done().code(1).out_has("HOME is not set");
}

#[test]
fn modes_that_let_others_in() {
    let pack = pack();
    set_mode(&pack.home(), 0o755);
    set_mode(&pack.store("default").join("LOCK"), 0o664);
    let answer = pack.run(["doctor", "--json"]).done().code(1).json();
    let (verdict_is, said, fix) = verdict(&answer, "permissions");
    assert_eq!((verdict_is.as_str(), fix), ("fail", "packset doctor --fix".into()));
    assert!(said.contains("is 0755, not 0700, and 1 more"), "{said}");
    pack.ok(["doctor", "--fix"]).out_has("ok\tpermissions\t2 files and directories narrowed");
    assert_eq!(mode(&pack.home()), 0o700);
    assert_eq!(mode(&pack.store("default").join("LOCK")), 0o600);
    pack.ok(["doctor"]).out_has("ok\tpermissions\t0700 and 0600 throughout");
}

#[test]
fn a_store_without_its_lock() {
    let pack = pack();
    fs::remove_file(pack.store("default").join("LOCK")).unwrap();
    pack.run(["remember", "Lost."]).done().code(76);
    let done = pack.run(["doctor"]).done().code(1);
    done.out_has("fail\tstore default\tits LOCK file is missing")
        .out_has("fix: packset doctor --fix");
    assert!(!pack.store("default").join("LOCK").exists(), "looking changes nothing");
    pack.ok(["doctor", "--fix"]).out_has("its LOCK file was missing and is back");
    assert_eq!(mode(&pack.store("default").join("LOCK")), 0o600);
    pack.remember("Written again.");
    assert_eq!(pack.found("again"), ["Written again."]);
}

#[test]
fn a_damaged_store_and_leftovers() {
    let pack = pack();
    pack.ok(["remember", "--workspace", "a b", "Another."]);
    fs::write(pack.store("default").join("t/left"), "").unwrap();
    fs::create_dir(pack.home().join("ws/.gone-1")).unwrap();
    let segment = pack.files("a%20b", "s").pop().unwrap();
    replace(&segment, b"short");
    let done = pack.run(["doctor"]).done().code(1);
    let done = done.out_has("ok\tstore default\t").out_has("1 leftover files");
    let done = done.out_has("ok\tleftovers\t1 directories");
    done.out_has("fail\tstore a b\t").out_has("fix: packset verify 'a b'");
    pack.run(["verify", "a b"]).done().code(76);
}

#[test]
fn a_token_that_others_can_read() {
    let pack = pack();
    let token = pack.home().join("token");
    fs::write(&token, format!("{}\n", "0a".repeat(32))).unwrap();
    set_mode(&token, 0o644);
    let done = pack.run(["doctor"]).done().code(1).out_has("fail\ttoken\t");
    done.out_has(&format!("fix: chmod 600 {}", token.display()));
    set_mode(&token, 0o600);
    pack.ok(["doctor"]).out_has("ok\ttoken\t");
    fs::write(&token, "short\n").unwrap();
    pack.run(["doctor"]).done().code(1).out_has("holds no token");
}

#[test]
fn where_clients_go() {
    let pack = pack();
    let with = |name: &str, value: &str| pack.run(["doctor"]).var(name, value).done();
    with("PACKSET_URL", "off").code(0).out_has("warn\tclients\tPACKSET_URL=off");
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let down = with("PACKSET_URL", &format!("http://127.0.0.1:{port}")).code(1);
    down.out_has("nothing answers there").out_has(&format!("PACKSET_PORT={port} packset ensure"));
    with("PACKSET_PORT", "many").code(0).out_has("PACKSET_PORT is no port, so that it is 8761");
    let seat = pack.root.join("home/.config/ljos/env");
    fs::create_dir_all(seat.parent().unwrap()).unwrap();
    fs::write(&seat, "PACKSET_WORKSPACE=seat\n").unwrap();
    pack.ok(["doctor"]).out_has(&format!("read {}", seat.display()));
    with("PACKSET_AUTH", "off").code(0).out_has("warn\ttoken\tPACKSET_AUTH is off");
}
