//! Mixed operations, one JSON object a line, in one commit.
//!
//! A line is done by the function that its own verb calls, in order, and sees what the lines
//! before it did. If one is refused nothing is stored, unless the caller asked for what can be
//! done; either way there is one answer a line, in order, and none before the commit is durable.
//! One that would take the workspace past its live cap stores nothing, unless that is asked for.
//!
//! Not here: lines by the hundred thousand. An import takes those apart on all cores, and commits
//! them a part at a time; a batch holds the lock while it works.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::atoms::{generation, in_words};
use super::{Desk, Given};
use crate::atom::{Kind, shortened};
use crate::claim::upkeep::{Crossing, crossing};
use crate::claim::{self, Written};
use crate::cli::{Failure, FailureKind};
use crate::pack::record::{self, Record};
use crate::pack::{self, IdSource, Transaction};
use crate::text::Tokenizer;
use crate::time::Micros;

/// One operation.
#[derive(Debug, PartialEq)]
enum Operation {
    Remember { kind: Kind, text: String },
    Put { record: Record },
    Update { id: String, fields: Record },
    Delete { id: String, why: Option<String> },
    Grade { id: String, recalled: bool },
}

/// A line, as far as it could be read.
#[derive(Debug)]
struct Line {
    number: usize,
    op: Option<String>,
    operation: Result<Operation, String>,
}

/// What came of a line.
struct Outcome {
    number: usize,
    op: Option<String>,
    done: Result<Done, String>,
}

/// What a line did.
struct Done {
    record: Record,
    /// Whether anything was written; a claim that is there already is not.
    stored: bool,
}

/// Does what the lines say. What is refused is data: each line has its outcome.
///
/// # Errors
/// A batch that would cross the live cap, or what the pack says; then nothing is stored.
pub fn run(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let text = given.need("lines")?;
    let lines = lines(text.as_bytes());
    let (best_effort, over_cap) = (given.flag("best_effort"), given.flag("over_cap"));
    let malformed = lines.iter().any(|line| line.operation.is_err());
    let creates = |line: &Line| {
        matches!(line.operation, Ok(Operation::Remember { .. } | Operation::Put { .. }))
    };
    // What only changes claims makes no workspace.
    let make = lines.iter().any(creates) && (best_effort || !malformed);
    let store = desk.store(&name)?;
    let job = Job {
        name: name.clone(),
        rename: given.flag("rename"),
        ids: Arc::clone(&desk.ids),
        now: desk.clock.now(),
    };
    let absent: Vec<Outcome> = if make { Vec::new() } else { lines.iter().map(absent).collect() };
    let cap = desk.live_cap()?;
    // A commit that is not made gives back a failure alone; what its lines came to is kept here.
    let kept: Arc<Mutex<Option<Vec<Outcome>>>> = Arc::default();
    let refused = Arc::clone(&kept);
    let whose = name.clone();
    let work = move |transaction: &mut Transaction<'_>| -> Result<Vec<Outcome>, Failure> {
        let outcomes = job.all(transaction, lines)?;
        if !best_effort && outcomes.iter().any(|outcome| outcome.done.is_err()) {
            *refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcomes);
            return Err(Failure::new(FailureKind::Refused, NOT_STORED));
        }
        if let Some(crossing) = crossing(transaction, cap.filter(|_| !over_cap))? {
            let message = format!("nothing is stored: in workspace {whose}, {crossing}");
            return Err(Failure::new(FailureKind::Refused, message).hint(Crossing::WAYS_OUT));
        }
        claim::allow(transaction, cap)?;
        Ok(outcomes)
    };
    let done = match make {
        true => desk.commit(&store, work).map(Some),
        false => desk.commit_existing(&store, work),
    };
    let (outcomes, generation) = match done {
        Ok(Some((outcomes, committed))) => (outcomes, generation(committed)),
        Ok(None) => (absent, None),
        Err(failure) => {
            let kept = kept.lock().unwrap_or_else(PoisonError::into_inner).take();
            (all_refused(kept.ok_or(failure)?), None)
        }
    };
    let refused = outcomes.iter().any(|outcome| outcome.done.is_err());
    let lines: Vec<Value> = outcomes.iter().map(|outcome| shown(outcome, generation)).collect();
    Ok(json!({
        "workspace": name,
        "generation": generation,
        "malformed": malformed,
        "refused": refused,
        "lines": lines,
    }))
}

