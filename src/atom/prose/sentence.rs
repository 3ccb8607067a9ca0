//! Where one sentence ends and the next begins.
//!
//! Not a parser of grammar: UAX #29 sentence bounds, corrected for what notes about software hold
//! (abbreviations, dotted names, code spans, sentences that open with a lower-case name).
//! Invariants: the pieces, joined, are the text; a line break always ends a piece; ASCII text
//! never reaches the Unicode tables.
//!
//! The points, exclamation and question marks of ASCII are judged here in every text; the bounds
//! of `unicode-segmentation` are asked only for what other scripts end a sentence with.

use unicode_segmentation::UnicodeSegmentation;

/// Calls `visit` with each piece in order.
pub fn each<'t>(text: &'t str, mut visit: impl FnMut(&'t str)) {
    let foreign = if text.is_ascii() { Vec::new() } else { foreign_bounds(text) };
    let mut foreign = foreign.into_iter().peekable();
    let bytes = text.as_bytes();
    let (mut start, mut at) = (0, 0);
    let mut cut = |end: usize| {
        visit(text.get(start..end).unwrap_or_default());
        start = end;
    };
    while let Some(byte) = bytes.get(at) {
        // Bounds that a code span was stepped over with are passed by.
        while foreign.next_if(|bound| *bound < at).is_some() {}
        if foreign.next_if_eq(&at).is_some() {
            cut(at);
        }
        match byte {
            b'\n' | b'\r' => {
                at += 1;
                cut(at);
            }
            b'`' => at = code_end(bytes, at),
            b'.' | b'!' | b'?' => {
                let stop = at + run(bytes, at, |byte| matches!(byte, b'.' | b'!' | b'?'));
                let next = opening(text, at, stop);
                at = next.unwrap_or(stop);
                if let Some(next) = next {
                    cut(next);
                }
            }
            _ => at += 1,
        }
    }
    cut(text.len());
}

/// The byte past a code span, or past the backtick when its line does not close it.
fn code_end(bytes: &[u8], tick: usize) -> usize {
    let inside = run(bytes, tick + 1, |byte| !matches!(byte, b'`' | b'\n' | b'\r'));
    let close = tick + 1 + inside;
    if bytes.get(close) == Some(&b'`') { close + 1 } else { tick + 1 }
}

/// UAX #29 bounds whose terminator is not ASCII.
fn foreign_bounds(text: &str) -> Vec<usize> {
    let bounds = text.split_sentence_bound_indices().map(|(bound, _)| bound);
    bounds
        .filter(|bound| {
            let before = text.get(..*bound).unwrap_or_default();
            if before.ends_with(['\u{85}', '\u{2028}', '\u{2029}']) {
                return true;
            }
            let end = before.trim_end().trim_end_matches(closes).chars().next_back();
            !before.ends_with(['\n', '\r']) && end.is_some_and(|end| !end.is_ascii())
        })
        .collect()
}

/// Where the next sentence opens after the terminators `first..stop`, if they end one.
fn opening(text: &str, first: usize, stop: usize) -> Option<usize> {
    let rest = text.get(stop..)?;
    let closed = rest.trim_start_matches(closes);
    let tail = closed.trim_start_matches(|c: char| c.is_whitespace() && c != '\n' && c != '\r');
    let quoted = closed.len() < rest.len();
    let next = tail.chars().next()?;
    let point = text.as_bytes().get(stop - 1) == Some(&b'.');
    if tail.len() == closed.len() {
        // "Ok!Then." is two; "a.b", "x != y", "vec![1]" and "/?q=1" are one.
        return (!point && !quoted && next.is_uppercase()).then_some(stop);
    }
    let opens = match next {
        '\n' | '\r' | '.' | '!' | '?' => false,
        // What UAX #29 lets continue a sentence.
        ',' | '-' | ':' | ';' | '\u{2013}' | '\u{2014}' => false,
        '(' | '[' | '{' | '"' | '\'' | '\u{2018}' | '\u{201c}' | '\u{ab}' => {
            // More than a few brackets and quotes in a row hide no sentence's first letter.
            let inside = tail.chars().take(8).find(|c| c.is_alphanumeric());
            !inside.is_some_and(char::is_lowercase)
        }
        // A quotation that ends inside its sentence.
        next if quoted => !next.is_lowercase(),
        _ => {
            let abbreviated = stop - first == 1
                && point
                && text.get(..first).is_some_and(|before| abbreviates(before, tail));
            !abbreviated
        }
    };
    opens.then(|| text.len() - tail.len())
}

fn closes(c: char) -> bool {
    matches!(
        c,
        '"' | '\''
            | ')'
            | ']'
            | '}'
            | '\u{2019}'
            | '\u{201d}'
            | '\u{bb}'
            | '\u{203a}'
            | '\u{3009}'
            | '\u{300b}'
            | '\u{300d}'
            | '\u{300f}'
            | '\u{3011}'
            | '\u{ff09}'
    )
}

