//! Where new ids come from: one source, so that tests can hold it.
//!
//! An id is 32 hex digits: 48 bits of milliseconds, so that ids sort by time and prune whole
//! segments, and 80 random bits. Not here: what an id names.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::time::Micros;

/// Random numbers that are drawn at once: a system call costs as much as an import does per
/// claim beside it.
const DRAW: usize = 32;

thread_local! {
    /// Random numbers that are not used yet.
    static DRAWN: RefCell<Vec<u128>> = const { RefCell::new(Vec::new()) };
}

/// Makes ids.
#[derive(Debug)]
pub enum IdSource {
    /// From the system's random numbers.
    Random,
    /// Counted up: the same ids in every run, for tests.
    Counted(AtomicU64),
}

impl IdSource {
    /// A source that counts from zero.
    pub fn counted() -> Self {
        Self::Counted(AtomicU64::new(0))
    }

    /// 128 bits that no other call gives.
    pub fn bits(&self) -> u128 {
        match self {
            Self::Random => DRAWN.with_borrow_mut(|drawn| {
                if drawn.is_empty() {
                    let mut bytes = [0; 16 * DRAW];
                    // Without random numbers no name is safe from collision, and no system that
                    // runs us lacks them once it is up.
                    #[expect(clippy::expect_used, reason = "because no id can be made otherwise")]
                    getrandom::fill(&mut bytes).expect("because the system has random numbers");
                    let numbers = bytes.as_chunks::<16>().0.iter();
                    drawn.extend(numbers.map(|number| u128::from_le_bytes(*number)));
                }
                drawn.pop().unwrap_or_default()
            }),
            Self::Counted(next) => {
                let number = u128::from(next.fetch_add(1, Ordering::Relaxed));
                number.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)
            }
        }
    }

    /// An id for a record first written at `now`.
    pub fn fresh(&self, now: Micros) -> String {
        let millis = now.0.div_euclid(1000).max(0) as u128 & 0xffff_ffff_ffff;
        format!("{:032x}", millis << 80 | self.bits() & ((1 << 80) - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_and_differ() {
        let source = IdSource::Random;
        let a = source.fresh(Micros(1_780_000_000_000_000));
        let b = source.fresh(Micros(1_780_000_000_001_000));
        assert_eq!(a.len(), 32);
        assert!(a < b && a[..12] < b[..12]);
        // 1_780_000_000_000 ms is 0x19e70448800 milliseconds.
        assert_eq!(&a[..12], "019e70448800");
        assert_ne!(source.fresh(Micros(0)), source.fresh(Micros(0)));
        let counted = IdSource::counted();
        assert_ne!(counted.bits(), counted.bits());
    }
}
