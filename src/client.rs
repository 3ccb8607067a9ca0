//! A writer, asked over HTTP: the client side of the route table.
//!
//! `PACKSET_URL` names the writer (`INSIDE_MEMORY_URL` is another name for it); unset, nothing of
//! this is used. Not here: what a request means, starting a writer. Invariants: nothing is sent
//! anywhere but to the address that was named; the token of a home goes to no other machine and
//! to no other user's process; a write is sent again only when the writer said that it did nothing.

use std::path::Path;
use std::time::{Duration, Instant};

use packset_segments::vfs::Vfs;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use ureq::http::Response;
use ureq::{Agent, Body};

use crate::cli::{Env, Failure, FailureKind};
use crate::desk::route::Method;
use crate::desk::{Desk, Given, Route};

/// What stands for itself in a path: RFC 3986, 2.3.
const ID: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// How long one request may take unless `PACKSET_TIMEOUT_MS` says (the page).
const TIMEOUT: Duration = Duration::from_secs(30);
/// How long a search that reranks may take at least (observed).
const RERANK_TIMEOUT: Duration = Duration::from_secs(60);
/// How long to wait before a busy writer is asked again (the page).
const AGAIN: [Duration; 3] =
    [Duration::from_millis(50), Duration::from_millis(150), Duration::from_millis(450)];

/// Where requests are answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// On the files: nothing names a writer.
    Files,
    /// Nowhere: `PACKSET_URL` is `off`.
    Off,
    /// By the writer at this URL, without a slash at its end.
    Writer(String),
}

impl Address {
    /// What the environment says.
    pub fn of(env: &Env) -> Self {
        let named = env.get("PACKSET_URL").or_else(|| env.get("INSIDE_MEMORY_URL"));
        match named.map(str::trim).filter(|named| !named.is_empty()) {
            None => Self::Files,
            Some(off) if off.eq_ignore_ascii_case("off") => Self::Off,
            Some(url) => Self::Writer(url.trim_end_matches('/').to_owned()),
        }
    }
}

/// Has a request answered: on the files, or by the writer that `PACKSET_URL` names.
///
/// # Errors
/// What the desk or the writer says; with `PACKSET_URL=off`, that.
pub fn ask(desk: &Desk, route: &'static Route, given: Given) -> Result<Value, Failure> {
    match Address::of(&desk.env) {
        Address::Files => match warm_writer(desk, route) {
            None => (route.answer)(desk, given),
            Some(url) => {
                let home = desk.home().ok();
                Client::new(&url, &desk.env, home.as_deref(), &*desk.vfs).ask(route, given)
            }
        },
        Address::Off => Err(Failure::new(FailureKind::Refused, "PACKSET_URL is off")
            .hint("unset it to work on the files, or name a writer")),
        Address::Writer(url) => {
            let home = desk.home().ok();
            Client::new(&url, &desk.env, home.as_deref(), &*desk.vfs).ask(route, given)
        }
    }
}

/// Whether a request will load a model in this very process: the one that is in use, or the one that
/// it names.
pub fn loads_a_model(desk: &Desk, route: &Route, named: bool) -> bool {
    let here = Address::of(&desk.env) == Address::Files && (named || desk.encoders().are_there());
    here && warm_writer(desk, route).is_none()
}

/// The home's own writer, if it is up and the request needs a model: there it is loaded already,
/// and a process of its own would take seconds to do it again.
#[cfg(unix)]
fn warm_writer(desk: &Desk, route: &Route) -> Option<String> {
    use crate::lifecycle::{State, find};
    if desk.is_warm() || !route.asks_a_model() || !desk.encoders().are_there() {
        return None;
    }
    match find(&*desk.vfs, &desk.home().ok()?) {
        Ok(State::Up(writer)) if writer.port.is_some() => Some(writer.url),
        _ => None,
    }
}

#[cfg(not(unix))]
fn warm_writer(_: &Desk, _: &Route) -> Option<String> {
    None
}

/// A writer that can be asked.
pub struct Client<'a> {
    url: &'a str,
    env: &'a Env,
    home: Option<&'a Path>,
    vfs: &'a dyn Vfs,
}

