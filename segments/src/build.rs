//! Builds one segment from rows: columns, dictionary, terms, postings, keys, ends, counts.
//!
//! Everything is gathered in memory and written in one forward pass. Not here: which row ends
//! which (the store resolves that under its lock), tokenizing, JSON, checksums of the manifest.
//!
//! Invariants: rows are numbered in the order they are pushed; a row that brings its own text is
//! counted once into its postings, and into the live counts if it is [`Flags::COUNTED`]. A row
//! without a text of its own counts nothing: the store says what changed by [`Builder::recount`].

use xxhash_rust::xxh3::xxh3_64;

use crate::columns::{NULL, TableBuilder};
use crate::error::Result;
use crate::frame::{FrameWriter, Identity, Sealed, Section, Sink};
use crate::postings::{PostingsWriter, len_code};
use crate::vectors::{self, Codes, Space};
use crate::{Flags, Reason, tag};

/// One version of a record, as the store hands it over.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// The record's key.
    pub id: u128,
    /// When the pack learned it, microseconds.
    pub recorded: i64,
    /// Start of its validity, microseconds; [`NULL`]: since ever.
    pub valid_from: i64,
    /// End of its validity, exclusive; [`NULL`]: open.
    pub valid_to: i64,
    /// Its kind.
    pub kind: &'a str,
    /// How its JSON is put together again; opaque here.
    pub shape: &'a [u8],
    /// What its shape leaves open; opaque here.
    pub rest: &'a [u8],
    /// First version, tombstone, counted. `OWNER` and `SHARED` are the builder's to set.
    pub flags: Flags,
    /// Declared integer columns: tag and value.
    pub columns: &'a [(u16, i64)],
    /// Hashes by which [`crate::Segment::rows_with_key`] finds the row.
    pub keys: &'a [u64],
    /// Its own text, or none: then it shares the text of the version before it, if that has one.
    pub text: Option<Text<'a>>,
}

/// A row's text and what it is found by.
#[derive(Clone, Copy, Debug)]
pub struct Text<'a> {
    /// Which corpus it is searched in: statistics of different corpora never mix.
    pub corpus: u8,
    /// The text.
    pub text: &'a str,
    /// Its terms in order, repeats included: the number of them is its length.
    pub terms: &'a [&'a str],
    /// Exact strings that find it too, without counting as text.
    pub keywords: &'a [&'a str],
    /// Its codes, at most one of a space ([`Space::code`]).
    pub codes: &'a [(Space, &'a [u8])],
}

/// The corpus byte under which keywords stand in the dictionary.
pub const KEYWORDS: u8 = 0xff;

#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) live: i64,
    pub(crate) tokens: i64,
}

/// The columns of a segment in the making; merging fills it too.
#[derive(Default)]
pub(crate) struct Gathered {
    pub(crate) ids: Vec<u128>,
    pub(crate) recorded: Vec<i64>,
    pub(crate) valid_from: Vec<i64>,
    pub(crate) valid_to: Vec<i64>,
    pub(crate) kinds: Vec<i64>,
    pub(crate) shapes: Vec<i64>,
    pub(crate) flags: Vec<i64>,
    pub(crate) lengths: Vec<i64>,
    pub(crate) owners: Vec<i64>,
    pub(crate) text_at: Vec<i64>,
    pub(crate) rest_at: Vec<i64>,
    pub(crate) declared: Vec<(u16, Vec<i64>)>,
    pub(crate) dictionary: Strings,
    pub(crate) keys: Vec<(u32, u32)>,
    pub(crate) ends: Vec<(u32, i64, Reason)>,
    pub(crate) overlay: Vec<Ended>,
    pub(crate) counts: Vec<(i64, u8, Counts)>,
}

/// A row of an older segment that a segment ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The segment that holds the row.
    pub segment: u128,
    /// The row.
    pub row: u32,
    /// When it ended, microseconds.
    pub at: i64,
    /// What followed it.
    pub reason: Reason,
}

