//! From the words of a query to the rows of one segment.
//!
//! A word of the query matches a text by the best of four classes: a term of the text equals it,
//! starts with it, holds it, or is one edit away. The terms of a segment lie end to end in its
//! dictionary, so the last three are found by searching those bytes, never the texts. A match by
//! equality stays a posting list that is walked later; the rows of the other classes are few and
//! are gathered here once per segment.
//!
//! Not here: scores, visibility. Invariant: of several classes that a row matches a word by, the
//! best counts.

use std::ops::Range;

use memchr::arch::all::packedpair::HeuristicFrequencyRank;
use memchr::memmem::FinderBuilder;
use packset_segments::{Error, Segment, Terms};

use super::score::{Bm25, Corpus, EDIT, EQUAL, PREFIX, WITHIN};
use crate::text::{Tokenizer, edit_one, spaceless};

/// A query is cut to this many tokens: a long page of text. Match sums then fit 16 bits.
pub(super) const MAX_TOKENS: usize = 1024;

/// Shorter tokens match by equality alone: three letters are part of too many words.
const LOOSE_CHARS: usize = 4;

/// Most bytes by which one character more can lengthen a term.
const MAX_CHAR_BYTES: usize = 4;

/// Gathered rows become bitmaps when they are more than one in so many: below it, sorting them
/// costs less than clearing three bits for every row of the segment.
const FEW: u32 = 256;

/// So many rows are always few. The tests want both shapes.
const ALWAYS_FEW: u64 = if cfg!(test) { 8 } else { 64 };

/// One distinct word of the query.
pub(super) struct Word {
    /// The corpus byte, then the word.
    key: Vec<u8>,
    /// How often the query has it.
    pub(super) count: u16,
    /// Whether it matches terms that begin with it or hold it.
    part: bool,
    /// Whether it matches terms one edit away.
    edit: bool,
    /// Its inverse document frequency times its count.
    pub(super) weight: f32,
    /// What it adds to the score of a text that holds it once, by length code.
    pub(super) once: Box<[f32; 256]>,
}

/// Words that make a question or a sentence and name nothing, beside the stop words, which the
/// index leaves out; with their stems. The index has these, so that a text is found by them when
/// the query has no other.
const JOINING: [&str; 50] = [
    "about", "after", "all", "also", "am", "ani", "any", "becaus", "because", "befor", "before",
    "did", "each", "had", "has", "have", "he", "her", "here", "him", "his", "how", "i", "into",
    "just", "may", "might", "must", "no", "nor", "onli", "only", "other", "over", "she", "so",
    "some", "such", "their", "them", "there", "they", "too", "us", "veri", "very", "was", "were",
    "whi", "why",
];

/// Leaves out the words that only join others, unless there are no others.
pub(super) fn without_joining(words: &mut Vec<Word>, tokens: &mut u32) {
    let joins = |word: &Word| JOINING.iter().any(|joining| joining.as_bytes() == word.text());
    if !words.iter().all(joins) {
        let left = words.iter().filter(|word| joins(word)).map(|word| u32::from(word.count));
        *tokens = tokens.saturating_sub(left.sum());
        words.retain(|word| !joins(word));
    }
}

/// The distinct words of `text` in order of first occurrence, and the number of tokens.
pub(super) fn of_query(tokenizer: &mut Tokenizer, text: &str, corpus: u8) -> (Vec<Word>, u32) {
    let mut words: Vec<Word> = Vec::new();
    let mut tokens = 0;
    tokenizer.terms(text, &mut |term| {
        if tokens as usize == MAX_TOKENS {
            return;
        }
        tokens += 1;
        match words.iter_mut().find(|word| word.text() == term.as_bytes()) {
            Some(word) => word.count += 1,
            None => words.push(Word::new(term, corpus)),
        }
    });
    (words, tokens)
}

impl Word {
    fn new(term: &str, corpus: u8) -> Self {
        let mut key = Vec::with_capacity(term.len() + 1);
        key.push(corpus);
        key.extend_from_slice(term.as_bytes());
        let long = term.chars().nth(LOOSE_CHARS - 1).is_some();
        Self {
            key,
            count: 1,
            // A script without spaces says in one character what others say in a word; but an
            // edit would replace half of a word there.
            part: long || spaceless(term),
            edit: long,
            weight: 0.0,
            once: Box::new([0.0; 256]),
        }
    }

    pub(super) fn text(&self) -> &[u8] {
        self.key.get(1..).unwrap_or_default()
    }

    /// The class by which the word matches a term, in halves; 0 if it does not.
    pub(super) fn class_of(&self, term: &str) -> u8 {
        let Ok(text) = std::str::from_utf8(self.text()) else { return 0 };
        if term == text {
            EQUAL
        } else if self.part && term.starts_with(text) {
            PREFIX
        } else if self.part && term.contains(text) {
            WITHIN
        } else if self.edit && edit_one(text, term) {
            EDIT
        } else {
            0
        }
    }

