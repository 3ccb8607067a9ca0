//! Any JSON object comes back as it was written: value for value, key order and spelling of
//! numbers included, straight from its row and through folding and compacting.

use std::sync::Arc;

use packset::pack::record::{decode, encode};
use packset::pack::{Error, Record, record};
use packset_segments::sim::SimFs;
use packset_segments::{Builder, Bytes, Flags, Identity, Row, Segment, Text};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::between::Between;
use super::ground::{NAME, NOON, claim, put, store, store_on, tombstone};

/// Strings that a shape might take for something else.
const ODD: [&str; 16] = [
    "",
    "lesson",
    NAME,
    "019e70448800a0000000000000000001",
    "019E70448800A0000000000000000001",
    "2026-05-31T10:00:00.000Z",
    "2026-05-31T10:00:00Z",
    "2026-05-31",
    "2026-05-31T12:00:00.000+02:00",
    "0000-00-00T00:00:00.000Z",
    "9999-12-31T23:59:59.999Z",
    "0001-01-01T00:00:00.000Z",
    "\u{0}\u{1f}\u{7f}\u{2028}",
    "\u{1f600} \u{e9} e\u{301}",
    "null",
    "\"quoted\\\"",
];
/// Numbers whose spelling a float would lose.
const NUMBERS: [&str; 16] = [
    "0",
    "-0",
    "0.0",
    "-0.0",
    "1",
    "1.0",
    "1.00",
    "1e400",
    "-1E+400",
    "1e-400",
    "12345678901234567890",
    "123456789012345678901234567890",
    "0.1",
    "2.5",
    "86400",
    "5.0",
];
/// Keys that mean something to the store, and some that look as if they did.
const KEYS: [&str; 32] = [
    "id",
    "kind",
    "text",
    "workspace",
    "ts",
    "updated",
    "valid_from",
    "valid_to",
    "due_at",
    "last",
    "review",
    "schema",
    "level",
    "origin",
    "tombstone",
    "hook",
    "content",
    "pinned",
    "forgotten",
    "basis",
    "trust",
    "set",
    "entities",
    "title",
    "stability",
    "reps",
    "ease",
    "",
    "Text",
    "id ",
    "\u{0}",
    "\u{e9}",
];

fn a_number() -> impl Strategy<Value = Value> {
    prop_oneof![
        prop::sample::select(&NUMBERS[..]).prop_map(|n| serde_json::from_str(n).unwrap()),
        any::<i64>().prop_map(|n| json!(n)),
    ]
}

fn a_string() -> impl Strategy<Value = String> {
    prop_oneof![prop::sample::select(&ODD[..]).prop_map(str::to_owned), ".{0,12}"]
}

fn a_key() -> impl Strategy<Value = String> {
    prop_oneof![4 => prop::sample::select(&KEYS[..]).prop_map(str::to_owned), 1 => ".{0,6}"]
}

