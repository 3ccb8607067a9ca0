//! What one commit says: records put under the lock, each a new version of its id.
//!
//! The work of a commit sees the newest snapshot and everything it has put itself, so that every
//! check it makes is a compare-and-set. Here versions are chained: which row ends, whether the
//! new version shares the old one's text, and how the live counts change.
//!
//! Not here: whether a record may be written (`crate::atom`), how bytes reach the disk
//! (`super::store`).
//!
//! Invariants: one commit makes at most one version of a record; a version whose text, title and
//! names are those of the version before it shares that version's text and postings.

use packset_segments::manifest::{SpaceEntry, TextRule};
use packset_segments::{Builder, Ended, Flags, Reason, Row, Space, Text};
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_128;

use super::record::{self, Encoded, Record};
use super::snapshot::{Place, Snapshot};
use super::store::{Committed, Store, text_rule};
use super::{Error, Result};
use crate::meaning;
use crate::text::Tokenizer;
use crate::time::Micros;

/// A record with everything that can be worked out without the lock, held the way its row will
/// hold it: an import keeps tens of thousands of them, and a parsed record takes ten times the
/// room.
#[derive(Clone, Debug)]
pub struct Prepared {
    id: String,
    kind: String,
    text: String,
    keys: Vec<u64>,
    key: u128,
    encoded: Encoded,
    /// What it is found by; none as long as nobody has asked for it.
    terms: Option<Terms>,
    /// What it means by the static table; none as long as nobody has asked for it.
    code: Option<Vec<u8>>,
    /// Whether anything of it is found by words.
    indexed: bool,
    tombstone: bool,
    stem: bool,
}

/// Terms end to end, with where each ends.
#[derive(Clone, Debug, Default)]
struct Terms {
    bytes: String,
    ends: Vec<u32>,
}

impl Terms {
    fn of(record: &Record, tokenizer: &mut Tokenizer) -> Self {
        let mut terms = Self::default();
        for text in record::indexed(record) {
            // English has a term in every eight bytes.
            terms.bytes.reserve(text.len());
            terms.ends.reserve(text.len() / 8);
            tokenizer.terms(text, &mut |term| {
                terms.bytes.push_str(term);
                terms.ends.push(terms.bytes.len() as u32);
            });
        }
        terms
    }

    fn list(&self) -> Vec<&str> {
        let mut start = 0;
        let piece = |end: &u32| {
            let piece = self.bytes.get(start..*end as usize).unwrap_or_default();
            start = *end as usize;
            piece
        };
        self.ends.iter().map(piece).collect()
    }
}

impl Prepared {
    /// Works a record out for a workspace; `keys` are the hashes by which it is found again
    /// exactly. Costs a pass over its text; needs no lock.
    pub fn new(record: &Record, keys: Vec<u64>, name: &str, tokenizer: &mut Tokenizer) -> Self {
        let terms = Some(Terms::of(record, tokenizer));
        Self { terms, ..Self::bare(record, keys, name, tokenizer.stems()) }
    }

    /// The same without its terms: most new versions share the text of the one before, and need
    /// none.
    fn bare(record: &Record, keys: Vec<u64>, name: &str, stem: bool) -> Self {
        let string = |key| record::string(record, key).unwrap_or_default().to_owned();
        let id = string("id");
        Self {
            key: record::key(&id),
            id,
            kind: string("kind"),
            text: string("text"),
            keys,
            encoded: record::encode(record, name),
            terms: None,
            code: None,
            indexed: record::indexed(record).next().is_some(),
            tombstone: record::tombstone(record),
            stem,
        }
    }

    /// The same with its vector from the static table, if `wanted`.
    #[must_use]
    pub fn with_meaning(mut self, wanted: bool) -> Self {
        self.code = wanted.then(|| meaning::code(&self.text));
        self
    }

    /// The record's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The key of its id.
    pub fn key(&self) -> u128 {
        self.key
    }

    /// The hashes by which it is found again exactly.
    pub fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// The record, put together again; `name` is that of the workspace it was worked out for.
    pub fn record(&self, name: &str) -> Record {
        self.encoded.decode(self.key, &self.kind, &self.text, name)
    }

    /// The same with another record, which may differ in fields that nothing is found by.
    #[must_use]
    pub fn again(mut self, record: &Record, name: &str) -> Self {
        self.encoded = record::encode(record, name);
        self
    }

