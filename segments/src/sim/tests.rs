//! Programs of a few calls, with the crash sets worked out by hand.

use super::*;
use crate::vfs::tests::{behaves, kind_of, put};
use std::collections::BTreeSet;
use std::io::ErrorKind;

fn p(path: &str) -> &Path {
    Path::new(path)
}

/// The distinct states after a crash, each written as `name=content`, directories as `name/`.
fn states(fs: &SimFs) -> BTreeSet<String> {
    let all = fs.crash_states();
    let shown: BTreeSet<String> = all.iter().map(show).collect();
    assert_eq!(shown.len(), all.len(), "two states look alike");
    shown
}

fn show(fs: &SimFs) -> String {
    let mut text = Vec::new();
    for (path, content) in fs.tree() {
        if path.ends_with('/') {
            text.push(path);
        } else {
            let content: String = content
                .iter()
                .map(|byte| match byte {
                    0 => '0',
                    0xA5 => '#',
                    other => char::from(*other),
                })
                .collect();
            text.push(format!("{path}={content}"));
        }
    }
    text.join(" ")
}

fn set(states: &[&str]) -> BTreeSet<String> {
    states.iter().map(|state| (*state).to_owned()).collect()
}

/// Durable directories `s` and `t`.
fn two_dirs() -> SimFs {
    let fs = SimFs::new();
    fs.create_dir(p("/s")).unwrap();
    fs.create_dir(p("/t")).unwrap();
    fs.sync_dir(p("/")).unwrap();
    fs
}

#[test]
fn behaves_like_a_file_system() {
    let fs = SimFs::new();
    fs.create_dir(p("/root")).unwrap();
    behaves(&fs, p("/root"));
}

#[test]
fn nothing_unsynced_leaves_one_state() {
    assert_eq!(states(&SimFs::new()), set(&[""]));
    assert_eq!(states(&two_dirs()), set(&["s/ t/"]));
}

#[test]
fn a_file_without_syncs_may_be_absent_empty_whole_or_never_written() {
    let fs = SimFs::new();
    fs.create_new(p("/a")).unwrap().write_all(b"xyz").unwrap();
    assert_eq!(states(&fs), set(&["", "a=", "a=000", "a=###", "a=xyz"]));
    assert_eq!(show(&fs.crash_states()[0]), "");
}

#[test]
fn two_writes_leave_prefixes_and_holes() {
    let fs = SimFs::new();
    let mut file = fs.create_new(p("/a")).unwrap();
    fs.sync_dir(p("/")).unwrap();
    file.write_all(b"ab").unwrap();
    file.sync().unwrap();
    file.write_all(b"cd").unwrap();
    file.write_all(b"ef").unwrap();
    let expected = [
        "a=ab", "a=abcdef", // nothing, everything
        "a=ab0000", "a=ab####", // nothing, in the new length
        "a=abcd", "a=abcd00", "a=abcd##", // the first write
        "a=ab00ef", "a=ab##ef", // the second alone
    ];
    assert_eq!(states(&fs), set(&expected));
}

#[test]
fn a_synced_file_without_its_name_is_whole_or_absent() {
    let fs = SimFs::new();
    put(&fs, p("/a"), "xyz");
    assert_eq!(states(&fs), set(&["", "a=xyz"]));
    fs.sync_dir(p("/")).unwrap();
    assert_eq!(states(&fs), set(&["a=xyz"]));
}

#[test]
fn a_large_last_write_tears_at_a_sector() {
    let fs = SimFs::new();
    let mut file = fs.create_new(p("/a")).unwrap();
    fs.sync_dir(p("/")).unwrap();
    file.write_all(&[b'x'; 1500]).unwrap();
    let lengths: Vec<(usize, usize)> = fs
        .crash_states()
        .iter()
        .map(|state| {
            let content = state.read(p("/a")).unwrap();
            (content.len(), content.iter().filter(|&&byte| byte == b'x').count())
        })
        .collect();
    // The boundary nearest below the middle (750) is 512.
    for expected in [(0, 0), (1500, 0), (1500, 1500), (512, 512), (1500, 512)] {
        assert!(lengths.contains(&expected), "{expected:?} in {lengths:?}");
    }
    // None and all, none in new length twice, the tear cut, with zeros and with garbage.
    assert_eq!(lengths.len(), 7);
}

