//! What a writer keeps in the pack's home while it serves: the lock that makes it the only one,
//! the token that its clients show, and the runtime file that tells them where it is.
//!
//! Not here: starting and stopping processes, or what is served. Invariants: `serve.lock` is held
//! for as long as its [`Hold`] lives and is never removed; a token or runtime file is seen whole
//! or not at all; a runtime file that another process wrote is not taken away.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use packset_segments::vfs::{Lock, Vfs};
use serde_json::{Value, json};

use super::guard::{TOKEN_DIGITS, Token};

/// Held by the one writer of a home.
pub const LOCK: &str = "serve.lock";
/// The token's file.
pub const TOKEN: &str = "token";
/// The runtime file.
pub const RUNTIME: &str = "serve.json";

/// Why a home cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another writer serves it.
    #[error("{} is served already, by {holder}", home.display())]
    Held {
        /// The home.
        home: PathBuf,
        /// Who: a process and where it listens, as far as it said.
        holder: String,
    },
    /// The token's file belongs to another user, or others may read or write it.
    #[error("{} {what}; a token that others know is none", path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The system refused.
    #[error("cannot {what} {}: {source}", path.display())]
    Io {
        /// What we wanted.
        what: &'static str,
        /// With which file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

/// A result of this module.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Names what failed, and with which file.
pub(crate) trait At<T> {
    /// The error of a wish about a file.
    fn at(self, what: &'static str, path: &Path) -> Result<T>;
}

impl<T, E: Into<io::Error>> At<T> for std::result::Result<T, E> {
    fn at(self, what: &'static str, path: &Path) -> Result<T> {
        self.map_err(|source| Error::Io { what, path: path.to_owned(), source: source.into() })
    }
}

/// What the runtime file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runtime {
    /// The writer's process.
    pub pid: u32,
    /// Where it answers: `http://127.0.0.1:PORT` or `unix:PATH`.
    pub url: String,
    /// Its Unix socket, if it listens on one.
    pub socket: Option<String>,
    /// Its TCP port, if it listens on one.
    pub port: Option<u16>,
    /// Its version.
    pub version: String,
    /// When it began, RFC 3339.
    pub started: String,
    /// Its program.
    pub exe: String,
}

impl Runtime {
    fn parse(bytes: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(bytes).ok()?;
        let text = |name| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let number = |name| value.get(name).and_then(Value::as_u64);
        Some(Self {
            pid: u32::try_from(number("pid")?).ok()?,
            url: text("url")?,
            socket: text("socket"),
            port: number("port").and_then(|port| u16::try_from(port).ok()),
            version: text("version")?,
            started: text("started").unwrap_or_default(),
            exe: text("exe").unwrap_or_default(),
        })
    }

    fn format(&self) -> Vec<u8> {
        let value = json!({
            "pid": self.pid,
            "url": self.url,
            "socket": self.socket,
            "port": self.port,
            "version": self.version,
            "started": self.started,
            "exe": self.exe,
        });
        format!("{value}\n").into_bytes()
    }
}

/// What the home's writer said about itself, whether or not it still runs; none if it said
/// nothing that can be read.
///
/// # Errors
/// A runtime file that is there and cannot be read.
pub fn read_runtime(vfs: &dyn Vfs, home: &Path) -> Result<Option<Runtime>> {
    let path = home.join(RUNTIME);
    match vfs.read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => Ok(Runtime::parse(&other.at("read", &path)?)),
    }
}

/// Whether a writer holds the home now. The lock is tried and given back at once.
///
/// # Errors
/// What the system says about the lock file.
pub fn is_held(vfs: &dyn Vfs, home: &Path) -> Result<bool> {
    let path = home.join(LOCK);
    match vfs.lock(&path, Duration::ZERO) {
        Ok(_) => Ok(false),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound => Ok(false),
            io::ErrorKind::WouldBlock => Ok(true),
            _ => Err(error).at("lock", &path),
        },
    }
}

