//! What a claim is about: the names it declares, else the names that its text shows.
//!
//! Not the search's terms: a topic is a name as written, compared exactly, and links claims; a
//! word that is merely rare is none. Declared entities come first and alone; reading the text is
//! for claims that declare nothing. There, a capital at the start of a sentence is spelling and
//! not a name: `The` and `Use` would tie together whatever begins alike. So such a word counts
//! only if it shows elsewhere that it is a name: a capital inside a sentence of the same text, a
//! second capital, or the marks of an identifier. A name missed this way costs a link, which
//! declaring it restores; a name made up costs a wrong neighbour that nothing takes away.
//!
//! Invariants: topics are sorted, each once, not empty; jaccard lies in [0, 1] and is symmetric.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization;

/// Marks an entity that names who wrote the claim (the page, `entities`).
const SEAT: &str = "seat:";

/// Marks an entity that names how long a claim stands (design, part 6).
const HORIZON: &str = "horizon:";

/// Words that agents write in capitals to be heard, or that a title capitalises: no names in any
/// case. A shout like `NEVER` would otherwise link every standing order to every other.
const NO_NAMES: &[&str] = &[
    "a",
    "after",
    "all",
    "also",
    "always",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "avoid",
    "before",
    "both",
    "but",
    "by",
    "can",
    "cannot",
    "critical",
    "do",
    "does",
    "don",
    "each",
    "ever",
    "every",
    "everything",
    "first",
    "fixme",
    "for",
    "from",
    "has",
    "have",
    "he",
    "how",
    "i",
    "if",
    "important",
    "in",
    "into",
    "is",
    "it",
    "its",
    "last",
    "may",
    "must",
    "never",
    "no",
    "none",
    "nor",
    "not",
    "note",
    "nothing",
    "of",
    "off",
    "ok",
    "on",
    "once",
    "one",
    "only",
    "or",
    "our",
    "out",
    "please",
    "same",
    "shall",
    "she",
    "should",
    "so",
    "some",
    "than",
    "that",
    "the",
    "their",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "todo",
    "until",
    "up",
    "use",
    "used",
    "using",
    "very",
    "warning",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "why",
    "will",
    "with",
    "without",
    "won",
    "yes",
    "you",
    "your",
];

/// Abbreviations whose last dot ends no sentence.
const ABBREVIATIONS: &[&str] = &["approx", "cf", "ca", "e.g", "eg", "fig", "i.e", "ie", "vs"];

/// Whether a record declares its topics, rather than leaving them to its text.
pub fn declared(record: &Map<String, Value>) -> bool {
    let Some(entities) = record.get("entities").and_then(Value::as_array) else { return false };
    let horizon = |name: &Value| name.as_str().is_some_and(|name| name.trim().starts_with(HORIZON));
    entities.is_empty() || !entities.iter().all(horizon)
}

/// The topics of a record: what it declares, else what its text names. Linear in the text.
///
/// Declared are its `entities` without `seat:` and `horizon:` names, even if that leaves none. A
/// list of `horizon:` names alone declares nothing: known writers add one to whatever is recalled,
/// and a recall does not change what a claim is about.
pub fn of(record: &Map<String, Value>) -> Vec<String> {
    let text = record.get("text").and_then(Value::as_str).unwrap_or_default();
    let Some(entities) = record.get("entities").and_then(Value::as_array) else {
        return named_in(text);
    };
    if !declared(record) {
        return named_in(text);
    }
    let topics =
        entities.iter().filter_map(Value::as_str).map(str::trim).filter(|name| {
            !name.is_empty() && !name.starts_with(SEAT) && !name.starts_with(HORIZON)
        });
    let topics: BTreeSet<&str> = topics.collect();
    topics.into_iter().map(str::to_owned).collect()
}

