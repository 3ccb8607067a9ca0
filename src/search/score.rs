//! The arithmetic of the two lexical ballots, in one place.
//!
//! The engine and the naive scorer of the tests both call these functions, with the same
//! operations in the same order: then their sums agree to the last bit. Not here: where the
//! numbers come from.
//!
//! Invariants: a longer text never scores higher for the same frequencies, a higher frequency
//! never lower, and a score never falls when one of its parts rises; the engine prunes by that.

use packset_segments::NULL;
use packset_segments::postings::len_of;

use crate::time::{DAY, Micros};

/// The numbers of a BM25+.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bm25 {
    /// How soon a frequency stops counting.
    pub(super) k1: f32,
    /// How much length counts.
    pub(super) b: f32,
    /// What any occurrence is worth beside its frequency (the + of BM25+; Lv and Zhai, 2011).
    pub(super) delta: f32,
}

/// Average length, in tokens, at which length counts half of what it counts at most.
const HALFWAY: f32 = 12.0;

impl Bm25 {
    /// The usual numbers; those of every named way to fuse (behaviour spec, 4.10).
    pub(super) const USUAL: Self = Self { k1: 1.2, b: 0.75, delta: 1.0 };

    /// The numbers that texts of an average length want: of one-line claims the length says
    /// little (b of 0.3 to 0.4 measured best on them), of abstracts much (0.7), and between them it
    /// goes over evenly. With that a delta only buries short answers under long texts.
    pub(super) fn of(average: f32) -> Self {
        Self { b: 0.75 * average / (average + HALFWAY), delta: 0.0, ..Self::USUAL }
    }

    /// What a term adds to a score. `weight` is its idf times its occurrences in the query.
    #[inline]
    pub(super) fn part(&self, weight: f32, frequency: u32, norm: f32) -> f32 {
        let frequency = frequency as f32;
        weight * (frequency * (self.k1 + 1.0) / (frequency + norm) + self.delta)
    }

    /// What no [`Bm25::part`] of that weight reaches.
    pub(super) fn ceiling(&self, weight: f32) -> f32 {
        weight * (self.k1 + 1.0 + self.delta)
    }

    /// The length part of the denominator, for every length code.
    pub(super) fn norms(&self, corpus: &Corpus) -> Box<[f32; 256]> {
        let average = corpus.average();
        let mut norms = Box::new([0.0; 256]);
        for (code, norm) in norms.iter_mut().enumerate() {
            *norm = self.k1 * (1.0 - self.b + self.b * len_of(code as u8) / average);
        }
        norms
    }
}

/// Days after which recency is worth half.
pub(super) const HALF_LIFE_DAYS: f64 = 14.0;
/// What full trust adds to a score.
const TRUST_WEIGHT: f32 = 0.1;
/// Trust past this says no more: a bound that lets the engine skip most rows unread.
pub(super) const TRUST_LIMIT: f32 = 10.0;
/// What a due review adds to a scan score.
pub(super) const DUE_BONUS: f32 = 2.0;

/// What a match is worth, in halves: a token equals a term of the text.
pub(super) const EQUAL: u8 = 8;
/// A term starts with the token.
pub(super) const PREFIX: u8 = 6;
/// A term holds the token.
pub(super) const WITHIN: u8 = 4;
/// A term is one edit away from the token.
pub(super) const EDIT: u8 = 3;

/// What a corpus says of itself: live texts, and tokens in them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Corpus {
    pub(super) texts: i64,
    pub(super) tokens: i64,
}

impl Corpus {
    /// The inverse document frequency of a term that `df` live texts hold.
    ///
    /// A view of the past may find texts that are no longer live: then at least one is counted.
    pub(super) fn idf(&self, df: i64) -> f32 {
        let df = df.max(0) as f64;
        let texts = (self.texts.max(0) as f64).max(df);
        ((texts - df + 0.5) / (df + 0.5)).ln_1p() as f32
    }

    /// Tokens of a text on average; one if there is none.
    pub(super) fn average(&self) -> f32 {
        match self.texts > 0 && self.tokens > 0 {
            true => (self.tokens as f64 / self.texts as f64) as f32,
            false => 1.0,
        }
    }
}

/// What a row adds to its ballot scores beside the match.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extras {
    pub(super) trust: f32,
    pub(super) recency: f32,
    pub(super) due: bool,
}

