//! The claims that the benches work on: made by rule, or any NDJSON file, and queries for them.
//!
//! Made claims are the same on every machine: a generator of our own draws words from a Zipf
//! vocabulary whose head are the commonest English words and whose tail are pronounceable
//! inventions, and one word in sixteen is an identifier. About 200 bytes of text per claim, names
//! beside a third of them, written over one year.
//!
//! The laws were fitted to 11,834 claims from public rule files of coding agents: 146,000 words,
//! 12,700 of them distinct, 9,100 identifiers, 4,900 of them distinct. The made ones have a few
//! more distinct words, which costs more, and go on inventing where real ones would repeat.
//!
//! Not here: anything that is measured. Invariant: the same count gives the same bytes.

use std::collections::HashMap;
use std::fmt::Write as _;

/// Words that English prose is full of, commonest first: the head of the vocabulary.
const COMMON: &str = "the of and to in is for that it with as on be this by are from at not or \
    an which when if can use must all but has one no we will each other more then only them its \
    than before after also into so may do never any always should out up two first over new";

/// Invented words. Real notes of a team use 30,000 to 100,000 distinct words.
const INVENTED: u64 = 60_000;
/// The law of words by rank, as Mandelbrot has it: 1 / (rank + 2.7)^1.3.
const SHIFT: f64 = 2.7;
const EXPONENT: f64 = 1.3;

/// Identifiers there are; the n-th is drawn about as often as n^(-2/3) says.
const IDENTIFIERS: f64 = 200_000.0;

/// Names that stand beside claims.
const NAMES: u64 = 500;

const CONSONANTS: [&str; 16] =
    ["b", "c", "d", "f", "g", "l", "m", "n", "p", "r", "s", "t", "v", "br", "st", "tr"];
const VOWELS: [&str; 6] = ["a", "e", "i", "o", "u", "ea"];

/// The seed; any number would do.
const SEED: u64 = 0x5eed;

/// Knuth's 64-bit linear congruence; the high half is what it gives.
pub(crate) struct Lcg(u64);

impl Lcg {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.0 >> 32
    }

    /// A number below `bound`, which is below 2^32.
    fn below(&mut self, bound: u64) -> u64 {
        (self.next() * bound) >> 32
    }

    fn one_in(&mut self, chance: u64) -> bool {
        self.below(chance) == 0
    }

    /// A number in [0, 1).
    fn share(&mut self) -> f64 {
        self.next() as f64 / 4_294_967_296.0
    }
}

/// Words by rank.
struct Vocabulary {
    words: Vec<String>,
    /// Sums of the chances up to each rank.
    upto: Vec<f64>,
}

impl Vocabulary {
    fn new() -> Self {
        let mut words: Vec<String> = COMMON.split_whitespace().map(str::to_owned).collect();
        words.extend((0..INVENTED).map(invented));
        let mut sum = 0.0;
        let upto = (0..words.len()).map(|rank| {
            sum += (rank as f64 + SHIFT).powf(-EXPONENT);
            sum
        });
        let upto = upto.collect();
        Self { words, upto }
    }

    fn draw(&self, lcg: &mut Lcg) -> (usize, &str) {
        let point = lcg.share() * self.upto.last().copied().unwrap_or_default();
        let rank = self.upto.partition_point(|upto| *upto <= point).min(self.words.len() - 1);
        (rank, &self.words[rank])
    }
}

/// The word of a number: two syllables for the first few thousand, three for the rest.
fn invented(number: u64) -> String {
    let syllables = (CONSONANTS.len() * VOWELS.len()) as u64;
    let count = if number < 3000 { 2 } else { 3 };
    // A step that shares no factor with the number of syllables visits every word once.
    let mut code = number * 5_003 % syllables.pow(count);
    let mut word = String::new();
    for _ in 0..count {
        let syllable = (code % syllables) as usize;
        word.push_str(CONSONANTS[syllable % CONSONANTS.len()]);
        word.push_str(VOWELS[syllable / CONSONANTS.len()]);
        code /= syllables;
    }
    word.push_str(["", "n", "r", "l"][number as usize % 4]);
    word
}

/// Writes `count` claims, one JSON object a line, and hands each to `line`.
pub(crate) fn claims(count: u64, mut line: impl FnMut(&str)) {
    let vocabulary = Vocabulary::new();
    let mut lcg = Lcg::new(SEED);
    let mut text = String::new();
    let mut json = String::new();
    for number in 0..count {
        text.clear();
        sentences(&vocabulary, &mut lcg, &mut text);
        let kind = match lcg.below(20) {
            0..12 => "lesson",
            12..15 => "preference",
            15..17 => "conclusion",
            17..19 => "belief",
            _ => "goal",
        };
        json.clear();
        // A String takes whatever is written to it.
        let _ = write!(json, "{{\"schema\":\"inside.atom/v1\",\"kind\":\"{kind}\"");
        let _ = write!(json, ",\"text\":\"{text}\",\"ts\":\"{}\"", time(number, count));
        if lcg.one_in(2) {
            json.push_str(",\"origin\":\"user-declared\"");
        }
        if lcg.one_in(3) {
            let name = invented(10_000 + lcg.below(NAMES));
            let _ = write!(json, ",\"entities\":[\"{name}\",\"tool:{}\"]", lcg.below(40));
        }
        json.push('}');
        line(&json);
    }
}

