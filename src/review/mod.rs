//! The review clock: when a claim is looked at again, and what becomes of one nobody looks at.
//!
//! Pure rules over one record, or over many handed in: no store, and `now` comes from the caller.
//! Not here: who starts the clock (`atom::stamp`), what a fire adds to `review.used` (the graph).
//! Invariants: only a live claim is due, swept or forgotten, so a closed claim never comes back
//! because its clock ran out; a grade changes the fields it computes and no other; what the writer
//! forgets is a tombstone that says why.

mod cap;
mod clock;
mod neglect;

pub use cap::{BadCap, Candidate, DEFAULT_LIVE_CAP, parse_live_cap, take_least_held};
pub use clock::{due_order, grade, is_due, retrievability};
pub use neglect::{Swept, latest_swept, sweep, sweep_today};

use crate::time::Micros;
use serde_json::{Map, Value};

/// Why the writer made a tombstone, as the field `forgotten` says it (the page).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Never recalled, never used, and missed in three sweeps.
    Neglect,
    /// The least retrievable past the workspace's live cap.
    LiveCap,
}

impl Reason {
    /// The word that records carry and that status counts under.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Neglect => "neglect",
            Self::LiveCap => "the live cap",
        }
    }
}

/// Makes a tombstone of a claim and says why. Whatever else it holds stays, for the past.
pub fn forget(record: &mut Map<String, Value>, reason: Reason, now: Micros) {
    record.insert("tombstone".to_owned(), Value::Bool(true));
    record.insert("forgotten".to_owned(), reason.name().into());
    record.insert("updated".to_owned(), now.format_ms().into());
}

fn moment(object: &Map<String, Value>, field: &str) -> Option<Micros> {
    object.get(field).and_then(Value::as_str).and_then(Micros::parse)
}

fn id_of(record: &Map<String, Value>) -> &str {
    record.get("id").and_then(Value::as_str).unwrap_or_default()
}

/// A finite number, however it is written.
fn number(object: &Map<String, Value>, field: &str) -> Option<f64> {
    object.get(field).and_then(Value::as_f64).filter(|number| number.is_finite())
}

/// A count: whole, not negative, 0 when it is missing or no number.
fn count(object: &Map<String, Value>, field: &str) -> u64 {
    // The cast saturates, and what lies below zero becomes zero.
    number(object, field).map_or(0, |number| number as u64)
}

/// The review block, when it is one.
fn review_of(record: &Map<String, Value>) -> Option<&Map<String, Value>> {
    record.get("review").and_then(Value::as_object)
}
