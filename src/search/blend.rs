//! The default way to make one list of the ballots: scores on one scale, added, and a text judged
//! in the company it was written in.
//!
//! A candidate's *words* are its BM25 points over the best candidate's, its *meaning* is how many
//! standard deviations its cosine lies above the mean of the pack; the score is their weighed sum.
//! Scores measured better than ranks on every set tried: a rank says that a text is first, not
//! that it is far ahead, so that one ballot's noise buries the other's find. Where texts say in
//! which session they were written, each is also judged by its neighbours there, two before and two
//! after: an answer stands beside its question more often than it repeats it.
//!
//! Not here: the other ways ([`super::panel`]), how words and vectors score. Invariants: the
//! score of a candidate depends on the query, the corpus and the best candidate, not on how many
//! there are; the order is total; without vectors words alone decide, and without sessions no
//! neighbour does.

use std::cell::RefCell;

use packset_segments::{Error, NULL};
use rustc_hash::FxHashMap;

use super::dense::Dense;
use super::engine::{self, Plan};
use super::score::Bm25;
use super::top::Entry;
use super::words::Word;
use crate::pack::record;
use crate::pack::snapshot::Place;

/// Texts of each ballot that are candidates at least: more changed no score on any set tried.
pub(super) const CANDIDATES: usize = 64;
/// Of each ballot the neighbours of so many become candidates too.
const INTRODUCING: usize = 32;
/// Neighbours on each side.
const REACH: usize = 2;
/// Rows on each side among which they are looked for: other sessions may write in between.
const LOOK: u32 = 24;
/// What a neighbour lends of its words, nearest first: on a plateau from (.3, .2) to (.5, .3).
const LENT: [f32; REACH] = [0.4, 0.2];
/// What it weighs in the meaning of the company, and what the company weighs.
const COMPANY: [f32; REACH] = [1.0, 0.5];
const OF_COMPANY: f32 = 0.3;
/// The best by words counts as carrying at least this share of the query: where hardly a word is
/// found at all, the best of little is not as good as the best of much.
const LEAST_BEST: f32 = 0.4;
/// What one standard deviation of cosines weighs against all of the words: by a static table, and
/// by a model, which knows more.
const BY_TABLE: f32 = 0.08;
const BY_MODEL: f32 = 0.2;
/// A text without a word of the query stands on meaning alone, and is named from so many
/// deviations on.
const MEANT: f32 = 1.0;
/// Neighbours are believed in full where they are this much more alike than any two texts of the
/// pack; conversations measured 0.13 to 0.21, shuffled texts 0.00.
const COHERENT: f32 = 0.1;
/// Pairs of neighbours whose likeness is looked at, at most.
const PAIRS: usize = 1000;
/// So many pairs that are not alike are supposed beside those that there are.
const UNPROVEN: f32 = 20.0;
/// What a match in part (a prefix, a piece, one edit) weighs where no word is found at all; the
/// best having this much of the words, such matches are noise.
const LOOSE: f32 = 0.3;
const LITTLE: f32 = 0.25;

/// A space that takes part: the name of its ballot, and its texts if it has any.
pub(super) type Meant<'a> = (&'static str, Option<Dense<'a>>);

/// The share of the query that a text carries by itself, from 0 to 1: of its words, strictly or
/// loosely, and of its meaning, each half.
pub(super) fn share((loose, strict): (f32, f32), cosine: Option<f32>) -> f32 {
    let words = strict.max(LOOSE * loose);
    match cosine {
        Some(cosine) => ((words + cosine.max(0.0)) / 2.0).min(1.0),
        None => words.min(1.0),
    }
}

/// The ballot of the static table.
pub(super) const STATIC: &str = "static";

