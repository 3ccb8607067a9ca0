//! The claim: which kinds there are, what is let in, what the writer adds, and when two are one.
//!
//! Pure rules over one JSON object, or over two that meet (`merge`, `provenance`, `replace`,
//! `consolidate`): no store, no clock (`now` is handed in). What needs a store (a retired id, a
//! proposal, which older claims there are, links) is found by its callers.
//! Invariants: a record keeps its client's key order, and what no rule names stays untouched;
//! no secret passes `admit`; every refusal is one line.

mod check;
mod consolidate;
mod merge;
mod prose;
mod provenance;
mod refusal;
mod replace;
mod secrets;

pub use check::{admit, is_accession, is_tool_dump, is_unattended};
pub use consolidate::{Pair, consolidate};
pub use merge::{NotMerged, absorb, update};
pub use prose::{Complaint, Prose, SENTENCE_LIMIT, WORD_LIMIT, first_sentence, prose_report};
pub use provenance::{Rise, inherit, may_become, raise, trust};
pub use refusal::{Refusal, shortened};
pub use replace::{
    Probe, Reading, Why, close, list_closed, named_ids, openings, probe, replaces, tokens,
};
pub use secrets::{Unsafe, unsafe_record, unsafe_text};

use crate::time::{Micros, SECOND};
use serde_json::{Map, Value, json};

/// The schema name of a claim.
pub const SCHEMA: &str = "inside.atom/v1";

/// Seconds until a new claim's first review: one day (the page, "The review clock").
pub const FIRST_INTERVAL_S: i64 = 86_400;

/// Characters in one claim's text, at most, whatever its kind (the page: "up to 500 characters").
pub const TEXT_LIMIT: usize = 500;

/// What a claim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// How to sound.
    Voice,
    /// What is done again and again.
    Habit,
    /// Where something is kept.
    CachePointer,
    /// What is wanted, standing.
    Preference,
    /// What was learned.
    Lesson,
    /// What is aimed at.
    Goal,
    /// What was concluded.
    Conclusion,
    /// One line of a card.
    CardLine,
    /// Many claims in one.
    Summary,
    /// A remark on an issue.
    Note,
    /// What an earlier claim got wrong.
    Correction,
    /// What is held to be so.
    Belief,
    /// One edge of an influence graph.
    Trust,
    /// A voter.
    Persona,
    /// A voter's forecast.
    Prediction,
    /// A glob over command lines, and deny or ask.
    Rule,
    /// What an issue closed on.
    Outcome,
    /// One letter.
    Message,
    /// One read of a letter.
    Receipt,
    /// One change of membership.
    Group,
}

impl Kind {
    /// All twenty, in the order of the page.
    pub const ALL: [Self; 20] = [
        Self::Voice,
        Self::Habit,
        Self::CachePointer,
        Self::Preference,
        Self::Lesson,
        Self::Goal,
        Self::Conclusion,
        Self::CardLine,
        Self::Summary,
        Self::Note,
        Self::Correction,
        Self::Belief,
        Self::Trust,
        Self::Persona,
        Self::Prediction,
        Self::Rule,
        Self::Outcome,
        Self::Message,
        Self::Receipt,
        Self::Group,
    ];

    /// The kind of a name, exactly as written.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind of a record, if it is a claim's.
    pub fn of(record: &Map<String, Value>) -> Option<Self> {
        Self::named(record.get("kind")?.as_str()?)
    }

