//! What ails a pack and the way in to it: every finding with a verdict and the command that helps.
//!
//! A checkup looks and opens, each store's newest generation at most; `packset verify` reads every
//! byte. Not here: how findings are printed. Invariants: without `fix` nothing changes; with it
//! modes narrow, and a lock file that a store lacks is put back, which is safe because a writer
//! that holds a lost one publishes without clobbering, so that of two one fails and both know.

use std::io;
use std::path::{Path, PathBuf};

use packset_segments::vfs::{Kind, Vfs};

use super::{Health, State, find, health, health_of_port, is_older};
use crate::cli::env::SEAT_FILE;
use crate::cli::{Failure, FailureKind};
use crate::client::{Address, loopback_port};
use crate::desk::Desk;
use crate::embed::models;
use crate::fetch::cache::Cache;
use crate::fetch::model::is_here;
use crate::fetch::runtime;
use crate::pack::plan::{self, Size};
use crate::pack::{Store, home as packs};
use crate::place::{self, Home};
use crate::serve::hold::{self, LOCK, RUNTIME, TOKEN};
use crate::settings::Model;

/// Below this much free space no write can be counted on: a commit writes its segment beside those
/// that it replaces, and a claim with its indexes has some KiB.
const FULL_BYTES: u64 = 16 << 20;

/// Below this much a merge of a large workspace may fail: a million claims of 300 bytes.
const TIGHT_BYTES: u64 = 300 << 20;

/// How well something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// As it should be.
    Ok,
    /// It works, and may surprise.
    Warn,
    /// It does not work, or lets others in.
    Fail,
}

impl Verdict {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What.
    pub what: String,
    /// How well it is.
    pub verdict: Verdict,
    /// What was found.
    pub said: String,
    /// The command that helps, where one does.
    pub fix: Option<String>,
}

/// Everything that was looked at.
struct Findings<'a> {
    desk: &'a Desk,
    fix: bool,
    all: Vec<Finding>,
}

/// Looks at the home, the stores in it, the writer, the token, the clients' settings, the encoder,
/// its model and its library, in this order; `fix` mends what can be mended without a loss.
pub fn checkup(desk: &Desk, fix: bool) -> Vec<Finding> {
    let mut findings = Findings { desk, fix, all: Vec::new() };
    if let Some(home) = findings.home() {
        findings.modes(&home);
        findings.space(&home);
        findings.stores(&home);
        findings.writer(&home);
        findings.token(&home);
    }
    findings.clients();
    let encoder = match desk.encoders().are_there() {
        true => "found; `packset status` says whether it answers",
        false => "none: searches go by words alone",
    };
    findings.put("encoder", Verdict::Ok, encoder, None);
    findings.model();
    findings.all
}

