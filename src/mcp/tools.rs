//! The tools: one table, each with what it takes, what it gives and the request behind it.
//!
//! Invariants: every tool only reads; its text is what clients of the page's own surface read, its
//! structured answer is an object that its schema describes.

use std::sync::Arc;

use rmcp::model::{Tool as Described, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::arguments::{
    self, AS_OF, Argument, Asked, CURSOR, Is, KIND, KNOWN_AT, MOST, WORKSPACE, may, must,
};
use super::page::{self, Page, brief, row, row_schema};
use crate::cli::Failure;
use crate::client::{self, Address};
use crate::desk::{Desk, Route, route};
use crate::pack::Record;

/// Hits of a search that names no limit (observed).
const HITS: usize = 10;
/// Rows of any other list that names none: a page that is read, not skimmed.
const ROWS: usize = 50;
/// Claims that a recall gives at most: the request's own bound.
const RECALLED: usize = 64;
/// Claims that an island shows unless it is said (observed).
const ISLAND: usize = 24;
/// Characters of a text that one answer has: below what Claude Code shows whole, twice over,
/// because the record stands in the text and in the structured answer.
const TEXT_CHARS: usize = 20_000;

/// What a tool gives.
pub(super) struct Answer {
    /// For clients that read text.
    pub text: Value,
    /// The object that the tool's schema describes.
    pub whole: Map<String, Value>,
    /// How to get what was cut off.
    pub rest: Option<String>,
}

/// One tool.
pub(super) struct Tool {
    pub name: &'static str,
    title: &'static str,
    about: &'static str,
    takes: &'static [Argument],
    /// The members of its structured answer, beside `workspace` and `rest`.
    gives: fn() -> Value,
    answer: fn(&Desk, &Asked) -> Result<Answer, Failure>,
}

/// All of them, in the order of the page, then ours.
pub(super) static TABLE: [Tool; 10] = [
    Tool {
        name: "packset_search",
        title: "Search the memory",
        about: "The claims that match a question, best first. Start here.",
        takes: &[
            must("query", Is::Text, "what to look for, in words"),
            WORKSPACE,
            may("limit", Is::Limit(HITS, MOST), "most hits"),
            AS_OF,
            KNOWN_AT,
            KIND,
            may("set", Is::Text, "only claims of this set"),
            may("rank", Is::Word(&["fused", "relevance"]), "what the order goes by"),
            may("rerank", Is::Flag, "ask the cross-encoder, where there is one, about the first"),
            may("semantic", Is::Text, "off, static, or a model, in the place of the one in use"),
            may(
                "min_confidence",
                Is::Text,
                "nothing if the first is less surely an answer (0 to 1)",
            ),
        ],
        gives: || json!({ "hits": list(row_schema()), "rank": { "type": "string" } }),
        answer: search,
    },
    Tool {
        name: "packset_atoms",
        title: "List the claims",
        about: "The live claims, or those live at a time, newest first, a page at a time.",
        takes: &[WORKSPACE, AS_OF, KNOWN_AT, KIND, LIMIT, CURSOR],
        gives: || paged("atoms", row_schema()),
        answer: atoms,
    },
    Tool {
        name: "packset_accessions",
        title: "List the cited deeds",
        about: "The accessions (deed-..., sha256:...) that live claims cite.",
        takes: &[WORKSPACE, LIMIT, CURSOR],
        gives: || paged("accessions", json!({ "type": "string" })),
        answer: accessions,
    },
    Tool {
        name: "packset_citers",
        title: "Who cites a deed",
        about: "The live claims that cite one accession, newest first.",
        takes: &[must("accession", Is::Text, "deed-... or sha256:..."), WORKSPACE, LIMIT, CURSOR],
        gives: || paged("atoms", row_schema()),
        answer: citers,
    },
    Tool {
        name: "packset_state",
        title: "State of the memory",
        about: "Whether the pack answers, which workspace is in force and why, and what it holds.",
        takes: &[WORKSPACE],
        gives: || {
            json!({
                "up": { "type": "boolean", "description": "whether the pack answers" },
                "workspace_from": { "type": "string", "description": "how it was found" },
                "answered_by": { "type": "string", "description": "`files`, `off`, or a writer" },
                "detail": { "type": ["object", "null"], "description": "counts, pin, panel" },
                "error": { "type": ["string", "null"], "description": "why it does not answer" },
            })
        },
        answer: state,
    },
    Tool {
        name: "packset_due",
        title: "What is due for review",
        about: "The claims whose review clock has run out, soonest first.",
        takes: &[WORKSPACE, LIMIT, CURSOR],
        gives: || paged("atoms", row_schema()),
        answer: due,
    },
    Tool {
        name: "packset_recall",
        title: "What to have in mind",
        about: "What an agent should have before it at the start of a task, with hints or without.",
        takes: &[
            may("query", Is::Text, "words of what will be needed"),
            may("seeds", Is::Texts, "entities or ids that will be met"),
            WORKSPACE,
            KIND,
            may("limit", Is::Limit(RECALLED, RECALLED), "most claims"),
        ],
        gives: || json!({ "atoms": list(row_schema()) }),
        answer: recall,
    },
    Tool {
        name: "packset_show",
        title: "Show one record",
        about: "One record whole, whatever its state, or as it was at a time.",
        takes: &[
            must("id", Is::Text, "the record's id"),
            WORKSPACE,
            AS_OF,
            KNOWN_AT,
            may("offset", Is::Offset, "characters of its text to pass over"),
        ],
        gives: || {
            json!({
                "record": { "type": "object", "description": "its text may be a part" },
                "text_chars": { "type": "integer", "description": "of the whole text" },
                "uri": { "type": "string", "description": "the resource with all of it" },
            })
        },
        answer: show,
    },
    Tool {
        name: "packset_pack",
        title: "Cards and claims",
        about: "The cards, which are to be read whole, and the claims, newest first.",
        takes: &[
            WORKSPACE,
            may("set", Is::Text, "the cards and claims of this set"),
            LIMIT,
            CURSOR,
        ],
        gives: || {
            let mut gives = paged("atoms", row_schema());
            gives["cards"] = json!({
                "type": "object", "additionalProperties": { "type": "string" },
            });
            gives
        },
        answer: pack,
    },
    Tool {
        name: "packset_island",
        title: "What a cue wakes",
        about: "The cluster of linked claims that a cue activates, strongest first.",
        takes: &[
            must("cue", Is::Text, "a few words"),
            WORKSPACE,
            may("as", Is::Text, "the persona whose link weights count"),
            may("limit", Is::Limit(ISLAND, MOST), "most claims"),
        ],
        gives: || {
            json!({
                "island": list(row_schema()),
                "weak": { "type": "boolean", "description": "too little agrees on it" },
            })
        },
        answer: island,
    },
];

const LIMIT: Argument = may("limit", Is::Limit(ROWS, MOST), "most rows of this page");

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn paged(name: &str, items: Value) -> Value {
    let mut gives = json!({
        "total": { "type": "integer", "description": "of all pages" },
        "next_cursor": { "type": ["string", "null"] },
    });
    gives[name] = list(items);
    gives
}

impl Tool {
    /// As clients list it.
    pub fn described(&self) -> Described {
        let mut properties = json!({
            "workspace": { "type": "string", "description": "the one that was asked about" },
            "rest": { "type": ["string", "null"], "description": "how to get what was cut off" },
        });
        if let (Some(all), Value::Object(gives)) = (properties.as_object_mut(), (self.gives)()) {
            all.extend(gives);
        }
        let names: Vec<String> =
            properties.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
        let mut output = Map::new();
        output.insert("type".into(), "object".into());
        output.insert("properties".into(), properties);
        output.insert("required".into(), names.into());
        let hints = ToolAnnotations::with_title(self.title)
            .read_only(true)
            .destructive(false)
            .idempotent(true)
            .open_world(false);
        Described::new(self.name, self.about, Arc::new(arguments::schema(self.takes)))
            .with_title(self.title)
            .with_raw_output_schema(Arc::new(output))
            .with_annotations(hints)
    }

    /// Answers it.
    ///
    /// # Errors
    /// Arguments that do not fit, or what the pack says.
    pub fn call(&self, desk: &Desk, given: Record) -> Result<Answer, Failure> {
        let asked = Asked::new(desk, self.takes, given)?;
        let mut answer = (self.answer)(desk, &asked)?;
        answer.whole.insert("workspace".into(), asked.workspace.into());
        answer.whole.insert("rest".into(), answer.rest.clone().into());
        Ok(answer)
    }
}

/// Asks, and takes a list out of the answer.
fn ask(
    desk: &Desk,
    route: &'static Route,
    asked: &Asked,
    names: &[(&str, &str)],
    extra: Option<(&str, Value)>,
    part: &str,
) -> Result<(Vec<Value>, Value), Failure> {
    let mut given = asked.passed(names);
    given.0.extend(extra.map(|(name, value)| (name.to_owned(), value)));
    let mut answer = client::ask(desk, route, given)?;
    let rows = match answer.get_mut(part).map(Value::take) {
        Some(Value::Array(rows)) => rows,
        _ => Vec::new(),
    };
    Ok((rows, answer))
}

fn whole<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

/// A page of claims under a name.
fn page_of(name: &str, page: Page) -> Answer {
    let Page { rows, next, total } = page;
    let (text, rows): (Value, Vec<Value>) = match rows.first() {
        Some(Value::Object(_)) => {
            let rows: Vec<Value> = rows.iter().map(row).collect();
            (brief(&rows), rows)
        }
        _ => (rows.clone().into(), rows),
    };
    let rest = next.as_ref().map(|next| {
        let count = rows.len();
        format!("{count} of {total} are here; go on with cursor {}", json!(next))
    });
    let next = next.map_or(Value::Null, Value::from);
    let members = [(name, rows.into()), ("total", total.into()), ("next_cursor", next)];
    Answer { text, whole: whole(members), rest }
}

/// All that a request with a limit gave.
fn ranked(name: &str, found: &[Value], limit: usize, most: usize, more: &str) -> Answer {
    let rows: Vec<Value> = found.iter().map(row).collect();
    let rest = (rows.len() >= limit).then(|| {
        format!("there may be more: {more}, or raise limit, which is {limit} and {most} at most")
    });
    Answer { text: brief(&rows), whole: whole([(name, rows.into())]), rest }
}

fn search(desk: &Desk, asked: &Asked) -> Result<Answer, Failure> {
    let limit = asked.limit(HITS, MOST);
    let names = [
        ("query", "q"),
        ("as_of", "as_of"),
        ("known_at", "known_at"),
        ("kind", "kind"),
        ("set", "set"),
        ("rank", "rank"),
        ("rerank", "rerank"),
        ("min_confidence", "min_confidence"),
        ("semantic", "semantic"),
    ];
    let extra = Some(("limit", json!(limit)));
    let (found, mut answer) = ask(desk, &route::SEARCH, asked, &names, extra, "hits")?;
    let mut hits = ranked("hits", &found, limit, MOST, "ask more narrowly");
    hits.whole.insert("rank".into(), answer["rank"].take());
    Ok(hits)
}

/// A page of a list, newest first.
fn newest(name: &str, mut rows: Vec<Value>, asked: &Asked) -> Answer {
    page::newest_first(&mut rows);
    let (cursor, limit) = (asked.text("cursor"), asked.limit(ROWS, MOST));
    page_of(name, page::sorted(rows, cursor.as_deref(), limit, |last, row| row < last))
}

fn atoms(desk: &Desk, asked: &Asked) -> Result<Answer, Failure> {
    let names = [("as_of", "as_of"), ("known_at", "known_at"), ("kind", "kind")];
    let bare = Some(("embedding", json!("omit")));
    let (rows, _) = ask(desk, &route::ATOMS, asked, &names, bare, "atoms")?;
    Ok(newest("atoms", rows, asked))
}

fn accessions(desk: &Desk, asked: &Asked) -> Result<Answer, Failure> {
    let (mut rows, _) = ask(desk, &route::ACCESSIONS, asked, &[], None, "accessions")?;
    rows.sort_by(|a, b| page::key(a).cmp(page::key(b)));
    let (cursor, limit) = (asked.text("cursor"), asked.limit(ROWS, MOST));
    let page = page::sorted(rows, cursor.as_deref(), limit, |last, row| row > last);
    Ok(page_of("accessions", page))
}

fn citers(desk: &Desk, asked: &Asked) -> Result<Answer, Failure> {
    let names = [("accession", "accession")];
    let (rows, _) = ask(desk, &route::CITERS, asked, &names, None, "atoms")?;
    Ok(newest("atoms", rows, asked))
}

/// It answers also when the pack does not.
fn state(desk: &Desk, asked: &Asked) -> Result<Answer, Failure> {
    let (up, detail, error) = match client::ask(desk, &route::STATUS, asked.passed(&[])) {
        Ok(detail) => (true, detail, Value::Null),
        Err(failure) => (false, Value::Null, failure.to_string().into()),
    };
    let answered_by = match Address::of(&desk.env) {
        Address::Files => "files".to_owned(),
        Address::Off => "off".to_owned(),
        Address::Writer(url) => url,
    };
    let whole = whole([
        ("up", up.into()),
        ("workspace", asked.workspace.as_str().into()),
        ("workspace_from", asked.workspace_from.as_str().into()),
        ("answered_by", answered_by.into()),
        ("detail", detail),
        ("error", error),
    ]);
    Ok(Answer { text: whole.clone().into(), whole, rest: None })
}

fn due(desk: &Desk, asked: &Asked) -> Result<Answer, Failure> {
    let (rows, _) = ask(desk, &route::DUE, asked, &[], None, "atoms")?;
    let (cursor, limit) = (asked.text("cursor"), asked.limit(ROWS, MOST));
    Ok(page_of("atoms", page::ordered(rows, cursor.as_deref(), limit)?))
}

fn recall(desk: &Desk, asked: &Asked) -> Result<Answer, Failure> {
    let limit = asked.limit(RECALLED, RECALLED);
    let names = [("query", "q"), ("seeds", "seed"), ("kind", "kind")];
    let extra = Some(("limit", json!(limit)));
    let (found, _) = ask(desk, &route::RECALL, asked, &names, extra, "atoms")?;
    Ok(ranked("atoms", &found, limit, RECALLED, "name other words or seeds"))
}

fn show(desk: &Desk, asked: &Asked) -> Result<Answer, Failure> {
    let names = [("id", "id"), ("as_of", "as_of"), ("known_at", "known_at")];
    let mut answer = client::ask(desk, &route::ATOM, asked.passed(&names))?;
    let mut record = answer["record"].take();
    if let Some(record) = record.as_object_mut() {
        // Its thousand numbers say nothing to a reader.
        record.shift_remove("embedding");
    }
    let text = record.get("text").and_then(Value::as_str).unwrap_or_default();
    let chars = text.chars().count();
    let from = asked.offset().min(chars);
    let to = from.saturating_add(TEXT_CHARS).min(chars);
    if (from, to) != (0, chars) {
        let part: String = text.chars().skip(from).take(to - from).collect();
        record["text"] = part.into();
    }
    let rest = (to < chars)
        .then(|| format!("characters {from} to {to} of {chars} are here; go on with offset {to}"));
    let uri = super::resources::uri(&asked.workspace, page::key(&record));
    let members = [("record", record.clone()), ("text_chars", chars.into()), ("uri", uri.into())];
    Ok(Answer { text: record, whole: whole(members), rest })
}

fn pack(desk: &Desk, asked: &Asked) -> Result<Answer, Failure> {
    let (rows, document) = ask(desk, &route::PACK, asked, &[("set", "set")], None, "atoms")?;
    let cards: Map<String, Value> = ["user", "memory", "instructions"]
        .into_iter()
        .filter_map(|card| Some((card.to_owned(), document.get(card)?.clone())))
        .filter(|(_, text)| text.as_str().is_some_and(|text| !text.is_empty()))
        .collect();
    let mut answer = newest("atoms", rows, asked);
    answer.text = json!({ "cards": cards, "atoms": answer.text });
    answer.whole.insert("cards".into(), cards.into());
    Ok(answer)
}

fn island(desk: &Desk, asked: &Asked) -> Result<Answer, Failure> {
    let limit = asked.limit(ISLAND, MOST);
    let extra = Some(("limit", json!(limit)));
    let names = [("cue", "q"), ("as", "as")];
    let (found, mut answer) = ask(desk, &route::ACTIVATE, asked, &names, extra, "island")?;
    let mut island = ranked("island", &found, limit, MOST, "give a narrower cue");
    island.whole.insert("weak".into(), answer["weak"].take());
    Ok(island)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_only_reads_and_says_so() {
        for tool in &TABLE {
            let described = serde_json::to_value(tool.described()).unwrap();
            let hints = &described["annotations"];
            for (hint, wanted) in [
                ("readOnlyHint", true),
                ("destructiveHint", false),
                ("idempotentHint", true),
                ("openWorldHint", false),
            ] {
                assert_eq!(hints[hint], wanted, "{} {hint}", tool.name);
            }
            assert!(tool.takes.iter().any(|takes| takes.name == "workspace"), "{}", tool.name);
            assert!(tool.name.starts_with("packset_"));
            for schema in ["inputSchema", "outputSchema"] {
                assert_eq!(described[schema]["type"], "object", "{}", tool.name);
            }
        }
    }

    #[test]
    fn a_full_list_says_how_to_get_the_rest() {
        let rows: Vec<Value> = ["a", "b"].map(|id| json!({ "id": id, "kind": "lesson" })).into();
        let answer = ranked("hits", &rows, 2, 100, "ask more narrowly");
        let said =
            "there may be more: ask more narrowly, or raise limit, which is 2 and 100 at most";
        assert_eq!(answer.rest.as_deref(), Some(said));
        assert_eq!(ranked("hits", &rows, 3, 100, "").rest, None);
        let page = page::ordered(rows, None, 1).unwrap();
        let answer = page_of("atoms", page);
        assert_eq!(answer.rest.as_deref(), Some("1 of 2 are here; go on with cursor \"a\""));
        assert_eq!(answer.whole["next_cursor"], "a");
    }
}
