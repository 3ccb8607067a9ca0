//! The manifest: what a store is at one generation.
//!
//! Text, because the file that says which reader is needed must be readable by every reader: one
//! line `packset-manifest 1 LENGTH XXH3-128`, then a JSON body of exactly that length. It names
//! every segment with its length and checksum and carries what a query wants before it opens
//! one. Always read, never mapped. Not here: finding the newest one, publishing the next.
//!
//! Features follow the rule of ext4: an unknown *incompatible* bit refuses the store, an unknown
//! *read-only compatible* bit refuses writing, an unknown *compatible* bit is ignored.

#![deny(clippy::indexing_slicing)]

use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use crate::error::{Error, Result};
use crate::frame::Sealed;

/// Feature bits this program knows, of each of the three classes: none so far.
const KNOWN: Features = Features { incompat: 0, ro_compat: 0, compat: 0 };
const WORD: &str = "packset-manifest";
const VERSION: u64 = 1;
/// Bound of a manifest: 64 segments of about 600 bytes, and ample room.
const LIMIT: usize = 16 << 20;

/// Feature masks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Features {
    /// Unknown bits: refuse.
    pub incompat: u64,
    /// Unknown bits: do not write.
    pub ro_compat: u64,
    /// Unknown bits: ignore.
    pub compat: u64,
}

/// How the texts of a store were turned into terms; never mixed within one store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextRule {
    /// Name of the tokenizer.
    pub tokenizer: String,
    /// Its version.
    pub version: u32,
    /// Whether words are stemmed.
    pub stem: bool,
}

/// What the manifest says of one segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentEntry {
    /// Its id, 32 hex digits.
    pub id: Hex,
    /// The generation that brought it.
    pub born: u64,
    /// Length of the file, bytes.
    pub len: u64,
    /// Checksum of its table of contents.
    pub toc: u64,
    /// Number of rows.
    pub rows: u32,
    /// Number of rows of older segments that it ends.
    pub overlay: u32,
    /// Least and greatest record key.
    pub ids: (Hex, Hex),
    /// Least and greatest recorded time, microseconds.
    pub recorded: (i64, i64),
    /// What it adds to the live counts.
    pub counts: Vec<CountEntry>,
}

/// What the manifest says of a space: vectors of different spaces are never compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpaceEntry {
    /// Its id in the segments, 32 hex digits.
    pub id: Hex,
    /// The model.
    pub model: String,
    /// Numbers of a vector.
    pub dims: u32,
    /// Hash of the model's file, as its maker of vectors says it.
    pub file: String,
}

/// A line of live counts: kind, corpus, live records, tokens in them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountEntry(pub String, pub u8, pub i64, pub i64);

/// A 128-bit number that reads as 32 hex digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hex(pub u128);

impl Serialize for Hex {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:032x}", self.0))
    }
}

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        let digits = text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
        u128::from_str_radix(&text, 16)
            .ok()
            .filter(|_| digits)
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom("32 hex digits expected"))
    }
}

/// A store at one generation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The store.
    pub store: Hex,
    /// The workspace's real name; the directory only encodes it.
    pub name: String,
    /// The commit counter.
    pub generation: u64,
    /// The newest recorded time, microseconds: the next one is later, whatever the clock says.
    pub recorded: i64,
    /// Feature masks.
    pub features: Features,
    /// How texts became terms.
    pub text: TextRule,
    /// The spaces that texts have vectors in; a segment names them by their ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spaces: Vec<SpaceEntry>,
    /// Versions that ended by this time were dropped, microseconds; none if none ever was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_since: Option<i64>,
    /// The segments, oldest first.
    pub segments: Vec<SegmentEntry>,
}

impl SegmentEntry {
    /// The file's name in the directory of segments: born, and enough of the id to be unique.
    pub fn file(&self) -> String {
        segment_file(self.born, self.id.0)
    }

    /// What the file must say about itself.
    pub fn sealed(&self) -> Sealed {
        Sealed { len: self.len, toc: self.toc }
    }
}

