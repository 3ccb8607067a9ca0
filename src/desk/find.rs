//! Searches, and what is behind their lists.

use packset_segments::Space;
use serde_json::{Map, Value, json};

use super::atoms::no_atom;
use super::{Desk, Given, gap};
use crate::atom::Kind;
use crate::cards::{self, Card, SetName};
use crate::claim::recall::{self, Hints};
use crate::cli::{Failure, FailureKind};
use crate::embed::models;
use crate::encode::Encoders;
use crate::meaning;
use crate::pack::record::{self, Record};
use crate::pack::snapshot::{Snapshot, View};
use crate::pack::transaction::knows;
use crate::search::confidence::THRESHOLD;
use crate::search::panel::{Diversify, Fuse, Panel};
use crate::search::{self, CardHit, Found, Hit, Query, Rank, Ranked, Towards};
use crate::text::Tokenizer;

/// Hits of a search that names no limit (observed).
const HITS: usize = 16;
/// Hits that a cross-encoder reorders (the page: "the top 20").
pub const RERANKED: usize = 20;
/// Hits of the search whose list is explained, unless it says: what the verb prints.
const LISTED: usize = 10;

/// Reads a rank by its name.
fn rank(given: &Given) -> Result<(Rank, &'static str), Failure> {
    match given.text("rank").as_deref() {
        None | Some("fused") => Ok((Rank::Fused, "fused")),
        Some("relevance") => Ok((Rank::Relevance, "relevance")),
        // Clients look for the word at the start.
        Some(other) => Err(Failure::new(
            FailureKind::Refused,
            format!("rank is fused or relevance, not {other}"),
        )),
    }
}

/// Whether every search is reranked, as `PACKSET_RERANK` has it.
pub fn reranks(desk: &Desk) -> bool {
    let yes =
        |word: &str| ["1", "true", "yes"].iter().any(|it| word.trim().eq_ignore_ascii_case(it));
    desk.env.get("PACKSET_RERANK").is_some_and(yes)
}

/// What one of a cross-encoder's logits weighs beside the blend's score of a hit: a few of them move
/// a hit by as much as half of its words. By itself a cross-encoder orders short claims worse than
/// the blend does (README, *Search*).
const RERANKING: f64 = 0.03;

/// Puts the first hits into the order of the cross-encoder, and says what became of that. Beside
/// scores of the blend, `fused`, its own are added; a named panel leaves the order to it.
fn rerank(
    desk: &Desk,
    text: &str,
    hits: &mut Vec<Value>,
    fused: &[Option<f32>],
    limit: usize,
) -> &'static str {
    let (head, _) = hits.split_at(hits.len().min(RERANKED));
    let texts: Vec<&str> =
        head.iter().map(|hit| hit["text"].as_str().unwrap_or_default()).collect();
    let said = match texts.len() {
        0 => "off",
        // One candidate cannot be reordered: no model need be asked.
        1 => "settled",
        _ => match desk.encoders().scores(text, &texts) {
            None => "absent",
            Some(scores) => {
                let rank = |(at, score): (usize, &f64)| match fused.get(at).copied().flatten() {
                    Some(fused) => f64::from(fused) + RERANKING * score,
                    None => *score,
                };
                let ranks: Vec<f64> = scores.iter().enumerate().map(rank).collect();
                let scored = scores.into_iter().zip(hits.drain(..head.len()));
                let mut order: Vec<(f64, (f64, Value))> = ranks.into_iter().zip(scored).collect();
                order.sort_by(|a, b| b.0.total_cmp(&a.0));
                let head = order.into_iter().map(|(_, (score, mut hit))| {
                    hit["rerank_score"] = score.into();
                    hit
                });
                let head: Vec<Value> = head.collect();
                hits.splice(0..0, head);
                "cross-encoder"
            }
        },
    };
    hits.truncate(limit);
    said
}

