//! The panel: how ballots become one list.
//!
//! A ballot is one scorer's ranked list. The panel fuses the ballots, lets claims fade that
//! nobody has reviewed, and thins out near copies. It is pure arithmetic over candidate numbers:
//! what a candidate is (a claim, a paragraph of a card) is the business of whoever numbers them.
//!
//! Invariants: every candidate that a ballot names comes out exactly once unless the limit cuts
//! it; ties keep the order in which candidates were numbered; no step depends on thread or time.

use std::str::FromStr;

use crate::review::retrievability;

/// Votes of least this spread are worth a full step of a normalised ballot: one day of recency
/// at a half-life of 14 days is 1 - 0.5^(1/14) = 0.048. A smaller gap between the best and the
/// worst vote is nearly a tie, and must not be blown up to "all against nothing".
const LEAST_SPREAD: f64 = 0.05;

/// Added to a position before it is inverted (Cormack, Clarke and Buettcher, 2009).
const RRF_K: f64 = 60.0;

/// Kemeny tries every order of this many candidates (2^8 subsets); past it, Borda decides.
const KEMENY_LIMIT: usize = 8;

/// Schulze and ranked pairs cost the cube of the number of candidates: 256^3 steps are about
/// 15 ms. Past it, Borda decides.
const PAIRS_LIMIT: usize = 256;

/// How much relevance weighs against novelty in maximal marginal relevance.
const MMR_LAMBDA: f64 = 0.7;

/// The least spread of weights that diversifying tells apart.
const MMR_SPREAD: f64 = 1e-9;

/// The weight that even the most forgotten claim keeps.
const DECAY_FLOOR: f64 = 0.25;

/// The most that [`Decay::Gentle`] takes.
const GENTLE: f64 = 0.1;

/// Days after which [`Decay::On`] halves a weight.
const HALF_LIFE_DAYS: f64 = 14.0;

/// One scorer's list: candidate and score, best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ballot {
    /// The scorer.
    pub name: &'static str,
    /// Candidates and their scores, best first.
    pub votes: Vec<(usize, f32)>,
}

/// A name that no part of the panel bears.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} {given:?}: one of {known}")]
pub struct UnknownName {
    what: &'static str,
    given: String,
    known: String,
}

macro_rules! named {
    ($type:ident, $what:literal, $($name:literal $(or $other:literal)? => $value:ident),+) => {
        impl $type {
            /// The name by which it is asked for.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)+
                }
            }
        }

        impl FromStr for $type {
            type Err = UnknownName;

            fn from_str(name: &str) -> Result<Self, UnknownName> {
                match name {
                    $($name $(| $other)? => Ok(Self::$value),)+
                    _ => Err(UnknownName {
                        what: $what,
                        given: name.to_owned(),
                        known: [$($name),+].join(", "),
                    }),
                }
            }
        }
    };
}

/// How ballots become one order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fuse {
    /// Scores on one scale, and what a text's neighbours have (`blend`).
    Blend,
    /// Sum of normalised scores times the number of ballots that name the candidate.
    #[default]
    CombMnz,
    /// Sum of normalised scores.
    CombSum,
    /// Sum of 1 / (60 + position).
    Rrf,
    /// Sum of limit - position.
    Borda,
    /// Sum of 1 / position.
    Dowdall,
    /// The order that contradicts the fewest pairwise votes; exact up to 8 candidates.
    Kemeny,
    /// Number of won beatpaths.
    Schulze,
    /// Pairwise wins less losses.
    Copeland,
    /// Ranked pairs: strongest majorities first, none that closes a circle.
    Tideman,
}

named!(Fuse, "fusion", "blend" => Blend, "combmnz" => CombMnz, "combsum" => CombSum, "rrf" => Rrf,
    "borda" => Borda, "dowdall" => Dowdall, "kemeny" => Kemeny, "schulze" => Schulze,
    "copeland" => Copeland, "tideman" => Tideman);

/// How near copies make way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Diversify {
    /// Maximal marginal relevance.
    #[default]
    Mmr,
    /// Greedy determinantal point process.
    Dpp,
    /// They do not.
    None,
}

named!(Diversify, "diversity", "mmr" => Mmr, "dpp" => Dpp, "none" => None);

/// How a claim fades.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Decay {
    /// By the chance that it would still be recalled, from its own review.
    #[default]
    Fsrs,
    /// By a tenth of what [`Decay::Fsrs`] takes: enough to decide between equals.
    Gentle,
    /// By half every 14 days since it was written.
    On,
    /// Not at all.
    Off,
}

named!(Decay, "decay", "fsrs" or "retrievability" => Fsrs, "gentle" => Gentle, "on" => On,
    "off" => Off);

