//! What the whole life of a claim costs: linked writes, the graph's verbs, review, forgetting.
//!
//! `cargo bench --bench life -- [N ...] [--peer DIR] [--dir DIR] [--keep]` makes a pack of N live
//! claims that share entities (2,000, 20,000 and 200,000 unless told otherwise), each written as a
//! person's write would be: settled among the others and linked. It compacts the pack, and prints
//! each figure beside its target: one such write against a bare commit in the same process and
//! store, and the verbs as whole processes, in turn with `/bin/true`. `--peer` does what it can
//! beside the public program of this name on 2,000 claims.
//!
//! Not here: search and plain writes; see `cold_start.rs`.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a bench is its own shell")]

mod linked;
mod peer;
mod process;

use std::error::Error;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use packset::claim;
use packset::clock::{Clock, SystemClock};
use packset::pack::{Ground, IdSource, Prepared, Store};
use packset::text::Tokenizer;
use packset_segments::os::OsFs;
use process::{Program, Ran, Times};

/// The workspace of everything here.
const WORKSPACE: &str = "bench";

/// Claims written one by one, each way.
const WRITES: u64 = 150;
/// Claims of one commit while the pack is made: few enough that links are rewritten as often as
/// they are when claims come one by one.
const COMMIT: u64 = 512;
/// One claim in so many is overdue when the review verbs run.
const OVERDUE: u64 = 1000;

/// The figures to reach, at 2,000, 20,000 and 200,000 live claims.
mod target {
    /// A settled write, in bare ones.
    pub(crate) const WRITE: [f64; 3] = [1.2, 1.3, 1.5];
    /// Whole processes, milliseconds.
    pub(crate) const ISLANDS: [f64; 3] = [20.0, 200.0, 2500.0];
    pub(crate) const HUBS: [f64; 3] = [10.0, 100.0, 1000.0];
    pub(crate) const ISLAND: [f64; 3] = [8.0, 12.0, 30.0];
    pub(crate) const DUE: [f64; 3] = [50.0; 3];
    pub(crate) const SWEEP: [f64; 3] = [50.0; 3];
    /// Claims imported in a second of processor time.
    pub(crate) const IMPORT: [f64; 3] = [15e3; 3];
}

type Outcome<T> = Result<T, Box<dyn Error>>;

struct Options {
    sizes: Vec<u64>,
    peer: Option<PathBuf>,
    dir: PathBuf,
    keep: bool,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        sizes: Vec::new(),
        peer: None,
        dir: PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("life"),
        keep: false,
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            // Cargo adds it.
            "--bench" => {}
            "--peer" => options.peer = Some(value()?.into()),
            "--keep" => options.keep = true,
            "--dir" => options.dir = value()?.into(),
            size => options.sizes.push(size.parse().map_err(|_| format!("what is {size}?"))?),
        }
    }
    if options.sizes.is_empty() {
        options.sizes = vec![2_000, 20_000, 200_000];
    }
    Ok(options)
}

fn main() -> Outcome<()> {
    let options = options()?;
    let _ = fs::remove_dir_all(&options.dir);
    fs::create_dir_all(&options.dir)?;
    let done = options.sizes.iter().try_for_each(|size| Bench::new(&options.dir, *size).run());
    let peer = match &options.peer {
        Some(binaries) if done.is_ok() => beside_peer(&options.dir, binaries),
        _ => Ok(()),
    };
    if !options.keep {
        fs::remove_dir_all(&options.dir)?;
    }
    done.and(peer)
}

/// One pack and the processes that work on it.
struct Bench {
    dir: PathBuf,
    count: u64,
    home: PathBuf,
    packset: Program,
    nothing: Program,
}

impl Bench {
    fn new(dir: &Path, count: u64) -> Self {
        let home = dir.join(format!("home-{count}"));
        let packset = Program::packset(dir, &home, WORKSPACE);
        Self { dir: dir.to_owned(), count, home, packset, nothing: Program::new("/bin/true", dir) }
    }

    fn run(&self) -> Outcome<()> {
        println!("\n{} live claims", self.count);
        println!("{:<44} {:>12} {:>12}  {:>10}", "", "measured", "target", "");
        self.import()?;
        let store = store(&self.home);
        self.grow(&store)?;
        self.writes(&store)?;
        self.graph()?;
        self.review()
    }

    /// The column of the table of targets that this pack stands in.
    fn target(&self, of: [f64; 3]) -> f64 {
        match self.count {
            0..6_000 => of[0],
            6_000..60_000 => of[1],
            _ => of[2],
        }
    }

    fn import(&self) -> Outcome<()> {
        let file = self.dir.join("claims.ndjson");
        let mut out = BufWriter::new(fs::File::create(&file)?);
        for number in 0..self.count {
            writeln!(out, "{}}}", linked::claim(number, self.count))?;
        }
        out.into_inner()?.sync_all()?;
        let home = self.dir.join("imported");
        let ran = Program::packset(&self.dir, &home, WORKSPACE)
            .run(&["import", &file.to_string_lossy()])?;
        ran.success.then_some(()).ok_or("the import failed")?;
        let rate = self.count as f64 / ran.cpu.as_secs_f64();
        least("import, claims a second and core", rate, self.target(target::IMPORT));
        row("import, peak memory", mib(ran.peak), "MiB");
        fs::remove_dir_all(&home)?;
        Ok(())
    }

