//! Processes between any two calls of other processes, and readers beside writers in threads.
//!
//! With working locks a writer or a reader never fails because of another one, whenever that
//! comes; without them, a writer may be told that the store is busy, and nothing that was
//! acknowledged is lost.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use packset::pack::{self, Error, Ground, Result, Store};
use packset_segments::os::{MapPolicy, OsFs};
use packset_segments::sim::{SimFs, Step};
use packset_segments::vfs::{Kind, Vfs};

use super::between::Between;
use super::ground::{NAME, claim, ground, home, put, store, store_on};
use super::judge::{Judge, content_of};
use super::operation::{layers, small};

/// One process: what it does through its door, with ids of its own, to the record `id`.
type Process = fn(&Arc<dyn Vfs>, u64, &str) -> Result<()>;

fn write(vfs: &Arc<dyn Vfs>, ids: u64, id: &str) -> Result<()> {
    put(&store_on(Arc::clone(vfs), ids), vec![claim(id, "said by a process")])
}

fn write_often(vfs: &Arc<dyn Vfs>, ids: u64, id: &str) -> Result<()> {
    (0..4).try_for_each(|n| {
        put(&store_on(Arc::clone(vfs), ids + 100 * n), vec![claim(id, &format!("version {n}"))])
    })
}

fn forget(vfs: &Arc<dyn Vfs>, ids: u64, _: &str) -> Result<()> {
    store_on(Arc::clone(vfs), ids).forget().map(drop)
}

fn forget_and_write(vfs: &Arc<dyn Vfs>, ids: u64, id: &str) -> Result<()> {
    forget(vfs, ids, id)?;
    write(vfs, ids + 100, id)
}

fn forget_another(vfs: &Arc<dyn Vfs>, ids: u64, id: &str) -> Result<()> {
    let other = Store::new(ground(Arc::clone(vfs), ids), &home(), "another");
    put(&other, vec![claim(id, "elsewhere")])?;
    other.forget().map(drop)
}

fn compact(vfs: &Arc<dyn Vfs>, ids: u64, _: &str) -> Result<()> {
    store_on(Arc::clone(vfs), ids).compact(i64::MIN).map(drop)
}

fn read(vfs: &Arc<dyn Vfs>, ids: u64, _: &str) -> Result<()> {
    let store = store_on(Arc::clone(vfs), ids);
    let Some(snapshot) = store.snapshot()? else { return Ok(()) };
    let report = pack::verify::verify(&snapshot);
    assert!(report.problems.is_empty(), "{report:?}");
    Ok(())
}

fn list(vfs: &Arc<dyn Vfs>, ids: u64, _: &str) -> Result<()> {
    pack::home::list(&ground(Arc::clone(vfs), ids), &home()).map(drop)
}

fn is_busy(result: &Result<()>) -> bool {
    matches!(result, Err(Error::Busy { .. }))
}

fn has(fs: &SimFs, id: &str) -> bool {
    let content = content_of(&store(fs, 0)).unwrap_or_default();
    content.is_some_and(|content| content.contains_key(&format!("record {id}")))
}

/// Runs `outer`, and `inner` before its `n`-th call: what both said; none past the last call.
fn interleave(
    fs: &SimFs,
    n: u64,
    outer: impl FnOnce(&Arc<dyn Vfs>) -> Result<()>,
    inner: impl FnOnce(&Arc<dyn Vfs>) -> Result<()> + Send + 'static,
) -> (Result<()>, Option<Result<()>>) {
    let between = Between::new(Arc::new(fs.share()));
    let door: Arc<dyn Vfs> = Arc::new(fs.share());
    let said = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&said);
    between.at(n, move || *slot.lock().unwrap() = Some(inner(&door)));
    let first = outer(&(Arc::new(between) as Arc<dyn Vfs>));
    let second = said.lock().unwrap().take();
    (first, second)
}

