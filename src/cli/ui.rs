//! The one door to the terminal: stdout carries data, stderr carries words to a person, stdin is
//! read here.
//!
//! Not here: what is said. Invariants: a row is one line, whatever its cells hold; what a pipe
//! receives is never coloured, never neutralised and never sees a progress bar; on a terminal no
//! stored text can move the cursor or turn the reading direction; a reader that went away ends
//! the run quietly.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, BufRead, BufWriter, IsTerminal, Read, Write};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cli::env::Env;
use crate::cli::exit::{Failure, FailureKind};

/// Bytes kept back before stdout is written: the pipe buffer of Linux, so a listing costs one
/// call for each time a reader can be woken.
const OUT_BUFFER_BYTES: usize = 64 * 1024;

/// Shortest time between two drawings of the progress bar: ten a second look smooth and cost
/// nothing.
const BAR_PERIOD: Duration = Duration::from_millis(100);

/// Width of the progress bar's filled part, in columns; with the counts it fits 80.
const BAR_COLUMNS: u64 = 30;

/// The same for one file, whose megabytes and rate stand behind it: they fit 80 with a name of 26.
const FILE_COLUMNS: usize = 20;

const DIM: &str = "\u{1b}[2m";
const ACCENT: &str = "\u{1b}[36m";
const PLAIN: &str = "\u{1b}[0m";

/// How a cell looks on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tint {
    Plain,
    Dim,
    Accent,
}

/// One column of a row.
#[derive(Clone, Debug)]
pub struct Cell<'a> {
    text: Cow<'a, str>,
    tint: Tint,
}

impl<'a> Cell<'a> {
    /// Text as it is.
    pub fn plain(text: impl Into<Cow<'a, str>>) -> Self {
        Self { text: text.into(), tint: Tint::Plain }
    }

    /// What the eye may pass over: scores, ids.
    pub fn dim(text: impl Into<Cow<'a, str>>) -> Self {
        Self { text: text.into(), tint: Tint::Dim }
    }

    /// What the eye looks for: the kind.
    pub fn accent(text: impl Into<Cow<'a, str>>) -> Self {
        Self { text: text.into(), tint: Tint::Accent }
    }
}

/// What the process may know about one of its streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    /// A person is looking.
    pub terminal: bool,
    /// ... and wants colour.
    pub colour: bool,
}

impl Stream {
    /// Colour needs a terminal that says what it is, and nobody who objects.
    fn new(terminal: bool, env: &Env) -> Self {
        let able = env.raw("TERM").is_some_and(|term| term != "dumb");
        Self { terminal, colour: terminal && able && env.raw("NO_COLOR").is_none() }
    }
}

/// The three streams of a run.
pub struct Ui {
    out: BufWriter<Box<dyn Write>>,
    out_is: Stream,
    err: Box<dyn Write>,
    err_is: Stream,
    input: Box<dyn BufRead>,
    bar_drawn: Option<Instant>,
}

impl Ui {
    /// Streams made by hand.
    pub fn new(
        out: (Box<dyn Write>, Stream),
        err: (Box<dyn Write>, Stream),
        input: Box<dyn BufRead>,
    ) -> Self {
        Self {
            out: BufWriter::with_capacity(OUT_BUFFER_BYTES, out.0),
            out_is: out.1,
            err: err.0,
            err_is: err.1,
            input,
            bar_drawn: None,
        }
    }

    /// The process's own streams. Stdout is locked for the life of the value.
    #[expect(clippy::disallowed_methods, reason = "this is the door to the terminal")]
    pub fn of_process(env: &Env) -> Self {
        let (out, err) = (io::stdout(), io::stderr());
        let out_is = Stream::new(out.is_terminal(), env);
        let err_is = Stream::new(err.is_terminal(), env);
        let input = io::BufReader::new(io::stdin());
        Self::new((Box::new(out.lock()), out_is), (Box::new(err), err_is), Box::new(input))
    }

