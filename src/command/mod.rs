//! The verbs, one file each, and what every one of them is handed.
//!
//! A verb decides nothing: it asks the desk ([`crate::desk`]), on the files or through the writer
//! that `PACKSET_URL` names, and prints what it answers. Not here: the command line's grammar
//! ([`crate::cli`]).

pub mod accept;
pub mod accessions;
pub mod atoms;
pub mod attach;
pub mod batch;
pub mod card;
pub mod cards;
pub mod citers;
pub mod compact;
pub mod consolidate;
pub mod delete;
pub mod diff;
#[cfg(unix)]
pub mod doctor;
pub mod document;
pub mod due;
pub mod embed;
#[cfg(unix)]
pub mod ensure;
pub mod export;
pub mod fire;
pub mod forget;
pub mod grade;
pub mod hubs;
pub mod import;
pub mod island;
pub mod islands;
pub mod log;
pub mod mcp;
#[cfg(unix)]
pub mod migrate_home;
pub mod model;
pub mod pin;
pub mod place;
pub mod proposals;
pub mod propose;
pub mod purge;
pub mod remember;
pub mod run;
pub mod search;
#[cfg(unix)]
pub mod serve;
pub mod set;
pub mod show;
pub mod status;
#[cfg(unix)]
pub mod stop;
pub mod sweep;
pub mod undo;
pub mod update;
pub mod url;
pub mod verify;
#[cfg(unix)]
pub mod which;
pub mod why;

use std::io::Read as _;
use std::ops::Deref;
use std::path::Path;

use packset_segments::IoContext;
use serde_json::{Map, Value};

use crate::cli::args::{Moment, Scope};
use crate::cli::{Failure, FailureKind, Ui};
use crate::client::{self, Address};
use crate::desk::{Desk, Given, Route};
use crate::pack::{self, Store};

/// What a verb works with: the desk, and a terminal.
pub struct Context<'a> {
    /// Where requests are answered on the files.
    pub desk: Desk,
    /// The door to the terminal.
    pub ui: &'a mut Ui,
    /// Whether data goes out as JSON.
    pub json: bool,
}

impl Deref for Context<'_> {
    type Target = Desk;

    fn deref(&self) -> &Desk {
        &self.desk
    }
}

/// The name and version of a verb's JSON answer.
pub fn schema(verb: &str) -> String {
    format!("packset.{verb}/v1")
}

/// A value as a person reads it.
fn pretty(value: &Value) -> String {
    // A value has string keys and no I/O: it always becomes JSON.
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// An answer with the name and version of its shape in front.
fn titled(verb: &str, answer: Value) -> Value {
    let mut titled = Map::new();
    titled.insert("schema".into(), schema(verb).into());
    if let Value::Object(members) = answer {
        titled.extend(members);
    }
    titled.into()
}

/// A text of an answer; empty if there is none.
fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// A number of an answer.
fn number(value: &Value, field: &str) -> f64 {
    value.get(field).and_then(Value::as_f64).unwrap_or_default()
}

/// A count of an answer.
fn count(value: &Value, field: &str) -> u64 {
    value.get(field).and_then(Value::as_u64).unwrap_or_default()
}

/// The members of a list of an answer.
fn rows<'v>(value: &'v Value, field: &str) -> &'v [Value] {
    value.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

