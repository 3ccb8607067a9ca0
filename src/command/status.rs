//! `packset status [--all | WS]`: what a workspace holds, counted.

use std::collections::BTreeMap;

use packset_segments::{Flags, tag};
use serde_json::json;

use crate::atom::Kind;
use crate::cli::args::Scope;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};
use crate::pack::plan::{self, Size};
use crate::pack::record::{self};
use crate::pack::{Snapshot, View};
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

/// Runs the verb.
///
/// # Errors
/// What the pack says.
pub fn run(context: &mut Context<'_>, args: &Scope) -> Result<Exit, Failure> {
    let home = context.home()?;
    let view = View::now(context.clock.now());
    let mut census = Census::default();
    let mut workspaces = BTreeMap::new();
    let mut generation = None;
    for store in context.stores(args)? {
        let Some(snapshot) = store.snapshot()? else { continue };
        let before: u64 = census.live.values().sum();
        census.take(&snapshot, &view)?;
        let live = census.live.values().sum::<u64>() - before;
        workspaces.insert(store.name().to_owned(), live);
        generation = Some(snapshot.manifest().generation);
    }
    let name = match args.all {
        true => String::new(),
        false => context.workspace(args.workspace.as_deref())?.name,
    };
    let total = |counts: &BTreeMap<String, u64>| counts.values().sum::<u64>();
    let mut status = json!({
        "schema": schema("status"),
        "home": home.to_string_lossy(),
        "version": env!("CARGO_PKG_VERSION"),
        "workspace": name,
        "live": total(&census.live),
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
        "panel": { "fuse": "combmnz", "diversify": "mmr", "decay": "fsrs" },
        "search": { "ranks": ["fused", "relevance"] },
    });
    if args.all {
        status["workspaces"] = json!(workspaces);
    } else {
        status["generation"] = json!(generation);
    }
    if context.json {
        context.ui.json(&status)?;
    } else {
        context.ui.line(&format!("packset: on the files at {}", home.display()))?;
        context.ui.line(&super::pretty(&status))?;
    }
    Ok(Exit::Done)
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
        for place in snapshot.places() {
            if snapshot.end_of(place).is_some() {
                continue;
            }
            let segment = snapshot.segment(place);
            let kind = segment.kind(place.row)?;
            let ended =
                segment.column(tag::VALID_TO).is_some_and(|c| c.get(place.row) <= view.valid);
            let counts = if segment.flags(place.row).contains(Flags::TOMBSTONE) {
                if let Some(reason) =
                    record::string(&snapshot.record(place)?, "forgotten").map(str::to_owned)
                {
                    *self.forgotten.entry(reason).or_default() += 1;
                }
                &mut self.tombstones
            } else if ended {
                &mut self.expired
            } else if Kind::named(kind).is_some() {
                &mut self.live
            } else {
                &mut self.records
            };
            *counts.entry(kind.to_owned()).or_default() += 1;
        }
        Ok(())
    }
}
