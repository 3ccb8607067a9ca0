//! The program `packset-embed`: lines in, lines out, one model for its life.
//!
//! It loads its model at once, so that what is wrong is said before anybody waits, answers one line
//! after another, and ends with its input or with the process that started it. Not here: the
//! doors, which its main opens. Invariants: every line is answered, by an error if need be; a
//! text's vector is the same alone and among others.

use std::ffi::OsString;
use std::io::{BufRead, Read as _, Write};
use std::path::{Path, PathBuf};
use std::thread::ScopedJoinHandle;

use memchr::memmem;
use packset_segments::vfs::Vfs;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::models::{Kind, Model};
use super::net::{Made, Net, ROWS};
use super::wire::{self, Request};
use super::words::{Tokens, Words};
use super::{Error, files, runtime};
use crate::cli::Env;

/// Threads at most, unless `PACKSET_EMBED_THREADS` says (behaviour spec, 4.14).
const THREADS: usize = 4;
/// The same for a reranker, for which somebody waits.
const RERANK_THREADS: usize = 8;
/// More threads than any machine has use for in one model.
const THREADS_LIMIT: usize = 256;
/// Shortest length of a pair (behaviour spec, 4.14).
const PAIR_LEAST: usize = 32;
/// The operation of graphs whose numbers depend on everything that is run at once: they measure
/// their range over the whole batch. Two texts together differ from each alone by a cosine of
/// 0.995, measured with bge-small.
const MEASURES: &[u8] = b"DynamicQuantizeLinear";
/// Bytes of a graph that are read at once.
const STEP: usize = 1 << 20;

/// What the command line asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// To answer lines.
    Serve(Kind),
    /// To say which model would answer.
    Check(Kind),
    /// The usage.
    Help,
    /// The version.
    Version,
}

/// What `--help` says.
pub const USAGE: &str = "\
packset-embed: turns texts into vectors for packset, a line of JSON each way