    /// The number of the term that equals the word.
    pub(super) fn exact(&self, terms: &Terms<'_>) -> Option<u32> {
        terms.find(&self.key)
    }

    /// Sets what the word is worth, from the number of live texts that hold it.
    pub(super) fn weigh(&mut self, corpus: &Corpus, df: i64, formula: &Bm25, norms: &[f32; 256]) {
        self.weight = corpus.idf(df) * f32::from(self.count);
        for (once, norm) in self.once.iter_mut().zip(norms) {
            *once = formula.part(self.weight, 1, *norm);
        }
    }

    /// About what [`Word::near`] costs in a segment, in postings.
    pub(super) fn effort(&self, terms: &Terms<'_>, corpus: u8) -> usize {
        if self.part { terms.run(terms.corpus(corpus)).0.len() / SCAN_BYTES } else { 0 }
    }

    /// Rows of the segment that match the word by another class than equality.
    ///
    /// # Errors
    /// [`Error::Corrupt`].
    pub(super) fn near(
        &self,
        segment: &Segment,
        terms: &Terms<'_>,
        exact: Option<u32>,
    ) -> Result<Near, Error> {
        let mut found: Vec<(u32, u8)> = Vec::new();
        let mut rows = 0u64;
        if self.part {
            self.near_terms(terms, &mut |term, class| {
                if Some(term) != exact && terms.rows(term) > 0 {
                    rows += u64::from(terms.rows(term));
                    found.push((term, class));
                }
            });
        }
        Near::gather(segment, terms, &found, rows)
    }

    /// Terms of the dictionary that the word is part of or one edit away from, and the class;
    /// the term that equals it comes as one that starts with it.
    fn near_terms(&self, terms: &Terms<'_>, visit: &mut dyn FnMut(u32, u8)) {
        let Some((corpus, text)) = self.key.split_first() else { return };
        let all = terms.corpus(*corpus);
        let starting = terms.with_prefix(&self.key);
        starting.clone().for_each(|term| visit(term, PREFIX));

        let (bytes, start) = terms.run(all.clone());
        let mut from = 0;
        let finder = FinderBuilder::new().build_forward_with_ranker(Rank(*corpus), text);
        while let Some(hit) = bytes.get(from..).and_then(|rest| finder.find(rest)) {
            from += hit + 1;
            if let Some((term, _, end)) = terms.at_offset(start + from - 1) {
                if !starting.contains(&term) {
                    visit(term, WITHIN);
                }
                from = from.max(end.saturating_sub(start));
            }
        }
        if self.edit {
            self.edited(terms, all, &starting, visit);
        }
    }

    /// Terms one edit away. An edit leaves the first or the second half of a word whole.
    fn edited(
        &self,
        terms: &Terms<'_>,
        all: Range<u32>,
        starting: &Range<u32>,
        visit: &mut dyn FnMut(u32, u8),
    ) {
        let Some((corpus, text)) = self.key.split_first() else { return };
        let Ok(word) = std::str::from_utf8(text) else { return };
        let middle = word.chars().count() / 2;
        let middle = word.char_indices().nth(middle).map_or(0, |(at, _)| at);
        let (head, tail) = text.split_at(middle);
        let inside = memchr::memmem::Finder::new(text);
        let edited = |term: &[u8]| {
            term.len().abs_diff(text.len()) <= MAX_CHAR_BYTES
                && std::str::from_utf8(term).is_ok_and(|term| edit_one(term, word))
                && inside.find(term).is_none()
        };

        let mut key = vec![*corpus];
        key.extend_from_slice(head);
        let heads = terms.with_prefix(&key);
        for term in heads.clone().filter(|term| !starting.contains(term)) {
            if terms.term(term).get(1..).is_some_and(&edited) {
                visit(term, EDIT);
            }
        }

        // The byte after a term is the corpus byte of the next one, and stands nowhere else: it
        // makes a needle that only ends of terms match. The last term has none after it.
        let (bytes, start) = terms.run(all.clone());
        let mut needle = tail.to_vec();
        needle.push(*corpus);
        let finder = FinderBuilder::new().build_forward_with_ranker(Rank(*corpus), &needle);
        for hit in finder.find_iter(bytes) {
            let end = hit + tail.len();
            let least = end.saturating_sub(text.len() + MAX_CHAR_BYTES + 1);
            let Some(before) = bytes.get(least..hit) else { continue };
            let Some(border) = memchr::memrchr(*corpus, before) else { continue };
            if bytes.get(least + border + 1..end).is_some_and(&edited)
                && let Some((term, ..)) = terms.at_offset(start + hit)
                && !heads.contains(&term)
            {
                visit(term, EDIT);
            }
        }
        let last = all.end.saturating_sub(1);
        if all.contains(&last)
            && !heads.contains(&last)
            && terms.term(last).get(1..).is_some_and(|term| term.ends_with(tail) && edited(term))
        {
            visit(last, EDIT);
        }
    }
}

