//! Every arm of the panel on tables that were worked out by hand.

use super::*;

const ALL: [&str; 9] =
    ["combmnz", "combsum", "rrf", "borda", "dowdall", "kemeny", "schulze", "copeland", "tideman"];

fn ballot(votes: &[(usize, f32)]) -> Ballot {
    Ballot { name: "test", votes: votes.to_vec() }
}

/// A ballot that ranks by position alone.
fn ranking(order: &[usize]) -> Ballot {
    let vote = |(at, candidate): (usize, &usize)| (*candidate, 100.0 - at as f32);
    Ballot { name: "test", votes: order.iter().enumerate().map(vote).collect() }
}

fn order(fuse: &str, ballots: &[Ballot], count: usize) -> Vec<usize> {
    fuse.parse::<Fuse>().unwrap().order(ballots, count, 10)
}

#[test]
fn names_are_known_or_refused() {
    assert_eq!("combmnz".parse(), Ok(Fuse::CombMnz));
    assert_eq!("retrievability".parse(), Ok(Decay::Fsrs));
    assert_eq!("none".parse(), Ok(Diversify::None));
    let panel = Panel::default();
    assert_eq!(
        (panel.fuse, panel.diversify, panel.decay),
        (Fuse::CombMnz, Diversify::Mmr, Decay::Fsrs)
    );
    let error = "max".parse::<Diversify>().unwrap_err();
    assert_eq!(error.to_string(), "unknown diversity \"max\": one of mmr, dpp, none");
    assert!("".parse::<Fuse>().is_err());
    assert!("RRF".parse::<Fuse>().is_err());
    assert!(" on".parse::<Decay>().is_err());
}

#[test]
fn every_arm_keeps_one_ballot_and_an_empty_panel() {
    for fuse in ALL {
        assert_eq!(order(fuse, &[ranking(&[2, 0, 1])], 3), [2, 0, 1], "{fuse}");
        assert_eq!(order(fuse, &[], 0), Vec::<usize>::new(), "{fuse}");
        // Two ballots that contradict each other in everything: the numbering decides.
        let tied = [ranking(&[0, 1]), ranking(&[1, 0])];
        assert_eq!(order(fuse, &tied, 2), [0, 1], "{fuse}");
    }
}

#[test]
fn normalised_scores_add_up() {
    // First: 0 has 1, 1 has (6-2)/(10-2) = 0.5, 2 has 0. Second: 1 has 1, 3 has 0.
    let ballots = [ballot(&[(0, 10.0), (1, 6.0), (2, 2.0)]), ballot(&[(1, 8.0), (3, 4.0)])];
    // Sums 1, 1.5, 0, 0; times ballots 1, 3, 0, 0.
    assert_eq!(order("combsum", &ballots, 4), [1, 0, 2, 3]);
    assert_eq!(order("combmnz", &ballots, 4), [1, 0, 2, 3]);
    // 0: 1 on one ballot. 1: 0.25 + 0.5 on two: less as a sum, more times its ballots.
    let ballots =
        [ballot(&[(0, 10.0), (1, 4.0), (2, 2.0)]), ballot(&[(3, 10.0), (1, 6.0), (4, 2.0)])];
    assert_eq!(order("combsum", &ballots, 5), [0, 3, 1, 2, 4]);
    assert_eq!(order("combmnz", &ballots, 5), [1, 0, 3, 2, 4]);
}

#[test]
fn a_tiny_gap_is_no_vote() {
    // 0 leads the first ballot by a second of recency; 1 leads the second by a word. Blown
    // up to 0..1, both gaps would weigh alike and the numbering would put 0 first.
    let ballots = [ballot(&[(0, 9.1), (1, 9.099_99)]), ballot(&[(1, 7.0), (0, 3.0)])];
    assert_eq!(order("combmnz", &ballots, 2), [1, 0]);
    assert_eq!(order("combsum", &ballots, 2), [1, 0]);
}

#[test]
fn positions_add_up() {
    let ballots = [ranking(&[0, 1, 2, 3]), ranking(&[3, 1, 2, 0]), ranking(&[1, 3])];
    // Of 10: 0 has 10+7, 1 has 9+9+10, 2 has 8+8, 3 has 7+10+9.
    assert_eq!(order("borda", &ballots, 4), [1, 3, 0, 2]);
    // 0: 1 + 1/4; 1: 1/2 + 1/2 + 1; 2: 1/3 + 1/3; 3: 1/4 + 1 + 1/2.
    assert_eq!(order("dowdall", &ballots, 4), [1, 3, 0, 2]);
    // 0: 1/61 + 1/64 = 0.03202; 1: 2/62 + 1/61 = 0.04865; 2: 2/63 = 0.03175; 3: 1/64 + 1/61
    // + 1/62 = 0.04815.
    assert_eq!(order("rrf", &ballots, 4), [1, 3, 0, 2]);
    // One first place (1) beats two third places (2/3) for Dowdall, not for Borda (8 + 8).
    let ballots = [ranking(&[0, 1, 2]), ranking(&[3, 1, 2])];
    assert_eq!(order("dowdall", &ballots, 4), [0, 1, 3, 2]);
    assert_eq!(order("borda", &ballots, 4), [1, 2, 0, 3]);
}

