//! What a write does for its workspace as a whole: the sweep of the day, and the live cap.
//!
//! Which claim lapses or is forgotten is decided by [`crate::review`]; here the candidates are
//! read off columns, and what is decided goes into the commit of the write. Not here: when a verb
//! asks for a sweep, and what a written claim does to the claims beside it (`super::settle`).
//!
//! Invariants: a refused write sweeps and forgets nothing; neither ever makes a write fail; what
//! the running commit wrote is not forgotten by it; with the day noted and the cap far, a write
//! pays a lookup and a sum.

use packset_segments::{ColumnView, Flags, NULL, tag};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};

use super::put_again;
use crate::atom::Kind;
use crate::pack::record::{self, Record};
use crate::pack::{self, Place, Prepared, Snapshot, Transaction, View};
use crate::review::{self, Candidate, DEFAULT_LIVE_CAP, Reason, Swept};
use crate::time::Micros;

/// Id of the record that notes the day of the last sweep; its kind is [`record::SWEEP`].
const NOTE: &str = "sweep/day";
/// Id of the record that notes how many claims were let in past the cap, on purpose; its kind is
/// [`record::ALLOWANCE`].
const ALLOWANCE: &str = "live-cap/allowance";

/// What a sweep did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sweep {
    /// Reviews that lapsed.
    pub lapsed: u64,
    /// Ids of claims that were forgotten.
    pub forgotten: Vec<String>,
}

/// The neglect sweep: reviews left due past twice their interval lapse, and claims that nobody
/// ever recalled are forgotten after three misses.
///
/// # Errors
/// The pack's; then nothing was put.
pub fn sweep(transaction: &mut Transaction<'_>) -> Result<Sweep, pack::Error> {
    let now = transaction.now();
    let mut done = Sweep::default();
    let mut changed = Vec::new();
    for place in overdue(transaction.snapshot(), &View::now(now), review::latest_swept(now)) {
        let stored = transaction.snapshot().record(place)?;
        // What this commit has written already is looked at as it was written.
        let Some(mut record) = transaction.get(record::id(&stored))? else { continue };
        match review::sweep(&mut record, now) {
            Some(Swept::Lapsed) => done.lapsed += 1,
            Some(Swept::Forgotten) => done.forgotten.push(record::id(&record).to_owned()),
            None => continue,
        }
        changed.push(record);
    }
    for record in &changed {
        put_again(transaction, record)?;
    }
    Ok(done)
}

/// Live claims that were due at `at` or before, read off a column. In no order.
pub fn overdue(snapshot: &Snapshot, view: &View, at: Micros) -> Vec<Place> {
    let mut places = Vec::new();
    for (number, segment) in snapshot.segments().iter().enumerate() {
        let Some(due) = segment.column(record::DUE_AT) else { continue };
        for row in (0..segment.rows()).filter(|row| due.get(*row) <= at.0) {
            let place = Place { segment: number as u32, row };
            if snapshot.visible(place, view) {
                places.push(place);
            }
        }
    }
    places
}

/// Runs the sweep if this commit is the workspace's first write of a UTC day, and notes the day
/// in the same commit: so one process of many sweeps, and a write that is not made sweeps nothing.
///
/// Every door that writes claims calls it once a commit, after what it wrote. A workspace whose
/// bytes are damaged is not swept and not noted: that is no reason to refuse a write. The day is
/// that of recorded times, which never run backwards.
pub fn open_day(transaction: &mut Transaction<'_>) -> Sweep {
    let Ok(known) = transaction.get(NOTE) else { return Sweep::default() };
    if known.as_ref().is_some_and(|known| record::kind(known) != record::SWEEP) {
        return Sweep::default();
    }
    let last = known.as_ref().filter(|known| !record::tombstone(known));
    let last = last.and_then(|known| record::string(known, "day"));
    let Some(today) = review::sweep_today(last, transaction.now()) else {
        return Sweep::default();
    };
    let Ok(done) = sweep(transaction) else { return Sweep::default() };
    let note = json!({ "id": NOTE, "kind": record::SWEEP, "day": today });
    // Another record whose id hashes alike is the one reason not to note it; then the next
    // write sweeps again, which does no harm.
    let _ = put_object(transaction, note);
    done
}

fn put_object(transaction: &mut Transaction<'_>, object: Value) -> Result<(), pack::Error> {
    match object {
        Value::Object(record) => transaction.put(record, Vec::new()),
        _ => Ok(()),
    }
}

/// How many live claims there were before a commit, and will be after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Before.
    pub before: usize,
    /// After.
    pub after: usize,
}

/// Counts the live claims around a commit, exactly. Costs a pass over four columns.
///
/// # Errors
/// Damaged bytes.
pub fn census(transaction: &Transaction<'_>) -> Result<Census, pack::Error> {
    let (mut census, _) =
        count(transaction.snapshot(), transaction.now(), false, &|id| transaction.has(id))?;
    census.after += brought(transaction);
    Ok(census)
}

