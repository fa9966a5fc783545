//! What the commands print: tables for people, JSON for programs.

pub(crate) mod io_report;
mod json;
pub(crate) mod picture;
pub(crate) mod root_table;
pub(crate) mod rows;
mod stdout;

pub(crate) use json::json;
pub(crate) use sapwood::text::json::{escaped, string};
pub(crate) use sapwood::text::{cell, clean, table};
pub(crate) use sapwood::write::write_file;
pub(crate) use stdout::{Stdout, check_stdout, stdout, stdout_was_closed};

use crate::args::Global;
use crate::failure::{Failure, remark};
use sapwood::{Key, datetime};
use std::io::Write;

/// What became of a file that was written: one JSON value, or remarks on stderr and lines for people, or nothing when
/// nobody wants to know.
///
/// # Errors
/// When stdout cannot be written.
pub(crate) fn written(
    global: &Global,
    remarks: &[String],
    to_json: impl FnOnce() -> serde_json::Value,
    lines: impl FnOnce() -> Vec<String>,
) -> Result<(), Failure> {
    if global.json {
        json(&to_json())?;
        return Ok(());
    }
    if !global.quiet {
        for text in remarks {
            remark(text);
        }
        let mut out = stdout();
        for line in lines() {
            writeln!(out, "{}", clean(&line))?;
        }
        out.flush()?;
    }
    Ok(())
}

/// When a key was written, as `2026-11-21 05:09:06`; ROOT keeps local time and no zone.
pub(crate) fn date(key: &Key, between: char) -> String {
    let (year, month, day, hour, minute, second) = datetime(key.datetime);
    format!("{year:04}-{month:02}-{day:02}{between}{hour:02}:{minute:02}:{second:02}")
}
