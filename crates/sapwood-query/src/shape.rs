use sapwood_column::{Array, DType};

/// One level of nesting inside an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dim {
    /// Always this many items.
    Fixed(usize),
    /// Any number of items, different from entry to entry.
    Jagged,
}

/// What lies below all nesting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Numbers of this type.
    Number(DType),
    /// Strings.
    Text,
}

/// What a branch holds for one entry: `m[2][3]/F` is `[Fixed(2), Fixed(3)]` of `float32`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Nesting, outermost first; empty for one value per entry.
    pub dims: Vec<Dim>,
    /// What is nested.
    pub kind: Kind,
}

impl Shape {
    /// One number per entry.
    pub fn scalar(dtype: DType) -> Self {
        Self { dims: Vec::new(), kind: Kind::Number(dtype) }
    }

    /// A list of numbers of any length per entry.
    pub fn list(dtype: DType) -> Self {
        Self { dims: vec![Dim::Jagged], kind: Kind::Number(dtype) }
    }

    /// The shape of a column; `None` for records, which no expression reads.
    pub fn of(array: &Array) -> Option<Self> {
        let mut dims = Vec::new();
        let mut array = array;
        loop {
            match array {
                Array::Flat(v) => return Some(Self { dims, kind: Kind::Number(v.dtype()) }),
                Array::Text { .. } => return Some(Self { dims, kind: Kind::Text }),
                Array::Record { .. } => return None,
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

/// What a tree offers to expressions.
pub trait Schema {
    /// The shape of the branch of this name, or `None` where there is none that an expression can read.
    fn shape(&self, name: &str) -> Option<Shape>;

    /// All names, for suggestions when one is mistyped.
    fn names(&self) -> Vec<String>;

    /// The expression that the tree itself calls by this name (TTree::SetAlias); asked only where there is no branch.
    fn alias(&self, name: &str) -> Option<String> {
        let _ = name;
        None
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
        self.iter().find(|(n, _)| n == name).and_then(|(_, a)| Shape::of(a))
    }

    fn names(&self) -> Vec<String> {
        self.iter().map(|(n, _)| n.clone()).collect()
    }
}
