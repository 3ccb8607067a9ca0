//! The door: one thread that meets every client and waits for none of them.
//!
//! It accepts, reads requests through [`Intake`], sends away whom the guard or a limit refuses,
//! hands the rest to the lanes as the crew has places, and writes replies. `GET /health` it
//! answers itself, so that it is alive whenever the door is.
//!
//! Not here: what a request may be (`super::intake`), who runs (`super::crew`). Invariants: every
//! connection has a deadline; a client that has left before its request ran is forgotten with it;
//! connections are accepted after all other events of a turn, so that no event meets a slot's next
//! owner.

use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mio::event::Source;
use mio::net::{TcpStream, UnixStream};
use mio::{Events, Interest, Poll, Registry, Token};

use super::crew::{Crew, Verdict};
use super::guard::Guard;
use super::intake::{Intake, Step};
use super::lanes::{Back, Errand, Lane, Lanes};
use super::listen::{Door as Entry, Listener};
use super::{Answer, Class, Ended, Limits, Reply, Request, Result, Settings, Stop, Wanted};

const LISTENER: Token = Token(0);
const STOP: Token = Token(1);
/// Tokens from here on are lanes; there are never as many as lie below [`CLIENTS`].
const LANES: usize = 2;
const CLIENTS: usize = 1024;

/// Bytes read at once, and how often in a row one client may fill them before others have a turn.
const SCRATCH: usize = 64 << 10;
const READS: usize = 16;
/// Clients accepted before those who are inside have a turn.
const ACCEPTS: usize = 64;
/// How often deadlines are looked at; a late answer to a silent client harms nobody.
const SWEEP: Duration = Duration::from_millis(250);
/// Descriptors kept for the pack's files, and for lanes: three each.
const SPARE_FILES: usize = 512;

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// Runs an expression on either kind of stream.
macro_rules! either {
    ($stream:expr, $inner:ident => $body:expr) => {
        match $stream {
            Stream::Tcp($inner) => $body,
            Stream::Unix($inner) => $body,
        }
    };
}

enum State {
    Reading(Intake),
    Parked,
    Running,
    Sending { wire: Vec<u8>, sent: usize, linger: bool },
    Lingering,
}

struct Client {
    stream: Stream,
    state: State,
    since: Instant,
    deadline: Instant,
    watched: bool,
}

struct Ticket {
    client: usize,
    request: Request,
}

/// The door and all it keeps.
pub(super) struct Door<'a> {
    poll: Poll,
    entry: Option<Entry>,
    entry_ready: bool,
    /// Accepting failed for want of something; the next sweep tries again.
    entry_tired: bool,
    stop: UnixStream,
    guard: Guard,
    limits: Limits,
    answer: Arc<dyn Answer>,
    clients: Vec<Option<Client>>,
    free: Vec<usize>,
    /// Clients whose turn was over before their bytes were.
    again: Vec<usize>,
    crew: Crew<Ticket>,
    lanes: Vec<Option<Lane>>,
    idle: Vec<usize>,
    hall: Lanes,
    scratch: Vec<u8>,
    reading: usize,
    unsent: usize,
    draining: Option<Instant>,
    _stop: &'a Stop,
}

impl<'a> Door<'a> {
    /// Sets everything up; nobody is let in before [`Door::run`].
    pub(super) fn open(
        listener: Listener,
        settings: &Settings,
        answer: Arc<dyn Answer>,
        stop: &'a Stop,
    ) -> Result<Self> {
        let set_up = || "set up the door".to_owned();
        let poll = Poll::new().wanted(set_up)?;
        let mut limits = settings.limits;
        limits.open = limits.open.min(files_for_clients());
        let mut entry = listener.door;
        let unix = matches!(entry, Entry::Unix(..));
        match &mut entry {
            Entry::Tcp(bound) => poll.registry().register(bound, LISTENER, Interest::READABLE),
            Entry::Unix(bound, _) => poll.registry().register(bound, LISTENER, Interest::READABLE),
        }
        .wanted(set_up)?;
        let mut heard = stop.heard().wanted(set_up)?;
        poll.registry().register(&mut heard, STOP, Interest::READABLE).wanted(set_up)?;
        Ok(Self {
            poll,
            entry: Some(entry),
            entry_ready: true,
            entry_tired: false,
            stop: heard,
            guard: Guard { token: settings.token.clone(), unix },
            limits,
            crew: Crew::new(settings.workers, settings.queue, limits.parked),
            clients: Vec::new(),
            free: Vec::new(),
            again: Vec::new(),
            lanes: Vec::new(),
            idle: Vec::new(),
            hall: Lanes::open(&settings.private, Arc::clone(&answer))?,
            answer,
            scratch: vec![0; SCRATCH],
            reading: 0,
            unsent: 0,
            draining: None,
            _stop: stop,
        })
    }