/// What a claim's weight fades by.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Age {
    /// Days since it was first written.
    pub written: Option<f64>,
    /// Days since its last review.
    pub reviewed: Option<f64>,
    /// Its stability in days; 1 if it has none.
    pub stability: Option<f32>,
}

impl Decay {
    /// The weight, in (0, 1].
    pub fn weight(self, age: &Age) -> f32 {
        let days = match self {
            Self::Off => None,
            Self::On => age.written,
            Self::Fsrs | Self::Gentle => age.reviewed.or(age.written),
        };
        let Some(days) = days.map(|days| days.max(0.0)) else { return 1.0 };
        if self == Self::On {
            return (-days / HALF_LIFE_DAYS).exp2() as f32;
        }
        // No number at all counts as the first stability, as one that is not positive does.
        let stability = age.stability.map_or(f64::NAN, f64::from);
        let recalled = retrievability(days, stability);
        match self {
            Self::Gentle => (1.0 - GENTLE + GENTLE * recalled) as f32,
            _ => recalled.max(DECAY_FLOOR) as f32,
        }
    }
}

/// The three choices that make a panel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Panel {
    /// How ballots become one order.
    pub fuse: Fuse,
    /// How near copies make way.
    pub diversify: Diversify,
    /// How a claim fades.
    pub decay: Decay,
}

impl Panel {
    /// What searches by meaning use unless another is asked for, because it measured best on every
    /// set tried (README, *Search*). The default of the type is what the known program does.
    pub const BEST: Self =
        Self { fuse: Fuse::Blend, diversify: Diversify::None, decay: Decay::Gentle };

    /// The final order of the candidates `0..fades.len()`, at most `limit` of them. `fades` holds
    /// the [`Decay::weight`] of each, `words` the word set of each (empty sets are like nothing;
    /// no sets are needed for [`Diversify::None`]).
    pub fn order(
        &self,
        ballots: &[Ballot],
        fades: &[f32],
        words: &[Words],
        limit: usize,
    ) -> Vec<usize> {
        let fused = self.fuse.order(ballots, fades.len(), limit);
        let count = fused.len();
        let mut weighed: Vec<(usize, f64)> = fused
            .into_iter()
            .enumerate()
            .map(|(at, candidate)| (candidate, (count - at) as f64 * f64::from(fades[candidate])))
            .collect();
        weighed.sort_by(|a, b| b.1.total_cmp(&a.1));
        self.diversify.order(&weighed, words, limit)
    }
}

/// How often each pair of candidates was preferred, one way and the other.
struct Pairs {
    count: usize,
    /// `votes[a * count + b]`: ballots that prefer a to b.
    votes: Vec<u32>,
}

impl Pairs {
    fn of(ballots: &[Ballot], count: usize) -> Self {
        let mut votes = vec![0u32; count * count];
        let mut position = vec![usize::MAX; count];
        for ballot in ballots {
            position.fill(usize::MAX);
            for (at, (candidate, _)) in ballot.votes.iter().enumerate() {
                position[*candidate] = at;
            }
            // A candidate that a ballot names beats one that it does not name.
            for a in 0..count {
                for b in 0..count {
                    votes[a * count + b] += u32::from(position[a] < position[b]);
                }
            }
        }
        Self { count, votes }
    }

    fn get(&self, a: usize, b: usize) -> u32 {
        self.votes[a * self.count + b]
    }
}

/// Candidates by falling points; ties by number.
fn by_points(points: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|a, b| points[*b].total_cmp(&points[*a]));
    order
}

fn tally(ballots: &[Ballot], count: usize, value: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut points = vec![0.0; count];
    for ballot in ballots {
        for (at, (candidate, _)) in ballot.votes.iter().enumerate() {
            points[*candidate] += value(at);
        }
    }
    by_points(&points)
}

fn combine(ballots: &[Ballot], count: usize, times_ballots: bool) -> Vec<usize> {
    let mut points = vec![0.0; count];
    let mut named = vec![0u32; count];
    for ballot in ballots {
        let scores = || ballot.votes.iter().map(|(_, score)| f64::from(*score));
        let highest = scores().fold(f64::MIN, f64::max);
        let lowest = scores().fold(f64::MAX, f64::min);
        let spread = (highest - lowest).max(LEAST_SPREAD);
        for (candidate, score) in &ballot.votes {
            points[*candidate] += 1.0 - (highest - f64::from(*score)) / spread;
            named[*candidate] += 1;
        }
    }
    if times_ballots {
        for (points, named) in points.iter_mut().zip(named) {
            *points *= f64::from(named);
        }
    }
    by_points(&points)
}

