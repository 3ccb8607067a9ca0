//! Where fetched things lie: models below `user/`, the runtime library in `lib/`.
//!
//! Not here: fetching, and loading what lies there. Invariants: a model's directory is named only
//! by a name of the table, so that no word of a command line leads out of the cache.

use std::path::{Path, PathBuf};

use packset_segments::vfs::Vfs;

use super::{Error, Result};
use crate::cli::Env;
use crate::cli::env::absent;

/// The directory of everything that was fetched.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// `PACKSET_EMBED_CACHE`, else `packset/embed` in `XDG_CACHE_HOME`, else in `~/.cache`.
    ///
    /// # Errors
    /// [`Error::NoCache`].
    pub fn of(env: &Env) -> Result<Self> {
        // A relative XDG directory is to be ignored (XDG base directory specification).
        let absolute = |name: &str| env.path(name).filter(|path| path.is_absolute());
        let named = env.path("PACKSET_EMBED_CACHE").map(|path| match env.cwd() {
            Some(cwd) => cwd.join(path),
            None => path.to_owned(),
        });
        let xdg = || absolute("XDG_CACHE_HOME").map(|dir| dir.join("packset/embed"));
        let home = || absolute("HOME").map(|dir| dir.join(".cache/packset/embed"));
        let root = named.or_else(xdg).or_else(home).ok_or(Error::NoCache)?;
        Ok(Self { root })
    }

    /// The cache itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where models lie.
    pub fn models(&self) -> PathBuf {
        self.root.join("user")
    }

    /// Where a model lies.
    pub fn model(&self, name: &str) -> PathBuf {
        self.models().join(name)
    }

    /// Where the runtime library lies.
    pub fn libraries(&self) -> PathBuf {
        self.root.join("lib")
    }
}

/// The first of these files that is not in the directory; none: all are.
///
/// # Errors
/// What the system says, but for names that are not there.
pub fn lacking<'n>(
    vfs: &dyn Vfs,
    dir: &Path,
    names: impl IntoIterator<Item = &'n str>,
) -> std::io::Result<Option<&'n str>> {
    use packset_segments::vfs::Kind;
    for name in names {
        match vfs.kind(&dir.join(name)) {
            Ok(Kind::File(len)) if len > 0 => {}
            Ok(_) => return Ok(Some(name)),
            Err(error) if absent(&error) => return Ok(Some(name)),
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Disk;

    #[test]
    fn where_it_is() {
        type Case<'a> = (&'a [(&'a str, &'a str)], Option<&'a str>);
        let table: [Case<'_>; 6] = [
            (&[("PACKSET_EMBED_CACHE", "/c"), ("XDG_CACHE_HOME", "/x")], Some("/c")),
            (&[("PACKSET_EMBED_CACHE", "c")], Some("/w/c")),
            (&[("XDG_CACHE_HOME", "/x"), ("HOME", "/h")], Some("/x/packset/embed")),
            (&[("XDG_CACHE_HOME", "x"), ("HOME", "/h")], Some("/h/.cache/packset/embed")),
            (&[("HOME", "/h")], Some("/h/.cache/packset/embed")),
            (&[], None),
        ];
        for (vars, want) in table {
            let env = Env::new([""; 0], vars.iter().copied(), Some(Path::new("/w")));
            let cache = Cache::of(&env).ok();
            assert_eq!(cache.as_ref().map(Cache::root), want.map(Path::new), "{vars:?}");
        }
        let cache = Cache { root: "/c".into() };
        assert_eq!(cache.model("bge-small"), Path::new("/c/user/bge-small"));
        assert_eq!(cache.libraries(), Path::new("/c/lib"));
    }

    #[test]
    fn what_is_lacking() {
        let mut disk = Disk::default();
        disk.file("/m/onnx/model.onnx", "x").file("/m/tokenizer.json", "").dir("/m/config.json");
        let first = |names: &[&'static str]| {
            lacking(&disk, Path::new("/m"), names.iter().copied()).unwrap()
        };
        assert_eq!(first(&["onnx/model.onnx"]), None);
        assert_eq!(first(&["onnx/model.onnx", "tokenizer.json"]), Some("tokenizer.json"), "empty");
        assert_eq!(first(&["config.json"]), Some("config.json"), "a directory");
        assert_eq!(first(&["onnx/model.onnx/x"]), Some("onnx/model.onnx/x"));
    }
}
