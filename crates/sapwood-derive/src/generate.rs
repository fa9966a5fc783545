//! The implementations for a struct: put together as text, in which `__FIELD_n` stands for the type of the field, whose
//! own tokens take its place, so that the compiler points at the field.

use crate::parse::{Field, Record};
use proc_macro::{Group, TokenStream, TokenTree};
use std::fmt::Write;

const PLACE: &str = "__FIELD_";

pub(crate) fn tokens(record: &Record) -> TokenStream {
    let types: Vec<&TokenStream> = record.fields.iter().map(|f| &f.ty).collect();
    match text(record).parse::<TokenStream>() {
        Ok(stream) => splice(stream, &types),
        // a literal that was no literal: the compiler has said so before
        Err(_) => TokenStream::new(),
    }
}

fn splice(stream: TokenStream, types: &[&TokenStream]) -> TokenStream {
    let one = |token: TokenTree| match token {
        TokenTree::Ident(ident) => {
            let ty =
                ident.to_string().strip_prefix(PLACE).and_then(|n| n.parse().ok()).and_then(|n: usize| types.get(n));
            ty.map_or_else(|| TokenTree::Ident(ident).into(), |&ty| ty.clone())
        }
        TokenTree::Group(group) => {
            let mut new = Group::new(group.delimiter(), splice(group.stream(), types));
            new.set_span(group.span());
            TokenTree::Group(new).into()
        }
        other => TokenStream::from(other),
    };
    stream.into_iter().map(one).collect()
}

/// The name of a branch or member, as text in Rust.
fn name(field: &Field) -> String {
    field.options.name.clone().unwrap_or_else(|| format!("{:?}", field.ident.trim_start_matches("r#")))
}

fn text(record: &Record) -> String {
    let Record { name: this, lifetimes, class, fields } = record;
    let (mut members, mut columns, mut pushes) = (String::new(), String::new(), String::new());
    let (mut branches, mut starts, mut fills) = (String::new(), String::new(), String::new());
    for (i, field) in fields.iter().enumerate() {
        let (name, ident) = (name(field), &field.ident);
        let (ty, named) = (format!("<{PLACE}{i} as Value>"), format!("::std::string::String::from({name})"));
        // writing to a text cannot fail
        let _ = write!(members, "({named}, {ty}::cpp()),");
        let _ = write!(columns, "({named}, {ty}::column()),");
        let _ = write!(
            pushes,
            "if let ::core::option::Option::Some((_, column)) = fields.next() {{ {ty}::append_to(&self.{ident}, column); }}"
        );
        let _ = write!(branches, "{{ {} ::std::vec::Vec::push(&mut branches, branch); }}", branch(field, &name, &ty));
        let _ = write!(starts, "{ty}::column(),");
        let _ = write!(
            fills,
            "if let ::core::option::Option::Some(column) = columns.next() {{ {ty}::append_to(&self.{ident}, column); }}"
        );
    }
    format!(
        "const _: () = {{
            use ::sapwood::write::{{BranchSpec, CppType, Record, Value}};
            use ::sapwood::Array;
            #[automatically_derived]
            impl{lifetimes} Value for {this}{lifetimes} {{
                fn cpp() -> CppType {{ CppType::class({class}, ::std::vec![{members}]) }}
                fn column() -> Array {{ Array::Record {{ len: 0, fields: ::std::vec![{columns}] }} }}
                fn append_to(&self, column: &mut Array) {{
                    if let Array::Record {{ len, fields }} = column {{
                        let mut fields = fields.iter_mut();
                        {pushes}
                        *len += 1;
                    }}
                }}
            }}
            #[automatically_derived]
            impl{lifetimes} Record for {this}{lifetimes} {{
                fn branches() -> ::sapwood::Result<::std::vec::Vec<BranchSpec>> {{
                    let mut branches = ::std::vec::Vec::new();
                    {branches}
                    ::core::result::Result::Ok(branches)
                }}
                fn columns() -> ::std::vec::Vec<Array> {{ ::std::vec![{starts}] }}
                fn fill(&self, columns: &mut [Array]) {{
                    let mut columns = columns.iter_mut();
                    {fills}
                }}
            }}
        }};"
    )
}

/// The statements that make a branch.
fn branch(field: &Field, name: &str, ty: &str) -> String {
    let o = &field.options;
    let make =
        if o.vector { format!("BranchSpec::object({name}, {ty}::cpp())") } else { format!("{ty}::branch({name})") };
    let mut out = format!("#[allow(unused_mut)] let mut branch = {make};");
    let mut set = |place: &str, value: String| {
        let _ = write!(out, "branch.{place} = {value};");
    };
    let some = |value: &str| format!("::core::option::Option::Some({value})");
    if let Some(title) = &o.title {
        set("title", some(&format!("::std::string::String::from({title})")));
    }
    if let Some(text) = &o.compression {
        set(
            "compression",
            some(&format!(
                "::core::str::FromStr::from_str({text}).map_err(|e: ::sapwood::Error| e.in_branch({name}))?"
            )),
        );
    }
    if let Some(bytes) = &o.basket_bytes {
        set("basket_bytes", some(bytes));
    }
    if let Some(level) = &o.split {
        set("split_level", level.clone());
    }
    if o.member_wise {
        set("member_wise", "true".to_owned());
    }
    if let Some(counter) = &o.counter {
        let _ = write!(out, "branch = branch.counted_by({counter})?;");
    }
    out
}
