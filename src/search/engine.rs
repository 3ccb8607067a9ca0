//! Evaluates both lexical ballots over a snapshot, exactly.
//!
//! Rows are taken in windows whose sums fit the first-level cache. Within a window every word of
//! the query adds to two sums per row, the match in halves and the BM25+ points; then rows whose
//! sums cannot reach either ballot any more are passed over unread, and of the others columns are
//! read in the order in which they decide most. Newer rows come first: recency is part of a
//! score, so they raise the bar for the rest.
//!
//! Invariants: what is skipped could not have entered a ballot, because every bound is computed
//! by the function that computes the score, from values that are not smaller; sums are made in
//! the order of the query's words. So neither threads nor the layout of segments change a ballot.

use packset_segments::postings::Cursor;
use packset_segments::{ColumnView, Error, Flags, NULL, Segment, Terms, tag};
use rayon::prelude::*;

use super::score::{self, Bm25, Corpus, EQUAL, Extras};
use super::top::{Entry, Top};
use super::words::{Near, Word};
use crate::pack::record;
use crate::pack::snapshot::{Place, Snapshot, View};
use crate::time::{DAY, Micros};

/// Rows of a window; 7 bytes each, 28 KiB together. The tests take windows that few rows fill.
const WINDOW: usize = if cfg!(test) { 64 } else { 4096 };

/// Rows after which the walk goes on with older rows: few enough that the newest rows set the
/// bar early, many enough that finding the start of each list again costs nothing beside it.
const CHUNK: u32 = 16 * WINDOW as u32;

/// Work, in postings of about 2 ns, from which a pool of threads is worth its start of 0.9 ms.
const PARALLEL_FROM: usize = 1_500_000;

/// How finely recency is bounded: steps in which it falls by 4 %.
const STEPS_PER_HALF_LIFE: usize = 16;
/// Half-lives after which recency is bounded by 2^-24 of a point, which rounds away.
const HALF_LIVES: usize = 24;
const STEP_MICROS: u64 = (score::HALF_LIFE_DAYS as u64 * DAY as u64) / STEPS_PER_HALF_LIFE as u64;

/// What to evaluate.
pub(super) struct Plan<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) view: View,
    pub(super) corpus: u8,
    pub(super) kind: Option<&'a str>,
    pub(super) set: Option<i64>,
    pub(super) recency: bool,
    /// How words score.
    pub(super) formula: Bm25,
    pub(super) limit: usize,
    /// Whether threads may be used; none: if it pays.
    pub(super) parallel: Option<bool>,
}

impl Plan<'_> {
    /// The version that the view shows of a text, named by the row that owns it, if it is of the
    /// kind and the set that are asked for. None for a row that owns no text.
    pub(super) fn admitted(&self, text: Place) -> Option<Place> {
        let flags = self.snapshot.segment(text).flags(text.row);
        let version = self.snapshot.resolve(text, &self.view)?;
        let segment = self.snapshot.segment(version);
        // A damaged kind is none that anybody asks for.
        let kind = segment.kind(version.row).ok()?;
        let set = || segment.column(record::SET).map(|column| column.get(version.row));
        let admitted = flags.contains(Flags::OWNER)
            && self.asks_for(kind)
            && self.set.is_none_or(|wanted| set() == Some(wanted));
        admitted.then_some(version)
    }

    /// Whether records of a kind are asked for.
    pub(super) fn asks_for(&self, kind: &str) -> bool {
        match self.kind {
            Some(wanted) => kind == wanted,
            None => record::corpus(kind) == self.corpus,
        }
    }
}

/// The two ballots, best first.
pub(super) struct Ballots {
    pub(super) scan: Vec<Entry>,
    pub(super) bm25: Vec<Entry>,
}

/// The columns of a segment that a version is judged by.
struct Sheet<'a> {
    ts: Option<ColumnView<'a>>,
    due: Option<ColumnView<'a>>,
    trust: Option<ColumnView<'a>>,
    set: Option<ColumnView<'a>>,
    kind: Option<ColumnView<'a>>,
    flags: Option<ColumnView<'a>>,
    recorded: Option<ColumnView<'a>>,
    valid_from: Option<ColumnView<'a>>,
    valid_to: Option<ColumnView<'a>>,
    /// The number of the kind that is asked for, if the segment has it.
    wanted: Option<i64>,
}

