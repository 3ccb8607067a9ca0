//! The frame of a segment file: header, aligned sections, table of contents, footer.
//!
//! Every byte of a file is covered: header, table and footer by a checksum of their own, each
//! section by the one in its table entry, padding by being zero. Not here: what the sections
//! hold. Numbers are little-endian; FORMAT.md draws the layout to scale.

#![deny(clippy::indexing_slicing)]

use std::path::Path;

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::error::{Error, Result};

/// Built like PNG's: a high bit, a name, both line ends and a DOS end-of-file, so that a file
/// that went through a text-mode copy is recognised.
const MAGIC: [u8; 8] = [0x89, b'P', b'K', b'S', 0x0d, 0x0a, 0x1a, 0x0a];
/// The format this program writes, and the newest it reads.
pub const MAJOR: u16 = 1;
/// Additions that an older reader of the same major may ignore.
pub const MINOR: u16 = 0;
const PROBE: u32 = 0x0102_0304;
pub(crate) const HEADER: usize = 64;
pub(crate) const FOOTER: usize = 64;
pub(crate) const ENTRY: usize = 40;
/// Sections start on multiples of this: a cache line, and what rkyv's columns need.
pub(crate) const ALIGN: usize = 64;
/// Entry flag: a reader that does not know the section must refuse the file.
const CRITICAL: u16 = 1;

/// The sections of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Section {
    /// Columns of the rows.
    Rows = 1,
    /// 16 bytes of id per row, big-endian, so that bytes sort as ids do.
    Ids = 2,
    /// Text of the rows that own one, UTF-8.
    Text = 3,
    /// What of each record is neither column nor shape.
    Rest = 4,
    /// Kinds, shapes and other strings that rows name by number.
    Dictionary = 5,
    /// Bytes of the terms, sorted.
    Terms = 6,
    /// Columns of the terms.
    TermTable = 7,
    /// Posting lists.
    Postings = 8,
    /// Entries of the full posting blocks.
    Blocks = 9,
    /// Fingerprints for exact lookups.
    Keys = 10,
    /// Rows of this segment that have ended.
    Ends = 11,
    /// Rows of older segments that this one ends.
    Overlay = 12,
    /// What this segment adds to the live counts.
    Counts = 13,
    /// Vectors of the texts.
    Vectors = 14,
    /// Links between records; reserved.
    Links = 15,
}

impl Section {
    /// Every section that this program knows, in file order.
    pub const ALL: [Self; 15] = [
        Self::Rows,
        Self::Ids,
        Self::Text,
        Self::Rest,
        Self::Dictionary,
        Self::Terms,
        Self::TermTable,
        Self::Postings,
        Self::Blocks,
        Self::Keys,
        Self::Ends,
        Self::Overlay,
        Self::Counts,
        Self::Vectors,
        Self::Links,
    ];

    /// The name that messages use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Ids => "ids",
            Self::Text => "text",
            Self::Rest => "rest",
            Self::Dictionary => "dictionary",
            Self::Terms => "terms",
            Self::TermTable => "term table",
            Self::Postings => "postings",
            Self::Blocks => "blocks",
            Self::Keys => "keys",
            Self::Ends => "ends",
            Self::Overlay => "overlay",
            Self::Counts => "counts",
            Self::Vectors => "vectors",
            Self::Links => "links",
        }
    }

    /// Vectors and links only speed up or enrich; a reader without them still answers right.
    fn critical(self) -> bool {
        !matches!(self, Self::Vectors | Self::Links)
    }
}

/// Who a segment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The store it belongs to: a file copied into another store is refused.
    pub store: u128,
    /// Its own random name.
    pub segment: u128,
    /// The generation that brought it.
    pub born: u64,
}

/// Where finished bytes go: a file that is being written, or memory.
pub trait Sink {
    /// Appends all of `bytes`.
    ///
    /// # Errors
    /// Whatever the file says.
    fn put(&mut self, bytes: &[u8]) -> Result<()>;
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}

/// What a finished frame says about itself; the manifest repeats it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// Bytes of the file.
    pub len: u64,
    /// Checksum of the table of contents, which holds the checksums of all sections.
    pub toc: u64,
}

