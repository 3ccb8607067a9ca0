//! Cards on the ballots: each paragraph of a card is a candidate of its own.
//!
//! A card is short and there are two of them, so its words are matched one by one; what a word is
//! worth comes from the claims. Not here: which cards there are ([`crate::cards::beside`]).
//! Invariants: a search without cards costs what it did; a paragraph is scored by the arithmetic
//! of the claims, and carries its own text; a card never fades.

use packset_segments::postings::len_code;

use super::engine::Ballots;
use super::score::{self, Bm25, Extras};
use super::top::{Entry, Top};
use super::words::Word;
use super::{Hit, Ranked};
use crate::cards::{self, Card};
use crate::pack::snapshot::Place;
use crate::text::Tokenizer;

/// What a paragraph of a card adds to its ballot scores (observed).
const BONUS: [(Card, f32); 2] = [(Card::User, 0.5), (Card::Memory, 0.25)];

/// The segment that stands for cards in a [`Place`]: no snapshot has as many.
const CARDS: u32 = u32::MAX;

/// A found paragraph of a card.
#[derive(Clone, Debug, PartialEq)]
pub struct CardHit {
    /// Which card.
    pub card: Card,
    /// The paragraph.
    pub text: String,
    /// As [`Hit::score`].
    pub score: f32,
    /// As [`Hit::ballots`].
    pub ballots: u8,
    /// As [`Hit::of`].
    pub of: u8,
    /// As [`Hit::ballot_score`].
    pub ballot_score: f32,
    /// As [`Hit::ranks`].
    pub ranks: Vec<Ranked>,
    /// As [`Hit::blended`].
    pub blended: Option<f32>,
}

/// What a search over claims and cards found.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// A claim.
    Claim(Hit),
    /// A paragraph of a card.
    Card(CardHit),
}

impl Found {
    /// As [`Hit::blended`].
    pub fn blended(&self) -> Option<f32> {
        match self {
            Self::Claim(hit) => hit.blended,
            Self::Card(hit) => hit.blended,
        }
    }

    /// The claim, if it is one.
    pub fn into_claim(self) -> Option<Hit> {
        match self {
            Self::Claim(hit) => Some(hit),
            Self::Card(_) => None,
        }
    }
}

/// The paragraphs of the cards that take part in one search.
pub(super) struct Paragraphs<'a>(Vec<(Card, &'a str)>);

impl<'a> Paragraphs<'a> {
    pub(super) fn of(cards: &'a [(Card, String)]) -> Self {
        let parts = |(card, text): &'a (Card, String)| {
            cards::paragraphs(text).into_iter().map(|paragraph| (*card, paragraph))
        };
        Self(cards.iter().flat_map(parts).collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The paragraph that stands for a place; none for the place of a claim.
    pub(super) fn get(&self, place: Place) -> Option<(Card, &'a str)> {
        self.0.get(place.row as usize).filter(|_| place.segment == CARDS).copied()
    }

    /// Puts the paragraphs that match on the ballots, each cut to `limit` again. They are `lonely`
    /// where there is no claim beside them.
    pub(super) fn join(
        &self,
        ballots: Ballots,
        words: &[Word],
        (formula, norms): (&Bm25, &[f32; 256]),
        tokenizer: &mut Tokenizer,
        limit: usize,
        lonely: bool,
    ) -> Ballots {
        let top = |entries: Vec<Entry>| {
            let mut top = Top::new(limit);
            for entry in entries {
                top.push(entry);
            }
            top
        };
        let (mut scan, mut bm25) = (top(ballots.scan), top(ballots.bm25));
        for (row, (card, paragraph)) in (0..).zip(&self.0) {
            let terms = tokenizer.collect(paragraph);
            let norm = norms[usize::from(len_code(terms.len() as u32))];
            let (mut halves, mut points) = (0, 0.0);
            for word in words {
                let best = terms.iter().map(|term| word.class_of(term)).max().unwrap_or(0);
                halves += u16::from(best) * word.count;
                let frequency = terms.iter().filter(|term| word.class_of(term) == score::EQUAL);
                let frequency = frequency.count() as u32;
                if frequency > 0 {
                    points += formula.part(word.weight, frequency, norm);
                }
            }
            let extras = Extras { trust: 0.0, recency: 0.0, due: false };
            let bonus = BONUS.iter().find(|(of, _)| of == card).map_or(0.0, |(_, bonus)| *bonus);
            let place = Place { segment: CARDS, row };
            // Of equals the claims come first.
            let entry = |score| Entry {
                score: score + bonus,
                id: u128::MAX,
                version: place,
                text: place,
                halves,
                points,
            };
            if halves > 0 {
                scan.push(entry(score::scan(halves, &extras)));
            }
            // Without a claim no word is rare: then that ballot has nothing to say.
            if points > 0.0 && !lonely {
                bm25.push(entry(score::bm25(points, &extras)));
            }
        }
        Ballots { scan: scan.into_ranked(), bm25: bm25.into_ranked() }
    }

    /// What a hit stands for.
    pub(super) fn found(&self, hit: Hit) -> Found {
        let Some((card, text)) = self.get(hit.version) else { return Found::Claim(hit) };
        let Hit { score, ballots, of, ballot_score, ranks, blended, .. } = hit;
        let text = text.into();
        Found::Card(CardHit { card, text, score, ballots, of, ballot_score, ranks, blended })
    }
}