/// Strings that rows name by number; each once.
///
/// They lie end to end, and an open-addressed table leads to them: a batch of claims looks up
/// millions of terms here, and one allocation per string would cost more than the looking.
#[derive(Default)]
pub(crate) struct Strings {
    bytes: Vec<u8>,
    /// Where each string ends.
    ends: Vec<usize>,
    /// Half of the hash, and the number plus one; zero where there is none. A power of two long,
    /// at most half full.
    table: Vec<(u32, u32)>,
}

impl Strings {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The string of a number; empty for a number that is none.
    pub(crate) fn get(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).and_then(|before| self.ends.get(before));
        let end = self.ends.get(number);
        let range = start.copied().unwrap_or(0)..end.copied().unwrap_or(0);
        self.bytes.get(range).unwrap_or_default()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|number| self.get(number))
    }

    pub(crate) fn number(&mut self, string: &[u8]) -> i64 {
        if self.table.len() <= 2 * self.len() {
            self.grow();
        }
        let hash = xxh3_64(string);
        let mut slot = self.first_slot(hash as u32);
        loop {
            match self.table[slot] {
                (_, 0) => break,
                (found, number) if found == hash as u32 => {
                    let number = number as usize - 1;
                    if self.get(number) == string {
                        return number as i64;
                    }
                }
                _ => {}
            }
            slot = (slot + 1) & (self.table.len() - 1);
        }
        self.bytes.extend_from_slice(string);
        self.ends.push(self.bytes.len());
        self.table[slot] = (hash as u32, self.len() as u32);
        self.len() as i64 - 1
    }

    fn first_slot(&self, hash: u32) -> usize {
        hash as usize & (self.table.len() - 1)
    }

    fn grow(&mut self) {
        let old = std::mem::take(&mut self.table);
        self.table = vec![(0, 0); (4 * self.len()).next_power_of_two().max(64)];
        for (hash, number) in old.into_iter().filter(|(_, number)| *number != 0) {
            let mut slot = self.first_slot(hash);
            while self.table[slot].1 != 0 {
                slot = (slot + 1) & (self.table.len() - 1);
            }
            self.table[slot] = (hash, number);
        }
    }

    /// The numbers in the order of their strings.
    fn sorted(&self) -> Vec<u32> {
        // The first eight bytes decide nearly always, and compare in one instruction.
        let head = |string: &[u8]| {
            let mut head = [0; 8];
            let length = string.len().min(8);
            head[..length].copy_from_slice(&string[..length]);
            u64::from_be_bytes(head)
        };
        let mut order: Vec<(u64, u32)> =
            self.iter().zip(0..).map(|(string, number)| (head(string), number)).collect();
        order.sort_unstable_by(|a, b| {
            let whole = || self.get(a.1 as usize).cmp(self.get(b.1 as usize));
            a.0.cmp(&b.0).then_with(whole)
        });
        order.into_iter().map(|(_, number)| number).collect()
    }
}

impl Gathered {
    pub(crate) fn declare(&mut self, tag: u16, row: usize, value: i64) {
        if value == NULL {
            return;
        }
        let slot = match self.declared.iter_mut().find(|(known, _)| *known == tag) {
            Some((_, values)) => values,
            None => {
                self.declared.push((tag, Vec::new()));
                let Some((_, values)) = self.declared.last_mut() else {
                    return;
                };
                values
            }
        };
        slot.resize(row, NULL);
        slot.push(value);
    }

    pub(crate) fn count(&mut self, kind: i64, corpus: u8, live: i64, tokens: i64) {
        let found = self.counts.iter_mut().find(|(k, c, _)| *k == kind && *c == corpus);
        match found {
            Some((.., counts)) => {
                counts.live = counts.live.saturating_add(live);
                counts.tokens = counts.tokens.saturating_add(tokens);
            }
            None => self.counts.push((kind, corpus, Counts { live, tokens })),
        }
    }

