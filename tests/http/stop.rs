//! The end: what is in flight is finished, what is not whole is let go.

use std::net::TcpStream;
use std::time::Duration;

use super::harness::{Server, get};

#[test]
fn a_stop_finishes_what_is_in_flight() {
    let server = Server::with(|settings| settings.workers = 1);
    let mut running = server.connect();
    running.send(get("/hold"));
    server.echo.wait_inside(1);
    let mut parked = server.connect();
    parked.send(get("/parked"));
    let mut idle = server.connect();
    let mut partial = server.connect();
    partial.send("GET /part");
    server.is_alive();
    server.ask_to_stop();
    assert_eq!(idle.read().status, 0);
    assert_eq!(partial.read().status, 503);
    assert!(TcpStream::connect(("127.0.0.1", server.port)).is_err());
    server.echo.open_gate();
    assert_eq!(running.read().body, "GET /hold  ");
    assert_eq!(parked.read().body, "GET /parked  ");
    let directory = server.directory.clone();
    assert_eq!(server.ended().unanswered, 0);
    assert!(!directory.exists());
}

#[test]
fn a_drain_does_not_take_forever() {
    let server = Server::limited(|limits| limits.drain = Duration::from_millis(100));
    let mut running = server.connect();
    running.send(get("/hold"));
    server.echo.wait_inside(1);
    server.ask_to_stop();
    assert_eq!(running.read().status, 0);
    assert_eq!(server.ended().unanswered, 1);
}
