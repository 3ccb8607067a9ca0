//! The requests as an OpenAPI description, made from the route table alone.

use serde_json::{Map, Value, json};

use super::route::{Method, Parameter, Route, TABLE, Type};
use super::{Desk, Given};
use crate::cli::Failure;

/// The statuses that a request may end in, beside 200.
const REFUSALS: [(&str, &str); 10] = [
    ("400", "what was given is not let in"),
    ("401", "no token, or another one"),
    ("403", "known, and not allowed"),
    ("404", "there is no such thing"),
    ("408", "the request did not arrive in time"),
    ("409", "what stands there already keeps it from being done"),
    ("413", "too long"),
    ("431", "the head of the request is too long"),
    ("500", "the system failed the writer"),
    ("503", "busy: ask again"),
];

/// The description.
///
/// # Errors
/// None.
pub fn describe(_: &Desk, _: Given) -> Result<Value, Failure> {
    Ok(document())
}

/// The description.
pub fn document() -> Value {
    let mut paths: Map<String, Value> = Map::new();
    for route in TABLE {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        for method in route.methods {
            path[method.name().to_ascii_lowercase()] = operation(route, *method);
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "packset",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The writer of a pack: a coding agent's memory.",
            "license": { "name": env!("CARGO_PKG_LICENSE"), "identifier": env!("CARGO_PKG_LICENSE") },
        },
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": {
                "error": {
                    "type": "object",
                    "required": ["error"],
                    "properties": {
                        "error": { "type": "string", "description": "one line" },
                        "kind": { "type": "string" },
                        "hint": { "type": "string", "description": "what to do about it" },
                    },
                },
            },
        },
    })
}

fn operation(route: &Route, method: Method) -> Value {
    let (in_path, others): (Vec<&Parameter>, Vec<&Parameter>) =
        route.takes.iter().partition(|takes| route.path.contains(&format!("{{{}}}", takes.name)));
    let named = |takes: &&Parameter, place: &str| {
        json!({
            "name": takes.name,
            "in": place,
            "required": takes.needed,
            "description": takes.about,
            "schema": schema(takes.is, place == "query"),
        })
    };
    let mut parameters: Vec<Value> = in_path.iter().map(|takes| named(takes, "path")).collect();
    let suffix =
        if route.methods.len() > 1 { format!("-{}", method.name()) } else { String::new() };
    let mut operation = json!({
        "operationId": format!("{}{}", route.name.replace(' ', "-"), suffix.to_ascii_lowercase()),
        "summary": route.about,
        "responses": responses(),
    });
    if method == Method::Get {
        parameters.extend(others.iter().map(|takes| named(takes, "query")));
    } else {
        let properties: Map<String, Value> = others
            .iter()
            .map(|takes| {
                let mut property = schema(takes.is, false);
                property["description"] = takes.about.into();
                (takes.name.to_owned(), property)
            })
            .collect();
        let needed: Vec<&str> =
            others.iter().filter(|takes| takes.needed).map(|takes| takes.name).collect();
        operation["requestBody"] = json!({
            "required": true,
            "content": { "application/json": { "schema": {
                "type": "object", "required": needed, "properties": properties,
            } } },
        });
    }
    operation["parameters"] = parameters.into();
    operation
}

fn schema(is: Type, in_query: bool) -> Value {
    match is {
        Type::Text => json!({ "type": "string" }),
        Type::Count => json!({ "type": "integer" }),
        Type::Flag if in_query => json!({ "type": "string", "enum": ["0", "1"] }),
        Type::Flag => json!({ "type": "boolean" }),
        Type::Time => json!({ "type": "string", "format": "date-time" }),
        Type::List if in_query => json!({ "type": "string", "description": "commas between" }),
        Type::List => json!({ "type": "array", "items": { "type": "string" } }),
        Type::Object => json!({ "type": "object" }),
    }
}

fn responses() -> Value {
    let body = |schema: Value| json!({ "application/json": { "schema": schema } });
    let mut responses = Map::new();
    let done = json!({ "description": "done", "content": body(json!({ "type": "object" })) });
    responses.insert("200".into(), done);
    for (status, about) in REFUSALS {
        let error = body(json!({ "$ref": "#/components/schemas/error" }));
        responses.insert(status.into(), json!({ "description": about, "content": error }));
    }
    responses.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::FailureKind;

    #[test]
    fn every_route_is_described_once_for_each_method() {
        let document = document();
        let mut ids = std::collections::BTreeSet::new();
        for route in TABLE {
            for method in route.methods {
                let path = &document["paths"][route.path];
                let operation = &path[method.name().to_ascii_lowercase()];
                assert_eq!(operation["summary"], route.about);
                assert!(ids.insert(operation["operationId"].to_string()), "{operation}");
                for takes in route.takes.iter().filter(|takes| takes.needed) {
                    let as_text = operation.to_string();
                    assert!(as_text.contains(&format!("\"{}\"", takes.name)), "{as_text}");
                }
            }
        }
        let health = document["paths"].as_object().unwrap().keys().any(|path| path == "/health");
        assert!(!health, "it needs no token and answers no JSON");
    }

    #[test]
    #[cfg(unix)]
    fn every_status_that_a_failure_has_is_described() {
        for kind in FailureKind::ALL {
            let status = crate::serve::routing::status(kind).to_string();
            assert!(REFUSALS.iter().any(|(known, _)| *known == status), "{status}");
        }
    }
}
