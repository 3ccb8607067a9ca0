//! Reads one segment: views over its bytes, lookups by id, key and term.
//!
//! Opening checks header, footer, table of contents and the layout of every table, and of a
//! file that was read into memory (all small ones) every checksum. What a mapped file's sections
//! hold is checked as it is used: no access can panic or read outside, a value that no writer
//! made is an error or reads as absent. [`crate::check`] verifies all of it.
//!
//! Not here: which row of a record is the visible one; a segment knows only its own rows.

#![deny(clippy::indexing_slicing)]

use std::path::{Path, PathBuf};

use crate::build::{Ended, fingerprint};
use crate::bytes::Bytes;
use crate::columns::{ColumnPlace, ColumnView, NULL, columns_of};
use crate::error::{Error, Result};
use crate::frame::{Frame, Identity, Sealed, Section};
use crate::postings::{Cursor, Damaged};
use crate::{Flags, Reason, tag};

/// An open segment.
#[derive(Debug)]
pub struct Segment {
    path: PathBuf,
    bytes: Bytes,
    frame: Frame,
    rows: u32,
    columns: Vec<ColumnPlace>,
    term_columns: Vec<ColumnPlace>,
    keys: Vec<ColumnPlace>,
    ends: Vec<ColumnPlace>,
    overlay: Vec<ColumnPlace>,
    counts: Vec<ColumnPlace>,
    dictionary: Vec<(u32, u32)>,
}

/// What a segment adds to the live counts of its store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The kind of record.
    pub kind: String,
    /// The corpus it is searched in; 0 for records without text.
    pub corpus: u8,
    /// Change of the number of live records.
    pub live: i64,
    /// Change of the number of tokens in live records.
    pub tokens: i64,
}

impl Count {
    /// Whether it counts this kind in this corpus.
    pub(crate) fn is_of(&self, kind: &str, corpus: u8) -> bool {
        self.kind == kind && self.corpus == corpus
    }

    pub(crate) fn add(&mut self, live: i64, tokens: i64) {
        self.live = self.live.saturating_add(live);
        self.tokens = self.tokens.saturating_add(tokens);
    }
}

fn view<'a>(file: &'a [u8], places: &[ColumnPlace], tag: u16) -> Option<ColumnView<'a>> {
    places.iter().find(|place| place.tag == tag).map(|place| ColumnView::new(file, place))
}

/// A row in the order of ids; one that no segment has if the order is damaged.
fn row_in(order: Option<ColumnView<'_>>, index: u32) -> u32 {
    u32::try_from(order.map_or(NULL, |order| order.get(index))).unwrap_or(u32::MAX)
}

