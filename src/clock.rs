//! The one door to the wall clock.
//!
//! Whoever needs the time is handed a [`Clock`]; nobody asks the system. Not here: how a moment is
//! written or compared. A clock promises nothing about order, the system's may step backwards.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::time::Micros;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// The moment of the call.
    fn now(&self) -> Micros;
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the door to the clock")]
    fn now(&self) -> Micros {
        let now = SystemTime::now();
        // A clock set before 1970 counts down from zero instead of failing.
        let (span, sign) = match now.duration_since(UNIX_EPOCH) {
            Ok(span) => (span, 1),
            Err(before) => (before.duration(), -1),
        };
        Micros(sign * i64::try_from(span.as_micros()).unwrap_or(i64::MAX))
    }
}

/// A clock that stands still at the moment it was made with.
#[derive(Clone, Copy, Debug)]
pub struct FixedClock(pub Micros);

impl Clock for FixedClock {
    fn now(&self) -> Micros {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_clock_runs_in_microseconds_since_1970() {
        // 2020-01-01 and 2200-01-01 in seconds: off by a unit, the value leaves this window.
        let Micros(now) = SystemClock.now();
        assert!((1_577_836_800_000_000..7_258_118_400_000_000).contains(&now), "{now}");
    }

    #[test]
    fn a_fixed_clock_stands_still() {
        let clock = FixedClock(Micros(42));
        assert_eq!((clock.now(), clock.now()), (Micros(42), Micros(42)));
    }
}
