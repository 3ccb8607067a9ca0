//! What the tests stand on: machines, stores on them, and records to put.
//!
//! Nothing here asserts. Everything is the same in every run: times and ids are counted.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use packset::clock::{Clock, FixedClock};
use packset::pack::{self, Ground, IdSource, Record, Store};
use packset::time::Micros;
use packset_segments::sim::SimFs;
use packset_segments::vfs::Vfs;
use serde_json::json;

/// 2026-06-01, about: any moment after 1970 would do.
pub const NOON: i64 = 1_780_300_000_000_000;
/// The workspace that the tests write.
pub const NAME: &str = "work";

/// The home of the pack.
pub fn home() -> PathBuf {
    PathBuf::from("/h")
}

/// Where the workspaces lie.
pub fn workspaces() -> PathBuf {
    pack::home::workspaces(&home())
}

/// A clock that shows what it was last set to.
#[derive(Default)]
pub struct HandClock(pub AtomicI64);

impl Clock for HandClock {
    fn now(&self) -> Micros {
        Micros(self.0.load(Ordering::Relaxed))
    }
}

/// What the stores of one process share. Processes that must not take one another's names
/// count their ids from different numbers.
pub fn ground(vfs: Arc<dyn Vfs>, ids: u64) -> Ground {
    Ground {
        vfs,
        clock: Arc::new(FixedClock(Micros(NOON))),
        ids: Arc::new(IdSource::Counted(AtomicU64::new(ids))),
        wait: Duration::ZERO,
        holder: "a test".into(),
        stem: true,
        meaning: true,
    }
}

/// The store of [`NAME`], as a process sees it whose ids count from `ids`.
pub fn store(fs: &SimFs, ids: u64) -> Store {
    store_on(Arc::new(fs.share()), ids)
}

/// As [`store`], through any door.
pub fn store_on(vfs: Arc<dyn Vfs>, ids: u64) -> Store {
    Store::new(ground(vfs, ids), &home(), NAME)
}

/// An object as a record.
///
/// # Panics
/// For anything else.
pub fn record(value: serde_json::Value) -> Record {
    match value {
        serde_json::Value::Object(record) => record,
        other => panic!("{other} is no object"),
    }
}

/// A claim.
pub fn claim(id: &str, text: &str) -> Record {
    record(json!({
        "id": id, "schema": "inside.atom/v1", "kind": "lesson", "workspace": NAME,
        "ts": "2026-05-31T10:00:00.000Z", "text": text, "entities": ["repo:x", "tool"],
    }))
}

/// The version of a claim that says it was deleted.
pub fn tombstone(id: &str, text: &str) -> Record {
    let mut record = claim(id, text);
    record.insert("tombstone".into(), true.into());
    record
}

/// A record that no write absorbs: its segment is of the second size class.
pub fn large(id: &str) -> Record {
    // Few terms, so that the size costs the tests little.
    let text = format!("one long line {}", "-".repeat(140_000));
    record(json!({ "id": id, "kind": "log", "text": text }))
}

/// Puts records in one commit.
pub fn put(store: &Store, records: Vec<Record>) -> pack::Result<()> {
    let work = |transaction: &mut pack::Transaction<'_>| -> pack::Result<()> {
        records.into_iter().try_for_each(|record| transaction.put(record, Vec::new()))
    };
    store.commit(work).map(drop)
}

/// Names in a directory; none if it is not there.
pub fn names(fs: &dyn Vfs, dir: &Path) -> Vec<String> {
    fs.list(dir).unwrap_or_default()
}
