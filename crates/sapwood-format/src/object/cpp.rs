//! C++ type names as class descriptions write them.

use super::number::{NAMES, code_of};
use crate::streamer::code;

/// The type of a collection's items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cpp {
    /// A number, by its type code.
    Number(i32),
    /// `std::string`, TString: written in the same way inside collections.
    Text,
    /// A collection of one type.
    Sequence(Box<Cpp>),
    /// A collection of bits, each written as a byte.
    Bits,
    /// Keys and values.
    Map(Box<Cpp>, Box<Cpp>),
    /// A pointer to an object of this class or of one derived from it.
    Pointer(String),
    /// An object of this class.
    Class(String),
}

/// Deeper than any type nests.
const DEEPEST: usize = 64;

impl Cpp {
    /// Parses a type name.
    pub fn parse(name: &str) -> Self {
        Self::parse_within(name, 0)
    }

    fn parse_within(name: &str, depth: usize) -> Self {
        let name = bare(name);
        if let Some(class) = name.strip_suffix('*') {
            return Cpp::Pointer(bare(class).to_owned());
        }
        if let Some(k) = code_of(name) {
            return Cpp::Number(k);
        }
        if matches!(name, "string" | "TString" | "basic_string<char>") {
            return Cpp::Text;
        }
        let inner = |n: &str| Box::new(Self::parse_within(n, depth + 1));
        match template(name) {
            _ if depth > DEEPEST => Cpp::Class(name.to_owned()),
            Some((outer, args)) if is_sequence(outer) && !args.is_empty() => Cpp::Sequence(inner(args[0])),
            Some((outer, args)) if is_map(outer) && args.len() >= 2 => Cpp::Map(inner(args[0]), inner(args[1])),
            Some(("bitset", _)) => Cpp::Bits,
            _ => Cpp::Class(name.to_owned()),
        }
    }

    /// Whether it is a collection (which has one header in front where it is a member).
    pub fn is_collection(&self) -> bool {
        matches!(self, Cpp::Sequence(_) | Cpp::Map(..) | Cpp::Bits)
    }
}

/// A type name without `const`, `std::` and blanks around it.
pub fn bare(name: &str) -> &str {
    let n = name.trim();
    let n = n.strip_prefix("const ").unwrap_or(n).trim();
    n.strip_prefix("std::").unwrap_or(n)
}

/// Splits `map<int,vector<float> >` into `map` and its arguments, at the outermost commas.
pub fn template(name: &str) -> Option<(&str, Vec<&str>)> {
    let name = bare(name);
    let open = name.find('<')?;
    let inside = name[open + 1..].trim_end().strip_suffix('>')?;
    let mut parts = Vec::new();
    let (mut depth, mut from) = (0usize, 0);
    for (i, c) in inside.char_indices() {
        match c {
            '<' | '(' => depth += 1,
            '>' | ')' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => {
                parts.push(inside[from..i].trim());
                from = i + 1;
            }
            _ => {}
        }
    }
    parts.push(inside[from..].trim());
    Some((name[..open].trim(), parts))
}

/// A class name in one spelling: numbers by their C++ names, no `std::`, no unnecessary blanks.
pub fn canonical(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    spell(name, 0, &mut out);
    out
}

fn spell(name: &str, depth: usize, out: &mut String) {
    let name = bare(name);
    match template(name) {
        Some((outer, arguments)) if depth < DEEPEST => {
            out.push_str(outer);
            for (i, argument) in arguments.into_iter().enumerate() {
                out.push(if i == 0 { '<' } else { ',' });
                spell(argument, depth + 1, out);
            }
            out.push('>');
        }
        // packed numbers differ from plain ones only in the file
        _ => out.push_str(match code_of(name) {
            Some(code::DOUBLE32) => "double",
            Some(code::FLOAT16) => "float",
            Some(k) => NAMES.iter().find(|(n, other)| *other == k && !n.ends_with("_t")).map_or(name, |(n, _)| n),
            None => name,
        }),
    }
}

/// The usual name of an integer type that may be written in several words, in any order: `long unsigned int` is `unsigned long`.
pub fn integer(name: &str) -> Option<&'static str> {
    super::number::integer(name)
}

/// Whether a template is a collection of one type.
pub fn is_sequence(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "vector",
        "list",
        "deque",
        "forward_list",
        "set",
        "multiset",
        "unordered_set",
        "unordered_multiset",
        "ROOT::VecOps::RVec",
        "RVec",
    ];
    NAMES.contains(&name)
}

/// Whether a template is a collection of keys and values.
pub fn is_map(name: &str) -> bool {
    matches!(name, "map" | "multimap" | "unordered_map" | "unordered_multimap")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_types() {
        let text = "map<int,std::vector<vector<const char> > >";
        let rows = Cpp::Sequence(Box::new(Cpp::Sequence(Box::new(Cpp::Number(code::CHAR)))));
        assert_eq!(Cpp::parse(text), Cpp::Map(Box::new(Cpp::Number(code::INT)), Box::new(rows)));
        assert_eq!(Cpp::parse("vector<TObject*>"), Cpp::Sequence(Box::new(Cpp::Pointer("TObject".into()))));
        assert_eq!(Cpp::parse("pair<int,float>"), Cpp::Class("pair<int,float>".into()));
        assert_eq!(Cpp::parse("bitset<8>"), Cpp::Bits);
        assert_eq!(template("f<a,b<c,d>,e(g,h)>"), Some(("f", vec!["a", "b<c,d>", "e(g,h)"])));
        assert_eq!(template("a>b<"), None);
        assert_eq!(canonical("my<std::vector<Int_t >, Double32_t>"), "my<vector<int>,double>");
    }
}
