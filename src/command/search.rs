//! `packset search QUERY`: the claims that match, best first.

use serde_json::{Value, json};

use crate::cli::args::{Rank, Search};
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::client;
use crate::command::{Context, moment, number, rows, text};
use crate::desk::{Given, route};
use crate::embed::models;

/// Runs the verb.
///
/// # Errors
/// A time or a panel name that is none, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Search) -> Result<Exit, Failure> {
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let mut given = Given::of([
        ("workspace", json!(name)),
        ("q", json!(args.query())),
        ("limit", json!(args.limit)),
        ("kind", json!(args.kind)),
        ("rerank", json!(args.rerank.then_some(true))),
        ("set", json!(args.set)),
        ("min_confidence", json!(args.min_confidence)),
        ("semantic", json!(args.semantic)),
        (
            "rank",
            json!(match args.rank {
                Rank::Fused => "fused",
                Rank::Relevance => "relevance",
            }),
        ),
    ]);
    moment(&mut given, &args.moment);
    if !args.quiet {
        context.ui.note(&format!("packset: workspace {name}"));
    }
    let named = args.semantic.as_deref().filter(|name| models::find(name).is_some());
    let asks = args.semantic.is_none() || named.is_some();
    if !args.quiet && asks && client::loads_a_model(context, &route::SEARCH, named.is_some()) {
        // Some hundred milliseconds, or seconds of a large one: say what is waited for.
        let model = named.map(str::to_owned).or_else(|| context.model());
        let model = model.unwrap_or_else(|| "the model".to_owned());
        context.ui.note(&format!("packset: loading {model}; a writer that runs keeps it warm"));
    }
    let answer = context.ask(&route::SEARCH, given)?;
    context.mind_the_gap(&answer);
    let stem = answer.get("stem").and_then(Value::as_bool);
    if let Some(stem) = stem.filter(|stem| *stem != context.stem() && !args.quiet) {
        let has = if stem { "stems its words" } else { "does not stem its words" };
        context.ui.note(&format!(
            "packset: workspace {name} {has}, as it was made; PACKSET_STEM changes only new ones"
        ));
    }
    if let Some(model) = named.filter(|_| text(&answer, "engine") != "dense" && !args.quiet) {
        context
            .ui
            .note(&format!("packset: {model} does not answer; `packset model check` says why"));
    }
    let rerank = text(&answer, "rerank");
    if args.rerank && !args.quiet && matches!(rerank, "settled" | "absent") {
        let why = match rerank {
            "settled" => "settled: one candidate cannot be reordered",
            _ => "absent: there is no reranker; the order is the panel's",
        };
        context.ui.note(&format!("packset: rerank {why}"));
    }
    let empty = rows(&answer, "hits").is_empty();
    let sure = answer.get("confidence").and_then(Value::as_f64);
    let confident = answer.get("confident").and_then(Value::as_bool).unwrap_or(true);
    if let Some(sure) = sure.filter(|_| !confident && !args.quiet) {
        context.ui.note(&format!(
            "packset: nothing in {name} surely answers this (confidence {sure:.2})"
        ));
    }
    if context.json {
        context.answer("search", answer)?;
    } else {
        for hit in rows(&answer, "hits") {
            let id = hit.get("id").and_then(Value::as_str).unwrap_or("-");
            let mut cells = vec![
                Cell::dim(format!("{:.4}", number(hit, "score"))),
                Cell::accent(text(hit, "kind")),
                Cell::dim(id),
                Cell::plain(text(hit, "text")),
            ];
            if let Some(score) = hit.get("rerank_score").and_then(Value::as_f64) {
                cells.push(Cell::dim(format!("{score:.4}")));
            }
            context.ui.row(&cells)?;
        }
    }
    Ok(if empty && args.quiet { Exit::Refused } else { Exit::Done })
}
