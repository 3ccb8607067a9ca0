//! The states that a power loss may leave: what the disk keeps of everything unsynced.
//!
//! The model is weaker than any real disk. Of a directory's operations any subset may be there,
//! each whole; of a file's writes nothing, everything, every prefix, all but one, or a last one
//! torn at a sector, the missing bytes cut off, zero or garbage. What was synced stays.
//!
//! Not here: kill -9, which loses nothing. Invariant: the states are distinct in what a reader
//! sees, and come in an order that depends on the calls alone.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::SimFs;
use super::disk::{DirNode, Disk, Entry, FileNode, Ino, Names, Node, ROOT, Write};

/// Up to this many operations of one directory have all their subsets tried (2^6 = 64); more
/// have none, all, every prefix and each one missing. One commit makes at most four in a
/// directory, so all of its subsets are tried.
const ALL_SUBSETS: usize = 6;
/// Older operations of a directory count as written back by then: a kernel does not keep them
/// for ever, and no protocol relies on more than its own last few.
const MOST_ENTRIES: usize = 64;
/// More writes to one file than this are tried in runs of neighbours.
const MOST_RUNS: usize = 32;
/// Up to this many runs have every kind of filling tried; more, only the shortest and the worst.
const ALL_FILLINGS: usize = 6;
/// The full product of all choices is only taken below this many states and this many tries;
/// beyond them, all states in which at most two (else one) of the choices differ from
/// everything-lost or everything-kept.
const MOST_STATES: usize = 512;
const MOST_TRIES: usize = 8 * MOST_STATES;
/// A write is torn at multiples of this: no disk in use writes less at once.
const SECTOR: usize = 512;
/// Stands for bytes that were never written: alternating bits, unlike text and unlike zeros.
const GARBAGE: u8 = 0xA5;

impl SimFs {
    /// Every state that a power loss now may leave, each a machine of its own; the first is the
    /// one that lost everything unsynced. Hundreds at most, for a commit.
    pub fn crash_states(&self) -> Vec<Self> {
        let disk = self.disk();
        let mut survey = Survey::of(&disk);
        survey.try_all(&[Bases::BOTH_LOST], Budget { differing: 1, advisory: true }, false);
        survey.try_all(&Bases::OTHERS, Budget { differing: 1, advisory: true }, false);
        let whole = Budget { differing: usize::MAX, advisory: false };
        if !survey.try_all(&[Bases::BOTH_KEPT], whole, true) {
            let pairs = Budget { differing: 2, advisory: false };
            survey.try_all(&Bases::ALL, pairs, true);
        }
        survey.states.into_iter().map(Self::from_disk).collect()
    }

    /// A hash of everything that a reader sees: names, bytes, and which names are one file.
    /// Equal for equal states, however they came about; for telling states apart in tests.
    pub fn digest(&self) -> u128 {
        let disk = self.disk();
        digest(
            |ino| match disk.nodes.get(&ino) {
                Some(Node::Dir(dir)) => Some(&dir.live),
                _ => None,
            },
            |ino| match disk.nodes.get(&ino) {
                Some(Node::File(file)) => xxh3_128(&file.live),
                _ => 0,
            },
        )
    }
}

/// Hashes a tree of names; files count by their content, and by which earlier name they share.
fn digest<'a>(names: impl Fn(Ino) -> Option<&'a Names>, content: impl Fn(Ino) -> u128) -> u128 {
    let mut hash = Xxh3::new();
    let mut order: BTreeMap<Ino, u64> = BTreeMap::new();
    let mut stack = vec![ROOT];
    while let Some(ino) = stack.pop() {
        let next = order.len() as u64;
        if let Some(seen) = order.get(&ino) {
            hash.update(b"again");
            hash.update(&seen.to_le_bytes());
            continue;
        }
        order.insert(ino, next);
        if let Some(names) = names(ino) {
            hash.update(b"dir");
            hash.update(&(names.len() as u64).to_le_bytes());
            for (name, child) in names {
                hash.update(&(name.len() as u64).to_le_bytes());
                hash.update(name.as_bytes());
                stack.push(*child);
            }
        } else {
            hash.update(b"file");
            hash.update(&content(ino).to_le_bytes());
        }
    }
    hash.digest128()
}

/// What may be left of one directory or one file. The first choice is the durable state.
struct Choices<T> {
    list: Vec<T>,
    kept: usize,
    /// The text of a lock file: it only varies alone, since nothing may depend on it.
    advisory: bool,
}

impl<T: PartialEq> Choices<T> {
    fn of(lost: T, kept: T, others: impl IntoIterator<Item = T>) -> Self {
        let mut choices = Self { list: vec![lost], kept: 0, advisory: false };
        choices.kept = choices.add(kept);
        for other in others {
            choices.add(other);
        }
        choices
    }

    fn add(&mut self, choice: T) -> usize {
        self.list.iter().position(|known| *known == choice).unwrap_or_else(|| {
            self.list.push(choice);
            self.list.len() - 1
        })
    }
}

