//! `packset set NAME [--user T] [--memory T] [--instructions T]`: a set's three cards.

use serde_json::Value;

use crate::cards::{self, Card, SetName};
use crate::cli::args::SetCards;
use crate::cli::{Exit, Failure};
use crate::command::{Context, document};

/// Runs the verb: all cards that are named change in one commit, or none does.
///
/// # Errors
/// A name or a text that may not be stored, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &SetCards) -> Result<Exit, Failure> {
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let set = SetName::new(&args.name)?;
    let store = context.store(&name)?;
    let named = [
        (Card::User, &args.user),
        (Card::Memory, &args.memory),
        (Card::Instructions, &args.instructions),
    ];
    if named.iter().any(|(_, text)| text.is_some()) {
        store.commit(|transaction| {
            for (card, text) in named {
                if let Some(text) = text {
                    cards::write(transaction, card, Some(&set), text)?;
                }
            }
            Ok::<_, cards::Error>(())
        })?;
    }
    let snapshot = store.snapshot()?;
    if context.json {
        let document = document::of(context, "set", &name, snapshot.as_ref(), Some(&set))?;
        context.ui.json(&Value::Object(document))?;
        return Ok(Exit::Done);
    }
    let texts = super::cards::texts(context, snapshot.as_ref(), Some(&set))?;
    super::cards::print(context, "set", &name, Some(&set), texts)
}
