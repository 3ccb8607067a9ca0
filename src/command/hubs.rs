//! `packset hubs [WS]`: the claims that the link graph turns on, highest first.

use serde_json::{Value, json};

use crate::claim::network::Network;
use crate::cli::args::Hubs;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};
use crate::graph::hubs;
use crate::pack::View;
use crate::pack::record;

/// Runs the verb.
///
/// # Errors
/// What the pack says.
pub fn run(context: &mut Context<'_>, args: &Hubs) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let Some(snapshot) = context.store(&name)?.snapshot()? else { return Ok(Exit::Done) };
    let network = Network::of(&snapshot, &View::now(context.clock.now()))?;
    let ranks = hubs::pagerank(&network.graph);
    let mut rows: Vec<Value> = Vec::new();
    for (node, score) in hubs::top(&ranks, args.limit as usize) {
        let Some(claim) = network.claims.get(node as usize) else { continue };
        let text = record::string(claim, "text").unwrap_or_default();
        let links = network.graph.degree(node);
        if context.json {
            rows.push(json!({
                "id": record::id(claim),
                "kind": record::kind(claim),
                "text": text,
                "score": score,
                "links": links,
            }));
        } else {
            context.ui.row(&[
                Cell::dim(format!("{score:.4}")),
                Cell::dim(links.to_string()),
                Cell::dim(record::id(claim)),
                Cell::plain(text),
            ])?;
        }
    }
    if context.json {
        context.ui.json(&json!({
            "schema": schema("hubs"),
            "workspace": name,
            "hubs": rows,
            "atoms": network.claims.len(),
        }))?;
    }
    Ok(Exit::Done)
}
