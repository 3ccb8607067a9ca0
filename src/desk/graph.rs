//! The link graph: its clusters, its hubs, what a cue wakes, and what fires together.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Desk, Given};
use crate::claim::network::{self, Fired, Network};
use crate::cli::Failure;
use crate::graph::{Edges, activation, hubs as ranks, islands as communities};
use crate::pack::record::{self, Record};
use crate::pack::{self, Snapshot, View};
use crate::search::{self, Query, Rank};
use crate::text::Tokenizer;

/// Hubs that are shown unless it is said (observed).
const HUBS: usize = 10;
/// Claims of an island that are shown unless it is said (observed).
const SHOWN: usize = 24;
/// Hits that are asked for: more than become seeds, so that the agreed ones can be counted.
const ASKED: usize = 16;

/// The link graph's communities, largest first.
///
/// # Errors
/// What the pack says.
pub fn islands(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let mut answer = json!({
        "workspace": name, "islands": [], "atoms": 0, "method": "modularity", "modularity": 0.0,
    });
    let Some(snapshot) = desk.snapshot(&name)? else { return Ok(answer) };
    let network = Network::of(&snapshot, &View::now(desk.clock.now()))?;
    let found = communities::louvain(&network.graph);
    let mut rows = Vec::with_capacity(found.islands.len());
    for island in &found.islands {
        let claims = island.iter().filter_map(|node| network.places.get(*node as usize));
        let atoms = claims.map(|place| Ok(brief(&snapshot.fields(*place, &BRIEF)?)));
        rows.push(json!({
            "size": island.len(),
            "signature": communities::signature(&network.graph, island),
            "atoms": atoms.collect::<Result<Vec<Value>, pack::Error>>()?,
        }));
    }
    answer["islands"] = rows.into();
    answer["atoms"] = network.places.len().into();
    answer["modularity"] = found.modularity.into();
    Ok(answer)
}

/// What [`brief`] shows.
const BRIEF: [&str; 3] = ["id", "kind", "text"];

fn brief(claim: &Record) -> Value {
    json!({
        "id": record::id(claim),
        "kind": record::kind(claim),
        "text": record::string(claim, "text"),
    })
}

/// The claims that the link graph turns on, highest first.
///
/// # Errors
/// What the pack says.
pub fn hubs(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    // A limit that is none counts as none (observed).
    let limit = given.count("limit", HUBS).unwrap_or(HUBS);
    let Some(snapshot) = desk.snapshot(&name)? else {
        return Ok(json!({ "workspace": name, "hubs": [], "atoms": 0 }));
    };
    let network = Network::of(&snapshot, &View::now(desk.clock.now()))?;
    let mut rows: Vec<Value> = Vec::new();
    for (node, score) in ranks::top(&ranks::pagerank(&network.graph), limit) {
        let Some(place) = network.places.get(node as usize) else { continue };
        let mut row = brief(&snapshot.fields(*place, &BRIEF)?);
        row["score"] = score.into();
        row["links"] = network.graph.degree(node).into();
        rows.push(row);
    }
    Ok(json!({ "workspace": name, "hubs": rows, "atoms": network.places.len() }))
}

/// What a cue woke.
#[derive(Default)]
struct Woken {
    ranked: Vec<(String, f64)>,
    seeds: Vec<String>,
    agreed: usize,
    claims: BTreeMap<String, Record>,
}

/// The cluster that a cue activates. Seeds are the first hits of the default search; energy
/// spreads two hops along the links, and only the claims that it reaches are read.
///
/// # Errors
/// No cue, or what the pack says.
pub fn activate(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let (name, cue) = (given.workspace()?, given.need("q")?);
    let limit = given.count("limit", SHOWN)?;
    let persona = given.text("as");
    let store = desk.store(&name)?;
    let woken = match desk.snapshot_of(&store)? {
        Some(snapshot) => wake(desk, &snapshot, &cue, persona.as_deref())?,
        None => Woken::default(),
    };
    let weak = activation::is_weak(woken.agreed);
    let mut fired = Fired::default();
    if given.flag("fire") && !weak {
        let top = woken.ranked.iter().take(activation::WIRED);
        let ids: Vec<String> = top.map(|(id, _)| id.clone()).collect();
        fired = wire(desk, &name, ids, Some(cue), persona.clone())?;
    }
    let shown = woken.ranked.iter().take(limit);
    let rows: Vec<Value> = shown
        .filter_map(|(id, activation)| {
            let claim = woken.claims.get(id)?;
            let mut row = brief(claim);
            row["ts"] = claim.get("ts").cloned().unwrap_or_default();
            row["activation"] = (*activation).into();
            row["seed"] = woken.seeds.contains(id).into();
            Some(row)
        })
        .collect();
    Ok(json!({
        "workspace": name,
        "island": rows,
        "seeds": woken.seeds.len(),
        "agreed_seeds": woken.agreed,
        "weak": weak,
        "dense": false,
        "hops": activation::HOPS,
        "fired": fired.changed,
        "held": fired.held,
        "as": persona.unwrap_or_default(),
    }))
}

fn wake(
    desk: &Desk,
    snapshot: &Snapshot,
    cue: &str,
    persona: Option<&str>,
) -> Result<Woken, Failure> {
    let view = View::now(desk.clock.now());
    let query = Query {
        text: cue,
        limit: ASKED,
        view,
        rank: Rank::Fused,
        kind: None,
        set: None,
        panel: desk.panel()?,
    };
    let mut tokenizer = Tokenizer::new(snapshot.manifest().text.stem);
    let hits = search::search(snapshot, &mut tokenizer, &query)?.hits;
    let mut woken = Woken::default();
    let mut energy = Vec::new();
    woken.agreed = hits.iter().filter(|hit| activation::is_agreed(hit.ballots, hit.of)).count();
    for hit in hits.into_iter().take(activation::SEEDS) {
        let claim = snapshot.record(hit.version)?;
        let id = record::id(&claim).to_owned();
        energy.push((id.clone(), f64::from(hit.score)));
        woken.seeds.push(id.clone());
        woken.claims.insert(id, claim);
    }
    let claims = &mut woken.claims;
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
    woken.ranked = activation::activate(energy, |id: &String| {
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
    Ok(woken)
}

/// Claims that were used together.
///
/// # Errors
/// Fewer than two ids, or what the pack says.
pub fn fire(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let ids = given.list("ids");
    if ids.iter().collect::<BTreeSet<_>>().len() < 2 {
        return Err(Failure::usage("one claim cannot fire together with itself")
            .hint("name two ids or more"));
    }
    let fired = wire(desk, &name, ids, None, given.text("as"))?;
    Ok(json!({
        "workspace": name, "fired": fired.found, "changed": fired.changed, "held": fired.held,
    }))
}

fn wire(
    desk: &Desk,
    name: &str,
    ids: Vec<String>,
    cue: Option<String>,
    persona: Option<String>,
) -> Result<Fired, Failure> {
    let done = desk.commit_existing(&desk.store(name)?, move |transaction| {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let _ = &persona;
        Ok(network::fire_together(transaction, &ids, cue.as_deref())?)
    })?;
    Ok(done.map(|(fired, _)| fired).unwrap_or_default())
}
