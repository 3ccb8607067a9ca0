//! Where words begin and end, and what their letters look like once case and form are unified.
//!
//! Not the rules of terms: this module hands over words as written (in NFKC, without invisible
//! characters). Invariants: a piece is never empty; a word begins and ends with a letter, digit or
//! mark, and every joiner in it stands between two such; a run holds one spaceless class.

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use super::MAX_TERM_BYTES;
use super::script::{self, Spaceless};

/// The word holds a small ASCII letter.
pub(super) const LOWER: u8 = 1;
/// The word holds a capital ASCII letter, or (with [`WIDE`]) may hold a capital of another script.
pub(super) const UPPER: u8 = 2;
/// The word holds an ASCII digit.
pub(super) const DIGIT: u8 = 4;
/// The word holds a joiner: `_`, `-` or `.`.
pub(super) const JOINER: u8 = 8;
/// The word holds a character outside ASCII.
pub(super) const WIDE: u8 = 16;

/// What each byte says of its word; 0 separates words.
const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        class[byte] = match byte as u8 {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            b'_' | b'-' | b'.' => JOINER,
            0x80.. => WIDE | UPPER,
            _ => 0,
        };
        byte += 1;
    }
    class
};

/// A part of a text that gives terms.
pub(super) enum Piece<'a> {
    /// A word with its marks ([`LOWER`] and so on).
    Word(&'a str, u8),
    /// Characters of one spaceless script.
    Run(&'a str),
}

/// Whether a character joins the letters on both its sides into one word.
pub(super) fn is_joiner(c: char) -> bool {
    matches!(c, '_' | '-' | '.')
}

/// The marks of a word.
pub(super) fn marks(word: &str) -> u8 {
    word.bytes().fold(0, |marks, byte| marks | CLASS[usize::from(byte)])
}

/// Hands over the pieces of a text in order. `normal` is scratch space.
///
/// ASCII separators cut the text into chunks first; only a chunk that holds other characters is
/// normalised, because NFKC joins nothing across a separator.
pub(super) fn split(text: &str, normal: &mut String, each: &mut impl FnMut(Piece<'_>)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(first) = bytes.get(at) {
        let mut marks = CLASS[usize::from(*first)];
        let start = at;
        at += 1;
        if marks == 0 {
            continue;
        }
        while let Some(byte) = bytes.get(at) {
            let class = CLASS[usize::from(*byte)];
            if class == 0 {
                break;
            }
            marks |= class;
            at += 1;
        }
        let chunk = &text[start..at];
        if marks & WIDE != 0 {
            split_wide(unify(chunk, normal), each);
        } else if marks & JOINER != 0 {
            split_joined(chunk, each);
        } else {
            each(Piece::Word(chunk, marks));
        }
    }
}

/// Splits a chunk of ASCII letters, digits and joiners where a joiner joins nothing.
fn split_joined(chunk: &str, each: &mut impl FnMut(Piece<'_>)) {
    let bytes = chunk.as_bytes();
    let letter = |at: usize| bytes.get(at).is_some_and(|b| CLASS[usize::from(*b)] != JOINER);
    let mut start = 0;
    for at in 0..=bytes.len() {
        if letter(at) || (at > 0 && at < bytes.len() && letter(at - 1) && letter(at + 1)) {
            continue;
        }
        if start < at {
            let word = &chunk[start..at];
            each(Piece::Word(word, marks(word)));
        }
        start = at + 1;
    }
}

/// What a character is to the words around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Word,
    Run(Spaceless),
    /// Belongs to the piece before it, if there is one.
    Mark,
    Joiner,
    Separator,
}

fn role(c: char) -> Role {
    if c.is_ascii() {
        return match CLASS[c as usize] {
            0 => Role::Separator,
            JOINER => Role::Joiner,
            _ => Role::Word,
        };
    }
    if let Some(class) = script::spaceless(c) {
        Role::Run(class)
    } else if script::is_letter(c) {
        Role::Word
    } else if is_combining_mark(c) {
        Role::Mark
    } else {
        Role::Separator
    }
}

/// Splits a unified chunk by what its characters are.
fn split_wide(chunk: &str, each: &mut impl FnMut(Piece<'_>)) {
    let mut close = |piece: &str, role: Role| match role {
        Role::Run(_) => each(Piece::Run(piece)),
        _ => each(Piece::Word(piece, marks(piece))),
    };
    let mut open: Option<(usize, Role)> = None;
    let mut chars = chunk.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let now = role(c);
        let goes_on = match (open, now) {
            (None, _) => false,
            (Some(_), Role::Mark) => true,
            (Some((_, Role::Word)), Role::Joiner) => {
                chars.peek().is_some_and(|(_, next)| role(*next) == Role::Word)
            }
            (Some((_, before)), _) => before == now,
        };
        if goes_on {
            continue;
        }
        if let Some((start, before)) = open.take() {
            close(&chunk[start..at], before);
        }
        if matches!(now, Role::Word | Role::Run(_)) {
            open = Some((at, now));
        }
    }
    if let Some((start, before)) = open {
        close(&chunk[start..], before);
    }
}

/// A chunk in NFKC without invisible characters; in place if it already is so.
fn unify<'a>(chunk: &'a str, normal: &'a mut String) -> &'a str {
    let seen = |c: char| match c {
        // The typographic hyphens are the hyphen.
        '\u{2010}' | '\u{2011}' => Some('-'),
        // NFKC would glue the letters of a trade mark sign to the name before it.
        '\u{2120}' | '\u{2122}' => Some(' '),
        _ if script::is_invisible(c) => None,
        _ => Some(c),
    };
    if chunk.chars().all(|c| seen(c) == Some(c))
        && is_nfkc_quick(chunk.chars()) == IsNormalized::Yes
    {
        return chunk;
    }
    normal.clear();
    normal.extend(chunk.chars().filter_map(seen).nfkc());
    normal
}

/// The characters of a word without case: small letters, sharp s as `ss`, one small sigma.
pub(super) fn fold(word: &str) -> impl Iterator<Item = char> {
    word.chars().flat_map(char::to_lowercase).flat_map(|c| match c {
        '\u{df}' => ['s', 's'].into_iter().take(2),
        '\u{3c2}' => ['\u{3c3}'; 2].into_iter().take(1),
        _ => [c; 2].into_iter().take(1),
    })
}

/// A word without case, cut to the longest term; `folded` takes it unless it is so already.
pub(super) fn lower<'a>(word: &'a str, marks: u8, folded: &'a mut String) -> &'a str {
    if marks & WIDE != 0 {
        fill(folded, fold(word));
        return folded;
    }
    // ASCII: every offset is a character boundary.
    let head = &word[..word.len().min(MAX_TERM_BYTES)];
    if marks & UPPER == 0 {
        return head;
    }
    folded.clear();
    folded.push_str(head);
    folded.make_ascii_lowercase();
    folded
}

/// Fills `bare` with a word without case and combining marks, cut to the longest term.
pub(super) fn strip(word: &str, bare: &mut String) {
    fill(bare, fold(word).nfd().filter(|c| !is_combining_mark(*c)));
}

fn fill(out: &mut String, chars: impl Iterator<Item = char>) {
    out.clear();
    for c in chars {
        if out.len() + c.len_utf8() > MAX_TERM_BYTES {
            break;
        }
        out.push(c);
    }
}

/// Offset of the first place where a change of case begins a new word inside a word.
///
/// A capital begins one after a small letter (`getUser`), and after anything else if it opens a
/// word of its own (`HTTPServer`, `Base64Decoder`): two small letters must follow it, or the
/// plural `URLs` would fall apart into `UR` and `Ls`.
pub(super) fn camel_border(word: &str) -> Option<usize> {
    let mut before: Option<char> = None;
    for (at, c) in word.char_indices() {
        if let Some(before) = before
            && c.is_uppercase()
        {
            let mut after = word[at..].chars().skip(1).take(2);
            let opens = after.by_ref().filter(|c| c.is_lowercase()).count() == 2;
            if before.is_lowercase() || opens {
                return Some(at);
            }
        }
        before = Some(c);
    }
    None
}
