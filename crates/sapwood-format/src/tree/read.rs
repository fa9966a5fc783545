//! A tree's header, read according to its own file: the class descriptions give the order of members, so that every
//! version of ROOT since 2 is read by the same code.

use super::nesting::{DEEPEST, nest};
use super::number::{Counts, counted, number, width};
use super::{Branch, Friend, Leaf, Tree, TreeIndex};
use crate::builtin::early;
use crate::cursor::Cursor;
use crate::object::{Pointed, read_base_object, read_object_array_head, read_pointer};
use crate::streamer::{ClassInfo, Element, Streamers, code, read_named};
use sapwood_span::{Error, Result};
use std::collections::HashMap;
use std::sync::Arc;

/// Reads the decompressed payload of a tree's key; `key_len` is the length of the key's label.
///
/// # Errors
/// `Corrupt` when the header does not follow the class descriptions, `Unsupported` when they are missing.
pub fn read_tree(data: &[u8], key_len: usize, class: &str, streamers: &Streamers) -> Result<Tree> {
    let mut r = Reader {
        streamers,
        tree: Tree::default(),
        seen: HashMap::new(),
        depth: 0,
        memory: ANY + PER_BYTE * data.len(),
        steps: ANY + STEPS_PER_BYTE * data.len(),
    };
    let mut c = Cursor::new(data, key_len);
    let mut head = TreeHead { class: class.to_owned(), ..TreeHead::default() };
    r.object(&mut c, class, &mut Target::Tree(&mut head))?;
    let mut tree = r.tree;
    tree.class = head.class;
    tree.name = head.name;
    tree.title = head.title;
    tree.entries = head.entries;
    tree.total_bytes = head.total_bytes;
    tree.zip_bytes = head.zip_bytes;
    tree.auto_flush = head.auto_flush;
    tree.estimate = head.estimate;
    tree.aliases = head.aliases;
    tree.friends = head.friends;
    tree.index = head.index;
    tree.weight = head.weight;
    tree.top = head.top;
    tree.cluster_ranges = head.range_end.into_iter().zip(head.range_size).collect();
    for (i, b) in tree.branches.iter().enumerate() {
        for &l in &b.leaves {
            tree.leaves[l].branch = Some(i);
        }
    }
    nest(&mut tree, data.len())?;
    Ok(tree)
}

#[derive(Default)]
pub(super) struct TreeHead {
    pub class: String,
    pub name: String,
    pub title: String,
    pub entries: u64,
    pub total_bytes: u64,
    pub zip_bytes: u64,
    pub auto_flush: i64,
    pub estimate: Option<i64>,
    pub range_end: Vec<u64>,
    pub range_size: Vec<u64>,
    pub aliases: Vec<(String, String)>,
    pub friends: Vec<Friend>,
    pub index: Option<TreeIndex>,
    pub weight: Option<f64>,
    pub top: Vec<usize>,
}

