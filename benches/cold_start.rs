//! What a user waits for: whole processes of the release binary on stores of growing size.
//!
//! `cargo bench --bench cold_start -- [N ...] [--file NDJSON] [--runs R] [--peer DIR] [--dir DIR] [--keep]`
//! imports N made claims (10000 and 100000 unless told otherwise) or the claims of a file into a
//! fresh home, compacts it, and prints each figure beside its target. Every timed run is
//! interleaved with a run of `/bin/true` that is started the same way, and ratios to that are
//! what is held against the targets: on a shared machine milliseconds are noise. On a machine
//! with more work than cores even ratios of wall time are, because a process that needs more
//! than a moment is put off; the rows of processor time then say more.
//!
//! Not here: what happens inside a process; see `engine.rs`.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a bench is its own shell")]

mod corpus;
mod peer;
mod process;

use std::fs;
use std::io::{self, BufRead, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Instant;

use process::{Program, Times, ended};

/// Runs of each timed thing unless `--runs` says otherwise.
const RUNS: usize = 200;
/// Claims that are written one by one.
const WRITES: usize = 100;

/// The figures to reach, at 10,000, 100,000 and 1,000,000 claims.
mod target {
    /// Median of a search, in runs of `/bin/true`.
    pub(crate) const SEARCH: [f64; 3] = [4.0, 6.0, 12.0];
    /// `--as-of`, in plain searches.
    pub(crate) const AS_OF: [f64; 3] = [1.1, 1.1, 1.2];
    /// Private memory of a search, MiB.
    pub(crate) const MEMORY: [f64; 3] = [8.0, 12.0, 32.0];
    /// A durable write, in bare writes of the same bytes with the same syncs.
    pub(crate) const REMEMBER: [f64; 3] = [1.5; 3];
    /// Claims imported in a second of processor time.
    pub(crate) const IMPORT: [f64; 3] = [40e3, 40e3, 35e3];
    /// Bytes on disk per claim.
    pub(crate) const BYTES: [f64; 3] = [360.0, 350.0, 340.0];
}

struct Options {
    sizes: Vec<u64>,
    file: Option<PathBuf>,
    runs: usize,
    peer: Option<PathBuf>,
    dir: PathBuf,
    /// Leaves the corpus and the store where they are, for a closer look.
    keep: bool,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        sizes: Vec::new(),
        file: None,
        runs: RUNS,
        peer: None,
        dir: PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cold_start"),
        keep: false,
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            // Cargo adds it.
            "--bench" => {}
            "--file" => options.file = Some(value()?.into()),
            "--peer" => options.peer = Some(value()?.into()),
            "--keep" => options.keep = true,
            "--dir" => options.dir = value()?.into(),
            "--runs" => options.runs = value()?.parse().map_err(|_| "--runs takes a number")?,
            size => options.sizes.push(size.parse().map_err(|_| format!("what is {size}?"))?),
        }
    }
    if options.sizes.is_empty() {
        options.sizes = vec![10_000, 100_000];
    }
    Ok(options)
}

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    if let [_, word, dir, segment, manifest] = args.as_slice()
        && word == "--bare"
    {
        let bytes = |text: &String| text.parse().map_err(io::Error::other);
        return bare(Path::new(dir), bytes(segment)?, bytes(manifest)?);
    }
    let options = options().map_err(io::Error::other)?;
    let _ = fs::remove_dir_all(&options.dir);
    fs::create_dir_all(&options.dir)?;
    let done = match &options.file {
        Some(file) => Bench::new(&options, file.clone())?.run(),
        None => options.sizes.iter().try_for_each(|size| {
            let file = options.dir.join(format!("{size}.ndjson"));
            let mut out = BufWriter::new(fs::File::create(&file)?);
            let mut failed = Ok(());
            corpus::claims(*size, |line| {
                if failed.is_ok() {
                    failed = writeln!(out, "{line}");
                }
            });
            failed?;
            out.into_inner()?.sync_all()?;
            Bench::new(&options, file)?.run()
        }),
    };
    let peer = match &options.peer {
        Some(binaries) if done.is_ok() => beside_peer(&options, binaries),
        _ => Ok(()),
    };
    if !options.keep {
        fs::remove_dir_all(&options.dir)?;
    }
    done.and(peer)
}

