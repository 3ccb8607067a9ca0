//! `packset remember TEXT` and `packset prefer TEXT`: one claim, durable before it is answered.

use serde_json::{Value, json};

use crate::atom::{Kind, SCHEMA};
use crate::claim::{self, Written};
use crate::cli::args::Claim;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};
use crate::pack::record::{self, Record};
use crate::text::Tokenizer;

/// A claim that was given in words.
pub(super) fn in_words(kind: Kind, text: &str, workspace: &str) -> Record {
    let mut record = Record::new();
    for (field, value) in [
        ("schema", SCHEMA),
        ("kind", kind.name()),
        ("level", "explicit"),
        ("text", text),
        ("workspace", workspace),
    ] {
        record.insert(field.into(), value.into());
    }
    record
}

/// Runs either verb; `kind` is what tells them apart.
///
/// # Errors
/// A refused claim, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Claim, kind: Kind) -> Result<Exit, Failure> {
    let verb = if kind == Kind::Preference { "prefer" } else { "remember" };
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let store = context.store(&name)?;
    let mut record = in_words(kind, &args.text(), &name);
    let now = context.clock.now();
    let id = context.ids.fresh(now);
    let (written, committed) = store.commit(|transaction| {
        let stem = transaction.snapshot().manifest().text.stem;
        let mut tokenizer = Tokenizer::new(stem);
        let claim = claim::prepare(&mut record, &name, id, now, &mut tokenizer)?;
        claim::write(transaction, claim)
    })?;
    let record = written.record();
    if let Some(warning) = claim::warning(record) {
        context.ui.note(&format!("packset: stored, although {warning}"));
    }
    if context.json {
        let stored = matches!(written, Written::Stored(_));
        context.ui.json(&json!({
            "schema": schema(verb),
            "workspace": name,
            "stored": stored,
            "generation": committed.map(|committed| committed.generation),
            "record": Value::Object(claim::shown(record.clone())),
        }))?;
    } else {
        let due = record::string(record, "due_at").unwrap_or("-");
        context.ui.row(&[
            Cell::plain(record::id(record)),
            Cell::accent(record::kind(record)),
            Cell::plain(format!("due {due}")),
        ])?;
    }
    Ok(Exit::Done)
}
