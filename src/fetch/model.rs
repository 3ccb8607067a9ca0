//! All files of a model, brought into a directory that gets its name when they are all there.
//!
//! They gather in `user/.NAME.part/`, which others pass over, and keep their sums beside them in
//! `SHA256SUMS`. Not here: what the files say. Invariants: `user/NAME/` appears by one rename, with
//! every file whole; two pulls of one model never write the same file, for the second waits until
//! the first is through, and finds it there; what somebody else put there is never touched.

use std::path::{Path, PathBuf};
use std::time::Duration;

use packset_segments::IoContext as _;
use packset_segments::vfs::{Lock, Vfs};

use super::cache::{Cache, lacking};
use super::file::{Fetched, Proof, Sums, Wanted, fetch, sum_of};
use super::http::Http;
use super::{Error, Result};
use crate::cli::env::absent;
use crate::cli::{Env, Ui};
use crate::embed::models::Model;
use crate::pack::home::make_directories;

/// The hub that is public.
const HUB: &str = "https://huggingface.co";
/// The list of sums: of a mirror at its root, of a model in its directory.
pub const SUMS: &str = "SHA256SUMS";
/// How long another pull of the same is waited for: the largest model at a megabyte a second.
const OTHERS: Duration = Duration::from_secs(3_600);
/// Longest list of sums that is read, bytes: fifty thousand files.
const LIST: u64 = 4 << 20;

/// Where models come from.
pub struct Source {
    http: Http,
    root: String,
    /// The sums of a mirror; none: it is no mirror of ours, but a hub.
    sums: Option<Sums>,
}

/// One file that is here by now.
#[derive(Debug)]
pub struct Brought {
    /// Its path in the model's directory.
    pub local: &'static str,
    /// What is known of it.
    pub fetched: Fetched,
}

impl Source {
    /// A mirror, else what `HF_ENDPOINT` names, else the public hub.
    ///
    /// # Errors
    /// [`Error::Offline`], an address that is none, or a list of sums that cannot be had.
    pub fn new(env: &Env, vfs: &dyn Vfs, mirror: Option<&str>) -> Result<Self> {
        let http = Http::new(env, vfs)?;
        let (name, given) = match (mirror, env.get("HF_ENDPOINT")) {
            (Some(mirror), _) => ("--mirror", mirror),
            (None, Some(endpoint)) => ("HF_ENDPOINT", endpoint),
            (None, None) => ("", HUB),
        };
        let root = given.trim().trim_end_matches('/').to_owned();
        let host = root.strip_prefix("https://").or_else(|| root.strip_prefix("http://"));
        let unfit = |why: &str| {
            let value = root.rsplit_once('@').map_or(root.as_str(), |(_, host)| host).to_owned();
            Err(Error::Setting { name, value, why: why.into() })
        };
        match host {
            None | Some("") => return unfit("it must begin with https:// or http:// and a host"),
            Some(host) if host.contains('@') => {
                return unfit("a user and a password in it are not passed on");
            }
            Some(_) => {}
        }
        let mut source = Self { http, root, sums: None };
        if mirror.is_some() {
            source.sums = Some(source.list()?);
        }
        Ok(source)
    }

    /// The server that is asked.
    pub fn http(&self) -> &Http {
        &self.http
    }

    /// The mirror, if it is one, with its sums.
    pub fn mirror(&self) -> Option<(&str, &Sums)> {
        Some((self.root.as_str(), self.sums.as_ref()?))
    }

    /// The sums that a mirror keeps; it need not.
    fn list(&self) -> Result<Sums> {
        use std::io::Read as _;
        let url = format!("{}/{SUMS}", self.root);
        let answer = match self.http.get(&url, 0, None) {
            Err(Error::Missing { .. }) => return Ok(Sums::default()),
            other => other?,
        };
        let mut text = String::new();
        let read = answer.body.take(LIST).read_to_string(&mut text);
        read.map_err(|error| Error::Cut { url, done: 0, why: error.to_string() })?;
        Ok(Sums::parse(&text))
    }

