//! When segments are merged: a pure function from what the manifest says to what to merge.
//!
//! *Fold*: every write absorbs the newest small segments, so that a thousand single writes leave
//! a handful of files. *Tier*: eight neighbours of one size class become one of the next. *Cap*:
//! past 64 segments the cheapest neighbours merge whatever it costs. Only neighbours merge, so
//! recorded times stay ordered between segments.
//!
//! Not here: doing it. The numbers were found by simulating a million single writes: 8.9 bytes
//! written per byte stored, 23 segments on average, 45 at worst.

/// What the plan needs to know of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Length of the file, bytes.
    pub bytes: u64,
    /// Rows.
    pub rows: u64,
}

/// Segments below this are absorbed by a write, bytes.
const SMALL: u64 = 128 << 10;
/// What a write may grow to by absorbing, bytes.
const FOLDED: u64 = 256 << 10;
/// A segment is absorbed while it has at most this many times the rows of what absorbs it.
const FACTOR: u64 = 2;
/// Neighbours of one class that merge.
const FAN: usize = 8;
/// The largest merge that a write does itself, bytes; larger ones are left to `compact`.
const INLINE: u64 = 16 << 20;
/// Segments that a store may have.
pub const CAP: usize = 64;

/// How many of the newest segments a write of `new` absorbs.
pub fn fold(segments: &[Size], new: Size) -> usize {
    let mut grown = new;
    let mut count = 0;
    for segment in segments.iter().rev() {
        let fits = grown.bytes + segment.bytes <= FOLDED;
        if segment.bytes >= SMALL || segment.rows > FACTOR * grown.rows.max(1) || !fits {
            break;
        }
        grown.bytes += segment.bytes;
        grown.rows += segment.rows;
        count += 1;
    }
    count
}

/// Size class: 0 below 128 KiB, then one more for every factor of eight.
fn class(bytes: u64) -> u32 {
    let mut class = 0;
    let mut bound = SMALL;
    while bytes >= bound {
        class += 1;
        bound = bound.saturating_mul(FAN as u64);
    }
    class
}

/// A run of neighbours that is due to be merged by the write that makes the store look like
/// this, newest first; none if nothing is due.
pub fn tier(segments: &[Size]) -> Option<std::ops::Range<usize>> {
    due(segments, INLINE).or_else(|| (segments.len() > CAP).then(|| cheapest(segments)))
}

/// Whether `compact` would find larger runs to merge than a write does itself.
pub fn overdue(segments: &[Size]) -> bool {
    due(segments, u64::MAX).is_some()
}

fn due(segments: &[Size], limit: u64) -> Option<std::ops::Range<usize>> {
    let mut end = segments.len();
    while end > 0 {
        let class_here = class(segments[end - 1].bytes);
        let same = |size: &&Size| class(size.bytes) == class_here;
        let run = segments[..end].iter().rev().take_while(same).count();
        let start = end - run;
        let bytes: u64 = segments[start..end].iter().map(|size| size.bytes).sum();
        if class_here > 0 && run >= FAN && bytes <= limit {
            return Some(start..end);
        }
        end = start;
    }
    None
}

/// The eight neighbours that are cheapest to merge.
fn cheapest(segments: &[Size]) -> std::ops::Range<usize> {
    let cost = |start: &usize| -> u64 {
        segments[*start..*start + FAN].iter().map(|size| size.bytes).sum()
    };
    let start = (0..=segments.len().saturating_sub(FAN)).min_by_key(cost).unwrap_or(0);
    start..(start + FAN).min(segments.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;

    fn sizes(kib: &[u64]) -> Vec<Size> {
        kib.iter().map(|kib| Size { bytes: kib * KIB, rows: kib * 3 }).collect()
    }

    #[test]
    fn a_write_absorbs_small_newest_neighbours() {
        let new = Size { bytes: KIB, rows: 3 };
        assert_eq!(fold(&[], new), 0);
        assert_eq!(fold(&sizes(&[1]), new), 1);
        // 2 is within twice of 1 + 0; then 4 is more than twice of 3 no more: 12 <= 2 * 9.
        assert_eq!(fold(&sizes(&[100, 4, 2]), new), 2);
        // The neighbour is too large: nothing behind it is reached.
        assert_eq!(fold(&sizes(&[1, 200]), new), 0);
        // A large write does not swallow past 256 KiB.
        assert_eq!(fold(&sizes(&[100, 100]), Size { bytes: 100 * KIB, rows: 300 }), 1);
    }

    #[test]
    fn eight_of_a_class_merge_if_they_are_small_enough() {
        assert_eq!(tier(&sizes(&[200; 7])), None);
        assert_eq!(tier(&sizes(&[200; 8])), Some(0..8));
        assert_eq!(tier(&sizes(&[1, 2, 3, 4, 5, 6, 7, 8])), None);
        let mut mixed = vec![9000];
        mixed.extend([200; 9]);
        mixed.push(1);
        assert_eq!(tier(&sizes(&mixed)), Some(1..10));
        // 8 x 4 MiB is more than a write merges itself; compact finds it.
        let large = sizes(&[4096; 8]);
        assert_eq!((tier(&large), overdue(&large)), (None, true));
    }

    #[test]
    fn past_the_cap_the_cheapest_neighbours_merge() {
        // Alternating classes, so that no run is ever due.
        let mut segments: Vec<Size> =
            (0..65).map(|i| sizes(&[if i % 2 == 0 { 9000 } else { 200 }])[0]).collect();
        segments[30].bytes = KIB;
        let run = tier(&segments).unwrap();
        assert_eq!(run.len(), FAN);
        assert!(run.contains(&30));
    }

    #[test]
    fn a_million_single_writes_stay_cheap() {
        let (mut segments, mut written) = (Vec::<Size>::new(), 0u64);
        let (mut most, row) = (0, 330);
        for _ in 0..1_000_000 {
            let absorbed = fold(&segments, Size { bytes: row, rows: 1 });
            let kept = segments.len() - absorbed;
            let rows = 1 + segments[kept..].iter().map(|size| size.rows).sum::<u64>();
            segments.truncate(kept);
            segments.push(Size { bytes: rows * row, rows });
            written += rows;
            while let Some(run) = tier(&segments) {
                let rows: u64 = segments[run.clone()].iter().map(|size| size.rows).sum();
                segments.splice(run, [Size { bytes: rows * row, rows }]);
                written += rows;
            }
            most = most.max(segments.len());
        }
        assert!(most <= 48, "{most} segments");
        assert!(written <= 10_000_000, "{written} rows written");
    }
}
