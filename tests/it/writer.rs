//! The writer as its clients meet it: the real program, asked over real sockets, beside verbs that
//! work on the files.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Pack, mode};

/// A writer, killed when it is dropped.
struct Writer {
    child: Child,
    url: String,
    token: String,
}

impl Writer {
    fn start(pack: &Pack) -> Self {
        Self::with(pack, &["--port", "0"], &[])
    }

    #[expect(clippy::zombie_processes, reason = "it is waited for when it is dropped")]
    fn with(pack: &Pack, flags: &[&str], vars: &[(&str, &str)]) -> Self {
        let mut run = pack.run([&["serve"], flags].concat());
        run.command.envs(vars.iter().copied());
        run.command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = run.command.spawn().unwrap();
        let pid = u64::from(child.id());
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            // The file of the one before may still lie there.
            let said = fs::read(pack.home().join("serve.json")).unwrap_or_default();
            let said: Value = serde_json::from_slice(&said).unwrap_or_default();
            if said["pid"] == pid {
                let token = fs::read_to_string(pack.home().join("token")).unwrap_or_default();
                let url = said["url"].as_str().unwrap().to_owned();
                return Self { child, url, token: token.trim().to_owned() };
            }
            assert!(Instant::now() < until, "the writer does not come up");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        ask(&self.url, &self.token, method, path, body).expect("the writer answers")
    }

