//! The link graph of a workspace at one moment, and what fires through it.
//!
//! The rules are [`crate::graph`]'s; here records become nodes, and what a fire decides becomes
//! new versions. Holds are records of their own (kind `hold`), so that every process keeps them.
//!
//! Invariant: nodes are in the order in which their claims lie in the pack, live and no mail.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::atom::Kind;
use crate::claim;
use crate::claim::settle::Live;
use crate::graph::csr::Graph;
use crate::graph::{Edges, fire};
use crate::pack::record::{self, Record};
use crate::pack::{self, Snapshot, Transaction, View};
use crate::time::Micros;

/// A workspace's live claims and the links between them.
pub struct Network {
    /// The claims, by node.
    pub claims: Vec<Record>,
    /// The links.
    pub graph: Graph,
}

impl Network {
    /// Reads the graph that a view shows. Costs a read of every live claim.
    ///
    /// # Errors
    /// The pack's.
    pub fn of(snapshot: &Snapshot, view: &View) -> Result<Self, pack::Error> {
        let mut claims = Vec::new();
        for place in snapshot.shown(view) {
            let kind = Kind::named(snapshot.segment(place).kind(place.row)?);
            if kind.is_some_and(|kind| !kind.is_mail()) {
                claims.push(snapshot.record(place)?);
            }
        }
        let nodes: BTreeMap<&str, u32> =
            claims.iter().zip(0..).map(|(claim, node)| (record::id(claim), node)).collect();
        let mut links = Vec::new();
        for (claim, node) in claims.iter().zip(0..) {
            let edges = Edges::of(claim);
            for link in edges.links() {
                if let Some(peer) = nodes.get(link.as_str()) {
                    links.push((node, *peer, edges.weight(link, None)));
                }
            }
        }
        let graph = Graph::new(claims.len(), &links);
        Ok(Self { claims, graph })
    }
}

/// What a fire did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fired {
    /// Claims that were found.
    pub found: usize,
    /// Records that changed.
    pub changed: usize,
    /// Whether the same fired within the hour, so that nothing moved.
    pub held: bool,
}

/// Fires claims together. The hold is that of the claims, or of `cue` if they come from one.
///
/// # Errors
/// The pack's.
pub fn fire_together(
    transaction: &mut Transaction<'_>,
    ids: &[&str],
    cue: Option<&str>,
) -> Result<Fired, pack::Error> {
    let now = transaction.now();
    let found = fire::found(ids, &Live(transaction))?;
    let hold = match cue {
        Some(cue) => Some(fire::hold_of_cue(None, cue)),
        None => fire::hold_of_claims(None, &found),
    };
    // Only claims that were found start the hour.
    let Some(hold) = hold.filter(|_| !found.is_empty()) else { return Ok(Fired::default()) };
    let id = format!("hold/{hold}");
    let last = transaction.get(&id)?;
    let last = last.as_ref().and_then(|hold| record::string(hold, "at")).and_then(Micros::parse);
    if last.is_some_and(|last| fire::is_held(last, now)) {
        return Ok(Fired { held: true, ..Fired::default() });
    }
    let fired = fire::fire(ids, None, &Live(transaction))?;
    for change in &fired.changes {
        let Some(mut claim) = transaction.get(&change.id)? else { continue };
        if let Some(edges) = &change.edges {
            edges.write(&mut claim);
        }
        if change.used
            && let Some(Value::Object(review)) = claim.get_mut("review")
        {
            let used = review.get("used").and_then(Value::as_u64).unwrap_or_default();
            review.insert("used".into(), (used + 1).into());
        }
        claim.insert("updated".into(), now.format_ms().into());
        transaction.put(claim.clone(), claim::keys(&claim))?;
    }
    if let Value::Object(hold) = json!({ "kind": "hold", "id": id, "at": now.format_ms() }) {
        transaction.put(hold, Vec::new())?;
    }
    Ok(Fired { found: fired.found.len(), changed: fired.changes.len(), held: false })
}
