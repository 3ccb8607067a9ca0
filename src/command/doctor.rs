//! `packset doctor [--fix]`: what ails the pack and the way in to it, each with what helps.

use serde_json::{Value, json};

use crate::cli::args::Doctor;
use crate::cli::ui::Cell;
use crate::cli::{Exit, Failure};
use crate::command::Context;
use crate::lifecycle::checkup::{Verdict, checkup};

/// Runs the verb. What fails is data: it is printed, and the run ends in [`Exit::Refused`].
///
/// # Errors
/// Output that cannot be written.
pub fn run(context: &mut Context<'_>, args: &Doctor) -> Result<Exit, Failure> {
    let findings = checkup(&context.desk, args.fix);
    let worst = findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Ok);
    if context.json {
        let checks: Vec<Value> = findings
            .iter()
            .map(|finding| {
                json!({
                    "check": finding.what,
                    "verdict": finding.verdict.name(),
                    "said": finding.said,
                    "fix": finding.fix,
                })
            })
            .collect();
        context.answer("doctor", json!({ "verdict": worst.name(), "checks": checks }))?;
    } else {
        for finding in findings {
            let name = finding.verdict.name();
            let verdict = match finding.verdict {
                Verdict::Ok => Cell::dim(name),
                _ => Cell::accent(name),
            };
            let mut row = vec![verdict, Cell::plain(finding.what), Cell::plain(finding.said)];
            row.extend(finding.fix.map(|fix| Cell::plain(format!("fix: {fix}"))));
            context.ui.row(&row)?;
        }
    }
    Ok(if worst == Verdict::Fail { Exit::Refused } else { Exit::Done })
}
