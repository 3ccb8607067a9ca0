//! `packset card CARD TEXT`: writes one card, or clears it.

use serde_json::json;

use crate::cards::{self, Card};
use crate::cli::args::{self, CardName};
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, count};
use crate::desk::{Given, route};

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
    if card == Card::Instructions && args.set.is_none() {
        return Err(cards::Error::NoSet.into());
    }
    let text = context.given(&args.text, card.limit())?;
    let name = match (card, &args.set) {
        // It belongs to the whole pack.
        (Card::User, None) => None,
        _ => Some(context.workspace(args.within.workspace.as_deref())?.name),
    };
    let mut given = Given::of([("workspace", json!(name))]);
    let route = match (card, &args.set) {
        (card, Some(set)) => {
            given.0.insert("name".into(), set.as_str().into());
            given.0.insert(card.name().into(), text.into());
            &route::SET
        }
        (Card::User, None) => {
            given.0.insert("text".into(), text.into());
            &route::USER
        }
        (_, None) => {
            given.0.insert("text".into(), text.into());
            &route::MEMORY
        }
    };
    let answer = context.ask(route, given)?;
    let has = match &args.set {
        Some(_) => super::text(&answer, card.name()).chars().count() as u64,
        None => count(&answer, "characters"),
    };
    if context.json {
        context.answer(
            "card",
            json!({
                "workspace": name,
                "set": answer.get("set"),
                "card": card.name(),
                "characters": has,
                "limit": card.limit(),
                "generation": answer.get("generation"),
            }),
        )?;
    } else {
        let state = match has {
            0 => "cleared".to_owned(),
            has => format!("{has} of {} characters", card.limit()),
        };
        context.ui.row(&[Cell::accent(card.name()), Cell::plain(state)])?;
    }
    Ok(Exit::Done)
}
