//! How bytes become one whole request: [`Intake`], fed as they come.
//!
//! Heads are read by httparse, bodies by length or by chunks. The guard is asked as soon as the
//! head is whole, before anything is made of the body. Not here: sockets, deadlines, routes.
//!
//! Invariants: no more is kept than the limits allow, whatever the peer claims; a request whose
//! framing can be read in two ways is refused; what follows the request is not looked at.

use std::borrow::Cow;

use super::guard::{Guard, Refusal, Visitor};
use super::{Limits, Request};

/// Header fields in a head: clients send a dozen, browsers two.
const FIELDS: usize = 100;
/// Bytes of a chunk's size line or a trailer line; real ones have less than twenty.
const LINE: usize = 4096;
/// Up to this size a body gets its room at once; a larger claim must be lived up to first.
const TRUSTED: usize = 1 << 20;

const TOO_LARGE: Refusal = (413, "the body is too large");
const BAD_CHUNK: Refusal = (400, "the chunked body is malformed");

/// What came of some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The request is not whole yet.
    More,
    /// The head is; the client waits for a word before it sends the body.
    Continue,
    /// Here it is.
    Whole(Request),
}

/// One request, as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Intake {
    head: Vec<u8>,
    /// No blank line begins before this place.
    looked: usize,
    /// The length at which a head without a blank line is parsed all the same.
    suspect: usize,
    request: Request,
    stage: Stage,
}

#[derive(Debug, Default)]
enum Stage {
    #[default]
    Head,
    Sized(usize),
    Chunked {
        chunk: Chunk,
        line: Vec<u8>,
        trailers: usize,
    },
}

#[derive(Clone, Copy, Debug)]
enum Chunk {
    Size,
    Data(usize),
    End,
    Trailer,
}

impl Intake {
    /// Whether no byte has come.
    pub(super) fn is_untouched(&self) -> bool {
        self.head.is_empty() && matches!(self.stage, Stage::Head)
    }

    /// Bytes of the body that are kept.
    pub(super) fn held(&self) -> usize {
        self.request.body.len()
    }

    /// Takes bytes in. `room` is how large the body may become before all bodies are too much.
    ///
    /// # Errors
    /// A status and a reason; the connection is of no more use.
    pub(super) fn take(
        &mut self,
        mut bytes: &[u8],
        guard: &Guard,
        limits: &Limits,
        room: usize,
    ) -> Result<Step, Refusal> {
        if matches!(self.stage, Stage::Head) {
            let head = if self.head.is_empty() {
                Cow::Borrowed(bytes)
            } else {
                self.head.extend_from_slice(bytes);
                Cow::Owned(std::mem::take(&mut self.head))
            };
            let Some((length, expects)) = self.head(&head, guard, limits)? else {
                self.head = head.into_owned();
                return Ok(Step::More);
            };
            let body = head.get(length..).unwrap_or_default();
            if expects && body.is_empty() && !matches!(self.stage, Stage::Sized(0)) {
                return Ok(Step::Continue);
            }
            return self.body(body, limits, room);
        }
        self.body(std::mem::take(&mut bytes), limits, room)
    }

    fn body(&mut self, bytes: &[u8], limits: &Limits, room: usize) -> Result<Step, Refusal> {
        let whole = match &mut self.stage {
            Stage::Head => false,
            Stage::Sized(left) => {
                let (now, _) = bytes.split_at(bytes.len().min(*left));
                add(&mut self.request.body, now, room)?;
                *left -= now.len();
                *left == 0
            }
            Stage::Chunked { chunk, line, trailers } => {
                let body = &mut self.request.body;
                unchunk(bytes, chunk, line, trailers, body, limits, room)?
            }
        };
        Ok(if whole { Step::Whole(std::mem::take(&mut self.request)) } else { Step::More })
    }

