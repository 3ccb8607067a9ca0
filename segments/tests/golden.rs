//! A store that an earlier build wrote: it must stay readable, and be written the same way.
//!
//! The expected values stand here by hand. The files were made once by the ignored test below,
//! which refuses to make them again; a change of the format makes a directory `v2` beside them.

use std::path::{Path, PathBuf};

use packset_segments::manifest::{
    CountEntry, Features, Hex, Manifest, SegmentEntry, TextRule, manifest_file, segment_file,
};
use packset_segments::os::OsFs;
use packset_segments::vfs::Vfs;
use packset_segments::{Builder, Ended, Flags, NULL, Reason, Row, Segment, check, key_of, tag};

use crate::samples::{STORE, T, row, text, write};

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1")
}

const OLD: u128 = 0x0123_4567_89ab_cdef_0011_2233_4455_6677;
const NEW: u128 = 0xfedc_ba98_7654_3210_8899_aabb_ccdd_eeff;

/// The segments of the golden store, as the builder writes them today.
fn segments() -> [(String, Vec<u8>); 2] {
    let mut old = Builder::new();
    old.push(&Row {
        valid_from: T - 1_000_000,
        shape: b"claim",
        columns: &[(tag::DECLARED, T)],
        keys: &[key_of(b"golden")],
        text: Some(text(
            "Tabs, not spaces: tabs.",
            &["tabs", "not", "spaces", "tabs"],
            &["lang=c"],
        )),
        ..row(0x10, T)
    });
    old.push(&Row {
        shape: b"claim",
        rest: br#"["caf\u00e9"]"#,
        text: Some(text("Spaces at the caf\u{e9}", &["spaces", "caf\u{e9}"], &[])),
        ..row(0x20, T)
    });
    let mut new = Builder::new();
    new.push(&Row {
        kind: "decision",
        shape: b"claim",
        rest: b"[2]",
        flags: Flags::COUNTED,
        columns: &[(tag::DECLARED, T), (tag::DECLARED + 1, -3)],
        keys: &[key_of(b"golden")],
        ..row(0x10, T + 60_000_000)
    });
    new.end(Ended { segment: OLD, row: 0, at: T + 60_000_000, reason: Reason::Continued });
    let shared = text("", &["tabs", "not", "spaces", "tabs"], &["lang=c"]);
    new.recount("lesson", Some(&shared), -1);
    new.recount("decision", Some(&shared), 1);
    new.push(&Row { kind: "lease", shape: b"", rest: b"{}", ..row(0x30, T + 60_000_000) });
    new.recount("lease", None, 1);
    [(segment_file(1, OLD), write(old, OLD, 1)), (segment_file(2, NEW), write(new, NEW, 2))]
}

fn manifest(segments: &[(String, Vec<u8>); 2]) -> Manifest {
    let [old, new] = segments.each_ref().map(|(_, bytes)| crate::samples::open(bytes).sealed());
    Manifest {
        store: Hex(STORE),
        name: "git:example.org/golden/\u{fc}".into(),
        generation: 2,
        recorded: T + 60_000_000,
        features: Features::default(),
        text: TextRule { tokenizer: "words".into(), version: 1, stem: true },
        spaces: Vec::new(),
        kept_since: None,
        segments: vec![
            SegmentEntry {
                id: Hex(OLD),
                born: 1,
                len: old.len,
                toc: old.toc,
                rows: 2,
                overlay: 0,
                ids: (Hex(0x10), Hex(0x20)),
                recorded: (T, T),
                counts: vec![CountEntry("lesson".into(), 1, 2, 6)],
            },
            SegmentEntry {
                id: Hex(NEW),
                born: 2,
                len: new.len,
                toc: new.toc,
                rows: 2,
                overlay: 1,
                ids: (Hex(0x10), Hex(0x30)),
                recorded: (T + 60_000_000, T + 60_000_000),
                counts: vec![
                    CountEntry("lesson".into(), 1, -1, -4),
                    CountEntry("decision".into(), 1, 1, 4),
                    CountEntry("lease".into(), 0, 1, 0),
                ],
            },
        ],
    }
}

