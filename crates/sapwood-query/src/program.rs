//! A query bound to a tree: what the evaluator walks, block by block.

use crate::ast::Op;
use crate::kernel::Function;
use crate::number::truth;
use crate::shape::Shape;

/// How often a value changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Never.
    Constant,
    /// Once per entry.
    Entry,
    /// With every row, that is every instance of an entry.
    Row,
}

/// A number computed from others.
#[derive(Clone)]
pub(crate) struct Node {
    pub kind: NodeKind,
    pub level: Level,
    /// Whether bins of an automatic histogram are a whole number wide. As in ROOT for a branch of whole numbers by
    /// itself and for what counts (`Entry$`, `Length$` …), not for what is computed from such.
    pub integer: bool,
}

impl Node {
    /// `Alt$` has no instances of its own: it is one value per entry, that of the first instance, unless it stands in one
    /// expression with a list, or an item of one (`x[0]`), whose rows it follows. So TTree::Draw has it. `accesses` are
    /// those of the node's space.
    pub(crate) fn with_alternatives_by_row(mut self, accesses: &[Access]) -> Self {
        if self.level == Level::Row || self.has_items(accesses) {
            self.alternatives_by_row();
        }
        self
    }

    /// Whether it names a list or array, outside of functions over instances.
    fn has_items(&self, accesses: &[Access]) -> bool {
        let is_item = |access: &usize| accesses.get(*access).is_some_and(|a| !a.steps.is_empty());
        let is_text_item = |text: &TextNode| matches!(text, TextNode::Access(access) if is_item(access));
        match &self.kind {
            NodeKind::Access(access) => is_item(access),
            NodeKind::TextEqual { left, right, .. } | NodeKind::TextPair(_, left, right) => {
                is_text_item(left) || is_text_item(right)
            }
            NodeKind::TextSize(text) => is_text_item(text),
            NodeKind::Negate(a) | NodeKind::Not(a) | NodeKind::Exact(a) => a.has_items(accesses),
            NodeKind::Binary(_, a, b) => a.has_items(accesses) || b.has_items(accesses),
            NodeKind::Select(c, a, b) => [c, a, b].iter().any(|node| node.has_items(accesses)),
            NodeKind::Call(_, args) => args.iter().any(|node| node.has_items(accesses)),
            NodeKind::Alternative { otherwise, .. } => otherwise.has_items(accesses),
            _ => false,
        }
    }

    /// Makes them one value per row; whether there is one.
    pub(crate) fn alternatives_by_row(&mut self) -> bool {
        let by_row = match &mut self.kind {
            NodeKind::Alternative { otherwise, .. } => {
                otherwise.alternatives_by_row();
                true
            }
            NodeKind::Negate(a) | NodeKind::Not(a) => a.alternatives_by_row(),
            NodeKind::Binary(_, a, b) => a.alternatives_by_row() | b.alternatives_by_row(),
            NodeKind::Select(c, a, b) => c.alternatives_by_row() | a.alternatives_by_row() | b.alternatives_by_row(),
            NodeKind::Call(_, args) => args.iter_mut().fold(false, |any, a| a.alternatives_by_row() | any),
            _ => false,
        };
        if by_row {
            self.level = Level::Row;
        }
        by_row
    }
}

#[derive(Clone)]
pub(crate) enum NodeKind {
    Number(f64),
    /// A whole number that no double is.
    Whole(i128),
    /// What is computed with 128 bits, because doubles do not hold it or what it is made of.
    Exact(Box<Node>),
    /// Number of the entry in the tree or chain.
    EntryNumber,
    /// Number of the entry in its file.
    LocalEntry,
    /// Entries of the tree or chain.
    TotalEntries,
    /// Number of the row in its entry.
    Iteration,
    /// A random number of this sequence, at this place of the query.
    Random {
        seed: u64,
        place: u64,
    },
    /// Rows of the entry.
    RowCount,
    /// The access of this number in the node's space.
    Access(usize),
    /// Items of this column (the outermost level), or bytes of a text.
    Size(usize),
    Negate(Box<Node>),
    Not(Box<Node>),
    Binary(Op, Box<Node>, Box<Node>),
    Select(Box<Node>, Box<Node>, Box<Node>),
    Call(&'static Function, Vec<Node>),
    Aggregate(Box<Aggregate>),
    /// The value of the same instance in another space, or the alternative where there is none.
    Alternative {
        space: usize,
        body: Box<Node>,
        otherwise: Box<Node>,
    },
    TextEqual {
        equal: bool,
        left: TextNode,
        right: TextNode,
    },
    /// What two strings have to do with each other.
    TextPair(TextPair, TextNode, TextNode),
    /// Bytes of a string.
    TextSize(TextNode),
}

/// `Sum$` and its kin: the rows of a space of their own, made one number per entry.
#[derive(Clone)]
pub(crate) struct Aggregate {
    pub fold: Fold,
    pub space: usize,
    pub body: Node,
    pub condition: Option<Node>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fold {
    Sum,
    Max,
    Min,
    Length,
}

/// What is asked of two strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextPair {
    /// Whether the second occurs in the first.
    Contains,
    /// Whether the first begins with the second.
    BeginsWith,
    /// Whether the first ends with the second.
    EndsWith,
    /// The byte of the first where the second begins, or -1.
    Index,
    /// The byte of the first that is the first of any of those of the second, or -1.
    First,
    /// -1, 0 or 1: whether the first comes before the second.
    Order,
}

impl TextPair {
    /// The functions of expressions that ask it: one that can be typed, and those that methods use, which cannot.
    pub(crate) fn of(function: &str) -> Option<Self> {
        Some(match function {
            "strstr" => Self::Contains,
            BEGINS_WITH => Self::BeginsWith,
            ENDS_WITH => Self::EndsWith,
            INDEX => Self::Index,
            FIRST => Self::First,
            ORDER => Self::Order,
            _ => return None,
        })
    }

