//! How sure an answer is: whether the first hit answers the question, or is merely the nearest.
//!
//! A logistic of what the first hit has by itself: the share of the query's words, by their idf,
//! and how far its cosine stands out of the pack. It was fitted on five public sets with half of
//! the questions' answers taken out of the pack, and is calibrated to some ten points: of answers
//! that say 0.6 about 60 in 100 are answers. Not here: ranking. Invariant: from 0 to 1, and never
//! less for more words or a nearer meaning.

/// Below this an answer is said to be none. A tenth of the right answers lie below it, and four in
/// ten of the wrong ones; of questions about what a pack never heard of nearly all.
pub const THRESHOLD: f32 = 0.33;

/// Texts from which a pack's own size counts: of few, one always stands out.
const FEWEST: f32 = 8.0;

/// What the first hit means, in one space.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meant<'a> {
    /// The model.
    pub(super) model: &'a str,
    /// Its cosine with the query.
    pub(super) cosine: f32,
    /// The same in standard deviations above the mean of the pack.
    pub(super) standing: f32,
    /// Texts in the space.
    pub(super) texts: i64,
}

/// Constant, then what covering, standing and cosine weigh: by words alone, by the static table,
/// which serves for a model that was not measured, and by the models that were.
const BY_WORDS: [f32; 4] = [-1.5, 2.3, 0.0, 0.0];
const BY_TABLE: [f32; 4] = [-2.4, 2.8, 1.2, 0.0];
const BY_MODEL: [(&str, [f32; 4]); 2] =
    [("bge-small", [-2.9, 2.8, 1.3, 0.75]), ("minilm", [-2.8, 2.8, 0.45, 2.0])];

/// The confidence of an answer whose first hit covers a share of the query's words.
pub(super) fn of(covered: f32, meant: Option<Meant<'_>>) -> f32 {
    let (standing, cosine) = meant.map_or((0.0, 0.0), |meant| {
        // The greatest of N numbers of a normal law is about the root of 2 ln N: so packs of
        // thirty texts and of a million compare.
        let most = (2.0 * (meant.texts as f32).max(FEWEST).ln()).sqrt();
        (meant.standing / most, meant.cosine)
    });
    let weights = meant.map_or(BY_WORDS, |meant| {
        let known = BY_MODEL.iter().find(|(model, _)| *model == meant.model);
        known.map_or(BY_TABLE, |(_, weights)| *weights)
    });
    let [constant, a, b, c] = weights;
    let sum = constant + a * covered + b * standing + c * cosine;
    1.0 / (1.0 + (-sum).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_words_and_a_nearer_meaning_are_surer() {
        let meant = |standing, texts| Some(Meant { model: "any", cosine: 0.5, standing, texts });
        // -2.4 + 2.8 + 1.2 * 3 / sqrt(2 ln 90) = 0.4 + 1.2: sigma(1.6) = 0.832.
        assert!((of(1.0, meant(3.0, 90)) - 0.832).abs() < 1e-3);
        // Nothing known: sigma(-2.4) = 0.083, below the threshold; by words alone sigma(-1.5).
        assert!((of(0.0, meant(0.0, 90)) - 0.0832).abs() < 1e-3);
        assert!((of(0.0, None) - 0.1824).abs() < 1e-3);
        assert!(of(0.5, meant(3.0, 90)) < of(0.6, meant(3.0, 90)));
        assert!(of(0.5, meant(2.0, 90)) < of(0.5, meant(3.0, 90)));
        // The same standing says less in a larger pack, and a pack of one is as one of eight.
        assert!(of(0.5, meant(3.0, 1_000_000)) < of(0.5, meant(3.0, 30)));
        assert_eq!(of(0.5, meant(3.0, 1)), of(0.5, meant(3.0, 8)));
        assert!(of(0.0, None) < THRESHOLD && of(1.0, None) > THRESHOLD);
    }
}
