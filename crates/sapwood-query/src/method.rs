//! Methods of objects (`p4.Pt()`) without a C++ interpreter: each is a formula of the members of its class.

use crate::ast::{Ast, AstKind, Expr, Index, Op, with_depth};
use crate::method_formula::Method;
use crate::method_table::{Class, class};
use crate::shape::{Kind, Schema};

/// The call around what a method that returns a whole number computes; it cannot be typed.
pub(crate) const WHOLE: &str = "whole number of";

/// The call around a number whose automatic axis has no whole bins, be it one.
pub(crate) const REAL: &str = "real number of";

/// Why there is no formula.
pub(crate) enum Refused {
    /// The tree has nothing of this name.
    Unknown,
    /// For this reason.
    Because(String),
}

/// What a method of an object computes, in the language of expressions.
pub(crate) fn formula<S: Schema + ?Sized>(
    schema: &S,
    name: &str,
    object: &Ast,
    method: &str,
    args: &[Ast],
) -> Result<Ast, Refused> {
    let shape = schema.shape(name);
    if let Some(shape) = &shape {
        match shape.kind {
            Kind::Text => return text(name, object, shape.dims.is_empty(), method, args),
            Kind::Number(_) if !shape.dims.is_empty() && schema.collection(name).is_none() => {
                return list(name, object, method, args);
            }
            _ => {}
        }
    }
    let classes = schema.classes(name);
    let Some(own) = classes.first() else {
        return Err(match shape {
            None => Refused::Unknown,
            Some(_) => Refused::Because(format!("{name} is not an object and has no method {method}()")),
        });
    };
    let tables: Vec<&Class> = classes.iter().filter_map(|c| class(c)).collect();
    if tables.is_empty() {
        if shape.is_none() {
            return Err(Refused::Unknown);
        }
        let message = format!("no method of {own}, the class of {name}, is supported; use its members instead");
        return Err(Refused::Because(message));
    }
    let Some((known, found)) = tables.iter().find_map(|t| Some((*t, t.method(method)?))) else {
        let there: Vec<String> = tables.iter().flat_map(|t| t.methods()).map(|(n, _)| signature(n)).collect();
        let message = format!("{method}() of {own} is not supported; these methods are: {}", there.join(", "));
        return Err(Refused::Because(message));
    };
    let Method { parameters, formula, whole, .. } = found;
    if args.len() != parameters.len() {
        let wanted = match parameters.len() {
            0 => "no arguments".to_owned(),
            n => format!("{n} argument{}", if n == 1 { "" } else { "s" }),
        };
        return Err(Refused::Because(format!("{method}() of {own} takes {wanted} here")));
    }
    // what is summed belongs to one object
    if formula.contains('$') && !schema.is_single(name) {
        let message = format!("{method}() of {own} is supported for a single object only, and {name} contains several");
        return Err(Refused::Because(message));
    }
    let parsed = Expr::parse(formula).map_err(|e| Refused::Because(e.what().to_owned()))?;
    let instance = Instance { schema, known, object, arguments: parameters.into_iter().zip(args).collect() };
    let ast = instance.of(&parsed.ast);
    Ok(if whole { with_depth(AstKind::Call(WHOLE.to_owned(), vec![ast]), object.at) } else { ast })
}

/// A method as it is called.
fn signature(name: &str) -> String {
    if name.contains('(') { name.to_owned() } else { format!("{name}()") }
}

/// The methods of a container by itself (`@fTracks.GetEntries()`).
pub(crate) fn container<S: Schema + ?Sized>(schema: &S, name: &str, method: &str, at: usize) -> Result<Ast, String> {
    let size = with_depth(AstKind::Size { name: name.to_owned(), container: true }, at);
    let is_clones = schema.collection(name).is_none_or(|c| c.is_clones);
    match method {
        "GetEntries" | "GetEntriesFast" | "GetEntriesUnsafe" if is_clones => Ok(size),
        "GetLast" if is_clones => {
            let one = with_depth(AstKind::Number(1.0), at);
            let last = with_depth(AstKind::Binary(Op::Subtract, Box::new(size), Box::new(one)), at);
            Ok(with_depth(AstKind::Call(WHOLE.to_owned(), vec![last]), at))
        }
        _ if is_clones => Err(format!(
            "{method}() of the collection {name} is not supported; these methods are: size(), GetEntries(), \
                 GetEntriesFast(), GetLast()"
        )),
        _ => Err(format!("{method}() of the collection {name} is not supported; use @{name}.size()")),
    }
}

