//! `packset import [--records] FILE|-`: many lines at once, each a JSON object.
//!
//! Lines are taken in batches, and a batch is one commit: a crash leaves whole batches, and a
//! claim that is there already is not stored twice, so an import may simply be run again. What
//! can be worked out without the lock (JSON, rules, terms) is done by all cores. A line that is
//! refused is named with its number and reason and stops nothing else.
//!
//! Nobody loses claims by loading some: before the first line is stored it is counted how many
//! would be new, and if they would take a workspace past its live cap, nothing is stored
//! (`room`). With `--over-cap` all of it is, and the workspace is kept at that size.
//!
//! A line goes to the workspace that `--workspace` names, else to the one it names itself, else
//! to the one in force. An import is done by a person's hand: nothing is held as a proposal.

mod room;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{BufRead, BufReader, Cursor, ErrorKind, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use packset_segments::IoContext;
use rayon::prelude::*;
use serde::Deserializer as _;
use serde::de::{MapAccess, Visitor};
use serde_json::error::Category;
use serde_json::{Value, json};

use crate::atom::{Kind, shortened, unsafe_record};
use crate::claim;
use crate::cli::args::Import;
use crate::cli::{Exit, Failure, FailureKind};
use crate::command::{Context, schema};
use crate::desk::batch::{no_json, trimmed};
use crate::pack::record::{self, Record};
use crate::pack::{self, Prepared, Transaction};
use crate::place;
use crate::text::Tokenizer;

/// Lines in one commit: enough that its syncs cost nothing, few enough to hold in memory.
const BATCH: usize = 1 << 16;
/// Bytes of lines in one commit, whatever their number.
const BATCH_BYTES: usize = 64 << 20;
/// Bytes asked of a file at a time.
const READ_AT_ONCE: usize = 1 << 18;
/// Bytes of standard input that are held in memory to be counted before they are stored.
const HELD_BYTES: u64 = 1 << 30;
/// Longest text of a record that is no claim, bytes.
const RECORD_TEXT: usize = 1 << 20;
/// Lines that a core works out before it takes the next share.
const SHARE: usize = 256;

/// How a line ended.
#[derive(Debug)]
enum Outcome {
    /// No JSON object at all.
    Malformed(String),
    /// A record that may not be stored.
    Refused(String),
    /// Worked out, for this workspace.
    Ready(String, Box<Prepared>),
}

impl Outcome {
    /// The same, with the text's vector from the static table if `wanted`.
    fn with_meaning(self, wanted: bool) -> Self {
        match self {
            Self::Ready(name, prepared) => {
                Self::Ready(name, Box::new(prepared.with_meaning(wanted)))
            }
            other => other,
        }
    }
}

#[derive(Default)]
struct Tally {
    stored: u64,
    known: u64,
    refused: u64,
    malformed: u64,
    /// Where anything was stored.
    workspaces: BTreeSet<String>,
}

/// Runs the verb.
///
/// # Errors
/// A file that cannot be read, or what the pack says; the batches before it stay stored.
pub fn run(context: &mut Context<'_>, args: &Import) -> Result<Exit, Failure> {
    context.on_files("import")?;
    let named = args.within.workspace.as_deref();
    let cap = context.live_cap()?;
    let job = Job {
        fixed: named.map(|named| context.workspace(Some(named))).transpose()?.map(|ws| ws.name),
        fallback: context.workspace(named)?.name,
        records: args.records,
        kind: args.kind.clone(),
        cap,
        tokenizers: Mutex::default(),
    };
    let most = args.batch.map_or(BATCH, |lines| lines as usize);
    let mut tally = Tally::default();
    let mut held = None;
    if let Some(cap) = cap.filter(|_| !args.over_cap && !args.records) {
        held = hold(context, &args.file)?;
        room::check(context, &job, args, held.as_deref(), cap)?;
    }
    let mut source = Source::of(context, &args.file, held.as_deref())?;
    let (mut done, mut number) = (0, 0);
    loop {
        let total = source.total();
        let batch = source.batch(context, most, &mut number).at("read", Path::new(&args.file))?;
        if batch.lines.is_empty() {
            break;
        }
        job.store(context, &batch, &mut tally)?;
        done += batch.bytes.len() as u64;
        if let Some(total) = total {
            context.ui.progress("import", done, total);
        }
    }
    context.ui.progress_done();
    if args.link {
        for name in &tally.workspaces {
            claim::link_unlinked(&context.store(name)?)?;
        }
    }
    report(context, &tally)
}

/// The bytes of what can be read only once, standard input or a pipe: it is looked at twice. None
/// for a file.
fn hold(context: &mut Context<'_>, file: &str) -> Result<Option<Vec<u8>>, Failure> {
    let mut reader;
    let input: &mut dyn BufRead = if file == "-" {
        context.ui.input()
    } else {
        let path = context.path(file);
        let length;
        (reader, length) = open(context, &path)?;
        // A pipe has no length.
        if length > 0 {
            return Ok(None);
        }
        &mut reader
    };
    let mut bytes = Vec::new();
    input.take(HELD_BYTES + 1).read_to_end(&mut bytes).at("read", Path::new(file))?;
    if bytes.len() as u64 > HELD_BYTES {
        let message =
            format!("{file} holds more than {HELD_BYTES} bytes and can be read only once");
        return Err(Failure::new(FailureKind::Refused, message)
            .hint("name a file, or say --over-cap: then it need not be counted first"));
    }
    Ok(Some(bytes))
}

/// Where lines come from.
enum Source<'a> {
    File(Reader, u64),
    Held(Cursor<&'a [u8]>),
    Input,
}

impl<'a> Source<'a> {
    fn of(context: &Context<'_>, file: &str, held: Option<&'a [u8]>) -> Result<Self, Failure> {
        Ok(match (held, file) {
            (Some(held), _) => Self::Held(Cursor::new(held)),
            (None, "-") => Self::Input,
            (None, named) => {
                let (reader, total) = open(context, &context.path(named))?;
                Self::File(reader, total)
            }
        })
    }

