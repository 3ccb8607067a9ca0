//! Merging a whole workspace into one segment, on request, and dropping history past a retention.
//!
//! The merge runs without the lock: it notes itself in `t/` (a temporary that it keeps locked, so
//! that writers leave the segments it reads where they are and cleaners leave it alone), builds,
//! then takes the lock, carries over what was written meanwhile, and publishes. Readers and
//! writers never wait for more than that last step.
//!
//! Not here: merging itself (`packset_segments::merge`), and what writes merge (`super::plan`).
//!
//! Invariant: no answer changes but for versions that ended before the retention, and for the
//! texts of tombstones: once every version of a text but tombstones is dropped, so is the text.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use packset_segments::manifest::{Manifest, SpaceEntry, TextRule, segment_file};
use packset_segments::merge::{Fill, GONE, Moved, Plan, merge, rebuild};
use packset_segments::vfs::Lock;
use packset_segments::{Bytes, Identity, IoContext, NULL, Segment, Space};
use rustc_hash::FxHashMap;

use super::snapshot::Snapshot;
use super::store::{FileSink, Held, Store, entry_of, text_rule};
use super::transaction::knows;
use super::{Error, Result, record};
use crate::meaning;
use crate::text::{self, Tokenizer};

/// What a compaction did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// Segments before.
    pub segments: usize,
    /// Bytes of segments before.
    pub bytes_before: u64,
    /// Bytes of segments after.
    pub bytes_after: u64,
    /// Versions that were dropped.
    pub dropped: u64,
}

const MARK: &str = "compact-";

/// Vectors that a rewrite brings along.
#[derive(Default)]
struct Vectors<'a> {
    space: Option<&'a SpaceEntry>,
    codes: FxHashMap<&'a str, Vec<u8>>,
    /// Whether every text has one with these.
    whole: bool,
}

impl Vectors<'_> {
    /// The spaces that go: of models that another one has wholly taken the place of.
    fn dropped(&self, manifest: &Manifest) -> Vec<u128> {
        let Some(space) = self.space.filter(|_| self.whole) else { return Vec::new() };
        let others = manifest.spaces.iter().map(|other| other.id.0);
        others.filter(|id| *id != space.id.0 && *id != meaning::space().id).collect()
    }
}

/// A compaction's own temporary, locked for as long as it lives.
struct Draft {
    path: PathBuf,
    _lock: Box<dyn Lock>,
}

impl Store {
    /// Merges all segments into one. Versions that ended before `horizon` (microseconds) are
    /// dropped; [`i64::MIN`] drops none. None: there was nothing to do.
    ///
    /// # Errors
    /// As [`Store::commit`]; the store is then what it was.
    pub fn compact(&self, horizon: i64) -> Result<Option<Compacted>> {
        self.rewrite(horizon, &Vectors::default())
    }

    /// Puts the vectors of texts, in the space of a model, into the store; with `whole` every text
    /// has one then, and those of other models go. The static table's stay.
    ///
    /// # Errors
    /// As [`Store::compact`]; [`Error::Busy`] if another process rewrote the store meanwhile.
    pub fn embed(
        &self,
        space: &SpaceEntry,
        vectors: &[(String, Vec<f32>)],
        whole: bool,
    ) -> Result<()> {
        let of = Space { id: space.id.0, dims: space.dims };
        let codes = vectors.iter().map(|(text, vector)| (text.as_str(), of.code(vector))).collect();
        self.rewrite(i64::MIN, &Vectors { space: Some(space), codes, whole })?;
        Ok(())
    }

