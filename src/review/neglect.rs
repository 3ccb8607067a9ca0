//! The sweep: reviews left undone lapse, and what nobody ever recalled is forgotten.
//!
//! Not the choice of records to sweep, which the caller reads off a column ([`latest_swept`]), and
//! not the store's note of the last sweep, which is handed in. Invariants: a claim that was ever
//! recalled or used, is pinned, or is of a kind that is kept, is never forgotten here; a sweep
//! right after a sweep changes nothing.

use super::{Reason, clock, count, forget, moment, number, review_of};
use crate::atom::{FIRST_INTERVAL_S, Kind};
use crate::time::{DAY, Micros, SECOND, days_between};
use serde_json::{Map, Value, json};

/// Intervals that a review may be overdue before it lapses (the page: "past twice").
const OVERDUE_INTERVALS: i64 = 2;
/// Sweeps that may find a claim overdue before it is forgotten (the page: "missed three times").
const MISSES: u64 = 3;

/// What a sweep did to a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swept {
    /// Its review lapsed.
    Lapsed,
    /// It became a tombstone, `forgotten: neglect`.
    Forgotten,
}

/// The latest `due_at` that a sweep at `now` may touch: no interval is shorter than a day.
pub fn latest_swept(now: Micros) -> Micros {
    now.plus(-OVERDUE_INTERVALS * DAY)
}

/// Sweeps one record: `None`, and nothing changed, unless it is a live claim of a reviewed kind
/// whose review is overdue by more than twice its interval.
///
/// A clock that a grade started on a trust row, a persona, an outcome or mail is left alone. A
/// pinned claim lapses and is never forgotten.
pub fn sweep(record: &mut Map<String, Value>, now: Micros) -> Option<Swept> {
    let kind = Kind::of(record).filter(|kind| kind.is_reviewed())?;
    if !clock::is_due(record, now) {
        return None;
    }
    let none = Map::new();
    let review = review_of(record).unwrap_or(&none);
    let interval_s = number(review, "interval_s").unwrap_or_default().max(FIRST_INTERVAL_S as f64);
    let interval_days = interval_s * SECOND as f64 / DAY as f64;
    let overdue_days = days_between(moment(record, "due_at")?, now);
    if overdue_days <= OVERDUE_INTERVALS as f64 * interval_days {
        return None;
    }
    let neglected = count(review, "neglected").saturating_add(1);
    // A block that was never graded has no `recalls`; one with `reps` has been recalled.
    let recalls = count(review, if review.contains_key("recalls") { "recalls" } else { "reps" });
    let untouched = recalls == 0 && count(review, "used") == 0;
    let pinned = record.get("pinned") == Some(&Value::Bool(true));
    let forgotten = neglected >= MISSES && untouched && kind.is_forgettable() && !pinned;
    if forgotten {
        forget(record, Reason::Neglect, now);
    } else {
        clock::grade(record, false, now);
    }
    if let Some(Value::Object(review)) = record.get_mut("review") {
        review.insert("neglected".to_owned(), json!(neglected));
    }
    Some(if forgotten { Swept::Forgotten } else { Swept::Lapsed })
}