/// The names that a text shows: what stands in backticks, identifiers, and capitalised words that
/// are not merely the start of a sentence.
///
/// An identifier begins with a letter or `_` and holds a `_`, `-`, `.`, `::` or digit, or a capital
/// after its first letter; `e.g` and the like are none.
pub fn named_in(text: &str) -> Vec<String> {
    let text: Cow<'_, str> =
        if text.is_ascii() { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) };
    let mut reading = Reading::default();
    reading.read(&text);
    let Reading { mut names, inside, opening, shouts, calm } = reading;
    names.extend(opening.intersection(&inside));
    names.extend(inside);
    if calm {
        names.extend(shouts);
    }
    names.into_iter().map(str::to_owned).collect()
}

/// What a text gave so far.
#[derive(Default)]
struct Reading<'a> {
    /// Backtick spans and identifiers: names wherever they stand.
    names: BTreeSet<&'a str>,
    /// Capitalised words inside a sentence.
    inside: BTreeSet<&'a str>,
    /// Capitalised words at the start of one.
    opening: BTreeSet<&'a str>,
    /// Words in capitals alone.
    shouts: BTreeSet<&'a str>,
    /// Whether some word has a small letter. In a text without any, capitals say nothing.
    calm: bool,
}

impl<'a> Reading<'a> {
    fn read(&mut self, text: &'a str) {
        let mut opens = true;
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            if c == '`' {
                let ticks = text[at..].bytes().take_while(|byte| *byte == b'`').count();
                let from = at + ticks;
                let Some((span, after)) = span(text, from, ticks) else {
                    at = from;
                    continue;
                };
                if !span.is_empty() {
                    self.names.insert(span);
                }
                opens = false;
                at = after;
            } else if is_letter(c) {
                let word = word(&text[at..]);
                at += word.len();
                // A possessive or a contraction belongs to the word, but not to the name.
                let name = word.split(['\'', '\u{2019}']).next().unwrap_or(word);
                self.word(name.trim_end_matches('_'), opens);
                let rest = &text[at..];
                opens = rest.starts_with('.') && ends_sentence(name, rest);
                at += usize::from(rest.starts_with('.'));
            } else {
                at += c.len_utf8();
                opens = match c {
                    '!' | '?' | ':' | '\n' | '\u{2014}' | '\u{2013}' => true,
                    '.' => opens || text[at..].starts_with(char::is_whitespace),
                    // A dash between spaces; a bullet.
                    '-' | '*' | '#' => opens || text[at..].starts_with(' '),
                    ',' | ';' | '/' => false,
                    _ => opens,
                };
            }
        }
    }

    fn word(&mut self, word: &'a str, opens: bool) {
        let mut chars = word.chars();
        let Some(first) = chars.next() else { return };
        let small = word.chars().any(char::is_lowercase);
        self.calm |= small;
        let capitals = word.chars().filter(|c| c.is_uppercase()).count();
        let inner = chars.any(char::is_uppercase);
        let begins = first == '_' || first.is_alphabetic();
        if !begins || is_abbreviation(word) || is_no_name(word) {
            return;
        }
        if is_marked(word) || (inner && small) {
            self.names.insert(word);
        } else if capitals > 1 {
            self.shouts.insert(word);
        } else if first.is_uppercase() && word.len() > first.len_utf8() {
            let set = if opens { &mut self.opening } else { &mut self.inside };
            set.insert(word);
        }
    }
}

/// The trimmed text between backticks from `from`, and where it ends: at as many as opened it.
fn span(text: &str, from: usize, ticks: usize) -> Option<(&str, usize)> {
    let mut at = from;
    loop {
        at += text[at..].find('`')?;
        let run = text[at..].bytes().take_while(|byte| *byte == b'`').count();
        if run == ticks {
            return Some((text[from..at].trim(), at + run));
        }
        at += run;
    }
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The word at the start of a text: letters and digits, with joiners only between them.
fn word(text: &str) -> &str {
    let mut end = 0;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let joiner = match c {
            '-' | '.' | '\'' | '\u{2019}' => c.len_utf8(),
            ':' if rest.starts_with("::") => 2,
            _ if is_letter(c) => 0,
            _ => break,
        };
        let step = if joiner == 0 { c.len_utf8() } else { joiner };
        if joiner > 0 && !rest[joiner..].starts_with(is_letter) {
            break;
        }
        end += step;
        rest = &text[end..];
    }
    &text[..end]
}

