//! What a written claim does to the claims beside it: it closes those that it replaces, and it
//! is linked with those that are about the same.
//!
//! The rules are pure and stand in [`crate::atom`] and [`crate::graph`]; here their candidates
//! are found by index and what they decide is put into the same commit. Not here: imports. What
//! an import brings was live side by side where it came from, so it closes nothing and links
//! nothing by itself; `consolidate` applies the one rule to a whole workspace afterwards, and
//! [`super::linking`] the other.
//!
//! Invariants: replacing and linking stay inside a set, but for ids that a claim names itself;
//! mail takes no part; links are symmetric and at most eight.

use std::collections::BTreeMap;
use std::rc::Rc;

use packset_segments::key_of;
use rustc_hash::FxHashSet;

use crate::atom::{self, Kind, Reading, is_live, same_key};
use crate::graph::links::{self, Peer};
use crate::graph::{Claim, Claims, Edges, topics};
use crate::pack::record::{self, Record};
use crate::pack::{self, Transaction};
use crate::text::{Tokenizer, is_stop_word};

/// Claims about one topic that are read, newest first: a topic that more claims share than this
/// says little about any of them, and a write must not cost more as the pack grows.
pub(super) const CANDIDATES: usize = 256;

/// Longest text that is asked whether it is mostly stop words, bytes.
const CROWDED_BYTES: usize = 80;

/// The hashes under which a claim is found again: first that of its repeats, then those of claims
/// that open with the same words and of claims about the same. Mail has none.
pub fn keys(claim: &Record) -> Vec<u64> {
    let mut keys: Vec<u64> = same_key(claim).map(|bytes| key_of(&bytes)).into_iter().collect();
    if Kind::of(claim).is_some_and(|kind| !kind.is_mail()) {
        keys.extend(opening_key(claim));
        if is_crowded(claim) {
            keys.push(crowded_key(claim));
        }
        keys.extend(topics::of(claim).iter().map(|topic| topic_key(claim, topic)));
    }
    keys
}

/// Hashes strings so that no two lists of them look alike.
fn tagged(tag: &str, parts: &[&str]) -> u64 {
    let mut bytes = tag.as_bytes().to_vec();
    for part in parts {
        bytes.push(0);
        bytes.extend_from_slice(part.as_bytes());
    }
    key_of(&bytes)
}

pub(super) fn set_of(claim: &Record) -> &str {
    record::string(claim, "set").unwrap_or_default()
}

fn opening_key(claim: &Record) -> Option<u64> {
    let [one, two, three] = atom::openings(record::string(claim, "text")?)?;
    Some(tagged("opening", &[record::kind(claim), set_of(claim), &one, &two, &three]))
}

fn tokens_of(claim: &Record) -> Vec<String> {
    atom::tokens(record::string(claim, "text").unwrap_or_default())
}

/// Whether a token is in no index for sure: a stop word, or a single character, which may be
/// dropped out of a compound.
fn unindexed(token: &str) -> bool {
    token.chars().nth(1).is_none() || is_stop_word(token)
}

/// Whether a claim is mostly words that are in no index. Only short ones are looked at: English
/// has some fifty such words, and a long text of nothing else says nothing twice.
fn is_crowded(claim: &Record) -> bool {
    record::string(claim, "text").is_some_and(|text| text.len() <= CROWDED_BYTES)
        && atom::probe(&tokens_of(claim), unindexed).crowded
}

/// Of claims that are mostly words in no index: they find each other by this alone.
fn crowded_key(claim: &Record) -> u64 {
    tagged("crowded", &[record::kind(claim), set_of(claim)])
}

fn topic_key(claim: &Record, topic: &str) -> u64 {
    topic_key_in(set_of(claim), topic)
}

pub(super) fn topic_key_in(set: &str, topic: &str) -> u64 {
    tagged("topic", &[set, topic])
}

