//! What the fuzzers do with bytes; the seeded mutators of the tests and the targets in `fuzz/`
//! call the same functions.
//!
//! Each must come back whatever the bytes are. A failed assertion here is a fault of the format.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

use packset_segments::manifest::Manifest;
use packset_segments::merge::{Plan, merge, rebuild};
use packset_segments::{Bytes, Error, Identity, Result, Segment, check};

use crate::reading::read_all;
use crate::reseal::{reseal, reseal_manifest, sections};
use crate::samples;

/// Section numbers, from FORMAT.md.
const TERM_TABLE: u32 = 7;
const POSTINGS: u32 = 8;
const BLOCKS: u32 = 9;

fn open(bytes: &[u8]) -> Result<Segment> {
    Segment::parse(Path::new("fuzz.seg"), Bytes::copy_of(bytes))
}

fn typed<T>(result: Result<T>) -> Option<T> {
    match result {
        Ok(done) => Some(done),
        Err(Error::Corrupt { .. } | Error::Version { .. } | Error::TooLarge { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

fn good() -> &'static Segment {
    static GOOD: OnceLock<Segment> = OnceLock::new();
    GOOD.get_or_init(|| samples::open(&samples::small()))
}

fn large() -> &'static [u8] {
    static LARGE: OnceLock<Vec<u8>> = OnceLock::new();
    LARGE.get_or_init(samples::large)
}

fn merged(inputs: &[&Segment], horizon: i64, anew: bool) {
    let beside = BTreeSet::from([0xb2]);
    let plan = Plan { beside: &beside, horizon, ..Plan::of(inputs) };
    let identity = Identity { store: samples::STORE, segment: 9, born: 9 };
    let mut bytes = Vec::new();
    let mut retext = |_: &Segment, _: u32, text: &str| {
        Ok((1, text.split_whitespace().map(str::to_owned).collect()))
    };
    let done = match anew {
        true => rebuild(&plan, identity, &mut bytes, &mut retext),
        false => merge(&plan, identity, &mut bytes),
    };
    if let Some(moved) = typed(done) {
        // Whatever went in, what a merge writes can be opened again.
        let segment = open(&bytes).unwrap();
        assert!(!moved.is_missed_by(&segment) || segment.overlay().count() > 0);
    }
}

/// Opens, reads, checks and merges a segment whose checksums are made right first. Returns
/// whether it could be opened.
pub fn segment_open(data: &[u8]) -> bool {
    let _ = typed(open(data));
    let mut bytes = data.to_vec();
    reseal(&mut bytes);
    let Some(segment) = typed(open(&bytes)) else { return false };
    let _ = typed(read_all(&segment, &samples::keys()));
    let checked = typed(check::check(&segment)).is_some();
    if checked {
        // What a check lets through, every reader can read.
        read_all(&segment, &samples::keys()).unwrap();
    }
    merged(&[&segment], i64::MIN, false);
    merged(&[&segment, good()], samples::T + 5, false);
    merged(&[good(), &segment], i64::MIN, true);
    true
}

/// Puts bytes in the place of the posting lists, the block entries and the term columns of a
/// segment, and walks every list.
pub fn postings(data: &[u8]) -> bool {
    let Some((choice, data)) = data.split_first() else { return false };
    let mut bytes = large().to_vec();
    let mut rest = data;
    for place in sections(large()) {
        let chosen = match place.code {
            POSTINGS => choice & 1 != 0,
            BLOCKS => choice & 2 != 0,
            TERM_TABLE => choice & 4 != 0,
            _ => false,
        };
        if chosen {
            let (now, later) = rest.split_at(place.len.min(rest.len()));
            bytes[place.start..place.start + now.len()].copy_from_slice(now);
            rest = later;
        }
    }
    segment_open(&bytes)
}

/// Looks a string up in every way that terms can be looked up. The first byte says how much of
/// the rest is the string; what follows it is a segment.
pub fn query_terms(data: &[u8]) -> bool {
    let Some((length, data)) = data.split_first() else { return false };
    let (query, data) = data.split_at(usize::from(*length).min(data.len()));
    let mut bytes = data.to_vec();
    reseal(&mut bytes);
    let opened = typed(open(&bytes));
    for segment in [Some(good()), opened.as_ref()].into_iter().flatten() {
        let terms = segment.terms();
        let exact = terms.find(query);
        let prefix = terms.with_prefix(query);
        let corpus = terms.corpus(query.first().copied().unwrap_or_default());
        assert!(terms.lower_bound(query) <= terms.len());
        assert!(prefix.end <= terms.len() && corpus.end <= terms.len());
        let (run, start) = terms.run(prefix.clone());
        for offset in start..start + run.len().min(64) {
            if let Some((number, from, to)) = terms.at_offset(offset) {
                assert!(number < terms.len() && to <= start + usize::MAX / 2 && from <= offset);
            }
        }
        for number in exact.into_iter().chain(prefix.take(64)) {
            if let Some(mut cursor) = typed(terms.cursor(number)) {
                let target = query.first().copied().map_or(0, u32::from);
                cursor.impacts(target, u32::MAX, |_| ());
                let _ = cursor.seek(target).and_then(|()| cursor.walk(u32::MAX, |_, _| ()));
            }
        }
        let key = packset_segments::key_of(query);
        assert!(segment.rows_with_key(key).all(|row| row < segment.rows()));
        assert!(segment.number_of(query).is_none_or(|code| (code as usize) < bytes.len().max(64)));
    }
    opened.is_some()
}

/// Decodes a manifest as it is and with its first line made right.
pub fn manifest(data: &[u8]) -> bool {
    let path = Path::new("fuzz.manifest");
    let _ = typed(Manifest::decode(path, data, 2));
    let Some(manifest) = typed(Manifest::decode(path, &reseal_manifest(data), 2)) else {
        return false;
    };
    let _ = (manifest.counts(), typed(manifest.writable(path)));
    for entry in &manifest.segments {
        assert!(!entry.file().contains('/') && entry.sealed().len == entry.len);
    }
    // A manifest that reads is written back as one that reads the same.
    assert_eq!(Manifest::decode(path, &manifest.encode(), 2).unwrap(), manifest);
    true
}
