//! How near two words or two texts are: one edit apart, or sharing words.
//!
//! These compare raw words, not index terms: nothing here is stemmed or dropped.

use rustc_hash::FxHashSet;

use super::script;
use super::words::{self, Piece};

/// The longest character of UTF-8, in bytes.
const MAX_CHAR_BYTES: usize = 4;

/// Whether exactly one substitution, insertion or deletion of a character turns `a` into `b`.
///
/// Linear in the shorter word, without allocation; most pairs fall at the length check.
pub fn edit_one(a: &str, b: &str) -> bool {
    if a.len().abs_diff(b.len()) > MAX_CHAR_BYTES {
        return false;
    }
    let shared = |(x, y): &(u8, u8)| x == y;
    let mut head = a.bytes().zip(b.bytes()).take_while(shared).count();
    while !a.is_char_boundary(head) {
        head -= 1;
    }
    let (a, b) = (a.get(head..).unwrap_or_default(), b.get(head..).unwrap_or_default());
    let mut tail = a.bytes().rev().zip(b.bytes().rev()).take_while(shared).count();
    // Different characters may end in the same continuation byte.
    while !a.is_char_boundary(a.len() - tail) {
        tail -= 1;
    }
    let (a, b) = (&a.as_bytes()[..a.len() - tail], &b.as_bytes()[..b.len() - tail]);
    let (a, b) = (char_count(a), char_count(b));
    a.max(b) == 1
}

/// Characters in valid UTF-8: the bytes that do not continue one.
fn char_count(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

/// Calls `each` with the words of a text, for the Jaccard measure: lowercase runs of letters and
/// digits, repeats included, stop words kept, no stems.
///
/// Compatibility forms are unified first, and a script without spaces gives bigrams, because its
/// sentences would be single words and two near copies would share nothing.
pub fn each_word(text: &str, each: &mut dyn FnMut(&str)) {
    let mut normal = String::new();
    let mut folded = String::new();
    words::split(text, &mut normal, &mut |piece| match piece {
        Piece::Word(word, _) => {
            for part in word.split(words::is_joiner) {
                folded.clear();
                if part.is_ascii() {
                    folded.push_str(part);
                    folded.make_ascii_lowercase();
                } else {
                    folded.extend(words::fold(part));
                }
                each(&folded);
            }
        }
        Piece::Run(run) => script::bigrams(run, each),
    });
}

/// The words of [`each_word`], each once.
pub fn word_set(text: &str) -> FxHashSet<String> {
    let mut set = FxHashSet::default();
    each_word(text, &mut |word| {
        if !set.contains(word) {
            set.insert(word.to_owned());
        }
    });
    set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_edit_is_exactly_one() {
        let near = [
            ("a", ""),
            ("claim", "claims"),
            ("claim", "laim"),
            ("claim", "clam"),
            ("claim", "clain"),
            ("claim", "xlaim"),
            ("aab", "aaab"),
            ("aaa", "aaaa"),
            ("caf\u{e9}", "cafe"),
            ("caf\u{e9}", "caf"),
            // The same last byte, and the same first byte.
            ("\u{e9}", "\u{169}"),
            ("x\u{e9}y", "x\u{e8}y"),
            ("\u{6771}", "\u{6771}\u{4eac}"),
            ("\u{1f600}", ""),
            // One character for another of a different length.
            ("a\u{1f600}b", "axb"),
        ];
        let far = [
            ("", ""),
            ("claim", "claim"),
            ("claim", "clami"),
            ("claim", "claimed"),
            ("claim", "clxxm"),
            ("ab", "ba"),
            ("", "ab"),
            ("caf\u{e9}", "caf\u{e9}"),
            ("\u{e9}\u{e8}", "ab"),
            ("\u{e9}", "ab"),
            ("abcdefgh", "abc"),
            ("abcd", "bcda"),
        ];
        for (a, b) in near {
            assert!(edit_one(a, b) && edit_one(b, a), "{a} {b}");
        }
        for (a, b) in far {
            assert!(!edit_one(a, b) && !edit_one(b, a), "{a} {b}");
        }
    }

    /// Against the definition: every single edit of a word, and nothing else of that length.
    #[test]
    fn one_edit_agrees_with_enumeration() {
        let letters = ['a', 'b', '\u{e9}'];
        let mut all = vec![String::new()];
        let mut from = 0;
        for _ in 0..4 {
            let until = all.len();
            for at in from..until {
                for letter in letters {
                    all.push(format!("{}{letter}", all[at]));
                }
            }
            from = until;
        }
        for a in &all {
            let chars: Vec<char> = a.chars().collect();
            let mut edits = FxHashSet::default();
            for at in 0..=chars.len() {
                for letter in letters {
                    let mut more = chars.clone();
                    more.insert(at, letter);
                    edits.insert(more.iter().collect::<String>());
                    if at < chars.len() && chars[at] != letter {
                        let mut other = chars.clone();
                        other[at] = letter;
                        edits.insert(other.iter().collect());
                    }
                }
                if at < chars.len() {
                    let mut less = chars.clone();
                    less.remove(at);
                    edits.insert(less.iter().collect());
                }
            }
            for b in &all {
                assert_eq!(edit_one(a, b), edits.contains(b), "{a} {b}");
            }
        }
    }

    #[test]
    fn word_sets_keep_stop_words_and_endings() {
        let sorted = |text: &str| {
            let mut words: Vec<String> = word_set(text).into_iter().collect();
            words.sort();
            words
        };
        assert_eq!(sorted(""), Vec::<String>::new());
        assert_eq!(
            sorted("The claims, the CLAIMS: don't split v0.29_x!"),
            ["29", "claims", "don", "split", "t", "the", "v0", "x"]
        );
        assert_eq!(sorted("Stra\u{df}e \u{ff21}\u{ff22}"), ["ab", "strasse"]);
        assert_eq!(sorted("\u{6771}\u{4eac}\u{90fd}"), ["\u{4eac}\u{90fd}", "\u{6771}\u{4eac}"]);
    }
}
