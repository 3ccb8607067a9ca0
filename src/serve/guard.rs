//! Who is let in: the token, and the Host and Origin of whoever asks.
//!
//! The token keeps out other users and programs of the machine. Host and Origin keep out web pages
//! that the user's own browser shows: one that resolves its name to 127.0.0.1, or posts to us
//! blindly. The token comes first: clients prove a writer by asking it without one, and
//! anything but 401 means to them that it is not ours.
//!
//! Not here: how the token is kept on disk (`super::hold`). Invariants: every request but
//! `GET /health` needs the token if there is one; the comparison takes as long for a wrong token
//! as for a right one; no answer ever allows another origin.

use std::fmt;

use subtle::ConstantTimeEq;

/// Hex digits in a token: 256 bits.
pub(super) const TOKEN_DIGITS: usize = 64;

/// The secret that a client must show.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// From 64 lowercase hex digits.
    pub fn parse(text: &str) -> Option<Self> {
        let digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let whole = text.len() == TOKEN_DIGITS && text.bytes().all(digit);
        whole.then(|| Self(text.to_owned()))
    }

    /// The digits, for whoever sends or stores them.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn is(&self, shown: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(shown).into()
    }
}

impl fmt::Debug for Token {
    /// Not the digits: a log is no place for them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Why a request goes no further: the status, and what is said.
pub(super) type Refusal = (u16, &'static str);

/// Decides by the head of a request alone.
#[derive(Clone, Debug)]
pub struct Guard {
    /// What must be shown; none lets everybody in.
    pub token: Option<Token>,
    /// Whether clients come by a Unix socket, where there need be no Host.
    pub unix: bool,
}

/// What the guard looks at.
pub(super) struct Visitor<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    /// The authority of a request target in absolute form.
    pub(super) authority: Option<&'a str>,
    /// The minor version of HTTP/1.
    pub(super) minor: u8,
    pub(super) headers: &'a [httparse::Header<'a>],
}

impl Visitor<'_> {
    fn values(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        let named =
            self.headers.iter().filter(move |header| header.name.eq_ignore_ascii_case(name));
        named.map(|header| header.value)
    }

    pub(super) fn asks_for_health(&self) -> bool {
        self.method == "GET" && self.path == "/health"
    }
}

impl Guard {
    /// Whether the request may go on.
    pub(super) fn check(&self, visitor: &Visitor<'_>) -> Result<(), Refusal> {
        if !visitor.asks_for_health() && !self.proven(visitor) {
            return Err((401, "the token is missing or wrong"));
        }
        let mut hosts = visitor.values("Host").filter(|host| !host.is_empty());
        let host = hosts.next();
        if hosts.next().is_some() {
            return Err((400, "more than one Host"));
        }
        match host {
            None if visitor.minor > 0 && !self.unix => return Err((400, "Host is missing")),
            Some(host) if !is_local(host) => return Err((403, "this is not the Host it asks for")),
            _ => {}
        }
        if visitor.authority.is_some_and(|authority| !is_local(authority.as_bytes())) {
            return Err((403, "this is not the host it asks for"));
        }
        if !visitor.values("Origin").all(is_local_origin) {
            return Err((403, "other origins have no business here"));
        }
        Ok(())
    }

    fn proven(&self, visitor: &Visitor<'_>) -> bool {
        let Some(token) = &self.token else {
            return true;
        };
        let mut shown = visitor.values("Authorization");
        let (Some(value), None) = (shown.next(), shown.next()) else {
            return false;
        };
        let bare = value.strip_prefix(b"Bearer ").or_else(|| value.strip_prefix(b"bearer "));
        bare.is_some_and(|bare| token.is(bare))
    }
}

/// Whether a host, with or without a port, is this machine by a name that no one can redirect.
fn is_local(authority: &[u8]) -> bool {
    const NAMES: [&[u8]; 3] = [b"127.0.0.1", b"localhost", b"[::1]"];
    NAMES.iter().any(|name| {
        let Some((host, port)) = authority.split_at_checked(name.len()) else {
            return false;
        };
        host.eq_ignore_ascii_case(name)
            && match port.split_first() {
                None => true,
                Some((b':', digits)) => digits.iter().all(u8::is_ascii_digit),
                Some(_) => false,
            }
    })
}

