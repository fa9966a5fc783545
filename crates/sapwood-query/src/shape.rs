use sapwood_column::{Array, DType};
use sapwood_span::Error;

/// One level of nesting inside an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dim {
    /// Always this many items.
    Fixed(usize),
    /// Any number of items, different from entry to entry.
    Jagged,
}

/// What is below all nesting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Numbers of this type.
    Number(DType),
    /// Strings.
    Text,
    /// Records, which can only be counted.
    Record,
}

/// What a branch holds for one entry: `m[2][3]/F` is `[Fixed(2), Fixed(3)]` of `float32`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Nesting, outermost first; empty for one value per entry.
    pub dims: Vec<Dim>,
    /// What is nested.
    pub kind: Kind,
    /// Where values may be missing: for each option in the column, which has it as a list of one item or none, the number
    /// of dimensions above it. These lists are no dimensions.
    pub options: Vec<usize>,
}

impl Shape {
    /// Nested values, of which none is missing.
    pub fn new(dims: Vec<Dim>, kind: Kind) -> Self {
        Self { dims, kind, options: Vec::new() }
    }

    /// One number per entry.
    pub fn scalar(dtype: DType) -> Self {
        Self::new(Vec::new(), Kind::Number(dtype))
    }

    /// A list of numbers of any length per entry.
    pub fn list(dtype: DType) -> Self {
        Self::new(vec![Dim::Jagged], Kind::Number(dtype))
    }

    /// The shape of a column.
    pub fn of(array: &Array) -> Self {
        let mut dims = Vec::new();
        let mut array = array;
        loop {
            match array {
                Array::Flat(v) => return Self::new(dims, Kind::Number(v.dtype())),
                Array::Text { .. } => return Self::new(dims, Kind::Text),
                Array::Record { .. } => return Self::new(dims, Kind::Record),
                Array::Regular { size, content, .. } => {
                    dims.push(Dim::Fixed(*size));
                    array = content;
                }
                Array::List { content, .. } => {
                    dims.push(Dim::Jagged);
                    array = content;
                }
            }
        }
    }
}

/// A branch or member that holds objects, which no expression computes with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collection {
    /// Whether its members have branches of their own; the column then holds the number of items.
    pub is_split: bool,
    /// Whether it is a TClonesArray, whose size ROOT takes for a whole number, unlike that of a vector.
    pub is_clones: bool,
    /// Whether its items can be counted: it is neither one object nor a pointer.
    pub is_countable: bool,
    /// Some of the members, as they can be named.
    pub members: Vec<String>,
}

/// What a tree offers to expressions.
pub trait Schema {
    /// The shape of the branch of this name, or `None` where there is none that an expression can read.
    fn shape(&self, name: &str) -> Option<Shape>;

    /// All names, for suggestions when one is mistyped.
    fn names(&self) -> Vec<String>;

    /// Whether a name is that of a branch, a leaf or a member, and comes before an alias. Names that are found only with
    /// parts left out come behind.
    fn is_plain(&self, name: &str) -> bool {
        self.shape(name).is_some()
    }

    /// What is known of a name that stands for objects; `None` for others.
    fn collection(&self, name: &str) -> Option<Collection> {
        let _ = name;
        None
    }

    /// For a name that [`Schema::shape`] calls strings, the shape of the numbers of their characters, where they can be
    /// had one by one (`fType[0]`).
    fn characters(&self, name: &str) -> Option<Shape> {
        let _ = name;
        None
    }

    /// Why a name that the tree has cannot be read; asked where [`Schema::shape`] has none.
    fn refusal(&self, name: &str) -> Option<Error> {
        let _ = name;
        None
    }

    /// Whether ROOT gives the whole numbers of a branch bins a whole number wide; not where they are C++'s `long`.
    fn has_whole_bins(&self, name: &str) -> bool {
        let _ = name;
        true
    }

    /// The expression that the tree itself calls by this name (TTree::SetAlias); asked only where there is no branch.
    fn alias(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }

    /// Entries of the tree in its file; `None` where that is not known.
    fn entries(&self) -> Option<u64> {
        None
    }

    /// The C++ class of the object, or of the objects in a collection, of this name, and after it those of its bases;
    /// empty where it is no object.
    fn classes(&self, name: &str) -> Vec<String> {
        let _ = name;
        Vec::new()
    }

    /// Whether a name stands for one object at most in each entry, be it behind a pointer.
    fn is_single(&self, name: &str) -> bool {
        self.shape(name).is_some_and(|s| s.dims.is_empty())
    }

    /// The collections whose objects have branches of their own, among them one for this member.
    fn collections_with(&self, member: &str) -> Vec<String> {
        let _ = member;
        Vec::new()
    }

    /// Where else a name may be found that is no branch here.
    fn elsewhere(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }
}

impl Schema for [(String, Shape)] {
    fn shape(&self, name: &str) -> Option<Shape> {
        self.iter().find(|(n, _)| n == name).map(|(_, s)| s.clone())
    }

    fn names(&self) -> Vec<String> {
        self.iter().map(|(n, _)| n.clone()).collect()
    }
}

impl Schema for [(String, Array)] {
    fn shape(&self, name: &str) -> Option<Shape> {
        self.iter().find(|(n, _)| n == name).map(|(_, a)| Shape::of(a))
    }

    fn names(&self) -> Vec<String> {
        self.iter().map(|(n, _)| n.clone()).collect()
    }
}
