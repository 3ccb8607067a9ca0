//! What is done to a store: each operation with the disk that it finds.
//!
//! An operation says when one of its steps was acknowledged; what a store may hold after a
//! crash follows from that alone. Not here: crashing it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use packset::pack::{Error, Result, Store};
use packset_segments::manifest::{Manifest, generation_of};
use packset_segments::sim::SimFs;
use packset_segments::vfs::Vfs;

use super::between::Between;
use super::ground::{NOON, claim, large, names, put, store, store_on, tombstone};
use super::judge::{Content, content_of};

/// Where the ids of the operation itself count from.
const IDS: u64 = 1_000_000;

/// Counts what was acknowledged.
#[derive(Clone, Default)]
pub struct Acknowledged(Arc<AtomicUsize>);

impl Acknowledged {
    /// One more step was.
    pub fn one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// How many were.
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// An operation and the disk it finds.
pub struct Operation {
    /// For messages.
    pub name: &'static str,
    /// The disk before it.
    pub base: SimFs,
    /// What the store holds before it and after each of its steps.
    pub contents: Vec<Content>,
    run: fn(&SimFs, &Acknowledged) -> Result<()>,
}

impl Operation {
    fn new(name: &'static str, base: SimFs, run: fn(&SimFs, &Acknowledged) -> Result<()>) -> Self {
        let mut contents = vec![content_of(&store(&base, IDS)).unwrap()];
        let fs = base.clone();
        let done = Acknowledged::default();
        run(&fs, &done).unwrap();
        // A step that another one follows is seen by stopping before the first call after it.
        let last = content_of(&store(&fs, IDS)).unwrap();
        for step in 1..done.count() {
            let stopped = (1..).find_map(|n| {
                let fs = base.clone();
                fs.fail_at(n, packset_segments::sim::Fault::Crash);
                let done = Acknowledged::default();
                let _ = run(&fs, &done);
                (done.count() == step).then(|| content_of(&store(&fs.kill(), IDS)).unwrap())
            });
            contents.push(stopped.unwrap());
        }
        contents.push(last);
        Self { name, base, contents, run }
    }