    /// Makes the pack: every claim settled as it comes.
    fn grow(&self, store: &Store) -> Outcome<()> {
        let start = cpu();
        let mut number = 0;
        while number < self.count {
            let upto = (number + COMMIT).min(self.count);
            store.commit(|transaction| -> Result<(), claim::Error> {
                for number in number..upto {
                    let claim = prepared(&linked::claim(number, self.count))?;
                    claim::write(transaction, claim)?;
                }
                Ok(())
            })?;
            number = upto;
        }
        let rate = self.count as f64 / (cpu() - start).as_secs_f64();
        row("settled and linked, claims a second and core", rate, "");
        let snapshot = store.snapshot()?.ok_or("the store is not there")?;
        let rows: u32 = snapshot.segments().iter().map(|segment| segment.rows()).sum();
        row("versions of a claim", f64::from(rows) / self.count as f64, "");
        row("segments", snapshot.segments().len() as f64, "");
        // A pack of many segments is what `compact` is for; what it spares is worth a look.
        for args in [&["hubs"][..], &["islands"], &["island", "--", &linked::cue(7, self.count)]] {
            let ran = self.packset.run(args)?;
            row(&format!("{} before compact, processor time", args[0]), millis(ran.cpu), "ms");
        }
        self.packset.output(&["compact"])?;
        // The generation before stays for its readers until the next write.
        self.packset.output(&["remember", "The first write after a compaction clears up."])?;
        Ok(())
    }

    /// Claims written one by one: bare, linked, and linked while closing another, in turn.
    fn writes(&self, store: &Store) -> Outcome<()> {
        let [mut bare, mut settled, mut closing] = [(); 3].map(|()| Work::default());
        let mut number = self.count;
        let mut next = || {
            number += 1;
            number
        };
        for round in 0..WRITES {
            bare.time(|| -> Outcome<()> {
                let claim = prepared(&linked::claim(next(), self.count))?;
                store.commit(|transaction| claim::put(transaction, claim))?;
                Ok(())
            })?;
            settled.time(|| -> Outcome<()> {
                let claim = prepared(&linked::claim(next(), self.count))?;
                store.commit(|transaction| claim::write(transaction, claim))?;
                Ok(())
            })?;
            let old = round * self.count / WRITES;
            closing.time(|| -> Outcome<()> {
                let claim = prepared(&linked::successor(next(), old, self.count))?;
                store.commit(|transaction| claim::write(transaction, claim))?;
                Ok(())
            })?;
        }
        let (wall, used) = (bare.wall.median(), bare.cpu.median());
        row("bare commit", wall, "ms");
        row("bare commit, processor time", used, "ms");
        let target = self.target(target::WRITE);
        for (name, mut work) in [("linked write", settled), ("closing write", closing)] {
            most(name, work.wall.median() / wall, target, "x bare");
            row(&format!("{name}, processor time"), work.cpu.median() / used, "x bare");
            row(&format!("{name}, wall"), work.wall.median(), "ms");
        }
        Ok(())
    }

    /// Runs that cost about as long at every size.
    fn runs(&self) -> u64 {
        (400_000 / self.count.max(1)).clamp(7, 40)
    }

    /// A verb in turn with `/bin/true`; the target is in milliseconds.
    fn verb(
        &self,
        name: &str,
        target: Option<f64>,
        args: impl Fn(u64) -> Vec<String>,
    ) -> Outcome<()> {
        let [mut nothing, mut wall, mut used] = [(); 3].map(|()| Times::default());
        let mut peak = 0;
        for round in 0..=self.runs() {
            let args = args(round);
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let none = self.nothing.run(&[])?;
            let ran = self.packset.run(&args)?;
            ran.success.then_some(()).ok_or_else(|| format!("{name} failed"))?;
            // The first warms the page cache.
            if round > 0 {
                nothing.push(none.wall);
                wall.push(ran.wall);
                used.push(ran.cpu);
                peak = peak.max(ran.peak);
            }
        }
        match target {
            Some(target) => most(name, wall.median(), target, "ms"),
            None => row(name, wall.median(), "ms"),
        }
        row("  processor time", used.median(), "ms");
        row("  beside /bin/true", wall.median() / nothing.median(), "x");
        row("  peak memory", mib(peak), "MiB");
        Ok(())
    }

    fn graph(&self) -> Outcome<()> {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let of = |targets| Some(self.target(targets));
        self.verb("status", None, |_| words(&["status"]))?;
        self.verb("islands", of(target::ISLANDS), |_| words(&["islands"]))?;
        self.verb("islands --json", None, |_| words(&["islands", "--json"]))?;
        row("  private memory", mib(self.packset.private_memory(&["islands"])?), "MiB");
        self.verb("hubs", of(target::HUBS), |_| words(&["hubs"]))?;
        self.verb("island CUE", of(target::ISLAND), |round| {
            words(&["island", "--", &linked::cue(round * 37 % self.count, self.count)])
        })
    }

