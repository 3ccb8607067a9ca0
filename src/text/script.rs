//! What the characters of a text are: which script, and which of them a reader does not see.
//!
//! Ranges are Unicode blocks, narrowed where a block holds punctuation. They speak of text in NFKC,
//! where halfwidth kana, fullwidth letters and presentation forms are gone.

use unicode_normalization::char::is_combining_mark;

/// A script that writes no spaces between words, or glues endings to them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Spaceless {
    /// Han, Hiragana and Katakana: Japanese mixes them inside one word, so they are one class.
    Cjk,
    Hangul,
    Thai,
    Lao,
    Khmer,
    Myanmar,
}

/// The class of a character, if its script is spaceless. Digits and punctuation have none.
pub(super) fn spaceless(c: char) -> Option<Spaceless> {
    match c {
        ..'\u{e01}' => None,
        '\u{e01}'..='\u{e3a}' | '\u{e40}'..='\u{e4e}' => Some(Spaceless::Thai),
        '\u{e81}'..='\u{ece}' | '\u{edc}'..='\u{edf}' => Some(Spaceless::Lao),
        '\u{1000}'..='\u{103f}'
        | '\u{1050}'..='\u{108f}'
        | '\u{109a}'..='\u{109d}'
        | '\u{a9e0}'..='\u{a9ef}'
        | '\u{a9fa}'..='\u{a9fe}'
        | '\u{aa60}'..='\u{aa76}'
        | '\u{aa7a}'..='\u{aa7f}' => Some(Spaceless::Myanmar),
        '\u{1780}'..='\u{17d3}' | '\u{17d7}' | '\u{17dc}' | '\u{17dd}' => Some(Spaceless::Khmer),
        '\u{1100}'..='\u{11ff}'
        | '\u{3131}'..='\u{318e}'
        | '\u{a960}'..='\u{a97c}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{d7b0}'..='\u{d7fb}' => Some(Spaceless::Hangul),
        // Iteration marks and the ideographic zero stand inside words.
        '\u{3005}'..='\u{3007}'
        | '\u{3021}'..='\u{3029}'
        | '\u{3031}'..='\u{3035}'
        | '\u{3038}'..='\u{303c}'
        // Hiragana, its free voicing marks and iteration marks.
        | '\u{3041}'..='\u{3096}'
        | '\u{3099}' | '\u{309a}'
        | '\u{309d}'..='\u{309f}'
        // Katakana without its two punctuation marks, with the prolonged sound mark.
        | '\u{30a1}'..='\u{30fa}'
        | '\u{30fc}'..='\u{30ff}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{1aff0}'..='\u{1b16f}'
        | '\u{20000}'..='\u{3ffff}' => Some(Spaceless::Cjk),
        _ => None,
    }
}

/// Hands over the overlapping pairs of characters of a run of one class, or its only character.
pub(super) fn bigrams(run: &str, sink: &mut dyn FnMut(&str)) {
    // A foreign mark inside the run (an accent on a Han character) is not part of the word.
    let mut chars = run.chars().filter(|c| spaceless(*c).is_some());
    let Some(mut last) = chars.next() else { return };
    let mut pair = String::with_capacity(8);
    let mut alone = true;
    for next in chars {
        pair.clear();
        pair.push(last);
        pair.push(next);
        sink(&pair);
        last = next;
        alone = false;
    }
    if alone {
        sink(last.encode_utf8(&mut [0; 4]));
    }
}

/// Whether all letters of a word are Latin.
pub(super) fn is_latin(word: &str) -> bool {
    word.chars().all(|c| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' | '.' => true,
        '\u{c0}'..='\u{2af}'
        | '\u{1e00}'..='\u{1eff}'
        | '\u{2c60}'..='\u{2c7f}'
        | '\u{a722}'..='\u{a7ff}'
        | '\u{ab30}'..='\u{ab6f}' => true,
        _ => is_combining_mark(c),
    })
}

/// Whether a character leaves no mark of its own, so that a word with it reads as without it: soft
/// hyphen, zero-width and direction characters, fillers, variation selectors, tags, and the marks
/// that frame a symbol (a keycap).
pub(super) fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}' | '\u{1160}'
            | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{20d0}'..='\u{20f0}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether a character outside ASCII and the spaceless scripts belongs to words. The enclosed
/// letters among the emoji count as letters in Unicode, and as pictures here.
pub(super) fn is_letter(c: char) -> bool {
    c.is_alphanumeric() && !matches!(c, '\u{1f100}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_by_example() {
        let table = [
            ('a', None),
            ('\u{e9}', None),
            ('\u{5d0}', None),
            ('\u{e01}', Some(Spaceless::Thai)),
            ('\u{e3f}', None),
            ('\u{e50}', None),
            ('\u{e81}', Some(Spaceless::Lao)),
            ('\u{1000}', Some(Spaceless::Myanmar)),
            ('\u{104a}', None),
            ('\u{1780}', Some(Spaceless::Khmer)),
            ('\u{17d4}', None),
            ('\u{d55c}', Some(Spaceless::Hangul)),
            ('\u{3042}', Some(Spaceless::Cjk)),
            ('\u{30ab}', Some(Spaceless::Cjk)),
            ('\u{30fb}', None),
            ('\u{30fc}', Some(Spaceless::Cjk)),
            ('\u{3002}', None),
            ('\u{4e2d}', Some(Spaceless::Cjk)),
            ('\u{20bb7}', Some(Spaceless::Cjk)),
            ('\u{1f600}', None),
        ];
        for (c, class) in table {
            assert_eq!(spaceless(c), class, "{c:?}");
        }
    }

    #[test]
    fn bigrams_by_example() {
        let of = |run: &str| {
            let mut out = Vec::new();
            bigrams(run, &mut |pair| out.push(pair.to_owned()));
            out
        };
        assert!(of("").is_empty());
        assert_eq!(of("\u{732b}"), ["\u{732b}"]);
        assert_eq!(of("\u{6771}\u{301}\u{4eac}"), ["\u{6771}\u{4eac}"]);
        assert_eq!(
            of("\u{5168}\u{6587}\u{7d22}\u{5f15}"),
            ["\u{5168}\u{6587}", "\u{6587}\u{7d22}", "\u{7d22}\u{5f15}"]
        );
    }
}
