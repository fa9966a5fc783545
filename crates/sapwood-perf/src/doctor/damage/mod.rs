//! Examines a file for damage: header, records, directories, class descriptions, free list, trees and baskets.

mod deep;
mod free;
mod histograms;
mod ntuples;
mod records;
pub(super) mod report;
mod trees;

use records::Records;
use sapwood_engine::{File, OpenOptions, RawFile};
use sapwood_format::{Header, Key, Listing};
use sapwood_span::{Error, ErrorKind, Result, Span, setters};

/// Bytes of baskets or pages that are fetched at once.
const AT_ONCE: u64 = 8 << 20;
/// Findings that are kept; more are only counted.
const KEPT: usize = 10_000;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; nothing is lost.
    Note,
    /// This version cannot read it: whether it is damaged is unknown.
    Unchecked,
    /// Data are damaged or lost.
    Damage,
}

/// A finding, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The part of the file: `header`, `record`, `directory`, `classes`, `free list`, `tree`, `basket`,
    /// `ntuple`, `page`, `object`.
    pub part: &'static str,
    /// The object, if it concerns one: path and cycle, and the branch.
    pub object: String,
    /// The bytes of the file.
    pub span: Option<Span>,
    /// What is wrong.
    pub what: String,
}

/// Options of an examination.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ExamineOptions {
    /// Reads and decompresses every basket and every object, which checks their checksums.
    pub deep: bool,
}

setters!(ExamineOptions { deep: bool } into {});

/// What an examination covered, and its findings.
#[derive(Clone, Debug, Default)]
pub struct Examination {
    /// Findings, in the order of the checks.
    pub findings: Vec<Finding>,
    /// Findings that were not kept because there are too many.
    pub more: u64,
    /// Parts that could not be checked because this version does not read them.
    pub unchecked: u64,
    /// Number of records.
    pub records: u64,
    /// Bytes that were freed.
    pub free_bytes: u64,
    /// Keys in directories.
    pub keys: u64,
    /// Classes that are described.
    pub classes: u64,
    /// Trees whose headers were read.
    pub trees: u64,
    /// Baskets listed in the trees.
    pub baskets: u64,
    /// Ntuples whose metadata were read.
    pub ntuples: u64,
    /// Pages listed in the ntuples.
    pub pages: u64,
    /// Baskets and pages that were decompressed.
    pub decompressed: u64,
    /// Objects that were read (without trees).
    pub objects: u64,
}

impl Examination {
    /// Whether no damage was found; see [`Self::unchecked`] for what was not checked.
    pub fn is_healthy(&self) -> bool {
        self.more == 0 && self.findings.iter().all(|f| f.severity != Severity::Damage)
    }

    fn push(&mut self, severity: Severity, part: &'static str, object: &str, span: Option<Span>, what: String) {
        self.unchecked += u64::from(severity == Severity::Unchecked);
        if self.findings.len() < KEPT {
            self.findings.push(Finding { severity, part, object: object.to_owned(), span, what });
        } else if severity == Severity::Damage {
            self.more += 1;
        }
    }

    fn damage(&mut self, part: &'static str, object: &str, span: Option<Span>, what: impl Into<String>) {
        self.push(Severity::Damage, part, object, span, what.into());
    }

    fn note(&mut self, part: &'static str, object: &str, span: Option<Span>, what: impl Into<String>) {
        self.push(Severity::Note, part, object, span, what.into());
    }

    /// An error as a finding: what this version cannot read may be intact.
    fn error(&mut self, part: &'static str, object: &str, span: Option<Span>, e: &Error) {
        let severity = if e.kind() == ErrorKind::Unsupported { Severity::Unchecked } else { Severity::Damage };
        let branch = e.branch().map_or(String::new(), |b| format!("branch {b}: "));
        self.push(severity, part, object, e.span().or(span), format!("{branch}{}", e.what()));
    }
}

