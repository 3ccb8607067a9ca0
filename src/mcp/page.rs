//! Rows as clients read them, and the cutting of long lists into pages.
//!
//! Invariants: a page has at least one row if there is one; a cursor is the id of the last row, so
//! that what is written or withdrawn meanwhile neither doubles nor hides another row.

use serde_json::{Map, Value, json};

use crate::atom::Kind;
use crate::cli::{Failure, FailureKind};

/// Most bytes of text in a page beyond which no row is added: with the fields around it, a page
/// stays below the 50,000 characters that Claude Code shows whole.
const TEXT_MAX_BYTES: usize = 24_000;

/// Rows, and how to go on.
pub(super) struct Page {
    pub rows: Vec<Value>,
    /// Where the next page begins.
    pub next: Option<String>,
    /// How many rows all pages have, if that is known.
    pub total: usize,
}

/// A record of an answer as a row: five fields that every client of the page knows, and what a
/// claim is to be weighed by.
pub(super) fn row(record: &Value) -> Value {
    let field = |name: &str| record.get(name).cloned().unwrap_or_default();
    let texts = |name: &str| -> Vec<Value> {
        let items = record.get(name).and_then(Value::as_array).into_iter().flatten();
        items.filter(|item| item.is_string()).cloned().collect()
    };
    // A claim without one reads as its person's own; a card and a record have none.
    let unwritten = record.get("kind").and_then(Value::as_str).and_then(Kind::named);
    let origin = match (field("origin"), unwritten) {
        (Value::Null, Some(_)) => "user-declared".into(),
        (origin, _) => origin,
    };
    // What no score ranked has none to speak of.
    let score = record.get("score").or_else(|| record.get("activation"));
    json!({
        "id": field("id"),
        "text": field("text"),
        "kind": field("kind"),
        "score": score.cloned().unwrap_or_else(|| json!(0.0)),
        "rerank_score": field("rerank_score"),
        "ts": field("ts"),
        "due_at": field("due_at"),
        "origin": origin,
        "entities": texts("entities"),
    })
}

