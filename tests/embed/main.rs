//! The program `packset-embed` as a real process, with models of our own making and, where
//! `PACKSET_TEST_MODELS` names a directory of them, with real ones.
//!
//! What needs the ONNX Runtime is skipped where there is none, and says so.

#![allow(clippy::disallowed_methods, clippy::panic, clippy::unwrap_used)]

mod asked;
mod fault;
mod onnx;
#[cfg(unix)]
mod parent;
mod real;
mod tiny;