impl<'a> Sheet<'a> {
    fn of(segment: &'a Segment, kind: Option<&str>) -> Self {
        let column = |tag| segment.column(tag);
        Self {
            ts: column(record::TS),
            due: column(record::DUE_AT),
            trust: column(record::TRUST),
            set: column(record::SET),
            kind: column(tag::KIND),
            flags: column(tag::FLAGS),
            recorded: column(tag::RECORDED),
            valid_from: column(tag::VALID_FROM),
            valid_to: column(tag::VALID_TO),
            wanted: kind.and_then(|kind| segment.number_of(kind.as_bytes())).map(i64::from),
        }
    }
}

fn value(column: Option<ColumnView<'_>>, row: u32) -> i64 {
    column.map_or(NULL, |column| column.get(row))
}

/// Where a word stands in one segment.
struct List {
    exact: Option<u32>,
    near: Near,
}

/// A segment, prepared for one query.
struct Part<'a> {
    number: u32,
    segment: &'a Segment,
    terms: Terms<'a>,
    lists: Vec<List>,
    lengths: Option<ColumnView<'a>>,
    /// A bit for each row that has ended; empty if none has.
    ended: Vec<u64>,
    /// Whether the view knows every row.
    known: bool,
}

/// Sums of the rows of one window.
struct Window {
    /// The class by which the word in hand matches, before equality is looked at.
    class: [u8; WINDOW],
    halves: [u16; WINDOW],
    points: [f32; WINDOW],
}

/// The ballots in the making.
struct Bars {
    scan: Top,
    bm25: Top,
}

impl Bars {
    fn new(limit: usize) -> Self {
        Self { scan: Top::new(limit), bm25: Top::new(limit) }
    }

    fn floors(&self) -> Floors {
        // Finite, for the arithmetic with it: no score is as low.
        let floor = |top: &Top| top.floor().unwrap_or(f32::MIN);
        Floors { scan: floor(&self.scan), bm25: floor(&self.bm25) }
    }

    fn merge(mut self, other: Self) -> Self {
        self.scan.merge(other.scan);
        self.bm25.merge(other.bm25);
        self
    }
}

/// What a row must reach to enter a ballot.
#[derive(Clone, Copy)]
struct Floors {
    scan: f32,
    bm25: f32,
}

impl Floors {
    /// Whether a row may enter. No branch: half of the rows may pass, in no pattern.
    #[inline]
    fn let_in(&self, halves: u16, points: f32, extras: &Extras) -> bool {
        (score::scan(halves, extras) >= self.scan)
            | ((points > 0.0) & (score::bm25(points, extras) >= self.bm25))
    }
}

/// Sums below which a row of a window need not be looked at.
#[derive(Clone, Copy)]
struct Least {
    halves: u16,
    points: f32,
    floors: Floors,
}

impl Least {
    fn of(floors: Floors, most: &Extras) -> Self {
        // The answer is near the quotient; rounding is settled by the score itself.
        let guess = 2.0 * (floors.scan - score::scan(0, most)) - 2.0;
        let mut halves = (guess.max(1.0) as u16).max(1);
        while halves < u16::MAX && score::scan(halves, most) < floors.scan {
            halves += 1;
        }
        // The rounding of three additions is far below this margin.
        let margin = 1e-4 * (1.0 + floors.bm25.abs());
        let points = floors.bm25 - score::bm25(0.0, most) - margin;
        Self { halves, points: points.max(f32::MIN_POSITIVE), floors }
    }

    /// A bit for each of 64 rows whose sums are enough. Written for the compiler to make wide
    /// comparisons of: in a common word's list no branch predictor guesses the next row.
    #[inline]
    fn reached(&self, halves: &[u16], points: &[f32]) -> u64 {
        let mut enough = [0u8; 64];
        for ((enough, halves), points) in enough.iter_mut().zip(halves).zip(points) {
            *enough = u8::from(*halves >= self.halves) | u8::from(*points >= self.points);
        }
        let mut reached = 0;
        for (at, eight) in enough.chunks_exact(8).enumerate() {
            let eight = eight.iter().rev().fold(0u64, |all, one| all << 8 | u64::from(*one));
            // The product moves the lowest bit of byte i to bit 56 + i.
            reached |= (eight.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * at);
        }
        reached
    }
}

