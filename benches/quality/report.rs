//! What was measured, as a table for people and as JSON for whoever compares runs.
//!
//! Not here: measuring. Invariant: a reference row is printed with the number of questions that it
//! was taken over, because a row over other questions is a neighbour and no target.

use std::io;

use serde_json::{Value, json};

use crate::arms::Arm;
use crate::metrics::{self, Mean, NAMES, Values};
use crate::program::Import;
use crate::sets::{Half, Set};

/// Runs of other programs on the same sets: BM25 by bm25s, and small encoders alone or fused with
/// it, scored by trec_eval's own code over lists of a thousand.
const REFERENCE: &str = include_str!("reference.tsv");

/// What an arm came to on a set.
pub(crate) struct Measured {
    pub(crate) arm: Arm,
    pub(crate) import: Import,
    /// Seconds of all questions.
    pub(crate) seconds: f64,
    /// Question names, with the pack's before it.
    pub(crate) names: Vec<String>,
    pub(crate) values: Vec<Values>,
    /// Answerable questions that the program said it cannot answer.
    pub(crate) doubted: usize,
    /// Unanswerable questions, and those of them that it abstained from.
    pub(crate) negatives: (usize, usize),
}

/// Prints a set's table: the arms, then the reference rows.
pub(crate) fn print(set: &Set, arms: &[Measured]) {
    let documents: usize = set.packs.iter().map(|pack| pack.records.len()).sum();
    let questions: usize = set.packs.iter().map(|pack| pack.questions.len()).sum();
    let packs = set.packs.len();
    println!("\n## {}: {packs} packs, {documents} documents, {questions} questions\n", set.name);
    let head: Vec<String> = NAMES.iter().map(|name| format!("{name:>6}")).collect();
    let (head, width) = (head.join(" "), 60);
    println!("{:width$} {:>5} {head}  95 % of nDCG@10  against the first arm", "arm", "n");
    let first = arms.first();
    for measured in arms {
        let means = metrics::means(&measured.values);
        let row: Vec<String> = means.iter().map(|mean| format!("{:>6.4}", mean.mean)).collect();
        let Mean { low, high, .. } = means[0];
        let name = &measured.arm.name;
        let count = measured.values.len();
        let beside = match first {
            Some(first) if !std::ptr::eq(first, measured) => {
                let Mean { mean, low, high } = metrics::gain(&measured.values, &first.values);
                format!("  {mean:+.4} [{low:+.4} {high:+.4}]")
            }
            _ => String::new(),
        };
        println!("{name:width$} {count:>5} {} [{low:.4} {high:.4}]{beside}", row.join(" "));
    }
    for row in reference(&set.name) {
        let [name, count, values @ ..] = row.as_slice() else { continue };
        let row: Vec<String> = values.iter().map(|value| format!("{value:>6}")).collect();
        println!("{:width$} {count:>5} {}", clipped(&format!("({name})"), width), row.join(" "));
    }
    println!();
    for measured in arms {
        let Import { stored, known, refused, seconds, bytes, .. } = &measured.import;
        let kib = bytes / 1024;
        let mut said = format!(
            "{}: imported {stored} in {seconds:.2} s, {kib} KiB; asked in {:.1} s",
            measured.arm.name, measured.seconds
        );
        if *known + *refused > 0 {
            said += &format!("; {refused} refused, {known} there already");
        }
        let (asked, abstained) = measured.negatives;
        if asked > 0 {
            said += &format!("; abstained from {abstained} of {asked} unanswerable");
        }
        if asked > 0 || measured.doubted > 0 {
            said += &format!(", {} of {} answerable", measured.doubted, measured.values.len());
        }
        println!("{said}");
        measured.import.reasons.iter().for_each(|reason| println!("    refused: {reason}"));
    }
}

/// A set's part of the JSON report.
pub(crate) fn json(set: &Set, half: Option<Half>, judgements: &str, arms: &[Measured]) -> Value {
    let documents: usize = set.packs.iter().map(|pack| pack.records.len()).sum();
    let first = arms.first();
    let arms: Vec<Value> = arms
        .iter()
        .map(|measured| {
            let against = first.map(|first| metrics::gain(&measured.values, &first.values));
            arm(measured, against)
        })
        .collect();
    json!({
        "set": set.name,
        "packs": set.packs.iter().map(|pack| pack.name.as_str()).collect::<Vec<_>>(),
        "documents": documents,
        "half": half.map(|half| if half == Half::A { "a" } else { "b" }),
        "judgements": judgements,
        "measures": NAMES,
        "arms": arms,
        "reference": reference(&set.name),
    })
}

fn arm(measured: &Measured, against: Option<Mean>) -> Value {
    let interval = |mean: &Mean| json!([mean.mean, mean.low, mean.high]);
    let means = metrics::means(&measured.values);
    let means = NAMES.iter().zip(&means).map(|(name, mean)| ((*name).to_owned(), interval(mean)));
    let each = measured.names.iter().zip(&measured.values);
    let import = &measured.import;
    let vars = measured.arm.vars.iter().map(|(var, value)| (var.clone(), json!(value)));
    let vars: serde_json::Map<_, _> = vars.collect();
    json!({
        "arm": measured.arm.name,
        "vars": vars,
        "flags": measured.arm.flags,
        "questions": measured.values.len(),
        "means": means.collect::<serde_json::Map<_, _>>(),
        "ndcg_against_first": against.as_ref().map(interval),
        "stored": import.stored,
        "known": import.known,
        "refused": import.refused,
        "reasons": import.reasons,
        "import_seconds": import.seconds,
        "bytes": import.bytes,
        "search_seconds": measured.seconds,
        "answerable_abstained": measured.doubted,
        "unanswerable": measured.negatives.0,
        "unanswerable_abstained": measured.negatives.1,
        "each": each.map(|(name, values)| (name.clone(), json!(values)))
            .collect::<serde_json::Map<_, _>>(),
    })
}

/// The rows for a set: name, number of questions, and the measures as they were published.
fn reference(set: &str) -> Vec<Vec<&'static str>> {
    let rows = REFERENCE.lines().skip(1).filter_map(|line| {
        let mut cells = line.split('\t');
        (cells.next() == Some(set)).then(|| cells.collect())
    });
    rows.collect()
}

fn clipped(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// Writes the whole report.
///
/// # Errors
/// A file that cannot be written.
pub(crate) fn write(file: &std::path::Path, sets: &[Value]) -> io::Result<()> {
    let report = json!({ "schema": "packset.quality/v1", "sets": sets });
    std::fs::write(file, format!("{report}\n"))
}