/// Whether the point between `before` and `after` belongs to an abbreviation inside a sentence.
fn abbreviates(before: &str, after: &str) -> bool {
    let edge = |c: char| c.is_whitespace() || "([{\"'`,;/:=".contains(c);
    let token_start = before.rfind(edge).map_or(0, |at| {
        at + before.get(at..).and_then(|t| t.chars().next()).map_or(1, char::len_utf8)
    });
    let (context, token) = before.split_at_checked(token_start).unwrap_or_default();
    // No abbreviation here is longer; a long token needs no look.
    if token.is_empty() || token.len() > 12 {
        return false;
    }
    let next = after.split(|c: char| !c.is_alphanumeric() && c != '\'').next().unwrap_or_default();
    let capital = token.starts_with(|c: char| c.is_ascii_uppercase());
    let listed = |list: &[&str]| list.iter().any(|item| token.eq_ignore_ascii_case(item));
    if listed(&BOUND) || (capital && listed(&TITLES)) {
        return true;
    }
    if listed(&NUMBERED) {
        return next.starts_with(|c: char| c.is_ascii_digit());
    }
    if listed(&LOOSE) || (capital && listed(&MONTHS)) || is_acronym(token) {
        return !OPENERS.contains(&next);
    }
    // "J. Smith" is a name; after "Plan B." comes a sentence.
    let label = context.split_whitespace().next_back().unwrap_or_default();
    token.len() == 1
        && capital
        && next.starts_with(char::is_uppercase)
        && !OPENERS.contains(&next)
        && !LABELS.iter().any(|item| label.eq_ignore_ascii_case(item))
}

/// `U.S`, `A.B.C`: capitals with points between.
fn is_acronym(token: &str) -> bool {
    let mut letters = token.split('.');
    token.len() > 1
        && letters.all(|part| part.len() == 1 && part.bytes().all(|b| b.is_ascii_uppercase()))
}

/// Nothing ends after these: what they introduce follows.
const BOUND: [&str; 26] = [
    "e.g", "i.e", "cf", "vs", "viz", "approx", "ca", "a.k.a", "w.r.t", "mr", "mrs", "ms", "dr",
    "prof", "fig", "figs", "eq", "eqs", "vol", "pp", "incl", "excl", "resp", "eg", "ie", "v.s",
];
/// Titles that are other words when not capitalised.
const TITLES: [&str; 11] =
    ["st", "rev", "hon", "gen", "col", "capt", "lt", "sgt", "gov", "sen", "rep"];
/// Abbreviations before a number, words elsewhere ("she said no.").
const NUMBERED: [&str; 8] = ["no", "nos", "nr", "art", "sec", "ch", "p", "ver"];
/// Abbreviations that a sentence may also end with.
const LOOSE: [&str; 13] =
    ["etc", "al", "inc", "ltd", "co", "corp", "jr", "sr", "bros", "a.m", "p.m", "ph.d", "dept"];
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"];
/// Words that give a single capital its own meaning.
const LABELS: [&str; 16] = [
    "plan", "option", "step", "case", "type", "phase", "part", "group", "version", "variant",
    "tier", "class", "level", "choice", "vitamin", "grade",
];
/// Capitalised, these open a sentence and start no name.
const OPENERS: [&str; 70] = [
    "A", "After", "All", "Also", "Always", "An", "And", "As", "At", "Because", "Before", "But",
    "By", "Do", "Don't", "Each", "Every", "First", "For", "From", "He", "Her", "His", "How",
    "However", "I", "If", "In", "Instead", "It", "Its", "Keep", "Let", "Make", "My", "Never",
    "Next", "No", "Not", "Now", "On", "Once", "Only", "Or", "Our", "Run", "See", "Set", "She",
    "Since", "So", "Some", "That", "The", "Their", "Then", "There", "These", "They", "This",
    "Those", "To", "Use", "We", "What", "When", "Where", "Why", "Yes", "You",
];

