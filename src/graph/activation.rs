//! What a cue wakes: energy from the hits of a search, spread over two hops of links.
//!
//! It does not search and reads no store: seeds come from the search, neighbours from whoever
//! holds the links, and only of the nodes that energy reaches. Invariants: the strongest node has
//! activation 1; order is by activation, then by node; the answer does not depend on the order of
//! the seeds, but for rounding below the grain of comparison.

use std::collections::BTreeMap;

use super::grains;

/// Hits of the default search that become seeds (behaviour spec, 4.6).
pub const SEEDS: usize = 5;

/// Hops that energy travels (the page, `GET /v1/activate`).
pub const HOPS: usize = 2;

/// The share of its energy that a node passes on (behaviour spec, 4.6).
pub const PASS: f64 = 0.5;

/// Activated claims that a firing cue wires together (the page, `island --fire`).
pub const WIRED: usize = 8;

/// Seeds that two scorers must agree on, or the cue is weak (behaviour spec, 4.6).
const LEAST_AGREED: usize = 2;

/// Whether a hit counts as agreed on: two of the ballots named it, or the only one there was.
pub fn is_agreed(ballots: u8, of: u8) -> bool {
    ballots >= 2 || (of == 1 && ballots == 1)
}

/// Whether a cue with so many agreed seeds is too weak to wire anything.
pub fn is_weak(agreed: usize) -> bool {
    agreed < LEAST_AGREED
}