    fn get(&self, path: &str) -> Value {
        let (status, answer) = self.ask("GET", path, &Value::Null);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    fn post(&self, text: &str) -> (u16, Value) {
        let claim = json!({"kind": "lesson", "text": text, "workspace": "default"});
        self.ask("POST", "/v1/atoms", &claim)
    }

    /// Asks it to end, as `systemctl stop` does, and returns its exit code.
    fn end(mut self) -> Option<i32> {
        self.signal("-TERM");
        self.child.wait().unwrap().code()
    }

    fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let sent = std::process::Command::new("kill").args([signal, &pid]).status().unwrap();
        assert!(sent.success());
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One request over a connection of its own; none if it broke before the answer was whole.
fn ask(url: &str, token: &str, method: &str, path: &str, body: &Value) -> Option<(u16, Value)> {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut bytes = Vec::new();
    if let Some(path) = url.strip_prefix("unix:") {
        let mut stream = UnixStream::connect(path).ok()?;
        stream.write_all(request.as_bytes()).ok()?;
        stream.read_to_end(&mut bytes).ok()?;
    } else {
        let mut stream = TcpStream::connect(url.strip_prefix("http://")?).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(request.as_bytes()).ok()?;
        stream.read_to_end(&mut bytes).ok()?;
    }
    let text = String::from_utf8(bytes).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let length: usize = head.split("Content-Length: ").nth(1)?.lines().next()?.parse().ok()?;
    (body.len() == length).then(|| (status, serde_json::from_str(body).unwrap_or_default()))
}

#[test]
fn writer_and_verbs_see_each_others_writes_at_once() {
    let pack = Pack::new();
    let writer = Writer::start(&pack);
    let (status, stored) = writer.post("Port 80 is taken.");
    assert_eq!(status, 200);
    let ids: Vec<Value> = pack.atoms(&[]).iter().map(|atom| atom["id"].clone()).collect();
    assert_eq!(ids, [stored["id"].clone()]);
    let second = pack.remember("Ports below 1024 need root.");
    let hits = writer.get("/v1/search?workspace=default&q=root");
    assert_eq!(hits["hits"][0]["id"], *second);
    // Also a workspace that was dropped and made anew, which counts from one again.
    pack.ok(["forget", "default"]);
    let third = pack.remember("Another life of the workspace.");
    let atoms = writer.get("/v1/atoms?workspace=default");
    assert_eq!(atoms["atoms"].as_array().unwrap().len(), 1);
    assert_eq!(atoms["atoms"][0]["id"], *third);
}

#[test]
fn verbs_print_the_same_through_the_writer() {
    let pack = Pack::new();
    pack.import(&[
        r#"{"kind":"lesson","text":"Redis holds the cache.","id":"a","entities":["redis","deed-1"]}"#,
        r#"{"kind":"lesson","text":"The cache of redis lives a day.","id":"b","entities":["redis"]}"#,
        r#"{"kind":"preference","text":"Prefer tabs.","id":"a/b c","set":"dev"}"#,
    ]);
    pack.ok(["consolidate", "--apply"]);
    pack.ok(["card", "memory", "A repository."]);
    pack.ok(["propose", "Maybe this."]);
    pack.ok(["delete", "b", "--why", "deed-2"]);
    let writer = Writer::start(&pack);
    let lines: [&[&str]; 24] = [
        &["search", "redis", "cache"],
        &["search", "--json", "redis"],
        &["search", "--json", "--rerank", "--kind", "lesson", "redis"],
        &["search", "-q", "nothing"],
        &["search", "--as-of", "2020-01-01", "redis"],
        &["search", "--as-of", "yesterday", "redis"],
        &["why", "a", "--query", "redis"],
        &["atoms"],
        &["atoms", "--kind", "preference"],
        &["show", "a/b c"],
        &["show", "--json", "b"],
        &["show", "nobody"],
        &["due"],
        &["islands", "--json"],
        &["hubs"],
        &["island", "redis"],
        &["accessions"],
        &["citers", "deed-1"],
        &["cards"],
        &["pack", "--json"],
        &["pin"],
        &["proposals", "--json"],
        &["log", "--json", "b"],
        &["diff", "g1.."],
    ];
    for line in lines {
        let here = pack.run(line.iter().copied()).done();
        let there = pack.run(line.iter().copied()).var("PACKSET_URL", &writer.url).done();
        let seen = |done: &crate::harness::Done| {
            // Decay and recency move with the clock between the two.
            let numbers = |text: &str| match text.split_once("\t") {
                Some((score, rest)) if score.parse::<f64>().is_ok() => rest.to_owned(),
                _ => text.to_owned(),
            };
            let out: Vec<String> = match line.contains(&"--json") {
                false => done.out.lines().map(numbers).collect(),
                true => done.json_lines().into_iter().map(without_scores).collect(),
            };
            (done.code, out, done.err.clone())
        };
        if line[0] == "why" {
            assert_eq!(
                (here.code, here.out.lines().count()),
                (there.code, there.out.lines().count())
            );
            continue;
        }
        assert_eq!(seen(&here), seen(&there), "{line:?}");
    }
}

/// A JSON line without the numbers that move with the clock.
fn without_scores(mut value: Value) -> String {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                for name in ["score", "ballot_score", "decay", "ranks", "activation"] {
                    members.shift_remove(name);
                }
                members.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut value);
    value.to_string()
}

#[test]
fn verbs_write_through_the_writer() {
    let pack = Pack::new();
    let writer = Writer::start(&pack);
    let there =
        |args: &[&str]| pack.run(args.iter().copied()).var("PACKSET_URL", &writer.url).done();
    let done = there(&["remember", "--json", "Through the writer."]).code(0).json();
    assert_eq!((&done["stored"], &done["generation"]), (&json!(true), &json!(1)));
    let id = done["record"]["id"].as_str().unwrap().to_owned();
    let again = there(&["remember", "--json", "Through the writer."]).code(0).json();
    assert_eq!((&again["stored"], &again["record"]["id"]), (&json!(false), &json!(id)));
    there(&["grade", &id]).code(0);
    there(&["update", &id, "text=Through it again."]).code(0).out_has("updated");
    there(&["card", "user", "Ada."]).code(0).out("user\t4 of 1375 characters\n");
    there(&["pin", "dev"]).code(0).out("{\"workspace\":\"default\",\"set\":\"dev\"}\n");
    there(&["attach", "A body."]).code(0).out_has("7 characters held");
    there(&["attach"]).code(0).out("A body.\n");
    there(&["attach", "--take"]).code(0).out("A body.\n");
    there(&["attach"]).code(0).out("");
    there(&["undo"]).code(0);
    there(&["delete", &id]).code(0);
    there(&["delete", &id]).fails(1).err_has("no current atom").err_has("packset atoms default");
    there(&["remember", "password=hunter2hunter2"]).fails(1).err_has("credential-shaped");
    there(&["undo", "g99"]).fails(1).err_has("generation 99");
    // On the files the same is there.
    assert_eq!(pack.ok(["show", "--json", &id]).json()["tombstone"], json!(true));
    let lines =
        "{\"op\":\"remember\",\"text\":\"Of a batch.\"}\n{\"op\":\"grade\",\"id\":\"nobody\"}\n";
    let batch = |flags: &[&str]| {
        let run = pack.run([&["batch"], flags, &["-"]].concat()).var("PACKSET_URL", &writer.url);
        run.stdin(lines).done()
    };
    let refused = batch(&[]).code(1).json_lines();
    assert_eq!((&refused[0]["ok"], &refused[1]["ok"]), (&json!(false), &json!(false)));
    let done = batch(&["--best-effort"]).code(1).json_lines();
    assert_eq!((&done[0]["stored"], &done[1]["ok"]), (&json!(true), &json!(false)));
    there(&["compact"]).fails(1).err_has("PACKSET_URL names a writer");
    there(&["export", "--into", "out"]).code(0);
    assert!(pack.work().join("out/default.jsonl").exists());
}

#[test]
fn an_address_that_does_not_answer_is_one_line_and_a_way_out() {
    let pack = Pack::new();
    let at = |url: &str| pack.run(["search", "x"]).var("PACKSET_URL", url).done();
    at("off").fails(1).err_has("PACKSET_URL is off");
    at("http://127.0.0.1:1").fails(74).err_has("http://127.0.0.1:1").err_has("packset ensure");
    at("nonsense").fails(74);
    let writer = Writer::start(&pack);
    let bad = pack.run(["search", "x"]).var("PACKSET_URL", &writer.url).var("PACKSET_TOKEN", "bad");
    bad.done().fails(1).err_has("401").err_has("another token");
    let off = pack.run(["status"]).var("INSIDE_MEMORY_URL", "off").done();
    off.fails(1);
}

#[test]
fn one_writer_serves_a_home_and_leaves_it_as_it_found_it() {
    let pack = Pack::new();
    let writer = Writer::start(&pack);
    pack.run(["serve", "--port", "0"]).done().fails(75).err_has("served already");
    let home = pack.home();
    assert_eq!(mode(&home.join("token")), 0o600);
    assert_eq!(mode(&home.join("serve.json")), 0o600);
    let token = writer.token.clone();
    assert_eq!(writer.end(), Some(0));
    assert!(!home.join("serve.json").exists());
    let again = Writer::start(&pack);
    assert_eq!(again.token, token, "the token outlives the writer");
}

#[test]
fn what_is_set_wrong_stops_it_at_the_start() {
    let pack = Pack::new();
    let bad: [&[&str]; 6] = [
        &["--fuse", "zzz"],
        &["--diversify", ""],
        &["--nope"],
        &["--host", "0.0.0.0"],
        &["--port", "abc"],
        &["--port"],
    ];
    for flags in bad {
        pack.run([&["serve"], flags].concat()).done().fails(64);
    }
    for (name, value) in
        [("PACKSET_DECAY", "zzz"), ("PACKSET_LIVE_CAP", "many"), ("PACKSET_WORKERS", "x")]
    {
        pack.run(["serve", "--port", "0"]).var(name, value).done().fails(64);
    }
    assert!(!pack.home().join("serve.json").exists());
}

#[test]
fn a_unix_socket_is_its_owners_alone() {
    let pack = Pack::new();
    let path = pack.root.join("s");
    let path = path.to_str().unwrap();
    {
        let writer = Writer::with(&pack, &["--socket", path], &[]);
        assert_eq!(writer.url, format!("unix:{path}"));
        assert_eq!(mode(std::path::Path::new(path)), 0o600);
        assert_eq!(writer.post("By the socket.").0, 200);
        writer.signal("-KILL");
    }
    // What a dead writer left behind does not keep the next one out.
    let writer = Writer::with(&pack, &["--socket", path], &[]);
    assert_eq!(writer.get("/v1/status?workspace=default")["live"], 1);
    fs::write(pack.root.join("file"), "mine").unwrap();
    assert_eq!(writer.end(), Some(0));
    let file = pack.root.join("file");
    pack.run(["serve", "--socket", file.to_str().unwrap()]).done().fails(1).err_has("not a socket");
    assert_eq!(fs::read_to_string(file).unwrap(), "mine");
}

#[test]
fn writes_that_arrive_together_share_commits_and_do_not_disturb_each_other() {
    let pack = Pack::new();
    let writer = Writer::start(&pack);
    let (clients, each) = (16, 12);
    std::thread::scope(|scope| {
        for client in 0..clients {
            let writer = &writer;
            scope.spawn(move || {
                for number in 0..each {
                    let (status, _) = writer.post(&format!("Claim q{client}x{number} of a crowd."));
                    assert_eq!(status, 200);
                    // In between, writes that are refused, alone or by what stands there.
                    assert_eq!(writer.post("secret=abcdefghijk").0, 400);
                    let grade = json!({"workspace": "default", "id": "nobody"});
                    assert_eq!(writer.ask("POST", "/v1/grade", &grade).0, 400);
                }
            });
        }
    });
    let status = pack.ok(["status", "--json"]).json();
    assert_eq!(status["live"], clients * each);
    let generation = status["generation"].as_u64().unwrap();
    let writes = (clients * each) as u64;
    assert!(generation < writes, "{generation} commits for {writes} writes: none was shared");
    pack.ok(["verify"]);
}

#[test]
fn sigterm_lets_what_is_in_flight_finish() {
    let pack = Pack::new();
    let writer = Writer::start(&pack);
    let (asked, done) = (AtomicU64::new(0), AtomicBool::new(false));
    let stored = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..4)
            .map(|client| {
                let (writer, asked, done) = (&writer, &asked, &done);
                scope.spawn(move || {
                    let mut stored = 0;
                    while !done.load(Ordering::Relaxed) {
                        let number = asked.fetch_add(1, Ordering::Relaxed);
                        let text = format!("In flight r{client}y{number} when it ends.");
                        let claim = json!({"kind": "lesson", "text": text, "workspace": "default"});
                        match ask(&writer.url, &writer.token, "POST", "/v1/atoms", &claim) {
                            Some((200, _)) => stored += 1,
                            Some((503, _)) | None => break,
                            Some(other) => panic!("{other:?}"),
                        }
                    }
                    stored
                })
            })
            .collect();
        while asked.load(Ordering::Relaxed) < 40 {
            std::thread::sleep(Duration::from_millis(1));
        }
        writer.signal("-TERM");
        let until = Instant::now() + Duration::from_secs(30);
        while fs::exists(pack.home().join("serve.json")).unwrap() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        done.store(true, Ordering::Relaxed);
        clients.into_iter().map(|client| client.join().unwrap()).sum::<u64>()
    });
    assert_eq!(writer.end(), Some(0));
    assert_eq!(pack.ok(["status", "--json"]).json()["live"], stored);
}

