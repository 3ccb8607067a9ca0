//! One command line, from its words to its exit code.
//!
//! Not here: what a verb does (its own file). Invariants: whatever happens, the run ends in an
//! [`Exit`]; data goes to stdout, everything else to stderr, and stdout is written out before a
//! failure is spoken of.

use std::sync::Arc;

use packset_segments::os::MapPolicy;
use packset_segments::vfs::Vfs;

use crate::atom::Kind;
use crate::cli::args::Verb;
use crate::cli::parse::{self, Parsed};
use crate::cli::{Env, Exit, Failure, FailureKind, Ui};
use crate::clock::Clock;
use crate::command::{self, Context};
use crate::desk::Desk;
use crate::pack::IdSource;

/// Runs one command line to its end.
pub fn run(env: Env, vfs: Arc<dyn Vfs>, clock: Arc<dyn Clock>, ui: &mut Ui) -> Exit {
    let parsed = parse::parse(env.args());
    if let Some(warning) = env.warning() {
        ui.note(&format!("packset: {warning}"));
    }
    let outcome = match parsed {
        Ok(Parsed::Run(args)) => {
            let desk = Desk::new(vfs, clock, env, Arc::new(IdSource::Random));
            let mut context = Context { desk, ui: &mut *ui, json: args.json };
            dispatch(&mut context, args.verb)
        }
        Ok(Parsed::Show(help)) => ui.help(&help).map(|()| Exit::Done),
        Ok(Parsed::Bare(help)) => {
            ui.help_to_stderr(&help);
            Ok(Exit::Usage)
        }
        Err(failure) => Err(failure),
    };
    conclude(outcome, ui)
}

/// How files are read: `PACKSET_MMAP` is `auto`, `always` or `never`.
///
/// # Errors
/// Any other word.
pub fn map_policy(env: &Env) -> Result<MapPolicy, Failure> {
    match env.get("PACKSET_MMAP") {
        None | Some("auto") => Ok(MapPolicy::Auto),
        Some("always") => Ok(MapPolicy::Always),
        Some("never") => Ok(MapPolicy::Never),
        Some(other) => Err(Failure::usage(format!("PACKSET_MMAP is {other}"))
            .hint("set it to auto, always or never, or unset it")),
    }
}

