//! `packset propose TEXT`: files one proposal by hand, for a person to look at later.

use serde_json::{Value, json};

use crate::atom::{Kind, SCHEMA};
use crate::claim::proposals;
use crate::cli::args::Claim;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};
use crate::pack::record::Record;

/// Runs the verb. A proposal that is open already is printed, and no second one is made.
///
/// # Errors
/// A refused claim, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Claim) -> Result<Exit, Failure> {
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let store = context.store(&name)?;
    let mut claim = Record::new();
    for (field, value) in [
        ("schema", SCHEMA),
        ("kind", Kind::Lesson.name()),
        ("level", "explicit"),
        ("text", &args.text()),
        ("workspace", &name),
        ("origin", "agent-derived"),
    ] {
        claim.insert(field.into(), value.into());
    }
    let ids = &*context.ids;
    let (proposal, committed) = store.commit(|transaction| {
        let id = proposals::hold(transaction, claim, ids)?;
        Ok::<_, proposals::Error>(transaction.get(&id)?.unwrap_or_default())
    })?;
    if context.json {
        context.ui.json(&json!({
            "schema": schema("propose"),
            "workspace": name,
            "generation": committed.map(|committed| committed.generation),
            "proposal": Value::Object(proposal),
        }))?;
    } else {
        super::proposals::row(context, &proposal)?;
    }
    Ok(Exit::Done)
}
