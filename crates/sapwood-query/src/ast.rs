//! What an expression says, before anything is known of the tree.

use crate::Aliases;
use crate::function::RANDOM;
use std::fmt;

/// A binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Or,
    And,
    BitOr,
    BitAnd,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    Add,
    Subtract,
    Remainder,
    ShiftLeft,
    ShiftRight,
    Multiply,
    Divide,
    Power,
}

impl Op {
    /// As it is written.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Or => "||",
            Self::And => "&&",
            Self::BitOr => "|",
            Self::BitAnd => "&",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Remainder => "%",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Power => "^",
        }
    }

    /// Whether the result is 0 or 1.
    pub(crate) fn is_logical(self) -> bool {
        use Op::*;
        matches!(self, Or | And | Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual)
    }

    /// Whether this is one of `< <= > >= == !=`.
    pub(crate) fn is_comparison(self) -> bool {
        self.is_logical() && !matches!(self, Op::Or | Op::And)
    }
}

/// What is known of a row without reading a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    /// `Entry$`
    Entry,
    /// `LocalEntry$`
    LocalEntry,
    /// `Entries$`
    Entries,
    /// `LocalEntries$`
    LocalEntries,
    /// `Iteration$`
    Iteration,
    /// `Length$` without an argument
    Length,
}

/// One pair of brackets behind a name.
#[derive(Clone, Debug)]
pub(crate) enum Index {
    /// `[]`
    All,
    /// `[expression]`
    At(Ast),
}

/// An expression and the byte of the text where it (or its operator) stands.
#[derive(Clone, Debug)]
pub(crate) struct Ast {
    pub kind: AstKind,
    pub at: usize,
    /// Levels below this one, bounded by the parser: walking an `Ast` cannot exhaust the stack.
    pub depth: usize,
}

#[derive(Clone, Debug)]
pub(crate) enum AstKind {
    Number(f64),
    /// A whole number beyond those that every double holds.
    Whole(i128),
    Text(String),
    /// A branch (or, when `plain`, perhaps a constant) with its indices.
    Name {
        name: String,
        indices: Vec<Index>,
        plain: bool,
    },
    /// `@v.size()`, `v.size()`, `s.length()`.
    Size {
        name: String,
        /// Said with `@`: of the container, not of what is in it.
        container: bool,
    },
    /// A method of an object, replaced by what it computes when the class is known.
    Method {
        /// Always a name.
        object: Box<Ast>,
        method: String,
        args: Vec<Ast>,
    },
    Special(Special),
    Negate(Box<Ast>),
    Not(Box<Ast>),
    Binary(Op, Box<Ast>, Box<Ast>),
    Select(Box<Ast>, Box<Ast>, Box<Ast>),
    Call(String, Vec<Ast>),
}

impl Ast {
    /// Calls `f` with this node and every node below it, in order of appearance.
    pub(crate) fn walk<'a>(&'a self, f: &mut impl FnMut(&'a Ast)) {
        f(self);
        match &self.kind {
            AstKind::Number(_) | AstKind::Whole(_) | AstKind::Text(_) | AstKind::Size { .. } | AstKind::Special(_) => {}
            AstKind::Name { indices, .. } => {
                for i in indices {
                    if let Index::At(a) = i {
                        a.walk(f);
                    }
                }
            }
            AstKind::Negate(a) | AstKind::Not(a) => a.walk(f),
            AstKind::Binary(_, a, b) => {
                a.walk(f);
                b.walk(f);
            }
            AstKind::Select(a, b, c) => {
                a.walk(f);
                b.walk(f);
                c.walk(f);
            }
            AstKind::Method { object, args, .. } => {
                object.walk(f);
                args.iter().for_each(|a| a.walk(f));
            }
            AstKind::Call(_, args) => args.iter().for_each(|a| a.walk(f)),
        }
    }
}

/// A parsed expression in the language of TTree::Draw.
///
/// It knows nothing of a tree yet; [`crate::Query`] binds it to one.
#[derive(Clone)]
pub struct Expr {
    pub(crate) text: String,
    pub(crate) ast: Ast,
    pub(crate) aliases: Aliases,
}

