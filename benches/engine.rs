//! What the parts cost inside one process, without its start: `cargo bench --bench engine -- [N]`.
//!
//! One thread, the made claims of `corpus.rs` (100,000 unless told otherwise), a store in a fresh
//! directory. Figures are the best of several passes, because on a shared machine the best one
//! is disturbed least. They say where time goes; what is promised stands in `cold_start.rs`.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a bench is its own shell")]

mod corpus;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use packset::claim;
use packset::clock::{Clock, SystemClock};
use packset::pack::record::{self, Record};
use packset::pack::{self, Ground, IdSource, Prepared, Snapshot, Store, View};
use packset::search::panel::Panel;
use packset::search::{Query, Rank, search};
use packset::text::Tokenizer;
use packset_segments::merge::{Plan, merge};
use packset_segments::os::OsFs;
use packset_segments::vfs::Vfs;
use packset_segments::{Identity, Segment};

/// Passes of which the best counts.
const PASSES: usize = 5;

/// Claims of one commit, so that a store of any size has segments to merge.
const COMMIT: usize = 1 << 15;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let size = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(100_000);
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("engine");
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir)?;
    let mut lines = Vec::new();
    corpus::claims(size, |line| lines.push(line.to_owned()));
    println!("{size} claims, {} bytes of JSON each", total(&lines) / lines.len().max(1));
    let records = records(&lines)?;
    texts(&records);
    let prepared = prepare(&lines)?;
    let store = Store::new(ground(), &dir, "bench");
    commit(&store, prepared)?;
    let done = store.snapshot()?.map(|snapshot| read(&snapshot, &records, &dir));
    fs::remove_dir_all(&dir)?;
    done.unwrap_or(Ok(()))
}

fn total(lines: &[String]) -> usize {
    lines.iter().map(String::len).sum()
}

fn row(name: &str, value: f64, unit: &str) {
    println!("{name:<44} {value:>12.2}  {unit}");
}

fn best<T>(mut work: impl FnMut() -> T) -> Duration {
    let pass = |_| {
        let start = Instant::now();
        std::hint::black_box(work());
        start.elapsed()
    };
    (0..PASSES).map(pass).min().unwrap_or_default()
}

fn mib_per_second(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / (1 << 20) as f64 / time.as_secs_f64()
}

fn records(lines: &[String]) -> Outcome<Vec<Record>> {
    let parsed = lines.iter().map(|line| serde_json::from_str(line));
    Ok(parsed.collect::<Result<_, _>>()?)
}

fn texts(records: &[Record]) {
    let texts: Vec<&str> =
        records.iter().filter_map(|record| record::string(record, "text")).collect();
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    for (name, stem) in [("tokenize, stems cached", true), ("tokenize, no stems", false)] {
        let mut tokenizer = Tokenizer::new(stem);
        let time = best(|| {
            let mut count = 0usize;
            texts.iter().for_each(|text| tokenizer.terms(text, &mut |_| count += 1));
            count
        });
        row(name, mib_per_second(bytes, time), "MiB/s");
    }
}

fn ground() -> Ground {
    Ground {
        vfs: Arc::new(OsFs::default()),
        clock: Arc::new(SystemClock),
        ids: Arc::new(IdSource::Random),
        wait: Duration::from_secs(1),
        holder: "the bench".into(),
        stem: true,
        meaning: true,
    }
}

/// What an import does for each line before it takes the lock.
fn prepare(lines: &[String]) -> Outcome<Vec<Prepared>> {
    let now = SystemClock.now();
    let mut tokenizer = Tokenizer::new(true);
    let start = Instant::now();
    let prepared = lines.iter().map(|line| -> Outcome<Prepared> {
        let id = IdSource::Random.fresh(now);
        let mut record = serde_json::from_str(line)?;
        Ok(claim::prepare(&mut record, "bench", id, now, &mut tokenizer)?)
    });
    let prepared = prepared.collect::<Outcome<Vec<_>>>()?;
    row("work out a claim", lines.len() as f64 / start.elapsed().as_secs_f64(), "claims/s");
    Ok(prepared)
}