Usage: packset-embed [--rerank | --sparse | --late] [--check]

      --rerank   score pairs:  {\"id\",\"q\",\"d\":[TEXT]} -> {\"id\",\"s\":[SCORE]}
      --sparse   weigh terms:  {\"id\",\"text\"} -> {\"id\",\"s\":{\"i\":[],\"w\":[]}}
      --late     a vector for each token:  {\"id\",\"text\"} -> {\"id\",\"t\":[[]]}
      --check    load the model, say which it is, and end

Without one: {\"id\",\"text\",\"query\"} -> {\"id\",\"v\":[]} and
{\"id\",\"texts\":[TEXT],\"query\"} -> {\"id\",\"vs\":[[]]}.
{\"id\",\"about\":true} -> which model it is.

PACKSET_EMBED_MODEL, PACKSET_RERANK_MODEL   which model
PACKSET_EMBED_MODEL_PATH                    its directory, else user/NAME in the cache
PACKSET_EMBED_CACHE                         the cache, else packset/embed in XDG_CACHE_HOME
PACKSET_EMBED_THREADS                       threads, else the cores up to 4 (8 to rerank)
PACKSET_RERANK_MAX_LENGTH                   tokens of a pair, else 192
ORT_DYLIB_PATH                              the ONNX Runtime's library, 1.24 or later

Exit codes: 0 done, 64 usage, 65 a model that cannot be used, 69 no model or no runtime,
70 a bug, 74 input or output
";

/// Reads the command line.
///
/// # Errors
/// A word that means nothing, or two kinds.
pub fn task(words: &[OsString]) -> Result<Task, Error> {
    let (mut kind, mut check) = (None, false);
    for word in words {
        let named = match word.to_str() {
            Some("--rerank") => Kind::Rerank,
            Some("--sparse") => Kind::Sparse,
            Some("--late") => Kind::Late,
            Some("--check") => {
                check = true;
                continue;
            }
            Some("--help" | "-h") => return Ok(Task::Help),
            Some("--version" | "-V") => return Ok(Task::Version),
            _ => return Err(Error::Usage(format!("no such word: {}", word.to_string_lossy()))),
        };
        if kind.replace(named).is_some_and(|other| other != named) {
            return Err(Error::Usage("one of --rerank, --sparse and --late".into()));
        }
    }
    let kind = kind.unwrap_or(Kind::Dense);
    Ok(if check { Task::Check(kind) } else { Task::Serve(kind) })
}

/// Does a task.
///
/// # Errors
/// No model or no runtime that can be used, or input and output that fail.
pub fn run(
    vars: &Env,
    vfs: &dyn Vfs,
    task: Task,
    input: &mut dyn BufRead,
    output: &mut dyn Write,
) -> Result<(), Error> {
    let kind = match task {
        Task::Serve(kind) | Task::Check(kind) => kind,
        Task::Help => return Ok(output.write_all(USAGE.as_bytes())?),
        Task::Version => {
            return Ok(writeln!(output, "packset-embed {}", env!("CARGO_PKG_VERSION"))?);
        }
    };
    let threads = threads(vars, kind)?;
    let pair = pair_length(vars)?;
    let runtime = runtime::load(&files::library(vars, vfs))?;
    let files::Found { model, dir } = files::locate(vars, vfs, kind)?;
    let graph = dir.join(files::GRAPH);
    std::thread::scope(|scope| {
        // A graph is read whole to be known again; meanwhile it is loaded.
        let reads = graph.clone();
        let sum = scope.spawn(move || summed(vfs, &reads));
        let net = Net::load(&runtime, model, &graph, threads)?;
        let file = dir.join(files::TOKENIZER);
        let bad = |why: String| Error::Model { what: file.display().to_string(), why };
        let bytes = vfs.read(&file).map_err(|error| bad(error.to_string()))?;
        let most = match kind {
            Kind::Rerank => pair.unwrap_or(model.pair_length).min(model.max_length),
            _ => model.max_length,
        };
        let words = Words::new(&bytes, most).map_err(bad)?;
        let mut child = Child {
            net,
            words,
            model,
            dir: &dir,
            version: runtime.version.clone(),
            sum: Sum::Reading(sum),
        };
        // The first run says whether the graph does what it is for, and makes the next quicker.
        child.first()?;
        match task {
            Task::Check(_) => {
                let mut about = child.about()?;
                about["kind"] = kind.name().into();
                about["path"] = dir.to_string_lossy().into();
                writeln!(output, "{about}")?;
                Ok(output.flush()?)
            }
            _ => child.serve(kind, input, output),
        }
    })
}

fn number(vars: &Env, name: &str) -> Result<Option<usize>, Error> {
    let read = |text: &str| {
        let number = text.trim().parse().ok().filter(|number| *number > 0);
        number.ok_or_else(|| Error::Usage(format!("{name} is no number above zero: {text}")))
    };
    vars.get(name).map(read).transpose()
}

fn threads(vars: &Env, kind: Kind) -> Result<usize, Error> {
    let most = if kind == Kind::Rerank { RERANK_THREADS } else { THREADS };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let named = number(vars, "PACKSET_EMBED_THREADS")?;
    Ok(named.unwrap_or(cores.min(most)).min(THREADS_LIMIT))
}

fn pair_length(vars: &Env) -> Result<Option<usize>, Error> {
    Ok(number(vars, "PACKSET_RERANK_MAX_LENGTH")?.map(|length| length.max(PAIR_LEAST)))
}

/// What a graph's bytes say.
#[derive(Clone, Debug)]
struct Summed {
    sha256: String,
    measures: bool,
}

enum Sum<'s> {
    Reading(ScopedJoinHandle<'s, std::io::Result<Summed>>),
    Read(Summed),
    Failed,
}

/// Reads a graph to its end.
fn summed(vfs: &dyn Vfs, path: &Path) -> std::io::Result<Summed> {
    let mut file = vfs.reader(path)?;
    let mut hash = Sha256::new();
    let finder = memmem::Finder::new(MEASURES);
    let mut held = Vec::with_capacity(STEP + MEASURES.len());
    let mut measures = false;
    loop {
        // The end of what was read before stays, so that a word is found across the border.
        let kept = held.len();
        let read = file.by_ref().take(STEP as u64).read_to_end(&mut held)?;
        if read == 0 {
            break;
        }
        hash.update(held.get(kept..).unwrap_or_default());
        measures |= finder.find(&held).is_some();
        held.drain(..held.len().saturating_sub(MEASURES.len()));
    }
    let sha256 = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Summed { sha256, measures })
}

struct Child<'s> {
    net: Net,
    words: Words,
    model: &'static Model,
    dir: &'s PathBuf,
    version: String,
    sum: Sum<'s>,
}

impl Child<'_> {
    fn first(&mut self) -> Result<(), Error> {
        let tokens = match self.model.kind {
            Kind::Rerank => self.words.pair("a", "b")?,
            _ => self.tokens("a", false)?,
        };
        self.net.run(&[&tokens], self.words.pad()).map(drop)
    }

    fn summed(&mut self) -> Result<Summed, Error> {
        self.sum = match std::mem::replace(&mut self.sum, Sum::Failed) {
            Sum::Reading(reading) => match reading.join() {
                Ok(Ok(sum)) => Sum::Read(sum),
                _ => Sum::Failed,
            },
            known => known,
        };
        match &self.sum {
            Sum::Read(sum) => Ok(sum.clone()),
            _ => Err(Error::Run(format!("{} cannot be read", self.dir.display()))),
        }
    }

    fn about(&mut self) -> Result<Value, Error> {
        let sum = self.summed()?;
        Ok(json!({
            "model": self.model.name,
            "dims": self.model.dims,
            "sha256": sum.sha256,
            "runtime": self.version,
        }))
    }

    fn serve(
        &mut self,
        kind: Kind,
        input: &mut dyn BufRead,
        output: &mut dyn Write,
    ) -> Result<(), Error> {
        let mut line = Vec::new();
        while wire::read(input, &mut line)? {
            let (id, asked) = wire::request(&line, kind);
            let answer = match asked {
                Ok(request) => self.answer(&id, request),
                Err(why) => Ok(wire::error(&id, &why)),
            };
            let mut answer = answer.unwrap_or_else(|error| wire::error(&id, &error.to_string()));
            answer.push('\n');
            output.write_all(answer.as_bytes())?;
            output.flush()?;
            // A long line's memory is not kept for the short ones after it.
            line.shrink_to(STEP);
        }
        Ok(())
    }

    fn answer(&mut self, id: &Value, request: Request) -> Result<String, Error> {
        Ok(match request {
            Request::About => {
                let mut about = json!({ "id": id });
                if let (Some(all), Value::Object(own)) = (about.as_object_mut(), self.about()?) {
                    all.extend(own);
                }
                about.to_string()
            }
            Request::Text { text, query } => {
                let tokens = self.tokens(&text, query)?;
                let made = self.made(&[tokens])?;
                let fields: Vec<_> = made.iter().flat_map(fields).collect();
                wire::answer(id, &fields)
            }
            Request::Texts { texts, query } => {
                let tokens = texts.iter().map(|text| self.tokens(text, query));
                let tokens = tokens.collect::<Result<Vec<_>, _>>()?;
                let vectors = self.made(&tokens)?.into_iter().map(|made| match made {
                    Made::Dense(vector) => wire::numbers(&vector),
                    _ => "null".into(),
                });
                wire::answer(id, &[("vs", wire::list(vectors))])
            }
            Request::Pairs { query, texts } => {
                let pairs = texts.iter().map(|text| self.words.pair(&query, text));
                let pairs = pairs.collect::<Result<Vec<_>, _>>()?;
                let scores = self.made(&pairs)?.into_iter().filter_map(|made| match made {
                    Made::Score(score) => Some(score),
                    _ => None,
                });
                wire::answer(id, &[("s", wire::numbers(&scores.collect::<Vec<_>>()))])
            }
        })
    }

    /// A text's tokens, with what its model wants to stand before it.
    fn tokens(&self, text: &str, query: bool) -> Result<Tokens, Error> {
        let model = self.model;
        let before = if query { model.query_prefix } else { model.passage_prefix };
        match model.kind {
            // There it is the name of a token.
            Kind::Late => self.words.text(text, before),
            _ if before.is_empty() => self.words.text(text, ""),
            _ => self.words.text(&format!("{before}{text}"), ""),
        }
    }

    /// Runs texts, those of like length side by side; one by one where a text's numbers would
    /// depend on the others.
    fn made(&mut self, texts: &[Tokens]) -> Result<Vec<Made>, Error> {
        let rows = match texts.len() > 1 && self.summed()?.measures {
            true => 1,
            false => ROWS,
        };
        let mut order: Vec<(usize, &Tokens)> = texts.iter().enumerate().collect();
        order.sort_by_key(|(_, text)| text.ids.len());
        let mut made = Vec::with_capacity(texts.len());
        for part in order.chunks(rows) {
            let tokens: Vec<&Tokens> = part.iter().map(|(_, text)| *text).collect();
            let all = self.net.run(&tokens, self.words.pad())?;
            made.extend(part.iter().map(|(at, _)| *at).zip(all));
        }
        made.sort_by_key(|(at, _)| *at);
        Ok(made.into_iter().map(|(_, made)| made).collect())
    }
}

/// What is answered of one text.
fn fields(made: &Made) -> Vec<(&'static str, String)> {
    let terms = |terms: &[(u32, f32)]| {
        let ids = wire::list(terms.iter().map(|(id, _)| id.to_string()));
        let weights: Vec<f32> = terms.iter().map(|(_, weight)| *weight).collect();
        format!("{{\"i\":{ids},\"w\":{}}}", wire::numbers(&weights))
    };
    match made {
        Made::Dense(vector) => vec![("v", wire::numbers(vector))],
        Made::Score(score) => vec![("s", wire::numbers(&[*score]))],
        Made::Sparse(all) => vec![("s", terms(all))],
        Made::Late { tokens, dense, sparse } => {
            let tokens = wire::list(tokens.iter().map(|token| wire::numbers(token)));
            let mut fields = vec![("t", tokens)];
            fields.extend(dense.as_ref().map(|vector| ("v", wire::numbers(vector))));
            fields.extend(sparse.as_ref().map(|all| ("s", terms(all))));
            fields
        }
    }
}

/// Has this process end when its parent does, even in the middle of a text.
///
/// The system's signal is sent too when only the thread that started us ends; then nothing is
/// done, and it comes again with the next.
#[cfg(target_os = "linux")]
pub fn die_with_parent() {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};
    let parent = getppid();
    let orphan = move || {
        if getppid() != parent {
            signal_hook::low_level::exit(0);
        }
    };
    // SAFETY: the handler makes one system call and leaves by another; both may be made in one.
    let heard = unsafe { signal_hook::low_level::register(signal_hook::consts::SIGUSR2, orphan) };
    // Without the handler the signal would end us when a mere thread does; the end of the input
    // is what is left then.
    if heard.is_ok() {
        let _ = set_parent_process_death_signal(Some(Signal::USR2));
    }
    // It may have ended while we were asking.
    orphan();
}

/// Elsewhere the end of the input is all there is.
#[cfg(not(target_os = "linux"))]
pub fn die_with_parent() {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Disk;

    fn words(line: &str) -> Result<Task, u8> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        task(&words).map_err(|error| error.code())
    }

    #[test]
    fn the_command_line_names_one_kind() {
        assert_eq!(words(""), Ok(Task::Serve(Kind::Dense)));
        assert_eq!(words("--rerank"), Ok(Task::Serve(Kind::Rerank)));
        assert_eq!(words("--check --late"), Ok(Task::Check(Kind::Late)));
        assert_eq!(words("--sparse --late"), Err(64));
        assert_eq!(words("serve"), Err(64));
        assert_eq!(words("--nonsense --help"), Err(64));
    }

    #[test]
    fn numbers_of_the_environment_are_checked() {
        let env = |name: &str, text: &str| Env::new([""; 0], [(name, text)], None);
        let named = |text: &str| threads(&env("PACKSET_EMBED_THREADS", text), Kind::Dense);
        assert_eq!(named("3").unwrap(), 3);
        assert_eq!(named("99999").unwrap(), THREADS_LIMIT);
        assert_eq!(named("0").unwrap_err().code(), 64);
        assert!((1..=4).contains(&threads(&env("A", "b"), Kind::Dense).unwrap()));
        let length = |text: &str| pair_length(&env("PACKSET_RERANK_MAX_LENGTH", text));
        assert_eq!(length("8").unwrap(), Some(32));
        assert_eq!(length("256").unwrap(), Some(256));
        assert_eq!(length("long").unwrap_err().code(), 64);
    }

    #[test]
    fn a_graph_is_known_by_its_bytes() {
        let mut disk = Disk::default();
        disk.file("/m/model.onnx", "abc");
        let sum = summed(&disk, Path::new("/m/model.onnx")).unwrap();
        // FIPS 180-2, B.1.
        assert_eq!(
            (sum.sha256.as_str(), sum.measures),
            ("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", false)
        );
        let across = format!("{}DynamicQuantizeLinear and more", "x".repeat(STEP - 5));
        disk.file("/m/model.onnx", &across);
        assert!(summed(&disk, Path::new("/m/model.onnx")).unwrap().measures);
    }
}