    /// Whether it counts as live at `now`, microseconds.
    pub fn counted(&self, now: i64) -> bool {
        !self.tombstone && self.encoded.valid_to > now
    }
}

/// Vectors that a commit brings along, for whichever of its records show their texts.
#[derive(Debug, Default)]
pub(super) struct Brought {
    /// The spaces that they are of.
    pub(super) spaces: Vec<SpaceEntry>,
    codes: FxHashMap<u128, Vec<(Space, Vec<u8>)>>,
}

impl Brought {
    fn of(&self, text: &str) -> &[(Space, Vec<u8>)] {
        self.codes.get(&xxh3_128(text.as_bytes())).map_or(&[], Vec::as_slice)
    }
}

/// A commit in the making.
pub struct Transaction<'a> {
    snapshot: &'a Snapshot,
    recorded: i64,
    tokenizer: Tokenizer,
    /// Whether texts get vectors from the static table.
    meaning: bool,
    pending: Vec<Prepared>,
    by_id: FxHashMap<u128, usize>,
    by_key: FxHashMap<u64, Vec<usize>>,
    /// Vectors of texts that may be put, in spaces of models.
    brought: Brought,
    /// While work may still be taken back: where it put something, and what stood there.
    taken: Option<Vec<(usize, Option<Prepared>)>>,
}

impl<'a> Transaction<'a> {
    fn new(snapshot: &'a Snapshot, recorded: i64, meaning: bool) -> Self {
        Self {
            snapshot,
            recorded,
            tokenizer: Tokenizer::new(snapshot.manifest().text.stem),
            meaning,
            pending: Vec::new(),
            by_id: FxHashMap::default(),
            by_key: FxHashMap::default(),
            brought: Brought::default(),
            taken: None,
        }
    }

    /// Does a part of the commit's work that may be refused: then nothing of it stays.
    ///
    /// # Errors
    /// `work`'s own.
    pub fn attempt<T, E>(
        &mut self,
        work: impl FnOnce(&mut Self) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let outer = self.taken.replace(Vec::new());
        let done = work(self);
        let puts = self.taken.take().unwrap_or_default();
        self.taken = outer;
        if done.is_err() {
            for (at, before) in puts.into_iter().rev() {
                self.take_back(at, before);
            }
        } else if let Some(outer) = &mut self.taken {
            outer.extend(puts);
        }
        done
    }

    /// Takes one put back. Puts are taken back in the reverse of their order, so that what was
    /// put first at a place is the last one there.
    fn take_back(&mut self, at: usize, before: Option<Prepared>) {
        let put = match before {
            Some(before) => {
                for key in &before.keys {
                    self.by_key.entry(*key).or_default().push(at);
                }
                self.pending.get_mut(at).map(|slot| std::mem::replace(slot, before))
            }
            None => self.pending.pop(),
        };
        let Some(put) = put else { return };
        // One entry of each key goes: what stood there before may bear the same key.
        for key in &put.keys {
            if let Some(list) = self.by_key.get_mut(key)
                && let Some(place) = list.iter().position(|other| *other == at)
            {
                list.remove(place);
            }
        }
        if self.pending.len() == at {
            self.by_id.remove(&put.key);
        }
    }

    /// Brings the vector of a text in the space of a model: a record of this commit that shows the
    /// text as a new one gets it.
    pub fn bring(&mut self, entry: &SpaceEntry, text: &str, vector: &[f32]) {
        let space = Space { id: entry.id.0, dims: entry.dims };
        if vector.len() == space.dims as usize {
            let codes = self.brought.codes.entry(xxh3_128(text.as_bytes())).or_default();
            codes.retain(|(known, _)| *known != space);
            codes.push((space, space.code(vector)));
            if !self.brought.spaces.contains(entry) {
                self.brought.spaces.push(entry.clone());
            }
        }
    }

