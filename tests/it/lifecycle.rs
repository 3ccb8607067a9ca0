//! The writer in the background: started, found, told apart from strangers, and ended.
//!
//! Invariants: every port is one that the system gave; every writer is ended with its test.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::{Done, PROGRAM, Pack, keys, mode, set_mode};

/// A pack with a port of its own, whose writer ends with it.
struct Seat {
    pack: Pack,
    port: u16,
}

impl Seat {
    fn new() -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        Self::on(free.local_addr().unwrap().port())
    }

    fn on(port: u16) -> Self {
        Self { pack: Pack::new().var("PACKSET_PORT", port.to_string()), port }
    }

    fn ok(&self, verb: &str) -> Done {
        self.pack.ok([verb])
    }

    fn runtime(&self) -> Value {
        serde_json::from_slice(&fs::read(self.pack.home().join("serve.json")).unwrap()).unwrap()
    }

    fn pid(&self) -> u64 {
        self.runtime()["pid"].as_u64().unwrap()
    }

    fn log(&self) -> PathBuf {
        self.pack.root.join(format!("home/.local/state/packset/packsetd-{}.log", self.port))
    }

    /// The address as `ensure` and `url` print it.
    fn lines(&self) -> String {
        let url = format!("http://127.0.0.1:{}\n", self.port);
        format!("PACKSET_URL={url}INSIDE_MEMORY_URL={url}")
    }

    /// The variables of a run, for another program.
    fn dress(&self, command: &mut Command) {
        let run = self.pack.run([""; 0]).command;
        command.env_clear().current_dir(self.pack.work());
        command.envs(run.get_envs().filter_map(|(name, value)| Some((name, value?))));
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let _ = self.pack.run(["stop"]).command.stderr(Stdio::null()).status();
    }
}

/// A process of the test's own that must not outlive it.
struct Own(Child);

