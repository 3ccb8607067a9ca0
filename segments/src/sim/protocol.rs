//! Whether the instrument finds what it is for: a commit protocol of the store's shape, run to
//! every call and crashed there, is sound; with any one step left out it is not.
//!
//! Not here: the store's own protocol, which has its own tests.

use super::*;
use std::collections::BTreeSet;

/// One commit: a segment, then a manifest that names all segments, one a line.
fn commit(fs: &SimFs, generation: u32, before: &[String]) -> io::Result<Vec<String>> {
    let write = |name: &str, text: &str| {
        let path = Path::new("/t").join(name);
        let mut file = fs.create_new(&path)?;
        let (head, tail) = text.as_bytes().split_at(text.len() / 2);
        file.write_all(head)?;
        file.write_all(tail)?;
        file.seal().map(|()| path)
    };
    let segment = write(&format!("seg-{generation}"), &format!("segment {generation}"))?;
    fs.rename_new(&segment, &Path::new("/s").join(generation.to_string()))?;
    fs.sync_dir(Path::new("/s"))?;
    let mut names = before.to_vec();
    names.push(generation.to_string());
    let manifest = write(&format!("man-{generation}"), &format!("{}\nend", names.join("\n")))?;
    fs.rename_new(&manifest, &Path::new("/m").join(generation.to_string()))?;
    fs.sync_dir(Path::new("/m"))?;
    Ok(names)
}

/// The generation that is there, if all that it names is whole.
fn recover(fs: &SimFs) -> Result<u32, &'static str> {
    let read = |path: String| fs.read(Path::new(&path)).map_err(|_| "a file is missing");
    let manifests = fs.list(Path::new("/m")).map_err(|_| "m is missing")?;
    let Some(newest) = manifests.iter().max() else {
        return Ok(0);
    };
    let text = String::from_utf8(read(format!("/m/{newest}"))?).map_err(|_| "torn")?;
    let names = text.strip_suffix("\nend").ok_or("a torn manifest")?;
    for name in names.split('\n') {
        if read(format!("/s/{name}"))? != format!("segment {name}").as_bytes() {
            return Err("a torn segment");
        }
    }
    newest.parse().map_err(|_| "a foreign name")
}

/// Distinct states after a crash at every call of three commits, the largest set among them,
/// and the violations found.
fn explore(leave_out: &dyn Fn(&SimFs)) -> (usize, usize, BTreeSet<&'static str>) {
    let base = SimFs::new();
    for name in ["/m", "/s", "/t"] {
        base.create_dir(Path::new(name)).unwrap();
    }
    base.sync_dir(Path::new("/")).unwrap();
    leave_out(&base);
    let (mut states, mut largest, mut violations) = (BTreeSet::new(), 0, BTreeSet::new());
    for n in 1.. {
        let fs = base.clone();
        fs.fail_at(n, Fault::Crash);
        let (mut names, mut acknowledged) = (Vec::new(), 0);
        for generation in 1..=3 {
            match commit(&fs, generation, &names) {
                Ok(done) => (names, acknowledged) = (done, generation),
                Err(error) => {
                    assert!(is_stopped(&error));
                    break;
                }
            }
        }
        let after = fs.crash_states();
        largest = largest.max(after.len());
        for state in after {
            states.insert((state.digest(), acknowledged));
            match recover(&state) {
                Err(what) => violations.insert(what),
                Ok(found) if found < acknowledged => violations.insert("an answered commit lost"),
                Ok(found) if found > acknowledged + 1 => violations.insert("a future generation"),
                Ok(_) => false,
            };
        }
        if fs.hit().is_none() {
            return (states.len(), largest, violations);
        }
    }
    unreachable!()
}

#[test]
fn a_sound_protocol_has_no_violation_in_any_crash_state() {
    let (states, largest, violations) = explore(&|_| {});
    assert_eq!(violations, BTreeSet::new());
    // Enough to mean something, few enough to check for every verb.
    assert!(states > 100 && largest < 400, "{states} states, at most {largest} at one call");
}

#[test]
fn every_step_left_out_is_found() {
    let found = |leave_out: &dyn Fn(&SimFs)| explore(leave_out).2;
    assert!(found(&|fs| fs.skip_seal("t/seg")).contains("a torn segment"));
    assert!(found(&|fs| fs.skip_seal("t/man")).contains("a torn manifest"));
    assert!(found(&|fs| fs.skip_sync_dir("s")).contains("a file is missing"));
    assert!(found(&|fs| fs.skip_sync_dir("m")).contains("an answered commit lost"));
}
