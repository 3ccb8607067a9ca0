//! One file, brought whole: what is here of it stays until the rest is, and is checked before it
//! gets its name.
//!
//! Beside a file that comes stand `NAME.part` (its first bytes) and `NAME.part.json` (where they
//! came from). Not here: which files are wanted. Invariants: a name without `.part` stands for a
//! whole and checked file; parts of two contents are never joined: the rest is asked for by the
//! tag of the beginning, or the file has a sum that decides; a part with a wrong sum is removed.
//!
//! A file without a known sum (a git blob of a hub: small, and told by a SHA-1 that nothing should
//! be trusted for) is held to its length and, being JSON, to that form. The connection vouches for
//! the rest; what such a check is for is the error page of some gateway.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use packset_segments::IoContext as _;
use packset_segments::os::open_log;
use packset_segments::vfs::{Kind, Vfs};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::http::{Answer, Http, is_sum};
use super::{Error, Result};
use crate::cli::Ui;
use crate::cli::env::absent;

/// Bytes that are read and written at once: larger pieces are not faster on any line.
const PIECE: usize = 64 * 1024;
/// Room that is left on the disk beside a file, bytes: what a commit of the pack needs
/// (`packset doctor` calls a disk full below it).
const SPARE: u64 = 16 << 20;
/// How long to wait before a server that failed is asked again, milliseconds. Whoever brings at
/// least a byte in between may fail as often again.
const AGAIN_MS: [u64; 4] = [200, 1_000, 3_000, 8_000];
/// Longest wait that a server may ask for, seconds: longer than any person looks on.
const LONGEST_WAIT_S: u64 = 60;
/// Requests for one file: beyond this the line is not worth it.
const REQUESTS: u32 = 100;

/// A file that is wanted.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// What a person reads.
    pub label: String,
    /// Where it comes from.
    pub url: String,
    /// What it is to be called.
    pub path: PathBuf,
    /// Its sha256 and who says it, where somebody does beforehand.
    pub sum: Option<(String, Proof)>,
    /// Its bytes, where that is known beforehand.
    pub size: Option<u64>,
}

/// What a file was checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The sum that this program holds.
    Pin,
    /// The sum in the mirror's list.
    List,
    /// The sum that the server says.
    Server,
    /// Its length and its form alone.
    Form,
    /// Its length alone.
    Length,
}

impl Proof {
    /// What a person reads.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pin => "sha256 as pinned",
            Self::List => "sha256 as in SHA256SUMS",
            Self::Server => "sha256 as the server says",
            Self::Form => "length and form alone, no sha256 is known for it",
            Self::Length => "length alone, no sha256 is known for it",
        }
    }
}

/// A file that is here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Its bytes.
    pub bytes: u64,
    /// Its sha256.
    pub sum: String,
    /// What it was checked against; none: it was here before.
    pub proof: Option<Proof>,
}

/// The beginning of a file.
struct Part<'a> {
    vfs: &'a dyn Vfs,
    path: PathBuf,
    note: PathBuf,
    len: u64,
    hash: Sha256,
    /// Where it came from: the URL and the tag of its content.
    url: String,
    tag: Option<String>,
}

/// Brings a file, and goes on as long as something comes.
///
/// # Errors
/// What keeps it from being here whole; a part stays unless it is wrong.
pub fn fetch(http: &Http, vfs: &dyn Vfs, ui: &mut Ui, wanted: &Wanted) -> Result<Fetched> {
    if let Ok(Kind::File(bytes)) = vfs.kind(&wanted.path) {
        let sum = sum_of(vfs, &wanted.path)?;
        return Ok(Fetched { bytes, sum, proof: None });
    }
    let mut part = Part::open(vfs, &wanted.path)?;
    let mut failed = 0;
    let mut requests = 0;
    loop {
        let before = part.len;
        requests += 1;
        let error = match attempt(http, ui, wanted, &mut part) {
            Ok(proof) => {
                ui.progress_done();
                return part.named(&wanted.path, proof);
            }
            Err(error) => error,
        };
        if part.len > before {
            failed = 0;
        }
        let wait = AGAIN_MS.get(failed).filter(|_| error.is_passing() && requests < REQUESTS);
        let Some(wait) = wait else {
            ui.progress_done();
            return Err(error);
        };
        failed += 1;
        let mut wait = Duration::from_millis(*wait);
        if let Error::Status { after: Some(seconds), .. } = &error {
            wait = wait.max(Duration::from_secs((*seconds).min(LONGEST_WAIT_S)));
        }
        if wait.as_secs() > 0 {
            ui.note(&format!("packset: {error}; again in {} s", wait.as_secs()));
        }
        std::thread::sleep(wait);
    }
}

