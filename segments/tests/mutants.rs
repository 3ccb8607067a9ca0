//! Seeded mutators: what the fuzz targets do, for a few seconds, on the stable compiler.
//!
//! `PACKSET_FUZZ_ITERATIONS` sets how many mutants each target gets. Checksums are made right
//! again, so that mutants reach the readers behind them.

use packset_segments::os::OsFs;
use packset_segments::vfs::Vfs;
use std::path::Path;

use crate::allocation::peak_of;
use crate::drive;
use crate::history::Lcg;
use crate::reseal::{promise, sections};
use crate::samples;

fn iterations() -> usize {
    #[expect(clippy::disallowed_methods, reason = "a test is told how long to run")]
    let told = std::env::var("PACKSET_FUZZ_ITERATIONS").ok();
    told.and_then(|told| told.parse().ok()).unwrap_or(20_000)
}

/// What a mutant may make a reader or a merge hold: dozens of times its size. A count that
/// promises four billion entries would ask for a thousand times this.
const HELD: usize = 8 << 20;

/// Numbers at the edges of their types.
const EDGES: [u64; 12] = [
    0,
    1,
    0x7f,
    0x80,
    0xff,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    i64::MAX as u64,
    i64::MIN as u64,
    u64::MAX,
];

fn mutate(random: &mut Lcg, bytes: &mut Vec<u8>, other: &[u8], start: usize) {
    let len = bytes.len();
    if len <= start + 1 {
        return;
    }
    let at = start + random.below(len - start);
    let run = (1 + random.below(16)).min(len - at).min(len - 1);
    match random.below(9) {
        0 | 1 => bytes[at] ^= 1 << random.below(8),
        2 => bytes[at] = random.below(256) as u8,
        3 | 4 => {
            let width = [1, 2, 4, 8][random.below(4)].min(len - at);
            let number = EDGES[random.below(EDGES.len())].to_le_bytes();
            bytes[at..at + width].copy_from_slice(&number[..width]);
        }
        5 => {
            let from = random.below(other.len());
            let run = (1 + random.below(64)).min(other.len() - from).min(len - at);
            bytes[at..at + run].copy_from_slice(&other[from..from + run]);
        }
        6 => {
            let from = random.below(len - run);
            bytes.copy_within(from..from + run, at.min(len - run));
        }
        7 => bytes[at..at + run].fill(0),
        _ if random.below(8) == 0 => bytes.truncate(at),
        _ => drop(bytes.splice(at..at, [0; 8].into_iter().take(run))),
    }
}

/// Runs a target over mutants of its seeds; returns how many got past the checksums.
fn hunt(
    seed: u64,
    seeds: &[Vec<u8>],
    start: &dyn Fn(&[u8], &mut Lcg) -> usize,
    target: fn(&[u8]) -> bool,
) -> usize {
    let mut random = Lcg::new(seed);
    let mut opened = 0;
    for iteration in 0..iterations() {
        // The first seed is the smallest and gets most of the time.
        let choice = if random.one_in(8) { random.below(seeds.len()) } else { 0 };
        let mut mutant = seeds[choice].clone();
        let other = &seeds[random.below(seeds.len())];
        for _ in 0..1 + random.below(3) {
            let start = start(&mutant, &mut random);
            mutate(&mut random, &mut mutant, other, start);
        }
        if random.one_in(16) {
            let count = EDGES[random.below(EDGES.len())] as u32;
            promise(&mut mutant, 1 + random.below(13) as u32, count);
        }
        let (done, held) = peak_of(|| std::panic::catch_unwind(|| target(&mutant)));
        let done = done.unwrap_or_else(|_| panic!("seed {seed}, iteration {iteration}"));
        assert!(held < HELD, "seed {seed}, iteration {iteration}: {held} bytes");
        opened += usize::from(done);
    }
    opened
}