    /// Standard input and output as they are, for a verb that speaks a protocol on them; each
    /// write goes out at once. Rows and lines of the same run must not be mixed in.
    ///
    /// # Errors
    /// A stream that is closed.
    #[expect(clippy::disallowed_methods, reason = "this is the door to the terminal")]
    #[cfg(unix)]
    pub fn raw_streams() -> io::Result<(Box<dyn Read + Send>, Box<dyn Write + Send>)> {
        use std::os::fd::AsFd as _;
        let input = io::stdin().as_fd().try_clone_to_owned()?;
        let output = io::stdout().as_fd().try_clone_to_owned()?;
        Ok((Box::new(std::fs::File::from(input)), Box::new(std::fs::File::from(output))))
    }

    /// As on Unix.
    ///
    /// # Errors
    /// A stream that is closed.
    #[expect(clippy::disallowed_methods, reason = "this is the door to the terminal")]
    #[cfg(windows)]
    pub fn raw_streams() -> io::Result<(Box<dyn Read + Send>, Box<dyn Write + Send>)> {
        use std::os::windows::io::AsHandle as _;
        let input = io::stdin().as_handle().try_clone_to_owned()?;
        let output = io::stdout().as_handle().try_clone_to_owned()?;
        Ok((Box::new(std::fs::File::from(input)), Box::new(std::fs::File::from(output))))
    }

    /// Whether a person reads stdout, and in colour.
    pub fn out_is(&self) -> Stream {
        self.out_is
    }

    /// Standard input.
    pub fn input(&mut self) -> &mut dyn BufRead {
        &mut *self.input
    }

