//! `packset purge ID | --query Q [--dry-run]`: erases records from every file of the pack, and
//! says what it read to be sure of it.
//!
//! A text is printed by a dry run alone: what was erased should not live on in a log.

use packset_segments::Error as SegmentError;
use serde_json::{Value, json};

use crate::cli::args::Purge;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure, FailureKind};
use crate::command::{Context, schema};
use crate::pack::purge::{Doomed, Found, Searched};
use crate::pack::record;
use crate::pack::transaction::knows;
use crate::pack::{Store, View};
use crate::search::{self, Query, Rank};
use crate::text::Tokenizer;

/// Runs the verb.
///
/// # Errors
/// No such record, or what the pack says. What still holds a text afterwards is data: it is
/// printed, and the run ends in [`Exit::Refused`] or [`Exit::Damaged`].
pub fn run(context: &mut Context<'_>, args: &Purge) -> Result<Exit, Failure> {
    context.on_files("purge")?;
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let store = context.store(&name)?;
    let ids = match (&args.id, &args.query) {
        (Some(id), _) => vec![id.clone()],
        (None, query) => found(context, &store, query.as_deref().unwrap_or_default(), args.limit)?,
    };
    let none = || {
        let what = match (&args.id, &args.query) {
            (None, Some(query)) => format!("nothing in workspace {name} matches {query:?}"),
            _ => format!("no record {} in workspace {name}", ids.join(", ")),
        };
        Failure::new(FailureKind::Refused, what)
            .hint(format!("`packset log --workspace {name}` lists every version there is"))
    };
    if args.dry_run {
        let doomed = match store.snapshot()? {
            Some(snapshot) => snapshot.doomed(&ids)?,
            None => Vec::new(),
        };
        if doomed.is_empty() {
            return Err(none());
        }
        say(context, &name, &doomed, None)?;
        return Ok(Exit::Done);
    }
    let purged = store.purge(&ids)?;
    if purged.is_empty() {
        return Err(none());
    }
    let proved = store.let_go().and_then(|at| Ok((at, store.search_files(&purged)?)));
    let (generation, searched) = proved.map_err(|error| {
        let Failure { kind, message, .. } = Failure::from(error);
        let message = format!("purged, but files of before may still be there: {message}");
        Failure::new(kind, message)
            .hint("the next writes to the workspace remove them; look for the text yourself")
    })?;
    say(context, &name, &purged, Some((generation, &searched)))?;
    Ok(conclude(context, &searched.found))
}

/// The ids of what a search finds first.
fn found(
    context: &Context<'_>,
    store: &Store,
    query: &str,
    limit: u32,
) -> Result<Vec<String>, Failure> {
    let Some(snapshot) = store.snapshot()? else { return Ok(Vec::new()) };
    let rule = &snapshot.manifest().text;
    if !knows(rule) {
        return Err(store.unknown_rule(rule).into());
    }
    let query = Query {
        text: query,
        limit: limit as usize,
        view: View::now(context.clock.now()),
        rank: Rank::Fused,
        kind: None,
        set: None,
        panel: context.panel()?,
    };
    let answer = search::search(&snapshot, &mut Tokenizer::new(rule.stem), &query)?;
    let id = |hit: search::Hit| Ok(record::id(&snapshot.record(hit.version)?).to_owned());
    let ids: Result<_, SegmentError> = answer.hits.into_iter().map(id).collect();
    Ok(ids?)
}

fn say(
    context: &mut Context<'_>,
    name: &str,
    records: &[Doomed],
    done: Option<(Option<u64>, &Searched)>,
) -> Result<(), Failure> {
    if context.json {
        let records: Vec<Value> = records.iter().map(|doomed| shown(doomed, done)).collect();
        let left = |found: &Found| {
            json!({
                "file": found.path.to_string_lossy(),
                "what": if found.text { "text" } else { "id" },
                "records": found.holders,
            })
        };
        let found = done.map(|(_, searched)| searched.found.iter().map(left).collect::<Vec<_>>());
        return context.ui.json(&json!({
            "schema": schema("purge"),
            "workspace": name,
            "dry_run": done.is_none(),
            "generation": done.and_then(|(generation, _)| generation),
            "records": records,
            "files": done.map(|(_, searched)| searched.files),
            "bytes": done.map(|(_, searched)| searched.bytes),
            "found": found,
        }));
    }
    for doomed in records {
        let mut cells = vec![
            Cell::accent(if done.is_some() { "purged" } else { "would purge" }),
            Cell::dim(record::id(&doomed.record)),
            Cell::plain(format!("{} versions", doomed.versions)),
        ];
        if done.is_none() {
            let text = record::string(&doomed.record, "text").unwrap_or_default();
            cells.push(Cell::plain(text));
        }
        context.ui.row(&cells)?;
    }
    if let Some((_, searched)) = done {
        let read = format!("{} files, {} bytes", searched.files, searched.bytes);
        context.ui.row(&[Cell::plain("checked"), Cell::plain(read)])?;
        for found in &searched.found {
            let what = if found.text { "text" } else { "id" };
            let file = found.path.to_string_lossy();
            context.ui.row(&[Cell::accent("still there"), Cell::plain(what), Cell::plain(file)])?;
        }
    }
    Ok(())
}

fn shown(doomed: &Doomed, done: Option<(Option<u64>, &Searched)>) -> Value {
    let mut shown = json!({
        "id": record::id(&doomed.record),
        "kind": record::kind(&doomed.record),
        "versions": doomed.versions,
    });
    if let (None, Some(shown)) = (done, shown.as_object_mut()) {
        shown.insert("record".into(), Value::Object(doomed.record.clone()));
    }
    shown
}

/// What the verdict is, with a line on stderr for each record that says the same.
fn conclude(context: &mut Context<'_>, found: &[Found]) -> Exit {
    let mut exit = Exit::Done;
    for found in found {
        let file = found.path.display();
        if found.holders.is_empty() {
            let what = if found.text { "text" } else { "id" };
            context.ui.note(&format!("packset: {file} still holds an erased {what}"));
            exit = Exit::Damaged;
        } else if found.text && exit == Exit::Done {
            exit = Exit::Refused;
        }
        for (workspace, id) in &found.holders {
            let does = if found.text { "says the same" } else { "names what was erased" };
            context.ui.note(&format!("packset: record {id} of workspace {workspace} {does}"));
        }
    }
    match exit {
        Exit::Refused => context.ui.note("hint: purge those records too"),
        Exit::Damaged => context
            .ui
            .note("hint: look at the named files; what is not the pack's own can be removed"),
        _ => {}
    }
    exit
}
