//! Erasing records: every version of them, from every file of the pack, and proof of it.
//!
//! [`Store::purge`] merges the whole workspace into one segment that leaves the records out, under
//! the lock. A generation keeps the files of the one before it, so [`Store::let_go`] publishes the
//! same once more, and the old bytes go. Then [`Store::search_files`] reads every file under the
//! home for what was erased. No tombstone stays; the ids are free again.
//!
//! Not here: which record is meant (`crate::command::purge`), and what the disk below the files
//! keeps of blocks that were given back; that is the file system's to say.
//!
//! Invariant: whatever fails on the way, the workspace is whole, with the records or without them.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use memchr::memmem::Finder;
use packset_segments::manifest::segment_file;
use packset_segments::merge::{Plan, merge};
use packset_segments::vfs::{Kind, Vfs};
use packset_segments::{Identity, IoContext, Segment};
use serde_json::Value;

use super::record::{self, Record};
use super::snapshot::Snapshot;
use super::store::{FileSink, Held, Store, entry_of};
use super::{Error, Result, home};

/// Bytes read of a file at a time while it is searched.
const READ_AT_ONCE: usize = 1 << 20;
/// Shortest id, in bytes, that is looked for as it is spelled: a shorter one is found anywhere by
/// chance. Its key, sixteen bytes, is always looked for.
const SPELLED_FROM: usize = 8;

/// A record with all that is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Doomed {
    /// Its newest version.
    pub record: Record,
    /// How many versions it has.
    pub versions: usize,
    /// Each text that a version had, once.
    pub texts: BTreeSet<String>,
}

/// What a search of all files found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Searched {
    /// Files read.
    pub files: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Files that hold something of what was looked for.
    pub found: Vec<Found>,
}

/// A file that holds something of an erased record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The file.
    pub path: PathBuf,
    /// Whether it is a text; else an id.
    pub text: bool,
    /// Records that hold it on their own account: workspace and id. None: nothing explains it.
    pub holders: BTreeSet<(String, String)>,
}

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Needle {
    bytes: Vec<u8>,
    /// How a record spells it that holds it on its own account.
    spelled: String,
    text: bool,
}

impl Snapshot {
    /// The records with these ids, whatever their state; an id that no record has is passed over.
    ///
    /// # Errors
    /// [`packset_segments::Error::Corrupt`].
    pub fn doomed(&self, ids: &[String]) -> Result<Vec<Doomed>> {
        let mut found: Vec<Doomed> = Vec::new();
        for id in ids.iter().collect::<BTreeSet<_>>() {
            let mut texts = BTreeSet::new();
            let mut newest = None;
            let places = self.versions(record::key(id));
            for place in &places {
                let record = self.record(*place)?;
                texts.extend(record::string(&record, "text").map(str::to_owned));
                newest = Some(record);
            }
            if let Some(record) = newest.filter(|record| record::id(record) == *id) {
                texts.remove("");
                found.push(Doomed { record, versions: places.len(), texts });
            }
        }
        Ok(found)
    }
}

impl Store {
    /// Takes records out of the workspace and returns what they were; without any of them nothing
    /// is written. Costs a merge of the whole workspace under its lock.
    ///
    /// # Errors
    /// As [`Store::commit`]; [`Error::Busy`] also while a compaction holds a copy of the texts.
    pub fn purge(&self, ids: &[String]) -> Result<Vec<Doomed>> {
        let Some(held) = self.hold(false)? else { return Ok(Vec::new()) };
        let records = held.snapshot.doomed(ids)?;
        if records.is_empty() {
            return Ok(records);
        }
        let held = self.current_rule(held)?;
        if self.frozen(held.snapshot.manifest()) > 0 {
            let holder = "a compaction that is reading it".into();
            return Err(Error::Busy { name: self.name().to_owned(), holder });
        }
        let keys = records.iter().map(|doomed| record::key(record::id(&doomed.record))).collect();
        self.publish_without(&held, &keys)?;
        Ok(records)
    }