    /// Prints one line of TAB-separated columns. Line breaks and TABs inside a cell become
    /// spaces.
    ///
    /// # Errors
    /// As [`Ui::line`].
    pub fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), Failure> {
        let mut line = String::new();
        for (at, cell) in cells.iter().enumerate() {
            if at > 0 {
                line.push('\t');
            }
            let text = flat(&cell.text);
            let text = self.out_is.shown(&text);
            let tint = match cell.tint {
                _ if !self.out_is.colour => None,
                Tint::Plain => None,
                Tint::Dim => Some(DIM),
                Tint::Accent => Some(ACCENT),
            };
            line.extend(tint);
            line.push_str(&text);
            line.extend(tint.map(|_| PLAIN));
        }
        line.push('\n');
        self.put(&line)
    }

    /// Prints text and a line end.
    ///
    /// # Errors
    /// [`FailureKind::Closed`] when the reader went away, [`FailureKind::Io`] when the stream
    /// cannot take more (a full disk).
    pub fn line(&mut self, text: &str) -> Result<(), Failure> {
        let text = self.out_is.shown(text).into_owned() + "\n";
        self.put(&text)
    }

    /// Prints a JSON value as one compact line. On a terminal the characters that would not be
    /// shown as they are stand escaped, which leaves the value the same.
    ///
    /// # Errors
    /// As [`Ui::line`].
    pub fn json(&mut self, value: &Value) -> Result<(), Failure> {
        let mut line = value.to_string();
        if self.out_is.terminal && line.contains(is_hostile) {
            // All of them are in the basic plane, so one \uXXXX says each.
            line = replaced(&line, |c, to| write!(to, "\\u{:04x}", u32::from(c)));
        }
        line.push('\n');
        self.put(&line)
    }

    /// Prints clap's help, ours to the last character: nothing in it needs neutralising.
    ///
    /// # Errors
    /// As [`Ui::line`].
    pub(crate) fn help(&mut self, help: &clap::builder::StyledStr) -> Result<(), Failure> {
        let text = styled(help, self.out_is);
        self.put(&text)
    }

    /// Prints clap's help to stderr, where it explains a refusal.
    pub(crate) fn help_to_stderr(&mut self, help: &clap::builder::StyledStr) {
        let text = styled(help, self.err_is);
        self.say(&text);
    }

    /// Tells the person something on stderr, in a line. Whoever closed stderr does not want it.
    pub fn note(&mut self, text: &str) {
        let text = self.err_is.shown(text).into_owned() + "\n";
        self.say(&text);
    }

    /// Draws how far a long job is, on stderr and only if that is a terminal. Cheap enough to
    /// call for each piece of the job.
    pub fn progress(&mut self, what: &str, done: u64, total: u64) {
        let due = self.bar_drawn.is_none_or(|drawn| drawn.elapsed() >= BAR_PERIOD);
        if !self.err_is.terminal || !(due || done >= total) {
            return;
        }
        let part = done.min(total);
        let columns =
            (u128::from(BAR_COLUMNS) * u128::from(part) / u128::from(total.max(1))) as usize;
        let bar = "#".repeat(columns);
        let width = BAR_COLUMNS as usize;
        // Return to the first column and erase what stood there before.
        let _ = write!(self.err, "\r\u{1b}[K{what} [{bar:<width$}] {done}/{total}");
        let _ = self.err.flush();
        self.bar_drawn = Some(Instant::now());
    }

    /// Draws how much of a file has come, as [`Ui::progress`] draws: per cent, megabytes, and
    /// megabytes a second at `rate` bytes a second.
    pub fn transfer(&mut self, what: &str, done: u64, total: Option<u64>, rate: f64) {
        let due = self.bar_drawn.is_none_or(|drawn| drawn.elapsed() >= BAR_PERIOD);
        if !self.err_is.terminal || !(due || total == Some(done)) {
            return;
        }
        let mb = |bytes: f64| bytes / 1e6;
        let (done_mb, rate) = (mb(done as f64), mb(rate));
        let what = visible(what);
        let drawn = match total {
            Some(total) => {
                let part = done.min(total) as f64 / total.max(1) as f64;
                let bar = "#".repeat((part * FILE_COLUMNS as f64) as usize);
                let (percent, total) = ((part * 100.0) as u32, mb(total as f64));
                format!(
                    "{what} [{bar:<FILE_COLUMNS$}] {percent:>3}% {done_mb:.1}/{total:.1} MB \
                     {rate:.1} MB/s"
                )
            }
            None => format!("{what} {done_mb:.1} MB {rate:.1} MB/s"),
        };
        let _ = write!(self.err, "\r\u{1b}[K{drawn}");
        let _ = self.err.flush();
        self.bar_drawn = Some(Instant::now());
    }

    /// Takes the progress bar away.
    pub fn progress_done(&mut self) {
        if self.bar_drawn.take().is_some() {
            let _ = self.err.write_all(b"\r\x1b[K");
            let _ = self.err.flush();
        }
    }

    /// Writes out what is held back.
    ///
    /// # Errors
    /// As [`Ui::line`].
    pub fn flush(&mut self) -> Result<(), Failure> {
        self.out.flush().map_err(|error| output_failure(&error))
    }

    fn put(&mut self, text: &str) -> Result<(), Failure> {
        self.out.write_all(text.as_bytes()).map_err(|error| output_failure(&error))
    }

    fn say(&mut self, text: &str) {
        self.progress_done();
        let _ = self.err.write_all(text.as_bytes());
        let _ = self.err.flush();
    }
}

impl Stream {
    /// The text as this stream may be given it. A pipe gets every byte.
    fn shown<'a>(self, text: &'a str) -> Cow<'a, str> {
        if self.terminal { visible(text) } else { Cow::Borrowed(text) }
    }
}

fn styled(help: &clap::builder::StyledStr, stream: Stream) -> String {
    if stream.colour { help.ansi().to_string() } else { help.to_string() }
}

fn output_failure(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => {
            Failure::new(FailureKind::Closed, "the reader of standard output went away")
        }
        _ => Failure::new(FailureKind::Io, format!("cannot write standard output: {error}")),
    }
}

/// Writes one line to stderr from wherever the process is, for the panic hook.
#[expect(clippy::disallowed_methods, reason = "this is the door to the terminal")]
pub(crate) fn last_words(line: &str) {
    let err = io::stderr();
    let line = if err.is_terminal() { visible(line) } else { Cow::Borrowed(line) };
    let _ = writeln!(err.lock(), "{line}");
}

