//! The writer's transport over real sockets: an in-process server with an answer of the test's
//! own, driven by raw bytes.
//!
//! Not here: the routes. Invariants: every test has its own server and directory; no clock decides
//! a test but bounds so wide that only a hang meets them.
#![cfg(unix)]
#![allow(
    missing_docs,
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test's helpers touch the real world and may fail loudly"
)]

mod bench;
mod harness;
mod hostile;
mod load;
mod stop;