    /// The answer.
    pub(crate) fn answer(self, text: &[u8], other: &[u8]) -> f64 {
        let place = |at: Option<usize>| at.map_or(-1.0, |at| at as f64);
        let position = || match other.len() {
            0 => Some(0),
            n => text.windows(n).position(|w| w == other),
        };
        match self {
            Self::Contains => truth(position().is_some()),
            Self::BeginsWith => truth(text.starts_with(other)),
            Self::EndsWith => truth(text.ends_with(other)),
            Self::Index => place(position()),
            Self::First => place(text.iter().position(|letter| other.contains(letter))),
            Self::Order => f64::from(text.cmp(other) as i8),
        }
    }

    /// The answer where one of them does not exist: as with numbers that do not, a condition does not hold.
    pub(crate) fn answer_of_none(self) -> f64 {
        match self {
            Self::Contains | Self::BeginsWith | Self::EndsWith => 0.0,
            Self::Index | Self::First | Self::Order => f64::NAN,
        }
    }

    /// The least and the greatest answer.
    pub(crate) fn bounds(self) -> (i128, i128) {
        match self {
            Self::Contains | Self::BeginsWith | Self::EndsWith => (0, 1),
            Self::Index | Self::First => (-1, i128::from(u32::MAX)),
            Self::Order => (-1, 1),
        }
    }
}

pub(crate) const BEGINS_WITH: &str = "begins with";
pub(crate) const ENDS_WITH: &str = "ends with";
pub(crate) const INDEX: &str = "index of";
pub(crate) const FIRST: &str = "first of";
pub(crate) const ORDER: &str = "order of";

#[derive(Clone)]
pub(crate) enum TextNode {
    Literal(Vec<u8>),
    Access(usize),
}

/// What happens at one level of nesting of an accessed column.
#[derive(Clone)]
pub(crate) enum Step {
    /// The items become instances: the number of the space's dimension.
    Free(usize),
    /// One item; where it is missing, there is no row.
    At(usize),
    /// One item, computed; where it is missing, the value is NaN.
    Computed(Box<Node>),
}

/// One mention of a branch.
#[derive(Clone)]
pub(crate) struct Access {
    /// Number of the column in the query.
    pub column: usize,
    /// One step per level of nesting.
    pub steps: Vec<Step>,
    pub level: Level,
}

impl Access {
    /// Whether an index has to be computed.
    pub(crate) fn is_computed(&self) -> bool {
        self.steps.iter().any(|s| matches!(s, Step::Computed(_)))
    }

    /// Whether both are the same values.
    pub(crate) fn is_same(&self, other: &Access) -> bool {
        let same_step = |(a, b): (&Step, &Step)| match (a, b) {
            (Step::Free(a), Step::Free(b)) | (Step::At(a), Step::At(b)) => a == b,
            _ => false,
        };
        self.column == other.column
            && self.level == other.level
            && self.steps.len() == other.steps.len()
            && self.steps.iter().zip(&other.steps).all(same_step)
    }

    /// Whether every level becomes instances, so that the rows can be the column's own items.
    pub(crate) fn is_whole(&self) -> bool {
        self.steps.iter().all(|s| matches!(s, Step::Free(_)))
    }
}

/// Instances that run together: those of the query, or those inside one `Sum$`.
#[derive(Clone, Default)]
pub(crate) struct Space {
    pub accesses: Vec<Access>,
    /// Nesting of its instances.
    pub dims: usize,
}

/// What an expression gives.
#[derive(Clone)]
pub(crate) enum Output {
    /// Doubles.
    Computed,
    /// The column itself, in its own type.
    Plain(usize),
    /// A string.
    Text(TextNode),
}

#[derive(Clone)]
pub(crate) struct Program {
    pub columns: Vec<(String, Shape)>,
    /// The first is the query's own: that of the selection, and of the outputs unless they run apart.
    pub spaces: Vec<Space>,
    pub outputs: Vec<(Output, Node)>,
    pub cut: Option<Node>,
    /// The space of each output, where they do not run together.
    pub apart: Option<Vec<usize>>,
    /// Whether a row in which an output has no value is one nevertheless, as in TTree::Scan.
    pub has_blanks: bool,
}
