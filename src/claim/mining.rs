//! Proposals that nobody wrote as claims: said by a client, or mined from what a card did not take.
//!
//! A card that is too long is refused, and its paragraphs are archived by day, so that mining can
//! propose what they say. Of every text the first sentence is the claim. Not here: the holding of
//! agents' writes and the accept ([`super::proposals`]).
//!
//! Invariants: no text with a secret is archived or proposed; the same words are one proposal; what
//! a card or a live claim says already is not proposed; a transcript is looked at and not kept.

use packset_segments::key_of;
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_128;

use super::proposals::{Error, KIND, SCHEMA, is_open, normal};
use crate::atom::{self, Kind, Refusal, first_sentence, is_tool_dump, shortened, unsafe_text};
use crate::cards::{self, Card, SetName};
use crate::pack::record::{self, Record};
use crate::pack::{self, IdSource, Transaction, View};
use crate::time::Micros;

/// Kind of a record that holds an archived paragraph.
pub const ARCHIVE: &str = "archive";

/// Characters of the shortest claim that is proposed (behaviour spec, 4.13).
const SHORTEST: usize = 8;
/// Characters of a refused card that are archived: as much as an attachment may hold.
const ARCHIVED: usize = cards::ATTACHMENT_LIMIT;

/// What a proposal is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// Claims out of what was said.
    Extract,
    /// Links between claims.
    LinkRewrite,
    /// Whether a claim still says what its source says.
    Fidelity,
    /// When a claim should be looked at again.
    DueSuggest,
}

impl Job {
    const ALL: [Self; 4] = [Self::Extract, Self::LinkRewrite, Self::Fidelity, Self::DueSuggest];

    /// The name that records carry.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Extract => "extract",
            Self::LinkRewrite => "linkRewrite",
            Self::Fidelity => "fidelity",
            Self::DueSuggest => "dueSuggest",
        }
    }

    /// The one point at which it is done (behaviour spec, 4.13).
    pub const fn when(self) -> &'static str {
        match self {
            Self::Extract | Self::LinkRewrite => "compaction",
            Self::Fidelity | Self::DueSuggest => "onDemand",
        }
    }

    /// Reads a job and a point. Without a job it is extraction; without a point it is the one at
    /// which the job is done.
    ///
    /// # Errors
    /// [`Error::NotAllowed`].
    pub fn at(job: Option<&str>, when: Option<&str>) -> Result<Self, Error> {
        let named = job.unwrap_or(Self::Extract.name());
        let known = Self::ALL.into_iter().find(|job| job.name() == named);
        let fits = known.filter(|job| when.is_none_or(|when| when == job.when()));
        fits.ok_or_else(|| {
            let when = when.or(known.map(Self::when)).unwrap_or("any point");
            Error::NotAllowed { job: shortened(named), when: shortened(when) }
        })
    }
}

/// What is known already: texts without what makes no other statement of them.
struct Fence(Vec<String>);

impl Fence {
    /// Reads the live claims and the cards of a workspace; `others` are texts of cards that lie
    /// elsewhere.
    fn of(transaction: &Transaction<'_>, others: &[String]) -> Result<Self, pack::Error> {
        let snapshot = transaction.snapshot();
        let mut known: Vec<String> = others.iter().flat_map(|text| paragraphs(text)).collect();
        for place in snapshot.shown(&View::now(transaction.now())) {
            let kind = snapshot.segment(place).kind(place.row)?;
            if cards::is_card(kind) {
                known.extend(paragraphs(snapshot.text(place)?));
            } else if Kind::named(kind).is_some() {
                known.push(snapshot.text(place)?.to_owned());
            }
        }
        let known = known.iter().map(|text| normal(text));
        Ok(Self(known.filter(|text| is_enough(text)).collect()))
    }

    fn knows(&self, claim: &str) -> bool {
        self.0.iter().any(|known| known.contains(claim) || claim.contains(known.as_str()))
    }
}

fn is_enough(text: &str) -> bool {
    text.chars().nth(SHORTEST - 1).is_some()
}

/// Blocks between blank lines, or the lines of a text that is one block (behaviour spec, 4.10).
fn paragraphs(text: &str) -> Vec<String> {
    cards::paragraphs(text).into_iter().map(str::to_owned).collect()
}