/// Everything that stands still while windows are walked.
struct Walk<'a> {
    plan: &'a Plan<'a>,
    words: &'a [Word],
    norms: Box<[f32; 256]>,
    /// Upper bounds of recency by age in steps.
    fresh: Vec<f32>,
    sheets: Vec<Sheet<'a>>,
    parts: Vec<Part<'a>>,
    /// The highest trust that a version outside its text's segment may have.
    trust: f32,
}

/// Evaluates the ballots. `words` get their weights here.
///
/// # Errors
/// [`Error::Corrupt`] when a list that the query needs is damaged.
pub(super) fn evaluate(plan: &Plan<'_>, words: &mut [Word]) -> Result<Ballots, Error> {
    let snapshot = plan.snapshot;
    let corpus = corpus_of(snapshot, plan.corpus);
    let norms = plan.formula.norms(&corpus);
    let terms: Vec<Terms<'_>> = snapshot.segments().iter().map(Segment::terms).collect();
    let mut effort = 0;
    let mut exact: Vec<Vec<Option<u32>>> = Vec::with_capacity(words.len());
    for word in &mut *words {
        let numbers: Vec<Option<u32>> = terms.iter().map(|terms| word.exact(terms)).collect();
        let (mut df, mut rows) = (0, 0);
        for (terms, number) in terms.iter().zip(&numbers) {
            if let Some(number) = number {
                df = i64::saturating_add(df, terms.live(*number));
                rows += terms.rows(*number) as usize;
            }
            effort += word.effort(terms, plan.corpus);
        }
        effort += rows;
        word.weigh(&corpus, df.max(i64::from(rows > 0)), &plan.formula, &norms);
        exact.push(numbers);
    }
    let words = &*words;
    let parallel = |effort| plan.parallel.unwrap_or(effort >= PARALLEL_FROM);

    let jobs: Vec<(usize, usize)> =
        (0..terms.len()).flat_map(|part| (0..words.len()).map(move |word| (part, word))).collect();
    let list = |(part, word): &(usize, usize)| -> Result<List, Error> {
        let exact = exact[*word][*part];
        let near = words[*word].near(&snapshot.segments()[*part], &terms[*part], exact)?;
        Ok(List { exact, near })
    };
    let lists: Vec<List> = if parallel(effort) {
        jobs.par_iter().map(list).collect::<Result<_, Error>>()?
    } else {
        jobs.iter().map(list).collect::<Result<_, Error>>()?
    };
    effort += lists.iter().map(|list| list.near.effort()).sum::<usize>();

    let mut lists = lists.into_iter();
    let parts = terms.iter().enumerate().map(|(number, terms)| {
        let lists = lists.by_ref().take(words.len()).collect();
        Part::new(plan, number as u32, *terms, lists)
    });
    let parts = parts.collect();
    let sheets: Vec<Sheet<'_>> =
        snapshot.segments().iter().map(|segment| Sheet::of(segment, plan.kind)).collect();
    let trusting = sheets.iter().any(|sheet| sheet.trust.is_some());
    let walk = Walk {
        plan,
        words,
        norms,
        fresh: recency_bounds(plan),
        trust: if trusting { score::TRUST_LIMIT } else { 1.0 },
        sheets,
        parts,
    };
    let bars = walk.all(parallel(effort))?;
    Ok(Ballots { scan: bars.scan.into_ranked(), bm25: bars.bm25.into_ranked() })
}

/// How often each word stands in chosen texts, named by the rows that own them, ascending: for
/// each text as many numbers as there are words. Costs a seek in each word's list for each text.
///
/// # Errors
/// [`Error::Corrupt`] when a list is damaged.
pub(super) fn frequencies_of(
    snapshot: &Snapshot,
    words: &[Word],
    texts: &[Place],
) -> Result<Vec<u32>, Error> {
    let mut found = vec![0u32; texts.len() * words.len()];
    let mut done = 0;
    for run in texts.chunk_by(|a, b| a.segment == b.segment) {
        let Some(first) = run.first() else { continue };
        let segment = snapshot.segment(*first);
        let damaged = |_| segment.corrupt("postings", "a list that no writer made");
        let terms = segment.terms();
        for (at, word) in words.iter().enumerate() {
            let Some(number) = word.exact(&terms) else { continue };
            let mut cursor = terms.cursor(number)?;
            for (text, own) in run.iter().zip(found.chunks_mut(words.len()).skip(done)) {
                cursor.seek(text.row).map_err(damaged)?;
                let note = |row, frequency| {
                    if let Some(own) = own.get_mut(at).filter(|_| row == text.row) {
                        *own = frequency;
                    }
                };
                cursor.walk(text.row.saturating_add(1), note).map_err(damaged)?;
            }
        }
        done += run.len();
    }
    Ok(found)
}