    /// Writes the sections of the rows, up to and including the dictionary; `text` and `rest`
    /// are streamed by the callers, so that a merge never holds them.
    pub(crate) fn write_rows(&mut self, frame: &mut FrameWriter<'_>) -> Result<()> {
        let rows = self.ids.len();
        let mut table = TableBuilder::default();
        table.push(tag::RECORDED, &self.recorded);
        table.push(tag::VALID_FROM, &self.valid_from);
        table.push(tag::VALID_TO, &self.valid_to);
        table.push(tag::KIND, &self.kinds);
        table.push(tag::SHAPE, &self.shapes);
        table.push(tag::FLAGS, &self.flags);
        table.push(tag::LENGTH, &self.lengths);
        table.push(tag::OWNER, &self.owners);
        table.push(tag::TEXT_AT, &self.text_at);
        table.push(tag::REST_AT, &self.rest_at);
        let mut order: Vec<u32> = (0..rows as u32).collect();
        order.sort_unstable_by_key(|row| (self.ids[*row as usize], *row));
        let order: Vec<i64> = order.into_iter().map(i64::from).collect();
        table.push(tag::ID_ORDER, &order);
        self.declared.sort_by_key(|(tag, _)| *tag);
        for (tag, values) in &mut self.declared {
            values.resize(rows, NULL);
            table.push(*tag, values);
        }
        frame.open(Section::Rows, rows as u64)?;
        frame.put(&table.finish()?)?;
        frame.open(Section::Ids, rows as u64)?;
        let mut ids = Vec::with_capacity(16 * rows);
        for id in &self.ids {
            ids.extend_from_slice(&id.to_be_bytes());
        }
        frame.put(&ids)
    }

    /// Writes dictionary, keys, ends, overlay and counts.
    pub(crate) fn write_tables(&mut self, frame: &mut FrameWriter<'_>) -> Result<()> {
        frame.open(Section::Dictionary, self.dictionary.len() as u64)?;
        for string in self.dictionary.iter() {
            let mut length = Vec::with_capacity(5);
            crate::postings::write_varint(&mut length, string.len() as u64);
            frame.put(&length)?;
            frame.put(string)?;
        }
        self.keys.sort_unstable();
        self.keys.dedup();
        let column = |pick: &dyn Fn(&(u32, u32)) -> u32| -> Vec<i64> {
            self.keys.iter().map(|key| i64::from(pick(key))).collect()
        };
        let mut table = TableBuilder::default();
        table.push(tag::KEY_PRINT, &column(&|key| key.0));
        table.push(tag::KEY_ROW, &column(&|key| key.1));
        frame.open(Section::Keys, self.keys.len() as u64)?;
        frame.put(&table.finish()?)?;

        self.ends.sort_unstable_by_key(|(row, ..)| *row);
        let mut table = TableBuilder::default();
        let rows: Vec<i64> = self.ends.iter().map(|(row, ..)| i64::from(*row)).collect();
        let at: Vec<i64> = self.ends.iter().map(|(_, at, _)| *at).collect();
        let reasons: Vec<i64> = self.ends.iter().map(|(.., reason)| *reason as i64).collect();
        table.push(tag::END_ROW, &rows);
        table.push(tag::END_AT, &at);
        table.push(tag::END_REASON, &reasons);
        frame.open(Section::Ends, self.ends.len() as u64)?;
        frame.put(&table.finish()?)?;

        self.overlay.sort_unstable_by_key(|ended| (ended.segment, ended.row));
        let mut targets: Vec<u128> = self.overlay.iter().map(|ended| ended.segment).collect();
        targets.dedup();
        let pick =
            |pick: &dyn Fn(&Ended) -> i64| -> Vec<i64> { self.overlay.iter().map(pick).collect() };
        let mut table = TableBuilder::default();
        table.push(
            tag::END_SEGMENT,
            &pick(&|ended| targets.partition_point(|target| *target < ended.segment) as i64),
        );
        table.push(tag::END_ROW, &pick(&|ended| i64::from(ended.row)));
        table.push(tag::END_AT, &pick(&|ended| ended.at));
        table.push(tag::END_REASON, &pick(&|ended| ended.reason as i64));
        // Half an id is any 64-bit value, NULL's bit pattern included, so it goes in as two
        // 32-bit halves side by side: four values per target in two columns of twice the length.
        let halves = |shift: u32| -> Vec<i64> {
            targets
                .iter()
                .flat_map(|target| {
                    let half = (*target >> shift) as u64;
                    [(half >> 32) as i64, i64::from(half as u32)]
                })
                .collect()
        };
        table.push(tag::TARGET_HIGH, &halves(64));
        table.push(tag::TARGET_LOW, &halves(0));
        frame.open(Section::Overlay, self.overlay.len() as u64)?;
        frame.put(&table.finish()?)?;

        self.counts.retain(|(.., counts)| counts.live != 0 || counts.tokens != 0);
        let mut table = TableBuilder::default();
        let pick = |pick: &dyn Fn(&(i64, u8, Counts)) -> i64| -> Vec<i64> {
            self.counts.iter().map(pick).collect()
        };
        table.push(tag::COUNT_KIND, &pick(&|(kind, ..)| *kind));
        table.push(tag::COUNT_CORPUS, &pick(&|(_, corpus, _)| i64::from(*corpus)));
        table.push(tag::COUNT_LIVE, &pick(&|(.., counts)| counts.live));
        table.push(tag::COUNT_TOKENS, &pick(&|(.., counts)| counts.tokens));
        frame.open(Section::Counts, self.counts.len() as u64)?;
        frame.put(&table.finish()?)
    }
}

