//! The lines that are spoken with `packset-embed`: one object each way (behaviour spec, 4.14).
//!
//! Not here: what a model makes of them. Invariants: a line that is no request is answered too,
//! with its id where it has one; nothing is read past [`LINE`]; an answer is one line.

use std::io::{self, BufRead};

use serde_json::{Value, json};

use super::models::Kind;

/// Longest line that is read, bytes: twenty texts of a reranker of 1 MiB each, with room for
/// escapes.
pub const LINE: usize = 32 << 20;
/// Texts of one line at most: their vectors are held until the line is answered, 12 MB for 1,024
/// numbers each.
pub const TEXTS: usize = 1024;

/// What a line asks for.
#[derive(Debug, PartialEq)]
pub enum Request {
    /// Which model answers.
    About,
    /// What becomes of one text.
    Text {
        /// The text.
        text: String,
        /// Whether it is a question.
        query: bool,
    },
    /// What becomes of each of several.
    Texts {
        /// The texts.
        texts: Vec<String>,
        /// Whether they are questions.
        query: bool,
    },
    /// How well each text answers the question.
    Pairs {
        /// The question.
        query: String,
        /// The texts.
        texts: Vec<String>,
    },
}

/// A line: its id, and what it asks for or why it is no request.
pub type Asked = (Value, Result<Request, String>);

/// Reads what a line asks a child of a kind for.
pub fn request(line: &[u8], kind: Kind) -> Asked {
    let said: Value = match serde_json::from_slice(line) {
        Ok(said) => said,
        Err(error) => return (Value::Null, Err(format!("no JSON: {error}"))),
    };
    let id = said.get("id").cloned().unwrap_or(Value::Null);
    let asked = match said.is_object() {
        true => wanted(&said, kind),
        false => Err("no object".into()),
    };
    (id, asked)
}

fn wanted(said: &Value, kind: Kind) -> Result<Request, String> {
    let flag = |name: &str| said.get(name) == Some(&Value::Bool(true));
    let text = |name: &str| said.get(name).and_then(Value::as_str).map(str::to_owned);
    if flag("about") {
        return Ok(Request::About);
    }
    if kind == Kind::Rerank {
        let query = text("q").ok_or("q is no text")?;
        return Ok(Request::Pairs { query, texts: texts(said.get("d"), "d")? });
    }
    let query = flag("query");
    if kind == Kind::Dense && said.get("texts").is_some() {
        return Ok(Request::Texts { texts: texts(said.get("texts"), "texts")?, query });
    }
    Ok(Request::Text { text: text("text").ok_or("text is no text")?, query })
}

fn texts(value: Option<&Value>, name: &str) -> Result<Vec<String>, String> {
    let all = value.and_then(Value::as_array).ok_or_else(|| format!("{name} is no list"))?;
    if all.len() > TEXTS {
        return Err(format!("{name} has {} texts, and {TEXTS} are the most", all.len()));
    }
    let texts: Option<Vec<String>> = all.iter().map(|it| it.as_str().map(str::to_owned)).collect();
    texts.ok_or_else(|| format!("{name} holds what is no text"))
}

/// The answer to what cannot be answered.
pub fn error(id: &Value, said: &str) -> String {
    let line = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("failed");
    json!({ "id": id, "error": line }).to_string()
}

/// An answer: fields whose values are JSON already, after the id.
pub fn answer(id: &Value, fields: &[(&str, String)]) -> String {
    let fields: String = fields.iter().map(|(name, json)| format!(",\"{name}\":{json}")).collect();
    format!("{{\"id\":{id}{fields}}}")
}

/// Numbers as JSON, each as short as it can be and still be the same; they are finite.
pub fn numbers(numbers: &[f32]) -> String {
    let all: Vec<String> = numbers.iter().map(|number| format!("{number:?}")).collect();
    format!("[{}]", all.join(","))
}

