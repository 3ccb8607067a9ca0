//! The disk under a [`SimFs`](super::SimFs): what readers see, what is durable, what lies between.
//!
//! Not here: faults, counters and handles, which are the machine's. Every operation is atomic,
//! and a refused one changes nothing, but for a write to a full disk, which leaves what fitted.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path};
use std::sync::Arc;

use super::fault::{Refusal, Script};

pub(super) type Ino = u64;
pub(super) type Names = BTreeMap<String, Ino>;

pub(super) const ROOT: Ino = 1;
/// Free space where none was set: more than any test writes, less than what overflows a sum.
const PLENTY: u64 = 1 << 40;

pub(super) struct Disk {
    pub(super) nodes: BTreeMap<Ino, Node>,
    pub(super) next: Ino,
    pub(super) held: BTreeSet<Ino>,
    pub(super) script: Script,
    pub(super) locks_broken: bool,
    pub(super) capacity: Option<u64>,
    pub(super) free: u64,
}

#[derive(Clone)]
pub(super) enum Node {
    File(FileNode),
    Dir(DirNode),
}

#[derive(Clone, Default)]
pub(super) struct FileNode {
    pub(super) live: Arc<Vec<u8>>,
    pub(super) durable: Arc<Vec<u8>>,
    pub(super) pending: Vec<Write>,
    pub(super) sealed: bool,
}

#[derive(Clone)]
pub(super) enum Write {
    /// Bytes at an offset; always an append, so each starts where the one before ended.
    At(usize, Arc<[u8]>),
    /// The whole content (the advisory text of a lock file).
    Whole(Arc<[u8]>),
}

impl Write {
    pub(super) fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Self::At(at, bytes) => {
                let end = at + bytes.len();
                content.resize(content.len().max(end), 0);
                content[*at..end].copy_from_slice(bytes);
            }
            Self::Whole(bytes) => *content = bytes.to_vec(),
        }
    }
}

impl FileNode {
    pub(super) fn push(&mut self, write: Write) {
        write.apply(Arc::make_mut(&mut self.live));
        self.pending.push(write);
    }

    /// Not a copy of `live`: what a failed sync dropped is in `live` alone.
    pub(super) fn sync(&mut self) {
        let durable = Arc::make_mut(&mut self.durable);
        for write in self.pending.drain(..) {
            write.apply(durable);
        }
    }
}

#[derive(Clone, Default)]
pub(super) struct DirNode {
    pub(super) live: Names,
    pub(super) durable: Names,
    pub(super) pending: Vec<Entry>,
}

/// One operation on the names of one directory; a crash keeps it or loses it, never half.
#[derive(Clone)]
pub(super) enum Entry {
    Add(String, Ino),
    Remove(String),
    Move { from: String, to: String, ino: Ino },
}

impl Entry {
    pub(super) fn apply(&self, names: &mut Names) {
        match self {
            Self::Add(name, ino) => {
                names.insert(name.clone(), *ino);
            }
            Self::Remove(name) => {
                names.remove(name);
            }
            Self::Move { from, to, ino } => {
                if names.get(from) == Some(ino) {
                    names.remove(from);
                }
                names.insert(to.clone(), *ino);
            }
        }
    }
}

impl DirNode {
    pub(super) fn push(&mut self, entry: Entry) {
        entry.apply(&mut self.live);
        self.pending.push(entry);
    }

    pub(super) fn sync(&mut self) {
        for entry in self.pending.drain(..) {
            entry.apply(&mut self.durable);
        }
    }
}

/// How a call that reaches the disk is to be carried out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Fully,
    /// Claim success.
    Not,
    /// Rename over what is there.
    Clobbering,
    /// Write the first half.
    Half,
    /// Sync nothing and forget what was unsynced.
    Dropping,
}

/// The components of a path from the root; there are no links here, so `..` has no use.
pub(super) fn names_of(path: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => {
                names.push(name.to_str().ok_or(io::ErrorKind::InvalidInput)?.to_owned());
            }
            Component::ParentDir => return Err(io::ErrorKind::InvalidInput.into()),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    Ok(names)
}

impl Disk {
    /// The root directory, durable.
    pub(super) fn new() -> Self {
        Self {
            nodes: BTreeMap::from([(ROOT, Node::Dir(DirNode::default()))]),
            next: ROOT + 1,
            held: BTreeSet::new(),
            script: Script::default(),
            locks_broken: false,
            capacity: None,
            free: PLENTY,
        }
    }

    /// Another machine with these nodes on its disk.
    pub(super) fn fork(&self, nodes: BTreeMap<Ino, Node>) -> Self {
        Self {
            nodes,
            next: self.next,
            held: BTreeSet::new(),
            script: self.script.restarted(),
            locks_broken: self.locks_broken,
            capacity: self.capacity,
            free: self.free,
        }
    }

    pub(super) fn add(&mut self, node: Node) -> Ino {
        let ino = self.next;
        self.next += 1;
        self.nodes.insert(ino, node);
        ino
    }