fn lines(bytes: &[u8]) -> Vec<Line> {
    let lines = bytes.split(|byte| *byte == b'\n').map(trimmed).enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty());
    lines
        .map(|(at, line)| {
            let number = at + 1;
            let mut members: Record = match serde_json::from_slice(line) {
                Ok(members) => members,
                Err(error) => {
                    let why = match error.classify() {
                        serde_json::error::Category::Data => "it is no JSON object".into(),
                        _ => no_json(&error),
                    };
                    return Line { number, op: None, operation: Err(why) };
                }
            };
            let op = members.shift_remove("op");
            // What is no operation is said back.
            let op = op.and_then(|op| op.as_str().map(shortened));
            let operation = operation(op.as_deref(), members);
            Line { number, op, operation }
        })
        .collect()
}

fn operation(op: Option<&str>, members: Record) -> Result<Operation, String> {
    let mut members = Members(members);
    let operation = match op {
        Some("remember") => Operation::Remember { kind: Kind::Lesson, text: members.text("text")? },
        Some("prefer") => {
            Operation::Remember { kind: Kind::Preference, text: members.text("text")? }
        }
        Some("put") => Operation::Put { record: members.object("record")? },
        Some("update") => {
            Operation::Update { id: members.text("id")?, fields: members.object("fields")? }
        }
        Some("delete") => {
            let why = members.0.contains_key("why").then(|| members.text("why")).transpose()?;
            Operation::Delete { id: members.text("id")?, why }
        }
        Some("grade") => {
            let recalled = match members.0.shift_remove("recalled") {
                None => true,
                Some(Value::Bool(recalled)) => recalled,
                Some(_) => return Err("recalled must be true or false".into()),
            };
            Operation::Grade { id: members.text("id")?, recalled }
        }
        Some(other) => return Err(format!("there is no operation {:?}", shortened(other))),
        None => return Err("it names no op".into()),
    };
    match members.0.keys().next() {
        Some(odd) => Err(format!("{} takes no {}", op.unwrap_or_default(), shortened(odd))),
        None => Ok(operation),
    }
}

/// What of an operation was not read yet.
struct Members(Record);

impl Members {
    fn text(&mut self, name: &str) -> Result<String, String> {
        match self.0.shift_remove(name) {
            Some(Value::String(text)) => Ok(text),
            Some(_) => Err(format!("{name} must be a string")),
            None => Err(format!("it needs {name}")),
        }
    }

    fn object(&mut self, name: &str) -> Result<Record, String> {
        match self.0.shift_remove(name) {
            Some(Value::Object(object)) => Ok(object),
            Some(_) => Err(format!("{name} must be an object")),
            None => Err(format!("it needs {name}")),
        }
    }
}

/// What holds for every line.
struct Job {
    name: String,
    /// Whether a record goes to this workspace whichever it names.
    rename: bool,
    ids: Arc<IdSource>,
    now: Micros,
}

impl Job {
    fn all(
        &self,
        transaction: &mut Transaction<'_>,
        lines: Vec<Line>,
    ) -> Result<Vec<Outcome>, pack::Error> {
        let mut tokenizer = Tokenizer::new(transaction.snapshot().manifest().text.stem);
        let mut outcomes = Vec::with_capacity(lines.len());
        for Line { number, op, operation } in lines {
            let done = match operation {
                Err(why) => Err(why),
                Ok(operation) => match transaction
                    .attempt(|transaction| self.one(transaction, operation, &mut tokenizer))
                {
                    Ok(done) => Ok(done),
                    Err(claim::Error::Pack(error))
                        if !matches!(error, pack::Error::Collision { .. }) =>
                    {
                        return Err(error);
                    }
                    Err(refused) => Err(refused.to_string()),
                },
            };
            outcomes.push(Outcome { number, op, done });
        }
        Ok(outcomes)
    }