    /// The newest snapshot, which no one else changes while this runs.
    pub fn snapshot(&self) -> &'a Snapshot {
        self.snapshot
    }

    /// The recorded time that everything put here will bear.
    pub fn now(&self) -> Micros {
        Micros(self.recorded)
    }

    /// Records put so far.
    pub fn len(&self) -> usize {
        self.pending.len()
    }

    /// Whether nothing has been put.
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Whether a record with this key was put.
    pub fn has(&self, key: u128) -> bool {
        self.by_id.contains_key(&key)
    }

    /// The kinds of the records put that will count as live, one for each.
    pub fn live_kinds(&self) -> impl Iterator<Item = &str> {
        let live = self.pending.iter().filter(|pending| pending.counted(self.recorded));
        live.map(|pending| pending.kind.as_str())
    }

    /// The newest version of a record, whatever its state.
    ///
    /// # Errors
    /// [`Error::Segment`] for damaged bytes.
    pub fn get(&self, id: &str) -> Result<Option<Record>> {
        let key = record::key(id);
        if let Some(pending) = self.by_id.get(&key).and_then(|at| self.pending.get(*at)) {
            return Ok((pending.id == id).then(|| pending.record(self.snapshot.name())));
        }
        let Some(place) = self.snapshot.current(key) else { return Ok(None) };
        let record = self.snapshot.record(place)?;
        Ok((record::id(&record) == id).then_some(record))
    }

    /// As [`Transaction::get`], but only some fields, `id` always among them: of a record that was
    /// stored before, the others are passed over unread.
    ///
    /// # Errors
    /// As [`Transaction::get`].
    pub fn get_fields(&self, id: &str, wanted: &[&str]) -> Result<Option<Record>> {
        let key = record::key(id);
        if self.by_id.contains_key(&key) {
            return self.get(id);
        }
        let Some(place) = self.snapshot.current(key) else { return Ok(None) };
        let record = self.snapshot.fields(place, wanted)?;
        Ok((record::id(&record) == id).then_some(record))
    }

    /// Live records that bear a key (a few may not: compare them).
    ///
    /// # Errors
    /// [`Error::Segment`] for damaged bytes.
    pub fn with_key(&self, key: u64) -> Result<Vec<Record>> {
        self.newest_with_key(key, usize::MAX)
    }

    /// As [`Transaction::with_key`], but only the `most` newest are read: for keys that many
    /// records may share. What this commit put is newer than what was stored before.
    ///
    /// # Errors
    /// As [`Transaction::with_key`].
    pub fn newest_with_key(&self, key: u64, most: usize) -> Result<Vec<Record>> {
        self.newest_read(key, most, |place| self.snapshot.record(place))
    }

    /// As [`Transaction::newest_with_key`], but of records that were stored before only some fields.
    ///
    /// # Errors
    /// As [`Transaction::with_key`].
    pub fn newest_fields_with_key(
        &self,
        key: u64,
        most: usize,
        wanted: &[&str],
    ) -> Result<Vec<Record>> {
        self.newest_read(key, most, |place| self.snapshot.fields(place, wanted))
    }

    fn newest_read(
        &self,
        key: u64,
        most: usize,
        read: impl Fn(Place) -> std::result::Result<Record, packset_segments::Error>,
    ) -> Result<Vec<Record>> {
        let pending = self.by_key.get(&key).map(Vec::as_slice).unwrap_or_default();
        let pending = pending.iter().rev().take(most).rev();
        let pending: Vec<&Prepared> = pending.filter_map(|at| self.pending.get(*at)).collect();
        let mut found = Vec::new();
        if most > pending.len() {
            let mut places: Vec<Place> = self.snapshot.with_key(key).collect();
            places.sort_unstable();
            for place in places.into_iter().rev().take(most - pending.len()) {
                let id = self.snapshot.segment(place).id(place.row).unwrap_or_default();
                if !self.by_id.contains_key(&id) {
                    found.push(read(place)?);
                }
            }
        }
        found.extend(pending.into_iter().map(|pending| pending.record(self.snapshot.name())));
        found.retain(|record| !record::tombstone(record));
        Ok(found)
    }

    /// Current records whose text holds at least `least` of the terms; not those put in this
    /// commit.
    ///
    /// # Errors
    /// [`Error::Segment`] for damaged bytes.
    pub fn holding(&self, corpus: u8, terms: &[&str], least: usize) -> Result<Vec<Record>> {
        let mut found = Vec::new();
        for place in self.snapshot.holding(corpus, terms, least)? {
            let id = self.snapshot.segment(place).id(place.row).unwrap_or_default();
            if !self.by_id.contains_key(&id) {
                found.push(self.snapshot.record(place)?);
            }
        }
        Ok(found)
    }

    /// Writes a record: a new one, or a new version of the one with its id.
    ///
    /// # Errors
    /// [`Error::Collision`].
    pub fn put(&mut self, record: Record, keys: Vec<u64>) -> Result<()> {
        let name = self.snapshot.name();
        let prepared = Prepared::bare(&record, keys, name, self.tokenizer.stems());
        self.put_prepared(prepared)
    }

    /// As [`Transaction::put`], for a record that was worked out before the lock was taken.
    ///
    /// # Errors
    /// [`Error::Collision`].
    pub fn put_prepared(&mut self, mut prepared: Prepared) -> Result<()> {
        if prepared.stem != self.tokenizer.stems() {
            prepared.terms = None;
            prepared.stem = self.tokenizer.stems();
        }
        let key = prepared.key;
        let at = match self.by_id.get(&key) {
            Some(at) => {
                let old = &self.pending[*at];
                if old.id != prepared.id {
                    return Err(Error::Collision { id: prepared.id });
                }
                for key in &old.keys {
                    if let Some(list) = self.by_key.get_mut(key) {
                        list.retain(|other| other != at);
                    }
                }
                *at
            }
            None => self.pending.len(),
        };
        for key in &prepared.keys {
            self.by_key.entry(*key).or_default().push(at);
        }
        self.by_id.insert(key, at);
        let before = match self.pending.get_mut(at) {
            Some(slot) => Some(std::mem::replace(slot, prepared)),
            None => {
                self.pending.push(prepared);
                None
            }
        };
        if let Some(taken) = &mut self.taken {
            taken.push((at, before));
        }
        Ok(())
    }

    /// Turns what was put into rows.
    fn build(mut self) -> Result<(Builder, Vec<SpaceEntry>)> {
        let mut builder = Builder::new();
        for pending in std::mem::take(&mut self.pending) {
            let place = self.snapshot.current(pending.key);
            let before = match place {
                // Of the version before only what it was found by is compared.
                Some(place) => Some((place, self.snapshot.fields(place, &record::INDEXED)?)),
                None => None,
            };
            self.row(&mut builder, &pending, before)?;
        }
        Ok((builder, self.brought.spaces))
    }

    /// Whether a version shows the text, title and names of the one before it.
    fn shares(&self, new: &Prepared, place: Place, old: &Record) -> bool {
        let name = self.snapshot.name();
        let wanted = Some(&record::INDEXED[..]);
        let record = new.encoded.decode_some(new.key, &new.kind, &new.text, name, wanted);
        record::corpus(record::kind(old)) == record::corpus(&new.kind)
            && record::string(old, "text") == record::string(&record, "text")
            && record::indexed(old).eq(record::indexed(&record))
            // A compaction takes the text from a tombstone: there is none to share.
            && (!new.indexed || self.snapshot.text_owner(place).is_some())
    }

    fn row(
        &mut self,
        builder: &mut Builder,
        new: &Prepared,
        before: Option<(Place, Record)>,
    ) -> Result<()> {
        let kind = new.kind.as_str();
        let corpus = record::corpus(kind);
        let counted = new.counted(self.recorded);
        let mut flags = Flags::NONE;
        if counted {
            flags = flags | Flags::COUNTED;
        }
        if new.tombstone {
            flags = flags | Flags::TOMBSTONE;
        }
        let same = before.as_ref().is_some_and(|(place, old)| self.shares(new, *place, old));
        // Shown and counted as before: nothing asks for its terms.
        let continued = same
            && before.as_ref().is_some_and(|(place, old)| {
                let was = self.snapshot.segment(*place).flags(place.row);
                was.contains(Flags::COUNTED) == counted && record::kind(old) == kind
            });
        let fresh = match &new.terms {
            None if !continued => Terms::of(&new.record(self.snapshot.name()), &mut self.tokenizer),
            _ => Terms::default(),
        };
        let terms = new.terms.as_ref().unwrap_or(&fresh);
        let terms = terms.list();
        let text = Text { corpus, text: &new.text, terms: &terms, keywords: &[], codes: &[] };
        let mut own = new.indexed;
        match before {
            None => {
                flags = flags | Flags::FIRST;
                if !own && counted {
                    builder.recount(kind, None, 1);
                }
            }
            Some((place, old)) => {
                if record::id(&old) != new.id {
                    return Err(Error::Collision { id: new.id.clone() });
                }
                let old_kind = record::kind(&old);
                let was = self.snapshot.segment(place).flags(place.row).contains(Flags::COUNTED);
                // A text that goes away is an empty text of its own: without one the version
                // would share the text before it.
                own = !same;
                let moved = !same || was != counted || old_kind != kind;
                let old_terms = match was && moved {
                    true => Terms::of(&old, &mut self.tokenizer),
                    false => Terms::default(),
                };
                let old_terms = old_terms.list();
                let old_text = Text {
                    corpus: record::corpus(old_kind),
                    text: "",
                    terms: &old_terms,
                    keywords: &[],
                    codes: &[],
                };
                // What it was counted with: a text that went away was counted as an empty one.
                let had = self.snapshot.text_owner(place).is_some();
                let old_text = had.then_some(&old_text);
                if same && moved {
                    if was {
                        builder.recount(old_kind, old_text, -1);
                    }
                    if counted {
                        builder.recount(kind, had.then_some(&text), 1);
                    }
                } else if !same && was {
                    builder.recount(old_kind, old_text, -1);
                }
                let reason = if same { Reason::Continued } else { Reason::Replaced };
                let segment = self.snapshot.segment(place).identity().segment;
                builder.end(Ended { segment, row: place.row, at: self.recorded, reason });
            }
        }
        let made = || meaning::code(&new.text);
        let code = (own && self.meaning).then(|| new.code.clone().unwrap_or_else(made));
        let mut codes: Vec<_> = code.iter().map(|code| (meaning::space(), &code[..])).collect();
        let brought = self.brought.of(&new.text).iter();
        codes.extend(brought.map(|(space, code)| (*space, &code[..])));
        let text = Text { codes: &codes, ..text };
        let generation = self.snapshot.manifest().generation as i64 + 1;
        let mut columns = new.encoded.columns.to_vec();
        columns.push((record::GENERATION, generation));
        builder.push(&Row {
            id: new.key,
            recorded: self.recorded,
            valid_from: new.encoded.valid_from,
            valid_to: new.encoded.valid_to,
            kind,
            shape: &new.encoded.shape,
            rest: &new.encoded.rest,
            flags,
            columns: &columns,
            keys: &new.keys,
            text: own.then_some(text),
        });
        Ok(())
    }
}

