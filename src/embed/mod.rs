//! What the encoder's process and its parent both know: which models there are.
//!
//! Not here: fetching them, and asking a child ([`crate::encode`]).

pub mod models;
