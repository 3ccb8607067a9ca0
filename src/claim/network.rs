//! The link graph of a workspace at one moment, and what fires through it.
//!
//! The rules are [`crate::graph`]'s; here records become nodes, and what a fire decides becomes
//! new versions. Holds are records of their own (kind `hold`), so that every process keeps them.
//!
//! Invariant: nodes are in the order in which their claims lie in the pack, live and no mail.

use std::collections::BTreeMap;
use std::ops::Range;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use crate::atom::{Kind, Refusal, shortened, unsafe_text};
use crate::claim;
use crate::claim::settle::Live;
use crate::graph::csr::Graph;
use crate::graph::{Edges, activation, fire};
use crate::pack::record::{self, Record};
use crate::pack::{self, Place, Snapshot, Transaction, View};
use crate::search::panel::Panel;
use crate::search::{self, Found, Hit, Query, Rank, Towards};
use crate::text::Tokenizer;
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

/// What a cue woke.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Woken {
    /// Claims that energy reached and their activation, strongest first.
    pub ranked: Vec<(Record, f64)>,
    /// Ids of the seeds.
    pub seeds: Vec<String>,
    /// Hits that the ballots agreed on.
    pub agreed: usize,
}

impl Woken {
    /// Whether no two ballots agreed on enough: then nothing fires.
    pub fn is_weak(&self) -> bool {
        activation::is_weak(self.agreed)
    }

    /// The ids that a cue wires together.
    pub fn wired(&self) -> Vec<&str> {
        self.ranked.iter().take(activation::WIRED).map(|(claim, _)| record::id(claim)).collect()
    }
}

/// Hits that a cue asks for: more than become seeds, so that the agreed ones can be counted.
const ASKED: usize = 16;

/// The claims that a cue activates: the first hits of the default search, and what energy reaches
/// from them over two hops of links, as a [`persona`] weighs them. A cue may bring its
/// vectors. Reads only what is reached.
///
/// # Errors
/// The pack's.
pub fn wake(
    snapshot: &Snapshot,
    cue: (&str, &[Towards]),
    panel: Panel,
    persona: Option<&str>,
    now: Micros,
) -> Result<Woken, pack::Error> {
    let (cue, towards) = cue;
    let view = View::now(now);
    let query =
        Query { text: cue, limit: ASKED, view, rank: Rank::Fused, kind: None, set: None, panel };
    let mut tokenizer = Tokenizer::new(snapshot.manifest().text.stem);
    let found = search::search_beside(Some(snapshot), &mut tokenizer, &query, &[], towards)?.0;
    let hits: Vec<Hit> = found.into_iter().filter_map(Found::into_claim).collect();
    let mut claims: BTreeMap<String, Record> = BTreeMap::new();
    let mut woken = Woken::default();
    let mut energy = Vec::new();
    woken.agreed = hits.iter().filter(|hit| activation::is_agreed(hit.ballots, hit.of)).count();
    for hit in hits.into_iter().take(activation::SEEDS) {
        let claim = snapshot.record(hit.version)?;
        let id = record::id(&claim).to_owned();
        energy.push((id.clone(), f64::from(hit.score)));
        woken.seeds.push(id.clone());
        claims.insert(id, claim);
    }
    let mut read = |id: &str| -> Result<Option<Record>, pack::Error> {
        if let Some(claim) = claims.get(id) {
            return Ok(Some(claim.clone()));
        }
        let Some(place) = snapshot.version(record::key(id), &view) else { return Ok(None) };
        let claim = snapshot.record(place)?;
        if !snapshot.live(place, &view) || record::id(&claim) != id {
            return Ok(None);
        }
        claims.insert(id.to_owned(), claim.clone());
        Ok(Some(claim))
    };
    let ranked = activation::activate(energy, |id: &String| {
        let Some(claim) = read(id)? else { return Ok(Vec::new()) };
        let edges = Edges::of(&claim);
        let mut links = Vec::with_capacity(edges.links().len());
        for link in edges.links() {
            if let Some(peer) = read(link)? {
                let back = Edges::of(&peer).weight(id, persona);
                links.push((link.clone(), edges.weight(link, persona).max(back)));
            }
        }
        Ok::<_, pack::Error>(links)
    })?;
    for (id, energy) in ranked {
        woken.ranked.extend(claims.remove(&id).map(|claim| (claim, energy)));
    }
    Ok(woken)
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

/// Characters in the name of a persona, at most: it is a key in the record of every claim that
/// fires as it, and is held to what one card line may be.
const PERSONA_LIMIT: usize = 200;

/// The persona that a name stands for; a blank one is nobody's, so the shared weights count.
///
/// # Errors
/// A name with a secret in it, or one that is too long.
pub fn persona(name: &str) -> Result<Option<&str>, Refusal> {
    let name = name.trim();
    if let Some(kind) = unsafe_text(name) {
        return Err(Refusal::Unsafe { field: "as".into(), kind });
    }
    if name.chars().nth(PERSONA_LIMIT).is_some() {
        let value = shortened(name);
        return Err(Refusal::Field { field: "as", wanted: "a name of 200 characters", value });
    }
    Ok(Some(name).filter(|name| !name.is_empty()))
}

/// Fires claims together, with everybody's weights. The hold is that of the claims, or of `cue` if
/// they come from one.
///
/// # Errors
/// The pack's.
pub fn fire_together(
    transaction: &mut Transaction<'_>,
    ids: &[&str],
    cue: Option<&str>,
) -> Result<Fired, pack::Error> {
    fire_as(transaction, ids, cue, None)
}

/// Fires claims together as a [`persona`]: its own weights move, the shared ones do not, and its
/// hold is its own.
///
/// # Errors
/// The pack's.
pub fn fire_as(
    transaction: &mut Transaction<'_>,
    ids: &[&str],
    cue: Option<&str>,
    persona: Option<&str>,
) -> Result<Fired, pack::Error> {
    let now = transaction.now();
    let found = fire::found(ids, &Live(transaction))?;
    let hold = match cue {
        Some(cue) => Some(fire::hold_of_cue(persona, cue)),
        None => fire::hold_of_claims(persona, &found),
    };
    // Only claims that were found start the hour.
    let Some(hold) = hold.filter(|_| !found.is_empty()) else { return Ok(Fired::default()) };
    let id = format!("hold/{hold}");
    let last = transaction.get(&id)?;
    let last = last.as_ref().and_then(|hold| record::string(hold, "at")).and_then(Micros::parse);
    if last.is_some_and(|last| fire::is_held(last, now)) {
        return Ok(Fired { held: true, ..Fired::default() });
    }
    let fired = fire::fire(ids, persona, &Live(transaction))?;
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