/// One request, and what it brings.
fn attempt(http: &Http, ui: &mut Ui, wanted: &Wanted, part: &mut Part<'_>) -> Result<Proof> {
    if part.len > 0 && !part.goes_on(wanted) {
        part.clear()?;
    }
    let mut answer = http.get(&wanted.url, part.len, part.tag.as_deref())?;
    let fits = match answer.status {
        // Some servers mind the range and not the tag.
        206 => answer.from == part.len && (answer.tag.is_none() || answer.tag == part.tag),
        // Nothing comes after what is here: it is all there is.
        416 => answer.total == Some(part.len),
        _ => part.len == 0,
    };
    if !fits {
        // The whole comes, or the file is another by now.
        part.clear()?;
        if answer.status != 200 {
            answer = http.get(&wanted.url, 0, None)?;
        }
        if answer.status != 200 {
            let (url, status) = (wanted.url.clone(), answer.status);
            return Err(Error::Status { url, status, after: None });
        }
    }
    if let (Some(wanted_bytes), Some(found)) = (wanted.size, answer.total)
        && wanted_bytes != found
    {
        part.clear()?;
        return Err(Error::Length { file: wanted.label.clone(), found, wanted: wanted_bytes });
    }
    if answer.status != 416 {
        part.noted(&wanted.url, answer.tag.clone())?;
        part.grow(ui, wanted, &mut answer)?;
    }
    if let Some(total) = answer.total.filter(|total| *total != part.len) {
        if part.len > total {
            part.clear()?;
        }
        let why = format!("the server spoke of {total} bytes");
        return Err(Error::Cut { url: wanted.url.clone(), done: part.len, why });
    }
    let sum = wanted.sum.clone().or_else(|| Some((answer.sum?, Proof::Server)));
    match sum {
        Some((sum, proof)) => {
            let found = hex(part.hash.clone());
            if found != sum {
                part.clear()?;
                return Err(Error::Mismatch { file: wanted.label.clone(), found, wanted: sum });
            }
            Ok(proof)
        }
        None if wanted.path.extension().is_none_or(|end| end != "json") => Ok(Proof::Length),
        None if part.is_json()? => Ok(Proof::Form),
        None => {
            part.clear()?;
            Err(Error::NotJson { file: wanted.label.clone() })
        }
    }
}

impl<'a> Part<'a> {
    /// The beginning that is here; what was noted of it must be readable, or it is none.
    fn open(vfs: &'a dyn Vfs, named: &Path) -> Result<Self> {
        let beside = |end: &str| {
            let mut name = named.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        };
        let (path, note) = (beside(".part"), beside(".part.json"));
        let mut part =
            Self { vfs, path, note, len: 0, hash: Sha256::new(), url: String::new(), tag: None };
        let Ok(Kind::File(len)) = vfs.kind(&part.path) else { return Ok(part) };
        let noted: Value = vfs
            .read(&part.note)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        let text = |name: &str| noted.get(name).and_then(Value::as_str).map(str::to_owned);
        let Some(url) = text("url") else {
            part.clear()?;
            return Ok(part);
        };
        (part.url, part.tag, part.len) = (url, text("etag"), len);
        part.hash = hashed(vfs, &part.path)?;
        Ok(part)
    }

    /// Whether the rest can be asked for: from the same place, and by something that tells whether
    /// it belongs to the beginning.
    fn goes_on(&self, wanted: &Wanted) -> bool {
        self.url == wanted.url && (self.tag.is_some() || wanted.sum.is_some())
    }

