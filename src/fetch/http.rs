//! One question to a server: a URL, and from which byte on.
//!
//! Redirects are followed here and not by the client, because a hub says the sum of a file in the
//! answer that leads away from it. Not here: what is done with the bytes, asking again. Invariants:
//! without leave of the environment there is no [`Http`]; from `https` no redirect leads to less;
//! no password of a proxy is said back; nobody is waited for longer than `STALL`.

use std::fmt;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use packset_segments::vfs::Vfs;
use ureq::http::{HeaderMap, Request, Uri};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Proxy};

use super::{Error, Result};
use crate::cli::Env;

/// The variables of which each forbids a fetch (the page).
const OFFLINE: [&str; 2] = ["LJOS_OFFLINE", "HF_HUB_OFFLINE"];
/// How long a connection may take to come about: what a far server on a bad line needs.
const CONNECT: Duration = Duration::from_secs(15);
/// How long a server may send nothing: the same for a line that stalls, and generous, because what
/// is here already stays.
const STALL: Duration = Duration::from_secs(30);
/// Redirects that are followed: twice what a hub with its content network uses, and few enough to
/// notice a circle.
const REDIRECTS: usize = 8;
/// The variables that name a proxy for a scheme, the first that is set counts; curl's order.
const PROXIES: [(&str, [&str; 4]); 2] = [
    ("https", ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]),
    ("http", ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]),
];

/// The variable that forbids fetching, if one does.
pub fn offline(env: &Env) -> Option<&'static str> {
    let yes =
        |text: &str| ["1", "true", "yes", "on"].iter().any(|yes| text.eq_ignore_ascii_case(yes));
    OFFLINE.into_iter().find(|name| env.get(name).is_some_and(|text| yes(text.trim())))
}

/// Who asks servers.
pub struct Http {
    https: Route,
    http: Route,
}

/// How URLs of one scheme are asked for.
struct Route {
    agent: Agent,
    proxy: Option<Proxy>,
}

/// What a server answered.
pub struct Answer {
    /// 200 or 206, or 416 when there is nothing from the byte on.
    pub status: u16,
    /// The sha256 of the whole file, if the server says it.
    pub sum: Option<String>,
    /// What tells this content of the URL from others, if the server says it and vouches for every
    /// byte.
    pub tag: Option<String>,
    /// The first byte of the file that comes.
    pub from: u64,
    /// The bytes of the whole file, if the server says it.
    pub total: Option<u64>,
    /// The bytes.
    pub body: Box<dyn Read + Send>,
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { status, sum, tag, from, total, .. } = self;
        write!(f, "{status} {sum:?} {tag:?} {from} of {total:?}")
    }
}

impl Http {
    /// As the environment has it: the proxies, and `SSL_CERT_FILE` for who is trusted in the place
    /// of the authorities that browsers trust.
    ///
    /// # Errors
    /// [`Error::Offline`], or a variable that is of no use.
    pub fn new(env: &Env, vfs: &dyn Vfs) -> Result<Self> {
        if let Some(name) = offline(env) {
            return Err(Error::Offline(name));
        }
        let roots = roots(env, vfs)?;
        let route = |scheme| {
            let proxy = proxy(env, scheme)?;
            let agent = Agent::config_builder()
                .http_status_as_error(false)
                .max_redirects(0)
                .https_only(scheme == "https")
                .proxy(proxy.clone())
                .tls_config(TlsConfig::builder().root_certs(roots.clone()).build())
                .timeout_connect(Some(CONNECT))
                .timeout_recv_response(Some(STALL))
                .timeout_per_read(Some(STALL))
                .timeout_per_write(Some(STALL))
                .user_agent(concat!("packset/", env!("CARGO_PKG_VERSION")))
                .build()
                .into();
            Ok::<_, Error>(Route { agent, proxy })
        };
        Ok(Self { https: route("https")?, http: route("http")? })
    }