/// Writes the term sections from terms that arrive in sorted order.
#[derive(Default)]
pub(crate) struct TermsWriter {
    bytes: Vec<u8>,
    at: Vec<i64>,
    rows: Vec<i64>,
    live: Vec<i64>,
    place: Vec<i64>,
    postings: PostingsWriter,
}

impl TermsWriter {
    /// Appends a term with its (row, frequency) pairs, ascending. A term without rows stays only
    /// while it still changes the live counts.
    pub(crate) fn push(
        &mut self,
        term: &[u8],
        list: &[(u32, u32)],
        live: i64,
        length_of: impl Fn(u32) -> u8,
    ) {
        if list.is_empty() && live == 0 {
            return;
        }
        self.at.push(self.bytes.len() as i64);
        self.bytes.extend_from_slice(term);
        self.rows.push(list.len() as i64);
        self.live.push(live);
        // A single row with frequency 1 needs no list: most terms of short claims are such.
        let place = match list {
            [] => 0,
            [(row, 1)] => i64::from(*row),
            [(row, frequency)] => -1 - self.single(*row, *frequency),
            _ => self.postings.push(list, length_of) as i64,
        };
        self.place.push(place);
    }

    fn single(&mut self, row: u32, frequency: u32) -> i64 {
        let place = self.postings.bytes.len() as i64;
        crate::postings::write_varint(&mut self.postings.bytes, u64::from(row));
        crate::postings::write_varint(&mut self.postings.bytes, u64::from(frequency));
        place
    }

    pub(crate) fn write(mut self, frame: &mut FrameWriter<'_>) -> Result<()> {
        let terms = self.at.len() as u64;
        self.at.push(self.bytes.len() as i64);
        frame.open(Section::Terms, terms)?;
        frame.put(&self.bytes)?;
        let mut table = TableBuilder::default();
        table.push(tag::TERM_AT, &self.at);
        table.push(tag::TERM_ROWS, &self.rows);
        table.push(tag::TERM_LIVE, &self.live);
        table.push(tag::TERM_PLACE, &self.place);
        frame.open(Section::TermTable, terms)?;
        frame.put(&table.finish()?)?;
        frame.open(Section::Postings, self.postings.bytes.len() as u64)?;
        frame.put(&self.postings.bytes)?;
        let blocks = self.postings.blocks.len() / crate::postings::BLOCK_ENTRY;
        frame.open(Section::Blocks, blocks as u64)?;
        frame.put(&self.postings.blocks)
    }
}