fn run(bytes: &[u8], from: usize, class: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    rest.iter().take_while(|byte| class(**byte)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<&str> {
        let mut all = Vec::new();
        // The callback's slices cannot leave it, so they are cut again by length.
        let mut at = 0;
        each(text, |piece| {
            all.push(at..at + piece.len());
            at += piece.len();
        });
        assert_eq!(at, text.len(), "the pieces are the text");
        let filled = all.into_iter().map(|range| text[range].trim());
        filled.filter(|piece| piece.chars().any(char::is_alphabetic)).collect()
    }

    #[test]
    fn sentences_are_counted_as_recorded() {
        for (count, text) in [
            (1, "One sentence."),
            (2, "One. two."),
            (2, "It stopped. packsetd restarts."),
            (1, "See Cargo.lock now."),
            (2, "Version 0.9.3 is out. Use it."),
            (2, "Use e.g. this one. Fine."),
            (1, "We use etc. and more."),
            (2, "J. Smith wrote it. He left."),
            (1, "Smith et al. 2021 said so."),
            (2, "Dr. Brown agrees. Yes."),
            (3, "Is it so? Yes! Done."),
            (2, "Wait... then go."),
            (2, "He said \"stop.\" Then left."),
            (2, "Open `foo.rs. bar` now. Close."),
            (1, "No terminator here"),
            (2, "Two lines\nbut one"),
            (2, "First para.\n\nSecond para."),
            (2, "- item one\n- item two"),
            (2, "a/b. Then c/d."),
            (2, "Costs 3.50 USD. Cheap."),
            (2, "Fig. 2 shows it. See."),
            (2, "http://a.b/c. Next one."),
            (2, "He left (early.) Then back."),
            (1, "Yes; no; maybe."),
            (2, "Title: the body. Rest."),
            (2, "Approx. ten items. Done."),
            (2, "i.e. this. And that."),
            (0, "..."),
            (0, "123. 456."),
            (2, "Ok!Then."),
            (2, "Hello?? What."),
            (2, "Inc. is here. Ltd. too."),
            (1, "No. 5 is alive."),
        ] {
            assert_eq!(pieces(text).len(), count, "{text}");
        }
    }

    #[test]
    fn abbreviations_do_not_end_a_sentence() {
        for (count, text) in [
            (2, "At 5 p.m. we go. Ok."),
            (2, "U.S. law holds. Fine."),
            (1, "The U.S. Army came."),
            (2, "Mr. X vs. Y today. End."),
            (2, "A.B.C. is it. So."),
            (1, "It is 10 a.m. now."),
            (2, "It is 10 a.m. Then it rains."),
            (2, "They moved to the U.S. In spring it rained."),
            (2, "Plan B. Then go."),
            (2, "Take option B. Rust is faster."),
            (2, "It was I. The rest came."),
            (1, "George W. Bush met J. R. R. Tolkien."),
            (2, "She said no. Then she left."),
            (2, "She said no. and left."),
            (1, "In Jan. 2021 and Feb. of that year."),
            (2, "It would mar. nothing."),
            (1, "The St. Gallen office."),
            (2, "Go to the last st. then stop."),
            (2, "We sell apples, pears, etc. The rest is waste."),
        ] {
            assert_eq!(pieces(text).len(), count, "{text}");
        }
    }

    #[test]
    fn code_and_quotations_stay_whole() {
        for (count, text) in [
            (1, "Check x != y and vec![1] and foo!(a) at /?q=1 now."),
            (1, "Run cd ../Foo or ./Bar first."),
            (1, "Set a._B and c.9 here."),
            (2, "Build it. `cargo test` runs."),
            (2, "Use it. /etc/passwd is read."),
            (2, "It works. 3 tests pass."),
            (1, "It stopped. (see log)"),
            (2, "It stopped. (See log.)"),
            (1, "He asked \"why?\" and left."),
            (1, "He said \u{201c}stop.\u{201d} and left."),
            (2, "He said \u{201c}stop.\u{201d} Then he left."),
            (1, "It stopped. - again"),
            (2, "A lone ` tick. Then more."),
            (3, "A lone ` tick. Then\nmore ` here."),
            (2, "1. Do this. 2. Do that."),
        ] {
            assert_eq!(pieces(text).len(), count, "{text}");
        }
    }

    #[test]
    fn other_scripts_end_sentences_in_their_way() {
        for (count, text) in [
            (2, "\u{4f60}\u{597d}\u{3002}\u{518d}\u{89c1}\u{3002}"),
            (2, "\u{300c}\u{4f60}\u{3002}\u{300d}\u{518d}\u{89c1}\u{ff01}"),
            (2, "\u{41e}\u{43d}\u{430}. \u{41e}\u{43d}."),
            (1, "\u{43e}\u{43d}\u{430}.\u{43e}\u{43d}"),
            (2, "One\u{2028}two"),
            (2, "Caf\u{e9} opens. Then we go."),
            (1, "Na\u{ef}ve e.g. this"),
            (2, "\u{968} \u{915}\u{964} \u{916}\u{964}"),
        ] {
            assert_eq!(pieces(text).len(), count, "{text}");
        }
    }

    #[test]
    fn any_text_is_cut_without_loss() {
        let parts = [".", "!", " ", "\n", "`", "a", "B", "\"", ")", "\u{3002}", "\u{2028}", "7"];
        let mut text = String::new();
        for case in 0..parts.len().pow(4) {
            text.clear();
            (0..4u32).for_each(|k| text += parts[case / parts.len().pow(k) % parts.len()]);
            pieces(&text);
        }
    }
}
