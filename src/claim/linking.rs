//! Links for what an import brought: many claims at once, each by the rule of a write.
//!
//! A write reads its neighbours and theirs; here they are the same few again and again, so what is
//! read of a claim, and what became of it, is kept until the commit, and every claim whose links
//! changed is written once. Not here: the rule ([`crate::graph::links`]), and the links of one
//! written claim (`super::settle`).
//!
//! Invariant: each commit leaves links on both ends, so a run that is cut short did a part of it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use super::put_again;
use super::settle::{CANDIDATES, set_of, topic_key_in, write_edges};
use crate::atom::{Kind, is_live};
use crate::graph::links::{self, Peer};
use crate::graph::{Claim, Claims, Edges, topics};
use crate::pack::record::{self, Record};
use crate::pack::{self, Store, Transaction, View};
use crate::time::Micros;

/// Claims that are linked in one commit: enough that a claim is mostly read and written once, few
/// enough that what is kept of them fits into some hundred MiB.
const LINKED_AT_ONCE: usize = 1 << 18;

/// Links the live claims of a workspace that have no links, in commits of some thousands. Returns
/// how many of them found a neighbour.
///
/// Costs a read of every live claim, and some tens of microseconds for each that has no links.
///
/// # Errors
/// The pack's; what was committed before stays.
pub fn link_unlinked(store: &Store) -> Result<usize, pack::Error> {
    let Some(snapshot) = store.snapshot()? else { return Ok(0) };
    let view = View::now(Micros(snapshot.manifest().recorded));
    let mut bare = Vec::new();
    for place in snapshot.places() {
        let kind = Kind::named(snapshot.segment(place).kind(place.row)?);
        if kind.is_some_and(|kind| !kind.is_mail()) && snapshot.visible(place, &view) {
            let claim = snapshot.record(place)?;
            if is_unlinked(&claim) && !topics::of(&claim).is_empty() {
                bare.push(record::id(&claim).to_owned());
            }
        }
    }
    drop(snapshot);
    let mut linked = 0;
    for ids in bare.chunks(LINKED_AT_ONCE) {
        let done = store.commit_existing(|transaction| link_all(transaction, ids))?;
        linked += done.map(|(linked, _)| linked).unwrap_or_default();
    }
    Ok(linked)
}

fn is_unlinked(claim: &Record) -> bool {
    claim.get("links").and_then(Value::as_array).is_none_or(Vec::is_empty)
}

fn link_all(transaction: &mut Transaction<'_>, ids: &[String]) -> Result<usize, pack::Error> {
    let mut changed: FxHashSet<String> = FxHashSet::default();
    let mut linked = 0;
    let edges: Vec<(String, Edges)> = {
        let known = Known { transaction, claims: RefCell::default(), about: RefCell::default() };
        for id in ids {
            let Some((claim, set)) = known.get(id)? else { continue };
            let mut found: BTreeMap<Rc<str>, Rc<Claim>> = BTreeMap::new();
            for topic in &claim.topics {
                for peer in known.about(&set, topic)?.iter().filter(|peer| peer.as_ref() != id) {
                    if let Some((other, _)) = known.get(peer)?.filter(|_| !found.contains_key(peer))
                    {
                        found.insert(Rc::clone(peer), other);
                    }
                }
            }
            let peers: Vec<Peer<'_>> =
                found.iter().map(|(id, peer)| Peer { id, topics: &peer.topics }).collect();
            let relinked = links::relink(id, &claim, &peers, &known)?;
            linked += usize::from(!relinked.own.links().is_empty());
            let own = (id.clone(), relinked.own);
            for (id, edges) in relinked.peers.into_iter().chain([own]) {
                if known.set_edges(&id, edges) {
                    changed.insert(id);
                }
            }
        }
        let mut claims = known.claims.into_inner();
        let mut edges = Vec::with_capacity(changed.len());
        for id in changed {
            if let Some(Some((claim, _))) = claims.remove(id.as_str()) {
                edges.push((id, Rc::unwrap_or_clone(claim).edges));
            }
        }
        // The order of a set of hashes is no order.
        edges.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        edges
    };
    let now = transaction.now();
    for (id, edges) in edges {
        let Some(mut claim) = transaction.get(&id)? else { continue };
        write_edges(&edges, &mut claim);
        claim.insert("updated".into(), now.format_ms().into());
        put_again(transaction, &claim)?;
    }
    Ok(linked)
}

/// A claim and its set.
type Seen = (Rc<Claim>, Rc<str>);

/// What was read of a workspace, and what became of it since.
struct Known<'t, 'a> {
    transaction: &'t Transaction<'a>,
    /// Live claims by id; none for an id that is no live claim's.
    claims: RefCell<FxHashMap<Rc<str>, Option<Seen>>>,
    /// Ids of the newest claims by the key of a topic in a set.
    about: RefCell<FxHashMap<u64, Rc<[Rc<str>]>>>,
}

impl Known<'_, '_> {
    fn get(&self, id: &str) -> Result<Option<Seen>, pack::Error> {
        if let Some(known) = self.claims.borrow().get(id) {
            return Ok(known.clone());
        }
        let record = self.transaction.get(id)?;
        Ok(self.keep(id.into(), record.as_ref()))
    }

    fn keep(&self, id: Rc<str>, record: Option<&Record>) -> Option<Seen> {
        let live = record.filter(|record| is_live(record, self.transaction.now()));
        let seen =
            live.and_then(|record| Some((Rc::new(Claim::of(record)?), Rc::from(set_of(record)))));
        self.claims.borrow_mut().insert(id, seen.clone());
        seen
    }

    fn about(&self, set: &str, topic: &str) -> Result<Rc<[Rc<str>]>, pack::Error> {
        let key = topic_key_in(set, topic);
        if let Some(known) = self.about.borrow().get(&key) {
            return Ok(Rc::clone(known));
        }
        let mut ids = Vec::new();
        for record in self.transaction.newest_with_key(key, CANDIDATES)? {
            let id: Rc<str> = record::id(&record).into();
            if !self.claims.borrow().contains_key(&id) {
                self.keep(Rc::clone(&id), Some(&record));
            }
            // Two names may have one key.
            let near = self.get(&id)?.is_some_and(|(_, other)| other.as_ref() == set);
            if near {
                ids.push(id);
            }
        }
        let ids: Rc<[Rc<str>]> = ids.into();
        self.about.borrow_mut().insert(key, Rc::clone(&ids));
        Ok(ids)
    }

    /// Whether the edges are others than they were.
    fn set_edges(&self, id: &str, edges: Edges) -> bool {
        match self.claims.borrow_mut().get_mut(id) {
            Some(Some((claim, _))) if claim.edges != edges => {
                Rc::make_mut(claim).edges = edges;
                true
            }
            _ => false,
        }
    }
}

impl Claims for Known<'_, '_> {
    type Error = pack::Error;

    fn claim(&self, id: &str) -> Result<Option<Rc<Claim>>, pack::Error> {
        Ok(self.get(id)?.map(|(claim, _)| claim))
    }
}