/// The UTC day to note when a sweep is to run at `now`, or `None` when it ran that day already.
///
/// `last` is the day noted by the last sweep. A noted day in the future does not hold sweeps back:
/// a wrong clock would end them for good, and sweeping twice does no harm.
pub fn sweep_today(last: Option<&str>, now: Micros) -> Option<String> {
    let mut today = now.format_ms();
    today.truncate("YYYY-MM-DD".len());
    (last != Some(today.as_str())).then_some(today)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn now() -> Micros {
        Micros::parse("2025-03-10T00:00:00.000Z").unwrap()
    }

    /// A lesson overdue by some hours, with a fresh block that holds some members more.
    fn overdue(hours: i64, review: Value, more: Value) -> Map<String, Value> {
        let mut block = record(json!({
            "reps": 0, "interval_s": 86_400, "ease": 2.5, "stability": 1.0, "difficulty": 5.0,
            "last": "2025-03-01T00:00:00.000Z"
        }));
        block.extend(record(review));
        let due_at = now().plus(-hours * 3600 * SECOND).format_ms();
        let mut claim = record(json!({
            "id": "a", "kind": "lesson", "text": "x", "tombstone": false, "due_at": due_at,
            "review": block
        }));
        claim.extend(record(more));
        claim
    }

    fn swept(hours: i64, review: Value, more: Value) -> Option<Swept> {
        sweep(&mut overdue(hours, review, more), now())
    }

    #[test]
    fn a_review_lapses_past_twice_its_interval() {
        for (hours, interval_s, wanted) in [
            (47, 86_400, None),
            (48, 86_400, None),
            (49, 86_400, Some(Swept::Lapsed)),
            // An interval of ten days: more than twenty, 480 hours.
            (480, 864_000, None),
            (481, 864_000, Some(Swept::Lapsed)),
            // Less than a day counts as a day.
            (48, 60, None),
            (49, 60, Some(Swept::Lapsed)),
            (49, -5, Some(Swept::Lapsed)),
            (-1, 86_400, None),
        ] {
            let interval = json!({"interval_s": interval_s});
            assert_eq!(swept(hours, interval, json!({})), wanted, "{hours} {interval_s}");
        }
        let mut bare = overdue(49, json!({}), json!({}));
        bare.remove("review");
        assert_eq!(sweep(&mut bare, now()), Some(Swept::Lapsed));
        assert_eq!(bare["review"]["neglected"], json!(1));
    }

    #[test]
    fn a_lapse_by_neglect_is_a_lapse_and_is_counted() {
        let mut claim = overdue(72, json!({"used": 2, "neglected": 4, "recalls": 1}), json!({}));
        assert_eq!(sweep(&mut claim, now()), Some(Swept::Lapsed));
        assert_eq!(claim["due_at"], "2025-03-11T00:00:00.000Z");
        assert_eq!(claim["updated"], "2025-03-10T00:00:00.000Z");
        let wanted = json!({
            "reps": 0, "interval_s": 86_400, "ease": 2.5, "stability": 0.5, "difficulty": 5.2,
            "last": "2025-03-10T00:00:00.000Z", "used": 2, "neglected": 5, "recalls": 1
        });
        assert_eq!(claim["review"], wanted);
        assert_eq!(sweep(&mut claim, now()), None);
    }

    #[test]
    fn the_third_miss_forgets_what_was_never_touched() {
        let twice = || json!({"neglected": 2});
        assert_eq!(swept(49, json!({"neglected": 1}), json!({})), Some(Swept::Lapsed));
        assert_eq!(swept(49, twice(), json!({})), Some(Swept::Forgotten));
        for touched in [
            json!({"neglected": 2, "used": 1}),
            json!({"neglected": 2, "recalls": 1}),
            json!({"neglected": 2, "reps": 1}),
        ] {
            assert_eq!(swept(49, touched, json!({})), Some(Swept::Lapsed));
        }
        // A lapse sets `reps` to 0 and keeps that it was recalled before.
        let lapsed = json!({"neglected": 2, "reps": 0, "recalls": 3});
        assert_eq!(swept(49, lapsed, json!({})), Some(Swept::Lapsed));
        assert_eq!(swept(49, twice(), json!({"pinned": true})), Some(Swept::Lapsed));
        assert_eq!(swept(49, twice(), json!({"pinned": false})), Some(Swept::Forgotten));
        let mut claim = overdue(49, twice(), json!({"forgotten": "by hand"}));
        sweep(&mut claim, now());
        assert_eq!(claim["tombstone"], json!(true));
        assert_eq!(claim["forgotten"], "neglect");
        assert_eq!(claim["updated"], "2025-03-10T00:00:00.000Z");
        assert_eq!(claim["review"]["neglected"], json!(3));
        assert_eq!(claim["review"]["last"], "2025-03-01T00:00:00.000Z");
        assert_eq!(sweep(&mut claim, now()), None);
    }

    #[test]
    fn every_kind_meets_its_fate() {
        for kind in Kind::ALL {
            let fate = swept(999, json!({"neglected": 9}), json!({"kind": kind.name()}));
            let wanted = match kind.name() {
                "trust" | "persona" | "outcome" | "message" | "receipt" | "group" => None,
                "habit" | "preference" | "goal" | "prediction" | "rule" => Some(Swept::Lapsed),
                _ => Some(Swept::Forgotten),
            };
            assert_eq!(fate, wanted, "{}", kind.name());
        }
        assert_eq!(swept(999, json!({}), json!({"kind": "task"})), None);
    }

    #[test]
    fn a_closed_or_deleted_claim_is_left_alone() {
        for gone in [json!({"valid_to": "2025-03-09T00:00:00.000Z"}), json!({"tombstone": true})] {
            let mut claim = overdue(999, json!({"neglected": 5}), gone);
            let before = claim.clone();
            assert_eq!(sweep(&mut claim, now()), None);
            assert_eq!(claim, before);
        }
    }

    /// What a neglected claim lives through when a sweep runs every day: written on day 0, due on
    /// day 1, overdue by more than two days from day 3 on, hence swept on day 4; then due a day
    /// after each lapse, hence swept four days later again: lapses on days 4 and 8, gone on day 12.
    #[test]
    fn a_claim_nobody_looks_at_lasts_twelve_days() {
        let start = now();
        let mut claim = record(json!({"kind": "lesson", "text": "x"}));
        crate::atom::stamp(&mut claim, "a".to_owned(), start);
        let mut seen = Vec::new();
        for day in 1..20 {
            if let Some(fate) = sweep(&mut claim, start.plus(day * DAY)) {
                seen.push((day, fate));
            }
        }
        let wanted = [(4, Swept::Lapsed), (8, Swept::Lapsed), (12, Swept::Forgotten)];
        assert_eq!(seen, wanted);
    }

    #[test]
    fn the_column_check_lets_through_all_that_is_swept() {
        for hours in 0..200 {
            let claim = overdue(hours, json!({}), json!({}));
            if sweep(&mut claim.clone(), now()).is_some() {
                assert!(moment(&claim, "due_at").unwrap() < latest_swept(now()));
            }
        }
    }

    #[test]
    fn one_sweep_a_day_of_utc() {
        let at = |text: &str| Micros::parse(text).unwrap();
        let late = at("2025-03-10T23:59:59.999Z");
        assert_eq!(sweep_today(None, late).as_deref(), Some("2025-03-10"));
        assert_eq!(sweep_today(Some("2025-03-10"), late), None);
        assert_eq!(sweep_today(Some("2025-03-10"), late.plus(1000)).unwrap(), "2025-03-11");
        assert_eq!(sweep_today(Some("2025-03-09"), late).unwrap(), "2025-03-10");
        assert_eq!(sweep_today(Some("2999-01-01"), late).unwrap(), "2025-03-10");
        assert_eq!(
            sweep_today(Some("2025-03-11"), at("2025-03-11T01:00:00+02:00")).unwrap(),
            "2025-03-10"
        );
    }
}
