//! The layout of a file: its baskets and pages of ntuples, those of chosen branches highlighted, and the other records.
//!
//! Like ROOT's `TFile::DrawMap`: the file continues line after line, so branches that are stored together appear as
//! stripes and scattered ones as dust.

mod cells;
#[cfg(feature = "pictures")]
mod picture;
mod text;

use crate::parts::Parts;
use sapwood_engine::{File, Tree, glob_match};
use sapwood_format::tree::Tree as TreeHeader;
use sapwood_span::{Error, Result, Span};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Patterns that can be distinguished by their colours.
pub const MOST: usize = 8;

/// A range of a file, and what it contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    span: Span,
    kind: Kind,
}

/// The content of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Not a basket: headers, keys, other objects.
    Record,
    /// A basket that is not chosen.
    Basket,
    /// A basket of the chosen with this number.
    Chosen(usize),
}

/// The map of a file.
pub struct FileMap {
    file: String,
    bytes: u64,
    trees: Vec<TreeMap>,
    records: Vec<(String, Span)>,
    chosen: Vec<Chosen>,
}

/// A tree in a map.
pub struct TreeMap {
    path: String,
    entries: u64,
    noun: &'static str,
    branches: Vec<BranchMap>,
}

struct BranchMap {
    name: String,
    chosen: Option<usize>,
    /// First entry, the one after the last, and span.
    baskets: Vec<(u64, u64, Span)>,
}

/// A group to highlight: the branches of one pattern, or without patterns those of one tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// The pattern, or the tree's path.
    pub name: String,
    /// Branches with baskets.
    pub branches: u64,
    /// Their baskets.
    pub baskets: u64,
    /// The bytes of those.
    pub bytes: u64,
    /// Contiguous pieces of the file that contain them.
    pub pieces: u64,
    /// The first byte, and the one after the last; equal where there is none.
    pub extent: (u64, u64),
}

impl FileMap {
    /// The map of a file with all its trees, or with one. Branches whose name, or that of a parent branch, matches a
    /// pattern (`*`, `?`) are highlighted; the first pattern counts. Without patterns trees are distinguished.
    ///
    /// # Errors
    /// `Invalid` for more than [`MOST`] patterns, `NotFound` for one without a match, and errors of reading.
    pub fn new(file: &File, tree: Option<&Tree>, patterns: &[String]) -> Result<Self> {
        if patterns.len() > MOST {
            return Err(Error::invalid(format!("{} patterns of branches", patterns.len()))
                .with_remedy(format!("a map shows at most {MOST}; one pattern may match many branches")));
        }
        let listed = file.list("", true)?;
        let trees: Vec<Tree> = match tree {
            Some(one) => vec![one.clone()],
            None => {
                let trees = listed.iter().filter(|l| l.key.is_tree() || l.key.is_ntuple());
                let mut paths: Vec<&str> = trees.map(|l| l.path.as_str()).collect();
                paths.sort_unstable();
                paths.dedup();
                paths.into_iter().map(|p| file.tree(p)).collect::<Result<_>>()?
            }
        };
        let by_tree = patterns.is_empty();
        let maps: Vec<TreeMap> = trees.iter().enumerate().map(|(n, t)| TreeMap::new(n, t, patterns)).collect();
        let mut records: Vec<(String, Span)> = vec![("header".to_owned(), Span::new(0, file.header().begin))];
        for (what, span) in [("classes", file.header().info), ("free list", file.header().free)] {
            if span.start != 0 && span.len > 0 {
                records.push((what.to_owned(), span));
            }
        }
        records.extend(listed.iter().map(|l| (format!("{} {};{}", l.key.class, l.path, l.key.cycle), l.key.span)));
        for t in &trees {
            let envelopes = t.header().ntuple.iter().flat_map(|n| &n.envelopes);
            records.extend(envelopes.map(|(kind, span)| (format!("{} of {}", kind.name(), t.path()), *span)));
        }
        records.sort_by_key(|(_, s)| s.start);
        let names: Vec<String> =
            if by_tree { trees.iter().map(|t| t.path().to_owned()).collect() } else { patterns.to_vec() };
        let mut out =
            Self { file: file.url().to_owned(), bytes: file.size(), trees: maps, records, chosen: Vec::new() };
        out.chosen = names.into_iter().enumerate().map(|(n, name)| out.sum(n, name)).collect();
        match out.chosen.iter().find(|c| !by_tree && c.branches == 0) {
            Some(none) => Err(missing(&none.name, &trees, file)),
            None => Ok(out),
        }
    }

    fn sum(&self, number: usize, name: String) -> Chosen {
        let branches = self.trees.iter().flat_map(|t| &t.branches).filter(|b| b.chosen == Some(number));
        let mut spans: Vec<Span> = Vec::new();
        let mut out = Chosen { name, ..Chosen::default() };
        for b in branches {
            out.branches += 1;
            spans.extend(b.baskets.iter().map(|(_, _, s)| *s));
        }
        spans.sort_unstable_by_key(|s| s.start);
        out.baskets = spans.len() as u64;
        out.bytes = spans.iter().map(|s| s.len).sum();
        let mut end = None;
        for s in &spans {
            out.pieces += u64::from(end.is_none_or(|e| e < s.start));
            end = end.max(Some(s.end()));
        }
        out.extent = (spans.first().map_or(0, |s| s.start), end.unwrap_or(0));
        out
    }

