//! Replacement: when a new claim closes an older one, and how a claim is closed.
//!
//! Not the search for older claims: an index finds candidates by [`openings`], [`tokens`] and
//! [`probe`], and [`replaces`] decides about each. Names ([`Reading::of`]) are read by `graph`.
//! Invariants: nothing is closed across a different from, to, about, agent, issue or name; mail
//! closes nothing and is closed by nothing; a closed window is never moved; only an explicit id
//! reaches another set or kind.

use super::{Kind, canonical};
use crate::text::word_set;
use crate::time::Micros;
use serde_json::{Map, Value};

/// Fields in which two claims must agree before the words of one may close the other.
const FIXED: [&str; 8] = ["pattern", "verdict", "from", "to", "about", "agent", "issue", "name"];
/// Words at the start that two claims must share, at least (observed).
const OPENING: usize = 3;

/// Why one claim closes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// It names the other's id.
    Named,
    /// It is a correction and shares an entity with it.
    Correction,
    /// It says it again in nearly the same words.
    Rewrite,
    /// It begins with the same words and goes on differently.
    Opening,
}

/// A claim as the rule reads it. Costs a pass over the text; make it once per claim.
#[derive(Clone, Debug)]
pub struct Reading<'a> {
    record: &'a Map<String, Value>,
    kind: Option<Kind>,
    id: &'a str,
    set: &'a str,
    text: &'a str,
    named: Vec<&'a str>,
    tokens: Vec<String>,
    words: Vec<String>,
    topics: Vec<&'a str>,
    declared: bool,
}

impl<'a> Reading<'a> {
    /// Reads a claim. `topics` are its names without `seat:` and `horizon:`, and `declared` says
    /// whether they stand in `entities` or were read off the text.
    pub fn of(record: &'a Map<String, Value>, topics: &'a [String], declared: bool) -> Self {
        let text = string(record, "text");
        let mut topics: Vec<&str> = topics.iter().map(String::as_str).collect();
        topics.sort_unstable();
        topics.dedup();
        Self {
            record,
            kind: Kind::of(record),
            id: string(record, "id"),
            set: string(record, "set"),
            text,
            named: named_ids(record),
            tokens: tokens(text),
            words: words(text).collect(),
            topics,
            declared,
        }
    }

    /// The claim itself.
    pub fn record(&self) -> &'a Map<String, Value> {
        self.record
    }

    /// What [`tokens`] gives for its text.
    pub fn tokens(&self) -> &[String] {
        &self.tokens
    }

    pub(super) fn kind(&self) -> Option<Kind> {
        self.kind
    }

    pub(super) fn words(&self) -> &[String] {
        &self.words
    }

    /// Its names, if it declares them.
    pub(super) fn declared(&self) -> &[&'a str] {
        if self.declared { &self.topics } else { &[] }
    }

    pub(super) fn id(&self) -> &'a str {
        self.id
    }

    pub(super) fn set(&self) -> &'a str {
        self.set
    }

    /// The ids that its `supersedes` names.
    pub(super) fn named(&self) -> &[&'a str] {
        &self.named
    }
}

/// Whether a new claim closes an older one that is live, and why.
///
/// An explicit id closes its claim whatever set, kind or words the two have. Any other reason
/// needs the same kind and set, a different text, and the same values of pattern, verdict, from,
/// to, about, agent, issue and name. Cost: tens of nanoseconds for two claims that have little in
/// common, under a microsecond for any.
pub fn replaces(new: &Reading<'_>, old: &Reading<'_>) -> Option<Why> {
    let (kind, other) = (new.kind?, old.kind?);
    if kind.is_mail() || other.is_mail() || new.id == old.id {
        return None;
    }
    if new.named.contains(&old.id) {
        return Some(Why::Named);
    }
    if kind != other || new.set != old.set || new.text == old.text || old.text.is_empty() {
        return None;
    }
    // The words come first: they part most candidates at little cost.
    let why = by_words(kind, new, old)?;
    let alike = |field: &&str| same(new.record.get(*field), old.record.get(*field));
    let one_scope = kind != Kind::Trust || new.topics == old.topics;
    (one_scope && FIXED.iter().all(alike)).then_some(why)
}