    fn one(
        &self,
        transaction: &mut Transaction<'_>,
        operation: Operation,
        tokenizer: &mut Tokenizer,
    ) -> Result<Done, claim::Error> {
        let mut record = match operation {
            Operation::Remember { kind, text } => in_words(kind, text.trim(), &self.name),
            Operation::Put { mut record } => {
                if self.rename && record.contains_key("workspace") {
                    record.insert("workspace".into(), self.name.as_str().into());
                }
                record
            }
            Operation::Update { id, fields } => {
                let record = claim::update(transaction, &id, &fields)?;
                return Ok(Done { record, stored: true });
            }
            Operation::Delete { id, why } => {
                let record = claim::delete(transaction, &id, why.as_deref())?;
                return Ok(Done { record, stored: true });
            }
            Operation::Grade { id, recalled } => {
                let record = claim::grade(transaction, &id, recalled)?;
                return Ok(Done { record, stored: true });
            }
        };
        let id = self.ids.fresh(self.now);
        let prepared = claim::prepare(&mut record, &self.name, id, self.now, tokenizer)?;
        Ok(match claim::write(transaction, prepared)? {
            Written::Stored(record) => Done { record, stored: true },
            Written::Known(record) => Done { record, stored: false },
        })
    }
}

/// What comes of a line when there is no workspace, and no line that could make one.
fn absent(line: &Line) -> Outcome {
    let why = match &line.operation {
        Err(why) => why.clone(),
        Ok(
            Operation::Update { id, .. }
            | Operation::Delete { id, .. }
            | Operation::Grade { id, .. },
        ) => claim::Error::NoCurrent(id.clone()).to_string(),
        Ok(Operation::Remember { .. } | Operation::Put { .. }) => NOT_STORED.into(),
    };
    Outcome { number: line.number, op: line.op.clone(), done: Err(why) }
}

/// Why a line did nothing that nobody refused.
const NOT_STORED: &str = "not stored, because another line was refused";

fn all_refused(mut outcomes: Vec<Outcome>) -> Vec<Outcome> {
    for outcome in &mut outcomes {
        if outcome.done.is_ok() {
            outcome.done = Err(NOT_STORED.into());
        }
    }
    outcomes
}

fn shown(outcome: &Outcome, generation: Option<u64>) -> Value {
    let Outcome { number, op, done } = outcome;
    match done {
        Ok(Done { record, stored }) => json!({
            "line": number,
            "op": op,
            "ok": true,
            "id": record::id(record),
            "kind": record::kind(record),
            "stored": stored,
            "generation": generation.filter(|_| *stored),
            "warning": claim::warning(record).filter(|_| *stored),
        }),
        Err(why) => json!({ "line": number, "op": op, "ok": false, "error": why }),
    }
}

/// What the parser says, without its own count of lines: it saw only this one.
pub fn no_json(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let what = said.split(" at line ").next().unwrap_or_default();
    format!("it is no JSON: {what} at column {}", error.column())
}

/// A line without its end, and without the mark that some editors put before the first one.
pub fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Operation, String> {
        lines(line.as_bytes()).remove(0).operation
    }

    #[test]
    fn operations_that_are_none() {
        let table = [
            ("[]", "it is no JSON object"),
            ("{}", "it names no op"),
            (r#"{"op":1}"#, "it names no op"),
            (r#"{"op":"forget"}"#, "there is no operation \"forget\""),
            (r#"{"op":"remember"}"#, "it needs text"),
            (r#"{"op":"prefer","text":1}"#, "text must be a string"),
            (r#"{"op":"remember","text":"a","kind":"rule"}"#, "remember takes no kind"),
            (r#"{"op":"put","record":[]}"#, "record must be an object"),
            (r#"{"op":"update","id":"a"}"#, "it needs fields"),
            (r#"{"op":"delete","id":"a","why":null}"#, "why must be a string"),
            (r#"{"op":"grade","id":"a","recalled":1}"#, "recalled must be true or false"),
        ];
        for (line, why) in table {
            assert_eq!(read(line), Err(why.to_owned()), "{line}");
        }
    }

    #[test]
    fn what_may_be_left_out() {
        let id = || "a".to_owned();
        let grade = Operation::Grade { id: id(), recalled: true };
        assert_eq!(read(r#"{"op":"grade","id":"a"}"#), Ok(grade));
        let delete = Operation::Delete { id: id(), why: None };
        assert_eq!(read(r#"{"id":"a","op":"delete"}"#), Ok(delete));
    }

    #[test]
    fn blank_lines_count_and_say_nothing() {
        let numbers: Vec<usize> = lines(b"\n{}\r\n \n{}").iter().map(|line| line.number).collect();
        assert_eq!(numbers, [2, 4]);
    }
}