impl Segment {
    /// Opens a segment from its bytes. `path` is for messages.
    ///
    /// # Errors
    /// [`Error::Corrupt`] or [`Error::Version`], naming file and section.
    pub fn parse(path: &Path, bytes: Bytes) -> Result<Self> {
        let frame = Frame::parse(path, &bytes)?;
        if matches!(bytes, Bytes::Owned(_)) {
            frame.check(path, &bytes)?;
        }
        let entry = |section: Section| {
            frame
                .find(section)
                .copied()
                .ok_or_else(|| Error::corrupt(path, section.name(), "the section is missing"))
        };
        let table = |section: Section, rows: Option<u16>| {
            let entry = entry(section)?;
            let places = columns_of(path, section.name(), &bytes, entry.start, entry.len)?;
            if let Some(tag) = rows {
                let counted = places.iter().find(|place| place.tag == tag);
                if counted.map(|place| u64::from(place.count)) != Some(entry.rows) {
                    let what = "it has not as many rows as it says";
                    return Err(Error::corrupt(path, section.name(), what));
                }
            }
            Ok((places, entry.rows))
        };
        let (columns, rows) = table(Section::Rows, Some(tag::RECORDED))?;
        let rows = u32::try_from(rows)
            .map_err(|_| Error::corrupt(path, "rows", "more rows than a segment can have"))?;
        let short = |place: &ColumnPlace| match place.tag {
            tag::TEXT_AT | tag::REST_AT => place.count != rows.saturating_add(1),
            _ => place.count != rows,
        };
        if columns.iter().any(short) {
            return Err(Error::corrupt(path, "rows", "a column has not as many rows as the rest"));
        }
        for needed in tag::RECORDED..=tag::ID_ORDER {
            if !columns.iter().any(|place| place.tag == needed) {
                return Err(Error::corrupt(path, "rows", "a column is missing"));
            }
        }
        if entry(Section::Ids)?.len as u64 != u64::from(rows) * 16 {
            return Err(Error::corrupt(path, "ids", "it has not as many rows as it says"));
        }
        let (term_columns, _) = table(Section::TermTable, Some(tag::TERM_ROWS))?;
        let (keys, _) = table(Section::Keys, Some(tag::KEY_PRINT))?;
        let (ends, _) = table(Section::Ends, Some(tag::END_ROW))?;
        let (overlay, _) = table(Section::Overlay, Some(tag::END_ROW))?;
        let (counts, _) = table(Section::Counts, Some(tag::COUNT_KIND))?;
        for section in [Section::Text, Section::Rest, Section::Terms] {
            entry(section)?;
        }
        for section in [Section::Postings, Section::Blocks] {
            entry(section)?;
        }
        let strings = entry(Section::Dictionary)?;
        let dictionary = dictionary(path, &bytes, strings.start, strings.len, strings.rows)?;
        Ok(Self {
            path: path.to_owned(),
            rows,
            columns,
            term_columns,
            keys,
            ends,
            overlay,
            counts,
            dictionary,
            frame,
            bytes,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Who it is.
    pub fn identity(&self) -> Identity {
        self.frame.identity
    }

    /// Its length and checksum, as the manifest should name them.
    pub fn sealed(&self) -> Sealed {
        self.frame.sealed
    }

    /// Number of rows.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// All of its bytes.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    pub(crate) fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Names this file in an error about one of its sections.
    pub fn corrupt(&self, section: &'static str, what: &'static str) -> Error {
        Error::corrupt(&self.path, section, what)
    }

    pub(crate) fn section(&self, section: Section) -> &[u8] {
        self.frame
            .find(section)
            .and_then(|entry| self.bytes.get(entry.start..entry.start + entry.len))
            .unwrap_or_default()
    }

    /// A column of the rows; none if no row has a value for it.
    pub fn column(&self, tag: u16) -> Option<ColumnView<'_>> {
        view(&self.bytes, &self.columns, tag)
    }

    /// Tags of the declared columns that this segment has.
    pub fn declared(&self) -> impl Iterator<Item = u16> {
        self.columns.iter().map(|place| place.tag).filter(|tag| *tag >= tag::DECLARED)
    }

    fn value(&self, tag: u16, row: u32) -> i64 {
        self.column(tag).map_or(NULL, |column| column.get(row))
    }

    /// The record's key.
    pub fn id(&self, row: u32) -> Option<u128> {
        let at = (row as usize).checked_mul(16)?;
        self.section(Section::Ids).get(at..)?.first_chunk::<16>().map(|b| u128::from_be_bytes(*b))
    }

    /// When the pack learned the row, microseconds.
    pub fn recorded(&self, row: u32) -> i64 {
        self.value(tag::RECORDED, row)
    }

    /// The row's flags.
    pub fn flags(&self, row: u32) -> Flags {
        match self.value(tag::FLAGS, row) {
            NULL => Flags::NONE,
            bits => Flags::from_bits(bits as u8),
        }
    }

    /// The row in this segment whose text the row shares, if there is one; itself if it owns it.
    pub fn owner(&self, row: u32) -> Option<u32> {
        if self.flags(row).contains(Flags::OWNER) {
            return Some(row);
        }
        match self.value(tag::OWNER, row) {
            NULL => None,
            owner => u32::try_from(owner).ok().filter(|owner| *owner < self.rows),
        }
    }

    fn string(&self, code: i64, section: &'static str) -> Result<&[u8]> {
        usize::try_from(code)
            .ok()
            .and_then(|code| self.dictionary.get(code))
            .and_then(|(at, len)| {
                let at = *at as usize;
                self.section(Section::Dictionary).get(at..at.checked_add(*len as usize)?)
            })
            .ok_or_else(|| self.corrupt(section, "a number that the dictionary does not have"))
    }

    /// The dictionary number of a string, to compare with a column instead of strings.
    pub fn number_of(&self, string: &[u8]) -> Option<u32> {
        (0..self.dictionary.len()).find_map(|code| {
            (self.string(code as i64, "dictionary").ok()? == string).then_some(code as u32)
        })
    }

    /// The row's kind.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub fn kind(&self, row: u32) -> Result<&str> {
        std::str::from_utf8(self.string(self.value(tag::KIND, row), "rows")?)
            .map_err(|_| self.corrupt("dictionary", "a kind is not UTF-8"))
    }

    /// The row's shape; opaque here.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub fn shape(&self, row: u32) -> Result<&[u8]> {
        self.string(self.value(tag::SHAPE, row), "rows")
    }