/// What the words and names of two claims of one kind and set say.
fn by_words(kind: Kind, new: &Reading<'_>, old: &Reading<'_>) -> Option<Why> {
    let both = new.declared && old.declared;
    let share = shared(&new.topics, &old.topics) > 0;
    let nameless = new.topics.is_empty() || old.topics.is_empty();
    if both && !share && !nameless {
        return None;
    }
    // A name read off a text is a guess, and no claim is closed for a guess alone.
    if kind == Kind::Correction && both && share {
        return Some(Why::Correction);
    }
    if (share || nameless) && nearly_same(&new.tokens, &old.tokens) {
        return Some(Why::Rewrite);
    }
    let opens = kind != Kind::Preference && same_opening(&new.words, &old.words);
    opens.then_some(Why::Opening)
}

/// The set of words by which a rewrite is recognised, sorted: lowercase runs of letters and
/// digits, stop words and endings kept; pairs of characters where a script writes no spaces.
///
/// Of ASCII text these are the contract's tokens. Runs of ASCII alone would leave other scripts
/// with the few Latin names in them, and different claims about one name would look the same.
pub fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = word_set(text).into_iter().collect();
    tokens.sort_unstable();
    tokens
}

/// The first three words of a text, lowercase: claims that are closed for their opening words
/// agree in them. `None` when there are fewer.
pub fn openings(text: &str) -> Option<[String; OPENING]> {
    let mut words = words(text);
    Some([words.next()?, words.next()?, words.next()?])
}

/// Runs of letters and digits of any script, lowercase, in order.
fn words(text: &str) -> impl Iterator<Item = String> {
    let runs = text.split(|c: char| !c.is_alphanumeric());
    runs.filter(|run| !run.is_empty()).map(str::to_lowercase)
}

/// Jaccard of at least 0.6, in whole numbers: shared >= 3/8 of both sizes together. Both lists
/// are sorted sets, and the walk ends once too many members are alone.
fn nearly_same(a: &[String], b: &[String]) -> bool {
    let together = a.len() + b.len();
    let needed = (together * 3).div_ceil(8);
    let Some(mut spare) = together.checked_sub(2 * needed) else { return false };
    let (mut a, mut b) = (a, b);
    while let ([first, rest_a @ ..], [second, rest_b @ ..]) = (a, b) {
        let order = first.cmp(second);
        if order.is_ne() {
            if spare == 0 {
                return false;
            }
            spare -= 1;
        }
        if order.is_le() {
            a = rest_a;
        }
        if order.is_ge() {
            b = rest_b;
        }
    }
    together > 0 && a.len() + b.len() <= spare
}

/// How many members two sorted sets share.
fn shared<T: Ord>(mut a: &[T], mut b: &[T]) -> usize {
    let mut shared = 0;
    while let ([first, rest_a @ ..], [second, rest_b @ ..]) = (a, b) {
        let order = first.cmp(second);
        shared += usize::from(order.is_eq());
        if order.is_le() {
            a = rest_a;
        }
        if order.is_ge() {
            b = rest_b;
        }
    }
    shared
}

/// Three words at the start, and 0.6 of the shorter text, are the same; then both go on.
fn same_opening(a: &[String], b: &[String]) -> bool {
    let shared = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let shorter = a.len().min(b.len());
    shared >= opening(shorter) && shared < shorter
}

/// Words at the start that a text of so many words must share with one at least as long.
pub(super) fn opening(words: usize) -> usize {
    (words * 3).div_ceil(5).max(OPENING)
}