/// Proposes the first sentence of a text and returns the proposal: a new one, or the open one that
/// says the same. `others` are texts of cards that lie in other stores.
///
/// # Errors
/// [`Error::Nothing`], a text that is refused whatever it says, or the pack's.
pub fn propose(
    transaction: &mut Transaction<'_>,
    text: &str,
    job: Job,
    transcript: &str,
    others: &[String],
    ids: &IdSource,
) -> Result<Record, Error> {
    if let Some(kind) = unsafe_text(text) {
        return Err(Refusal::Unsafe { field: "text".into(), kind }.into());
    }
    let fence = Fence::of(transaction, others)?;
    put(transaction, text, job, &Source::of(transcript), &fence, ids)
}

/// Mines what was archived on a day, `YYYY-MM-DD`; none: today. Returns the proposals that come of
/// it, those that were open already included. What says nothing new is passed over.
///
/// # Errors
/// The pack's.
pub fn mine(
    transaction: &mut Transaction<'_>,
    day: Option<&str>,
    transcript: &str,
    others: &[String],
    ids: &IdSource,
) -> Result<Vec<Record>, Error> {
    let today = day_of(transaction.now());
    let day = day.unwrap_or(&today);
    let mut archived = transaction.with_key(day_key(day))?;
    archived.retain(|record| {
        record::kind(record) == ARCHIVE && record::string(record, "day") == Some(day)
    });
    // In the order of the card that was refused.
    let place = |record: &Record| {
        let number = record.get("place").and_then(Value::as_u64);
        (record::string(record, "ts").unwrap_or_default().to_owned(), number)
    };
    archived.sort_by_cached_key(place);
    let fence = Fence::of(transaction, others)?;
    let source = Source::of(transcript);
    let mut mined: Vec<Record> = Vec::new();
    for paragraph in archived {
        let text = record::string(&paragraph, "text").unwrap_or_default();
        match put(transaction, text, Job::Extract, &source, &fence, ids) {
            Ok(proposal) => {
                let id = record::id(&proposal);
                if !mined.iter().any(|known| record::id(known) == id) {
                    mined.push(proposal);
                }
            }
            Err(Error::Nothing(_) | Error::Claim(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(mined)
}

/// What a claim is held against.
struct Source<'a> {
    transcript: &'a str,
    normal: String,
}

impl<'a> Source<'a> {
    fn of(transcript: &'a str) -> Self {
        Self { transcript, normal: normal(transcript) }
    }

    /// Whether the transcript and the claim contain one another; one that is empty speaks against
    /// nothing, and whoever accepts is the judge.
    fn verdict(&self, claim: &str) -> &'static str {
        let supports = self.normal.contains(claim) || claim.contains(&self.normal);
        if supports { "SUPPORTED" } else { "NEI" }
    }

    /// The line that holds the claim, if it may be stored.
    fn line(&self, claim: &str) -> &'a str {
        let holds = |line: &&str| normal(line).contains(claim);
        let line = self.transcript.lines().map(str::trim).find(holds).unwrap_or_default();
        let short = line.chars().nth(atom::TEXT_LIMIT).is_none();
        if short && unsafe_text(line).is_none() { line } else { "" }
    }
}

fn put(
    transaction: &mut Transaction<'_>,
    text: &str,
    job: Job,
    source: &Source<'_>,
    fence: &Fence,
    ids: &IdSource,
) -> Result<Record, Error> {
    if is_tool_dump(text) {
        return Err(Error::Nothing("the text is a tool dump"));
    }
    let claim = first_sentence(text);
    let words = normal(claim);
    if !is_enough(&words) {
        return Err(Error::Nothing("its first sentence is too short"));
    }
    let length = claim.chars().count();
    if length > atom::TEXT_LIMIT {
        return Err(Refusal::Long(length).into());
    }
    let key = key_of(format!("mined\0{}\0{words}", job.name()).as_bytes());
    for other in transaction.with_key(key)? {
        let same = record::string(&other, "text").is_some_and(|text| normal(text) == words);
        if is_open(&other) && same && record::string(&other, "job") == Some(job.name()) {
            return Ok(other);
        }
    }
    if fence.knows(&words) {
        return Err(Error::Nothing("a card or a live claim says it already"));
    }
    let now = transaction.now();
    let fields = [
        ("schema", json!(SCHEMA)),
        ("id", json!(ids.fresh(now))),
        ("kind", json!(KIND)),
        ("workspace", json!(transaction.snapshot().name())),
        ("text", json!(claim)),
        ("job", json!(job.name())),
        ("when", json!(job.when())),
        ("status", json!("open")),
        ("ts", json!(now.format_ms())),
        ("span", json!(claim)),
        ("verdict", json!(source.verdict(&words))),
        ("transcript", json!(source.line(&words))),
        ("why", json!("mined")),
    ];
    let fields = fields.into_iter().map(|(field, value)| (field.to_owned(), value));
    let proposal: Record = fields.collect();
    transaction.put(proposal.clone(), vec![key])?;
    Ok(proposal)
}

/// The claim that an accepted proposal becomes when none stands in it (behaviour spec, 4.13).
pub(super) fn claim_of(proposal: &Record) -> Record {
    let fields = [
        ("schema", json!(atom::SCHEMA)),
        ("kind", json!(Kind::Lesson.name())),
        ("level", json!("derived")),
        ("text", proposal.get("text").cloned().unwrap_or_default()),
        ("about_peer", json!("user")),
        ("by_peer", proposal.get("job").cloned().unwrap_or_else(|| json!(Job::Extract.name()))),
        ("trust", json!(1.0)),
    ];
    fields.into_iter().map(|(field, value)| (field.to_owned(), value)).collect()
}

/// Archives the paragraphs of a card that was too long, for [`mine`]. Each stands once a day. A
/// card with a secret is not archived at all, nor what stands past the 200,000th character.
///
/// # Errors
/// [`cards::Error::Unsafe`], or what the pack says.
pub fn archive(
    transaction: &mut Transaction<'_>,
    card: Card,
    set: Option<&SetName>,
    text: &str,
) -> Result<usize, cards::Error> {
    if let Some(kind) = unsafe_text(text) {
        return Err(cards::Error::Unsafe { what: "card", kind });
    }
    let end = text.char_indices().nth(ARCHIVED).map_or(text.len(), |(end, _)| end);
    let text = text.get(..end).unwrap_or_default();
    let now = transaction.now();
    let day = day_of(now);
    let mut count = 0;
    for (place, paragraph) in cards::paragraphs(text).into_iter().enumerate() {
        let id = format!("{ARCHIVE}/{day}/{:032x}", xxh3_128(normal(paragraph).as_bytes()));
        if transaction.get(&id)?.is_some_and(|known| !record::tombstone(&known)) {
            continue;
        }
        let mut fields = vec![
            ("id", json!(id)),
            ("kind", json!(ARCHIVE)),
            ("day", json!(day)),
            ("card", json!(card.name())),
            ("place", json!(place)),
            ("ts", json!(now.format_ms())),
        ];
        fields.extend(set.map(|set| ("set", json!(set.as_str()))));
        fields.push(("text", json!(paragraph)));
        let fields = fields.into_iter().map(|(field, value)| (field.to_owned(), value));
        transaction.put(fields.collect(), vec![day_key(&day)])?;
        count += 1;
    }
    Ok(count)
}

fn day_key(day: &str) -> u64 {
    key_of(format!("{ARCHIVE}\0{day}").as_bytes())
}

fn day_of(now: Micros) -> String {
    let mut day = now.format_ms();
    day.truncate("YYYY-MM-DD".len());
    day
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_have_their_points_and_the_default_is_allowed() {
        for (job, when, wanted) in [
            (None, None, Some(Job::Extract)),
            (Some("extract"), Some("compaction"), Some(Job::Extract)),
            (Some("linkRewrite"), None, Some(Job::LinkRewrite)),
            (Some("fidelity"), Some("onDemand"), Some(Job::Fidelity)),
            (Some("dueSuggest"), Some("onDemand"), Some(Job::DueSuggest)),
            (Some("extract"), Some("onDemand"), None),
            (None, Some("onDemand"), None),
            (Some("fidelity"), Some("compaction"), None),
            (Some("dream"), None, None),
            (Some("extract"), Some("never"), None),
        ] {
            match (Job::at(job, when), wanted) {
                (Ok(found), Some(wanted)) => assert_eq!(found, wanted),
                (Err(error), None) => assert!(error.to_string().contains("not allowed"), "{error}"),
                (other, _) => panic!("{job:?} {when:?}: {other:?}"),
            }
        }
    }

    #[test]
    fn a_verdict_is_by_containment() {
        let said = Source::of("They said:\n The Build uses  port 80.\nThen lunch.");
        assert_eq!(said.verdict("the build uses port 80"), "SUPPORTED");
        assert_eq!(said.verdict("the build uses port 81"), "NEI");
        assert_eq!(said.line("the build uses port 80"), "The Build uses  port 80.");
        assert_eq!(Source::of("uses port 80").verdict("the build uses port 80"), "SUPPORTED");
        assert_eq!(Source::of("").verdict("anything"), "SUPPORTED");
        let secret = Source::of("The build uses port 80, password: hunter2");
        assert_eq!(secret.line("the build uses port 80"), "");
    }
}