    fn piece(&self, section: Section, tag: u16, row: u32) -> Result<&[u8]> {
        let column = self.column(tag);
        let bound = |row| column.map(|c| c.get(row)).and_then(|at| usize::try_from(at).ok());
        bound(row)
            .zip(row.checked_add(1).and_then(bound))
            .and_then(|(start, end)| self.section(section).get(start..end))
            .ok_or_else(|| self.corrupt(section.name(), "a row lies outside it"))
    }

    /// What the row's shape leaves open; opaque here.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub fn rest(&self, row: u32) -> Result<&[u8]> {
        self.piece(Section::Rest, tag::REST_AT, row)
    }

    /// The text that the row itself owns; empty for any other row.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub fn text(&self, row: u32) -> Result<&str> {
        std::str::from_utf8(self.piece(Section::Text, tag::TEXT_AT, row)?)
            .map_err(|_| self.corrupt("text", "a text is not UTF-8"))
    }

    /// The rows of a record, oldest first. One binary search.
    pub fn rows_of(&self, id: u128) -> impl Iterator<Item = u32> {
        let order = self.column(tag::ID_ORDER);
        let low = self.first_in_order(order, id, 0);
        (low..self.rows)
            .map(move |index| row_in(order, index))
            .take_while(move |row| self.id(*row) == Some(id))
    }

    /// The row of the same record that stands before a row. One binary search, however many rows
    /// the record has.
    pub fn row_before(&self, row: u32) -> Option<u32> {
        self.last_before(self.id(row)?, row)
    }

    /// The last row of a record. One binary search, however many rows the record has.
    pub fn last_row_of(&self, id: u128) -> Option<u32> {
        self.last_before(id, u32::MAX)
    }

    fn last_before(&self, id: u128, row: u32) -> Option<u32> {
        let order = self.column(tag::ID_ORDER);
        let found = row_in(order, self.first_in_order(order, id, row).checked_sub(1)?);
        // In a damaged order the search may land anywhere; callers rely on getting nearer.
        (found < row && self.id(found) == Some(id)).then_some(found)
    }

    /// The first place in the order of (id, row) that is not below this one.
    fn first_in_order(&self, order: Option<ColumnView<'_>>, id: u128, row: u32) -> u32 {
        let (mut low, mut high) = (0, self.rows);
        while low < high {
            let middle = low + (high - low) / 2;
            let found = row_in(order, middle);
            if self.id(found).is_some_and(|there| (there, found) < (id, row)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Rows that bear a key, and perhaps a few that do not: compare the records.
    pub fn rows_with_key(&self, key: u64) -> impl Iterator<Item = u32> {
        let print = i64::from(fingerprint(key));
        let prints = view(&self.bytes, &self.keys, tag::KEY_PRINT);
        let rows = view(&self.bytes, &self.keys, tag::KEY_ROW);
        let count = prints.map_or(0, |prints| prints.len());
        let guess = (u64::from(fingerprint(key)) * u64::from(count)) >> 32;
        let first = prints.map_or(0, |prints| prints.lower_bound_near(print, guess as u32));
        (first..count)
            .take_while(move |index| prints.is_some_and(|prints| prints.get(*index) == print))
            .filter_map(move |index| u32::try_from(rows?.get(index)).ok())
            .filter(|row| *row < self.rows)
    }

    /// (fingerprint, row) of every key, for merging.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (u32, u32)> {
        let prints = view(&self.bytes, &self.keys, tag::KEY_PRINT);
        let rows = view(&self.bytes, &self.keys, tag::KEY_ROW);
        (0..prints.map_or(0, |prints| prints.len()))
            .filter_map(move |i| Some((prints?.get(i) as u32, rows?.get(i) as u32)))
    }

    /// Rows of this segment that had ended when it was written, by row: row, time, reason.
    pub fn ends(&self) -> impl Iterator<Item = (u32, i64, Reason)> {
        let [rows, at, reason] = [tag::END_ROW, tag::END_AT, tag::END_REASON]
            .map(|tag| view(&self.bytes, &self.ends, tag));
        (0..rows.map_or(0, |rows| rows.len())).filter_map(move |i| {
            let row = u32::try_from(rows?.get(i)).ok()?;
            Some((row, at?.get(i), Reason::from_code(reason?.get(i))?))
        })
    }

    /// When a row of this segment had ended by the time it was written, and why.
    pub fn end_of(&self, row: u32) -> Option<(i64, Reason)> {
        let rows = view(&self.bytes, &self.ends, tag::END_ROW)?;
        let index = rows.lower_bound(i64::from(row));
        if index >= rows.len() || rows.get(index) != i64::from(row) {
            return None;
        }
        let value = |tag| Some(view(&self.bytes, &self.ends, tag)?.get(index));
        Some((value(tag::END_AT)?, Reason::from_code(value(tag::END_REASON)?)?))
    }

    /// The older segments of which this one ends rows, each with the range of its entries in the
    /// overlay. Two binary searches each, however many entries there are.
    pub fn overlay_targets(&self) -> Vec<(u128, std::ops::Range<u32>)> {
        let [segment, high, low] = [tag::END_SEGMENT, tag::TARGET_HIGH, tag::TARGET_LOW]
            .map(|tag| view(&self.bytes, &self.overlay, tag));
        let (Some(segment), Some(high), Some(low)) = (segment, high, low) else {
            return Vec::new();
        };
        let half = |column: ColumnView<'_>, target: u32| {
            let (high, low) = (column.get(2 * target) as u64, column.get(2 * target + 1) as u64);
            u128::from(high << 32 | low)
        };
        let targets = 0..high.len().min(low.len()) / 2;
        let range = |target: u32| {
            let bound = |target: u32| segment.lower_bound(i64::from(target));
            bound(target)..bound(target + 1)
        };
        targets.map(|at| (half(high, at) << 64 | half(low, at), range(at))).collect()
    }

    /// Entries of one target in the overlay ([`Segment::overlay_targets`]), by row: row, time,
    /// reason.
    pub fn overlay_in(
        &self,
        range: std::ops::Range<u32>,
    ) -> impl Iterator<Item = (u32, i64, Reason)> {
        let [rows, at, reason] = [tag::END_ROW, tag::END_AT, tag::END_REASON]
            .map(|tag| view(&self.bytes, &self.overlay, tag));
        range.filter_map(move |i| {
            let row = u32::try_from(rows?.get(i)).ok()?;
            Some((row, at?.get(i), Reason::from_code(reason?.get(i))?))
        })
    }

    /// The rows of [`Segment::overlay_in`] alone.
    pub fn overlay_rows(&self, range: std::ops::Range<u32>) -> impl Iterator<Item = u32> {
        let rows = view(&self.bytes, &self.overlay, tag::END_ROW);
        range.filter_map(move |i| u32::try_from(rows?.get(i)).ok())
    }

    /// How this segment ends a row of a target, whose range in the overlay is given. One binary
    /// search.
    pub fn overlay_end(&self, range: std::ops::Range<u32>, row: u32) -> Option<(i64, Reason)> {
        let rows = view(&self.bytes, &self.overlay, tag::END_ROW)?;
        let at = rows.lower_bound_in(i64::from(row), range.start, range.end);
        let (found, at, reason) =
            self.overlay_in(at..range.end.min(at.saturating_add(1))).next()?;
        (found == row).then_some((at, reason))
    }

    /// Rows of older segments that this one ends.
    pub fn overlay(&self) -> impl Iterator<Item = Ended> {
        let [segment, rows, at, reason, high, low] = [
            tag::END_SEGMENT,
            tag::END_ROW,
            tag::END_AT,
            tag::END_REASON,
            tag::TARGET_HIGH,
            tag::TARGET_LOW,
        ]
        .map(|tag| view(&self.bytes, &self.overlay, tag));
        let half = |column: Option<ColumnView<'_>>, target: u32| -> Option<u128> {
            let column = column?;
            let first = target.checked_mul(2)?;
            if first.checked_add(1)? >= column.len() {
                return None;
            }
            let (high, low) = (column.get(first) as u64, column.get(first + 1) as u64);
            Some(u128::from(high << 32 | low))
        };
        (0..rows.map_or(0, |rows| rows.len())).filter_map(move |i| {
            let target = u32::try_from(segment?.get(i)).ok()?;
            Some(Ended {
                segment: half(high, target)? << 64 | half(low, target)?,
                row: u32::try_from(rows?.get(i)).ok()?,
                at: at?.get(i),
                reason: Reason::from_code(reason?.get(i))?,
            })
        })
    }

    /// What this segment adds to the live counts.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub fn counts(&self) -> Result<Vec<Count>> {
        let [kind, corpus, live, tokens] =
            [tag::COUNT_KIND, tag::COUNT_CORPUS, tag::COUNT_LIVE, tag::COUNT_TOKENS]
                .map(|tag| view(&self.bytes, &self.counts, tag));
        let (Some(kind), Some(corpus), Some(live), Some(tokens)) = (kind, corpus, live, tokens)
        else {
            return Err(self.corrupt("counts", "a column is missing"));
        };
        (0..kind.len())
            .map(|i| {
                let name = std::str::from_utf8(self.string(kind.get(i), "counts")?)
                    .map_err(|_| self.corrupt("dictionary", "a kind is not UTF-8"))?;
                Ok(Count {
                    kind: name.to_owned(),
                    corpus: corpus.get(i) as u8,
                    live: live.get(i),
                    tokens: tokens.get(i),
                })
            })
            .collect()
    }

    /// The terms, for lookups and scans.
    pub fn terms(&self) -> Terms<'_> {
        let [at, rows, live, place] =
            [tag::TERM_AT, tag::TERM_ROWS, tag::TERM_LIVE, tag::TERM_PLACE]
                .map(|tag| view(&self.bytes, &self.term_columns, tag));
        Terms {
            segment: self,
            bytes: self.section(Section::Terms),
            postings: self.section(Section::Postings),
            blocks: self.section(Section::Blocks),
            count: rows.map_or(0, |rows| rows.len()),
            at,
            rows,
            live,
            place,
        }
    }
}