/// One store and the processes that work on it.
struct Bench<'a> {
    options: &'a Options,
    file: PathBuf,
    count: u64,
    queries: Vec<String>,
    home: PathBuf,
    packset: Program,
    nothing: Program,
}

/// The texts of the claims of a file: enough of them for their words to be typical.
fn texts(file: &Path) -> io::Result<(u64, u64, Vec<String>)> {
    const TYPICAL: usize = 100_000;
    let mut texts = Vec::new();
    let (mut count, mut bytes) = (0, 0);
    for line in io::BufReader::new(fs::File::open(file)?).lines() {
        let line = line?;
        let claim: serde_json::Value = serde_json::from_str(&line)?;
        if let Some(text) = claim.get("text").and_then(serde_json::Value::as_str) {
            count += 1;
            bytes += text.len() as u64;
            if texts.len() < TYPICAL {
                texts.push(text.to_owned());
            }
        }
    }
    Ok((count, bytes, texts))
}

impl<'a> Bench<'a> {
    fn new(options: &'a Options, file: PathBuf) -> io::Result<Self> {
        let (count, bytes, texts) = texts(&file)?;
        let queries = corpus::queries(texts.iter().map(String::as_str));
        let home = options.dir.join("home");
        let _ = fs::remove_dir_all(&home);
        println!("\n{count} claims, {} bytes of text each", bytes / count.max(1));
        println!("{:<44} {:>12} {:>12}  {:>10}", "", "measured", "target", "");
        Ok(Self {
            options,
            file,
            count,
            queries,
            packset: Program::packset(&options.dir, &home, "bench"),
            nothing: Program::new("/bin/true", &options.dir),
            home,
        })
    }

    fn run(&self) -> io::Result<()> {
        self.import()?;
        self.search()?;
        self.memory()?;
        self.remember()?;
        self.rest()
    }

    /// The column of the table of targets that this store stands in.
    fn target(&self, of: [f64; 3]) -> f64 {
        match self.count {
            0..30_000 => of[0],
            30_000..300_000 => of[1],
            _ => of[2],
        }
    }

    fn import(&self) -> io::Result<()> {
        let file = self.file.to_string_lossy();
        let ran =
            self.packset.run(&["import", "--workspace", "bench", "--kind", "lesson", &file])?;
        let count = self.count as f64;
        let wall = count / ran.wall.as_secs_f64();
        let core = count / ran.cpu.as_secs_f64();
        row("import, claims a second", wall, "");
        least("import, claims a second and core", core, self.target(target::IMPORT));
        row("import, peak memory", mib(ran.peak), "MiB");
        if !ran.success {
            println!("  (some lines were refused)");
        }
        let before = size_of(&self.home)?;
        let ran = self.packset.run(&["compact"])?;
        // The generation before stays for its readers until the next write.
        self.packset.run(&["remember", "The first write after a compaction clears up."])?;
        let after = size_of(&self.home)?;
        let rate = before as f64 / (1 << 20) as f64 / ran.cpu.as_secs_f64();
        row("compact, MiB a second and core", rate, "");
        row("compact, peak memory", mib(ran.peak), "MiB");
        row("bytes a claim before", before as f64 / count, "");
        most("bytes a claim", after as f64 / count, self.target(target::BYTES), "");
        Ok(())
    }