/// Live claims among what a commit has put.
fn brought(transaction: &Transaction<'_>) -> usize {
    transaction.live_kinds().filter(|kind| Kind::named(kind).is_some()).count()
}

/// What would take a workspace past its live cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{new} new claims beside {live} live ones would pass the live cap of {cap}")]
pub struct Crossing {
    /// Live claims before.
    pub live: usize,
    /// Claims that would come.
    pub new: usize,
    /// How many the workspace may hold.
    pub cap: usize,
}

impl Crossing {
    /// What whoever is refused can do.
    pub const WAYS_OUT: &str =
        "--over-cap stores them and forgets none; PACKSET_LIVE_CAP sets another cap, or off";

    fn of(live: usize, new: usize, cap: usize) -> Option<Self> {
        (new > 0 && live.saturating_add(new) > cap).then_some(Self { live, new, cap })
    }
}

/// Whether what a commit has put takes its workspace past the cap.
///
/// # Errors
/// Damaged bytes.
pub fn crossing(
    transaction: &Transaction<'_>,
    cap: Option<usize>,
) -> Result<Option<Crossing>, pack::Error> {
    let Some(cap) = cap else { return Ok(None) };
    let snapshot = transaction.snapshot();
    if at_most(snapshot) + transaction.len() <= cap {
        return Ok(None);
    }
    let Census { before, after } = census(transaction)?;
    Ok(Crossing::of(before, after.saturating_sub(before), room(Some(snapshot), cap)?))
}

/// Counts claims that are to come, before any of them is stored.
#[derive(Debug)]
pub struct Arrivals {
    snapshot: Option<Snapshot>,
    now: Micros,
    ids: FxHashSet<u128>,
    keys: FxHashSet<u64>,
    new: usize,
}

impl Arrivals {
    /// Counts what comes to a workspace as it stands; none: it does not exist yet.
    pub fn new(snapshot: Option<Snapshot>, now: Micros) -> Self {
        Self { snapshot, now, ids: FxHashSet::default(), keys: FxHashSet::default(), new: 0 }
    }

    /// Takes one claim into account. It is new unless it is closed already, a live claim or an
    /// earlier arrival says the same, or its id is in use.
    pub fn add(&mut self, claim: &Prepared) {
        // The first key is that of repeats; mail, which is kept when it repeats, has none.
        let repeats = claim.keys().first().copied();
        let view = View::now(self.now);
        let known = |snapshot: &Snapshot| {
            let same = |key| snapshot.with_key(key).any(|place| snapshot.live(place, &view));
            let taken = |place| {
                let tombstone = Flags::TOMBSTONE;
                snapshot.live(place, &view)
                    || snapshot.segment(place).flags(place.row).contains(tombstone)
            };
            repeats.is_some_and(same) || snapshot.current(claim.key()).is_some_and(taken)
        };
        let fresh = claim.counted(self.now.0)
            && !self.snapshot.as_ref().is_some_and(known)
            && repeats.is_none_or(|key| !self.keys.contains(&key))
            && self.ids.insert(claim.key());
        if fresh {
            self.keys.extend(repeats);
            self.new += 1;
        }
    }

    /// Whether what came takes the workspace past the cap.
    ///
    /// # Errors
    /// Damaged bytes.
    pub fn crossing(&self, cap: usize) -> Result<Option<Crossing>, pack::Error> {
        let live = match &self.snapshot {
            Some(snapshot) => count(snapshot, self.now, false, &|_| false)?.0.before,
            None => 0,
        };
        Ok(Crossing::of(live, self.new, room(self.snapshot.as_ref(), cap)?))
    }
}

/// Live claims of a snapshot, as the manifest counts them: a claim whose window has ended since
/// it was written still counts, so there may be fewer. Costs a sum.
pub fn at_most(snapshot: &Snapshot) -> usize {
    let claims = snapshot.counts().into_iter().filter(|count| Kind::named(&count.0).is_some());
    claims.map(|count| usize::try_from(count.2).unwrap_or_default()).sum()
}

/// What a workspace may hold under a cap: more than that where claims were let in on purpose.
///
/// # Errors
/// Damaged bytes.
pub fn room(snapshot: Option<&Snapshot>, cap: usize) -> Result<usize, pack::Error> {
    let Some(snapshot) = snapshot else { return Ok(cap) };
    let Some(place) = snapshot.current(record::key(ALLOWANCE)) else { return Ok(cap) };
    Ok(cap.max(allowed(Some(&snapshot.record(place)?))))
}

fn allowed(record: Option<&Record>) -> usize {
    let record = record.filter(|record| record::kind(record) == record::ALLOWANCE);
    let record = record.filter(|record| !record::tombstone(record));
    let live = record.and_then(|record| record.get("live")).and_then(Value::as_u64);
    live.and_then(|live| usize::try_from(live).ok()).unwrap_or_default()
}

