//! How fast the transport alone is: run by hand, in a release build.

use std::time::Instant;

use super::harness::{Server, get};

#[test]
#[ignore = "a measurement, not a proof"]
fn eight_clients_for_two_seconds() {
    let server = Server::guarded();
    let request = get("/search?q=x").replace(
        "\r\n\r\n",
        &format!("\r\nAuthorization: Bearer {}\r\n\r\n", super::harness::TOKEN),
    );
    let start = Instant::now();
    let total: usize = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let mut done = 0;
                    while start.elapsed().as_secs() < 2 {
                        assert_eq!(server.raw(&request).status, 200);
                        done += 1;
                    }
                    done
                })
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap()).sum()
    });
    println!("{:.0} requests a second", total as f64 / start.elapsed().as_secs_f64());
}