/// Whether a word carries the marks of an identifier.
fn is_marked(word: &str) -> bool {
    let joined = word.trim_start_matches('_').contains(['_', '-', '.', ':']);
    let bare_letter = |c: char| c == '_' || c.is_ascii_digit();
    joined || (word.contains(|c: char| c.is_ascii_digit()) && !word.chars().all(bare_letter))
}

/// `e.g`, `U.S`, `p.m`: single letters between dots.
fn is_abbreviation(word: &str) -> bool {
    word.contains('.') && word.split('.').all(|part| part.chars().count() == 1)
}

fn is_no_name(word: &str) -> bool {
    NO_NAMES.binary_search(&word.to_lowercase().as_str()).is_ok()
}

/// Whether the dot at the start of `rest` ends the sentence whose last word is `word`.
fn ends_sentence(word: &str, rest: &str) -> bool {
    let abbreviated =
        is_abbreviation(word) || ABBREVIATIONS.contains(&word.to_lowercase().as_str());
    !abbreviated && !rest[1..].starts_with(is_letter)
}

/// The share of all topics of two claims that both have; 0 if neither has any.
///
/// Both slices are sorted and hold each topic once. Linear in both.
pub fn jaccard<T: Ord>(one: &[T], other: &[T]) -> f64 {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while let (Some(a), Some(b)) = (one.get(i), other.get(j)) {
        let order = a.cmp(b);
        i += usize::from(order != Ordering::Greater);
        j += usize::from(order != Ordering::Less);
        shared += usize::from(order == Ordering::Equal);
    }
    overlap(shared, one.len(), other.len())
}