impl Findings<'_> {
    fn put(
        &mut self,
        what: impl Into<String>,
        verdict: Verdict,
        said: impl Into<String>,
        fix: Option<String>,
    ) {
        self.all.push(Finding { what: what.into(), verdict, said: said.into(), fix });
    }

    fn failed(&mut self, what: &str, failure: &Failure) {
        self.put(what, Verdict::Fail, failure.message.clone(), failure.hint.clone());
    }

    /// The home, if there is one to look into.
    fn home(&mut self) -> Option<PathBuf> {
        let found = place::home(&self.desk.env, &*self.desk.vfs);
        let (path, how) = match found {
            Ok(home) => {
                let Home { path, how, .. } = &home;
                let (path, how) = (path.clone(), how.to_string());
                if let Err(error) = home.usable() {
                    self.failed("home", &error.into());
                    return None;
                }
                (path, how)
            }
            Err(error) => {
                self.failed("home", &error.into());
                return None;
            }
        };
        let shown = format!("{} ({how})", path.display());
        match self.desk.vfs.kind(&path) {
            Ok(Kind::Dir) => {
                self.put("home", Verdict::Ok, shown, None);
                Some(path)
            }
            Ok(Kind::File(_)) => {
                let fix = "set PACKSET_HOME to a directory".to_owned();
                self.put("home", Verdict::Fail, format!("{shown} is no directory"), Some(fix));
                None
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let said = format!("{shown}: not there yet, the first write makes it");
                self.put("home", Verdict::Ok, said, None);
                // The port may be another's all the same.
                self.port();
                None
            }
            Err(error) => {
                let fix = Some(format!("ls -ld {}", quoted(&path)));
                self.put("home", Verdict::Fail, format!("{shown}: {error}"), fix);
                None
            }
        }
    }

    /// Directories must be 0700, and what is not sealed 0600.
    fn modes(&mut self, home: &Path) {
        let vfs = &self.desk.vfs;
        let mut wrong = 0_u32;
        let mut first: Option<(PathBuf, String, u32)> = None;
        let mut mended = 0_u32;
        for (path, want) in private(&**vfs, home) {
            let Ok(found) = rustix::fs::stat(&path) else { continue };
            let theirs = found.st_uid != rustix::process::geteuid().as_raw();
            if !theirs && found.st_mode & 0o077 == 0 {
                continue;
            }
            if self.fix && !theirs && rustix::fs::chmod(&path, want.into()).is_ok() {
                mended += 1;
                continue;
            }
            wrong += 1;
            first.get_or_insert_with(|| {
                let what = match theirs {
                    true => format!("belongs to user {}", found.st_uid),
                    false => format!("is {:04o}", found.st_mode & 0o7777),
                };
                (path, what, want)
            });
        }
        match first {
            None if mended > 0 => {
                let said = format!("{mended} files and directories narrowed to their owner");
                self.put("permissions", Verdict::Ok, said, None);
            }
            None => self.put("permissions", Verdict::Ok, "0700 and 0600 throughout", None),
            Some((path, what, want)) => {
                let more = match wrong {
                    1 => String::new(),
                    _ => format!(", and {} more", wrong - 1),
                };
                let said = format!("{} {what}, not {want:04o}{more}", path.display());
                let fix = match what.starts_with("is") {
                    true => "packset doctor --fix".to_owned(),
                    false => format!("sudo chown -R \"$USER\" {}", quoted(home)),
                };
                self.put("permissions", Verdict::Fail, said, Some(fix));
            }
        }
    }

    fn space(&mut self, home: &Path) {
        match self.desk.vfs.free_space(home) {
            Ok(free) => {
                let verdict = match free {
                    free if free < FULL_BYTES => Verdict::Fail,
                    free if free < TIGHT_BYTES => Verdict::Warn,
                    _ => Verdict::Ok,
                };
                let fix = format!("df -h {}", quoted(home));
                let fix = (verdict != Verdict::Ok).then_some(fix);
                self.put("space", verdict, format!("{} MiB free", free >> 20), fix);
            }
            Err(error) => self.put("space", Verdict::Warn, format!("not told: {error}"), None),
        }
    }

    fn stores(&mut self, home: &Path) {
        let ground = match self.desk.ground() {
            Ok(ground) => ground,
            Err(failure) => return self.failed("stores", &failure),
        };
        let mut stores = match packs::list(&ground, home) {
            Ok(stores) => stores,
            Err(error) => return self.failed("stores", &error.into()),
        };
        if stores.is_empty() {
            self.put("stores", Verdict::Ok, "no workspace yet", None);
        }
        let seat = Store::of_pack(ground, home);
        if self.desk.vfs.kind(seat.dir()).is_ok() {
            stores.push(seat);
        }
        for store in stores {
            self.store(&store);
        }
        let unmade = self.desk.vfs.list(&packs::workspaces(home)).unwrap_or_default();
        let unmade = unmade.iter().filter(|name| name.starts_with('.')).count();
        if unmade > 0 {
            let said = format!("{unmade} directories of writers that were cut short");
            let fix = "the next new or forgotten workspace removes them".to_owned();
            self.put("leftovers", Verdict::Ok, said, Some(fix));
        }
    }

    fn store(&mut self, store: &Store) {
        let vfs = &*self.desk.vfs;
        let what = format!("store {}", store.name());
        let name = quoted(Path::new(store.name()));
        let lock = store.dir().join("LOCK");
        let lost = vfs.kind(&lock).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        let mended = lost && self.fix && put_back(vfs, &lock, store.dir()).is_ok();
        let snapshot = match store.snapshot() {
            Ok(Some(snapshot)) => snapshot,
            // Forgotten a moment ago.
            Ok(None) => return,
            Err(error) => {
                let failure = Failure::from(error);
                let fix = match failure.kind {
                    FailureKind::Damaged => Some(format!("packset verify {name}")),
                    _ => failure.hint,
                };
                return self.put(what, Verdict::Fail, failure.message, fix);
            }
        };
        if lost && !mended {
            let said = "its LOCK file is missing, so that nothing can be written";
            return self.put(what, Verdict::Fail, said, Some("packset doctor --fix".into()));
        }
        let sizes: Vec<Size> = snapshot
            .segments()
            .iter()
            .map(|s| Size { bytes: s.sealed().len, rows: u64::from(s.rows()) })
            .collect();
        let bytes: u64 = sizes.iter().map(|size| size.bytes).sum();
        let mut said = format!(
            "generation {}, {} segments, {bytes} bytes",
            snapshot.manifest().generation,
            sizes.len()
        );
        // A name that no manifest has is of a commit that runs, or of one that was cut short.
        let files = |part: &str| vfs.list(&store.dir().join(part)).unwrap_or_default();
        let named: Vec<String> =
            snapshot.manifest().segments.iter().map(|entry| entry.file()).collect();
        let left =
            files("s").iter().filter(|file| !named.contains(file)).count() + files("t").len();
        if left > 0 {
            said.push_str(&format!(", {left} leftover files, which the next write removes"));
        }
        if mended {
            said.push_str(", its LOCK file was missing and is back");
        }
        match plan::overdue(&sizes) {
            true => {
                said.push_str(", a merge is overdue");
                self.put(what, Verdict::Warn, said, Some(format!("packset compact {name}")));
            }
            false => self.put(what, Verdict::Ok, said, None),
        }
    }

    fn writer(&mut self, home: &Path) {
        let state = match find(&*self.desk.vfs, home) {
            Ok(state) => state,
            Err(error) => return self.failed("writer", &error.into()),
        };
        match state {
            State::Down => {
                let stale = self.desk.vfs.kind(&home.join(RUNTIME)).is_ok();
                let said = match stale {
                    true => "down; the last one was killed, and the next one tidies up",
                    false => "down; nothing needs it but clients of HTTP",
                };
                self.put("writer", Verdict::Ok, said, None);
                self.port();
            }
            State::Held => {
                let said = super::holder(&*self.desk.vfs, home);
                let said = format!("the home is held and it is not said where: {said}");
                self.put("writer", Verdict::Warn, said, Some("packset doctor".into()));
            }
            State::Up(writer) => {
                let ours = env!("CARGO_PKG_VERSION");
                let said = format!("up on {}, process {}", writer.url, writer.pid);
                if health(&writer) != Health::Writer {
                    let fix = "packset stop; packset ensure".to_owned();
                    let said = format!("{said}, and does not answer");
                    return self.put("writer", Verdict::Fail, said, Some(fix));
                }
                let said = format!("{said}, version {}", writer.version);
                if is_older(&writer.version, ours) {
                    let said = format!("{said}, older than {ours}");
                    self.put("writer", Verdict::Warn, said, Some("packset ensure".into()));
                } else if is_older(ours, &writer.version) {
                    let said = format!("{said}, newer than {ours}");
                    let fix = "install that version here too".to_owned();
                    self.put("writer", Verdict::Warn, said, Some(fix));
                } else {
                    self.put("writer", Verdict::Ok, said, None);
                }
            }
        }
    }

    /// Whether the port is free for a writer that is down.
    fn port(&mut self) {
        let port = place::port(&self.desk.env);
        let what = match health_of_port(port) {
            Health::Nothing => return,
            Health::Writer => "a writer of another home",
            Health::Other => "another program",
        };
        let fix = "name another port with PACKSET_PORT".to_owned();
        self.put("port", Verdict::Warn, format!("{port} is taken by {what}"), Some(fix));
    }

    fn token(&mut self, home: &Path) {
        let path = home.join(TOKEN);
        let off =
            self.desk.env.get("PACKSET_AUTH").is_some_and(|off| off.eq_ignore_ascii_case("off"));
        if off {
            let said = "PACKSET_AUTH is off: every program of this machine may read and write";
            return self.put("token", Verdict::Warn, said, Some("unset PACKSET_AUTH".into()));
        }
        match hold::read_token(&*self.desk.vfs, home) {
            Ok(Some(_)) => {
                self.put(
                    "token",
                    Verdict::Ok,
                    format!("{}, its owner's alone", path.display()),
                    None,
                );
            }
            Ok(None) if self.desk.vfs.kind(&path).is_ok() => {
                let said = format!("{} holds no token", path.display());
                let fix = format!("rm {}; packset stop; packset ensure", quoted(&path));
                self.put("token", Verdict::Fail, said, Some(fix));
            }
            Ok(None) => {
                self.put("token", Verdict::Ok, "none yet, the first writer makes it", None);
            }
            Err(error) => {
                let said = error.to_string();
                let fix = match error {
                    hold::Error::Exposed { .. } => Some(format!("chmod 600 {}", quoted(&path))),
                    _ => None,
                };
                self.put("token", Verdict::Fail, said, fix);
            }
        }
    }

    /// Which model turns texts into vectors, whether it is here, and what would run it.
    fn model(&mut self) {
        let (env, vfs) = (&self.desk.env, &*self.desk.vfs);
        let (name, by) = match env.get("PACKSET_EMBED_MODEL") {
            Some(name) => (name.to_owned(), "PACKSET_EMBED_MODEL"),
            // A home that cannot be looked into was said above.
            None => match self.desk.chosen().ok().flatten() {
                Some(chosen) => (chosen.name().to_owned(), "packset model use"),
                None => (Model::default().name().to_owned(), "the default"),
            },
        };
        let needed = matches!(Model::of(&name), Model::Named(_));
        let (verdict, said, fix) = match models::find(&name) {
            None if !needed => (Verdict::Ok, format!("{name} ({by})"), None),
            None => {
                let fix = "packset model use static".to_owned();
                (Verdict::Warn, format!("{name} ({by}) is not known"), Some(fix))
            }
            Some(model) => {
                let pull = Some(format!("packset model pull {}", model.name));
                let dir = match env.path("PACKSET_EMBED_MODEL_PATH") {
                    Some(path) => Ok(self.desk.path(&path.to_string_lossy())),
                    None => Cache::of(env).map(|cache| cache.model(model.name)),
                };
                match dir.and_then(|dir| Ok((is_here(vfs, &dir, model)?, dir))) {
                    Ok((true, dir)) => {
                        (Verdict::Ok, format!("{name} ({by}) in {}", dir.display()), None)
                    }
                    Ok((false, dir)) => {
                        let said = format!("{name} ({by}) is not in {}", dir.display());
                        (Verdict::Warn, said, pull)
                    }
                    Err(error) => (Verdict::Warn, format!("{name} ({by}): {error}"), pull),
                }
            }
        };
        let library = runtime::find(env, vfs);
        self.put("model", verdict, said, fix);
        match library {
            Some(found) => {
                let said = format!("{} ({})", found.path.display(), found.by);
                self.put("runtime", Verdict::Ok, said, None);
            }
            None if needed => {
                let fix = format!("packset model pull {name} --runtime");
                self.put("runtime", Verdict::Warn, "no ONNX Runtime was found", Some(fix));
            }
            None => self.put("runtime", Verdict::Ok, "none, and no model needs one", None),
        }
    }

    /// Where clients of this shell go.
    fn clients(&mut self) {
        let env = &self.desk.env;
        let mut said = Vec::new();
        for name in ["PACKSET_URL", "INSIDE_MEMORY_URL", "PACKSET_PORT", "GROK_MEM_PORT"] {
            if let Some(value) = env.get(name) {
                said.push(format!("{name}={value}"));
            }
        }
        if let Some(user) = env.path("HOME") {
            let seat = user.join(SEAT_FILE);
            if self.desk.vfs.kind(&seat).is_ok() {
                said.push(format!("read {}", seat.display()));
            }
        }
        let port = place::port(env);
        let odd = ["PACKSET_PORT", "GROK_MEM_PORT"].into_iter().find_map(|name| {
            let value = env.get(name)?;
            value.trim().parse::<u16>().is_err().then_some(name)
        });
        let (verdict, fix) = match Address::of(env) {
            Address::Off => {
                said.push("every verb that asks for claims is refused".into());
                (Verdict::Warn, Some("unset PACKSET_URL INSIDE_MEMORY_URL".to_owned()))
            }
            Address::Writer(url) => match loopback_port(&url) {
                None => {
                    said.push("the verbs ask that machine, not the files here".into());
                    (Verdict::Warn, Some("unset PACKSET_URL INSIDE_MEMORY_URL".to_owned()))
                }
                Some(named) => match health_of_port(named) {
                    Health::Writer => (Verdict::Ok, None),
                    Health::Other => {
                        said.push("what answers there is no writer".into());
                        (Verdict::Fail, Some("unset PACKSET_URL INSIDE_MEMORY_URL".to_owned()))
                    }
                    Health::Nothing => {
                        said.push("nothing answers there".into());
                        (Verdict::Fail, Some(format!("PACKSET_PORT={named} packset ensure")))
                    }
                },
            },
            Address::Files => {
                said.push("the verbs work on the files".into());
                match odd {
                    Some(name) => {
                        said.push(format!("{name} is no port, so that it is {port}"));
                        (Verdict::Warn, Some(format!("unset {name}")))
                    }
                    None => (Verdict::Ok, None),
                }
            }
        };
        self.put("clients", verdict, said.join(", "), fix);
    }
}