/// The claims that match, best first.
///
/// # Errors
/// A time, a rank or a panel name that is none, or what the pack says.
pub fn search(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let text = given.text("q").unwrap_or_default();
    let (kind, set) = (given.text("kind"), given.text("set"));
    let (rank, ranked) = rank(&given)?;
    let limit = given.count("limit", HITS)?;
    let least = given.share("min_confidence")?;
    let reranked = given.flag("rerank") || (reranks(desk) && !given.0.contains_key("rerank"));
    let query = Query {
        text: &text,
        // A cross-encoder is shown more than is asked for: what it finds best may stand lower.
        limit: if reranked && limit > 0 { limit.max(RERANKED) } else { limit },
        view: desk.view(&given)?,
        rank,
        kind: kind.as_deref(),
        set: set.as_deref(),
        panel: desk.panel()?,
    };
    let time = |name| Ok::<_, Failure>(given.time(name)?.map(crate::time::Micros::format_ms));
    let mut answer = json!({
        "workspace": name,
        "generation": null,
        "as_of": time("as_of")?,
        "known_at": time("known_at")?,
        "rank": ranked,
        "rerank": "off",
        "engine": "linear",
        "hits": [],
    });
    let store = desk.store(&name)?;
    let snapshot = desk.snapshot_of(&store)?;
    let mut stem = desk.stem();
    if let Some(rule) = snapshot.as_ref().map(|snapshot| &snapshot.manifest().text) {
        if !knows(rule) {
            return Err(store.unknown_rule(rule).into());
        }
        stem = rule.stem;
    }
    let cards = cards_of(desk, snapshot.as_deref(), set.as_deref(), &query.view)?;
    let mut tokenizer = Tokenizer::new(stem);
    let semantic = given.text("semantic");
    let towards = match limit {
        0 => Vec::new(),
        _ => towards_by(desk, semantic.as_deref(), stem, &text)?,
    };
    if let Some(last) = towards.last() {
        answer["engine"] = last.name.into();
    }
    let findings =
        search::search_beside(snapshot.as_deref(), &mut tokenizer, &query, &cards, &towards)?;
    let mut hits: Vec<Value> = Vec::with_capacity(findings.found.len());
    let mut fused = Vec::with_capacity(findings.found.len());
    for found in findings.found {
        let score = found.blended();
        let hit = match (found, &snapshot) {
            (Found::Card(hit), _) => Some(card(&hit)),
            (Found::Claim(hit), Some(snapshot)) => claim(snapshot, hit, &query)?,
            (Found::Claim(_), None) => None,
        };
        fused.extend(hit.is_some().then_some(score));
        hits.extend(hit);
    }
    if reranked {
        answer["rerank"] = rerank(desk, &text, &mut hits, &fused, limit).into();
    }
    let confidence = findings.confidence.map(|it| (f64::from(it) * 1e4).round() / 1e4);
    let sure = confidence.unwrap_or(0.0);
    answer["confidence"] = json!(confidence);
    answer["confident"] = (sure >= least.unwrap_or(THRESHOLD.into())).into();
    if least.is_some_and(|least| sure < least) {
        hits.clear();
    }
    answer["hits"] = hits.into();
    if let Some(snapshot) = &snapshot {
        answer["generation"] = snapshot.manifest().generation.into();
        answer["stem"] = stem.into();
        if let Some(since) = gap(snapshot, &query.view) {
            answer["kept_since"] = since.into();
        }
    }
    Ok(answer)
}

/// The cards that join a search.
fn cards_of(
    desk: &Desk,
    snapshot: Option<&Snapshot>,
    set: Option<&str>,
    view: &View,
) -> Result<Vec<(Card, String)>, Failure> {
    let set = set.map(SetName::new).transpose()?;
    let pack = desk.snapshot_of(&desk.pack_store()?)?;
    Ok(cards::beside(snapshot, pack.as_deref(), set.as_ref(), view)?)
}

/// The vectors of a query: by the static table, and by a model if an encoder answers. One of stop
/// words finds nothing: no model need be asked about it.
pub(super) fn towards(desk: &Desk, stem: bool, text: &str) -> Vec<Towards> {
    by(desk, Some(&*desk.encoders()), stem, text)
}

