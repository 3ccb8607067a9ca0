//! The whole graph as arrays: for each node its neighbours and what the links weigh.
//!
//! Nodes are numbers in listing order; what they stand for is the business of whoever numbers
//! them. Invariants: undirected, so each link stands in both rows with one weight; rows are
//! sorted, without repeats and loops; weights are positive.

/// An undirected graph with weights, in compressed rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// Where each node's row begins; one more than nodes.
    offsets: Vec<usize>,
    targets: Vec<u32>,
    weights: Vec<f64>,
}

impl Graph {
    /// A graph of `nodes` nodes from links as their ends state them.
    ///
    /// A link may come from either end or from both, in any order; it weighs the most that is
    /// said of it (behaviour spec, 4.6). Loops, ends that are no node, and weights that are not
    /// positive are left out. Linear, plus a sort of each row: 70 ns per link as stated.
    pub fn new(nodes: usize, links: &[(u32, u32, f64)]) -> Self {
        let is_good = |(a, b, weight): &(u32, u32, f64)| {
            a != b && (*a.max(b) as usize) < nodes && *weight > 0.0 && weight.is_finite()
        };
        let mut starts = vec![0; nodes + 1];
        for (a, b, _) in links.iter().filter(|link| is_good(link)) {
            starts[*a as usize + 1] += 1;
            starts[*b as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut ends = vec![(0_u32, 0.0_f64); starts[nodes]];
        let mut next = starts.clone();
        for (a, b, weight) in links.iter().filter(|link| is_good(link)) {
            for (from, to) in [(*a, *b), (*b, *a)] {
                let at = &mut next[from as usize];
                ends[*at] = (to, *weight);
                *at += 1;
            }
        }
        let mut graph = Self {
            offsets: Vec::with_capacity(nodes + 1),
            targets: Vec::with_capacity(ends.len()),
            weights: Vec::with_capacity(ends.len()),
        };
        graph.offsets.push(0);
        for node in 0..nodes {
            let row = &mut ends[starts[node]..starts[node + 1]];
            // The heaviest of equal targets first, and only that one is taken.
            row.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
            let mut last = None;
            for (target, weight) in row.iter().filter(|end| last.replace(end.0) != Some(end.0)) {
                graph.targets.push(*target);
                graph.weights.push(*weight);
            }
            graph.offsets.push(graph.targets.len());
        }
        graph
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of links.
    pub fn links(&self) -> usize {
        self.targets.len() / 2
    }

    /// A node's neighbours in order, with what the links weigh.
    pub fn row(&self, node: u32) -> impl ExactSizeIterator<Item = (u32, f64)> {
        let row = self.offsets[node as usize]..self.offsets[node as usize + 1];
        self.targets[row.clone()].iter().copied().zip(self.weights[row].iter().copied())
    }

    /// How many neighbours a node has.
    pub fn degree(&self, node: u32) -> usize {
        self.offsets[node as usize + 1] - self.offsets[node as usize]
    }

    /// The sum of what a node's links weigh.
    pub fn strength(&self, node: u32) -> f64 {
        self.row(node).map(|(_, weight)| weight).sum()
    }

    /// Rows that are made already: `offsets` one more than nodes, each row sorted.
    pub(super) fn from_rows(offsets: Vec<usize>, targets: Vec<u32>, weights: Vec<f64>) -> Self {
        Self { offsets, targets, weights }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(graph: &Graph) -> Vec<Vec<(u32, f64)>> {
        (0..graph.len() as u32).map(|node| graph.row(node).collect()).collect()
    }

    #[test]
    fn a_link_weighs_the_most_that_its_ends_say() {
        let graph = Graph::new(4, &[(2, 0, 0.25), (0, 2, 0.75), (0, 1, 0.5), (0, 2, 0.5)]);
        let expected = vec![vec![(1, 0.5), (2, 0.75)], vec![(0, 0.5)], vec![(0, 0.75)], vec![]];
        assert_eq!(rows(&graph), expected);
        assert_eq!((graph.len(), graph.links()), (4, 2));
        assert_eq!((graph.degree(0), graph.strength(0)), (2, 1.25));
        assert_eq!((graph.degree(3), graph.strength(3)), (0, 0.0));
    }

    #[test]
    fn what_is_no_link_is_left_out() {
        let odd = [(0, 0, 0.5), (0, 9, 0.5), (0, 1, 0.0), (0, 1, f64::NAN), (1, 0, -1.0)];
        assert_eq!(rows(&Graph::new(2, &odd)), [vec![], vec![]]);
        assert!(Graph::new(0, &odd).is_empty());
    }
}
