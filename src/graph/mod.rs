//! The link graph: which claims stand beside one another, how strongly, and what follows from it.
//!
//! Pure rules over what they are handed: no store, no clock, no search. Whoever holds the claims
//! shows them through [`Claims`] and writes back the [`Edges`] that a rule returns.
//! Invariants: a link stands on both its ends; no claim has more than [`links::MOST`]; a weight
//! lies in (0, 1] and belongs to a link that exists; mail has no place here; the same input gives
//! the same answer, in the same order, on any number of threads.
//!
//! Reading order: [`topics`] (what a claim is about), [`links`] (who becomes a neighbour),
//! [`fire`] (how weights move), [`csr`] (the whole graph as arrays), [`islands`] and [`hubs`]
//! (its clusters and its centres), [`activation`] (what a cue wakes).

pub mod activation;
pub mod csr;
pub mod fire;
pub mod hubs;
pub mod islands;
pub mod links;
pub mod topics;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::rc::Rc;

use serde_json::{Map, Value};

use crate::atom::Kind;

/// What a link weighs before any fire has moved it (the page, `link_weights`).
pub const DEFAULT_WEIGHT: f64 = 0.5;

/// Two scores nearer than this are one score, so that equals come in order of their nodes and not
/// of rounding errors. A thousand times finer than where PageRank stops.
const GRAIN: f64 = 1e-12;

/// A score in whole grains.
fn grains(score: f64) -> i64 {
    (score / GRAIN).round() as i64
}

/// Weights by the id at the link's far end.
pub type Weights = BTreeMap<String, f64>;

/// The links of one claim and their weights, as its record carries them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edges {
    /// Ids of the neighbours, sorted, each once.
    links: Vec<String>,
    /// Weights that everybody reads.
    shared: Weights,
    /// A persona's own weights, by its name.
    lenses: BTreeMap<String, Weights>,
}

impl Edges {
    /// Reads `links`, `link_weights` and `link_weights_by`.
    ///
    /// What is no weight in (0, 1], or weighs no link of this record, is not read.
    pub fn of(record: &Map<String, Value>) -> Self {
        let ids = record.get("links").and_then(Value::as_array).into_iter().flatten();
        let mut links: Vec<String> = ids.filter_map(Value::as_str).map(str::to_owned).collect();
        links.sort_unstable();
        links.dedup();
        let weights = |value: Option<&Value>| -> Weights {
            let entries = value.and_then(Value::as_object).into_iter().flatten();
            entries
                .filter_map(|(id, weight)| Some((id.clone(), weight.as_f64()?)))
                .filter(|(id, weight)| is_weight(*weight) && links.binary_search(id).is_ok())
                .collect()
        };
        let shared = weights(record.get("link_weights"));
        let personas = record.get("link_weights_by").and_then(Value::as_object);
        let lenses = personas
            .into_iter()
            .flatten()
            .map(|(name, own)| (name.clone(), weights(Some(own))))
            .filter(|(_, own)| !own.is_empty())
            .collect();
        Self { links, shared, lenses }
    }

    /// Writes the three fields; weights that nobody set leave no field behind.
    pub fn write(&self, record: &mut Map<String, Value>) {
        let object = |weights: &Weights| -> Value {
            weights.iter().map(|(id, weight)| (id.clone(), Value::from(*weight))).collect()
        };
        let mut put = |name: &str, is_empty: bool, value: Value| {
            if is_empty {
                record.shift_remove(name);
            } else {
                record.insert(name.to_owned(), value);
            }
        };
        put("links", false, self.links.iter().map(String::as_str).collect());
        put("link_weights", self.shared.is_empty(), object(&self.shared));
        let lenses = self.lenses.iter().map(|(name, own)| (name.clone(), object(own))).collect();
        put("link_weights_by", self.lenses.is_empty(), lenses);
    }

    /// Ids of the neighbours, sorted, each once.
    pub fn links(&self) -> &[String] {
        &self.links
    }

    /// Whether there is a link to `id`.
    pub fn has(&self, id: &str) -> bool {
        self.find(id).is_ok()
    }

    /// What this end says that the link to `id` weighs, seen as `persona`: the persona's own
    /// weight, else the shared one, else [`DEFAULT_WEIGHT`].
    pub fn weight(&self, id: &str, persona: Option<&str>) -> f64 {
        let own = persona.and_then(|name| self.lenses.get(name)?.get(id));
        own.or_else(|| self.shared.get(id)).copied().unwrap_or(DEFAULT_WEIGHT)
    }

    fn find(&self, id: &str) -> Result<usize, usize> {
        self.links.binary_search_by(|link| link.as_str().cmp(id))
    }

    fn add(&mut self, id: &str) {
        if let Err(at) = self.find(id) {
            self.links.insert(at, id.to_owned());
        }
    }

    /// Takes the link and everything that weighed it.
    pub fn remove(&mut self, id: &str) {
        if let Ok(at) = self.find(id) {
            self.links.remove(at);
        }
        self.shared.remove(id);
        self.lenses.retain(|_, own| {
            own.remove(id);
            !own.is_empty()
        });
    }

    /// Sets a weight, if there is such a link.
    fn weigh(&mut self, id: &str, persona: Option<&str>, weight: f64) {
        if !self.has(id) {
            return;
        }
        let weights = match persona {
            Some(name) => self.lenses.entry(name.to_owned()).or_default(),
            None => &mut self.shared,
        };
        weights.insert(id.to_owned(), weight);
    }
}