    fn clear(&mut self) -> Result<()> {
        (self.len, self.hash, self.tag) = (0, Sha256::new(), None);
        for path in [&self.path, &self.note] {
            match self.vfs.unlink(path) {
                Err(error) if absent(&error) => {}
                other => other.at("remove", path)?,
            }
        }
        Ok(())
    }

    /// Writes down where the bytes come from, before there are any.
    fn noted(&mut self, url: &str, tag: Option<String>) -> Result<()> {
        let same = self.len > 0 && self.url == url && self.tag == tag;
        (self.url, self.tag) = (url.to_owned(), tag);
        if same {
            return Ok(());
        }
        match self.vfs.unlink(&self.note) {
            Err(error) if absent(&error) => {}
            other => other.at("remove", &self.note)?,
        }
        let text = json!({ "url": self.url, "etag": self.tag }).to_string();
        let grow = |error| Error::growing(&self.note, error);
        let mut file = self.vfs.create_new(&self.note).map_err(grow)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync()).map_err(grow)
    }

    fn grow(&mut self, ui: &mut Ui, wanted: &Wanted, answer: &mut Answer) -> Result<()> {
        if let (Some(total), Some(dir)) = (answer.total, self.path.parent())
            && let Ok(free) = self.vfs.free_space(dir)
        {
            let more = total.saturating_sub(self.len).saturating_add(SPARE);
            if free < more {
                let why = format!("it takes {} MB more, and {} MB are free", more / MB, free / MB);
                return Err(Error::Full { path: self.path.clone(), why });
            }
        }
        let mut file = open_log(&self.path).map_err(|error| Error::growing(&self.path, error))?;
        let (began, had) = (Instant::now(), self.len);
        let mut piece = vec![0_u8; PIECE];
        loop {
            let read = match answer.body.read(&mut piece) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    let (url, why) = (wanted.url.clone(), error.to_string());
                    return Err(Error::Cut { url, done: self.len, why });
                }
            };
            let bytes = piece.get(..read).unwrap_or_default();
            if let Err(error) = file.write_all(bytes) {
                // How much of the piece was written is not known: the file says it.
                self.recount()?;
                return Err(Error::growing(&self.path, error));
            }
            self.hash.update(bytes);
            self.len += read as u64;
            let rate = (self.len - had) as f64 / began.elapsed().as_secs_f64().max(1e-3);
            ui.transfer(&wanted.label, self.len, answer.total, rate);
        }
        file.sync_all().map_err(|error| Error::growing(&self.path, error))
    }

    /// Takes length and sum from the file, after a write of which only a part may be there.
    fn recount(&mut self) -> Result<()> {
        if let Kind::File(len) = self.vfs.kind(&self.path).at("look at", &self.path)? {
            self.hash = hashed(self.vfs, &self.path)?;
            self.len = len;
        }
        Ok(())
    }

    /// Whether a file without a sum is at least what its name says.
    fn is_json(&self) -> Result<bool> {
        let bytes = self.vfs.read(&self.path).at("read", &self.path)?;
        Ok(serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).is_ok())
    }

    /// The whole file gets its name.
    fn named(self, named: &Path, proof: Proof) -> Result<Fetched> {
        self.vfs.rename_over(&self.path, named).at("rename", named)?;
        match self.vfs.unlink(&self.note) {
            Err(error) if absent(&error) => {}
            other => other.at("remove", &self.note)?,
        }
        if let Some(dir) = named.parent() {
            self.vfs.sync_dir(dir).at("sync", dir)?;
        }
        Ok(Fetched { bytes: self.len, sum: hex(self.hash), proof: Some(proof) })
    }
}

/// A million bytes: what disks and lines are counted in.
pub const MB: u64 = 1_000_000;

fn hashed(vfs: &dyn Vfs, path: &Path) -> Result<Sha256> {
    let mut reader = vfs.reader(path).at("read", path)?;
    let mut hash = Sha256::new();
    let mut piece = vec![0_u8; PIECE];
    loop {
        match reader.read(&mut piece).at("read", path)? {
            0 => return Ok(hash),
            read => hash.update(piece.get(..read).unwrap_or_default()),
        }
    }
}

