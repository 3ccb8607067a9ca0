//! `packset pack [--set NAME] [WS]`: the cards and the live claims as one JSON document.

use serde_json::{Value, json};

use crate::atom::Kind;
use crate::cards::SetName;
use crate::claim;
use crate::cli::args::Cards;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};
use crate::pack::record::{self, Record};
use crate::pack::{Snapshot, View};

/// Runs the verb.
///
/// # Errors
/// A set name that is none, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Cards) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let set = args.set.as_deref().map(SetName::new).transpose()?;
    let snapshot = context.store(&name)?.snapshot()?;
    let document = of(context, "pack", &name, snapshot.as_ref(), set.as_ref())?;
    let document = Value::Object(document);
    if context.json {
        context.ui.json(&document)?;
    } else {
        context.ui.line(&super::pretty(&document))?;
    }
    Ok(Exit::Done)
}

/// The document: the cards and claims of a set, or the cards of pack and workspace with all
/// claims. `verb` names its schema.
///
/// # Errors
/// What the pack says.
pub fn of(
    context: &Context<'_>,
    verb: &str,
    name: &str,
    snapshot: Option<&Snapshot>,
    set: Option<&SetName>,
) -> Result<Record, Failure> {
    let mut document = Record::new();
    document.insert("schema".into(), json!(schema(verb)));
    let texts = super::cards::texts(context, snapshot, set)?;
    document.extend(super::cards::members(name, set, texts));
    let mut atoms = Vec::new();
    if let Some(snapshot) = snapshot {
        for place in snapshot.shown(&View::now(context.clock.now())) {
            if Kind::named(snapshot.segment(place).kind(place.row)?).is_none() {
                continue;
            }
            let record = snapshot.record(place)?;
            if set.is_none_or(|set| record::string(&record, "set") == Some(set.as_str())) {
                atoms.push(Value::Object(claim::shown(record)));
            }
        }
    }
    document.insert("atoms".into(), atoms.into());
    Ok(document)
}