/// Writes a frame in one forward pass; only the section being written is ever in memory, and
/// not even that if it is put in pieces.
pub(crate) struct FrameWriter<'a> {
    sink: &'a mut dyn Sink,
    at: u64,
    toc: Vec<u8>,
    open: Option<(Section, u64, u64, Xxh3)>,
}

impl<'a> FrameWriter<'a> {
    pub(crate) fn start(sink: &'a mut dyn Sink, identity: Identity) -> Result<Self> {
        let mut header = Vec::with_capacity(HEADER);
        header.extend_from_slice(&MAGIC);
        header.extend_from_slice(&MAJOR.to_le_bytes());
        header.extend_from_slice(&MINOR.to_le_bytes());
        header.extend_from_slice(&PROBE.to_le_bytes());
        header.extend_from_slice(&identity.store.to_be_bytes());
        header.extend_from_slice(&identity.segment.to_be_bytes());
        header.extend_from_slice(&identity.born.to_le_bytes());
        let sum = xxh3_64(&header);
        header.extend_from_slice(&sum.to_le_bytes());
        sink.put(&header)?;
        Ok(Self { sink, at: HEADER as u64, toc: Vec::new(), open: None })
    }

    /// Starts a section of `rows` entries (its own unit: rows, terms, blocks ...).
    pub(crate) fn open(&mut self, section: Section, rows: u64) -> Result<()> {
        self.close()?;
        self.pad()?;
        self.open = Some((section, self.at, rows, Xxh3::new()));
        Ok(())
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        if let Some((.., hash)) = &mut self.open {
            hash.update(bytes);
        }
        self.at += bytes.len() as u64;
        self.sink.put(bytes)
    }

    fn pad(&mut self) -> Result<()> {
        let over = self.at as usize % ALIGN;
        if over > 0 {
            let zeros = [0u8; ALIGN];
            self.at += (ALIGN - over) as u64;
            self.sink.put(zeros.get(over..).unwrap_or_default())?;
        }
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        if let Some((section, start, rows, hash)) = self.open.take() {
            let len = self.at - start;
            // What holds no archive has no relative pointers that could not reach.
            if len > i32::MAX as u64 && section != Section::Vectors {
                return Err(Error::TooLarge { what: "a section", limit: i32::MAX as u64 });
            }
            let flags = if section.critical() { CRITICAL } else { 0 };
            self.toc.extend_from_slice(&(section as u32).to_le_bytes());
            self.toc.extend_from_slice(&1u16.to_le_bytes());
            self.toc.extend_from_slice(&flags.to_le_bytes());
            for word in [start, len, hash.digest(), rows] {
                self.toc.extend_from_slice(&word.to_le_bytes());
            }
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<Sealed> {
        self.close()?;
        self.pad()?;
        let toc_at = self.at;
        let toc_sum = xxh3_64(&self.toc);
        let toc = std::mem::take(&mut self.toc);
        self.put(&toc)?;
        let len = self.at + FOOTER as u64;
        let mut footer = Vec::with_capacity(FOOTER);
        footer.extend_from_slice(&toc_at.to_le_bytes());
        footer.extend_from_slice(&(toc.len() as u32).to_le_bytes());
        footer.extend_from_slice(&((toc.len() / ENTRY) as u32).to_le_bytes());
        footer.extend_from_slice(&toc_sum.to_le_bytes());
        footer.extend_from_slice(&len.to_le_bytes());
        footer.extend_from_slice(&[0; 16]);
        let sum = xxh3_64(&footer);
        footer.extend_from_slice(&sum.to_le_bytes());
        footer.extend(MAGIC.iter().rev());
        self.put(&footer)?;
        Ok(Sealed { len, toc: toc_sum })
    }
}

/// One entry of the table of contents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// None: a section that a newer writer added and that may be passed over.
    pub(crate) section: Option<Section>,
    pub(crate) start: usize,
    pub(crate) len: usize,
    pub(crate) sum: u64,
    pub(crate) rows: u64,
}

/// A frame that has been read: header, table and footer are right.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) identity: Identity,
    pub(crate) sealed: Sealed,
    pub(crate) entries: Vec<Entry>,
    toc_at: usize,
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk::<4>().map(|b| u32::from_le_bytes(*b))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk::<8>().map(|b| u64::from_le_bytes(*b))
}

