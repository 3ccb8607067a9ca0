//! The invariants, stated once: what must be true of any disk that a process may find.
//!
//! [`Judge::look`] opens a store as the next process would and says what is in it, or which
//! invariant does not hold. Everything else compares what it says.
//!
//! 1. The store opens, or is not there at all.
//! 2. Every manifest that is visible, older ones too, decodes, and its segments are there, whole.
//! 3. A verification finds nothing.
//! 4. The next commit works, changes nothing but what it says, and leaves no file behind.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::path::Path;

use packset::pack::record::id;
use packset::pack::snapshot::{Snapshot, View};
use packset::pack::{self, Store};
use packset::time::Micros;
use packset_segments::manifest::{Manifest, born_of, generation_of};
use packset_segments::sim::SimFs;
use packset_segments::vfs::Vfs;
use packset_segments::{NULL, Segment};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::ground::{claim, home, names, put, store, workspaces};

/// The logical content of a store: all that a reader can learn, nothing of how it lies on disk.
/// None: there is no such workspace, or nothing was ever written to it.
pub type Content = Option<BTreeMap<String, String>>;

/// Where the ids of the commit that follows a look count from.
const NEXT_IDS: u64 = 9_000_000;
/// The record that the next commit puts.
pub const NEXT: &str = "next";

/// What is in a snapshot: per record its versions, and what the views show at every moment at
/// which something was recorded, and just before it; the live counts.
pub fn content(snapshot: &Snapshot) -> Result<Content, String> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let mut moments = BTreeSet::new();
    let mut keys = BTreeSet::new();
    for place in snapshot.places() {
        let segment = snapshot.segment(place);
        moments.insert(segment.recorded(place.row));
        keys.insert(segment.id(place.row).ok_or("a row without a key")?);
    }
    if keys.is_empty() {
        return Ok(None);
    }
    let record = |place| snapshot.record(place).map_err(|e| format!("unreadable: {e}"));
    for key in keys {
        let mut line = String::new();
        let mut name = None;
        for place in snapshot.versions(key) {
            let record = record(place)?;
            let json = serde_json::to_string(&record).map_err(|e| e.to_string())?;
            let recorded = snapshot.segment(place).recorded(place.row);
            let end = snapshot.end_of(place).map(|(at, _)| at);
            let json =
                if json.len() < 300 { json } else { format!("{:x}", xxh3_128(json.as_bytes())) };
            let _ = write!(line, "[{recorded} {end:?} {json}]");
            name = Some(id(&record).to_owned());
        }
        let current = snapshot.current(key).ok_or("a record without a current version")?;
        let _ = write!(line, " now {}", snapshot.segment(current).recorded(current.row));
        found.insert(format!("record {}", name.unwrap_or_default()), line);
    }
    let mut views: BTreeMap<String, View> = BTreeMap::new();
    for moment in moments.into_iter().flat_map(|at| [at - 1, at]) {
        let at = Micros(moment);
        views.insert(format!("as of {moment}"), View::as_of(at));
        views.insert(format!("known at {moment}"), View::known_at(at, Micros(NULL - 1)));
        views.insert(format!("valid at {moment}"), View::now(at));
    }
    for (name, view) in views {
        let mut shown = BTreeSet::new();
        for place in snapshot.shown(&view) {
            let segment = snapshot.segment(place);
            if !shown.insert((segment.id(place.row), segment.recorded(place.row))) {
                return Err(format!("{name} shows a version twice"));
            }
        }
        found.insert(name, format!("{shown:?}"));
    }
    found.insert("counts".into(), format!("{:?}", snapshot.counts()));
    Ok(Some(found))
}

/// What a store holds now.
pub fn content_of(store: &Store) -> Result<Content, String> {
    match store.snapshot() {
        Ok(Some(snapshot)) => content(&snapshot),
        Ok(None) => Ok(None),
        Err(error) => Err(format!("it does not open: {error}")),
    }
}

/// The lines of a content that speak of records other than [`NEXT`].
fn records(content: &Content) -> Vec<(&String, &String)> {
    let next = format!("record {NEXT}");
    let lines = content.iter().flatten();
    lines.filter(|(key, _)| key.starts_with("record ") && **key != next).collect()
}

/// What a disk is, up to what no process reads: of files that no visible manifest names, of
/// locks and of directories that are being made or removed, only the names count; of manifests
/// that were not published, not even those.
pub fn class(fs: &SimFs) -> u128 {
    let tree = fs.tree();
    let mut named = BTreeSet::new();
    for (path, bytes) in &tree {
        let name = path.rsplit('/').next().unwrap_or_default();
        let generation = generation_of(name);
        let manifest = generation.map(|g| Manifest::decode(Path::new(path), bytes, g));
        if let Some(Ok(manifest)) = manifest {
            named.extend(manifest.segments.iter().map(|entry| entry.file()));
            named.insert(name.to_owned());
        }
    }
    let mut hash = Xxh3::new();
    for (path, bytes) in &tree {
        if path.contains("/t/") && path.ends_with(".manifest") {
            continue;
        }
        hash.update(path.as_bytes());
        hash.update(&[0]);
        let read = path.rsplit('/').next().is_some_and(|name| named.contains(name));
        if read && !path.contains("/.") {
            hash.update(&xxh3_128(bytes).to_le_bytes());
        }
    }
    hash.digest128()
}

