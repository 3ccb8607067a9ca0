//! Damaged files: 76 that names the file, or the right answer; never a panic or a signal.

use std::fs;
use std::path::{Path, PathBuf};

use crate::harness::{Done, Pack, replace, unscored};

/// Two segments with a delete across them, none of it folded away.
fn pack() -> Pack {
    let pack = Pack::new();
    pack.import(&[
        r#"{"kind":"lesson","id":"a","text":"Vault one."}"#,
        r#"{"kind":"lesson","id":"b","text":"Vault two.","x":{"y":1}}"#,
        r#"{"kind":"goal","id":"c","text":"Keep the vault shut.","ts":"2020-01-01"}"#,
    ]);
    // One row does not absorb three: the store has two segments.
    pack.ok(["delete", "a"]);
    assert_eq!(pack.ok(["status", "--json"]).json()["segments"], 2);
    pack.ok(["remember", "--workspace", "other", "Vault elsewhere."]);
    pack
}

fn newest(pack: &Pack, part: &str) -> PathBuf {
    pack.files("default", part).pop().unwrap()
}

/// `verify` finds it and names the file; the other workspace stays whole.
#[track_caller]
fn verify_names(pack: &Pack, name: &Path) {
    let done = pack.run(["verify"]).done().code(76);
    let row: Vec<&str> = done.out.lines().next().unwrap().split('\t').collect();
    assert_eq!(row[..2], ["default", "damaged"], "{row:?}");
    let name = name.file_name().unwrap().to_str().unwrap();
    done.out_has(name).err_has("hint: ");
    let all = pack.run(["verify", "--all", "--json"]).done().code(76).json_lines();
    let whole: Vec<bool> = all.iter().map(|one| one["whole"].as_bool().unwrap()).collect();
    assert_eq!(whole.iter().filter(|whole| **whole).count(), 1, "{all:?}");
    let named = all.iter().filter(|one| !one["problems"].as_array().unwrap().is_empty()).count();
    assert_eq!(named, 1, "{all:?}");
    assert_eq!(pack.found_with(&["--workspace", "other"], "vault"), ["Vault elsewhere."]);
}

/// A read of damaged bytes answers what it did before, or says what is damaged.
#[track_caller]
fn same_or_76(done: Done, want: &str) {
    match done.code {
        Some(0) if done.out.starts_with('{') => drop(done.out(want)),
        Some(0) => assert_eq!(unscored(&done.out), want),
        _ => drop(done.code(76).err_has("packset: ").err_has("hint: `packset verify`")),
    }
}

#[test]
fn every_damage_to_a_manifest_is_found() {
    let pack = pack();
    let path = newest(&pack, "m");
    let bytes = fs::read(&path).unwrap();
    let step = bytes.len() / 40 + 1;
    for at in (0..bytes.len()).step_by(step) {
        let mut bad = bytes.clone();
        bad[at] ^= 1;
        replace(&path, &bad);
        verify_names(&pack, &path);
        pack.run(["search", "vault"]).done().code(76);
    }
    for length in [0, 1, bytes.len() / 2, bytes.len() - 1] {
        replace(&path, &bytes[..length]);
        verify_names(&pack, &path);
        for args in [&["atoms"][..], &["search", "-q", "vault"], &["status"], &["remember", "x"]] {
            pack.run(args.iter().copied()).done().code(76).err_has("hint: `packset verify`");
        }
    }
    replace(&path, &bytes);
    pack.ok(["verify", "--all"]);
}

#[test]
fn every_damage_to_a_segment_is_found() {
    let pack = pack();
    let atoms = pack.ok(["atoms"]).out;
    let found = unscored(&pack.ok(["search", "-q", "vault"]).out);
    for path in pack.files("default", "s") {
        let bytes = fs::read(&path).unwrap();
        let step = bytes.len() / 60 + 1;
        for at in (0..bytes.len()).step_by(step) {
            let mut bad = bytes.clone();
            bad[at] ^= 0x10;
            replace(&path, &bad);
            verify_names(&pack, &path);
            same_or_76(pack.run(["search", "-q", "vault"]).done(), &found);
            same_or_76(pack.run(["atoms"]).done(), &atoms);
        }
        for length in [0, 1, 63, bytes.len() / 2, bytes.len() - 1] {
            replace(&path, &bytes[..length]);
            verify_names(&pack, &path);
            pack.run(["atoms"]).done().code(76);
            pack.run(["remember", "x"]).done().code(76);
        }
        let mut long = bytes.clone();
        long.push(0);
        replace(&path, &long);
        verify_names(&pack, &path);
        replace(&path, &bytes);
    }
    pack.ok(["verify", "--all"]);
}

#[test]
fn missing_and_foreign_files_are_found() {
    let pack = pack();
    let segment = newest(&pack, "s");
    let bytes = fs::read(&segment).unwrap();
    fs::remove_file(&segment).unwrap();
    verify_names(&pack, &segment);
    pack.run(["search", "vault"]).done().code(76).err_has("a file is missing");
    fs::write(&segment, fs::read(pack.files("other", "s").pop().unwrap()).unwrap()).unwrap();
    verify_names(&pack, &segment);
    pack.run(["search", "vault"]).done().code(76);
    replace(&segment, &bytes);
    pack.ok(["verify", "--all"]);

    let manifests = pack.files("default", "m");
    let kept: Vec<Vec<u8>> = manifests.iter().map(|path| fs::read(path).unwrap()).collect();
    let foreign = fs::read(pack.files("other", "m").pop().unwrap()).unwrap();
    let newest = manifests.last().unwrap();
    replace(newest, &foreign);
    pack.run(["verify"]).done().code(76);
    for path in &manifests {
        fs::remove_file(path).unwrap();
    }
    let done = pack.run(["verify"]).done().code(76);
    drop(done.out_has("default\tdamaged\t").out_has("there is no manifest"));
    for args in [&["search", "vault"][..], &["remember", "x"], &["delete", "b"], &["compact"]] {
        pack.run(args.iter().copied()).done().fails(76);
    }
    for (path, bytes) in manifests.iter().zip(&kept) {
        fs::write(path, bytes).unwrap();
    }
    pack.ok(["verify", "--all"]);
    pack.remember("Vault three.");
}

#[test]
fn a_damaged_workspace_can_still_be_forgotten_from_outside_and_others_work() {
    let pack = pack();
    let path = newest(&pack, "m");
    replace(&path, b"{}");
    pack.run(["status", "--all"]).done().code(76);
    let listed = pack.run(["verify", "--all"]).done().code(76);
    drop(listed.out_has("default\tdamaged\t").out_has("other\twhole\t"));
    pack.ok(["remember", "--workspace", "other", "More."]);
    pack.ok(["remember", "--workspace", "third", "More."]);
}

#[test]
fn strangers_beside_the_store_harm_nothing() {
    let pack = pack();
    let store = pack.store("default");
    for name in ["m/notes.txt", "s/notes.txt", "t/notes.txt", "notes.txt", "m/9.manifest.bak"] {
        fs::write(store.join(name), "x").unwrap();
    }
    fs::create_dir(pack.home().join("ws/.made-half")).unwrap();
    pack.remember("Vault three.");
    pack.ok(["verify", "--all"]);
    assert_eq!(pack.atoms(&[]).len(), 3);
    assert!(store.join("notes.txt").exists(), "only the store's own directories are swept");
}