    /// The name records carry.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Voice => "voice",
            Self::Habit => "habit",
            Self::CachePointer => "cache-pointer",
            Self::Preference => "preference",
            Self::Lesson => "lesson",
            Self::Goal => "goal",
            Self::Conclusion => "conclusion",
            Self::CardLine => "card_line",
            Self::Summary => "summary",
            Self::Note => "note",
            Self::Correction => "correction",
            Self::Belief => "belief",
            Self::Trust => "trust",
            Self::Persona => "persona",
            Self::Prediction => "prediction",
            Self::Rule => "rule",
            Self::Outcome => "outcome",
            Self::Message => "message",
            Self::Receipt => "receipt",
            Self::Group => "group",
        }
    }

    /// Mail: kept when repeated, closes nothing, in no search unless named, in no graph.
    pub const fn is_mail(self) -> bool {
        matches!(self, Self::Message | Self::Receipt | Self::Group)
    }

    /// Gets a review clock when it is added, and is swept.
    pub const fn is_reviewed(self) -> bool {
        !self.is_mail() && !matches!(self, Self::Trust | Self::Persona | Self::Outcome)
    }

    /// May be forgotten by the writer, for neglect or past the live cap.
    pub const fn is_forgettable(self) -> bool {
        matches!(
            self,
            Self::Lesson
                | Self::Conclusion
                | Self::Summary
                | Self::Note
                | Self::CardLine
                | Self::Belief
                | Self::Voice
                | Self::CachePointer
                | Self::Correction
        )
    }
}

/// Adds what the writer owns to an admitted claim, at its end in a fixed order: `id`, `ts`,
/// `valid_from`, `tombstone`, then `due_at` and `review`, then `updated`.
///
/// A client's non-empty `id`, and the times `admit` canonicalised, stay where they stand. The
/// review clock starts for a live claim of a reviewed kind that brings no `due_at`; of a `review`
/// that came without one, the members are kept.
pub fn stamp(record: &mut Map<String, Value>, id: String, now: Micros) {
    let written = |record: &Map<String, Value>, field: &str| {
        let text = record.get(field).and_then(Value::as_str);
        text.filter(|text| !text.is_empty()).map(str::to_owned)
    };
    if written(record, "id").is_none() {
        record.insert("id".to_owned(), Value::String(id));
    }
    let ts = written(record, "ts").unwrap_or_else(|| now.format_ms());
    record.entry("ts").or_insert_with(|| Value::String(ts.clone()));
    record.entry("valid_from").or_insert(Value::String(ts));
    record.insert("tombstone".to_owned(), Value::Bool(false));
    let closed = written(record, "valid_to")
        .and_then(|text| Micros::parse(&text))
        .is_some_and(|valid_to| valid_to <= now);
    let reviewed = Kind::of(record).is_some_and(Kind::is_reviewed);
    if reviewed && !closed && !record.contains_key("due_at") {
        let due_at = now.plus(FIRST_INTERVAL_S * SECOND).format_ms();
        record.insert("due_at".to_owned(), Value::String(due_at));
        let review = match record.shift_remove("review") {
            Some(Value::Object(brought)) => brought,
            _ => Map::with_capacity(6),
        };
        record.insert("review".to_owned(), Value::Object(started(review, now)));
    }
    record.shift_remove("updated");
    record.insert("updated".to_owned(), Value::String(now.format_ms()));
}

/// Whether a claim is live: not deleted, and its window open or ending later than `now`.
///
/// A due review makes no claim live. An end that is no timestamp is none.
pub fn is_live(record: &Map<String, Value>, now: Micros) -> bool {
    let ends = record.get("valid_to").and_then(Value::as_str).and_then(Micros::parse);
    record.get("tombstone") != Some(&Value::Bool(true)) && ends.is_none_or(|ends| ends > now)
}

/// The first review block: nothing recalled, stability of one day, middling difficulty.
fn started(mut review: Map<String, Value>, now: Micros) -> Map<String, Value> {
    for (member, value) in [
        ("reps", json!(0)),
        ("interval_s", json!(FIRST_INTERVAL_S)),
        ("ease", json!(2.5)),
        ("stability", json!(1.0)),
        ("difficulty", json!(5.0)),
        ("last", json!(now.format_ms())),
    ] {
        review.entry(member).or_insert(value);
    }
    review
}

/// The fields that make two claims one, besides their text; a different value in any of them is a
/// different claim.
const SAME_FIELDS: [&str; 11] =
    ["text", "kind", "set", "pattern", "verdict", "from", "to", "about", "agent", "issue", "name"];

/// Bytes that are equal for two claims exactly when one repeats the other; `None` for mail, whose
/// repeats are kept.
///
/// A missing field equals `null`; numbers are equal by value; the order of object members does
/// not count. The bytes are for comparing and hashing within one run and are stored nowhere.
pub fn same_key(record: &Map<String, Value>) -> Option<Vec<u8>> {
    if Kind::of(record).is_some_and(Kind::is_mail) {
        return None;
    }
    let mut key = Vec::with_capacity(256);
    for field in SAME_FIELDS {
        canonical(record.get(field).unwrap_or(&Value::Null), &mut key);
    }
    Some(key)
}