fn is_local_origin(origin: &[u8]) -> bool {
    let bare = origin.strip_prefix(b"http://").or_else(|| origin.strip_prefix(b"https://"));
    bare.is_some_and(is_local)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGITS: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

    fn ask(
        guard: &Guard,
        (method, path, minor): (&str, &str, u8),
        headers: &[(&str, &str)],
    ) -> Option<u16> {
        let headers: Vec<httparse::Header<'_>> = headers
            .iter()
            .map(|&(name, value)| httparse::Header { name, value: value.as_bytes() })
            .collect();
        let visitor = Visitor { method, path, authority: None, minor, headers: &headers };
        guard.check(&visitor).err().map(|(status, _)| status)
    }

    #[test]
    fn a_token_is_64_lowercase_hex_digits_and_never_shown() {
        assert_eq!(Token::parse(DIGITS).unwrap().as_str(), DIGITS);
        for wrong in [&DIGITS[1..], &format!("{DIGITS}0"), &DIGITS.to_uppercase(), "", "g"] {
            assert_eq!(Token::parse(wrong), None, "{wrong}");
        }
        assert_eq!(format!("{:?}", Token::parse(DIGITS)), "Some(Token(..))");
    }

    #[test]
    fn the_token_is_asked_for_everywhere_but_at_health_and_first() {
        let guard = Guard { token: Token::parse(DIGITS), unix: false };
        let good = format!("Bearer {DIGITS}");
        let lower = format!("bearer {DIGITS}");
        let host = ("Host", "127.0.0.1:7071");
        for (value, want) in [
            (good.as_str(), None),
            (&lower, None),
            (&format!("BEARER {DIGITS}"), Some(401)),
            (&format!("Bearer  {DIGITS}"), Some(401)),
            (&format!("Bearer {DIGITS}0"), Some(401)),
            (&good[..good.len() - 1], Some(401)),
            (&good.replace("ff", "fe"), Some(401)),
            (DIGITS, Some(401)),
            ("", Some(401)),
        ] {
            let headers = [host, ("authorization", value)];
            assert_eq!(ask(&guard, ("GET", "/v1/status", 1), &headers), want, "{value}");
        }
        let health = ("GET", "/health", 1);
        assert_eq!(ask(&guard, health, &[host]), None);
        for (method, path) in [
            ("GET", "/"),
            ("GET", "/health/"),
            ("GET", "//health"),
            ("GET", "/Health"),
            ("GET", "/%68ealth"),
            ("POST", "/health"),
            ("HEAD", "/health"),
            ("get", "/health"),
            ("OPTIONS", "/v1/status"),
        ] {
            assert_eq!(ask(&guard, (method, path, 1), &[host]), Some(401), "{method} {path}");
        }
        // Two are none, and a wrong Host does not hide a missing token.
        let twice = [host, ("Authorization", good.as_str()), ("Authorization", good.as_str())];
        assert_eq!(ask(&guard, ("GET", "/x", 1), &twice), Some(401));
        assert_eq!(ask(&guard, ("GET", "/x", 1), &[("Host", "evil.test")]), Some(401));
        assert_eq!(ask(&guard, health, &[("Host", "evil.test")]), Some(403));
        let open = Guard { token: None, unix: false };
        assert_eq!(ask(&open, ("GET", "/x", 1), &[host]), None);
    }

    #[test]
    fn hosts_are_this_machine_only() {
        let guard = Guard { token: None, unix: false };
        for (host, want) in [
            ("127.0.0.1", None),
            ("127.0.0.1:1", None),
            ("LocalHost:7071", None),
            ("[::1]", None),
            ("[::1]:80", None),
            ("localhost:", None),
            ("localhost:80x", Some(403)),
            ("localhost.", Some(403)),
            ("localhost.evil.test", Some(403)),
            ("127.0.0.1.evil.test", Some(403)),
            ("127.0.0.12", Some(403)),
            ("127.0.0.1@evil.test", Some(403)),
            ("0.0.0.0", Some(403)),
            ("::1", Some(403)),
            ("evil.test", Some(403)),
            ("", Some(400)),
        ] {
            assert_eq!(ask(&guard, ("GET", "/x", 1), &[("HOST", host)]), want, "{host}");
        }
        let two = [("Host", "localhost"), ("Host", "localhost")];
        assert_eq!(ask(&guard, ("GET", "/x", 1), &two), Some(400));
        assert_eq!(ask(&guard, ("GET", "/x", 1), &[]), Some(400));
        assert_eq!(ask(&guard, ("GET", "/x", 0), &[]), None);
        let unix = Guard { token: None, unix: true };
        assert_eq!(ask(&unix, ("GET", "/x", 1), &[]), None);
        assert_eq!(ask(&unix, ("GET", "/x", 1), &[("Host", "")]), None);
        assert_eq!(ask(&unix, ("GET", "/x", 1), &[("Host", "evil.test")]), Some(403));
    }

    #[test]
    fn origins_are_this_machine_only() {
        let guard = Guard { token: None, unix: false };
        for (origin, want) in [
            ("http://localhost:3000", None),
            ("https://127.0.0.1", None),
            ("http://[::1]:9", None),
            ("http://evil.test", Some(403)),
            ("http://localhost.evil.test", Some(403)),
            ("null", Some(403)),
            ("", Some(403)),
            ("file://", Some(403)),
            ("chrome-extension://localhost", Some(403)),
        ] {
            let headers = [("Host", "localhost"), ("Origin", origin)];
            assert_eq!(ask(&guard, ("GET", "/x", 1), &headers), want, "{origin}");
        }
    }

    #[test]
    fn an_absolute_target_names_this_machine_too() {
        let guard = Guard { token: None, unix: true };
        for (authority, want) in [("localhost:1", Ok(())), ("evil.test", Err(403))] {
            let visitor = Visitor {
                method: "GET",
                path: "/x",
                authority: Some(authority),
                minor: 1,
                headers: &[],
            };
            assert_eq!(guard.check(&visitor).map_err(|(status, _)| status), want);
        }
    }
}