impl<'a> Client<'a> {
    /// A client of the writer at `url`; `home` is where its token lies if the environment names
    /// none.
    pub fn new(url: &'a str, env: &'a Env, home: Option<&'a Path>, vfs: &'a dyn Vfs) -> Self {
        Self { url, env, home, vfs }
    }

    /// Has a request answered, with its whole envelope where the writer has one.
    ///
    /// # Errors
    /// What the writer refuses, as it would be refused on the files; a writer that cannot be
    /// reached.
    pub fn ask(&self, route: &Route, given: Given) -> Result<Value, Failure> {
        let slow = given.flag("rerank");
        let budget = self.budget(slow)?;
        let method = route.methods.first().copied().unwrap_or(Method::Get);
        let mut given = given.0;
        let mut url = format!("{}{}", self.url, route.path);
        if route.path.contains("{id}") {
            let id = given.shift_remove("id").unwrap_or_default();
            let id = id.as_str().unwrap_or_default();
            url = url.replace("{id}", &utf8_percent_encode(id, ID).to_string());
        }
        let mut query = form_urlencoded::Serializer::new(String::new());
        if !route.part.is_empty() {
            query.append_pair("envelope", "1");
        }
        if method == Method::Get {
            for (name, value) in &given {
                query.append_pair(name, &spelled(value));
            }
        }
        let shown = url.clone();
        let query = query.finish();
        if !query.is_empty() {
            url = format!("{url}?{query}");
        }
        let body = (method != Method::Get).then(|| Value::Object(given).to_string());
        let token = self.token()?;
        let began = Instant::now();
        for wait in AGAIN.into_iter().map(Some).chain([None]) {
            let left = budget.saturating_sub(began.elapsed());
            let answer = self.send(method, &url, body.as_deref(), token.as_deref(), left);
            let mut answer = answer.map_err(|error| self.unreachable(&error))?;
            let status = answer.status().as_u16();
            if status == 503
                && let Some(wait) = wait.filter(|wait| began.elapsed() + *wait < budget)
            {
                std::thread::sleep(wait);
                continue;
            }
            let said = answer.body_mut().with_config().limit(u64::MAX).read_to_string();
            let said = said.map_err(|error| self.unreachable(&error))?;
            return match status {
                200 => unwrapped(route, &said, &shown),
                _ => Err(refused(status, &said, &shown)),
            };
        }
        Err(Failure::new(FailureKind::Busy, format!("{} is busy", self.url)))
    }

    fn send(
        &self,
        method: Method,
        url: &str,
        body: Option<&str>,
        token: Option<&str>,
        left: Duration,
    ) -> Result<Response<Body>, ureq::Error> {
        let agent: Agent = Agent::config_builder()
            .timeout_global(Some(left.max(Duration::from_millis(1))))
            .http_status_as_error(false)
            // A redirect would carry the token elsewhere; a proxy would see it.
            .max_redirects(0)
            .proxy(None)
            .user_agent(concat!("packset/", env!("CARGO_PKG_VERSION")))
            .build()
            .into();
        let mut request = ureq::http::Request::builder().method(method.name()).uri(url);
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        match body {
            Some(body) => agent.run(request.header("content-type", "application/json").body(body)?),
            None => agent.run(request.body(())?),
        }
    }

    fn budget(&self, slow: bool) -> Result<Duration, Failure> {
        let named = match self.env.get("PACKSET_TIMEOUT_MS") {
            None => TIMEOUT,
            Some(text) => text.trim().parse().map(Duration::from_millis).map_err(|_| {
                Failure::usage(format!("PACKSET_TIMEOUT_MS is no number: {text}"))
                    .hint("give it in milliseconds, or unset it")
            })?,
        };
        Ok(if slow { named.max(RERANK_TIMEOUT) } else { named })
    }