/// Equal as [`super::same_key`] has it: a missing field is null, numbers count by value.
fn same(a: Option<&Value>, b: Option<&Value>) -> bool {
    let (a, b) = (a.unwrap_or(&Value::Null), b.unwrap_or(&Value::Null));
    let bytes = |value: &Value| {
        let mut key = Vec::new();
        canonical(value, &mut key);
        key
    };
    a == b || bytes(a) == bytes(b)
}

fn string<'a>(record: &'a Map<String, Value>, field: &str) -> &'a str {
    record.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// How an index of terms is asked for every possible rewrite of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// How many of the text's rarest indexed tokens to look up.
    pub terms: usize,
    /// Whether a rewrite may share none of them; then it is `crowded` too, so that a key which
    /// stands on crowded claims alone finds it.
    pub crowded: bool,
}

/// Works out a [`Probe`]. `is_stop` says that a token is in no index: a stop word, or a single
/// character, which an index may drop out of a compound.
///
/// A Jaccard of 0.6 leaves at most two fifths of a text's tokens unshared. So of any two fifths
/// and one more, a rewrite has one: the rarest are the cheapest to look up. Stop words may be
/// among the shared ones, hence all looked up are taken from the others. When those are at most
/// two fifths themselves, a rewrite may share stop words only; these are then at least three
/// fifths of the rewrite as well, which makes it as crowded with them.
pub fn probe(tokens: &[String], is_stop: impl Fn(&str) -> bool) -> Probe {
    let unshared = tokens.len() * 2 / 5;
    let indexed = tokens.iter().filter(|token| !is_stop(token)).count();
    Probe { terms: indexed.min(unshared + 1), crowded: indexed <= unshared && !tokens.is_empty() }
}

/// Ends a claim's window at `now`. False, and nothing changed, when it has ended already.
pub fn close(old: &mut Map<String, Value>, now: Micros) -> bool {
    let ends = old.get("valid_to").and_then(Value::as_str).and_then(Micros::parse);
    if ends.is_some_and(|ends| ends <= now) {
        return false;
    }
    old.insert("valid_to".to_owned(), now.format_ms().into());
    old.insert("updated".to_owned(), now.format_ms().into());
    true
}

