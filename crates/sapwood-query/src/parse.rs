//! Words to expressions, with ROOT's precedence.
//!
//! ROOT 6.40 differs from C (all measured): the shifts and `%` bind tighter than `+` and looser
//! than `*`, in the order `+ -`, unary minus, `%`, `<< >>`, `* /`, `^`; `%` and the shifts group
//! from the right (`17%10%4` is 1); `^` and `**` are the power, group from the left
//! (`2^3^2` is 64) and bind tighter than unary minus. Comparisons that follow each other
//! (`0<x<5`) mean three different things in ROOT, C and Python, and are refused.

use crate::Aliases;
use crate::ast::{Ast, AstKind, Expr, Index, Op, Special};
use crate::function::callable_names;
use crate::text::{error_at, kind_at, suggestion};
use crate::token::{Token, tokens};
use sapwood_span::{Error, ErrorKind, Result};

/// Longest text of an expression, in bytes.
const MAX_TEXT: usize = 1 << 16;
/// Brackets and prefixes inside each other.
const MAX_NESTED: usize = 200;
/// Height of the tree: also a sum of that many terms.
pub(crate) const MAX_HEIGHT: usize = 1000;

const COMPARISON: u8 = 6;
const MINUS: u8 = 8;
const NOT: u8 = 13;

/// What stands before a member of what a method returns (`p4.Vect().fX`), in place of a method's name.
pub(crate) const MEMBER_OF_RESULT: &str = "member ";

/// Binding power and whether the operator groups from the right.
fn binary(sign: &str) -> Option<(Op, u8, bool)> {
    Some(match sign {
        "||" => (Op::Or, 2, false),
        "&&" => (Op::And, 3, false),
        "|" => (Op::BitOr, 4, false),
        "&" => (Op::BitAnd, 5, false),
        "<" => (Op::Less, COMPARISON, false),
        "<=" => (Op::LessEqual, COMPARISON, false),
        ">" => (Op::Greater, COMPARISON, false),
        ">=" => (Op::GreaterEqual, COMPARISON, false),
        "==" => (Op::Equal, COMPARISON, false),
        "!=" => (Op::NotEqual, COMPARISON, false),
        "+" => (Op::Add, 7, false),
        "-" => (Op::Subtract, 7, false),
        "%" => (Op::Remainder, 9, true),
        "<<" => (Op::ShiftLeft, 10, true),
        ">>" => (Op::ShiftRight, 10, true),
        "*" => (Op::Multiply, 11, false),
        "/" => (Op::Divide, 11, false),
        "^" | "**" => (Op::Power, 12, false),
        _ => return None,
    })
}

const SPECIALS: [(&str, Special); 6] = [
    ("Entry$", Special::Entry),
    ("LocalEntry$", Special::LocalEntry),
    ("Entries$", Special::Entries),
    ("LocalEntries$", Special::LocalEntries),
    ("Iteration$", Special::Iteration),
    ("Length$", Special::Length),
];

/// What a name such as `Entry$` stands for.
pub(crate) fn special(name: &str) -> Option<Special> {
    SPECIALS.iter().find(|(known, _)| *known == name).map(|(_, special)| *special)
}

/// The container of `v.size`, `@v.size`, `v@.size`, `v.@size`, `event.@v.size`, `s.length`.
fn size_of(name: &str) -> Option<String> {
    let stem = [".@size", "@.size", ".size", ".length"].iter().find_map(|end| name.strip_suffix(end))?;
    Some(stem.replace('@', ""))
}

/// The object and the method of `p4.fP.Mag` and `p4->Pt`; the object is empty behind brackets (`.Pt`).
fn method_of(name: &str) -> Option<(String, String)> {
    let (object, method) = match name.rsplit_once("->") {
        Some(parts) if !parts.1.contains('.') => parts,
        _ => name.rsplit_once('.')?,
    };
    Some((object.to_owned(), method.to_owned()))
}

impl Expr {
    /// Parses one expression: `sqrt(px**2+py**2)`.
    ///
    /// # Errors
    /// `Invalid`, showing the text with a caret below the place that makes no sense.
    pub fn parse(text: &str) -> Result<Self> {
        parse(text)
    }