/// Gathers terms in row order and hands them out sorted.
#[derive(Default)]
pub(crate) struct TermGather {
    terms: Strings,
    live: Vec<i64>,
    /// (term, row, frequency) in row order.
    postings: Vec<(u32, u32, u32)>,
    scratch: Vec<u32>,
    buffer: Vec<u8>,
}

impl TermGather {
    fn number(&mut self, corpus: u8, term: &str) {
        self.buffer.clear();
        self.buffer.push(corpus);
        self.buffer.extend_from_slice(term.as_bytes());
        let number = self.terms.number(&self.buffer) as u32;
        if self.live.len() <= number as usize {
            self.live.push(0);
        }
        self.scratch.push(number);
    }

    fn numbers(&mut self, text: &Text<'_>) {
        self.scratch.clear();
        for term in text.terms {
            self.number(text.corpus, term);
        }
        for keyword in text.keywords {
            self.number(KEYWORDS, keyword);
        }
        self.scratch.sort_unstable();
    }

    /// Adds a row's terms to the postings, and to the live counts `live` times.
    pub(crate) fn add(&mut self, row: u32, text: &Text<'_>, live: i64) {
        self.numbers(text);
        for run in self.scratch.chunk_by(|a, b| a == b) {
            if let [term, ..] = run {
                self.postings.push((*term, row, run.len() as u32));
                self.live[*term as usize] += live;
            }
        }
    }

    /// Changes the live counts of a row's terms and nothing else.
    fn recount(&mut self, text: &Text<'_>, change: i64) {
        self.numbers(text);
        self.scratch.dedup();
        for number in &self.scratch {
            self.live[*number as usize] += change;
        }
    }

    /// Counting sort of the postings by term, which keeps rows ascending within a term.
    pub(crate) fn sorted(&self, length_of: impl Fn(u32) -> u8) -> TermsWriter {
        let terms = self.terms.len();
        let mut starts = vec![0usize; terms + 1];
        for (term, ..) in &self.postings {
            starts[*term as usize + 1] += 1;
        }
        for term in 0..terms {
            starts[term + 1] += starts[term];
        }
        let mut next = starts.clone();
        let mut lists = vec![(0u32, 0u32); self.postings.len()];
        for (term, row, frequency) in &self.postings {
            let slot = &mut next[*term as usize];
            lists[*slot] = (*row, *frequency);
            *slot += 1;
        }
        let mut writer = TermsWriter::default();
        for term in self.terms.sorted() {
            let term = term as usize;
            let list = &lists[starts[term]..starts[term + 1]];
            writer.push(self.terms.get(term), list, self.live[term], &length_of);
        }
        writer
    }
}

/// Gathers rows and writes them as a segment.
#[derive(Default)]
pub struct Builder {
    gathered: Gathered,
    text: Vec<u8>,
    rest: Vec<u8>,
    terms: TermGather,
    codes: Vec<Codes>,
}