fn dispatch(context: &mut Context<'_>, verb: Verb) -> Result<Exit, Failure> {
    match verb {
        Verb::Remember(args) => command::remember::run(context, &args, Kind::Lesson),
        Verb::Prefer(args) => command::remember::run(context, &args, Kind::Preference),
        Verb::Search(args) => command::search::run(context, &args),
        Verb::Atoms(args) => command::atoms::run(context, &args),
        Verb::Status(args) => command::status::run(context, &args),
        Verb::Forget(args) => command::forget::run(context, &args),
        Verb::Export(args) => command::export::run(context, &args),
        Verb::Import(args) => command::import::run(context, &args),
        Verb::Batch(args) => command::batch::run(context, &args),
        Verb::Delete(args) => command::delete::run(context, &args),
        Verb::Due(args) => command::due::run(context, &args),
        Verb::Grade(args) => command::grade::run(context, &args),
        Verb::Sweep(args) => command::sweep::run(context, &args),
        Verb::Update(args) => command::update::run(context, &args),
        Verb::Consolidate(args) => command::consolidate::run(context, &args),
        Verb::Accessions(args) => command::accessions::run(context, &args),
        Verb::Citers(args) => command::citers::run(context, &args),
        Verb::Islands(args) => command::islands::run(context, &args),
        Verb::Hubs(args) => command::hubs::run(context, &args),
        Verb::Island(args) => command::island::run(context, &args),
        Verb::Fire(args) => command::fire::run(context, &args),
        Verb::Cards(args) => command::cards::run(context, &args),
        Verb::Card(args) => command::card::run(context, &args),
        Verb::Set(args) => command::set::run(context, &args),
        Verb::Pin(args) => command::pin::run(context, &args),
        Verb::Pack(args) => command::document::run(context, &args),
        Verb::Attach(args) => command::attach::run(context, &args),
        Verb::Proposals(args) => command::proposals::run(context, &args),
        Verb::Propose(args) => command::propose::run(context, &args),
        Verb::Accept(args) => command::accept::run(context, &args),
        Verb::Show(args) => command::show::run(context, &args),
        Verb::Log(args) => command::log::run(context, &args),
        Verb::Diff(args) => command::diff::run(context, &args),
        Verb::Undo(args) => command::undo::run(context, &args),
        Verb::Why(args) => command::why::run(context, &args),
        Verb::Purge(args) => command::purge::run(context, &args),
        Verb::Compact(args) => command::compact::run(context, &args),
        Verb::Embed(args) => command::embed::run(context, &args),
        Verb::Verify(args) => command::verify::run(context, &args),
        Verb::Model(args) => command::model::run(context, &args),
        Verb::Port => command::url::port(context),
        Verb::Url => command::url::run(context),
        Verb::Where(args) => command::place::run(context, &args),
        #[cfg(unix)]
        Verb::Serve(args) => command::serve::run(context, &args),
        #[cfg(unix)]
        Verb::Ensure => command::ensure::run(context),
        #[cfg(unix)]
        Verb::Start => command::ensure::start(context),
        #[cfg(unix)]
        Verb::Stop => command::stop::run(context),
        #[cfg(unix)]
        Verb::Which => command::which::run(context),
        #[cfg(unix)]
        Verb::MigrateHome => command::migrate_home::run(context),
        #[cfg(unix)]
        Verb::Doctor(args) => command::doctor::run(context, &args),
        #[cfg(not(unix))]
        Verb::Serve(_)
        | Verb::Ensure
        | Verb::Start
        | Verb::Stop
        | Verb::Which
        | Verb::MigrateHome
        | Verb::Doctor(_) => {
            Err(Failure::new(FailureKind::Refused, "the writer runs on Unix alone so far"))
        }
        Verb::Mcp => command::mcp::run(context),
    }
}