/// The same by what is asked for: `off`, `static`, or a model by name.
///
/// # Errors
/// A name that is none, or another model than the one that a process which stays has loaded.
fn towards_by(
    desk: &Desk,
    semantic: Option<&str>,
    stem: bool,
    text: &str,
) -> Result<Vec<Towards>, Failure> {
    let Some(name) = semantic else { return Ok(towards(desk, stem, text)) };
    match name {
        "off" => return Ok(Vec::new()),
        "static" => return Ok(by(desk, None, stem, text)),
        _ => {}
    }
    let Some(model) = models::find(name) else {
        return Err(Failure::usage(format!("no model is called {name}"))
            .hint("off, static, or a model of `packset model list`"));
    };
    if desk.model().as_deref() == Some(model.name) {
        return Ok(towards(desk, stem, text));
    }
    if desk.is_warm() {
        return Err(Failure::new(
            FailureKind::Refused,
            format!("{} is not the model that this writer has loaded", model.name),
        )
        .hint("`packset model use` sets it"));
    }
    let encoders = Encoders::find(&desk.env, &*desk.vfs, Some(model.name));
    Ok(by(desk, Some(&encoders), stem, text))
}

fn by(desk: &Desk, encoders: Option<&Encoders>, stem: bool, text: &str) -> Vec<Towards> {
    let mut towards = Vec::new();
    if Tokenizer::new(stem).collect(text).is_empty() {
        return towards;
    }
    if desk.meaning() {
        let vector = meaning::vector(text).to_vec();
        towards.push(Towards {
            name: "static",
            model: meaning::MODEL.into(),
            space: meaning::space(),
            vector,
        });
    }
    if let Some((entry, vector)) = encoders.and_then(|it| Desk::encode_with(it, text, true)) {
        let space = Space { id: entry.id.0, dims: entry.dims };
        towards.push(Towards { name: "dense", model: entry.model, space, vector });
    }
    towards
}

/// A hit with its record. The engine compares sets by a hash; here the name decides.
fn claim(snapshot: &Snapshot, hit: Hit, query: &Query<'_>) -> Result<Option<Value>, Failure> {
    let text = snapshot.segment(hit.text).text(hit.text.row)?;
    let version = hit.version;
    let record = record::decode(snapshot.segment(version), version.row, text, snapshot.name())?;
    let wanted = query.set.is_none_or(|set| record::string(&record, "set") == Some(set));
    Ok(wanted.then(|| shown(&hit, &record)))
}

/// Where each ballot that names it has it.
fn ranks(ranks: &[Ranked]) -> Map<String, Value> {
    let place = |r: &Ranked| (r.ballot.to_owned(), json!({ "rank": r.rank, "score": r.score }));
    ranks.iter().map(place).collect()
}

fn card(hit: &CardHit) -> Value {
    json!({
        "field": hit.card.name(),
        "id": null,
        "kind": hit.card.name(),
        "text": hit.text,
        "score": hit.score,
        "ballot_score": hit.ballot_score,
        "ballots": hit.ballots,
        "of": hit.of,
        "ranks": ranks(&hit.ranks),
        "rerank_score": null,
    })
}

fn shown(hit: &Hit, record: &Record) -> Value {
    let field = |name: &str| record.get(name).cloned().unwrap_or(Value::Null);
    // A claim without one reads as its person's own; a record of another kind has none.
    let unwritten = Kind::of(record).map_or(Value::Null, |_| "user-declared".into());
    let origin = record.get("origin").cloned().unwrap_or(unwritten);
    // Clients read a list of texts, or none.
    let entities = record.get("entities").filter(|entities| entities.is_array());
    let mut shown = json!({
        "field": "atom",
        "id": field("id"),
        "kind": field("kind"),
        "text": field("text"),
        "ts": field("ts"),
        "due_at": field("due_at"),
        "entities": entities.cloned().unwrap_or_else(|| json!([])),
        "origin": origin,
        "score": hit.score,
        "ballot_score": hit.ballot_score,
        "ballots": hit.ballots,
        "of": hit.of,
        "decay": hit.decay,
        "ranks": ranks(&hit.ranks),
        "rerank_score": null,
    });
    if let Some(cosine) = hit.cosine {
        let dense = hit.ranks.iter().rev().find(|it| ["dense", "static"].contains(&it.ballot));
        shown["dense_rank"] = json!(dense.map(|ranked| ranked.rank));
        shown["cosine"] = ((f64::from(cosine) * 1e4).round() / 1e4).into();
    }
    if let Some(source) = record.get("source") {
        shown["source"] = source.clone();
    }
    shown
}

