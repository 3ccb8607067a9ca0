//! One workspace on disk: opening it, and the one protocol by which it changes.
//!
//! A store is a directory with `LOCK`, manifests in `m/`, segments in `s/` and temporaries in
//! `t/`. Nothing in it is ever modified: files appear, complete and durable, or disappear, and
//! only a manifest makes a segment real. [`Store::commit`] is the only way to write.
//!
//! The order of a commit, each step's sync guarding against the crash that only it prevents:
//! lock; read the newest manifest; write the segment and sync it; sync `s/`; write the next
//! manifest and sync it; take away the manifests before the newest; publish without clobbering;
//! sync `m/`. Then it is acknowledged, and then files that no manifest names are removed. The
//! old manifests go before the publish so that one sync makes both durable: a manifest that is
//! still visible after a crash never names a file that is gone. They may only go while the newest
//! one is durable: a commit that finds the mark of one that was cut short before its last sync
//! publishes and syncs first, removes them then, and syncs again. It does not sync the newest one
//! in the other's place: after a sync that failed, a second one may claim what is not so.
//!
//! Not here: what is written (`super::transaction`), when segments merge (`super::plan`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use packset_segments::manifest::{
    CountEntry, Features, Hex, Manifest, SegmentEntry, SpaceEntry, TextRule, born_of,
    generation_of, manifest_file, segment_file,
};
use packset_segments::merge::{Fill, Plan, merge};
use packset_segments::vfs::{Lock, NewFile, Vfs};
use packset_segments::{Builder, Bytes, Ended, Identity, IoContext, NULL, Sealed, Segment, Sink};

use super::ids::IdSource;
use super::plan::{self, Size};
use super::snapshot::Snapshot;
use super::{Error, Result};
use crate::clock::Clock;
use crate::meaning;
use crate::text;

/// How often in a row a file must be missing to be lost. One forgetting and remaking of the
/// workspace explains one time; this many in the time of as many looks do not happen.
const LOST_AFTER: u32 = 8;
/// Ends the name of the mark that a commit leaves in `t/` until its manifest is durable.
const UNSURE: &str = ".unsure";
/// How often a reader looks again when files vanish under it because writers moved on.
const READ_TRIES: u32 = 1000;

/// What every store of a pack shares.
#[derive(Clone)]
pub struct Ground {
    /// The door to files.
    pub vfs: Arc<dyn Vfs>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where ids come from.
    pub ids: Arc<IdSource>,
    /// How long a writer waits for another one.
    pub wait: Duration,
    /// Who we are, for the one who waits for us.
    pub holder: String,
    /// Whether a store that is made now stems its words.
    pub stem: bool,
    /// Whether texts get vectors from the static table.
    pub meaning: bool,
}

/// A workspace's directory.
#[derive(Clone)]
pub struct Store {
    pub(super) ground: Ground,
    pub(super) dir: PathBuf,
    name: String,
}

/// Files that were not there, in a row.
#[derive(Default)]
struct Missing {
    generation: Option<u64>,
    times: u32,
}

impl Missing {
    /// Another one, while `generation` was the newest. A writer merged the file away, or the
    /// workspace was forgotten and made anew; if the newest generation stays the same, nobody
    /// did, and the file is lost.
    fn again(&mut self, generation: Option<u64>, error: packset_segments::Error) -> Result<()> {
        self.times = if self.generation == generation { self.times + 1 } else { 1 };
        self.generation = generation;
        if self.times < LOST_AFTER {
            return Ok(());
        }
        Err(Error::Segment(match error {
            packset_segments::Error::Io { path, .. } => {
                packset_segments::Error::corrupt(&path, "manifest", "a file is missing")
            }
            other => other,
        }))
    }
}

/// What a commit became.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The generation it made.
    pub generation: u64,
    /// Its recorded time, microseconds.
    pub recorded: i64,
}

/// A store whose lock is held.
pub(super) struct Held {
    pub(super) snapshot: Snapshot,
    lock: Box<dyn Lock>,
}