/// Half of the changes go into the sections' own bytes, where the readers are.
fn anywhere(bytes: &[u8], random: &mut Lcg) -> usize {
    let places = sections(bytes);
    match random.one_in(2) || places.is_empty() {
        true => 0,
        false => places[random.below(places.len())].start.min(bytes.len()),
    }
}

fn corpus(target: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target)
}

/// The seeds of a target, as they are committed for the fuzzer.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let vfs = OsFs::default();
    let dir = corpus(target);
    let mut seeds: Vec<Vec<u8>> =
        vfs.list(&dir).unwrap().iter().map(|name| vfs.read(&dir.join(name)).unwrap()).collect();
    seeds.sort_by_key(Vec::len);
    assert!(!seeds.is_empty());
    seeds
}

#[test]
fn mutants_of_segments_are_read_or_refused() {
    let seeds = seeds("segment_open");
    for seed in &seeds {
        assert!(drive::segment_open(seed));
    }
    let opened = hunt(1, &seeds, &anywhere, drive::segment_open);
    assert!(opened * 8 > iterations(), "only {opened} mutants reached the readers");
}

#[test]
fn mutants_of_posting_lists_are_walked_or_refused() {
    let seeds = seeds("postings");
    for seed in &seeds {
        assert!(drive::postings(seed));
    }
    let whole = |_: &[u8], _: &mut Lcg| 1;
    let opened = hunt(2, &seeds, &whole, drive::postings);
    assert!(opened * 4 > iterations(), "only {opened} mutants reached the readers");
}

#[test]
fn mutants_of_queries_find_something_or_nothing() {
    let seeds = seeds("query_terms");
    for seed in &seeds {
        assert!(drive::query_terms(seed));
    }
    let whole = |_: &[u8], random: &mut Lcg| if random.one_in(2) { 0 } else { 1024 };
    hunt(3, &seeds, &whole, drive::query_terms);
}

#[test]
fn mutants_of_manifests_are_read_or_refused() {
    let seeds = seeds("manifest");
    for seed in &seeds {
        assert!(drive::manifest(seed));
    }
    let whole = |_: &[u8], _: &mut Lcg| 0;
    let opened = hunt(4, &seeds, &whole, drive::manifest);
    assert!(opened * 20 > iterations(), "only {opened} mutants reached the reader");
}

#[test]
#[ignore = "makes the seeds of the fuzz targets from the samples and the golden store, once"]
fn make_the_seeds() {
    let vfs = OsFs::default();
    let golden = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1").join(name);
        let names = vfs.list(&path).unwrap();
        names.iter().map(|name| vfs.read(&path.join(name)).unwrap()).collect::<Vec<_>>()
    };
    let save = |target: &str, name: &str, bytes: &[u8]| {
        let mut file = vfs.create_new(&corpus(target).join(name)).unwrap();
        file.write_all(bytes).unwrap();
        file.sync().unwrap();
    };
    for dir in ["", "segment_open", "postings", "query_terms", "manifest"] {
        vfs.create_dir(&corpus(dir)).unwrap();
    }
    let (small, large) = (samples::small(), samples::large());
    save("segment_open", "merged", &small);
    save("segment_open", "blocks", &large);
    for (name, bytes) in ["golden-old", "golden-new"].iter().zip(golden("s")) {
        save("segment_open", name, &bytes);
    }
    save("manifest", "golden", &golden("m")[0]);
    for (query, name) in [("\u{1}delta", "term"), ("\u{1}g", "prefix"), ("field=value", "key")] {
        let seed = [&[query.len() as u8], query.as_bytes(), small.as_slice()].concat();
        save("query_terms", name, &seed);
    }
    let part = |code: u32| {
        let place = *sections(&large).iter().find(|place| place.code == code).unwrap();
        large[place.start..place.start + place.len].to_vec()
    };
    save("postings", "lists", &[&[1], part(8).as_slice()].concat());
    save("postings", "blocks", &[&[2], part(9).as_slice()].concat());
    // In file order: the term table stands before the lists.
    save("postings", "all", &[&[7], part(7).as_slice(), &part(8), &part(9)].concat());
}