    /// The token to show: `PACKSET_TOKEN`, the first line of `PACKSET_TOKEN_FILE`, or that of the
    /// home, which goes to our own processes on this machine alone.
    fn token(&self) -> Result<Option<String>, Failure> {
        if let Some(token) = self.env.get("PACKSET_TOKEN") {
            return Ok(Some(token.trim().to_owned()));
        }
        let (path, named) = match (self.env.path("PACKSET_TOKEN_FILE"), self.home) {
            (Some(path), _) => (path.to_owned(), true),
            (None, Some(home)) if self.is_ours() => (home.join("token"), false),
            (None, _) => return Ok(None),
        };
        match self.vfs.read(&path) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                let line = text.lines().next().unwrap_or_default().trim().to_owned();
                Ok(Some(line).filter(|line| !line.is_empty()))
            }
            Err(_) if !named => Ok(None),
            Err(error) => Err(Failure::new(
                FailureKind::Io,
                format!("cannot read PACKSET_TOKEN_FILE {}: {error}", path.display()),
            )),
        }
    }

    /// Whether the address is this machine's and what listens there is not another user's.
    fn is_ours(&self) -> bool {
        let Some(port) = loopback_port(self.url) else { return false };
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| {
            let bytes = self.vfs.read(Path::new(table)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let listeners = tables.iter().flat_map(|table| table.lines());
        let owners: Vec<u32> = listeners.filter_map(|line| owner_of_listener(line, port)).collect();
        // Where the system does not tell, the loopback address must do.
        owners.is_empty() || owners.contains(&own_uid(self.vfs))
    }

    fn unreachable(&self, error: &ureq::Error) -> Failure {
        Failure::new(FailureKind::Io, format!("http: {}: {error}", self.url))
            .hint("`packset ensure` starts the writer; without PACKSET_URL the files are used")
    }
}

/// A value as a query spells it.
fn spelled(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(flag) => u8::from(*flag).to_string(),
        Value::Array(items) => items.iter().map(spelled).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// An answer; one that came without its envelope is put into one.
fn unwrapped(route: &Route, said: &str, shown: &str) -> Result<Value, Failure> {
    let answer: Value = serde_json::from_str(said).map_err(|_| {
        Failure::new(FailureKind::Data, format!("bad response: {shown}: it is no JSON"))
    })?;
    if route.part.is_empty() || answer.get(route.part).is_some() {
        return Ok(answer);
    }
    let mut envelope = crate::pack::Record::new();
    envelope.insert("workspace".into(), answer.get("workspace").cloned().unwrap_or_default());
    envelope.insert(route.part.into(), answer);
    Ok(envelope.into())
}

/// A refusal, as the same request would be refused on the files.
fn refused(status: u16, said: &str, shown: &str) -> Failure {
    let answer: Value = serde_json::from_str(said).unwrap_or_default();
    let text = |name: &str| answer.get(name).and_then(Value::as_str);
    let kind = text("kind").and_then(FailureKind::named).unwrap_or(match status {
        403 => FailureKind::Forbidden,
        404 => FailureKind::Missing,
        409 => FailureKind::Conflict,
        413 => FailureKind::Long,
        503 => FailureKind::Busy,
        500..600 => FailureKind::Io,
        _ => FailureKind::Refused,
    });
    let failure = match text("error") {
        Some(error) if status != 401 => Failure::new(kind, error),
        error => {
            let error = error.unwrap_or("no reason given");
            Failure::new(kind, format!("bad response: {shown}: {status}: {error}"))
        }
    };
    match (status, text("hint")) {
        (401, _) => failure.hint(
            "the writer has another token: it may serve another home; see PACKSET_HOME, PACKSET_TOKEN",
        ),
        (_, Some(hint)) => failure.hint(hint),
        _ => failure,
    }
}

/// The port of a URL that names this machine.
pub(crate) fn loopback_port(url: &str) -> Option<u16> {
    let rest = url.strip_prefix("http://")?;
    let authority = rest.split(['/', '?']).next()?;
    let (host, port) = authority.rsplit_once(':').unwrap_or((authority, "80"));
    matches!(host, "127.0.0.1" | "localhost" | "[::1]").then(|| port.parse().ok())?
}

/// The user whose socket a line of `/proc/net/tcp` shows, if it listens on the port.
fn owner_of_listener(line: &str, port: u16) -> Option<u32> {
    const LISTEN: &str = "0A";
    let mut fields = line.split_whitespace().skip(1);
    let local = fields.next()?;
    let state = fields.nth(1)?;
    let its = u16::from_str_radix(local.rsplit_once(':')?.1, 16).ok()?;
    // After the state: queues, timer, retransmits, then the user.
    let owner = fields.nth(3)?.parse().ok()?;
    (state == LISTEN && its == port).then_some(owner)
}

/// The user that we run as; the system's own file says it.
fn own_uid(vfs: &dyn Vfs) -> u32 {
    let status = vfs.read(Path::new("/proc/self/status")).unwrap_or_default();
    let status = String::from_utf8_lossy(&status);
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    let effective = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
    effective.unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::route;

    fn address(vars: &[(&str, &str)]) -> Address {
        Address::of(&Env::new([""; 0], vars.iter().copied(), None))
    }

    #[test]
    fn where_requests_go() {
        let writer = |url: &str| Address::Writer(url.to_owned());
        assert_eq!(address(&[]), Address::Files);
        assert_eq!(address(&[("PACKSET_URL", " ")]), Address::Files);
        assert_eq!(address(&[("PACKSET_URL", "OFF")]), Address::Off);
        assert_eq!(address(&[("INSIDE_MEMORY_URL", "off")]), Address::Off);
        assert_eq!(address(&[("PACKSET_URL", "http://h:1//")]), writer("http://h:1"));
        let both = [("INSIDE_MEMORY_URL", "http://b"), ("PACKSET_URL", "http://a")];
        assert_eq!(address(&both), writer("http://a"));
    }

    #[test]
    fn the_token_stays_on_this_machine() {
        for (url, port) in [
            ("http://127.0.0.1:8761", Some(8761)),
            ("http://localhost:1/x", Some(1)),
            ("http://[::1]:99", Some(99)),
            ("http://127.0.0.1", Some(80)),
            ("http://127.0.0.1.evil.org:80", None),
            ("http://example.org:8761", None),
            ("http://127.0.0.1@evil.org:80", None),
            ("https://127.0.0.1:8761", None),
        ] {
            assert_eq!(loopback_port(url), port, "{url}");
        }
    }

    #[test]
    fn a_listener_is_known_by_its_line() {
        // As Linux prints it: 0x2239 is 8761.
        let line = "   0: 0100007F:2239 00000000:0000 0A 00000000:00000000 00:00000000 00000000  \
                    1000        0 12345 1 0000000000000000 100 0 0 10 0";
        assert_eq!(owner_of_listener(line, 8761), Some(1000));
        assert_eq!(owner_of_listener(line, 8762), None);
        assert_eq!(owner_of_listener(&line.replace(" 0A ", " 01 "), 8761), None);
        assert_eq!(owner_of_listener("  sl  local_address rem_address", 8761), None);
    }

    #[test]
    fn a_refusal_comes_back_as_it_was() {
        let said = r#"{"error":"no current atom x","kind":"refused","hint":"look"}"#;
        let failure = refused(400, said, "http://h/v1/grade");
        assert_eq!(failure.to_string(), "packset: no current atom x\nhint: look");
        assert_eq!(refused(409, "{\"error\":\"e\"}", "u").kind, FailureKind::Conflict);
        assert_eq!(refused(502, "<html>", "u").kind, FailureKind::Io);
        let strange = refused(401, r#"{"error":"no"}"#, "http://h/v1/x").to_string();
        assert!(strange.starts_with("packset: bad response: http://h/v1/x: 401: no\nhint: "));
    }

    #[test]
    fn a_bare_record_is_put_into_an_envelope() {
        let bare = r#"{"id":"a","workspace":"w"}"#;
        let answer = unwrapped(&route::GRADE, bare, "u").unwrap();
        assert_eq!(answer["record"]["id"], "a");
        assert_eq!(answer["workspace"], "w");
        let whole = r#"{"record":{"id":"a"},"generation":3}"#;
        assert_eq!(unwrapped(&route::GRADE, whole, "u").unwrap()["generation"], 3);
        assert!(unwrapped(&route::GRADE, "<html>", "u").is_err());
    }
}
