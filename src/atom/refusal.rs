//! Why a claim is not let in, as one line for whoever sent it.
//!
//! Not the rules themselves (`check`). Invariant: a message is one line, quotes a client's value
//! only cut short and never a secret, and keeps the fragments that clients match.

use super::TEXT_LIMIT;
use super::prose::Complaint;
use super::secrets::{Unsafe, unsafe_text};
use serde_json::Value;

/// Characters of a client's value that a refusal quotes.
const QUOTED: usize = 60;

/// Why a claim is not stored, in one line. Clients match fragments of some of these.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// Output of a tool, pasted.
    #[error("a tool dump is not a claim: say what it shows")]
    ToolDump,
    /// `kind`, `level` or `origin` holds a word that is not in its list.
    #[error("unknown atom {field}: {value}")]
    Unknown {
        /// Which of the three.
        field: &'static str,
        /// What stood there, cut short.
        value: String,
    },
    /// No text, or only blanks.
    #[error("atom text is required")]
    NoText,
    /// A secret, a hidden character or an order to the model.
    #[error("{kind} in {field}")]
    Unsafe {
        /// The top-level field it was found in.
        field: String,
        /// What it is.
        kind: Unsafe,
    },
    /// Too many characters.
    #[error("one claim is at most {TEXT_LIMIT} characters, the soft cap: this text has {0}")]
    Long(usize),
    /// No workspace anywhere.
    #[error("workspace required")]
    NoWorkspace,
    /// The record names another workspace than the request.
    #[error("the atom names workspace {named}, the request {given}")]
    OtherWorkspace {
        /// The record's own.
        named: String,
        /// The request's.
        given: String,
    },
    /// A set name that is none.
    #[error("{0} is not a set name: a letter, then letters, digits and -, at most 32")]
    Set(String),
    /// Entities that are no list of names.
    #[error("entities must be a list of non-empty strings, not {0}")]
    Entities(String),
    /// An entity that starts as an accession and does not go on as one.
    #[error("{0} is not an accession: deed- or sha256: and a name without blanks or commas")]
    Accession(String),
    /// A field that must be a timestamp.
    #[error("{field} is not a timestamp such as 2025-03-01T10:00:00Z: {value}")]
    Time {
        /// Which field.
        field: &'static str,
        /// What stood there, cut short.
        value: String,
    },
    /// A field with a value of the wrong type or range.
    #[error("{field} must be {wanted}, not {value}")]
    Field {
        /// Which field.
        field: &'static str,
        /// What may stand there.
        wanted: &'static str,
        /// What stood there, cut short.
        value: String,
    },
    /// A field that the kind cannot do without.
    #[error("{kind} atom needs {field}{wanted}")]
    Needs {
        /// The claim's kind.
        kind: &'static str,
        /// Which field.
        field: &'static str,
        /// What may stand there, with its separator; empty for a non-blank string.
        wanted: &'static str,
    },
    /// A trust row from a node to itself.
    #[error("trust atom needs from and to to differ")]
    SelfTrust,
    /// Prose past the limit from a writer nobody watches.
    #[error(transparent)]
    Prose(#[from] Complaint),
}

/// A client's value on one line and cut short; a missing one prints as clients know it.
pub(super) fn quoted(value: Option<&Value>) -> String {
    match value {
        None => "None".to_owned(),
        Some(Value::String(text)) => shortened(text),
        Some(other) => shortened(&other.to_string()),
    }
}

/// A client's text as a refusal says it back: on one line, cut short, and not at all if it holds
/// what must never reach a disk, for refusals end in logs.
pub fn shortened(text: &str) -> String {
    if unsafe_text(text).is_some() {
        return "(withheld)".to_owned();
    }
    let line = |c: char| {
        if c.is_control() || c.is_whitespace() { ' ' } else { c }
    };
    let mut short: String = text.chars().take(QUOTED).map(line).collect();
    if text.chars().nth(QUOTED).is_some() {
        short.push_str("...");
    }
    short
}
