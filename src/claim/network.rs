//! The link graph of a workspace at one moment, and what fires through it.
//!
//! The rules are [`crate::graph`]'s; here records become nodes, and what a fire decides becomes
//! new versions. Holds are records of their own (kind `hold`), so that every process keeps them.
//!
//! Invariant: nodes are in the order in which their claims lie in the pack, live and no mail.

use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use crate::atom::Kind;
use crate::claim;
use crate::claim::settle::Live;
use crate::graph::csr::Graph;
use crate::graph::{Edges, fire};
use crate::pack::record;
use crate::pack::{self, Place, Snapshot, Transaction, View};
use crate::time::Micros;

/// A workspace's live claims and the links between them.
pub struct Network {
    /// Where the claims lie, by node.
    pub places: Vec<Place>,
    /// The links.
    pub graph: Graph,
}

/// Rows that one task reads: at 1 us each, far above what handing them out costs.
const ROWS: u32 = 8192;

/// What the graph needs of one claim.
struct Node {
    place: Place,
    key: u128,
    links: Vec<(u128, f64)>,
}

impl Network {
    /// Reads the graph that a view shows. Costs a look at every version and, of each live claim,
    /// a read of its links and nothing else; on all cores if there are many.
    ///
    /// # Errors
    /// The pack's.
    pub fn of(snapshot: &Snapshot, view: &View) -> Result<Self, pack::Error> {
        let mut tasks: Vec<(u32, Range<u32>)> = Vec::new();
        for (number, segment) in snapshot.segments().iter().enumerate() {
            let rows = segment.rows();
            let starts = (0..rows).step_by(ROWS as usize);
            let upto = |start: u32| start.saturating_add(ROWS).min(rows);
            tasks.extend(starts.map(|start| (number as u32, start..upto(start))));
        }
        let rows: u32 = tasks.iter().map(|(_, rows)| rows.len() as u32).sum();
        let read = |(segment, rows): (u32, Range<u32>)| nodes(snapshot, view, segment, rows);
        let parts: Vec<Vec<Node>> = if rows > ROWS {
            tasks.into_par_iter().map(read).collect::<Result<_, _>>()?
        } else {
            tasks.into_iter().map(read).collect::<Result<_, _>>()?
        };
        let nodes: Vec<Node> = parts.into_iter().flatten().collect();
        let numbers: FxHashMap<u128, u32> =
            nodes.iter().zip(0..).map(|(node, number)| (node.key, number)).collect();
        let mut links = Vec::new();
        for (node, number) in nodes.iter().zip(0..) {
            let known = node
                .links
                .iter()
                .filter_map(|(key, weight)| numbers.get(key).map(|peer| (number, *peer, *weight)));
            links.extend(known);
        }
        let graph = Graph::new(nodes.len(), &links);
        Ok(Self { places: nodes.into_iter().map(|node| node.place).collect(), graph })
    }
}

/// The claims among some rows of a segment.
fn nodes(
    snapshot: &Snapshot,
    view: &View,
    number: u32,
    rows: Range<u32>,
) -> Result<Vec<Node>, pack::Error> {
    let mut found = Vec::new();
    for row in rows {
        let place = Place { segment: number, row };
        if !snapshot.visible(place, view) {
            continue;
        }
        let segment = snapshot.segment(place);
        let kind = Kind::named(segment.kind(row)?);
        let key = segment.id(row).filter(|_| kind.is_some_and(|kind| !kind.is_mail()));
        let Some(key) = key else { continue };
        let edges = Edges::of(&snapshot.fields(place, &["links", "link_weights"])?);
        let weighed = |link: &String| (record::key(link), edges.weight(link, None));
        found.push(Node { place, key, links: edges.links().iter().map(weighed).collect() });
    }
    Ok(found)
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
