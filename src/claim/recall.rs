//! Recall: what an agent should have before it at the start, without a question to rank by.
//!
//! A workspace that fits is recalled whole. Of a larger one come the due claims that the hints
//! meet, the neighbours of what the hints meet, and that itself. Not here: search, which ranks by
//! the words of a query. Invariants: no claim twice, none that is not live, no mail unless its
//! kind is asked for; the order is total; a read changes nothing.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use packset_segments::NULL;

use super::upkeep;
use crate::atom::Kind;
use crate::graph::Edges;
use crate::pack::record::{self, Record};
use crate::pack::{self, Place, Snapshot, View};
use crate::review::retrievability;
use crate::text::Tokenizer;
use crate::time::{Micros, days_between};

/// Claims that are recalled at most (behaviour spec, 4.12).
pub const MOST: usize = 64;
/// Characters of all their texts together, at most (the same).
pub const MOST_CHARACTERS: usize = 32_000;
/// The share of the places that due claims take, one in so many (the same).
const DUE_SHARE: usize = 4;
/// Characters of the shortest token of a cue that counts (the same).
const SHORTEST_TOKEN: usize = 2;

/// What is known of what will be needed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hints<'a> {
    /// Words.
    pub cue: &'a str,
    /// Names of entities, or ids of claims.
    pub seeds: &'a [&'a str],
}

/// Recalls at most `limit` live claims, [`MOST`] at the most, of one kind or of all but mail.
///
/// A claim meets the hints if one of its entities, or its id, is a seed, or if its text and
/// entities hold at least half of the cue's words. Without any hint every claim does. In each part
/// the due come first, then by trust, by retrievability and by time, the greater first.
///
/// Costs a pass over six columns of the live claims and a read of what is recalled; with hints a
/// read of what they meet and of its neighbours.
///
/// # Errors
/// Damaged bytes.
pub fn recall(
    snapshot: &Snapshot,
    hints: &Hints<'_>,
    limit: usize,
    kind: Option<&str>,
    now: Micros,
) -> Result<Vec<Record>, pack::Error> {
    let limit = limit.min(MOST);
    let asked = Asked { snapshot, kind, view: View::now(now), now };
    let hinted = !hints.seeds.is_empty() || !hints.cue.trim().is_empty();
    let fits = || upkeep::at_most(snapshot) <= limit;
    let places = if hinted && !fits() {
        let met = asked.met(hints)?;
        asked.around(met, limit)?
    } else {
        let all: Result<Vec<Place>, pack::Error> = asked.all();
        asked.ordered(all?)
    };
    let mut recalled = Vec::new();
    let mut room = MOST_CHARACTERS;
    for place in places.into_iter().take(limit) {
        let characters = snapshot.text(place)?.chars().count();
        if characters > room {
            break;
        }
        room -= characters;
        recalled.push(snapshot.record(place)?);
    }
    Ok(recalled)
}

struct Asked<'a> {
    snapshot: &'a Snapshot,
    kind: Option<&'a str>,
    view: View,
    now: Micros,
}

