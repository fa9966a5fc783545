//! Baskets written after the last header of their tree, by a program that never wrote the next one.
//!
//! The label of a basket has the name of its branch and its number in the branch, so those missing in the header's
//! tables can be appended to them in sequence.

use sapwood_column::{Array, Values};
use sapwood_edit::tree::{Basket, TreeFacts};
use sapwood_format::OrphanBasket;
use sapwood_format::tree::{Tree, clusters};
use sapwood_span::{Error, Result};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Kinds of branches that count the items of a collection.
const COUNTING_KINDS: [i32; 2] = [3, 4];

/// Baskets appended to those of a header.
pub(super) struct Rescued {
    /// How many.
    pub(super) baskets: u64,
    /// Entries up to which the header was complete, and up to which every branch has baskets now.
    pub(super) entries: Range<u64>,
    /// Leaves and branches that store the largest number of items, by branch, and the first rescued entry.
    wanted: HashMap<usize, (Vec<Counts>, u64)>,
}

/// Where a largest number is stored.
#[derive(Clone)]
enum Counts {
    /// A leaf that counts, and its name.
    Leaf(usize, String),
    /// A leaf of texts, and its name.
    Text(usize, String),
    /// The branch of a collection.
    Branch(usize),
}

/// The consecutive baskets of a branch from where its header ends.
fn chain<'a>(orphans: &BTreeMap<u16, Vec<&'a OrphanBasket>>, first: usize) -> Vec<&'a OrphanBasket> {
    // two with one number are ambiguous
    let next = |n: usize| match orphans.get(&(n as u16)).map(Vec::as_slice) {
        Some([one]) => Some(*one),
        _ => None,
    };
    (first..first + orphans.len()).map_while(next).collect()
}

/// Baskets by the name of their branch, then by their number in it.
type ByBranch<'o> = HashMap<&'o str, BTreeMap<u16, Vec<&'o OrphanBasket>>>;

/// The name that a branch's baskets have.
fn name_of(header: &Tree, branch: usize) -> &str {
    header.branches.get(branch).map_or("TRefTable", |b| b.name.as_str())
}

/// The baskets after those in the header, by branch.
///
/// # Errors
/// As text, that their branch is ambiguous.
fn by_branch<'o>(
    facts: &TreeFacts,
    header: &Tree,
    orphans: &'o [OrphanBasket],
) -> std::result::Result<ByBranch<'o>, String> {
    let known = facts.branches.iter().flat_map(|b| &b.baskets).map(|b| b.span.start).max().unwrap_or(0);
    let mut by_name: ByBranch = HashMap::new();
    for o in orphans.iter().filter(|o| o.span.start > known && o.entries > 0) {
        by_name.entry(&o.branch).or_default().entry(o.cycle).or_default().push(o);
    }
    for of in by_name.keys() {
        match (0..facts.branches.len()).filter(|&i| name_of(header, i) == *of).count() {
            0 => return Err(format!("the header has no branch {of}")),
            1 => {}
            n => return Err(format!("{n} branches have the name {of}")),
        }
    }
    Ok(by_name)
}

/// Appends baskets to those in a tree's header, as far as each of its branches has them.
///
/// # Errors
/// As text, why that is impossible; the tree is unchanged.
pub(super) fn rescue(
    facts: &mut TreeFacts,
    header: &Tree,
    orphans: &[OrphanBasket],
) -> std::result::Result<Rescued, String> {
    let by_name = by_branch(facts, header, orphans)?;
    let name = |i: usize| name_of(header, i);
    let before = facts.entries;
    let mut chains: Vec<(usize, u64, Vec<&OrphanBasket>)> = Vec::new();
    let (mut least, mut most) = ((u64::MAX, String::new()), before);
    for (i, b) in facts.branches.iter().enumerate() {
        let (number, from) = b.next;
        let mut end = b.entry_number;
        let own = by_name.get(name(i)).map_or_else(Vec::new, |own| chain(own, number));
        let holds_values = b.filled || !own.is_empty() || (before == 0 && may_hold_values(header, i));
        if !holds_values {
            continue;
        }
        if end != before {
            return Err(format!("branch {} has {end} entries of {before}", b.schema.path));
        }
        if let Some(first) = own.first() {
            let from = from.or((number == 0).then_some(0)).unwrap_or(end);
            // the basket that was being filled: in the header as far as it was then
            let filling = b.embedded.iter().filter(|e| e.first >= from).map(|e| u64::from(e.entries)).sum::<u64>();
            if from + filling != before || filling > u64::from(first.entries) {
                return Err(format!("branch {}: its next basket is not the one that was being filled", b.schema.path));
            }
            end = own.iter().fold(from, |end, o| end + u64::from(o.entries));
            chains.push((i, from, own));
        }
        if end < least.0 {
            least = (end, b.schema.path.clone());
        }
        most = most.max(end);
    }
    let (to, short) = least;
    if to <= before || chains.is_empty() {
        return Err(format!("branch {short} has no basket there"));
    }
    let mut out = Rescued { baskets: 0, entries: before..to, wanted: HashMap::new() };
    for (i, _, _) in &chains {
        let counts = counts(facts, header, *i);
        if !counts.is_empty() {
            out.wanted.insert(*i, (counts, 0));
        }
    }
    for (i, from, own) in chains {
        let Some(b) = facts.branches.get_mut(i) else { continue };
        b.embedded.retain(|e| e.first < from);
        b.filled = true;
        if let Some((_, first)) = out.wanted.get_mut(&i) {
            *first = from;
        }
        let mut at = from;
        for o in own {
            let last = at + u64::from(o.entries);
            b.baskets.push(Basket { span: o.span, first: at, last });
            at = last;
            out.baskets += 1;
        }
    }
    // entries missing in some branch are lost, as if their baskets were
    for b in facts.branches.iter_mut() {
        (b.entries, b.entry_number) = (most, most);
    }
    facts.entries = most;
    facts.clusters = clusters(&Tree { entries: most, ..header.clone() });
    Ok(out)
}