/// Adds the neighbours of the first candidates of each ballot to the candidates, and gives every
/// candidate its score. `heads` are the ballots, as numbers of candidates, best first.
///
/// # Errors
/// [`Error::Corrupt`].
pub(super) fn scores(
    plan: Option<&Plan<'_>>,
    words: &[Word],
    spaces: &[Meant<'_>],
    heads: &[Vec<usize>],
    candidates: &mut Vec<Entry>,
) -> Result<Vec<f32>, Error> {
    let Some(plan) = plan else {
        // Without claims there are paragraphs of cards alone, which words decide about.
        return Ok(candidates.iter().map(|entry| f32::from(entry.halves)).collect());
    };
    let company = Company::of(plan);
    let mut near: FxHashMap<Place, Vec<Neighbour>> = FxHashMap::default();
    let meet = |near: &mut FxHashMap<Place, Vec<Neighbour>>, candidates: &[Entry]| {
        for entry in candidates.iter().filter(|entry| company.has(entry.text)) {
            near.entry(entry.text).or_insert_with(|| company.neighbours(entry.text));
        }
    };
    meet(&mut near, candidates);
    introduce(plan, heads, &near, candidates);
    meet(&mut near, candidates);
    let gate = company.gate(spaces);

    let strict = strict(plan, words, &near, gate, candidates)?;
    let best = candidates.iter().map(|entry| entry.halves).max().unwrap_or(0).max(1);
    // A misspelt or half a word matters where hardly a word is found.
    let found = strict.iter().copied().fold(0f32, f32::max);
    let loose = LOOSE * (1.0 - found / LITTLE).max(0.0);
    let meaning: Vec<Meaning<'_>> = spaces.iter().filter_map(Meaning::of).collect();
    let mut scores = Vec::with_capacity(candidates.len());
    for (entry, strict) in candidates.iter().zip(strict) {
        let words = strict + loose * f32::from(entry.halves) / f32::from(best);
        // What a model knows of a text the static table need not say again.
        let own = meaning.iter().rev().find_map(|it| Some((it, it.standing(entry.text)?)));
        let meant = own.map_or(0.0, |(meaning, own)| {
            let (mut sum, mut weights) = (0.0, 0.0);
            for neighbour in near.get(&entry.text).into_iter().flatten() {
                if let Some(theirs) = meaning.standing(neighbour.text) {
                    sum += COMPANY[neighbour.distance] * theirs;
                    weights += COMPANY[neighbour.distance];
                }
            }
            let of_company = if weights > 0.0 { OF_COMPANY * gate } else { 0.0 };
            let company = if weights > 0.0 { sum / weights } else { 0.0 };
            meaning.weight * ((1.0 - of_company) * own + of_company * company)
        });
        let named = words > 0.0 || own.is_some_and(|(_, own)| own >= MEANT);
        scores.push(if named { words + meant } else { f32::MIN });
    }
    Ok(scores)
}

/// A space in which candidates are looked up many times.
struct Meaning<'a> {
    dense: &'a Dense<'a>,
    weight: f32,
    known: RefCell<FxHashMap<Place, Option<f32>>>,
}

impl<'a> Meaning<'a> {
    fn of((name, dense): &'a Meant<'a>) -> Option<Self> {
        let weight = if *name == STATIC { BY_TABLE } else { BY_MODEL };
        Some(Self { dense: dense.as_ref()?, weight, known: RefCell::default() })
    }

    /// How many deviations above the mean a text lies; none if it has no vector.
    fn standing(&self, text: Place) -> Option<f32> {
        let mut known = self.known.borrow_mut();
        let cosine = || Some(self.dense.standing(self.dense.cosine(text)?));
        *known.entry(text).or_insert_with(cosine)
    }
}

