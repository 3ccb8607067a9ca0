//! The library on a simulated disk with a clock that is set by hand: what takes days is tested here.
//!
//! Every call opens the store anew, as another process would. Nothing here asserts a rule.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use packset::claim::{self, Written};
use packset::clock::Clock;
use packset::pack::{Ground, IdSource, Record, Snapshot, Store, Transaction, View, record};
use packset::text::Tokenizer;
use packset::time::{DAY, Micros};
use packset_segments::sim::SimFs;
use serde_json::Value;

/// 2026-06-01T07:46:40Z; any moment of a day would do.
pub const START: Micros = Micros(1_780_300_000_000_000);

/// A clock that shows what it was last set to.
struct HandClock(AtomicI64);

impl Clock for HandClock {
    fn now(&self) -> Micros {
        Micros(self.0.load(Ordering::Relaxed))
    }
}

/// A machine with one pack.
pub struct Lab {
    fs: SimFs,
    clock: Arc<HandClock>,
    ids: Arc<IdSource>,
}

pub fn object(value: Value) -> Record {
    value.as_object().unwrap().clone()
}

impl Lab {
    pub fn new() -> Self {
        let clock = Arc::new(HandClock(AtomicI64::new(START.0)));
        Self { fs: SimFs::new(), clock, ids: Arc::new(IdSource::Counted(1.into())) }
    }

    /// Sets the clock to so many days after the start.
    pub fn day(&self, day: i64) {
        self.set(START.plus(day * DAY));
    }

    pub fn set(&self, now: Micros) {
        self.clock.0.store(now.0, Ordering::Relaxed);
    }

    pub fn now(&self) -> Micros {
        self.clock.now()
    }

    fn ground(&self) -> Ground {
        Ground {
            vfs: Arc::new(self.fs.share()),
            clock: Arc::clone(&self.clock) as Arc<dyn Clock>,
            ids: Arc::clone(&self.ids),
            wait: Duration::from_secs(5),
            holder: "a test".into(),
            stem: true,
            meaning: true,
        }
    }

    pub fn store(&self) -> Store {
        Store::new(self.ground(), Path::new("/h"), "work")
    }

    /// Does something in one commit, which must be made or have nothing to write.
    pub fn commit<T, E: From<packset::pack::Error> + std::fmt::Debug>(
        &self,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, E>,
    ) -> T {
        self.store().commit(work).unwrap().0
    }

    /// Writes a claim as any front door does.
    pub fn write_under(
        &self,
        claim: Value,
        cap: Option<usize>,
    ) -> Result<(Written, u64), claim::Error> {
        let mut record = object(claim);
        let id = self.ids.fresh(self.now());
        let work = |transaction: &mut Transaction<'_>| {
            let mut tokenizer = Tokenizer::new(true);
            let now = self.now();
            let claim = claim::prepare(&mut record, "work", id, now, &mut tokenizer)?;
            claim::write_under(transaction, claim, cap)
        };
        Ok(self.store().commit(work)?.0)
    }

    /// Writes a claim; the record as it is stored.
    #[track_caller]
    pub fn write(&self, claim: Value) -> Record {
        self.write_under(claim, None).unwrap().0.record().clone()
    }

    /// Whether any file of the machine holds some bytes.
    pub fn holds(&self, bytes: &str) -> bool {
        let holds = |file: &[u8]| file.windows(bytes.len()).any(|part| part == bytes.as_bytes());
        self.fs.tree().values().any(|file| holds(file))
    }

    pub fn snapshot(&self) -> Snapshot {
        self.store().snapshot().unwrap().unwrap()
    }

    /// The newest version of a record.
    #[track_caller]
    pub fn get(&self, id: &str) -> Record {
        let snapshot = self.snapshot();
        snapshot.record(snapshot.current(record::key(id)).unwrap()).unwrap()
    }

    /// The live records of kinds of claims.
    pub fn live(&self) -> Vec<Record> {
        let snapshot = self.snapshot();
        let view = View::now(self.now());
        let records = snapshot.shown(&view).map(|place| snapshot.record(place).unwrap());
        records.filter(|record| packset::atom::Kind::of(record).is_some()).collect()
    }

    pub fn live_ids(&self) -> Vec<String> {
        let mut ids: Vec<String> =
            self.live().iter().map(|claim| record::id(claim).to_owned()).collect();
        ids.sort();
        ids
    }
}
