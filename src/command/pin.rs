//! `packset pin [NAME]`: reads or sets the pinned set. Its answer is JSON in either mode.

use serde_json::{Value, json};

use crate::cards::{self, Card, SetName};
use crate::cli::args::Pin;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};
use crate::pack::record::Record;

/// Runs the verb.
///
/// # Errors
/// A set name that is none, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Pin) -> Result<Exit, Failure> {
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let store = context.store(&name)?;
    let mut answer = Record::new();
    if context.json {
        answer.insert("schema".into(), json!(schema("pin")));
    }
    answer.insert("workspace".into(), json!(name));
    let set = match args.name.as_deref() {
        None => {
            let snapshot = store.snapshot()?;
            let set = cards::pinned(snapshot.as_ref())?;
            let instructions = match &set {
                Some(_) => cards::read(snapshot.as_ref(), Card::Instructions, set.as_ref())?,
                None => String::new(),
            };
            answer.insert("set".into(), json!(""));
            answer.insert("instructions".into(), json!(instructions));
            set
        }
        Some(given) if given.trim().is_empty() => {
            store.commit_existing(|transaction| cards::pin(transaction, None))?;
            None
        }
        Some(given) => {
            let set = SetName::new(given)?;
            store.commit(|transaction| cards::pin(transaction, Some(&set)))?;
            Some(set)
        }
    };
    answer.insert("set".into(), json!(set.as_ref().map_or("", SetName::as_str)));
    context.ui.json(&Value::Object(answer))?;
    Ok(Exit::Done)
}
