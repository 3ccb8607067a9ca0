//! `packset-mcp`: `packset mcp` under a name of its own.

#![expect(clippy::disallowed_methods, clippy::print_stderr, reason = "it has no doors of its own")]

mod launch;

fn main() -> std::process::ExitCode {
    launch::launch("packset-mcp", "mcp")
}