/// The methods of TString and std::string.
fn text(name: &str, object: &Ast, single: bool, method: &str, args: &[Ast]) -> Result<Ast, Refused> {
    let at = object.at;
    let size = || Ast { kind: AstKind::Size { name: name.to_owned(), container: false }, at, depth: 0 };
    let whole = |ast: Ast| with_depth(AstKind::Call(WHOLE.to_owned(), vec![ast]), at);
    Ok(match (method, args) {
        ("Data" | "c_str", []) => object.clone(),
        ("Contains", [part]) => {
            let found = with_depth(AstKind::Call("strstr".into(), vec![object.clone(), part.clone()]), at);
            whole(found)
        }
        ("Length", []) if single => size(),
        ("empty" | "IsNull", []) if single => whole(with_depth(AstKind::Not(Box::new(size())), at)),
        _ => {
            let known = "Length(), size(), empty(), IsNull(), Data(), c_str(), Contains(\"text\")";
            let message = format!("{method}() of the string {name} is not supported; these methods are: {known}");
            return Err(Refused::Because(message));
        }
    })
}

/// The methods of std::vector with numbers.
fn list(name: &str, object: &Ast, method: &str, args: &[Ast]) -> Result<Ast, Refused> {
    let AstKind::Name { name: own, indices, plain } = &object.kind else { return Err(Refused::Unknown) };
    match (method, args) {
        ("at", [index]) => {
            let indices = indices.iter().cloned().chain([Index::At(index.clone())]).collect();
            Ok(with_depth(AstKind::Name { name: own.clone(), indices, plain: *plain }, object.at))
        }
        _ => {
            let message =
                format!("{method}() of the list {name} is not supported; these methods are: size(), at(index)");
            Err(Refused::Because(message))
        }
    }
}

/// A method's formula for one object: the names of the class's members stand behind its own.
struct Instance<'a, S: ?Sized> {
    schema: &'a S,
    known: &'a Class,
    object: &'a Ast,
    arguments: Vec<(&'static str, &'a Ast)>,
}

impl<S: Schema + ?Sized> Instance<'_, S> {
    fn of(&self, ast: &Ast) -> Ast {
        let boxed = |a: &Ast| Box::new(self.of(a));
        let kind = match &ast.kind {
            AstKind::Name { name, indices, .. } => match self.arguments.iter().find(|(n, _)| n == name) {
                Some((_, argument)) => return (*argument).clone(),
                None => self.member(name, indices),
            },
            AstKind::Negate(a) => AstKind::Negate(boxed(a)),
            AstKind::Not(a) => AstKind::Not(boxed(a)),
            AstKind::Binary(op, a, b) => AstKind::Binary(*op, boxed(a), boxed(b)),
            AstKind::Select(c, a, b) => AstKind::Select(boxed(c), boxed(a), boxed(b)),
            AstKind::Call(name, args) => {
                let args = args.iter().map(|a| self.of(a)).collect();
                if self.known.method(name).is_some() {
                    // a method of the same object
                    AstKind::Method { object: Box::new(self.object.clone()), method: name.clone(), args }
                } else {
                    AstKind::Call(name.clone(), args)
                }
            }
            other => other.clone(),
        };
        with_depth(kind, self.object.at)
    }

    fn member(&self, member: &str, own: &[Index]) -> AstKind {
        let AstKind::Name { name, indices, .. } = &self.object.kind else { return self.object.kind.clone() };
        let name = format!("{}.{}{member}", name.trim_end_matches('.'), self.known.inside);
        let mut indices = indices.clone();
        if !own.is_empty() {
            // the member's own brackets stand behind those of all objects
            let levels = self.schema.shape(&name).map_or(0, |s| s.dims.len());
            indices.resize(levels.saturating_sub(own.len()).max(indices.len()), Index::All);
            indices.extend(own.iter().map(|i| match i {
                Index::All => Index::All,
                Index::At(a) => Index::At(self.of(a)),
            }));
        }
        AstKind::Name { name, indices, plain: false }
    }
}