/// Writes out stdout, then says on stderr what failed, if anything did.
pub fn conclude(outcome: Result<Exit, Failure>, ui: &mut Ui) -> Exit {
    ui.progress_done();
    let flushed = ui.flush();
    let failure = match (outcome, flushed) {
        (Ok(exit), Ok(())) => return exit,
        (Err(failure), _) | (Ok(_), Err(failure)) => failure,
    };
    if failure.kind != FailureKind::Closed {
        ui.note(&failure.to_string());
    }
    failure.exit()
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::path::Path;

    use super::*;
    use crate::cli::ui::Stream;
    use crate::cli::ui::tests::caught;
    use crate::clock::FixedClock;
    use crate::disk::Disk;
    use crate::time::Micros;

    const VARS: [(&str, &str); 2] = [("HOME", "/h"), ("PACKSET_WORKSPACE", "ws")];

    fn run_with(line: &[&str], vars: &[(&str, &str)], disk: Disk, ui: &mut Ui) -> Exit {
        let env = Env::new(line, vars.iter().copied(), Some(Path::new("/w")));
        run(env, Arc::new(disk), Arc::new(FixedClock(Micros(0))), ui)
    }

    fn ran(line: &[&str], vars: &[(&str, &str)]) -> (u8, String, String) {
        let (mut ui, out, err) = caught(Stream::default());
        let exit = run_with(line, vars, Disk::default(), &mut ui);
        (exit.code(), out.text(), err.text())
    }

    #[test]
    fn where_prints_the_workspace() {
        assert_eq!(ran(&["where"], &VARS), (0, "ws\n".into(), String::new()));
        let json = "{\"schema\":\"packset.where/v1\",\"workspace\":\"ws\"}\n";
        assert_eq!(ran(&["where", "--json"], &VARS), (0, json.into(), String::new()));
        assert_eq!(ran(&["where"], &[]), (0, "default\n".into(), String::new()), "needs no home");
    }

    #[test]
    fn where_explains() {
        let out = "workspace\tws\tPACKSET_WORKSPACE\n\
                   home\t/h/.local/share/packset\tthe default below HOME\n";
        assert_eq!(ran(&["where", "--explain"], &VARS), (0, out.into(), String::new()));
        let (code, out, err) = ran(&["where", "--explain"], &[]);
        assert_eq!((code, out.as_str()), (1, ""));
        assert!(err.starts_with("packset: there is no home") && err.contains("\nhint: "), "{err}");
        let (_, out, _) = ran(&["where", "--explain", "--json"], &VARS);
        let json: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(json["home"], "/h/.local/share/packset");
        assert_eq!(json["home_usable"], true);
    }

    #[test]
    fn where_names_an_old_store_and_still_explains() {
        let mut disk = Disk::default();
        disk.file("/h/.grokinside/memory/memory.lmdb/data.mdb", "");
        let (mut ui, out, err) = caught(Stream::default());
        assert_eq!(run_with(&["where", "--explain"], &VARS, disk, &mut ui), Exit::Done);
        assert!(out.text().contains("home\t/h/.grokinside/memory\t"), "{}", out.text());
        assert!(err.text().contains("older program"), "{}", err.text());
    }

    #[test]
    fn help_goes_to_stdout_and_no_verb_to_stderr() {
        for line in [&["-h"][..], &["help"], &["--version"], &["where", "x", "--help"]] {
            let (code, out, err) = ran(line, &VARS);
            assert_eq!((code, err.as_str(), out.is_empty()), (0, "", false), "{line:?}");
        }
        let (code, out, err) = ran(&[], &VARS);
        assert_eq!((code, out.as_str()), (64, ""));
        assert!(err.contains("Usage: packset") && !err.contains("Exit codes"), "{err}");
    }

    #[test]
    fn a_refusal_is_two_lines_on_stderr() {
        let (code, out, err) = ran(&["where", "--odd"], &VARS);
        assert_eq!((code, out.as_str()), (64, ""));
        let lines: Vec<&str> = err.lines().collect();
        assert_eq!(lines[0], "packset: where takes no flag --odd");
        assert!(lines.len() == 2 && lines[1].starts_with("hint: "), "{err}");
    }

    #[test]
    fn an_unreadable_seat_file_is_said_once_and_stops_nothing() {
        let mut disk = Disk::default();
        disk.dir("/h/.config/ljos/env");
        let mut env = Env::new(["where"], VARS, Some(Path::new("/w")));
        env.read_seat_file(&disk);
        let (mut ui, out, err) = caught(Stream::default());
        let clock = Arc::new(FixedClock(Micros(0)));
        assert_eq!(run(env, Arc::new(disk), clock, &mut ui), Exit::Done);
        assert_eq!(out.text(), "ws\n");
        assert_eq!(err.text().lines().count(), 1);
    }

    /// A stream that fails in one way for good.
    struct Failing(io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_gone_reader_ends_in_0_and_a_full_disk_in_74() {
        for (kind, code) in [(io::ErrorKind::BrokenPipe, 0), (io::ErrorKind::StorageFull, 74)] {
            for line in [&["where"][..], &["-h"]] {
                let (_, _, err) = caught(Stream::default());
                let mut ui = Ui::new(
                    (Box::new(Failing(kind)), Stream::default()),
                    (Box::new(err.clone()), Stream::default()),
                    Box::new(io::empty()),
                );
                let exit = run_with(line, &VARS, Disk::default(), &mut ui);
                assert_eq!(exit.code(), code, "{kind:?}");
                let lines = err.text().lines().count();
                assert_eq!(lines, usize::from(code != 0), "{}", err.text());
            }
        }
    }
}
