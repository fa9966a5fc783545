//! The section on damage: records, directories, trees, baskets.

use super::{Examination, Severity};
use crate::text::clean;
use crate::text::units::{self, plural};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Findings that are printed; `--json` has all.
const PRINTED: usize = 100;

/// As text: what was checked, then the findings, damage first.
///
/// # Errors
/// When `out` cannot be written.
pub(crate) fn print(file: &str, deep: bool, e: &Examination, out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "{}: {}, {}, {}, {} with {}{}; {} free",
        clean(file),
        plural(e.records, "record"),
        plural(e.keys, "key"),
        units::counted(e.classes, "class description", "class descriptions"),
        plural(e.trees, "tree"),
        plural(e.baskets, "basket"),
        match e.ntuples {
            0 => String::new(),
            n => format!(", {} with {}", plural(n, "ntuple"), plural(e.pages, "page")),
        },
        units::bytes(e.free_bytes)
    )?;
    if deep {
        let what = if e.ntuples > 0 { "basket or page" } else { "basket" };
        let many = if e.ntuples > 0 { "baskets or pages" } else { "baskets" };
        let decompressed = units::counted(e.decompressed, what, many);
        writeln!(out, "{decompressed} decompressed, {} read", plural(e.objects, "object"))?;
    }
    let of = |severity| e.findings.iter().filter(|f| f.severity == severity).collect::<Vec<_>>();
    let damage = of(Severity::Damage);
    writeln!(out, "{}", headline(damage.len() as u64 + e.more, e.unchecked, deep))?;
    let unchecked = (of(Severity::Unchecked), "not checked, as this version does not read it:");
    for (findings, title) in [(damage, "damaged:"), unchecked, (of(Severity::Note), "notes:")] {
        if !findings.is_empty() {
            writeln!(out, "{title}")?;
        }
        for f in findings.iter().take(PRINTED) {
            let place = f.span.map_or(String::new(), |s| format!(" ({})", s.in_words()));
            let object = if f.object.is_empty() { String::new() } else { format!(" {}", clean(&f.object)) };
            writeln!(out, "  {}{object}: {}{place}", f.part, clean(&f.what))?;
        }
        if findings.len() > PRINTED {
            writeln!(out, "  … and {} more (the JSON output lists all)", findings.len() - PRINTED)?;
        }
    }
    Ok(())
}

/// The result in one line: unchecked parts are not included in "no damage".
fn headline(damage: u64, unchecked: u64, deep: bool) -> String {
    let damage = match damage {
        0 if deep => "no damage found".to_owned(),
        0 => "no damage found; baskets and objects were not read (use --deep)".to_owned(),
        1 => "damage in 1 place".to_owned(),
        n => format!("damage in {} places", units::count(n)),
    };
    match unchecked {
        0 => damage,
        n => format!("{damage}; {} could not be checked", plural(n, "part")),
    }
}

/// As JSON.
pub(crate) fn to_json(e: &Examination) -> Value {
    let findings: Vec<Value> = e
        .findings
        .iter()
        .map(|f| {
            json!({
                "severity": match f.severity { Severity::Damage => "damage", Severity::Note => "note", Severity::Unchecked => "unchecked" },
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
        "unchecked": e.unchecked,
        "records": e.records,
        "free_bytes": e.free_bytes,
        "keys": e.keys,
        "classes": e.classes,
        "trees": e.trees,
        "baskets": e.baskets,
        "ntuples": e.ntuples,
        "pages": e.pages,
        "baskets_decompressed": e.decompressed,
        "objects_read": e.objects,
    })
}
