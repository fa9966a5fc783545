//! What `xrdpfc_print` tells of the `.cinfo` files of XCache: for each file of the cache its size, and the accesses that are remembered.
//!
//! As text, a file has a line with its name, some about its state, and one for each access:
//!
//! ```text
//! FILE: /cache/store/a.root.cinfo
//! version 4, created Fri Nov 27 00:42:07 2026; cksum net
//! file_size 8035620 B, buffer_size 131072 B, n_blocks 62, n_downloaded 62, state complete [100.000%]
//! Access records (N_acc_total=1):
//! Record Attach         Detach         Duration     N_ios N_mrg        B_hit[B]       B_miss[B]     B_bypass[B]
//! 1      261127:004207  261127:004208  0:00:01          1     0           36172         1599850               0
//! ```
//!
//! Times are in the time zone of the machine that printed them; only differences count here. Sizes are rounded down to whole units.

use super::entry::{Entry, bytes, missing, text, time};
use super::times;
use sapwood_span::{Error, Result};
use serde_json::Value;

/// Columns of an access: number, times of opening and closing, duration, two counts, bytes that were hits, misses, and bypassed the cache.
const COLUMNS: usize = 9;

/// A listing, line by line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    /// The file that is described.
    file: Option<String>,
    size: Option<u64>,
    /// Bytes of the unit of its accesses; none until their head was there.
    unit: Option<u64>,
}

impl Listing {
    /// Whether a listing may begin with this line.
    pub(super) fn begins(line: &str) -> bool {
        line.starts_with("FILE: ") || is_remark(line)
    }

    /// The next line: an access, if it tells of one.
    pub(super) fn next(&mut self, line: &str) -> Result<Option<Entry>> {
        if let Some(name) = line.strip_prefix("FILE: ") {
            *self = Self { file: Some(name.to_owned()), size: None, unit: None };
            return Ok(None);
        }
        if is_remark(line) {
            return Ok(None);
        }
        let Some(file) = &self.file else { return Err(Error::invalid("stands before the first line with FILE:")) };
        if let Some(rest) = line.strip_prefix("file_size ") {
            let size = rest.split(',').next().and_then(|size| size.trim().split_once(' '));
            let (number, name) = size.ok_or_else(|| Error::invalid("file_size has no number and unit"))?;
            let number = number.parse::<u64>().map_err(|_| Error::invalid("file_size is not a number"))?;
            self.size = Some(number.saturating_mul(unit(name)?));
        } else if line.starts_with("Record ") {
            let name = line.split_once("B_hit[").and_then(|(_, rest)| rest.split_once(']'));
            let (name, _) = name.ok_or_else(|| Error::invalid("has no column B_hit"))?;
            self.unit = Some(unit(name)?);
        } else if let Some(unit) = self.unit {
            let access = access(line, unit).ok_or_else(|| {
                Error::invalid("is no access of xrdpfc_print: number, attach, detach, duration, N_ios, N_mrg, B_hit, B_miss, B_bypass")
            })?;
            let (time, bytes) = access?;
            return Ok(Some(Entry {
                time: Some(time),
                file: file.clone(),
                size: self.size,
                bytes: Some(bytes),
                ..Entry::default()
            }));
        } else if !is_state(line) {
            return Err(Error::invalid("is no line of xrdpfc_print"));
        }
        Ok(None)
    }
}

/// It says so of what it was given and cannot print.
fn is_remark(line: &str) -> bool {
    line.ends_with(" is not cinfo file.")
}

/// Lines about the state of a file, and with `-v` which blocks are there.
fn is_state(line: &str) -> bool {
    let known = ["version ", "printing ", "Access records "].iter().any(|start| line.starts_with(start));
    known || line.bytes().all(|b| b.is_ascii_digit() || b" .x".contains(&b))
}

fn unit(name: &str) -> Result<u64> {
    match name {
        "B" => Ok(1),
        "kB" => Ok(1024),
        _ => {
            Err(Error::invalid(format!("sizes in whole {name} say too little; print them in bytes: xrdpfc_print -u B")))
        }
    }
}

/// The time and the bytes of an access; none if the line is something else.
fn access(line: &str, unit: u64) -> Option<Result<(f64, u64)>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.len() != COLUMNS {
        return None;
    }
    let counts = [0, 4, 5].iter().all(|&i| words[i].bytes().all(|b| b.is_ascii_digit()));
    let mut sum = 0u64;
    for word in &words[6..] {
        sum = sum.saturating_add(word.parse::<u64>().ok()?.saturating_mul(unit));
    }
    let time = times::seconds(words[1]).ok_or_else(|| Error::invalid(format!("\"{}\" is not a time", words[1])));
    counts.then(|| time.map(|time| (time, sum)))
}

/// As JSON (`-j`): a file with its accesses.
pub(super) fn record(value: &Value) -> Result<Vec<Entry>> {
    let (file, size) = (text(value, "file")?, bytes(value, "file_size")?);
    let accesses = value.get("accesses").and_then(Value::as_array).ok_or_else(|| missing("accesses"))?;
    let one = |access: &Value| {
        let mut sum = 0u64;
        for key in ["B_hit", "B_miss", "B_bypass"] {
            sum = sum.saturating_add(bytes(access, key)?.unwrap_or(0));
        }
        let time = Some(time(access, "attach")?.ok_or_else(|| missing("attach"))?);
        Ok(Entry { time, file: file.clone(), size, bytes: Some(sum), ..Entry::default() })
    };
    accesses.iter().map(one).collect()
}
