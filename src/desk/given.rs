//! What a request was given: a JSON object, read leniently.
//!
//! A query string has only texts, a body has JSON: both are read the same, so that `limit=5` and
//! `{"limit": 5}` are one. Empty counts as missing. What no route names is ignored: clients of
//! newer and of older programs send more than is read here.

use serde_json::Value;

use crate::cli::{Failure, FailureKind};
use crate::pack::Record;
use crate::place;
use crate::time::Micros;

/// What a request was given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given(pub Record);

impl Given {
    /// From pairs; what is null is left out.
    pub fn of<const N: usize>(pairs: [(&str, Value); N]) -> Self {
        let pairs = pairs.into_iter().filter(|(_, value)| !value.is_null());
        Self(pairs.map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// A text, unless it is missing or blank. A number or a truth value is its own spelling.
    pub fn text(&self, name: &str) -> Option<String> {
        self.whole_text(name).filter(|text| !text.trim().is_empty())
    }

    /// A text that may be empty; none if it is missing.
    pub fn whole_text(&self, name: &str) -> Option<String> {
        match self.0.get(name)? {
            Value::String(text) => Some(text.clone()),
            Value::Null => None,
            other => Some(other.to_string()),
        }
    }

    /// A text that must be there.
    ///
    /// # Errors
    /// `NAME required`.
    pub fn need(&self, name: &str) -> Result<String, Failure> {
        self.text(name)
            .ok_or_else(|| Failure::new(FailureKind::Refused, format!("{name} required")))
    }

    /// The workspace, which must be there and have a name that one can have.
    ///
    /// # Errors
    /// None, or such a name.
    pub fn workspace(&self) -> Result<String, Failure> {
        let name = self.need("workspace")?;
        checked(name)
    }

    /// The workspace, if one is given.
    ///
    /// # Errors
    /// A name that none can have.
    pub fn workspace_if_any(&self) -> Result<Option<String>, Failure> {
        self.text("workspace").map(checked).transpose()
    }

    /// Whether something was asked for: `true`, 1, or the words `1`, `true`, `yes` in any case.
    pub fn flag(&self, name: &str) -> bool {
        match self.0.get(name) {
            Some(Value::Bool(flag)) => *flag,
            Some(Value::Number(number)) => number.as_f64() == Some(1.0),
            Some(Value::String(word)) => {
                ["1", "true", "yes"].iter().any(|yes| word.trim().eq_ignore_ascii_case(yes))
            }
            _ => false,
        }
    }

    /// A whole number; one below zero counts as zero.
    ///
    /// # Errors
    /// Anything else.
    pub fn count(&self, name: &str, default: usize) -> Result<usize, Failure> {
        let Some(text) = self.text(name) else { return Ok(default) };
        let number: i64 = text.trim().parse().map_err(|_| {
            Failure::new(FailureKind::Refused, format!("{name} must be a whole number, not {text}"))
        })?;
        Ok(usize::try_from(number).unwrap_or_default())
    }

    /// A share from 0 to 1.
    ///
    /// # Errors
    /// Anything else.
    pub fn share(&self, name: &str) -> Result<Option<f64>, Failure> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let share: Option<f64> = text.trim().parse().ok();
        match share.filter(|share| (0.0..=1.0).contains(share)) {
            Some(share) => Ok(Some(share)),
            None => Err(Failure::usage(format!("{name} must be from 0 to 1, not {text}"))),
        }
    }

    /// A timestamp.
    ///
    /// # Errors
    /// Text that is none.
    pub fn time(&self, name: &str) -> Result<Option<Micros>, Failure> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match Micros::parse(&text) {
            Some(at) => Ok(Some(at)),
            None => Err(Failure::usage(format!("{name} must be a timestamp, not {text}"))
                .hint("write it as 2026-01-31T12:00:00Z or 2026-01-31")),
        }
    }

    /// Texts: a list of them, or one with commas.
    pub fn list(&self, name: &str) -> Vec<String> {
        match self.0.get(name) {
            Some(Value::Array(items)) => {
                items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            Some(Value::String(items)) => {
                let items = items.split(',').map(str::trim).filter(|item| !item.is_empty());
                items.map(str::to_owned).collect()
            }
            _ => Vec::new(),
        }
    }

    /// An object that must be there.
    ///
    /// # Errors
    /// `NAME required`, also for what is no object.
    pub fn object(&self, name: &str) -> Result<Record, Failure> {
        match self.0.get(name) {
            Some(Value::Object(object)) => Ok(object.clone()),
            _ => Err(Failure::new(FailureKind::Refused, format!("{name} required, an object"))),
        }
    }
}

fn checked(name: String) -> Result<String, Failure> {
    match place::check_name(&name) {
        Ok(()) => Ok(name),
        Err(fault) => Err(Failure::usage(format!("the workspace name {fault}"))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn given(value: Value) -> Given {
        Given(value.as_object().unwrap().clone())
    }

    #[test]
    fn a_query_and_a_body_read_the_same() {
        for (limit, wanted) in [
            (json!("5"), Some(5)),
            (json!(5), Some(5)),
            (json!("-3"), Some(0)),
            (json!(""), Some(16)),
            (json!(null), Some(16)),
            (json!("five"), None),
            (json!(1.5), None),
        ] {
            let given = given(json!({ "limit": limit }));
            assert_eq!(given.count("limit", 16).ok(), wanted, "{limit}");
        }
        for (flag, wanted) in [
            (json!(true), true),
            (json!("1"), true),
            (json!(1), true),
            (json!("YES"), true),
            (json!("on"), false),
            (json!("0"), false),
            (json!(null), false),
        ] {
            assert_eq!(given(json!({ "f": flag })).flag("f"), wanted, "{flag}");
        }
        assert_eq!(given(json!({"ids": "a, b,,c"})).list("ids"), ["a", "b", "c"]);
        assert_eq!(given(json!({"ids": ["a,b", 5, "c"]})).list("ids"), ["a,b", "c"]);
    }

    #[test]
    fn what_must_be_there() {
        for empty in [json!({}), json!({"workspace": ""}), json!({"workspace": null})] {
            assert_eq!(given(empty).workspace().unwrap_err().message, "workspace required");
        }
        assert!(given(json!({"workspace": "a\u{0}b"})).workspace().is_err());
        assert_eq!(given(json!({"workspace": "a/b"})).workspace().unwrap(), "a/b");
        assert_eq!(given(json!({"text": 5})).whole_text("text").unwrap(), "5");
        assert!(given(json!({"as_of": "yesterday"})).time("as_of").is_err());
    }
}