fn dictionary(
    path: &Path,
    file: &[u8],
    start: usize,
    len: usize,
    count: u64,
) -> Result<Vec<(u32, u32)>> {
    let bad = || Error::corrupt(path, "dictionary", "a string lies outside it");
    let bytes = file.get(start..start + len).ok_or_else(bad)?;
    if count > len as u64 {
        return Err(bad());
    }
    let mut places = Vec::with_capacity(count as usize);
    let mut at = 0usize;
    for _ in 0..count {
        let length = crate::postings::read_varint(bytes, &mut at).ok_or_else(bad)?;
        let length = u32::try_from(length).map_err(|_| bad())?;
        let end = at.checked_add(length as usize).filter(|end| *end <= len).ok_or_else(bad)?;
        places.push((at as u32, length));
        at = end;
    }
    if at == len { Ok(places) } else { Err(bad()) }
}

/// The sorted terms of a segment and their lists.
///
/// A term is one corpus byte and the term itself; all terms of a corpus stand together, and
/// their bytes lie end to end, so that a scan is one pass over contiguous memory.
#[derive(Clone, Copy)]
pub struct Terms<'a> {
    segment: &'a Segment,
    bytes: &'a [u8],
    postings: &'a [u8],
    blocks: &'a [u8],
    count: u32,
    at: Option<ColumnView<'a>>,
    rows: Option<ColumnView<'a>>,
    live: Option<ColumnView<'a>>,
    place: Option<ColumnView<'a>>,
}

