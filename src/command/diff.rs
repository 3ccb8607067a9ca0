//! `packset diff A..B`: what changed between two generations (`g12`) or two times.

use serde_json::json;

use crate::cli::args::Diff;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::{Context, schema};
use crate::pack::history::{self, Difference, Moment};
use crate::pack::record::{self, Record};

/// Runs the verb.
///
/// # Errors
/// A range that is none, or what the pack says.
pub fn run(context: &mut Context<'_>, args: &Diff) -> Result<Exit, Failure> {
    let (from, to) = range(context, &args.range)?;
    let name = context.workspace(args.within.workspace.as_deref())?.name;
    let Some(snapshot) = context.store(&name)?.snapshot()? else { return Ok(Exit::Done) };
    for Difference { before, after } in history::difference(&snapshot, from, to)? {
        if context.json {
            context.ui.json(&json!({
                "schema": schema("diff"), "before": before, "after": after,
            }))?;
            continue;
        }
        let sides = [("-", &before), ("+", &after)];
        for (sign, record) in sides {
            if let Some(record) = record {
                row(context, sign, record, before.as_ref().zip(after.as_ref()))?;
            }
        }
    }
    Ok(Exit::Done)
}

fn row(
    context: &mut Context<'_>,
    sign: &'static str,
    record: &Record,
    both: Option<(&Record, &Record)>,
) -> Result<(), Failure> {
    let fields = both.map(|(before, after)| changed(before, after).join(","));
    context.ui.row(&[
        Cell::accent(sign),
        Cell::dim(record::id(record)),
        Cell::dim(fields.unwrap_or_else(|| "-".into())),
        Cell::plain(record::string(record, "text").unwrap_or_default()),
    ])
}

/// Names of the fields that differ, in the order of the newer record.
fn changed<'a>(before: &'a Record, after: &'a Record) -> Vec<&'a str> {
    let gone = before.keys().filter(|key| !after.contains_key(*key));
    let other = after.iter().filter(|(key, value)| before.get(*key) != Some(*value));
    other.map(|(key, _)| key.as_str()).chain(gone.map(String::as_str)).collect()
}

fn range(context: &Context<'_>, text: &str) -> Result<(Moment, Moment), Failure> {
    let moment = |text: &str| {
        Moment::parse(text).ok_or_else(|| {
            Failure::usage(format!("{text} is neither a generation nor a time"))
                .hint("write g12..g15, or 2026-01-31..2026-02-28; an open end is now")
        })
    };
    let Some((from, to)) = text.split_once("..") else {
        return Err(
            Failure::usage(format!("{text} is no range")).hint("write A..B, as in g12..g15")
        );
    };
    let now = Moment::Time(context.clock.now());
    let start = Moment::Generation(0);
    Ok((
        if from.is_empty() { start } else { moment(from)? },
        if to.is_empty() { now } else { moment(to)? },
    ))
}