    fn search(&self) -> io::Result<()> {
        let middle = ["--as-of", "2025-07-02"];
        let late = ["--as-of", "2026-01-01"];
        let [mut nothing, mut plain, mut past, mut recent] = [(); 4].map(|()| Times::default());
        let [mut nothing_cpu, mut plain_cpu, mut past_cpu, mut recent_cpu] =
            [(); 4].map(|()| Times::default());
        let mut each: Vec<Times> = self.queries.iter().map(|_| Times::default()).collect();
        for round in 0..self.options.runs + self.queries.len() {
            let at = round % self.queries.len();
            let query = self.queries[at].as_str();
            let none = self.nothing.run(&[])?;
            let now = self.packset.run(&["search", "--", query])?;
            let then = self.packset.run(&["search", middle[0], middle[1], "--", query])?;
            let lately = self.packset.run(&["search", late[0], late[1], "--", query])?;
            if !(now.success && then.success && lately.success) {
                return Err(io::Error::other(format!("the search for {query} failed")));
            }
            // The first round of all queries warms the page cache.
            if round >= self.queries.len() {
                nothing.push(none.wall);
                plain.push(now.wall);
                past.push(then.wall);
                recent.push(lately.wall);
                nothing_cpu.push(none.cpu);
                plain_cpu.push(now.cpu);
                past_cpu.push(then.cpu);
                recent_cpu.push(lately.cpu);
                each[at].push(now.wall);
            }
        }
        let floor = nothing.median();
        row("/bin/true, median", floor, "ms");
        row("/bin/true, p95", nothing.percentile(95), "ms");
        let median = plain.median();
        row("search, median", median, "ms");
        row("search, p95", plain.percentile(95), "ms");
        most("search, median", median / floor, self.target(target::SEARCH), "x true");
        row("search, p95", plain.percentile(95) / nothing.percentile(95), "x true p95");
        let cpu = plain_cpu.median();
        row("search, processor time", cpu, "ms");
        row("search, processor time", cpu / nothing_cpu.median(), "x true");
        for (name, mut times, mut cpus) in
            [("middle of the year", past, past_cpu), ("end of the year", recent, recent_cpu)]
        {
            let name = format!("search --as-of, {name}");
            most(&name, times.median() / median, self.target(target::AS_OF), "x search");
            row(&format!("{name}, processor time"), cpus.median() / cpu, "x search");
        }
        let slowest = each.iter_mut().map(Times::median).zip(&self.queries);
        let slowest = slowest.max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((time, query)) = slowest {
            row("slowest query, median", time / floor, "x true");
            println!("  ({query})");
        }
        Ok(())
    }

    fn memory(&self) -> io::Result<()> {
        let mut all = Vec::new();
        for query in &self.queries {
            all.push(self.packset.private_memory(&["search", "--", query])?);
        }
        all.sort_unstable();
        row("private memory of search, median", mib(all[all.len() / 2]), "MiB");
        let highest = all.last().copied().unwrap_or_default();
        most("private memory of search, most", mib(highest), self.target(target::MEMORY), "MiB");
        let nothing = self.nothing.private_memory(&[])?;
        row("private memory of /bin/true", mib(nothing), "MiB");
        Ok(())
    }

    /// One claim after the other, each beside the bare syncs of the same bytes.
    fn remember(&self) -> io::Result<()> {
        let dir = self.options.dir.join("bare");
        fs::create_dir_all(&dir)?;
        let own = Program::new(std::env::current_exe()?, &self.options.dir);
        let [mut nothing, mut durable, mut bare_here, mut bare_there] =
            [(); 4].map(|()| Times::default());
        for number in 0..WRITES {
            let text = format!("Write number {number} of this bench is remembered for good.");
            let ran = self.packset.run(&["remember", &text])?;
            if !ran.success {
                return Err(io::Error::other("remember failed"));
            }
            durable.push(ran.wall);
            let segment = newest(&self.home, "s")?;
            let manifest = newest(&self.home, "m")?;
            let start = Instant::now();
            bare(&dir, segment, manifest)?;
            bare_here.push(start.elapsed());
            let place = dir.to_string_lossy();
            let sizes = [segment.to_string(), manifest.to_string()];
            bare_there.push(own.run(&["--bare", &place, &sizes[0], &sizes[1]])?.wall);
            nothing.push(self.nothing.run(&[])?.wall);
        }
        let median = durable.median();
        row("remember, median", median, "ms");
        row("remember, p95", durable.percentile(95), "ms");
        row("its syncs alone, median", bare_here.median(), "ms");
        let target = self.target(target::REMEMBER);
        most("remember", median / bare_here.median(), target, "x syncs");
        let there = median / bare_there.median();
        most("remember, syncs in a process of their own", there, target, "x syncs");
        row("remember", median / nothing.median(), "x true");
        Ok(())
    }