    /// Asks for a URL, from a byte on if there is one: then only as long as its content is still
    /// the one with the tag.
    ///
    /// # Errors
    /// No answer, or one that brings no file.
    pub fn get(&self, url: &str, from: u64, tag: Option<&str>) -> Result<Answer> {
        let mut at = url.to_owned();
        let mut sum = None;
        for _ in 0..REDIRECTS {
            let route = self.route(&at)?;
            // Packed bytes have no ranges and another sum.
            let mut request = Request::get(&at).header("accept-encoding", "identity");
            if from > 0 {
                request = request.header("range", format!("bytes={from}-"));
                if let Some(tag) = tag {
                    request = request.header("if-range", tag);
                }
            }
            let request = request.body(()).map_err(|error| redirect(url, error.to_string()))?;
            let response =
                route.agent.run(request).map_err(|error| unreachable(&at, route, &error))?;
            let status = response.status().as_u16();
            let headers = response.headers();
            sum = sum.or_else(|| header(headers, "x-linked-etag").and_then(sum_of_tag));
            match status {
                301 | 302 | 303 | 307 | 308 => {
                    let to = header(headers, "location")
                        .ok_or_else(|| redirect(url, format!("{status} without a location")))?;
                    let next = joined(&at, to);
                    if at.starts_with("https:") && !next.starts_with("https:") {
                        return Err(redirect(url, "it leads away from https".into()));
                    }
                    at = next;
                }
                200 | 206 | 416 => {
                    // A content network tags as it likes: only who was asked is believed.
                    let own = host(url) == host(&at);
                    let tag = header(headers, "etag");
                    let sum = sum.or_else(|| tag.filter(|_| own).and_then(sum_of_tag));
                    let tag = tag.filter(|tag| tag.starts_with('"')).map(str::to_owned);
                    let length = header(headers, "content-length").and_then(|n| n.parse().ok());
                    let (from, total) = match status {
                        200 => (0, length),
                        _ => header(headers, "content-range").map_or((0, None), range),
                    };
                    let body = response.into_body().into_with_config().limit(u64::MAX).reader();
                    return Ok(Answer { status, sum, tag, from, total, body: Box::new(body) });
                }
                404 | 410 => return Err(Error::Missing { url: url.to_owned() }),
                _ => {
                    let after = header(headers, "retry-after").and_then(|n| n.parse().ok());
                    return Err(Error::Status { url: url.to_owned(), status, after });
                }
            }
        }
        Err(redirect(url, format!("more than {REDIRECTS} redirects")))
    }

    fn route(&self, url: &str) -> Result<&Route> {
        if url.starts_with("https://") {
            Ok(&self.https)
        } else if url.starts_with("http://") {
            Ok(&self.http)
        } else {
            Err(redirect(url, "it is neither http nor https".into()))
        }
    }
}

fn redirect(url: &str, why: String) -> Error {
    Error::Redirect { url: url.to_owned(), why }
}

fn unreachable(url: &str, route: &Route, error: &ureq::Error) -> Error {
    let uri: Option<Uri> = url.parse().ok();
    let by = |proxy: &&Proxy| uri.as_ref().is_none_or(|uri| !proxy.is_no_proxy(uri));
    let proxy = route.proxy.as_ref().filter(by);
    let proxy = proxy.map(|proxy| format!("{}:{}", proxy.host(), proxy.port()));
    // Nobody there, or nobody to be trusted: that is said at once. A line that drops is tried again.
    let (why, passing) = match error {
        ureq::Error::Io(error) => (error.to_string(), drops(error.kind())),
        ureq::Error::Timeout(_) => (format!("no answer ({error})"), true),
        ureq::Error::HostNotFound => ("no such host".into(), false),
        ureq::Error::ConnectProxyFailed(said) => (format!("it refuses: {said}"), false),
        error => (error.to_string(), false),
    };
    Error::Unreachable { url: url.to_owned(), proxy, why, passing }
}

fn drops(kind: std::io::ErrorKind) -> bool {
    use std::io::ErrorKind::{
        BrokenPipe, ConnectionAborted, ConnectionReset, TimedOut, UnexpectedEof,
    };
    matches!(kind, BrokenPipe | ConnectionAborted | ConnectionReset | TimedOut | UnexpectedEof)
}

