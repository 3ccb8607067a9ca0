//! Many neighbouring segments into one: the engine of fold, tier and compact.
//!
//! Never re-tokenizes: columns are copied, dictionaries merge as sorted streams, postings are
//! decoded, renumbered and coded again. Not here: which segments to merge, and when.
//!
//! Invariants. Every input checksum is verified first; a bad input stops the merge. Ends that
//! any input or any newer segment names for a row of an input are applied to the output, so an
//! overlay entry for a merged segment may be ignored ever after. Dropping history (a horizon) is
//! only for merges of a whole store: elsewhere a version in another segment may still share the
//! dropped version's text. When the current version of a record shares an older version's text
//! and both are here, it takes over that text's place, so that a search meets it at once. A record
//! that is left out leaves nothing: no row, string, list or key, and no share in a live count.

use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet};

use crate::build::{Ended, Gathered, TermGather, TermsWriter, Text};
use crate::columns::{ColumnView, NULL};
use crate::error::{Error, Result};
use crate::frame::{FrameWriter, Identity, Section, Sink};
use crate::postings::len_code;
use crate::read::{Count, Segment, Terms};
use crate::vectors::{self, Codes, Space, Vectors};
use crate::{Flags, KEYWORDS, Reason, tag};

/// What to merge, and what the rest of the store says about it.
pub struct Plan<'a> {
    /// The inputs, oldest first, neighbours in the manifest.
    pub inputs: &'a [&'a Segment],
    /// Ends of rows of the inputs that segments outside the merge name.
    pub ends: &'a [Ended],
    /// Segments of the store that stay beside the output: overlay entries for them are kept.
    pub beside: &'a BTreeSet<u128>,
    /// Versions that ended at or before this time are dropped; only if the inputs are the whole
    /// store. [`i64::MIN`] keeps everything.
    pub horizon: i64,
    /// Where rows that the inputs end have moved to since, by an earlier merge.
    pub moved: Option<&'a Moved>,
    /// Keys of records of which no version stays; only if the inputs are the whole store and no
    /// two texts of a kind stand in different corpora.
    pub without: &'a BTreeSet<u128>,
    /// What gives texts the codes that they lack.
    pub fills: &'a [Fill<'a>],
    /// Spaces whose codes are not carried over.
    pub dropped: &'a [u128],
}

/// Gives texts codes in one space.
pub struct Fill<'a> {
    /// The space.
    pub space: Space,
    /// Whether `code` has an answer to every text; if not, it is asked twice.
    pub every: bool,
    /// The code of a text.
    pub code: &'a dyn Fn(&str) -> Option<Vec<u8>>,
}

static NOTHING: BTreeSet<u128> = BTreeSet::new();

impl<'a> Plan<'a> {
    /// A merge of these inputs that drops nothing, beside which there is nothing.
    pub fn of(inputs: &'a [&'a Segment]) -> Self {
        Self {
            inputs,
            ends: &[],
            beside: &NOTHING,
            horizon: i64::MIN,
            moved: None,
            without: &NOTHING,
            fills: &[],
            dropped: &[],
        }
    }
}

/// Where a merge put the rows of its inputs.
pub struct Moved {
    /// The segment that now holds them.
    pub segment: u128,
    /// Per input: its id, and for each of its rows the new row, [`GONE`] if it was dropped.
    pub rows: HashMap<u128, Vec<u32>>,
    /// Rows of the inputs (segment, row) that were kept, but not the text that they shared.
    textless: HashSet<(u128, u32)>,
}

impl Moved {
    /// Whether a segment that was written while the merge ran continues a version that lost its
    /// text in it: a deleted record that came back. Its text stands nowhere then but in the
    /// merge's inputs, so they must stay and the merge be thrown away.
    pub fn is_missed_by(&self, later: &Segment) -> bool {
        later.overlay().any(|ended| {
            ended.reason == Reason::Continued && self.textless.contains(&(ended.segment, ended.row))
        })
    }
}

/// Gives a record its terms anew: from its segment and row and its text to corpus and terms.
pub type Retext<'a> = dyn FnMut(&Segment, u32, &str) -> Result<(u8, Vec<String>)> + 'a;

/// A row of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct At {
    segment: u32,
    row: u32,
}

