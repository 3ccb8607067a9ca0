//! `packset-embed`: the child process that runs models.

#![expect(clippy::disallowed_methods, clippy::print_stderr, reason = "it has no doors of its own")]

use std::io::{BufWriter, stdin, stdout};
use std::process::ExitCode;

use packset::cli::Env;
use packset::embed::{Error, child};
use packset_segments::os::OsFs;

fn main() -> ExitCode {
    child::die_with_parent();
    let vfs = OsFs::default();
    let env = Env::of_process(&vfs);
    let mut output = BufWriter::new(stdout().lock());
    let done = child::task(env.args())
        .and_then(|task| child::run(&env, &vfs, task, &mut stdin().lock(), &mut output));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // Nobody listens any more.
        Err(Error::Io(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("packset-embed: {error}");
            ExitCode::from(error.code())
        }
    }
}