    /// The branch or leaf of a name, which is put in backticks where it is no word.
    ///
    /// # Errors
    /// As [`Expr::parse`]: for names that backticks cannot hold.
    pub fn of_name(name: &str) -> Result<Self> {
        let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
        if is_word { parse(name) } else { parse(&format!("`{name}`")) }
    }

    /// Parses several expressions separated by colons, as TTree::Draw and TTree::Scan take them:
    /// `x:y:c?1:2` are three.
    ///
    /// # Errors
    /// As [`Expr::parse`].
    pub fn parse_list(text: &str) -> Result<Vec<Self>> {
        parse_list(text)
    }

    /// Parses several expressions separated by colons or commas: the columns of a table.
    ///
    /// # Errors
    /// As [`Expr::parse`].
    pub fn parse_columns(text: &str) -> Result<Vec<Self>> {
        parse_separated(text, &[":", ","])
    }

    /// Parses a selection; a blank one is none, as TTree::Draw has it.
    ///
    /// # Errors
    /// As [`Expr::parse`].
    pub fn selection(text: &str) -> Result<Option<Self>> {
        if text.trim().is_empty() { Ok(None) } else { Self::parse(text).map(Some) }
    }
}

pub(crate) fn parse(text: &str) -> Result<Expr> {
    let mut p = Parser::new(text)?;
    let e = p.expression()?;
    match p.peek() {
        Token::End => Ok(e),
        _ => Err(p.unexpected("an operator")),
    }
}

pub(crate) fn parse_list(text: &str) -> Result<Vec<Expr>> {
    parse_separated(text, &[":"])
}