/// Looks at disks, at each class of them only once.
#[derive(Default)]
pub struct Judge {
    /// Whether a manifest that is not the newest may name files that are gone: its removal may
    /// be what a failed sync dropped.
    lenient: bool,
    known: HashMap<u128, Result<Content, String>>,
}

impl Judge {
    /// One for disks whose syncs have failed.
    pub fn lenient() -> Self {
        Self { lenient: true, ..Self::default() }
    }

    /// What a store holds, or what is wrong with it. The disk is not changed.
    pub fn look(&mut self, fs: &SimFs) -> Result<Content, String> {
        let class = class(fs);
        if let Some(known) = self.known.get(&class) {
            return known.clone();
        }
        let found = look(&fs.kill(), self.lenient);
        self.known.insert(class, found.clone());
        found
    }

    /// Classes of disks seen so far.
    pub fn seen(&self) -> usize {
        self.known.len()
    }
}

fn look(fs: &SimFs, lenient: bool) -> Result<Content, String> {
    let here = store(fs, NEXT_IDS);
    let found = content_of(&here)?;
    if fs.kind(here.dir()).is_ok() {
        manifests(fs, &here, lenient)?;
        let report = here.verify().map_err(|e| format!("it cannot be verified: {e}"))?;
        let problems = report.ok_or("it opens, and yet is not there")?.problems;
        if !problems.is_empty() {
            return Err(format!("verification: {}", problems.join("; ")));
        }
    }
    let fs = fs.clone();
    let here = store(&fs, NEXT_IDS);
    put(&here, vec![claim(NEXT, "what the next process has to say")])
        .map_err(|e| format!("the next commit: {e}"))?;
    let after = content_of(&here)?;
    if records(&after) != records(&found) {
        return Err(format!("the next commit changed {found:?} to {after:?}"));
    }
    if after.is_none_or(|after| !after.contains_key(&format!("record {NEXT}"))) {
        return Err("the next commit wrote nothing".into());
    }
    no_leftovers(&fs, &here)?;
    Ok(found)
}

/// Every visible manifest with the names of its segments, if all of it is whole.
fn manifests(fs: &SimFs, store: &Store, lenient: bool) -> Result<BTreeSet<String>, String> {
    let dir = store.dir().join("m");
    let mut named = BTreeSet::new();
    let mut all = names(fs, &dir);
    if lenient {
        all.drain(..all.len().saturating_sub(1));
    }
    for name in all {
        let path = dir.join(&name);
        let generation = generation_of(&name).ok_or_else(|| format!("a stray file {name}"))?;
        let bytes = fs.read(&path).map_err(|e| format!("manifest {name}: {e}"))?;
        let manifest = Manifest::decode(&path, &bytes, generation)
            .map_err(|e| format!("a torn manifest: {e}"))?;
        for entry in &manifest.segments {
            let path = store.dir().join("s").join(entry.file());
            let bytes = fs.open(&path).map_err(|e| format!("manifest {name} dangles: {e}"))?;
            let segment = Segment::parse(&path, bytes).map_err(|e| format!("torn: {e}"))?;
            if segment.sealed() != entry.sealed() {
                return Err(format!("manifest {name} names another {}", entry.file()));
            }
            named.insert(entry.file());
        }
    }
    Ok(named)
}

/// After a commit there is nothing but two manifests and what they name; after a sweep nothing
/// beside the workspaces.
pub fn no_leftovers(fs: &SimFs, store: &Store) -> Result<(), String> {
    let named = manifests(fs, store, false)?;
    let generations = names(fs, &store.dir().join("m"));
    let newest = generations.iter().filter_map(|name| generation_of(name)).max();
    let mut segments: BTreeSet<String> = names(fs, &store.dir().join("s")).into_iter().collect();
    // A generation that was seen and then lost to a power loss may have had a successor in the
    // making. Its segment goes when the store has come as far again.
    segments.retain(|name| born_of(name) <= newest);
    if segments != named {
        return Err(format!("left in s/: {segments:?}, named: {named:?}"));
    }
    let temporaries = names(fs, &store.dir().join("t"));
    if !temporaries.is_empty() {
        return Err(format!("left in t/: {temporaries:?}"));
    }
    if generations.len() > 2 {
        return Err(format!("left in m/: {generations:?}"));
    }
    pack::home::sweep_leftovers(fs, &home());
    let beside: Vec<String> =
        names(fs, &workspaces()).into_iter().filter(|name| name.starts_with('.')).collect();
    if !beside.is_empty() {
        return Err(format!("left in ws/: {beside:?}"));
    }
    Ok(())
}
