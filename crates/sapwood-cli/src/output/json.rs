//! JSON on stdout.

use super::stdout;
use sapwood::text::json::Escaping;
use std::io::{self, Write};

/// One value on one line of stdout.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn json(value: &serde_json::Value) -> io::Result<()> {
    let mut out = stdout();
    serde_json::to_writer(Escaping(&mut out), value)?;
    writeln!(out)?;
    out.flush()
}