/// All files of the golden store, by their names under its directory.
fn files() -> Vec<(String, Vec<u8>)> {
    let segments = segments();
    let manifest = (format!("m/{}", manifest_file(2)), manifest(&segments).encode());
    let segments = segments.map(|(name, bytes)| (format!("s/{name}"), bytes));
    [manifest].into_iter().chain(segments).collect()
}

#[test]
#[ignore = "makes the files of a new version of the format, once"]
fn make_the_golden_store() {
    let vfs = OsFs::default();
    for dir in ["", "m", "s"] {
        vfs.create_dir(&home().join(dir)).unwrap();
    }
    for (name, bytes) in files() {
        let mut file = vfs.create_new(&home().join(name)).unwrap();
        file.write_all(&bytes).unwrap();
        file.sync().unwrap();
    }
}

#[test]
fn a_build_today_writes_the_same_bytes() {
    for (name, bytes) in files() {
        let golden = OsFs::default().read(&home().join(&name)).unwrap();
        assert!(golden == bytes, "{name} differs from byte {:?}", {
            golden.iter().zip(&bytes).position(|(one, other)| one != other)
        });
    }
}

/// The names are part of the format, so they stand here too.
const MANIFEST: &str = "m/0000000000000002.manifest";
const SEGMENTS: [&str; 2] = [
    "s/0000000000000001-0123456789abcdef0011223344556677.seg",
    "s/0000000000000002-fedcba98765432108899aabbccddeeff.seg",
];

fn opened() -> (Manifest, [Segment; 2]) {
    let vfs = OsFs::default();
    let path = home().join(MANIFEST);
    let manifest = Manifest::decode(&path, &vfs.read(&path).unwrap(), 2).unwrap();
    let segments = SEGMENTS.map(|name| {
        let path = home().join(name);
        let segment = Segment::parse(&path, vfs.open(&path).unwrap()).unwrap();
        check::check(&segment).unwrap();
        segment
    });
    (manifest, segments)
}

#[test]
fn the_golden_manifest_reads_as_it_was_meant() {
    let (manifest, segments) = opened();
    assert_eq!(manifest.store, Hex(0x5702e));
    assert_eq!(manifest.name, "git:example.org/golden/\u{fc}");
    assert_eq!((manifest.generation, manifest.recorded), (2, 1_780_000_060_000_000));
    assert_eq!((manifest.text.version, manifest.text.stem), (1, true));
    manifest.writable(Path::new("golden")).unwrap();
    for ((entry, segment), name) in manifest.segments.iter().zip(&segments).zip(SEGMENTS) {
        assert_eq!(entry.sealed(), segment.sealed());
        assert_eq!(entry.id.0, segment.identity().segment);
        assert_eq!((entry.born, segment.identity().store), (segment.identity().born, 0x5702e));
        assert_eq!(format!("s/{}", entry.file()), name);
    }
    let sums = [
        CountEntry("decision".into(), 1, 1, 4),
        CountEntry("lease".into(), 0, 1, 0),
        CountEntry("lesson".into(), 1, 1, 2),
    ];
    assert_eq!(manifest.counts(), sums);
}

