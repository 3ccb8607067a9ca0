//! The default way to make one list of the ballots: scores on one scale, added, and a text judged
//! in the company it was written in.
//!
//! A candidate's *words* are its BM25+ points over the best candidate's, its *meaning* its cosine
//! over the best one's; the score is their weighed sum. Scores measured better than ranks on every
//! set tried: a rank says that a text is first, not that it is far ahead, so that one ballot's
//! noise buries the other's find. Where texts say in which session they were written, each also
//! gets a share of what its neighbours there have, two before and two after: an answer stands
//! beside its question more often than it repeats it.
//!
//! Not here: the other ways ([`super::panel`]), how words and vectors score. Invariants: the
//! score of a candidate depends on the query, the corpus and the best candidate, not on how many
//! there are; the order is total; without vectors words alone decide, and without sessions no
//! neighbour does.

use std::collections::BTreeMap;

use packset_segments::{Error, NULL};
use rustc_hash::FxHashMap;

use super::dense::Dense;
use super::engine::{self, Plan};
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
/// What the next neighbour gives of its words, and of its meaning; the one after gives half.
const WORDS_OF_NEIGHBOURS: f32 = 0.3;
const MEANING_OF_NEIGHBOURS: f32 = 0.5;
/// What matching in part (a prefix, a piece, one edit) weighs among words.
const LOOSE: f32 = 0.1;

/// A space that takes part: the name of its ballot, and its texts if it has any.
pub(super) type Meant<'a> = (&'static str, Option<Dense<'a>>);

/// What each space weighs, words having the rest: a static table half, a model more, because it
/// knows more; beside a model the static table adds little.
fn weights(spaces: &[Meant<'_>]) -> (f32, Vec<f32>) {
    let model = spaces.iter().any(|(name, _)| *name != STATIC);
    let weight = |(name, _): &Meant<'_>| match (*name == STATIC, model) {
        (true, false) => 0.5,
        (true, true) => 0.1,
        (false, _) => 0.5,
    };
    let all: Vec<f32> = spaces.iter().map(weight).collect();
    (1.0 - all.iter().sum::<f32>(), all)
}

