//! Names that a tree itself gives to expressions (TTree::SetAlias), put in where they are used.
//!
//! As in ROOT 6.40 (measured): a branch of the name comes first and a constant such as `pi` last; what an alias stands
//! for is one value, as if it were in parentheses; an index or a member may follow only where it stands for a name
//! (`mm[2]` with `mm` for `m[1]` is `m[1][2]`).

use crate::Aliases;
use crate::ast::{Ast, AstKind, Expr, Index, Special, with_depth};
use crate::derived_names::{derived, is_reference_array, is_upper_half, references};
use crate::method::{MadeObject, Refused, container, formula, made};
use crate::method_formula::REAL;
use crate::parse::{MAX_HEIGHT, MEMBER_OF_RESULT};
use crate::shape::Schema;
use crate::text::{error_at, kind_at, shown_at, suggestion};
use sapwood_span::{Error, ErrorKind, Result};

/// Parts of an expression with all of its aliases put in, at most: a few lines of aliases of aliases can ask for more
/// than any memory holds.
const MAX_PARTS: usize = 100_000;
/// Aliases of aliases inside each other, at most.
const MAX_NESTED: usize = 100;

/// The expression without aliases. Its text stays, and errors show the place where the alias was written.
///
/// # Errors
/// `Invalid` for an alias that is made of itself, that is no expression, or that is followed by what cannot follow.
pub(crate) fn expand<S: Schema + ?Sized>(expr: &Expr, schema: &S) -> Result<Expr> {
    let mut e = Expander { schema, text: &expr.text, given: &expr.aliases, parts: 0 };
    let ast = e.node(&expr.ast, &PartOrigin { at: None, level: 0, inside: &[] })?;
    Ok(Expr { text: expr.text.clone(), ast, aliases: expr.aliases.clone() })
}

struct Expander<'a, S: ?Sized> {
    schema: &'a S,
    text: &'a str,
    /// The aliases that come before those of the tree.
    given: &'a Aliases,
    parts: usize,
}

/// Where a part stands.
struct PartOrigin<'p> {
    /// Byte of the alias it came out of.
    at: Option<usize>,
    /// Parts above it.
    level: usize,
    /// The aliases it came out of.
    inside: &'p [String],
}

impl PartOrigin<'_> {
    fn below(&self) -> PartOrigin<'_> {
        PartOrigin { at: self.at, level: self.level + 1, inside: self.inside }
    }
}