/// The sha256 of a file, in hex. Costs a second for some hundred megabytes.
///
/// # Errors
/// A file that cannot be read.
pub fn sum_of(vfs: &dyn Vfs, path: &Path) -> Result<String> {
    Ok(hex(hashed(vfs, path)?))
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A list of sums, as `sha256sum` writes it: 64 hex digits, a blank, a blank or `*`, a name.
#[derive(Clone, Debug, Default)]
pub struct Sums(Vec<(String, String)>);

impl Sums {
    /// Reads a list; lines that are none are passed over.
    pub fn parse(text: &str) -> Self {
        let line = |line: &str| {
            let (sum, name) = line.trim_end().split_once([' ', '\t'])?;
            let name = name.trim_start().trim_start_matches(['*']).trim_start_matches("./");
            is_sum(sum).then(|| (sum.to_ascii_lowercase(), name.to_owned()))
        };
        Self(text.lines().filter_map(line).collect())
    }

    /// The sum of a name.
    pub fn of(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(_, its)| its == name).map(|(sum, _)| sum.as_str())
    }

    /// Every name with its sum.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(sum, name)| (name.as_str(), sum.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Disk;

    /// NIST's "abc", and of nothing.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn the_sum_of_a_file() {
        let mut disk = Disk::default();
        disk.file("/abc", "abc").file("/empty", "");
        assert_eq!(sum_of(&disk, Path::new("/abc")).unwrap(), ABC);
        assert_eq!(sum_of(&disk, Path::new("/empty")).unwrap(), EMPTY);
    }

    #[test]
    fn a_list_of_sums() {
        let text = format!("# a list\n{ABC}  a/b.json\n{EMPTY} *./lib/x.so\r\nshort  c\n");
        let sums = Sums::parse(&text);
        assert_eq!(sums.of("a/b.json"), Some(ABC));
        assert_eq!(sums.of("lib/x.so"), Some(EMPTY));
        assert_eq!((sums.of("c"), sums.of("b.json")), (None, None));
        assert_eq!(sums.all().count(), 2);
    }

    #[test]
    fn a_beginning_goes_on_only_where_it_came_from_and_if_its_end_can_be_told() {
        let mut disk = Disk::default();
        disk.file("/f.part", "abc").file("/f.part.json", r#"{"url":"http://h/f","etag":"\"1\""}"#);
        disk.file("/g.part", "abc").file("/g.part.json", r#"{"url":"http://h/f","etag":null}"#);
        let wanted = |url: &str, sum: Option<&str>| Wanted {
            label: "f".into(),
            url: url.into(),
            path: "/f".into(),
            sum: sum.map(|sum| (sum.to_owned(), Proof::Pin)),
            size: None,
        };
        let tagged = Part::open(&disk, Path::new("/f")).unwrap();
        assert_eq!((tagged.len, hex(tagged.hash.clone()).as_str()), (3, ABC));
        assert_eq!(tagged.tag.as_deref(), Some("\"1\""));
        assert!(tagged.goes_on(&wanted("http://h/f", None)));
        assert!(!tagged.goes_on(&wanted("http://other/f", Some(ABC))));
        let untagged = Part::open(&disk, Path::new("/g")).unwrap();
        assert!(!untagged.goes_on(&wanted("http://h/f", None)));
        assert!(untagged.goes_on(&wanted("http://h/f", Some(ABC))), "the sum decides");
        assert_eq!(Part::open(&disk, Path::new("/none")).unwrap().len, 0);
    }

    #[test]
    fn what_has_no_sum_is_held_to_its_form() {
        let mut disk = Disk::default();
        for (name, text) in [("a", "{\"x\":[1]}"), ("b", "<html>"), ("c", "{\"x\":")] {
            disk.file(format!("/{name}.json.part"), text);
            disk.file(format!("/{name}.json.part.json"), "{\"url\":\"u\"}");
        }
        let form = |name: &str| {
            let named = PathBuf::from(name);
            Part::open(&disk, &named).unwrap().is_json().unwrap()
        };
        assert_eq!([form("/a.json"), form("/b.json"), form("/c.json")], [true, false, false]);
    }
}