/// The name of a segment's file.
pub fn segment_file(born: u64, id: u128) -> String {
    format!("{born:016}-{id:032x}.seg")
}

/// The generation that a segment's file name carries.
pub fn born_of(file: &str) -> Option<u64> {
    let (born, rest) = file.split_once('-')?;
    let ours = born.len() == 16 && rest.len() == 36 && rest.ends_with(".seg");
    ours.then(|| born.parse().ok()).flatten()
}

/// The name of a manifest's file.
pub fn manifest_file(generation: u64) -> String {
    format!("{generation:016}.manifest")
}

/// The generation that a manifest's file name carries.
pub fn generation_of(file: &str) -> Option<u64> {
    let digits = file.strip_suffix(".manifest")?;
    (digits.len() == 16).then(|| digits.parse().ok()).flatten()
}

impl Manifest {
    /// Names a space, if it is not named yet.
    pub fn name_space(&mut self, space: &SpaceEntry) {
        if !self.spaces.iter().any(|known| known.id == space.id) {
            self.spaces.push(space.clone());
        }
    }

    /// The file's bytes.
    pub fn encode(&self) -> Vec<u8> {
        // A struct of numbers and strings always becomes JSON.
        let body = serde_json::to_vec(self).unwrap_or_default();
        let mut bytes =
            format!("{WORD} {VERSION} {} {:032x}\n", body.len(), xxh3_128(&body)).into_bytes();
        bytes.extend_from_slice(&body);
        bytes
    }

    /// Reads a manifest and checks it against its first line and its file name.
    ///
    /// # Errors
    /// [`Error::Corrupt`], or [`Error::Version`] for a store that needs a newer program.
    pub fn decode(path: &Path, bytes: &[u8], generation: u64) -> Result<Self> {
        let bad = |what| Error::corrupt(path, "manifest", what);
        if bytes.len() > LIMIT {
            return Err(bad("it is too long"));
        }
        let end =
            bytes.iter().position(|b| *b == b'\n').ok_or_else(|| bad("it has no first line"))?;
        let line = bytes.get(..end).and_then(|line| std::str::from_utf8(line).ok());
        let body = bytes.get(end + 1..).unwrap_or_default();
        let mut words = line.unwrap_or_default().split(' ');
        if words.next() != Some(WORD) {
            return Err(bad("this is not a manifest"));
        }
        let version = words.next().and_then(|word| word.parse::<u64>().ok());
        match version {
            Some(VERSION) => {}
            Some(found) if found > VERSION => {
                let path = path.to_owned();
                return Err(Error::Version { path, what: "the manifest", found, known: VERSION });
            }
            _ => return Err(bad("its version is not a number")),
        }
        // The whole line must be what a writer prints: then no byte of it is unchecked.
        let sum = xxh3_128(body);
        if line != Some(&format!("{WORD} {VERSION} {} {sum:032x}", body.len())) {
            return Err(bad("checksum mismatch"));
        }
        let manifest: Self =
            serde_json::from_slice(body).map_err(|_| bad("its body is not what it should be"))?;
        if manifest.generation != generation {
            return Err(bad("its generation is not the one its name says"));
        }
        let unknown = manifest.features.incompat & !KNOWN.incompat;
        if unknown != 0 {
            return Err(Error::Version {
                path: path.to_owned(),
                what: "the store's features",
                found: unknown,
                known: KNOWN.incompat,
            });
        }
        Ok(manifest)
    }

    /// Whether this program may write to the store.
    ///
    /// # Errors
    /// [`Error::Version`] when a feature is on that only a newer writer keeps true.
    pub fn writable(&self, path: &Path) -> Result<()> {
        match self.features.ro_compat & !KNOWN.ro_compat {
            0 => Ok(()),
            found => Err(Error::Version {
                path: path.to_owned(),
                what: "writing to the store",
                found,
                known: KNOWN.ro_compat,
            }),
        }
    }

