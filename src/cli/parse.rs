//! Reads a command line by the definition in [`crate::cli::args`], and words what it refuses.
//!
//! Invariants: a flag that a verb does not take is never read as text; help before `--` wins over
//! everything else on the line; clap never prints and never exits, so its exit code 2 does not
//! get out.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, FromArgMatches as _};

use crate::cli::args::{Args, Verb};
use crate::cli::exit::Failure;

/// What a command line asks for.
#[derive(Debug)]
pub enum Parsed {
    /// Run a verb.
    Run(Args),
    /// Print this and be done.
    Show(StyledStr),
    /// No verb at all: this goes to stderr, and the run is refused.
    Bare(StyledStr),
}

/// Reads the words after the program's name.
///
/// # Errors
/// [`crate::cli::exit::FailureKind::Usage`] for whatever the grammar does not take.
pub fn parse(args: &[OsString]) -> Result<Parsed, Failure> {
    let mut words = Vec::with_capacity(args.len());
    for (at, arg) in args.iter().enumerate() {
        let word = arg.to_str().ok_or_else(|| {
            Failure::usage(format!("argument {} is not UTF-8: {}", at + 1, arg.to_string_lossy()))
        })?;
        words.push(word);
    }
    let flags = words.iter().take_while(|word| **word != "--");
    let help = flags.clone().find(|word| matches!(**word, "-h" | "--help"));
    let verb = flags.clone().find(|word| !word.starts_with('-')).copied();
    // clap stops at the first mistake; help that comes after it must win all the same.
    let line = match (help, verb) {
        (Some(help), Some(verb)) => vec![verb, *help],
        (Some(help), None) => vec![*help],
        (None, _) => words,
    };
    // `get_matches_from` would name the program after argv[0]; it is always packset.
    let mut command = Args::command();
    let verb = verb.filter(|verb| command.find_subcommand(verb).is_some());
    let parsed = command
        .try_get_matches_from_mut(std::iter::once("packset").chain(line))
        .and_then(|mut matches| Args::from_arg_matches_mut(&mut matches));
    let args = match parsed {
        Ok(args) => args,
        Err(error) => {
            return match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                    Ok(Parsed::Show(error.render()))
                }
                ErrorKind::MissingSubcommand
                | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                    Ok(Parsed::Bare(Args::command().render_help()))
                }
                _ => Err(refusal(&error, verb)),
            };
        }
    };
    let blank = match &args.verb {
        Verb::Island(island) if island.cue().is_empty() => Some("CUE"),
        Verb::Remember(claim) | Verb::Prefer(claim) | Verb::Propose(claim)
            if claim.text().is_empty() =>
        {
            Some("TEXT")
        }
        Verb::Search(search) if search.query().is_empty() => Some("QUERY"),
        _ => None,
    };
    match blank {
        Some(name) => Err(Failure::usage(format!("{name} is blank")).hint(see(verb))),
        None => Ok(Parsed::Run(args)),
    }
}

