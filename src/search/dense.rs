//! The dense ballot: texts by the angle between their vectors and the query's.
//!
//! Every code of a space is compared, exactly: a quarter of a megabyte for a thousand texts, at
//! the speed of memory. A large store looks at the sketches first, an eighth of that, and compares
//! the codes of the best two of a hundred; that keeps the best twenty in all but one of a hundred
//! places (measured on 31,000 texts, 2,100 questions). Not here: where vectors come from
//! ([`crate::meaning`], [`crate::encode`]), the loops themselves (`kernel`).
//!
//! Invariants: vectors of different spaces are never compared; a text without one takes no part;
//! nothing that points away from the query is named. Neither segments nor threads change what a
//! sketch lets through; texts of deleted records count among those that it chooses from, until
//! they are dropped.

use std::ops::Range;
use std::sync::OnceLock;

use packset_segments::{ColumnView, Error, NULL, Reason, Segment, Space, Vectors, tag, vectors};
use rayon::prelude::*;
use serde_json::Value;

use super::engine::Plan;
use super::kernel::{self, Query};
use super::score;
use super::top::{Entry, Top};
use crate::pack::record;
use crate::pack::snapshot::Place;

/// What a claim's trust adds to its place (behaviour spec, 4.10).
const TRUST: f32 = 0.1;
/// Codes that one step of a scan takes: their sums stay in the first-level cache.
const STEP: usize = 1024;
/// Codes from which threads are worth their start of 0.9 ms: eight megabytes of 256 each.
const PARALLEL_FROM: usize = if cfg!(test) { 64 } else { 32_768 };
/// Codes from which sketches are looked at first. The tests take few.
const SKETCHED_FROM: usize = if cfg!(test) { 128 } else { 65_536 };
/// Of so many texts one is compared by its code after the sketches.
const PROMISING: usize = 50;
/// But never fewer than this, and never more.
const PROMISING_LEAST: usize = if cfg!(test) { 96 } else { 1024 };
const PROMISING_MOST: usize = 8192;
/// Sketches that one step looks at: half a megabyte of 256 signs each.
const LOOK: usize = 16_384;
/// Steps in which fits are counted to find the best; the first is for what is not shown.
const BUCKETS: usize = 4096;

/// A vector in a record or in an answer; none if it is no list of numbers.
pub fn vector(value: Option<&Value>) -> Option<Vec<f32>> {
    let numbers = value?.as_array()?.iter();
    let vector: Option<Vec<f32>> = numbers.map(|it| it.as_f64().map(|it| it as f32)).collect();
    vector.filter(|vector| !vector.is_empty() && vector.iter().all(|it| it.is_finite()))
}

/// The query in one space.
#[derive(Clone, Debug)]
pub struct Towards {
    /// What its ballot is called.
    pub name: &'static str,
    /// The model that made the vector, as the manifest names it.
    pub model: String,
    /// The space.
    pub space: Space,
    /// The query's vector, of any length.
    pub vector: Vec<f32>,
}

/// The texts of a snapshot in one space, and the query.
pub(super) struct Dense<'a> {
    plan: &'a Plan<'a>,
    space: Space,
    model: String,
    query: Query,
    parts: Vec<Part<'a>>,
    /// Whether the rows that have not ended are those that are shown.
    now: bool,
    /// Whether any version says a trust.
    trusting: bool,
    spread: OnceLock<Spread>,
}

/// How cosines with the query lie over the texts of the pack. Sums are whole, so that neither
/// threads nor segments change them: cosines in millionths.
#[derive(Clone, Copy, Debug, Default)]
struct Spread {
    texts: i64,
    sum: i64,
    squares: i64,
}

impl Spread {
    fn add(&mut self, cosine: f32) {
        let millionths = (f64::from(cosine) * 1e6).round() as i64;
        self.texts += 1;
        self.sum += millionths;
        // A square is at most 10^12: nine million texts fit.
        self.squares = self.squares.saturating_add(millionths * millionths);
    }

    fn plus(self, other: Self) -> Self {
        Self {
            texts: self.texts + other.texts,
            sum: self.sum + other.sum,
            squares: self.squares.saturating_add(other.squares),
        }
    }

    /// Mean and standard deviation. Of few texts neither says much: it is as if [`FEW`] more lay
    /// as texts of any pack do.
    fn mean_and_deviation(&self, usual: Option<f64>) -> (f32, f32) {
        let texts = self.texts as f64;
        let (sum, squares) = (self.sum as f64 / 1e6, self.squares as f64 / 1e12);
        let usual = usual.unwrap_or(sum / texts.max(1.0));
        let all = texts + FEW;
        let mean = (sum + FEW * usual) / all;
        let square = (squares + FEW * (DEVIATION * DEVIATION + usual * usual)) / all;
        (mean as f32, (square - mean * mean).max(1e-6).sqrt() as f32)
    }
}