#[test]
fn a_rename_across_directories_is_two_operations() {
    let fs = two_dirs();
    put(&fs, p("/t/x"), "1");
    fs.sync_dir(p("/t")).unwrap();
    fs.rename_new(p("/t/x"), p("/s/y")).unwrap();
    let four = ["s/ t/ t/x=1", "s/ t/", "s/ s/y=1 t/ t/x=1", "s/ s/y=1 t/"];
    assert_eq!(states(&fs), set(&four));
    let synced = fs.clone();
    synced.sync_dir(p("/s")).unwrap();
    assert_eq!(states(&synced), set(&["s/ s/y=1 t/ t/x=1", "s/ s/y=1 t/"]));
    fs.sync_dir(p("/t")).unwrap();
    assert_eq!(states(&fs), set(&["s/ t/", "s/ s/y=1 t/"]));
}

#[test]
fn both_names_of_a_half_lost_rename_are_one_file() {
    let fs = two_dirs();
    put(&fs, p("/t/x"), "1");
    fs.sync_dir(p("/t")).unwrap();
    fs.rename_new(p("/t/x"), p("/s/y")).unwrap();
    let both = fs
        .crash_states()
        .into_iter()
        .find(|state| state.read(p("/t/x")).is_ok() && state.read(p("/s/y")).is_ok())
        .unwrap();
    assert_eq!(both.id(p("/t/x")).unwrap(), both.id(p("/s/y")).unwrap());
}

#[test]
fn a_rename_within_a_directory_is_one_operation() {
    let fs = SimFs::new();
    put(&fs, p("/a"), "1");
    fs.sync_dir(p("/")).unwrap();
    fs.rename_new(p("/a"), p("/b")).unwrap();
    assert_eq!(states(&fs), set(&["a=1", "b=1"]));
    put(&fs, p("/c"), "2");
    fs.sync_dir(p("/")).unwrap();
    fs.rename_over(p("/c"), p("/b")).unwrap();
    assert_eq!(states(&fs), set(&["b=1 c=2", "b=2"]));
}

#[test]
fn operations_on_different_names_are_lost_independently() {
    let fs = SimFs::new();
    for name in ["/a", "/b", "/c"] {
        put(&fs, p(name), "");
    }
    // Eight subsets.
    assert_eq!(states(&fs).len(), 8);
    // On one name they keep their order: no subset brings the first file back over the second.
    let fs = SimFs::new();
    put(&fs, p("/a"), "1");
    fs.unlink(p("/a")).unwrap();
    put(&fs, p("/a"), "2");
    assert_eq!(states(&fs), set(&["", "a=1", "a=2"]));
}

#[test]
fn a_directory_needs_its_parents_sync_to_be_there() {
    let fs = SimFs::new();
    fs.create_dir(p("/d")).unwrap();
    put(&fs, p("/d/a"), "1");
    fs.sync_dir(p("/d")).unwrap();
    assert_eq!(states(&fs), set(&["", "d/ d/a=1"]));
    fs.sync_dir(p("/")).unwrap();
    assert_eq!(states(&fs), set(&["d/ d/a=1"]));
    fs.unlink(p("/d/a")).unwrap();
    fs.remove_dir(p("/d")).unwrap();
    // Removed with its entry, or there, with or without the entry of its file.
    assert_eq!(states(&fs), set(&["", "d/", "d/ d/a=1"]));
}

