//! The claims that the graph turns on: PageRank over weighted links.
//!
//! Invariants: ranks are positive and sum to 1; equals come in order of their nodes; the same
//! bits on any number of threads, because every sum has a fixed order.

use rayon::prelude::*;

use super::csr::Graph;
use super::grains;

/// The share of its rank that a node passes on (behaviour spec, 4.6; Brin and Page, 1998).
const DAMPING: f64 = 0.85;

/// Rounds at most (behaviour spec, 4.6).
const ROUNDS: usize = 100;

/// The change of all ranks together that ends the rounds (behaviour spec, 4.6).
const SETTLED: f64 = 1e-9;

/// Nodes that one task sums: fixed, so that sums do not depend on threads. At 15 ns per node a
/// task takes 60 us, well above the microsecond that handing it out costs.
const CHUNK: usize = 4096;

/// The PageRank of every node. What nodes without links hold is spread over all.
///
/// Linear in nodes and links per round, up to 100 rounds; 10 ns per link and round on one thread.
pub fn pagerank(graph: &Graph) -> Vec<f64> {
    let nodes = graph.len();
    if nodes == 0 {
        return Vec::new();
    }
    // What a node passes on is divided by its strength once, and not once per link.
    let shares: Vec<f64> = (0..nodes as u32)
        .map(|node| if graph.degree(node) == 0 { 0.0 } else { 1.0 / graph.strength(node) })
        .collect();
    let even = 1.0 / nodes as f64;
    let mut ranks = vec![even; nodes];
    let mut passed = vec![0.0; nodes];
    let mut next = vec![0.0; nodes];
    for _ in 0..ROUNDS {
        let mut idle = 0.0;
        for ((passed, rank), share) in passed.iter_mut().zip(&ranks).zip(&shares) {
            *passed = rank * share;
            idle += if *share == 0.0 { *rank } else { 0.0 };
        }
        let base = (1.0 - DAMPING) * even + DAMPING * idle * even;
        let gather = |(chunk, next): (usize, &mut [f64])| {
            let mut moved = 0.0;
            for (at, next) in next.iter_mut().enumerate() {
                let node = chunk * CHUNK + at;
                let got: f64 = graph
                    .row(node as u32)
                    .map(|(from, weight)| passed[from as usize] * weight)
                    .sum();
                *next = base + DAMPING * got;
                moved += (*next - ranks[node]).abs();
            }
            moved
        };
        let moved: Vec<f64> = if nodes > CHUNK {
            next.par_chunks_mut(CHUNK).enumerate().map(gather).collect()
        } else {
            next.chunks_mut(CHUNK).enumerate().map(gather).collect()
        };
        std::mem::swap(&mut ranks, &mut next);
        if moved.iter().sum::<f64>() < SETTLED {
            break;
        }
    }
    let sum: f64 = ranks.iter().sum();
    for rank in &mut ranks {
        *rank /= sum;
    }
    ranks
}

/// The `limit` nodes of highest rank, highest first, equals in order of their nodes.
pub fn top(ranks: &[f64], limit: usize) -> Vec<(u32, f64)> {
    let mut nodes: Vec<u32> = (0..ranks.len() as u32).collect();
    let key = |node: &u32| (std::cmp::Reverse(grains(ranks[*node as usize])), *node);
    if limit < nodes.len() {
        nodes.select_nth_unstable_by_key(limit, key);
        nodes.truncate(limit);
    }
    nodes.sort_unstable_by_key(key);
    nodes.into_iter().map(|node| (node, ranks[node as usize])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about(got: f64, want: f64) -> bool {
        (got - want).abs() < 1e-9
    }

    /// The recorded case `cli_islands_hubs_island_fire`, and by hand: two linked nodes and one
    /// alone. What the lone one holds is x = 0.05 + 0.85 x / 3, so x = 3/43; the others share.
    #[test]
    fn a_pair_and_one_alone() {
        let ranks = pagerank(&Graph::new(3, &[(0, 1, 0.5)]));
        for (rank, want) in ranks.iter().zip([20.0 / 43.0, 20.0 / 43.0, 3.0 / 43.0]) {
            assert!(about(*rank, want), "{rank} {want}");
        }
        let order: Vec<u32> = top(&ranks, 10).into_iter().map(|(node, _)| node).collect();
        assert_eq!(order, [0, 1, 2]);
        assert_eq!(top(&ranks, 1).len(), 1);
        assert!(pagerank(&Graph::new(0, &[])).is_empty());
        assert_eq!(pagerank(&Graph::new(2, &[])), [0.5, 0.5]);
    }

    /// The numbers are networkx 3.6.1's, tolerance 1e-14. On this tree rank swings to and fro, and
    /// after 100 rounds 0.85^100 = 9e-8 of the swing is left.
    #[test]
    fn weights_count() {
        let graph = Graph::new(6, &[(0, 1, 0.5), (0, 2, 0.25), (0, 3, 1.0), (3, 4, 0.5)]);
        let expected = [
            0.362_598_043_636_416,
            0.117_185_738_475_367_95,
            0.073_155_976_033_800_47,
            0.302_967_128_314_250_4,
            0.114_966_899_947_931_94,
            0.029_126_213_592_233_01,
        ];
        let ranks = pagerank(&graph);
        assert!(
            ranks.iter().zip(expected).all(|(rank, want)| (rank - want).abs() < 9e-8),
            "{ranks:?}"
        );
        let order: Vec<u32> = top(&ranks, 4).into_iter().map(|(node, _)| node).collect();
        assert_eq!(order, [0, 3, 1, 4]);
    }

    #[test]
    fn equals_come_in_order_of_their_nodes() {
        // A ring, built so that rows are summed in different orders.
        let ring: Vec<(u32, u32, f64)> = (0..500).map(|at| (at, (at * 7 + 1) % 500, 0.3)).collect();
        let same =
            Graph::new(500, &(0..500).map(|at| (at, (at + 1) % 500, 0.3)).collect::<Vec<_>>());
        let order: Vec<u32> = top(&pagerank(&same), 500).into_iter().map(|n| n.0).collect();
        assert_eq!(order, (0..500).collect::<Vec<_>>());
        let ranks = pagerank(&Graph::new(500, &ring));
        let all = top(&ranks, 500);
        assert_eq!(top(&ranks, 20), all[..20]);
    }

    /// More nodes than one task sums.
    #[test]
    fn ranks_sum_to_one_and_threads_change_no_bit() {
        let mut state = 3;
        let mut random = move |below: u32| {
            state = u64::wrapping_mul(state, 6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as u32 % below
        };
        let nodes = CHUNK as u32 + 500;
        let links: Vec<(u32, u32, f64)> = (0..nodes)
            .map(|_| (random(nodes), random(nodes), f64::from(random(100) + 1) / 100.0))
            .collect();
        let graph = Graph::new(nodes as usize, &links);
        let ranks = pagerank(&graph);
        assert!((ranks.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(ranks.iter().all(|rank| *rank > 0.0));
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert_eq!(pool.install(|| pagerank(&graph)), ranks);
        }
    }
}