#[test]
fn no_process_fails_because_another_one_comes_between_its_calls() {
    let outers: [(&str, Process); 7] = [
        ("write", write),
        ("forget", forget),
        ("forget and write", forget_and_write),
        ("forget another", forget_another),
        ("compact", compact),
        ("read", read),
        ("list", list),
    ];
    let inners: [(&str, Process); 6] = [
        ("write", write),
        ("write often", write_often),
        ("forget", forget),
        ("forget and write", forget_and_write),
        ("forget another", forget_another),
        ("compact", compact),
    ];
    let mut judge = Judge::default();
    let mut count = 0;
    for base in [SimFs::new(), small(), layers()] {
        for (outer_name, outer) in outers {
            for (inner_name, inner) in inners {
                for n in 1.. {
                    let fs = base.clone();
                    let (first, second) = interleave(
                        &fs,
                        n,
                        |vfs| outer(vfs, 1_000_000, "outer"),
                        move |vfs| inner(vfs, 2_000_000, "inner"),
                    );
                    let at = format!("{inner_name} before call {n} of {outer_name}");
                    // A compaction whose segments were merged away has nothing to put in place.
                    let excused = outer_name == "compact" && is_busy(&first);
                    assert!(first.is_ok() || excused, "{at}: {first:?}");
                    let Some(second) = second else { break };
                    assert!(second.is_ok() || is_busy(&second), "{at}, inner: {second:?}");
                    judge.look(&fs).unwrap_or_else(|what| panic!("{at}: {what}"));
                    if outer_name.ends_with("write") {
                        assert!(has(&fs, "outer"), "{at}: the outer write is lost");
                    }
                    let forgotten =
                        outer_name.starts_with("forget") && outer_name != "forget another";
                    if inner_name.contains("write") && second.is_ok() && !forgotten {
                        assert!(has(&fs, "inner"), "{at}: the inner write is lost");
                    }
                    count += 1;
                }
            }
        }
    }
    println!("schedules of two processes: {count}");
    assert!(count > 2_000, "the enumeration has shrunk to {count}");
}

/// Lost writes of two or three writers on a disk whose locks always succeed.
fn lost_without_locks(leave_out: &dyn Fn(&SimFs)) -> Vec<String> {
    let mut lost = Vec::new();
    let mut check = |fs: &SimFs, at: String, said: &[(&str, &Result<()>)]| {
        for (id, result) in said {
            match result {
                Ok(()) if !has(fs, id) => lost.push(format!("{at}: {id}")),
                Ok(()) | Err(Error::Busy { .. } | Error::Unknown { .. }) => {}
                Err(error) => lost.push(format!("{at}: {id} says {error}")),
            }
        }
    };
    let base = small();
    base.break_locks(true);
    leave_out(&base);
    for often in [1, 2, 3, 4] {
        for n in 1.. {
            let fs = base.clone();
            let (first, second) = interleave(
                &fs,
                n,
                |vfs| write(vfs, 1_000_000, "outer"),
                move |vfs| {
                    (0..often).try_for_each(|n| {
                        let store = store_on(Arc::clone(vfs), 2_000_000 + 1_000 * n);
                        put(&store, vec![claim("inner", &format!("version {n}"))])
                    })
                },
            );
            let Some(second) = second else { break };
            check(&fs, format!("{often} before {n}"), &[("outer", &first), ("inner", &second)]);
        }
    }
    // A third writer between the calls of the second.
    for n in 1.. {
        let mut over = false;
        for m in 1.. {
            let fs = base.clone();
            let third = Arc::new(Mutex::new(None));
            let slot = Arc::clone(&third);
            let share = fs.share();
            let (first, second) = interleave(
                &fs,
                n,
                |vfs| write(vfs, 1_000_000, "outer"),
                move |_| {
                    let (second, said) = interleave(
                        &share,
                        m,
                        |vfs| write(vfs, 2_000_000, "inner"),
                        |vfs| write(vfs, 3_000_000, "third"),
                    );
                    *slot.lock().unwrap() = said;
                    second
                },
            );
            let Some(second) = second else {
                over = true;
                break;
            };
            let Some(third) = third.lock().unwrap().take() else { break };
            let at = format!("third before {m} of inner before {n}");
            check(&fs, at, &[("outer", &first), ("inner", &second), ("third", &third)]);
        }
        if over {
            break;
        }
    }
    lost
}

#[test]
fn writers_whose_locks_fail_them_are_told_and_lose_nothing() {
    let lost = lost_without_locks(&|_| {});
    assert!(lost.is_empty(), "{} violations: {:#?}", lost.len(), &lost[..lost.len().min(8)]);
}