/// The schema of [`row`].
pub(super) fn row_schema() -> Value {
    let text_or_none = json!({ "type": ["string", "null"] });
    json!({
        "type": "object",
        "properties": {
            "id": { "type": ["string", "null"], "description": "null for a card" },
            "text": text_or_none,
            "kind": { "type": "string" },
            "score": { "type": "number", "description": "0 where nothing was ranked" },
            "rerank_score": { "type": ["number", "null"] },
            "ts": { "type": ["string", "null"], "description": "when it was said" },
            "due_at": { "type": ["string", "null"], "description": "when it is to be reviewed" },
            "origin": { "type": ["string", "null"], "description": "whose word it is" },
            "entities": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["id", "text", "kind", "score", "rerank_score"],
    })
}

/// The fields of a row that the page lists, for clients that read text.
pub(super) fn brief(rows: &[Value]) -> Value {
    let short = |row: &Value| -> Map<String, Value> {
        let names = ["id", "text", "kind", "score", "rerank_score"];
        names.map(|name| (name.to_owned(), row[name].clone())).into_iter().collect()
    };
    rows.iter().map(short).map(Value::Object).collect()
}

/// The text of a record, or what a row of another shape says.
fn text(row: &Value) -> &str {
    row.get("text").unwrap_or(row).as_str().unwrap_or_default()
}

/// What a row is told apart by.
pub(super) fn key(row: &Value) -> &str {
    row.get("id").unwrap_or(row).as_str().unwrap_or_default()
}

/// Newest first: ids are ordered by time, and any id has its place.
pub(super) fn newest_first(rows: &mut [Value]) {
    rows.sort_by(|a, b| key(b).cmp(key(a)));
}

/// A page of rows that are sorted by their keys, in either direction.
pub(super) fn sorted(
    rows: Vec<Value>,
    cursor: Option<&str>,
    limit: usize,
    goes_on: impl Fn(&str, &str) -> bool,
) -> Page {
    let total = rows.len();
    let rows = rows.into_iter();
    let rows: Vec<Value> = match cursor {
        Some(last) => rows.filter(|row| goes_on(last, key(row))).collect(),
        None => rows.collect(),
    };
    cut(rows, limit, total)
}

/// A page of rows in an order of their own.
///
/// # Errors
/// A cursor whose row is no longer there.
pub(super) fn ordered(
    mut rows: Vec<Value>,
    cursor: Option<&str>,
    limit: usize,
) -> Result<Page, Failure> {
    let total = rows.len();
    if let Some(last) = cursor {
        let at = rows.iter().position(|row| key(row) == last).ok_or_else(|| {
            Failure::new(FailureKind::Refused, "the claim that the cursor names left the list")
                .hint("ask again without a cursor")
        })?;
        rows.drain(..=at);
    }
    Ok(cut(rows, limit, total))
}

fn cut(mut rows: Vec<Value>, limit: usize, total: usize) -> Page {
    let mut bytes = 0;
    let room = rows.iter().take_while(|row| {
        let fits = bytes <= TEXT_MAX_BYTES;
        bytes += text(row).len();
        fits
    });
    let count = room.count().min(limit);
    let next = match rows.len() > count {
        true => rows.get(count.saturating_sub(1)).map(|row| key(row).to_owned()),
        false => None,
    };
    rows.truncate(count);
    Page { rows, next, total }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(ids: &[&str]) -> Vec<Value> {
        ids.iter().map(|id| json!({ "id": id, "text": "t" })).collect()
    }

    fn ids(page: &Page) -> Vec<&str> {
        page.rows.iter().map(key).collect()
    }

    #[test]
    fn pages_follow_each_other_whatever_comes_and_goes() {
        let after = |last: &str, row: &str| row < last;
        let first = sorted(rows(&["d", "c", "b", "a"]), None, 2, after);
        assert_eq!(
            (ids(&first), first.next.as_deref(), first.total),
            (vec!["d", "c"], Some("c"), 4)
        );
        // Another came, and the last row of the page before is gone.
        let second = sorted(rows(&["e", "d", "b", "a"]), Some("c"), 2, after);
        assert_eq!((ids(&second), second.next.as_deref()), (vec!["b", "a"], None));
        let own = ordered(rows(&["x", "a", "m"]), Some("x"), 1).unwrap();
        assert_eq!((ids(&own), own.next.as_deref()), (vec!["a"], Some("a")));
        assert!(ordered(rows(&["a"]), Some("gone"), 1).is_err());
        assert!(ordered(rows(&["a"]), Some("a"), 1).unwrap().rows.is_empty());
    }

    #[test]
    fn a_page_ends_where_its_text_is_long_but_is_never_empty() {
        let long = |id: &str| json!({ "id": id, "text": "x".repeat(TEXT_MAX_BYTES + 1) });
        let page = ordered(vec![long("a"), long("b")], None, 100).unwrap();
        assert_eq!((ids(&page), page.next.as_deref()), (vec!["a"], Some("a")));
        let words = sorted(vec![json!("a"), json!("b")], None, 1, |last, row| row > last);
        assert_eq!((words.rows, words.next.as_deref()), (vec![json!("a")], Some("a")));
    }

    #[test]
    fn a_row_has_every_field_of_its_schema() {
        let row = row(&json!({ "id": "a", "text": "t", "kind": "lesson", "activation": 0.5 }));
        assert_eq!(row["score"], 0.5);
        assert_eq!(row["origin"], "user-declared");
        assert_eq!(super::row(&json!({ "id": null, "kind": "memory" }))["origin"], Value::Null);
        let schema = row_schema();
        let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(row.as_object().unwrap().keys().collect::<Vec<_>>(), names);
        let brief = brief(&[row]).to_string();
        let wanted = r#"[{"id":"a","text":"t","kind":"lesson","score":0.5,"rerank_score":null}]"#;
        assert_eq!(brief, wanted);
    }
}