/// Whether a number may weigh a link (the page: "in (0, 1]").
fn is_weight(weight: f64) -> bool {
    weight > 0.0 && weight <= 1.0
}

/// What the graph knows of one claim.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claim {
    /// Its links.
    pub edges: Edges,
    /// What it is about: sorted, each once ([`topics::of`]).
    pub topics: Vec<String>,
    /// Whether it has a review clock, whose `used` a fire counts up.
    pub reviewed: bool,
}

impl Claim {
    /// Reads a record; none if the graph has no place for it: mail, and what is no claim.
    pub fn of(record: &Map<String, Value>) -> Option<Self> {
        let kind = Kind::of(record)?;
        let reviewed = record.get("review").is_some_and(Value::is_object);
        let claim = || Self { edges: Edges::of(record), topics: topics::of(record), reviewed };
        (!kind.is_mail()).then(claim)
    }
}

/// The claims that are live, as one snapshot shows them.
pub trait Claims {
    /// Why a claim could not be read.
    type Error;

    /// The claim of an id; none if it is unknown, not live, or not the graph's ([`Claim::of`]).
    ///
    /// # Errors
    /// Whatever keeps the claim from being read.
    fn claim(&self, id: &str) -> Result<Option<Rc<Claim>>, Self::Error>;
}

impl Claims for BTreeMap<String, Claim> {
    type Error = Infallible;

    fn claim(&self, id: &str) -> Result<Option<Rc<Claim>>, Infallible> {
        Ok(self.get(id).cloned().map(Rc::new))
    }
}

/// The claims that a rule has in hand: each is read once, changed here, and compared at the end.
struct Desk<'a, C> {
    claims: &'a C,
    held: BTreeMap<String, Option<Held>>,
}

/// Shared until it is changed: of a neighbour's neighbours most are only looked at.
struct Held {
    before: Rc<Claim>,
    now: Rc<Claim>,
}

impl<'a, C: Claims> Desk<'a, C> {
    fn new(claims: &'a C) -> Self {
        Self { claims, held: BTreeMap::new() }
    }

    /// Lays down a claim that the snapshot does not show, or shows as it was before.
    fn lay(&mut self, id: &str, claim: &Claim) {
        let before = Rc::new(claim.clone());
        self.held.insert(id.to_owned(), Some(Held { now: Rc::clone(&before), before }));
    }

    fn held(&mut self, id: &str) -> Result<Option<&mut Held>, C::Error> {
        if !self.held.contains_key(id) {
            let claim = self.claims.claim(id)?;
            let held = claim.map(|now| Held { before: Rc::clone(&now), now });
            self.held.insert(id.to_owned(), held);
        }
        Ok(self.held.get_mut(id).and_then(Option::as_mut))
    }

    fn get(&mut self, id: &str) -> Result<Option<Rc<Claim>>, C::Error> {
        Ok(self.held(id)?.map(|held| Rc::clone(&held.now)))
    }

    /// The edges of a claim, to be changed.
    fn edges(&mut self, id: &str) -> Result<Option<&mut Edges>, C::Error> {
        Ok(self.held(id)?.map(|held| &mut Rc::make_mut(&mut held.now).edges))
    }

    /// The links of a claim; empty if there is no such claim.
    fn links(&mut self, id: &str) -> Result<Vec<String>, C::Error> {
        Ok(self.get(id)?.map(|claim| claim.edges.links.clone()).unwrap_or_default())
    }

    /// Links two claims, if they are not. A link that one end alone has kept was dropped by the
    /// other, weights and all, and starts anew.
    fn join(&mut self, one: &str, other: &str) -> Result<(), C::Error> {
        let stands = self.has(one, other)? && self.has(other, one)?;
        if !stands {
            self.part(one, other)?;
            for (id, link) in [(one, other), (other, one)] {
                if let Some(edges) = self.edges(id)? {
                    edges.add(link);
                }
            }
        }
        Ok(())
    }

    fn has(&mut self, id: &str, link: &str) -> Result<bool, C::Error> {
        Ok(self.get(id)?.is_some_and(|claim| claim.edges.has(link)))
    }

    /// Takes a link from both its ends.
    fn part(&mut self, one: &str, other: &str) -> Result<(), C::Error> {
        for (id, link) in [(one, other), (other, one)] {
            if self.has(id, link)?
                && let Some(edges) = self.edges(id)?
            {
                edges.remove(link);
            }
        }
        Ok(())
    }

    /// Takes the links to claims that are no longer there. Readers never see those; they go when
    /// their place is needed, so that a claim with eight dead neighbours can have live ones.
    fn bury(&mut self, id: &str) -> Result<(), C::Error> {
        let Some(claim) = self.get(id)? else { return Ok(()) };
        for link in claim.edges.links() {
            if self.held(link)?.is_none() {
                self.part(id, link)?;
            }
        }
        Ok(())
    }

    /// The claims whose edges are no longer what they were, in order of their ids.
    fn changes(self) -> impl Iterator<Item = (String, Edges)> {
        self.held.into_iter().filter_map(|(id, held)| {
            let held = held?;
            let changed = !Rc::ptr_eq(&held.before, &held.now);
            let changed = changed && held.before.edges != held.now.edges;
            changed.then(|| (id, Rc::unwrap_or_clone(held.now).edges))
        })
    }
}

/// FNV-1a, 64 bits (Fowler, Noll, Vo), of the bytes put in.
struct Fnv(u64);

impl Fnv {
    const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn put(self, bytes: &[u8]) -> Self {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        Self(bytes.iter().fold(self.0, step))
    }
}

#[cfg(test)]
mod tests;
