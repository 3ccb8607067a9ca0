//! `packset embed [WS | --all]`: vectors of the model in use for the texts that have none.
//!
//! A claim that is written while no encoder runs has none, and a pack that is set to another model
//! has them of the one before. Texts are read, encoded and merged into the store in rounds: what a
//! round has done stays done, whatever stops the next. Readers and writers go on meanwhile. Not
//! here: which texts those are and how they get in ([`crate::pack::Store::embed`]).

use std::time::Instant;

use serde_json::json;

use crate::cli::args::Embed;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure, FailureKind};
use crate::command::{Context, schema};
use crate::encode::Encoders;
use crate::pack::{Error, Store};

/// Texts of a round, at least: their merge then costs little beside encoding them.
const LEAST: usize = 1024;
/// And at most: what a round that is stopped has done for nothing.
const MOST: usize = 16_384;
/// A round takes this part of what is missing, so that a large store is merged few times.
const PART: usize = 8;
/// Texts that are encoded before the bar moves.
const STEP: usize = 64;
/// How often a merge is tried again that another one overtook.
const TRIES: u32 = 5;

/// Runs the verb.
///
/// # Errors
/// No model in use, an encoder that does not answer, or what the pack says; what was done before
/// stays done.
pub fn run(context: &mut Context<'_>, args: &Embed) -> Result<Exit, Failure> {
    context.on_files("embed")?;
    let encoders = context.encoders();
    if !encoders.are_there() {
        if args.if_set {
            return Ok(Exit::Done);
        }
        return Err(Failure::new(FailureKind::Refused, "no model is in use").hint(
            "`packset model use NAME` sets the pack to one; `packset model list` names them",
        ));
    }
    for store in context.stores(&args.scope)? {
        let name = store.name().to_owned();
        let done = fill(context, &store, &encoders)?;
        if context.json {
            context.ui.json(&json!({
                "schema": schema("embed"),
                "workspace": name,
                "embedded": done,
            }))?;
            continue;
        }
        let said = match done {
            0 => "every text has its vector".to_owned(),
            1 => "1 text embedded".to_owned(),
            done => format!("{done} texts embedded"),
        };
        context.ui.row(&[Cell::plain(name), Cell::plain(said)])?;
    }
    Ok(Exit::Done)
}

/// Encodes what lacks a vector; how many texts that were.
fn fill(context: &mut Context<'_>, store: &Store, encoders: &Encoders) -> Result<usize, Failure> {
    let silent = || {
        Failure::new(FailureKind::Io, "the encoder does not answer")
            .hint("`packset model check` says why")
    };
    let mut done = 0;
    let mut whole = None;
    loop {
        let Some(snapshot) = store.snapshot()? else { return Ok(done) };
        // One vector tells the space, if the encoder itself does not.
        if encoders.space().is_none() {
            encoders.vector("a", false).ok_or_else(silent)?;
        }
        let space = encoders.space().ok_or_else(silent)?.entry();
        let missing = snapshot.missing(&space)?;
        let whole = *whole.get_or_insert(missing.len());
        if missing.is_empty() {
            return Ok(done);
        }
        let round = (missing.len() / PART).clamp(LEAST, MOST).min(missing.len());
        let mut codes = Vec::with_capacity(round);
        let began = Instant::now();
        for texts in missing[..round].chunks(STEP) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let vectors = encoders.vectors(&texts, false).ok_or_else(silent)?;
            codes.extend(texts.into_iter().map(str::to_owned).zip(vectors));
            context.ui.progress(store.name(), (done + codes.len()) as u64, whole as u64);
        }
        drop(snapshot);
        let mut tries = 0;
        loop {
            match store.embed(&space, &codes, round == missing.len()) {
                Err(Error::Busy { .. }) if tries < TRIES => tries += 1,
                other => break other?,
            }
        }
        done += codes.len();
        context.ui.progress_done();
        if done < whole && !context.json {
            let rate = codes.len() as f64 / began.elapsed().as_secs_f64().max(1e-3);
            context.ui.note(&format!("packset: {done} of {whole} embedded, {rate:.0} a second"));
        }
    }
}