enum Left {
    Names(Choices<Names>),
    Content(Choices<Arc<Vec<u8>>>, Vec<u128>),
}

impl Left {
    fn of(node: &Node) -> Self {
        match node {
            Node::Dir(dir) => Self::Names(names_left(dir)),
            Node::File(file) => {
                let choices = content_left(file);
                let hashes = choices.list.iter().map(|content| xxh3_128(content)).collect();
                Self::Content(choices, hashes)
            }
        }
    }
}

fn names_left(dir: &DirNode) -> Choices<Names> {
    let after = |entries: &mut dyn Iterator<Item = &Entry>| {
        let mut names = dir.durable.clone();
        entries.for_each(|entry| entry.apply(&mut names));
        names
    };
    let all = &dir.pending;
    let (lost, kept) = (dir.durable.clone(), after(&mut all.iter()));
    let n = all.len();
    if n <= ALL_SUBSETS {
        let subsets = (0_u32..1 << n).map(|mask| {
            let taken = all.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1);
            after(&mut taken.map(|(_, entry)| entry))
        });
        return Choices::of(lost, kept, subsets);
    }
    let settled = n.saturating_sub(MOST_ENTRIES);
    let prefixes = (settled..n).map(|end| after(&mut all.iter().take(end)));
    let missing = (settled..n).map(|out| {
        let taken = all.iter().enumerate().filter(|(i, _)| *i != out);
        after(&mut taken.map(|(_, entry)| entry))
    });
    Choices::of(lost, kept, prefixes.chain(missing))
}

/// One write, or a run of neighbours.
struct Run {
    at: usize,
    bytes: Vec<u8>,
}

fn content_left(file: &FileNode) -> Choices<Arc<Vec<u8>>> {
    let lost = Arc::clone(&file.durable);
    if file.pending.is_empty() {
        return Choices::of(Arc::clone(&lost), lost, []);
    }
    let mut kept = file.durable.to_vec();
    file.pending.iter().for_each(|write| write.apply(&mut kept));
    let kept = Arc::new(kept);
    let mut writes = Vec::new();
    for write in &file.pending {
        match write {
            Write::At(at, bytes) => writes.push((*at, bytes)),
            Write::Whole(_) => {
                let mut choices = Choices::of(lost, kept, [Arc::default()]);
                choices.advisory = true;
                return choices;
            }
        }
    }
    let mut runs: Vec<Run> = Vec::new();
    for group in writes.chunks(writes.len().div_ceil(MOST_RUNS)) {
        let bytes = group.iter().flat_map(|(_, bytes)| bytes.iter().copied()).collect();
        runs.extend(group.first().map(|(at, _)| Run { at: *at, bytes }));
    }
    let n = runs.len();
    let end = |run: &Run| run.at + run.bytes.len();
    let new_len = runs.last().map_or(0, end);
    let start = runs.first().map_or(0, |run| run.at);
    // The file with some of its new bytes, `fill` for the others.
    let image = |len: usize, fill: u8, has: &dyn Fn(usize, usize) -> bool| {
        let mut content = file.durable.to_vec();
        content.resize(content.len().max(new_len), 0);
        for (i, run) in runs.iter().enumerate() {
            for (at, byte) in (run.at..).zip(&run.bytes) {
                content[at] = if has(i, at) { *byte } else { fill };
            }
        }
        content.truncate(len.max(file.durable.len()));
        Arc::new(content)
    };
    let mut others = Vec::new();
    for k in 0..n {
        let cut = runs.get(k).map_or(start, |run| run.at);
        let has = |i: usize, _: usize| i < k;
        others.push(image(cut, 0, &has));
        others.push(image(new_len, GARBAGE, &has));
        if n <= ALL_FILLINGS {
            others.push(image(new_len, 0, &has));
        }
    }
    for out in 0..n {
        let has = |i: usize, _: usize| i != out;
        others.push(image(new_len, GARBAGE, &has));
        if n <= ALL_FILLINGS {
            others.push(image(new_len, 0, &has));
        }
    }
    if let Some(tear) = writes.last().and_then(|(at, bytes)| tear(*at, bytes.len())) {
        let has = |_: usize, at: usize| at < tear;
        others.push(image(tear, 0, &has));
        others.push(image(new_len, 0, &has));
        others.push(image(new_len, GARBAGE, &has));
    }
    Choices::of(lost, kept, others)
}

/// The sector boundary nearest the middle of a write, if there is one inside it.
fn tear(at: usize, len: usize) -> Option<usize> {
    let below = (at + len / 2) / SECTOR * SECTOR;
    [below, below + SECTOR].into_iter().find(|&cut| cut > at && cut < at + len)
}

/// Where the choices that do not differ stand: everything lost, or everything kept.
#[derive(Clone, Copy)]
struct Bases {
    names_kept: bool,
    content_kept: bool,
}

