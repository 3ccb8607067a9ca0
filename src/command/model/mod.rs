//! `packset model`: the models that find claims by meaning, from the list to the check.
//!
//! Unlike other verbs these are about this machine, not about a pack, but for `use`. Not here:
//! fetching ([`crate::fetch`]), running a model ([`crate::encode`]).

mod check;
mod choose;
mod list;
mod pull;

use std::path::PathBuf;

use crate::cli::args::{Model as Args, ModelVerb};
use crate::cli::{Exit, Failure, FailureKind};
use crate::command::Context;
use crate::embed::models::{self, Model};
use crate::fetch::cache::Cache;
use crate::fetch::model::is_here;
use crate::settings;

/// The words that name no model of the table.
const BUILT_IN: &str = crate::meaning::NAME;
const NONE: &str = "none";

/// Runs the verb.
///
/// # Errors
/// As what it is asked to do.
pub fn run(context: &mut Context<'_>, args: &Args) -> Result<Exit, Failure> {
    match &args.what {
        None | Some(ModelVerb::List) => list::run(context),
        Some(ModelVerb::Pull(args)) => pull::run(context, args),
        Some(ModelVerb::Use(args)) => choose::run(context, args),
        Some(ModelVerb::Check(args)) => check::run(context, args),
    }
}

/// The model of a name.
fn known(name: &str) -> Result<&'static Model, Failure> {
    models::find(name).ok_or_else(|| {
        let said = format!("there is no model {name:?}");
        let hint = match nearest(name) {
            Some(near) => format!("did you mean {near}? `packset model` lists them"),
            None => "`packset model` lists them".to_owned(),
        };
        Failure::new(FailureKind::Missing, said).hint(hint)
    })
}

/// The name that is nearest to one that is none; none if no name is near.
fn nearest(name: &str) -> Option<&'static str> {
    // Of a repository the owner says nothing about the model.
    let word = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    let near = |model: &'static Model| {
        let words = model.aliases.iter().chain([&model.name]);
        Some((words.map(|its| edits(&word, its)).min()?, model.name))
    };
    let (edits, nearest) = models::MODELS.iter().filter_map(near).min()?;
    // More than a third of the word is another word.
    (edits * 3 <= word.chars().count().max(3)).then_some(nearest)
}

/// Letters to put in, take out or change to make one word the other (Levenshtein).
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        let mut next = vec![left];
        for (y, above) in b.iter().zip(row.iter().skip(1)) {
            left = (diagonal + usize::from(x != *y)).min(left + 1).min(above + 1);
            diagonal = *above;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

/// The model in force, and what says so.
fn in_force(context: &Context<'_>) -> Result<(settings::Model, &'static str), Failure> {
    if let Some(name) = context.env.get("PACKSET_EMBED_MODEL") {
        let name = models::find(name).map_or(name, |model| model.name);
        return Ok((settings::Model::Named(name.to_owned()), "PACKSET_EMBED_MODEL"));
    }
    Ok(match context.chosen()? {
        Some(model) => (model, "packset model use"),
        None => (settings::Model::default(), "the default"),
    })
}

/// Where a model lies, if it does: where `PACKSET_EMBED_MODEL_PATH` says of the one in force, else
/// in the cache.
fn place(context: &Context<'_>, model: &Model) -> Result<Option<PathBuf>, Failure> {
    let (chosen, _) = in_force(context)?;
    if let Some(path) = context.env.path("PACKSET_EMBED_MODEL_PATH")
        && chosen.name() == model.name
    {
        let dir = match context.env.cwd() {
            Some(cwd) => cwd.join(path),
            None => path.to_owned(),
        };
        return Ok(is_here(&*context.vfs, &dir, model)?.then_some(dir));
    }
    let dir = Cache::of(&context.env)?.model(model.name);
    Ok(is_here(&*context.vfs, &dir, model)?.then_some(dir))
}

/// Bytes as a person reads them.
fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_between_words() {
        for (a, b, n) in [
            ("", "", 0),
            ("abc", "", 3),
            ("", "ab", 2),
            ("kitten", "sitting", 3),
            ("bge-smal", "bge-small", 1),
            ("\u{e9}a", "ea", 1),
        ] {
            assert_eq!(edits(a, b), n, "{a} {b}");
        }
    }

    #[test]
    fn what_was_meant() {
        assert_eq!(nearest("bge-smal"), Some("bge-small"));
        assert_eq!(nearest("BGE_small"), Some("bge-small"));
        assert_eq!(nearest("someone/all-MiniLM-L6-v3"), Some("minilm"));
        assert_eq!(nearest("gpt-4"), None);
        assert_eq!(nearest("../../etc/passwd"), None);
        let hint = known("mini-lm").unwrap_err().hint.unwrap();
        assert!(hint.starts_with("did you mean minilm?"), "{hint}");
    }

    #[test]
    fn sizes() {
        assert_eq!(megabytes(133_806_060), "133.8 MB");
        assert_eq!(megabytes(0), "0.0 MB");
    }
}
