//! What the derive needs to know of a struct: its name, and the names, types and attributes of its fields.

use crate::Wrong;
use proc_macro::{Delimiter, Span, TokenStream, TokenTree};
use std::iter::Peekable;

pub(crate) struct Record {
    pub(crate) name: String,
    /// `<'a, 'b>`, or nothing.
    pub(crate) lifetimes: String,
    pub(crate) class: String,
    pub(crate) fields: Vec<Field>,
}

pub(crate) struct Field {
    /// As it is written in Rust.
    pub(crate) ident: String,
    pub(crate) ty: TokenStream,
    pub(crate) options: Options,
}

/// What `#[record(...)]` says; values as they are written in Rust.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) class: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) compression: Option<String>,
    pub(crate) basket_bytes: Option<String>,
    pub(crate) split: Option<String>,
    pub(crate) counter: Option<String>,
    pub(crate) skip: bool,
    pub(crate) vector: bool,
    pub(crate) member_wise: bool,
}

type Tokens = Peekable<proc_macro::token_stream::IntoIter>;

fn is(token: Option<&TokenTree>, c: char) -> bool {
    matches!(token, Some(TokenTree::Punct(p)) if p.as_char() == c)
}

pub(crate) fn record(input: TokenStream) -> Result<Record, Wrong> {
    let mut from = input.into_iter().peekable();
    let options = attributes(&mut from, &["class"])?;
    visibility(&mut from);
    match from.next() {
        Some(TokenTree::Ident(word)) if word.to_string() == "struct" => {}
        other => return Err(Wrong::new("a record is a struct", span(other.as_ref()))),
    }
    let name = match from.next() {
        Some(TokenTree::Ident(name)) => name,
        other => return Err(Wrong::new("a struct has a name", span(other.as_ref()))),
    };
    let lifetimes = lifetimes(&mut from)?;
    let body = match from.next() {
        Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Brace => g,
        other => return Err(Wrong::new("a record has named fields", span(other.as_ref()))),
    };
    let fields: Vec<Field> = fields(body.stream())?.into_iter().filter(|f| !f.options.skip).collect();
    if fields.is_empty() {
        return Err(Wrong::new("a record has at least one field", name.span()));
    }
    let plain = name.to_string();
    let class = options.class.unwrap_or_else(|| format!("{:?}", plain.trim_start_matches("r#")));
    Ok(Record { name: plain, lifetimes, class, fields })
}

/// The parameters of a struct, which may be lifetimes only.
fn lifetimes(from: &mut Tokens) -> Result<String, Wrong> {
    let mut out = String::new();
    if !is(from.peek(), '<') {
        return Ok(out);
    }
    let mut lifetime = false;
    loop {
        let token = from.next();
        match &token {
            Some(TokenTree::Punct(p)) if "<,'".contains(p.as_char()) => {
                lifetime = p.as_char() == '\'';
                out.push(p.as_char());
            }
            Some(TokenTree::Ident(name)) if lifetime => out.push_str(&name.to_string()),
            Some(TokenTree::Punct(p)) if p.as_char() == '>' => {
                out.push('>');
                return Ok(out);
            }
            other => {
                let what = "a record has no parameters but plain lifetimes: its branches must be known";
                return Err(Wrong::new(what, span(other.as_ref())));
            }
        }
    }
}

fn span(token: Option<&TokenTree>) -> Span {
    token.map_or_else(Span::call_site, TokenTree::span)
}

fn visibility(from: &mut Tokens) {
    if matches!(from.peek(), Some(TokenTree::Ident(word)) if word.to_string() == "pub") {
        from.next();
        if matches!(from.peek(), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Parenthesis) {
            from.next();
        }
    }
}

fn fields(body: TokenStream) -> Result<Vec<Field>, Wrong> {
    let mut from = body.into_iter().peekable();
    let mut out = Vec::new();
    while from.peek().is_some() {
        let all = ["name", "title", "compression", "basket_bytes", "split", "counter", "skip", "vector", "member_wise"];
        let options = attributes(&mut from, &all)?;
        visibility(&mut from);
        let ident = match from.next() {
            Some(TokenTree::Ident(ident)) => ident.to_string(),
            other => return Err(Wrong::new("a field has a name", span(other.as_ref()))),
        };
        // the colon
        from.next();
        let (mut ty, mut depth, mut before) = (Vec::new(), 0_usize, ' ');
        while let Some(token) = from.peek() {
            if let TokenTree::Punct(p) = token {
                match p.as_char() {
                    ',' if depth == 0 => break,
                    '<' => depth += 1,
                    // the arrow of a function's type closes nothing
                    '>' if before != '-' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                before = p.as_char();
            } else {
                before = ' ';
            }
            ty.extend(from.next());
        }
        from.next();
        out.push(Field { ident, ty: ty.into_iter().collect(), options });
    }
    Ok(out)
}

/// Takes the attributes that stand here; those called `record` are read.
fn attributes(from: &mut Tokens, known: &[&str]) -> Result<Options, Wrong> {
    let mut options = Options::default();
    while is(from.peek(), '#') {
        from.next();
        let Some(TokenTree::Group(attribute)) = from.next() else { continue };
        let mut inside = attribute.stream().into_iter();
        let ours = matches!(inside.next(), Some(TokenTree::Ident(word)) if word.to_string() == "record");
        if let (true, Some(TokenTree::Group(list))) = (ours, inside.next()) {
            read(&list.stream(), known, &mut options)?;
        }
    }
    Ok(options)
}

fn read(list: &TokenStream, known: &[&str], into: &mut Options) -> Result<(), Wrong> {
    let mut from = list.clone().into_iter().peekable();
    while let Some(token) = from.next() {
        let (word, at) = (token.to_string(), token.span());
        if !known.contains(&&*word) {
            return Err(Wrong::new(format!("{word} is not known here; known are {}", known.join(", ")), at));
        }
        let flag = match &*word {
            "skip" => Some(&mut into.skip),
            "vector" => Some(&mut into.vector),
            "member_wise" => Some(&mut into.member_wise),
            _ => None,
        };
        if let Some(flag) = flag {
            *flag = true;
        } else {
            let equals = is(from.next().as_ref(), '=');
            let value = match from.next() {
                Some(TokenTree::Literal(value)) if equals => value.to_string(),
                _ => return Err(Wrong::new(format!("{word} wants a value: {word} = ..."), at)),
            };
            let (place, text) = match &*word {
                "class" => (&mut into.class, true),
                "name" => (&mut into.name, true),
                "title" => (&mut into.title, true),
                "compression" => (&mut into.compression, true),
                "counter" => (&mut into.counter, true),
                "basket_bytes" => (&mut into.basket_bytes, false),
                _ => (&mut into.split, false),
            };
            if value.starts_with(['"', 'r']) != text {
                let wanted = if text { "a text" } else { "a number" };
                return Err(Wrong::new(format!("{word} is {wanted}"), at));
            }
            *place = Some(value);
        }
        if let Some(other) = from.next().filter(|t| !is(Some(t), ',')) {
            return Err(Wrong::new("a comma stands between attributes", other.span()));
        }
    }
    Ok(())
}