/// Forgets what stands past the live cap, and returns how many claims that was. A write calls it
/// last, with `PACKSET_LIVE_CAP` as [`review::parse_live_cap`] read it.
///
/// The least retrievable forgettable claims go, and none that this commit wrote. Damaged bytes
/// forget nothing. Past the cap it costs a pass over seven columns and a read of what goes.
pub fn keep_cap(transaction: &mut Transaction<'_>, cap: Option<usize>) -> u64 {
    let Some(cap) = cap else { return 0 };
    if at_most(transaction.snapshot()) + transaction.len() <= cap {
        return 0;
    }
    past_cap(transaction, cap).unwrap_or_default()
}

fn past_cap(transaction: &mut Transaction<'_>, cap: usize) -> Result<u64, pack::Error> {
    let cap = cap.max(allowed(transaction.get(ALLOWANCE)?.as_ref()));
    let has = |id| transaction.has(id);
    let (mut census, mut candidates) =
        count(transaction.snapshot(), transaction.now(), true, &has)?;
    census.after += brought(transaction);
    let excess = census.after.saturating_sub(cap);
    if excess == 0 {
        return Ok(0);
    }
    let now = transaction.now();
    let snapshot = transaction.snapshot();
    let mut gone = Vec::with_capacity(excess);
    // No column says what is pinned, so that is found out of those that are next to go.
    while gone.len() < excess && !candidates.is_empty() {
        for place in review::take_least_held(&mut candidates, excess - gone.len(), now) {
            let record = snapshot.record(place)?;
            if record.get("pinned") != Some(&Value::Bool(true)) {
                gone.push(record);
            }
        }
    }
    for record in &mut gone {
        review::forget(record, Reason::LiveCap, now);
        put_again(transaction, record)?;
    }
    Ok(gone.len() as u64)
}

/// Notes that what the workspace holds after this commit was let in on purpose: later writes
/// keep it at that size instead of forgetting down to the cap. An import and a batch call it, with
/// the cap that they were let past; none: they were told of no cap, and the one that the next
/// write is told of is [`DEFAULT_LIVE_CAP`] or was chosen by somebody.
///
/// # Errors
/// The pack's.
pub fn allow(transaction: &mut Transaction<'_>, cap: Option<usize>) -> Result<(), pack::Error> {
    let known = transaction.get(ALLOWANCE)?;
    if known.as_ref().is_some_and(|known| record::kind(known) != record::ALLOWANCE) {
        return Ok(());
    }
    let enough = cap.unwrap_or(DEFAULT_LIVE_CAP).max(allowed(known.as_ref()));
    if at_most(transaction.snapshot()) + transaction.len() <= enough {
        return Ok(());
    }
    let live = census(transaction)?.after;
    if live > enough {
        put_object(
            transaction,
            json!({ "id": ALLOWANCE, "kind": record::ALLOWANCE, "live": live }),
        )?;
    }
    Ok(())
}

/// Counts what is live in a snapshot, before a commit and after it without what it `has` put, and
/// lists what may be forgotten if that is wanted.
fn count(
    snapshot: &Snapshot,
    now: Micros,
    list: bool,
    has: &dyn Fn(u128) -> bool,
) -> Result<(Census, Vec<Candidate<Place>>), pack::Error> {
    let mut census = Census::default();
    let mut candidates = Vec::new();
    for (number, segment) in snapshot.segments().iter().enumerate() {
        let number = number as u32;
        let column = |tag| segment.column(tag);
        let value =
            |column: Option<ColumnView<'_>>, row| column.map_or(NULL, |column| column.get(row));
        let (kinds, ends) = (column(tag::KIND), column(tag::VALID_TO));
        let (flags, ts) = (column(tag::FLAGS), column(record::TS));
        let (last, stability) = (column(record::LAST_REVIEW), column(record::STABILITY));
        let mut ended = vec![false; segment.rows() as usize];
        for row in snapshot.ended_rows(number) {
            if let Some(ended) = ended.get_mut(row as usize) {
                *ended = true;
            }
        }
        let mut known: FxHashMap<i64, Option<Kind>> = FxHashMap::default();
        for (row, _) in (0..).zip(&ended).filter(|(_, ended)| !**ended) {
            let tombstone = Flags::from_bits(value(flags, row) as u8).contains(Flags::TOMBSTONE);
            if tombstone || value(ends, row) <= now.0 {
                continue;
            }
            let code = value(kinds, row);
            let kind = match known.get(&code) {
                Some(kind) => *kind,
                None => *known.entry(code).or_insert(Kind::named(segment.kind(row)?)),
            };
            let Some(kind) = kind else { continue };
            census.before += 1;
            if segment.id(row).is_some_and(has) {
                continue;
            }
            census.after += 1;
            if list && kind.is_forgettable() {
                let place = Place { segment: number, row };
                let last = match value(last, row) {
                    NULL => value(ts, row),
                    last => last,
                };
                let last = if last == NULL { now } else { Micros(last) };
                let stability = match value(stability, row) {
                    NULL => 1.0,
                    bits => f64::from(f32::from_bits(bits as u32)),
                };
                let id = segment.id(row).unwrap_or_default();
                candidates.push(Candidate { what: place, last, stability, id });
            }
        }
    }
    Ok((census, candidates))
}
