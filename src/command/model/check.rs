//! `packset model check [NAME]`: a model tried on texts whose likeness is known, through the same
//! child that searches ask.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{in_force, known, place};
use crate::cli::args::Check;
use crate::cli::ui::Cell;
use crate::cli::{Env, Exit, Failure, FailureKind};
use crate::command::Context;
use crate::embed::models::{Kind, Model};
use crate::encode::Encoders;
use crate::fetch::model::verify;
use crate::fetch::runtime;
use crate::settings;

/// Pairs that mean the same and share few words, and a third text that has nothing to do with it.
const TRIPLES: [[&str; 3]; 4] = [
    [
        "The password is kept in the vault.",
        "Credentials are stored safely.",
        "Rain is due on Monday.",
    ],
    [
        "A cat sleeps on the sofa.",
        "The feline naps on the couch.",
        "The build needs a newer compiler.",
    ],
    ["The server answers slowly.", "Responses take a long time.", "She bought fresh bread."],
    ["Deploy on Friday is forbidden.", "Do not release before the weekend.", "Whales are mammals."],
];
/// How far the length of a vector may be from 1: f32 rounding of a thousand numbers, and room.
const LENGTH: f64 = 1e-3;

/// How long an answer may take, milliseconds: the largest model loads from a slow disk in less.
const TIME_MS: &str = "120000";

/// How long the program may take to say what is wrong with it: it loads its model before that.
const COMPLAINT: Duration = Duration::from_secs(30);
/// Bytes of it that are read.
const LINE: u64 = 4_096;
/// What it is told of the environment: which model is meant, and from where.
const TOLD: [&str; 5] = [
    "PACKSET_EMBED_MODEL",
    "PACKSET_EMBED_MODEL_PATH",
    "PACKSET_RERANK_MODEL",
    "PACKSET_EMBED_CACHE",
    "ORT_DYLIB_PATH",
];

/// One thing that was looked at.
struct Finding {
    what: &'static str,
    held: bool,
    said: String,
}

/// Runs the verb. What fails is data: it is printed, and the run ends in [`Exit::Refused`].
///
/// # Errors
/// A model that is none or not here, a library that is not there.
pub fn run(context: &mut Context<'_>, args: &Check) -> Result<Exit, Failure> {
    let name = match &args.name {
        Some(name) => name.clone(),
        None => in_force(context)?.0.name().to_owned(),
    };
    if let built_in @ (settings::Model::Static | settings::Model::None) = settings::Model::of(&name)
    {
        let said = format!("{} runs no model: there is nothing to check", built_in.name());
        return Err(
            Failure::new(FailureKind::Refused, said).hint("name one: `packset model` lists them")
        );
    }
    let model = known(&name)?;
    let Some(dir) = place(context, model)? else {
        return Err(Failure::new(FailureKind::Missing, format!("{} is not here", model.name))
            .hint(format!("`packset model pull {}` fetches it", model.name)));
    };
    let mut findings = Vec::new();
    findings.push(match verify(&*context.vfs, &dir) {
        Ok(Some(files)) => {
            held("files", format!("{files} files are what they were when they came"))
        }
        Ok(None) => held("files", format!("{}, put there by hand", dir.display())),
        Err(error) => failed("files", error.to_string()),
    });
    let library = runtime::find(&context.env, &*context.vfs);
    findings.push(match &library {
        Some(found) => held("runtime", format!("{} ({})", found.path.display(), found.by)),
        None => failed("runtime", format!(
            "there is no ONNX Runtime: set ORT_DYLIB_PATH, or `packset model pull {} --runtime`",
            model.name
        )),
    });
    // What is damaged is not run.
    if findings.iter().all(|finding| finding.held) {
        try_out(context, model, &dir, &mut findings);
    }
    print(context, model, &findings)
}

fn held(what: &'static str, said: impl Into<String>) -> Finding {
    Finding { what, held: true, said: said.into() }
}

fn failed(what: &'static str, said: impl Into<String>) -> Finding {
    Finding { what, held: false, said: said.into() }
}

fn found(what: &'static str, held: bool, said: impl Into<String>) -> Finding {
    Finding { what, held, said: said.into() }
}

fn try_out(context: &Context<'_>, model: &'static Model, dir: &Path, findings: &mut Vec<Finding>) {
    // Whatever is in force otherwise: this model, from where it was found, and as long as it takes.
    let mut vars = context.env.clone();
    vars.set("INSIDE_EMBED", "on");
    vars.set("PACKSET_EMBED_TIMEOUT_MS", TIME_MS);
    match model.kind {
        Kind::Rerank => vars.set("PACKSET_RERANK_MODEL", model.name),
        _ => {
            vars.set("PACKSET_EMBED_MODEL", model.name);
            vars.set("PACKSET_EMBED_MODEL_PATH", &dir.to_string_lossy());
        }
    }
    let encoders = Encoders::find(&vars, &*context.vfs, None);
    let there = match model.kind {
        Kind::Rerank => encoders.score_pairs(),
        _ => encoders.are_there(),
    };
    if !there {
        findings.push(failed("encoder", "there is no packset-embed beside packset or on PATH"));
        return;
    }
    let answered = match model.kind {
        Kind::Dense => dense(&encoders, model, findings),
        Kind::Rerank => rerank(&encoders, findings),
        Kind::Sparse | Kind::Late => {
            findings.push(held("likeness", "not tried: no search asks such a model"));
            Some(())
        }
    };
    if answered.is_none() {
        let why = complaint(&encoders, &vars, model.kind);
        let why = why.unwrap_or_else(|| "it does not answer, and does not say why".into());
        findings.push(failed("encoder", why));
    }
}

