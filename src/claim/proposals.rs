//! Proposals: writes that nobody watched, held until a person accepts them.
//!
//! A proposal is a record of its own kind with the claim inside, so that no view of claims can
//! show it. Whether a write is held is [`is_held`]; the answer to it is [`Held`]. Not here: the
//! mining of proposals ([`super::mining`]), and how a claim is written ([`crate::claim`]).
//!
//! Invariants: what is held passed every check of a claim; the same words held twice are one
//! proposal; an accept stores the claim once, however often and from wherever it is repeated.

use packset_segments::key_of;
use serde_json::{Value, json};

use crate::atom::{Kind, Refusal, admit, is_unattended, raise, shortened};
use crate::claim::{self, mining};
use crate::pack::record::{self, Record};
use crate::pack::{self, IdSource, Snapshot, Transaction, View};
use crate::text::Tokenizer;

/// Kind of a proposal's record.
pub const KIND: &str = "proposal";
/// The schema name of a proposal.
pub const SCHEMA: &str = "inside.proposal/v1";

/// The answer to a write that is held. Clients match the words before the id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("held as proposal {0}")]
pub struct Held(
    /// The proposal's id, 32 hex digits.
    pub String,
);

/// Why nothing was held or accepted.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no proposal with the id.
    #[error("no proposal {}", shortened(.0))]
    Unknown(String),
    /// Nothing stands behind what it says, or it holds no claim.
    #[error("proposal {0} is not supported by what it was taken from")]
    Unsupported(String),
    /// A job that is not done at that point.
    #[error("job {job} is not allowed at {when}")]
    NotAllowed {
        /// The job, cut short.
        job: String,
        /// The point, cut short.
        when: String,
    },
    /// A text with no claim in it, or with one that is known.
    #[error("there is nothing to propose: {0}")]
    Nothing(&'static str),
    /// The claim's id is that of a record which is no claim.
    #[error("id {0} belongs to a record that is no claim")]
    Taken(String),
    /// The claim that it became is no longer there.
    #[error("proposal {0} was accepted, and its claim is gone")]
    Gone(String),
    /// The claim itself may not be written.
    #[error(transparent)]
    Claim(#[from] claim::Error),
    /// The pack failed.
    #[error(transparent)]
    Pack(#[from] pack::Error),
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Claim(refusal.into())
    }
}

/// Whether a write of this claim is held. `setting` is `PACKSET_HOLD_AGENT_WRITES`: `0`, `false`
/// or `no` let such writes through; everything else, and nothing, holds them.
pub fn is_held(claim: &Record, setting: Option<&str>) -> bool {
    let off = |setting: &str| {
        let setting = setting.trim();
        ["0", "false", "no"].iter().any(|word| setting.eq_ignore_ascii_case(word))
    };
    is_unattended(claim) && !setting.is_some_and(off)
}

/// Holds a claim and returns the proposal's id: a new one, or that of the open proposal that says
/// the same in the same words (case, blanks and a closing full stop aside), from the same origin
/// and about the same things.
///
/// The claim is checked as any claim is, but its duplicate is not looked for: the proposal is
/// what a person is asked about.
///
/// # Errors
/// The first rule the claim breaks, an id that is retired, or what the pack says.
pub fn hold(
    transaction: &mut Transaction<'_>,
    mut claim: Record,
    ids: &IdSource,
) -> Result<String, Error> {
    let name = transaction.snapshot().name();
    admit(&mut claim, name)?;
    if let Some(known) = transaction.get(record::id(&claim))? {
        let id = record::id(&claim).to_owned();
        if Kind::of(&known).is_none() {
            return Err(Error::Taken(id));
        }
        if record::tombstone(&known) {
            return Err(claim::Error::Retired(id).into());
        }
    }
    let sameness = sameness(&claim);
    let key = key_of(sameness.as_bytes());
    for other in transaction.with_key(key)? {
        let atom = other.get("atom").and_then(Value::as_object);
        if is_open(&other) && atom.is_some_and(|atom| self::sameness(atom) == sameness) {
            return Ok(record::id(&other).to_owned());
        }
    }
    let now = transaction.now();
    let ts = now.format_ms();
    let id = ids.fresh(now);
    if record::id(&claim).is_empty() {
        claim.insert("id".into(), ids.fresh(now).into());
    }
    // When it was said, not when somebody got round to accepting it.
    let said = claim.get("ts").cloned().unwrap_or_else(|| ts.as_str().into());
    claim.entry("ts").or_insert_with(|| said.clone());
    claim.entry("valid_from").or_insert(said);
    claim.insert("tombstone".into(), Value::Bool(false));
    let text = record::string(&claim, "text").unwrap_or_default().to_owned();
    let fields = [
        ("schema", json!(SCHEMA)),
        ("id", json!(id)),
        ("kind", json!(KIND)),
        ("workspace", json!(name)),
        ("text", json!(text)),
        ("origin", json!(origin(&claim))),
        ("hook", json!(is_hook(&claim))),
        ("job", json!("admission")),
        ("when", json!("onDemand")),
        ("status", json!("open")),
        ("ts", json!(ts)),
        ("span", json!(text)),
        ("verdict", json!("SUPPORTED")),
        ("transcript", json!("")),
        ("why", json!(why(&claim))),
        ("atom", Value::Object(claim)),
    ];
    let proposal = fields.into_iter().map(|(field, value)| (field.to_owned(), value)).collect();
    transaction.put(proposal, vec![key])?;
    Ok(id)
}

/// The open proposals of a workspace, in the order in which they were made. Costs a look at the
/// kind of every row.
///
/// # Errors
/// Damaged bytes.
pub fn open(snapshot: &Snapshot) -> Result<Vec<Record>, packset_segments::Error> {
    // Proposals have no window: which moment is asked about changes nothing.
    let view = View::now(crate::time::Micros(snapshot.manifest().recorded));
    let mut found = Vec::new();
    for place in snapshot.places() {
        if snapshot.segment(place).kind(place.row)? == KIND && snapshot.visible(place, &view) {
            let record = snapshot.record(place)?;
            if is_open(&record) {
                found.push(record);
            }
        }
    }
    let order = |record: &Record| {
        let string = |field| record::string(record, field).unwrap_or_default().to_owned();
        (string("ts"), string("id"))
    };
    found.sort_by_cached_key(order);
    Ok(found)
}

/// Accepts a proposal: stores its claim as a person's own and returns it as it is stored.
/// Repeated, it returns the claim that was stored then, whatever became of it.
///
/// If a live claim says the same already, that one is returned, and becomes the person's own.
///
/// # Errors
/// [`Error::Unknown`], [`Error::Unsupported`], what the claim breaks by now, or the pack's.
pub fn accept(
    transaction: &mut Transaction<'_>,
    id: &str,
    ids: &IdSource,
) -> Result<Record, Error> {
    let there = |record: &Record| record::kind(record) == KIND && !record::tombstone(record);
    let proposal = transaction.get(id)?.filter(there);
    let Some(mut proposal) = proposal else { return Err(Error::Unknown(id.to_owned())) };
    if let Some(atom) = record::string(&proposal, "atom_id") {
        return transaction.get(atom)?.ok_or_else(|| Error::Gone(id.to_owned()));
    }
    let supported = is_open(&proposal) && record::string(&proposal, "verdict") == Some("SUPPORTED");
    let mut claim = match proposal.get("atom").filter(|_| supported) {
        Some(Value::Object(claim)) => claim.clone(),
        None if supported => mining::claim_of(&proposal),
        _ => return Err(Error::Unsupported(id.to_owned())),
    };
    raise(&mut claim);
    if transaction.get(record::id(&claim))?.is_some_and(|known| Kind::of(&known).is_none()) {
        return Err(Error::Taken(record::id(&claim).to_owned()));
    }
    let now = transaction.now();
    let snapshot = transaction.snapshot();
    let mut tokenizer = Tokenizer::new(snapshot.manifest().text.stem);
    let fresh = ids.fresh(now);
    let claim = claim::prepare(&mut claim, snapshot.name(), fresh, now, &mut tokenizer)?;
    let mut stored = claim::write_accepted(transaction, claim)?.record().clone();
    if is_unattended(&stored) {
        raise(&mut stored);
        stored.insert("updated".into(), now.format_ms().into());
        transaction.put(stored.clone(), claim::keys(&stored))?;
    }
    proposal.insert("status".into(), "accepted".into());
    proposal.insert("atom_id".into(), record::id(&stored).into());
    proposal.insert("updated".into(), now.format_ms().into());
    transaction.put(proposal, Vec::new())?;
    Ok(stored)
}

pub(super) fn is_open(record: &Record) -> bool {
    record::kind(record) == KIND && record::string(record, "status") == Some("open")
}

fn is_hook(claim: &Record) -> bool {
    claim.get("hook") == Some(&Value::Bool(true))
}

/// The origin a claim reads as: a person's unless it names one (the page).
fn origin(claim: &Record) -> &str {
    record::string(claim, "origin").filter(|origin| !origin.is_empty()).unwrap_or("user-declared")
}

fn why(claim: &Record) -> &'static str {
    if is_hook(claim) && origin(claim) != "agent-derived" { "hook" } else { "agent-derived" }
}