    fn rewrite(&self, horizon: i64, vectors: &Vectors<'_>) -> Result<Option<Compacted>> {
        // What has not ended ends at NULL, which no horizon may reach.
        let horizon = horizon.min(NULL - 1);
        let Some(held) = self.hold(false)? else { return Ok(None) };
        let held = self.current_rule(held)?;
        let snapshot = &held.snapshot;
        let due = snapshot.places().any(|place| {
            horizon > i64::MIN && snapshot.end_of(place).is_some_and(|(at, _)| at <= horizon)
        });
        let lacks = || -> Result<bool> {
            let mut lacks = false;
            for fill in self.fills() {
                lacks |= snapshot.lacks(fill.space)?;
            }
            Ok(lacks)
        };
        if snapshot.segments().len() < 2 && !due && vectors.space.is_none() && !lacks()? {
            return Ok(None);
        }
        let bytes: u64 = snapshot.segments().iter().map(|segment| segment.sealed().len).sum();
        let free = self.ground.vfs.free_space(&self.dir).at("measure", &self.dir)?;
        if free < bytes {
            let source = std::io::Error::from(std::io::ErrorKind::StorageFull);
            return Err(packset_segments::Error::io("compact into", &self.dir, source).into());
        }
        let generation = snapshot.manifest().generation;
        let path = self
            .temporaries()
            .join(format!("{MARK}{generation:016}-{:032x}", self.ground.ids.bits()));
        let mut sink = FileSink::create(self.ground.vfs.as_ref(), &path)?;
        let lock = self.ground.vfs.lock(&path, Duration::ZERO).at("lock", &path)?;
        let draft = Draft { path: path.clone(), _lock: lock };
        let snapshot = held.release();

        let identity = Identity {
            store: snapshot.manifest().store.0,
            segment: self.ground.ids.bits(),
            born: generation + 1,
        };
        let done = (|| {
            let inputs: Vec<&Segment> = snapshot.segments().iter().collect();
            let brought = |text: &str| vectors.codes.get(text).cloned();
            let fills = self.fills_with(vectors, &brought);
            let dropped = vectors.dropped(snapshot.manifest());
            let plan = Plan { horizon, fills: &fills, dropped: &dropped, ..Plan::of(&inputs) };
            let moved = merge(&plan, identity, &mut sink)?;
            sink.seal()?;
            let after = self.adopt(&snapshot, &draft, identity, &moved, horizon, vectors)?;
            let gone = moved.rows.values().flatten().filter(|row| **row == GONE).count();
            Ok(Some(Compacted {
                segments: snapshot.segments().len(),
                bytes_before: bytes,
                bytes_after: after,
                dropped: gone as u64,
            }))
        })();
        if done.is_err() {
            let _ = self.ground.vfs.unlink(&draft.path);
        }
        done
    }

    /// Puts the draft in the place of what it was made from.
    fn adopt(
        &self,
        base: &Snapshot,
        draft: &Draft,
        identity: Identity,
        moved: &Moved,
        horizon: i64,
        vectors: &Vectors<'_>,
    ) -> Result<u64> {
        let vfs = &self.ground.vfs;
        let held = self.hold(false)?.filter(|held| {
            let now = held.snapshot.manifest();
            let count = base.segments().len();
            let same = |manifest: &Manifest| -> Vec<_> {
                manifest.segments.iter().take(count).map(|entry| entry.id).collect()
            };
            now.store == base.manifest().store && same(now) == same(base.manifest())
        });
        let Some(held) = held else {
            return Err(self.overtaken());
        };
        let mut manifest = held.snapshot.manifest().clone();
        manifest.generation += 1;
        let dropped = vectors.dropped(&manifest);
        manifest.spaces.retain(|space| !dropped.contains(&space.id.0));
        self.name_spaces(&mut manifest);
        vectors.space.into_iter().for_each(|space| manifest.name_space(space));
        if horizon > i64::MIN {
            manifest.kept_since = manifest.kept_since.max(Some(horizon));
        }
        let dir = self.segments();
        let path = dir.join(segment_file(identity.born, identity.segment));
        let tail: Vec<&Segment> =
            held.snapshot.segments().iter().skip(base.segments().len()).collect();
        // A record that came back meanwhile may share a text that the merge let go with its
        // tombstone: then the merge is of no use, and the store stays as it is.
        if tail.iter().any(|segment| moved.is_missed_by(segment)) {
            return Err(self.overtaken());
        }
        let mut late = None;
        if !tail.is_empty() {
            let identity = Identity {
                store: identity.store,
                segment: self.ground.ids.bits(),
                born: manifest.generation,
            };
            let beside = BTreeSet::from([moved.segment]);
            let brought = |text: &str| vectors.codes.get(text).cloned();
            let plan = Plan {
                beside: &beside,
                moved: Some(moved),
                fills: &self.fills_with(vectors, &brought),
                dropped: &dropped,
                ..Plan::of(&tail)
            };
            let mut bytes = Vec::new();
            merge(&plan, identity, &mut bytes)?;
            let path = dir.join(segment_file(identity.born, identity.segment));
            let segment = Segment::parse(&path, Bytes::copy_of(&bytes))?;
            self.write_segment(&segment)?;
            late = Some(segment);
        }
        vfs.rename_new(&draft.path, &path).at("publish", &path)?;
        vfs.sync_dir(&dir).at("sync", &dir)?;
        let whole = Segment::parse(&path, vfs.open(&path).at("open", &path)?)?;
        manifest.segments = [Some(&whole), late.as_ref()]
            .into_iter()
            .flatten()
            .map(entry_of)
            .collect::<Result<_>>()?;
        self.publish_manifest(held.snapshot.manifest(), &manifest)?;
        Ok(manifest.segments.iter().map(|entry| entry.len).sum())
    }