impl Drop for Own {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn wait_until(what: &str, mut is: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < Duration::from_secs(20), "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// How many processes serve the pack: they have it as their home.
#[cfg(target_os = "linux")]
fn serving(home: &Path) -> usize {
    let variable = format!("PACKSET_HOME={}", home.display());
    let serves = |process: &Path| {
        let read = |part: &str| fs::read(process.join(part)).unwrap_or_default();
        let has = |bytes: &[u8], word: &[u8]| bytes.split(|byte| *byte == 0).any(|is| is == word);
        has(&read("cmdline"), b"serve") && has(&read("environ"), variable.as_bytes())
    };
    let processes = fs::read_dir("/proc").unwrap();
    processes.filter(|entry| serves(&entry.as_ref().unwrap().path())).count()
}

#[test]
fn start_and_stop_may_be_repeated() {
    let seat = Seat::new();
    let at = format!("127.0.0.1:{}", seat.port);
    seat.ok("stop").out("").err_has(&format!("nothing of ours to stop on {}", seat.port));
    seat.ok("start").out("").err(&format!("packset: listening on {at}\n"));
    let pid = seat.pid();
    seat.ok("start").out("").err(&format!("packset: already listening on {at}\n"));
    seat.ok("ensure").out(&seat.lines());
    assert_eq!(seat.pid(), pid);
    seat.pack.remember("The writer is up.");
    let up = format!("packset: up on http://{at} (packsetd ok)\n");
    assert!(seat.ok("status").out.starts_with(&up));
    assert_eq!(mode(&seat.log()), 0o600);
    let cwd = fs::read_link(format!("/proc/{pid}/cwd"));
    assert!(cwd.is_err() || cwd.unwrap() == Path::new("/"), "it keeps no directory busy");
    seat.ok("stop").out("").err(&format!("packset: stopped {pid}\n"));
    seat.ok("stop").out("").err_has("nothing of ours to stop");
    assert!(TcpListener::bind(("127.0.0.1", seat.port)).is_ok(), "the port is free again");
    seat.ok("status").out_has("packset: on the files at ");
}

#[test]
fn json_answers_of_the_lifecycle() {
    let seat = Seat::new();
    let started = seat.pack.ok(["ensure", "--json"]).json();
    assert_eq!(keys(&started), ["schema", "url", "pid", "version", "already", "retired"]);
    assert_eq!(started["url"], format!("http://127.0.0.1:{}", seat.port));
    assert_eq!(started["already"], false);
    let again = seat.pack.ok(["start", "--json"]).json();
    assert_eq!((&again["already"], &again["pid"]), (&Value::Bool(true), &started["pid"]));
    let stopped = seat.pack.ok(["stop", "--json"]).json();
    assert_eq!(stopped["stopped"], started["pid"]);
    assert_eq!(seat.pack.ok(["stop", "--json"]).json()["stopped"], Value::Null);
    assert_eq!(seat.pack.ok(["port", "--json"]).json()["port"], seat.port);
}

#[cfg(target_os = "linux")]
#[test]
fn ten_shells_get_one_writer() {
    let seat = Seat::new();
    let shells: Vec<Child> = (0..10)
        .map(|_| {
            let mut run = seat.pack.run(["ensure"]).command;
            run.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            run.spawn().unwrap()
        })
        .collect();
    for shell in shells {
        let done = Done::of("ensure".into(), shell.wait_with_output().unwrap());
        done.code(0).out(&seat.lines());
    }
    let home = seat.pack.home();
    wait_until("one is left", || serving(&home) == 1);
    let pid = seat.pid();
    assert_eq!(seat.ok("ensure").out, seat.lines());
    assert_eq!(seat.pid(), pid);
    seat.ok("stop");
    assert_eq!(serving(&home), 0);
}

#[test]
fn a_stranger_on_the_port_is_left_alone() {
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    let seat = Seat::on(stranger.local_addr().unwrap().port());
    let answering = std::thread::spawn(move || {
        let mut asked = 0;
        for client in stranger.incoming() {
            let mut client = client.unwrap();
            let mut head = [0; 512];
            let read = client.read(&mut head).unwrap_or(0);
            if head[..read].starts_with(b"bye") {
                break;
            }
            asked += 1;
            let _ = client.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
        }
        asked
    });
    for verb in ["ensure", "start"] {
        let done = seat.pack.run([verb]).done().fails(1);
        done.err_has(&format!("port {} is answered by another program", seat.port));
    }
    seat.ok("stop").err_has("nothing of ours");
    let doctor = seat.ok("doctor");
    doctor.out_has(&format!("warn\tport\t{} is taken by another program", seat.port));
    let mut bye = std::net::TcpStream::connect(("127.0.0.1", seat.port)).unwrap();
    bye.write_all(b"bye").unwrap();
    assert!(answering.join().unwrap() >= 3, "it was asked and lives");
    assert!(!seat.log().exists(), "nothing was started");
}

#[test]
fn the_writer_of_another_home_is_not_ours() {
    let theirs = Seat::new();
    theirs.ok("start");
    let ours = Seat::on(theirs.port);
    ours.pack.run(["ensure"]).done().fails(1).err_has("by the writer of another home");
    ours.ok("stop").err_has("nothing of ours");
    ours.ok("status").out_has("packset: on the files at ");
    theirs.ok("start").err_has("already listening");
}

#[test]
fn a_number_that_went_to_another_process_is_not_signalled() {
    let seat = Seat::new();
    seat.ok("start");
    let mut runtime = seat.runtime();
    seat.ok("stop");
    let mut stranger = Own(Command::new("sleep").arg("60").spawn().unwrap());
    runtime["pid"] = stranger.0.id().into();
    let path = seat.pack.home().join("serve.json");
    fs::write(&path, runtime.to_string()).unwrap();
    set_mode(&path, 0o600);
    seat.ok("stop").err_has("nothing of ours");
    seat.ok("doctor").out_has("ok\twriter\tdown; the last one was killed");
    // The home held by a process that is not the one that its file names.
    let lock = fs::File::open(seat.pack.home().join("serve.lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    seat.pack.run(["stop"]).done().fails(75).err_has("does not say where it listens");
    drop(lock);
    assert!(stranger.0.try_wait().unwrap().is_none(), "it was signalled");
    seat.ok("ensure").out(&seat.lines());
    assert_ne!(seat.pid(), u64::from(stranger.0.id()));
}

#[test]
fn an_older_writer_makes_way_and_a_newer_one_does_not() {
    let seat = Seat::new();
    seat.ok("start");
    let first = seat.pid();
    let say = |version: &str| {
        let mut runtime = seat.runtime();
        runtime["version"] = version.into();
        fs::write(seat.pack.home().join("serve.json"), runtime.to_string()).unwrap();
    };
    say("99.0.0");
    seat.ok("ensure").err_has("already listening");
    assert_eq!(seat.pid(), first);
    seat.ok("doctor").out_has("newer than");
    say("0.17.3");
    seat.ok("doctor").out_has("older than").out_has("fix: packset ensure");
    let done = seat.ok("ensure").out(&seat.lines());
    done.err_has(&format!("packset: {first} of version 0.17.3 made way\n"));
    assert_ne!(seat.pid(), first);
    assert_eq!(seat.runtime()["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn a_killed_writer_is_replaced() {
    let seat = Seat::new();
    seat.ok("start");
    let first = seat.pid();
    let kill = Command::new("kill").args(["-9", &first.to_string()]).status().unwrap();
    assert!(kill.success());
    seat.ok("ensure").out(&seat.lines());
    assert_ne!(seat.pid(), first);
}

#[test]
fn a_writer_that_ends_at_once_is_explained_by_its_log() {
    let seat = Seat::new();
    let program = seat.pack.work().join("program");
    let script = "#!/bin/sh\nfor n in 1 2 3 4 5; do echo line $n >&2; done\nexit 3\n";
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let run = seat.pack.run(["start"]).var("PACKSET_BIN", &program);
    let done = run.done().fails(1).err_has("line 3; line 4; line 5");
    done.never_says("line 2");
    let run = seat.pack.run(["which"]).var("PACKSET_BIN", "program").done().code(0);
    run.out(&format!("{}\n", program.display()));
    let run = seat.pack.run(["start"]).var("PACKSET_BIN", "/no/such/program");
    run.done().fails(74).err_has("cannot run /no/such/program");
}

#[test]
fn a_long_log_makes_way() {
    let seat = Seat::new();
    let log = seat.log();
    let older = |number: u32| PathBuf::from(format!("{}.{number}", log.display()));
    fs::create_dir_all(log.parent().unwrap()).unwrap();
    fs::write(&log, vec![b'x'; (1 << 20) - 1]).unwrap();
    seat.ok("start");
    seat.ok("stop");
    assert!(!older(1).exists(), "it was a byte short of a MiB and no longer is");
    for number in 1..=3 {
        fs::write(older(number), format!("old {number}")).unwrap();
    }
    seat.ok("start");
    assert!(fs::metadata(&log).unwrap().len() < 1000);
    assert!(fs::metadata(older(1)).unwrap().len() >= 1 << 20);
    assert_eq!(fs::read_to_string(older(2)).unwrap(), "old 1");
    assert_eq!(fs::read_to_string(older(3)).unwrap(), "old 2");
    assert!(!older(4).exists());
}

#[test]
fn where_a_writer_is_looked_for() {
    let seat = Seat::new();
    for off in [("PACKSET_URL", "off"), ("INSIDE_MEMORY_URL", "http://127.0.0.1:1")] {
        seat.pack.run(["url"]).var(off.0, off.1).done().code(0).out(&seat.lines());
    }
    seat.ok("port").out(&format!("{}\n", seat.port));
    seat.pack.run(["port"]).var("PACKSET_PORT", "nonsense").done().code(0).out("8761\n");
    let run = seat.pack.run(["port"]).no_var("PACKSET_PORT").var("GROK_MEM_PORT", "9999");
    run.done().code(0).out("9999\n");
    let beside = Path::new(PROGRAM).with_file_name("packsetd");
    seat.ok("which").out(&format!("{}\n", beside.display()));
}

#[test]
fn a_writer_on_a_socket_is_no_url() {
    let seat = Seat::new();
    let socket = seat.pack.root.join("s");
    let mut run = seat.pack.run(["serve", "--socket"]).command;
    let writer = Own(run.arg(&socket).stderr(Stdio::null()).spawn().unwrap());
    wait_until("it says where", || seat.pack.home().join("serve.json").exists());
    let done = seat.pack.run(["ensure"]).done().fails(1);
    done.err_has(&format!("listens on unix:{} alone", socket.display()));
    seat.ok("status").out_has(&format!("packset: up on unix:{}", socket.display()));
    seat.ok("stop").err(&format!("packset: stopped {}\n", writer.0.id()));
}

#[test]
fn programs_named_after_a_verb() {
    let seat = Seat::new();
    let version = concat!("packset ", env!("CARGO_PKG_VERSION"), "\n");
    for program in [env!("CARGO_BIN_EXE_packsetd"), env!("CARGO_BIN_EXE_packset-mcp")] {
        let mut command = Command::new(program);
        seat.dress(command.arg("-V"));
        Done::of(program.into(), command.output().unwrap()).code(0).out(version);
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_packsetd"));
    seat.dress(&mut command);
    let writer = Own(command.stderr(Stdio::null()).spawn().unwrap());
    wait_until("it says where", || seat.pack.home().join("serve.json").exists());
    assert_eq!(seat.pid(), u64::from(writer.0.id()), "it became the writer");
    let mut second = Command::new(env!("CARGO_BIN_EXE_packsetd"));
    seat.dress(second.args(["--port", "0"]));
    Done::of("packsetd".into(), second.output().unwrap()).fails(75).err_has("served already");
    let mut odd = Command::new(env!("CARGO_BIN_EXE_packsetd"));
    seat.dress(odd.arg("--odd"));
    Done::of("packsetd --odd".into(), odd.output().unwrap()).fails(64);
}

/// A pack in the previous default home, with one claim.
fn previous(pack: &Pack) -> PathBuf {
    let from = pack.root.join("home/.grokinside/memory");
    fs::create_dir_all(&from).unwrap();
    pack.remember("It was here before.");
    assert!(from.join("ws/default").is_dir());
    from
}

#[test]
fn a_pack_moves_home() {
    let pack = Pack::new();
    let from = previous(&pack);
    fs::create_dir_all(pack.home()).unwrap();
    pack.ok(["migrate-home"]).out(&format!("{}\n", pack.home().display()));
    assert_eq!(fs::read_link(&from).unwrap(), pack.home());
    assert!(!fs::symlink_metadata(pack.home()).unwrap().is_symlink());
    assert!(pack.home().join("ws/default").is_dir());
    assert_eq!(pack.found("before"), ["It was here before."]);
    let old = pack.run(["search", "-q", "before"]).var("PACKSET_HOME", &from);
    old.done().code(0).out_has("It was here before.");
    pack.run(["migrate-home"]).done().fails(1).err_has("is a link already");
}

#[test]
fn a_pack_stays_where_it_is_when_something_is_in_the_way() {
    let pack = Pack::new();
    pack.run(["migrate-home"]).done().fails(1).err_has("there is nothing to move");
    let from = previous(&pack);
    let run = pack.run(["migrate-home"]).var("PACKSET_HOME", &from);
    run.done().fails(1).err_has("PACKSET_HOME names the home");
    let lock = fs::File::create(from.join("serve.lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    pack.run(["migrate-home"]).done().fails(75).err_has("is served already");
    drop(lock);
    fs::create_dir_all(pack.home().join("ws")).unwrap();
    pack.run(["migrate-home"]).done().fails(1).err_has("holds something already");
    assert!(from.join("ws/default").is_dir());
    fs::remove_dir_all(pack.home()).unwrap();
    let old = Pack::new();
    let theirs = old.root.join("home/.grokinside/memory/memory.lmdb");
    fs::create_dir_all(&theirs).unwrap();
    let done = old.run(["migrate-home"]).done().fails(1);
    done.err_has("older program").err_has("packset import");
    assert!(theirs.is_dir() && !old.home().exists());
}

/// The upkeep script, for a pack.
fn upkeep(seat: &Seat) -> Done {
    let mut script =
        Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("bin/packset-cron.sh"));
    seat.dress(script.env("PACKSET", PROGRAM));
    script.env("PACKSET", PROGRAM).env("PACKSET_URL", "off");
    Done::of("packset-cron.sh".into(), script.output().unwrap())
}

#[test]
fn upkeep_is_quiet_until_something_is_wrong() {
    let seat = Seat::new();
    upkeep(&seat).code(0).out("").err("");
    seat.pack.remember("One claim.");
    seat.pack.ok(["remember", "--workspace", "other", "Another claim."]);
    upkeep(&seat).code(0).out("").err("");
    let swept = seat.pack.ok(["sweep", "--all"]);
    swept.out(
        "default\t0 lapsed by neglect, 0 forgotten\nother\t0 lapsed by neglect, 0 forgotten\n",
    );
    let rows = seat.pack.ok(["sweep", "--all", "--json"]).json_lines();
    assert_eq!(rows[1]["workspace"], "other");
    let segment = seat.pack.files("other", "s").pop().unwrap();
    crate::harness::replace(&segment, b"damage");
    let done = upkeep(&seat).code(76).out("");
    done.err_has("packset-cron: verify ended in 76").err_has("other");
    // While another one is at it, it keeps out of the way, however the pack is.
    let lock = seat.log().with_file_name("cron.lock");
    fs::create_dir(&lock).unwrap();
    upkeep(&seat).code(0).out("").err("");
    assert!(lock.is_dir());
    let long_ago = std::time::SystemTime::now() - Duration::from_secs(7 * 3600);
    fs::File::open(&lock).unwrap().set_modified(long_ago).unwrap();
    upkeep(&seat).code(76);
    assert!(!lock.exists(), "it is taken over, and given back");
}

#[test]
fn scripts_are_clean() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("bin/packset-cron.sh");
    match Command::new("shellcheck").arg(&script).output() {
        Ok(done) => drop(Done::of("shellcheck".into(), done).code(0).out("")),
        Err(_) => crate::harness::skip("shellcheck is not installed"),
    }
    let parsed = Command::new("sh").arg("-n").arg(&script).output().unwrap();
    Done::of("sh -n".into(), parsed).code(0).err("");
}