#[test]
fn the_golden_rows_read_as_they_were_meant() {
    let (_, [old, new]) = opened();
    assert_eq!((old.rows(), new.rows()), (2, 2));
    assert_eq!([old.id(0), old.id(1), new.id(0), new.id(1)], [0x10, 0x20, 0x10, 0x30].map(Some));
    assert_eq!(old.recorded(1), 1_780_000_000_000_000);
    assert_eq!(new.recorded(0), 1_780_000_060_000_000);
    assert_eq!(old.kind(0).unwrap(), "lesson");
    assert_eq!((new.kind(0).unwrap(), new.kind(1).unwrap()), ("decision", "lease"));
    assert_eq!((old.shape(1).unwrap(), new.shape(1).unwrap()), (&b"claim"[..], &b""[..]));
    assert_eq!(old.rest(0).unwrap(), b"");
    assert_eq!(old.rest(1).unwrap(), br#"["caf\u00e9"]"#);
    assert_eq!((new.rest(0).unwrap(), new.rest(1).unwrap()), (&b"[2]"[..], &b"{}"[..]));
    assert_eq!(old.text(0).unwrap(), "Tabs, not spaces: tabs.");
    assert_eq!(old.text(1).unwrap(), "Spaces at the caf\u{e9}");
    assert_eq!((new.text(0).unwrap(), new.owner(0)), ("", None));
    assert_eq!(old.flags(0), Flags::FIRST | Flags::OWNER | Flags::COUNTED);
    assert_eq!(new.flags(0), Flags::COUNTED);
    assert_eq!(new.flags(1), Flags::FIRST | Flags::COUNTED);
    let value = |segment: &Segment, tag, row| segment.column(tag).map(|column| column.get(row));
    assert_eq!(value(&old, tag::VALID_FROM, 0), Some(1_779_999_999_000_000));
    assert_eq!(value(&old, tag::VALID_FROM, 1), Some(NULL));
    assert_eq!(value(&old, tag::DECLARED, 1), Some(NULL));
    assert_eq!(value(&new, tag::DECLARED, 0), Some(1_780_000_000_000_000));
    assert_eq!(value(&new, tag::DECLARED + 1, 0), Some(-3));
    assert_eq!(value(&old, tag::DECLARED + 1, 0), None);
    // Four tokens, two, none.
    assert_eq!(value(&old, tag::LENGTH, 0), Some(4));
    assert_eq!(value(&old, tag::LENGTH, 1), Some(2));
    assert_eq!(value(&new, tag::LENGTH, 0), Some(0));
    assert_eq!(old.rows_of(0x20).collect::<Vec<_>>(), [1]);
    assert_eq!(new.rows_of(0x20).count(), 0);
    assert_eq!(old.rows_with_key(key_of(b"golden")).collect::<Vec<_>>(), [0]);
    assert_eq!(new.rows_with_key(key_of(b"golden")).collect::<Vec<_>>(), [0]);
    assert_eq!((old.ends().count(), new.ends().count(), old.overlay().count()), (0, 0, 0));
    let ended = Ended {
        segment: 0x0123_4567_89ab_cdef_0011_2233_4455_6677,
        row: 0,
        at: 1_780_000_060_000_000,
        reason: Reason::Continued,
    };
    assert_eq!(new.overlay().collect::<Vec<_>>(), [ended]);
}

#[test]
fn the_golden_terms_read_as_they_were_meant() {
    let (_, [old, new]) = opened();
    let list = |segment: &Segment| {
        let terms = segment.terms();
        (0..terms.len())
            .map(|number| {
                let mut rows = Vec::new();
                let mut cursor = terms.cursor(number).unwrap();
                cursor.walk(u32::MAX, |row, frequency| rows.push((row, frequency))).unwrap();
                let term = String::from_utf8_lossy(&terms.term(number)[1..]).into_owned();
                (terms.term(number)[0], term, terms.live(number), rows)
            })
            .collect::<Vec<_>>()
    };
    let old_terms = [
        (1, "caf\u{e9}", 1, vec![(1, 1)]),
        (1, "not", 1, vec![(0, 1)]),
        (1, "spaces", 2, vec![(0, 1), (1, 1)]),
        (1, "tabs", 1, vec![(0, 2)]),
        (0xff, "lang=c", 1, vec![(0, 1)]),
    ];
    let old_terms = old_terms.map(|(corpus, term, live, rows)| (corpus, term.into(), live, rows));
    assert_eq!(list(&old), old_terms);
    // Each with its corpus byte: 6, 4, 7, 5 and 7 bytes.
    let at = |offset| old.terms().at_offset(offset);
    assert_eq!([at(0), at(5), at(6)], [Some((0, 0, 6)), Some((0, 0, 6)), Some((1, 6, 10))]);
    assert_eq!([at(28), at(29), at(usize::MAX)], [Some((4, 22, 29)), None, None]);
    // The newer version left one kind and joined another: no frequency changed.
    assert_eq!(list(&new), []);
}