impl Context<'_> {
    /// Has a request answered: on the files, or by the writer that `PACKSET_URL` names.
    ///
    /// # Errors
    /// What the desk or the writer says.
    pub fn ask(&self, route: &'static Route, given: Given) -> Result<Value, Failure> {
        client::ask(&self.desk, route, given)
    }

    /// Whether requests do not go to the files.
    pub fn is_remote(&self) -> bool {
        Address::of(&self.env) != Address::Files
    }

    /// Refuses a verb that works on the files alone while a writer is named: it would work on
    /// another pack than the others.
    ///
    /// # Errors
    /// That.
    pub fn on_files(&self, verb: &str) -> Result<(), Failure> {
        if self.is_remote() {
            return Err(Failure::new(
                FailureKind::Refused,
                format!("{verb} works on the files, and PACKSET_URL names a writer"),
            )
            .hint("run it without PACKSET_URL where the pack lies"));
        }
        Ok(())
    }

    /// Prints an answer as the JSON of a verb.
    ///
    /// # Errors
    /// As [`Ui::json`].
    pub fn answer(&mut self, verb: &str, answer: Value) -> Result<(), Failure> {
        self.ui.json(&titled(verb, answer))
    }

    /// The text that a verb was given: its words joined by spaces, or standard input for a lone
    /// `-`, of which no more is read than `most` characters can fill.
    ///
    /// # Errors
    /// Input that is longer, is no UTF-8, or cannot be read.
    pub fn given(&mut self, words: &[String], most: usize) -> Result<String, Failure> {
        if words != ["-"] {
            return Ok(words.join(" "));
        }
        // No character takes more than four bytes.
        let room = most.saturating_mul(4);
        let mut bytes = Vec::new();
        let input = self.ui.input().take(room as u64 + 1);
        { input }.read_to_end(&mut bytes).at("read", Path::new("-"))?;
        if bytes.len() > room {
            let message = format!("standard input holds more than {most} characters");
            return Err(Failure::new(FailureKind::Refused, message).hint("give it less at a time"));
        }
        String::from_utf8(bytes)
            .map_err(|_| Failure::new(FailureKind::Data, "standard input is not UTF-8"))
    }

    /// The text of a file, or of standard input for `-`.
    ///
    /// # Errors
    /// A file that is longer than `most` bytes, is no UTF-8, or cannot be read.
    pub fn text_of(&mut self, file: &str, most: u64) -> Result<String, Failure> {
        let mut bytes = Vec::new();
        let mut reader;
        let input: &mut dyn std::io::BufRead = match file {
            "-" => self.ui.input(),
            named => {
                (reader, _) = import::open(self, &self.path(named))?;
                &mut reader
            }
        };
        input.take(most + 1).read_to_end(&mut bytes).at("read", Path::new(file))?;
        if bytes.len() as u64 > most {
            let message = format!("{file} holds more than {most} bytes");
            return Err(Failure::new(FailureKind::Refused, message).hint("give it less at a time"));
        }
        String::from_utf8(bytes)
            .map_err(|_| Failure::new(FailureKind::Data, format!("{file} is not UTF-8")))
    }

    /// The stores that a verb is asked to work on.
    ///
    /// # Errors
    /// As [`Desk::home`] and [`Desk::workspace`], or what the pack says.
    pub fn stores(&self, scope: &Scope) -> Result<Vec<Store>, Failure> {
        if scope.all {
            return Ok(pack::home::list(&self.ground()?, &self.home()?)?);
        }
        let name = self.workspace(scope.workspace.as_deref())?.name;
        Ok(vec![self.store(&name)?])
    }

    /// Says so when an answer comes from a past of which versions were dropped.
    pub fn mind_the_gap(&mut self, answer: &Value) {
        if let Some(since) = answer.get("kept_since").and_then(Value::as_str) {
            self.ui.note(&format!(
                "packset: versions that ended before {since} were dropped by compact --keep"
            ));
        }
    }

    /// Says so when a claim was stored although its prose is heavy.
    pub fn warn(&mut self, record: &Value) {
        if let Some(warning) = record.pointer("/prose/warning").and_then(Value::as_str) {
            self.ui.note(&format!("packset: stored, although {warning}"));
        }
    }
}

/// The members of a request that say which moment is asked about.
fn moment(given: &mut Given, moment: &Moment) {
    for (name, text) in [("as_of", &moment.as_of), ("known_at", &moment.known_at)] {
        if let Some(text) = text {
            given.0.insert(name.into(), text.as_str().into());
        }
    }
}
