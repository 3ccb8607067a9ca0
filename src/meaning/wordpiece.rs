//! WordPiece: a text as the pieces of words that a table has rows for.
//!
//! The rules are BERT's for English without case (Devlin and others, 2019): controls go, CJK
//! characters stand alone, accents and case go, punctuation splits; then each word is taken apart
//! from the left, always the longest piece that is known, and a word that cannot be taken apart
//! is left out whole. Not here: what a piece means. Invariant: the pieces are those that the
//! `tokenizers` crate gives for the same vocabulary, proven by its tests on a large text.

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// A longer word is no word (BERT's own bound), characters.
const LONGEST_WORD: usize = 100;

/// Names every word of `text` with its pieces, in order, until `see` has had enough. `find` is
/// asked with a piece and whether it continues a word; `longest` bounds the bytes of a piece.
pub fn words(
    text: &str,
    longest: usize,
    find: impl Fn(&[u8], bool) -> Option<u32>,
    mut see: impl FnMut(&str, &[u32]) -> bool,
) {
    let mut found = Vec::new();
    let mut word = |word: &[u8]| {
        found.clear();
        take_apart(word, longest, &find, &mut found);
        see(std::str::from_utf8(word).unwrap_or_default(), &found)
    };
    if text.is_ascii() {
        ascii(text, &mut word)
    } else {
        any(text, &mut word)
    };
}

/// The words of a text that is ASCII: the same rules, a byte at a time.
fn ascii(text: &str, word: &mut impl FnMut(&[u8]) -> bool) -> bool {
    let mut current: Vec<u8> = Vec::with_capacity(32);
    let mut flush = |current: &mut Vec<u8>| {
        let go = current.is_empty() || word(current);
        current.clear();
        go
    };
    for byte in text.bytes() {
        let go = match byte {
            b'\t' | b'\n' | b'\r' | b' ' => flush(&mut current),
            0..0x20 | 0x7f => true,
            _ if byte.is_ascii_punctuation() => {
                let go = flush(&mut current);
                current.push(byte);
                go && flush(&mut current)
            }
            _ => {
                current.push(byte.to_ascii_lowercase());
                true
            }
        };
        if !go {
            return false;
        }
    }
    flush(&mut current)
}

/// The words of any text.
fn any(text: &str, word: &mut impl FnMut(&[u8]) -> bool) -> bool {
    let cleaned = text.chars().filter_map(|c| match c {
        '\t' | '\n' | '\r' => Some(' '),
        '\0' | '\u{fffd}' => None,
        c if c.is_ascii() => (!c.is_ascii_control()).then_some(c),
        c => match c.general_category_group() {
            // Unassigned characters stay: tomorrow's emoji is no control.
            GeneralCategoryGroup::Other if c.general_category() != GeneralCategory::Unassigned => {
                None
            }
            _ if c.is_whitespace() => Some(' '),
            _ => Some(c),
        },
    });
    let spaced = cleaned.flat_map(|c| match ideograph(c) {
        true => [Some(' '), Some(c), Some(' ')],
        false => [Some(c), None, None],
    });
    let bare = spaced
        .flatten()
        .nfd()
        .filter(|c| c.is_ascii() || c.general_category() != GeneralCategory::NonspacingMark);
    let mut current = String::with_capacity(32);
    let mut flush = |current: &mut String| {
        let go = current.is_empty() || word(current.as_bytes());
        current.clear();
        go
    };
    for c in bare.flat_map(char::to_lowercase) {
        let go = if c.is_whitespace() {
            flush(&mut current)
        } else if punctuation(c) {
            let go = flush(&mut current);
            current.push(c);
            go && flush(&mut current)
        } else {
            current.push(c);
            true
        };
        if !go {
            return false;
        }
    }
    flush(&mut current)
}

fn punctuation(c: char) -> bool {
    match c.is_ascii() {
        true => c.is_ascii_punctuation(),
        false => c.general_category_group() == GeneralCategoryGroup::Punctuation,
    }
}

/// The ranges that BERT sets apart: CJK ideographs, not kana and not hangul.
fn ideograph(c: char) -> bool {
    matches!(c as u32,
        0x4e00..=0x9fff | 0x3400..=0x4dbf | 0x20000..=0x2a6df | 0x2a700..=0x2b73f
        | 0x2b740..=0x2b81f | 0x2b920..=0x2ceaf | 0xf900..=0xfaff | 0x2f800..=0x2fa1f)
}

/// Takes a word apart; nothing is found if a part of it is no piece.
fn take_apart(
    word: &[u8],
    longest: usize,
    find: &impl Fn(&[u8], bool) -> Option<u32>,
    found: &mut Vec<u32>,
) {
    let starts = |byte: u8| byte & 0xc0 != 0x80;
    if word.len() > LONGEST_WORD && word.iter().filter(|byte| starts(**byte)).count() > LONGEST_WORD
    {
        return;
    }
    let mut rest = word;
    while !rest.is_empty() {
        let continues = rest.len() < word.len();
        let mut end = rest.len().min(longest);
        let piece = loop {
            // A piece ends where a character ends.
            while end > 0 && rest.get(end).is_some_and(|byte| !starts(*byte)) {
                end -= 1;
            }
            match rest.get(..end).filter(|piece| !piece.is_empty()) {
                Some(piece) => match find(piece, continues) {
                    Some(number) => break Some(number),
                    None => end -= 1,
                },
                None => break None,
            }
        };
        let Some(number) = piece else {
            found.clear();
            return;
        };
        found.push(number);
        rest = rest.get(end..).unwrap_or_default();
    }
}