/// What each candidate has of the words, over the best of them: BM25 in which a text's neighbours
/// lend it part of their words, and of their length. Gives every candidate its own points, too.
fn strict(
    plan: &Plan<'_>,
    words: &[Word],
    near: &FxHashMap<Place, Vec<Neighbour>>,
    gate: f32,
    candidates: &mut [Entry],
) -> Result<Vec<f32>, Error> {
    let neighbours = near.values().flatten().map(|neighbour| neighbour.text);
    let mut texts: Vec<Place> = neighbours.chain(near.keys().copied()).collect();
    texts.sort_unstable();
    texts.dedup();
    let frequencies = engine::frequencies_of(plan.snapshot, words, &texts)?;
    let of = |text: Place| {
        let at = texts.binary_search(&text).ok()?;
        let own = frequencies.get(at * words.len()..(at + 1) * words.len())?;
        Some((own, engine::length_of(plan.snapshot, text)))
    };
    let average = engine::corpus_of(plan.snapshot, plan.corpus).average();
    let Bm25 { k1, b, .. } = plan.formula;
    let points = |frequencies: &[f32], length: f32| -> f32 {
        let norm = k1 * (1.0 - b + b * length / average);
        let part = |(word, frequency): (&Word, &f32)| match *frequency > 0.0 {
            true => word.weight * frequency * (k1 + 1.0) / (frequency + norm),
            false => 0.0,
        };
        words.iter().zip(frequencies).map(part).sum()
    };
    let mut all = Vec::with_capacity(candidates.len());
    let mut lent = vec![0f32; words.len()];
    for entry in candidates {
        let Some((own, length)) = of(entry.text) else {
            // A paragraph of a card has no company, and its points are known.
            all.push(entry.points);
            continue;
        };
        lent.iter_mut().zip(own).for_each(|(lent, own)| *lent = *own as f32);
        entry.points = points(&lent, length);
        let (mut lengths, mut weights) = (length, 1.0);
        for neighbour in near.get(&entry.text).into_iter().flatten() {
            let Some((theirs, length)) = of(neighbour.text) else { continue };
            let weight = gate * LENT[neighbour.distance];
            lent.iter_mut().zip(theirs).for_each(|(lent, own)| *lent += weight * *own as f32);
            lengths += weight * length;
            weights += weight;
        }
        all.push(points(&lent, lengths / weights));
    }
    let ideal: f32 = words.iter().map(|word| plan.formula.ceiling(word.weight)).sum();
    let best = all.iter().copied().fold(LEAST_BEST * ideal, f32::max);
    let scale = if best > 0.0 { 1.0 / best } else { 0.0 };
    Ok(all.into_iter().map(|points| points * scale).collect())
}

/// Adds the neighbours of the first of each ballot that the view shows and the query asks for.
fn introduce(
    plan: &Plan<'_>,
    heads: &[Vec<usize>],
    near: &FxHashMap<Place, Vec<Neighbour>>,
    candidates: &mut Vec<Entry>,
) {
    let mut known: Vec<Place> = candidates.iter().map(|entry| entry.text).collect();
    known.sort_unstable();
    let first = heads.iter().flat_map(|head| head.iter().take(INTRODUCING));
    let first: Vec<Place> = first.filter_map(|at| Some(candidates.get(*at)?.text)).collect();
    let mut new: Vec<Place> = first
        .iter()
        .filter_map(|text| near.get(text))
        .flatten()
        .map(|neighbour| neighbour.text)
        .filter(|text| known.binary_search(text).is_err())
        .collect();
    new.sort_unstable();
    new.dedup();
    for text in new {
        let Some(version) = plan.admitted(text) else { continue };
        let id = plan.snapshot.segment(text).id(text.row).unwrap_or_default();
        candidates.push(Entry { score: 0.0, id, version, text, halves: 0, points: 0.0 });
    }
}

/// A text that was written beside another one.
struct Neighbour {
    text: Place,
    /// From 0.
    distance: usize,
}

/// Who was written beside whom.
struct Company<'a> {
    plan: &'a Plan<'a>,
    segments: usize,
    /// Whether any text says its session.
    any: bool,
}