impl Builder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Rows so far.
    pub fn rows(&self) -> u32 {
        self.gathered.ids.len() as u32
    }

    /// Whether nothing has been added, neither a row nor the end of one.
    pub fn is_empty(&self) -> bool {
        self.gathered.ids.is_empty() && self.gathered.overlay.is_empty()
    }

    /// About how many bytes the segment will have; for callers that cut batches.
    pub fn bytes(&self) -> usize {
        self.text.len()
            + self.rest.len()
            + 3 * self.terms.postings.len()
            + 64 * self.gathered.ids.len()
            + self.codes.iter().map(|codes| codes.bytes.len()).sum::<usize>()
    }

    /// Adds a row and returns its number.
    pub fn push(&mut self, row: &Row<'_>) -> u32 {
        let number = self.rows();
        let counted = row.flags.contains(Flags::COUNTED);
        let g = &mut self.gathered;
        let kind = g.dictionary.number(row.kind.as_bytes());
        let shape = g.dictionary.number(row.shape);
        g.ids.push(row.id);
        g.recorded.push(row.recorded);
        g.valid_from.push(row.valid_from);
        g.valid_to.push(row.valid_to);
        g.kinds.push(kind);
        g.shapes.push(shape);
        g.owners.push(NULL);
        for (tag, value) in row.columns {
            g.declare(*tag, number as usize, *value);
        }
        for key in row.keys {
            g.keys.push((fingerprint(*key), number));
        }
        g.rest_at.push(self.rest.len() as i64);
        self.rest.extend_from_slice(row.rest);
        g.text_at.push(self.text.len() as i64);
        let mut flags = row.flags.without(Flags::OWNER | Flags::SHARED);
        let mut length = 0;
        if let Some(text) = &row.text {
            flags = flags | Flags::OWNER;
            self.text.extend_from_slice(text.text.as_bytes());
            length = text.terms.len();
            if counted {
                self.gathered.count(kind, text.corpus, 1, length as i64);
            }
            self.terms.add(number, text, i64::from(counted));
            for (space, code) in text.codes {
                vectors::gather(&mut self.codes, *space, number, code);
            }
        }
        self.gathered.lengths.push(i64::from(len_code(length as u32)));
        self.gathered.flags.push(i64::from(flags.bits()));
        number
    }

    /// Changes the live counts for a record that leaves (`change` -1) or comes back (+1) while
    /// its text stays where it is. `text` must be the text it was counted with.
    pub fn recount(&mut self, kind: &str, text: Option<&Text<'_>>, change: i64) {
        let kind = self.gathered.dictionary.number(kind.as_bytes());
        let Some(text) = text else {
            self.gathered.count(kind, 0, change, 0);
            return;
        };
        self.gathered.count(kind, text.corpus, change, change * text.terms.len() as i64);
        self.terms.recount(text, change);
    }

    /// Ends a row of this very segment.
    pub fn end_own(&mut self, row: u32, at: i64, reason: Reason) {
        self.gathered.ends.push((row, at, reason));
    }

    /// Ends a row of an older segment.
    pub fn end(&mut self, ended: Ended) {
        self.gathered.overlay.push(ended);
    }

    /// Writes the segment.
    ///
    /// # Errors
    /// What the sink says, or [`crate::Error::TooLarge`].
    pub fn finish(mut self, identity: Identity, sink: &mut dyn Sink) -> Result<Sealed> {
        self.gathered.text_at.push(self.text.len() as i64);
        self.gathered.rest_at.push(self.rest.len() as i64);
        let mut frame = FrameWriter::start(sink, identity)?;
        self.gathered.write_rows(&mut frame)?;
        frame.open(Section::Text, u64::from(self.rows()))?;
        frame.put(&self.text)?;
        frame.open(Section::Rest, u64::from(self.rows()))?;
        frame.put(&self.rest)?;
        let lengths = &self.gathered.lengths;
        self.terms.sorted(|row| lengths[row as usize] as u8).write(&mut frame)?;
        self.gathered.write_tables(&mut frame)?;
        vectors::write(&mut frame, &self.codes, |codes, place, code| {
            let stride = codes.space.stride();
            let own = codes.bytes.get(place * stride..(place + 1) * stride);
            code.extend_from_slice(own.unwrap_or_default());
            Ok(())
        })?;
        frame.finish()
    }
}

/// What of a key's hash is stored: equal prints are candidates, the caller compares records.
pub(crate) fn fingerprint(key: u64) -> u32 {
    (key >> 32) as u32 ^ key as u32
}

/// The hash of a key, for [`Row::keys`] and [`crate::Segment::rows_with_key`].
pub fn key_of(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}