/// Mean of the cosines between a question and the texts of a pack, by the static table (0.08 to
/// 0.2 over the sets of the quality bench; models differ), and their deviation (0.07 to 0.12).
const USUAL: f64 = 0.12;
const DEVIATION: f64 = 0.1;
/// So many texts' worth is that supposition.
const FEW: f64 = 3.0;
/// Of a large store the spread is that of its first texts.
const SPREAD_OVER: usize = if cfg!(test) { 64 } else { 16_384 };

/// The best so far, and how all lay.
struct Seen {
    top: Top,
    spread: Spread,
}

/// The codes of one segment.
struct Part<'a> {
    number: u32,
    segment: &'a Segment,
    vectors: Vectors<'a>,
    trust: Option<ColumnView<'a>>,
    /// A bit for each row that has ended and whose text no newer version may show.
    ended: Vec<u64>,
}

impl<'a> Dense<'a> {
    /// None if the query points nowhere.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub(super) fn new(plan: &'a Plan<'a>, towards: &Towards) -> Result<Option<Self>, Error> {
        let Some(query) = Query::of(&towards.vector, towards.space) else { return Ok(None) };
        let mut parts = Vec::new();
        let segments = plan.snapshot.segments();
        for (number, segment) in segments.iter().enumerate() {
            let vectors = segment.vectors(towards.space.id)?;
            if let Some(vectors) = vectors.filter(|vectors| vectors.space() == towards.space) {
                let trust = segment.column(record::TRUST);
                let number = number as u32;
                let ended = ended(plan, number, segment);
                parts.push(Part { number, segment, vectors, trust, ended });
            }
        }
        Ok(Some(Self {
            plan,
            space: towards.space,
            model: towards.model.clone(),
            query,
            parts,
            now: plan.view.recorded > plan.snapshot.manifest().recorded && !plan.view.backdated,
            trusting: segments.iter().any(|it| it.column(record::TRUST).is_some()),
            spread: OnceLock::new(),
        }))
    }

    /// The cosine of a text with the query, by the row that owns it; none if it has no vector.
    pub(super) fn cosine(&self, text: Place) -> Option<f32> {
        let part = self.parts.iter().find(|part| part.number == text.segment)?;
        let place = part.vectors.place(text.row)?;
        let code = part.vectors.code(place)?;
        Some(self.query.cosine(code, part.vectors.norm(place)))
    }

    /// The texts that have a vector and have not been replaced, as they were written; of a large
    /// store the first of them.
    pub(super) fn texts(&self) -> impl Iterator<Item = Place> {
        let places = self.parts.iter().flat_map(|part| {
            let rows = (0..part.vectors.len()).filter_map(|place| part.vectors.row(place));
            let rows = rows.filter(|row| !part.ended(*row));
            rows.map(|row| Place { segment: part.number, row })
        });
        places.take(SPREAD_OVER)
    }

    /// The cosine of two texts.
    pub(super) fn between(&self, a: Place, b: Place) -> Option<f32> {
        let code = |text: Place| {
            let part = self.parts.iter().find(|part| part.number == text.segment)?;
            let place = part.vectors.place(text.row)?;
            Some((part.vectors.code(place)?, part.vectors.norm(place)))
        };
        let ((a, a_norm), (b, b_norm)) = (code(a)?, code(b)?);
        let products = a.iter().zip(b).map(|(a, b)| i32::from(*a as i8) * i32::from(*b as i8));
        Some(products.sum::<i32>() as f32 * a_norm * b_norm)
    }

    /// The model that spans the space.
    pub(super) fn model(&self) -> &str {
        &self.model
    }

    /// Texts in the space, as far as the spread has counted them. Asked after the ballot.
    pub(super) fn spread_over(&self) -> i64 {
        self.spread.get().map_or(0, |spread| spread.texts)
    }

    /// The texts that point the query's way, best first.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub(super) fn ballot(&self) -> Result<Vec<Entry>, Error> {
        let count: usize = self.parts.iter().map(|part| part.vectors.len()).sum();
        if count >= SKETCHED_FROM && self.now {
            return self.by_sketches(count);
        }
        let parallel = self.plan.parallel.unwrap_or(count >= PARALLEL_FROM);
        let (best, spread) = self.gather(parallel, &self.steps(STEP), &|(at, range), seen| {
            self.compare(&self.parts[*at], range.clone(), seen)
        })?;
        let _ = self.spread.set(spread);
        Ok(best)
    }

    /// How far above the mean of the pack a cosine lies, in standard deviations. Asked after the
    /// ballot.
    pub(super) fn standing(&self, cosine: f32) -> f32 {
        let usual = (self.space == crate::meaning::space()).then_some(USUAL);
        let spread = self.spread.get().copied().unwrap_or_default();
        let (mean, deviation) = spread.mean_and_deviation(usual);
        (cosine - mean) / deviation
    }

    /// The best of what `work` makes of all jobs, and the spread that it saw.
    fn gather<T: Sync>(
        &self,
        parallel: bool,
        jobs: &[T],
        work: &(dyn Fn(&T, &mut Seen) -> Result<(), Error> + Sync),
    ) -> Result<(Vec<Entry>, Spread), Error> {
        let none = || Seen { top: Top::new(self.plan.limit), spread: Spread::default() };
        let run = |mut seen: Seen, job: &T| {
            work(job, &mut seen)?;
            Ok::<_, Error>(seen)
        };
        let seen = match parallel {
            false => jobs.iter().try_fold(none(), run)?,
            true => jobs.par_iter().try_fold(none, run).try_reduce(none, |mut a, b| {
                a.top.merge(b.top);
                a.spread = a.spread.plus(b.spread);
                Ok(a)
            })?,
        };
        Ok((seen.top.into_ranked(), seen.spread))
    }

    /// The codes in runs of at most `step`: the number of the part, and places in it.
    fn steps(&self, step: usize) -> Vec<(usize, Range<usize>)> {
        let mut steps = Vec::new();
        for (at, part) in self.parts.iter().enumerate() {
            let len = part.vectors.len();
            steps.extend((0..len).step_by(step).map(|from| (at, from..len.min(from + step))));
        }
        steps
    }

    /// Compares codes that lie end to end.
    fn compare(&self, part: &Part<'a>, range: Range<usize>, seen: &mut Seen) -> Result<(), Error> {
        let stride = part.vectors.space().stride();
        let codes = part.vectors.codes().get(range.start * stride..range.end * stride);
        let mut dots = Vec::with_capacity(range.len());
        kernel::dots(codes.unwrap_or_default(), &self.query, &mut dots);
        for (place, dot) in range.zip(dots) {
            let cosine = self.query.cosine_of(dot, part.vectors.norm(place));
            if !part.ended(part.vectors.row(place).unwrap_or(u32::MAX)) {
                seen.spread.add(cosine);
            }
            self.consider(part, place, cosine, &mut seen.top)?;
        }
        Ok(())
    }

    /// Lets a text in if it is good enough and the view shows it.
    fn consider(
        &self,
        part: &Part<'a>,
        place: usize,
        cosine: f32,
        top: &mut Top,
    ) -> Result<(), Error> {
        let Some(row) = part.vectors.row(place).filter(|row| *row < part.segment.rows()) else {
            return Err(part.segment.corrupt("vectors", "a vector of no row"));
        };
        let text = Place { segment: part.number, row };
        // The row's own trust, if it is the version that is shown; one that shares its text may
        // have another.
        let own = self.now && self.plan.snapshot.end_of(text).is_none();
        let trust = match (self.trusting, own) {
            (false, _) => score::trust(NULL),
            (true, true) => score::trust(part.trust.map_or(NULL, |trust| trust.get(row))),
            (true, false) => score::TRUST_LIMIT,
        };
        let bound = cosine + TRUST * trust;
        if cosine <= 0.0 || top.floor().is_some_and(|floor| bound < floor) {
            return Ok(());
        }
        let Some(version) = self.plan.admitted(text) else { return Ok(()) };
        let trust = self.plan.snapshot.segment(version).column(record::TRUST);
        let trust = trust.map_or(NULL, |trust| trust.get(version.row));
        top.push(Entry {
            score: cosine + TRUST * score::trust(trust),
            id: part.segment.id(row).unwrap_or_default(),
            version,
            text,
            halves: 0,
            points: 0.0,
        });
        Ok(())
    }

    /// Looks at sketches first: finds the fit that enough texts reach, and compares the codes of
    /// those that reach it, ties included.
    fn by_sketches(&self, count: usize) -> Result<Vec<Entry>, Error> {
        let parallel = self.plan.parallel.unwrap_or(count >= PARALLEL_FROM);
        let steps = self.steps(LOOK);
        let look = |(at, range): &(usize, Range<usize>)| self.look(&self.parts[*at], range.clone());
        let looked: Vec<Looked> = match parallel {
            true => steps.par_iter().map(look).collect::<Result<_, Error>>()?,
            false => steps.iter().map(look).collect::<Result<_, Error>>()?,
        };
        let mut totals = vec![0usize; BUCKETS];
        for looked in &looked {
            let counts = totals.iter_mut().zip(&looked.counts);
            counts.for_each(|(total, count)| *total += *count as usize);
        }
        let shown = totals.iter().skip(1).sum::<usize>();
        let enough = (shown / PROMISING).clamp(PROMISING_LEAST, PROMISING_MOST);
        let mut left = enough.max(4 * self.plan.limit);
        let mut cut = BUCKETS;
        // Bucket 0 holds what is not shown.
        while cut > 1 && left > 0 {
            cut -= 1;
            left = left.saturating_sub(totals.get(cut).copied().unwrap_or_default());
        }
        let promising: Vec<(usize, usize)> = steps
            .iter()
            .zip(&looked)
            .flat_map(|((part, range), looked)| {
                let reached = range.clone().zip(&looked.buckets);
                let reached = reached.filter(|(_, bucket)| usize::from(**bucket) >= cut);
                reached.map(|(place, _)| (*part, place))
            })
            .collect();
        let (best, _) = self.gather(parallel, &promising, &|(at, place), seen| {
            let part = &self.parts[*at];
            let code = part.vectors.code(*place).unwrap_or_default();
            let cosine = self.query.cosine(code, part.vectors.norm(*place));
            self.consider(part, *place, cosine, &mut seen.top)
        })?;
        let _ = self.spread.set(self.first_spread());
        Ok(best)
    }

    /// The spread over the first texts, in the order in which they were written.
    fn first_spread(&self) -> Spread {
        let mut spread = Spread::default();
        let places =
            self.parts.iter().flat_map(|part| (0..part.vectors.len()).map(move |at| (part, at)));
        let shown =
            places.filter(|(part, at)| part.vectors.row(*at).is_some_and(|row| !part.ended(row)));
        for (part, place) in shown.take(SPREAD_OVER) {
            let code = part.vectors.code(place).unwrap_or_default();
            spread.add(self.query.cosine(code, part.vectors.norm(place)));
        }
        spread
    }

    /// How well the sketches of a run of codes fit, in buckets; 0 for what is not shown.
    fn look(&self, part: &Part<'a>, range: Range<usize>) -> Result<Looked, Error> {
        let mut fits = Vec::with_capacity(range.len());
        part.fits(range.clone(), &self.query, &mut fits);
        let kinds = part.segment.column(tag::KIND);
        // Whether a kind is asked for, by its number in the segment.
        let mut wanted: Vec<Option<bool>> = Vec::new();
        let mut counts = vec![0u32; BUCKETS];
        let mut buckets = Vec::with_capacity(range.len());
        for (place, fit) in range.zip(fits) {
            let row = part.vectors.row(place).unwrap_or(u32::MAX);
            let gone = part.ended(row);
            let kind = kinds.map_or(0, |kinds| kinds.get(row)) as usize;
            if kind >= wanted.len() {
                wanted.resize(kind.min(usize::from(u16::MAX)) + 1, None);
            }
            let asked = match wanted.get_mut(kind) {
                _ if gone => false,
                None => true,
                Some(Some(known)) => *known,
                Some(unknown) => *unknown.insert(self.plan.asks_for(part.segment.kind(row)?)),
            };
            let bucket = if asked { 1 + self.query.bucket(fit, BUCKETS - 1) } else { 0 };
            if let Some(count) = counts.get_mut(bucket) {
                *count += 1;
            }
            buckets.push(bucket as u16);
        }
        Ok(Looked { counts, buckets })
    }
}

