//! The link graph: its clusters, its hubs, what a cue wakes, and what fires together.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Desk, Given, find};
use crate::claim::network::{self, Fired, Network, Woken};
use crate::cli::Failure;
use crate::graph::{activation, hubs as ranks, islands as communities};
use crate::pack::record::{self, Record};
use crate::pack::{self, View};

/// Hubs that are shown unless it is said (observed).
const HUBS: usize = 10;
/// Claims of an island that are shown unless it is said (observed).
const SHOWN: usize = 24;

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

/// The persona whose lens a request asks for.
fn persona(given: &Given) -> Result<Option<String>, Failure> {
    let named = given.text("as").unwrap_or_default();
    Ok(network::persona(&named)?.map(str::to_owned))
}

/// The cluster that a cue activates; with `fire` its strongest are wired together.
///
/// # Errors
/// No cue, or what the pack says.
pub fn activate(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let (name, cue) = (given.workspace()?, given.need("q")?);
    let limit = given.count("limit", SHOWN)?;
    let persona = persona(&given)?;
    let woken = match desk.snapshot(&name)? {
        Some(snapshot) => {
            let now = desk.clock.now();
            let towards = find::towards(desk, snapshot.manifest().text.stem, &cue);
            let cue = (cue.as_str(), &towards[..]);
            network::wake(&snapshot, cue, desk.panel()?, persona.as_deref(), now)?
        }
        None => Woken::default(),
    };
    let mut fired = Fired::default();
    if given.flag("fire") && !woken.is_weak() {
        let ids = woken.wired().into_iter().map(str::to_owned).collect();
        fired = wire(desk, &name, ids, Some(cue), persona.clone())?;
    }
    let shown = woken.ranked.iter().take(limit);
    let rows: Vec<Value> = shown
        .map(|(claim, activation)| {
            let mut row = brief(claim);
            row["ts"] = claim.get("ts").cloned().unwrap_or_default();
            row["activation"] = (*activation).into();
            row["seed"] = woken.seeds.iter().any(|seed| seed == record::id(claim)).into();
            row
        })
        .collect();
    Ok(json!({
        "workspace": name,
        "island": rows,
        "seeds": woken.seeds.len(),
        "agreed_seeds": woken.agreed,
        "weak": woken.is_weak(),
        "dense": desk.encoders().are_there(),
        "hops": activation::HOPS,
        "fired": fired.changed,
        "held": fired.held,
        "as": persona.unwrap_or_default(),
    }))
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
    let fired = wire(desk, &name, ids, None, persona(&given)?)?;
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
        Ok(network::fire_as(transaction, &ids, cue.as_deref(), persona.as_deref())?)
    })?;
    Ok(done.map(|(fired, _)| fired).unwrap_or_default())
}
