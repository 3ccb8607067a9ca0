//! Claims that share entities, for the bench of links: short texts of distinct words, about five
//! claims to an entity, half of the claims with one and half with two.
//!
//! Which claims share an entity is drawn evenly, so that the graph is one large tangle: harder
//! than the notes of a team, which cluster. Not here: anything that is measured. Invariant: the
//! same numbers give the same claims on every machine.

/// Claims that share an entity, on average (issue: "about five claims per entity").
const SHARING: u64 = 5;

/// Words there are: enough that no two texts come near one another by chance, few enough that
/// most words stand in many claims.
const WORDS: u64 = 20_000;

const SYLLABLES: [&str; 28] = [
    "ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "zo", "bra",
    "cle", "dri", "flo", "gru", "pla", "ste", "tri", "sno", "qua", "wen", "kor", "hal", "jup",
];

/// Mixes a number until no bit of it can be foretold (splitmix64, Steele et al., 2014).
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Draws for one claim: its number decides all of them.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(1);
        ((u128::from(mixed(self.0)) * u128::from(bound)) >> 64) as u64
    }

    /// A word, the first of them commoner: a square law, as gentle as the middle of Zipf's.
    fn word(&mut self, text: &mut String) {
        let share = self.below(1 << 20);
        let mut code = (((share * share) >> 20) * WORDS) >> 20;
        for _ in 0..3 {
            text.push_str(SYLLABLES[(code % SYLLABLES.len() as u64) as usize]);
            code /= SYLLABLES.len() as u64;
        }
    }
}

/// The claim of a number, in a pack of `count`: one JSON object without its closing brace.
pub(crate) fn claim(number: u64, count: u64) -> String {
    // Draws of one claim do not reach those of the next.
    let mut draws = Draws(number << 8);
    let mut text = String::new();
    let words = 12 + draws.below(4);
    for _ in 0..words {
        if !text.is_empty() {
            text.push(' ');
        }
        draws.word(&mut text);
    }
    // Two claims of three draw one and a half entities each.
    let pool = (count * 3 / (2 * SHARING)).max(1);
    let mut entities = format!("\"topic-{}\"", draws.below(pool));
    if draws.below(2) == 0 {
        entities.push_str(&format!(",\"topic-{}\"", draws.below(pool)));
    }
    format!(
        "{{\"schema\":\"inside.atom/v1\",\"kind\":\"lesson\",\"text\":\"{text}.\",\
         \"entities\":[{entities}]"
    )
}

/// A claim that takes the place of another: what it is about and its first three words are those
/// of `other`, and it goes on as the claim of `number` does.
pub(crate) fn successor(number: u64, other: u64, count: u64) -> String {
    const OPENING: usize = 3;
    let (new, old) = (claim(number, count), claim(other, count));
    let text = |claim: &str| {
        let text = claim.split("\"text\":\"").nth(1).and_then(|rest| rest.split('"').next());
        text.unwrap_or_default().to_owned()
    };
    let (goes_on, was) = (text(&new), text(&old));
    let opening = was.split(' ').take(OPENING);
    let words: Vec<&str> = opening.chain(goes_on.split(' ').skip(OPENING)).collect();
    old.replacen(&was, &words.join(" "), 1)
}

/// A few words of the claim of a number: what somebody who half remembers it would ask.
pub(crate) fn cue(number: u64, count: u64) -> String {
    let claim = claim(number, count);
    let text = claim.split("\"text\":\"").nth(1).unwrap_or_default();
    text.split(' ').skip(4).take(3).collect::<Vec<_>>().join(" ")
}
