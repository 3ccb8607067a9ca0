//! The main of `packset`: opens the doors and hands them to the shell.

use std::process::ExitCode;
use std::sync::Arc;

use packset::cli::{Env, Exit, Ui, exit};
use packset::clock::SystemClock;
use packset::command::run;
use packset_segments::os::{OsFs, on_bus_error};

/// A mapped page that cannot be read kills the process; this is all it can still say.
const BUS_ERROR: &[u8] = b"packset: a segment was cut short or cannot be read while in use\n\
    hint: `packset verify` names the file\n";

fn main() -> ExitCode {
    exit::install_panic_hook();
    on_bus_error(BUS_ERROR, i32::from(Exit::Damaged.code()));
    let env = Env::of_process(&OsFs::default());
    let mut ui = Ui::of_process(&env);
    match run::map_policy(&env) {
        Ok(policy) => {
            let vfs = Arc::new(OsFs::new(policy));
            run::run(env, vfs, Arc::new(SystemClock), &mut ui).into()
        }
        Err(failure) => run::conclude(Err(failure), &mut ui).into(),
    }
}
