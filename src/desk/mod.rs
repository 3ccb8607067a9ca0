//! The desk: where every request is answered, whichever door it came in by.
//!
//! A request is a [`Route`] and a JSON object of what was given; its answer is JSON. The verbs
//! print that answer, the HTTP writer sends it, the MCP tools hand it on, so that what is asked
//! and what is answered stands here once. Rules about claims are [`crate::claim`]'s, about cards
//! [`crate::cards`]'s; here they are called and their answers are worded.
//!
//! A process that answers one request opens what it needs and is done. One that stays keeps the
//! desk *warm* ([`Desk::warm`]): snapshots stay open until a newer generation is there, and writes
//! that arrive together share one commit ([`group`]).
//!
//! Not here: reading a command line, sockets. Invariants: an answer about a write is given only
//! when the write is durable; a request that changes nothing takes no lock.

pub mod atoms;
pub mod batch;
pub mod cards;
pub mod census;
pub mod find;
pub mod given;
pub mod graph;
pub mod group;
pub mod history;
pub mod identity;
pub mod openapi;
pub mod proposals;
mod refusal;
pub mod review;
pub mod route;

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use packset_segments::manifest::SpaceEntry;
use packset_segments::vfs::Vfs;

pub use self::given::Given;
pub use self::route::Route;

use self::group::Group;
use crate::claim::proposals as held;
use crate::cli::{Env, Failure};
use crate::clock::Clock;
use crate::encode::Encoders;
use crate::pack::{Committed, Ground, IdSource, Record, Snapshot, Store, Transaction, View};
use crate::place::{self, Workspace};
use crate::review::parse_live_cap;
use crate::search::panel::{Fuse, Panel};
use crate::settings::Model;
use crate::time::Micros;

/// How long a writer waits for another one, unless `PACKSET_LOCK_TIMEOUT_MS` says otherwise:
/// longer than any commit takes, shorter than a person waits.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// Snapshots that a warm desk keeps open: as many workspaces as one person works in at a time.
const WARM_SNAPSHOTS: usize = 64;

/// The doors to the world, and what is decided by the environment.
pub struct Desk {
    /// The door to files.
    pub vfs: Arc<dyn Vfs>,
    /// The door to the time.
    pub clock: Arc<dyn Clock>,
    /// The door to the environment.
    pub env: Env,
    /// Where new ids come from.
    pub ids: Arc<IdSource>,
    encoders: Mutex<Option<Lent>>,
    known: OnceLock<Option<Model>>,
    warm: Option<Warm>,
}

/// The encoders that are in use, and the model that the pack was set to when they were found.
struct Lent {
    chosen: Option<Model>,
    encoders: Arc<Encoders>,
}

/// What a process that stays keeps between requests.
#[derive(Default)]
struct Warm {
    snapshots: Mutex<HashMap<PathBuf, Arc<Snapshot>>>,
    group: Group,
    trace: Option<Mutex<Box<dyn Write + Send>>>,
}

/// How long the stages of a write took.
pub struct Stages {
    /// Before the commit: reading and checking.
    pub prepare: Duration,
    /// Waiting for the commit, and the commit until it is durable.
    pub commit: Duration,
}

impl Desk {
    /// A desk for one request.
    pub fn new(vfs: Arc<dyn Vfs>, clock: Arc<dyn Clock>, env: Env, ids: Arc<IdSource>) -> Self {
        Self {
            vfs,
            clock,
            env,
            ids,
            encoders: Mutex::default(),
            known: OnceLock::new(),
            warm: None,
        }
    }

    /// A desk that answers many requests, several at a time.
    #[must_use]
    pub fn warm(mut self) -> Self {
        self.warm = Some(Warm::default());
        self
    }

