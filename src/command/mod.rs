//! The verbs, one file each, and what every one of them is handed.
//!
//! A verb parses nothing and decides nothing twice: it calls the same functions that every other
//! front door calls ([`crate::claim`] for writing claims) and prints what they answer. Not here: the
//! command line's grammar ([`crate::cli`]).

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
pub mod document;
pub mod due;
pub mod export;
pub mod fire;
pub mod forget;
pub mod grade;
pub mod hubs;
pub mod import;
pub mod island;
pub mod islands;
pub mod log;
pub mod pin;
pub mod proposals;
pub mod propose;
pub mod purge;
pub mod remember;
pub mod run;
pub mod search;
pub mod set;
pub mod show;
pub mod status;
pub mod sweep;
pub mod undo;
pub mod update;
pub mod verify;
pub mod which;
pub mod why;

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use packset_segments::IoContext;
use packset_segments::vfs::Vfs;
use serde_json::Value;

use crate::atom::is_accession;
use crate::cards::Error as CardError;
use crate::claim;
use crate::claim::proposals::{self as held, Error as ProposalError};
use crate::cli::args::{Moment, Scope};
use crate::cli::{Env, Failure, FailureKind, Ui};
use crate::clock::Clock;
use crate::pack::{self, Ground, IdSource, Record, Snapshot, Store, View};
use crate::place::{self, Workspace};
use crate::review::parse_live_cap;
use crate::time::Micros;

/// How long a writer waits for another one, unless `PACKSET_LOCK_TIMEOUT_MS` says otherwise:
/// longer than any commit takes, shorter than a person waits.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// What a verb works with.
pub struct Context<'a> {
    /// The door to files.
    pub vfs: Arc<dyn Vfs>,
    /// The door to the time.
    pub clock: Arc<dyn Clock>,
    /// The door to the environment.
    pub env: Env,
    /// Where new ids come from.
    pub ids: Arc<IdSource>,
    /// The door to the terminal.
    pub ui: &'a mut Ui,
    /// Whether data goes out as JSON.
    pub json: bool,
}

/// The name and version of a verb's JSON answer.
pub fn schema(verb: &str) -> String {
    format!("packset.{verb}/v1")
}

/// Adds the accessions that a record cites.
fn cited(record: &Record, accessions: &mut BTreeSet<String>) {
    let entities = record.get("entities").and_then(Value::as_array).into_iter().flatten();
    let names = entities.filter_map(Value::as_str).filter(|name| is_accession(name));
    accessions.extend(names.map(str::to_owned));
}

/// A value as a person reads it.
fn pretty(value: &Value) -> String {
    // A value has string keys and no I/O: it always becomes JSON.
    serde_json::to_string_pretty(value).unwrap_or_default()
}

