//! How good a ranked list is, and how sure a mean over questions can be.
//!
//! The definitions are those of trec_eval (nDCG with linear gain), which are what published
//! numbers use; `trec.json` holds cases that its own code was given, and a test compares. A rank
//! counts from the list's order: the program's order is strict, so no score is looked at here.
//! Not here: where lists come from. Invariant: the same numbers give the same intervals on every
//! machine, whatever the order in which sets and arms were run.

use std::collections::BTreeMap;

/// What is measured, in the order of [`Values`]. MAP and MRR see the whole list that was asked for.
pub(crate) const NAMES: [&str; 7] = ["nDCG@10", "R@5", "R@10", "MRR", "hit@1", "hit@10", "MAP"];

/// One question's measures.
pub(crate) type Values = [f64; NAMES.len()];

/// A question's judgements: the grade of each judged document. A grade below 1 is not relevant.
pub(crate) type Grades = BTreeMap<String, i64>;

/// Resamples behind an interval: its ends then move by a few per cent of its width at most.
const RESAMPLES: usize = 1000;
/// The share of the resamples that an interval leaves out at either end: 95 % stay.
const OUTSIDE: f64 = 0.025;
/// Any number would do; it stands still so that two runs may be compared.
const SEED: u64 = 0x7061_636b_7365_7421;

/// A mean over questions and its 95 % bootstrap interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mean {
    pub(crate) mean: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// Measures one list. A question without a relevant document has no measure but zeros; the caller
/// leaves such questions out, as trec_eval's users do.
pub(crate) fn measure(grades: &Grades, list: &[String]) -> Values {
    const CUT: usize = 10;
    let gain = |grade: i64| grade.max(0) as f64;
    let discount = |at: usize| ((at + 2) as f64).log2();
    let relevant = grades.values().filter(|grade| **grade > 0).count();
    if relevant == 0 {
        return [0.0; NAMES.len()];
    }
    let mut ideal: Vec<f64> = grades.values().map(|grade| gain(*grade)).collect();
    ideal.sort_unstable_by(|a, b| b.total_cmp(a));
    let ideal: f64 = ideal.iter().take(CUT).enumerate().map(|(at, g)| g / discount(at)).sum();
    let (mut dcg, mut found, mut precisions, mut first) = (0.0, 0_usize, 0.0, None);
    let (mut five, mut ten) = (0_usize, 0_usize);
    for (at, id) in list.iter().enumerate() {
        let grade = grades.get(id).copied().unwrap_or(0);
        if grade <= 0 {
            continue;
        }
        found += 1;
        precisions += found as f64 / (at + 1) as f64;
        first.get_or_insert(at);
        five += usize::from(at < 5);
        ten += usize::from(at < CUT);
        if at < CUT {
            dcg += gain(grade) / discount(at);
        }
    }
    let all = relevant as f64;
    [
        dcg / ideal,
        five as f64 / all,
        ten as f64 / all,
        first.map_or(0.0, |at| 1.0 / (at + 1) as f64),
        f64::from(u8::from(first == Some(0))),
        f64::from(u8::from(ten > 0)),
        precisions / all,
    ]
}

/// The means of measures over questions, each with its interval.
pub(crate) fn means(questions: &[Values]) -> [Mean; NAMES.len()] {
    let draws = resample(questions);
    let mut at = 0;
    [(); NAMES.len()].map(|()| {
        let mean = questions.iter().map(|values| values[at]).sum::<f64>() / questions.len() as f64;
        let (low, high) = inside(draws.iter().map(|draw| draw[at]).collect());
        at += 1;
        Mean { mean, low, high }
    })
}

/// How much better `these` are than `those` in the first measure, question by question. An interval
/// of pairs is narrower than two intervals beside each other: both arms saw the same questions.
pub(crate) fn gain(these: &[Values], those: &[Values]) -> Mean {
    let pairs: Vec<Values> =
        these.iter().zip(those).map(|(a, b)| std::array::from_fn(|at| a[at] - b[at])).collect();
    means(&pairs)[0]
}

fn resample(questions: &[Values]) -> Vec<Values> {
    let count = questions.len();
    let mut state = SEED;
    let mut draw = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let below = (u128::from(mixed(state)) * count as u128) >> 64;
        questions[below as usize]
    };
    let mut sample = |_| {
        let mut sum = [0.0; NAMES.len()];
        for _ in 0..count {
            let values = draw();
            sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        sum.map(|sum| sum / count as f64)
    };
    if count == 0 { Vec::new() } else { (0..RESAMPLES).map(&mut sample).collect() }
}

/// The ends between which the resampled means lie, but for the share that is left out.
fn inside(mut means: Vec<f64>) -> (f64, f64) {
    means.sort_unstable_by(f64::total_cmp);
    let last = means.len().saturating_sub(1) as f64;
    let end = |share: f64| means.get((last * share).round() as usize).copied().unwrap_or(f64::NAN);
    (end(OUTSIDE), end(1.0 - OUTSIDE))
}

/// Mixes a number until no bit of it can be foretold (splitmix64, Steele et al., 2014).
fn mixed(number: u64) -> u64 {
    let z = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