/// Settles a claim that was just put: closes what it replaces, links it, and puts it again with
/// what came of it. Returns it as it is stored.
///
/// # Errors
/// The pack's.
pub fn settle(transaction: &mut Transaction<'_>, id: &str) -> Result<Record, pack::Error> {
    let now = transaction.now();
    let mut claim = transaction.get(id)?.unwrap_or_default();
    let apart = Kind::of(&claim).is_none_or(Kind::is_mail);
    if apart || !is_live(&claim, now) {
        return Ok(claim);
    }
    let about = topics::of(&claim);
    let closed = replaced(transaction, &claim, &about)?;
    for mut old in closed.iter().cloned() {
        atom::close(&mut old, now);
        let keys = keys(&old);
        transaction.put(old, keys)?;
    }
    let ids: Vec<&str> = closed.iter().map(record::id).collect();
    let before = transaction.snapshot().current(record::key(id));
    let before = before.map(|place| transaction.snapshot().record(place)).transpose()?;
    let before = before.unwrap_or_default();
    // What it closed earlier stays listed; what it merely names was not closed. Its own id closes
    // nothing, and clients read it back (conformance).
    let listed = atom::named_ids(&before);
    atom::list_closed(&mut claim, &ids, |named| named == id || listed.contains(&named));
    if !before.is_empty() {
        unlist(transaction, id, &ids)?;
    }
    link(transaction, &mut claim, &about)?;
    let found_by = keys(&claim);
    transaction.put(claim.clone(), found_by)?;
    Ok(claim)
}

/// Takes a claim out of the lists of what it now replaces, however many steps away: it is live
/// again under an id that they had closed, and nothing replaces what replaced it.
pub(super) fn unlist(
    transaction: &mut Transaction<'_>,
    id: &str,
    closed: &[&str],
) -> Result<(), pack::Error> {
    let mut seen: FxHashSet<String> = FxHashSet::default();
    let mut open: Vec<String> = closed.iter().map(|id| (*id).to_owned()).collect();
    while let Some(next) = open.pop() {
        if next == id || !seen.insert(next.clone()) {
            continue;
        }
        let Some(mut record) = transaction.get(&next)? else { continue };
        let named: Vec<String> = atom::named_ids(&record).into_iter().map(str::to_owned).collect();
        if named.iter().any(|named| named == id) && !record::tombstone(&record) {
            atom::list_closed(&mut record, &[], |named| named != id);
            record.insert("updated".into(), transaction.now().format_ms().into());
            let found_by = keys(&record);
            transaction.put(record, found_by)?;
        }
        open.extend(named);
    }
    Ok(())
}

/// The live claims that a claim replaces.
fn replaced(
    transaction: &mut Transaction<'_>,
    claim: &Record,
    about: &[String],
) -> Result<Vec<Record>, pack::Error> {
    let now = transaction.now();
    let mut candidates: BTreeMap<String, Record> = BTreeMap::new();
    let mut take = |other: Record| {
        let id = record::id(&other).to_owned();
        if id != record::id(claim) && is_live(&other, now) {
            candidates.insert(id, other);
        }
    };
    for id in atom::named_ids(claim) {
        if let Some(other) = transaction.get(id)? {
            take(other);
        }
    }
    if let Some(key) = opening_key(claim) {
        transaction.with_key(key)?.into_iter().for_each(&mut take);
    }
    if Kind::of(claim) == Some(Kind::Correction) {
        for topic in about {
            let key = topic_key(claim, topic);
            transaction.newest_with_key(key, CANDIDATES)?.into_iter().for_each(&mut take);
        }
    }
    for other in rewrites(transaction, claim)? {
        take(other);
    }
    let reading = Reading::of(claim, about, topics::declared(claim));
    let mut replaced = Vec::new();
    for other in candidates.into_values() {
        let topics = topics::of(&other);
        let older = Reading::of(&other, &topics, topics::declared(&other));
        if atom::replaces(&reading, &older).is_some() {
            replaced.push(other);
        }
    }
    Ok(replaced)
}

