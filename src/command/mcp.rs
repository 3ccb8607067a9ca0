//! `packset mcp`: the pack for an MCP client, over standard input and output; also installed as
//! `packset-mcp`.
//!
//! It works with or without a writer, and ends when its client closes the input.

use std::sync::Arc;

use packset_segments::IoContext;

use crate::cli::{Exit, Failure, Ui};
use crate::command::Context;
use crate::desk::Desk;
use crate::mcp;

/// Runs the verb until the input ends.
///
/// # Errors
/// What the system says.
pub fn run(context: &mut Context<'_>) -> Result<Exit, Failure> {
    let (input, output) = Ui::raw_streams().at("open", std::path::Path::new("-"))?;
    let desk = Desk::new(
        Arc::clone(&context.vfs),
        Arc::clone(&context.clock),
        context.env.clone(),
        Arc::clone(&context.ids),
    );
    mcp::serve(desk, input, output)?;
    Ok(Exit::Done)
}
