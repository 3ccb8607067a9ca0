//! The store, proved: crashes at every call, faults at every call, writers between any two
//! calls of other writers, and a plain model beside it.
//!
//! Reading order: [`ground`] (machines, stores and records), [`judge`] (the invariants, stated
//! once), [`operation`] (what is done to a store), then the tests: `crash`, `control` (each
//! protocol step left out must be found), `fault`, `race`, `model`, `record`.
//!
//! Not here: what one segment's bytes mean (`segments/`), or what a claim is.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that fails panics")]

mod between;
mod control;
mod crash;
mod fault;
mod ground;
mod judge;
mod model;
mod operation;
mod race;
mod record;