/// A prefix-free form of a value: a tag, then a length or a fixed count of bytes.
fn canonical(value: &Value, out: &mut Vec<u8>) {
    let sized = |out: &mut Vec<u8>, tag: u8, length: usize| {
        out.push(tag);
        out.extend_from_slice(&(length as u64).to_le_bytes());
    };
    match value {
        Value::Null => out.push(b'n'),
        Value::Bool(value) => out.push(if *value { b't' } else { b'f' }),
        Value::Number(number) => match number.as_f64() {
            // Past 2^53 neighbours share one float, so the digits themselves are compared.
            Some(float) if float.abs() < 9_007_199_254_740_992.0 => {
                out.push(b'd');
                // Adding zero makes one zero of the two.
                out.extend_from_slice(&(float + 0.0).to_le_bytes());
            }
            _ => {
                let digits = number.to_string();
                sized(out, b'b', digits.len());
                out.extend_from_slice(digits.as_bytes());
            }
        },
        Value::String(text) => {
            sized(out, b's', text.len());
            out.extend_from_slice(text.as_bytes());
        }
        Value::Array(items) => {
            sized(out, b'a', items.len());
            items.iter().for_each(|item| canonical(item, out));
        }
        Value::Object(members) => {
            sized(out, b'o', members.len());
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_unstable_by_key(|(name, _)| *name);
            for (name, member) in sorted {
                sized(out, b's', name.len());
                out.extend_from_slice(name.as_bytes());
                canonical(member, out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn now() -> Micros {
        Micros::parse("2025-03-01T10:00:00.123Z").unwrap()
    }

    fn stamped(value: Value) -> String {
        let mut record = record(value);
        stamp(&mut record, "f00d".to_owned(), now());
        serde_json::to_string(&record).unwrap()
    }

    #[test]
    fn the_twenty_kinds_and_their_flags() {
        let all = "voice habit cache-pointer preference lesson goal conclusion card_line summary \
                   note correction belief trust persona prediction rule outcome message receipt \
                   group";
        let names: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.join(" "), all);
        assert!(Kind::ALL.iter().all(|kind| Kind::named(kind.name()) == Some(*kind)));
        assert_eq!(Kind::named("Lesson"), None);
        let flagged = |flag: fn(Kind) -> bool| {
            let kinds = Kind::ALL.into_iter().filter(|kind| flag(*kind));
            kinds.map(Kind::name).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(flagged(Kind::is_mail), "message receipt group");
        assert_eq!(
            flagged(|kind| !kind.is_reviewed()),
            "trust persona outcome message receipt group"
        );
        assert_eq!(
            flagged(|kind| !kind.is_forgettable()),
            "habit preference goal trust persona prediction rule outcome message receipt group"
        );
    }

    #[test]
    fn a_fresh_claim_gets_every_field_in_order() {
        assert_eq!(
            stamped(json!({"kind": "lesson", "text": "x", "workspace": "w"})),
            "{\"kind\":\"lesson\",\"text\":\"x\",\"workspace\":\"w\",\"id\":\"f00d\",\
             \"ts\":\"2025-03-01T10:00:00.123Z\",\"valid_from\":\"2025-03-01T10:00:00.123Z\",\
             \"tombstone\":false,\"due_at\":\"2025-03-02T10:00:00.123Z\",\
             \"review\":{\"reps\":0,\"interval_s\":86400,\"ease\":2.5,\"stability\":1.0,\
             \"difficulty\":5.0,\"last\":\"2025-03-01T10:00:00.123Z\"},\
             \"updated\":\"2025-03-01T10:00:00.123Z\"}"
        );
    }

    #[test]
    fn what_the_client_brought_stays_where_it_stood() {
        assert_eq!(
            stamped(json!({
                "id": "mine", "kind": "rule", "ts": "2024-01-01T00:00:00.000Z",
                "due_at": "2025-04-01T00:00:00.000Z", "text": "x"
            })),
            "{\"id\":\"mine\",\"kind\":\"rule\",\"ts\":\"2024-01-01T00:00:00.000Z\",\
             \"due_at\":\"2025-04-01T00:00:00.000Z\",\"text\":\"x\",\
             \"valid_from\":\"2024-01-01T00:00:00.000Z\",\"tombstone\":false,\
             \"updated\":\"2025-03-01T10:00:00.123Z\"}"
        );
        for odd in [json!(""), json!(5), json!(null)] {
            let line = stamped(json!({"id": odd, "kind": "message", "text": "x"}));
            assert!(line.starts_with("{\"id\":\"f00d\",\"kind\""), "{line}");
        }
    }

    #[test]
    fn a_claim_is_live_until_its_window_ends_or_it_is_deleted() {
        let live = |value: Value| is_live(&record(value), now());
        assert!(live(json!({})));
        assert!(live(json!({"valid_to": null, "tombstone": false})));
        assert!(live(json!({"valid_to": "", "due_at": "2020-01-01T00:00:00.000Z"})));
        assert!(live(json!({"valid_to": "2025-03-01T10:00:00.124Z"})));
        assert!(!live(json!({"valid_to": "2025-03-01T10:00:00.123Z"})));
        // Its review being due does not bring a closed claim back.
        let due = json!({"valid_to": "2025-01-01", "due_at": "2025-02-01T00:00:00.000Z"});
        assert!(!live(due));
        assert!(!live(json!({"tombstone": true})));
    }

    #[test]
    fn the_clock_starts_only_for_live_claims_of_reviewed_kinds() {
        for kind in Kind::ALL {
            let line = stamped(json!({"kind": kind.name(), "text": "x"}));
            assert_eq!(line.contains("\"due_at\""), kind.is_reviewed(), "{}", kind.name());
            assert_eq!(line.contains("\"review\""), kind.is_reviewed(), "{}", kind.name());
        }
        let closed = json!({"kind": "lesson", "valid_to": "2025-03-01T10:00:00.123Z"});
        assert!(!stamped(closed).contains("due_at"));
        let open = json!({"kind": "lesson", "valid_to": "2025-03-01T10:00:00.124Z"});
        assert!(stamped(open).contains("due_at"));
        let brought = stamped(json!({"kind": "lesson", "review": {"reps": 4, "x": 1}}));
        assert!(brought.contains("\"review\":{\"reps\":4,\"x\":1,\"interval_s\":86400"));
    }

    #[test]
    fn a_repeat_has_the_same_key_and_nothing_else_has() {
        let key = |value: Value| same_key(&record(value));
        let base = || json!({"text": "x", "kind": "trust", "from": "a", "to": "b"});
        let with = |field: &str, value: Value| {
            let mut record = record(base());
            record.insert(field.to_owned(), value);
            same_key(&record)
        };
        let reordered = json!({
            "to": "b", "from": "a", "kind": "trust", "text": "x", "id": "1", "trust": 2,
            "entities": ["e"], "set": null, "ts": "t", "workspace": "w"
        });
        assert_eq!(key(base()), key(reordered));
        for field in SAME_FIELDS {
            assert_ne!(key(base()), with(field, json!("other")), "{field}");
        }
        assert_ne!(
            key(json!({"text": "x", "kind": "rule", "pattern": "a", "verdict": "b"})),
            key(json!({"text": "x", "kind": "rule", "pattern": "ab", "verdict": ""}))
        );
        let same = |a: Value, b: Value| with("issue", a) == with("issue", b);
        assert!(same(json!(1), json!(1.0)));
        assert!(same(json!(0), json!(-0.0)));
        assert!(same(json!({"a": 1, "b": [2]}), json!({"b": [2], "a": 1})));
        assert!(!same(json!(1), json!("1")));
        assert!(!same(json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_992_u64)));
        assert!(!same(json!([["a"], []]), json!([[], ["a"]])));
        assert_eq!(key(json!({"text": "x", "kind": "message"})), None);
        assert!(key(json!({"text": "x", "kind": "something-else"})).is_some());
    }
}
