//! From an HTTP request to the desk and back: the route, what was given, the status.
//!
//! Not here: sockets, the token, `GET /health` (the door's), what a request does ([`crate::desk`]). Invariants:
//! one failure has one status wherever it comes from; an error is one line, with what to do about
//! it beside it.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Answer, Class, Reply, Request};
use crate::cli::{Failure, FailureKind};
use crate::desk::route::{self, Found, Weight};
use crate::desk::{Desk, Given, Route};
use crate::pack::Record;

/// The desk, behind HTTP.
pub struct Routing {
    desk: Arc<Desk>,
}

impl Routing {
    /// Answers from a desk, which is best a warm one.
    pub fn new(desk: Arc<Desk>) -> Self {
        Self { desk }
    }

    fn reply(&self, request: &Request) -> Result<Reply, Failure> {
        let (route, id) = match route::find(&request.method, &request.path) {
            Found::Route(route, id) => (route, id),
            Found::Method | Found::Nothing => {
                return Err(Failure::new(
                    FailureKind::Missing,
                    format!("there is no {} {}", request.method, request.path),
                )
                .hint("GET /v1/openapi.json lists the requests"));
            }
        };
        let query = query(&request.query);
        let mut given = match request.method.as_str() {
            "GET" => query.clone(),
            _ => body(&request.body)?,
        };
        if let Some(id) = id {
            let id = percent_encoding::percent_decode_str(&id).decode_utf8().map_err(|_| {
                Failure::new(FailureKind::Refused, "the id in the path is not UTF-8")
            })?;
            given.insert("id".into(), id.into());
        }
        let whole = query.contains_key(ENVELOPE);
        let answer = (route.answer)(&self.desk, Given(given))?;
        Ok(Reply::json(200, outward(route, answer, whole).to_string().into_bytes()))
    }
}

/// Asks for the whole answer where else a part of it goes out alone. Our own client does: its
/// verbs print what stands beside the record.
pub const ENVELOPE: &str = "envelope";

fn outward(route: &Route, mut answer: Value, whole: bool) -> Value {
    match answer.get_mut(route.part) {
        Some(part) if !whole => part.take(),
        _ => answer,
    }
}

/// The members of a query. `+` is a space, a bad escape stands for itself, the first of two with
/// one name counts.
fn query(text: &str) -> Record {
    let mut members = Record::new();
    for (name, value) in form_urlencoded::parse(text.as_bytes()) {
        members.entry(name).or_insert_with(|| value.into());
    }
    members
}

/// The members of a body; an empty one has none.
fn body(bytes: &[u8]) -> Result<Record, Failure> {
    let refused = |message: String| Failure::new(FailureKind::Refused, message);
    if bytes.is_empty() {
        return Ok(Record::new());
    }
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Err(refused("the body must be a JSON object".into())),
        Err(error) => Err(refused(format!("the body is no JSON: {error}"))),
    }
}

/// The status of a failure.
pub fn status(kind: FailureKind) -> u16 {
    match kind {
        FailureKind::Refused | FailureKind::Usage | FailureKind::Data => 400,
        FailureKind::Forbidden => 403,
        FailureKind::Missing => 404,
        FailureKind::Conflict => 409,
        FailureKind::Long => 413,
        FailureKind::Busy => 503,
        FailureKind::Bug | FailureKind::Io | FailureKind::Damaged | FailureKind::Closed => 500,
    }
}

fn refusal(failure: &Failure) -> Reply {
    let status = status(failure.kind);
    let line = Reply::error(status, &failure.message);
    let Ok(Value::Object(mut members)) = serde_json::from_slice(&line.body) else { return line };
    members.insert("kind".into(), failure.kind.name().into());
    if let Some(hint) = &failure.hint {
        members.insert("hint".into(), hint.as_str().into());
    }
    let body = json!(members).to_string().into_bytes();
    let retry_after = (status == 503).then_some(1);
    Reply { retry_after, ..Reply::json(status, body) }
}

impl Answer for Routing {
    fn class(&self, request: &Request) -> Class {
        match route::find(&request.method, &request.path) {
            Found::Route(route, _) => match route.weight {
                Weight::Cheap => Class::Cheap,
                Weight::Read => Class::Read,
                Weight::Write => Class::Write,
            },
            Found::Method | Found::Nothing => Class::Cheap,
        }
    }

    fn answer(&self, request: &Request) -> Reply {
        self.reply(request).unwrap_or_else(|failure| refusal(&failure))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_read_as_forms_are() {
        let members = query("q=a+b&q=second&x=%C3%A9&bad=%zz&empty=&flag");
        let wanted = json!({"q": "a b", "x": "\u{e9}", "bad": "%zz", "empty": "", "flag": ""});
        assert_eq!(Value::Object(members), wanted);
    }

    #[test]
    fn a_body_is_an_object_or_nothing() {
        assert_eq!(body(b"").unwrap(), Record::new());
        assert_eq!(body(b"{\"a\":1}").unwrap()["a"], 1);
        for bad in [&b"[]"[..], b"1", b"{", b"\xff", b"{} {}"] {
            let failure = body(bad).unwrap_err();
            assert_eq!(status(failure.kind), 400, "{}", failure.message);
        }
    }

    #[test]
    fn a_failure_is_one_line_with_its_hint_beside_it() {
        let reply = refusal(&Failure::new(FailureKind::Conflict, "a\nb").hint("c"));
        assert_eq!(reply.status, 409);
        let said: Value = serde_json::from_slice(&reply.body).unwrap();
        assert_eq!(said, json!({"error": "a b", "kind": "conflict", "hint": "c"}));
        let busy = refusal(&Failure::new(FailureKind::Busy, "in use"));
        assert_eq!((busy.status, busy.retry_after), (503, Some(1)));
    }

    #[test]
    fn a_part_goes_out_alone_unless_all_is_asked_for() {
        let answer = || json!({"workspace": "w", "record": {"id": "a"}});
        assert_eq!(outward(&route::GRADE, answer(), false), json!({"id": "a"}));
        assert_eq!(outward(&route::GRADE, answer(), true), answer());
        assert_eq!(outward(&route::DUE, answer(), false), answer());
    }
}
