//! What a client is told: [`Reply`], and how it looks on the wire.
//!
//! Not here: when it is sent. Invariants: every reply names its type and its length and ends the
//! connection; an error is one line in `{"error": ...}`; no header tells what we are made of.

use serde_json::Value;

/// The type of every body that is not plain text.
const JSON: &str = "application/json";

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The type of the body.
    pub content_type: &'static str,
    /// The body.
    pub body: Vec<u8>,
    /// Seconds after which it is worth asking again.
    pub retry_after: Option<u32>,
}

impl Reply {
    /// A body that is JSON already.
    pub fn json(status: u16, body: Vec<u8>) -> Self {
        Self { status, content_type: JSON, body, retry_after: None }
    }

    /// A plain text.
    pub fn text(status: u16, text: &str) -> Self {
        let body = text.as_bytes().to_vec();
        Self { status, content_type: "text/plain", body, retry_after: None }
    }

    /// A refusal or a failure; of the message one line is made.
    pub fn error(status: u16, message: &str) -> Self {
        let lines: Vec<&str> = message.lines().map(str::trim).collect();
        let body = format!("{{\"error\":{}}}", Value::from(lines.join(" ").trim()));
        Self::json(status, body.into_bytes())
    }

    /// No room now, and nothing was done: 503 with `Retry-After: 1`.
    pub fn busy() -> Self {
        Self { retry_after: Some(1), ..Self::error(503, "the writer is busy; ask again") }
    }

    /// The whole response. `bodiless` is for HEAD: all but the body.
    pub(super) fn to_wire(&self, bodiless: bool) -> Vec<u8> {
        let reason = tiny_http::StatusCode(self.status).default_reason_phrase();
        let mut wire = Vec::with_capacity(self.body.len() + 192);
        let (status, length) = (self.status, self.body.len());
        let line = format!("HTTP/1.1 {status} {reason}\r\nContent-Type: {}\r\n", self.content_type);
        wire.extend_from_slice(line.as_bytes());
        if let Some(seconds) = self.retry_after {
            wire.extend_from_slice(format!("Retry-After: {seconds}\r\n").as_bytes());
        }
        if status == 401 {
            wire.extend_from_slice(b"WWW-Authenticate: Bearer\r\n");
        }
        let end = format!("Content-Length: {length}\r\nConnection: close\r\n\r\n");
        wire.extend_from_slice(end.as_bytes());
        if !bodiless {
            wire.extend_from_slice(&self.body);
        }
        wire
    }
}

/// How long a response that [`Reply::to_wire`] wrote is in all, once enough of it is here.
///
/// # Errors
/// Bytes that it never writes.
pub(super) fn length_on_wire(bytes: &[u8], bodiless: bool) -> Result<Option<usize>, NotAReply> {
    // What `to_wire` writes at most.
    let mut headers = [httparse::EMPTY_HEADER; 8];
    let mut response = httparse::Response::new(&mut headers);
    let head = match response.parse(bytes) {
        Ok(httparse::Status::Complete(head)) => head,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(NotAReply),
    };
    if bodiless {
        return Ok(Some(head));
    }
    let length = response
        .headers
        .iter()
        .find(|header| header.name == "Content-Length")
        .and_then(|header| std::str::from_utf8(header.value).ok()?.parse::<usize>().ok())
        .ok_or(NotAReply)?;
    head.checked_add(length).map(Some).ok_or(NotAReply)
}

/// Something came back from a lane that is no reply of ours.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotAReply;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_names_type_and_length_and_closes() {
        let wire = Reply::json(200, b"{}".to_vec()).to_wire(false);
        let expected = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\
            Content-Length: 2\r\nConnection: close\r\n\r\n{}";
        assert_eq!(String::from_utf8(wire).unwrap(), expected);
        let wire = Reply::text(200, "packsetd ok").to_wire(true);
        let expected = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\
            Content-Length: 11\r\nConnection: close\r\n\r\n";
        assert_eq!(String::from_utf8(wire).unwrap(), expected);
    }

    #[test]
    fn an_error_is_one_line_of_json() {
        let reply = Reply::error(400, "no \"such\"\n  thing\r\n");
        assert_eq!(reply.body, br#"{"error":"no \"such\" thing"}"#);
        assert_eq!((reply.status, reply.content_type), (400, "application/json"));
        let busy = String::from_utf8(Reply::busy().to_wire(false)).unwrap();
        assert!(busy.starts_with("HTTP/1.1 503 ") && busy.contains("\r\nRetry-After: 1\r\n"));
        let unknown = String::from_utf8(Reply::error(401, "token").to_wire(false)).unwrap();
        assert!(unknown.contains("\r\nWWW-Authenticate: Bearer\r\n"), "{unknown}");
    }

    #[test]
    fn a_reply_says_how_long_it_is() {
        let reply = Reply::json(503, b"[1,2]".to_vec());
        let wire = Reply { retry_after: Some(1), ..reply }.to_wire(false);
        assert_eq!(length_on_wire(&wire, false), Ok(Some(wire.len())));
        assert_eq!(length_on_wire(&wire[..wire.len() - 5], false), Ok(Some(wire.len())));
        assert_eq!(length_on_wire(&wire, true), Ok(Some(wire.len() - 5)));
        assert_eq!(length_on_wire(&wire[..wire.len() - 6], false), Ok(None));
        assert_eq!(length_on_wire(b"", false), Ok(None));
        assert_eq!(length_on_wire(b"nonsense\r\n\r\n", false), Err(NotAReply));
        assert_eq!(length_on_wire(b"HTTP/1.1 200 OK\r\n\r\n", false), Err(NotAReply));
        let huge = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", usize::MAX);
        assert_eq!(length_on_wire(huge.as_bytes(), false), Err(NotAReply));
    }
}