impl Context<'_> {
    /// The workspace in force; `named` is what the command line says.
    ///
    /// # Errors
    /// A name that no workspace can have.
    pub fn workspace(&self, named: Option<&str>) -> Result<Workspace, Failure> {
        Ok(place::workspace(named, &self.env, &*self.vfs)?)
    }

    /// The pack's home, which need not exist yet.
    ///
    /// # Errors
    /// No home to be found, or one that belongs to an older program.
    pub fn home(&self) -> Result<PathBuf, Failure> {
        Ok(place::home(&self.env, &*self.vfs)?.usable()?)
    }

    /// A path of the command line, against the directory the user is in.
    pub fn path(&self, named: &str) -> PathBuf {
        match self.env.cwd() {
            Some(cwd) => cwd.join(named),
            None => PathBuf::from(named),
        }
    }

    /// Whether words are stemmed, as the environment has it.
    pub fn stem(&self) -> bool {
        !matches!(self.env.get("PACKSET_STEM"), Some("off" | "0" | "no" | "false"))
    }

    /// How many live claims a workspace keeps, as `PACKSET_LIVE_CAP` has it; none: as many as come.
    ///
    /// # Errors
    /// A setting that is no cap.
    pub fn live_cap(&self) -> Result<Option<usize>, Failure> {
        parse_live_cap(self.env.get("PACKSET_LIVE_CAP"))
            .map_err(|bad| Failure::usage(format!("PACKSET_LIVE_CAP: {bad}")))
    }

    fn ground(&self) -> Result<Ground, Failure> {
        let wait = match self.env.get("PACKSET_LOCK_TIMEOUT_MS") {
            None => LOCK_WAIT,
            Some(text) => text.parse().map(Duration::from_millis).map_err(|_| {
                Failure::usage(format!("PACKSET_LOCK_TIMEOUT_MS is no number: {text}"))
                    .hint("give it in milliseconds, or unset it")
            })?,
        };
        let verb = self.env.args().first().map(|arg| arg.to_string_lossy().into_owned());
        Ok(Ground {
            vfs: Arc::clone(&self.vfs),
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
            wait,
            holder: format!(
                "packset {} (process {}, since {})",
                verb.unwrap_or_default(),
                std::process::id(),
                self.clock.now().format_ms()
            ),
            stem: self.stem(),
        })
    }

    /// The store of a workspace, which need not exist yet.
    ///
    /// # Errors
    /// As [`Context::home`].
    pub fn store(&self, name: &str) -> Result<Store, Failure> {
        Ok(Store::new(self.ground()?, &self.home()?, name))
    }

    /// The store of what belongs to the pack as a whole, which need not exist yet.
    ///
    /// # Errors
    /// As [`Context::home`].
    pub fn pack_store(&self) -> Result<Store, Failure> {
        Ok(Store::of_pack(self.ground()?, &self.home()?))
    }

    /// Whether a write of this claim waits for a person, as `PACKSET_HOLD_AGENT_WRITES` has it.
    pub fn holds(&self, claim: &Record) -> bool {
        held::is_held(claim, self.env.get("PACKSET_HOLD_AGENT_WRITES"))
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

    /// The stores that a verb is asked to work on.
    ///
    /// # Errors
    /// As [`Context::home`] and [`Context::workspace`], or what the pack says.
    pub fn stores(&self, scope: &Scope) -> Result<Vec<Store>, Failure> {
        if scope.all {
            return Ok(pack::home::list(&self.ground()?, &self.home()?)?);
        }
        let name = self.workspace(scope.workspace.as_deref())?.name;
        Ok(vec![self.store(&name)?])
    }

    /// Says so when a read asks for a past of which versions were dropped.
    pub fn mind_the_gap(&mut self, snapshot: &Snapshot, view: &View) {
        if let Some(since) = snapshot.manifest().kept_since.filter(|since| view.recorded < *since) {
            let since = Micros(since).format_ms();
            self.ui.note(&format!(
                "packset: versions that ended before {since} were dropped by compact --keep"
            ));
        }
    }

    /// The view that a read asks for.
    ///
    /// # Errors
    /// A time that is none.
    pub fn view(&self, moment: &Moment) -> Result<View, Failure> {
        let time = |name: &str, text: &Option<String>| match text {
            None => Ok(None),
            Some(text) => Micros::parse(text).map(Some).ok_or_else(|| {
                Failure::usage(format!("{name} must be a timestamp, not {text}"))
                    .hint("write it as 2026-01-31T12:00:00Z or 2026-01-31")
            }),
        };
        Ok(match (time("as_of", &moment.as_of)?, time("known_at", &moment.known_at)?) {
            (None, None) => View::now(self.clock.now()),
            (Some(at), None) => View::as_of(at),
            (valid, Some(known)) => View::known_at(known, valid.unwrap_or(known)),
        })
    }
}

impl From<pack::Error> for Failure {
    fn from(error: pack::Error) -> Self {
        let message = error.to_string();
        match error {
            pack::Error::Segment(error) => error.into(),
            pack::Error::Busy { .. } => Self::new(FailureKind::Busy, message)
                .hint("try again, or wait longer with PACKSET_LOCK_TIMEOUT_MS"),
            pack::Error::Unknown { .. } => Self::new(FailureKind::Io, message)
                .hint("look whether it is there before you write it again"),
            pack::Error::Collision { .. } => {
                Self::new(FailureKind::Refused, message).hint("choose another id")
            }
            pack::Error::TextRule { .. } => Self::new(FailureKind::Refused, message)
                .hint("use the packset that wrote it, or run `packset compact` with a newer one"),
        }
    }
}

impl From<claim::Error> for Failure {
    fn from(error: claim::Error) -> Self {
        match error {
            claim::Error::Pack(error) => error.into(),
            refused => Self::new(FailureKind::Refused, refused.to_string()),
        }
    }
}

impl From<CardError> for Failure {
    fn from(error: CardError) -> Self {
        match error {
            CardError::Pack(error) => error.into(),
            refused => Self::new(FailureKind::Refused, refused.to_string()),
        }
    }
}

impl From<ProposalError> for Failure {
    fn from(error: ProposalError) -> Self {
        match error {
            ProposalError::Pack(error) => error.into(),
            ProposalError::Claim(error) => error.into(),
            ProposalError::Unknown(_) => Self::new(FailureKind::Refused, error.to_string())
                .hint("`packset proposals` lists the open ones"),
            refused => Self::new(FailureKind::Refused, refused.to_string()),
        }
    }
}

impl From<held::Held> for Failure {
    fn from(answer: held::Held) -> Self {
        Self::new(FailureKind::Refused, answer.to_string())
            .hint("`packset accept` and the id store it; `packset proposals` lists what waits")
    }
}