/// Claims that may be rewrites. A Jaccard of 0.6 leaves at most two fifths of a text's tokens
/// unshared ([`atom::probe`]), so of any two fifths and four more a rewrite has four: the rarest
/// words are looked up, and what has too few of them is never read.
fn rewrites(transaction: &mut Transaction<'_>, claim: &Record) -> Result<Vec<Record>, pack::Error> {
    /// Words looked up beyond those that a rewrite may lack.
    const MORE: usize = 4;
    let tokens = tokens_of(claim);
    let unshared = tokens.len() * 2 / 5;
    let mut tokenizer = Tokenizer::new(transaction.snapshot().manifest().text.stem);
    let indexed = tokens.iter().filter(|token| !unindexed(token));
    let mut terms: Vec<String> =
        indexed.filter_map(|token| tokenizer.collect(token).into_iter().next()).collect();
    terms.sort_unstable();
    terms.dedup();
    let corpus = record::corpus(record::kind(claim));
    let snapshot = transaction.snapshot();
    terms.sort_by_cached_key(|term| snapshot.frequency(corpus, term));
    terms.truncate(unshared + MORE);
    let least = terms.len().saturating_sub(unshared);
    let mut found = Vec::new();
    if least > 0 {
        let terms: Vec<&str> = terms.iter().map(String::as_str).collect();
        found = transaction.holding(corpus, &terms, least)?;
    }
    if is_crowded(claim) {
        found.extend(transaction.with_key(crowded_key(claim))?);
    }
    Ok(found)
}

/// The fields that [`Claim::of`] and [`is_live`] look at: a write reads dozens of neighbours and
/// changes a few.
const SEEN: [&str; 10] = [
    "id",
    "kind",
    "text",
    "entities",
    "links",
    "link_weights",
    "link_weights_by",
    "review",
    "valid_to",
    "tombstone",
];

/// What the graph rules see of a transaction: its live claims.
pub(super) struct Live<'t, 'a>(pub(super) &'t Transaction<'a>);

impl Claims for Live<'_, '_> {
    type Error = pack::Error;

    fn claim(&self, id: &str) -> Result<Option<Rc<Claim>>, pack::Error> {
        let now = self.0.now();
        let known = self.0.get_fields(id, &SEEN)?;
        let live = known.filter(|record| is_live(record, now));
        Ok(live.as_ref().and_then(Claim::of).map(Rc::new))
    }
}

/// Links a claim with its neighbours, and puts those whose links changed.
fn link(
    transaction: &mut Transaction<'_>,
    claim: &mut Record,
    about: &[String],
) -> Result<(), pack::Error> {
    let now = transaction.now();
    let Some(node) = Claim::of(claim) else { return Ok(()) };
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    const NEAR: [&str; 6] = ["id", "text", "entities", "set", "valid_to", "tombstone"];
    for topic in about {
        let key = topic_key(claim, topic);
        for other in transaction.newest_fields_with_key(key, CANDIDATES, &NEAR)? {
            let id = record::id(&other).to_owned();
            let near = id != record::id(claim) && is_live(&other, now);
            if near && set_of(&other) == set_of(claim) {
                found.entry(id).or_insert_with(|| topics::of(&other));
            }
        }
    }
    let peers: Vec<Peer<'_>> = found.iter().map(|(id, topics)| Peer { id, topics }).collect();
    let relinked = links::relink(record::id(claim), &node, &peers, &Live(transaction))?;
    write_edges(&relinked.own, claim);
    for (id, edges) in relinked.peers {
        if let Some(mut peer) = transaction.get(&id)? {
            write_edges(&edges, &mut peer);
            peer.insert("updated".into(), now.format_ms().into());
            let keys = keys(&peer);
            transaction.put(peer, keys)?;
        }
    }
    Ok(())
}

/// A claim without links carries no list of them.
pub(super) fn write_edges(edges: &Edges, claim: &mut Record) {
    edges.write(claim);
    if edges.links().is_empty() {
        claim.shift_remove("links");
    }
}