#[test]
fn kemeny_finds_the_least_contradicted_order() {
    // Majorities 0>1 (2:1), 1>2 (2:1), 2>0 (2:1): a circle. Every order contradicts at least
    // one majority; 0 1 2 and its rotations cost 1+1+2 = 4; the numbering picks 0 1 2.
    let circle = [ranking(&[0, 1, 2]), ranking(&[1, 2, 0]), ranking(&[2, 0, 1])];
    assert_eq!(order("kemeny", &circle, 3), [0, 1, 2]);
    // Two of three say 2 1 0.
    let ballots = [ranking(&[2, 1, 0]), ranking(&[2, 1, 0]), ranking(&[0, 1, 2])];
    assert_eq!(order("kemeny", &ballots, 3), [2, 1, 0]);
    // A named candidate beats one that is not named: 3 over 0, 1, 2 twice.
    let ballots = [ranking(&[3]), ranking(&[3, 0]), ranking(&[0, 1, 2])];
    assert_eq!(order("kemeny", &ballots, 4), [3, 0, 1, 2]);
    // Nine candidates: Borda.
    let nine = [ranking(&[8, 7, 6, 5, 4, 3, 2, 1, 0])];
    assert_eq!(order("kemeny", &nine, 9), [8, 7, 6, 5, 4, 3, 2, 1, 0]);
}

/// Against all orders, for all triples of ballots over three candidates.
#[test]
fn kemeny_is_exact() {
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let cost = |order: &[usize], ballots: &[Ballot]| {
        let pairs = Pairs::of(ballots, 3);
        let pair = |a: usize, b: usize| pairs.get(order[b], order[a]);
        pair(0, 1) + pair(0, 2) + pair(1, 2)
    };
    for (a, b, c) in (0..216).map(|n| (n / 36, n / 6 % 6, n % 6)) {
        let ballots = [a, b, c].map(|at| ranking(&orders[at]));
        let least = orders.iter().map(|order| cost(order, &ballots)).min().unwrap();
        assert_eq!(cost(&order("kemeny", &ballots, 3), &ballots), least);
    }
}

#[test]
fn schulze_follows_the_strongest_paths() {
    // The example of Schulze's paper: 45 voters, A to E as 0 to 4; the answer is E A C B D.
    let groups: [(usize, [usize; 5]); 8] = [
        (5, [0, 2, 1, 4, 3]),
        (5, [0, 3, 4, 2, 1]),
        (8, [1, 4, 3, 0, 2]),
        (3, [2, 0, 1, 4, 3]),
        (7, [2, 0, 4, 1, 3]),
        (2, [2, 1, 0, 3, 4]),
        (7, [3, 2, 4, 1, 0]),
        (8, [4, 1, 0, 3, 2]),
    ];
    let ballots: Vec<Ballot> = groups
        .iter()
        .flat_map(|(voters, order)| std::iter::repeat_n(ranking(order), *voters))
        .collect();
    assert_eq!(order("schulze", &ballots, 5), [4, 0, 2, 1, 3]);
}

#[test]
fn copeland_counts_duels() {
    // 1 beats all; 0 beats 2 and 3; 2 beats 3.
    let ballots = [ranking(&[1, 0, 2, 3]), ranking(&[1, 0, 2, 3]), ranking(&[3, 2, 0, 1])];
    assert_eq!(order("copeland", &ballots, 4), [1, 0, 2, 3]);
    // A circle: all balances are zero.
    let circle = [ranking(&[2, 1, 0]), ranking(&[1, 0, 2]), ranking(&[0, 2, 1])];
    assert_eq!(order("copeland", &circle, 3), [0, 1, 2]);
}

#[test]
fn tideman_drops_the_weakest_of_a_circle() {
    // 7 voters 0 1 2, 5 voters 1 2 0, 4 voters 2 0 1: 0>1 11:5, 1>2 12:4, 2>0 9:7.
    // Margins 6, 8, 2: 2>0 would close the circle and is dropped.
    let groups = [(7, [0, 1, 2]), (5, [1, 2, 0]), (4, [2, 0, 1])];
    let ballots: Vec<Ballot> = groups
        .iter()
        .flat_map(|(voters, order)| std::iter::repeat_n(ranking(order), *voters))
        .collect();
    assert_eq!(order("tideman", &ballots, 3), [0, 1, 2]);
    // 2 voters 2 0 1 more turn 2>0 to 11:7 = 4, 1>2 to 12:6 = 6, 0>1 to 13:5 = 8.
    let more: Vec<Ballot> =
        ballots.into_iter().chain([ranking(&[2, 0, 1]), ranking(&[2, 0, 1])]).collect();
    assert_eq!(order("tideman", &more, 3), [0, 1, 2]);
}