    /// Sums of the segments' counts: for each kind and corpus, live records and tokens.
    pub fn counts(&self) -> Vec<CountEntry> {
        let mut sums: Vec<CountEntry> = Vec::new();
        for CountEntry(kind, corpus, live, tokens) in
            self.segments.iter().flat_map(|segment| &segment.counts)
        {
            match sums.iter_mut().find(|sum| sum.0 == *kind && sum.1 == *corpus) {
                Some(sum) => {
                    sum.2 = sum.2.saturating_add(*live);
                    sum.3 = sum.3.saturating_add(*tokens);
                }
                None => sums.push(CountEntry(kind.clone(), *corpus, *live, *tokens)),
            }
        }
        sums.retain(|sum| sum.2 != 0 || sum.3 != 0);
        sums.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Manifest {
        Manifest {
            store: Hex(7),
            name: "git:host/\u{e9}".into(),
            generation: 12,
            recorded: 1_780_000_000_000_000,
            features: Features::default(),
            text: TextRule { tokenizer: "w".into(), version: 1, stem: true },
            spaces: Vec::new(),
            kept_since: None,
            segments: vec![SegmentEntry {
                id: Hex(u128::MAX),
                born: 12,
                len: 900,
                toc: u64::MAX,
                rows: 3,
                overlay: 1,
                ids: (Hex(1), Hex(2)),
                recorded: (5, 6),
                counts: vec![CountEntry("lesson".into(), 1, 2, 9)],
            }],
        }
    }

    #[test]
    fn it_comes_back_whole() {
        let manifest = sample();
        let bytes = manifest.encode();
        assert_eq!(Manifest::decode(Path::new("m"), &bytes, 12).unwrap(), manifest);
        assert!(Manifest::decode(Path::new("m"), &bytes, 13).is_err());
    }

    #[test]
    fn every_flipped_bit_and_every_truncation_is_an_error() {
        let bytes = sample().encode();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut bent = bytes.clone();
                bent[at] ^= 1 << bit;
                assert!(
                    Manifest::decode(Path::new("m"), &bent, 12).is_err(),
                    "byte {at} bit {bit}"
                );
            }
            assert!(Manifest::decode(Path::new("m"), &bytes[..at], 12).is_err(), "length {at}");
        }
    }

    #[test]
    fn features_follow_their_rule() {
        let with = |features| {
            let manifest = Manifest { features, ..sample() };
            Manifest::decode(Path::new("m"), &manifest.encode(), 12)
        };
        let none = Features::default();
        assert!(matches!(with(Features { incompat: 1, ..none }), Err(Error::Version { .. })));
        let read_only = with(Features { ro_compat: 4, ..none }).unwrap();
        assert!(read_only.writable(Path::new("m")).is_err());
        let more = with(Features { compat: 2, ..none }).unwrap();
        assert!(more.writable(Path::new("m")).is_ok());
    }

    #[test]
    fn counts_add_up_and_stop_at_their_bounds() {
        let entry = |live, tokens| SegmentEntry {
            counts: vec![CountEntry("lesson".into(), 1, live, tokens)],
            ..sample().segments[0].clone()
        };
        let sums = |segments| Manifest { segments, ..sample() }.counts();
        assert_eq!(sums(vec![entry(2, 9), entry(-2, -9)]), []);
        let damaged = sums(vec![entry(i64::MAX, 1), entry(1, i64::MIN), entry(0, -1)]);
        assert_eq!(damaged, [CountEntry("lesson".into(), 1, i64::MAX, i64::MIN)]);
    }

    #[test]
    fn names_carry_their_numbers() {
        let entry = &sample().segments[0];
        assert_eq!(born_of(&entry.file()), Some(12));
        assert_eq!(generation_of(&manifest_file(12)), Some(12));
        for odd in ["", "12.manifest", "x.seg", "0000000000000012.manifest.tmp"] {
            assert_eq!((born_of(odd), generation_of(odd)), (None, None));
        }
    }
}
