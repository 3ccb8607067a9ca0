//! What a tool is given: its arguments as the client reads them (JSON Schema) and as they are
//! checked.
//!
//! Invariants: null is as good as absent; an argument that the tool does not have is refused,
//! because a misspelt `workspace` would otherwise answer about another one.

use serde_json::{Map, Value, json};

use crate::cli::{Failure, FailureKind};
use crate::desk::{Desk, Given};
use crate::pack::Record;

/// What an argument is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Is {
    Text,
    /// A text of which there are only these.
    Word(&'static [&'static str]),
    Time,
    Flag,
    Texts,
    /// A number of rows: what it is if nothing is said, and the most.
    Limit(usize, usize),
    /// A number of characters to pass over.
    Offset,
}

/// Something that a tool may be given.
#[derive(Debug)]
pub(super) struct Argument {
    pub name: &'static str,
    pub is: Is,
    pub needed: bool,
    pub about: &'static str,
}

pub(super) const fn must(name: &'static str, is: Is, about: &'static str) -> Argument {
    Argument { name, is, needed: true, about }
}

pub(super) const fn may(name: &'static str, is: Is, about: &'static str) -> Argument {
    Argument { name, is, needed: false, about }
}

pub(super) const WORKSPACE: Argument = may(
    "workspace",
    Is::Text,
    "whose claims; if left out: PACKSET_WORKSPACE, else the git remote of the server's directory, \
     else `default`",
);
pub(super) const AS_OF: Argument =
    may("as_of", Is::Time, "what was true at this time, as 2026-01-31T12:00:00Z or 2026-01-31");
pub(super) const KNOWN_AT: Argument =
    may("known_at", Is::Time, "what the pack knew at this time, written alike");
pub(super) const KIND: Argument =
    may("kind", Is::Text, "only records of this kind, as `lesson` or `preference`");
pub(super) const CURSOR: Argument =
    may("cursor", Is::Text, "where to go on: `next_cursor` of the page before");

/// The most rows that any list has: at 300 bytes a claim it is as long as a client shows whole.
pub(super) const MOST: usize = 100;

impl Argument {
    fn schema(&self) -> Value {
        let mut schema = match self.is {
            Is::Text => json!({ "type": "string" }),
            Is::Word(words) => json!({ "type": "string", "enum": words }),
            Is::Time => json!({ "type": "string" }),
            Is::Flag => json!({ "type": "boolean" }),
            Is::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Is::Limit(default, most) => {
                json!({ "type": "integer", "minimum": 1, "maximum": most, "default": default })
            }
            Is::Offset => json!({ "type": "integer", "minimum": 0, "default": 0 }),
        };
        schema["description"] = self.about.into();
        if self.needed {
            if matches!(self.is, Is::Text) {
                schema["minLength"] = 1.into();
            }
            return schema;
        }
        schema["type"] = json!([schema["type"], "null"]);
        if let Some(words) = schema.get_mut("enum").and_then(Value::as_array_mut) {
            words.push(Value::Null);
        }
        if schema.get("default").is_none() {
            schema["default"] = Value::Null;
        }
        schema
    }

    fn check(&self, value: &Value) -> Result<(), Failure> {
        let wanted = match self.is {
            Is::Text | Is::Time if value.is_string() => return Ok(()),
            Is::Word(words) if value.as_str().is_some_and(|word| words.contains(&word)) => {
                return Ok(());
            }
            Is::Flag if value.is_boolean() => return Ok(()),
            Is::Texts if is_texts(value) => return Ok(()),
            Is::Limit(..) | Is::Offset if value.as_u64().is_some() => return Ok(()),
            Is::Text => "a string".to_owned(),
            Is::Time => "a time as a string".to_owned(),
            Is::Word(words) => format!("one of {}", words.join(", ")),
            Is::Flag => "true or false".to_owned(),
            Is::Texts => "a list of strings".to_owned(),
            Is::Limit(..) | Is::Offset => "a whole number".to_owned(),
        };
        Err(refused(format!("{} must be {wanted}", self.name)))
    }
}

fn is_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.iter().all(Value::is_string))
}

fn refused(message: String) -> Failure {
    Failure::new(FailureKind::Refused, message)
}