/// The best order, by dynamic programming over the sets of candidates still to be placed. Of
/// equally good orders the one that follows the numbering longest.
fn kemeny(pairs: &Pairs) -> Vec<usize> {
    let count = pairs.count;
    let mut cost = vec![0u32; 1 << count];
    let mut first = vec![0usize; 1 << count];
    for set in 1usize..1 << count {
        let members = || (0..count).filter(move |member| set >> member & 1 == 1);
        let choices = members().map(|head| {
            let against: u32 = members().map(|other| pairs.get(other, head)).sum();
            (against + cost[set & !(1 << head)], head)
        });
        if let Some((least, head)) = choices.min() {
            cost[set] = least;
            first[set] = head;
        }
    }
    let mut left = (1usize << count) - 1;
    let mut order = Vec::with_capacity(count);
    while left != 0 {
        order.push(first[left]);
        left &= !(1 << first[left]);
    }
    order
}

fn schulze(pairs: &Pairs) -> Vec<usize> {
    let count = pairs.count;
    let mut path: Vec<u32> = (0..count * count)
        .map(|at| {
            let (a, b) = (at / count, at % count);
            if pairs.get(a, b) > pairs.get(b, a) { pairs.get(a, b) } else { 0 }
        })
        .collect();
    for middle in 0..count {
        for a in 0..count {
            let to_middle = path[a * count + middle];
            for b in 0..count {
                let through = to_middle.min(path[middle * count + b]);
                path[a * count + b] = path[a * count + b].max(through);
            }
        }
    }
    let wins = |a: usize| {
        let won = |b: &usize| path[a * count + b] > path[b * count + a];
        (0..count).filter(|b| *b != a).filter(won).count() as f64
    };
    by_points(&(0..count).map(wins).collect::<Vec<_>>())
}

fn copeland(pairs: &Pairs) -> Vec<usize> {
    let balance = |a: usize| {
        let versus = |b: usize| match pairs.get(a, b).cmp(&pairs.get(b, a)) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Less => -1.0,
            std::cmp::Ordering::Equal => 0.0,
        };
        (0..pairs.count).map(versus).sum()
    };
    by_points(&(0..pairs.count).map(balance).collect::<Vec<_>>())
}

fn tideman(pairs: &Pairs) -> Vec<usize> {
    let count = pairs.count;
    let mut majorities: Vec<(u32, u32, usize, usize)> = (0..count * count)
        .map(|at| (at / count, at % count))
        .filter(|(a, b)| pairs.get(*a, *b) > pairs.get(*b, *a))
        .map(|(a, b)| (pairs.get(a, b) - pairs.get(b, a), pairs.get(a, b), a, b))
        .collect();
    // Stable: majorities of one strength keep the order of the numbering.
    majorities.sort_by_key(|(margin, votes, ..)| std::cmp::Reverse((*margin, *votes)));
    let words = count.div_ceil(64);
    // Bit b of row a: a stands above b, directly or through others.
    let mut above = vec![0u64; count * words];
    let has = |above: &[u64], a: usize, b: usize| above[a * words + b / 64] >> (b % 64) & 1 == 1;
    for (_, _, winner, loser) in majorities {
        if has(&above, loser, winner) || has(&above, winner, loser) {
            continue;
        }
        let below = above[loser * words..][..words].to_vec();
        for a in (0..count).filter(|a| *a == winner || has(&above, *a, winner)).collect::<Vec<_>>()
        {
            for (word, more) in above[a * words..][..words].iter_mut().zip(&below) {
                *word |= more;
            }
            above[a * words + loser / 64] |= 1 << (loser % 64);
        }
    }
    let mut left: Vec<usize> = (0..count).collect();
    let mut order = Vec::with_capacity(count);
    while !left.is_empty() {
        let head = left.iter().position(|b| !left.iter().any(|a| has(&above, *a, *b)));
        order.push(left.remove(head.unwrap_or(0)));
    }
    order
}

impl Fuse {
    /// The candidates `0..count` in the order that the ballots give them together. Each must
    /// stand on a ballot, and on each ballot at most once; `limit` is what ballots were cut to.
    pub fn order(self, ballots: &[Ballot], count: usize, limit: usize) -> Vec<usize> {
        let borda = || tally(ballots, count, |at| limit.saturating_sub(at) as f64);
        let pairs = || Pairs::of(ballots, count);
        match self {
            // A blend needs more than ballots; of these it makes the nearest.
            Self::Blend | Self::CombSum => combine(ballots, count, false),
            Self::CombMnz => combine(ballots, count, true),
            Self::Rrf => tally(ballots, count, |at| 1.0 / (RRF_K + 1.0 + at as f64)),
            Self::Borda => borda(),
            Self::Dowdall => tally(ballots, count, |at| 1.0 / (1.0 + at as f64)),
            Self::Kemeny if count <= KEMENY_LIMIT => kemeny(&pairs()),
            Self::Schulze if count <= PAIRS_LIMIT => schulze(&pairs()),
            Self::Tideman if count <= PAIRS_LIMIT => tideman(&pairs()),
            Self::Copeland if count <= PAIRS_LIMIT => copeland(&pairs()),
            Self::Kemeny | Self::Schulze | Self::Tideman | Self::Copeland => borda(),
        }
    }
}

