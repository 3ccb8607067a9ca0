//! Claims as resources: `packset://WORKSPACE/ID`, each part percent-encoded.
//!
//! Invariants: what is listed can be read; a URI names one record.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::ErrorData;
use rmcp::model::{
    CacheScope, ListResourcesResult, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};
use serde_json::{Value, json};

use super::page::{self, key};
use super::refused;
use crate::cli::FailureKind;
use crate::client;
use crate::desk::{Desk, Given, route};

/// Rows of a page of the list.
const LISTED: usize = 50;

/// Characters of a claim that its entry shows: a line of a picker.
const SHOWN_CHARS: usize = 80;

const JSON: &str = "application/json";
const SCHEME: &str = "packset://";

/// What stands for itself in a part: RFC 3986, 2.3.
const PART: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The URI of a record.
pub(super) fn uri(workspace: &str, id: &str) -> String {
    let part = |text| utf8_percent_encode(text, PART);
    format!("{SCHEME}{}/{}", part(workspace), part(id))
}

/// The workspace and the id that a URI names.
fn parts(uri: &str) -> Option<(String, String)> {
    let (workspace, id) = uri.strip_prefix(SCHEME)?.split_once('/')?;
    let part = |text| Some(percent_decode_str(text).decode_utf8().ok()?.into_owned());
    let named = |text: &String| !text.is_empty();
    Some((part(workspace).filter(named)?, part(id).filter(named)?))
}

/// The template that says so to clients.
pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{SCHEME}{{workspace}}/{{id}}"), "claim")
        .with_title("A claim")
        .with_description("One record of a workspace, whatever its state, by its id.")
        .with_mime_type(JSON)
}

/// A page of the live claims of the workspace in force, newest first.
///
/// # Errors
/// What the pack says.
pub(super) fn listed(
    desk: &Desk,
    cursor: Option<String>,
) -> Result<ListResourcesResult, ErrorData> {
    let listed = || {
        let workspace = desk.workspace(None)?.name;
        let given = [("workspace", json!(workspace)), ("embedding", json!("omit"))];
        let mut answer = client::ask(desk, &route::ATOMS, Given::of(given))?;
        Ok((workspace, answer["atoms"].take()))
    };
    let (workspace, atoms) = listed().map_err(|failure| refused(&failure))?;
    let Value::Array(mut atoms) = atoms else { return Ok(ListResourcesResult::default()) };
    page::newest_first(&mut atoms);
    let page = page::sorted(atoms, cursor.as_deref(), LISTED, |last, row| row < last);
    let entry = |atom: &Value| {
        let field = |name: &str| atom.get(name).and_then(Value::as_str).unwrap_or_default();
        let id = key(atom);
        let start: String = field("text").chars().take(SHOWN_CHARS).collect();
        Resource::new(uri(&workspace, id), id)
            .with_title(start)
            .with_description(format!("{} of {}", field("kind"), field("ts")))
            .with_mime_type(JSON)
    };
    let mut result = ListResourcesResult::with_all_items(page.rows.iter().map(entry).collect())
        .with_ttl_ms(0)
        .with_cache_scope(CacheScope::Private);
    result.next_cursor = page.next;
    Ok(result)
}

/// One record.
///
/// # Errors
/// A URI that names none, or what the pack says.
pub(super) fn read(desk: &Desk, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let none =
        || ErrorData::resource_not_found("there is no such resource", Some(json!({ "uri": uri })));
    let (workspace, id) = parts(uri).ok_or_else(none)?;
    let given = Given::of([("workspace", json!(workspace)), ("id", json!(id))]);
    let mut answer = match client::ask(desk, &route::ATOM, given) {
        Ok(answer) => answer,
        Err(failure) if failure.kind == FailureKind::Missing => return Err(none()),
        Err(failure) => return Err(refused(&failure)),
    };
    let text = answer["record"].take().to_string();
    let contents = ResourceContents::text(text, uri).with_mime_type(JSON);
    Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_names_one_record() {
        for (workspace, id, wanted) in [
            ("w", "0a", "packset://w/0a"),
            ("git/host:x", "a b", "packset://git%2Fhost%3Ax/a%20b"),
            ("\u{e9}", "../x?y#z", "packset://%C3%A9/..%2Fx%3Fy%23z"),
        ] {
            assert_eq!(uri(workspace, id), wanted);
            assert_eq!(parts(wanted), Some((workspace.to_owned(), id.to_owned())));
        }
        for none in
            ["packset://w", "packset://w/", "packset:///i", "file:///w/i", "", "packset://w/%ff"]
        {
            assert_eq!(parts(none), None, "{none}");
        }
    }
}