    /// Runs it on a machine.
    pub fn run(&self, fs: &SimFs) -> (Result<()>, usize) {
        let done = Acknowledged::default();
        let result = (self.run)(fs, &done);
        (result, done.count())
    }
}

fn acknowledged(done: &Acknowledged, result: Result<()>) -> Result<()> {
    result.map(|()| done.one())
}

/// A disk with what these commits write, each in a process of its own.
fn disk(commits: &[&dyn Fn(&Store)]) -> SimFs {
    let fs = SimFs::new();
    for (number, commit) in commits.iter().enumerate() {
        commit(&store(&fs, 1_000 * number as u64));
    }
    fs
}

fn two_claims(store: &Store) {
    put(store, vec![claim("a", "the first claim"), claim("b", "the second claim")]).unwrap();
}

fn update(store: &Store) {
    put(store, vec![claim("a", "the first claim, said better")]).unwrap();
}

/// Three commits, the last of which folded what was before it.
pub fn small() -> SimFs {
    disk(&[&two_claims, &update, &|store| put(store, vec![claim("c", "a third one")]).unwrap()])
}

/// A store of three small segments that no write absorbs, because each has more than twice the
/// rows of the next; one record has versions in all of them.
pub fn layers() -> SimFs {
    let fs = SimFs::new();
    for (number, rows) in [14, 5, 2].into_iter().enumerate() {
        let claims = (0..rows).map(|row| match row {
            0 => claim("a", &format!("the first claim {}", number / 2)),
            _ => claim(&format!("{number} {row}"), "one of many"),
        });
        put(&store(&fs, 1_000 * number as u64), claims.collect()).unwrap();
    }
    assert_eq!(store(&fs, 0).snapshot().unwrap().unwrap().segments().len(), 3);
    fs
}

/// A store whose segments are too large to be absorbed, with one record in several of them.
fn many(segments: usize) -> SimFs {
    let fs = SimFs::new();
    for number in 0..segments as u64 {
        let records = vec![large(&format!("log {number}")), claim("a", &format!("{}", number / 2))];
        put(&store(&fs, 1_000 * number), records).unwrap();
    }
    fs
}

/// A store of eight segments of one size class and a small one, which a running compaction
/// kept from merging until it died.
fn overdue() -> SimFs {
    let fs = many(7);
    let here = store(&fs, 50_000);
    let generation = newest(&fs, &here);
    let mark = here.dir().join("t").join(format!("compact-{generation:016}-0"));
    fs.create_new(&mark).unwrap();
    let lock = fs.lock(&mark, Duration::ZERO).unwrap();
    put(&here, vec![large("log 7")]).unwrap();
    put(&here, vec![claim("b", "small")]).unwrap();
    drop(lock);
    assert_eq!(names(&fs, &here.dir().join("s")).len(), 9);
    fs
}

fn newest(fs: &SimFs, store: &Store) -> u64 {
    names(fs, &store.dir().join("m")).iter().filter_map(|n| generation_of(n)).max().unwrap()
}

/// A store whose texts were indexed by an older version of the rule.
fn older_rule() -> SimFs {
    let fs = layers();
    let here = store(&fs, 50_000);
    let dir = here.dir().join("m");
    for name in names(&fs, &dir) {
        let path = dir.join(&name);
        let generation = generation_of(&name).unwrap();
        let mut manifest = Manifest::decode(&path, &fs.read(&path).unwrap(), generation).unwrap();
        manifest.text.version = 0;
        fs.install(&path, &manifest.encode()).unwrap();
    }
    fs
}

/// The first write of a pack.
pub fn first_write() -> Operation {
    Operation::new("the first write", SimFs::new(), |fs, done| {
        acknowledged(done, put(&store(fs, IDS), vec![claim("a", "the first claim")]))
    })
}

/// A write that folds what is before it.
pub fn write() -> Operation {
    Operation::new("a write", small(), |fs, done| {
        acknowledged(done, put(&store(fs, IDS), vec![claim("d", "a fourth one")]))
    })
}

/// Forgetting the workspace.
pub fn forget() -> Operation {
    Operation::new("forget", small(), |fs, done| {
        acknowledged(done, store(fs, IDS).forget().map(drop))
    })
}

/// Merging what lies in several segments, while another process writes.
pub fn compact_while_written() -> Operation {
    Operation::new("compact while written", layers(), |fs, done| {
        let (other, inner) = (fs.share(), done.clone());
        let between = Between::new(Arc::new(fs.share()));
        let failed = Arc::new(std::sync::Mutex::new(None));
        let slot = Arc::clone(&failed);
        between.when(
            |call: &str, path: &Path| {
                call == "write" && path.to_string_lossy().contains("compact-")
            },
            move || {
                let records = vec![claim("a", "0"), claim("late", "between"), tombstone("0 1", "")];
                match put(&store(&other, 2 * IDS), records) {
                    Ok(()) => inner.one(),
                    Err(error) => *slot.lock().unwrap() = Some(error),
                }
            },
        );
        let compacted = store_on(Arc::new(between), IDS).compact(i64::MIN);
        let inner: Option<Error> = failed.lock().unwrap().take();
        match inner {
            Some(error) => Err(error),
            None => acknowledged(done, compacted.map(|c| assert!(c.is_some()))),
        }
    })
}

/// A write to a store whose texts must all be indexed anew first.
pub fn new_rule() -> Operation {
    Operation::new("a new text rule", older_rule(), |fs, done| {
        acknowledged(done, put(&store(fs, IDS), vec![claim("a", "something else")]))
    })
}

/// Every operation of a store.
pub fn all() -> Vec<Operation> {
    vec![
        first_write(),
        write(),
        Operation::new("the same text again", small(), |fs, done| {
            let mut record = claim("a", "the first claim, said better");
            record.insert("pinned".into(), true.into());
            acknowledged(done, put(&store(fs, IDS), vec![record]))
        }),
        Operation::new("a new text", small(), |fs, done| {
            acknowledged(done, put(&store(fs, IDS), vec![claim("a", "something else")]))
        }),
        Operation::new("delete", small(), |fs, done| {
            let record = tombstone("a", "the first claim, said better");
            acknowledged(done, put(&store(fs, IDS), vec![record]))
        }),
        Operation::new("several records", small(), |fs, done| {
            let records = vec![claim("a", "again"), tombstone("b", ""), claim("z", "new")];
            acknowledged(done, put(&store(fs, IDS), records))
        }),
        Operation::new("two writes", small(), |fs, done| {
            acknowledged(done, put(&store(fs, IDS), vec![claim("d", "a fourth one")]))?;
            acknowledged(done, put(&store(fs, 2 * IDS), vec![claim("e", "a fifth one")]))
        }),
        Operation::new("a tier", many(7), |fs, done| {
            acknowledged(done, put(&store(fs, IDS), vec![large("log 7"), claim("a", "3")]))
        }),
        Operation::new("a tier before the fold", overdue(), |fs, done| {
            acknowledged(done, put(&store(fs, IDS), vec![claim("b", "smaller")]))
        }),
        Operation::new("compact", layers(), |fs, done| {
            let compacted = store(fs, IDS).compact(i64::MIN);
            acknowledged(done, compacted.map(|c| assert!(c.is_some())))
        }),
        Operation::new("compact with a horizon", layers(), |fs, done| {
            let compacted = store(fs, IDS).compact(NOON + 1);
            acknowledged(done, compacted.map(|c| assert!(c.is_some_and(|c| c.dropped > 0))))
        }),
        compact_while_written(),
        Operation::new("purge", layers(), |fs, done| {
            let purged = store(fs, IDS).purge(&["a".into()]);
            acknowledged(done, purged.map(|purged| assert_eq!(purged.len(), 1)))?;
            acknowledged(done, store(fs, 2 * IDS).let_go().map(|at| assert!(at.is_some())))
        }),
        Operation::new("purge of all there is", disk(&[&two_claims, &update]), |fs, done| {
            let purged = store(fs, IDS).purge(&["a".into(), "b".into()]);
            acknowledged(done, purged.map(|purged| assert_eq!(purged.len(), 2)))?;
            acknowledged(done, store(fs, 2 * IDS).let_go().map(|at| assert!(at.is_some())))
        }),
        forget(),
        Operation::new("forget and write", small(), |fs, done| {
            acknowledged(done, store(fs, IDS).forget().map(drop))?;
            acknowledged(done, put(&store(fs, 2 * IDS), vec![claim("a", "anew")]))
        }),
        new_rule(),
    ]
}