/// [`jaccard`] from counts: topics shared, topics of the one, topics of the other.
pub fn overlap(shared: usize, one: usize, other: usize) -> f64 {
    let all = one + other - shared;
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn topics(record: Value) -> Vec<String> {
        record.as_object().map(of).unwrap_or_default()
    }

    #[test]
    fn declared_entities_come_first_and_alone() {
        let text = "The cache asks Redis and `tick name`.";
        for (entities, expected) in [
            (json!(["redis", "pg", "redis"]), vec!["pg", "redis"]),
            (json!(["seat:me", "x", "horizon:standing"]), vec!["x"]),
            (json!([" padded ", "", 7]), vec!["padded"]),
            // Declared, and about nothing.
            (json!([]), vec![]),
            (json!(["seat:me"]), vec![]),
            (json!(["seat:me", "horizon:standing"]), vec![]),
            // A recall's mark alone declares nothing, nor does what is no list.
            (json!(["horizon:standing"]), vec!["Redis", "tick name"]),
            (json!(null), vec!["Redis", "tick name"]),
        ] {
            assert_eq!(topics(json!({"text": text, "entities": entities})), expected);
        }
        assert_eq!(topics(json!({"text": text})), ["Redis", "tick name"]);
        assert_eq!(topics(json!({})), [""; 0]);
    }

    #[test]
    fn a_sentence_start_is_no_name() {
        for (text, expected) in [
            ("The port is open today.", vec![]),
            ("Use plain words. Use the short form.", vec![]),
            ("Redis is quick enough.", vec![]),
            // The same word inside a sentence shows that it is a name.
            ("Redis is quick. We keep Redis.", vec!["Redis"]),
            ("We keep Redis. Redis's log grows.", vec!["Redis"]),
            // After what ends or opens a sentence, a capital is spelling again.
            ("Stop! Then ask. Who? Nobody", vec![]),
            ("Rule: Build first", vec![]),
            ("First line\nSecond line\n- Third line\n* Fourth", vec![]),
            ("He said: \"Then go.\" (Perhaps.) Well", vec![]),
            ("A dash \u{2014} Then more - Also more", vec![]),
            // Inside one it names, also after an abbreviation or a comma.
            ("We like tools, e.g. Borg, or vs. Restic", vec!["Borg", "Restic"]),
            ("in the U.S. Army", vec!["Army"]),
            ("ask (Dale) or \"Roy\"", vec!["Dale", "Roy"]),
            ("I think I'd ask Dale's brother, I said", vec!["Dale"]),
        ] {
            assert_eq!(named_in(text), expected, "{text}");
        }
    }

    #[test]
    fn identifiers_name_wherever_they_stand() {
        for (text, expected) in [
            ("GitHub is slow", vec!["GitHub"]),
            ("HTTP is old, and so is LMDB.", vec!["HTTP", "LMDB"]),
            ("URLs are long", vec!["URLs"]),
            ("get_user calls getUser", vec!["getUser", "get_user"]),
            ("std::fs::read and serde_json::Value", vec!["serde_json::Value", "std::fs::read"]),
            ("edit src/graph/mod.rs.", vec!["mod.rs"]),
            ("packset-embed loads v0.15.3 and utf8", vec!["packset-embed", "utf8", "v0.15.3"]),
            // Marks at an edge join nothing, and a number is no name.
            ("_very_ quick- or slow_ .", vec![]),
            ("wait 25 ms, 10ms, 3.5 or 2nd, 2024-01-01", vec![]),
            ("at 9 p.m. or i.e. later", vec![]),
        ] {
            assert_eq!(named_in(text), expected, "{text}");
        }
    }

    #[test]
    fn shouts_are_no_names() {
        assert_eq!(named_in("NEVER push to main. DO NOT force; ALWAYS ask."), [""; 0]);
        assert_eq!(named_in("NOTE: the DNS is down"), ["DNS"]);
        assert_eq!(named_in("RESTART THE SERVER, OR `wait 5`"), ["wait 5"]);
    }

    #[test]
    fn backticks_hold_names_of_any_shape() {
        for (text, expected) in [
            ("`Use` is a word", vec!["Use"]),
            ("run ` cargo test ` now", vec!["cargo test"]),
            ("``a`b`` and `c`", vec!["a`b", "c"]),
            ("open ` and no more", vec![]),
            ("`` ` and `", vec!["and"]),
            ("``` and nothing", vec![]),
            ("` `", vec![]),
        ] {
            assert_eq!(named_in(text), expected, "{text}");
        }
    }

    #[test]
    fn other_scripts_have_capitals_too() {
        // "we fly to Zuerich" with the umlaut composed and decomposed is one name.
        assert_eq!(named_in("we fly to Z\u{fc}rich"), ["Z\u{fc}rich"]);
        assert_eq!(named_in("we fly to Zu\u{308}rich"), ["Z\u{fc}rich"]);
        // Cyrillic: a small word, then a capitalised one.
        assert_eq!(named_in("\u{432} \u{41c}\u{43e}\u{441}"), ["\u{41c}\u{43e}\u{441}"]);
        // Scripts without case show no names but in backticks.
        assert_eq!(named_in("\u{6771}\u{4eac} `\u{6771}`"), ["\u{6771}"]);
    }

    #[test]
    fn the_list_of_no_names_is_sorted() {
        assert!(NO_NAMES.windows(2).all(|two| two[0] < two[1]));
    }

    #[test]
    fn jaccard_by_hand() {
        for (one, other, expected) in [
            (vec![1], vec![1], 1.0),
            (vec![1], vec![1, 2], 0.5),
            (vec![1, 3, 5], vec![2, 3, 4, 5], 0.4),
            (vec![1], vec![2], 0.0),
            (vec![1], vec![], 0.0),
            (vec![], vec![], 0.0),
        ] {
            assert_eq!(jaccard(&one, &other), expected);
            assert_eq!(jaccard(&other, &one), expected);
        }
        assert_eq!(overlap(3, 4, 9), 0.3);
    }
}