/// Whether a character ends a line for some reader: the mandatory breaks of UAX 14.
pub(crate) fn breaks_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// A cell's text without what would end the row or the column.
fn flat(text: &str) -> Cow<'_, str> {
    let parts = |c| c == '\t' || breaks_line(c);
    if text.contains(parts) { text.replace(parts, " ").into() } else { Cow::Borrowed(text) }
}

/// Whether a character would act on a terminal instead of being seen: controls (C0, DEL, C1) but
/// TAB and newline, and what changes the direction of the text (Unicode's Bidi_Control).
fn is_hostile(c: char) -> bool {
    (c.is_control() && c != '\t' && c != '\n')
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}')
}

/// The text with every hostile character written out, as `<U+202E>`.
fn visible(text: &str) -> Cow<'_, str> {
    if text.contains(is_hostile) {
        replaced(text, |c, to| write!(to, "<U+{:04X}>", u32::from(c))).into()
    } else {
        Cow::Borrowed(text)
    }
}

fn replaced(text: &str, put: impl Fn(char, &mut String) -> std::fmt::Result) -> String {
    let mut to = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        // Writing to a String cannot fail.
        if !is_hostile(c) || put(c, &mut to).is_err() {
            to.push(c);
        }
    }
    to
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use serde_json::json;

    use super::*;

    /// Bytes that a test can still see after a [`Ui`] took their writer.
    #[derive(Clone, Default)]
    pub(crate) struct Caught(Rc<RefCell<Vec<u8>>>);

    impl Caught {
        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.borrow().clone()).unwrap()
        }
    }

    impl Write for Caught {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A stream that takes nothing.
    struct Refusing(io::ErrorKind);

    impl Write for Refusing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    pub(crate) fn caught(stream: Stream) -> (Ui, Caught, Caught) {
        let (out, err) = (Caught::default(), Caught::default());
        let ui = Ui::new(
            (Box::new(out.clone()), stream),
            (Box::new(err.clone()), stream),
            Box::new(io::empty()),
        );
        (ui, out, err)
    }

    const PIPE: Stream = Stream { terminal: false, colour: false };
    const TERMINAL: Stream = Stream { terminal: true, colour: false };
    const COLOUR: Stream = Stream { terminal: true, colour: true };

    #[test]
    fn a_row_is_one_line_everywhere() {
        for stream in [PIPE, TERMINAL] {
            let (mut ui, out, _) = caught(stream);
            ui.row(&[Cell::dim("1.0"), Cell::accent("a\tb"), Cell::plain("c\r\nd\u{2028}e")])
                .unwrap();
            ui.flush().unwrap();
            assert_eq!(out.text(), "1.0\ta b\tc  d e\n");
        }
    }

    #[test]
    fn colour_wraps_cells_and_leaves_the_columns() {
        let (mut ui, out, _) = caught(COLOUR);
        ui.row(&[Cell::dim("1"), Cell::accent("k"), Cell::plain("t")]).unwrap();
        ui.flush().unwrap();
        assert_eq!(out.text(), "\u{1b}[2m1\u{1b}[0m\t\u{1b}[36mk\u{1b}[0m\tt\n");
    }

    #[test]
    fn hostile_characters_are_shown_on_a_terminal_only() {
        let table = [
            ("\u{1b}[2J", "<U+001B>[2J"),
            ("\0\u{7}\u{8}\r\u{7f}", "<U+0000><U+0007><U+0008><U+000D><U+007F>"),
            ("\u{80}\u{9b}\u{9f}", "<U+0080><U+009B><U+009F>"),
            ("a\u{202a}\u{202e}b", "a<U+202A><U+202E>b"),
            ("\u{2066}\u{2069}", "<U+2066><U+2069>"),
            ("\u{200e}\u{200f}\u{61c}", "<U+200E><U+200F><U+061C>"),
            ("tab\tline\nend", "tab\tline\nend"),
            // Just outside the ranges, and ordinary non-ASCII.
            (
                " ~\u{a0}\u{2029}\u{202f}\u{2065}\u{206a}\u{e9}",
                " ~\u{a0}\u{2029}\u{202f}\u{2065}\u{206a}\u{e9}",
            ),
        ];
        for (raw, seen) in table {
            let (mut ui, out, err) = caught(TERMINAL);
            ui.line(raw).unwrap();
            ui.note(raw);
            ui.flush().unwrap();
            assert_eq!((out.text(), err.text()), (format!("{seen}\n"), format!("{seen}\n")));
            let (mut ui, out, err) = caught(PIPE);
            ui.line(raw).unwrap();
            ui.note(raw);
            ui.flush().unwrap();
            assert_eq!((out.text(), err.text()), (format!("{raw}\n"), format!("{raw}\n")));
        }
    }

    #[test]
    fn json_stays_the_same_value_on_a_terminal() {
        let value = json!({"text": "a\u{202e}\u{7f}\u{9b}\n\u{1b}"});
        let (mut ui, out, _) = caught(TERMINAL);
        ui.json(&value).unwrap();
        ui.flush().unwrap();
        assert_eq!(out.text(), "{\"text\":\"a\\u202e\\u007f\\u009b\\n\\u001b\"}\n");
        assert_eq!(serde_json::from_str::<Value>(&out.text()).unwrap(), value);
    }

    #[test]
    fn a_gone_reader_is_quiet_and_a_full_disk_is_not() {
        let table = [
            (io::ErrorKind::BrokenPipe, FailureKind::Closed),
            (io::ErrorKind::StorageFull, FailureKind::Io),
        ];
        for (error, kind) in table {
            let out = (Box::new(Refusing(error)) as Box<dyn Write>, PIPE);
            let mut ui = Ui::new(out, (Box::new(io::sink()), PIPE), Box::new(io::empty()));
            ui.line("held back, so it seems to work").unwrap();
            assert_eq!(ui.flush().unwrap_err().kind, kind);
        }
    }

    #[test]
    fn the_bar_is_for_terminals_and_yields_to_a_note() {
        let (mut ui, _, err) = caught(PIPE);
        ui.progress("importing", 1, 2);
        ui.progress_done();
        assert_eq!(err.text(), "");
        let (mut ui, _, err) = caught(TERMINAL);
        ui.progress("importing", 1, 2);
        ui.progress("importing", 1, 2);
        ui.note("odd line");
        let bar = format!("\r\u{1b}[Kimporting [{}{}] 1/2", "#".repeat(15), " ".repeat(15));
        assert_eq!(err.text(), format!("{bar}\r\u{1b}[Kodd line\n"), "the second is too soon");
    }

    #[test]
    fn a_file_that_comes_is_drawn_in_megabytes() {
        let (mut ui, _, err) = caught(PIPE);
        ui.transfer("onnx/model.onnx", 1, Some(2), 1.0);
        assert_eq!(err.text(), "");
        let (mut ui, _, err) = caught(TERMINAL);
        ui.transfer("a\u{202e}", 8_500_000, Some(34_000_000), 5_140_000.0);
        ui.progress_done();
        let bar = "[#####               ]  25% 8.5/34.0 MB 5.1 MB/s";
        assert_eq!(err.text(), format!("\r\u{1b}[Ka<U+202E> {bar}\r\u{1b}[K"));
        let (mut ui, _, err) = caught(TERMINAL);
        ui.transfer("a", 250_000, None, 0.0);
        assert_eq!(err.text(), "\r\u{1b}[Ka 0.2 MB 0.0 MB/s", "0.25 rounds to even");
    }

    #[test]
    fn colour_needs_a_willing_terminal() {
        type Vars<'a> = &'a [(&'a str, &'a str)];
        let table: [(Vars<'_>, bool, bool); 6] = [
            (&[("TERM", "xterm")], true, true),
            (&[("TERM", "xterm")], false, false),
            (&[("TERM", "dumb")], true, false),
            (&[], true, false),
            (&[("TERM", "xterm"), ("NO_COLOR", "1")], true, false),
            (&[("TERM", "xterm"), ("NO_COLOR", "")], true, true),
        ];
        for (vars, terminal, colour) in table {
            let env = Env::new([""; 0], vars.iter().copied(), None);
            assert_eq!(Stream::new(terminal, &env), Stream { terminal, colour }, "{vars:?}");
        }
    }
}
