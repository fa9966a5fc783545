//! Methods of objects (`p4.Pt()`) without a C++ interpreter: each is a formula of the members of its class.

use crate::ast::{Ast, AstKind, Expr, Index, Op, with_depth};
use crate::derived_names::{is_reference_array, references};
use crate::method_formula::{Made, Method, WHOLE};
use crate::method_table::{Class, class};
use crate::program::{BEGINS_WITH, ENDS_WITH, FIRST, INDEX, ORDER};
use crate::shape::{Kind, Schema};

/// Why there is no formula.
pub(crate) enum Refused {
    /// The tree has nothing of this name.
    Unknown,
    /// For this reason.
    Because(String),
}

impl Refused {
    /// In words, for a method of an object that exists.
    pub(crate) fn message(self, method: &str) -> String {
        match self {
            Self::Because(message) => message,
            Self::Unknown => format!("{method}() is not supported here"),
        }
    }
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
    let Found { known, own, method: found } = found(schema, name, shape.is_some(), method, args.len())?;
    if let Some(made) = &found.makes {
        return Err(alone(method, made));
    }
    let Method { parameters, formula, whole, .. } = found;
    check_arguments(method, &own, &parameters, args)?;
    // what is summed belongs to one object
    if known.sums() && formula.contains('$') && !schema.is_single(name) {
        let message = format!("{method}() of {own} is supported for a single object only, and {name} contains several");
        return Err(Refused::Because(message));
    }
    let parsed = Expr::parse(formula).map_err(|e| Refused::Because(e.what().to_owned()))?;
    let arguments = parameters.into_iter().zip(args).collect();
    let instance = Instance { schema, known, object, made: None, arguments };
    let ast = instance.of(&parsed.ast);
    Ok(if whole { with_depth(AstKind::Call(WHOLE.to_owned(), vec![ast]), object.at) } else { ast })
}

/// A method of a class, or of one of its bases.
struct Found {
    /// The class that has it, and that of the object.
    known: &'static Class,
    own: String,
    method: Method,
}

/// The method of an object that is stored.
fn found<S: Schema + ?Sized>(
    schema: &S,
    name: &str,
    exists: bool,
    method: &str,
    arguments: usize,
) -> Result<Found, Refused> {
    let classes = schema.classes(name);
    let Some(own) = classes.first() else {
        return Err(if exists {
            Refused::Because(format!("{name} is not an object and has no method {method}()"))
        } else {
            Refused::Unknown
        });
    };
    let tables: Vec<&'static Class> = classes.iter().filter_map(|c| class(c)).collect();
    if tables.is_empty() {
        if !exists {
            return Err(Refused::Unknown);
        }
        let message = format!("no method of {own}, the class of {name}, is supported; use its members instead");
        return Err(Refused::Because(message));
    }
    let Some((known, found)) = tables.iter().find_map(|t| Some((*t, t.method(method, arguments)?))) else {
        return Err(unsupported(method, own, &tables));
    };
    Ok(Found { known, own: own.clone(), method: found })
}

/// Why there is no such method.
fn unsupported(method: &str, own: &str, tables: &[&Class]) -> Refused {
    let there: Vec<String> = tables.iter().flat_map(|t| t.methods()).map(|(n, _)| signature(n)).collect();
    Refused::Because(format!("{method}() of {own} is not supported; these methods are: {}", there.join(", ")))
}

/// Why a method that makes an object is no number.
fn alone(method: &str, made: &Made) -> Refused {
    let there: Vec<String> =
        class(made.class).into_iter().flat_map(Class::methods).map(|(n, _)| signature(n)).collect();
    Refused::Because(format!("{method}() returns an object; call one of its methods: {}", there.join(", ")))
}

fn check_arguments(method: &str, own: &str, parameters: &[&str], args: &[Ast]) -> Result<(), Refused> {
    if args.len() == parameters.len() {
        return Ok(());
    }
    let wanted = match parameters.len() {
        0 => "no arguments".to_owned(),
        n => format!("{n} argument{}", if n == 1 { "" } else { "s" }),
    };
    Err(Refused::Because(format!("{method}() of {own} takes {wanted} here")))
}

/// An object that a method makes (`p4.BoostVector()`): its class, and what its members are.
pub(crate) struct MadeObject {
    class: &'static str,
    members: Vec<(&'static str, Ast)>,
}

/// The object that a method of a stored object makes; `None` where the method makes none, or is unknown.
pub(crate) fn made<S: Schema + ?Sized>(
    schema: &S,
    name: &str,
    object: &Ast,
    method: &str,
    args: &[Ast],
) -> Result<Option<MadeObject>, Refused> {
    let Ok(Found { known, own, method: found }) = found(schema, name, true, method, args.len()) else {
        return Ok(None);
    };
    let Some(made) = &found.makes else { return Ok(None) };
    check_arguments(method, &own, &found.parameters, args)?;
    let instance = Instance { schema, known, object, made: None, arguments: Vec::new() };
    instance.make(made).map(Some)
}

impl MadeObject {
    /// What a method of it computes; `object` is the call that made it.
    pub(crate) fn formula<S: Schema + ?Sized>(
        &self,
        schema: &S,
        object: &Ast,
        method: &str,
        args: &[Ast],
    ) -> Result<Ast, Refused> {
        let (known, found) = self.method(method, args)?;
        if let Some(made) = &found.makes {
            return Err(alone(method, made));
        }
        let parsed = Expr::parse(found.formula).map_err(|e| Refused::Because(e.what().to_owned()))?;
        let arguments = found.parameters.into_iter().zip(args).collect();
        Ok(Instance { schema, known, object, made: Some(self), arguments }.of(&parsed.ast))
    }

