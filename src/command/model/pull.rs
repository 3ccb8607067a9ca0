//! `packset model pull NAME`: fetch a model, and the library that runs it where none is found.

use serde_json::{Value, json};

use super::{BUILT_IN, NONE, known, megabytes};
use crate::cli::args::Pull;
use crate::cli::{Exit, Failure};
use crate::command::Context;
use crate::embed::models::Model;
use crate::fetch::cache::Cache;
use crate::fetch::file::Fetched;
use crate::fetch::model::{Source, alone, is_here};
use crate::fetch::runtime;

/// Runs the verb. What is here is not fetched again, and asks nobody.
///
/// # Errors
/// A name that is none, or what keeps a file from being here whole.
pub fn run(context: &mut Context<'_>, args: &Pull) -> Result<Exit, Failure> {
    let model = match args.name.as_str() {
        BUILT_IN | NONE => None,
        name => Some(known(name)?),
    };
    let cache = Cache::of(&context.env)?;
    let mut source = None;
    let mut files = Vec::new();
    if let Some(model) = model {
        files = model_of(context, args, &cache, model, &mut source)?;
    }
    let library = library(context, args, &cache, model, &mut source)?;
    if context.json {
        let path = model.map(|model| cache.model(model.name).to_string_lossy().into_owned());
        let answer = json!({
            "name": model.map_or(args.name.as_str(), |model| model.name),
            "path": path,
            "fetched": files,
            "runtime": library,
        });
        context.answer("model-pull", answer)?;
    } else if let Some(model) = model {
        context.ui.line(&cache.model(model.name).to_string_lossy())?;
    }
    Ok(Exit::Done)
}

/// Where to fetch from, made when it is first needed: what is here asks nobody.
fn source<'s>(
    context: &Context<'_>,
    args: &Pull,
    made: &'s mut Option<Source>,
) -> Result<&'s Source, Failure> {
    Ok(match made {
        Some(source) => source,
        empty => empty.insert(Source::new(&context.env, &*context.vfs, args.mirror.as_deref())?),
    })
}

fn model_of(
    context: &mut Context<'_>,
    args: &Pull,
    cache: &Cache,
    model: &'static Model,
    made: &mut Option<Source>,
) -> Result<Vec<Value>, Failure> {
    let dir = cache.model(model.name);
    let brought = match is_here(&*context.vfs, &dir, model)? {
        true => Vec::new(),
        false => {
            let source = source(context, args, made)?;
            source.pull(&*context.desk.vfs, context.ui, cache, model)?
        }
    };
    if brought.is_empty() {
        context.ui.note(&format!("packset: {} is here", model.name));
    }
    let mut files = Vec::with_capacity(brought.len());
    for file in &brought {
        files.push(told(context, file.local, &file.fetched));
    }
    Ok(files)
}

/// Fetches the library if it is wanted; null if not.
fn library(
    context: &mut Context<'_>,
    args: &Pull,
    cache: &Cache,
    model: Option<&Model>,
    made: &mut Option<Source>,
) -> Result<Value, Failure> {
    let found = runtime::find(&context.env, &*context.vfs);
    // The built-in table needs no library.
    let wanted = args.runtime || (found.is_none() && model.is_some() && !args.no_runtime);
    if !wanted {
        return Ok(found.map_or(Value::Null, |found| json!({ "path": found.path })));
    }
    let source = source(context, args, made)?;
    let vfs = &*context.desk.vfs;
    let _alone = alone(vfs, context.ui, &cache.libraries(), "runtime")?;
    // Another pull may have brought it meanwhile.
    let again = runtime::find(&context.desk.env, vfs);
    if let Some(found) = again.filter(|_| !args.runtime) {
        return Ok(json!({ "path": found.path }));
    }
    let brought = runtime::pull(source.http(), vfs, context.ui, cache, source.mirror())?;
    let file = told(context, &format!("lib/{}", runtime::file_name()), &brought.fetched);
    Ok(json!({ "path": brought.path, "fetched": file }))
}

/// Says what came, and as JSON.
fn told(context: &mut Context<'_>, name: &str, fetched: &Fetched) -> Value {
    let Fetched { bytes, sum, proof } = fetched;
    let checked = proof.map_or("fetched by an earlier pull", |proof| proof.name());
    let size = megabytes(*bytes);
    context.ui.note(&format!("packset: {name}, {size}, {sum}, checked: {checked}"));
    json!({ "file": name, "bytes": bytes, "sha256": sum, "checked": checked })
}