    /// The review clock over a pack of which a few claims are overdue.
    fn review(&self) -> Outcome<()> {
        let file = self.dir.join("overdue.ndjson");
        let mut lines = String::new();
        for number in 0..self.count / OVERDUE {
            let claim = linked::claim((1 << 40) + number, self.count);
            let past =
                "\"ts\":\"2025-01-01T00:00:00.000Z\",\"due_at\":\"2025-01-02T00:00:00.000Z\"";
            lines.push_str(&format!("{claim},{past}}}\n"));
        }
        fs::write(&file, lines)?;
        let file = file.to_string_lossy();
        self.packset.output(&["import", "--workspace", WORKSPACE, &file])?;
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        self.verb("due", Some(self.target(target::DUE)), |_| words(&["due"]))?;
        let Ran { wall, cpu, success, .. } = self.packset.run(&["sweep"])?;
        success.then_some(()).ok_or("the sweep failed")?;
        let target = self.target(target::SWEEP);
        most("sweep, one in a thousand lapses", millis(wall), target, "ms");
        row("  processor time", millis(cpu), "ms");
        self.verb("sweep, none", Some(target), |_| words(&["sweep"]))
    }
}

/// Both programs on the same 2,000 claims, the public one with its daemon running.
fn beside_peer(dir: &Path, binaries: &Path) -> Outcome<()> {
    const CLAIMS: u64 = 2_000;
    const RUNS: u64 = 20;
    let home = dir.join("beside");
    let ours = Program::packset(dir, &home, WORKSPACE);
    let theirs = peer::Peer::start(binaries, dir)?;
    let store = store(&home);
    let lines: Vec<String> =
        (0..CLAIMS).map(|number| linked::claim(number, CLAIMS) + "}").collect();
    store.commit(|transaction| -> Result<(), claim::Error> {
        for line in &lines {
            claim::write(transaction, prepared(line.trim_end_matches('}'))?)?;
        }
        Ok(())
    })?;
    theirs.store(&lines)?;
    println!("\n{CLAIMS} claims, beside the public packset with its daemon warm; medians, ms");
    println!("{:<44} {:>12} {:>12}  {:>10}", "", "ours", "theirs", "ratio");
    for verb in ["remember", "islands", "hubs", "island", "due", "sweep", "status"] {
        let [mut a, mut b] = [(); 2].map(|()| Times::default());
        for round in 0..=RUNS {
            let about = match verb {
                "remember" => {
                    format!("Note {round}: ask topic-{round} for {}", linked::cue(round, 9))
                }
                _ => linked::cue(round, CLAIMS),
            };
            let args = match verb {
                "remember" | "island" => vec![verb, about.as_str()],
                _ => vec![verb],
            };
            let (mine, other) = (ours.run(&args)?, theirs.program().run(&args)?);
            if round > 0 {
                a.push(mine.wall);
                b.push(other.wall);
            }
        }
        let (a, b) = (a.median(), b.median());
        println!("{verb:<44} {a:>12.2} {b:>12.2}  {:>9.1}x", b / a);
    }
    Ok(())
}

/// The same workspace, from inside this process.
fn store(home: &Path) -> Store {
    let ground = Ground {
        vfs: Arc::new(OsFs::default()),
        clock: Arc::new(SystemClock),
        ids: Arc::new(IdSource::Random),
        wait: Duration::from_secs(10),
        holder: "the bench".into(),
        stem: true,
        meaning: true,
    };
    Store::new(ground, home, WORKSPACE)
}

/// What a front door does with a claim before it writes it.
fn prepared(open: &str) -> Result<Prepared, claim::Error> {
    let now = SystemClock.now();
    let mut record = serde_json::from_str(&format!("{open}}}")).unwrap_or_default();
    let mut tokenizer = Tokenizer::new(true);
    let id = IdSource::Random.fresh(now);
    Ok(claim::prepare(&mut record, WORKSPACE, id, now, &mut tokenizer)?)
}

/// Times of one kind of work inside this process.
#[derive(Default)]
struct Work {
    wall: Times,
    cpu: Times,
}

impl Work {
    fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (start, used) = (Instant::now(), cpu());
        let done = work();
        self.cpu.push(cpu() - used);
        self.wall.push(start.elapsed());
        done
    }
}

/// Processor time that this process has used, over all its threads.
fn cpu() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure has room for the answer; the clock exists on Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / (1 << 20) as f64
}

fn row(name: &str, value: f64, unit: &str) {
    println!("{name:<44} {value:>12.2} {:>12}  {unit}", "");
}

fn judged(name: &str, value: f64, target: f64, unit: &str, good: bool) {
    let verdict = if good { "PASS" } else { "over" };
    println!("{name:<44} {value:>12.2} {target:>12.2}  {verdict}  {unit}");
}

fn most(name: &str, value: f64, target: f64, unit: &str) {
    judged(name, value, target, unit, value <= target);
}

fn least(name: &str, value: f64, target: f64) {
    judged(name, value, target, "at least", value >= target);
}