/// The scan score of a match sum in halves.
pub(super) fn scan(halves: u16, extras: &Extras) -> f32 {
    let due = if extras.due { DUE_BONUS } else { 0.0 };
    f32::from(halves) * 0.5 + TRUST_WEIGHT * extras.trust + extras.recency + due
}

/// The BM25+ score of a sum of parts.
pub(super) fn bm25(points: f32, extras: &Extras) -> f32 {
    points + TRUST_WEIGHT * extras.trust + extras.recency
}

/// How fresh a text is, in (0, 1]; a text without a time or from the future is fresh.
pub(super) fn recency(ts: i64, now: Micros) -> f32 {
    if ts == NULL {
        return 1.0;
    }
    let days = now.0.saturating_sub(ts).max(0) as f64 / DAY as f64;
    (-days / HALF_LIFE_DAYS).exp2() as f32
}

/// An `f32` from a column that stores its bits.
pub(super) fn float(bits: i64) -> Option<f32> {
    let bits = u32::try_from(bits).ok()?;
    Some(f32::from_bits(bits)).filter(|value| value.is_finite())
}

/// Trust from its column: 1 if the record says none.
pub(super) fn trust(bits: i64) -> f32 {
    float(bits).unwrap_or(1.0).clamp(-TRUST_LIMIT, TRUST_LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recency_halves_in_a_fortnight_and_never_exceeds_one() {
        let now = Micros(1_780_000_000_000_000);
        assert_eq!(recency(now.0, now), 1.0);
        assert_eq!(recency(now.0 - 14 * DAY, now), 0.5);
        assert_eq!(recency(now.0 - 42 * DAY, now), 0.125);
        assert_eq!(recency(now.0 + DAY, now), 1.0);
        assert_eq!(recency(NULL, now), 1.0);
        assert_eq!(recency(i64::MIN, Micros(i64::MAX)), 0.0);
    }

    #[test]
    fn trust_is_one_unless_it_is_a_number() {
        let bits = |value: f32| i64::from(value.to_bits());
        assert_eq!(trust(NULL), 1.0);
        assert_eq!(trust(bits(0.4)), 0.4);
        assert_eq!(trust(bits(-0.5)), -0.5);
        assert_eq!(trust(bits(1e30)), 10.0);
        assert_eq!(trust(bits(f32::NAN)), 1.0);
        assert_eq!(trust(-1), 1.0);
    }

    #[test]
    fn statistics_of_any_corpus_give_positive_weights() {
        let idf = |texts, df| Corpus { texts, tokens: 0 }.idf(df);
        assert!((idf(10, 1) - (1.0f32 + 9.5 / 1.5).ln()).abs() < 1e-6);
        // Every text holds it; more texts hold it than are live; nothing is live.
        assert!((idf(10, 10) - (1.0f32 + 0.5 / 10.5).ln()).abs() < 1e-6);
        for (texts, df) in [(3, 9), (0, 0), (0, 1), (-4, -4), (i64::MAX, i64::MAX)] {
            assert!(idf(texts, df) > 0.0 && idf(texts, df).is_finite(), "{texts} {df}");
        }
        // An average of no tokens is one token.
        let norms = Bm25::USUAL.norms(&Corpus { texts: 0, tokens: 0 });
        assert!((norms[1] - 1.2).abs() < 1e-6);
        assert!(norms.is_sorted());
    }

    #[test]
    fn what_length_says_follows_the_average_length() {
        // 0.75 times 12 / 24, 4 / 16, 108 / 120.
        for (average, b) in [(12.0, 0.375), (4.0, 0.1875), (108.0, 0.675)] {
            assert!((Bm25::of(average).b - b).abs() < 1e-6, "{average}");
        }
        assert_eq!((Bm25::of(9.0).k1, Bm25::of(9.0).delta), (1.2, 0.0));
    }

    #[test]
    fn a_part_stays_below_its_ceiling() {
        let norms = Bm25::USUAL.norms(&Corpus { texts: 4, tokens: 40 });
        // Frequency 3, length 20 of an average of 10: 1.2 * (0.25 + 1.5) = 2.1.
        assert!((Bm25::USUAL.part(2.0, 3, norms[20]) - 2.0 * (6.6 / 5.1 + 1.0)).abs() < 1e-6);
        let usual = Bm25::USUAL;
        assert!(usual.part(2.0, u32::MAX, norms[0]) <= usual.ceiling(2.0) * 1.0001);
    }
}
