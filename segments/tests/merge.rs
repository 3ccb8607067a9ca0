//! Merging changes no answer: random histories, merged in random ways, compared with a model.

use std::collections::BTreeSet;

use crate::history::{History, Lcg, Outcome};

/// Merges random neighbours until one segment is left, comparing after each.
fn merge_down(history: &mut History, random: &mut Lcg, what: &str) {
    while history.segments.len() > 1 {
        let count = history.segments.len();
        let start = random.below(count - 1);
        let end = start + 2 + random.below((count - start - 1).min(3));
        history.merge(start..end.min(count));
        history.verify(what);
    }
}

#[test]
fn any_order_of_merges_reads_the_same() {
    for seed in 0..400 {
        let mut random = Lcg::new(seed);
        let mut history = History::default();
        for _ in 0..1 + random.below(8) {
            history.commit(&mut random, 5, 4);
            history.verify(&format!("seed {seed}, unmerged"));
        }
        for order in 0..4 {
            let mut other = history.clone();
            merge_down(&mut other, &mut random, &format!("seed {seed}, order {order}"));
            other.rebuild_is_a_merge();
        }
        history.rebuild_is_a_merge();
    }
}

#[test]
fn writing_goes_on_over_merges_and_horizons() {
    for seed in 1000..1600 {
        let mut random = Lcg::new(seed);
        let mut history = History::default();
        for step in 0..24 {
            let what = format!("seed {seed}, step {step}");
            let count = history.segments.len();
            match random.below(6) {
                0 if count > 1 => {
                    let start = random.below(count - 1);
                    history.merge(start..start + 2 + random.below(count - start - 1));
                }
                1 if count > 0 => {
                    history.compact(history.recorded() - random.below(8) as i64);
                }
                2 if count > 0 => history.rebuild_is_a_merge(),
                _ => history.commit(&mut random, 4, 3),
            }
            history.verify(&what);
        }
    }
}

#[test]
fn a_compaction_beside_writers_loses_nothing() {
    let mut outcomes = Vec::new();
    for seed in 2000..2600 {
        let mut random = Lcg::new(seed);
        let mut history = History::default();
        for round in 0..3 {
            for _ in 0..2 + random.below(4) {
                history.commit(&mut random, 3, 3);
            }
            let base = history.segments.len();
            let horizon = history.recorded() - random.below(6) as i64;
            for _ in 0..1 + random.below(3) {
                history.commit(&mut random, 3, 2);
            }
            outcomes.push(history.compact_beside_writers(base, horizon));
            history.verify(&format!("seed {seed}, round {round}"));
        }
    }
    // Every way is taken, or this proves less than it says.
    let count = |wanted| outcomes.iter().filter(|outcome| **outcome == wanted).count();
    assert!(count(Outcome::Adopted) > 900, "{}", count(Outcome::Adopted));
    assert!(count(Outcome::Saved) > 5, "{}", count(Outcome::Saved));
}

#[test]
fn long_lists_merge_like_short_ones() {
    for seed in 3000..3016 {
        let mut random = Lcg::new(seed);
        let mut history = History::default();
        for _ in 0..4 {
            history.commit(&mut random, 400, 250);
        }
        merge_down(&mut history, &mut random, &format!("seed {seed}"));
        history.compact(history.recorded() - 2);
        history.verify(&format!("seed {seed}, compacted"));
        history.rebuild_is_a_merge();
    }
}

#[test]
fn a_purged_store_is_one_that_never_had_the_records() {
    for seed in 4000..4400 {
        let mut random = Lcg::new(seed);
        let mut history = History::default();
        for _ in 0..1 + random.below(8) {
            history.commit(&mut random, 5, 4);
        }
        // A merge of some may leave a version where a merge of all would not.
        let merged = history.segments.len() > 1 && random.one_in(2);
        if merged {
            let start = random.below(history.segments.len() - 1);
            history.merge(start..start + 2);
        }
        let all: Vec<u128> = history.model.keys().copied().collect();
        let mut without: BTreeSet<u128> = all.into_iter().filter(|_| random.one_in(2)).collect();
        // A key that no record has is left out at no cost.
        without.insert(u128::MAX);
        let same = history.purge(&without);
        assert!(merged || same, "seed {seed}: the store tells that there were others");
        for _ in 0..3 {
            history.commit(&mut random, 5, 4);
            history.verify(&format!("seed {seed}, written after"));
        }
        merge_down(&mut history, &mut random, &format!("seed {seed}, merged after"));
    }
}
