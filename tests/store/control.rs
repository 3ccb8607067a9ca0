//! Whether the tests would notice: with any one step of the protocol left out, or any byte of a
//! file bent, the same judge must find a violation.
//!
//! Publishing without clobbering has its control in `race`, where two writers meet.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use packset_segments::sim::{Call, Fault, SimFs, Step};
use packset_segments::vfs::Vfs;

use super::crash::{crash_next, explore};
use super::ground::{names, store};
use super::judge::{Judge, content_of};
use super::operation::{self, Operation, small};

/// Violations that the crash tests find with some steps left out.
fn found(operation: &Operation, leave_out: impl Fn(&SimFs)) -> String {
    // What is skipped is not part of what the judge sees: it needs a memory of its own.
    let explored = explore(operation, &leave_out, &mut Judge::default());
    explored.violations.into_keys().collect::<Vec<_>>().join("\n")
}

fn when(takes: impl Fn(Call, &Path) -> bool + Send + Sync + 'static) -> Step {
    Step::When(Arc::new(takes))
}

fn is_named(path: &Path, name: &str) -> bool {
    path.file_name().is_some_and(|last| last.to_string_lossy().starts_with(name))
}

fn has_parent(path: &Path, name: &str) -> bool {
    path.parent().is_some_and(|parent| is_named(parent, name))
}

#[test]
fn a_step_left_out_of_a_write_is_found() {
    let write = operation::write();
    let sealed =
        |dir: &'static str| when(move |call, path| call == Call::Seal && has_parent(path, dir));
    let no_segment_sync = found(&write, |fs| fs.skip(sealed("s")));
    assert!(no_segment_sync.contains("torn") || no_segment_sync.contains("open"));
    let no_names_sync = found(&write, |fs| fs.skip_sync_dir("s"));
    assert!(no_names_sync.contains("a file is missing"), "{no_names_sync}");
    let no_manifest_sync = found(&write, |fs| fs.skip(sealed("t")));
    assert!(no_manifest_sync.contains("manifest"), "{no_manifest_sync}");
    let no_publish_sync = found(&write, |fs| fs.skip_sync_dir("m"));
    assert!(no_publish_sync.contains("acknowledged 1, but it holds step 0"), "{no_publish_sync}");
    // Without that sync a manifest may come back whose segments are gone by then.
    let two = operation::all().swap_remove(6);
    let violations = found(&two, |fs| fs.skip_sync_dir("m"));
    assert!(violations.contains("a file is missing"), "{}: {violations}", two.name);
}

#[test]
fn a_step_left_out_of_a_first_write_is_found() {
    let first = operation::first_write();
    let skipped = |takes: fn(&Path) -> bool| {
        found(&first, |fs| fs.skip(when(move |call, path| call == Call::SyncDir && takes(path))))
    };
    for (step, violations) in [
        ("ws/", skipped(|path| is_named(path, "ws"))),
        ("the home", skipped(|path| is_named(path, "h"))),
        ("the root", skipped(|path| path == Path::new("/"))),
        ("the new directory", skipped(|path| is_named(path, ".new-"))),
        ("its m/", skipped(|path| is_named(path, "m") && has_parent(path, ".new-"))),
    ] {
        assert!(!violations.is_empty(), "nobody misses the sync of {step}");
    }
    let no_manifest_sync = found(&first, |fs| {
        fs.skip(when(|call, path| call == Call::Seal && has_parent(path, "m")));
    });
    assert!(no_manifest_sync.contains("manifest"), "{no_manifest_sync}");
}

#[test]
fn a_step_left_out_of_a_forget_is_found() {
    let violations = found(&operation::forget(), |fs| fs.skip_sync_dir("ws"));
    assert!(!violations.is_empty());
}

/// Whether a kill in an operation, the next commit, and a power loss are found to lose something
/// when the process that was killed left its disk as `change` makes it.
fn loses_after_a_kill(operation: &Operation, change: impl Fn(&SimFs)) -> bool {
    for n in 1.. {
        let fs = operation.base.clone();
        fs.fail_mutation_at(n, Fault::Crash);
        let _ = operation.run(&fs);
        let over = fs.hit().is_none();
        let fs = fs.kill();
        change(&fs);
        let holds = content_of(&store(&fs, 0)).unwrap();
        let (mut judge, mut states) = (Judge::default(), BTreeMap::new());
        if crash_next(&fs, &holds, &operation.contents, 1, &mut judge, &mut states).is_err() {
            return true;
        }
        if over {
            return false;
        }
    }
    unreachable!()
}

/// The mark that a commit leaves until it is durable: without it the next one takes away the
/// last manifest that is durable.
#[test]
fn a_mark_left_out_is_found() {
    assert!(loses_after_a_kill(&operation::write(), |fs| {
        let dir = store(fs, 0).dir().join("t");
        for name in names(fs, &dir).iter().filter(|name| name.ends_with(".unsure")) {
            fs.unlink(&dir.join(name)).unwrap();
        }
    }));
}

/// What a first commit syncs above the store, because whoever made it may have been killed.
#[test]
fn a_step_left_out_above_a_store_that_a_dead_process_made_is_found() {
    for dir in ["/", "/h", "/h/ws"] {
        assert!(
            loses_after_a_kill(&operation::first_write(), |fs| {
                fs.skip(when(move |call, path| call == Call::SyncDir && path == Path::new(dir)));
            }),
            "nobody misses the sync of {dir}"
        );
    }
}

#[test]
fn any_bent_byte_is_found() {
    let base = small();
    let mut judge = Judge::default();
    judge.look(&base).unwrap();
    let dir = store(&base, 0).dir().to_owned();
    let tree = base.tree();
    let named = store(&base, 0).snapshot().unwrap().unwrap();
    let segments: Vec<_> = named.manifest().segments.iter().map(|entry| entry.file()).collect();
    let newest = format!("{:016}.manifest", named.manifest().generation);
    let mut bent = 0;
    for (path, bytes) in &tree {
        let name = path.rsplit('/').next().unwrap();
        if *name != newest && !segments.iter().any(|segment| segment == name) {
            continue;
        }
        assert!(Path::new(path).starts_with(&dir) || path.contains("/m/") || path.contains("/s/"));
        // Every seventh byte: seven is prime to all that is aligned.
        for at in (0..bytes.len()).step_by(7) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            let fs = base.clone();
            fs.install(Path::new(path), &damaged).unwrap();
            assert!(content_of(&store(&fs, 0)).is_err(), "{path} byte {at}");
            bent += 1;
        }
    }
    assert!(bent > 300, "only {bent} bytes were bent");
}