#[test]
fn control_publishing_over_a_manifest_is_found() {
    let lost = lost_without_locks(&|fs| fs.skip(Step::NoClobber("m".into())));
    assert!(!lost.is_empty());
}

/// Writers, a compactor and one who forgets, each until its turns are over, and readers beside
/// them: no reader ever hears of an error.
fn threads(ground: impl Fn(u64) -> Ground + Sync, home: &std::path::Path, turns: u64) {
    let done = AtomicBool::new(false);
    let reads = AtomicU64::new(0);
    let retry = |work: &dyn Fn() -> Result<()>| loop {
        match work() {
            Err(Error::Busy { .. }) => std::thread::yield_now(),
            other => break other.unwrap(),
        }
    };
    let ground = &ground;
    std::thread::scope(|scope| {
        for reader in 0..2 {
            let (done, reads) = (&done, &reads);
            scope.spawn(move || {
                let store = Store::new(ground(10_000_000 + reader), home, NAME);
                let mut last = 0;
                while !done.load(Ordering::Relaxed) {
                    if let Some(snapshot) = store.snapshot().unwrap() {
                        let report = pack::verify::verify(&snapshot);
                        assert!(report.problems.is_empty(), "{report:?}");
                        last = last.max(report.generation);
                    }
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let writers: Vec<_> = (0..3)
            .map(|writer| {
                scope.spawn(move || {
                    let store = Store::new(ground(20_000_000 * (writer + 1)), home, NAME);
                    for turn in 0..turns {
                        let id = format!("{writer} {}", turn % 5);
                        let record = claim(&id, &format!("turn {}", turn / 2));
                        retry(&|| put(&store, vec![record.clone()]));
                        if writer == 0 && turn % 8 == 7 {
                            retry(&|| store.compact(i64::MIN).map(drop));
                        }
                        if writer == 1 && turn % 16 == 15 {
                            retry(&|| store.forget().map(drop));
                        }
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(reads.load(Ordering::Relaxed) > 0);
    let store = Store::new(ground(1_000), home, NAME);
    put(&store, vec![claim("last", "the last word")]).unwrap();
    assert!(store.verify().unwrap().unwrap().problems.is_empty());
}

#[test]
fn readers_beside_writers_never_see_an_error() {
    let fs = SimFs::new();
    threads(|ids| ground(Arc::new(fs.share()), ids), &home(), 96);
}

#[test]
fn readers_beside_writers_never_see_an_error_on_a_real_disk() {
    let vfs: Arc<dyn Vfs> = Arc::new(OsFs::new(MapPolicy::Always));
    let home = std::env::temp_dir().join(format!("packset-store-{}", std::process::id()));
    let ground = |ids| Ground { wait: Duration::from_secs(20), ..ground(Arc::clone(&vfs), ids) };
    threads(ground, &home, 32);
    remove(vfs.as_ref(), &home);
}

fn remove(vfs: &dyn Vfs, dir: &std::path::Path) {
    for name in vfs.list(dir).unwrap() {
        let path = dir.join(name);
        match vfs.kind(&path).unwrap() {
            Kind::Dir => remove(vfs, &path),
            Kind::File(_) => vfs.unlink(&path).unwrap(),
        }
    }
    vfs.remove_dir(dir).unwrap();
}

/// A writer that holds the lock of a workspace that was forgotten and made anew meanwhile has
/// the lock of nothing: it must go where the name leads now.
#[test]
fn a_lock_is_looked_at_again_after_a_forget() {
    let fs = small();
    let between = Between::new(Arc::new(fs.share()));
    let door: Arc<dyn Vfs> = Arc::new(fs.share());
    // Between the lock and the question which file it is.
    between.when(
        |call, _| call == "id",
        move || {
            // The old inode is locked by the outer writer, so forgetting takes a lock that lies.
            let lock = home().join("ws").join("gone");
            door.rename_new(store_on(Arc::clone(&door), 0).dir(), &lock).unwrap();
            write(&door, 5_000_000, "inner").unwrap();
        },
    );
    write(&(Arc::new(between.clone()) as Arc<dyn Vfs>), 6_000_000, "outer").unwrap();
    assert!(!between.is_waiting());
    assert!(has(&fs, "outer") && has(&fs, "inner") && !has(&fs, "a"));
}