/// The ids that a claim's own `supersedes` names: a string, or the strings of a list, once each.
pub fn named_ids(record: &Map<String, Value>) -> Vec<&str> {
    let listed = match record.get("supersedes") {
        Some(Value::Array(list)) => list.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let mut ids: Vec<&str> = Vec::new();
    for id in listed.iter().filter_map(Value::as_str).filter(|id| !id.is_empty()) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// Brings `supersedes` to what it means, the ids that this claim closed.
///
/// `closed` are those it closes now, in any order. Of the ids that a client named, the others stay
/// if `keeps` says so, as for one that this claim had closed before it was exported. A client's
/// string stays a string while it is the only id, and an empty list goes.
pub fn list_closed(record: &mut Map<String, Value>, closed: &[&str], keeps: impl Fn(&str) -> bool) {
    let named = named_ids(record);
    let mut ids: Vec<&str> = named.clone();
    ids.retain(|id| closed.contains(id) || keeps(id));
    for id in closed {
        if !ids.contains(id) {
            ids.push(id);
        }
    }
    let value = match (ids.as_slice(), record.get("supersedes")) {
        ([], _) => None,
        ([one], Some(Value::String(named))) if one == named => return,
        _ => Some(ids.iter().map(|id| Value::from(*id)).collect()),
    };
    match value {
        Some(list) => record.insert("supersedes".to_owned(), list),
        None => record.shift_remove("supersedes"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    /// The names of a record as its `entities` declare them; none are read off its text.
    fn judged(new: Value, old: Value) -> Option<Why> {
        let mut sides = Vec::new();
        for (mut side, id) in [(record(new), "n"), (record(old), "o")] {
            side.entry("kind").or_insert(json!("lesson"));
            side.entry("id").or_insert(json!(id));
            let entities = side.get("entities").and_then(Value::as_array).cloned();
            let topics = entities.clone().unwrap_or_default();
            let topics: Vec<_> = topics.iter().map(|name| name.as_str().unwrap().into()).collect();
            sides.push((side, topics, entities.is_some()));
        }
        let reading = |at: usize| Reading::of(&sides[at].0, &sides[at].1, sides[at].2);
        replaces(&reading(0), &reading(1))
    }

    fn texts(new: &str, old: &str) -> Option<Why> {
        judged(json!({"text": new}), json!({"text": old}))
    }

    #[test]
    fn a_rewrite_shares_three_fifths_of_its_words() {
        let cases = [
            // 5 of 7; 2 of 4; 3 of 5 exactly; 6 of 10 exactly; 5 of 10.
            ("Build with cargo release mode today", "Build with cargo release mode now", true),
            ("alpha beta delta", "alpha beta gamma", false),
            ("d a b c", "a b c e", true),
            ("z a b c d e f y", "x a b c d e f w", true),
            ("z y a b c d e v", "x w a b c d e", false),
            // A set: repeats and order do not count, nor does case.
            ("Mode release CARGO cargo", "cargo release mode", true),
            ("The port is", "The port is open", true),
        ];
        for (new, old, wanted) in cases {
            let why = texts(new, old);
            assert_eq!(why == Some(Why::Rewrite), wanted, "{new} / {old}: {why:?}");
            assert_eq!(texts(old, new) == Some(Why::Rewrite), wanted);
        }
        assert_eq!(texts("Same words.", "Same words."), None);
        assert_eq!(texts("!?", "?!"), None);
        assert_eq!(texts("x", ""), None);
    }

    #[test]
    fn other_scripts_are_compared_by_their_own_characters() {
        // "Redis is fast" and "Redis stops at night" in Japanese: one Latin name is shared.
        let fast = "Redis\u{306f}\u{901f}\u{3044}";
        let stops = "Redis\u{306f}\u{591c}\u{306b}\u{6b62}\u{307e}\u{308b}";
        assert_eq!(texts(fast, stops), None);
        let port = "\u{63a5}\u{7d9a}\u{306f}\u{516b}\u{5343}\u{756a}\u{3067}\u{3059}";
        let ends = format!("{port}\u{3002}\u{306d}");
        assert_eq!(texts(&ends, port), Some(Why::Rewrite));
    }

    #[test]
    fn the_same_opening_words_with_a_new_object() {
        for (new, old, wanted) in [
            // 4 of 5 words, and both go on. Jaccard is 4 of 6, so this is a rewrite before it.
            ("The default fuse is CombMNZ", "The default fuse is Borda", Some(Why::Rewrite)),
            // 5 of 7, Jaccard 5 of 9.
            (
                "Roy Rogers is married to John McVie",
                "Roy Rogers is married to Dale Evans",
                Some(Why::Opening),
            ),
            // 3 of 8 is less than 0.6.
            ("one two three aa bb cc dd ee", "one two three four five six seven eight", None),
            // 3 of 5 is enough, 3 of 6 is not, and 2 never is.
            ("one two three a b", "one two three c d e f", Some(Why::Opening)),
            ("one two three a b e", "one two three c d f g", None),
            ("one two a b", "one two c d", None),
            // One text must not be the start of the other.
            ("one two three", "one two three four five six seven", None),
            ("ONE, two: three! a b", "One two three c d e f", Some(Why::Opening)),
        ] {
            assert_eq!(texts(new, old), wanted, "{new} / {old}");
            assert_eq!(texts(old, new), wanted, "{old} / {new}");
        }
        let prefer = |text: &str| json!({"kind": "preference", "text": text});
        let main = prefer("one two three a b");
        assert_eq!(judged(main.clone(), prefer("one two three c d e f")), None);
        let again = prefer("a one two three b c");
        assert_eq!(judged(main, again), Some(Why::Rewrite));
    }

    #[test]
    fn a_correction_closes_what_shares_a_declared_entity() {
        let claim =
            |kind, text, names: Value| json!({"kind": kind, "text": text, "entities": names});
        let old = || claim("correction", "Redis needs 4 GB.", json!(["redis"]));
        let new = |kind, entities| claim(kind, "Postgres wants a disk of its own.", entities);
        assert_eq!(judged(new("correction", json!(["pg", "redis"])), old()), Some(Why::Correction));
        assert_eq!(judged(new("correction", json!(["pg"])), old()), None);
        assert_eq!(judged(new("correction", json!([])), old()), None);
        assert_eq!(judged(new("lesson", json!(["redis"])), old()), None);
        // The same names, read off one of the texts, close nothing.
        let mut sides = [record(new("correction", json!(null))), record(old())];
        sides[0].insert("id".to_owned(), json!("n"));
        let topics = ["redis".to_owned()];
        let judge = |mine, theirs| {
            let new = Reading::of(&sides[0], &topics, mine);
            replaces(&new, &Reading::of(&sides[1], &topics, theirs))
        };
        assert_eq!(judge(true, true), Some(Why::Correction));
        assert_eq!(
            (judge(false, true), judge(true, false), judge(false, false)),
            (None, None, None)
        );
    }

    #[test]
    fn names_that_differ_keep_claims_apart() {
        let claim = |text: &str, entities: Value| json!({"text": text, "entities": entities});
        let new = |entities| claim("We use redis for the cache and queues", entities);
        let old = |entities| claim("We use redis for the cache and queue", entities);
        assert_eq!(judged(new(json!(["y"])), old(json!(["x"]))), None);
        assert_eq!(judged(new(json!(["y", "x"])), old(json!(["x"]))), Some(Why::Rewrite));
        assert_eq!(judged(new(json!([])), old(json!(["x"]))), Some(Why::Rewrite));
        // Read off one text and declared on the other: they must meet for a rewrite, but the
        // same opening words are enough.
        let sides = [
            record(json!({"id": "n", "kind": "lesson", "text": "We run a b c"})),
            record(json!({"id": "o", "kind": "lesson", "text": "We run a b d"})),
        ];
        let (x, y) = (["x".to_owned()], ["y".to_owned()]);
        let read = Reading::of(&sides[0], &y, false);
        let given = |topics| Reading::of(&sides[1], topics, true);
        assert_eq!(replaces(&read, &given(&x)), Some(Why::Opening));
        assert_eq!(replaces(&read, &given(&y)), Some(Why::Rewrite));
    }

    #[test]
    fn a_different_voter_or_rule_is_a_different_claim() {
        for kind in [Kind::Trust, Kind::Prediction, Kind::Rule, Kind::Persona, Kind::Lesson] {
            for field in FIXED {
                let row = |text: &str, value: Value| {
                    let mut row = json!({"kind": kind.name(), "text": text});
                    row[field] = value;
                    row
                };
                let judge = |a: Value, b: Value| judged(row("a b c d x", a), row("a b c d y", b));
                assert_eq!(judge(json!("p"), json!("q")), None, "{field}");
                assert_eq!(judge(json!("p"), json!(null)), None, "{field}");
                assert_eq!(judge(json!("p"), json!("p")), Some(Why::Rewrite), "{field}");
                assert_eq!(judge(json!(1), json!(1.0)), Some(Why::Rewrite), "{field}");
            }
        }
        let edge = json!({"kind": "trust", "from": "a", "to": "b"});
        let row = |text: &str, entities: Value| {
            let mut row = edge.clone();
            row["text"] = json!(text);
            row["entities"] = entities;
            row
        };
        let judge = |a, b| judged(row("a weighs b more", a), row("a weighs b less", b));
        assert_eq!(judge(json!(["x"]), json!(["x", "y"])), None);
        assert_eq!(judge(json!([]), json!(["x"])), None);
        assert_eq!(judge(json!(["y", "x"]), json!(["x", "y"])), Some(Why::Rewrite));
    }

    #[test]
    fn words_stay_in_their_set_and_kind_and_ids_do_not() {
        let new = |more: Value| {
            let mut claim = record(json!({"text": "a b c d x"}));
            claim.extend(record(more));
            Value::Object(claim)
        };
        let old = |more: Value| {
            let mut claim = record(json!({"text": "a b c d y"}));
            claim.extend(record(more));
            Value::Object(claim)
        };
        let judge = |a: Value, b: Value| judged(new(a), old(b));
        assert_eq!(judge(json!({}), json!({})), Some(Why::Rewrite));
        assert_eq!(judge(json!({}), json!({"set": "dev"})), None);
        assert_eq!(judge(json!({"set": "ops"}), json!({"set": "dev"})), None);
        assert_eq!(judge(json!({"set": "dev"}), json!({"set": "dev"})), Some(Why::Rewrite));
        assert_eq!(judge(json!({}), json!({"kind": "belief"})), None);
        for names in [json!("o"), json!(["x", "o"])] {
            for other in [
                json!({}),
                json!({"set": "dev"}),
                json!({"kind": "belief"}),
                json!({"text": "Nothing in common.", "issue": "7", "entities": ["far"]}),
            ] {
                let named = json!({"supersedes": names, "entities": ["near"]});
                assert_eq!(judge(named, other), Some(Why::Named));
            }
        }
        assert_eq!(judge(json!({"supersedes": "n"}), json!({"id": "n"})), None);
        assert_eq!(judge(json!({"supersedes": ""}), json!({"id": "", "set": "x"})), None);
    }

    #[test]
    fn mail_closes_nothing_and_is_not_closed() {
        for kind in ["message", "receipt", "group"] {
            let letter = |text: &str| json!({"kind": kind, "text": text, "supersedes": "o"});
            assert_eq!(judged(letter("a b c d x"), letter("a b c d y")), None);
            let lesson = json!({"text": "a b c d y"});
            assert_eq!(judged(letter("a b c d x"), lesson.clone()), None);
            let naming = json!({"text": "a b c d y", "supersedes": "o"});
            assert_eq!(judged(naming, letter("a b c d x")), None);
        }
        assert_eq!(judged(json!({"kind": "task", "text": "a b c"}), json!({"text": "a b"})), None);
    }

    #[test]
    fn openings_are_three_words_of_any_script() {
        let opens = |text| openings(text).map(|words| words.join(" "));
        assert_eq!(opens("The default fuse is").as_deref(), Some("the default fuse"));
        assert_eq!(opens("  (v0.29) \u{c9}t\u{e9}").as_deref(), Some("v0 29 \u{e9}t\u{e9}"));
        assert_eq!(opens("two words"), None);
    }

    #[test]
    fn closing_sets_the_window_once() {
        let now = Micros::parse("2025-03-01T10:00:00.123Z").unwrap();
        let mut claim = record(json!({"id": "o"}));
        assert!(close(&mut claim, now));
        let closed = claim.clone();
        let wanted = "2025-03-01T10:00:00.123Z";
        assert_eq!(
            (closed["valid_to"].as_str(), closed["updated"].as_str()),
            (Some(wanted), Some(wanted))
        );
        // A rewrite never moves the end of what had ended: history does not change.
        assert!(!close(&mut claim, now.plus(1_000_000)));
        assert_eq!(claim, closed);
        let mut later = record(json!({"valid_to": "2025-06-01T00:00:00.000Z"}));
        assert!(close(&mut later, now));
        assert_eq!(later["valid_to"], wanted);
    }

    #[test]
    fn supersedes_holds_the_ids_that_were_closed() {
        for (brought, closed, wanted) in [
            (json!({}), vec![], json!({})),
            (json!({}), vec!["a", "b"], json!({"supersedes": ["a", "b"]})),
            (json!({"supersedes": ["o"]}), vec!["o"], json!({"supersedes": ["o"]})),
            (json!({"supersedes": ["o"]}), vec!["a", "o"], json!({"supersedes": ["o", "a"]})),
            (json!({"supersedes": "o"}), vec!["o"], json!({"supersedes": "o"})),
            (json!({"supersedes": "o"}), vec!["o", "a"], json!({"supersedes": ["o", "a"]})),
            // A string does not hide what was closed besides, and what was not closed goes.
            (json!({"supersedes": "zzz"}), vec!["a"], json!({"supersedes": ["a"]})),
            (json!({"supersedes": "zzz"}), vec![], json!({})),
            (json!({"supersedes": ["zzz", "o", "o", 5]}), vec!["o"], json!({"supersedes": ["o"]})),
            (json!({"supersedes": "past"}), vec![], json!({"supersedes": "past"})),
            (json!({"supersedes": "past"}), vec!["a"], json!({"supersedes": ["past", "a"]})),
        ] {
            let mut claim = record(brought.clone());
            list_closed(&mut claim, &closed, |id| id == "past");
            assert_eq!(Value::Object(claim), wanted, "{brought} {closed:?}");
        }
    }

    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, below: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 33) % below
        }
    }

    /// Against the definition: runs of ASCII letters and digits, as a set.
    #[test]
    fn tokens_of_ascii_text_are_the_contracts() {
        let mut dice = Dice(1);
        for _ in 0..500 {
            let letters = b"aAbZ09 _-.,'/:`\n";
            let text: Vec<u8> =
                (0..dice.roll(30)).map(|_| letters[dice.roll(16) as usize]).collect();
            let text = String::from_utf8(text).unwrap();
            let runs = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|r| !r.is_empty());
            let mut wanted: Vec<_> = runs.map(str::to_ascii_lowercase).collect();
            wanted.sort();
            wanted.dedup();
            assert_eq!(tokens(&text), wanted, "{text:?}");
        }
    }

    /// Against brute force: whatever order rarity gives, a probe misses no rewrite. Tokens are
    /// letters; some are stop words, and the look-up sees none of those.
    #[test]
    fn a_probe_misses_no_rewrite() {
        let mut dice = Dice(2);
        let (mut rewrites, mut crowded) = (0, 0);
        for _ in 0..15_000 {
            let size = 3 + dice.roll(8);
            let draw = |dice: &mut Dice| {
                let mut set: Vec<String> = (0..1 + dice.roll(size))
                    .map(|_| char::from(b'a' + dice.roll(size) as u8).to_string())
                    .collect();
                set.sort();
                set.dedup();
                set
            };
            let (a, b) = (draw(&mut dice), draw(&mut dice));
            let stops = dice.roll(2048);
            let is_stop = |token: &str| stops >> (token.as_bytes()[0] - b'a') & 1 == 1;
            let union = a.iter().chain(&b).collect::<std::collections::BTreeSet<_>>().len();
            let both = a.iter().filter(|token| b.contains(token)).count();
            let rewrite = both * 5 >= union * 3;
            assert_eq!(nearly_same(&a, &b), rewrite);
            if !rewrite {
                continue;
            }
            rewrites += 1;
            let asked = probe(&a, is_stop);
            let mut indexed: Vec<_> = a.iter().filter(|token| !is_stop(token)).collect();
            assert!(asked.terms <= indexed.len());
            for at in (1..indexed.len()).rev() {
                indexed.swap(at, dice.roll(at as u64 + 1) as usize);
            }
            let found = indexed[..asked.terms].iter().any(|token| b.contains(token));
            let listed = asked.crowded && probe(&b, is_stop).crowded;
            crowded += usize::from(listed && !found);
            assert!(found || listed, "{a:?} {b:?} {stops:b}");
        }
        assert!(rewrites > 1_000 && crowded > 50, "{rewrites} {crowded}");
        let none = |_: &str| false;
        let words = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>();
        for (count, terms) in [(0, 0), (1, 1), (2, 1), (3, 2), (5, 3), (10, 5), (12, 5)] {
            assert_eq!(probe(&words(count), none), Probe { terms, crowded: false }, "{count}");
        }
    }
}