/// What an import does under the lock, syncs and folding included.
fn commit(store: &Store, mut prepared: Vec<Prepared>) -> Outcome<()> {
    let count = prepared.len();
    let start = Instant::now();
    while !prepared.is_empty() {
        let rest = prepared.split_off(prepared.len().min(COMMIT));
        store.commit(|transaction| -> Result<(), claim::Error> {
            for claim in std::mem::take(&mut prepared) {
                claim::write(transaction, claim)?;
            }
            Ok(())
        })?;
        prepared = rest;
    }
    row("commit a claim", count as f64 / start.elapsed().as_secs_f64(), "claims/s");
    Ok(())
}

fn read(snapshot: &Snapshot, records: &[Record], dir: &Path) -> Outcome<()> {
    let segments = snapshot.segments();
    let bytes: u64 = segments.iter().map(|segment| segment.sealed().len).sum();
    println!("{} segments, {bytes} bytes", segments.len());
    open(segments)?;
    postings(segments)?;
    searches(snapshot, records)?;
    let inputs: Vec<&Segment> = segments.iter().collect();
    let plan = Plan::of(&inputs);
    let identity = Identity { store: snapshot.manifest().store.0, segment: 1, born: 1 };
    let time = best(|| {
        let mut sink = Vec::new();
        merge(&plan, identity, &mut sink).map(|_| sink.len())
    });
    row("merge", mib_per_second(bytes as usize, time), "MiB/s");
    let store = Store::new(ground(), dir, "bench");
    let time = best(|| store.snapshot().map(|snapshot| snapshot.is_some()));
    row("open the store", time.as_secs_f64() * 1e6, "us");
    Ok(())
}

fn open(segments: &[Segment]) -> Result<(), packset_segments::Error> {
    let vfs = OsFs::default();
    for segment in segments {
        let path = segment.path();
        let opened = || -> Option<u32> {
            let bytes = vfs.open(path).ok()?;
            Segment::parse(path, bytes).ok().map(|segment| segment.rows())
        };
        let time = best(opened).as_secs_f64() * 1e6;
        row(&format!("open a segment of {} rows", segment.rows()), time, "us");
    }
    Ok(())
}

fn postings(segments: &[Segment]) -> Result<(), packset_segments::Error> {
    let mut count = 0u64;
    let mut walk = || -> Result<u64, packset_segments::Error> {
        let (mut postings, mut sum) = (0, 0u64);
        for segment in segments {
            let terms = segment.terms();
            for number in 0..terms.len() {
                let mut cursor = terms.cursor(number)?;
                let visit = |row: u32, frequency: u32| {
                    postings += 1;
                    sum += u64::from(row ^ frequency);
                };
                cursor
                    .walk(u32::MAX, visit)
                    .map_err(|_| segment.corrupt("postings", "a list that no writer made"))?;
            }
        }
        count = postings;
        Ok(sum)
    };
    walk()?;
    let time = best(&mut walk);
    row("decode postings", count as f64 / time.as_secs_f64() / 1e6, "M/s");
    Ok(())
}

fn searches(snapshot: &Snapshot, records: &[Record]) -> Result<(), pack::Error> {
    let texts = records.iter().filter_map(|record| record::string(record, "text"));
    let queries = corpus::queries(texts.take(100_000));
    let mut sum = Duration::ZERO;
    for text in &queries {
        let query = Query {
            text,
            limit: 10,
            view: View::now(SystemClock.now()),
            rank: Rank::Fused,
            kind: None,
            set: None,
            panel: Panel::default(),
        };
        let run = || search(snapshot, &mut Tokenizer::new(true), &query);
        let hits = run()?.hits.len();
        let time = best(run);
        sum += time;
        println!("  {:>9.0} us {hits:>3} hits  {text}", time.as_secs_f64() * 1e6);
    }
    row("search, mean", sum.as_secs_f64() * 1e6 / queries.len() as f64, "us");
    Ok(())
}