/// The row of a version that a merge dropped.
pub const GONE: u32 = u32::MAX;

/// What is known of the rows of one input.
struct Input<'a> {
    segment: &'a Segment,
    end_at: Vec<i64>,
    end_reason: Vec<u8>,
    /// Where the row's content goes; `GONE` if it is dropped.
    content: Vec<u32>,
    /// Where the text that the row owns goes; `GONE` if it owns none or is dropped.
    text: Vec<u32>,
    numbers: HashMap<i64, i64>,
    /// Whether the live counts lose the text that the row owns; empty if they lose none.
    uncounted: Vec<bool>,
}

/// One row of the output: whose columns, and whose text if it holds one.
struct Slot {
    content: At,
    text: Option<At>,
}

struct Merge<'a> {
    inputs: Vec<Input<'a>>,
    slots: Vec<Slot>,
    /// For rows that share a text: the row that owned it.
    group: HashMap<At, At>,
    first: HashSet<u128>,
    without: &'a BTreeSet<u128>,
}

/// Merges the inputs of `plan` into one segment.
///
/// # Errors
/// [`Error::Corrupt`] when an input is damaged, [`Error::TooLarge`] when the output would
/// outgrow the format, or what the sink says.
pub fn merge(plan: &Plan<'_>, identity: Identity, sink: &mut dyn Sink) -> Result<Moved> {
    run(plan, identity, sink, None)
}

/// As [`merge`], but every text gets its terms anew from `retext`. Only for a whole store.
///
/// # Errors
/// As [`merge`], and what `retext` says.
pub fn rebuild(
    plan: &Plan<'_>,
    identity: Identity,
    sink: &mut dyn Sink,
    retext: &mut Retext<'_>,
) -> Result<Moved> {
    run(plan, identity, sink, Some(retext))
}

fn run(
    plan: &Plan<'_>,
    identity: Identity,
    sink: &mut dyn Sink,
    retext: Option<&mut Retext<'_>>,
) -> Result<Moved> {
    for segment in plan.inputs {
        segment.frame().check(segment.path(), segment.bytes())?;
    }
    let mut merge = Merge::new(plan);
    merge.group_texts();
    merge.place(plan.horizon)?;
    merge.write(plan, identity, sink, retext)?;
    let textless = merge.textless();
    let rows = merge.inputs.into_iter().map(|i| (i.segment.identity().segment, i.content));
    Ok(Moved { segment: identity.segment, rows: rows.collect(), textless })
}

/// The code that an input has of a text.
fn carried<'v>(source: &[Option<Vectors<'v>>], space: Space, at: At) -> Option<&'v [u8]> {
    let vectors = source.get(at.segment as usize)?.filter(|found| found.space() == space)?;
    vectors.code(vectors.place(at.row)?)
}

impl<'a> Merge<'a> {
    fn new(plan: &Plan<'a>) -> Self {
        let mut inputs: Vec<Input<'a>> = plan
            .inputs
            .iter()
            .map(|segment| {
                let rows = segment.rows() as usize;
                Input {
                    segment,
                    end_at: vec![NULL; rows],
                    end_reason: vec![0; rows],
                    content: vec![GONE; rows],
                    text: vec![GONE; rows],
                    numbers: HashMap::new(),
                    uncounted: Vec::new(),
                }
            })
            .collect();
        let mut end = |segment: usize, row: u32, at: i64, reason: Reason| {
            let input = &mut inputs[segment];
            if let Some(slot) = input.end_at.get_mut(row as usize) {
                *slot = at;
                input.end_reason[row as usize] = reason as u8;
            }
        };
        let of: HashMap<u128, usize> =
            plan.inputs.iter().enumerate().map(|(i, s)| (s.identity().segment, i)).collect();
        for (index, segment) in plan.inputs.iter().enumerate() {
            for (row, at, reason) in segment.ends() {
                end(index, row, at, reason);
            }
        }
        for ended in plan.inputs.iter().flat_map(|s| s.overlay()).chain(plan.ends.iter().copied()) {
            if let Some(index) = of.get(&ended.segment) {
                end(*index, ended.row, ended.at, ended.reason);
            }
        }
        let (slots, group, first) = (Vec::new(), HashMap::new(), HashSet::new());
        Self { inputs, slots, group, first, without: plan.without }
    }

