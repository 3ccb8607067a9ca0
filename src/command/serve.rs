//! `packset serve`: answers requests over HTTP until it is told to stop; also installed as
//! `packsetd`.
//!
//! One writer serves a home, for as long as it holds the home's `serve.lock`. Verbs go on working
//! on the files beside it: it takes a store's lock only for a commit, and sees at its next request
//! what others wrote.

use std::sync::Arc;
use std::time::Duration;

use packset_segments::IoContext;
use packset_segments::os::open_log;

use crate::cli::args::Serve;
use crate::cli::env;
use crate::cli::{Exit, Failure, FailureKind};
use crate::command::Context;
use crate::desk::Desk;
use crate::pack::home;
use crate::place;
use crate::serve::hold::{self, Hold, Runtime};
use crate::serve::routing::Routing;
use crate::serve::{self, Listener, Settings, Stop};

/// How long to wait for the writer before, which may be on its way out.
const HANDOVER: Duration = Duration::from_millis(500);

/// Runs the verb until SIGTERM or SIGINT.
///
/// # Errors
/// A setting that is none, a home that another writer serves, an address in use, or what the
/// system says.
pub fn run(context: &mut Context<'_>, args: &Serve) -> Result<Exit, Failure> {
    if let Some(host) = args.host.as_deref().filter(|host| !is_own(host)) {
        return Err(Failure::usage(format!(
            "the writer listens on this machine alone, not on {host}"
        ))
        .hint("leave --host away"));
    }
    let mut vars = context.env.clone();
    for (name, value) in [
        ("PACKSET_FUSE", &args.fuse),
        ("PACKSET_DIVERSIFY", &args.diversify),
        ("PACKSET_DECAY", &args.decay),
    ] {
        if let Some(value) = value {
            if value.is_empty() {
                return Err(Failure::usage(format!("{name} is empty")));
            }
            vars.set(name, value);
        }
    }
    let vfs = Arc::clone(&context.vfs);
    let desk =
        Desk::new(Arc::clone(&vfs), Arc::clone(&context.clock), vars, Arc::clone(&context.ids));
    let desk = match context.env.get("PACKSET_TRACE_WRITES") {
        None => desk.warm(),
        Some(path) => {
            let path = context.path(path);
            desk.warm().traced(Box::new(open_log(&path).at("open", &path)?))
        }
    };
    let desk = Arc::new(desk);
    // What is set wrong is said now, not to the first client.
    desk.panel()?;
    desk.live_cap()?;
    desk.ground()?;
    let home = desk.home()?;
    home::make_directories(&*vfs, &home)?;
    let started = context.clock.now().format_ms();
    let who = format!("packset serve (process {}, since {started})", std::process::id());
    let mut hold = Hold::take(&*vfs, &home, HANDOVER, &who)?;
    let token = match context.env.get("PACKSET_AUTH") {
        Some(off) if off.eq_ignore_ascii_case("off") => None,
        _ => Some(hold.token(&*vfs)?),
    };
    let port = args.port.unwrap_or_else(|| place::port(&context.env));
    let listener = match &args.socket {
        Some(path) => Listener::unix(&*vfs, &context.path(path))?,
        None => Listener::tcp(port)?,
    };
    let stop = Stop::on_signals().at("watch for signals", &home)?;
    let private = home.join("serve.lanes");
    let (workers, queue) = (context.env.get("PACKSET_WORKERS"), context.env.get("PACKSET_QUEUE"));
    let settings = Settings::new(token, private).sized(workers, queue)?;
    let runtime = Runtime {
        pid: std::process::id(),
        url: listener.url(),
        socket: listener.path().map(|path| path.to_string_lossy().into_owned()),
        port: listener.port(),
        version: env!("CARGO_PKG_VERSION").into(),
        started,
        exe: env::program().map(|exe| exe.to_string_lossy().into_owned()).unwrap_or_default(),
    };
    context.ui.note(&format!("packset: listening on {}", runtime.url));
    hold.announce(&*vfs, runtime)?;
    let ended = serve::serve(listener, &settings, Arc::new(Routing::new(desk)), &stop);
    hold.leave(&*vfs)?;
    let ended = ended?;
    if ended.unanswered > 0 {
        context.ui.note(&format!("packset: {} requests were given up", ended.unanswered));
    }
    Ok(Exit::Done)
}

fn is_own(host: &str) -> bool {
    matches!(host, "127.0.0.1" | "localhost" | "::1" | "[::1]")
}

impl From<hold::Error> for Failure {
    fn from(error: hold::Error) -> Self {
        let message = error.to_string();
        match error {
            hold::Error::Held { .. } => Self::new(FailureKind::Busy, message).hint(
                "one writer serves a home: `packset stop` ends it, PACKSET_HOME names another home",
            ),
            hold::Error::Exposed { path, .. } => Self::new(FailureKind::Refused, message)
                .hint(format!("`chmod 600 {0}`, or remove it: a new one is made", path.display())),
            hold::Error::Io { .. } => Self::new(FailureKind::Io, message),
        }
    }
}

impl From<serve::Error> for Failure {
    fn from(error: serve::Error) -> Self {
        let message = error.to_string();
        match error {
            serve::Error::Number { .. } => Self::usage(message),
            serve::Error::Taken { .. } => Self::new(FailureKind::Busy, message)
                .hint("name another with PACKSET_PORT or --port"),
            serve::Error::NoSocket { .. } => Self::new(FailureKind::Refused, message),
            serve::Error::Io { .. } => Self::new(FailureKind::Io, message),
        }
    }
}