/// Tokens of a text, by the row that owns it, as far as its code tells.
pub(super) fn length_of(snapshot: &Snapshot, text: Place) -> f32 {
    let lengths = snapshot.segment(text).column(tag::LENGTH);
    packset_segments::postings::len_of(value(lengths, text.row) as u8)
}

/// Statistics of a corpus, from the manifest.
pub(super) fn corpus_of(snapshot: &Snapshot, corpus: u8) -> Corpus {
    let mut sum = Corpus { texts: 0, tokens: 0 };
    for count in snapshot.counts().iter().filter(|count| count.1 == corpus) {
        sum.texts = sum.texts.saturating_add(count.2);
        sum.tokens = sum.tokens.saturating_add(count.3);
    }
    sum
}

/// The recency of the newest row of each step, raised past any rounding.
fn recency_bounds(plan: &Plan<'_>) -> Vec<f32> {
    if !plan.recency {
        return vec![0.0];
    }
    let step = |step| {
        let age = (step as u64 * STEP_MICROS) as i64;
        score::recency(plan.view.valid.saturating_sub(age), Micros(plan.view.valid)) * 1.00001
    };
    (0..=STEPS_PER_HALF_LIFE * HALF_LIVES).map(step).collect()
}

impl<'a> Part<'a> {
    fn new(plan: &Plan<'a>, number: u32, terms: Terms<'a>, lists: Vec<List>) -> Self {
        let segment = &plan.snapshot.segments()[number as usize];
        let mut ended = Vec::new();
        for row in plan.snapshot.ended_rows(number) {
            ended.resize(segment.rows().div_ceil(64) as usize, 0u64);
            if let Some(word) = ended.get_mut(row as usize / 64) {
                *word |= 1 << (row % 64);
            }
        }
        let newest = plan.snapshot.manifest().segments.get(number as usize);
        Self {
            number,
            segment,
            terms,
            lists,
            lengths: segment.column(tag::LENGTH),
            ended,
            known: newest.is_some_and(|entry| entry.recorded.1 <= plan.view.recorded),
        }
    }

