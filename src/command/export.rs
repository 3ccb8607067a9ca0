//! `packset export --into DIR [WS]`: a workspace's live records as files, one JSON object a line.
//!
//! Claims go to `WS.jsonl`; records of other kinds, if there are any, to `WS.records.jsonl`.
//! Each file appears whole or not at all. The accessions that the claims cite go to stdout.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use packset_segments::IoContext;
use serde_json::{Value, json};

use crate::atom::Kind;
use crate::cli::args::Export;
use crate::cli::{Exit, Failure};
use crate::command::Context;
use crate::desk::{Given, atoms, route};
use crate::pack::{View, home, record};

/// Bytes gathered before they are written out.
const CHUNK: usize = 1 << 20;

/// Runs the verb.
///
/// # Errors
/// What the pack or the file system says.
pub fn run(context: &mut Context<'_>, args: &Export) -> Result<Exit, Failure> {
    let name = context.workspace(args.workspace.as_deref())?.name;
    let dir = context.path(&args.into);
    if context.is_remote() {
        return from_writer(context, &name, &dir);
    }
    let snapshot = context.store(&name)?.snapshot()?;
    home::make_directories(context.vfs.as_ref(), &dir)?;
    let view = View::now(context.clock.now());
    let mut accessions = BTreeSet::new();
    let mut written = Vec::new();
    for claims in [true, false] {
        let file = match claims {
            true => format!("{}.jsonl", home::encode(&name)),
            false => format!("{}.records.jsonl", home::encode(&name)),
        };
        let mut records = Vec::new();
        for place in snapshot.iter().flat_map(|snapshot| snapshot.shown(&view)) {
            let Some(snapshot) = &snapshot else { break };
            let kind = snapshot.segment(place).kind(place.row)?;
            if !record::is_note(kind) && Kind::named(kind).is_some() == claims {
                records.push(place);
            }
        }
        if !claims && records.is_empty() {
            continue;
        }
        let path = dir.join(file);
        let count = records.len();
        write_file(context, &path, |put| {
            for place in records {
                let Some(snapshot) = &snapshot else { break };
                let record = snapshot.record(place)?;
                atoms::cited(&record, &mut accessions);
                put(Value::Object(record))?;
            }
            Ok(())
        })?;
        written.push((path, count));
    }
    report(context, &name, &written, &accessions)
}

/// Exports the claims that a writer lists. Records of other kinds stay where they are: no request
/// lists them all.
fn from_writer(context: &mut Context<'_>, name: &str, dir: &Path) -> Result<Exit, Failure> {
    let given = Given::of([("workspace", json!(name)), ("embedding", json!("own"))]);
    let answer = context.ask(&route::ATOMS, given)?;
    home::make_directories(context.vfs.as_ref(), dir)?;
    let path = dir.join(format!("{}.jsonl", home::encode(name)));
    let mut accessions = BTreeSet::new();
    let claims = super::rows(&answer, "atoms");
    write_file(context, &path, |put| {
        for claim in claims {
            let mut record = claim.as_object().cloned().unwrap_or_default();
            // What an answer shows beside the record is derived from it.
            record.shift_remove("prose");
            record.retain(|field, value| match field.as_str() {
                "embedding" => !value.is_null(),
                "links" => value.as_array().is_none_or(|links| !links.is_empty()),
                _ => true,
            });
            atoms::cited(&record, &mut accessions);
            put(Value::Object(record))?;
        }
        Ok(())
    })?;
    report(context, name, &[(path, claims.len())], &accessions)
}

fn report(
    context: &mut Context<'_>,
    name: &str,
    written: &[(PathBuf, usize)],
    accessions: &BTreeSet<String>,
) -> Result<Exit, Failure> {
    if context.json {
        let files: Vec<Value> = written
            .iter()
            .map(|(path, count)| json!({ "path": path.to_string_lossy(), "records": count }))
            .collect();
        context.answer(
            "export",
            json!({ "workspace": name, "files": files, "accessions": accessions }),
        )?;
        return Ok(Exit::Done);
    }
    for accession in accessions {
        context.ui.line(accession)?;
    }
    for (path, count) in written {
        context.ui.note(&format!("{count} atoms to {}", path.display()));
    }
    Ok(Exit::Done)
}

type Put<'a> = dyn FnMut(Value) -> Result<(), Failure> + 'a;

/// Writes a file beside its name and puts it in place when it is whole.
fn write_file(
    context: &Context<'_>,
    path: &Path,
    fill: impl FnOnce(&mut Put<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let vfs = context.vfs.as_ref();
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{:032x}", context.ids.bits()));
    let draft: PathBuf = path.with_file_name(name);
    let done = (|| {
        let mut file = vfs.create_new(&draft).at("create", &draft)?;
        let mut buffer = Vec::new();
        fill(&mut |value| {
            buffer.extend_from_slice(value.to_string().as_bytes());
            buffer.push(b'\n');
            if buffer.len() >= CHUNK {
                file.write_all(&buffer).at("write", &draft)?;
                buffer.clear();
            }
            Ok(())
        })?;
        file.write_all(&buffer).at("write", &draft)?;
        file.sync().at("sync", &draft)?;
        vfs.rename_over(&draft, path).at("publish", path)?;
        let dir = path.parent().unwrap_or(Path::new("."));
        Ok(vfs.sync_dir(dir).at("sync", dir)?)
    })();
    if done.is_err() {
        let _ = vfs.unlink(&draft);
    }
    done
}
