//! What the pack holds, counted, and the dropping of a workspace whole.

use std::collections::BTreeMap;

use packset_segments::manifest::CountEntry;
use packset_segments::{Flags, tag};
use serde_json::{Value, json};

use super::{Desk, Given, find};
use crate::atom::Kind;
use crate::cards::{self, SetName};
use crate::cli::Failure;
use crate::pack::plan::{self, Size};
use crate::pack::record::{self};
use crate::pack::{Place, Snapshot, View, home};
use crate::time::Micros;

/// Counts of one workspace or of several.
#[derive(Default)]
struct Census {
    live: BTreeMap<String, u64>,
    tombstones: BTreeMap<String, u64>,
    expired: BTreeMap<String, u64>,
    forgotten: BTreeMap<String, u64>,
    records: BTreeMap<String, u64>,
    last_write: Option<i64>,
    segments: usize,
    bytes: u64,
    versions: u64,
    overdue: bool,
}

/// What a workspace holds, or the whole pack: counts, the pin, the panel.
///
/// # Errors
/// A panel name or a cap that is none, or what the pack says.
pub fn status(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace_if_any()?;
    let home = desk.home()?;
    let panel = desk.panel()?;
    let cap = desk.live_cap()?.unwrap_or_default();
    let view = View::now(desk.clock.now());
    let stores = match &name {
        Some(name) => vec![desk.store(name)?],
        None => home::list(&desk.ground()?, &home)?,
    };
    let mut census = Census::default();
    let mut workspaces = BTreeMap::new();
    let mut generation = None;
    let mut pin = None;
    for store in stores {
        let Some(snapshot) = desk.snapshot_of(&store)? else { continue };
        let before: u64 = census.live.values().sum();
        census.take(&snapshot, &view)?;
        let live = census.live.values().sum::<u64>() - before;
        workspaces.insert(store.name().to_owned(), live);
        generation = Some(snapshot.manifest().generation);
        pin = cards::pinned(Some(&snapshot))?;
    }
    let total = |counts: &BTreeMap<String, u64>| counts.values().sum::<u64>();
    let (embedder, reranks) = desk.encoders().status();
    let mut status = json!({
        "home": home.to_string_lossy(),
        "version": env!("CARGO_PKG_VERSION"),
        "commit": option_env!("PACKSET_COMMIT").unwrap_or("unknown"),
        "workspace": name.as_deref().unwrap_or_default(),
        "set": "",
        "live": total(&census.live),
        "live_cap": cap,
        "tombstone": total(&census.tombstones),
        "expired": total(&census.expired),
        "live_by_kind": census.live,
        "tombstone_by_kind": census.tombstones,
        "forgotten_by_reason": census.forgotten,
        "expired_by_kind": census.expired,
        "records_by_kind": census.records,
        "last_write_ts": census.last_write.map(|at| Micros(at).format_ms()),
        "segments": census.segments,
        "bytes": census.bytes,
        "versions": census.versions,
        "compact_overdue": census.overdue,
        "embedder": embedder,
        "rerank": {
            "enabled": find::reranks(desk), "available": reranks, "depth": find::RERANKED,
        },
        "panel": {
            "fuse": panel.fuse.name(), "diversify": panel.diversify.name(),
            "decay": panel.decay.name(),
        },
        "search": { "ranks": ["fused", "relevance"] },
    });
    if name.is_some() {
        status["set"] = pin.as_ref().map_or("", SetName::as_str).into();
        status["generation"] = json!(generation);
    } else {
        status["workspaces"] = json!(workspaces);
    }
    Ok(status)
}

/// The workspaces with their live claims, by name.
///
/// # Errors
/// What the pack says.
pub fn workspaces(desk: &Desk, _: Given) -> Result<Value, Failure> {
    let mut rows: Vec<(String, u64)> = Vec::new();
    let view = View::now(desk.clock.now());
    for store in home::list(&desk.ground()?, &desk.home()?)? {
        let Some(snapshot) = desk.snapshot_of(&store)? else { continue };
        let mut census = Census::default();
        census.take(&snapshot, &view)?;
        rows.push((store.name().to_owned(), census.live.values().sum()));
    }
    rows.sort();
    let rows: Vec<Value> =
        rows.into_iter().map(|(name, live)| json!({ "name": name, "live": live })).collect();
    Ok(json!({ "workspaces": rows }))
}

/// Drops a workspace whole.
///
/// # Errors
/// What the pack says.
pub fn forget(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let forgotten = desk.store(&name)?.forget()?;
    Ok(json!({ "workspace": name, "forgotten": forgotten }))
}

impl Census {
    fn take(&mut self, snapshot: &Snapshot, view: &View) -> Result<(), Failure> {
        let sizes: Vec<Size> = snapshot
            .segments()
            .iter()
            .map(|s| Size { bytes: s.sealed().len, rows: u64::from(s.rows()) })
            .collect();
        self.segments += sizes.len();
        self.bytes += sizes.iter().map(|size| size.bytes).sum::<u64>();
        self.versions += sizes.iter().map(|size| size.rows).sum::<u64>();
        self.overdue |= plan::overdue(&sizes);
        let written = snapshot.manifest().recorded;
        if !sizes.is_empty() {
            self.last_write = self.last_write.max(Some(written));
        }
        // The manifest knows what is counted as live. Of the rows only those are looked at that it
        // does not count, or counts although their time has run out since.
        let mut live: BTreeMap<String, i64> = BTreeMap::new();
        for CountEntry(kind, _, count, _) in snapshot.counts() {
            *live.entry(kind).or_default() += count;
        }
        for (number, segment) in snapshot.segments().iter().enumerate() {
            let ends = segment.column(tag::VALID_TO);
            for row in 0..segment.rows() {
                let flags = segment.flags(row);
                let counted = flags.contains(Flags::COUNTED);
                let over = ends.is_some_and(|ends| ends.get(row) <= view.valid);
                let place = Place { segment: number as u32, row };
                if (counted && !over) || snapshot.end_of(place).is_some() {
                    continue;
                }
                let kind = segment.kind(row)?.to_owned();
                if counted {
                    *live.entry(kind.clone()).or_default() -= 1;
                }
                if flags.contains(Flags::TOMBSTONE) {
                    let record = snapshot.fields(place, &["forgotten"])?;
                    if let Some(reason) = record::string(&record, "forgotten") {
                        *self.forgotten.entry(reason.to_owned()).or_default() += 1;
                    }
                    *self.tombstones.entry(kind).or_default() += 1;
                } else if over {
                    *self.expired.entry(kind).or_default() += 1;
                } else {
                    // Its end lay in the past when it was written, by a clock that was ahead.
                    *live.entry(kind).or_default() += 1;
                }
            }
        }
        for (kind, count) in live {
            let counts = match Kind::named(&kind) {
                Some(_) => &mut self.live,
                None => &mut self.records,
            };
            if let Some(count) = u64::try_from(count).ok().filter(|count| *count > 0) {
                *counts.entry(kind).or_default() += count;
            }
        }
        Ok(())
    }
}