    /// Makes the newest generation the only one whose files are there, by publishing it once
    /// more; returns its new number.
    ///
    /// # Errors
    /// As [`Store::commit`]; what the workspace holds is the same in any case.
    pub fn let_go(&self) -> Result<Option<u64>> {
        let Some(held) = self.hold(false)? else { return Ok(None) };
        let last = held.snapshot.manifest();
        let mut same = last.clone();
        same.generation += 1;
        self.publish_manifest(last, &same)?;
        // Until this is durable, a power loss may give the old files back.
        for dir in [self.segments(), self.temporaries()] {
            self.ground.vfs.sync_dir(&dir).at("sync", &dir)?;
        }
        Ok(Some(same.generation))
    }

    fn publish_without(&self, held: &Held, keys: &BTreeSet<u128>) -> Result<()> {
        let vfs = self.ground.vfs.as_ref();
        let snapshot = &held.snapshot;
        let last = snapshot.manifest();
        let mut manifest = last.clone();
        manifest.generation += 1;
        self.name_spaces(&mut manifest);
        let identity = Identity {
            store: manifest.store.0,
            segment: self.ground.ids.bits(),
            born: manifest.generation,
        };
        let dir = self.segments();
        let path = dir.join(segment_file(identity.born, identity.segment));
        let written: Result<Segment> = (|| {
            let inputs: Vec<&Segment> = snapshot.segments().iter().collect();
            let plan = Plan { without: keys, fills: &self.fills(), ..Plan::of(&inputs) };
            let mut sink = FileSink::create(vfs, &path)?;
            merge(&plan, identity, &mut sink)?;
            sink.seal()?;
            Ok(Segment::parse(&path, vfs.open(&path).at("open", &path)?)?)
        })();
        if written.is_err() {
            // Nothing names it; if this fails too, the next commit removes it.
            let _ = vfs.unlink(&path);
        }
        let segment = written?;
        // A segment without a row says nothing: the manifest need not name it.
        let empty = segment.rows() == 0;
        manifest.segments = if empty { Vec::new() } else { vec![entry_of(&segment)?] };
        vfs.sync_dir(&dir).at("sync", &dir)?;
        self.publish_manifest(last, &manifest)
    }

    /// Reads every file of the pack for the texts and the ids of records. Removes first what dead
    /// processes left.
    ///
    /// # Errors
    /// A file that cannot be read: then nothing is proved.
    pub fn search_files(&self, records: &[Doomed]) -> Result<Searched> {
        let vfs = self.ground.vfs.as_ref();
        let Some(home) = self.dir.parent().and_then(Path::parent) else {
            return Ok(Searched::default());
        };
        home::sweep_leftovers(vfs, home);
        let needles: Vec<Needle> = needles(records).into_iter().collect();
        let (mut searched, hits) = search_below(vfs, home, &needles)?;
        if hits.is_empty() {
            return Ok(searched);
        }
        let mut snapshots = Vec::new();
        for store in home::list(&self.ground, home)? {
            snapshots.extend(store.snapshot()?);
        }
        for (path, at) in hits {
            let Some(needle) = needles.get(at) else { continue };
            let mut holders = BTreeSet::new();
            for snapshot in &snapshots {
                holders.extend(holders_in(snapshot, &path, needle)?);
            }
            // A file that is gone by now was merged away by another writer.
            if !holders.is_empty() || vfs.kind(&path).is_ok() {
                searched.found.push(Found { path, text: needle.text, holders });
            }
        }
        Ok(searched)
    }
}

fn needles(records: &[Doomed]) -> BTreeSet<Needle> {
    let mut needles = BTreeSet::new();
    for doomed in records {
        let id = record::id(&doomed.record);
        let key = record::key(id).to_be_bytes().to_vec();
        needles.insert(Needle { bytes: key, spelled: id.to_owned(), text: false });
        let texts = doomed.texts.iter().map(|text| (text.as_str(), true));
        for (spelled, text) in texts.chain([(id, false)]) {
            if !text && spelled.len() < SPELLED_FROM {
                continue;
            }
            // As it stands in a text, and as it stands in JSON.
            for bytes in [spelled.as_bytes().to_vec(), in_json(spelled)] {
                needles.insert(Needle { bytes, spelled: spelled.to_owned(), text });
            }
        }
    }
    needles
}

/// A string within a JSON string.
fn in_json(string: &str) -> Vec<u8> {
    let json = Value::from(string).to_string();
    let inner = json.strip_prefix('"').and_then(|json| json.strip_suffix('"'));
    inner.unwrap_or(&json).as_bytes().to_vec()
}