/// The authorities that are trusted.
fn roots(env: &Env, vfs: &dyn Vfs) -> Result<RootCerts> {
    let Some(path) = env.path("SSL_CERT_FILE") else { return Ok(RootCerts::WebPki) };
    let setting = |why: String| Error::Setting {
        name: "SSL_CERT_FILE",
        value: path.to_string_lossy().into_owned(),
        why,
    };
    let bytes = vfs.read(path).map_err(|error| setting(error.to_string()))?;
    let mut certificates = Vec::new();
    for item in parse_pem(&bytes) {
        if let PemItem::Certificate(one) = item.map_err(|error| setting(error.to_string()))? {
            certificates.push(one);
        }
    }
    match certificates.is_empty() {
        true => Err(setting("it holds no certificate".into())),
        false => Ok(RootCerts::Specific(Arc::new(certificates))),
    }
}

/// The proxy for a scheme.
fn proxy(env: &Env, scheme: &str) -> Result<Option<Proxy>> {
    let names = PROXIES.iter().find(|(its, _)| *its == scheme).map(|(_, names)| names);
    let named = names.into_iter().flatten().find_map(|name| Some((*name, env.get(name)?)));
    let Some((name, value)) = named else { return Ok(None) };
    let unfit = |why: String| {
        // What stands before the host is a name and a password.
        let value = value.rsplit_once('@').map_or(value, |(_, host)| host);
        Error::Setting { name, value: value.to_owned(), why }
    };
    let plain = Proxy::new(value.trim()).map_err(|error| unfit(error.to_string()))?;
    let mut whole = Proxy::builder(plain.protocol()).host(plain.host()).port(plain.port());
    if let Some(user) = plain.username() {
        whole = whole.username(user);
    }
    if let Some(password) = plain.password() {
        whole = whole.password(password);
    }
    let past = env.get("no_proxy").or_else(|| env.get("NO_PROXY")).unwrap_or_default();
    for host in past.split(',').map(str::trim).filter(|host| !host.is_empty()) {
        whole = whole.no_proxy(host);
    }
    whole.build().map(Some).map_err(|error| unfit(error.to_string()))
}

fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// The sha256 that a hub writes as a tag. 64 hex digits are one; 40 are a git blob's SHA-1.
fn sum_of_tag(tag: &str) -> Option<String> {
    let digits = tag.trim_start_matches("W/").trim_matches('"');
    is_sum(digits).then(|| digits.to_ascii_lowercase())
}