impl Held {
    /// Lets the lock go and keeps the snapshot.
    pub(super) fn release(self) -> Snapshot {
        self.snapshot
    }

    /// The newest generation again, under the same lock.
    pub(super) fn renew(self, store: &Store) -> Result<Self> {
        Ok(Self { snapshot: store.open(store.newest()?)?, lock: self.lock })
    }
}

/// A file that is being written, as a sink for segment bytes.
pub(super) struct FileSink<'a> {
    file: Box<dyn NewFile>,
    path: &'a Path,
    buffer: Vec<u8>,
}

/// Bytes gathered before a write to the file.
const WRITE_AT_ONCE: usize = 1 << 20;

impl<'a> FileSink<'a> {
    pub(super) fn create(vfs: &dyn Vfs, path: &'a Path) -> Result<Self> {
        let file = vfs.create_new(path).at("create", path)?;
        Ok(Self { file, path, buffer: Vec::new() })
    }

    fn flush(&mut self) -> packset_segments::Result<()> {
        let done = self.file.write_all(&self.buffer).at("write", self.path);
        self.buffer.clear();
        done
    }

    pub(super) fn seal(mut self) -> Result<()> {
        self.flush()?;
        Ok(self.file.seal().at("sync", self.path)?)
    }
}

impl Sink for FileSink<'_> {
    fn put(&mut self, bytes: &[u8]) -> packset_segments::Result<()> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= WRITE_AT_ONCE { self.flush() } else { Ok(()) }
    }
}

impl Store {
    /// The store of a workspace in the pack at `home`. Touches nothing.
    pub fn new(ground: Ground, home: &Path, name: &str) -> Self {
        let dir = super::home::directory(home, name);
        Self { ground, dir, name: name.to_owned() }
    }

    /// A store in a directory that a listing of the pack found.
    pub(super) fn at(ground: Ground, dir: PathBuf, name: String) -> Self {
        Self { ground, dir, name }
    }