/// How often the writer is killed unless `PACKSET_WRITER_KILLS` says: what the gate can bear.
const KILLS: u64 = 20;

#[test]
fn a_writer_killed_under_load_loses_nothing_that_it_acknowledged() {
    let kills = std::env::var("PACKSET_WRITER_KILLS").ok().and_then(|kills| kills.parse().ok());
    let pack = Pack::new();
    let number = AtomicU64::new(0);
    let mut acknowledged: BTreeMap<String, String> = BTreeMap::new();
    for round in 0..kills.unwrap_or(KILLS) {
        let writer = Writer::start(&pack);
        let stored = std::thread::scope(|scope| {
            let clients: Vec<_> = (0..8)
                .map(|_| {
                    let (writer, number) = (&writer, &number);
                    scope.spawn(move || {
                        let mut stored = Vec::new();
                        loop {
                            let text = format!(
                                "Told z{} was safe.",
                                number.fetch_add(1, Ordering::Relaxed)
                            );
                            let claim =
                                json!({"kind": "lesson", "text": text, "workspace": "default"});
                            match ask(&writer.url, &writer.token, "POST", "/v1/atoms", &claim) {
                                Some((200, answer)) => {
                                    let id = answer["id"].as_str().unwrap().to_owned();
                                    stored.push((id, text));
                                }
                                Some(other) => panic!("{other:?}"),
                                None => return stored,
                            }
                        }
                    })
                })
                .collect();
            // A prime step, so that the kills fall all over a commit of a few milliseconds.
            std::thread::sleep(Duration::from_micros(20_000 + round * 7_919 % 50_000));
            writer.signal("-KILL");
            clients.into_iter().flat_map(|client| client.join().unwrap()).collect::<Vec<_>>()
        });
        acknowledged.extend(stored);
    }
    pack.ok(["verify"]);
    let there: BTreeMap<String, String> = pack
        .ok(["atoms"])
        .json_lines()
        .iter()
        .map(|atom| (atom["id"].as_str().unwrap().into(), atom["text"].as_str().unwrap().into()))
        .collect();
    assert!(acknowledged.len() as u64 > KILLS, "too few to mean anything: {}", acknowledged.len());
    for (id, text) in &acknowledged {
        assert_eq!(there.get(id), Some(text), "{id} was acknowledged");
    }
}

#[test]
fn the_requests_are_described_where_they_are_served() {
    let pack = Pack::new();
    let writer = Writer::start(&pack);
    let described = writer.get("/v1/openapi.json");
    assert_eq!(described["openapi"], "3.1.0");
    // Each path leads somewhere: nothing that is described is unknown.
    for (path, operations) in described["paths"].as_object().unwrap() {
        for method in operations.as_object().unwrap().keys() {
            let path = path.replace("{id}", "nobody");
            let (status, answer) = writer.ask(&method.to_uppercase(), &path, &json!({}));
            let error = answer["error"].as_str().unwrap_or_default();
            assert!(!error.starts_with("there is no"), "{method} {path}: {status} {error}");
        }
    }
}