enum Target<'t> {
    Tree(&'t mut TreeHead),
    Branch(&'t mut Branch),
    Leaf(&'t mut Leaf),
    Nothing,
}

#[derive(Clone, Copy)]
enum Seen {
    Branch(usize),
    Leaf(usize),
}

/// Memory that the branches and leaves of any tree may use, and bytes of it per byte of the tree's header: real ones
/// use four times theirs at most.
const ANY: usize = 1 << 20;
const PER_BYTE: usize = 16;

/// Members of objects per byte of the header: one that takes no bytes (an array without items) is rare.
const STEPS_PER_BYTE: usize = 4;

pub(super) struct Reader<'s> {
    streamers: &'s Streamers,
    tree: Tree,
    seen: HashMap<u64, Seen>,
    depth: usize,
    /// Bytes of memory that branches and leaves may still use.
    memory: usize,
    /// Members that may still be read.
    steps: usize,
}

impl Reader<'_> {
    fn info(&self, class: &str, version: i16) -> Result<Arc<ClassInfo>> {
        let found = self.streamers.find(class, version.into()).or_else(|| early(class, version.into()));
        // a class without versions is described by checksum; only one description is possible then
        let found = found.or_else(|| if version <= 0 { self.streamers.latest(class) } else { None });
        found.cloned().ok_or_else(|| {
            Error::unsupported(format!("the file does not describe version {version} of its class {class}"))
        })
    }

    fn object(&mut self, c: &mut Cursor, class: &str, target: &mut Target) -> Result<()> {
        let at = c.pos();
        let v = c.version()?;
        let info = match self.info(class, v.number) {
            Ok(info) => info,
            // it holds nothing that we use, and its end is known
            Err(_) if matches!(target, Target::Nothing) && v.end.is_some() => return c.finish(&v),
            // some writers describe only TLeaf; every kind of leaf begins with it
            Err(_) if matches!(target, Target::Leaf(_)) && class != "TLeaf" && v.end.is_some() => {
                self.object(c, "TLeaf", target)?;
                return c.finish(&v);
            }
            Err(e) => return Err(e),
        };
        self.steps = self.steps.checked_sub(info.elements.len()).ok_or_else(|| {
            Error::corrupt("the tree's objects would have far more members than its header has bytes")
        })?;
        let mut counts = Counts { version: v.number, values: Vec::new() };
        for e in &info.elements {
            let done = if e.kind == "TStreamerBase" {
                self.base(c, e, target)?;
                true
            } else {
                self.member(c, e, target, &mut counts)?
            };
            if !done {
                self.skip(c, e, &mut counts)
                    .map_err(|x| Error::corrupt(format!("{class}::{}: {}", e.name, x.what())))?;
            }
        }
        c.finish(&v).map_err(|x| Error::corrupt(format!("{class} at {at}: {}", x.what())))
    }

    fn base(&mut self, c: &mut Cursor, e: &Element, target: &mut Target) -> Result<()> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Error::corrupt("base classes are too deeply nested"));
        }
        let read = self.base_members(c, e, target);
        self.depth -= 1;
        read
    }

    fn base_members(&mut self, c: &mut Cursor, e: &Element, target: &mut Target) -> Result<()> {
        match e.name.as_str() {
            "TObject" => read_base_object(c).map(|_| ()),
            "TNamed" => {
                let (name, title) = read_named(c)?;
                match target {
                    Target::Tree(t) => (t.name, t.title) = (name, title),
                    Target::Branch(b) => (b.name, b.title) = (name, title),
                    Target::Leaf(l) => (l.name, l.title) = (name, title),
                    Target::Nothing => {}
                }
                Ok(())
            }
            "TTree" | "TBranch" | "TLeaf" => self.object(c, &e.name, target),
            other => self.object(c, other, &mut Target::Nothing),
        }
    }

    fn member(&mut self, c: &mut Cursor, e: &Element, target: &mut Target, counts: &mut Counts) -> Result<bool> {
        match target {
            Target::Tree(t) => self.tree_member(c, e, t, counts),
            Target::Branch(b) => self.branch_member(c, e, b, counts),
            Target::Leaf(l) => self.leaf_member(c, e, l),
            Target::Nothing => Ok(false),
        }
    }

    /// Accounts for the memory of a branch or a leaf: what references of a few bytes expand to must be bounded.
    fn take(&mut self, item: usize, class: &str) -> Result<()> {
        let wanted = item + 2 * class.len();
        self.memory = self.memory.checked_sub(wanted).ok_or_else(|| {
            Error::corrupt("the tree's branches would take far more memory than its header's bytes can justify")
        })?;
        Ok(())
    }

    pub(super) fn branches(&mut self, c: &mut Cursor) -> Result<Vec<usize>> {
        let n = read_object_array_head(c)?;
        let mut out = Vec::with_capacity(n.min(1 << 16));
        for _ in 0..n {
            if let Some(b) = self.branch_pointer(c)? {
                out.push(b);
            }
        }
        Ok(out)
    }

    pub(super) fn branch_pointer(&mut self, c: &mut Cursor) -> Result<Option<usize>> {
        match read_pointer(c)? {
            Pointed::Null => Ok(None),
            Pointed::Reference(at) => Ok(match self.seen.get(&at) {
                Some(Seen::Branch(b)) => Some(*b),
                _ => None,
            }),
            Pointed::Object { class, at, end } => {
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err(Error::corrupt("branches are too deeply nested"));
                }
                self.take(std::mem::size_of::<Branch>(), &class)?;
                let index = self.tree.branches.len();
                self.tree.branches.push(Branch::default());
                self.seen.insert(at, Seen::Branch(index));
                let mut b = Branch { class: class.clone(), ..Branch::default() };
                let read = self.object(c, &class, &mut Target::Branch(&mut b));
                let name = b.name.clone();
                read.map_err(|e| e.in_branch(name))?;
                check_branch(&mut b);
                self.tree.branches[index] = b;
                if let Some(end) = end {
                    c.seek(end)?;
                }
                self.depth -= 1;
                Ok(Some(index))
            }
        }
    }

    pub(super) fn leaf_pointer(&mut self, c: &mut Cursor) -> Result<Option<usize>> {
        match read_pointer(c)? {
            Pointed::Null => Ok(None),
            Pointed::Reference(at) => Ok(match self.seen.get(&at) {
                Some(Seen::Leaf(l)) => Some(*l),
                _ => None,
            }),
            Pointed::Object { class, at, end } => {
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err(Error::corrupt("the counters of leaves form a cycle"));
                }
                self.take(std::mem::size_of::<Leaf>(), &class)?;
                let index = self.tree.leaves.len();
                self.tree.leaves.push(Leaf::default());
                self.seen.insert(at, Seen::Leaf(index));
                let mut l = Leaf { class: class.clone(), ..Leaf::default() };
                self.object(c, &class, &mut Target::Leaf(&mut l))?;
                self.tree.leaves[index] = l;
                if let Some(end) = end {
                    c.seek(end)?;
                }
                self.depth -= 1;
                Ok(Some(index))
            }
        }
    }

    /// Skips a member of any type.
    fn skip(&mut self, c: &mut Cursor, e: &Element, counts: &mut Counts) -> Result<()> {
        match e.code {
            code::COUNTER => counts.values.push((e.name.clone(), i64::from(c.i32()?))),
            code::TSTRING => drop(c.string_bytes()?),
            code::TOBJECT => drop(read_base_object(c)?),
            code::TNAMED => drop(read_named(c)?),
            code::CHAR_STAR => {
                let n = c.count(1)?;
                c.skip(n)?;
            }
            code::OBJECT_P | code::OBJECT_P_NONNULL | code::ANY_P | code::ANY_P_NONNULL => {
                if let Pointed::Object { class, end, at } = read_pointer(c)? {
                    match end {
                        Some(end) => c.seek(end)?,
                        None => return Err(Error::corrupt(format!("a {class} at {at} without length"))),
                    }
                }
            }
            k if (1..code::OFFSET_L).contains(&k) => drop(number(c, k)?),
            k if (code::OFFSET_L + 1..code::OFFSET_P).contains(&k) => {
                let n = usize::try_from(e.array_len).unwrap_or(0);
                c.skip(n.saturating_mul(width(k - code::OFFSET_L)?))?;
            }
            k if (code::OFFSET_P + 1..60).contains(&k) => drop(counted(c, e, counts)?),
            code::ANY if array_width(&e.type_name).is_some() => {
                // TArray and similar classes are written bare: a length and the items
                let width = array_width(&e.type_name).unwrap_or(1);
                let n = c.count(width)?;
                c.skip(n * width)?;
            }
            _ => {
                let v = c.version()?;
                if v.end.is_none() {
                    return Err(Error::unsupported(format!("a member of type {} without length", e.type_name)));
                }
                c.finish(&v)?;
            }
        }
        Ok(())
    }
}

/// Bytes of an item of a TArray.
fn array_width(class: &str) -> Option<usize> {
    Some(match class {
        "TArrayC" => 1,
        "TArrayS" => 2,
        "TArrayI" | "TArrayF" => 4,
        "TArrayL" | "TArrayL64" | "TArrayD" => 8,
        _ => return None,
    })
}

/// Three arrays describe a branch's baskets: a basket missing from one of them does not exist.
fn check_branch(b: &mut Branch) {
    let n = b.basket_bytes.len().min(b.basket_entry.len()).min(b.basket_seek.len());
    b.write_basket = b.write_basket.min(n);
}