    fn total(&self) -> Option<u64> {
        match self {
            Self::File(_, total) => Some(*total),
            Self::Held(held) => Some(held.get_ref().len() as u64),
            Self::Input => None,
        }
    }

    fn batch(
        &mut self,
        context: &mut Context<'_>,
        most: usize,
        number: &mut u64,
    ) -> std::io::Result<Batch> {
        match self {
            Self::File(reader, _) => Batch::read(reader, most, number),
            Self::Held(held) => Batch::read(held, most, number),
            Self::Input => Batch::read(context.ui.input(), most, number),
        }
    }
}

pub(super) type Reader = BufReader<Box<dyn Read + Send>>;

/// Opens a file and tells its length. A name that leads to no file is the caller's slip, not the
/// system's failure.
pub(super) fn open(context: &Context<'_>, path: &Path) -> Result<(Reader, u64), Failure> {
    let refused = |what| {
        let message = format!("{} {what}", path.display());
        Failure::new(FailureKind::Refused, message).hint("name a JSON Lines file, or - for stdin")
    };
    let reader = match context.vfs.reader(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(refused("is not there")),
        Err(error) if error.kind() == ErrorKind::IsADirectory => {
            return Err(refused("is a directory"));
        }
        other => other.at("read", path)?,
    };
    let length = match context.vfs.kind(path) {
        Ok(packset_segments::vfs::Kind::File(length)) => length,
        _ => 0,
    };
    Ok((BufReader::with_capacity(READ_AT_ONCE, reader), length))
}

/// Lines that are stored together.
struct Batch {
    bytes: Vec<u8>,
    /// Number and place of each line.
    lines: Vec<(u64, Range<usize>)>,
}

impl Batch {
    /// Reads at most `most` lines; `number` counts the lines of the whole input.
    fn read(reader: &mut dyn BufRead, most: usize, number: &mut u64) -> std::io::Result<Self> {
        let mut batch = Self { bytes: Vec::new(), lines: Vec::new() };
        while batch.lines.len() < most && batch.bytes.len() < BATCH_BYTES {
            let start = batch.bytes.len();
            if reader.read_until(b'\n', &mut batch.bytes)? == 0 {
                break;
            }
            *number += 1;
            batch.lines.push((*number, start..batch.bytes.len()));
        }
        Ok(batch)
    }

