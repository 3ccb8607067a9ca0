//! The oracle of the tests: both ballots by reading every text, one after the other.
//!
//! It shares with the engine the arithmetic of `score` (so that floats agree to the last bit) and
//! the tokenizer, and nothing else: no dictionary, no postings, no bounds.

use std::collections::HashMap;

use super::score::{self, Bm25, Corpus, EDIT, EQUAL, Extras, PREFIX, WITHIN};
use crate::text::{Tokenizer, edit_one, spaceless};
use crate::time::Micros;

/// A text with what ranks it.
#[derive(Clone, Debug)]
pub(super) struct Doc {
    pub(super) id: u128,
    pub(super) terms: Vec<String>,
    pub(super) ts: i64,
    pub(super) due: i64,
    pub(super) trust: i64,
}

/// One ballot: record key and score, best first.
pub(super) type Ballot = Vec<(u128, f32)>;

/// The class by which a query token matches a term, in halves.
fn class(token: &str, term: &str) -> u8 {
    let long = token.chars().count() >= 4;
    if token == term {
        EQUAL
    } else if !long && !spaceless(token) {
        0
    } else if term.starts_with(token) {
        PREFIX
    } else if term.contains(token) {
        WITHIN
    } else if long && edit_one(token, term) {
        EDIT
    } else {
        0
    }
}

/// Scan and BM25+ over `docs`, each cut to `limit`. `df` counts live texts by term.
#[expect(clippy::too_many_arguments, reason = "an oracle takes everything as plain values")]
pub(super) fn ballots(
    tokenizer: &mut Tokenizer,
    query: &str,
    docs: &[Doc],
    corpus: &Corpus,
    df: &HashMap<String, i64>,
    now: Micros,
    recency: bool,
    limit: usize,
) -> [Ballot; 2] {
    let mut words: Vec<(String, u16)> = Vec::new();
    for token in tokenizer.collect(query) {
        match words.iter_mut().find(|(word, _)| *word == token) {
            Some((_, count)) => *count += 1,
            None => words.push((token, 1)),
        }
    }
    let usual = Bm25::USUAL;
    let norms = usual.norms(corpus);
    let (mut scan, mut bm25) = (Vec::new(), Vec::new());
    for doc in docs {
        let norm = norms[usize::from(packset_segments::postings::len_code(doc.terms.len() as u32))];
        let (mut halves, mut points) = (0, 0.0);
        for (word, count) in &words {
            let best = doc.terms.iter().map(|term| class(word, term)).max().unwrap_or(0);
            halves += u16::from(best) * count;
            let frequency = doc.terms.iter().filter(|term| *term == word).count() as u32;
            if frequency > 0 {
                let df = df.get(word).copied().unwrap_or(0).max(1);
                points += usual.part(corpus.idf(df) * f32::from(*count), frequency, norm);
            }
        }
        let extras = Extras {
            trust: score::trust(doc.trust),
            recency: if recency { score::recency(doc.ts, now) } else { 0.0 },
            due: doc.due <= now.0,
        };
        if halves > 0 {
            scan.push((doc.id, score::scan(halves, &extras)));
        }
        if points > 0.0 {
            bm25.push((doc.id, score::bm25(points, &extras)));
        }
    }
    for ballot in [&mut scan, &mut bm25] {
        ballot.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        ballot.truncate(limit);
    }
    [scan, bm25]
}
