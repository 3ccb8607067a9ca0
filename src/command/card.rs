//! `packset card CARD TEXT`: writes one card, or clears it.

use serde_json::json;

use crate::cards::{self, Card, SetName};
use crate::cli::args::{self, CardName};
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};

/// Runs the verb.
///
/// # Errors
/// A text that may not be stored, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &args::Card) -> Result<Exit, Failure> {
    let card = match args.card {
        CardName::User => Card::User,
        CardName::Memory => Card::Memory,
        CardName::Instructions => Card::Instructions,
    };
    let set = args.set.as_deref().map(SetName::new).transpose()?;
    let set = set.as_ref();
    if card == Card::Instructions && set.is_none() {
        return Err(cards::Error::NoSet.into());
    }
    let text = context.given(&args.text, card.limit())?;
    let (name, store) = if cards::is_of_pack(card, set) {
        (None, context.pack_store()?)
    } else {
        let name = context.workspace(args.within.workspace.as_deref())?.name;
        let store = context.store(&name)?;
        (Some(name), store)
    };
    let done = if text.trim().is_empty() {
        // Where nothing is, there is nothing to clear.
        store.commit_existing(|transaction| cards::write(transaction, card, set, &text))?
    } else {
        Some(store.commit(|transaction| cards::write(transaction, card, set, &text))?)
    };
    let (has, committed) = done.unwrap_or_default();
    if context.json {
        context.ui.json(&json!({
            "schema": schema("card"),
            "workspace": name,
            "set": set.map(SetName::as_str),
            "card": card.name(),
            "characters": has,
            "limit": card.limit(),
            "generation": committed.map(|committed| committed.generation),
        }))?;
    } else {
        let state = match has {
            0 => "cleared".to_owned(),
            has => format!("{has} of {} characters", card.limit()),
        };
        context.ui.row(&[Cell::accent(card.name()), Cell::plain(state)])?;
    }
    Ok(Exit::Done)
}