impl Expr {
    /// The same expression with these aliases, besides those of the tree it will be bound to.
    #[must_use]
    pub fn with_aliases(self, aliases: &Aliases) -> Self {
        Self { aliases: aliases.clone(), ..self }
    }

    /// The text this was parsed from, trimmed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The branch names it mentions, each once, in order of appearance.
    ///
    /// The constants `pi`, `true` and `false`, and `rndm`, are not among them, although [`crate::Query`] prefers
    /// a branch of that name where the tree has one: ask [`crate::Query::names`] for what is read.
    pub fn names(&self) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        self.ast.walk(&mut |a| {
            let name = match &a.kind {
                AstKind::Name { name, plain, .. } if !(*plain && crate::function::is_reserved(name)) => name,
                AstKind::Size { name, .. } => name,
                _ => return,
            };
            if !out.contains(name) {
                out.push(name.clone());
            }
        });
        out
    }

    /// Whether a value depends on which rows an entry has: then it depends on the expressions beside it, which make them.
    pub(crate) fn counts_rows(&self) -> bool {
        self.any(|a| match &a.kind {
            AstKind::Special(s) => matches!(s, Special::Iteration | Special::Length),
            // a random number is another one in each row
            AstKind::Call(name, _) => matches!(name.as_str(), "Length$" | "Alt$" | RANDOM),
            AstKind::Name { name, plain, .. } => *plain && name == RANDOM,
            _ => false,
        })
    }

    /// Whether it asks for the number of all entries.
    pub(crate) fn asks_total(&self) -> bool {
        self.any(|a| matches!(a.kind, AstKind::Special(Special::Entries)))
    }

    /// The parts joined by `&&` in which none of these names occurs; `None` where there is no such part.
    pub(crate) fn without(&self, is_left_out: &impl Fn(&str) -> bool) -> Option<Expr> {
        let ast = without(&self.ast, is_left_out)?;
        Some(Expr { text: self.text.clone(), ast, aliases: self.aliases.clone() })
    }

    fn any(&self, is: impl Fn(&Ast) -> bool) -> bool {
        let mut found = false;
        self.ast.walk(&mut |a| found |= is(a));
        found
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expr({:?})", self.text)
    }
}

fn without(ast: &Ast, is_left_out: &impl Fn(&str) -> bool) -> Option<Ast> {
    if let AstKind::Binary(Op::And, a, b) = &ast.kind {
        return match (without(a, is_left_out), without(b, is_left_out)) {
            (Some(a), Some(b)) => Some(with_depth(AstKind::Binary(Op::And, Box::new(a), Box::new(b)), ast.at)),
            (a, b) => a.or(b),
        };
    }
    let mut found = false;
    ast.walk(&mut |a| {
        found |= match &a.kind {
            AstKind::Name { name, .. } | AstKind::Size { name, .. } => is_left_out(name),
            _ => false,
        }
    });
    (!found).then(|| ast.clone())
}

/// A part with the height that follows from those below it.
pub(crate) fn with_depth(kind: AstKind, at: usize) -> Ast {
    let below = match &kind {
        AstKind::Number(_) | AstKind::Whole(_) | AstKind::Text(_) | AstKind::Size { .. } | AstKind::Special(_) => None,
        AstKind::Name { indices, .. } => {
            indices.iter().filter_map(|i| if let Index::At(a) = i { Some(a.depth) } else { None }).max()
        }
        AstKind::Negate(a) | AstKind::Not(a) => Some(a.depth),
        AstKind::Binary(_, a, b) => Some(a.depth.max(b.depth)),
        AstKind::Select(a, b, c) => Some(a.depth.max(b.depth).max(c.depth)),
        AstKind::Method { object, args, .. } => args.iter().chain([object.as_ref()]).map(|a| a.depth).max(),
        AstKind::Call(_, args) => args.iter().map(|a| a.depth).max(),
    };
    Ast { kind, at, depth: below.map_or(0, |d| d + 1) }
}