    fn ended(&self, row: u32) -> bool {
        self.ended.get(row as usize / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    fn length(&self, row: u32) -> usize {
        // A damaged code is some length; `check` names it.
        usize::from(value(self.lengths, row) as u8)
    }
}

impl<'a> Walk<'a> {
    fn all(&self, parallel: bool) -> Result<Bars, Error> {
        let mut chunks: Vec<(&Part<'a>, u32)> = Vec::new();
        for part in self.parts.iter().rev() {
            let rows = part.segment.rows();
            chunks.extend((0..rows.div_ceil(CHUNK)).rev().map(|chunk| (part, chunk * CHUNK)));
        }
        let bars = || Bars::new(self.plan.limit);
        if !parallel {
            let mut worker = Worker::new(self, bars());
            for (part, start) in chunks {
                worker.chunk(part, start)?;
            }
            return Ok(worker.bars);
        }
        chunks
            .par_iter()
            .try_fold(
                || Worker::new(self, bars()),
                |mut worker, (part, start)| {
                    worker.chunk(part, *start)?;
                    Ok(worker)
                },
            )
            .map(|worker| worker.map(|worker| worker.bars))
            .try_reduce(bars, |a, b| Ok(a.merge(b)))
    }
}

impl Walk<'_> {
    /// What a version adds to its scores.
    fn extras(&self, version: Place) -> Extras {
        let sheet = &self.sheets[version.segment as usize];
        let now = self.plan.view.valid;
        let recency = match self.plan.recency {
            true => score::recency(value(sheet.ts, version.row), Micros(now)),
            false => 0.0,
        };
        Extras {
            trust: score::trust(value(sheet.trust, version.row)),
            recency,
            due: value(sheet.due, version.row) <= now,
        }
    }

    /// The same for a row that is its own version, with recency rounded up and no power taken.
    #[inline]
    fn bound(&self, own: &Sheet<'_>, row: u32) -> Extras {
        let now = self.plan.view.valid;
        // No time is the greatest number, so its age is none.
        let age = now.saturating_sub(value(own.ts, row)).max(0) as u64;
        let step = ((age / STEP_MICROS) as usize).min(self.fresh.len() - 1);
        Extras {
            trust: score::trust(value(own.trust, row)),
            recency: self.fresh[step],
            due: value(own.due, row) <= now,
        }
    }
}

/// One thread's share.
struct Worker<'w, 'a> {
    walk: &'w Walk<'a>,
    bars: Bars,
    window: Box<Window>,
}

impl<'w, 'a> Worker<'w, 'a> {
    fn new(walk: &'w Walk<'a>, bars: Bars) -> Self {
        let window = Window { class: [0; WINDOW], halves: [0; WINDOW], points: [0.0; WINDOW] };
        Self { walk, bars, window: Box::new(window) }
    }

    fn chunk(&mut self, part: &Part<'a>, start: u32) -> Result<(), Error> {
        let end = part.segment.rows().min(start.saturating_add(CHUNK));
        let mut cursors: Vec<Option<Cursor<'a>>> = Vec::with_capacity(part.lists.len());
        for list in &part.lists {
            let cursor = list.exact.map(|term| part.terms.cursor(term)).transpose()?;
            cursors.push(cursor);
        }
        let damaged = |_| part.segment.corrupt("postings", "a list that no writer made");
        for cursor in cursors.iter_mut().flatten() {
            cursor.seek(start).map_err(damaged)?;
        }
        let most = Extras {
            trust: self.trust_of(part),
            recency: if self.walk.plan.recency { 1.0 } else { 0.0 },
            due: true,
        };
        let mut from = start;
        while let Some(next) = next_row(&cursors, &part.lists, from).filter(|next| *next < end) {
            let base = next / 64 * 64;
            let until = end.min(base + WINDOW as u32);
            from = until;
            if !self.promising(part, &cursors, base, until, &most) {
                for cursor in cursors.iter_mut().flatten() {
                    cursor.seek(until).map_err(damaged)?;
                }
                continue;
            }
            self.sum(part, &mut cursors, base, until).map_err(damaged)?;
            self.harvest(part, base, until, &most);
        }
        Ok(())
    }

    fn trust_of(&self, part: &Part<'a>) -> f32 {
        let own = self.walk.sheets[part.number as usize].trust.is_none();
        if own && part.ended.is_empty() && part.known { 1.0 } else { self.walk.trust }
    }

    /// Whether some row of a window could enter a ballot, if it held every word that occurs there.
    fn promising(
        &self,
        part: &Part<'a>,
        cursors: &[Option<Cursor<'a>>],
        base: u32,
        until: u32,
        most: &Extras,
    ) -> bool {
        let (mut halves, mut points) = (0u16, 0f32);
        for ((word, cursor), list) in self.walk.words.iter().zip(cursors).zip(&part.lists) {
            if cursor.as_ref().and_then(Cursor::row).is_some_and(|row| row < until) {
                halves += word.count * u16::from(EQUAL);
                points += self.walk.plan.formula.ceiling(word.weight);
            } else if list.near.next(base).is_some_and(|row| row < until) {
                halves += word.count * u16::from(score::PREFIX);
            }
        }
        // Sums of a row round differently than this one.
        self.bars.floors().let_in(halves, points * 1.0001, most)
    }

    /// Adds up the window. Words come in the order of the query: the sums of floats depend on it.
    fn sum(
        &mut self,
        part: &Part<'a>,
        cursors: &mut [Option<Cursor<'a>>],
        base: u32,
        until: u32,
    ) -> Result<(), packset_segments::postings::Damaged> {
        let Window { class, halves, points } = &mut *self.window;
        let norms = &self.walk.norms;
        let formula = self.walk.plan.formula;
        // The mask spares a bounds check; rows of a window lie in it anyway.
        let place = |row: u32| row.wrapping_sub(base) as usize % WINDOW;
        for ((word, cursor), list) in self.walk.words.iter().zip(cursors).zip(&part.lists) {
            let Word { count, weight, once, .. } = word;
            let near = &list.near;
            near.each(base, until, |row, found| {
                class[place(row)] = found;
                halves[place(row)] += u16::from(found) * count;
            });
            let Some(cursor) = cursor else {
                near.each(base, until, |row, _| class[place(row)] = 0);
                continue;
            };
            cursor.walk(until, |row, frequency| {
                let at = place(row);
                let length = part.length(row);
                halves[at] += u16::from(EQUAL - class[at]) * count;
                points[at] += match frequency {
                    1 => once[length],
                    _ => formula.part(*weight, frequency, norms[length]),
                };
            })?;
            near.each(base, until, |row, _| class[place(row)] = 0);
        }
        Ok(())
    }

    /// Takes the rows whose sums may enter a ballot, and clears the window.
    fn harvest(&mut self, part: &Part<'a>, base: u32, until: u32, most: &Extras) {
        let rows = (until - base) as usize;
        let mut least = Least::of(self.bars.floors(), most);
        // Past the last row of a segment the sums are zero, which is never enough.
        for group in (0..rows).step_by(64) {
            let Window { halves, points, .. } = &*self.window;
            let mut reached = least.reached(&halves[group..group + 64], &points[group..group + 64]);
            while reached != 0 {
                let at = group + reached.trailing_zeros() as usize;
                reached &= reached - 1;
                let (halves, points) = (self.window.halves[at], self.window.points[at]);
                let row = base + at as u32;
                if self.consider(part, row, halves, points, most, &least.floors) {
                    least = Least::of(self.bars.floors(), most);
                }
            }
        }
        self.window.halves[..rows].fill(0);
        self.window.points[..rows].fill(0.0);
    }

    /// Weighs one row; whether a ballot has changed.
    fn consider(
        &mut self,
        part: &Part<'a>,
        row: u32,
        halves: u16,
        points: f32,
        most: &Extras,
        floors: &Floors,
    ) -> bool {
        let plan = self.walk.plan;
        let own = &self.walk.sheets[part.number as usize];
        let text = Place { segment: part.number, row };
        let simple = self.simple(part, own, row);
        let bound = if simple { self.walk.bound(own, row) } else { *most };
        if !floors.let_in(halves, points, &bound) {
            return false;
        }
        let version = if simple {
            let valid = plan.view.valid;
            let from = value(own.valid_from, row);
            let live = (from <= valid || from == NULL)
                && value(own.valid_to, row) > valid
                && plan.snapshot.live(text, &plan.view);
            live.then_some(text)
        } else {
            plan.snapshot.resolve(text, &plan.view)
        };
        let Some(version) = version.filter(|version| self.admits(*version)) else { return false };
        let extras = self.walk.extras(version);
        if !floors.let_in(halves, points, &extras) {
            return false;
        }
        let id = part.segment.id(row).unwrap_or_default();
        let entry = |score| Entry { score, id, version, text, halves, points };
        let mut changed = self.bars.scan.push(entry(score::scan(halves, &extras)));
        if points > 0.0 {
            changed |= self.bars.bm25.push(entry(score::bm25(points, &extras)));
        }
        changed
    }

    /// Whether the row itself is the version that the view selects of its record, told without
    /// a lookup. False says nothing.
    fn simple(&self, part: &Part<'a>, own: &Sheet<'a>, row: u32) -> bool {
        let view = &self.walk.plan.view;
        let known = || {
            let flags = Flags::from_bits(value(own.flags, row) as u8);
            value(own.recorded, row) <= view.recorded
                || (view.backdated && flags.contains(Flags::FIRST))
        };
        !part.ended(row) && (part.known || known())
    }

    /// Whether a version is of the kind and the set that are asked for.
    fn admits(&self, version: Place) -> bool {
        let plan = self.walk.plan;
        let sheet = &self.walk.sheets[version.segment as usize];
        let kind = plan.kind.is_none() || sheet.wanted == Some(value(sheet.kind, version.row));
        kind && plan.set.is_none_or(|set| value(sheet.set, version.row) == set)
    }
}

/// The first row not below `from` that matches a word.
fn next_row(cursors: &[Option<Cursor<'_>>], lists: &[List], from: u32) -> Option<u32> {
    let exact = cursors.iter().flatten().filter_map(Cursor::row);
    let near = lists.iter().filter_map(|list| list.near.next(from));
    exact.chain(near).min()
}