    /// Serves until the stop, then drains.
    pub(super) fn run(mut self) -> Result<Ended> {
        let mut events = Events::with_capacity(1024);
        let mut swept = Instant::now();
        // Deadlines shorter than a sweep are a test's.
        let sweep = SWEEP.min(self.limits.request / 4).min(self.limits.drain / 4);
        loop {
            let quiet = self.clients.len() == self.free.len() && self.draining.is_none();
            let wait = if !self.again.is_empty() || (self.entry_ready && self.has_room()) {
                Some(Duration::ZERO)
            } else if quiet && !self.entry_ready && !self.entry_tired {
                None
            } else {
                Some(sweep)
            };
            match self.poll.poll(&mut events, wait) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                    return Err(error).wanted(|| "wait for clients".to_owned());
                }
                _ => {}
            }
            for event in &events {
                match event.token() {
                    LISTENER => self.entry_ready = true,
                    STOP => self.drain(),
                    Token(at) if at >= CLIENTS => {
                        let gone = event.is_read_closed() || event.is_error();
                        self.client_event(at - CLIENTS, gone);
                    }
                    Token(at) => self.lane_event(at - LANES),
                }
            }
            for at in std::mem::take(&mut self.again) {
                self.client_event(at, false);
            }
            let now = Instant::now();
            if now.duration_since(swept) >= sweep {
                swept = now;
                self.sweep(now);
            }
            if self.entry_ready {
                self.accept();
            }
            if let Some(ended) = self.ended(now) {
                let idle = self.crew.running() == 0;
                // The lanes' ends go first, so that tiny_http sees that nothing more comes.
                self.lanes.clear();
                self.hall.close(idle);
                return Ok(ended);
            }
        }
    }

    fn has_room(&self) -> bool {
        self.clients.len() - self.free.len() < self.limits.open
    }

    /// Whether the drain is over.
    fn ended(&self, now: Instant) -> Option<Ended> {
        let until = self.draining?;
        let open = self.clients.iter().flatten();
        let busy = |client: &&Client| !matches!(client.state, State::Lingering);
        let left = self.crew.running() + self.crew.waiting();
        let done = left == 0 && open.filter(busy).count() == 0;
        (done || now >= until).then_some(Ended { unanswered: left })
    }

    /// Stops to accept. Requests that are not whole yet have not been promised anything.
    fn drain(&mut self) {
        if self.draining.is_some() {
            return;
        }
        self.draining = Some(Instant::now() + self.limits.drain);
        let _ = self.poll.registry().deregister(&mut self.stop);
        self.entry_ready = false;
        match self.entry.take() {
            Some(Entry::Tcp(mut bound)) => drop(self.poll.registry().deregister(&mut bound)),
            Some(Entry::Unix(mut bound, path)) => {
                let _ = self.poll.registry().deregister(&mut bound);
                let _ = rustix::fs::unlink(path);
            }
            None => {}
        }
        for at in 0..self.clients.len() {
            if let Some(Client { state: State::Reading(intake), .. }) = self.client(at) {
                if intake.is_untouched() {
                    self.close(at);
                } else {
                    self.refuse(at, Reply::busy());
                }
            }
        }
    }

    fn client(&mut self, at: usize) -> Option<&mut Client> {
        self.clients.get_mut(at)?.as_mut()
    }

    fn accept(&mut self) {
        for _ in 0..ACCEPTS {
            if !self.has_room() && !self.evict() {
                // All of them are at work: whoever comes now waits in the system's queue.
                return;
            }
            let accepted = match &self.entry {
                Some(Entry::Tcp(bound)) => bound.accept().map(|(stream, _)| Stream::Tcp(stream)),
                Some(Entry::Unix(bound, _)) => bound.accept().map(|(it, _)| Stream::Unix(it)),
                None => return,
            };
            match accepted {
                Ok(stream) => self.meet(stream),
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => {
                        self.entry_ready = false;
                        return;
                    }
                    io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted => {}
                    // No descriptors left: a quiet client makes room, or the next sweep does.
                    _ if self.evict() => {}
                    _ => {
                        self.entry_ready = false;
                        self.entry_tired = true;
                        return;
                    }
                },
            }
        }
    }

    /// Closes the connection that has been quiet longest, if there is a quiet one.
    fn evict(&mut self) -> bool {
        let quiet = self.clients.iter().enumerate().filter_map(|(at, client)| {
            let client = client.as_ref()?;
            let quiet = matches!(client.state, State::Reading(_) | State::Lingering);
            quiet.then_some((client.since, at))
        });
        let oldest = quiet.min().map(|(_, at)| at);
        oldest.inspect(|&at| self.close(at)).is_some()
    }

    fn meet(&mut self, stream: Stream) {
        let since = Instant::now();
        let client = Client {
            stream,
            state: State::Reading(Intake::default()),
            since,
            deadline: since + self.limits.request,
            watched: false,
        };
        let at = self.free.pop().unwrap_or(self.clients.len());
        match self.clients.get_mut(at) {
            Some(slot) => *slot = Some(client),
            None => self.clients.push(Some(client)),
        }
        self.read(at);
    }

    fn close(&mut self, at: usize) {
        let Some(client) = self.clients.get_mut(at).and_then(Option::take) else {
            return;
        };
        match &client.state {
            State::Reading(intake) => self.reading -= intake.held(),
            State::Parked => self.crew.dismiss(|ticket| ticket.client == at),
            State::Running => {
                for lane in self.lanes.iter_mut().flatten() {
                    if let Some(errand) = lane.errand.as_mut().filter(|it| it.client == Some(at)) {
                        errand.client = None;
                    }
                }
            }
            State::Sending { wire, sent, .. } => self.unsent -= wire.len() - sent,
            State::Lingering => {}
        }
        // The descriptor's end takes it out of the poll; no second one exists.
        drop(client);
        self.free.push(at);
    }

    /// Has the poll tell of this client; most are answered without.
    fn watch(&mut self, at: usize) -> bool {
        let registry = self.poll.registry();
        let Some(client) = self.clients.get_mut(at).and_then(Option::as_mut) else {
            return false;
        };
        if !client.watched {
            let token = Token(CLIENTS + at);
            client.watched = either!(&mut client.stream, it => register(registry, it, token));
        }
        let watched = client.watched;
        if !watched {
            self.close(at);
        }
        watched
    }

    /// Has the poll tell of this client, and tell again what it told already: that the client has
    /// left may have been said while its request was still being read.
    fn watch_anew(&mut self, at: usize) {
        let registry = self.poll.registry();
        if let Some(client) = self.clients.get_mut(at).and_then(Option::as_mut)
            && client.watched
        {
            let token = Token(CLIENTS + at);
            client.watched = either!(&mut client.stream, it => register_again(registry, it, token));
        }
        self.watch(at);
    }

    fn client_event(&mut self, at: usize, gone: bool) {
        let Some(client) = self.client(at) else {
            return;
        };
        match client.state {
            State::Reading(_) => self.read(at),
            State::Parked if gone => self.close(at),
            State::Parked | State::Running => {}
            State::Sending { .. } => self.push(at),
            State::Lingering => self.discard(at),
        }
    }

    fn read(&mut self, at: usize) {
        let mut scratch = std::mem::take(&mut self.scratch);
        for turn in 0..=READS {
            let guard_room = self.limits.reading.saturating_sub(self.reading);
            let Some(client) = self.clients.get_mut(at).and_then(Option::as_mut) else {
                break;
            };
            let State::Reading(intake) = &mut client.state else {
                break;
            };
            if turn == READS {
                self.again.push(at);
                break;
            }
            let bytes = match either!(&mut client.stream, it => it.read(&mut scratch)) {
                Ok(read) if read > 0 => scratch.get(..read).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if client.watched {
                        break;
                    }
                    // What came in between, the poll will tell at once.
                    self.watch(at);
                    break;
                }
                _ => {
                    self.close(at);
                    break;
                }
            };
            let held = intake.held();
            let step = intake.take(bytes, &self.guard, &self.limits, guard_room + held);
            self.reading = self.reading - held + intake.held();
            match step {
                Ok(Step::More) => {}
                Ok(Step::Continue) => {
                    let word = b"HTTP/1.1 100 Continue\r\n\r\n";
                    // The first bytes that this connection is sent always fit.
                    if either!(&mut client.stream, it => it.write_all(word)).is_err() {
                        self.close(at);
                        break;
                    }
                }
                Ok(Step::Whole(request)) => {
                    client.state = State::Running;
                    self.admit(at, request);
                    break;
                }
                Err((503, _)) => {
                    self.refuse(at, Reply::busy());
                    break;
                }
                Err((status, message)) => {
                    self.refuse(at, Reply::error(status, message));
                    break;
                }
            }
        }
        self.scratch = scratch;
    }

    fn admit(&mut self, at: usize, request: Request) {
        if request.method == "GET" && request.path == "/health" {
            let words = if self.crew.is_full() { "packsetd ok, busy" } else { "packsetd ok" };
            return self.send(at, Reply::text(200, words).to_wire(false), false);
        }
        let class = self.answer.class(&request);
        let open = self.unsent < self.limits.unsent;
        match self.crew.offer(class, request.body.len(), open) {
            Verdict::Run => self.dispatch(at, class, request),
            Verdict::Full => self.refuse(at, Reply::busy()),
            Verdict::Park => {
                let client = self.clients.get_mut(at).and_then(Option::as_mut);
                if let Some(client) = client {
                    client.state = State::Parked;
                }
                self.crew.park(class, request.body.len(), Ticket { client: at, request });
                self.watch_anew(at);
            }
        }
    }

    /// Puts a request whose place is taken into a lane.
    fn dispatch(&mut self, at: usize, class: Class, request: Request) {
        let Some(number) = self.idle.pop().or_else(|| self.new_lane()) else {
            self.crew.release(class);
            return self.refuse(at, Reply::busy());
        };
        if let Some(client) = self.client(at) {
            client.state = State::Running;
        }
        if let Some(lane) = self.lanes.get_mut(number).and_then(Option::as_mut) {
            lane.load(Errand { client: Some(at), class }, request);
            if lane.push().is_err() {
                self.lose(number);
            }
        }
    }

    fn new_lane(&mut self) -> Option<usize> {
        let number = self.lanes.iter().position(Option::is_none).unwrap_or(self.lanes.len());
        debug_assert!(number < self.crew.places());
        let mut stream = self.hall.connect().ok()?;
        if !register(self.poll.registry(), &mut stream, Token(LANES + number)) {
            return None;
        }
        let lane = Some(Lane::new(stream));
        match self.lanes.get_mut(number) {
            Some(slot) => *slot = lane,
            None => self.lanes.push(lane),
        }
        Some(number)
    }

    fn lane_event(&mut self, number: usize) {
        let Some(lane) = self.lanes.get_mut(number).and_then(Option::as_mut) else {
            return;
        };
        if lane.push().is_err() {
            return self.lose(number);
        }
        match lane.pull(&mut self.scratch) {
            Back::Part => {}
            Back::Lost => self.lose(number),
            Back::Whole(wire) => {
                let errand = lane.errand.take();
                self.idle.push(number);
                self.conclude(errand, |door, at| door.send(at, wire, false));
            }
        }
    }

    /// A lane broke: its request has failed, the next one gets a new lane.
    fn lose(&mut self, number: usize) {
        let errand = self.lanes.get_mut(number).and_then(Option::take).and_then(|it| it.errand);
        self.idle.retain(|&idle| idle != number);
        let reply = Reply::error(500, "the request got lost on its way through the writer");
        self.conclude(errand, |door, at| door.refuse(at, reply));
    }

    fn conclude(&mut self, errand: Option<Errand>, tell: impl FnOnce(&mut Self, usize)) {
        let Some(errand) = errand else {
            return;
        };
        self.crew.release(errand.class);
        // The next one starts before the last one is told: its worker need not wait for us.
        self.start_waiting();
        if let Some(at) = errand.client {
            tell(self, at);
        }
    }

    fn start_waiting(&mut self) {
        while self.unsent < self.limits.unsent
            && let Some((class, ticket)) = self.crew.next()
        {
            self.dispatch(ticket.client, class, ticket.request);
        }
    }

    /// Answers a client from here. It may still be sending.
    fn refuse(&mut self, at: usize, reply: Reply) {
        self.send(at, reply.to_wire(false), true);
    }

    fn send(&mut self, at: usize, wire: Vec<u8>, linger: bool) {
        let deadline = Instant::now() + self.limits.reply;
        let Some(client) = self.clients.get_mut(at).and_then(Option::as_mut) else {
            return;
        };
        if let State::Reading(intake) = &client.state {
            self.reading -= intake.held();
        }
        self.unsent += wire.len();
        client.state = State::Sending { wire, sent: 0, linger };
        client.since = Instant::now();
        client.deadline = deadline;
        self.push(at);
    }

    fn push(&mut self, at: usize) {
        let within = self.limits.reply;
        loop {
            let Some(client) = self.clients.get_mut(at).and_then(Option::as_mut) else {
                return;
            };
            let State::Sending { wire, sent, linger } = &mut client.state else {
                return;
            };
            let now = wire.get(*sent..).unwrap_or_default();
            if now.is_empty() {
                let linger = *linger;
                client.state = State::Lingering;
                client.deadline = Instant::now() + self.limits.linger;
                return self.part(at, linger);
            }
            match either!(&mut client.stream, it => it.write(now)) {
                Ok(written) => {
                    *sent += written;
                    self.unsent -= written;
                    let last = client.since + within * 6;
                    client.deadline = (Instant::now() + within).min(last);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.watch(at);
                    return;
                }
                Err(_) => {
                    self.close(at);
                    return;
                }
            }
        }
    }

    /// Everything is said. A connection with bytes that nobody read stays until its client has
    /// seen the end of the reply.
    fn part(&mut self, at: usize, linger: bool) {
        let Some(client) = self.clients.get_mut(at).and_then(Option::as_mut) else {
            return;
        };
        let mut byte = [0];
        let stays = linger
            || either!(&mut client.stream, it => it.read(&mut byte)).is_ok_and(|read| read > 0);
        let shut = stays && either!(&client.stream, it => it.shutdown(Shutdown::Write)).is_ok();
        if !shut {
            self.close(at);
        } else if self.watch(at) {
            self.discard(at);
        }
        self.start_waiting();
    }

    fn discard(&mut self, at: usize) {
        // Not the scratch: a read that led here may have it in use.
        let mut waste = [0; 8192];
        for _ in 0..READS {
            let Some(client) = self.clients.get_mut(at).and_then(Option::as_mut) else {
                return;
            };
            match either!(&mut client.stream, it => it.read(&mut waste)) {
                Ok(read) if read > 0 => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                _ => return self.close(at),
            }
        }
        self.again.push(at);
    }

    /// Ends what has had its time.
    fn sweep(&mut self, now: Instant) {
        self.entry_ready |= std::mem::take(&mut self.entry_tired);
        for at in 0..self.clients.len() {
            let Some(client) = self.client(at).filter(|client| client.deadline <= now) else {
                continue;
            };
            match &client.state {
                State::Reading(intake) if !intake.is_untouched() => {
                    self.refuse(at, Reply::error(408, "the request did not come in time"));
                }
                // Their time is the answer's.
                State::Parked | State::Running => {}
                _ => self.close(at),
            }
        }
        self.start_waiting();
    }
}

fn register_again(registry: &Registry, stream: &mut impl Source, token: Token) -> bool {
    registry.reregister(stream, token, Interest::READABLE | Interest::WRITABLE).is_ok()
}

fn register(registry: &Registry, stream: &mut impl Source, token: Token) -> bool {
    registry.register(stream, token, Interest::READABLE | Interest::WRITABLE).is_ok()
}

/// How many descriptors clients may have, after the soft limit was raised to what is needed.
fn files_for_clients() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let most = (Limits::default().open + SPARE_FILES) as u64;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(most, |maximum| maximum.min(most));
    let mut files = current.unwrap_or(most);
    if files < wanted
        && setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }).is_ok()
    {
        files = wanted;
    }
    let files = usize::try_from(files).unwrap_or(usize::MAX);
    // Where even the spare ones are missing, some clients must do.
    files.saturating_sub(SPARE_FILES).max(files / 4).max(8)
}