    fn line(&self, range: &Range<usize>) -> &[u8] {
        self.bytes.get(range.clone()).unwrap_or_default()
    }
}

fn report(context: &mut Context<'_>, tally: &Tally) -> Result<Exit, Failure> {
    let refused = tally.refused + tally.malformed;
    if context.json {
        context.ui.json(&json!({
            "schema": schema("import"),
            "stored": tally.stored,
            "known": tally.known,
            "refused": refused,
        }))?;
    } else {
        context.ui.line(&format!(
            "{} stored, {} already there, {refused} refused",
            tally.stored, tally.known
        ))?;
    }
    Ok(match (tally.malformed, tally.refused) {
        (0, 0) => Exit::Done,
        (0, _) => Exit::Refused,
        _ => Exit::Data,
    })
}

/// What holds for every line of one import, and what it keeps between lines.
struct Job {
    fixed: Option<String>,
    fallback: String,
    records: bool,
    kind: Option<String>,
    /// The live cap; none: there is none.
    cap: Option<usize>,
    /// Tokenizers at rest: each knows the stems it has met, which is worth keeping.
    tokenizers: Mutex<Vec<Tokenizer>>,
}

impl Job {
    fn store(
        &self,
        context: &mut Context<'_>,
        batch: &Batch,
        tally: &mut Tally,
    ) -> Result<(), Failure> {
        let mut ready: BTreeMap<String, Vec<(u64, Prepared)>> = BTreeMap::new();
        for (number, outcome) in self.outcomes(context, batch) {
            match outcome {
                Outcome::Malformed(why) => {
                    tally.malformed += 1;
                    context.ui.note(&format!("packset: line {number}: {why}"));
                }
                Outcome::Refused(why) => {
                    tally.refused += 1;
                    context.ui.note(&format!("packset: line {number}: {why}"));
                }
                Outcome::Ready(name, prepared) => {
                    ready.entry(name).or_default().push((number, *prepared));
                }
            }
        }
        for (name, prepared) in ready {
            self.commit(context, &name, prepared, tally)?;
        }
        Ok(())
    }

    /// Works out the lines of a batch on all cores. Blank ones come to nothing.
    fn outcomes(&self, context: &Context<'_>, batch: &Batch) -> Vec<(u64, Outcome)> {
        let now = context.clock.now();
        let (stem, meaning) = (context.stem(), context.meaning());
        let ids = &context.ids;
        let outcomes: Vec<Option<(u64, Outcome)>> = batch
            .lines
            .par_chunks(SHARE)
            .flat_map_iter(|share| {
                let at_rest = || self.tokenizers.lock().unwrap_or_else(PoisonError::into_inner);
                let known = at_rest().pop();
                let mut tokenizer = known.unwrap_or_else(|| Tokenizer::new(stem));
                // One record for all lines of a share: its tables are made once.
                let mut record = Record::new();
                let outcomes: Vec<_> = share
                    .iter()
                    .map(|(number, line)| {
                        let line = trimmed(batch.line(line));
                        (!line.is_empty()).then(|| {
                            let id = ids.fresh(now);
                            let outcome = self.work_out(line, &mut record, id, now, &mut tokenizer);
                            (*number, outcome.with_meaning(meaning))
                        })
                    })
                    .collect();
                at_rest().push(tokenizer);
                outcomes
            })
            .collect();
        outcomes.into_iter().flatten().collect()
    }

    fn commit(
        &self,
        context: &mut Context<'_>,
        name: &str,
        lines: Vec<(u64, Prepared)>,
        tally: &mut Tally,
    ) -> Result<(), Failure> {
        let (outcome, _) = context.store(name)?.commit(|transaction| {
            let mut batch = Tally::default();
            let mut refused = Vec::new();
            for (number, prepared) in lines {
                match self.put(transaction, prepared) {
                    Ok(true) => batch.stored += 1,
                    Ok(false) => batch.known += 1,
                    Err(claim::Error::Pack(error))
                        if !matches!(error, pack::Error::Collision { .. }) =>
                    {
                        return Err(error);
                    }
                    Err(error) => {
                        batch.refused += 1;
                        refused.push((number, error.to_string()));
                    }
                }
            }
            if batch.stored > 0 && !self.records {
                claim::open_day(transaction);
                claim::allow(transaction, self.cap)?;
            }
            Ok((batch, refused))
        })?;
        let (batch, refused) = outcome;
        if batch.stored > 0 {
            tally.workspaces.insert(name.to_owned());
        }
        tally.stored += batch.stored;
        tally.known += batch.known;
        tally.refused += batch.refused;
        for (number, why) in refused {
            context.ui.note(&format!("packset: line {number}: {why}"));
        }
        Ok(())
    }