impl Store {
    /// Changes the store: takes the lock, hands the newest snapshot to `work`, and makes what it
    /// put durable in one step before it returns. Nothing put, or an error from `work`: nothing
    /// is written. The workspace is made if it does not exist.
    ///
    /// # Errors
    /// `work`'s own, or [`Error`].
    pub fn commit<T, E: From<Error>>(
        &self,
        work: impl FnOnce(&mut Transaction<'_>) -> std::result::Result<T, E>,
    ) -> std::result::Result<(T, Option<Committed>), E> {
        self.commit_if(true, work)?.ok_or_else(|| {
            let source = std::io::Error::from(std::io::ErrorKind::NotFound);
            E::from(packset_segments::Error::io("open", &self.dir, source).into())
        })
    }

    /// As [`Store::commit`], but a workspace that does not exist is not made: then none.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub fn commit_existing<T, E: From<Error>>(
        &self,
        work: impl FnOnce(&mut Transaction<'_>) -> std::result::Result<T, E>,
    ) -> std::result::Result<Option<(T, Option<Committed>)>, E> {
        self.commit_if(false, work)
    }

    fn commit_if<T, E: From<Error>>(
        &self,
        make: bool,
        work: impl FnOnce(&mut Transaction<'_>) -> std::result::Result<T, E>,
    ) -> std::result::Result<Option<(T, Option<Committed>)>, E> {
        let Some(held) = self.hold(make)? else { return Ok(None) };
        let held = self.current_rule(held)?;
        let recorded = self.next_recorded(held.snapshot.manifest());
        let mut transaction = Transaction::new(&held.snapshot, recorded, self.ground.meaning);
        let done = work(&mut transaction)?;
        let (builder, spaces) = transaction.build()?;
        if builder.is_empty() {
            return Ok(Some((done, None)));
        }
        let committed = self.publish(&held, builder, recorded, &spaces)?;
        Ok(Some((done, Some(committed))))
    }
}

/// Whether texts indexed by `rule` can be searched and added to by this program.
pub fn knows(rule: &TextRule) -> bool {
    *rule == text_rule(rule.stem)
}