fn u128_at(bytes: &[u8], at: usize) -> Option<u128> {
    bytes.get(at..)?.first_chunk::<16>().map(|b| u128::from_be_bytes(*b))
}

impl Frame {
    /// Reads header, footer and table of contents. Touches the first and last page.
    pub(crate) fn parse(path: &Path, file: &[u8]) -> Result<Self> {
        let bad = |section, what| Error::corrupt(path, section, what);
        let header = file.get(..HEADER).ok_or_else(|| bad("header", "the file is too short"))?;
        if header.get(..8) != Some(&MAGIC) {
            return Err(bad("header", "this is not a segment"));
        }
        let major = header.get(8..10).and_then(|b| b.first_chunk::<2>()).copied();
        let major = u16::from_le_bytes(major.unwrap_or_default());
        let summed = u64_at(header, 56);
        if header.get(..56).map(xxh3_64) != summed {
            return Err(bad("header", "checksum mismatch"));
        }
        if major != MAJOR {
            return Err(Error::Version {
                path: path.to_owned(),
                what: "the segment format",
                found: u64::from(major),
                known: u64::from(MAJOR),
            });
        }
        let identity = (|| {
            (u32_at(header, 12)? == PROBE).then_some(())?;
            Some(Identity {
                store: u128_at(header, 16)?,
                segment: u128_at(header, 32)?,
                born: u64_at(header, 48)?,
            })
        })()
        .ok_or_else(|| bad("header", "the byte order is not ours"))?;
        let (toc_at, count, sealed) = Self::footer(path, file)?;
        let toc = file
            .get(toc_at..file.len() - FOOTER)
            .ok_or_else(|| bad("footer", "the table of contents lies outside the file"))?;
        if xxh3_64(toc) != sealed.toc || toc.len() != count * ENTRY {
            return Err(bad("toc", "checksum mismatch"));
        }
        let mut entries = Vec::with_capacity(count);
        for raw in toc.chunks_exact(ENTRY) {
            entries.push(Self::entry(path, raw, toc_at)?);
        }
        Ok(Self { identity, sealed, entries, toc_at })
    }

    fn footer(path: &Path, file: &[u8]) -> Result<(usize, usize, Sealed)> {
        let bad = |what| Error::corrupt(path, "footer", what);
        let footer = file
            .len()
            .checked_sub(FOOTER)
            .filter(|at| *at >= HEADER)
            .and_then(|at| file.get(at..))
            .ok_or_else(|| bad("the file is too short"))?;
        if footer.get(56..).is_none_or(|tail| !tail.iter().eq(MAGIC.iter().rev())) {
            return Err(bad("the file has no end"));
        }
        if footer.get(..48).map(xxh3_64) != u64_at(footer, 48) {
            return Err(bad("checksum mismatch"));
        }
        (|| {
            let toc_at = usize::try_from(u64_at(footer, 0)?).ok()?;
            let toc_len = u32_at(footer, 8)? as usize;
            let count = u32_at(footer, 12)? as usize;
            let sealed = Sealed { toc: u64_at(footer, 16)?, len: u64_at(footer, 24)? };
            let whole = toc_at.checked_add(toc_len)?.checked_add(FOOTER)?;
            (whole == file.len() && sealed.len == whole as u64).then_some((toc_at, count, sealed))
        })()
        .ok_or_else(|| bad("the file is not as long as it says"))
    }