    /// What texts get from the static table, and from the vectors that are brought.
    fn fills_with<'f>(
        &self,
        vectors: &Vectors<'_>,
        brought: &'f dyn Fn(&str) -> Option<Vec<u8>>,
    ) -> Vec<Fill<'f>> {
        let mut fills = self.fills();
        fills.extend(vectors.space.map(|space| Fill {
            space: Space { id: space.id.0, dims: space.dims },
            every: false,
            code: brought,
        }));
        fills
    }

    fn overtaken(&self) -> Error {
        Error::Busy {
            name: self.name().to_owned(),
            holder: "a process that rewrote it meanwhile".into(),
        }
    }

    /// How many of the oldest segments a running compaction is reading: they must not be merged
    /// away under it.
    pub(super) fn frozen(&self, manifest: &Manifest) -> usize {
        let dir = self.temporaries();
        let names = self.ground.vfs.list(&dir).unwrap_or_default();
        let generation = names
            .iter()
            .filter(|name| {
                let lock = self.ground.vfs.lock(&dir.join(name), Duration::ZERO);
                lock.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
            })
            .filter_map(|name| name.strip_prefix(MARK)?.split('-').next()?.parse::<u64>().ok())
            .max();
        let read = |entry: &&_| -> bool {
            let entry: &packset_segments::manifest::SegmentEntry = entry;
            generation.is_some_and(|generation| entry.born <= generation)
        };
        manifest.segments.iter().take_while(read).count()
    }

    /// Makes sure that the texts are indexed by the rule of this program: an older rule's terms
    /// are all made anew before anything is added, so that rules never mix.
    pub(super) fn current_rule(&self, held: Held) -> Result<Held> {
        let rule = &held.snapshot.manifest().text;
        if knows(rule) {
            return Ok(held);
        }
        if rule.tokenizer != text::ID || rule.version > text::VERSION {
            return Err(self.unknown_rule(rule));
        }
        let stem = rule.stem;
        let mut manifest = held.snapshot.manifest().clone();
        manifest.generation += 1;
        self.name_spaces(&mut manifest);
        manifest.text = text_rule(stem);
        if !manifest.segments.is_empty() {
            let segment = self.rebuilt(&held.snapshot, manifest.generation, stem)?;
            self.write_segment(&segment)?;
            let dir = self.segments();
            self.ground.vfs.sync_dir(&dir).at("sync", &dir)?;
            manifest.segments = vec![entry_of(&segment)?];
        }
        self.publish_manifest(held.snapshot.manifest(), &manifest)?;
        held.renew(self)
    }

    fn rebuilt(&self, snapshot: &Snapshot, born: u64, stem: bool) -> Result<Segment> {
        let identity =
            Identity { store: snapshot.manifest().store.0, segment: self.ground.ids.bits(), born };
        let inputs: Vec<&Segment> = snapshot.segments().iter().collect();
        let plan = Plan { fills: &self.fills(), ..Plan::of(&inputs) };
        let mut tokenizer = Tokenizer::new(stem);
        let mut bytes = Vec::new();
        rebuild(&plan, identity, &mut bytes, &mut |segment, row, text| {
            let record = record::decode(segment, row, text, self.name())?;
            let mut terms = Vec::new();
            for text in record::indexed(&record) {
                tokenizer.terms(text, &mut |term| terms.push(term.to_owned()));
            }
            Ok((record::corpus(record::kind(&record)), terms))
        })?;
        let path = self.segments().join(segment_file(born, identity.segment));
        Ok(Segment::parse(&path, Bytes::copy_of(&bytes))?)
    }

    /// Refuses a store whose terms this program cannot read.
    pub fn unknown_rule(&self, rule: &TextRule) -> Error {
        Error::TextRule {
            name: self.name().to_owned(),
            found: format!("{} {}", rule.tokenizer, rule.version),
        }
    }
}
