//! Consolidation: the replacement rule over a whole live set, in the order it was written.
//!
//! Not the closing, which the caller does for each pair if asked to. Invariants: the pairs are
//! exactly those of trying every later claim on every earlier open one; each claim is closed at
//! most once, and by a later one, so pairs make no circle; only an explicit id crosses sets.

use super::Kind;
use super::replace::{Reading, Why, opening, replaces};
use crate::time::Micros;
use rustc_hash::{FxHashMap, FxHasher};
use serde_json::Value;
use std::hash::{Hash, Hasher};

/// One claim that a later one closes: places in the list that was handed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The earlier one.
    pub old: usize,
    /// The later one.
    pub new: usize,
    /// Why.
    pub why: Why,
}

/// Finds what later claims close, in the order of the later ones.
///
/// The claims are live and come in any order; written order is `ts`, then id. Candidates come from
/// keys that no pair is missed by: names in `supersedes`, declared names of corrections, the
/// rarest tokens of a text, and the words it opens with. Cost: some 20 keys for each claim, and a
/// comparison with each earlier one that shares a rare token or an opening.
pub fn consolidate(claims: &[Reading<'_>]) -> Vec<Pair> {
    let mut order: Vec<usize> = (0..claims.len()).collect();
    let written = |at: &usize| {
        let claim = claims.get(*at)?;
        let ts = claim.record().get("ts").and_then(Value::as_str).and_then(Micros::parse);
        Some((ts, claim.id()))
    };
    order.sort_by(|a, b| written(a).cmp(&written(b)).then(a.cmp(b)));

    let rarity = rarity(claims);
    let mut closed = vec![false; claims.len()];
    let mut index: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    let mut pairs = Vec::new();
    let mut candidates = Vec::new();
    for new in order {
        let Some(reading) = claims.get(new) else { continue };
        let keys = keys(reading, &rarity);
        candidates.clear();
        for key in &keys.asked {
            if let Some(holders) = index.get_mut(key) {
                holders.retain(|old| closed.get(*old) == Some(&false));
                candidates.extend_from_slice(holders);
            }
        }
        candidates.sort_unstable();
        candidates.dedup();
        for old in candidates.iter().copied() {
            if let Some(why) = claims.get(old).and_then(|older| replaces(reading, older)) {
                pairs.push(Pair { old, new, why });
                if let Some(closed) = closed.get_mut(old) {
                    *closed = true;
                }
            }
        }
        for key in keys.held {
            index.entry(key).or_default().push(new);
        }
    }
    pairs
}

/// In how many claims each token stands.
fn rarity<'a>(claims: &'a [Reading<'_>]) -> FxHashMap<&'a str, u32> {
    let mut rarity = FxHashMap::default();
    for token in claims.iter().flat_map(Reading::tokens) {
        *rarity.entry(token.as_str()).or_default() += 1;
    }
    rarity
}

/// Under which keys a claim is found, and under which it looks for others.
#[derive(Default)]
struct Keys {
    held: Vec<u64>,
    asked: Vec<u64>,
}

fn keys(claim: &Reading<'_>, rarity: &FxHashMap<&str, u32>) -> Keys {
    let mut keys = Keys::default();
    let Some(kind) = claim.kind().filter(|kind| !kind.is_mail()) else { return keys };
    let scope = (kind, claim.set());
    keys.held.push(hash(&("id", claim.id())));
    keys.asked.extend(claim.named().iter().map(|id| hash(&("id", id))));
    let mut both = |key: u64| {
        keys.held.push(key);
        keys.asked.push(key);
    };
    if kind == Kind::Correction {
        claim.declared().iter().for_each(|name| both(hash(&("name", scope, name))));
    }
    // Two sets with a Jaccard of 0.6 or more share one of the first two fifths, and one more, of
    // their tokens in any order common to all; rarest first makes the lists short.
    let mut tokens: Vec<&str> = claim.tokens().iter().map(String::as_str).collect();
    tokens.sort_by_key(|token| (rarity.get(token).copied().unwrap_or_default(), *token));
    let unshared = tokens.len() * 2 / 5;
    tokens.iter().take(unshared + 1).for_each(|token| both(hash(&("token", scope, token))));
    if kind == Kind::Preference {
        return keys;
    }
    // The shorter of two texts tells how many words they must share; it holds and asks for just
    // that opening as its own, and the longer one does so for each opening up to its own.
    let words = claim.words();
    let own = opening(words.len());
    let mut hasher = FxHasher::default();
    scope.hash(&mut hasher);
    for (count, word) in words.iter().enumerate().take(own) {
        word.hash(&mut hasher);
        let (count, start) = (count + 1, hasher.finish());
        if count >= opening(0) {
            keys.held.push(hash(&("part", start)));
            keys.asked.push(hash(&("own", start)));
        }
        if count == own {
            keys.held.push(hash(&("own", start)));
            keys.asked.push(hash(&("part", start)));
        }
    }
    keys
}

/// A key of one run: two that are equal by chance only make one candidate more.
fn hash(key: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    key.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, json};

    struct Claim(Map<String, Value>, Vec<String>, bool);

    fn claim(id: &str, day: u64, text: &str, more: Value) -> Claim {
        let ts = format!("2025-01-{:02}T00:00:00.000Z", day + 1);
        let claim = json!({"id": id, "kind": "lesson", "text": text, "ts": ts});
        let mut claim = claim.as_object().unwrap().clone();
        claim.extend(more.as_object().unwrap().clone());
        let entities = claim.get("entities").and_then(Value::as_array).cloned();
        let declared = entities.is_some();
        let names = entities.unwrap_or_default();
        Claim(claim, names.iter().map(|name| name.as_str().unwrap().into()).collect(), declared)
    }

    fn readings(claims: &[Claim]) -> Vec<Reading<'_>> {
        claims.iter().map(|claim| Reading::of(&claim.0, &claim.1, claim.2)).collect()
    }

    fn pairs(claims: &[Claim]) -> String {
        let readings = readings(claims);
        let pairs = consolidate(&readings);
        let name = |pair: &Pair| format!("{}>{}", readings[pair.new].id(), readings[pair.old].id());
        pairs.iter().map(name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn later_claims_close_earlier_ones_in_written_order() {
        let port =
            |id, day, what| claim(id, day, &format!("The default port is {what}"), json!({}));
        let claims = [port("c", 3, "gamma"), port("a", 1, "alpha"), port("b", 2, "beta")];
        assert_eq!(pairs(&claims), "b>a c>b");
        // One moment: by id.
        let claims = [port("b", 1, "beta"), port("a", 1, "alpha")];
        assert_eq!(pairs(&claims), "b>a");
        assert_eq!(pairs(&[]), "");
    }

    #[test]
    fn sets_stay_apart_but_for_explicit_ids() {
        let dev = json!({"set": "dev"});
        let port =
            |id, day, what, more| claim(id, day, &format!("The default port is {what}"), more);
        let claims = [
            port("a", 1, "alpha", json!({})),
            port("b", 2, "beta", dev.clone()),
            port("c", 3, "gamma", dev.clone()),
        ];
        assert_eq!(pairs(&claims), "c>b");
        let claims = [
            port("a", 1, "alpha", json!({})),
            claim("b", 2, "Nothing in common.", json!({"set": "dev", "supersedes": ["a", "c"]})),
            claim("c", 3, "A later one is not closed.", json!({})),
        ];
        assert_eq!(pairs(&claims), "b>a");
    }

    #[test]
    fn a_rewrite_that_opens_otherwise_and_a_crowd_are_found() {
        let claims = [
            claim("a", 1, "Build with cargo release mode now", json!({})),
            claim("b", 2, "Always build with cargo release mode now", json!({})),
        ];
        assert_eq!(pairs(&claims), "b>a");
        // A hundred claims that open alike and close nothing, each about an issue of its own.
        let mut claims: Vec<_> = (0..100)
            .map(|n| {
                let issue = json!({"issue": n.to_string()});
                claim(&format!("{n:03}"), 1, &format!("The build of stage{n} x{n} y{n}"), issue)
            })
            .collect();
        assert_eq!(pairs(&claims), "");
        claims.push(claim("new", 2, "The build of stage7 z", json!({"issue": "7"})));
        assert_eq!(pairs(&claims), "new>007");
    }

    /// Against brute force over claims of few words, so that all reasons and gates occur.
    #[test]
    fn the_keys_miss_no_pair() {
        let mut seed = 11_u64;
        let mut roll = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        let mut reasons = FxHashMap::<Why, usize>::default();
        for round in 0..150 {
            let claims: Vec<_> = (0..24)
                .map(|n| {
                    let mut text = String::new();
                    for at in 0..1 + roll(8) {
                        // Two words to open with, many after them.
                        let choice = if at < 3 { 2 } else { 24 };
                        text.push(char::from(b'a' + roll(choice) as u8));
                        text.push(' ');
                    }
                    let kinds = ["lesson", "lesson", "correction", "preference", "message"];
                    let mut more = json!({"kind": kinds[roll(5) as usize]});
                    if roll(3) == 0 {
                        more["set"] = json!("dev");
                    }
                    if roll(2) == 0 {
                        let name = ["x", "y", "z"][roll(3) as usize];
                        more["entities"] = json!([name]);
                    }
                    if roll(4) == 0 {
                        more["issue"] = json!(roll(2));
                    }
                    if roll(10) == 0 {
                        more["supersedes"] = json!(format!("{:02}", roll(24)));
                    }
                    claim(&format!("{n:02}"), roll(28), &text, more)
                })
                .collect();
            let readings = readings(&claims);
            let found = consolidate(&readings);

            let mut order: Vec<usize> = (0..claims.len()).collect();
            order.sort_by_key(|at| (claims[*at].0["ts"].to_string(), *at));
            let mut wanted = Vec::new();
            let mut open: Vec<usize> = Vec::new();
            for new in order {
                let earlier = open.clone();
                let mut here = Vec::new();
                for old in earlier {
                    if let Some(why) = replaces(&readings[new], &readings[old]) {
                        here.push(Pair { old, new, why });
                        open.retain(|place| *place != old);
                    }
                }
                here.sort_by_key(|pair| pair.old);
                wanted.extend(here);
                open.push(new);
            }
            assert_eq!(found, wanted, "round {round}");
            found.iter().for_each(|pair| *reasons.entry(pair.why).or_default() += 1);
        }
        assert!(reasons.len() == 4 && reasons.values().all(|count| *count > 20), "{reasons:?}");
    }
}