impl Asked<'_> {
    /// Whether a place is of a kind that may be recalled.
    fn is_of_kind(&self, place: Place) -> Result<bool, pack::Error> {
        let kind = self.snapshot.segment(place).kind(place.row)?;
        Ok(match (self.kind, Kind::named(kind)) {
            (Some(asked), Some(_)) => asked == kind,
            (None, Some(kind)) => !kind.is_mail(),
            (_, None) => false,
        })
    }

    fn all(&self) -> Result<Vec<Place>, pack::Error> {
        let mut all = Vec::new();
        for place in self.snapshot.shown(&self.view) {
            if self.is_of_kind(place)? {
                all.push(place);
            }
        }
        Ok(all)
    }

    fn column(&self, place: Place, tag: u16) -> Option<i64> {
        let column = self.snapshot.segment(place).column(tag)?;
        Some(column.get(place.row)).filter(|value| *value != NULL)
    }

    fn is_due(&self, place: Place) -> bool {
        self.column(place, record::DUE_AT).is_some_and(|due| due <= self.now.0)
    }

    /// Due, trusted, retrievable, late, in this order; then by the key of the id.
    fn ordered(&self, mut places: Vec<Place>) -> Vec<Place> {
        let float = |place, tag| {
            self.column(place, tag).map_or(1.0, |bits| f64::from(f32::from_bits(bits as u32)))
        };
        places.sort_by_cached_key(|place| {
            let ts = self.column(*place, record::TS);
            let last = self.column(*place, record::LAST_REVIEW).or(ts);
            let days = last.map_or(0.0, |last| days_between(Micros(last), self.now));
            let retrievability = retrievability(days, float(*place, record::STABILITY));
            (
                Reverse(self.is_due(*place)),
                Reverse(total(float(*place, record::TRUST))),
                Reverse(total(retrievability)),
                Reverse(ts),
                self.snapshot.segment(*place).id(place.row),
            )
        });
        places
    }

    /// The claims that the hints meet.
    fn met(&self, hints: &Hints<'_>) -> Result<BTreeSet<Place>, pack::Error> {
        let corpus = self.kind.map_or(record::CLAIMS, record::corpus);
        let mut tokenizer = Tokenizer::new(self.snapshot.manifest().text.stem);
        let mut tokens = |text: &str| {
            let mut tokens = tokenizer.collect(text);
            tokens.sort_unstable();
            tokens.dedup();
            tokens
        };
        let holding = |tokens: &[String], least: usize| {
            let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
            self.snapshot.holding(corpus, &tokens, least)
        };
        let mut met = BTreeSet::new();
        let mut cue = tokens(hints.cue);
        cue.retain(|token| token.chars().nth(SHORTEST_TOKEN - 1).is_some());
        if !cue.is_empty() {
            met.extend(holding(&cue, cue.len().div_ceil(2))?);
        }
        for seed in hints.seeds {
            met.extend(self.snapshot.current(record::key(seed)));
            let words = tokens(seed);
            for place in if words.is_empty() { Vec::new() } else { holding(&words, words.len())? } {
                let claim = self.snapshot.record(place)?;
                let entities = claim.get("entities").and_then(serde_json::Value::as_array);
                if entities.into_iter().flatten().any(|name| name.as_str() == Some(*seed)) {
                    met.insert(place);
                }
            }
        }
        self.live(met)
    }

    /// Those that are live and of a kind that may be recalled.
    fn live(&self, places: BTreeSet<Place>) -> Result<BTreeSet<Place>, pack::Error> {
        let mut live = BTreeSet::new();
        for place in places {
            if self.snapshot.visible(place, &self.view) && self.is_of_kind(place)? {
                live.insert(place);
            }
        }
        Ok(live)
    }

    /// Due ones of what was met, at most a quarter, then the neighbours of all of it, then the
    /// rest. Neighbours leave half of the places, so that a hub does not crowd out what was met.
    fn around(&self, met: BTreeSet<Place>, limit: usize) -> Result<Vec<Place>, pack::Error> {
        let met = self.ordered(met.into_iter().collect());
        let quarter = (limit / DUE_SHARE).max(1);
        let due = met.iter().copied().filter(|place| self.is_due(*place));
        let mut places: Vec<Place> = due.take(quarter).collect();
        let rest: Vec<Place> =
            met.iter().copied().filter(|place| !places.contains(place)).collect();
        let mut near = BTreeSet::new();
        for place in met.iter().take(limit) {
            let claim = self.snapshot.record(*place)?;
            for link in Edges::of(&claim).links() {
                near.extend(self.snapshot.current(record::key(link)));
            }
        }
        let mut near = self.live(near)?;
        near.retain(|place| !met.contains(place));
        let room = limit.saturating_sub(places.len());
        let left = room - rest.len().min(room / 2);
        places.extend(self.ordered(near.into_iter().collect()).into_iter().take(left));
        places.extend(rest);
        Ok(places)
    }
}

/// The bits of a finite float, in its order.
fn total(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_keep_their_order_as_bits() {
        let rising = [-2.0, -0.5, 0.0, 0.1, 1.0, 1e9];
        assert!(rising.windows(2).all(|pair| total(pair[0]) < total(pair[1])));
    }
}