/// The token of a home, if it has a valid one.
///
/// # Errors
/// [`Error::Exposed`], or what the system says.
pub fn read_token(vfs: &dyn Vfs, home: &Path) -> Result<Option<Token>> {
    let path = home.join(TOKEN);
    let bytes = match vfs.read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.at("read", &path)?,
    };
    // The Vfs knows no owners. Following links is right: what counts is who wrote the content.
    let found = rustix::fs::stat(&path).at("look at", &path)?;
    let exposed = |what| Err(Error::Exposed { path: path.clone(), what });
    if found.st_uid != rustix::process::geteuid().as_raw() {
        return exposed("belongs to another user");
    }
    if found.st_mode & 0o077 != 0 {
        return exposed("is open to other users");
    }
    Ok(std::str::from_utf8(&bytes).ok().and_then(|text| Token::parse(text.trim_end())))
}

/// The only writer of a home, for as long as it lives.
pub struct Hold {
    home: PathBuf,
    written: Option<Runtime>,
    _lock: Box<dyn Lock>,
}

impl Hold {
    /// Becomes the writer of `home`, which must exist, waiting at most `wait` for the one before.
    /// `who` says who we are, for the one who comes next.
    ///
    /// # Errors
    /// [`Error::Held`], or what the system says.
    pub fn take(vfs: &dyn Vfs, home: &Path, wait: Duration, who: &str) -> Result<Self> {
        let path = home.join(LOCK);
        match vfs.create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => drop(made.at("create", &path)?),
        }
        let mut lock = match vfs.lock(&path, wait) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(Error::Held { home: home.to_owned(), holder: holder(vfs, home) });
            }
            other => other.at("lock", &path)?,
        };
        // Only for a message.
        let _ = lock.note(who);
        Ok(Self { home: home.to_owned(), written: None, _lock: lock })
    }

    /// The home's token; makes one if there is none that is valid.
    ///
    /// # Errors
    /// [`Error::Exposed`], no random numbers, or what the system says.
    pub fn token(&self, vfs: &dyn Vfs) -> Result<Token> {
        if let Some(token) = read_token(vfs, &self.home)? {
            return Ok(token);
        }
        let path = self.home.join(TOKEN);
        let mut bytes = [0; TOKEN_DIGITS / 2];
        getrandom::fill(&mut bytes).map_err(io::Error::from).at("make", &path)?;
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        self.put(vfs, TOKEN, format!("{digits}\n").as_bytes())?;
        Token::parse(&digits).ok_or(io::ErrorKind::InvalidData).at("make", &path)
    }

    /// Tells clients where we are, once we listen.
    ///
    /// # Errors
    /// What the system says.
    pub fn announce(&mut self, vfs: &dyn Vfs, runtime: Runtime) -> Result<()> {
        self.put(vfs, RUNTIME, &runtime.format())?;
        self.written = Some(runtime);
        Ok(())
    }

    /// Takes the runtime file away if it is still ours, and gives up the home.
    ///
    /// # Errors
    /// What the system says.
    pub fn leave(self, vfs: &dyn Vfs) -> Result<()> {
        let path = self.home.join(RUNTIME);
        if self.written.is_some() && read_runtime(vfs, &self.home)? == self.written {
            vfs.unlink(&path).at("remove", &path)?;
        }
        Ok(())
    }

    /// Puts a small file in its place in one step, durable. We alone write here: a draft that is
    /// in the way is a dead writer's.
    fn put(&self, vfs: &dyn Vfs, name: &str, bytes: &[u8]) -> Result<()> {
        let (path, draft) = (self.home.join(name), self.home.join(format!(".{name}.new")));
        match vfs.unlink(&draft) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(error).at("remove", &draft);
            }
            _ => {}
        }
        let mut file = vfs.create_new(&draft).at("create", &draft)?;
        let written = file.write_all(bytes).and_then(|()| file.sync());
        let placed = written.and_then(|()| vfs.rename_over(&draft, &path));
        if placed.is_err() {
            let _ = vfs.unlink(&draft);
        }
        placed.at("write", &path)?;
        vfs.sync_dir(&self.home).at("sync", &self.home)
    }
}

