//! Clients that lie, dawdle, or have no business here.

use std::time::Duration;

use super::harness::{Server, TOKEN, get};

#[test]
fn a_request_arrives_as_it_was_sent() {
    let server = Server::new();
    let got = server
        .raw("POST /a%20b?q=%41+c HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi");
    assert_eq!((got.status, got.body.as_str()), (200, "POST /a%20b q=%41+c hi"));
    assert_eq!(server.get("/v1/../../etc/passwd").body, "GET /v1/../../etc/passwd  ");
    let large = "y".repeat(300_000);
    let head = "PUT /l HTTP/1.1\r\nHost: localhost\r\n";
    let got = server.raw(format!("{head}Content-Length: 300000\r\n\r\n{large}"));
    assert_eq!(got.body, format!("PUT /l  {large}"));
    let chunks = format!("493E0\r\n{large}\r\n0\r\n\r\n");
    let got = server.raw(format!("{head}Transfer-Encoding: chunked\r\n\r\n{chunks}"));
    assert_eq!(got.body, format!("PUT /l  {large}"));
    assert_eq!(server.get("/large").body.len(), 8 << 20);
    let got = server.raw("BREW /tea HTTP/1.0\r\n\r\n");
    assert_eq!(got.body, "BREW /tea  ");
}

#[test]
fn a_client_that_waits_for_a_word_gets_it() {
    let server = Server::new();
    let mut client = server.connect();
    client.send(
        "POST /a HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n",
    );
    let mut word = [0; 25];
    std::io::Read::read_exact(&mut client.0, &mut word).unwrap();
    assert_eq!(&word, b"HTTP/1.1 100 Continue\r\n\r\n");
    client.send("ok");
    assert_eq!(client.read().body, "POST /a  ok");
}

#[test]
fn only_those_with_the_token_come_in_and_strangers_learn_nothing() {
    let server = Server::guarded();
    server.is_alive();
    let ask = |path: &str, more: &str| {
        server.raw(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n"))
    };
    let right = format!("Authorization: Bearer {TOKEN}\r\n");
    let wrong = right.replace("00", "01");
    assert_eq!(ask("/a", "").status, 401);
    assert_eq!(ask("/a", &wrong).status, 401);
    assert_eq!(ask("/a", "Content-Length: x\r\n").status, 401);
    assert_eq!(ask("/a", &right).status, 200);
    assert_eq!(ask("/a", &format!("{right}Origin: http://evil.test\r\n")).status, 403);
    assert_eq!(ask("/a", &format!("{right}Content-Length: x\r\n")).status, 400);
    let elsewhere = |path: &str, more: &str| {
        server.raw(format!("GET {path} HTTP/1.1\r\nHost: evil.test\r\n{more}\r\n")).status
    };
    assert_eq!(elsewhere("/a", ""), 401);
    assert_eq!(elsewhere("/a", &right), 403);
    assert_eq!(elsewhere("/health", ""), 403);
    // A body is not waited for before a stranger is turned away.
    let stranger = "POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n";
    assert_eq!(server.raw(stranger).status, 401);
    assert_eq!(*server.echo.seen.lock().unwrap(), ["/a"]);
}

#[test]
fn malformed_and_oversized_requests_are_told_why() {
    let server = Server::new();
    let head = "POST /a HTTP/1.1\r\nHost: localhost\r\n";
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n");
    for (want, bytes) in [
        (400, "nonsense\r\n\r\n".to_owned()),
        (400, "GET /a\0b HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned()),
        (400, "GET /a HTTP/1.1\r\n\r\n".to_owned()),
        (400, format!("{head}Content-Length: two\r\n\r\n")),
        (400, format!("{head}Content-Length: 1\r\nContent-Length: 2\r\n\r\n")),
        (413, format!("{head}Content-Length: 67108865\r\n\r\n")),
        (501, format!("{head}Transfer-Encoding: gzip\r\n\r\n")),
        (400, format!("{chunked}zz\r\n")),
        (400, format!("{chunked}1\r\nabc\r\n")),
        (413, format!("{chunked}4000001\r\n")),
        (431, get(&format!("/v1/atoms/{}", "i".repeat(64 << 10)))),
        (431, format!("{head}A: {}", "x".repeat(70_000))),
    ] {
        assert_eq!(server.raw(&bytes).status, want, "{}", &bytes[..bytes.len().min(99)]);
    }
    // An id that just fits comes through.
    let id = "i".repeat(65_000);
    assert_eq!(server.get(&format!("/{id}")).body, format!("GET /{id}  "));
    assert_eq!(server.echo.seen.lock().unwrap().len(), 1);
}

#[test]
fn the_reply_to_a_flood_still_reaches_its_sender() {
    let server = Server::limited(|limits| limits.body = 1000);
    let mut client = server.connect();
    client.send("POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4000000\r\n\r\n");
    client.send("z".repeat(4_000_000));
    assert_eq!(client.read().status, 413);
}

#[test]
fn slow_clients_are_given_up_and_hold_up_nobody() {
    let server = Server::limited(|limits| limits.request = Duration::from_millis(200));
    let mut silent = server.connect();
    let mut head = server.connect();
    head.send("GET /slow HT");
    let mut body = server.connect();
    body.send("POST /slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n123");
    let mut chunks = server.connect();
    chunks
        .send("POST /slow HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n1");
    server.is_alive();
    assert_eq!(server.get("/quick").status, 200);
    assert_eq!(silent.read().status, 0);
    for client in [&mut head, &mut body, &mut chunks] {
        assert_eq!(client.read().status, 408);
    }
    assert_eq!(*server.echo.seen.lock().unwrap(), ["/quick"]);
}

#[test]
fn a_reader_that_never_reads_holds_no_worker() {
    let server = Server::with(|settings| settings.workers = 1);
    let idle: Vec<_> = (0..3)
        .map(|_| {
            let mut client = server.connect();
            client.send(get("/large"));
            client
        })
        .collect();
    assert_eq!(server.get("/quick").body, "GET /quick  ");
    for mut client in idle {
        assert_eq!(client.read().body.len(), 8 << 20);
    }
}

#[test]
fn a_pipelined_second_request_is_ignored() {
    let server = Server::new();
    let got = server.raw(format!("{}{}", get("/first"), get("/second")));
    assert_eq!(got.body, "GET /first  ");
    assert_eq!(*server.echo.seen.lock().unwrap(), ["/first"]);
}

#[test]
fn a_panic_is_one_requests_failure() {
    let server = Server::with(|settings| settings.workers = 1);
    for _ in 0..3 {
        assert_eq!(server.get("/panic").status, 500);
    }
    assert_eq!(server.get("/a").status, 200);
}