    /// Brings a model; the files that came, none if it was here.
    ///
    /// # Errors
    /// What keeps it from being here whole.
    pub fn pull(
        &self,
        vfs: &dyn Vfs,
        ui: &mut Ui,
        cache: &Cache,
        model: &'static Model,
    ) -> Result<Vec<Brought>> {
        if model.repository.is_empty() {
            return Err(Error::Nowhere { name: model.name, dir: cache.model(model.name) });
        }
        let _alone = alone(vfs, ui, &cache.models(), model.name)?;
        let dir = cache.model(model.name);
        if is_here(vfs, &dir, model)? {
            return Ok(Vec::new());
        }
        let draft = cache.models().join(format!(".{}.part", model.name));
        let mut brought = Vec::with_capacity(model.files.len());
        for file in model.files {
            let path = draft.join(file.local);
            if let Some(dir) = path.parent() {
                make_directories(vfs, dir)?;
            }
            let place = format!("{}/resolve/{}/{}", model.repository, model.revision, file.path);
            let listed = || {
                let sums = self.sums.as_ref()?;
                let short = format!("{}/{}", model.repository, file.path);
                sums.of(&place).or_else(|| sums.of(&short)).map(str::to_owned)
            };
            let pin = file.sha256.map(|sum| (sum.to_owned(), Proof::Pin));
            let wanted = Wanted {
                label: file.local.into(),
                url: format!("{}/{place}", self.root),
                path,
                sum: pin.or_else(|| Some((listed()?, Proof::List))),
                size: file.bytes,
            };
            match fetch(&self.http, vfs, ui, &wanted) {
                Ok(fetched) => brought.push(Brought { local: file.local, fetched }),
                // Repositories differ in the small files that nothing here needs.
                Err(Error::Missing { .. }) if !file.needed => {}
                Err(error) => return Err(error),
            }
        }
        keep_sums(vfs, &draft, &brought)?;
        vfs.rename_new(&draft, &dir).at("rename", &dir)?;
        vfs.sync_dir(&cache.models()).at("sync", &dir)?;
        Ok(brought)
    }
}

/// Whether a model lies whole in a directory.
///
/// # Errors
/// [`Error::Incomplete`] for a directory that lacks a file; what the system says.
pub fn is_here(vfs: &dyn Vfs, dir: &Path, model: &Model) -> Result<bool> {
    match vfs.kind(dir) {
        Err(error) if absent(&error) => return Ok(false),
        kind => kind.at("look at", dir)?,
    };
    let needed = model.files.iter().filter(|file| file.needed).map(|file| file.local);
    match lacking(vfs, dir, needed).at("look into", dir)? {
        None => Ok(true),
        Some(file) => Err(Error::Incomplete { dir: dir.to_owned(), file: file.to_owned() }),
    }
}

/// Whether every file is what it was when it came. A directory that was filled by hand has no sums
/// to be held to: then none.
///
/// # Errors
/// [`Error::Mismatch`], or what the system says.
pub fn verify(vfs: &dyn Vfs, dir: &Path) -> Result<Option<usize>> {
    let path = dir.join(SUMS);
    let text = match vfs.read(&path) {
        Err(error) if absent(&error) => return Ok(None),
        read => read.at("read", &path)?,
    };
    let sums = Sums::parse(&String::from_utf8_lossy(&text));
    let mut seen = 0;
    for (name, wanted) in sums.all() {
        let found = sum_of(vfs, &dir.join(name))?;
        if found != wanted {
            let file = dir.join(name).display().to_string();
            return Err(Error::Mismatch { file, found, wanted: wanted.to_owned() });
        }
        seen += 1;
    }
    Ok(Some(seen))
}

/// Nobody else brings the same for as long as this lives.
///
/// # Errors
/// [`Error::Busy`] when another one goes on and on; what the system says.
pub fn alone(vfs: &dyn Vfs, ui: &mut Ui, dir: &Path, name: &str) -> Result<Box<dyn Lock>> {
    make_directories(vfs, dir)?;
    let path: PathBuf = dir.join(format!(".{name}.lock"));
    match vfs.create_new(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        made => made.and_then(|mut file| file.sync()).at("create", &path)?,
    }
    let held = |error: &std::io::Error| error.kind() == std::io::ErrorKind::WouldBlock;
    match vfs.lock(&path, Duration::ZERO) {
        Err(error) if held(&error) => {
            ui.note(&format!("packset: another packset fetches {name}: waiting for it"));
            match vfs.lock(&path, OTHERS) {
                Err(error) if held(&error) => Err(Error::Busy { what: name.to_owned() }),
                other => Ok(other.at("lock", &path)?),
            }
        }
        other => Ok(other.at("lock", &path)?),
    }
}

fn keep_sums(vfs: &dyn Vfs, dir: &Path, brought: &[Brought]) -> Result<()> {
    let path = dir.join(SUMS);
    match vfs.unlink(&path) {
        Err(error) if absent(&error) => {}
        other => other.at("remove", &path)?,
    }
    let line = |file: &Brought| format!("{}  {}\n", file.fetched.sum, file.local);
    let text: String = brought.iter().map(line).collect();
    let mut file = vfs.create_new(&path).at("create", &path)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync()).at("write", &path)?;
    Ok(vfs.sync_dir(dir).at("sync", dir)?)
}