    /// The trees.
    pub fn trees(&self) -> &[TreeMap] {
        &self.trees
    }

    /// What is no basket, by name.
    pub fn records(&self) -> &[(String, Span)] {
        &self.records
    }

    /// The highlighted groups.
    pub fn chosen(&self) -> &[Chosen] {
        &self.chosen
    }

    /// All ranges in the file.
    fn ranges(&self) -> impl Iterator<Item = Range> + '_ {
        let records = self.records.iter().map(|(_, span)| Range { span: *span, kind: Kind::Record });
        let baskets = self.trees.iter().flat_map(|t| &t.branches).flat_map(|b| {
            let kind = b.chosen.map_or(Kind::Basket, Kind::Chosen);
            b.baskets.iter().map(move |(_, _, span)| Range { span: *span, kind })
        });
        records.chain(baskets)
    }

    /// As JSON: trees with their branches (with patterns only the chosen ones) and each basket as first entry, offset
    /// and bytes; the other records; and the sums of the groups.
    pub fn to_json(&self) -> Value {
        let tree = |t: &TreeMap| {
            let all = |b: &&BranchMap| b.chosen.is_some();
            let branches: Vec<Value> = t.branches.iter().filter(all).map(BranchMap::to_json).collect();
            let sums =
                t.branches.iter().flat_map(|b| &b.baskets).fold((0, 0), |(n, len), (_, _, s)| (n + 1, len + s.len));
            json!({ "tree": t.path, "consists_of": format!("{}s", t.noun), "entries": t.entries, "baskets": sums.0, "bytes": sums.1, "branches": branches })
        };
        let chosen = |c: &Chosen| {
            json!({
                "name": c.name,
                "branches": c.branches,
                "baskets": c.baskets,
                "bytes": c.bytes,
                "pieces": c.pieces,
                "extent": [c.extent.0, c.extent.1],
            })
        };
        let record = |(what, s): &(String, Span)| json!({ "what": what, "offset": s.start, "bytes": s.len });
        json!({
            "file": self.file,
            "bytes": self.bytes,
            "chosen": self.chosen.iter().map(chosen).collect::<Vec<_>>(),
            "trees": self.trees.iter().map(tree).collect::<Vec<_>>(),
            "records": self.records.iter().map(record).collect::<Vec<_>>(),
        })
    }
}

impl TreeMap {
    fn new(number: usize, tree: &Tree, patterns: &[String]) -> Self {
        let header = tree.header();
        let mut branches: Vec<BranchMap> = Vec::new();
        let mut place: HashMap<usize, usize> = HashMap::new();
        let parts = Parts::of(header);
        for group in parts.all.chunk_by(|a, b| a.branch == b.branch) {
            let Some(branch) = group.first().map(|b| parts.branch(b)) else { continue };
            let at = *place.entry(branch).or_insert_with(|| {
                let chosen = if patterns.is_empty() {
                    Some(number)
                } else {
                    patterns.iter().position(|p| chooses(p, header, branch))
                };
                branches.push(BranchMap { name: tree.name_of(branch), chosen, baskets: Vec::new() });
                branches.len() - 1
            });
            branches[at].baskets.extend(group.iter().map(|b| (b.first, b.last, b.span)));
        }
        // the columns of a field one after the other: by entry
        branches.iter_mut().for_each(|b| b.baskets.sort_by_key(|(first, _, span)| (*first, span.start)));
        Self { path: tree.path().to_owned(), entries: tree.entries(), noun: parts.noun(), branches }
    }

    /// Its entries.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Whether it is made of a `basket` or a `page`.
    pub fn noun(&self) -> &'static str {
        self.noun
    }

    /// Names of the branches, and the baskets or pages of each: first entry, the one after the last, and bytes in the
    /// file. A page has the entries of its cluster.
    pub fn branches(&self) -> impl Iterator<Item = (&str, &[(u64, u64, Span)])> {
        self.branches.iter().map(|b| (b.name.as_str(), b.baskets.as_slice()))
    }
}

impl BranchMap {
    fn to_json(&self) -> Value {
        let baskets: Vec<[u64; 3]> = self.baskets.iter().map(|(first, _, s)| [*first, s.start, s.len]).collect();
        json!({ "name": self.name, "chosen": self.chosen, "baskets": baskets })
    }
}

/// Whether a pattern matches a branch, by path or bare name, or a parent of it.
fn chooses(pattern: &str, tree: &TreeHeader, branch: usize) -> bool {
    let mut at = Some(branch);
    while let Some((i, b)) = at.and_then(|i| tree.branches.get(i).map(|b| (i, b))) {
        // ROOT ends the names of split objects with a dot
        if glob_match(pattern, &b.name)
            || glob_match(pattern, b.name.trim_end_matches('.'))
            || glob_match(pattern, &tree.path(i))
        {
            return true;
        }
        at = b.parent;
    }
    false
}

/// The error for a pattern without a match, with similar names.
fn missing(pattern: &str, trees: &[Tree], file: &File) -> Error {
    let plain = !pattern.contains(['*', '?']);
    match trees.first().filter(|_| plain && trees.len() == 1).map(|t| t.find(pattern)) {
        Some(Err(e)) => e,
        Some(Ok(_)) => Error::not_found(format!("branch {pattern} has no baskets of its own")).in_file(file.url()),
        None => Error::not_found(format!("no branch with baskets matches {pattern}")).in_file(file.url()),
    }
}
