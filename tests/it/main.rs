//! The real program, run as a user runs it: one small DSL and one file per theme.
//!
//! Not here: the store's own proofs and the ranking's. Invariants: every test has a home, a
//! working directory and an environment of its own, and nothing of the machine's; what a test
//! expects comes from the contract, not from what the program printed.

#![allow(
    missing_docs,
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test's helpers touch the real world and may fail loudly"
)]

mod algebra;
mod batch;
mod beside;
mod cards;
mod codes;
mod corpus;
mod crowd;
mod damage;
mod doctor;
mod encode;
mod faults;
mod faults_known;
mod grammar;
mod harness;
mod history;
mod import;
mod import_records;
mod lab;
mod life;
mod lifecycle;
mod mcp;
mod mcp_client;
mod mcp_lines;
mod meaning;
mod mining;
mod mirror;
mod model;
mod model_use;
mod moments;
mod network;
mod over_cap;
mod persona;
mod places;
mod proposals;
mod purge;
mod recall;
mod refusals;
mod rewrite;
mod secrets;
mod settle;
mod terminal;
mod upkeep;
mod verbs;
mod words;
mod writer;
