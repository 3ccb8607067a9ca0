//! The live cap: which claims the writer forgets when a workspace holds too many.
//!
//! Not the forgetting itself (`super::forget`) and not the refusal of an import that would cross
//! the cap. Invariants: only live, unpinned claims of forgettable kinds are chosen, never one that
//! the running commit wrote, and never more than the excess; the order is total, so that every
//! process chooses the same ones.

use super::{clock, id_of, moment, number, review_of};
use crate::atom::{Kind, is_live};
use crate::time::{Micros, days_between};
use serde_json::{Map, Value};

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

/// How firmly a claim is held: the one that compares least is forgotten first.
struct Hold<'a> {
    retrievability: f64,
    last: Micros,
    id: &'a str,
}

/// The ids to forget so that at most `cap` of `records` stay live, the least retrievable first.
///
/// Ties go by the earlier last review (or `ts`), then by id. `written` are the ids of the running
/// commit: what a verb answers as stored is there for the next process. Fewer come back when
/// nothing more may be forgotten. Cost: linear, and a sort of what is chosen.
pub fn choose<'a>(
    records: impl IntoIterator<Item = &'a Map<String, Value>>,
    cap: usize,
    written: impl Fn(&str) -> bool,
    now: Micros,
) -> Vec<&'a str> {
    let mut live = 0_usize;
    let mut held = Vec::new();
    for record in records {
        let Some(kind) = Kind::of(record).filter(|_| is_live(record, now)) else { continue };
        live += 1;
        let pinned = record.get("pinned") == Some(&Value::Bool(true));
        let id = id_of(record);
        if kind.is_forgettable() && !pinned && !id.is_empty() && !written(id) {
            held.push(hold(record, id, now));
        }
    }
    let excess = live.saturating_sub(cap).min(held.len());
    let order = |a: &Hold<'_>, b: &Hold<'_>| {
        let by_chance = a.retrievability.total_cmp(&b.retrievability);
        by_chance.then(a.last.cmp(&b.last)).then(a.id.cmp(b.id))
    };
    if excess > 0 && excess < held.len() {
        held.select_nth_unstable_by(excess, order);
    }
    held.truncate(excess);
    held.sort_unstable_by(order);
    held.into_iter().map(|claim| claim.id).collect()
}

fn hold<'a>(record: &Map<String, Value>, id: &'a str, now: Micros) -> Hold<'a> {
    let review = review_of(record);
    let last = review.and_then(|review| moment(review, "last"));
    let last = last.or_else(|| moment(record, "ts")).unwrap_or(now);
    let stability = review.and_then(|review| number(review, "stability")).unwrap_or(1.0);
    Hold { retrievability: clock::retrievability(days_between(last, now), stability), last, id }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::DAY;
    use serde_json::json;

    fn now() -> Micros {
        Micros::parse("2025-03-10T00:00:00.000Z").unwrap()
    }

    fn claim(id: &str, days: i64, stability: f64, more: Value) -> Map<String, Value> {
        let last = now().plus(-days * DAY).format_ms();
        let mut claim = json!({
            "id": id, "kind": "lesson", "text": "x", "ts": "2025-01-01T00:00:00.000Z",
            "review": {"last": last, "stability": stability}
        });
        let members = more.as_object().unwrap().clone();
        claim.as_object_mut().unwrap().extend(members);
        claim.as_object().unwrap().clone()
    }

    fn chosen(records: &[Map<String, Value>], cap: usize) -> String {
        choose(records, cap, |id| id == "written", now()).join(" ")
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
        let records = [
            claim("a", 2, 1.0, json!({})),
            claim("b", 2, 10.0, json!({})),
            claim("c", 5, 5.0, json!({})),
            claim("d", 30, 1.0, json!({})),
        ];
        for (cap, wanted) in [(4, ""), (3, "d"), (2, "d a"), (1, "d a c"), (0, "d a c b"), (99, "")]
        {
            assert_eq!(chosen(&records, cap), wanted, "{cap}");
        }
    }

    #[test]
    fn ties_go_by_last_review_then_by_id() {
        // Both t/S are 2, exactly.
        let records = [
            claim("z", 2, 1.0, json!({})),
            claim("y", 4, 2.0, json!({})),
            claim("x", 2, 1.0, json!({})),
        ];
        assert_eq!(chosen(&records, 2), "y");
        assert_eq!(chosen(&records, 0), "y x z");
    }

    #[test]
    fn what_counts_and_what_is_kept() {
        let records = [
            claim("pinned", 900, 1.0, json!({"pinned": true})),
            claim("preference", 900, 1.0, json!({"kind": "preference"})),
            claim("letter", 900, 1.0, json!({"kind": "message"})),
            claim("closed", 900, 1.0, json!({"valid_to": "2025-03-10T00:00:00.000Z"})),
            claim("deleted", 900, 1.0, json!({"tombstone": true})),
            claim("task", 900, 1.0, json!({"kind": "task"})),
            claim("written", 900, 1.0, json!({})),
            claim("old", 3, 1.0, json!({})),
        ];
        // Five are live claims; one of them may be forgotten.
        assert_eq!(chosen(&records, 5), "");
        assert_eq!(chosen(&records, 4), "old");
        assert_eq!(chosen(&records, 0), "old");
    }

    #[test]
    fn a_claim_without_a_review_fades_from_when_it_was_written() {
        let mut records =
            vec![claim("reviewed", 10, 1.0, json!({})), claim("bare", 0, 1.0, json!({}))];
        records[1].remove("review");
        // 68 days since `ts` against 10.
        assert_eq!(chosen(&records, 1), "bare");
        records[1].remove("ts");
        assert_eq!(chosen(&records, 1), "reviewed");
    }

    #[test]
    fn a_part_is_the_start_of_the_whole() {
        let mut seed = 7_u64;
        let mut roll = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        let records: Vec<_> = (0..40)
            .map(|n| claim(&format!("{n:02}"), roll(6) as i64, 1.0 + roll(3) as f64, json!({})))
            .collect();
        let all = choose(&records, 0, |_| false, now());
        assert_eq!(all.len(), 40);
        let chance = |id: &str| {
            let record = records.iter().find(|record| record["id"] == id).unwrap();
            hold(record, id, now()).retrievability
        };
        assert!(all.windows(2).all(|pair| chance(pair[0]) <= chance(pair[1])));
        for cap in 0..=40 {
            assert_eq!(choose(&records, cap, |_| false, now()), all[..40 - cap]);
        }
    }
}
