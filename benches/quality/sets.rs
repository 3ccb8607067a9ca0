//! Sets of questions with judged answers, in the plain layout that public sets come in.
//!
//! A directory with `corpus.jsonl` (`id`, `text`), `queries.jsonl` (`id`, `text`) and a file of
//! judgements (TAB-separated, a header, then query, document, grade) is one pack; a directory of
//! such directories is one set of several packs, whose questions count alike. `negatives.jsonl`
//! holds questions that nothing in the corpus answers. Not here: asking anybody. Invariants: a
//! corpus keeps its order; a question without a relevant document is left out; nothing is altered.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use packset::time::Micros;
use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::xxh3_64;

use crate::metrics::Grades;

/// Fields of a document that a record of it carries on.
const HANDED_ON: [&str; 3] = ["session", "speaker", "about"];

/// The judgements that are read unless others are named.
pub(crate) const JUDGEMENTS: &str = "qrels.tsv";

/// A set: one name, one table.
#[derive(Debug)]
pub(crate) struct Set {
    pub(crate) name: String,
    pub(crate) packs: Vec<Pack>,
}

/// A corpus and what is asked of it.
#[derive(Debug)]
pub(crate) struct Pack {
    pub(crate) name: String,
    /// The documents as records, without a kind; in the order of the corpus.
    pub(crate) records: Vec<Map<String, Value>>,
    pub(crate) questions: Vec<Question>,
    pub(crate) negatives: Vec<String>,
}

/// A question with at least one relevant document.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) grades: Grades,
}

/// A stable half of the questions: tune on one, report on the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Half {
    A,
    B,
}

impl Half {
    /// Whether a question of a pack is in it: by a hash of both names, so that no order and no
    /// other question matters.
    pub(crate) fn holds(self, pack: &str, question: &str) -> bool {
        let odd = xxh3_64(format!("{pack}/{question}").as_bytes()) & 1 == 1;
        odd == (self == Self::B)
    }
}

/// The directories below one that hold a set, by name.
///
/// # Errors
/// One that cannot be listed.
pub(crate) fn below(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() && !packs_of(&path)?.is_empty() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn packs_of(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let is_pack = |path: &Path| path.join("corpus.jsonl").is_file();
    if is_pack(dir) {
        return Ok(vec![dir.to_owned()]);
    }
    let mut packs = Vec::new();
    for entry in fs::read_dir(dir)? {
        packs.extend(Some(entry?.path()).filter(|path| is_pack(path)));
    }
    packs.sort();
    Ok(packs)
}

impl Set {
    /// Reads a set, or the half of its questions. A pack without the named judgements is judged by
    /// [`JUDGEMENTS`].
    ///
    /// # Errors
    /// A file that is missing or not in the layout, with its name.
    pub(crate) fn read(dir: &Path, judgements: &str, half: Option<Half>) -> io::Result<Self> {
        let packs: Vec<Pack> = packs_of(dir)?
            .iter()
            .map(|pack| Pack::read(pack, judgements, half))
            .collect::<io::Result<_>>()?;
        if packs.is_empty() {
            return Err(io::Error::other(format!("{}: no corpus.jsonl in it", dir.display())));
        }
        Ok(Self { name: name_of(dir), packs })
    }

    /// Characters of the longest text.
    pub(crate) fn longest(&self) -> usize {
        let texts = self.packs.iter().flat_map(|pack| &pack.records);
        texts.map(|record| text(record, "text").chars().count()).max().unwrap_or(0)
    }
}

impl Pack {
    fn read(dir: &Path, judgements: &str, half: Option<Half>) -> io::Result<Self> {
        let name = name_of(dir);
        let mut clock = Clock::default();
        let corpus = lines(&dir.join("corpus.jsonl"))?;
        let records = corpus.into_iter().map(|document| record(document, &mut clock)).collect();
        let named = dir.join(judgements);
        let file = if named.is_file() { named } else { dir.join(JUDGEMENTS) };
        let mut judged = grades(&file)?;
        let mut questions = Vec::new();
        for line in lines(&dir.join("queries.jsonl"))? {
            let (id, text) = (text(&line, "id").to_owned(), text(&line, "text").to_owned());
            let grades = judged.remove(&id).unwrap_or_default();
            let asked = half.is_none_or(|half| half.holds(&name, &id));
            if asked && grades.values().any(|grade| *grade > 0) {
                questions.push(Question { id, text, grades });
            }
        }
        let file = dir.join("negatives.jsonl");
        let negatives = if file.is_file() { lines(&file)? } else { Vec::new() };
        let negatives = negatives.iter().map(|line| text(line, "text").to_owned()).collect();
        Ok(Self { name, records, questions, negatives })
    }
}

fn name_of(dir: &Path) -> String {
    let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    dir.file_name().unwrap_or(dir.as_os_str()).to_string_lossy().into_owned()
}

fn text<'a>(record: &'a Map<String, Value>, field: &str) -> &'a str {
    record.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn wrong(file: &Path, number: usize, what: &str) -> io::Error {
    io::Error::other(format!("{}: line {number}: {what}", file.display()))
}