fn a_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        a_number(),
        a_string().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
            prop::collection::vec((a_key(), inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn a_record() -> impl Strategy<Value = Record> {
    prop::collection::vec((a_key(), a_value()), 0..12).prop_map(|pairs| pairs.into_iter().collect())
}

/// The spelling: equal only if order and numbers are.
fn spelled(record: &Record) -> String {
    serde_json::to_string(record).unwrap()
}

/// Through one row and back, without a store.
fn through_a_row(record: &Record) -> Record {
    let encoded = encode(record, NAME);
    let text = record::string(record, "text").unwrap_or_default();
    let key = record::key(record::id(record));
    let direct = encoded.decode(key, record::kind(record), text, NAME);
    assert_eq!(spelled(&direct), spelled(record));
    let mut builder = Builder::new();
    builder.push(&Row {
        id: key,
        recorded: 1,
        valid_from: encoded.valid_from,
        valid_to: encoded.valid_to,
        kind: record::kind(record),
        shape: &encoded.shape,
        rest: &encoded.rest,
        flags: Flags::FIRST,
        columns: &encoded.columns,
        keys: &[],
        text: Some(Text { corpus: 3, text, terms: &[], keywords: &[], codes: &[] }),
    });
    let mut bytes = Vec::new();
    let identity = Identity { store: 1, segment: 2, born: 3 };
    builder.finish(identity, &mut bytes).unwrap();
    let segment = Segment::parse("x".as_ref(), Bytes::copy_of(&bytes)).unwrap();
    decode(&segment, 0, segment.text(0).unwrap(), NAME).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_row_gives_back_any_object(record in a_record()) {
        prop_assert_eq!(spelled(&through_a_row(&record)), spelled(&record));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_store_gives_back_any_object(
        mut records in prop::collection::vec(a_record(), 1..12),
        then in prop::collection::vec(a_record(), 1..4),
    ) {
        let fs = SimFs::new();
        // A store tells records apart by their ids.
        let name = |number: usize, record: &mut Record| {
            record.insert("id".into(), json!(format!("{number}")));
        };
        let mut versions: Vec<Vec<String>> = Vec::new();
        for (number, record) in records.iter_mut().enumerate() {
            name(number, record);
            versions.push(vec![spelled(record)]);
        }
        put(&store(&fs, 0), records).unwrap();
        for (number, mut record) in then.into_iter().enumerate() {
            let number = number % versions.len();
            name(number, &mut record);
            versions[number].push(spelled(&record));
            put(&store(&fs, 1_000 * (number as u64 + 1)), vec![record]).unwrap();
        }
        for round in 0..2 {
            let here = store(&fs, 50_000);
            let snapshot = here.snapshot().unwrap().unwrap();
            for (number, versions) in versions.iter().enumerate() {
                let places = snapshot.versions(record::key(&number.to_string()));
                let found: Vec<String> =
                    places.iter().map(|p| spelled(&snapshot.record(*p).unwrap())).collect();
                prop_assert_eq!(&found, versions, "round {}", round);
            }
            here.compact(i64::MIN).unwrap();
        }
    }
}

#[test]
fn a_text_of_a_mebibyte_and_a_thousand_fields_come_back() {
    let fs = SimFs::new();
    let mut long = claim("long", &"\u{65e5} ".repeat((1 << 20) / 4));
    long.insert("kind".into(), json!("log"));
    let mut wide = claim("wide", "many");
    for field in 0..1_000 {
        wide.insert(format!("field {field}"), json!([field, null, { "": field }]));
    }
    // As deep as the parser goes: 128 levels, the record itself among them.
    let deep = format!("{}1{}", "[".repeat(126), "]".repeat(126));
    let mut nested = claim("deep", "x");
    nested.insert("deep".into(), serde_json::from_str(&deep).unwrap());
    let records = vec![long, wide, nested];
    put(&store(&fs, 0), records.clone()).unwrap();
    put(&store(&fs, 1_000), vec![claim("other", "x")]).unwrap();
    store(&fs, 2_000).compact(i64::MIN).unwrap();
    let snapshot = store(&fs, 0).snapshot().unwrap().unwrap();
    for record in records {
        let place = snapshot.current(record::key(record::id(&record))).unwrap();
        assert_eq!(spelled(&snapshot.record(place).unwrap()), spelled(&record));
    }
}

/// The horizon is a bound on what has ended; nothing that has not is ever dropped.
#[test]
fn no_horizon_drops_what_is_current() {
    let fs = super::operation::layers();
    let before = store(&fs, 0).snapshot().unwrap().unwrap().counts();
    store(&fs, 50_000).compact(i64::MAX).unwrap();
    let snapshot = store(&fs, 0).snapshot().unwrap().unwrap();
    assert_eq!(snapshot.counts(), before);
    // One of 14, 4 of 5 and 1 of 2 records are only there once, and one has a version in each.
    assert_eq!(snapshot.places().count(), 13 + 4 + 1 + 1);
}

/// A claim, its tombstone, and a compaction whose horizon the claim has passed: the store, and
/// the text that the tombstone no longer has.
fn erased() -> (SimFs, &'static str) {
    let (fs, text) = (SimFs::new(), "what was deleted");
    put(&store(&fs, 0), vec![claim("a", text)]).unwrap();
    put(&store(&fs, 1_000), vec![tombstone("a", text)]).unwrap();
    (fs, text)
}

fn current_text(fs: &SimFs) -> String {
    let snapshot = store(fs, 0).snapshot().unwrap().unwrap();
    let report = packset::pack::verify::verify(&snapshot);
    assert!(report.problems.is_empty(), "{report:?}");
    snapshot.text(snapshot.current(record::key("a")).unwrap()).unwrap().to_owned()
}

#[test]
fn a_deleted_text_goes_with_its_versions_and_may_be_written_again() {
    let (fs, text) = erased();
    store(&fs, 2_000).compact(NOON + 1).unwrap();
    assert_eq!(current_text(&fs), "");
    let bytes: Vec<u8> = fs.tree().into_values().flatten().collect();
    put(&store(&fs, 3_000), vec![claim("b", "another one")]).unwrap();
    put(&store(&fs, 4_000), vec![claim("b", "a third one")]).unwrap();
    let later: Vec<u8> = fs.tree().into_values().flatten().collect();
    let holds = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    // The generation before the compaction keeps its files for readers until the next commits.
    assert!(holds(&bytes) && !holds(&later));
    for words in ["", text] {
        put(&store(&fs, 5_000 + words.len() as u64), vec![claim("a", words)]).unwrap();
        assert_eq!(current_text(&fs), words);
    }
}

#[test]
fn a_text_that_is_brought_back_while_a_compaction_drops_it_stays() {
    let (fs, text) = erased();
    let between = Between::new(Arc::new(fs.share()));
    let other = fs.share();
    between.when(
        |call, path| call == "write" && path.to_string_lossy().contains("compact-"),
        move || put(&store(&other, 3_000), vec![claim("a", text)]).unwrap(),
    );
    let compacted = store_on(Arc::new(between), 2_000).compact(NOON + 1);
    assert!(matches!(compacted, Err(Error::Busy { .. })), "{compacted:?}");
    assert_eq!(current_text(&fs), text);
    store(&fs, 4_000).compact(NOON + 1).unwrap();
    assert_eq!(current_text(&fs), text);
}
