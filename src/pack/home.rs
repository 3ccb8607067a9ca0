//! All workspaces of a pack: where each lies, which there are, and how one is forgotten.
//!
//! Not here: how the home itself is found (`crate::place`), or what a workspace holds.
//!
//! Invariants: a directory under `ws/` without a leading dot is a whole store; names that start
//! with `.new-` are being made, with `.gone-` removed, and whoever holds their lock owns them.
//! What belongs to no workspace lies in `sys/`, one level down like the workspaces, so that the
//! same protocol holds for it; no listing names it and nothing forgets it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use packset_segments::IoContext;
use packset_segments::vfs::{Kind, Vfs};
use xxhash_rust::xxh3::xxh3_128;

use super::store::{Ground, Store};
use super::{Error, Result};
use crate::atom;

/// Begins the name of a directory that is being made into a workspace.
pub(super) const MAKING: &str = ".new-";
/// Begins the name of a workspace's directory that is being removed.
const REMOVING: &str = ".gone-";

/// Where the workspaces of a pack lie.
pub fn workspaces(home: &Path) -> PathBuf {
    home.join("ws")
}

/// Longest directory name that spells a workspace out, in bytes; file systems take 255, and a
/// store adds nothing to the name.
const SPELLED_MAX_BYTES: usize = 200;

/// Bytes of the spelling that a longer name keeps, for whoever reads the directory.
const SPELLED_PREFIX_BYTES: usize = 150;

/// A workspace's directory name: no two names share one, not even on a disk that folds case.
///
/// `[a-z0-9_-]` stand for themselves, and so does a dot between others; every other byte is
/// `%xx`. A spelling over 200 bytes is cut and carries the hash of the whole name behind `~`,
/// which no spelling contains.
pub fn encode(name: &str) -> String {
    let mut spelled = String::with_capacity(name.len());
    let last = name.len().saturating_sub(1);
    for (at, byte) in name.bytes().enumerate() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' => spelled.push(char::from(byte)),
            b'.' if at > 0 && at < last => spelled.push('.'),
            _ => spelled.push_str(&format!("%{byte:02x}")),
        }
    }
    if spelled.len() > SPELLED_MAX_BYTES {
        spelled.truncate(SPELLED_PREFIX_BYTES);
        spelled.push_str(&format!("~{:032x}", xxh3_128(name.as_bytes())));
    }
    spelled
}

/// The directory of a workspace.
pub fn directory(home: &Path, name: &str) -> PathBuf {
    workspaces(home).join(encode(name))
}

/// Makes a directory and every one above it that is missing, each durable in its parent.
///
/// # Errors
/// What the system says.
pub fn make_directories(vfs: &dyn Vfs, dir: &Path) -> Result<()> {
    match vfs.kind(dir) {
        Ok(Kind::Dir) => return Ok(()),
        Ok(Kind::File(_)) => {
            let source = std::io::Error::from(std::io::ErrorKind::NotADirectory);
            return Err(packset_segments::Error::io("create", dir, source).into());
        }
        Err(_) => {}
    }
    let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent {
        make_directories(vfs, parent)?;
    }
    match vfs.create_dir(dir) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        other => other.at("create", dir)?,
    }
    if let Some(parent) = parent
        && let Err(error) = vfs.sync_dir(parent).at("sync", parent)
    {
        // Its name may never be durable: the next one who needs it makes it anew.
        let _ = vfs.remove_dir(dir);
        return Err(error.into());
    }
    Ok(())
}

/// Removes a directory and all in it, as far as the system lets us. What stays is swept later.
pub(super) fn remove_tree(vfs: &dyn Vfs, dir: &Path) {
    for name in vfs.list(dir).unwrap_or_default() {
        let path = dir.join(name);
        match vfs.kind(&path) {
            Ok(Kind::Dir) => remove_tree(vfs, &path),
            _ => {
                let _ = vfs.unlink(&path);
            }
        }
    }
    let _ = vfs.remove_dir(dir);
}

/// The workspaces of a pack, by name. A pack that does not exist yet has none.
///
/// # Errors
/// What the system says.
pub fn list(ground: &Ground, home: &Path) -> Result<Vec<Store>> {
    let dir = workspaces(home);
    let names = match ground.vfs.list(&dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.at("list", &dir)?,
    };
    let mut found = Vec::new();
    for file in names.into_iter().filter(|name| !name.starts_with('.')) {
        let store = Store::at(ground.clone(), dir.join(&file), file);
        match store.real_name() {
            Ok(Some(name)) => {
                found.push(Store::at(ground.clone(), store.dir().to_owned(), name));
            }
            Ok(None) => {}
            // Its name is in the damaged file: it is listed under that of its directory, and
            // whoever opens it hears what is wrong.
            Err(Error::Segment(error)) if error.io_kind().is_none() => found.push(store),
            Err(error) => return Err(error),
        }
    }
    found.sort_by(|a, b| a.name().cmp(b.name()));
    Ok(found)
}

