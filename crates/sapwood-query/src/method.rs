//! Methods of objects (`p4.Pt()`) without a C++ interpreter: each is a formula of the members of its class.

use crate::ast::{Ast, AstKind, Expr, Index, with_depth};
use crate::method_table::{Class, class};
use crate::shape::{Kind, Schema};

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
    let Some(known) = classes.iter().find_map(|c| class(c)) else {
        if shape.is_none() {
            return Err(Refused::Unknown);
        }
        let message = format!("no method of {own}, the class of {name}, is understood; members can be named instead");
        return Err(Refused::Because(message));
    };
    let Some((_, meaning)) = known.methods().find(|(n, _)| *n == method) else {
        let there: Vec<String> = known.methods().map(|(n, _)| format!("{n}()")).collect();
        let message = format!("{method}() of {own} is not understood; these methods are: {}", there.join(", "));
        return Err(Refused::Because(message));
    };
    if !args.is_empty() {
        return Err(Refused::Because(format!("{method}() of {own} takes no arguments here")));
    }
    let parsed = Expr::parse(meaning).map_err(|e| Refused::Because(e.what().to_owned()))?;
    Ok(with_object(&parsed.ast, known, object))
}

/// The methods of TString and std::string.
fn text(name: &str, object: &Ast, single: bool, method: &str, args: &[Ast]) -> Result<Ast, Refused> {
    let at = object.at;
    let size = || Ast { kind: AstKind::Size { name: name.to_owned(), container: false }, at, depth: 0 };
    Ok(match (method, args) {
        ("Data" | "c_str", []) => object.clone(),
        ("Contains", [part]) => with_depth(AstKind::Call("strstr".into(), vec![object.clone(), part.clone()]), at),
        ("Length", []) if single => size(),
        _ => {
            let known = "Length(), size(), Data(), c_str(), Contains(\"text\")";
            let message = format!("{method}() of the string {name} is not understood; these methods are: {known}");
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
                format!("{method}() of the list {name} is not understood; these methods are: size(), at(index)");
            Err(Refused::Because(message))
        }
    }
}

/// A formula with the names of one object: those of the class's members and methods stand behind its own.
fn with_object(ast: &Ast, known: &Class, object: &Ast) -> Ast {
    let at = object.at;
    let inner = |a: &Ast| with_object(a, known, object);
    let boxed = |a: &Ast| Box::new(with_object(a, known, object));
    let kind = match &ast.kind {
        AstKind::Name { name: member, .. } => match &object.kind {
            AstKind::Name { name, indices, .. } => AstKind::Name {
                name: format!("{}.{}{member}", name.trim_end_matches('.'), known.inside),
                indices: indices.clone(),
                plain: false,
            },
            other => other.clone(),
        },
        AstKind::Negate(a) => AstKind::Negate(boxed(a)),
        AstKind::Not(a) => AstKind::Not(boxed(a)),
        AstKind::Binary(op, a, b) => AstKind::Binary(*op, boxed(a), boxed(b)),
        AstKind::Select(c, a, b) => AstKind::Select(boxed(c), boxed(a), boxed(b)),
        // a method of the same object
        AstKind::Call(name, args) if args.is_empty() && known.methods().any(|(n, _)| n == name) => {
            AstKind::Method { object: Box::new(object.clone()), method: name.clone(), args: Vec::new() }
        }
        AstKind::Call(name, args) => AstKind::Call(name.clone(), args.iter().map(inner).collect()),
        other => other.clone(),
    };
    with_depth(kind, at)
}