/// Bytes of dictionary that are searched in the time that one posting takes.
const SCAN_BYTES: usize = 8;

/// Tells the search for rare bytes that in a dictionary the corpus byte is the most common one.
struct Rank(u8);

impl HeuristicFrequencyRank for Rank {
    fn rank(&self, byte: u8) -> u8 {
        // Frequent to rare, as in English words and numbers; any other byte is rare.
        const COMMON: &[u8] = b"etaoinsrhldcumfpgwybvkxjqz0123456789_-.";
        if byte == self.0 {
            return u8::MAX;
        }
        match COMMON.iter().position(|common| *common == byte) {
            Some(at) => 250 - 4 * at as u8,
            None => 60,
        }
    }
}

/// Rows that match a word, each with its best class.
pub(super) enum Near {
    /// In row order.
    Few(Vec<(u32, u8)>),
    /// A bit per row for each class, best class first.
    Many([(u8, Vec<u64>); 3]),
}

impl Near {
    fn gather(
        segment: &Segment,
        terms: &Terms<'_>,
        found: &[(u32, u8)],
        rows: u64,
    ) -> Result<Self, Error> {
        let damaged = |_| segment.corrupt("postings", "a list that no writer made");
        let limit = u64::from(segment.rows() / FEW) + ALWAYS_FEW;
        if rows <= limit {
            let mut few = Vec::with_capacity(rows as usize);
            for (term, class) in found {
                let mut cursor = terms.cursor(*term)?;
                cursor.walk(u32::MAX, |row, _| few.push((row, *class))).map_err(damaged)?;
            }
            few.sort_unstable_by_key(|(row, class)| (*row, u8::MAX - class));
            few.dedup_by_key(|(row, _)| *row);
            return Ok(Self::Few(few));
        }
        let words = segment.rows().div_ceil(64) as usize;
        let mut many = [PREFIX, WITHIN, EDIT].map(|class| (class, Vec::new()));
        for (class, bits) in &mut many {
            for (term, _) in found.iter().filter(|(_, found)| found == class) {
                bits.resize(words, 0u64);
                let mut cursor = terms.cursor(*term)?;
                let set = |row: u32, _| {
                    if let Some(word) = bits.get_mut(row as usize / 64) {
                        *word |= 1 << (row % 64);
                    }
                };
                cursor.walk(u32::MAX, set).map_err(damaged)?;
            }
        }
        Ok(Self::Many(many))
    }

    /// The first row not below `from`.
    pub(super) fn next(&self, from: u32) -> Option<u32> {
        match self {
            Self::Few(few) => {
                let at = few.partition_point(|(row, _)| *row < from);
                few.get(at).map(|(row, _)| *row)
            }
            Self::Many(many) => {
                let next = |bits: &[u64]| {
                    let mut at = from as usize / 64;
                    let mut word = bits.get(at)? & (u64::MAX << (from % 64));
                    while word == 0 {
                        at += 1;
                        word = *bits.get(at)?;
                    }
                    Some(at as u32 * 64 + word.trailing_zeros())
                };
                many.iter().filter_map(|(_, bits)| next(bits)).min()
            }
        }
    }

    /// Calls `visit` with the rows in `start..end` and their classes. Both ends are multiples of 64
    /// or the end of the segment.
    pub(super) fn each(&self, start: u32, end: u32, mut visit: impl FnMut(u32, u8)) {
        match self {
            Self::Few(few) => {
                let first = few.partition_point(|(row, _)| *row < start);
                let rest = few.get(first..).unwrap_or_default();
                for (row, class) in rest.iter().take_while(|(row, _)| *row < end) {
                    visit(*row, *class);
                }
            }
            Self::Many(many) => {
                for at in start / 64..end.div_ceil(64) {
                    let mut seen = 0;
                    for (class, bits) in many {
                        let Some(word) = bits.get(at as usize) else { continue };
                        let mut fresh = word & !seen;
                        seen |= word;
                        while fresh != 0 {
                            visit(at * 64 + fresh.trailing_zeros(), *class);
                            fresh &= fresh - 1;
                        }
                    }
                }
            }
        }
    }

    /// How many rows about.
    pub(super) fn effort(&self) -> usize {
        match self {
            Self::Few(few) => few.len(),
            // Postings were counted against this limit; bitmaps cost a word per 64 rows to walk.
            Self::Many(many) => many.iter().map(|(_, bits)| 8 * bits.len()).sum(),
        }
    }
}