    fn rest(&self) -> io::Result<()> {
        let [mut nothing, mut status, mut head] = [(); 3].map(|()| Times::default());
        for _ in 0..20 {
            nothing.push(self.nothing.run(&[])?.wall);
            status.push(self.packset.run(&["status"])?.wall);
            let start = Instant::now();
            let mut command = self.packset.command(&["atoms"]);
            let mut child = command.stdout(Stdio::piped()).spawn()?;
            if let Some(out) = child.stdout.take() {
                let mut first = [0; 4096];
                io::BufReader::new(out).read_exact(&mut first)?;
            }
            head.push(ended(&child, start)?.wall);
        }
        row("status", status.median() / nothing.median(), "x true");
        row("atoms | head", head.median() / nothing.median(), "x true");
        Ok(())
    }
}

/// The writes of one commit without anything around them: a segment and a manifest, each made
/// durable, the manifest renamed into place, both directories synced.
fn bare(dir: &Path, segment: usize, manifest: usize) -> io::Result<()> {
    let write = |name: &str, bytes: usize| {
        let path = dir.join(name);
        let _ = fs::remove_file(&path);
        let mut file = fs::File::create_new(&path)?;
        file.write_all(&vec![b'x'; bytes])?;
        file.sync_all()
    };
    write("segment", segment)?;
    fs::File::open(dir)?.sync_all()?;
    write("manifest.new", manifest)?;
    fs::rename(dir.join("manifest.new"), dir.join("manifest"))?;
    fs::File::open(dir)?.sync_all()
}

/// Both programs on the same 2,000 claims, the public one with its daemon running.
fn beside_peer(options: &Options, binaries: &Path) -> io::Result<()> {
    const CLAIMS: u64 = 2_000;
    let home = options.dir.join("beside");
    let ours = Program::packset(&options.dir, &home, "bench");
    let theirs = peer::Peer::start(binaries, &options.dir)?;
    let mut lines = Vec::new();
    corpus::claims(CLAIMS, |line| lines.push(line.to_owned()));
    let file = options.dir.join("beside.ndjson");
    fs::write(&file, lines.join("\n"))?;
    ours.output(&["import", "--workspace", "bench", &file.to_string_lossy()])?;
    theirs.store(&lines)?;
    let (_, _, texts) = texts(&file)?;
    let queries = corpus::queries(texts.iter().map(String::as_str));
    println!("\n{CLAIMS} claims, beside the public packset with its daemon warm");
    println!("{:<44} {:>12} {:>12}  {:>10}", "", "ours", "theirs", "ratio");
    let both = |name: &str, mut ours: Times, mut theirs: Times| {
        for (what, percent) in [("median", 50), ("p95", 95)] {
            let (a, b) = (ours.percentile(percent), theirs.percentile(percent));
            let name = format!("{name}, {what}, ms");
            println!("{name:<44} {a:>12.2} {b:>12.2}  {:>9.1}x", b / a);
        }
    };
    let [mut a, mut b] = [(); 2].map(|()| Times::default());
    for round in 0..6 {
        for query in &queries {
            let mine = ours.run(&["search", query])?.wall;
            let other = theirs.program().run(&["search", query])?.wall;
            if round > 0 {
                a.push(mine);
                b.push(other);
            }
        }
    }
    both("search", a, b);
    let [mut a, mut b] = [(); 2].map(|()| Times::default());
    for number in 0..WRITES {
        let text = format!("Write number {number} beside the other is remembered for good.");
        a.push(ours.run(&["remember", &text])?.wall);
        b.push(theirs.program().run(&["remember", &text])?.wall);
    }
    both("remember", a, b);
    Ok(())
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

/// Bytes of all files below a directory.
fn size_of(dir: &Path) -> io::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let found = entry.metadata()?;
        sum += if found.is_dir() { size_of(&entry.path())? } else { found.len() };
    }
    Ok(sum)
}

/// The length of the newest file in a part of the bench's workspace: names start with the
/// generation.
fn newest(home: &Path, part: &str) -> io::Result<usize> {
    let dir = home.join("ws").join("bench").join(part);
    let mut newest = None;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        newest = newest.max(Some((entry.file_name(), entry.metadata()?.len() as usize)));
    }
    newest.map(|(_, len)| len).ok_or_else(|| io::Error::other("the store has no files"))
}
