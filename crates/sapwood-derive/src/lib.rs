//! `#[derive(Record)]`: the branches of a tree from a struct. Use it through the crate `sapwood`; its meaning is
//! documented at `sapwood::write::Record`.
#![forbid(unsafe_code)]

mod generate;
mod options;

use proc_macro::TokenStream;
use syn::{DeriveInput, Error, parse_macro_input};

/// Makes a struct with named fields a row of a tree, and a class that other rows may contain.
///
/// For the struct: `#[record(class = "ns::Name")]`, its name in C++ (the struct's own by default). For a field:
///
/// - `name = "x"`: the branch's or member's name; by default the field's own.
/// - `skip`: it is not written.
/// - `title = "..."`, `basket_bytes = 64_000`, `compression = "zstd:5"`: of its branch.
/// - `split = 1`: levels of classes that get a branch for each member, as ROOT's split level; 0 for none, 99 by
///   default.
/// - `member_wise`: collections of classes that are not split are written member by member.
/// - `counter = "n"`: the counter of a list of numbers, which several may share; by default `n<name>`.
/// - `vector`: a list of numbers becomes a `std::vector` instead of a counted array.
///
/// Options for the layout of a branch apply where the struct is a tree's row; as a member of another one it is part of
/// that branch.
#[proc_macro_derive(Record, attributes(record))]
pub fn record(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    generate::record(&input).unwrap_or_else(Error::into_compile_error).into()
}
