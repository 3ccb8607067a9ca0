//! `packset model use NAME`: which model the pack is to use from now on.

use serde_json::json;

use super::{BUILT_IN, NONE, known, place};
use crate::cli::args::Use;
use crate::cli::{Exit, Failure, FailureKind};
use crate::command::Context;
use crate::embed::models::{Kind, Model};
use crate::settings;

/// Runs the verb.
///
/// # Errors
/// A model that is none, is not here, or makes no vectors; what the pack says.
pub fn run(context: &mut Context<'_>, args: &Use) -> Result<Exit, Failure> {
    context.on_files("model use")?;
    let name = match args.name.as_str() {
        word @ (BUILT_IN | NONE) => word,
        name => usable(context, known(name)?)?.name,
    };
    let before = context.chosen()?.unwrap_or_default();
    let chosen = settings::Model::of(name);
    let (store, value) = (context.pack_store()?, json!(name));
    context.commit(&store, move |transaction| {
        Ok(settings::set(transaction, settings::MODEL, Some(value))?)
    })?;
    if before != chosen {
        let said = match chosen {
            settings::Model::None => {
                "searches go by words alone from now on; the vectors that are there stay".to_owned()
            }
            _ => format!(
                "the vectors that {} made stay until `packset embed` is through",
                before.name()
            ),
        };
        context.ui.note(&format!("packset: {said}"));
    }
    if let Some(other) = context.env.get("PACKSET_EMBED_MODEL").map(str::to_owned) {
        context.ui.note(&format!("packset: PACKSET_EMBED_MODEL is {other}, and wins over this"));
    }
    if context.json {
        context.answer("model-use", json!({ "model": name, "before": before.name() }))?;
    } else {
        context.ui.line(name)?;
    }
    Ok(Exit::Done)
}

/// A model that can be put to use here.
fn usable(context: &Context<'_>, model: &'static Model) -> Result<&'static Model, Failure> {
    match model.kind {
        Kind::Dense => {}
        Kind::Rerank => {
            let said = format!("{} orders hits, it makes no vectors", model.name);
            return Err(Failure::new(FailureKind::Refused, said)
                .hint(format!("PACKSET_RERANK_MODEL={} has searches reranked by it", model.name)));
        }
        Kind::Sparse | Kind::Late => {
            let said =
                format!("{} is a {} model, which no search asks", model.name, model.kind.name());
            return Err(Failure::new(FailureKind::Refused, said)
                .hint("`packset model` lists the dense ones"));
        }
    }
    match place(context, model)? {
        Some(_) => Ok(model),
        None => Err(Failure::new(FailureKind::Missing, format!("{} is not here", model.name))
            .hint(format!("`packset model pull {}` fetches it", model.name))),
    }
}