impl<'a> Terms<'a> {
    /// Number of terms.
    pub fn len(&self) -> u32 {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The term's bytes, corpus byte first; empty for a number that is none.
    pub fn term(&self, number: u32) -> &'a [u8] {
        let bound = |number| usize::try_from(self.at?.get(number)).ok();
        bound(number)
            .zip(number.checked_add(1).and_then(bound))
            .and_then(|(start, end)| self.bytes.get(start..end))
            .unwrap_or_default()
    }

    /// The first term that is not below `key`.
    pub fn lower_bound(&self, key: &[u8]) -> u32 {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.term(middle) < key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The number of exactly this term.
    pub fn find(&self, key: &[u8]) -> Option<u32> {
        let number = self.lower_bound(key);
        (number < self.count && self.term(number) == key).then_some(number)
    }

    /// The terms of one corpus.
    pub fn corpus(&self, corpus: u8) -> std::ops::Range<u32> {
        let end = match corpus.checked_add(1) {
            Some(next) => self.lower_bound(&[next]),
            None => self.count,
        };
        self.lower_bound(&[corpus])..end
    }

    /// The terms that start with `key` (corpus byte first).
    pub fn with_prefix(&self, key: &[u8]) -> std::ops::Range<u32> {
        let start = self.lower_bound(key);
        let mut low = start;
        let mut high = self.count;
        while low < high {
            let middle = low + (high - low) / 2;
            if self.term(middle).starts_with(key) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        start..low
    }

    /// The bytes of a run of terms, end to end, and where they start; with [`Terms::at_offset`]
    /// a byte found in them is taken back to its term.
    pub fn run(&self, range: std::ops::Range<u32>) -> (&'a [u8], usize) {
        let bound = |number| usize::try_from(self.at?.get(number)).ok();
        bound(range.start)
            .zip(bound(range.end))
            .and_then(|(start, end)| Some((self.bytes.get(start..end)?, start)))
            .unwrap_or_default()
    }

    /// The term that the byte at `offset` belongs to, and where that term starts and ends.
    pub fn at_offset(&self, offset: usize) -> Option<(u32, usize, usize)> {
        let at = self.at?;
        if offset >= self.bytes.len() {
            return None;
        }
        let number = at.lower_bound(offset as i64 + 1).checked_sub(1)?;
        let start = usize::try_from(at.get(number)).ok()?;
        let end = usize::try_from(at.get(number.checked_add(1)?)).ok()?;
        (end <= self.bytes.len()).then_some((number, start, end))
    }

    /// Rows of this segment that hold the term.
    pub fn rows(&self, number: u32) -> u32 {
        self.rows.map_or(0, |rows| u32::try_from(rows.get(number)).unwrap_or(0))
    }

    /// What this segment adds to the term's live document frequency.
    pub fn live(&self, number: u32) -> i64 {
        self.live.map(|live| live.get(number)).filter(|live| *live != NULL).unwrap_or(0)
    }

    /// A cursor over the rows that hold the term.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub fn cursor(&self, number: u32) -> Result<Cursor<'a>> {
        self.try_cursor(number)
            .map_err(|Damaged| self.segment.corrupt("postings", "a list that no writer made"))
    }

    fn try_cursor(&self, number: u32) -> std::result::Result<Cursor<'a>, Damaged> {
        let bound = self.segment.rows;
        let count = self.rows(number);
        let place = self.place.map_or(NULL, |place| place.get(number));
        match count {
            0 => Cursor::open(&[], &[], 0, 0, bound),
            1 if place >= 0 => Cursor::single(u32::try_from(place).map_err(|_| Damaged)?, 1, bound),
            1 => {
                let at = place.checked_add(1).and_then(i64::checked_neg).ok_or(Damaged)?;
                let mut at = usize::try_from(at).map_err(|_| Damaged)?;
                let mut next = || {
                    let value = crate::postings::read_varint(self.postings, &mut at);
                    value.and_then(|value| u32::try_from(value).ok()).ok_or(Damaged)
                };
                Cursor::single(next()?, next()?, bound)
            }
            _ => {
                let place = u64::try_from(place).map_err(|_| Damaged)?;
                Cursor::open(self.postings, self.blocks, place, count, bound)
            }
        }
    }
}
