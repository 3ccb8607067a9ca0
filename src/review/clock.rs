//! The arithmetic of one review: recalled or lapsed, and how likely a claim is still remembered.
//!
//! Not the sweep, which decides by itself that a review lapsed (`neglect`). Invariants: stability
//! and interval stay positive and finite whatever a client wrote, difficulty stays in 1..=10, and
//! the members of `review` that a grade does not compute survive it, as do the entities.

use super::{count, id_of, moment, number, review_of};
use crate::atom::{FIRST_INTERVAL_S, Kind, is_live};
use crate::time::{Micros, SECOND, days_between};
use serde_json::{Map, Value, json};
use std::cmp::Ordering;

/// Stability of a claim never reviewed, in days (`atom::stamp` writes the same).
const FIRST_STABILITY: f64 = 1.0;
/// Difficulty of a claim never reviewed: the middle of its range (the same).
const FIRST_DIFFICULTY: f64 = 5.0;
/// The range of difficulty (observed).
const DIFFICULTY: (f64, f64) = (1.0, 10.0);
/// What a recall takes off difficulty, and a lapse adds (observed).
const EASIER: f64 = 0.15;
const HARDER: f64 = 0.2;
/// The range of the recall probability that a grade reckons with (observed): a review at once
/// still strengthens a little, and one long overdue is not worth everything.
const PROBABILITY: (f64, f64) = (0.01, 0.99);
/// Stability after lapses, at least (observed), and after recalls, at most: a century, the longest
/// interval that FSRS itself plans. Past it due dates would leave the calendar.
const STABILITY: (f64, f64) = (0.1, 36_500.0);
/// The factor that makes R(S) = 0.9 (the page).
const DECAY_FACTOR: f64 = 19.0 / 81.0;

/// How likely a claim is recalled `t_days` after its last review, in (0, 1].
///
/// R = (1 + 19/81 * t/S)^(-1/2). A stability that is no positive number counts as 1, a time
/// before the review as the review itself.
pub fn retrievability(t_days: f64, stability: f64) -> f64 {
    let stability = usable(Some(stability), FIRST_STABILITY);
    (1.0 + DECAY_FACTOR * t_days.max(0.0) / stability).powf(-0.5)
}

fn usable(value: Option<f64>, otherwise: f64) -> f64 {
    value.filter(|value| value.is_finite() && *value > 0.0).unwrap_or(otherwise)
}

/// Marks one review, and moves `due_at` and `updated`.
///
/// Changes `due_at`, `updated` and, in `review`, `reps`, `recalls`, `interval_s`, `stability`,
/// `difficulty` and `last`; gives `ease` to a block without one. A claim without a clock gets one,
/// whatever its kind (the page: "even when a grade has started one"). The caller has made sure
/// that the claim is live.
pub fn grade(record: &mut Map<String, Value>, recalled: bool, now: Micros) {
    let none = Map::new();
    let before = review_of(record).unwrap_or(&none);
    let stability = usable(number(before, "stability"), FIRST_STABILITY);
    let difficulty = usable(number(before, "difficulty"), FIRST_DIFFICULTY);
    let reps = count(before, "reps");
    let recalls = if before.contains_key("recalls") { count(before, "recalls") } else { reps };
    let t_days = moment(before, "last").map_or(0.0, |last| days_between(last, now).max(0.0));

    let moved = if recalled { difficulty - EASIER } else { difficulty + HARDER };
    let difficulty = moved.clamp(DIFFICULTY.0, DIFFICULTY.1);
    let stability = if recalled {
        let probability = 0.9_f64.powf(t_days / stability).clamp(PROBABILITY.0, PROBABILITY.1);
        stability * (1.0 + (1.0 - difficulty / 10.0).exp() * (1.0 - probability))
    } else {
        stability / 2.0
    };
    let stability = stability.clamp(STABILITY.0, STABILITY.1);
    let interval_s = (stability.max(1.0) * FIRST_INTERVAL_S as f64) as i64;
    let (reps, recalls) =
        if recalled { (reps.saturating_add(1), recalls.saturating_add(1)) } else { (0, recalls) };

    let mut review = before.clone();
    review.entry("ease").or_insert(json!(2.5));
    for (member, value) in [
        ("reps", json!(reps)),
        ("recalls", json!(recalls)),
        ("interval_s", json!(interval_s)),
        ("stability", json!(stability)),
        ("difficulty", json!(difficulty)),
        ("last", json!(now.format_ms())),
    ] {
        review.insert(member.to_owned(), value);
    }
    record.insert("due_at".to_owned(), now.plus(interval_s * SECOND).format_ms().into());
    record.insert("review".to_owned(), Value::Object(review));
    record.insert("updated".to_owned(), now.format_ms().into());
}

