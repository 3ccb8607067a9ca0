//! How text becomes index terms, for documents and queries alike.
//!
//! A word gives its stem, a compound (`tasks_claim`, `v0.29.1`, `getUserName`) gives itself and its
//! parts, and scripts written without spaces give character bigrams. It is not a search engine: it
//! knows no fields, no weights and no files, and it does no I/O.
//!
//! Invariants: every term is non-empty, folded in case, and at most [`MAX_TERM_BYTES`] long; white
//! space always separates, so the terms of `a + " " + b` are those of `a`, then those of `b`; work
//! and memory are linear in the text.

mod near;
mod script;
mod stem;
#[cfg(test)]
mod tests;
mod words;

pub use near::{each_word, edit_one, word_set};

pub use stem::is_stop_word;

use stem::Stems;
use words::{DIGIT, JOINER, Piece, UPPER, WIDE};

/// Name of these rules, written to the manifest.
pub const ID: &str = "packset-words";

/// Version of these rules, written to the manifest beside [`ID`].
///
/// Any change of what a text gives raises it. That includes a new Unicode version in
/// `unicode-normalization` or the standard library, and a new Snowball version in `rust-stemmers`:
/// the same text must give the same terms for as long as a segment names the same version.
pub const VERSION: u32 = 1;

/// The longest term, in bytes of UTF-8.
///
/// A longer word is cut at a character boundary, so that a base64 blob or a minified line does not
/// bloat the dictionary and yet is found by its head. 64 holds a SHA-256 in hex, which is the
/// longest single word that people paste to find something again.
pub const MAX_TERM_BYTES: usize = 64;

/// The longest word that is read for camelCase, in bytes.
///
/// Random letters are full of case changes: without a limit each kilobyte of base64 would add
/// hundreds of two-letter terms. Twice the longest term leaves room for a qualified Java class.
const CAMEL_WORD_BYTES: usize = 2 * MAX_TERM_BYTES;

/// The shortest run of ASCII letters that stands as a term of its own in a word with diacritics:
/// two letters say too little to be worth a posting.
const MIN_ASCII_RUN: usize = 3;

/// Whether a term comes from a script that writes no spaces: then it is a character or a pair of
/// them, however long the word it stands in.
pub fn spaceless(term: &str) -> bool {
    term.chars().next().is_some_and(|first| script::spaceless(first).is_some())
}

/// Turns text into terms.
///
/// It holds a stem cache and scratch space, so keep one per thread and use it again.
pub struct Tokenizer {
    normal: String,
    maker: Maker,
}

impl Tokenizer {
    /// A tokenizer with an empty cache; `stem` says whether English words are reduced to stems.
    pub fn new(stem: bool) -> Self {
        let stems = stem.then(Stems::new);
        let maker = Maker { stems, folded: String::new(), bare: String::new() };
        Self { normal: String::new(), maker }
    }

    /// Whether it reduces English words to stems.
    pub fn stems(&self) -> bool {
        self.maker.stems.is_some()
    }

    /// Calls `sink` with each term of `text`, in order, repeats included.
    ///
    /// Linear in the text. ASCII text is neither copied nor allocated for, except for words that
    /// hold capitals and for stems seen for the first time.
    pub fn terms(&mut self, text: &str, sink: &mut dyn FnMut(&str)) {
        let Self { normal, maker } = self;
        words::split(text, normal, &mut |piece| match piece {
            Piece::Word(word, marks) => maker.word(word, marks, sink),
            Piece::Run(run) => script::bigrams(run, sink),
        });
    }

    /// The terms of `text` as a list.
    pub fn collect(&mut self, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        self.terms(text, &mut |term| terms.push(term.to_owned()));
        terms
    }
}

/// Makes the terms of one word.
struct Maker {
    stems: Option<Stems>,
    /// The word in hand, case folded and cut.
    folded: String,
    /// The same without combining marks.
    bare: String,
}

impl Maker {
    fn word(&mut self, word: &str, marks: u8, sink: &mut dyn FnMut(&str)) {
        if marks & JOINER == 0 {
            return self.part(word, marks, sink);
        }
        self.whole(word, marks, sink);
        for part in word.split(words::is_joiner).filter(|part| long_enough(part)) {
            self.part(part, words::marks(part), sink);
        }
    }

    /// A word without joiners, alone or inside a compound.
    fn part(&mut self, word: &str, marks: u8, sink: &mut dyn FnMut(&str)) {
        let border = if marks & UPPER == 0 || word.len() > CAMEL_WORD_BYTES {
            None
        } else {
            words::camel_border(word)
        };
        let Some(border) = border else {
            return self.plain(word, marks, sink);
        };
        if !self.whole(word, marks, sink) {
            return;
        }
        let mut next = Some(border);
        let mut rest = word;
        while !rest.is_empty() {
            let (hump, tail) = rest.split_at(next.unwrap_or(rest.len()));
            if long_enough(hump) {
                self.plain(hump, words::marks(hump), sink);
            }
            rest = tail;
            next = words::camel_border(rest);
        }
    }

    /// A compound as it is written: an identifier is looked up by its exact name, so no stem.
    /// Only a camelCase word is stemmed like a plain one, because it is typed without capitals
    /// as often as with them. False if it is nothing but a stop word in odd case (`iS`).
    fn whole(&mut self, word: &str, marks: u8, sink: &mut dyn FnMut(&str)) -> bool {
        let whole = words::lower(word, marks, &mut self.folded);
        if is_stop_word(whole) {
            return false;
        }
        if marks & (WIDE | JOINER) == 0 {
            ascii(&mut self.stems, whole, marks, sink);
            return true;
        }
        sink(whole);
        if marks & WIDE != 0 && script::is_latin(whole) {
            words::strip(word, &mut self.bare);
            if self.bare != whole && !self.bare.is_empty() {
                sink(&self.bare);
            }
        }
        true
    }

    fn plain(&mut self, word: &str, marks: u8, sink: &mut dyn FnMut(&str)) {
        let Self { stems, folded, bare } = self;
        let whole = words::lower(word, marks, folded);
        if marks & WIDE == 0 {
            return ascii(stems, whole, marks, sink);
        }
        if whole.is_ascii() {
            // Sharp s folds to two ASCII letters.
            return ascii(stems, whole, words::marks(whole), sink);
        }
        sink(whole);
        if !script::is_latin(whole) {
            return;
        }
        // Who types without the accents types a plain word, so these go the way of plain words:
        // `naive` is searched as `naiv`, and that is what must be found here.
        words::strip(word, bare);
        if bare != whole && !bare.is_empty() {
            if bare.is_ascii() {
                ascii(stems, bare, words::marks(bare), sink);
            } else {
                sink(bare);
            }
        }
        // A terminal that lost the accents leaves `caf` of the French word.
        for run in whole.split(|c: char| !c.is_ascii_alphanumeric()) {
            if run.len() >= MIN_ASCII_RUN {
                ascii(stems, run, words::marks(run), sink);
            }
        }
    }
}

/// The term of a lowercase ASCII word. A word as long as the cut may be the head of a longer one,
/// and a head has no meaningful stem.
fn ascii(stems: &mut Option<Stems>, word: &str, marks: u8, sink: &mut dyn FnMut(&str)) {
    if is_stop_word(word) {
        return;
    }
    match stems {
        Some(stems) if marks & DIGIT == 0 && word.len() < MAX_TERM_BYTES => stems.stem(word, sink),
        _ => sink(word),
    }
}

/// Whether a part says more than a single character does.
fn long_enough(part: &str) -> bool {
    part.chars().nth(1).is_some()
}