/// The sorted numbers of the words of a text.
pub type Words = Vec<u32>;

fn jaccard(a: &[u32], b: &[u32]) -> f64 {
    let (mut i, mut j, mut shared) = (0, 0, 0usize);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        i += usize::from(x <= y);
        j += usize::from(y <= x);
        shared += usize::from(x == y);
    }
    match a.len() + b.len() - shared {
        0 => 0.0,
        union => shared as f64 / union as f64,
    }
}

impl Diversify {
    /// Reorders `order`, candidates with their weights by falling weight, and cuts to `limit`.
    /// `words` holds the word set of each candidate by its number.
    ///
    /// Costs `limit` comparisons of word sets per candidate.
    pub fn order(self, order: &[(usize, f64)], words: &[Words], limit: usize) -> Vec<usize> {
        if self == Self::None {
            return order.iter().take(limit).map(|(candidate, _)| *candidate).collect();
        }
        let weights = || order.iter().map(|(_, weight)| *weight);
        let lowest = weights().fold(f64::MAX, f64::min);
        let spread = (weights().fold(f64::MIN, f64::max) - lowest).max(MMR_SPREAD);
        let relevance: Vec<f64> = weights().map(|weight| (weight - lowest) / spread).collect();
        let likeness = |a: usize, b: usize| match (words.get(order[a].0), words.get(order[b].0)) {
            (Some(a), Some(b)) => jaccard(a, b),
            _ => 0.0,
        };
        let picked = match self {
            Self::Dpp => dpp(&relevance, likeness, limit),
            _ => mmr(&relevance, likeness, limit),
        };
        picked.into_iter().map(|at| order[at].0).collect()
    }
}

/// The place of the greatest value; the first of equals.
fn greatest(left: &[usize], value: impl Fn(usize) -> f64) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (place, at) in left.iter().enumerate() {
        let value = value(*at);
        if best.is_none_or(|(_, most)| value > most) {
            best = Some((place, value));
        }
    }
    best.map(|(place, _)| place)
}

fn mmr(relevance: &[f64], likeness: impl Fn(usize, usize) -> f64, limit: usize) -> Vec<usize> {
    let mut left: Vec<usize> = (0..relevance.len()).collect();
    let mut nearest = vec![0f64; relevance.len()];
    let mut picked = Vec::with_capacity(limit.min(left.len()));
    while picked.len() < limit {
        let value = |at: usize| MMR_LAMBDA * relevance[at] - (1.0 - MMR_LAMBDA) * nearest[at];
        let Some(place) = greatest(&left, value) else { break };
        let next = left.remove(place);
        for at in &left {
            nearest[*at] = nearest[*at].max(likeness(*at, next));
        }
        picked.push(next);
    }
    picked
}

/// Greedy choice by the determinant of `relevance * likeness * relevance`, through the columns
/// of its Cholesky factor. What adds no volume any more follows by weight.
fn dpp(relevance: &[f64], likeness: impl Fn(usize, usize) -> f64, limit: usize) -> Vec<usize> {
    let mut left: Vec<usize> = (0..relevance.len()).collect();
    let mut volume: Vec<f64> = relevance.iter().map(|relevance| relevance * relevance).collect();
    let mut factor: Vec<Vec<f64>> = vec![Vec::new(); relevance.len()];
    let mut picked = Vec::with_capacity(limit.min(left.len()));
    while picked.len() < limit {
        let Some(place) = greatest(&left, |at| volume[at]) else { break };
        if volume[left[place]] <= MMR_SPREAD {
            picked.extend(left.iter().take(limit - picked.len()));
            break;
        }
        let next = left.remove(place);
        let column = std::mem::take(&mut factor[next]);
        for at in &left {
            let entry = relevance[*at] * relevance[next] * likeness(*at, next);
            let known: f64 = column.iter().zip(&factor[*at]).map(|(a, b)| a * b).sum();
            let step = (entry - known) / volume[next].sqrt();
            factor[*at].push(step);
            volume[*at] -= step * step;
        }
        picked.push(next);
    }
    picked
}

#[cfg(test)]
mod tests;
