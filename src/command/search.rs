//! `packset search QUERY`: the claims that match, best first.

use packset_segments::Segment;
use serde_json::{Map, Value, json};

use crate::atom::Kind;
use crate::cli::args::{Rank as Asked, Search};
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};
use crate::pack::record::{self, Record};
use crate::pack::snapshot::Snapshot;
use crate::pack::transaction::knows;
use crate::search::panel::Panel;
use crate::search::{self, Answer, Hit, Query, Rank};
use crate::text::Tokenizer;

/// Runs the verb.
///
/// # Errors
/// A time or a panel name that is none, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Search) -> Result<Exit, Failure> {
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let query = args.query();
    let rank = match args.rank {
        Asked::Fused => Rank::Fused,
        Asked::Relevance => Rank::Relevance,
    };
    let query = Query {
        text: &query,
        limit: args.limit as usize,
        view: context.view(&args.moment)?,
        rank,
        kind: args.kind.as_deref(),
        set: args.set.as_deref(),
        panel: panel(context)?,
    };
    let store = context.store(&name)?;
    if !args.quiet {
        context.ui.note(&format!("packset: workspace {name}"));
    }
    let snapshot = store.snapshot()?;
    let mut found = Vec::new();
    if let Some(snapshot) = &snapshot {
        context.mind_the_gap(snapshot, &query.view);
        let rule = &snapshot.manifest().text;
        if !knows(rule) {
            return Err(store.unknown_rule(rule).into());
        }
        if rule.stem != context.stem() && !args.quiet {
            let has = if rule.stem { "stems its words" } else { "does not stem its words" };
            context.ui.note(&format!(
                "packset: workspace {name} {has}, as it was made; PACKSET_STEM changes only new ones"
            ));
        }
        let answer = search::search(snapshot, &mut Tokenizer::new(rule.stem), &query)?;
        found = records(snapshot, answer, &query)?;
    }
    let empty = found.is_empty();
    if context.json {
        let generation = snapshot.as_ref().map(|snapshot| snapshot.manifest().generation);
        let hits: Vec<Value> = found.iter().map(|(hit, record)| shown(hit, record)).collect();
        context.ui.json(&json!({
            "schema": schema("search"),
            "workspace": name,
            "generation": generation,
            "as_of": args.moment.as_of,
            "known_at": args.moment.known_at,
            "rank": match rank { Rank::Fused => "fused", Rank::Relevance => "relevance" },
            "engine": "linear",
            "hits": hits,
        }))?;
    } else {
        for (hit, record) in &found {
            context.ui.row(&[
                Cell::dim(format!("{:.4}", hit.score)),
                Cell::accent(record::kind(record)),
                Cell::dim(record::id(record)),
                Cell::plain(record::string(record, "text").unwrap_or_default()),
            ])?;
        }
    }
    Ok(if empty && args.quiet { Exit::Refused } else { Exit::Done })
}

/// The panel that the environment asks for.
pub(super) fn panel(context: &Context<'_>) -> Result<Panel, Failure> {
    let mut panel = Panel::default();
    let named = |name: &str| context.env.get(name);
    let unknown =
        |name: &str, error: &dyn std::fmt::Display| Failure::usage(format!("{name}: {error}"));
    if let Some(value) = named("PACKSET_FUSE") {
        panel.fuse = value.parse().map_err(|error| unknown("PACKSET_FUSE", &error))?;
    }
    if let Some(value) = named("PACKSET_DIVERSIFY") {
        panel.diversify = value.parse().map_err(|error| unknown("PACKSET_DIVERSIFY", &error))?;
    }
    if let Some(value) = named("PACKSET_DECAY") {
        panel.decay = value.parse().map_err(|error| unknown("PACKSET_DECAY", &error))?;
    }
    Ok(panel)
}

/// The records of the hits. The engine compares sets by a hash; here the name decides.
fn records(
    snapshot: &Snapshot,
    answer: Answer,
    query: &Query<'_>,
) -> Result<Vec<(Hit, Record)>, packset_segments::Error> {
    let mut found = Vec::with_capacity(answer.hits.len());
    for hit in answer.hits {
        let segment: &Segment = snapshot.segment(hit.text);
        let text = segment.text(hit.text.row)?;
        let version = hit.version;
        let record = record::decode(snapshot.segment(version), version.row, text, snapshot.name())?;
        if query.set.is_none_or(|set| record::string(&record, "set") == Some(set)) {
            found.push((hit, record));
        }
    }
    Ok(found)
}

fn shown(hit: &Hit, record: &Record) -> Value {
    let field = |name: &str| record.get(name).cloned().unwrap_or(Value::Null);
    // A claim without one reads as its person's own; a record of another kind has none.
    let unwritten = Kind::of(record).map_or(Value::Null, |_| "user-declared".into());
    let origin = record.get("origin").cloned().unwrap_or(unwritten);
    let ranks: Map<String, Value> = hit
        .ranks
        .iter()
        .map(|r| (r.ballot.to_owned(), json!({ "rank": r.rank, "score": r.score })))
        .collect();
    json!({
        "field": "atom",
        "id": field("id"),
        "kind": field("kind"),
        "text": field("text"),
        "ts": field("ts"),
        "due_at": field("due_at"),
        "entities": record.get("entities").cloned().unwrap_or_else(|| json!([])),
        "origin": origin,
        "score": hit.score,
        "ballot_score": hit.ballot_score,
        "ballots": hit.ballots,
        "of": hit.of,
        "decay": hit.decay,
        "ranks": ranks,
        "rerank_score": null,
    })
}