    /// Reads the head if it is whole; its length, and whether the client waits for a word.
    fn head(
        &mut self,
        bytes: &[u8],
        guard: &Guard,
        limits: &Limits,
    ) -> Result<Option<(usize, bool)>, Refusal> {
        let too_long = (431, "the head is too large");
        let from = self.looked.min(bytes.len());
        let ends = has_blank_line(bytes.get(from..).unwrap_or_default());
        self.looked = bytes.len().saturating_sub(3);
        // Parsing at every byte would be quadratic, waiting for the blank line would let nonsense
        // wait: it is tried when the head has doubled.
        if !ends && bytes.len() < self.suspect && bytes.len() <= limits.head {
            return Ok(None);
        }
        self.suspect = bytes.len().saturating_mul(2);
        let mut fields = [httparse::EMPTY_HEADER; FIELDS];
        let mut parsed = httparse::Request::new(&mut fields);
        let length = match parsed.parse(bytes) {
            Ok(httparse::Status::Complete(length)) if length <= limits.head => length,
            Ok(httparse::Status::Partial) if bytes.len() <= limits.head => return Ok(None),
            Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err(too_long),
            Err(httparse::Error::Version) => return Err((400, "HTTP/1.0 and HTTP/1.1 only")),
            Err(_) => return Err((400, "the request line or a header is malformed")),
        };
        let (Some(method), Some(target), Some(minor)) =
            (parsed.method, parsed.path, parsed.version)
        else {
            return Err((400, "the request line is malformed"));
        };
        let (authority, target) = split_target(target);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let visitor = Visitor { method, path, authority, minor, headers: parsed.headers };
        guard.check(&visitor)?;
        if !path.starts_with('/') && target != "*" {
            return Err((400, "the request target is no path"));
        }
        let framing = Framing::of(parsed.headers, minor)?;
        self.request.method = method.to_owned();
        self.request.path = ascii(path);
        self.request.query = ascii(query);
        self.stage = match framing.length {
            None => Stage::Chunked { chunk: Chunk::Size, line: Vec::new(), trailers: 0 },
            Some(length) => {
                // More than the address space is more than the limit.
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                if length > limits.body {
                    return Err(TOO_LARGE);
                }
                self.request.body.reserve_exact(length.min(TRUSTED));
                Stage::Sized(length)
            }
        };
        Ok(Some((length, framing.expects)))
    }
}

/// What the head says about the body.
struct Framing {
    /// None if it comes in chunks.
    length: Option<u64>,
    expects: bool,
}

