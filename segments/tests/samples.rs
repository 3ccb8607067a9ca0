//! Segments that have something in every section, small enough to be damaged bit by bit.
//!
//! Not here: what they must answer; tests that need values by hand build their own.

use std::collections::BTreeSet;
use std::path::Path;

use packset_segments::merge::{Plan, merge};
use packset_segments::{
    Builder, Bytes, Ended, Flags, Identity, NULL, Reason, Row, Segment, Text, key_of, tag,
};

/// A time to count from, microseconds.
pub const T: i64 = 1_780_000_000_000_000;
/// The store that all samples belong to.
pub const STORE: u128 = 0x5702e;

/// A row with nothing special about it.
pub fn row<'a>(id: u128, recorded: i64) -> Row<'a> {
    Row {
        id,
        recorded,
        valid_from: NULL,
        valid_to: NULL,
        kind: "lesson",
        shape: b"shape",
        rest: b"",
        flags: Flags::FIRST | Flags::COUNTED,
        columns: &[],
        keys: &[],
        text: None,
    }
}

/// A text of corpus 1.
pub fn text<'a>(text: &'a str, terms: &'a [&'a str], keywords: &'a [&'a str]) -> Text<'a> {
    Text { corpus: 1, text, terms, keywords, codes: &[] }
}

/// Writes a builder as the segment `segment`.
pub fn write(builder: Builder, segment: u128, born: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    builder.finish(Identity { store: STORE, segment, born }, &mut bytes).unwrap();
    bytes
}

/// Opens bytes as a file that was read.
pub fn open(bytes: &[u8]) -> Segment {
    Segment::parse(Path::new("sample.seg"), Bytes::copy_of(bytes)).unwrap()
}

/// Keys that the samples bear, and one that they do not.
pub fn keys() -> [u64; 3] {
    [key_of(b"field=value"), key_of(b"other"), key_of(b"none")]
}

/// A merged segment of at most 4 KiB with every section in use: several kinds and shapes,
/// declared columns with gaps, a text that two rows share, ends, ends in two other segments,
/// keys, keywords, and terms that one, two and no rows hold.
pub fn small() -> Vec<u8> {
    let [key, other, _] = keys();
    let mut older = Builder::new();
    older.push(&Row {
        valid_to: T + 9_000_000,
        columns: &[(tag::DECLARED, T), (tag::DECLARED + 4, -5)],
        keys: &[key, other],
        rest: br#"["rest"]"#,
        text: Some(text(
            "gamma delta gamma",
            &["gamma", "delta", "gamma"],
            &["field=value", "twice"],
        )),
        ..row(3, T)
    });
    older.push(&Row {
        kind: "lease",
        shape: b"other",
        columns: &[(tag::DECLARED, NULL)],
        ..row(4, T)
    });
    older.recount("lease", None, 1);
    let older = open(&write(older, 0xc3, 3));

    let mut newer = Builder::new();
    // Shares the text of its older version.
    newer.push(&Row { flags: Flags::COUNTED, rest: b"2", keys: &[key, key], ..row(3, T + 5) });
    newer.end(Ended { segment: 0xc3, row: 0, at: T + 5, reason: Reason::Continued });
    // Replaces and deletes what two other segments hold.
    newer.push(&Row {
        flags: Flags::COUNTED,
        valid_from: T - 7,
        columns: &[(tag::DECLARED + 1, 77)],
        text: Some(text("delta \u{e9}psilon", &["delta", "\u{e9}psilon"], &[])),
        ..row(1, T + 5)
    });
    newer.end(Ended { segment: 0xa1 << 100 | 1, row: 7, at: T + 5, reason: Reason::Replaced });
    newer.recount("lesson", Some(&text("", &["alpha"], &[])), -1);
    newer.push(&Row { flags: Flags::TOMBSTONE, ..row(2, T + 5) });
    newer.end(Ended { segment: 0xb2, row: 300, at: T + 5, reason: Reason::Continued });
    newer.recount("lesson", Some(&text("", &["beta", "delta"], &[])), -1);
    let newer = open(&write(newer, 0xd4, 4));

    let beside = BTreeSet::from([0xa1 << 100 | 1, 0xb2]);
    let inputs = [&older, &newer];
    let plan = Plan { beside: &beside, ..Plan::of(&inputs) };
    let mut bytes = Vec::new();
    merge(&plan, Identity { store: STORE, segment: 0xe5, born: 5 }, &mut bytes).unwrap();
    assert!(bytes.len() <= 4096, "{}", bytes.len());
    bytes
}

/// A segment of at most 16 KiB whose lists have full blocks, with frequencies above one.
pub fn large() -> Vec<u8> {
    let mut builder = Builder::new();
    for i in 0..270u32 {
        let word = ["one", "two", "three", "four", "five", "six", "seven"][i as usize % 7];
        let mut terms = vec!["every"; 1 + i as usize % 5];
        terms.extend(vec![word; 1 + i as usize % 9]);
        if i % 2 == 0 {
            terms.push("half");
        }
        builder.push(&Row {
            columns: &[(tag::DECLARED, if i % 3 == 0 { NULL } else { i64::from(i) })],
            keys: &[key_of(&i.to_be_bytes())],
            text: Some(text(word, &terms, &[])),
            ..row(u128::from(i.reverse_bits()), T + i64::from(i / 50))
        });
    }
    let bytes = write(builder, 0xf6, 6);
    assert!(bytes.len() <= 16384, "{}", bytes.len());
    bytes
}

#[test]
fn the_samples_have_something_in_every_section() {
    let small = open(&small());
    for segment in [&small, &open(&large())] {
        packset_segments::check::check(segment).unwrap();
    }
    // Rows: 3 (newest version in the text's place), 4, 3 (first version), 1, 2.
    assert_eq!(small.rows(), 5);
    assert_eq!((0..5).map(|row| small.id(row)).collect::<Vec<_>>(), [3, 4, 3, 1, 2].map(Some));
    assert_eq!(small.flags(0), Flags::COUNTED | Flags::OWNER | Flags::SHARED);
    assert_eq!(small.flags(2), Flags::COUNTED | Flags::FIRST);
    assert_eq!((small.owner(2), small.owner(4)), (Some(0), None));
    assert_eq!(small.text(0).unwrap(), "gamma delta gamma");
    assert_eq!(small.ends().collect::<Vec<_>>(), [(2, T + 5, Reason::Continued)]);
    assert_eq!(small.overlay().count(), 2);
    assert_eq!(small.declared().collect::<Vec<_>>(), [32, 33, 36]);
    // Borne twice, kept once.
    assert_eq!(small.rows_with_key(keys()[0]).collect::<Vec<_>>(), [0]);
    assert_eq!(small.rows_with_key(keys()[1]).count(), 0);
    let terms = small.terms();
    let rows_and_live = |term: &str| {
        let number = terms.find(term.as_bytes()).unwrap();
        (terms.rows(number), terms.live(number))
    };
    assert_eq!(rows_and_live("\u{1}delta"), (2, 1));
    assert_eq!(rows_and_live("\u{1}gamma"), (1, 1));
    assert_eq!(rows_and_live("\u{1}alpha"), (0, -1));
    assert!(terms.find(b"\xfftwice").is_some());
}