    /// The object that a method of it makes in turn.
    pub(crate) fn made<S: Schema + ?Sized>(
        &self,
        schema: &S,
        object: &Ast,
        method: &str,
        args: &[Ast],
    ) -> Result<Option<Self>, Refused> {
        let (known, found) = self.method(method, args)?;
        let Some(made) = &found.makes else { return Ok(None) };
        Instance { schema, known, object, made: Some(self), arguments: Vec::new() }.make(made).map(Some)
    }

    /// A member of it.
    pub(crate) fn member(&self, name: &str) -> Option<&Ast> {
        self.members.iter().find(|(n, _)| *n == name).map(|(_, ast)| ast)
    }

    fn method(&self, method: &str, args: &[Ast]) -> Result<(&'static Class, Method), Refused> {
        let unknown = || Refused::Because(format!("no method of {} is supported", self.class));
        let known = class(self.class).ok_or_else(unknown)?;
        let found = known.method(method, args.len()).ok_or_else(|| unsupported(method, self.class, &[known]))?;
        check_arguments(method, self.class, &found.parameters, args)?;
        Ok((known, found))
    }
}

/// A method as it is called.
fn signature(name: &str) -> String {
    if name.contains('(') { name.to_owned() } else { format!("{name}()") }
}

/// The methods of a container by itself (`@fTracks.GetEntries()`).
pub(crate) fn container<S: Schema + ?Sized>(schema: &S, name: &str, method: &str, at: usize) -> Result<Ast, String> {
    let references = is_reference_array(schema, name).then(|| references(name, at));
    let is_clones = references.is_some() || schema.collection(name).is_none_or(|c| c.is_clones);
    let size = references.unwrap_or_else(|| with_depth(AstKind::Size { name: name.to_owned(), container: true }, at));
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
    let pair =
        |name: &str, other: &Ast| with_depth(AstKind::Call(name.to_owned(), vec![object.clone(), other.clone()]), at);
    Ok(match (method, args) {
        ("Data" | "c_str", []) => object.clone(),
        ("Contains", [other]) => whole(pair("strstr", other)),
        ("BeginsWith", [other]) => whole(pair(BEGINS_WITH, other)),
        ("EndsWith", [other]) => whole(pair(ENDS_WITH, other)),
        ("Index", [other]) => whole(pair(INDEX, other)),
        ("First", [letters]) => whole(pair(FIRST, letters)),
        ("CompareTo" | "compare", [other]) => whole(pair(ORDER, other)),
        ("EqualTo", [other]) => {
            whole(with_depth(AstKind::Binary(Op::Equal, Box::new(object.clone()), Box::new(other.clone())), at))
        }
        ("Length", []) if single => size(),
        ("empty" | "IsNull", []) if single => whole(with_depth(AstKind::Not(Box::new(size())), at)),
        _ => {
            let known = "Length(), size(), empty(), IsNull(), Data(), c_str(), Contains(\"text\"), BeginsWith(\"text\"), \
                         EndsWith(\"text\"), Index(\"text\"), First(\"letters\"), EqualTo(\"text\"), CompareTo(\"text\")";
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
    /// The object, where it is one that a method has made.
    made: Option<&'a MadeObject>,
    arguments: Vec<(&'static str, &'a Ast)>,
}

impl<S: Schema + ?Sized> Instance<'_, S> {
    fn make(&self, made: &Made) -> Result<MadeObject, Refused> {
        let member = |(name, formula): &(&'static str, &'static str)| {
            let parsed = Expr::parse(formula).map_err(|e| Refused::Because(e.what().to_owned()))?;
            Ok((*name, self.of(&parsed.ast)))
        };
        Ok(MadeObject { class: made.class, members: made.members.iter().map(member).collect::<Result<_, _>>()? })
    }

    fn of(&self, ast: &Ast) -> Ast {
        let boxed = |a: &Ast| Box::new(self.of(a));
        let kind = match &ast.kind {
            AstKind::Name { name, indices, .. } => match self.arguments.iter().find(|(n, _)| n == name) {
                Some((_, argument)) => return (*argument).clone(),
                None => match self.made.and_then(|made| made.member(name)) {
                    Some(member) => return member.clone(),
                    None => self.member(name, indices),
                },
            },
            AstKind::Negate(a) => AstKind::Negate(boxed(a)),
            AstKind::Not(a) => AstKind::Not(boxed(a)),
            AstKind::Binary(op, a, b) => AstKind::Binary(*op, boxed(a), boxed(b)),
            AstKind::Select(c, a, b) => AstKind::Select(boxed(c), boxed(a), boxed(b)),
            AstKind::Call(name, args) => {
                let args: Vec<Ast> = args.iter().map(|a| self.of(a)).collect();
                if self.known.method(name, args.len()).is_some() {
                    // a method of the same object
                    AstKind::Method { object: Box::new(self.object.clone()), method: name.clone(), args }
                } else {
                    AstKind::Call(name.clone(), args)
                }
            }
            // a method of a member
            AstKind::Method { object, method, args } => AstKind::Method {
                object: boxed(object),
                method: method.clone(),
                args: args.iter().map(|a| self.of(a)).collect(),
            },
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