/// Whether a branch of a tree without entries may hold values, rather than only other branches.
fn may_hold_values(header: &Tree, branch: usize) -> bool {
    header
        .branches
        .get(branch)
        .is_none_or(|b| b.children.is_empty() || b.element.as_ref().is_some_and(|e| COUNTING_KINDS.contains(&e.kind)))
}

/// Where a branch stores a largest number.
fn counts(facts: &TreeFacts, header: &Tree, branch: usize) -> Vec<Counts> {
    let Some(b) = header.branches.get(branch) else { return Vec::new() };
    let of_leaf = |&l: &usize| match (facts.leaves.get(l), header.leaves.get(l)) {
        (Some(f), Some(leaf)) if f.text => Some(Counts::Text(l, leaf.name.clone())),
        (Some(f), Some(leaf)) if f.maximum.is_some() => Some(Counts::Leaf(l, leaf.name.clone())),
        _ => None,
    };
    let mut out: Vec<Counts> = b.leaves.iter().filter_map(of_leaf).collect();
    let counts_items = b.element.as_ref().is_some_and(|e| COUNTING_KINDS.contains(&e.kind));
    if facts.branches.get(branch).is_some_and(|f| f.maximum.is_some()) && (counts_items || !out.is_empty()) {
        out.push(Counts::Branch(branch));
    }
    out
}

impl Rescued {
    /// The values to be checked.
    pub(super) fn largest(&self) -> Largest<'_> {
        Largest { rescued: self, leaves: HashMap::new(), branches: HashMap::new() }
    }
}

/// The largest counts among rescued entries: readers allocate for this many items, and ROOT ignores those beyond.
pub(super) struct Largest<'a> {
    rescued: &'a Rescued,
    leaves: HashMap<usize, i64>,
    branches: HashMap<usize, i64>,
}

impl Largest<'_> {
    /// Whether the values of a basket must be checked.
    pub(super) fn wants(&self, branch: usize, entries: &Range<u64>) -> bool {
        self.rescued.wanted.get(&branch).is_some_and(|(_, from)| *from <= entries.start)
    }

    /// Checks the values of a basket.
    ///
    /// # Errors
    /// `Unsupported` when they are not counts.
    pub(super) fn see(&mut self, branch: usize, values: &Array) -> Result<()> {
        let Some((wanted, _)) = self.rescued.wanted.get(&branch) else { return Ok(()) };
        for counts in wanted {
            let column = match (values, counts) {
                (Array::Record { fields, .. }, Counts::Leaf(_, name) | Counts::Text(_, name)) => {
                    fields.iter().find(|(n, _)| n == name).map(|(_, column)| column)
                }
                (values, _) => Some(values),
            };
            let found = match (counts, column) {
                // with the zero at its end
                (Counts::Text(..), Some(Array::Text { offsets, .. })) => {
                    offsets.windows(2).map(|w| w[1] - w[0] + 1).max()
                }
                (Counts::Leaf(..) | Counts::Branch(_), Some(Array::Flat(values))) => largest_of(values),
                _ => None,
            };
            let (map, i) = match counts {
                Counts::Leaf(l, _) | Counts::Text(l, _) => (&mut self.leaves, *l),
                Counts::Branch(b) => (&mut self.branches, *b),
            };
            let most = map.entry(i).or_insert(0);
            *most = found.ok_or_else(not_told)?.max(*most);
        }
        Ok(())
    }

    /// Updates the tree.
    pub(super) fn set(self, facts: &mut TreeFacts) {
        for (l, most) in self.leaves {
            let Some(leaf) = facts.leaves.get_mut(l) else { continue };
            leaf.maximum = leaf.maximum.max(Some(most));
            if leaf.text {
                leaf.len = leaf.len.max(Some(most));
            }
        }
        for (b, most) in self.branches {
            let Some(branch) = facts.branches.get_mut(b) else { continue };
            branch.maximum = branch.maximum.max(Some(most));
        }
    }
}

/// For values that may be counts.
pub(super) fn not_told() -> Error {
    Error::unsupported("the maximum number of items in its entries is unknown")
}

fn largest_of(values: &Values) -> Option<i64> {
    match values {
        Values::I8(v) => v.iter().max().map(|&x| x.into()),
        Values::U8(v) => v.iter().max().map(|&x| x.into()),
        Values::I16(v) => v.iter().max().map(|&x| x.into()),
        Values::U16(v) => v.iter().max().map(|&x| x.into()),
        Values::I32(v) => v.iter().max().map(|&x| x.into()),
        Values::U32(v) => v.iter().max().map(|&x| x.into()),
        Values::I64(v) => v.iter().max().copied(),
        Values::U64(v) => v.iter().max().map(|&x| i64::try_from(x).unwrap_or(i64::MAX)),
        Values::Bool(_) | Values::F32(_) | Values::F64(_) => None,
    }
}