#[test]
fn many_candidates_are_left_to_borda() {
    let long: Vec<usize> = (0..300).rev().collect();
    let ballots = [ranking(&long)];
    for fuse in [Fuse::Kemeny, Fuse::Schulze, Fuse::Copeland, Fuse::Tideman] {
        assert_eq!(fuse.order(&ballots, 300, 300), long);
    }
}

#[test]
fn claims_fade_as_the_page_says() {
    let age = |written, reviewed, stability| Age { written, reviewed, stability };
    let close = |a: f32, b: f64| assert!((f64::from(a) - b).abs() < 1e-6, "{a} {b}");
    // R(S) = 0.9 by definition.
    close(Decay::Fsrs.weight(&age(Some(50.0), Some(7.0), Some(7.0))), 0.9);
    // Without a review from the day it was written, with a stability of one day.
    close(Decay::Fsrs.weight(&age(Some(1.0), None, None)), 0.9);
    // (1 + 19/81 * 8)^-0.5 = (233/81)^-0.5.
    close(Decay::Fsrs.weight(&age(None, Some(8.0), Some(1.0))), (81f64 / 233.0).sqrt());
    // The floor is reached at 15 * 81 / 19 = 63.9 days.
    close(Decay::Fsrs.weight(&age(Some(1e4), None, None)), 0.25);
    // Nonsense reads as none.
    close(Decay::Fsrs.weight(&age(Some(1.0), None, Some(0.0))), 0.9);
    close(Decay::Fsrs.weight(&age(Some(-3.0), None, None)), 1.0);
    close(Decay::Fsrs.weight(&age(None, None, Some(3.0))), 1.0);
    close(Decay::On.weight(&age(Some(28.0), Some(1.0), None)), 0.25);
    close(Decay::Off.weight(&age(Some(28.0), None, None)), 1.0);
}

#[test]
fn fading_reorders_positions() {
    let panel = Panel { diversify: Diversify::None, ..Panel::default() };
    let ballots = [ranking(&[0, 1, 2])];
    // Weights 3, 2, 1 become 0.75, 1.6, 1.
    assert_eq!(panel.order(&ballots, &[0.25, 0.8, 1.0], &[], 10), [1, 2, 0]);
    assert_eq!(panel.order(&ballots, &[0.25, 0.8, 1.0], &[], 2), [1, 2]);
}

#[test]
fn near_copies_make_way() {
    // 0 and 1 share three words of four; 2 shares none. Relevance 1, 0.5, 0.
    let words = [vec![1, 2, 3, 4], vec![1, 2, 3], vec![7, 8]];
    let order = [(0, 3.0), (1, 2.0), (2, 1.0)];
    // After 0: 1 has 0.35 - 0.3 * 0.75 = 0.125; 2 has 0.
    assert_eq!(Diversify::Mmr.order(&order, &words, 3), [0, 1, 2]);
    // Copies: 1 has 0.35 - 0.3 = 0.05 after 0; with weights 3, 1.5, 1 only 0.175 - 0.3.
    let copies = [vec![1, 2], vec![1, 2], vec![7]];
    assert_eq!(Diversify::Mmr.order(&order, &copies, 3), [0, 1, 2]);
    let order = [(0, 3.0), (1, 1.5), (2, 1.0)];
    assert_eq!(Diversify::Mmr.order(&order, &copies, 3), [0, 2, 1]);
    assert_eq!(Diversify::Mmr.order(&order, &copies, 2), [0, 2]);
    assert_eq!(Diversify::None.order(&order, &copies, 2), [0, 1]);
}

#[test]
fn determinants_spread_out() {
    // Relevance 1, 2/3, 1/3, 0. Copies 0 and 1: beside 0, 1 adds no volume, 2 adds (1/3)^2.
    let words = [vec![1, 2], vec![1, 2], vec![7], vec![9]];
    let order = [(0, 4.0), (1, 3.0), (2, 2.0), (3, 1.0)];
    assert_eq!(Diversify::Dpp.order(&order, &words, 4), [0, 2, 1, 3]);
    // Likeness 1/3 to 0: volume (2/3)^2 - (2/9)^2 = 0.395 still beats 1/9.
    let words = [vec![1, 2], vec![2, 3], vec![7], vec![9]];
    assert_eq!(Diversify::Dpp.order(&order, &words, 3), [0, 1, 2]);
    assert_eq!(Diversify::Dpp.order(&[], &[], 3), Vec::<usize>::new());
}

#[test]
fn likeness_is_jaccard() {
    assert_eq!(jaccard(&[1, 2, 3], &[2, 3, 4]), 0.5);
    assert_eq!(jaccard(&[1], &[2]), 0.0);
    assert_eq!(jaccard(&[], &[]), 0.0);
    assert_eq!(jaccard(&[5, 6], &[5, 6]), 1.0);
}