/// Whether a text is a sha256 in hex.
pub(super) fn is_sum(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The first byte and the length of the whole: `bytes 5-9/10`, or `bytes */10`.
fn range(text: &str) -> (u64, Option<u64>) {
    let (part, whole) = text.trim_start_matches("bytes").trim().split_once('/').unwrap_or_default();
    let from = part.split_once('-').and_then(|(from, _)| from.trim().parse().ok());
    (from.unwrap_or_default(), whole.trim().parse().ok())
}

fn host(url: &str) -> Option<&str> {
    url.split_once("://")?.1.split(['/', '?', '#']).next()
}

/// Where a location leads, seen from a URL (RFC 3986, 5.2, without dot segments: no server of
/// files sends them).
fn joined(at: &str, to: &str) -> String {
    let (scheme, rest) = at.split_once("://").unwrap_or(("https", at));
    if to.contains("://") {
        return to.to_owned();
    }
    if to.starts_with("//") {
        return format!("{scheme}:{to}");
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if to.starts_with('/') {
        return format!("{scheme}://{authority}{to}");
    }
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    let dir = path.rsplit_once('/').map_or(authority, |(dir, _)| dir);
    format!("{scheme}://{dir}/{to}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Disk;

    fn env(vars: &[(&str, &str)]) -> Env {
        Env::new([""; 0], vars.iter().copied(), None)
    }

    #[test]
    fn offline_there_is_nobody_to_ask() {
        for (name, value, off) in [
            ("LJOS_OFFLINE", "1", true),
            ("LJOS_OFFLINE", "TRUE", true),
            ("HF_HUB_OFFLINE", " yes ", true),
            ("HF_HUB_OFFLINE", "on", true),
            ("HF_HUB_OFFLINE", "0", false),
            ("HF_HUB_OFFLINE", "", false),
            ("LJOS_OFFLINE", "off", false),
        ] {
            let http = Http::new(&env(&[(name, value)]), &Disk::default());
            match http {
                Err(Error::Offline(by)) => assert!(off && by == name, "{name}={value}"),
                other => assert!(!off && other.is_ok(), "{name}={value}"),
            }
        }
    }

    #[test]
    fn the_proxy_of_a_scheme() {
        let of = |vars: &[(&str, &str)], scheme: &str| {
            let proxy = proxy(&env(vars), scheme).unwrap();
            proxy.map(|proxy| format!("{}:{}", proxy.host(), proxy.port()))
        };
        let both = [("HTTPS_PROXY", "http://a:1"), ("ALL_PROXY", "http://b:2")];
        assert_eq!(of(&both, "https").as_deref(), Some("a:1"));
        assert_eq!(of(&both, "http").as_deref(), Some("b:2"));
        assert_eq!(of(&[("HTTPS_PROXY", "a")], "http"), None);
        let user = [("https_proxy", "http://me:secret@h:3"), ("NO_PROXY", "x.org, .in.x.org")];
        let proxy_of = proxy(&env(&user), "https").unwrap().unwrap();
        assert_eq!((proxy_of.username(), proxy_of.password()), (Some("me"), Some("secret")));
        assert!(proxy_of.is_no_proxy(&"https://x.org/y".parse().unwrap()));
        assert!(proxy_of.is_no_proxy(&"https://a.in.x.org/y".parse().unwrap()));
        assert!(!proxy_of.is_no_proxy(&"https://y.org/y".parse().unwrap()));
        let bad = proxy(&env(&[("HTTPS_PROXY", "gopher://me:secret@h:3")]), "https").unwrap_err();
        let said = bad.to_string();
        assert!(said.starts_with("HTTPS_PROXY is \"h:3\": ") && !said.contains("secret"), "{said}");
    }

    #[test]
    fn sums_and_ranges_of_headers() {
        let sum = "ab".repeat(32);
        assert_eq!(sum_of_tag(&format!("\"{sum}\"")), Some(sum.clone()));
        assert_eq!(sum_of_tag(&sum.to_ascii_uppercase()), Some(sum));
        assert_eq!(sum_of_tag(&format!("\"{}\"", "ab".repeat(20))), None, "a git blob");
        assert_eq!(sum_of_tag("\"5f3-abc\""), None);
        assert_eq!(range("bytes 5-9/10"), (5, Some(10)));
        assert_eq!(range("bytes */10"), (0, Some(10)));
        assert_eq!(range("bytes 5-9/*"), (5, None));
        assert_eq!(range("noise"), (0, None));
    }

    #[test]
    fn where_a_redirect_leads() {
        let at = "https://h.org:1/a/b?c=/d";
        for (to, want) in [
            ("http://x/y", "http://x/y"),
            ("//x/y", "https://x/y"),
            ("/y?z", "https://h.org:1/y?z"),
            ("y", "https://h.org:1/a/y"),
        ] {
            assert_eq!(joined(at, to), want);
        }
        assert_eq!(joined("http://h", "y"), "http://h/y");
        assert_eq!(host(at), Some("h.org:1"));
    }

    #[test]
    fn a_file_of_authorities_must_hold_some() {
        let mut disk = Disk::default();
        disk.file("/none.pem", "no certificate here");
        for path in ["/none.pem", "/missing.pem"] {
            let bad = roots(&env(&[("SSL_CERT_FILE", path)]), &disk).err().unwrap().to_string();
            assert!(bad.starts_with(&format!("SSL_CERT_FILE is {path:?}: ")), "{bad}");
        }
        assert!(roots(&env(&[]), &disk).is_ok());
    }
}
