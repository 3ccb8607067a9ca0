//! Numbers beside the worked ones come from networkx 3.6.1 (modularity, best and worst of 200
//! seeded Louvain runs) and from a Python script of the colouring rule.

use super::*;

/// Zachary's karate club: 34 people, 78 friendships.
const CLUB: &[(u32, u32)] = &[
    (0, 1),
    (0, 2),
    (0, 3),
    (0, 4),
    (0, 5),
    (0, 6),
    (0, 7),
    (0, 8),
    (0, 10),
    (0, 11),
    (0, 12),
    (0, 13),
    (0, 17),
    (0, 19),
    (0, 21),
    (0, 31),
    (1, 2),
    (1, 3),
    (1, 7),
    (1, 13),
    (1, 17),
    (1, 19),
    (1, 21),
    (1, 30),
    (2, 3),
    (2, 7),
    (2, 8),
    (2, 9),
    (2, 13),
    (2, 27),
    (2, 28),
    (2, 32),
    (3, 7),
    (3, 12),
    (3, 13),
    (4, 6),
    (4, 10),
    (5, 6),
    (5, 10),
    (5, 16),
    (6, 16),
    (8, 30),
    (8, 32),
    (8, 33),
    (9, 33),
    (13, 33),
    (14, 32),
    (14, 33),
    (15, 32),
    (15, 33),
    (18, 32),
    (18, 33),
    (19, 33),
    (20, 32),
    (20, 33),
    (22, 32),
    (22, 33),
    (23, 25),
    (23, 27),
    (23, 29),
    (23, 32),
    (23, 33),
    (24, 25),
    (24, 27),
    (24, 31),
    (25, 31),
    (26, 29),
    (26, 33),
    (27, 33),
    (28, 31),
    (28, 33),
    (29, 32),
    (29, 33),
    (30, 32),
    (30, 33),
    (31, 32),
    (31, 33),
    (32, 33),
];

/// The club, with weights that differ: 1/4 to 4/4 by a formula.
fn club() -> Graph {
    let weigh = |(a, b): &(u32, u32)| (*a, *b, f64::from(1 + (a * 7 + b * 3) % 4) / 4.0);
    Graph::new(34, &CLUB.iter().map(weigh).collect::<Vec<_>>())
}

/// `count` cliques of `size`, nothing between them.
fn cliques(count: u32, size: u32) -> Vec<(u32, u32, f64)> {
    let mut links = Vec::new();
    for first in (0..count).map(|clique| clique * size) {
        for a in first..first + size {
            links.extend((a + 1..first + size).map(|b| (a, b, 0.5)));
        }
    }
    links
}

fn about(got: f64, want: f64) -> bool {
    (got - want).abs() < 1e-12
}

#[test]
fn modularity_by_hand_and_by_networkx() {
    // Two pairs and a bridge, all of 1/2: inside 2 of 3 links; strengths 1/2, 1, 1, 1/2 of 3.
    let path = Graph::new(4, &[(0, 1, 0.5), (1, 2, 0.5), (2, 3, 0.5)]);
    assert!(about(modularity(&path, &[0, 0, 1, 1]), 2.0 / 3.0 - 0.5));
    assert!(about(modularity(&path, &[0, 0, 0, 0]), 0.0));
    // The heavier bridge: inside 1 of 1.75; each side half of all.
    let path = Graph::new(4, &[(0, 1, 0.5), (1, 2, 0.75), (2, 3, 0.5)]);
    assert!(about(modularity(&path, &[0, 0, 1, 1]), 1.0 / 1.75 - 0.5));
    let labels = |label: fn(u32) -> u32| (0..34).map(label).collect::<Vec<u32>>();
    for (labels, want) in [
        (labels(|node| node % 2), -0.067_103_423_700_008_24),
        (labels(|node| node / 12), 0.123_379_293_330_774_91),
        (labels(|node| node), -0.051_780_378_827_334_786),
    ] {
        assert!(about(modularity(&club(), &labels), want));
    }
    assert_eq!(modularity(&Graph::new(3, &[]), &[0, 1, 2]), 0.0);
}

#[test]
fn louvain_is_as_good_as_the_reference() {
    // 200 runs of networkx end between 0.42748 and 0.44008.
    let found = louvain(&club());
    assert!(found.modularity > 0.427 && found.modularity < 0.4401, "{}", found.modularity);
    let mut members: Vec<u32> = found.islands.concat();
    members.sort_unstable();
    assert_eq!(members, (0..34).collect::<Vec<_>>());
}

