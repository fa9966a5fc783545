//! Whether two trees can be joined: corresponding branches must have the same form.

use sapwood_format::tree::Tree;

/// The properties that a branch's bytes depend on.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct BranchSchema {
    /// Name after those of the parent branches.
    pub path: String,
    class: String,
    leaves: Vec<LeafSchema>,
    element: Option<ElementSchema>,
    /// Whether baskets hold the offsets of entries.
    has_offsets: bool,
    /// Whether offsets are left out and derived from the counter.
    generated: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct LeafSchema {
    name: String,
    class: String,
    /// Items of an entry; 0 for texts, which have any length.
    len: i32,
    unsigned: bool,
    count: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct ElementSchema {
    class: String,
    clones: String,
    version: i32,
    checksum: u32,
    kind: i32,
    streamer: i32,
}

impl BranchSchema {
    /// For a branch of a header.
    pub fn of(tree: &Tree, branch: usize) -> Self {
        let Some(b) = tree.branches.get(branch) else { return Self::default() };
        let leaves = b.leaves.iter().filter_map(|&l| tree.leaves.get(l)).map(|l| LeafSchema {
            name: l.name.clone(),
            class: l.class.clone(),
            len: if l.class == "TLeafC" { 0 } else { l.len },
            unsigned: l.is_unsigned,
            count: l.count.and_then(|c| tree.leaves.get(c)).map(|c| c.name.clone()).unwrap_or_default(),
        });
        let element = b.element.as_ref().map(|e| ElementSchema {
            class: e.class_name.clone(),
            clones: e.clones_name.clone(),
            version: e.class_version,
            checksum: e.checksum,
            kind: e.kind,
            streamer: e.streamer_type,
        });
        Self {
            path: tree.path(branch),
            class: b.class.clone(),
            leaves: leaves.collect(),
            element,
            has_offsets: b.entry_offset_len != 0,
            generated: b.generated_offsets,
        }
    }

    /// For the branch of references, which is in no list of branches.
    pub fn references() -> Self {
        Self { path: "TRefTable (references)".to_owned(), class: "TBranchRef".to_owned(), ..Self::default() }
    }

    /// Whether it holds only numbers and texts, which mean the same anywhere in a basket.
    pub fn is_plain(&self) -> bool {
        self.class == "TBranch"
    }

    /// Whether its baskets must store where entries begin.
    pub fn has_offsets(&self) -> bool {
        self.has_offsets
    }

    /// A description of the difference to a second branch of the same name (including its baskets, if it has some);
    /// none when the baskets of both can be combined.
    pub fn difference(&self, other: &Self, has_baskets: bool) -> Option<String> {
        if self.class != other.class {
            return Some(format!("is a {}, not a {}", other.class, self.class));
        }
        for (a, b) in self.leaves.iter().zip(&other.leaves) {
            if a != b {
                return Some(format!("contains {}, not {}", b.text(), a.text()));
            }
        }
        if self.leaves.len() != other.leaves.len() {
            return Some(format!("has {} leaves, not {}", other.leaves.len(), self.leaves.len()));
        }
        match (&self.element, &other.element) {
            (Some(a), Some(b)) => {
                if a.class != b.class || a.clones != b.clones {
                    return Some(format!("contains {}, not {}", b.name(), a.name()));
                }
                // writers that do not compute the checksum leave it 0
                let checksum = a.checksum != b.checksum && a.checksum != 0 && b.checksum != 0;
                if a.version != b.version || checksum {
                    return Some(format!(
                        "contains version {} of class {} (checksum {:#x}), not {} ({:#x})",
                        b.version, a.class, b.checksum, a.version, a.checksum
                    ));
                }
                if a.kind != b.kind || a.streamer != b.streamer {
                    return Some("is split differently".to_owned());
                }
            }
            (None, None) => {}
            _ => return Some("is of a different kind".to_owned()),
        }
        // offsets of entries of one size may be stored or left out, see `Recoder::set_offsets`
        if has_baskets && self.generated != other.generated {
            return Some("stores entry offsets differently".to_owned());
        }
        None
    }
}

impl LeafSchema {
    fn text(&self) -> String {
        let mut out = format!("{} ({}{})", self.name, if self.unsigned { "unsigned " } else { "" }, self.class);
        if self.len > 1 {
            out.push_str(&format!(" of {} items", self.len));
        }
        if !self.count.is_empty() {
            out.push_str(&format!(" counted by {}", self.count));
        }
        out
    }
}

impl ElementSchema {
    fn name(&self) -> String {
        if self.clones.is_empty() { self.class.clone() } else { format!("{} of {}", self.class, self.clones) }
    }
}