/// Nodes with their activation, strongest first; the strongest has 1.
///
/// `seeds` are nodes with their hit's score; one that is not positive wakes nothing. `neighbours`
/// gives a node's links with their weights, each positive; it is asked once for every node that
/// energy reaches before the last hop.
///
/// # Errors
/// What `neighbours` says.
pub fn activate<N: Ord + Clone, E>(
    seeds: impl IntoIterator<Item = (N, f64)>,
    mut neighbours: impl FnMut(&N) -> Result<Vec<(N, f64)>, E>,
) -> Result<Vec<(N, f64)>, E> {
    let mut frontier: BTreeMap<N, f64> = BTreeMap::new();
    for (node, score) in seeds {
        if score > 0.0 && score.is_finite() {
            *frontier.entry(node).or_default() += score;
        }
    }
    let mut known: BTreeMap<N, Vec<(N, f64)>> = BTreeMap::new();
    let mut activation = frontier.clone();
    for _ in 0..HOPS {
        let mut next: BTreeMap<N, f64> = BTreeMap::new();
        for (node, energy) in &frontier {
            if !known.contains_key(node) {
                known.insert(node.clone(), neighbours(node)?);
            }
            let links = known.get(node).map(Vec::as_slice).unwrap_or_default();
            let total: f64 = links.iter().map(|(_, weight)| weight).sum();
            for (neighbour, weight) in links {
                *next.entry(neighbour.clone()).or_default() += PASS * energy * weight / total;
            }
        }
        for (node, energy) in &next {
            *activation.entry(node.clone()).or_default() += energy;
        }
        frontier = next;
    }
    let most = activation.values().copied().fold(0.0, f64::max);
    let mut ranked: Vec<(N, f64)> =
        activation.into_iter().map(|(node, energy)| (node, energy / most)).collect();
    // Stable: equals stay in the order of their nodes.
    ranked.sort_by_key(|(_, activation)| std::cmp::Reverse(grains(*activation)));
    Ok(ranked)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn wake(seeds: &[(u32, f64)], links: &[(u32, u32, f64)]) -> Vec<(u32, f64)> {
        let neighbours = |node: &u32| -> Result<Vec<(u32, f64)>, Infallible> {
            let ends = links.iter().flat_map(|(a, b, w)| [(*a, *b, *w), (*b, *a, *w)]);
            Ok(ends.filter(|end| end.0 == *node).map(|end| (end.1, end.2)).collect())
        };
        match activate(seeds.iter().copied(), neighbours) {
            Ok(ranked) => ranked,
        }
    }

    /// Worked by hand.
    #[test]
    fn energy_spreads_two_hops() {
        // A lone seed keeps all there is.
        assert_eq!(wake(&[(7, 0.3)], &[]), [(7, 1.0)]);
        // Path 0-1-2-3, seed 0 with 1: hop one gives 1 a half; hop two gives 0 and 2 an eighth
        // each (half of a half, halved over two links). Sums 9/8, 4/8, 1/8; 3 is out of reach.
        let path = [(0, 1, 0.5), (1, 2, 0.5), (2, 3, 0.5)];
        let expected = [(0, 1.0), (1, 4.0 / 9.0), (2, 1.0 / 9.0)];
        let ranked = wake(&[(0, 1.0)], &path);
        assert_eq!(ranked.len(), 3);
        for (got, want) in ranked.iter().zip(expected) {
            assert!(got.0 == want.0 && (got.1 - want.1).abs() < 1e-15, "{got:?} {want:?}");
        }
        // Weights share out: 0 has links of 0.6 to 1 and of 0.2 to 2; seed 0 with 0.8.
        // Hop one: 1 gets 0.3, 2 gets 0.1. Hop two: both give half back, 0.15 + 0.05.
        // Sums: 1.0, 0.3, 0.1.
        let ranked = wake(&[(0, 0.8)], &[(0, 2, 0.2), (0, 1, 0.6)]);
        for (got, want) in ranked.iter().zip([(0, 1.0), (1, 0.3), (2, 0.1)]) {
            assert!(got.0 == want.0 && (got.1 - want.1).abs() < 1e-15, "{got:?} {want:?}");
        }
    }

    #[test]
    fn equals_come_in_order_of_their_nodes_and_no_seed_wakes_nothing() {
        let star = [(5, 9, 0.5), (5, 3, 0.5), (5, 4, 0.5)];
        let order: Vec<u32> = wake(&[(5, 1.0)], &star).into_iter().map(|(node, _)| node).collect();
        assert_eq!(order, [5, 3, 4, 9]);
        assert_eq!(wake(&[], &star), []);
        assert_eq!(wake(&[(5, 0.0), (3, f64::NAN)], &star), []);
    }

    /// On random graphs the strongest has 1, nobody has 0, and the seeds' order does not matter.
    #[test]
    fn the_strongest_has_one() {
        let mut state = 9;
        let mut random = move |below: u32| {
            state = u64::wrapping_mul(state, 6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as u32 % below
        };
        for _ in 0..100 {
            let mut links: Vec<(u32, u32, f64)> = Vec::new();
            for _ in 0..30 {
                let (a, b) = (random(20), random(20));
                if a != b && !links.iter().any(|l| (l.0, l.1) == (a, b) || (l.1, l.0) == (a, b)) {
                    links.push((a, b, f64::from(random(100) + 1) / 100.0));
                }
            }
            let mut seeds: Vec<(u32, f64)> =
                (0..5).map(|_| (random(20), f64::from(random(100) + 1) / 100.0)).collect();
            let ranked = wake(&seeds, &links);
            assert_eq!(ranked[0].1, 1.0);
            assert!(ranked.windows(2).all(|two| two[0].1 > two[1].1 - 1e-12));
            assert!(ranked.iter().all(|(_, activation)| *activation > 0.0));
            seeds.reverse();
            let again = wake(&seeds, &links);
            assert!(ranked.iter().zip(&again).all(|(a, b)| (a.1 - b.1).abs() < 1e-12));
        }
    }

    #[test]
    fn two_scorers_must_agree_on_two_seeds() {
        for (ballots, of, agreed) in
            [(2, 2, true), (1, 2, false), (1, 1, true), (0, 1, false), (3, 5, true), (1, 3, false)]
        {
            assert_eq!(is_agreed(ballots, of), agreed, "{ballots} of {of}");
        }
        assert!(is_weak(0) && is_weak(1) && !is_weak(2));
    }

    #[test]
    fn a_failed_read_is_handed_on() {
        assert_eq!(activate([(1, 1.0)], |_| Err::<Vec<(u32, f64)>, _>("torn")), Err("torn"));
    }
}