/// Who holds the home: by its runtime file, else by the note in its lock.
fn holder(vfs: &dyn Vfs, home: &Path) -> String {
    if let Ok(Some(runtime)) = read_runtime(vfs, home) {
        return format!("process {} at {}", runtime.pid, runtime.url);
    }
    let note = vfs.read(&home.join(LOCK)).unwrap_or_default();
    match String::from_utf8_lossy(&note).trim() {
        "" => "a process that has not said where it listens".to_owned(),
        note => note.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packset_segments::os::OsFs;
    use std::os::unix::fs::PermissionsExt as _;

    struct Home(PathBuf);

    impl Home {
        fn new(name: &str) -> Self {
            let path = format!("packset-hold-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(path);
            let home = Self(path);
            home.clear();
            OsFs::default().create_dir(&home.0).unwrap();
            home
        }

        #[expect(clippy::disallowed_methods, reason = "a test cleans up after itself")]
        fn clear(&self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }

        fn take(&self) -> Result<Hold> {
            Hold::take(&OsFs::default(), &self.0, Duration::ZERO, "test (process 1)")
        }
    }

    impl Drop for Home {
        fn drop(&mut self) {
            self.clear();
        }
    }

    fn runtime(pid: u32) -> Runtime {
        Runtime {
            pid,
            url: "http://127.0.0.1:7071".into(),
            port: Some(7071),
            version: "0.18.0".into(),
            ..Runtime::default()
        }
    }

    #[test]
    fn a_home_has_one_writer_and_its_name_is_told() {
        let (fs, home) = (OsFs::default(), Home::new("one"));
        assert!(!is_held(&fs, &home.0).unwrap());
        let mut hold = home.take().unwrap();
        assert!(is_held(&fs, &home.0).unwrap());
        let refused = home.take().err().unwrap().to_string();
        assert!(refused.ends_with("is served already, by test (process 1)"), "{refused}");
        hold.announce(&fs, runtime(42)).unwrap();
        let refused = home.take().err().unwrap().to_string();
        assert!(refused.ends_with("by process 42 at http://127.0.0.1:7071"), "{refused}");
        assert_eq!(read_runtime(&fs, &home.0).unwrap(), Some(runtime(42)));
        hold.leave(&fs).unwrap();
        assert_eq!(read_runtime(&fs, &home.0).unwrap(), None);
        assert!(!is_held(&fs, &home.0).unwrap());
        home.take().unwrap();
    }

    #[test]
    fn a_runtime_file_of_another_is_left_alone() {
        let (fs, home) = (OsFs::default(), Home::new("other"));
        let mut hold = home.take().unwrap();
        hold.announce(&fs, runtime(1)).unwrap();
        hold.put(&fs, RUNTIME, &runtime(2).format()).unwrap();
        hold.leave(&fs).unwrap();
        assert_eq!(read_runtime(&fs, &home.0).unwrap(), Some(runtime(2)));
        let hold = home.take().unwrap();
        hold.put(&fs, RUNTIME, b"{\"pid\":").unwrap();
        assert_eq!(read_runtime(&fs, &home.0).unwrap(), None);
    }

    #[test]
    fn a_token_is_made_once_private_and_reused() {
        let (fs, home) = (OsFs::default(), Home::new("token"));
        let hold = home.take().unwrap();
        assert_eq!(read_token(&fs, &home.0).unwrap(), None);
        let token = hold.token(&fs).unwrap();
        let path = home.0.join(TOKEN);
        assert_eq!(fs.read(&path).unwrap(), format!("{}\n", token.as_str()).as_bytes());
        assert_eq!(hold.token(&fs).unwrap(), token);
        let mode = rustix::fs::stat(&path).unwrap().st_mode;
        assert_eq!(mode & 0o7777, 0o600);
        hold.put(&fs, TOKEN, b"not a token\n").unwrap();
        assert_ne!(hold.token(&fs).unwrap(), token);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let refused = hold.token(&fs).unwrap_err().to_string();
        assert!(refused.contains("is open to other users"), "{refused}");
    }
}