    fn entry(path: &Path, raw: &[u8], toc_at: usize) -> Result<Entry> {
        let bad = |what| Error::corrupt(path, "toc", what);
        let code = u32_at(raw, 0).ok_or_else(|| bad("a short entry"))?;
        let versions = u32_at(raw, 4).ok_or_else(|| bad("a short entry"))?;
        let critical = (versions >> 16) as u16 & CRITICAL != 0;
        let known = Section::ALL.into_iter().find(|s| *s as u32 == code);
        let section = known.filter(|_| versions as u16 == 1);
        if section.is_none() && critical {
            return Err(Error::Version {
                path: path.to_owned(),
                what: "a section",
                found: u64::from(code),
                known: Section::Links as u64,
            });
        }
        (|| {
            let start = usize::try_from(u64_at(raw, 8)?).ok()?;
            let len = usize::try_from(u64_at(raw, 16)?).ok()?;
            let inside = start.checked_add(len)? <= toc_at && start >= HEADER;
            (inside && start.is_multiple_of(ALIGN)).then_some(())?;
            Some(Entry { section, start, len, sum: u64_at(raw, 24)?, rows: u64_at(raw, 32)? })
        })()
        .ok_or_else(|| bad("a section lies outside the file"))
    }

    pub(crate) fn find(&self, section: Section) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.section == Some(section))
    }

    /// Checks every section's checksum and that all padding is zero. Reads the whole file.
    pub(crate) fn check(&self, path: &Path, file: &[u8]) -> Result<()> {
        let mut order: Vec<&Entry> = self.entries.iter().collect();
        order.sort_by_key(|entry| entry.start);
        let mut at = HEADER;
        for entry in order {
            let name = entry.section.map_or("unknown", Section::name);
            let pad = file.get(at..entry.start);
            if pad.is_none_or(|pad| pad.len() >= ALIGN || pad.iter().any(|byte| *byte != 0)) {
                return Err(Error::corrupt(path, name, "the padding before it is not zero"));
            }
            at = entry.start + entry.len;
            if file.get(entry.start..at).map(xxh3_64) != Some(entry.sum) {
                return Err(Error::corrupt(path, name, "checksum mismatch"));
            }
        }
        let pad = file.get(at..self.toc_at);
        if pad.is_none_or(|pad| pad.len() >= ALIGN || pad.iter().any(|byte| *byte != 0)) {
            return Err(Error::corrupt(path, "toc", "the padding before it is not zero"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_sections() -> Vec<u8> {
        let mut bytes = Vec::new();
        let identity = Identity { store: 1, segment: 2, born: 3 };
        let mut frame = FrameWriter::start(&mut bytes, identity).unwrap();
        frame.open(Section::Rows, 1).unwrap();
        frame.put(b"rows").unwrap();
        frame.open(Section::Links, 1).unwrap();
        frame.put(b"links of a newer writer").unwrap();
        frame.finish().unwrap();
        bytes
    }

    /// Changes the second entry of the table of contents and makes its sums right again.
    fn with_second_entry(change: impl Fn(&mut [u8])) -> Vec<u8> {
        let mut bytes = two_sections();
        let footer = bytes.len() - FOOTER;
        change(&mut bytes[footer - ENTRY..footer]);
        let toc = xxh3_64(&bytes[footer - 2 * ENTRY..footer]).to_le_bytes();
        bytes[footer + 16..footer + 24].copy_from_slice(&toc);
        let sum = xxh3_64(&bytes[footer..footer + 48]).to_le_bytes();
        bytes[footer + 48..footer + 56].copy_from_slice(&sum);
        bytes
    }

    #[test]
    fn a_section_of_a_newer_writer_is_passed_over_and_still_checked() {
        let path = Path::new("f");
        // Another number, or another version of a number that is known.
        for (at, newer) in [(0, 99), (4, 2)] {
            let mut bytes = with_second_entry(|entry| entry[at] = newer);
            let frame = Frame::parse(path, &bytes).unwrap();
            assert!(frame.find(Section::Rows).is_some() && frame.find(Section::Links).is_none());
            frame.check(path, &bytes).unwrap();
            // The second section starts at 128: header, then one padded section.
            bytes[128] ^= 1;
            assert!(matches!(
                Frame::parse(path, &bytes).unwrap().check(path, &bytes),
                Err(Error::Corrupt { section: "unknown", .. })
            ));
        }
    }

    #[test]
    fn a_newer_section_that_matters_refuses_the_file() {
        let bytes = with_second_entry(|entry| {
            entry[0] = 99;
            entry[6] = CRITICAL as u8;
        });
        assert!(matches!(
            Frame::parse(Path::new("f"), &bytes),
            Err(Error::Version { found: 99, known: 15, .. })
        ));
    }
}