#[test]
fn many_operations_of_one_directory_have_prefixes_and_single_losses() {
    let fs = SimFs::new();
    for i in 0..8 {
        put(&fs, p(&format!("/{i}")), "");
    }
    let states = states(&fs);
    // None, all, seven proper prefixes that are not empty, eight single losses of which the
    // last is the longest prefix.
    assert_eq!(states.len(), 1 + 1 + 7 + 8 - 1);
    assert!(states.contains("0= 1= 2="));
    assert!(states.contains("0= 1= 2= 4= 5= 6= 7="));
}

#[test]
fn the_product_stays_in_the_hundreds_and_keeps_the_plain_states() {
    let fs = SimFs::new();
    for i in 0..5 {
        let dir = format!("/{i}");
        fs.create_dir(p(&dir)).unwrap();
        for name in ["x", "y"] {
            let mut file = fs.create_new(&p(&dir).join(name)).unwrap();
            file.write_all(b"ab").unwrap();
            file.write_all(b"cd").unwrap();
        }
    }
    let all = fs.crash_states();
    assert!(all.len() > 100 && all.len() <= 512, "{}", all.len());
    let digests: BTreeSet<u128> = all.iter().map(SimFs::digest).collect();
    assert_eq!(digests.len(), all.len());
    assert!(digests.contains(&SimFs::new().digest()));
    assert!(digests.contains(&fs.digest()));
    // Deterministic.
    let again: Vec<u128> = fs.crash_states().iter().map(SimFs::digest).collect();
    assert_eq!(again, all.iter().map(SimFs::digest).collect::<Vec<_>>());
}

#[test]
fn the_text_of_a_lock_file_varies_alone() {
    let fs = SimFs::new();
    put(&fs, p("/LOCK"), "");
    fs.sync_dir(p("/")).unwrap();
    let mut lock = fs.lock(p("/LOCK"), Duration::ZERO).unwrap();
    lock.note("old").unwrap();
    lock.note("me").unwrap();
    assert_eq!(states(&fs), set(&["LOCK=", "LOCK=me"]));
    put(&fs, p("/a"), "");
    put(&fs, p("/b"), "");
    // Lost text only where all else is lost or all is kept; four sets of names with the text.
    let expected = [
        "LOCK=",
        "LOCK= a=",
        "LOCK= b=",
        "LOCK= a= b=",
        "LOCK=me",
        "LOCK=me a=",
        "LOCK=me b=",
        "LOCK=me a= b=",
    ];
    assert!(states(&fs).is_subset(&set(&expected)));
    for name in ["", " a=", " b=", " a= b="] {
        assert!(states(&fs).contains(&format!("LOCK=me{name}")));
    }
    assert!(states(&fs).contains("LOCK="));
}

#[test]
fn a_clone_and_a_crash_state_share_nothing() {
    let fs = two_dirs();
    put(&fs, p("/t/x"), "1");
    let copy = fs.clone();
    copy.unlink(p("/t/x")).unwrap();
    put(&copy, p("/s/new"), "2");
    assert_eq!(show(&fs), "s/ t/ t/x=1");
    assert_eq!(show(&copy), "s/ s/new=2 t/");
    // A copy still has its unsynced part; a state after a crash has none.
    assert_eq!(states(&fs.clone()), set(&["s/ t/", "s/ t/ t/x=1"]));
    for state in fs.crash_states() {
        assert_eq!(states(&state).len(), 1);
    }
    let same = fs.share();
    same.unlink(p("/t/x")).unwrap();
    assert_eq!(show(&fs), "s/ t/");
}

