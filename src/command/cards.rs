//! `packset cards [--set NAME] [WS]`: the cards that an agent reads whole.

use serde_json::{Value, json};

use crate::cards::{self, Card, SetName};
use crate::cli::args::Cards;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};
use crate::pack::Snapshot;
use crate::pack::record::Record;

/// Runs the verb.
///
/// # Errors
/// A set name that is none, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Cards) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let set = args.set.as_deref().map(SetName::new).transpose()?;
    let snapshot = context.store(&name)?.snapshot()?;
    let texts = texts(context, snapshot.as_ref(), set.as_ref())?;
    print(context, "cards", &name, set.as_ref(), texts)
}

/// The cards of a set, or those of the pack and the workspace, each with its text.
pub(super) fn texts(
    context: &Context<'_>,
    snapshot: Option<&Snapshot>,
    set: Option<&SetName>,
) -> Result<Vec<(Card, String)>, Failure> {
    let mut texts = Vec::with_capacity(Card::ALL.len());
    for card in Card::ALL {
        let text = if cards::is_of_pack(card, set) {
            cards::read(context.pack_store()?.snapshot()?.as_ref(), card, set)?
        } else if card == Card::Instructions && set.is_none() {
            continue;
        } else {
            cards::read(snapshot, card, set)?
        };
        texts.push((card, text));
    }
    Ok(texts)
}

/// The members of a document that tell whose cards these are, and the cards.
pub(super) fn members(name: &str, set: Option<&SetName>, texts: Vec<(Card, String)>) -> Record {
    let mut members = Record::new();
    members.insert("workspace".into(), name.into());
    if let Some(set) = set {
        members.insert("set".into(), set.as_str().into());
    }
    members.extend(texts.into_iter().map(|(card, text)| (card.name().to_owned(), text.into())));
    members
}

/// Prints cards, as JSON or in rows.
pub(super) fn print(
    context: &mut Context<'_>,
    verb: &str,
    name: &str,
    set: Option<&SetName>,
    texts: Vec<(Card, String)>,
) -> Result<Exit, Failure> {
    if context.json {
        let mut answer = Record::new();
        answer.insert("schema".into(), json!(schema(verb)));
        answer.extend(members(name, set, texts));
        context.ui.json(&Value::Object(answer))?;
        return Ok(Exit::Done);
    }
    for (card, text) in &texts {
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            context.ui.row(&[Cell::accent(card.name()), Cell::plain(line)])?;
        }
    }
    Ok(Exit::Done)
}
