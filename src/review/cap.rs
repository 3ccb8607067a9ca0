//! The live cap: which claims the writer forgets when a workspace holds too many.
//!
//! Not the forgetting itself (`super::forget`), not which claims may be forgotten at all (live
//! ones of forgettable kinds, unpinned, written before the running commit), and not the refusal of
//! an import that would cross the cap. Invariant: the order is total, so that every process
//! chooses the same ones.

use super::clock;
use crate::time::{Micros, days_between};

/// Live claims that a workspace keeps when nobody says otherwise (the page).
pub const DEFAULT_LIVE_CAP: usize = 20_000;

/// A live cap that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the live cap is a number of claims, or off for none, not {0:?}")]
pub struct BadCap(String);

/// Reads `PACKSET_LIVE_CAP`: `None` is no cap.
///
/// A missing or blank setting is [`DEFAULT_LIVE_CAP`]; `off`, `none` and 0 are no cap, which
/// status shows as 0.
///
/// # Errors
/// [`BadCap`] for anything else: a mistyped cap must neither forget claims nor keep them all.
pub fn parse_live_cap(setting: Option<&str>) -> Result<Option<usize>, BadCap> {
    let setting = setting.unwrap_or_default().trim();
    if setting.is_empty() {
        return Ok(Some(DEFAULT_LIVE_CAP));
    }
    if ["off", "none"].iter().any(|word| setting.eq_ignore_ascii_case(word)) {
        return Ok(None);
    }
    let digits = setting.bytes().all(|byte| byte.is_ascii_digit());
    match setting.parse::<usize>() {
        Ok(cap) if digits => Ok(Some(cap).filter(|cap| *cap > 0)),
        _ => Err(BadCap(setting.chars().take(60).collect())),
    }
}

/// A live claim that may be forgotten, as its columns show it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate<T> {
    /// What stands for the claim with the caller.
    pub what: T,
    /// When it was last reviewed, else when it was first written.
    pub last: Micros,
    /// Its stability in days; what is no positive number counts as 1.
    pub stability: f64,
    /// The key of its id, which breaks ties.
    pub id: u128,
}

/// Takes the `most` least retrievable out of the candidates, the first to be forgotten first.
///
/// Ties go by the earlier `last`, then by id key, which for our own ids is when they were made.
/// The candidates that remain are in no order. Cost: linear, and a sort of what is taken.
pub fn take_least_held<T>(candidates: &mut Vec<Candidate<T>>, most: usize, now: Micros) -> Vec<T> {
    let mut held: Vec<(f64, Candidate<T>)> = candidates
        .drain(..)
        .map(|claim| {
            let days = days_between(claim.last, now);
            (clock::retrievability(days, claim.stability), claim)
        })
        .collect();
    let order = |(a_chance, a): &(f64, Candidate<T>), (b_chance, b): &(f64, Candidate<T>)| {
        a_chance.total_cmp(b_chance).then(a.last.cmp(&b.last)).then(a.id.cmp(&b.id))
    };
    let most = most.min(held.len());
    if most > 0 && most < held.len() {
        held.select_nth_unstable_by(most, order);
    }
    candidates.extend(held.drain(most..).map(|(_, claim)| claim));
    held.sort_unstable_by(order);
    held.into_iter().map(|(_, claim)| claim.what).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::DAY;

    fn now() -> Micros {
        Micros::parse("2025-03-10T00:00:00.000Z").unwrap()
    }

    fn claim(what: char, days: i64, stability: f64) -> Candidate<char> {
        Candidate {
            what,
            last: now().plus(-days * DAY),
            stability,
            id: u128::from(u32::from(what)),
        }
    }

    fn taken(claims: &[Candidate<char>], most: usize) -> String {
        let mut left = claims.to_vec();
        let taken: String = take_least_held(&mut left, most, now()).into_iter().collect();
        assert_eq!(left.len() + taken.len(), claims.len());
        assert!(left.iter().all(|claim| !taken.contains(claim.what)));
        taken
    }

    #[test]
    fn the_setting() {
        for (setting, wanted) in [
            (None, Ok(Some(20_000))),
            (Some(""), Ok(Some(20_000))),
            (Some(" "), Ok(Some(20_000))),
            (Some("off"), Ok(None)),
            (Some("None"), Ok(None)),
            (Some("0"), Ok(None)),
            (Some(" 12 "), Ok(Some(12))),
        ] {
            assert_eq!(parse_live_cap(setting), wanted, "{setting:?}");
        }
        for bad in ["-1", "+5", "1e4", "20k", "no", "99999999999999999999999"] {
            let refusal = parse_live_cap(Some(bad)).unwrap_err().to_string();
            assert!(refusal.contains(bad), "{refusal}");
        }
    }

    #[test]
    fn the_least_retrievable_go_first() {
        // t/S is 2, 0.2, 1, 30: the larger it is, the less is recalled.
        let claims =
            [claim('a', 2, 1.0), claim('b', 2, 10.0), claim('c', 5, 5.0), claim('d', 30, 1.0)];
        for (most, wanted) in [(0, ""), (1, "d"), (2, "da"), (3, "dac"), (4, "dacb"), (99, "dacb")]
        {
            assert_eq!(taken(&claims, most), wanted, "{most}");
        }
    }

    #[test]
    fn ties_go_by_last_review_then_by_id() {
        // All t/S are 2, exactly; `y` was reviewed first.
        let claims = [claim('z', 2, 1.0), claim('y', 4, 2.0), claim('x', 2, 1.0)];
        assert_eq!(taken(&claims, 1), "y");
        assert_eq!(taken(&claims, 3), "yxz");
        // A stability that is none counts as a day.
        assert_eq!(taken(&[claim('a', 3, 1.5), claim('b', 3, 0.0)], 1), "b");
    }

    #[test]
    fn a_part_is_the_start_of_the_whole() {
        let mut seed = 7_u64;
        let mut roll = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        let claims: Vec<_> =
            ('A'..='f').map(|what| claim(what, roll(6) as i64, 1.0 + roll(3) as f64)).collect();
        let all = taken(&claims, claims.len());
        for most in 0..=claims.len() {
            assert_eq!(taken(&claims, most), all[..most]);
        }
    }
}
