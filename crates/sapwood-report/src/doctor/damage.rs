//! The section on damage: records, directories, trees, baskets.

use crate::{clean, units};
use sapwood::{Examination, Severity};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Findings that are printed; `--json` has all.
const PRINTED: usize = 100;

/// For people: what was looked at, then the findings, damage first.
///
/// # Errors
/// When `out` cannot be written.
pub fn print(file: &str, deep: bool, e: &Examination, out: &mut impl Write) -> io::Result<()> {
    let count = units::count;
    writeln!(
        out,
        "{}: {} records, {} keys, {} described classes, {} trees with {} baskets; {} free",
        clean(file),
        count(e.records),
        count(e.keys),
        count(e.classes),
        count(e.trees),
        count(e.baskets),
        units::bytes(e.free_bytes)
    )?;
    if deep {
        writeln!(out, "{} baskets decompressed, {} objects read", count(e.decompressed), count(e.objects))?;
    }
    let (damage, notes): (Vec<_>, Vec<_>) = e.findings.iter().partition(|f| f.severity == Severity::Damage);
    let n = damage.len() as u64 + e.more;
    writeln!(out, "{}", if n == 0 { "no damage".to_owned() } else { format!("{} places of damage:", count(n)) })?;
    for (findings, title) in [(damage, ""), (notes, "worth knowing:")] {
        if !title.is_empty() && !findings.is_empty() {
            writeln!(out, "{title}")?;
        }
        for f in findings.iter().take(PRINTED) {
            let place = f.span.map_or(String::new(), |s| format!(" (bytes {}-{})", s.start, s.end()));
            let object = if f.object.is_empty() { String::new() } else { format!(" {}", clean(&f.object)) };
            writeln!(out, "  {}{object}: {}{place}", f.part, clean(&f.what))?;
        }
        if findings.len() > PRINTED {
            writeln!(out, "  … and {} more (--json has all)", findings.len() - PRINTED)?;
        }
    }
    Ok(())
}

/// For programs.
pub fn to_json(e: &Examination) -> Value {
    let findings: Vec<Value> = e
        .findings
        .iter()
        .map(|f| {
            json!({
                "severity": match f.severity { Severity::Damage => "damage", Severity::Note => "note" },
                "part": f.part,
                "object": f.object,
                "bytes": f.span.map(|s| [s.start, s.end()]),
                "what": f.what,
            })
        })
        .collect();
    json!({
        "healthy": e.is_healthy(),
        "findings": findings,
        "findings_not_listed": e.more,
        "records": e.records,
        "free_bytes": e.free_bytes,
        "keys": e.keys,
        "classes": e.classes,
        "trees": e.trees,
        "baskets": e.baskets,
        "baskets_decompressed": e.decompressed,
        "objects_read": e.objects,
    })
}