/// What the encoder's program says is wrong with it, in its first line.
fn complaint(encoders: &Encoders, vars: &Env, kind: Kind) -> Option<String> {
    let (status, _) = encoders.status();
    let mut command = Command::new(status.get("binary")?.as_str()?);
    command.arg("--check").args((kind == Kind::Rerank).then_some("--rerank"));
    for name in TOLD {
        command.envs(vars.raw(name).map(|value| (name, value)));
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    let began = Instant::now();
    while matches!(child.try_wait(), Ok(None)) {
        if began.elapsed() > COMPLAINT {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut said = String::new();
    child.stderr.take()?.take(LINE).read_to_string(&mut said).ok()?;
    let line = said.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.to_owned())
}

/// Tries texts; none if there is no answer.
fn dense(encoders: &Encoders, model: &Model, findings: &mut Vec<Finding>) -> Option<()> {
    let mut vectors = Vec::new();
    let mut time = Duration::ZERO;
    for texts in TRIPLES {
        let mut of = Vec::new();
        for text in texts {
            let began = Instant::now();
            let vector = encoders.vector(text, false)?;
            // The first answer waits for the model to load.
            if !(vectors.is_empty() && of.is_empty()) {
                time += began.elapsed();
            }
            of.push(vector);
        }
        vectors.push(of);
    }
    let all = || vectors.iter().flatten();
    let count = all().count().saturating_sub(1).max(1);
    let each = time.as_secs_f64() * 1e3 / count as f64;
    findings.push(held("encoder", format!("{each:.1} ms a text")));
    let dims = all().map(Vec::len).find(|dims| *dims != model.dims);
    findings.push(match dims {
        None => held("dims", model.dims.to_string()),
        Some(other) => failed("dims", format!("{other}, and should be {}", model.dims)),
    });
    let worst = all().map(|v| (length(v) - 1.0).abs()).fold(0.0, f64::max);
    findings.push(found("length", worst <= LENGTH, format!("within {worst:.1e} of 1")));
    let mut near = f64::INFINITY;
    for of in &vectors {
        if let [a, b, c] = of.as_slice() {
            near = near.min(cosine(a, b) - cosine(a, c).max(cosine(b, c)));
        }
    }
    let said = format!("texts that mean the same are nearer by {near:.3} or more");
    findings.push(found("likeness", near > 0.0, said));
    Some(())
}

/// Tries pairs; none if there is no answer.
fn rerank(encoders: &Encoders, findings: &mut Vec<Finding>) -> Option<()> {
    let began = Instant::now();
    let mut margin = f64::INFINITY;
    for [query, same, other] in TRIPLES {
        let scores = encoders.scores(query, &[same, other])?;
        if let [same, other] = scores.as_slice() {
            margin = margin.min(same - other);
        }
    }
    let each = began.elapsed().as_secs_f64() * 1e3 / (2 * TRIPLES.len()) as f64;
    findings.push(held("encoder", format!("{each:.1} ms a pair, with loading the model")));
    let said = format!("texts that mean the same score higher by {margin:.3} or more");
    findings.push(found("likeness", margin > 0.0, said));
    Some(())
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

fn length(a: &[f32]) -> f64 {
    dot(a, a).sqrt()
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    dot(a, b) / (length(a) * length(b)).max(f64::MIN_POSITIVE)
}

fn print(context: &mut Context<'_>, model: &Model, findings: &[Finding]) -> Result<Exit, Failure> {
    let all = findings.iter().all(|finding| finding.held);
    if context.json {
        let checks: Vec<Value> = findings
            .iter()
            .map(|it| json!({ "check": it.what, "held": it.held, "said": it.said }))
            .collect();
        let answer = json!({ "model": model.name, "held": all, "checks": checks });
        context.answer("model-check", answer)?;
    } else {
        for finding in findings {
            let verdict = match finding.held {
                true => Cell::dim("ok"),
                false => Cell::accent("fail"),
            };
            context.ui.row(&[
                verdict,
                Cell::plain(finding.what),
                Cell::plain(finding.said.as_str()),
            ])?;
        }
    }
    Ok(if all { Exit::Done } else { Exit::Refused })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_of_vectors() {
        assert_eq!(length(&[3.0, 4.0]), 5.0);
        assert_eq!(cosine(&[1.0, 0.0], &[0.0, 2.0]), 0.0);
        assert_eq!(cosine(&[1.0, 0.0], &[3.0, 0.0]), 1.0);
        assert_eq!(cosine(&[0.0], &[0.0]), 0.0);
    }
}