/// A bit for each row that has ended and whose text no newer version may show.
fn ended(plan: &Plan<'_>, number: u32, segment: &Segment) -> Vec<u64> {
    let mut ended = Vec::new();
    for (row, reason) in plan.snapshot.endings(number) {
        if reason == Reason::Replaced {
            ended.resize(segment.rows().div_ceil(64) as usize, 0u64);
            if let Some(word) = ended.get_mut(row as usize / 64) {
                *word |= 1 << (row % 64);
            }
        }
    }
    ended
}

/// What was seen of a run of sketches.
struct Looked {
    /// How many texts fall into each bucket.
    counts: Vec<u32>,
    /// The bucket of each.
    buckets: Vec<u16>,
}

impl Part<'_> {
    fn ended(&self, row: u32) -> bool {
        self.ended.get(row as usize / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// How well the sketches of a run of codes fit; made from the codes where none are stored.
    fn fits(&self, range: Range<usize>, query: &Query, found: &mut Vec<i32>) {
        let stride = self.vectors.space().stride();
        if let Some(sketches) = self.vectors.sketches() {
            let len = stride / 8;
            let run = sketches.get(range.start * len..range.end * len);
            return kernel::fits(run.unwrap_or_default(), query, found);
        }
        let codes = self.vectors.codes().get(range.start * stride..range.end * stride);
        let sketches = vectors::sketch(codes.unwrap_or_default());
        kernel::fits(&sketches, query, found);
    }
}