#[test]
fn a_kill_keeps_everything_and_releases_locks() {
    let fs = SimFs::new();
    put(&fs, p("/LOCK"), "");
    fs.create_new(p("/a")).unwrap().write_all(b"unsynced").unwrap();
    let held = fs.lock(p("/LOCK"), Duration::ZERO).unwrap();
    let after = fs.kill();
    assert_eq!(after.read(p("/a")).unwrap(), b"unsynced");
    assert!(after.lock(p("/LOCK"), Duration::ZERO).is_ok());
    assert_eq!(kind_of(fs.lock(p("/LOCK"), Duration::ZERO)), ErrorKind::WouldBlock);
    drop(held);
    assert!(fs.lock(p("/LOCK"), Duration::ZERO).is_ok());
    // And power may still be lost after a kill.
    assert!(after.crash_states().len() > 1);
}

#[test]
fn broken_locks_exclude_nobody_and_are_released_by_their_owner() {
    let fs = SimFs::new();
    put(&fs, p("/LOCK"), "");
    fs.break_locks(true);
    let first = fs.lock(p("/LOCK"), Duration::ZERO).unwrap();
    let second = fs.lock(p("/LOCK"), Duration::ZERO).unwrap();
    fs.break_locks(false);
    drop(second);
    assert_eq!(kind_of(fs.lock(p("/LOCK"), Duration::ZERO)), ErrorKind::WouldBlock);
    drop(first);
    assert!(fs.lock(p("/LOCK"), Duration::ZERO).is_ok());
}

/// Seven calls, five of which change something.
fn program(fs: &SimFs) -> io::Result<()> {
    let mut file = fs.create_new(p("/t/x"))?;
    file.write_all(b"abcd")?;
    file.seal()?;
    fs.kind(p("/t/x"))?;
    fs.rename_new(p("/t/x"), p("/s/x"))?;
    fs.list(p("/s"))?;
    fs.sync_dir(p("/s"))
}