/// What two held claims must share to be one proposal. All but the text, origin and hook are the
/// fields that keep claims apart: the same words of two voters are two proposals.
fn sameness(claim: &Record) -> String {
    const APART: [&str; 10] =
        ["kind", "set", "pattern", "verdict", "from", "to", "about", "agent", "issue", "name"];
    let text = normal(record::string(claim, "text").unwrap_or_default());
    let apart = APART.map(|field| claim.get(field).cloned().unwrap_or_default());
    json!([KIND, text, origin(claim), is_hook(claim), apart]).to_string()
}

/// A text without what makes no other statement of it: case, the width of blanks, a full stop at
/// its end.
pub(super) fn normal(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let joined = words.join(" ").to_lowercase();
    joined.trim_end_matches(['.', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(value: Value) -> Record {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn unattended_writes_are_held_unless_the_setting_says_no() {
        let agent = record(json!({"origin": "agent-derived"}));
        let hook = record(json!({"hook": true}));
        for claim in [&agent, &hook] {
            for setting in [None, Some("1"), Some("true"), Some("yes"), Some(""), Some("off")] {
                assert!(is_held(claim, setting), "{setting:?}");
            }
            for setting in ["0", "false", "no", "NO", " False "] {
                assert!(!is_held(claim, Some(setting)), "{setting}");
            }
        }
        for person in [json!({}), json!({"origin": "peer"}), json!({"hook": "true"})] {
            assert!(!is_held(&record(person), None));
        }
    }

    #[test]
    fn the_same_words_are_the_same_proposal() {
        let base =
            json!({"kind": "lesson", "text": "Port 80 is taken.", "origin": "agent-derived"});
        let base = record(base);
        let with = |field: &str, value: Value| {
            let mut other = base.clone();
            other.insert(field.to_owned(), value);
            sameness(&other) == sameness(&base)
        };
        for same in ["port 80  is\ttaken", " PORT 80 IS TAKEN. ", "Port 80 is taken..."] {
            assert!(with("text", json!(same)), "{same}");
        }
        assert!(!with("text", json!("Port 80 is taken?")), "a question is no statement");
        assert!(with("trust", json!(0.5)) && with("id", json!("x")), "what keeps nothing apart");
        for (field, value) in [
            ("kind", json!("preference")),
            ("origin", json!("peer")),
            ("hook", json!(true)),
            ("set", json!("dev")),
            ("about", json!("x")),
        ] {
            assert!(!with(field, value), "{field}");
        }
    }

    #[test]
    fn why_and_the_answer_to_the_writer() {
        for (claim, wanted) in [
            (json!({"origin": "agent-derived"}), "agent-derived"),
            (json!({"origin": "agent-derived", "hook": true}), "agent-derived"),
            (json!({"hook": true}), "hook"),
            (json!({"hook": true, "origin": "peer"}), "hook"),
        ] {
            assert_eq!(why(&record(claim.clone())), wanted, "{claim}");
        }
        let id = "0192f3a4b5c6d7e8f9a0b1c2d3e4f506".to_owned();
        let said = "held as proposal 0192f3a4b5c6d7e8f9a0b1c2d3e4f506";
        assert_eq!(Held(id).to_string(), said);
    }
}
