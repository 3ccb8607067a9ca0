//! How well the program finds what was meant: public retrieval sets through the real binary.
//!
//! `cargo bench --bench quality -- [DIR ...] [--arm NAME[:VAR=VALUE,...][:--flag ...]]
//! [--model NAME] [--half a|b] [--qrels FILE] [--json FILE] [--dir DIR]` imports every set into a
//! fresh home for each kind of import that the arms make, asks all its questions, and prints one
//! table a set, beside what others reached. Without directories the sets below
//! `PACKSET_QUALITY_DATA` are taken, else those in `../shared/data`. A model comes from
//! `PACKSET_TEST_MODELS`. Constants are tuned on one half and reported on the other.
//!
//! Not here: speed (a question is a whole process; `cold_start.rs` measures those), nor answers
//! written by a language model. Needs nothing that only Linux has.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a bench is its own shell")]

mod arms;
mod metrics;
mod program;
mod report;
mod sets;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use arms::Arm;
use metrics::Values;
use program::{Answer, Home};
use report::Measured;
use sets::{Half, Set};

struct Options {
    sets: Vec<PathBuf>,
    arms: Vec<Arm>,
    half: Option<Half>,
    judgements: String,
    json: Option<PathBuf>,
    dir: PathBuf,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        sets: Vec::new(),
        arms: Vec::new(),
        half: None,
        judgements: sets::JUDGEMENTS.to_owned(),
        json: None,
        dir: PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("quality"),
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        match arg.as_str() {
            // Cargo adds it.
            "--bench" => {}
            "--arm" => options.arms.push(Arm::parse(&value()?)?),
            "--model" => options.arms.push(model(&value()?)?),
            "--half" => {
                options.half = Some(match value()?.as_str() {
                    "a" => Half::A,
                    "b" => Half::B,
                    other => return Err(format!("--half takes a or b, not {other}")),
                });
            }
            "--qrels" => options.judgements = value()?,
            "--json" => options.json = Some(value()?.into()),
            "--dir" => options.dir = value()?.into(),
            flag if flag.starts_with('-') => return Err(format!("what is {flag}?")),
            set => options.sets.push(set.into()),
        }
    }
    if options.arms.is_empty() {
        options.arms = Arm::defaults();
    }
    Ok(options)
}

fn model(name: &str) -> Result<Arm, String> {
    let models = std::env::var_os("PACKSET_TEST_MODELS")
        .ok_or("--model takes a model from PACKSET_TEST_MODELS, which is not set")?;
    let encoder = Path::new(env!("CARGO_BIN_EXE_packset")).with_file_name("packset-embed");
    match encoder.is_file() {
        true => Ok(Arm::of_model(name, Path::new(&models), &encoder)),
        false => Err(format!("there is no {}: build it first", encoder.display())),
    }
}

/// The sets to read when none is named, or why there are none.
fn found() -> Result<Vec<PathBuf>, String> {
    let data = std::env::var_os("PACKSET_QUALITY_DATA").map(PathBuf::from);
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let data = data.unwrap_or_else(beside);
    let none = || format!("no sets below {}; set PACKSET_QUALITY_DATA", data.display());
    sets::below(&data).ok().filter(|found| !found.is_empty()).ok_or_else(none)
}

fn main() -> io::Result<()> {
    let mut options = options().map_err(io::Error::other)?;
    if options.sets.is_empty() {
        match found() {
            Ok(found) => options.sets = found,
            Err(none) => {
                println!("quality: skipped: {none}");
                return Ok(());
            }
        }
    }
    let _ = fs::remove_dir_all(&options.dir);
    let mut written = Vec::new();
    for dir in &options.sets {
        let set = Set::read(dir, &options.judgements, options.half)?;
        let measured = measure(&set, &options)?;
        report::print(&set, &measured);
        written.push(report::json(&set, options.half, &options.judgements, &measured));
        // A later set that fails takes nothing away from what was measured.
        if let Some(file) = &options.json {
            report::write(file, &written)?;
        }
    }
    fs::remove_dir_all(&options.dir)
}

fn measure(set: &Set, options: &Options) -> io::Result<Vec<Measured>> {
    let mut homes: Vec<(Vec<(String, String)>, Home)> = Vec::new();
    let mut measured = Vec::new();
    for arm in &options.arms {
        let seen = arm.of_import();
        let at = homes.iter().position(|(vars, _)| *vars == seen);
        let at = match at {
            Some(at) => at,
            None => {
                let dir = options.dir.join(&set.name).join(homes.len().to_string());
                homes.push((seen.clone(), Home::of(set, seen, dir)?));
                homes.len() - 1
            }
        };
        measured.push(ask(set, &homes[at].1, arm)?);
    }
    Ok(measured)
}

fn ask(set: &Set, home: &Home, arm: &Arm) -> io::Result<Measured> {
    let start = Instant::now();
    let (mut names, mut values): (Vec<String>, Vec<Values>) = Default::default();
    let (mut doubted, mut negatives) = (0, (0, 0));
    let abstained = |answers: &[Answer]| answers.iter().filter(|answer| answer.abstained).count();
    for pack in &set.packs {
        let texts = pack.questions.iter().map(|question| question.text.as_str());
        let texts = texts.chain(pack.negatives.iter().map(String::as_str)).collect::<Vec<_>>();
        let answers = home.ask(pack, arm, &texts)?;
        let (answers, to_negatives) = answers.split_at(pack.questions.len());
        for (question, answer) in pack.questions.iter().zip(answers) {
            names.push(format!("{}/{}", pack.name, question.id));
            values.push(metrics::measure(&question.grades, &answer.hits));
        }
        doubted += abstained(answers);
        negatives.0 += to_negatives.len();
        negatives.1 += abstained(to_negatives);
    }
    Ok(Measured {
        arm: arm.clone(),
        import: home.import.clone(),
        seconds: start.elapsed().as_secs_f64(),
        names,
        values,
        doubted,
        negatives,
    })
}
