//! `packset why ID --query QUERY`: what is behind a claim's place in a search's list, or behind
//! its absence.
//!
//! The search is asked twice: as `search` would, which gives the place, and with room for every
//! claim, which gives the claim's place on each whole ballot.

use serde_json::{Value, json};

use crate::cli::args::Why;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure, FailureKind};
use crate::command::search::panel;
use crate::command::{Context, schema};
use crate::pack::record;
use crate::pack::snapshot::Snapshot;
use crate::search::panel::{Diversify, Fuse, Panel};
use crate::search::{self, Hit, Query, Rank};
use crate::text::Tokenizer;

/// Runs the verb.
///
/// # Errors
/// No such claim, a time or a panel name that is none, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Why) -> Result<Exit, Failure> {
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let view = context.view(&args.moment)?;
    let store = context.store(&name)?;
    let none = || {
        Failure::new(FailureKind::Refused, format!("no atom {}", args.id))
            .hint(format!("`packset atoms {name}` lists what is live"))
    };
    let Some(snapshot) = store.snapshot()? else { return Err(none()) };
    let key = record::key(&args.id);
    let Some(version) = snapshot.version(key, &view) else { return Err(none()) };
    let found = snapshot.record(version)?;
    if record::id(&found) != args.id {
        return Err(none());
    }
    let query = Query {
        text: &args.query,
        limit: args.limit as usize,
        view,
        rank: Rank::Fused,
        kind: Some(record::kind(&found)),
        set: None,
        panel: panel(context)?,
    };
    let mine =
        |hits: Vec<Hit>| hits.into_iter().enumerate().find(|(_, hit)| hit.version == version);
    let mut tokenizer = Tokenizer::new(snapshot.manifest().text.stem);
    let plain = Query { kind: args.kind.as_deref(), ..query };
    let listed = mine(search::search(&snapshot, &mut tokenizer, &plain)?.hits);
    // Of the wide answer only ballots and decay are read: making way and elections, which cost
    // the square of the list and more, would be for nothing.
    let panel = Panel { fuse: Fuse::CombSum, diversify: Diversify::None, ..query.panel };
    let wide = Query { limit: everything(&snapshot), panel, ..query };
    let hit = mine(search::search(&snapshot, &mut tokenizer, &wide)?.hits).map(|(_, hit)| hit);
    let score = listed.as_ref().map(|(_, hit)| hit).or(hit.as_ref()).map(|hit| hit.score);
    let place = listed.map(|(at, _)| at + 1);
    let links = found.get("links").cloned().unwrap_or_else(|| json!([]));
    let state = match (&hit, snapshot.live(version, &view)) {
        (Some(_), _) => "it matches",
        (None, true) => "no word of the query matches it",
        (None, false) => "it is not live at that moment",
    };
    if context.json {
        let ballots: Vec<Value> = hit
            .iter()
            .flat_map(|hit| &hit.ranks)
            .map(|r| json!({ "ballot": r.ballot, "rank": r.rank, "score": r.score }))
            .collect();
        context.ui.json(&json!({
            "schema": schema("why"),
            "workspace": name,
            "id": args.id,
            "query": args.query,
            "place": place,
            "state": state,
            "score": score,
            "decay": hit.as_ref().map(|hit| hit.decay),
            "ballots": ballots,
            "links": links,
        }))?;
        return Ok(Exit::Done);
    }
    let placed = match place {
        Some(place) => format!("{place} of the first {}", args.limit),
        None => format!("not among the first {}", args.limit),
    };
    let mut rows = vec![("place", placed), ("state", state.to_owned())];
    if let Some(hit) = &hit {
        rows.push(("score", format!("{:.4} of the query", score.unwrap_or_default())));
        for ranked in &hit.ranks {
            let said = format!("rank {} with {:.4}", ranked.rank, ranked.score);
            rows.push((ranked.ballot, said));
        }
        rows.push(("decay", format!("{:.4}", hit.decay)));
    }
    rows.push(("links", links.as_array().map_or(0, Vec::len).to_string()));
    for (what, said) in rows {
        context.ui.row(&[Cell::dim(what), Cell::plain(said)])?;
    }
    Ok(Exit::Done)
}

/// A limit that cuts no ballot.
fn everything(snapshot: &Snapshot) -> usize {
    snapshot.segments().iter().map(|segment| segment.rows() as usize).sum()
}