impl Bases {
    const BOTH_LOST: Self = Self { names_kept: false, content_kept: false };
    const BOTH_KEPT: Self = Self { names_kept: true, content_kept: true };
    const ALL: [Self; 4] = [
        Self::BOTH_LOST,
        Self::BOTH_KEPT,
        Self { names_kept: true, content_kept: false },
        Self { names_kept: false, content_kept: true },
    ];
    const OTHERS: [Self; 3] = [
        Self::BOTH_KEPT,
        Self { names_kept: true, content_kept: false },
        Self { names_kept: false, content_kept: true },
    ];
}

#[derive(Clone, Copy)]
struct Budget {
    /// How many choices may differ from the base.
    differing: usize,
    /// Whether the text of lock files may.
    advisory: bool,
}

/// The search through all choices of a disk.
struct Survey<'a> {
    disk: &'a Disk,
    left: BTreeMap<Ino, Left>,
    seen: BTreeSet<u128>,
    states: Vec<Disk>,
    tries: usize,
    bounded: bool,
}

impl<'a> Survey<'a> {
    fn of(disk: &'a Disk) -> Self {
        let left = disk.nodes.iter().map(|(ino, node)| (*ino, Left::of(node))).collect();
        Self { disk, left, seen: BTreeSet::new(), states: Vec::new(), tries: 0, bounded: false }
    }

    /// Adds every state within the budget. When `bounded` and there are too many, adds none and
    /// says so.
    fn try_all(&mut self, bases: &[Bases], budget: Budget, bounded: bool) -> bool {
        let known = (self.seen.clone(), self.states.len());
        (self.tries, self.bounded) = (0, bounded);
        let whole = bases
            .iter()
            .all(|&base| self.choose(&[ROOT], &mut BTreeMap::new(), base, budget).is_continue());
        if !whole {
            self.seen = known.0;
            self.states.truncate(known.1);
        }
        whole
    }

    /// Settles the first of `open` in every way, and the rest after it. What is not reachable
    /// through the names chosen so far is never looked at.
    fn choose(
        &mut self,
        open: &[Ino],
        chosen: &mut BTreeMap<Ino, usize>,
        base: Bases,
        budget: Budget,
    ) -> ControlFlow<()> {
        let Some((&ino, rest)) = open.split_first() else {
            return self.settle(chosen);
        };
        let Some(left) = self.left.get(&ino).filter(|_| !chosen.contains_key(&ino)) else {
            return self.choose(rest, chosen, base, budget);
        };
        let (count, usual, advisory) = match left {
            Left::Names(names) => {
                (names.list.len(), if base.names_kept { names.kept } else { 0 }, false)
            }
            Left::Content(content, _) => {
                let usual = if base.content_kept { content.kept } else { 0 };
                (content.list.len(), usual, content.advisory)
            }
        };
        for choice in 0..count {
            let differs = choice != usual;
            if differs && (budget.differing == 0 || advisory && !budget.advisory) {
                continue;
            }
            let differing = budget.differing - usize::from(differs);
            let mut open = rest.to_vec();
            if let Some(Left::Names(names)) = self.left.get(&ino) {
                open.extend(names.list[choice].values());
            }
            chosen.insert(ino, choice);
            let flow = self.choose(&open, chosen, base, Budget { differing, ..budget });
            chosen.remove(&ino);
            flow?;
        }
        ControlFlow::Continue(())
    }

    fn settle(&mut self, chosen: &BTreeMap<Ino, usize>) -> ControlFlow<()> {
        self.tries += 1;
        if self.bounded && self.tries > MOST_TRIES {
            return ControlFlow::Break(());
        }
        let digest = digest(
            |ino| match self.left.get(&ino) {
                Some(Left::Names(names)) => names.list.get(*chosen.get(&ino)?),
                _ => None,
            },
            |ino| match (self.left.get(&ino), chosen.get(&ino)) {
                (Some(Left::Content(_, hashes)), Some(&choice)) => hashes[choice],
                _ => 0,
            },
        );
        if self.seen.contains(&digest) {
            return ControlFlow::Continue(());
        }
        if self.bounded && self.states.len() >= MOST_STATES {
            return ControlFlow::Break(());
        }
        self.seen.insert(digest);
        let nodes =
            chosen.iter().filter_map(|(&ino, &choice)| Some((ino, self.node(ino, choice)?)));
        let state = self.disk.fork(nodes.collect());
        self.states.push(state);
        ControlFlow::Continue(())
    }

    /// The node after the crash: what is left of it is what is durable.
    fn node(&self, ino: Ino, choice: usize) -> Option<Node> {
        Some(match self.left.get(&ino)? {
            Left::Names(names) => {
                let durable = names.list.get(choice)?.clone();
                Node::Dir(DirNode { live: durable.clone(), durable, pending: Vec::new() })
            }
            Left::Content(content, _) => {
                let durable = Arc::clone(content.list.get(choice)?);
                let live = Arc::clone(&durable);
                Node::File(FileNode { live, durable, pending: Vec::new(), sealed: true })
            }
        })
    }
}
