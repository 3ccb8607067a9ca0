//! `packset islands [WS]`: the link graph's clusters, largest first.

use serde_json::{Value, json};

use crate::claim::network::Network;
use crate::cli::args::Listing;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};
use crate::graph::islands;
use crate::pack::View;
use crate::pack::record;

/// Runs the verb.
///
/// # Errors
/// What the pack says.
pub fn run(context: &mut Context<'_>, args: &Listing) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let Some(snapshot) = context.store(&name)?.snapshot()? else { return Ok(Exit::Done) };
    let network = Network::of(&snapshot, &View::now(context.clock.now()))?;
    let found = islands::louvain(&network.graph);
    let text = |node: &u32| {
        let claim = network.claims.get(*node as usize);
        claim.and_then(|claim| record::string(claim, "text")).unwrap_or_default()
    };
    if context.json {
        let rows: Vec<Value> = found
            .islands
            .iter()
            .map(|island| {
                let atoms: Vec<Value> = island
                    .iter()
                    .filter_map(|node| network.claims.get(*node as usize))
                    .map(|claim| {
                        json!({
                            "id": record::id(claim),
                            "kind": record::kind(claim),
                            "text": record::string(claim, "text"),
                        })
                    })
                    .collect();
                json!({
                    "size": island.len(),
                    "signature": islands::signature(&network.graph, island),
                    "atoms": atoms,
                })
            })
            .collect();
        context.ui.json(&json!({
            "schema": schema("islands"),
            "workspace": name,
            "islands": rows,
            "atoms": network.claims.len(),
            "method": "modularity",
            "modularity": found.modularity,
        }))?;
        return Ok(Exit::Done);
    }
    for island in &found.islands {
        let first = island.first().map(text).unwrap_or_default();
        context.ui.row(&[Cell::accent(island.len().to_string()), Cell::plain(first)])?;
    }
    Ok(Exit::Done)
}