    fn rows(&self) -> impl Iterator<Item = At> + use<'a> {
        let counts: Vec<u32> = self.inputs.iter().map(|input| input.segment.rows()).collect();
        counts.into_iter().enumerate().flat_map(|(segment, rows)| {
            (0..rows).map(move |row| At { segment: segment as u32, row })
        })
    }

    fn segment(&self, at: At) -> &'a Segment {
        self.inputs[at.segment as usize].segment
    }

    fn flags(&self, at: At) -> Flags {
        self.segment(at).flags(at.row)
    }

    fn end_at(&self, at: At) -> i64 {
        self.inputs[at.segment as usize].end_at[at.row as usize]
    }

    fn left_out(&self, at: At) -> bool {
        let id = || self.segment(at).id(at.row);
        !self.without.is_empty() && id().is_some_and(|id| self.without.contains(&id))
    }

    /// Finds, for every row that owns no text, the row among the inputs whose text it shares:
    /// the one its own segment names, else that of the version before it.
    fn group_texts(&mut self) {
        for at in self.rows() {
            if self.flags(at).contains(Flags::OWNER) {
                continue;
            }
            if let Some(owner) = self.segment(at).owner(at.row) {
                self.group.insert(at, At { row: owner, ..at });
                continue;
            }
            let Some(id) = self.segment(at).id(at.row) else {
                continue;
            };
            let before = self.segment(at).row_before(at.row);
            let before = before.map(|row| At { row, ..at }).or_else(|| {
                (0..at.segment).rev().find_map(|segment| {
                    let row = self.inputs[segment as usize].segment.last_row_of(id)?;
                    Some(At { segment, row })
                })
            });
            if let Some(before) = before {
                let owner = match self.group.get(&before) {
                    Some(owner) => Some(*owner),
                    None if self.flags(before).contains(Flags::OWNER) => Some(before),
                    None => None,
                };
                if let Some(owner) = owner {
                    self.group.insert(at, owner);
                }
            }
        }
    }

    /// Rows that stay although the text they share does not.
    fn textless(&self) -> HashSet<(u128, u32)> {
        let gone = |at: &At| self.inputs[at.segment as usize].text[at.row as usize] == GONE;
        let stays = |at: &At| self.inputs[at.segment as usize].content[at.row as usize] != GONE;
        let lost = self.group.iter().filter(|(at, owner)| stays(at) && gone(owner));
        lost.map(|(at, _)| (self.segment(*at).identity().segment, at.row)).collect()
    }

    /// Decides which rows stay, whose content stands in which slot, and numbers the output.
    fn place(&mut self, horizon: i64) -> Result<()> {
        let kept = |merge: &Self, at: At| merge.end_at(at) > horizon && !merge.left_out(at);
        let mut sharers: HashMap<At, Vec<At>> = HashMap::new();
        for at in self.rows() {
            if let Some(owner) = self.group.get(&at)
                && kept(self, at)
            {
                sharers.entry(*owner).or_default().push(at);
            }
        }
        // Which row holds each text from now on, and what stands where it stood before.
        let mut holder: HashMap<At, At> = HashMap::new();
        let mut instead: HashMap<At, At> = HashMap::new();
        for (owner, rows) in &sharers {
            if self.end_at(*owner) == NULL {
                continue;
            }
            let alive = |at: &&At| !self.flags(**at).contains(Flags::TOMBSTONE);
            let by_time = |at: &&At| self.segment(**at).recorded(at.row);
            let current = rows.iter().filter(alive).find(|at| self.end_at(**at) == NULL);
            let heir = match current {
                Some(current) => Some(*current),
                None if kept(self, *owner) => None,
                None => rows.iter().filter(alive).max_by_key(by_time).copied(),
            };
            if let Some(heir) = heir {
                holder.insert(*owner, heir);
                instead.insert(heir, *owner);
            }
        }
        let mut gone: HashSet<u128> = HashSet::new();
        for at in self.rows() {
            let owns = self.flags(at).contains(Flags::OWNER);
            let content = match (holder.get(&at), instead.get(&at)) {
                (Some(heir), _) => *heir,
                (None, Some(owner)) => *owner,
                (None, None) => at,
            };
            if !kept(self, at) && self.flags(at).contains(Flags::FIRST) {
                gone.extend(self.segment(at).id(at.row));
            }
            if !kept(self, content) {
                continue;
            }
            let number = self.slots.len() as u32;
            if number == GONE {
                return Err(Error::TooLarge { what: "a segment's rows", limit: u64::from(GONE) });
            }
            self.inputs[content.segment as usize].content[content.row as usize] = number;
            if owns {
                self.inputs[at.segment as usize].text[at.row as usize] = number;
            }
            self.slots.push(Slot { content, text: owns.then_some(at) });
        }
        self.first = gone;
        Ok(())
    }

    fn gather(&mut self) -> Result<(Gathered, Vec<Option<At>>)> {
        let mut g = Gathered::default();
        let mut oldest: HashMap<u128, (i64, u32)> = HashMap::new();
        let mut shared: HashSet<u32> = HashSet::new();
        let slots = std::mem::take(&mut self.slots);
        let (mut text_at, mut rest_at) = (0i64, 0i64);
        for (number, slot) in slots.iter().enumerate() {
            let Slot { content: at, text } = *slot;
            let segment = self.segment(at);
            let value = |tag| segment.column(tag).map_or(NULL, |column| column.get(at.row));
            let id = segment.id(at.row).ok_or_else(|| segment.corrupt("ids", "a short row"))?;
            let kind = self.number(at, segment.kind(at.row)?.as_bytes(), value(tag::KIND), &mut g);
            let shape = self.number(at, segment.shape(at.row)?, value(tag::SHAPE), &mut g);
            let recorded = segment.recorded(at.row);
            g.ids.push(id);
            g.recorded.push(recorded);
            g.valid_from.push(value(tag::VALID_FROM));
            g.valid_to.push(value(tag::VALID_TO));
            g.kinds.push(kind);
            g.shapes.push(shape);
            if self.first.contains(&id) {
                let entry = oldest.entry(id).or_insert((recorded, number as u32));
                *entry = (*entry).min((recorded, number as u32));
            }
            let mut flags = segment.flags(at.row).without(Flags::OWNER | Flags::SHARED);
            let mut owner = NULL;
            let length_row = match text {
                Some(text) => {
                    flags = flags | Flags::OWNER;
                    text
                }
                None => at,
            };
            if text.is_none() {
                // The row shares the text of its group, or it gave its own to the heir whose
                // slot it does not stand in.
                let from = self.group.get(&at).copied().unwrap_or(at);
                let held = self.inputs[from.segment as usize].text[from.row as usize];
                if held != GONE {
                    owner = i64::from(held);
                    shared.insert(held);
                }
            }
            g.owners.push(owner);
            g.flags.push(i64::from(flags.bits()));
            let lengths = self.segment(length_row).column(tag::LENGTH);
            g.lengths.push(match text {
                Some(_) => lengths.map_or(0, |lengths| lengths.get(length_row.row)),
                None => 0,
            });
            g.text_at.push(text_at);
            g.rest_at.push(rest_at);
            if let Some(text) = text {
                text_at += self.segment(text).text(text.row)?.len() as i64;
            }
            rest_at += segment.rest(at.row)?.len() as i64;
            let input = &self.inputs[at.segment as usize];
            let ended = input.end_at[at.row as usize];
            if ended != NULL {
                let reason = Reason::from_code(i64::from(input.end_reason[at.row as usize]));
                g.ends.push((number as u32, ended, reason.unwrap_or(Reason::Replaced)));
            }
        }
        g.text_at.push(text_at);
        g.rest_at.push(rest_at);
        for row in shared {
            g.flags[row as usize] |= i64::from(Flags::SHARED.bits());
        }
        for (_, row) in oldest.into_values() {
            g.flags[row as usize] |= i64::from(Flags::FIRST.bits());
        }
        self.declare(&mut g, &slots);
        let texts = slots.iter().map(|slot| slot.text).collect();
        self.slots = slots;
        Ok((g, texts))
    }

    /// The output's number of a string that an input knows as `code`.
    fn number(&mut self, at: At, string: &[u8], code: i64, g: &mut Gathered) -> i64 {
        let numbers = &mut self.inputs[at.segment as usize].numbers;
        *numbers.entry(code).or_insert_with(|| g.dictionary.number(string))
    }

    fn declare(&self, g: &mut Gathered, slots: &[Slot]) {
        let tags: BTreeSet<u16> =
            self.inputs.iter().flat_map(|input| input.segment.declared()).collect();
        for tag in tags {
            let columns: Vec<Option<ColumnView<'_>>> =
                self.inputs.iter().map(|input| input.segment.column(tag)).collect();
            let value = |slot: &Slot| {
                let column = columns[slot.content.segment as usize];
                column.map_or(NULL, |column| column.get(slot.content.row))
            };
            let values: Vec<i64> = slots.iter().map(value).collect();
            // Of a column that only dropped rows had values in, nothing stays.
            if values.iter().any(|value| *value != NULL) {
                g.declared.push((tag, values));
            }
        }
    }

    fn write(
        &mut self,
        plan: &Plan<'_>,
        identity: Identity,
        sink: &mut dyn Sink,
        retext: Option<&mut Retext<'_>>,
    ) -> Result<()> {
        let (mut g, texts) = self.gather()?;
        let rows = texts.len() as u64;
        let inside: HashSet<u128> = plan.inputs.iter().map(|s| s.identity().segment).collect();
        for input in &self.inputs {
            for mut ended in input.segment.overlay() {
                if let Some(moved) = plan.moved
                    && let Some(rows) = moved.rows.get(&ended.segment)
                {
                    ended.row = rows.get(ended.row as usize).copied().unwrap_or(GONE);
                    ended.segment = moved.segment;
                }
                if ended.row == GONE {
                    continue;
                }
                if plan.beside.contains(&ended.segment) && !inside.contains(&ended.segment) {
                    g.overlay.push(ended);
                }
            }
            for (print, row) in input.segment.keys() {
                let row = row as usize;
                // Keys find live records; a version that ended is found through its successor.
                let ended = input.end_at.get(row).is_none_or(|at| *at != NULL);
                if let Some(number) = input.content.get(row)
                    && *number != GONE
                    && !ended
                {
                    g.keys.push((print, *number));
                }
            }
        }
        for count in self.counts()? {
            let kind = g.dictionary.number(count.kind.as_bytes());
            g.count(kind, count.corpus, count.live, count.tokens);
        }
        let terms = match retext {
            Some(retext) => self.new_terms(&mut g, retext)?,
            None => self.terms(&g, TermsWriter::default(), |_| 0)?,
        };
        let mut frame = FrameWriter::start(sink, identity)?;
        g.write_rows(&mut frame)?;
        frame.open(Section::Text, rows)?;
        for text in texts.iter().flatten() {
            frame.put(self.segment(*text).text(text.row)?.as_bytes())?;
        }
        frame.open(Section::Rest, rows)?;
        for slot in &self.slots {
            frame.put(self.segment(slot.content).rest(slot.content.row)?)?;
        }
        terms.write(&mut frame)?;
        g.write_tables(&mut frame)?;
        self.write_codes(plan, &texts, &mut frame)?;
        frame.finish().map(|_| ())
    }

    /// Carries codes over with the texts that they are of, and fills in what is missing.
    fn write_codes(
        &self,
        plan: &Plan<'_>,
        texts: &[Option<At>],
        frame: &mut FrameWriter<'_>,
    ) -> Result<()> {
        let mut spaces: Vec<Space> = Vec::new();
        for input in &self.inputs {
            spaces.extend(input.segment.spaces()?);
        }
        spaces.extend(plan.fills.iter().map(|fill| fill.space));
        spaces.retain(|space| !plan.dropped.contains(&space.id));
        spaces.sort_unstable();
        spaces.dedup();
        let mut all = Vec::with_capacity(spaces.len());
        let mut sources: Vec<Vec<Option<Vectors<'_>>>> = Vec::with_capacity(spaces.len());
        for space in spaces {
            let source = |input: &Input<'a>| input.segment.vectors(space.id);
            let source: Vec<_> = self.inputs.iter().map(source).collect::<Result<_>>()?;
            let fill = plan.fills.iter().find(|fill| fill.space == space);
            let mut rows = Vec::new();
            for (number, text) in texts.iter().enumerate() {
                let Some(at) = text else { continue };
                let text = || self.segment(*at).text(at.row);
                let has = carried(&source, space, *at).is_some()
                    || match fill {
                        Some(fill) => fill.every || (fill.code)(text()?).is_some(),
                        None => false,
                    };
                if has {
                    rows.push(number as u32);
                }
            }
            all.push(Codes { space, rows, bytes: Vec::new() });
            sources.push(source);
        }
        let spaces: Vec<Space> = all.iter().map(|codes| codes.space).collect();
        vectors::write(frame, &all, |codes, place, code| {
            let number = codes.rows.get(place).map_or(0, |row| *row as usize);
            let Some(at) = texts.get(number).copied().flatten() else { return Ok(()) };
            let source = spaces.iter().position(|space| *space == codes.space);
            let source = source.and_then(|at| sources.get(at)).map_or(&[][..], Vec::as_slice);
            let fill = plan.fills.iter().find(|fill| fill.space == codes.space);
            match (carried(source, codes.space, at), fill) {
                (Some(own), _) => code.extend_from_slice(own),
                (None, Some(fill)) => {
                    let text = self.segment(at).text(at.row)?;
                    code.extend((fill.code)(text).unwrap_or_default());
                }
                (None, None) => {}
            }
            Ok(())
        })
    }

    /// The sums of the inputs' counts, less what the records count that are left out; notes whose
    /// terms lose a document.
    fn counts(&mut self) -> Result<Vec<Count>> {
        let mut sums: Vec<Count> = Vec::new();
        for input in &self.inputs {
            for count in input.segment.counts()? {
                match sums.iter_mut().find(|sum| sum.is_of(&count.kind, count.corpus)) {
                    Some(sum) => sum.add(count.live, count.tokens),
                    None => sums.push(count),
                }
            }
        }
        if self.without.is_empty() {
            return Ok(sums);
        }
        let mut leaving: HashMap<At, &str> = HashMap::new();
        for at in self.rows() {
            let counted = self.end_at(at) == NULL && self.flags(at).contains(Flags::COUNTED);
            if !counted || !self.left_out(at) {
                continue;
            }
            let kind = self.segment(at).kind(at.row)?;
            let owns = self.flags(at).contains(Flags::OWNER).then_some(at);
            match owns.or_else(|| self.group.get(&at).copied()) {
                Some(owner) => drop(leaving.insert(owner, kind)),
                None => sums.iter_mut().filter(|s| s.is_of(kind, 0)).for_each(|s| s.add(-1, 0)),
            }
        }
        let mut lengths: HashMap<At, (u8, i64)> = HashMap::new();
        for number in 0..self.inputs.len() {
            let input = &mut self.inputs[number];
            if !leaving.keys().any(|owner| owner.segment as usize == number) {
                continue;
            }
            let mut uncounted = vec![false; input.segment.rows() as usize];
            let owners = leaving.keys().filter(|owner| owner.segment as usize == number);
            owners.for_each(|owner| uncounted[owner.row as usize] = true);
            let terms = input.segment.terms();
            for term in 0..terms.len() {
                let corpus = terms.term(term).first().copied().unwrap_or(KEYWORDS);
                let walked = terms.cursor(term)?.walk(u32::MAX, |row, frequency| {
                    if corpus != KEYWORDS && uncounted.get(row as usize) == Some(&true) {
                        let at = At { segment: number as u32, row };
                        lengths.entry(at).or_insert((corpus, 0)).1 += i64::from(frequency);
                    }
                });
                if walked.is_err() {
                    let what = "a list that no writer made";
                    return Err(input.segment.corrupt("postings", what));
                }
            }
            input.uncounted = uncounted;
        }
        for (owner, kind) in &leaving {
            // A text without a term is of the corpus that its kind has.
            let known = lengths.get(owner).copied();
            let fits = |sum: &&mut Count| match known {
                Some((corpus, _)) => sum.is_of(kind, corpus),
                None => sum.kind == *kind && sum.corpus != 0,
            };
            if let Some(sum) = sums.iter_mut().find(fits) {
                sum.add(-1, -known.map_or(0, |(_, length)| length));
            }
        }
        // Neither names nor their order tell what is no more.
        sums.retain(|sum| (sum.live, sum.tokens) != (0, 0));
        sums.sort_by(|a, b| (&a.kind, a.corpus).cmp(&(&b.kind, b.corpus)));
        Ok(sums)
    }

    /// Takes every text apart anew. A text counts as live if a current version that counts
    /// shows it; what other segments changed since cannot matter, because there are none.
    fn new_terms(&self, g: &mut Gathered, retext: &mut Retext<'_>) -> Result<TermsWriter> {
        let mut counted: HashMap<At, i64> = HashMap::new();
        for at in self.rows() {
            if self.end_at(at) == NULL && self.flags(at).contains(Flags::COUNTED) {
                let owner = self.group.get(&at).copied().unwrap_or(at);
                let kind = g.dictionary.number(self.segment(at).kind(at.row)?.as_bytes());
                counted.insert(owner, kind);
            }
        }
        for (.., counts) in &mut g.counts {
            counts.tokens = 0;
        }
        let mut gather = TermGather::default();
        for (number, slot) in self.slots.iter().enumerate() {
            let Some(text) = slot.text else { continue };
            let string = self.segment(text).text(text.row)?;
            let (corpus, terms) = retext(self.segment(slot.content), slot.content.row, string)?;
            let terms: Vec<&str> = terms.iter().map(String::as_str).collect();
            let kind = counted.get(&text).copied();
            g.lengths[number] = i64::from(len_code(terms.len() as u32));
            if let Some(kind) = kind {
                g.count(kind, corpus, 0, terms.len() as i64);
            }
            let text = Text { corpus, text: "", terms: &terms, keywords: &[], codes: &[] };
            gather.add(number as u32, &text, i64::from(kind.is_some()));
        }
        // Keywords are no text: no rule made them, and they stand behind every corpus.
        let texts = gather.sorted(|row| g.lengths[row as usize] as u8);
        self.terms(g, texts, |terms| terms.corpus(KEYWORDS).start)
    }

    /// Merges the sorted dictionaries, each from its `first` term on, and renumbers the lists.
    /// The texts of an input keep their order, and inputs come oldest first, so every list stays
    /// ascending.
    fn terms(
        &self,
        g: &Gathered,
        mut writer: TermsWriter,
        first: impl Fn(&Terms<'_>) -> u32,
    ) -> Result<TermsWriter> {
        let mut heads = BinaryHeap::new();
        let terms: Vec<_> = self.inputs.iter().map(|input| input.segment.terms()).collect();
        let push = |heads: &mut BinaryHeap<_>, input: usize, number: u32| {
            if number < terms[input].len() {
                heads.push(std::cmp::Reverse((terms[input].term(number), input, number)));
            }
        };
        for (input, terms) in terms.iter().enumerate() {
            push(&mut heads, input, first(terms));
        }
        let mut previous: Option<&[u8]> = None;
        let mut list: Vec<(u32, u32)> = Vec::new();
        let length_of = |row: u32| g.lengths[row as usize] as u8;
        while let Some(std::cmp::Reverse((term, input, number))) = heads.pop() {
            if previous.is_some_and(|previous| previous >= term) {
                return Err(self.inputs[input].segment.corrupt("terms", "they are not sorted"));
            }
            previous = Some(term);
            let mut live = 0i64;
            list.clear();
            let mut next = Some((input, number));
            while let Some((input, number)) = next {
                live = live.saturating_add(terms[input].live(number));
                let Input { text: map, uncounted, .. } = &self.inputs[input];
                let mut ascends = true;
                let walked = terms[input].cursor(number)?.walk(u32::MAX, |row, frequency| {
                    if uncounted.get(row as usize) == Some(&true) {
                        live = live.saturating_sub(1);
                    }
                    let row = map[row as usize];
                    if row != GONE {
                        ascends &= list.last().is_none_or(|(last, _)| *last < row);
                        list.push((row, frequency));
                    }
                });
                if walked.is_err() || !ascends {
                    let what = "a list that no writer made";
                    return Err(self.inputs[input].segment.corrupt("postings", what));
                }
                push(&mut heads, input, number + 1);
                next = match heads.peek() {
                    Some(std::cmp::Reverse((same, input, number))) if *same == term => {
                        let found = (*input, *number);
                        heads.pop();
                        Some(found)
                    }
                    _ => None,
                };
            }
            writer.push(term, &list, live, length_of);
        }
        Ok(writer)
    }
}