impl<'a> Company<'a> {
    fn of(plan: &'a Plan<'a>) -> Self {
        let segments = plan.snapshot.segments();
        let any = segments.iter().any(|segment| segment.column(record::SESSION).is_some());
        Self { plan, segments: segments.len(), any }
    }

    fn session(&self, text: Place) -> i64 {
        let column = self.plan.snapshot.segment(text).column(record::SESSION);
        column.map_or(NULL, |column| column.get(text.row))
    }

    /// How far neighbours are believed, from 0 to 1: by how much more alike the neighbours of this
    /// pack are than any two of its texts. Sessions that were made of unrelated claims lend
    /// nothing, and a few pairs prove nothing. Without vectors a declared session is taken at its
    /// word. Looks at no more than 2,000 pairs of vectors.
    fn gate(&self, spaces: &[Meant<'_>]) -> f32 {
        if !self.any {
            return 0.0;
        }
        let Some(dense) = spaces.iter().find_map(|(_, dense)| dense.as_ref()) else { return 1.0 };
        let texts: Vec<Place> = dense.texts().collect();
        let beside = texts.windows(2).filter_map(|pair| match pair {
            [a, b] => {
                let session = self.session(*a);
                (session != NULL && session == self.session(*b)).then_some((*a, *b))
            }
            _ => None,
        });
        let beside: Vec<(Place, Place)> = beside.collect();
        let (half, step) = (texts.len() / 2, (beside.len() / PAIRS).max(1));
        let any = (0..half).step_by((half / PAIRS).max(1)).map(|at| (texts[at], texts[at + half]));
        let alike = |pairs: &mut dyn Iterator<Item = (Place, Place)>| -> f32 {
            let (mut sum, mut count) = (0f64, 0u32);
            for cosine in pairs.filter_map(|(a, b)| dense.between(a, b)) {
                sum += f64::from(cosine);
                count += 1;
            }
            (sum / f64::from(count.max(1))) as f32
        };
        let chance = alike(&mut any.into_iter());
        let theirs = alike(&mut beside.iter().step_by(step).copied());
        let coherence = (theirs - chance) / (1.0 - chance).max(0.01);
        let pairs = beside.len() as f32;
        (coherence / COHERENT).clamp(0.0, 1.0) * pairs / (pairs + UNPROVEN)
    }

    /// Whether a place is that of a claim.
    fn has(&self, text: Place) -> bool {
        (text.segment as usize) < self.segments
    }

    /// The texts of the same session that were written just before and just after.
    fn neighbours(&self, text: Place) -> Vec<Neighbour> {
        let mut found = Vec::new();
        let session = if self.any { self.session(text) } else { NULL };
        if session == NULL {
            return found;
        }
        for forward in [false, true] {
            let mut at = text;
            let mut distance = 0;
            for _ in 0..LOOK {
                let Some(next) = self.beside(at, forward) else { break };
                at = next;
                if self.session(at) == session && self.plan.admitted(at).is_some() {
                    found.push(Neighbour { text: at, distance });
                    distance += 1;
                }
                if distance == REACH {
                    break;
                }
            }
        }
        found
    }

    /// The row before or after, in the segment before or after where one ends.
    fn beside(&self, at: Place, forward: bool) -> Option<Place> {
        let segments = self.plan.snapshot.segments();
        let rows = |number: u32| segments.get(number as usize).map_or(0, |segment| segment.rows());
        if forward {
            if at.row + 1 < rows(at.segment) {
                return Some(Place { row: at.row + 1, ..at });
            }
            let next = (at.segment + 1..segments.len() as u32).find(|number| rows(*number) > 0)?;
            return Some(Place { segment: next, row: 0 });
        }
        if at.row > 0 {
            return Some(Place { row: at.row - 1, ..at });
        }
        let before = (0..at.segment).rev().find(|number| rows(*number) > 0)?;
        Some(Place { segment: before, row: rows(before) - 1 })
    }
}