/// clap's finding in our words: one line, and what to do about it.
fn refusal(error: &clap::Error, verb: Option<&str>) -> Failure {
    let said = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) if !texts.is_empty() => Some(texts.join(", ")),
        _ => None,
    };
    let arg = said(ContextKind::InvalidArg).unwrap_or_default();
    // `<WS>` of ours is WS in a sentence; what was typed stays as it was typed.
    let ours = arg.replace(['<', '>', '[', ']'], "").replace("...", "");
    let value = said(ContextKind::InvalidValue).unwrap_or_default();
    let of = verb.unwrap_or("packset");
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = said(ContextKind::InvalidSubcommand).unwrap_or_default();
            let near = known_as(&word).map(str::to_owned);
            // clap lists what is near with the nearest last.
            let nearest = || match error.get(ContextKind::SuggestedSubcommand) {
                Some(ContextValue::String(text)) => Some(text.clone()),
                Some(ContextValue::Strings(texts)) => texts.last().cloned(),
                _ => None,
            };
            let hint = match near.or_else(nearest) {
                Some(near) => format!("did you mean {near}? `packset help` lists the verbs"),
                None => "`packset help` lists the verbs".to_owned(),
            };
            Failure::usage(format!("there is no verb {word:?}")).hint(hint)
        }
        ErrorKind::UnknownArgument if arg.starts_with('-') => {
            let hint = match (said(ContextKind::SuggestedArg), verb) {
                (Some(near), _) => format!("did you mean {near}?"),
                (None, Some(verb)) => {
                    format!("`--` ends the flags: packset {verb} -- {arg}; {}", see(Some(verb)))
                }
                (None, None) => see(None),
            };
            Failure::usage(format!("{of} takes no flag {arg}")).hint(hint)
        }
        ErrorKind::UnknownArgument => {
            Failure::usage(format!("{of} has no use for the word {arg:?}")).hint(see(verb))
        }
        ErrorKind::MissingRequiredArgument => {
            Failure::usage(format!("{of} needs {ours}")).hint(see(verb))
        }
        ErrorKind::ArgumentConflict => {
            let prior = said(ContextKind::PriorArg).unwrap_or_default();
            let prior = prior.replace(['[', ']'], "");
            Failure::usage(format!("{ours} and {prior} exclude each other")).hint(see(verb))
        }
        ErrorKind::InvalidValue if value.is_empty() => {
            Failure::usage(format!("{ours} needs a value")).hint(see(verb))
        }
        ErrorKind::InvalidValue => {
            let known = said(ContextKind::ValidValue).unwrap_or_default();
            Failure::usage(format!("{ours} cannot be {value:?}")).hint(format!("one of: {known}"))
        }
        ErrorKind::ValueValidation => {
            let why = std::error::Error::source(error).map(ToString::to_string);
            let why = why.unwrap_or_else(|| "it is malformed".to_owned());
            Failure::usage(format!("{ours} cannot be {value:?}: {why}")).hint(see(verb))
        }
        ErrorKind::TooManyValues => {
            Failure::usage(format!("{ours} takes no value")).hint(see(verb))
        }
        // Whatever else clap may find, in its own first line.
        _ => {
            let text = error.render().to_string();
            let line = text.lines().next().unwrap_or_default();
            Failure::usage(line.strip_prefix("error: ").unwrap_or(line)).hint(see(verb))
        }
    }
}

/// What other tools' words for a thing are called here.
fn known_as(word: &str) -> Option<&'static str> {
    Some(match word {
        "add" | "save" | "store" | "put" => "remember",
        "find" | "grep" | "query" => "search",
        "list" | "ls" => "atoms",
        "get" | "cat" => "show",
        "rm" | "remove" => "delete",
        "drop" => "forget",
        "history" => "log",
        "fsck" | "check" => "verify",
        "down" | "kill" => "stop",
        "up" => "ensure",
        "whereami" => "where",
        "version" => "--version",
        _ => return None,
    })
}