/// What an agent should have before it, with hints of what will be needed or without.
///
/// # Errors
/// What the pack says.
pub fn recall(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let name = given.workspace()?;
    let cue = given.text("q").unwrap_or_default();
    let seeds = given.list("seed");
    let seeds: Vec<&str> = seeds.iter().map(String::as_str).collect();
    let limit = given.count("limit", recall::MOST)?;
    let kind = given.text("kind");
    let mut atoms: Vec<Record> = Vec::new();
    if let Some(snapshot) = desk.snapshot(&name)? {
        let hints = Hints { cue: &cue, seeds: &seeds };
        atoms = recall::recall(&snapshot, &hints, limit, kind.as_deref(), desk.clock.now())?;
    }
    let atoms: Vec<Record> = atoms.into_iter().map(crate::claim::shown).collect();
    Ok(json!({ "workspace": name, "atoms": atoms }))
}

/// What is behind a claim's place in a search's list, or behind its absence.
///
/// The search is asked twice: as [`search()`] would, which gives the place, and with room for every
/// claim, which gives the claim's place on each whole ballot.
///
/// # Errors
/// No such claim, a time or a panel name that is none, or what the pack says.
pub fn why(desk: &Desk, given: Given) -> Result<Value, Failure> {
    let (name, id, text) = (given.workspace()?, given.need("id")?, given.need("q")?);
    let limit = given.count("limit", LISTED)?;
    let kind = given.text("kind");
    let view = desk.view(&given)?;
    let none = || no_atom(&name, &id);
    let Some(snapshot) = desk.snapshot(&name)? else { return Err(none()) };
    let key = record::key(&id);
    let Some(version) = snapshot.version(key, &view) else { return Err(none()) };
    let found = snapshot.record(version)?;
    if record::id(&found) != id {
        return Err(none());
    }
    let query = Query {
        text: &text,
        limit,
        view,
        rank: Rank::Fused,
        kind: Some(record::kind(&found)),
        set: None,
        panel: desk.panel()?,
    };
    let mut tokenizer = Tokenizer::new(snapshot.manifest().text.stem);
    let cards = cards_of(desk, Some(&snapshot), None, &view)?;
    let towards = towards(desk, snapshot.manifest().text.stem, &text);
    let mut mine = |query: &Query<'_>| {
        let findings =
            search::search_beside(Some(&snapshot), &mut tokenizer, query, &cards, &towards)?;
        let hits = findings.found.into_iter().map(Found::into_claim).enumerate();
        let mut hits = hits.filter_map(|(at, hit)| Some((at, hit?)));
        Ok::<_, Failure>(hits.find(|(_, hit)| hit.version == version))
    };
    let plain = Query { kind: kind.as_deref(), ..query };
    let listed = mine(&plain)?;
    // Of the wide answer only ballots and decay are read: making way and elections, which cost
    // the square of the list and more, would be for nothing.
    let panel = Panel { fuse: Fuse::CombSum, diversify: Diversify::None, ..query.panel };
    let wide = Query { limit: everything(&snapshot), panel, ..query };
    let hit = mine(&wide)?.map(|(_, hit)| hit);
    let score = listed.as_ref().map(|(_, hit)| hit).or(hit.as_ref()).map(|hit| hit.score);
    let state = match (&hit, snapshot.live(version, &view)) {
        (Some(_), _) => "it matches",
        (None, true) => "nothing of the query matches it",
        (None, false) => "it is not live at that moment",
    };
    let ballots: Vec<Value> = hit
        .iter()
        .flat_map(|hit| &hit.ranks)
        .map(|r| json!({ "ballot": r.ballot, "rank": r.rank, "score": r.score }))
        .collect();
    Ok(json!({
        "workspace": name,
        "id": id,
        "query": text,
        "place": listed.map(|(at, _)| at + 1),
        "state": state,
        "score": score,
        "decay": hit.as_ref().map(|hit| hit.decay),
        "ballots": ballots,
        "links": found.get("links").cloned().unwrap_or_else(|| json!([])),
    }))
}

/// A limit that cuts no ballot.
fn everything(snapshot: &Snapshot) -> usize {
    snapshot.segments().iter().map(|segment| segment.rows() as usize).sum()
}
