//! packset: the memory a coding agent keeps.
//!
//! A pack is a directory of short claims, written on purpose, with time, origin and a review
//! clock, and found again in milliseconds. This library is everything the programs in `bin/` do;
//! a program only opens the doors (files, environment, clock, terminal) and hands them in.
//!
//! # Reading order
//!
//! *A search, from argv to output*: [`cli`] reads the command line, [`command::search`] is the
//! verb and asks [`desk::find`], [`place`] finds home and workspace, [`pack::Store::snapshot`]
//! opens one generation without a lock, [`text`] turns the question into terms, [`search`]
//! ranks, and [`pack::record`] puts the hits together again.
//!
//! *A claim, from argv to fsync*: [`command::remember`] hands words to [`desk::atoms`], and that to
//! [`claim`], which asks [`atom`] whether the claim may be let in and, under the store's lock,
//! whether it is new; [`pack::transaction`] chains its version to the ones before, [`pack::store`] folds, writes,
//! syncs and publishes. The bytes themselves are `packset-segments`'s, described in its
//! `FORMAT.md`.
//!
//! *A request over HTTP*: the door ([`serve`]) lets it in whole, [`serve::routing`] finds its
//! [`desk::Route`], the same function answers as for the verb, and writes that arrive together share
//! a commit ([`desk::group`]).
//!
//! # What is where
//!
//! | module | what it decides |
//! |---|---|
//! | [`atom`] | what a claim is and which are let in |
//! | [`text`] | what a text is found by |
//! | [`claim`] | what a written claim does, decided under the lock |
//! | [`pack`] | versions, views, commits, merges |
//! | [`search`] | which claims answer, in which order |
//! | [`encode`] | the children that turn texts into vectors |
//! | [`fetch`] | how models and their runtime come to this machine |
//! | [`cards`] | what stands beside the claims: cards, the pin, the attachment |
//! | [`settings`] | what the pack is set to, whoever asks |
//! | [`claim::proposals`] | which writes wait for a person, and how one accepts them |
//! | [`review`] | when a claim is looked at again, and what is forgotten |
//! | [`place`] | where the pack is and which workspace is meant |
//! | [`desk`] | what every request answers, whichever door it came in by |
//! | [`lifecycle`] | whether the writer runs, starting and stopping it, what ails a pack |
//! | [`mcp`] | the pack as an MCP client sees it: read-only tools, resources, a prompt |
//! | [`command`] | one file per verb, thin |
//! | [`cli`] | the shell around the verbs |
//!
//! # Words
//!
//! *pack* (the home directory), *workspace* (a scope in it), *store* (one workspace's files),
//! *record* (a JSON object with an id and a kind), *claim* or *atom* (a record of schema
//! `inside.atom/v1`), *version* (one written state of a record), *segment* (an immutable file of
//! versions with its indexes), *manifest* (names the segments of one *generation*), *snapshot*
//! (a manifest with its segments open), *view* (a point in recorded and in valid time), *overlay*
//! (which older versions a segment ends), *fold* (merge on write), *compact* (merge on request),
//! *ballot* (one scorer's list), *panel* (how ballots become one).
//!
//! # Decisions that differ from what others do
//!
//! - A segment is created under its final name: nothing reads it before a manifest names it, so a
//!   rename would only add a step. A long compaction alone drafts in `t/`, because its lock is
//!   not held.
//! - Old manifests are removed before the next one is published, so that one sync of their
//!   directory makes both durable: four syncs a commit, not five.
//! - A text belongs to one row and is shared by later versions of its record that do not change
//!   it; a merge hands it to the newest of them. State changes never copy text or postings.
//! - Live document frequencies are kept as sums of changes per segment, so that neither layout
//!   nor history moves a score.
//! - A record keeps only what its shape and columns cannot give back; see [`pack::record`].

pub mod atom;
pub mod cards;
pub mod claim;
pub mod cli;
pub mod client;
pub mod clock;
pub mod command;
pub mod desk;
#[cfg(test)]
mod disk;
pub mod embed;
pub mod encode;
pub mod fetch;
pub mod graph;
#[cfg(unix)]
pub mod lifecycle;
pub mod mcp;
pub mod meaning;
pub mod pack;
pub mod place;
pub mod review;
pub mod search;
#[cfg(unix)]
pub mod serve;
pub mod settings;
pub mod text;
pub mod time;