impl Framing {
    fn of(headers: &[httparse::Header<'_>], minor: u8) -> Result<Self, Refusal> {
        let mut length = None;
        let mut coding = None;
        let mut expects = false;
        for field in headers {
            if field.name.eq_ignore_ascii_case("Content-Length") {
                let value = field.value.trim_ascii();
                let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
                let number = std::str::from_utf8(value).ok().filter(|_| digits);
                // Digits that are no u64 are more than any limit.
                let number = number
                    .map(|text| text.parse().unwrap_or(u64::MAX))
                    .ok_or((400, "Content-Length is no number"))?;
                if length.replace(number).is_some_and(|before| before != number) {
                    return Err((400, "Content-Length differs from Content-Length"));
                }
            } else if field.name.eq_ignore_ascii_case("Transfer-Encoding") {
                if coding.replace(field.value).is_some() {
                    return Err((501, "one transfer coding only"));
                }
            } else if field.name.eq_ignore_ascii_case("Expect") {
                if !field.value.trim_ascii().eq_ignore_ascii_case(b"100-continue") {
                    return Err((417, "nothing but 100-continue is to be expected"));
                }
                // HTTP/1.0 has no 100.
                expects = minor > 0;
            }
        }
        match coding {
            None => Ok(Self { length: Some(length.unwrap_or(0)), expects }),
            Some(coding) if !coding.trim_ascii().eq_ignore_ascii_case(b"chunked") => {
                Err((501, "chunked is the only transfer coding"))
            }
            Some(_) if length.is_some() => Err((400, "chunked and Content-Length at once")),
            Some(_) if minor == 0 => Err((400, "HTTP/1.0 has no chunks")),
            Some(_) => Ok(Self { length: None, expects }),
        }
    }
}

/// Adds to a body, if there is room for all bodies together.
fn add(body: &mut Vec<u8>, bytes: &[u8], room: usize) -> Result<(), Refusal> {
    if body.len().saturating_add(bytes.len()) > room {
        return Err((503, "too many large requests at once; ask again"));
    }
    body.extend_from_slice(bytes);
    Ok(())
}

/// Undoes the chunks; whether the last one and its trailers are through.
fn unchunk(
    mut bytes: &[u8],
    chunk: &mut Chunk,
    line: &mut Vec<u8>,
    trailers: &mut usize,
    body: &mut Vec<u8>,
    limits: &Limits,
    room: usize,
) -> Result<bool, Refusal> {
    while !bytes.is_empty() {
        if let Chunk::Data(left) = chunk {
            let (now, rest) = bytes.split_at(bytes.len().min(*left));
            if body.len().saturating_add(now.len()) > limits.body {
                return Err(TOO_LARGE);
            }
            add(body, now, room)?;
            bytes = rest;
            *left -= now.len();
            if *left == 0 {
                *chunk = Chunk::End;
            }
            continue;
        }
        let end = memchr::memchr(b'\n', bytes);
        let (now, rest) = bytes.split_at(end.map_or(bytes.len(), |at| at + 1));
        if line.len() + now.len() > LINE {
            return Err(BAD_CHUNK);
        }
        line.extend_from_slice(now);
        bytes = rest;
        if end.is_none() {
            return Ok(false);
        }
        match chunk {
            Chunk::Size => {
                // httparse takes an empty line for a size of zero.
                if !line.first().is_some_and(u8::is_ascii_hexdigit) {
                    return Err(BAD_CHUNK);
                }
                let size = match httparse::parse_chunk_size(line) {
                    Ok(httparse::Status::Complete((length, size))) if length == line.len() => size,
                    _ => return Err(BAD_CHUNK),
                };
                let size = usize::try_from(size).unwrap_or(usize::MAX);
                if body.len().saturating_add(size) > limits.body {
                    return Err(TOO_LARGE);
                }
                *chunk = if size == 0 { Chunk::Trailer } else { Chunk::Data(size) };
            }
            Chunk::End if line.as_slice() == b"\r\n" => *chunk = Chunk::Size,
            Chunk::Trailer if line.as_slice() == b"\r\n" => return Ok(true),
            Chunk::Trailer if line.ends_with(b"\r\n") => {
                *trailers += line.len();
                if *trailers > limits.head {
                    return Err((431, "the trailers are too large"));
                }
            }
            _ => return Err(BAD_CHUNK),
        }
        line.clear();
    }
    Ok(false)
}

fn has_blank_line(bytes: &[u8]) -> bool {
    memchr::memchr_iter(b'\n', bytes).any(|at| {
        let rest = bytes.get(at + 1..).unwrap_or_default();
        rest.starts_with(b"\n") || rest.starts_with(b"\r\n")
    })
}

/// The authority of a target in absolute form, and the path and query of any.
fn split_target(target: &str) -> (Option<&str>, &str) {
    let Some(rest) = target.strip_prefix("http://") else {
        return (None, target);
    };
    let at = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(at);
    (Some(authority), if path.is_empty() { "/" } else { path })
}

/// The text with every byte that is not ASCII percent-encoded, which is what it should have been
/// and decodes to the same.
fn ascii(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut spelled = String::with_capacity(text.len() * 3);
    for byte in text.bytes() {
        if byte.is_ascii() {
            spelled.push(char::from(byte));
        } else {
            spelled.push_str(&format!("%{byte:02X}"));
        }
    }
    spelled
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUARD: Guard = Guard { token: None, unix: true };

    fn limits() -> Limits {
        Limits { head: 200, body: 20, ..Limits::default() }
    }

    fn all(bytes: &[u8]) -> Result<Step, Refusal> {
        Intake::default().take(bytes, &GUARD, &limits(), 1000)
    }

    fn status(bytes: &str) -> u16 {
        all(bytes.as_bytes()).map_or_else(|(status, _)| status, |step| panic!("{bytes}: {step:?}"))
    }

    /// The same in pieces of one byte must end the same way.
    fn whole(bytes: &str) -> Request {
        let mut dribble = Intake::default();
        let mut last = Step::More;
        for byte in bytes.as_bytes() {
            assert!(!matches!(last, Step::Whole(_)), "{bytes}");
            last = dribble.take(&[*byte], &GUARD, &limits(), 1000).unwrap();
        }
        let Ok(Step::Whole(request)) = all(bytes.as_bytes()) else {
            panic!("not whole: {bytes}");
        };
        assert_eq!(last, Step::Whole(request.clone()));
        request
    }

    #[test]
    fn a_request_comes_whole_however_it_is_cut() {
        let got = whole("GET /a/%2e?q=1?2 HTTP/1.1\r\nX: y\r\n\r\n");
        assert_eq!((got.method.as_str(), got.path.as_str()), ("GET", "/a/%2e"));
        assert_eq!((got.query.as_str(), got.body.as_slice()), ("q=1?2", &b""[..]));
        let got = whole("POST /b HTTP/1.0\r\ncontent-length: 5\r\nContent-Length: 5\r\n\r\nhello");
        assert_eq!((got.path.as_str(), got.body.as_slice()), ("/b", &b"hello"[..]));
        assert_eq!(whole("\r\nGET / HTTP/1.1\r\n\r\n").path, "/");
        assert_eq!(whole("GET / HTTP/1.1\nA: b\n\n").path, "/");
        let got = whole(
            "PUT /c HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n\
             3\r\nabc\r\n0A;x=\"y\"\r\n0123456789\r\n0\r\nT: u\r\n\r\n",
        );
        assert_eq!(got.body, b"abc0123456789");
        assert_eq!(whole("GET http://localhost:1/d?e HTTP/1.1\r\n\r\n").path, "/d");
        assert_eq!(whole("GET http://localhost HTTP/1.1\r\n\r\n").path, "/");
        assert_eq!(whole("OPTIONS * HTTP/1.1\r\n\r\n").path, "*");
    }

    #[test]
    fn what_follows_the_request_is_not_looked_at() {
        let two = b"POST /a HTTP/1.1\r\nContent-Length: 2\r\n\r\nhiGET /b HTTP/1.1\r\n\r\n";
        let Ok(Step::Whole(request)) = all(two) else { panic!("not whole") };
        assert_eq!((request.path.as_str(), request.body.as_slice()), ("/a", &b"hi"[..]));
    }

    #[test]
    fn bytes_that_are_not_ascii_are_spelled_out() {
        let got = whole("GET /caf\u{e9}?q=\u{20ac} HTTP/1.1\r\n\r\n");
        assert_eq!((got.path.as_str(), got.query.as_str()), ("/caf%C3%A9", "q=%E2%82%AC"));
        assert_eq!(all(b"GET /\xff HTTP/1.1\r\n\r\n").map_err(|(status, _)| status), Err(400));
    }

    #[test]
    fn malformed_heads_are_refused() {
        for (want, head) in [
            (400, "GET\r\n\r\n"),
            (400, "GET / HTTP/2.0\r\n\r\n"),
            (400, "GET / HTTP/1.1 x\r\n\r\n"),
            (400, "GET /a b HTTP/1.1\r\n\r\n"),
            (400, "GET /\0 HTTP/1.1\r\n\r\n"),
            (400, "GET a HTTP/1.1\r\n\r\n"),
            (400, "\x16\x03\x01\x02"),
            (400, "GET / HTTP/1.1\r\nno colon\r\n\r\n"),
            (400, "GET / HTTP/1.1\r\nA : b\r\n\r\n"),
            (400, "GET / HTTP/1.1\r\nA: b\0c\r\n\r\n"),
            (400, "GET / HTTP/1.1\r\nA: b\r\n c\r\n\r\n"),
            (400, "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n"),
            (400, "GET / HTTP/1.1\r\nContent-Length: +1\r\n\r\n"),
            (400, "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"),
            (400, "GET / HTTP/1.1\r\nContent-Length:\r\n\r\n"),
            (400, "GET / HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n"),
            (400, "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
            (400, "GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
            (400, "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"),
            (501, "GET / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
            (501, "GET / HTTP/1.1\r\nTransfer-Encoding: identity\r\n\r\n"),
            (413, "GET / HTTP/1.1\r\nContent-Length: 21\r\n\r\n"),
            (413, "GET / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n"),
            (417, "GET / HTTP/1.1\r\nExpect: more\r\nContent-Length: 1\r\n\r\n"),
        ] {
            assert_eq!(status(head), want, "{head}");
        }
    }

    #[test]
    fn a_head_is_bounded_whether_it_ends_or_not() {
        let head = |fill: usize| format!("GET / HTTP/1.1\r\nA: {}\r\n\r\n", "x".repeat(fill));
        // 23 bytes are not the filling's.
        assert_eq!(whole(&head(177)).path, "/");
        assert_eq!(status(&head(178)), 431);
        assert_eq!(status(&head(178)[..201]), 431);
        let mut many = Limits { head: 1 << 16, ..limits() };
        let fields = "a: b\r\n".repeat(101);
        let head = format!("GET / HTTP/1.1\r\n{fields}\r\n");
        let refused = Intake::default().take(head.as_bytes(), &GUARD, &many, 0).unwrap_err();
        assert_eq!(refused.0, 431);
        many.head = 201;
        let mut dribble = Intake::default();
        let refused = b"GET /".iter().chain(std::iter::repeat(&b'x')).position(|byte| {
            dribble.take(&[*byte], &GUARD, &many, 0).is_err_and(|(status, _)| status == 431)
        });
        assert_eq!(refused, Some(201));
    }

    #[test]
    fn chunks_that_lie_are_refused() {
        let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        for (want, body) in [
            (400, "\r\n"),
            (400, "x\r\n"),
            (400, "-1\r\n"),
            (400, "3\nabc\r\n"),
            (400, "2\r\nabc\r\n"),
            (400, "3\r\nabc\n0\r\n"),
            (400, "11111111111111111\r\n"),
            (413, "fffffffffffffff\r\n"),
            (413, "15\r\n"),
            (413, "14\r\n01234567890123456789\r\n1\r\n"),
        ] {
            assert_eq!(status(&format!("{chunked}{body}")), want, "{body}");
        }
        assert_eq!(status(&format!("{chunked}1;{}", "x".repeat(LINE))), 400);
        let trailers = "a: b\r\n".repeat(40);
        assert_eq!(status(&format!("{chunked}0\r\n{trailers}")), 431);
        assert_eq!(all(format!("{chunked}3\r\nab").as_bytes()), Ok(Step::More));
    }

    #[test]
    fn a_body_that_finds_no_room_is_sent_away() {
        let head = b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n";
        let mut intake = Intake::default();
        assert_eq!(intake.take(head, &GUARD, &limits(), 5), Ok(Step::More));
        assert_eq!(intake.take(b"12345", &GUARD, &limits(), 5), Ok(Step::More));
        assert_eq!(intake.held(), 5);
        assert_eq!(intake.take(b"6", &GUARD, &limits(), 5).unwrap_err().0, 503);
    }

    #[test]
    fn a_client_that_waits_is_told_to_go_on() {
        let head = "POST / HTTP/1.1\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n";
        assert_eq!(all(head.as_bytes()), Ok(Step::Continue));
        assert!(matches!(all(format!("{head}hi").as_bytes()), Ok(Step::Whole(_))));
        let empty = head.replace(": 2", ": 0");
        assert!(matches!(all(empty.as_bytes()), Ok(Step::Whole(_))));
        let old = head.replace("1.1", "1.0");
        assert_eq!(all(old.as_bytes()), Ok(Step::More));
    }
}