/// Examines a file: a local path or an `http(s)://` URL.
///
/// # Errors
/// Errors of the source when it cannot be read, or `Corrupt` when it is not a ROOT file at all; damage is no error.
pub fn examine(url: &str, options: &OpenOptions, how: &ExamineOptions) -> Result<Examination> {
    let mut raw = RawFile::open(url, options)?;
    let mut out = Examination::default();
    check_header(&mut out, raw.header(), raw.size());
    let records = Records::walk(&mut out, &raw)?;
    let listed = check_directories(&mut out, &mut raw, &records);
    // objects are read as a user would read them, recovered where necessary; a diagnosis requires all records anyway
    let recovering = options.clone().recover(options.recover.or(Some(true)));
    match File::open(url, &recovering) {
        Ok(file) => {
            let baskets = trees::check(&mut out, &file, &records);
            free::check(&mut out, &raw, &file, &records, &baskets);
            if how.deep {
                deep::check(&mut out, &file);
            }
        }
        // the reason is known already when the directory cannot be read
        Err(e) if listed => out.error("directory", "", None, &e),
        Err(_) => {}
    }
    Ok(out)
}

fn check_header(out: &mut Examination, h: &Header, size: u64) {
    let place = Some(Span::new(0, 75));
    if h.end > size {
        let missing = Span::new(size, h.end - size);
        out.damage("header", "", Some(missing), format!("the file is truncated: it has {size} of {} bytes", h.end));
    } else if h.end < size {
        let behind = Span::new(h.end, size - h.end);
        out.note("header", "", Some(behind), format!("{} bytes after the end stated in the header", behind.len));
    }
    if h.end < h.begin {
        out.damage("header", "", place, format!("it ends at {} before its records begin at {}", h.end, h.begin));
    }
    if h.free.start == 0 || h.info.start == 0 {
        out.damage(
            "header",
            "",
            place,
            "the file was never closed: it has no list of free segments or no class descriptions",
        );
    }
    for (what, span) in [("list of free segments", h.free), ("class descriptions", h.info)] {
        if span.start != 0 && (span.start < h.begin || span.end() > h.end) {
            out.damage("header", "", place, format!("its {what} should be at {}", span.in_words()));
        }
    }
}

/// Reads all directories; returns whether the root's could be read.
fn check_directories(out: &mut Examination, raw: &mut RawFile, records: &Records) -> bool {
    if let Err(e) = raw.count_classes().map(|n| out.classes = n as u64) {
        out.error("classes", "", None, &e);
    }
    let keys: Vec<Listing> = match raw.list(true) {
        Ok(keys) => keys,
        Err(e) => {
            out.error("directory", "", None, &e);
            // the readable ones
            raw.list(false).unwrap_or_default()
        }
    };
    out.keys = keys.len() as u64;
    for l in &keys {
        let name = named(&l.path, &l.key);
        match records.at(l.key.span.start) {
            None => out.damage("directory", &name, Some(l.key.span), "no record begins at the position in its key"),
            Some(r) if r.len != l.key.span.len => out.damage(
                "directory",
                &name,
                Some(l.key.span),
                format!("its record has {} bytes, its key says {}", r.len, l.key.span.len),
            ),
            Some(r) if r.label != records::label_hash(&l.key) => {
                out.damage("directory", &name, Some(l.key.span), "its record differs from its key");
            }
            Some(_) => {}
        }
    }
    for key in raw.unlisted(&keys).unwrap_or_default() {
        let what = "its directory's list of keys ends before this key: the object exists, but is not listed";
        out.damage("directory", &named(&key.name, &key), Some(key.span), what);
    }
    if keys.is_empty() && records.objects > 0 {
        out.damage("directory", "", None, format!("it is empty, but {} objects are in the file", records.objects));
    }
    !keys.is_empty()
}

fn named(path: &str, key: &Key) -> String {
    format!("{path};{}", key.cycle)
}