impl<S: Schema + ?Sized> Expander<'_, S> {
    fn error(&self, at: usize, message: &str) -> Error {
        error_at(self.text, at, message)
    }

    fn node(&mut self, ast: &Ast, place: &PartOrigin) -> Result<Ast> {
        let at = place.at.unwrap_or(ast.at);
        self.parts += 1;
        if self.parts > MAX_PARTS || place.level > MAX_HEIGHT {
            return Err(self.error(at, "its aliases make the expression too long"));
        }
        let kind = match &ast.kind {
            AstKind::Name { name, indices, .. } => match self.alias(name, indices, at, place)? {
                Some(ast) => return Ok(ast),
                None => match self.derived(name, indices, at)? {
                    Some(ast) => {
                        return self
                            .node(&ast, &PartOrigin { at: Some(at), level: place.level + 1, inside: place.inside });
                    }
                    None => self.name(&ast.kind, place)?,
                },
            },
            AstKind::Size { name, container: true } if is_reference_array(self.schema, name) => {
                return Ok(references(name, at));
            }
            AstKind::Size { name, container } => match self.alias(name, &[], at, place)? {
                None => ast.kind.clone(),
                Some(Ast { kind: AstKind::Name { name, indices, .. }, .. }) if indices.is_empty() => {
                    AstKind::Size { name, container: *container }
                }
                Some(_) => {
                    return Err(self.error(at, &format!("the alias {name} is not a branch and has no size")));
                }
            },
            AstKind::Number(_) | AstKind::Whole(_) | AstKind::Text(_) | AstKind::Special(_) => ast.kind.clone(),
            AstKind::Negate(a) => AstKind::Negate(self.boxed(a, place)?),
            AstKind::Not(a) => AstKind::Not(self.boxed(a, place)?),
            AstKind::Binary(op, a, b) => AstKind::Binary(*op, self.boxed(a, place)?, self.boxed(b, place)?),
            AstKind::Select(c, a, b) => {
                AstKind::Select(self.boxed(c, place)?, self.boxed(a, place)?, self.boxed(b, place)?)
            }
            AstKind::Method { object, method, args } => return self.method(object, method, args, place),
            AstKind::Call(name, args) => {
                let args = args.iter().map(|a| self.node(a, &place.below())).collect::<Result<_>>()?;
                AstKind::Call(name.clone(), args)
            }
        };
        Ok(with_depth(kind, at))
    }

    /// What stands for a name that is stored nowhere.
    fn derived(&self, name: &str, indices: &[Index], at: usize) -> Result<Option<Ast>> {
        if let Some(shape) = self.schema.shape(name) {
            let last = shape.dims.len().checked_sub(1).and_then(|level| indices.get(level));
            let half = matches!(last, Some(Index::At(_))) && is_upper_half(self.schema, name);
            let message = || {
                format!(
                    "{name} of a symmetric matrix is its upper half, as the file has it, and an index there is that of another \
                     element in ROOT; omit the index"
                )
            };
            return if half { Err(self.error(at, &message())) } else { Ok(None) };
        }
        derived(self.schema, name, indices, at).map_err(|message| self.error(at, &message))
    }

    /// What a method computes: the formula of its class with the members of this object.
    fn method(&mut self, object: &Ast, method: &str, args: &[Ast], place: &PartOrigin) -> Result<Ast> {
        let at = place.at.unwrap_or(object.at);
        if let Some(special) = self.of_tree(object, method, args) {
            return Ok(with_depth(AstKind::Special(special), at));
        }
        if let AstKind::Name { name, indices, .. } = &object.kind
            && name.contains('@')
            && indices.is_empty()
            && args.is_empty()
        {
            let counted = container(self.schema, &name.replace('@', ""), method, at);
            let counted = counted.map_err(|message| self.error(at, &message))?;
            return self.node(&counted, place);
        }
        if let Some(made) = self.made(object, place)? {
            return self.method_of_made(&made, object, method, args, place);
        }
        let of_result = matches!(object.kind, AstKind::Method { .. });
        let object = self.node(object, &place.below())?;
        let args = args.iter().map(|a| self.node(a, &place.below())).collect::<Result<Vec<_>>>()?;
        let AstKind::Name { name, .. } = &object.kind else {
            return Err(self.error(at, &format!("{method}() cannot be called of a value that is computed")));
        };
        if let Some(member) = method.strip_prefix(MEMBER_OF_RESULT) {
            let mut object = object.clone();
            if let AstKind::Name { name, .. } = &mut object.kind {
                name.push_str(member);
            }
            return Ok(object);
        }
        let refused = |e: Refused| match e {
            Refused::Unknown => {
                if let Some(e) = self.schema.refusal(name) {
                    let what = shown_at(self.text, at, e.what());
                    return e.worded(what);
                }
                let names = self.schema.names();
                let near = suggestion(name, names.iter().map(String::as_str));
                let message = format!("the tree has no branch {name} for the method {method}(){near}");
                kind_at(ErrorKind::NotFound, self.text, at, &message)
            }
            Refused::Because(message) => self.error(at, &message),
        };
        let mut ast = formula(self.schema, name, &object, method, &args).map_err(refused)?;
        if of_result && matches!(&ast.kind, AstKind::Size { .. } | AstKind::Call(..)) {
            // only the first method of a chain tells ROOT that a value is a whole number
            ast = with_depth(AstKind::Call(REAL.to_owned(), vec![ast]), at);
        }
        // the formula may call other methods of the same object
        self.node(&ast, &PartOrigin { at: Some(at), level: place.level + 1, inside: place.inside })
    }

    /// The object that a call makes (`p4.BoostVector()`), with members and arguments that are not yet expanded.
    fn made(&mut self, call: &Ast, place: &PartOrigin) -> Result<Option<MadeObject>> {
        let AstKind::Method { object, method, args } = &call.kind else { return Ok(None) };
        let at = place.at.unwrap_or(call.at);
        if method.starts_with(MEMBER_OF_RESULT) || place.level > MAX_HEIGHT {
            return Ok(None);
        }
        let made = match self.made(object, &place.below())? {
            Some(above) => above.made(self.schema, object, method, args),
            None if matches!(&object.kind, AstKind::Name { name, .. } if name.contains('@')) => return Ok(None),
            None => {
                let Ok(object) = self.node(object, &place.below()) else { return Ok(None) };
                let AstKind::Name { name, .. } = &object.kind else { return Ok(None) };
                made(self.schema, name, &object, method, args)
            }
        };
        made.map_err(|e| self.error(at, &e.message(method)))
    }

    /// A method or a member of an object that a call has made.
    fn method_of_made(
        &mut self,
        made: &MadeObject,
        object: &Ast,
        method: &str,
        args: &[Ast],
        place: &PartOrigin,
    ) -> Result<Ast> {
        let at = place.at.unwrap_or(object.at);
        let formula = match method.strip_prefix(MEMBER_OF_RESULT) {
            Some(member) => {
                let found = made.member(member.trim_start_matches('.')).cloned();
                found.ok_or_else(|| self.error(at, &format!("the result has no member {member}")))?
            }
            None => made.formula(self.schema, object, method, args).map_err(|e| self.error(at, &e.message(method)))?,
        };
        let ast = self.node(&formula, &PartOrigin { at: Some(at), level: place.level + 1, inside: place.inside })?;
        Ok(with_depth(AstKind::Call(REAL.to_owned(), vec![ast]), at))
    }

    /// What is asked of the tree itself: `This->GetReadEntry()`.
    fn of_tree(&self, object: &Ast, method: &str, args: &[Ast]) -> Option<Special> {
        let AstKind::Name { name, indices, .. } = &object.kind else { return None };
        if name != "This" || !indices.is_empty() || !args.is_empty() || self.schema.is_plain(name) {
            return None;
        }
        match method {
            "GetReadEntry" => Some(Special::Entry),
            "GetEntries" | "GetEntriesFast" => Some(Special::Entries),
            _ => None,
        }
    }

    fn boxed(&mut self, ast: &Ast, place: &PartOrigin) -> Result<Box<Ast>> {
        self.node(ast, &place.below()).map(Box::new)
    }

    /// A name that stays: only what is in its brackets may hold aliases.
    fn name(&mut self, kind: &AstKind, place: &PartOrigin) -> Result<AstKind> {
        let AstKind::Name { name, indices, plain } = kind else { return Ok(kind.clone()) };
        let indices = indices
            .iter()
            .map(|i| match i {
                Index::All => Ok(Index::All),
                Index::At(a) => self.node(a, &place.below()).map(Index::At),
            })
            .collect::<Result<_>>()?;
        Ok(AstKind::Name { name: name.clone(), indices, plain: *plain })
    }

    /// What stands behind a name that is an alias, or a member of one.
    fn alias(&mut self, name: &str, indices: &[Index], at: usize, place: &PartOrigin) -> Result<Option<Ast>> {
        if self.schema.is_plain(name) {
            return Ok(None);
        }
        let ends = std::iter::once(name.len()).chain(name.rmatch_indices('.').map(|(dot, _)| dot));
        let found = ends.filter_map(|end| name.split_at_checked(end)).find_map(|(front, rest)| {
            let given = self.given.get(front).map(|text| ("the alias", text.to_owned()));
            let (whose, text) = given.or_else(|| Some(("the tree's alias", self.schema.alias(front)?)))?;
            Some((front, rest, whose, text))
        });
        let Some((front, rest, whose, text)) = found else { return Ok(None) };
        if place.inside.len() == MAX_NESTED {
            return Err(self.error(at, "its aliases make the expression too long"));
        }
        if place.inside.iter().any(|a| a == front) {
            let way = format!("{} -> {front}", place.inside.join(" -> "));
            return Err(self.error(at, &format!("the alias {front} refers to itself: {way}")));
        }
        let meaning = Expr::parse(&text)
            .map_err(|e| self.error(at, &format!("{whose} {front} is not an expression: {}", e.what())))?;
        let follows = !rest.is_empty() || !indices.is_empty();
        let ast = match meaning.ast.kind {
            AstKind::Name { name, indices: own, .. } if follows && (rest.is_empty() || own.is_empty()) => {
                // the brackets that follow belong to this text, the alias has its own
                let behind =
                    self.name(&AstKind::Name { name: String::new(), indices: indices.to_vec(), plain: false }, place)?;
                let AstKind::Name { indices: behind, .. } = behind else { return Ok(None) };
                let indices = own.into_iter().chain(behind).collect();
                with_depth(AstKind::Name { name: name + rest, indices, plain: false }, at)
            }
            _ if follows => {
                let message = format!("{front} is {whose} for {text}: neither index nor member can follow");
                return Err(self.error(at, &message));
            }
            kind => with_depth(kind, at),
        };
        let inside: Vec<String> = place.inside.iter().cloned().chain([front.to_owned()]).collect();
        self.node(&ast, &PartOrigin { at: Some(at), level: place.level + 1, inside: &inside }).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Shape;
    use sapwood_column::DType;

    struct Tree(Vec<(&'static str, String)>);

    impl Schema for Tree {
        fn shape(&self, name: &str) -> Option<Shape> {
            ["x", "y", "m", "p.px"].contains(&name).then(|| Shape::scalar(DType::F64))
        }

        fn names(&self) -> Vec<String> {
            Vec::new()
        }

        fn alias(&self, name: &str) -> Option<String> {
            self.0.iter().find(|(n, _)| *n == name).map(|(_, text)| text.clone())
        }
    }

    fn aliases(list: &[(&'static str, &str)]) -> Tree {
        Tree(list.iter().map(|(n, t)| (*n, (*t).to_owned())).collect())
    }

    fn expanded(text: &str, tree: &Tree) -> Result<String> {
        expand(&Expr::parse(text).unwrap(), tree).map(|e| format!("{:?}", e.ast.kind).replace(' ', ""))
    }

    /// What matters of an expression: its parts without their places.
    fn same(text: &str, meant: &str, tree: &Tree) {
        fn shape(ast: &Ast, out: &mut String) {
            match &ast.kind {
                AstKind::Name { name, indices, .. } => {
                    out.push_str(name);
                    for i in indices {
                        out.push('[');
                        if let Index::At(a) = i {
                            shape(a, out);
                        }
                        out.push(']');
                    }
                }
                AstKind::Binary(op, a, b) => {
                    out.push_str(&format!("({op:?} "));
                    shape(a, out);
                    out.push(' ');
                    shape(b, out);
                    out.push(')');
                }
                other => out.push_str(&format!("{other:?}")),
            }
        }
        let (mut a, mut b) = (String::new(), String::new());
        shape(&expand(&Expr::parse(text).unwrap(), tree).unwrap().ast, &mut a);
        shape(&Expr::parse(meant).unwrap().ast, &mut b);
        assert_eq!(a, b, "{text}");
    }

    #[test]
    fn aliases_are_put_in_as_one_value() {
        let tree = aliases(&[("a", "x+1"), ("b", "a*y"), ("mm", "m[1]"), ("pp", "p"), ("x", "y"), ("q", "m")]);
        same("2*a", "2*(x+1)", &tree);
        same("b", "(x+1)*y", &tree);
        same("mm[2]", "m[1][2]", &tree);
        same("q[a]", "m[x+1]", &tree);
        same("pp.px", "p.px", &tree);
        // a branch of the name comes first
        same("x", "x", &tree);
    }

    #[test]
    fn what_aliases_cannot_be() {
        let tree = aliases(&[("a", "b+1"), ("b", "a+1"), ("c", "x*2"), ("d", "x+")]);
        for (text, message) in [
            ("1+a", "the alias a refers to itself: a -> b -> a (column 3)"),
            ("c[0]", "c is the tree's alias for x*2: neither index nor member can follow"),
            ("@c.size()", "the alias c is not a branch"),
            ("d", "the tree's alias d is not an expression"),
        ] {
            let e = expanded(text, &tree).unwrap_err().to_string();
            assert!(e.contains(message), "{e}");
        }
    }

    #[test]
    fn given_aliases_come_before_those_of_the_tree_and_after_its_branches() {
        let tree = aliases(&[("a", "x+1"), ("b", "a*y")]);
        let expanded = |text: &str, given: &[(&str, &str)]| {
            let given = Aliases::new(given.iter().copied()).unwrap();
            expand(&Expr::parse(text).unwrap().with_aliases(&given), &tree).map(|e| format!("{:?}", e.ast.kind))
        };
        let meant = |text: &str| {
            let names = expand(&Expr::parse(text).unwrap(), &tree).unwrap().names();
            names.join(" ")
        };
        let names = |text: &str, given: &[(&str, &str)]| {
            let given = Aliases::new(given.iter().copied()).unwrap();
            expand(&Expr::parse(text).unwrap().with_aliases(&given), &tree).unwrap().names().join(" ")
        };
        assert_eq!(names("b", &[("a", "m")]), meant("m*y"));
        assert_eq!(names("c", &[("c", "d+y"), ("d", "m")]), meant("m+y"));
        assert_eq!(names("x", &[("x", "y")]), "x");
        assert_eq!(names("c", &[("c", "x"), ("c", "y")]), "y");
        let e = expanded("1+c", &[("c", "d"), ("d", "c+1")]).unwrap_err().to_string();
        assert!(e.contains("the alias c refers to itself: c -> d -> c (column 3)"), "{e}");
        for (name, text, message) in [
            ("a b", "x", "cannot be the name"),
            ("", "x", "cannot be the name"),
            ("a[0]", "x", "cannot be the name"),
            ("a", "x+", "the alias a: "),
            ("a", "", "the alias a: "),
        ] {
            let e = Aliases::new([(name, text)]).unwrap_err().to_string();
            assert!(e.contains(message), "{name}={text}: {e}");
        }
    }

    #[test]
    fn aliases_of_aliases_are_bounded() {
        let names: Vec<&'static str> = vec!["a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9"];
        let mut list = vec![("a0", "x+x+x+x+x+x+x+x+x+x".to_owned())];
        list.extend(names.windows(2).map(|w| (w[1], [w[0]; 10].join("+"))));
        assert!(expanded("a2", &Tree(list.clone())).is_ok());
        let e = expanded("a9", &Tree(list)).unwrap_err().to_string();
        assert!(e.contains("too long"), "{e}");
    }
}