/// The share of the query that a text carries by itself, from 0 to 1: what it has of the words,
/// loosely and strictly, and its cosines.
pub(super) fn share(
    spaces: &[Meant<'_>],
    (loose, strict): (f32, f32),
    cosines: &[Option<f32>],
) -> f32 {
    let (of_words, of_spaces) = weights(spaces);
    let meaning = cosines.iter().zip(of_spaces);
    let meaning: f32 = meaning.map(|(cosine, of)| of * cosine.unwrap_or(0.0).max(0.0)).sum();
    (of_words * ((1.0 - LOOSE) * strict + LOOSE * loose) + meaning).min(1.0)
}

/// The ballot of the static table.
pub(super) const STATIC: &str = "static";

/// What a text has by itself.
#[derive(Clone, Copy, Default)]
struct Own {
    points: f32,
    halves: u16,
}

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
    let mut own: BTreeMap<Place, Own> = BTreeMap::new();
    let mut near: FxHashMap<Place, Vec<(Place, f32)>> = FxHashMap::default();
    if let Some(plan) = plan {
        let company = Company::of(plan);
        let claims = |entry: &&Entry| (entry.text.segment as usize) < company.segments;
        for entry in candidates.iter().filter(claims) {
            near.entry(entry.text).or_insert_with(|| company.neighbours(entry.text));
        }
        introduce(plan, heads, &near, candidates);
        for entry in candidates.iter().filter(claims) {
            near.entry(entry.text).or_insert_with(|| company.neighbours(entry.text));
        }
        // Of a ballot of words the points are known; of other texts they are worked out.
        let unknown = near.values().flatten().map(|(text, _)| *text).chain(near.keys().copied());
        let mut unknown: Vec<Place> = unknown.collect();
        unknown.sort_unstable();
        unknown.dedup();
        let points = engine::points_of(plan, words, &unknown)?;
        own.extend(
            unknown.into_iter().zip(points.into_iter().map(|points| Own { points, halves: 0 })),
        );
    }
    for entry in candidates.iter_mut() {
        let own = own.entry(entry.text).or_default();
        own.points = own.points.max(entry.points);
        own.halves = own.halves.max(entry.halves);
        entry.points = own.points;
    }

    let lent = |text: Place, of: &dyn Fn(Place) -> f32| -> (f32, f32) {
        let near = near.get(&text).map_or(&[][..], Vec::as_slice);
        near.iter().fold((0.0, 0.0), |(sum, weights), (text, weight)| {
            (sum + weight * of(*text), weights + weight)
        })
    };
    let points = |text: Place| own.get(&text).map_or(0.0, |own| own.points);
    let strict: Vec<f32> = candidates
        .iter()
        .map(|entry| points(entry.text) + WORDS_OF_NEIGHBOURS * lent(entry.text, &points).0)
        .collect();
    let halves = |entry: &Entry| own.get(&entry.text).map_or(0.0, |own| f32::from(own.halves));
    let loose: Vec<f32> = candidates.iter().map(halves).collect();
    let (strict, loose) = (over_best(strict), over_best(loose));
    let (of_words, of_spaces) = weights(spaces);
    let mut scores: Vec<f32> = strict
        .iter()
        .zip(&loose)
        .map(|(strict, loose)| of_words * ((1.0 - LOOSE) * strict + LOOSE * loose))
        .collect();
    for ((_, dense), weight) in spaces.iter().zip(of_spaces) {
        let Some(dense) = dense else { continue };
        let cosine = |text: Place| dense.cosine(text).unwrap_or(0.0).max(0.0);
        let mut known: FxHashMap<Place, f32> = FxHashMap::default();
        for entry in &*candidates {
            known.entry(entry.text).or_insert_with(|| cosine(entry.text));
            for (text, _) in near.get(&entry.text).into_iter().flatten() {
                known.entry(*text).or_insert_with(|| cosine(*text));
            }
        }
        let of = |text: Place| known.get(&text).copied().unwrap_or_default();
        let meaning = candidates.iter().map(|entry| {
            let (sum, weights) = lent(entry.text, &of);
            let mean = if weights > 0.0 { sum / weights } else { 0.0 };
            of(entry.text) + MEANING_OF_NEIGHBOURS * mean
        });
        for (score, meaning) in scores.iter_mut().zip(over_best(meaning.collect())) {
            *score += weight * meaning;
        }
    }
    Ok(scores)
}

/// Numbers over the greatest of them; nothing where that is nothing.
fn over_best(mut numbers: Vec<f32>) -> Vec<f32> {
    let best = numbers.iter().copied().fold(0.0, f32::max);
    let scale = if best > 0.0 { 1.0 / best } else { 0.0 };
    numbers.iter_mut().for_each(|number| *number *= scale);
    numbers
}

/// Adds the neighbours of the first of each ballot that the view shows and the query asks for.
fn introduce(
    plan: &Plan<'_>,
    heads: &[Vec<usize>],
    near: &FxHashMap<Place, Vec<(Place, f32)>>,
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
        .map(|(text, _)| *text)
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

    /// The texts of the same session that were written just before and just after, nearest first
    /// on each side, with what each weighs.
    fn neighbours(&self, text: Place) -> Vec<(Place, f32)> {
        let mut found = Vec::new();
        let session = if self.any { self.session(text) } else { NULL };
        if session == NULL {
            return found;
        }
        for forward in [false, true] {
            let mut at = text;
            let mut weight = 1.0;
            let mut left = REACH;
            for _ in 0..LOOK {
                let Some(next) = self.beside(at, forward) else { break };
                at = next;
                if self.session(at) == session && self.plan.admitted(at).is_some() {
                    found.push((at, weight));
                    weight *= 0.5;
                    left -= 1;
                }
                if left == 0 {
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