    /// What turns texts into vectors, if anything does. Looked for when it is first asked for; a
    /// desk that stays looks again when the pack was set to another model since.
    pub fn encoders(&self) -> Arc<Encoders> {
        let mut lent = self.encoders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lent) = lent.as_ref().filter(|_| !self.is_warm()) {
            return Arc::clone(&lent.encoders);
        }
        // No search and no write fails for an encoder's sake: what cannot be read sets nothing.
        let chosen = self.chosen().unwrap_or_default();
        if let Some(lent) = lent.as_ref().filter(|lent| lent.chosen == chosen) {
            return Arc::clone(&lent.encoders);
        }
        let model = match &chosen {
            Some(Model::Named(name)) => Some(name.as_str()),
            Some(Model::Static | Model::None) | None => None,
        };
        let encoders = Arc::new(Encoders::find(&self.env, &*self.vfs, model));
        *lent = Some(Lent { chosen, encoders: Arc::clone(&encoders) });
        encoders
    }

    /// The model that the pack is set to, for an encoder to run; none where it is set to none, to
    /// the table that is built in, or cannot be read.
    pub fn model(&self) -> Option<String> {
        match self.chosen() {
            Ok(Some(Model::Named(name))) => Some(name),
            _ => None,
        }
    }

    /// What the pack is set to turn texts into vectors with; none if it never was.
    ///
    /// # Errors
    /// What the pack says.
    pub fn chosen(&self) -> Result<Option<Model>, Failure> {
        if let Some(known) = self.known.get() {
            return Ok(known.clone());
        }
        let pack = self.snapshot_of(&self.pack_store()?)?;
        let chosen = Model::set_in(pack.as_deref())?;
        // One request sees one setting, and reads it once.
        if !self.is_warm() {
            return Ok(self.known.get_or_init(|| chosen).clone());
        }
        Ok(chosen)
    }

    /// Whether it answers many requests.
    pub fn is_warm(&self) -> bool {
        self.warm.is_some()
    }

    /// Writes a line about every claim that is stored; for a warm desk.
    #[must_use]
    pub fn traced(mut self, trace: Box<dyn Write + Send>) -> Self {
        self.warm.get_or_insert_default().trace = Some(Mutex::new(trace));
        self
    }

    /// Traces one write, where that was asked for. A trace that cannot be written is let go: the
    /// claim is stored.
    fn trace(&self, name: &str, id: &str, stages: &Stages) {
        let Some(trace) = self.warm.as_ref().and_then(|warm| warm.trace.as_ref()) else { return };
        let live = match self.snapshot(name) {
            Ok(Some(snapshot)) => crate::claim::upkeep::at_most(&snapshot),
            _ => 0,
        };
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let line = format!(
            "{} live={live} total={:.1}ms prepare={:.1} commit={:.1}\n",
            id.replace(char::is_whitespace, "_"),
            ms(stages.prepare + stages.commit),
            ms(stages.prepare),
            ms(stages.commit)
        );
        let mut trace = trace.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = trace.write_all(line.as_bytes());
    }

    /// The workspace in force; `named` is what the command line says.
    ///
    /// # Errors
    /// A name that no workspace can have.
    pub fn workspace(&self, named: Option<&str>) -> Result<Workspace, Failure> {
        Ok(place::workspace(named, &self.env, &*self.vfs)?)
    }

    /// The pack's home, which need not exist yet.
    ///
    /// # Errors
    /// No home to be found, or one that belongs to an older program.
    pub fn home(&self) -> Result<PathBuf, Failure> {
        Ok(place::home(&self.env, &*self.vfs)?.usable()?)
    }

    /// A path of the command line, against the directory the user is in.
    pub fn path(&self, named: &str) -> PathBuf {
        match self.env.cwd() {
            Some(cwd) => cwd.join(named),
            None => PathBuf::from(named),
        }
    }

    /// Whether texts have vectors from the static table: not with `PACKSET_STATIC=off`, and, where
    /// that says nothing, not in a pack that is set to no model at all.
    pub fn meaning(&self) -> bool {
        match self.env.get("PACKSET_STATIC") {
            Some(word) => !matches!(word, "off" | "0" | "no" | "false"),
            None => !matches!(self.chosen(), Ok(Some(Model::None))),
        }
    }

    /// The vector of a text, or of a query, and the space that it is of; none if no encoder
    /// answers.
    pub fn encode(&self, text: &str, query: bool) -> Option<(SpaceEntry, Vec<f32>)> {
        Self::encode_with(&self.encoders(), text, query)
    }

    /// As [`Desk::encode`], by these encoders.
    pub fn encode_with(
        encoders: &Encoders,
        text: &str,
        query: bool,
    ) -> Option<(SpaceEntry, Vec<f32>)> {
        if !encoders.are_there() {
            return None;
        }
        // Asked first: what the child says of itself is what its vectors are held to.
        let told = encoders.space();
        let vector = encoders.vector(text, query)?;
        Some((told.or_else(|| encoders.space())?.entry(), vector))
    }

    /// Whether words are stemmed, as the environment has it.
    pub fn stem(&self) -> bool {
        !matches!(self.env.get("PACKSET_STEM"), Some("off" | "0" | "no" | "false"))
    }

    /// What every store of the pack shares.
    ///
    /// # Errors
    /// A waiting time that is no number.
    pub fn ground(&self) -> Result<Ground, Failure> {
        self.ground_with(self.meaning())
    }

    fn ground_with(&self, meaning: bool) -> Result<Ground, Failure> {
        let wait = match self.env.get("PACKSET_LOCK_TIMEOUT_MS") {
            None => LOCK_WAIT,
            Some(text) => text.parse().map(Duration::from_millis).map_err(|_| {
                Failure::usage(format!("PACKSET_LOCK_TIMEOUT_MS is no number: {text}"))
                    .hint("give it in milliseconds, or unset it")
            })?,
        };
        let verb = self.env.args().first().map(|arg| arg.to_string_lossy().into_owned());
        Ok(Ground {
            vfs: Arc::clone(&self.vfs),
            clock: Arc::clone(&self.clock),
            ids: Arc::clone(&self.ids),
            wait,
            holder: format!(
                "packset {} (process {}, since {})",
                verb.unwrap_or_default(),
                std::process::id(),
                self.clock.now().format_ms()
            ),
            stem: self.stem(),
            meaning,
        })
    }

    /// The store of a workspace, which need not exist yet.
    ///
    /// # Errors
    /// As [`Desk::home`].
    pub fn store(&self, name: &str) -> Result<Store, Failure> {
        Ok(Store::new(self.ground()?, &self.home()?, name))
    }

    /// The store of what belongs to the pack as a whole, which need not exist yet.
    ///
    /// # Errors
    /// As [`Desk::home`].
    pub fn pack_store(&self) -> Result<Store, Failure> {
        // What lies there is found by its id: no text of it needs a vector, and whether texts have
        // one is read from it.
        Ok(Store::of_pack(self.ground_with(false)?, &self.home()?))
    }

    /// The newest generation of a workspace; none if there is no such workspace.
    ///
    /// # Errors
    /// What the pack says.
    pub fn snapshot(&self, name: &str) -> Result<Option<Arc<Snapshot>>, Failure> {
        self.snapshot_of(&self.store(name)?)
    }

    /// The newest generation of a store; none if it does not exist.
    ///
    /// # Errors
    /// What the pack says.
    pub fn snapshot_of(&self, store: &Store) -> Result<Option<Arc<Snapshot>>, Failure> {
        let Some(warm) = &self.warm else { return Ok(store.snapshot()?.map(Arc::new)) };
        let open = || warm.snapshots.lock().unwrap_or_else(PoisonError::into_inner);
        let known = open().get(store.dir()).cloned();
        let newest = store.snapshot_after(known.as_ref())?;
        let mut open = open();
        match &newest {
            None => drop(open.remove(store.dir())),
            Some(newest) => {
                if open.len() >= WARM_SNAPSHOTS && !open.contains_key(store.dir()) {
                    // Which one goes does not matter much: it is opened again when it is asked for.
                    let any = open.keys().next().cloned();
                    any.map(|any| open.remove(&any));
                }
                open.insert(store.dir().to_owned(), Arc::clone(newest));
            }
        }
        Ok(newest)
    }

    /// Changes a workspace, which is made if it does not exist, and returns when the change is
    /// durable. On a warm desk several changes share one commit; one that is refused leaves
    /// nothing of itself in it.
    ///
    /// # Errors
    /// `work`'s own, or what the pack says.
    pub fn commit<T: Send + 'static>(
        &self,
        store: &Store,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<(T, Option<Committed>), Failure> {
        match &self.warm {
            None => store.commit(work),
            Some(warm) => warm.group.commit(store, true, work)?.ok_or_else(|| {
                // A group that may make the workspace always has one.
                Failure::new(crate::cli::FailureKind::Bug, "a workspace was made and is not there")
            }),
        }
    }

    /// As [`Desk::commit`], but a workspace that does not exist is not made: then none.
    ///
    /// # Errors
    /// As [`Desk::commit`].
    pub fn commit_existing<T: Send + 'static>(
        &self,
        store: &Store,
        work: impl FnOnce(&mut Transaction<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Result<Option<(T, Option<Committed>)>, Failure> {
        match &self.warm {
            None => store.commit_existing(work),
            Some(warm) => warm.group.commit(store, false, work),
        }
    }

    /// Whether a write of this claim waits for a person, as `PACKSET_HOLD_AGENT_WRITES` has it.
    pub fn holds(&self, claim: &Record) -> bool {
        held::is_held(claim, self.env.get("PACKSET_HOLD_AGENT_WRITES"))
    }

    /// How many live claims a workspace keeps, as `PACKSET_LIVE_CAP` has it; none: as many as come.
    ///
    /// # Errors
    /// A setting that is no cap.
    pub fn live_cap(&self) -> Result<Option<usize>, Failure> {
        parse_live_cap(self.env.get("PACKSET_LIVE_CAP"))
            .map_err(|bad| Failure::usage(format!("PACKSET_LIVE_CAP: {bad}")))
    }

    /// The panel that the environment asks for.
    ///
    /// # Errors
    /// A name that the panel does not know.
    pub fn panel(&self) -> Result<Panel, Failure> {
        let named = |name: &str| self.env.get(name);
        let blend = named("PACKSET_FUSE").is_none_or(|name| name == Fuse::Blend.name());
        // A way that is named brings along what the known program does beside it.
        let mut panel = if self.meaning() && blend { Panel::BEST } else { Panel::default() };
        let unknown =
            |name: &str, error: &dyn std::fmt::Display| Failure::usage(format!("{name}: {error}"));
        if let Some(value) = named("PACKSET_FUSE") {
            panel.fuse = value.parse().map_err(|error| unknown("PACKSET_FUSE", &error))?;
        }
        if let Some(value) = named("PACKSET_DIVERSIFY") {
            panel.diversify =
                value.parse().map_err(|error| unknown("PACKSET_DIVERSIFY", &error))?;
        }
        if let Some(value) = named("PACKSET_DECAY") {
            panel.decay = value.parse().map_err(|error| unknown("PACKSET_DECAY", &error))?;
        }
        Ok(panel)
    }

    /// The view that a read asks for with `as_of` and `known_at`.
    ///
    /// # Errors
    /// A time that is none.
    pub fn view(&self, given: &Given) -> Result<View, Failure> {
        Ok(match (given.time("as_of")?, given.time("known_at")?) {
            (None, None) => View::now(self.clock.now()),
            (Some(at), None) => View::as_of(at),
            (valid, Some(known)) => View::known_at(known, valid.unwrap_or(known)),
        })
    }
}

/// Since when versions are kept, if a view asks for a past of which some were dropped.
pub fn gap(snapshot: &Snapshot, view: &View) -> Option<String> {
    let since = snapshot.manifest().kept_since.filter(|since| view.recorded < *since)?;
    Some(Micros(since).format_ms())
}
