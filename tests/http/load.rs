//! More clients than there is room for.

use std::sync::atomic::Ordering;

use super::harness::{Client, Server, get};

fn held(server: &Server, path: &str, count: usize) -> Vec<Client> {
    (0..count)
        .map(|_| {
            let mut client = server.connect();
            client.send(get(path));
            client
        })
        .collect()
}

#[test]
fn health_answers_behind_a_thousand_idle_clients() {
    let server = Server::new();
    let idle: Vec<Client> = (0..1000).map(|_| server.connect()).collect();
    server.is_alive();
    assert_eq!(server.get("/a").status, 200);
    drop(idle);
    server.is_alive();
}

#[test]
fn past_the_bound_the_oldest_idle_connection_goes() {
    let server = Server::limited(|limits| limits.open = 3);
    let mut idle: Vec<Client> = (0..3).map(|_| server.connect()).collect();
    server.is_alive();
    assert_eq!(idle.remove(0).read().status, 0);
    let mut youngest = idle.pop().unwrap();
    youngest.send(get("/b"));
    assert_eq!(youngest.read().body, "GET /b  ");
}

#[test]
fn a_full_lane_says_503_and_health_says_busy() {
    let server = Server::with(|settings| {
        settings.workers = 2;
        settings.queue = 2;
    });
    let mut running = held(&server, "/hold", 1);
    server.echo.wait_inside(1);
    // One worker stays free for what is cheap, and writes need none.
    assert_eq!(server.get("/cheap").status, 200);
    assert_eq!(server.get("/write").status, 200);
    let mut parked = held(&server, "/parked", 2);
    for _ in 0..6000 {
        if server.get("/health").body == "packsetd ok, busy" {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let refused = server.get("/refused");
    assert_eq!(refused.status, 503);
    assert!(refused.head.contains("\r\nRetry-After: 1"), "{}", refused.head);
    let health = server.get("/health");
    assert_eq!((health.status, health.body.as_str()), (200, "packsetd ok, busy"));
    server.echo.open_gate();
    for client in running.iter_mut().chain(&mut parked) {
        assert_eq!(client.read().status, 200);
    }
    server.is_alive();
    let seen = server.echo.seen.lock().unwrap();
    assert!(!seen.iter().any(|path| path == "/refused"), "{seen:?}");
}

#[test]
fn sixty_four_writes_wait_together_without_a_worker() {
    let server = Server::with(|settings| settings.workers = 1);
    let mut writes = held(&server, "/hold/write", 70);
    server.echo.wait_inside(64);
    assert_eq!(server.get("/read").status, 200);
    assert_eq!(server.echo.inside.load(Ordering::SeqCst), 64);
    server.echo.open_gate();
    for client in &mut writes {
        assert_eq!(client.read().status, 200);
    }
}

#[test]
fn a_client_that_left_before_its_turn_is_dropped_unexecuted() {
    let server = Server::with(|settings| settings.workers = 1);
    let mut running = held(&server, "/hold", 1);
    server.echo.wait_inside(1);
    let mut half = held(&server, "/half", 1).remove(0);
    half.leave();
    // The door closes the other half when it has seen that the client is gone.
    assert_eq!(half.read().status, 0);
    let mut after = held(&server, "/after", 1);
    server.echo.open_gate();
    assert_eq!(running[0].read().status, 200);
    assert_eq!(after[0].read().status, 200);
    assert_eq!(*server.echo.seen.lock().unwrap(), ["/hold", "/after"]);
}

#[test]
fn a_client_that_leaves_with_its_last_byte_is_dropped_too() {
    let server = Server::with(|settings| settings.workers = 1);
    let mut running = held(&server, "/hold", 1);
    server.echo.wait_inside(1);
    let mut half = server.connect();
    half.send("GET /half HTTP/1.1\r\n");
    // Long enough for the door to have read the beginning and to wait for the rest: the last byte
    // and the end then reach it as one event.
    std::thread::sleep(std::time::Duration::from_millis(50));
    half.send("Host: localhost\r\n\r\n");
    half.leave();
    assert_eq!(half.read().status, 0);
    server.echo.open_gate();
    assert_eq!(running[0].read().status, 200);
    assert_eq!(*server.echo.seen.lock().unwrap(), ["/hold"]);
}