fn see(verb: Option<&str>) -> String {
    match verb {
        Some(verb) => format!("`packset {verb} -h` shows what it takes"),
        None => "`packset -h` shows what it takes".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::{HELP_COLUMNS, Rank};
    use crate::cli::exit::FailureKind;
    use crate::exit_table;

    fn parsed(line: &[&str]) -> Result<Parsed, Failure> {
        parse(&line.iter().map(OsString::from).collect::<Vec<_>>())
    }

    fn verb(line: &[&str]) -> Verb {
        match parsed(line) {
            Ok(Parsed::Run(args)) => args.verb,
            other => panic!("{line:?}: {other:?}"),
        }
    }

    fn shown(line: &[&str]) -> String {
        match parsed(line) {
            Ok(Parsed::Show(text)) => text.to_string(),
            other => panic!("{line:?}: {other:?}"),
        }
    }

    #[test]
    fn texts_are_words_joined_and_trimmed() {
        let table: [(&[&str], &str); 7] = [
            (&["remember", "one", "two"], "one two"),
            (&["remember", " one ", "two "], "one  two"),
            (&["remember", "one", "--workspace", "w", "two"], "one two"),
            (&["remember", "one", "--json", "two"], "one two"),
            (&["remember", "--", "-h", "--flag", "--"], "-h --flag --"),
            (&["remember", "a", "--", "--workspace"], "a --workspace"),
            (&["remember", "-", "a", "search"], "- a search"),
        ];
        for (line, text) in table {
            let Verb::Remember(claim) = verb(line) else { panic!("{line:?}") };
            assert_eq!(claim.text(), text, "{line:?}");
        }
    }

    #[test]
    fn refused_with_64() {
        let table: [(&[&str], &str); 35] = [
            (&["remember", "word", "--flag", "tail"], "remember takes no flag --flag"),
            (&["remember", "-5"], "remember takes no flag -5"),
            (&["search", "-x", "q"], "search takes no flag -x"),
            (&["search", "-V", "q"], "search takes no flag -V"),
            (&["atoms", "--all"], "atoms takes no flag --all"),
            (&["--bogus"], "packset takes no flag --bogus"),
            (&["--workspace", "w", "atoms"], "packset takes no flag --workspace"),
            (&["serach", "q"], "there is no verb \"serach\""),
            (&["help", "nope"], "there is no verb \"nope\""),
            (&["nope", "-h"], "there is no verb \"nope\""),
            (&["remember"], "remember needs TEXT"),
            (&["search"], "search needs QUERY"),
            (&["forget"], "forget needs WS"),
            (&["export"], "export needs --into DIR"),
            (&["import"], "import needs FILE"),
            (&["delete"], "delete needs ID"),
            (&["remember", ""], "TEXT is blank"),
            (&["prefer", " ", "\t"], "TEXT is blank"),
            (&["search", "  "], "QUERY is blank"),
            (&["forget", " "], "WS cannot be \" \": it is blank"),
            (&["atoms", ""], "WS cannot be \"\": it is blank"),
            (&["search", "--workspace", " ", "q"], "--workspace WS cannot be \" \": it is blank"),
            (&["search", "--workspace=", "q"], "--workspace WS cannot be \"\": it is blank"),
            (&["search", "q", "--workspace"], "--workspace WS needs a value"),
            (&["search", "--workspace", "--json", "q"], "--workspace WS needs a value"),
            (&["search", "--rank", "bogus", "q"], "--rank RANK cannot be \"bogus\""),
            (
                &["search", "--limit", "0", "q"],
                "--limit N cannot be \"0\": it must be a number from 1 to 4294967295",
            ),
            (&["search", "--quiet=yes", "q"], "--quiet takes no value"),
            (&["atoms", "a", "b"], "atoms has no use for the word \"b\""),
            (&["delete", "a", "b"], "delete has no use for the word \"b\""),
            (&["where", "a"], "where has no use for the word \"a\""),
            (&["ensure", "a"], "ensure has no use for the word \"a\""),
            (&["status", "--all", "w"], "--all and WS exclude each other"),
            (&["compact", "w", "--all"], "WS and --all exclude each other"),
            (
                &["compact", "--keep", "90"],
                "--keep DURATION cannot be \"90\": \
                 it must be a number with s, m, h, d or w, as in 90d",
            ),
        ];
        for (line, message) in table {
            let failure = parsed(line).unwrap_err();
            assert_eq!(failure.kind, FailureKind::Usage, "{line:?}");
            assert_eq!(failure.message, message, "{line:?}");
            assert!(failure.hint.is_some(), "{line:?}");
        }
        let hint = |line: &[&str]| parsed(line).unwrap_err().hint.unwrap();
        assert!(hint(&["serach"]).contains("search"));
        assert!(hint(&["search", "--rank", "x", "q"]).contains("fused, relevance"));
        assert!(hint(&["remember", "a", "--flag"]).contains("packset remember -- --flag"));
    }

    #[test]
    fn values_stand_apart_or_behind_an_equals_sign_and_the_last_counts() {
        let line = ["search", "--workspace=a", "--workspace", "b", "--limit=3", "--limit", "4"];
        let line = [&line[..], &["--as-of", "x=y", "--rank=relevance", "-q", "-q", "q"]].concat();
        let Verb::Search(search) = verb(&line) else { panic!() };
        assert_eq!(search.within.workspace.as_deref(), Some("b"));
        assert_eq!((search.limit, search.rank, search.quiet), (4, Rank::Relevance, true));
        assert_eq!(search.moment.as_of.as_deref(), Some("x=y"));
        let Verb::Search(plain) = verb(&["search", "q"]) else { panic!() };
        assert_eq!((plain.limit, plain.rank, plain.quiet), (10, Rank::Fused, false));
    }

    #[test]
    fn every_verb_takes_what_it_should() {
        let lines: [&[&str]; 23] = [
            &["prefer", "--workspace", "w", "t"],
            &["search", "--as-of", "t", "--known-at", "t", "--kind", "k", "--set", "s", "q", "q"],
            &["atoms", "--as-of", "t", "--known-at", "t", "--kind", "k", "w"],
            &["atoms"],
            &["status"],
            &["status", "--all"],
            &["forget", "--", "-odd"],
            &["export", "w", "--into", "d"],
            &["import", "--workspace", "w", "--records", "--batch", "9", "-"],
            &["delete", "i", "--why", "a", "--workspace", "w"],
            &["compact", "--all", "--keep", "0s"],
            &["compact", "w"],
            &["verify", "w"],
            &["verify", "--all"],
            &["where"],
            &["where", "--explain"],
            &["sweep", "--all"],
            &["doctor", "--fix"],
            &["ensure"],
            &["model"],
            &["model", "pull", "--mirror", "http://h", "--runtime", "m"],
            &["model", "use", "static"],
            &["model", "check"],
        ];
        for line in lines {
            verb(line);
            for at in 0..=line.iter().position(|word| *word == "--").unwrap_or(line.len()) {
                let mut json = line.to_vec();
                json.insert(at, "--json");
                // Between a flag and its value it is no flag but a missing value.
                if let Ok(Parsed::Run(args)) = parsed(&json) {
                    assert!(args.json, "{json:?}");
                } else {
                    assert!(at > 0 && line[at - 1].starts_with("--"), "{json:?}");
                }
            }
        }
    }

    #[test]
    fn help_wins_over_everything_before_the_dashes() {
        let usage = |verb: &str| format!("Usage: packset {verb}");
        let lines: [&[&str]; 7] = [
            &["forget", "-h"],
            &["forget", "x", "-h"],
            &["forget", "x", "y", "--help"],
            &["forget", "--bogus", "-h"],
            &["forget", "--workspace", "-h"],
            &["--json", "forget", "-h"],
            &["help", "forget"],
        ];
        for line in lines {
            assert!(shown(line).contains(&usage("forget")), "{line:?}");
        }
        assert!(shown(&["remember", "some", "text", "-h"]).contains(&usage("remember")));
        assert!(shown(&["-h", "remember"]).contains(&usage("remember")));
        for line in [&["-h"][..], &["--help"], &["help"], &["--bogus", "-h"]] {
            assert!(shown(line).contains("Usage: packset [OPTIONS] <VERB>"), "{line:?}");
        }
    }

    #[test]
    fn long_help_has_examples_and_codes_and_short_help_is_short() {
        let verbs: Vec<String> =
            Args::command().get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
        assert_eq!(verbs.len(), 51);
        for verb in &verbs {
            let long = shown(&[verb, "--help"]);
            assert!(long.contains("Examples:\n  packset "), "{verb}");
            assert!(long.ends_with(concat!(exit_table!(), "\n")), "{verb}");
            assert_eq!(long, shown(&["help", verb]));
            let short = shown(&[verb, "-h"]);
            assert!(!short.contains("Exit codes"), "{verb}");
            for text in [long, short] {
                assert!(text.lines().all(|line| line.len() <= HELP_COLUMNS), "{verb}: {text}");
            }
        }
        assert!(shown(&["--help"]).contains(exit_table!()));
        assert!(!shown(&["-h"]).contains("Exit codes"));
    }

    #[test]
    fn examples_in_the_help_parse() {
        let mut seen = 0;
        for verb in Args::command().get_subcommands() {
            let end = verb.get_after_long_help().map(ToString::to_string).unwrap_or_default();
            for line in end.lines().filter_map(|line| line.strip_prefix("  packset ")) {
                let line = line.split(" < ").next().unwrap();
                // Every second piece between quotes is one word.
                let words: Vec<&str> = line
                    .split('\'')
                    .enumerate()
                    .flat_map(|(at, piece)| match at % 2 {
                        0 => piece.split_whitespace().collect(),
                        _ => vec![piece],
                    })
                    .collect();
                assert!(matches!(parsed(&words), Ok(Parsed::Run(_))), "{line}");
                seen += 1;
            }
        }
        assert!(seen > 20, "{seen}");
    }

    #[test]
    fn version_and_no_verb() {
        for line in [["-V"], ["--version"]] {
            assert_eq!(shown(&line), concat!("packset ", env!("CARGO_PKG_VERSION"), "\n"));
        }
        for line in [&[][..], &["--json"], &["--"]] {
            assert!(matches!(parsed(line), Ok(Parsed::Bare(_))), "{line:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn words_that_are_not_utf_8() {
        use std::os::unix::ffi::OsStringExt;
        let line = ["remember".into(), OsString::from_vec(b"a\xff".to_vec())];
        let failure = parse(&line).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Usage);
        assert_eq!(failure.message, "argument 2 is not UTF-8: a\u{fffd}");
    }
}