#[test]
fn cliques_are_islands() {
    let graph = Graph::new(12, &cliques(3, 4));
    for found in [louvain(&graph), propagation(&graph)] {
        assert_eq!(found.islands, [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]);
        // A third of all in each: 1 - 3/9.
        assert!(about(found.modularity, 2.0 / 3.0));
    }
    // A ring of twelve triangles, one light link from each to the next.
    let mut ring = cliques(12, 3);
    ring.extend((0..12).map(|at| (at * 3, (at * 3 + 4) % 36, 0.05)));
    let found = louvain(&Graph::new(36, &ring));
    let triangles: Vec<Vec<u32>> = (0..12).map(|at| (at * 3..at * 3 + 3).collect()).collect();
    assert_eq!(found.islands, triangles);
}

#[test]
fn islands_come_largest_first_then_by_their_first_member() {
    let graph = Graph::new(8, &[(6, 7, 0.5), (6, 3, 0.5), (3, 7, 0.5), (5, 1, 0.5), (4, 2, 0.5)]);
    let expected: [&[u32]; 4] = [&[3, 6, 7], &[1, 5], &[2, 4], &[0]];
    assert_eq!(louvain(&graph).islands, expected);
    assert_eq!(louvain(&Graph::new(0, &[])), Partition::default());
    assert_eq!(louvain(&Graph::new(2, &[])).islands, [[0], [1]]);
}

#[test]
fn labels_that_take_turns_end_after_twenty_rounds() {
    // Both take the other's, for ever; after an even number of rounds each has its own.
    let pair = Graph::new(2, &[(0, 1, 0.5)]);
    assert_eq!(propagation(&pair).islands, [[0], [1]]);
    // Triangle: at first each takes the smallest of the two around it: 1, 0, 0; then 0 around
    // both others: 0; 1 sees 1 and 0, equal: 0; so does 2. One label.
    let triangle = Graph::new(3, &cliques(1, 3));
    assert_eq!(propagation(&triangle).islands, [[0, 1, 2]]);
}

#[test]
fn louvain_never_ends_below_every_node_alone() {
    let mut state = 5;
    let mut random = move |below: u32| {
        state = u64::wrapping_mul(state, 6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as u32 % below
    };
    for _ in 0..200 {
        let nodes = random(40) + 1;
        let mut links = Vec::new();
        for _ in 0..random(120) {
            links.push((random(nodes), random(nodes), f64::from(random(100) + 1) / 100.0));
        }
        let graph = Graph::new(nodes as usize, &links);
        let found = louvain(&graph);
        let alone: Vec<u32> = (0..nodes).collect();
        assert!(found.modularity >= modularity(&graph, &alone) - 1e-12);
        assert_eq!(found, louvain(&graph));
        // What it reports is the modularity of its islands.
        let mut labels = alone.clone();
        for (label, island) in found.islands.iter().enumerate() {
            island.iter().for_each(|node| labels[*node as usize] = label as u32);
        }
        assert!(about(found.modularity, modularity(&graph, &labels)));
    }
}

#[test]
fn signatures_tell_patterns_apart() {
    let star = [(0, 1, 0.5), (0, 2, 0.5), (0, 3, 0.5)];
    let path = [(0, 1, 0.5), (1, 2, 0.5), (2, 3, 0.5)];
    for (nodes, links, expected) in [
        (1, &star[..0], "3d79e6f531bbe5d9"),
        (2, &path[..1], "c5abf4ed8e2149a5"),
        (3, &path[..2], "8e8d1bf9b2a8eac3"),
        (3, &cliques(1, 3), "a5f014207bcfa546"),
        (4, &star, "79fb8f14e8568346"),
        (4, &path, "f4ad25cc687009f1"),
    ] {
        let members: Vec<u32> = (0..nodes).collect();
        assert_eq!(signature(&Graph::new(nodes as usize, links), &members), expected);
    }
    // Other members, other weights, a link out of the island: the same pattern.
    let graph = Graph::new(9, &[(8, 2, 0.1), (2, 5, 0.9), (5, 6, 0.5)]);
    assert_eq!(signature(&graph, &[2, 5, 8]), "8e8d1bf9b2a8eac3");
}