    pub(super) fn dir(&self, ino: Ino) -> io::Result<&DirNode> {
        match self.nodes.get(&ino) {
            Some(Node::Dir(dir)) => Ok(dir),
            Some(Node::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    pub(super) fn dir_mut(&mut self, ino: Ino) -> io::Result<&mut DirNode> {
        match self.nodes.get_mut(&ino) {
            Some(Node::Dir(dir)) => Ok(dir),
            Some(Node::File(_)) => Err(io::ErrorKind::NotADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    pub(super) fn file(&self, ino: Ino) -> io::Result<&FileNode> {
        match self.nodes.get(&ino) {
            Some(Node::File(file)) => Ok(file),
            Some(Node::Dir(_)) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    pub(super) fn file_mut(&mut self, ino: Ino) -> io::Result<&mut FileNode> {
        match self.nodes.get_mut(&ino) {
            Some(Node::File(file)) => Ok(file),
            Some(Node::Dir(_)) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    pub(super) fn is_dir(&self, ino: Ino) -> bool {
        matches!(self.nodes.get(&ino), Some(Node::Dir(_)))
    }

    pub(super) fn child(&self, parent: Ino, name: &str) -> io::Result<Ino> {
        self.dir(parent)?.live.get(name).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    pub(super) fn find(&self, path: &Path) -> io::Result<Ino> {
        names_of(path)?.iter().try_fold(ROOT, |dir, name| self.child(dir, name))
    }

    /// The directory that a path is in, and its last name.
    pub(super) fn place(&self, path: &Path) -> io::Result<(Ino, String)> {
        let mut names = names_of(path)?;
        let last = names.pop().ok_or(io::ErrorKind::InvalidInput)?;
        let parent = names.iter().try_fold(ROOT, |dir, name| self.child(dir, name))?;
        self.dir(parent)?;
        Ok((parent, last))
    }

    pub(super) fn create(&mut self, path: &Path, node: Node) -> io::Result<Ino> {
        let (parent, name) = self.place(path)?;
        if self.dir(parent)?.live.contains_key(&name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let ino = self.add(node);
        self.dir_mut(parent)?.push(Entry::Add(name, ino));
        Ok(ino)
    }

    pub(super) fn install_name(&mut self, parent: Ino, name: String, ino: Ino) -> io::Result<()> {
        let dir = self.dir_mut(parent)?;
        dir.live.insert(name.clone(), ino);
        dir.durable.insert(name, ino);
        Ok(())
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path, over: bool) -> io::Result<()> {
        let (from_dir, from_name) = self.place(from)?;
        let (to_dir, to_name) = self.place(to)?;
        let ino = self.child(from_dir, &from_name)?;
        if self.is_dir(ino) && names_of(to)?.starts_with(&names_of(from)?) && from != to {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if let Some(&old) = self.dir(to_dir)?.live.get(&to_name) {
            if !over {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            if old == ino {
                return Ok(());
            }
            match (self.is_dir(ino), self.is_dir(old)) {
                (true, true) if !self.dir(old)?.live.is_empty() => {
                    return Err(io::ErrorKind::DirectoryNotEmpty.into());
                }
                (true, false) => return Err(io::ErrorKind::NotADirectory.into()),
                (false, true) => return Err(io::ErrorKind::IsADirectory.into()),
                _ => {}
            }
        }
        if from_dir == to_dir {
            self.dir_mut(to_dir)?.push(Entry::Move { from: from_name, to: to_name, ino });
        } else {
            self.dir_mut(to_dir)?.push(Entry::Add(to_name, ino));
            self.dir_mut(from_dir)?.push(Entry::Remove(from_name));
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, path: &Path, dirs: bool) -> io::Result<()> {
        let (parent, name) = self.place(path)?;
        let ino = self.child(parent, &name)?;
        match (self.is_dir(ino), dirs) {
            (true, false) => return Err(io::ErrorKind::IsADirectory.into()),
            (false, true) => return Err(io::ErrorKind::NotADirectory.into()),
            (true, true) if !self.dir(ino)?.live.is_empty() => {
                return Err(io::ErrorKind::DirectoryNotEmpty.into());
            }
            _ => {}
        }
        self.dir_mut(parent)?.push(Entry::Remove(name));
        Ok(())
    }

    /// Appends, as far as the capacity allows; a refused write leaves what fitted, as a real
    /// one does.
    pub(super) fn append(&mut self, ino: Ino, bytes: &[u8]) -> io::Result<()> {
        let room = self.room().map_or(bytes.len(), |room| {
            usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len())
        });
        let file = self.file_mut(ino)?;
        if file.sealed {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "a sealed file is never written again",
            ));
        }
        let (fits, rest) = bytes.split_at(room);
        if !fits.is_empty() {
            file.push(Write::At(file.live.len(), fits.into()));
        }
        if rest.is_empty() { Ok(()) } else { Err(Refusal::Enospc.into()) }
    }

    pub(super) fn sync_file(&mut self, ino: Ino, way: Way) -> io::Result<()> {
        let file = self.file_mut(ino)?;
        match way {
            Way::Dropping => file.pending.clear(),
            Way::Not => {}
            _ => file.sync(),
        }
        Ok(())
    }

    pub(super) fn room(&self) -> Option<u64> {
        let capacity = self.capacity?;
        let mut used = 0;
        self.walk(|_, node| {
            if let Node::File(file) = node {
                used += file.live.len() as u64;
            }
        });
        Some(capacity.saturating_sub(used))
    }

    /// Visits what a reader sees, names in order, each node after its directory.
    pub(super) fn walk(&self, mut visit: impl FnMut(&str, &Node)) {
        let mut stack = vec![(String::new(), ROOT)];
        while let Some((path, ino)) = stack.pop() {
            let Some(node) = self.nodes.get(&ino) else {
                continue;
            };
            if ino != ROOT {
                visit(&path, node);
            }
            if let Node::Dir(dir) = node {
                let below = |name: &str| {
                    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
                };
                stack.extend(dir.live.iter().rev().map(|(name, ino)| (below(name), *ino)));
            }
        }
    }
}