/// The JSON Schema of what a tool takes.
pub(super) fn schema(takes: &[Argument]) -> Map<String, Value> {
    let properties: Map<String, Value> =
        takes.iter().map(|takes| (takes.name.to_owned(), takes.schema())).collect();
    let needed: Vec<&str> =
        takes.iter().filter(|takes| takes.needed).map(|takes| takes.name).collect();
    let mut schema = Map::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    schema.insert("required".into(), needed.into());
    schema.insert("additionalProperties".into(), false.into());
    schema
}

/// What a tool was given, checked, with the workspace in force.
#[derive(Debug)]
pub(super) struct Asked {
    given: Given,
    /// The workspace that is asked about.
    pub workspace: String,
    /// How it was found.
    pub workspace_from: String,
}

impl Asked {
    /// Checks what was given against what the tool takes.
    ///
    /// # Errors
    /// An argument that is missing, unknown or of another type, or a workspace that none can be.
    pub fn new(desk: &Desk, takes: &[Argument], given: Record) -> Result<Self, Failure> {
        for (name, value) in given.iter().filter(|(_, value)| !value.is_null()) {
            let Some(known) = takes.iter().find(|takes| takes.name == name) else {
                let names: Vec<&str> = takes.iter().map(|takes| takes.name).collect();
                return Err(refused(format!("there is no argument {name}"))
                    .hint(format!("it takes {}", names.join(", "))));
            };
            known.check(value)?;
        }
        let given = Given(given);
        for needed in takes.iter().filter(|takes| takes.needed) {
            given.need(needed.name)?;
        }
        let found = desk.workspace(given.text("workspace").as_deref())?;
        Ok(Self { given, workspace: found.name, workspace_from: found.how.to_string() })
    }

    /// A text, unless it is missing or blank.
    pub fn text(&self, name: &str) -> Option<String> {
        self.given.text(name)
    }

    /// The rows that are asked for, as the table bounds them.
    pub fn limit(&self, default: usize, most: usize) -> usize {
        self.given.count("limit", default).unwrap_or(most).clamp(1, most)
    }

    /// A count of characters.
    pub fn offset(&self) -> usize {
        self.given.count("offset", 0).unwrap_or(usize::MAX)
    }

    /// The workspace and these arguments, under the names that the route has for them.
    pub fn passed(&self, names: &[(&str, &str)]) -> Given {
        let mut passed = Record::new();
        passed.insert("workspace".into(), self.workspace.as_str().into());
        for (ours, theirs) in names {
            if let Some(value) = self.given.0.get(*ours).filter(|value| !value.is_null()) {
                passed.insert((*theirs).to_owned(), value.clone());
            }
        }
        Given(passed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_optional_argument_may_be_null_and_a_needed_one_not() {
        let schema =
            schema(&[must("query", Is::Text, "q"), WORKSPACE, may("n", Is::Limit(3, 9), "n")]);
        assert_eq!(schema["required"], json!(["query"]));
        assert_eq!(schema["additionalProperties"], false);
        let properties = &schema["properties"];
        assert_eq!(properties["query"]["type"], "string");
        assert_eq!(properties["workspace"]["type"], json!(["string", "null"]));
        assert_eq!(properties["workspace"]["default"], Value::Null);
        let limit = json!({
            "type": ["integer", "null"], "minimum": 1, "maximum": 9, "default": 3,
            "description": "n",
        });
        assert_eq!(properties["n"], limit);
        let word = may("rank", Is::Word(&["a", "b"]), "r").schema();
        assert_eq!(word["enum"], json!(["a", "b", null]));
    }

    #[test]
    fn types_are_checked() {
        for (is, good, bad) in [
            (Is::Text, json!("a"), json!(5)),
            (Is::Word(&["a"]), json!("a"), json!("b")),
            (Is::Time, json!("2026"), json!(2026)),
            (Is::Flag, json!(false), json!("false")),
            (Is::Texts, json!(["a"]), json!(["a", 5])),
            (Is::Limit(1, 2), json!(500), json!(-1)),
            (Is::Offset, json!(0), json!("0")),
        ] {
            let argument = may("x", is, "");
            assert!(argument.check(&good).is_ok(), "{is:?}");
            let failure = argument.check(&bad).unwrap_err();
            assert!(failure.message.starts_with("x must be "), "{}", failure.message);
        }
    }
}
