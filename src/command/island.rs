//! `packset island [--fire] CUE`: the memories that a cue activates, strongest first.
//!
//! Seeds are the first hits of the default search; energy spreads two hops along the links, and
//! only the claims that it reaches are read.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::claim::network::{self, Fired};
use crate::cli::args::Island;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::search::panel;
use crate::command::{Context, schema};
use crate::graph::{Edges, activation};
use crate::pack::record::{self, Record};
use crate::pack::{self, Snapshot, View};
use crate::search::{self, Query, Rank};
use crate::text::Tokenizer;

/// Hits that are asked for: more than become seeds, so that the agreed ones can be counted.
const ASKED: usize = 16;

/// Runs the verb.
///
/// # Errors
/// What the pack says.
pub fn run(context: &mut Context<'_>, args: &Island) -> Result<Exit, Failure> {
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let store = context.store(&name)?;
    let cue = args.cue();
    let woken = match store.snapshot()? {
        Some(snapshot) => wake(context, &snapshot, &cue)?,
        None => Woken::default(),
    };
    let mut fired = Fired::default();
    if args.fire && !activation::is_weak(woken.agreed) {
        let ids: Vec<&str> =
            woken.ranked.iter().take(activation::WIRED).map(|(id, _)| id.as_str()).collect();
        let done = store
            .commit_existing(|transaction| network::fire_together(transaction, &ids, Some(&cue)))?;
        fired = done.map(|(fired, _)| fired).unwrap_or_default();
    }
    let shown = woken.ranked.iter().take(args.limit as usize);
    let mut rows: Vec<Value> = Vec::new();
    for (id, activation) in shown {
        let Some(claim) = woken.claims.get(id) else { continue };
        let seed = woken.seeds.contains(id);
        let text = record::string(claim, "text").unwrap_or_default();
        if context.json {
            rows.push(json!({
                "id": id,
                "kind": record::kind(claim),
                "text": text,
                "ts": claim.get("ts"),
                "activation": activation,
                "seed": seed,
            }));
        } else {
            context.ui.row(&[
                Cell::dim(format!("{activation:.3}")),
                Cell::accent(if seed { "seed" } else { "    " }),
                Cell::dim(id.as_str()),
                Cell::plain(text),
            ])?;
        }
    }
    if context.json {
        context.ui.json(&json!({
            "schema": schema("island"),
            "workspace": name,
            "island": rows,
            "seeds": woken.seeds.len(),
            "agreed_seeds": woken.agreed,
            "weak": activation::is_weak(woken.agreed),
            "hops": activation::HOPS,
            "fired": fired.changed,
            "held": fired.held,
        }))?;
    }
    Ok(Exit::Done)
}

/// What a cue woke.
#[derive(Default)]
struct Woken {
    ranked: Vec<(String, f64)>,
    seeds: Vec<String>,
    agreed: usize,
    claims: BTreeMap<String, Record>,
}

fn wake(context: &Context<'_>, snapshot: &Snapshot, cue: &str) -> Result<Woken, Failure> {
    let view = View::now(context.clock.now());
    let query = Query {
        text: cue,
        limit: ASKED,
        view,
        rank: Rank::Fused,
        kind: None,
        set: None,
        panel: panel(context)?,
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
                let back = Edges::of(&peer).weight(id, None);
                links.push((link.clone(), edges.weight(link, None).max(back)));
            }
        }
        Ok::<_, pack::Error>(links)
    })?;
    Ok(woken)
}
