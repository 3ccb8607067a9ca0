//! Stop words, and English stems remembered per tokenizer.
//!
//! Not a language detector: every word of ASCII letters is taken for English, because claims about
//! code are, and because a wrong stem is harmless while documents and queries share it.

use rust_stemmers::{Algorithm, Stemmer};
use xxhash_rust::xxh3::xxh3_64;

/// Stems remembered. English prose of any length uses some 30 000 words; beyond that the rest are
/// names, and at about 36 bytes an entry a full cache takes 2 to 3 MiB per thread.
const MAX_KNOWN: usize = 64 * 1024;

/// Slots of the table at first: a query or a claim needs no more.
const FIRST_SLOTS: usize = 256;

/// Words this short never change under the English rules.
const UNSTEMMED_BYTES: usize = 2;

/// The longest stop word, in bytes.
const MAX_STOP_BYTES: usize = 6;

/// The English stemmer and the stems it gave.
///
/// An import asks for a stem millions of times, and most of the cost is waiting for memory: so a
/// word and its stem lie side by side in one buffer, and one table of hashes leads there.
pub(super) struct Stems {
    english: Stemmer,
    /// Of each known word: its length, its stem's length, the word, the stem.
    known: Vec<u8>,
    /// Half of a word's hash, and where the word stands plus one; zero where there is none. A
    /// power of two long, at most half full.
    table: Vec<(u32, u32)>,
    /// Words known.
    count: usize,
    /// Most of them.
    limit: usize,
}

/// Where a word stands in the table, or would.
enum Slot {
    Taken(usize),
    Free(usize),
}

impl Stems {
    pub(super) fn new() -> Self {
        Self {
            english: Stemmer::create(Algorithm::English),
            known: Vec::new(),
            table: Vec::new(),
            count: 0,
            limit: MAX_KNOWN,
        }
    }

    /// Hands the stem of a lowercase ASCII word to `sink`.
    ///
    /// Some 10 ns for a known word, half a microsecond for a new one.
    pub(super) fn stem(&mut self, word: &str, sink: &mut dyn FnMut(&str)) {
        if word.len() <= UNSTEMMED_BYTES {
            return sink(word);
        }
        let hash = xxh3_64(word.as_bytes()) as u32;
        if self.table.len() <= 2 * self.count {
            self.grow();
        }
        let mut slot = match self.find(word.as_bytes(), hash) {
            Slot::Taken(at) => {
                let stem = self.entry(at).and_then(|(_, stem)| std::str::from_utf8(stem).ok());
                return sink(stem.unwrap_or(word));
            }
            Slot::Free(slot) => slot,
        };
        let stem = self.english.stem(word);
        let stem = if stem.is_empty() { word } else { &stem };
        sink(stem);
        let (Ok(length), Ok(stem_length)) = (u8::try_from(word.len()), u8::try_from(stem.len()))
        else {
            return;
        };
        if self.count >= self.limit {
            // Emptying keeps no bookkeeping on the hot path; the common words are back at once.
            self.count = 0;
            self.known.clear();
            self.table.fill((0, 0));
            slot = hash as usize & (self.table.len() - 1);
        }
        let at = self.known.len();
        self.known.extend([length, stem_length]);
        self.known.extend_from_slice(word.as_bytes());
        self.known.extend_from_slice(stem.as_bytes());
        self.count += 1;
        self.table[slot] = (hash, at as u32 + 1);
    }

    /// The word and the stem at a place in the buffer.
    fn entry(&self, at: usize) -> Option<(&[u8], &[u8])> {
        let (lengths, rest) = self.known.get(at..)?.split_first_chunk::<2>()?;
        let [word, stem] = lengths.map(usize::from);
        let (word, rest) = rest.split_at_checked(word)?;
        Some((word, rest.get(..stem)?))
    }

    fn find(&self, word: &[u8], hash: u32) -> Slot {
        let mask = self.table.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            match self.table[slot] {
                (_, 0) => return Slot::Free(slot),
                (found, at) if found == hash => {
                    let at = at as usize - 1;
                    if self.entry(at).is_some_and(|(known, _)| known == word) {
                        return Slot::Taken(at);
                    }
                }
                _ => {}
            }
            slot = (slot + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let slots = (2 * self.table.len()).max(FIRST_SLOTS);
        let old = std::mem::replace(&mut self.table, vec![(0, 0); slots]);
        for (hash, at) in old.into_iter().filter(|(_, at)| *at != 0) {
            let mut slot = hash as usize & (slots - 1);
            while self.table[slot].1 != 0 {
                slot = (slot + 1) & (slots - 1);
            }
            self.table[slot] = (hash, at);
        }
    }
}

/// Whether a lowercase word is one of those that say nothing about a text.
///
/// Every word of every text passes here; a match needs no table to be built and no hash.
pub fn is_stop_word(word: &str) -> bool {
    word.len() <= MAX_STOP_BYTES
        && matches!(
            word,
            "a" | "an"
                | "and"
                | "are"
                | "as"
                | "at"
                | "be"
                | "been"
                | "being"
                | "but"
                | "by"
                | "can"
                | "could"
                | "do"
                | "does"
                | "for"
                | "from"
                | "if"
                | "in"
                | "is"
                | "it"
                | "its"
                | "me"
                | "my"
                | "no"
                | "not"
                | "of"
                | "on"
                | "or"
                | "our"
                | "please"
                | "should"
                | "than"
                | "that"
                | "the"
                | "then"
                | "these"
                | "this"
                | "those"
                | "to"
                | "was"
                | "we"
                | "were"
                | "what"
                | "when"
                | "where"
                | "which"
                | "who"
                | "will"
                | "with"
                | "would"
                | "yes"
                | "you"
                | "your"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list of the behaviour specification, 4.10 step 1, as it stands there.
    const LISTED: &str = "a an and are as at be been being but by can could do does for from if in \
        is it its me my no not of on or our please should than that the then these this those to \
        was we were what when where which who will with would yes you your";

    fn stem_of(stems: &mut Stems, word: &str) -> String {
        let mut out = String::new();
        stems.stem(word, &mut |stem| out.push_str(stem));
        out
    }

    #[test]
    fn every_listed_word_stops_and_its_neighbours_do_not() {
        for word in LISTED.split_whitespace() {
            assert!(is_stop_word(word), "{word}");
            assert!(!is_stop_word(&format!("{word}q")), "{word}q");
        }
        for word in ["", "i", "how", "why", "all", "pleased", "A", "The"] {
            assert!(!is_stop_word(word), "{word}");
        }
    }

    #[test]
    fn a_known_word_keeps_its_stem() {
        let mut stems = Stems::new();
        for _ in 0..2 {
            assert_eq!(stem_of(&mut stems, "running"), "run");
            assert_eq!(stem_of(&mut stems, "flies"), "fli");
            assert_eq!(stem_of(&mut stems, "is"), "is");
        }
        assert_eq!(stems.count, 2);
    }

    #[test]
    fn a_full_cache_starts_over() {
        let mut stems = Stems { limit: 2, ..Stems::new() };
        assert_eq!(stem_of(&mut stems, "claims"), "claim");
        assert_eq!(stem_of(&mut stems, "writers"), "writer");
        assert_eq!(stems.count, 2);
        assert_eq!(stem_of(&mut stems, "readers"), "reader");
        assert_eq!(stems.count, 1);
        assert_eq!(stem_of(&mut stems, "claims"), "claim");
        assert_eq!(stems.count, 2);
    }
}
