//! The `sapwood` command as a program of its own; all of it is in the library, which the Python package uses, too.

use std::process::ExitCode;

/// Columns in large pages.
#[global_allocator]
static ALLOCATOR: sapwood::pages::LargePages = sapwood::pages::LargePages;

fn main() -> ExitCode {
    ExitCode::from(sapwood_cli::main(std::env::args_os()))
}