/// Removes directories that were being made or removed when their process died.
pub fn sweep_leftovers(vfs: &dyn Vfs, home: &Path) {
    let dir = workspaces(home);
    for name in vfs.list(&dir).unwrap_or_default() {
        if let Some(id) = name.strip_prefix(MAKING)
            && is_dead(vfs, &dir.join(&name))
        {
            // Under another name no one can go on making it.
            let _ = vfs.rename_new(&dir.join(&name), &dir.join(format!("{REMOVING}{id}")));
        }
    }
    sweep_removed(vfs, home);
}

/// Removes directories that were being removed when their process died.
pub(super) fn sweep_removed(vfs: &dyn Vfs, home: &Path) {
    let dir = workspaces(home);
    let names = vfs.list(&dir).unwrap_or_default().into_iter();
    let dead: Vec<_> = names
        .filter(|name| name.starts_with(REMOVING))
        .map(|name| dir.join(name))
        .filter(|path| is_dead(vfs, path))
        .collect();
    // Their new names first: until those are durable, a power loss may give a workspace back,
    // and it must not be one with half of its files.
    if dead.is_empty() || vfs.sync_dir(&dir).is_err() {
        return;
    }
    for path in dead {
        remove_tree(vfs, &path);
    }
}

/// Whether no process is making or removing the directory.
fn is_dead(vfs: &dyn Vfs, dir: &Path) -> bool {
    match vfs.lock(&dir.join("LOCK"), Duration::ZERO) {
        Ok(_) => true,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

impl Store {
    /// The store of what belongs to the pack as a whole: the seat's own card. Its name is no
    /// workspace's place: one that is called the same lies under `ws/`. Touches nothing.
    pub fn of_pack(ground: Ground, home: &Path) -> Self {
        Self::at(ground, home.join("sys").join("seat"), "sys/seat".to_owned())
    }

    /// Forgets the workspace whole and returns how many live records it had. A writer that
    /// waited for the lock finds the directory gone and starts a new one.
    ///
    /// # Errors
    /// As [`Store::commit`]; [`Error::Unknown`] if a power loss may give the workspace back.
    pub fn forget(&self) -> Result<u64> {
        let vfs = self.ground.vfs.as_ref();
        let Some(parent) = self.dir.parent() else { return Ok(0) };
        let unknown = |source| Error::Unknown { name: self.name().to_owned(), source };
        let Some(held) = self.hold(false)? else {
            // Whoever removed it may have died before that was durable and all of it gone.
            match vfs.sync_dir(parent) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                other => other.map_err(unknown)?,
            }
            if let Some(home) = parent.parent() {
                sweep_leftovers(vfs, home);
            }
            return Ok(0);
        };
        let counts = held.snapshot.counts();
        let gone = parent.join(format!("{REMOVING}{:032x}", self.ground.ids.bits()));
        vfs.rename_new(&self.dir, &gone).at("remove", &self.dir)?;
        vfs.sync_dir(parent).map_err(unknown)?;
        remove_tree(vfs, &gone);
        if let Some(home) = parent.parent() {
            drop(held);
            sweep_leftovers(vfs, home);
        }
        // Claims are counted: what else lay there was the writer's, or beside them.
        let counted = counts.iter().filter(|count| atom::Kind::named(&count.0).is_some());
        let live: i64 = counted.map(|count| count.2).sum();
        Ok(live.max(0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_names() {
        let table = [
            ("default", "default"),
            ("a_b-9", "a_b-9"),
            ("a.b", "a.b"),
            (".a.", "%2ea%2e"),
            (".", "%2e"),
            ("..", "%2e%2e"),
            ("...", "%2e.%2e"),
            ("git:h.org/o/r", "git%3ah.org%2fo%2fr"),
            ("Ab", "%41b"),
            ("a b%~", "a%20b%25%7e"),
            ("\u{e9}", "%c3%a9"),
        ];
        for (name, spelled) in table {
            assert_eq!(encode(name), spelled, "{name:?}");
        }
    }

    #[test]
    fn long_names_are_cut_and_hashed() {
        let edge = "a".repeat(200);
        assert_eq!(encode(&edge), edge);
        // XXH3_128bits of 201 times 'a', by another implementation (python-xxhash).
        let over = "a".repeat(201);
        assert_eq!(encode(&over), format!("{}~2bd1564e4ef42f5d5f33784f15d7c033", "a".repeat(150)));
        let other = format!("{}b", "a".repeat(200));
        assert_ne!(encode(&over), encode(&other));
    }
}
