//! Whether an import fits under the live cap, found out before any of it is stored.
//!
//! First lines are counted by workspace, which is cheap and mostly enough. Only where they would
//! not all fit, repeats and rewrites are told from what is new, as storing them would.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use packset_segments::IoContext;
use rayon::prelude::*;
use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, Visitor};

use super::{BATCH, Job, Outcome, SHARE, Source};
use crate::claim::upkeep::{self, Arrivals, Crossing};
use crate::cli::args::Import;
use crate::cli::{Failure, FailureKind};
use crate::command::Context;
use crate::desk::batch::trimmed;

/// Refuses an import that would take a workspace past the cap.
///
/// # Errors
/// That, or what reading and the pack say.
pub(super) fn check(
    context: &mut Context<'_>,
    job: &Job,
    args: &Import,
    held: Option<&[u8]>,
    cap: usize,
) -> Result<(), Failure> {
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    let (mut source, mut number) = (Source::of(context, &args.file, held)?, 0);
    loop {
        let batch = source.batch(context, BATCH, &mut number).at("read", Path::new(&args.file))?;
        if batch.lines.is_empty() {
            break;
        }
        let count = |share: &[(u64, std::ops::Range<usize>)]| {
            let mut lines: BTreeMap<String, usize> = BTreeMap::new();
            for (_, line) in share {
                if let Some(name) = job.goes_to(trimmed(batch.line(line))) {
                    match lines.get_mut(&name) {
                        Some(count) => *count += 1,
                        None => drop(lines.insert(name, 1)),
                    }
                }
            }
            lines
        };
        let counts: Vec<_> = batch.lines.par_chunks(SHARE).map(count).collect();
        for (name, count) in counts.into_iter().flatten() {
            *lines.entry(name).or_default() += count;
        }
    }
    let mut crowded = BTreeSet::new();
    for (name, count) in lines {
        // A name that no workspace can have is refused line by line.
        let Ok(store) = context.store(&name) else { continue };
        let live = store.snapshot()?.as_ref().map(upkeep::at_most).unwrap_or_default();
        if live.saturating_add(count) > cap {
            crowded.insert(name);
        }
    }
    if crowded.is_empty() { Ok(()) } else { count_new(context, job, args, held, cap, &crowded) }
}

fn count_new(
    context: &mut Context<'_>,
    job: &Job,
    args: &Import,
    held: Option<&[u8]>,
    cap: usize,
    crowded: &BTreeSet<String>,
) -> Result<(), Failure> {
    let mut arrivals: BTreeMap<String, Arrivals> = BTreeMap::new();
    for name in crowded {
        let snapshot = context.store(name)?.snapshot()?;
        arrivals.insert(name.clone(), Arrivals::new(snapshot, context.clock.now()));
    }
    let (mut source, mut number) = (Source::of(context, &args.file, held)?, 0);
    loop {
        let batch = source.batch(context, BATCH, &mut number).at("read", Path::new(&args.file))?;
        if batch.lines.is_empty() {
            break;
        }
        for (_, outcome) in job.outcomes(context, &batch) {
            if let Outcome::Ready(name, prepared) = outcome
                && let Some(arrivals) = arrivals.get_mut(&name)
            {
                arrivals.add(&prepared);
            }
        }
    }
    for (name, arrivals) in arrivals {
        if let Some(crossing) = arrivals.crossing(cap)? {
            let message = format!("nothing is stored: in workspace {name}, {crossing}");
            return Err(Failure::new(FailureKind::Refused, message).hint(Crossing::WAYS_OUT));
        }
    }
    Ok(())
}

impl Job {
    /// The workspace that a line goes to; none if it is blank or no JSON object.
    fn goes_to(&self, line: &[u8]) -> Option<String> {
        if line.is_empty() {
            return None;
        }
        if let Some(fixed) = &self.fixed {
            return Some(fixed.clone());
        }
        let mut reader = serde_json::Deserializer::from_slice(line);
        let named = reader.deserialize_map(Named).ok()?;
        Some(named.unwrap_or_else(|| self.fallback.clone()))
    }
}

/// Reads of an object only the workspace that it names.
struct Named;

impl<'de> Visitor<'de> for Named {
    type Value = Option<String>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<Self::Value, M::Error> {
        let mut named = None;
        while let Some(key) = members.next_key::<std::borrow::Cow<'de, str>>()? {
            if key == "workspace" {
                // One that is no name leaves the line where it would go without.
                let value: serde_json::Value = members.next_value()?;
                named = value.as_str().map(str::to_owned);
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(named)
    }
}