fn lines(file: &Path) -> io::Result<Vec<Map<String, Value>>> {
    let read = fs::read_to_string(file)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))?;
    let lines = read.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            let line: Map<String, Value> = serde_json::from_str(line)
                .map_err(|error| wrong(file, at + 1, &error.to_string()))?;
            // Cranfield has a document without a word: then it is one that nothing finds.
            let has_text = line.get("text").is_some_and(Value::is_string);
            match text(&line, "id").is_empty() || !has_text {
                true => Err(wrong(file, at + 1, "it needs an id and a text")),
                false => Ok(line),
            }
        })
        .collect()
}

fn grades(file: &Path) -> io::Result<BTreeMap<String, Grades>> {
    let read = fs::read_to_string(file)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))?;
    let mut judged: BTreeMap<String, Grades> = BTreeMap::new();
    for (at, line) in read.lines().enumerate().skip(1).filter(|(_, line)| !line.is_empty()) {
        let mut cells = line.split('\t');
        let (query, document, grade) = (cells.next(), cells.next(), cells.next());
        let grade = grade.and_then(|grade| grade.trim().parse().ok());
        let (Some(query), Some(document), Some(grade)) = (query, document, grade) else {
            return Err(wrong(file, at + 1, "it is not query, document and grade"));
        };
        judged.entry(query.to_owned()).or_default().insert(document.to_owned(), grade);
    }
    Ok(judged)
}

/// Gives the documents of one date moments a second apart, so that their order is kept.
#[derive(Default)]
struct Clock(BTreeMap<i64, i64>);

impl Clock {
    fn next(&mut self, date: &str) -> Option<String> {
        const SECOND: i64 = 1_000_000;
        let day = moment(date)?;
        let before = self.0.entry(day.0).or_default();
        let moment = day.plus(*before * SECOND);
        *before += 1;
        Some(moment.to_string())
    }
}

fn record(mut document: Map<String, Value>, clock: &mut Clock) -> Map<String, Value> {
    let mut record = Map::new();
    for field in ["id", "text"].into_iter().chain(HANDED_ON) {
        if let Some(value) = document.remove(field) {
            record.insert(field.to_owned(), value);
        }
    }
    if let Some(ts) = clock.next(text(&document, "date")) {
        record.insert("ts".to_owned(), json!(ts));
    }
    record
}

/// A written date: RFC 3339, or as a dialogue has it: `7:31 pm on 21 January, 2022`.
pub(crate) fn moment(date: &str) -> Option<Micros> {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    if let Some(moment) = Micros::parse(date) {
        return Some(moment);
    }
    let (clock, day) = date.split_once(" on ")?;
    let (time, half) = clock.split_once(' ')?;
    let (hour, minute) = time.split_once(':')?;
    let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = match half {
        "am" => hour % 12,
        "pm" => hour % 12 + 12,
        _ => return None,
    };
    let mut words = day.split([' ', ',']).filter(|word| !word.is_empty());
    let day: u32 = words.next()?.parse().ok()?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let year: u32 = words.next()?.parse().ok()?;
    Micros::parse(&format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:00Z"))
}