/// What must be its owner's alone, with its mode: the home, its directories and what is not sealed.
fn private(vfs: &dyn Vfs, home: &Path) -> Vec<(PathBuf, u32)> {
    const DIR: u32 = 0o700;
    const FILE: u32 = 0o600;
    let mut all = vec![(home.to_owned(), DIR)];
    all.extend([LOCK, RUNTIME, TOKEN].map(|name| (home.join(name), FILE)));
    for part in ["ws", "sys"] {
        let dir = home.join(part);
        let names = vfs.list(&dir).unwrap_or_default();
        all.push((dir.clone(), DIR));
        for store in names.iter().map(|name| dir.join(name)) {
            all.push((store.join("LOCK"), FILE));
            all.extend(["m", "s", "t"].map(|name| (store.join(name), DIR)));
            all.push((store, DIR));
        }
    }
    all
}

/// Gives a store the lock file back that it lost.
fn put_back(vfs: &dyn Vfs, lock: &Path, dir: &Path) -> io::Result<()> {
    match vfs.create_new(lock) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        made => made?.sync()?,
    }
    vfs.sync_dir(dir)
}

/// A path as a shell takes it for one word.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:%+,@".contains(c);
    match !text.is_empty() && !text.starts_with('-') && text.chars().all(plain) {
        true => text.into_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_can_be_pasted() {
        for (path, word) in [
            ("/a/b-c.d", "/a/b-c.d"),
            ("git:h.org/o", "git:h.org/o"),
            ("/a b", "'/a b'"),
            ("it's", "'it'\\''s'"),
            ("$(x)", "'$(x)'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(Path::new(path)), word);
        }
    }

    #[test]
    fn verdicts_are_ordered() {
        assert!(Verdict::Fail > Verdict::Warn && Verdict::Warn > Verdict::Ok);
        assert_eq!(
            [Verdict::Ok, Verdict::Warn, Verdict::Fail].map(Verdict::name),
            ["ok", "warn", "fail"]
        );
    }
}