/// Whether a claim's clock has run out; a closed or deleted one has no clock.
pub fn is_due(record: &Map<String, Value>, now: Micros) -> bool {
    Kind::of(record).is_some()
        && is_live(record, now)
        && moment(record, "due_at").is_some_and(|due_at| due_at <= now)
}

/// The order of the due list: soonest first, then by id. What has no clock comes last.
pub fn due_order(a: &Map<String, Value>, b: &Map<String, Value>) -> Ordering {
    let key = |record: &Map<String, Value>| {
        moment(record, "due_at").map_or((true, Micros::default()), |due_at| (false, due_at))
    };
    key(a).cmp(&key(b)).then_with(|| id_of(a).cmp(id_of(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::DAY;

    fn record(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn now() -> Micros {
        Micros::parse("2025-03-01T10:00:00.123Z").unwrap()
    }

    fn before(days: f64) -> String {
        now().plus((-days * DAY as f64) as i64).format_ms()
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{a} is not {b}");
    }

    // All tables of this file come from a script of 40-digit decimals that is no part of the crate.

    #[test]
    fn retrievability_follows_the_page() {
        for (t_days, stability, wanted) in [
            (0.0, 1.0, 1.0),
            (1.0, 1.0, 0.9),
            (30.0, 1.0, 0.352_737_810_751),
            (1.0, 100.0, 0.998_829_219_798),
            (7.0, 2.5, 0.776_902_021_569),
            (30.0, 100.0, 0.966_569_219_127),
            (365.0, 10.0, 0.323_393_881_086),
        ] {
            near(retrievability(t_days, stability), wanted);
        }
        for odd in [0.0, -3.0, f64::NAN, f64::INFINITY] {
            near(retrievability(1.0, odd), 0.9);
        }
        near(retrievability(-5.0, 1.0), 1.0);
        for days in 1..200 {
            let days = f64::from(days);
            near(retrievability(days, days), 0.9);
            assert!(retrievability(days, 3.0) < retrievability(days - 1.0, 3.0));
            assert!(retrievability(days, 3.0) < retrievability(days, 4.0));
        }
    }

    #[test]
    fn a_recall_grows_stability_by_how_overdue_it_was() {
        for (stability, difficulty, t_days, wanted, easier, interval_s) in [
            (1.0, 5.0, 0.0, 1.016_736_385_018, 4.85, 87_846),
            (1.0, 5.0, 1.0, 1.167_363_850_180, 4.85, 100_860),
            (1.0, 5.0, 3.0, 1.453_556_033_987, 4.85, 125_587),
            (1.0, 5.0, 100.0, 2.656_902_116_780, 4.85, 229_556),
            (2.5, 9.9, 10.0, 3.381_514_674_871, 9.75, 292_162),
            (10.0, 1.05, 10.0, 12.459_603_111_157, 1.0, 1_076_509),
            (0.1, 10.0, 2.0, 0.189_169_901_419, 9.85, 86_400),
            (100.0, 3.0, 400.0, 170.299_580_002_872, 2.85, 14_713_883),
        ] {
            let mut claim = record(json!({
                "id": "a", "due_at": "2020-01-01T00:00:00.000Z",
                "review": {"stability": stability, "difficulty": difficulty, "last": before(t_days)}
            }));
            grade(&mut claim, true, now());
            let review = review_of(&claim).unwrap();
            near(number(review, "stability").unwrap(), wanted);
            near(number(review, "difficulty").unwrap(), easier);
            assert_eq!(count(review, "interval_s"), interval_s, "{stability} {t_days}");
            let due_at = now().plus(interval_s as i64 * SECOND);
            assert_eq!(moment(&claim, "due_at").unwrap().format_ms(), due_at.format_ms());
        }
    }

    #[test]
    fn a_lapse_halves_stability_and_raises_difficulty() {
        for (stability, difficulty, wanted, harder, interval_s) in [
            (1.0, 5.0, 0.5, 5.2, 86_400),
            (8.0, 9.9, 4.0, 10.0, 345_600),
            (0.15, 1.0, 0.1, 1.2, 86_400),
        ] {
            let review = json!({"stability": stability, "difficulty": difficulty, "reps": 3});
            let mut claim = record(json!({"review": review}));
            grade(&mut claim, false, now());
            let review = review_of(&claim).unwrap();
            near(number(review, "stability").unwrap(), wanted);
            near(number(review, "difficulty").unwrap(), harder);
            assert_eq!(count(review, "interval_s"), interval_s);
            assert_eq!((count(review, "reps"), count(review, "recalls")), (0, 3));
        }
    }

    #[test]
    fn one_claim_through_four_reviews() {
        let mut claim = record(json!({"kind": "lesson", "id": "a", "text": "x"}));
        crate::atom::stamp(&mut claim, String::new(), now());
        let mut at = now().plus(DAY);
        for (recalled, stability, difficulty, interval_s, reps, recalls) in [
            (true, 1.167_363_850_180, 4.85, 100_860, 1, 1),
            (true, 1.365_690_625_013, 4.7, 117_995, 2, 2),
            (false, 0.682_845_312_507, 4.9, 86_400, 0, 2),
            (true, 0.989_340_963_179, 4.75, 86_400, 1, 3),
        ] {
            grade(&mut claim, recalled, at);
            let review = review_of(&claim).unwrap();
            near(number(review, "stability").unwrap(), stability);
            near(number(review, "difficulty").unwrap(), difficulty);
            assert_eq!(count(review, "interval_s"), interval_s);
            assert_eq!((count(review, "reps"), count(review, "recalls")), (reps, recalls));
            // The second is graded when it is due; the last two days after the lapse.
            at = at.plus(if reps == 1 { interval_s as i64 * SECOND } else { 2 * DAY });
        }
    }

    #[test]
    fn a_grade_changes_only_what_it_computes() {
        let before = json!({
            "id": "a", "kind": "lesson", "text": "Names `redis`.",
            "entities": ["horizon:transient"],
            "links": ["b"], "ts": "2025-01-01T00:00:00.000Z", "due_at": "2025-01-02T00:00:00.000Z",
            "review": {"used": 4, "stability": 2.0, "neglected": 2, "x": [1], "ease": 1.3},
            "updated": "2025-01-01T00:00:00.000Z"
        });
        for recalled in [true, false] {
            let mut claim = record(before.clone());
            grade(&mut claim, recalled, now());
            for field in ["id", "kind", "text", "entities", "links", "ts"] {
                assert_eq!(claim.get(field), before.get(field), "{field}");
            }
            assert_eq!(claim.len(), 9);
            assert_eq!(claim["updated"], "2025-03-01T10:00:00.123Z");
            let review = review_of(&claim).unwrap();
            let start: Vec<_> = review.keys().take(5).map(String::as_str).collect();
            assert_eq!(start, ["used", "stability", "neglected", "x", "ease"]);
            for member in ["used", "neglected", "x", "ease"] {
                assert_eq!(review[member], before["review"][member], "{member}");
            }
        }
        let mut plain = record(json!({"kind": "lesson", "text": "Names `redis`."}));
        grade(&mut plain, true, now());
        assert!(!plain.contains_key("entities"));
    }

    #[test]
    fn a_grade_starts_a_clock_where_adding_started_none() {
        for kind in ["trust", "persona", "outcome", "message", "receipt", "group"] {
            let mut row = record(json!({"kind": kind, "text": "x"}));
            crate::atom::stamp(&mut row, "a".to_owned(), now());
            assert!(!row.contains_key("review") && !is_due(&row, now().plus(900 * DAY)));
            grade(&mut row, true, now());
            let review = review_of(&row).unwrap();
            assert_eq!((count(review, "reps"), count(review, "recalls")), (1, 1));
            assert_eq!(count(review, "interval_s"), 87_846);
            assert_eq!(review["ease"].as_f64(), Some(2.5));
            near(number(review, "stability").unwrap(), 1.016_736_385_018);
            assert!(is_due(&row, now().plus(2 * DAY)), "{kind}");
        }
    }

    #[test]
    fn nothing_a_client_wrote_breaks_the_arithmetic() {
        let odd = [json!(0), json!(-1), json!(1e300), json!("x"), json!(null), json!(1e-300)];
        let lasts = [json!("9999-12-31T23:59:59Z"), json!("0001-01-01"), json!("junk"), json!(3)];
        for stability in &odd {
            for difficulty in &odd {
                for last in &lasts {
                    for recalled in [true, false] {
                        let review = json!({
                            "stability": stability, "difficulty": difficulty, "last": last,
                            "reps": stability, "recalls": difficulty
                        });
                        let mut claim = record(json!({"review": review}));
                        grade(&mut claim, recalled, now());
                        let review = review_of(&claim).unwrap();
                        let stability = number(review, "stability").unwrap();
                        assert!((0.1..=36_500.0).contains(&stability), "{stability}");
                        let difficulty = number(review, "difficulty").unwrap();
                        assert!((1.0..=10.0).contains(&difficulty), "{difficulty}");
                        assert!(moment(&claim, "due_at").unwrap() >= now().plus(86_399 * SECOND));
                    }
                }
            }
        }
        let mut junk = record(json!({"review": [1]}));
        grade(&mut junk, false, now());
        assert_eq!(count(review_of(&junk).unwrap(), "interval_s"), 86_400);
    }

    #[test]
    fn only_a_live_claim_is_due() {
        let due = |more: Value| {
            let mut claim = record(json!({"kind": "lesson", "due_at": now().format_ms()}));
            claim.extend(record(more));
            is_due(&claim, now())
        };
        assert!(due(json!({})));
        assert!(due(json!({"valid_to": "2025-03-01T10:00:00.124Z"})));
        assert!(due(json!({"valid_to": ""})));
        assert!(!due(json!({"valid_to": "2025-03-01T10:00:00.123Z"})));
        assert!(!due(json!({"valid_to": "2025-01-01T00:00:00.000Z"})));
        assert!(!due(json!({"tombstone": true})));
        assert!(!due(json!({"due_at": "2025-03-01T10:00:00.124Z"})));
        assert!(!due(json!({"due_at": "soon"})));
        assert!(!due(json!({"due_at": null})));
        assert!(!due(json!({"kind": "task"})));
    }

    #[test]
    fn the_due_list_is_soonest_first_then_by_id() {
        let mut list: Vec<_> = [("c", "2025-01-02"), ("b", "2025-01-02"), ("a", "2025-01-03")]
            .map(|(id, due_at)| record(json!({"id": id, "due_at": due_at})))
            .into();
        list.insert(0, record(json!({"id": "0"})));
        list.sort_by(due_order);
        let ids: Vec<_> = list.iter().map(|claim| claim["id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["b", "c", "a", "0"]);
    }
}