    /// The workspace's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn manifests(&self) -> PathBuf {
        self.dir.join("m")
    }

    pub(super) fn segments(&self) -> PathBuf {
        self.dir.join("s")
    }

    pub(super) fn temporaries(&self) -> PathBuf {
        self.dir.join("t")
    }

    /// Opens the newest generation; none if there is no such workspace. Takes no lock.
    ///
    /// # Errors
    /// A damaged store, or what the system says.
    pub fn snapshot(&self) -> Result<Option<Snapshot>> {
        self.newest_as(|generation| self.open(generation))
    }

    /// As [`Store::snapshot`], for one who has a snapshot already: it is returned again while it is
    /// the newest. Costs a listing and a read of the manifest then.
    ///
    /// # Errors
    /// As [`Store::snapshot`].
    pub fn snapshot_after(&self, known: Option<&Arc<Snapshot>>) -> Result<Option<Arc<Snapshot>>> {
        self.newest_as(|generation| {
            if let Some(known) = known.filter(|known| known.manifest().generation == generation) {
                // A workspace that was forgotten and made anew counts from one again: the whole
                // manifest tells them apart.
                let path = self.manifests().join(manifest_file(generation));
                let bytes = self.ground.vfs.read(&path).at("read", &path)?;
                if Manifest::decode(&path, &bytes, generation)? == *known.manifest() {
                    return Ok(Arc::clone(known));
                }
            }
            Ok(Arc::new(self.open(generation)?))
        })
    }

    /// The name that the newest manifest has for the workspace; none if it is gone by now.
    pub(super) fn real_name(&self) -> Result<Option<String>> {
        self.newest_as(|generation| {
            let path = self.manifests().join(manifest_file(generation));
            let bytes = self.ground.vfs.read(&path).at("read", &path)?;
            Ok(Manifest::decode(&path, &bytes, generation)?.name)
        })
    }

    /// Reads the newest generation, again while files vanish because writers moved on.
    fn newest_as<T>(&self, read: impl Fn(u64) -> Result<T>) -> Result<Option<T>> {
        let mut missing = Missing::default();
        for _ in 0..READ_TRIES {
            let newest = self.newest();
            let generation = newest.as_ref().ok().copied();
            match newest.and_then(&read) {
                Ok(found) => return Ok(Some(found)),
                Err(Error::Segment(error)) if gone(&error) => {
                    if self.is_absent()? {
                        return Ok(None);
                    }
                    missing.again(generation, error)?;
                }
                Err(error) => return Err(error),
            }
        }
        Err(Error::Busy {
            name: self.name.clone(),
            holder: "writers that change it faster than it can be opened".into(),
        })
    }

    fn newest(&self) -> Result<u64> {
        let dir = self.manifests();
        let names = self.ground.vfs.list(&dir).at("list", &dir)?;
        let newest = names.iter().filter_map(|name| generation_of(name)).max();
        newest.ok_or_else(|| {
            packset_segments::Error::corrupt(&dir, "manifest", "there is no manifest").into()
        })
    }

    fn open(&self, generation: u64) -> Result<Snapshot> {
        let vfs = &self.ground.vfs;
        let path = self.manifests().join(manifest_file(generation));
        let bytes = vfs.read(&path).at("read", &path)?;
        let manifest = Manifest::decode(&path, &bytes, generation)?;
        let dir = self.segments();
        let segments = manifest
            .segments
            .iter()
            .map(|entry| {
                let path = dir.join(entry.file());
                let segment = Segment::parse(&path, vfs.open(&path).at("open", &path)?)?;
                self.expect(&manifest, entry, &segment)?;
                Ok(segment)
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Snapshot::from_parts(manifest, segments))
    }

    fn expect(&self, manifest: &Manifest, entry: &SegmentEntry, segment: &Segment) -> Result<()> {
        let identity = segment.identity();
        let theirs = identity.store == manifest.store.0 && identity.segment == entry.id.0;
        if !theirs || segment.sealed() != entry.sealed() || segment.rows() != entry.rows {
            return Err(segment.corrupt("header", "not the file that the manifest names").into());
        }
        Ok(())
    }

    /// Makes the directory of a new workspace. It appears whole, under its final name, or not
    /// at all; another process that makes it at the same time is as good.
    fn init(&self) -> Result<()> {
        let vfs = &self.ground.vfs;
        let Some(parent) = self.dir.parent() else { return Ok(()) };
        super::home::make_directories(vfs.as_ref(), parent)?;
        if let Some(home) = parent.parent() {
            super::home::sweep_removed(vfs.as_ref(), home);
        }
        let fresh = parent.join(format!("{}{:032x}", super::home::MAKING, self.ground.ids.bits()));
        vfs.create_dir(&fresh).at("create", &fresh)?;
        let made = self.furnish(&fresh);
        let placed = made.and_then(|_lock| {
            match vfs.rename_new(&fresh, &self.dir) {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                    super::home::remove_tree(vfs.as_ref(), &fresh);
                    return Ok(());
                }
                other => other.at("create", &self.dir)?,
            }
            let synced = vfs.sync_dir(parent).at("sync", parent);
            if synced.is_err() {
                // Its name may never be durable: another one starts with a name of its own.
                let _ = vfs.rename_new(&self.dir, &fresh);
            }
            Ok(synced?)
        });
        if placed.is_err() {
            super::home::remove_tree(vfs.as_ref(), &fresh);
        }
        placed
    }

    /// Makes the names that lead to the store durable, before the first commit says that it is
    /// saved: whoever made them may have been killed before it could.
    fn anchor(&self) -> Result<()> {
        let ours = self.dir.ancestors().skip(1).take(2);
        for dir in ours.filter(|dir| !dir.as_os_str().is_empty()) {
            self.ground.vfs.sync_dir(dir).at("sync", dir)?;
        }
        // Above the home are directories that may not be ours to open; only what may be synced
        // can have been made by us.
        let above = self.dir.ancestors().skip(3);
        for dir in above.filter(|dir| !dir.as_os_str().is_empty()) {
            match self.ground.vfs.sync_dir(dir) {
                Err(error)
                    if matches!(
                        error.kind(),
                        std::io::ErrorKind::PermissionDenied
                            | std::io::ErrorKind::InvalidInput
                            | std::io::ErrorKind::Unsupported
                    ) => {}
                other => other.at("sync", dir)?,
            }
        }
        Ok(())
    }

    fn furnish(&self, fresh: &Path) -> Result<Box<dyn Lock>> {
        let vfs = &self.ground.vfs;
        let lock = fresh.join("LOCK");
        let mut file = vfs.create_new(&lock).at("create", &lock)?;
        // Held until the directory has its name: a sweeper of leftovers passes it over.
        let held = vfs.lock(&lock, Duration::ZERO).at("lock", &lock)?;
        file.sync().at("sync", &lock)?;
        for name in ["m", "s", "t"] {
            let dir = fresh.join(name);
            vfs.create_dir(&dir).at("create", &dir)?;
        }
        let manifest = Manifest {
            store: Hex(self.ground.ids.bits()),
            name: self.name.clone(),
            generation: 0,
            recorded: 0,
            features: Features::default(),
            text: text_rule(self.ground.stem),
            spaces: Vec::new(),
            kept_since: None,
            segments: Vec::new(),
        };
        let path = fresh.join("m").join(manifest_file(0));
        let mut file = vfs.create_new(&path).at("create", &path)?;
        file.write_all(&manifest.encode()).at("write", &path)?;
        file.seal().at("sync", &path)?;
        for dir in [fresh.join("m"), fresh.to_owned()] {
            vfs.sync_dir(&dir).at("sync", &dir)?;
        }
        Ok(held)
    }

    /// Takes the lock and opens the newest generation under it.
    pub(super) fn hold(&self, make: bool) -> Result<Option<Held>> {
        let vfs = &self.ground.vfs;
        let path = self.dir.join("LOCK");
        let mut missing = Missing::default();
        for _ in 0..READ_TRIES {
            let mut lock = match vfs.lock(&path, self.ground.wait) {
                Ok(lock) => lock,
                Err(error) => match error.kind() {
                    std::io::ErrorKind::WouldBlock => return Err(self.busy(&path)),
                    std::io::ErrorKind::NotFound => {
                        if !self.is_absent()? {
                            missing
                                .again(None, packset_segments::Error::io("lock", &path, error))?;
                        } else if !make {
                            return Ok(None);
                        } else {
                            self.init_unless_swept(&mut missing)?;
                        }
                        continue;
                    }
                    _ => return Err(packset_segments::Error::io("lock", &path, error).into()),
                },
            };
            // The workspace may have been forgotten, and made again, while we waited.
            let named = vfs.id(&path);
            if named.is_err() || lock.id().at("lock", &path)? != named.at("lock", &path)? {
                continue;
            }
            let _ = lock.note(&self.ground.holder);
            let newest = self.newest();
            let generation = newest.as_ref().ok().copied();
            let snapshot = match newest.and_then(|generation| self.open(generation)) {
                // Only a lock that does not hold lets another writer remove anything.
                Err(Error::Segment(error)) if gone(&error) => {
                    missing.again(generation, error)?;
                    continue;
                }
                other => other?,
            };
            snapshot.manifest().writable(&path)?;
            return Ok(Some(Held { snapshot, lock }));
        }
        Err(self.busy(&path))
    }

    /// As [`Store::init`]; what a sweeper took for the leftover of a dead process is made again.
    fn init_unless_swept(&self, missing: &mut Missing) -> Result<()> {
        match self.init() {
            Err(Error::Segment(error))
                if gone(&error) || error.io_kind() == Some(std::io::ErrorKind::WouldBlock) =>
            {
                missing.again(None, error)
            }
            other => other,
        }
    }

    fn is_absent(&self) -> Result<bool> {
        match self.ground.vfs.kind(&self.dir) {
            Ok(_) => Ok(false),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
            Err(error) => Err(packset_segments::Error::io("open", &self.dir, error).into()),
        }
    }

    fn busy(&self, lock: &Path) -> Error {
        let holder = self.ground.vfs.read(lock).ok().and_then(|text| String::from_utf8(text).ok());
        let holder = holder.filter(|text| !text.trim().is_empty());
        Error::Busy {
            name: self.name.clone(),
            holder: holder.unwrap_or_else(|| "another process".into()).trim().to_owned(),
        }
    }

    /// The recorded time of a commit made now: later than any before it, whatever the clock says.
    pub(super) fn next_recorded(&self, manifest: &Manifest) -> i64 {
        self.ground.clock.now().0.max(manifest.recorded + 1)
    }

    /// Adds the builder's rows to the store: folds, merges tiers, publishes, cleans up.
    pub(super) fn publish(
        &self,
        held: &Held,
        builder: Builder,
        recorded: i64,
        spaces: &[SpaceEntry],
    ) -> Result<Committed> {
        let mut manifest = held.snapshot.manifest().clone();
        manifest.generation += 1;
        manifest.recorded = recorded;
        self.name_spaces(&mut manifest);
        spaces.iter().for_each(|space| manifest.name_space(space));
        let store = manifest.store.0;
        let born = manifest.generation;
        let identity = || Identity { store, segment: self.ground.ids.bits(), born };
        let first = identity();
        let mut bytes = Vec::new();
        builder.finish(first, &mut bytes)?;
        let path = self.segments().join(segment_file(born, first.segment));
        let mut newest = Segment::parse(&path, Bytes::copy_of(&bytes))?;
        let mut sizes: Vec<Size> = manifest.segments.iter().map(size_of).collect();
        let frozen = self.frozen(&manifest);
        let kept = sizes.len() - plan::fold(&sizes[frozen..], size_of_segment(&newest));
        // The run that a write merges always ends with what it writes, or lies wholly before it.
        let mut run = kept..manifest.segments.len() + 1;
        sizes.truncate(kept);
        let folded: u64 = held.snapshot.segments()[kept..].iter().map(|s| s.sealed().len).sum();
        sizes.push(Size {
            bytes: size_of_segment(&newest).bytes + folded,
            rows: u64::from(newest.rows())
                + held.snapshot.segments()[kept..].iter().map(|s| u64::from(s.rows())).sum::<u64>(),
        });
        let tier = plan::tier(&sizes[frozen..]);
        let tier = tier.map(|tier| tier.start + frozen..tier.end + frozen);
        if let Some(tier) = tier.clone().filter(|tier| tier.end == sizes.len()) {
            run.start = tier.start;
        }
        if run.len() > 1 {
            newest = self.merged(&held.snapshot, Some(&newest), run.clone(), identity())?;
        }
        let mut outputs = Vec::new();
        let start = run.start;
        if let Some(tier) = tier.filter(|tier| tier.end < sizes.len()) {
            let older = self.merged(&held.snapshot, Some(&newest), tier.clone(), identity())?;
            outputs.push((tier, older));
        }
        outputs.push((start..manifest.segments.len(), newest));
        for (range, segment) in outputs.iter().rev() {
            self.write_segment(segment)?;
            manifest.segments.splice(range.clone(), [entry_of(segment)?]);
        }
        let dir = self.segments();
        self.ground.vfs.sync_dir(&dir).at("sync", &dir)?;
        self.publish_manifest(held.snapshot.manifest(), &manifest)?;
        Ok(Committed { generation: manifest.generation, recorded })
    }

    /// Merges a run of the snapshot's segments; a run that reaches past them takes `newest` in.
    fn merged(
        &self,
        snapshot: &Snapshot,
        newest: Option<&Segment>,
        run: std::ops::Range<usize>,
        identity: Identity,
    ) -> Result<Segment> {
        let count = snapshot.segments().len();
        let old = &snapshot.segments()[run.start..run.end.min(count)];
        let mut inputs: Vec<&Segment> = old.iter().collect();
        let mut newer: Vec<&Segment> = snapshot.segments()[run.end.min(count)..].iter().collect();
        match newest {
            Some(newest) if run.end > count => inputs.push(newest),
            Some(newest) => newer.push(newest),
            None => {}
        }
        let ends: Vec<Ended> = newer.iter().flat_map(|segment| segment.overlay()).collect();
        let mut beside: BTreeSet<u128> =
            snapshot.segments().iter().map(|s| s.identity().segment).collect();
        for input in &inputs {
            beside.remove(&input.identity().segment);
        }
        let plan = Plan { ends: &ends, beside: &beside, fills: &self.fills(), ..Plan::of(&inputs) };
        let mut bytes = Vec::new();
        merge(&plan, identity, &mut bytes)?;
        let path = self.segments().join(segment_file(identity.born, identity.segment));
        Ok(Segment::parse(&path, Bytes::copy_of(&bytes))?)
    }

    /// What every merge gives to texts that lack it: a store that was written without vectors has
    /// them, bit by bit, as it is written and when it is compacted.
    pub(super) fn fills(&self) -> Vec<Fill<'static>> {
        if self.ground.meaning { vec![meaning::fill()] } else { Vec::new() }
    }

    /// Names the spaces that this program writes.
    pub(super) fn name_spaces(&self, manifest: &mut Manifest) {
        if self.ground.meaning {
            manifest.name_space(&meaning::entry());
        }
    }

    pub(super) fn write_segment(&self, segment: &Segment) -> Result<()> {
        let path = segment.path();
        let written = (|| {
            let mut sink = FileSink::create(self.ground.vfs.as_ref(), path)?;
            sink.put(segment.bytes())?;
            sink.seal()
        })();
        if written.is_err() {
            // Nothing names it; if this fails too, the next commit removes it.
            let _ = self.ground.vfs.unlink(path);
        }
        written
    }

    /// Publishes `next`, the commit point, and removes what no manifest names any more.
    pub(super) fn publish_manifest(&self, last: &Manifest, next: &Manifest) -> Result<()> {
        let vfs = &self.ground.vfs;
        if last.generation == 0 {
            self.anchor()?;
        }
        let dir = self.manifests();
        let id = self.ground.ids.bits();
        let temporary = self.temporaries().join(format!("{id:032x}.manifest"));
        let unsure = self.is_unsure();
        let written = (|| {
            let mark = self.temporaries().join(format!("{id:032x}{UNSURE}"));
            vfs.create_new(&mark).at("create", &mark)?;
            let mut file = vfs.create_new(&temporary).at("create", &temporary)?;
            file.write_all(&next.encode()).at("write", &temporary)?;
            file.seal().at("sync", &temporary)?;
            if !unsure {
                self.remove_manifests_before(last.generation)?;
            }
            let path = dir.join(manifest_file(next.generation));
            match vfs.rename_new(&temporary, &path) {
                // Only a lock that does not hold lets another writer publish first, or take
                // our temporary for a dead one's.
                Err(error)
                    if matches!(
                        error.kind(),
                        std::io::ErrorKind::AlreadyExists | std::io::ErrorKind::NotFound
                    ) =>
                {
                    Err(self.busy(&self.dir.join("LOCK")))
                }
                other => Ok(other.at("publish", &path)?),
            }
        })();
        if let Err(error) = written {
            let _ = vfs.unlink(&temporary);
            return Err(error);
        }
        if let Err(source) = vfs.sync_dir(&dir) {
            return Err(Error::Unknown { name: self.name.clone(), source });
        }
        // The manifest that ours would have clobbered may itself be gone, several generations
        // behind: then ours is not the newest, and what it does not name is not ours to remove.
        let overtaken = vfs.list(&dir).and_then(|names| {
            let newer = |name: &String| generation_of(name) > Some(next.generation);
            match names.iter().any(newer) {
                true => Err(std::io::Error::other("another process wrote at the same time")),
                false => Ok(()),
            }
        });
        overtaken.map_err(|source| Error::Unknown { name: self.name.clone(), source })?;
        // What stays if this fails waits, with the mark, for the next commit.
        if !unsure
            || self.remove_manifests_before(last.generation).is_ok() && vfs.sync_dir(&dir).is_ok()
        {
            self.clean(last, next);
        }
        Ok(())
    }

    /// Whether a process died, or its sync failed, after it published a manifest and before that
    /// was durable. Its mark is then still there; after a power loss, which may keep or lose the
    /// mark, all that is visible is durable. Until a sync has succeeded, the newest manifest may
    /// vanish and an older one must be there to be found.
    fn is_unsure(&self) -> bool {
        let names = self.ground.vfs.list(&self.temporaries());
        names.map_or(true, |names| names.iter().any(|name| name.ends_with(UNSURE)))
    }

    fn remove_manifests_before(&self, generation: u64) -> Result<()> {
        let vfs = &self.ground.vfs;
        let dir = self.manifests();
        for name in vfs.list(&dir).at("list", &dir)? {
            if generation_of(&name).is_some_and(|older| older < generation) {
                let path = dir.join(name);
                match vfs.unlink(&path) {
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                    other => other.at("remove", &path)?,
                }
            }
        }
        Ok(())
    }

    /// Removes segments that neither manifest names and temporaries that nobody holds. Failures
    /// wait for the next commit: a file too many harms nothing.
    fn clean(&self, last: &Manifest, next: &Manifest) {
        let vfs = &self.ground.vfs;
        let named: BTreeSet<String> =
            last.segments.iter().chain(&next.segments).map(SegmentEntry::file).collect();
        let dir = self.segments();
        for name in vfs.list(&dir).unwrap_or_default() {
            // A file born later belongs to a writer that slipped past a broken lock.
            let ours = born_of(&name).is_none_or(|born| born <= next.generation);
            if ours && !named.contains(&name) {
                let _ = vfs.unlink(&dir.join(name));
            }
        }
        let dir = self.temporaries();
        for name in vfs.list(&dir).unwrap_or_default() {
            let path = dir.join(name);
            if vfs.lock(&path, Duration::ZERO).is_ok() {
                let _ = vfs.unlink(&path);
            }
        }
    }
}