fn parse_separated(text: &str, separators: &[&'static str]) -> Result<Vec<Expr>> {
    let mut p = Parser::new(text)?;
    let mut out = vec![p.expression()?];
    while separators.iter().any(|sign| p.take(sign)) {
        out.push(p.expression()?);
    }
    match p.peek() {
        Token::End => Ok(out),
        _ => Err(p.unexpected("an operator or ':'")),
    }
}

struct Parser<'t> {
    text: &'t str,
    words: Vec<(Token, usize)>,
    next: usize,
    nested: usize,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Result<Self> {
        if text.len() > MAX_TEXT {
            return Err(Error::invalid(format!("the expression is {} bytes long", text.len()))
                .with_remedy(format!("the limit is {MAX_TEXT} bytes")));
        }
        Ok(Self { text, words: tokens(text)?, next: 0, nested: 0 })
    }

    fn expression(&mut self) -> Result<Expr> {
        let from = self.at();
        let ast = self.binary(0)?;
        // Positions inside the tree are bytes of the whole text; keep it for the carets.
        let own = self.text[from..self.at()].trim();
        let mut ast = ast;
        shift(&mut ast, from);
        Ok(Expr { text: own.to_string(), ast, aliases: Aliases::default() })
    }

    fn peek(&self) -> &Token {
        self.words.get(self.next).map_or(&Token::End, |w| &w.0)
    }

    fn at(&self) -> usize {
        self.words.get(self.next).map_or(self.text.len(), |w| w.1)
    }

    fn take(&mut self, sign: &'static str) -> bool {
        let found = *self.peek() == Token::Sign(sign);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &'static str) -> Result<()> {
        if self.take(sign) { Ok(()) } else { Err(self.unexpected(&format!("'{sign}'"))) }
    }

    fn unexpected(&self, wanted: &str) -> Error {
        let message = match self.peek() {
            Token::End => format!("unexpected end of expression: expected {wanted}"),
            Token::Name(n) if n == "and" => "write && for 'and'".to_string(),
            Token::Name(n) if n == "or" => "write || for 'or'".to_string(),
            Token::Name(n) if n == "not" => "write ! for 'not'".to_string(),
            Token::Sign(":") => "only one expression is allowed here; ':' starts another".to_string(),
            Token::Sign(">" | ">=") if self.follows("<") => "write != for 'not equal'".to_string(),
            _ if self.follows_cast() => {
                "C++ casts are not supported; use int(x), which drops the fractional part".to_string()
            }
            _ => format!("expected {wanted}"),
        };
        error_at(self.text, self.at(), &message)
    }

    /// Whether this sign stands directly in front.
    fn follows(&self, sign: &str) -> bool {
        self.text.get(..self.at()).is_some_and(|before| before.ends_with(sign))
    }

    /// Whether a type of C++ in parentheses stands in front.
    fn follows_cast(&self) -> bool {
        let before = self.text.get(..self.at()).and_then(|before| before.trim_end().strip_suffix(')'));
        let inside = before.and_then(|before| before.rsplit_once('(')).map(|(_, inside)| inside.trim());
        let words = ["int", "float", "double", "long", "short", "char", "bool", "unsigned"];
        inside.is_some_and(|inside| {
            let inside = inside.strip_suffix("_t").map_or_else(|| inside.to_owned(), str::to_lowercase);
            !inside.is_empty() && inside.split(' ').all(|word| words.contains(&word))
        })
    }

    fn node(&self, at: usize, depth: usize, kind: AstKind) -> Result<Ast> {
        self.check_height(at, depth)?;
        Ok(Ast { kind, at, depth })
    }

    fn check_height(&self, at: usize, depth: usize) -> Result<()> {
        if depth > MAX_HEIGHT {
            return Err(error_at(self.text, at, &format!("the expression is more than {MAX_HEIGHT} operators high")));
        }
        Ok(())
    }

    /// An expression whose operators all bind tighter than `power`.
    fn binary(&mut self, power: u8) -> Result<Ast> {
        self.nested += 1;
        if self.nested > MAX_NESTED {
            return Err(error_at(self.text, self.at(), &format!("brackets are nested more than {MAX_NESTED} deep")));
        }
        let mut left = self.prefix(power)?;
        loop {
            let at = self.at();
            let Token::Sign(sign) = *self.peek() else { break };
            if sign == "?" && power < 1 {
                self.next += 1;
                let yes = self.binary(0)?;
                self.expect(":")?;
                let no = self.binary(0)?;
                let depth = 1 + left.depth.max(yes.depth).max(no.depth);
                left = self.node(at, depth, AstKind::Select(Box::new(left), Box::new(yes), Box::new(no)))?;
                continue;
            }
            let Some((op, strength, from_right)) = binary(sign) else { break };
            if strength <= power {
                break;
            }
            self.next += 1;
            let right = self.binary(if from_right { strength - 1 } else { strength })?;
            let depth = 1 + left.depth.max(right.depth);
            left = self.node(at, depth, AstKind::Binary(op, Box::new(left), Box::new(right)))?;
            if op.is_comparison()
                && matches!(self.peek(), Token::Sign(s) if binary(s).is_some_and(|b| b.0.is_comparison()))
            {
                let message = "comparisons cannot be chained: write a<b && b<c, or use parentheses";
                return Err(error_at(self.text, self.at(), message));
            }
        }
        self.nested -= 1;
        Ok(left)
    }

    fn prefix(&mut self, power: u8) -> Result<Ast> {
        let at = self.at();
        if self.take("-") {
            let inner = self.binary(MINUS.max(power))?;
            return self.node(at, inner.depth + 1, AstKind::Negate(Box::new(inner)));
        }
        if self.take("+") {
            return self.binary(MINUS.max(power));
        }
        if self.take("!") {
            let inner = self.binary(NOT)?;
            return self.node(at, inner.depth + 1, AstKind::Not(Box::new(inner)));
        }
        self.primary()
    }

    fn primary(&mut self) -> Result<Ast> {
        let at = self.at();
        let token = self.peek().clone();
        match token {
            Token::Number(value) => {
                self.next += 1;
                self.node(at, 0, AstKind::Number(value))
            }
            Token::Whole(value) => {
                self.next += 1;
                self.node(at, 0, AstKind::Whole(value))
            }
            Token::Text(s) => {
                self.next += 1;
                self.node(at, 0, AstKind::Text(s))
            }
            Token::Sign("(") => {
                self.next += 1;
                let mut inner = self.binary(0)?;
                self.expect(")")?;
                // `(x)[0]` is `x[0]`.
                if *self.peek() == Token::Sign("[") && matches!(inner.kind, AstKind::Name { .. }) {
                    self.indices(&mut inner)?;
                }
                Ok(inner)
            }
            Token::Quoted(name) => {
                self.next += 1;
                self.branch(at, name, false)
            }
            Token::Name(name) => {
                self.next += 1;
                if *self.peek() != Token::Sign("(") {
                    return match special(&name) {
                        Some(s) => self.node(at, 0, AstKind::Special(s)),
                        None if name.ends_with('$') => Err(self.without_arguments(at, &name)),
                        None => self.branch(at, name, true),
                    };
                }
                self.next += 1;
                let args = self.arguments()?;
                if args.is_empty()
                    && let Some(container) = size_of(&name)
                {
                    let size = AstKind::Size { name: container, container: name.contains('@') };
                    return self.node(at, 0, size);
                }
                if let Some((object, method)) = method_of(&name) {
                    let object = AstKind::Name { name: object, indices: Vec::new(), plain: false };
                    let object = self.node(at, 0, object)?;
                    let called = self.method(object, method, args)?;
                    return self.of_result(called);
                }
                let depth = 1 + args.iter().map(|a| a.depth).max().unwrap_or(0);
                self.node(at, depth, AstKind::Call(name, args))
            }
            _ => Err(self.unexpected("a number, a name or '('")),
        }
    }

    /// What is wrong with a name such as `Sum$` or `Foo$` that no argument follows.
    fn without_arguments(&self, at: usize, name: &str) -> Error {
        if callable_names().any(|known| known == name) {
            return error_at(self.text, self.at(), &format!("{name} requires its argument in parentheses"));
        }
        let candidates = callable_names().chain(SPECIALS.iter().map(|(known, _)| *known));
        let near = suggestion(name, candidates.filter(|known| known.ends_with('$')));
        kind_at(ErrorKind::NotFound, self.text, at, &format!("{name} is unknown{near}"))
    }

    fn method(&self, object: Ast, method: String, args: Vec<Ast>) -> Result<Ast> {
        let depth = 1 + args.iter().map(|a| a.depth).max().unwrap_or(0).max(object.depth);
        self.node(object.at, depth, AstKind::Method { object: Box::new(object), method, args })
    }

    /// Methods and members of what a method returns: `p4.Vect().Mag()`.
    fn of_result(&mut self, mut called: Ast) -> Result<Ast> {
        while let Token::Member(member) = self.peek().clone() {
            self.next += 1;
            if !self.take("(") {
                called = self.method(called, format!("{MEMBER_OF_RESULT}{member}"), Vec::new())?;
                continue;
            }
            let args = self.arguments()?;
            let (inner, method) = method_of(&member).unwrap_or_default();
            if !inner.is_empty() {
                called = self.method(called, format!("{MEMBER_OF_RESULT}{inner}"), Vec::new())?;
            }
            called = self.method(called, method, args)?;
        }
        Ok(called)
    }

    /// What stands between parentheses, the opening one already taken.
    fn arguments(&mut self) -> Result<Vec<Ast>> {
        let mut args = Vec::new();
        if self.take(")") {
            return Ok(args);
        }
        loop {
            args.push(self.binary(0)?);
            if !self.take(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(args)
    }

    fn branch(&mut self, at: usize, name: String, plain: bool) -> Result<Ast> {
        let mut node = self.node(at, 0, AstKind::Name { name, indices: Vec::new(), plain })?;
        self.indices(&mut node)?;
        Ok(node)
    }

    /// Brackets behind a name, and members behind the brackets: `jets[0].pt` is `jets.pt[0]`.
    fn indices(&mut self, node: &mut Ast) -> Result<()> {
        let AstKind::Name { name, indices, .. } = &mut node.kind else { return Ok(()) };
        loop {
            if self.take("[") {
                if self.take("]") {
                    indices.push(Index::All);
                    continue;
                }
                let index = self.binary(0)?;
                node.depth = node.depth.max(index.depth + 1);
                indices.push(Index::At(index));
                self.expect("]")?;
            } else if let Token::Member(member) = self.peek().clone() {
                if matches!(self.words.get(self.next + 1), Some((Token::Sign("("), _))) {
                    let (inner, method) = method_of(&member).unwrap_or_default();
                    if matches!(method.as_str(), "size" | "length") {
                        let message = format!(
                            "{member}() of one element cannot be called; @{name}.size() and Length$({name}) exist"
                        );
                        return Err(error_at(self.text, self.at(), &message));
                    }
                    name.push_str(&inner);
                    self.next += 2;
                    let args = self.arguments()?;
                    let object = node.clone();
                    let called = self.method(object, method, args)?;
                    *node = self.of_result(called)?;
                    return Ok(());
                }
                self.next += 1;
                name.push_str(&member);
            } else {
                break;
            }
        }
        self.check_height(node.at, node.depth)
    }
}

/// Moves every position by `from` bytes to the left, so that it counts from the expression's own text.
fn shift(ast: &mut Ast, from: usize) {
    ast.at = ast.at.saturating_sub(from);
    match &mut ast.kind {
        AstKind::Number(_) | AstKind::Whole(_) | AstKind::Text(_) | AstKind::Size { .. } | AstKind::Special(_) => {}
        AstKind::Name { indices, .. } => {
            for i in indices {
                if let Index::At(a) = i {
                    shift(a, from);
                }
            }
        }
        AstKind::Negate(a) | AstKind::Not(a) => shift(a, from),
        AstKind::Binary(_, a, b) => {
            shift(a, from);
            shift(b, from);
        }
        AstKind::Select(a, b, c) => {
            shift(a, from);
            shift(b, from);
            shift(c, from);
        }
        AstKind::Method { object, args, .. } => {
            shift(object, from);
            args.iter_mut().for_each(|a| shift(a, from));
        }
        AstKind::Call(_, args) => args.iter_mut().for_each(|a| shift(a, from)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        parse(text).unwrap_err().what().to_string()
    }

    #[test]
    fn errors_point_at_the_place() {
        assert_eq!(
            message("1 + "),
            "unexpected end of expression: expected a number, a name or '(' (column 5)\n    1 + \n        ^"
        );
        assert!(message("a and b").starts_with("write && for 'and' (column 3)"));
        assert!(message("0<x<5").starts_with("comparisons cannot be chained"));
        assert!(message("x = 3").contains("compares with =="));
        assert!(message("f(x").contains("')'"));
        assert!(message("Sum$").contains("parentheses"));
    }

    #[test]
    fn names_in_order_of_appearance() {
        let e = parse("Sum$(a.b[i]>2)*pi + `odd name` + @v.size() - a.b[0] + Length$(x)").unwrap();
        assert_eq!(e.names(), ["a.b", "i", "odd name", "v", "x"]);
        assert_eq!(parse("jets[0].pt").unwrap().names(), ["jets.pt"]);
    }

    #[test]
    fn lists_split_at_colons_outside_choices() {
        let texts: Vec<String> =
            parse_list("x : c ? 1 : 2 :A::y").unwrap().iter().map(|e| e.text().to_string()).collect();
        assert_eq!(texts, ["x", "c ? 1 : 2", "A::y"]);
    }

    #[test]
    fn nesting_is_bounded() {
        for open in ["(", "-", "!", "x[", "sin(", "1+(", "1?"] {
            assert!(parse(&open.repeat(20_000)).is_err());
        }
        assert!(parse(&format!("1{}", "+1".repeat(20_000))).is_err());
        assert!(parse(&format!("1{}", "+1".repeat(900))).is_ok());
        assert!(parse(&"(".repeat(1 << 17)).is_err());
    }

    #[test]
    fn colons_and_commas_separate_columns() {
        let texts =
            |s: &str| -> Vec<String> { Expr::parse_columns(s).unwrap().iter().map(|e| e.text().to_owned()).collect() };
        assert_eq!(texts("a:b, c"), ["a", "b", "c"]);
        assert_eq!(texts("max(a,b):c[0]"), ["max(a,b)", "c[0]"]);
        assert_eq!(texts("a==\"x,y\",b"), ["a==\"x,y\"", "b"]);
        assert_eq!(texts("c?1:2,d"), ["c?1:2", "d"]);
        assert!(Expr::parse_columns("a,,b").is_err());
        assert!(Expr::parse_columns("").is_err());
        assert!(Expr::parse_list("a,b").is_err());
    }
}