    /// Writes a record, unless it is there already; whether it was written.
    fn put(
        &self,
        transaction: &mut Transaction<'_>,
        prepared: Prepared,
    ) -> Result<bool, claim::Error> {
        if !self.records {
            return Ok(claim::put(transaction, prepared)?.is_none());
        }
        if let Some(known) = transaction.get(prepared.id())? {
            if record::tombstone(&known) {
                return Err(claim::Error::Retired(prepared.id().to_owned()));
            }
            if known == prepared.record(transaction.snapshot().name()) {
                return Ok(false);
            }
        }
        transaction.put_prepared(prepared)?;
        Ok(true)
    }

    fn work_out(
        &self,
        line: &[u8],
        record: &mut Record,
        id: String,
        now: crate::time::Micros,
        tokenizer: &mut Tokenizer,
    ) -> Outcome {
        if let Err(error) = read_into(record, line) {
            return Outcome::Malformed(match error.classify() {
                Category::Data => "it is no JSON object".into(),
                _ => no_json(&error),
            });
        }
        if let Some(kind) = &self.kind
            && !record.contains_key("kind")
        {
            record.insert("kind".into(), kind.as_str().into());
        }
        let name = match (&self.fixed, record::string(record, "workspace")) {
            (Some(fixed), _) => fixed.clone(),
            (None, Some(own)) => own.to_owned(),
            (None, None) => self.fallback.clone(),
        };
        if let Err(fault) = place::check_name(&name) {
            return Outcome::Refused(fault.to_string());
        }
        if self.fixed.is_some() && record.contains_key("workspace") {
            record.insert("workspace".into(), name.as_str().into());
        }
        if self.records {
            return self.work_out_record(record, name, id, tokenizer);
        }
        match claim::prepare(record, &name, id, now, tokenizer) {
            Ok(prepared) => Outcome::Ready(name, Box::new(prepared)),
            Err(refusal) => Outcome::Refused(refusal.to_string()),
        }
    }

    /// A record of another kind is stored as it stands; only what would break the pack's own
    /// promises is refused.
    fn work_out_record(
        &self,
        record: &mut Record,
        name: String,
        id: String,
        tokenizer: &mut Tokenizer,
    ) -> Outcome {
        let kind = record::kind(record);
        if kind.is_empty() || kind.chars().any(char::is_control) {
            return Outcome::Refused(
                "a record needs a kind, a name without control characters".into(),
            );
        }
        if Kind::named(kind).is_some() {
            return Outcome::Refused(format!(
                "{kind} is a kind of claim: import it without --records"
            ));
        }
        if record::string(record, "text").is_some_and(|text| text.len() > RECORD_TEXT) {
            return Outcome::Refused(format!("a text is at most {RECORD_TEXT} bytes"));
        }
        if let Some((field, what)) = unsafe_record(record) {
            return Outcome::Refused(format!("{what} in {}", shortened(field)));
        }
        if record::id(record).is_empty() {
            record.insert("id".into(), id.into());
        }
        Outcome::Ready(name.clone(), Box::new(Prepared::new(record, Vec::new(), &name, tokenizer)))
    }
}

/// Reads a JSON object into a record, whose room is used again.
fn read_into(record: &mut Record, line: &[u8]) -> serde_json::Result<()> {
    struct Into<'a>(&'a mut Record);

    impl<'de> Visitor<'de> for Into<'_> {
        type Value = ();

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a JSON object")
        }

        fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<(), M::Error> {
            while let Some((key, value)) = members.next_entry::<String, Value>()? {
                self.0.insert(key, value);
            }
            Ok(())
        }
    }

    record.clear();
    let mut reader = serde_json::Deserializer::from_slice(line);
    reader.deserialize_map(Into(record))?;
    reader.end()
}