/// Whether the error is a file that is not there.
fn gone(error: &packset_segments::Error) -> bool {
    error.io_kind() == Some(std::io::ErrorKind::NotFound)
}

fn size_of(entry: &SegmentEntry) -> Size {
    Size { bytes: entry.len, rows: u64::from(entry.rows) }
}

fn size_of_segment(segment: &Segment) -> Size {
    Size { bytes: segment.sealed().len, rows: u64::from(segment.rows()) }
}

/// The rule by which this program turns texts into terms.
pub fn text_rule(stem: bool) -> TextRule {
    TextRule { tokenizer: text::ID.into(), version: text::VERSION, stem }
}

/// What the manifest says of a segment.
pub(super) fn entry_of(segment: &Segment) -> Result<SegmentEntry> {
    let Identity { segment: id, born, .. } = segment.identity();
    let Sealed { len, toc } = segment.sealed();
    let (mut ids, mut recorded) = ((u128::MAX, 0), (NULL, i64::MIN));
    for row in 0..segment.rows() {
        let id = segment.id(row).unwrap_or_default();
        let at = segment.recorded(row);
        ids = (ids.0.min(id), ids.1.max(id));
        recorded = (recorded.0.min(at), recorded.1.max(at));
    }
    let counts = segment.counts()?.into_iter();
    Ok(SegmentEntry {
        id: Hex(id),
        born,
        len,
        toc,
        rows: segment.rows(),
        overlay: segment.overlay().count() as u32,
        ids: (Hex(ids.0), Hex(ids.1)),
        recorded,
        counts: counts.map(|c| CountEntry(c.kind, c.corpus, c.live, c.tokens)).collect(),
    })
}