/// A list of JSON texts.
pub fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(","))
}

/// Reads a line into `line`, without its end; false at the end of the input. A longer line than
/// [`LINE`] is read to its end and left empty.
///
/// # Errors
/// The input cannot be read.
pub fn read(input: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let (mut any, mut long) = (false, false);
    loop {
        let held = match input.fill_buf() {
            Ok(held) => held,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if held.is_empty() {
            return Ok(any);
        }
        any = true;
        let end = memchr::memchr(b'\n', held);
        let (taken, _) = held.split_at(end.unwrap_or(held.len()));
        long |= line.len() + taken.len() > LINE;
        match long {
            // A line that is too long is given back as one that is nothing.
            true => *line = Vec::new(),
            false => line.extend_from_slice(taken),
        }
        let used = taken.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            return Ok(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_is_read() {
        let of = |kind, line: &str| request(line.as_bytes(), kind);
        let text = |text: &str, query| Request::Text { text: text.into(), query };
        assert_eq!(
            of(Kind::Dense, r#"{"id":"0","text":"a","query":true}"#),
            (json!("0"), Ok(text("a", true)))
        );
        assert_eq!(of(Kind::Late, r#"{"id":7,"text":"a"}"#), (json!(7), Ok(text("a", false))));
        assert_eq!(
            of(Kind::Dense, r#"{"id":"b","query":false,"texts":["a",""]}"#),
            (json!("b"), Ok(Request::Texts { texts: vec!["a".into(), "".into()], query: false }))
        );
        assert_eq!(
            of(Kind::Rerank, r#"{"id":"q","q":"a","d":[]}"#),
            (json!("q"), Ok(Request::Pairs { query: "a".into(), texts: vec![] }))
        );
        assert_eq!(of(Kind::Rerank, r#"{"id":1,"about":true}"#), (json!(1), Ok(Request::About)));
    }

    #[test]
    fn what_is_no_request_says_why_and_keeps_its_id() {
        let why = |kind, line: &str| {
            let (id, asked) = request(line.as_bytes(), kind);
            (id, asked.unwrap_err())
        };
        assert_eq!(why(Kind::Dense, r#"{"id":"0"}"#), (json!("0"), "text is no text".into()));
        assert_eq!(
            why(Kind::Dense, r#"{"id":"0","texts":[1]}"#),
            (json!("0"), "texts holds what is no text".into())
        );
        assert_eq!(why(Kind::Rerank, r#"{"q":"a"}"#), (Value::Null, "d is no list".into()));
        assert_eq!(why(Kind::Dense, "[]"), (Value::Null, "no object".into()));
        assert!(why(Kind::Dense, "{").1.starts_with("no JSON: "));
        let many = json!({"id": 1, "texts": vec!["a"; TEXTS + 1]}).to_string();
        assert_eq!(why(Kind::Dense, &many).1, "texts has 1025 texts, and 1024 are the most");
    }

    #[test]
    fn answers_are_one_line_and_numbers_come_back() {
        let sent = [0.1, -1.0, 1e-7, 0.33333334f32, 0.0];
        let line = answer(&json!("a\"b"), &[("v", numbers(&sent))]);
        let read: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(read["id"], "a\"b");
        let back: Vec<f32> =
            read["v"].as_array().unwrap().iter().map(|it| it.as_f64().unwrap() as f32).collect();
        assert_eq!(back, sent);
        assert_eq!(error(&Value::Null, "\n bad \nworse"), r#"{"id":null,"error":"bad"}"#);
    }

    #[test]
    fn lines_are_read_to_their_end_and_no_further() {
        let mut input: &[u8] = b"one\n\ntwo";
        let mut line = Vec::new();
        let mut all = Vec::new();
        while read(&mut input, &mut line).unwrap() {
            all.push(String::from_utf8(line.clone()).unwrap());
        }
        assert_eq!(all, ["one", "", "two"]);
    }
}
