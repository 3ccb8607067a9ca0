//! The best rows seen so far on one ballot.
//!
//! Invariant: the order is total (score, then record key, then place), so that the best `limit`
//! rows are the same whatever order they came in and however they were split over threads.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::pack::snapshot::Place;

/// A row on a ballot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The score that ranks it.
    pub(super) score: f32,
    /// Its record's key.
    pub(super) id: u128,
    /// The version that the view shows.
    pub(super) version: Place,
    /// The row that owns its text.
    pub(super) text: Place,
    /// How its words match, summed, in halves.
    pub(super) halves: u16,
    /// Its BM25+ sum without extras.
    pub(super) points: f32,
}

impl Ord for Entry {
    /// Better is less: the greatest of a heap is the one that leaves first.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_score = other.score.total_cmp(&self.score);
        by_score.then(self.id.cmp(&other.id)).then(self.version.cmp(&other.version))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

/// Keeps the best `limit` entries.
pub(super) struct Top {
    limit: usize,
    heap: BinaryHeap<Entry>,
}

impl Top {
    /// Of at most `limit` entries, which is at least 1. Memory grows with what is kept.
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, heap: BinaryHeap::new() }
    }

    /// The score below which nothing enters; none while there is room.
    #[inline]
    pub(super) fn floor(&self) -> Option<f32> {
        let full = self.heap.len() >= self.limit;
        self.heap.peek().filter(|_| full).map(|worst| worst.score)
    }

    /// Adds an entry, and lets the worst go if there are too many. Whether it was kept.
    pub(super) fn push(&mut self, entry: Entry) -> bool {
        if self.heap.len() < self.limit {
            self.heap.push(entry);
            return true;
        }
        match self.heap.peek_mut() {
            Some(mut worst) if entry < *worst => {
                *worst = entry;
                true
            }
            _ => false,
        }
    }

    /// Adds all of another's entries.
    pub(super) fn merge(&mut self, other: Self) {
        for entry in other.heap {
            self.push(entry);
        }
    }

    /// The entries, best first.
    pub(super) fn into_ranked(self) -> Vec<Entry> {
        self.heap.into_sorted_vec()
    }
}