/// The records in a file that say it themselves, in any version.
fn holders_in(
    snapshot: &Snapshot,
    path: &Path,
    needle: &Needle,
) -> Result<BTreeSet<(String, String)>> {
    let mut holders = BTreeSet::new();
    for place in snapshot.places().filter(|place| snapshot.segment(*place).path() == path) {
        let record = snapshot.record(place)?;
        if record.values().any(|value| says(value, &needle.spelled)) {
            holders.insert((snapshot.name().to_owned(), record::id(&record).to_owned()));
        }
    }
    Ok(holders)
}

fn says(value: &Value, what: &str) -> bool {
    match value {
        Value::String(string) => string.contains(what),
        Value::Array(values) => values.iter().any(|value| says(value, what)),
        Value::Object(members) => {
            members.iter().any(|(name, value)| name.contains(what) || says(value, what))
        }
        _ => false,
    }
}

/// Reads every file below a directory for any of some strings. Follows links to files, and each
/// directory once; a name that is not UTF-8 is no writer's of ours and is passed over.
/// Returns the files with the number of what each holds.
fn search_below(
    vfs: &dyn Vfs,
    home: &Path,
    needles: &[Needle],
) -> Result<(Searched, Vec<(PathBuf, usize)>)> {
    let finders: Vec<Finder<'_>> = needles.iter().map(|n| Finder::new(&n.bytes)).collect();
    let longest = needles.iter().map(|needle| needle.bytes.len()).max().unwrap_or(0);
    let mut searched = Searched::default();
    let mut hits = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![home.to_owned()];
    while let Some(dir) = open.pop() {
        let names = match vfs.list(&dir) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            other => other.at("list", &dir)?,
        };
        for name in names {
            let path = dir.join(name);
            match vfs.kind(&path) {
                // Writers of other workspaces go on; what is gone holds nothing.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(packset_segments::Error::io("read", &path, error).into()),
                Ok(Kind::Dir) => {
                    let id = vfs.id(&path).at("read", &path)?;
                    if seen.insert((id.device, id.inode)) {
                        open.push(path);
                    }
                    continue;
                }
                Ok(Kind::File(_)) => {}
            }
            let mut reader = match vfs.reader(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                other => other.at("read", &path)?,
            };
            let (bytes, found) = search_in(&mut *reader, &finders, longest).at("read", &path)?;
            searched.files += 1;
            searched.bytes += bytes;
            hits.extend(found.into_iter().map(|number| (path.clone(), number)));
        }
    }
    hits.sort();
    Ok((searched, hits))
}

/// How many bytes were read, and the numbers of the strings that were among them.
fn search_in(
    reader: &mut dyn Read,
    finders: &[Finder<'_>],
    longest: usize,
) -> std::io::Result<(u64, BTreeSet<usize>)> {
    let mut window = Vec::new();
    let (mut total, mut found) = (0, BTreeSet::new());
    loop {
        // What may begin a string that goes on in the next piece stays in the window.
        let kept = window.len().min(longest.saturating_sub(1));
        window.drain(..window.len() - kept);
        let read = reader.take(READ_AT_ONCE as u64).read_to_end(&mut window)?;
        if read == 0 {
            return Ok((total, found));
        }
        total += read as u64;
        let hit = finders.iter().enumerate().filter(|(_, finder)| finder.find(&window).is_some());
        found.extend(hit.map(|(number, _)| number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_as_json_spells_them() {
        assert_eq!(in_json("a \"b\"\n\u{4e2d}"), "a \\\"b\\\"\\n\u{4e2d}".as_bytes());
        assert_eq!(in_json("\""), b"\\\"");
    }

    #[test]
    fn a_string_over_the_seam_of_two_pieces_is_found() {
        let needle = b"seam".to_vec();
        let finders = [Finder::new(&needle)];
        for before in READ_AT_ONCE - 5..=READ_AT_ONCE + 1 {
            let mut bytes = vec![b'-'; before];
            bytes.extend_from_slice(b"seam-");
            let total = bytes.len() as u64;
            let read = |bytes: &[u8]| search_in(&mut &*bytes, &finders, 4).unwrap();
            assert_eq!(read(&bytes), (total, BTreeSet::from([0])), "{before}");
            bytes[before + 1] = b'-';
            assert_eq!(read(&bytes), (total, BTreeSet::new()), "{before}");
        }
    }
}