/// One to three sentences of plain ASCII that needs no escape in JSON.
fn sentences(vocabulary: &Vocabulary, lcg: &mut Lcg, text: &mut String) {
    let length = 110 + lcg.below(170) as usize;
    let head = COMMON.split_whitespace().count();
    let mut left = 0;
    while text.len() < length {
        let start = text.len();
        if left == 0 {
            left = 8 + lcg.below(18);
        }
        if lcg.one_in(16) {
            identifier((IDENTIFIERS * lcg.share().powi(3)) as u64, text);
        } else {
            let (rank, word) = vocabulary.draw(lcg);
            text.push_str(word);
            if rank >= head && lcg.one_in(5) {
                text.push_str(["s", "ed", "ing"][lcg.below(3) as usize]);
            }
        }
        if start == 0 || text[..start].ends_with(". ") {
            text[start..=start].make_ascii_uppercase();
        }
        left -= 1;
        text.push_str(if left == 0 { ". " } else { " " });
    }
    text.truncate(text.trim_end_matches([' ', '.']).len());
    text.push('.');
}

/// The identifier of a number.
fn identifier(number: u64, text: &mut String) {
    let (one, two) = (invented(number * 7 % 3000), invented(number * 13 % 3000));
    // A String takes whatever is written to it.
    let _ = match number % 6 {
        0 => write!(text, "{one}_{two}"),
        1 => write!(text, "{}_{}", one.to_uppercase(), two.to_uppercase()),
        2 => write!(text, "{one}{}{}", two[..1].to_uppercase(), &two[1..]),
        3 => write!(text, "E{:04}", number % 10_000),
        4 => write!(text, "v{}.{}.{}", number % 3, number % 40, number % 17),
        _ => write!(text, "src/{one}/{two}.rs"),
    };
}

/// The moment of a claim: the year 2025 evenly filled, oldest first.
fn time(number: u64, count: u64) -> String {
    const DAYS: [u64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    const YEAR_MS: u64 = 365 * 86_400_000;
    let ms = (u128::from(number) * u128::from(YEAR_MS) / u128::from(count.max(1))) as u64;
    let mut day = ms / 86_400_000;
    let mut month = 0;
    while day >= DAYS[month] {
        day -= DAYS[month];
        month += 1;
    }
    let (hour, minute, second) = (ms / 3_600_000 % 24, ms / 60_000 % 60, ms / 1000 % 60);
    let (month, day, ms) = (month + 1, day + 1, ms % 1000);
    format!("2025-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// Twenty queries for a corpus, made from its own words: common and rare, one to six of them,
/// misspelt, identifiers, and runs of words as they stand in a text.
pub(crate) fn queries<'a>(texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut counts: HashMap<String, u64> = HashMap::new();
    let mut identifiers: HashMap<String, u64> = HashMap::new();
    let mut runs: Vec<String> = Vec::new();
    for (number, text) in texts.enumerate() {
        let whole = |c: char| !c.is_alphanumeric() && c != '_' && c != '.';
        for word in text.split(whole).map(|word| word.trim_matches('.')) {
            let named = word.contains('_') || word.bytes().any(|b| b.is_ascii_digit());
            if named && word.len() > 4 && word.len() < 40 {
                *identifiers.entry(word.to_owned()).or_default() += 1;
            } else if word.len() > 3 && word.bytes().all(|b| b.is_ascii_alphabetic()) {
                *counts.entry(word.to_ascii_lowercase()).or_default() += 1;
            }
        }
        if number % 997 == 5 && runs.len() < 2 {
            runs.push(text.split_whitespace().skip(2).take(5).collect::<Vec<_>>().join(" "));
        }
    }
    let ranked = |counts: HashMap<String, u64>| {
        let mut list: Vec<_> = counts.into_iter().collect();
        list.sort_unstable_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
        list.into_iter().map(|(word, _)| word).collect::<Vec<_>>()
    };
    let words = ranked(counts);
    let identifiers = ranked(identifiers);
    // Ranks in thousandths of the vocabulary: 0 is the commonest word, 999 one of the rarest.
    let word = |thousandth: usize| words.get(words.len() * thousandth / 1000).map_or("", |w| w);
    let name = |thousandth: usize| {
        identifiers.get(identifiers.len() * thousandth / 1000).map_or(word(500), |w| w)
    };
    let misspelt = |thousandth: usize| {
        let word = word(thousandth);
        let middle = word.len() / 2;
        [word.get(..middle), Some("x"), word.get(middle + 1..)].into_iter().flatten().collect()
    };
    let several = |ranks: &[usize]| ranks.iter().map(|r| word(*r)).collect::<Vec<_>>().join(" ");
    let mut queries = vec![
        several(&[0]),
        several(&[2]),
        several(&[20]),
        several(&[200]),
        several(&[900]),
        several(&[999]),
        several(&[1, 30]),
        several(&[40, 700]),
        several(&[0, 10, 100]),
        several(&[5, 300, 800]),
        several(&[2, 15, 60, 400]),
        several(&[0, 3, 25, 90, 600]),
        several(&[1, 4, 12, 50, 150, 950]),
        misspelt(10),
        misspelt(150),
        format!("{} {}", misspelt(60), word(20)),
        name(0).to_owned(),
        name(500).to_owned(),
        name(990).to_owned(),
    ];
    queries.extend(runs.into_iter().take(1));
    queries.retain(|query| !query.trim().is_empty());
    queries
}