#[test]
fn a_fault_hits_exactly_the_nth_call() {
    use Call::{CreateNew, Kind, List, RenameNew, Seal, SyncDir, Write};
    let calls = [CreateNew, Write, Seal, Kind, RenameNew, List, SyncDir];
    let base = two_dirs().clone();
    for (n, call) in (1..).zip(calls) {
        let fs = base.clone();
        fs.fail_at(n, Fault::Error(Refusal::Eio));
        assert_eq!(program(&fs).unwrap_err().raw_os_error(), Some(5));
        assert_eq!(fs.hit().unwrap().0, call);
        assert_eq!(fs.ops(), n);
        // It comes once.
        assert!(fs.list(p("/")).is_ok());
    }
    let fs = base.clone();
    fs.fail_at(8, Fault::Error(Refusal::Eio));
    program(&fs).unwrap();
    assert_eq!((fs.hit(), fs.ops(), fs.mutating_ops()), (None, 7, 5));

    for (n, call) in (1..).zip(calls.into_iter().filter(|call| call.mutates())) {
        let fs = base.clone();
        fs.fail_mutation_at(n, Fault::Error(Refusal::Enospc));
        assert_eq!(program(&fs).unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(fs.hit().unwrap().0, call);
        assert_eq!(fs.mutating_ops(), n);
    }
    let fs = base.clone();
    fs.fail_at(2, Fault::Error(Refusal::Eio));
    fs.clear_faults();
    program(&fs).unwrap();
}

#[test]
fn several_faults_may_wait_together() {
    let fs = two_dirs();
    fs.fail_at(1, Fault::Error(Refusal::Eio));
    fs.fail_at(3, Fault::Error(Refusal::Enospc));
    assert!(fs.list(p("/s")).is_err());
    assert!(fs.list(p("/s")).is_ok());
    assert_eq!(kind_of(fs.list(p("/s"))), ErrorKind::StorageFull);
    assert!(fs.list(p("/s")).is_ok());
}

#[test]
fn after_a_crash_every_call_fails_and_the_disk_is_as_before_it() {
    let fs = two_dirs().clone();
    fs.fail_at(3, Fault::Crash);
    let error = program(&fs).unwrap_err();
    assert!(is_stopped(&error));
    assert!(fs.stopped());
    assert!(is_stopped(&fs.list(p("/")).unwrap_err()));
    assert!(is_stopped(&fs.unlink(p("/t/x")).unwrap_err()));
    assert_eq!(fs.ops(), 3);
    // The unsealed file: absent, or there in each of its five shapes.
    let shapes = ["", " t/x=", " t/x=0000", " t/x=####", " t/x=abcd"];
    let expected = shapes.map(|shape| format!("s/ t/{shape}"));
    assert_eq!(states(&fs), expected.into_iter().collect());
    assert!(fs.kill().list(p("/")).is_ok());
    assert!(!is_stopped(&Refusal::Eio.into()));
}

#[test]
fn a_short_write_leaves_half_and_a_full_disk() {
    let fs = SimFs::new();
    let mut file = fs.create_new(p("/a")).unwrap();
    fs.fail_at(1, Fault::ShortWrite);
    assert_eq!(kind_of(file.write_all(b"abcdef")), ErrorKind::StorageFull);
    assert_eq!(fs.read(p("/a")).unwrap(), b"abc");
    fs.fail_at(1, Fault::ShortWrite);
    assert_eq!(kind_of(fs.unlink(p("/a"))), ErrorKind::StorageFull);
    assert_eq!(fs.read(p("/a")).unwrap(), b"abc");
}

#[test]
fn a_failed_sync_loses_the_data_and_the_next_one_lies() {
    let fs = SimFs::new();
    let mut file = fs.create_new(p("/a")).unwrap();
    fs.sync_dir(p("/")).unwrap();
    file.write_all(b"ab").unwrap();
    file.sync().unwrap();
    file.write_all(b"cd").unwrap();
    fs.fail_at(1, Fault::SyncFailsAndDrops);
    assert!(file.sync().is_err());
    assert_eq!(fs.read(p("/a")).unwrap(), b"abcd");
    file.sync().unwrap();
    assert_eq!(states(&fs), set(&["a=ab"]));
    // What is written later lands behind a hole.
    file.write_all(b"ef").unwrap();
    file.seal().unwrap();
    assert_eq!(states(&fs), set(&["a=ab00ef"]));
}

#[test]
fn a_failed_directory_sync_loses_the_names() {
    let fs = SimFs::new();
    put(&fs, p("/a"), "1");
    fs.fail_at(1, Fault::SyncFailsAndDrops);
    assert!(fs.sync_dir(p("/")).is_err());
    assert_eq!(fs.list(p("/")).unwrap(), ["a"]);
    fs.sync_dir(p("/")).unwrap();
    assert_eq!(states(&fs), set(&[""]));
}

#[test]
fn an_error_after_success_has_happened() {
    let fs = two_dirs().clone();
    fs.fail_at(5, Fault::ErrorAfterSuccess);
    assert!(program(&fs).is_err());
    assert_eq!(show(&fs), "s/ s/x=abcd t/");
    // A lock that was reported as refused is not held.
    fs.fail_at(1, Fault::ErrorAfterSuccess);
    assert!(fs.lock(p("/s/x"), Duration::ZERO).is_err());
    assert!(fs.lock(p("/s/x"), Duration::ZERO).is_ok());
}

#[test]
fn a_step_left_out_claims_success() {
    let whole = set(&["s/ s/x=abcd t/"]);
    let run = |script: &dyn Fn(&SimFs)| {
        let fs = two_dirs();
        script(&fs);
        program(&fs).unwrap();
        states(&fs)
    };
    // t is never synced: x may still have its old name too.
    let kept = run(&|_| {});
    assert_eq!(kept, &whole | &set(&["s/ s/x=abcd t/ t/x=abcd"]));
    assert!(run(&|fs| fs.skip_sync_dir("s")).contains("s/ t/"));
    assert!(run(&|fs| fs.skip_seal("t/x")).contains("s/ s/x=#### t/"));
    assert_eq!(run(&|fs| fs.skip_seal("t/other")), kept);
    assert_eq!(run(&|fs| fs.skip_sync_dir("t")), kept);
    let second = Arc::new(Mutex::new(0));
    let chooser: Chooser = Arc::new(move |call, _| {
        call == Call::SyncDir && {
            let mut count = second.lock().unwrap();
            *count += 1;
            *count == 2
        }
    });
    assert_eq!(run(&|fs| fs.skip(Step::When(chooser.clone()))), kept);

    // Clones and crashed machines leave it out as well.
    let fs = two_dirs();
    fs.skip_sync_dir("s");
    let fs = fs.crash_states().remove(0).clone();
    program(&fs).unwrap();
    assert!(states(&fs).contains("s/ t/"));
}

#[test]
fn without_the_no_clobber_check_a_rename_overwrites() {
    let fs = two_dirs();
    put(&fs, p("/s/x"), "old");
    put(&fs, p("/t/x"), "new");
    fs.skip(Step::NoClobber("m".into()));
    assert_eq!(kind_of(fs.rename_new(p("/t/x"), p("/s/x"))), ErrorKind::AlreadyExists);
    fs.skip(Step::NoClobber("s".into()));
    fs.rename_new(p("/t/x"), p("/s/x")).unwrap();
    assert_eq!(show(&fs), "s/ s/x=new t/");
}

#[test]
fn a_full_disk_takes_what_fits() {
    let fs = two_dirs();
    fs.set_capacity(Some(6));
    let mut file = fs.create_new(p("/t/x")).unwrap();
    file.write_all(b"abcd").unwrap();
    assert_eq!(fs.free_space(p("/t")).unwrap(), 2);
    assert_eq!(kind_of(file.write_all(b"efgh")), ErrorKind::StorageFull);
    assert_eq!(fs.read(p("/t/x")).unwrap(), b"abcdef");
    assert_eq!(fs.free_space(p("/t")).unwrap(), 0);
    fs.unlink(p("/t/x")).unwrap();
    assert_eq!(fs.free_space(p("/t")).unwrap(), 6);
    fs.set_capacity(None);
    fs.set_free_space(77);
    assert_eq!(fs.free_space(p("/t")).unwrap(), 77);
}

#[test]
fn a_sealed_file_is_closed_to_writes() {
    let fs = SimFs::new();
    let mut file = fs.create_new(p("/a")).unwrap();
    file.seal().unwrap();
    assert_eq!(kind_of(file.write_all(b"more")), ErrorKind::PermissionDenied);
}

#[test]
fn an_installed_file_is_durable_and_uncounted() {
    let fs = SimFs::new();
    fs.install(p("/d/e/a"), b"1").unwrap();
    fs.install(p("/d/e/a"), b"2").unwrap();
    assert_eq!(states(&fs), set(&["d/ d/e/ d/e/a=2"]));
    assert_eq!(fs.ops(), 0);
    assert_eq!(kind_of(fs.install(p("/d/e"), b"")), ErrorKind::IsADirectory);
    assert_eq!(kind_of(fs.install(p("/d/e/a/b"), b"")), ErrorKind::NotADirectory);
    assert_eq!(kind_of(fs.read(p("/d/../x"))), ErrorKind::InvalidInput);
}

#[test]
fn a_directory_does_not_move_into_itself() {
    let fs = two_dirs();
    assert_eq!(kind_of(fs.rename_new(p("/s"), p("/s/x"))), ErrorKind::InvalidInput);
    assert_eq!(kind_of(fs.rename_over(p("/s"), p("/s/x"))), ErrorKind::InvalidInput);
}

#[test]
fn threads_share_one_machine() {
    let fs = two_dirs();
    std::thread::scope(|scope| {
        for i in 0..4 {
            let fs = &fs;
            scope.spawn(move || put(fs, p(&format!("/t/{i}")), "x"));
        }
    });
    assert_eq!(fs.list(p("/t")).unwrap(), ["0", "1", "2", "3"]);
}
