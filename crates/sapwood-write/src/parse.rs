//! C++ types by name.

use crate::classes::Described;
use crate::cpp::{Class, CppType, number_name};
use sapwood_column::DType;
use sapwood_format::Element;
use sapwood_format::streamer::code;
use sapwood_span::{Error, Result};
use std::sync::Arc;

/// Maximum nesting of templates: deeper is not real data.
const DEEPEST: usize = 20;

impl CppType {
    /// The type of this name: numbers by their C++, ROOT or `<cstdint>` names, `string`, `vector<…>`, `map<…,…>`, with
    /// or without `std::`.
    ///
    /// # Errors
    /// `Unsupported` for every other name, including classes.
    pub fn parse(name: &str) -> Result<Self> {
        named(name, &Described::default(), 0)
    }
}

/// The type of a name, where classes are those described in a file.
pub(crate) fn named(name: &str, described: &Described, depth: usize) -> Result<CppType> {
    let name = bare(name);
    if depth > DEEPEST {
        return Err(Error::unsupported(format!("the type {name}, nested too deeply")));
    }
    if let Some(dtype) = number(name) {
        return Ok(CppType::Number(dtype));
    }
    if name == "string" {
        return Ok(CppType::Text);
    }
    let unknown = || {
        Error::unsupported(format!("the type {name}"))
            .with_remedy("use numbers, string, vector<>, map<,> and classes of them")
    };
    if let Some(open) = name.find('<') {
        let inside = name.get(open + 1..).and_then(|rest| rest.trim_end().strip_suffix('>')).ok_or_else(unknown)?;
        let arguments = arguments(inside);
        return match (name.get(..open).map(str::trim), arguments.as_slice()) {
            (Some("vector"), [item]) => Ok(CppType::vector(named(item, described, depth + 1)?)),
            (Some("map"), [key, value]) => {
                let side = |n: &str| named(n, described, depth + 1).map(Box::new);
                Ok(CppType::Map(side(key)?, side(value)?))
            }
            _ => Err(unknown()),
        };
    }
    let mut found = described.classes().iter().filter(|c| c.name == name);
    let (Some(class), None) = (found.next(), found.next()) else { return Err(unknown()) };
    let members = class.elements.iter().map(|e| {
        let ty = member(e, described, depth + 1)
            .map_err(|x| Error::new(x.kind(), format!("member {} of {name}: {}", e.name, x.what())))?;
        Ok((e.name.clone(), ty))
    });
    let version = u16::try_from(class.version).ok().filter(|v| *v > 0).ok_or_else(unknown)?;
    Ok(CppType::Class(Arc::new(Class { name: name.to_owned(), version, members: members.collect::<Result<_>>()? })))
}

fn member(e: &Element, described: &Described, depth: usize) -> Result<CppType> {
    let other = || Error::unsupported(format!("a {} of type {}", e.kind, e.type_name));
    match (e.code, e.array_len) {
        (1..code::OFFSET_L, 0) => Ok(CppType::Number(number(&e.type_name).ok_or_else(other)?)),
        (code::OFFSET_L..code::OFFSET_P, n) if n > 0 && e.dims.len() == 1 => {
            Ok(CppType::Array(number(&e.type_name).ok_or_else(other)?, n as usize))
        }
        (code::STL | code::STL_STRING | code::ANY, 0) => named(&e.type_name, described, depth),
        _ => Err(other()),
    }
}

/// A name without `const`, `std::` and blanks around it.
fn bare(name: &str) -> &str {
    let name = name.trim();
    let name = name.strip_prefix("const ").unwrap_or(name).trim();
    name.strip_prefix("std::").unwrap_or(name)
}

/// The parts between the commas outside of inner brackets.
fn arguments(inside: &str) -> Vec<&str> {
    let (mut out, mut depth, mut from) = (Vec::new(), 0, 0);
    for (i, c) in inside.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            ',' if depth == 0 => {
                out.push(inside.get(from..i).unwrap_or_default().trim());
                from = i + 1;
            }
            _ => {}
        }
    }
    out.push(inside.get(from..).unwrap_or_default().trim());
    out
}

fn number(name: &str) -> Option<DType> {
    use DType::{Bool, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    let all = [Bool, I8, U8, I16, U16, I32, U32, I64, U64, F32, F64];
    if let Some(dtype) = all.into_iter().find(|d| number_name(*d) == name || d.name() == name) {
        return Some(dtype);
    }
    Some(match sapwood_format::object::cpp::integer(name).unwrap_or(name) {
        "Bool_t" => Bool,
        "Char_t" | "int8_t" | "signed char" | "char" => I8,
        "UChar_t" | "uint8_t" | "unsigned char" => U8,
        "Short_t" | "int16_t" | "short" => I16,
        "UShort_t" | "uint16_t" | "unsigned short" => U16,
        "Int_t" | "int32_t" | "int" => I32,
        "UInt_t" | "uint32_t" | "unsigned int" => U32,
        "int64_t" | "long long" | "long" | "Long_t" => I64,
        "uint64_t" | "unsigned long long" | "unsigned long" | "ULong_t" => U64,
        "Float_t" => F32,
        "Double_t" => F64,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_types_agree() {
        for name in ["vector<vector<float> >", "map<string,vector<Long64_t> >", "vector<string>", "map<int,double>"] {
            assert_eq!(CppType::parse(name).unwrap().name(), name);
        }
        assert_eq!(CppType::parse("std::vector<std::vector<int64_t>>").unwrap().name(), "vector<vector<Long64_t> >");
        assert_eq!(CppType::parse("vector<long unsigned int>").unwrap().name(), "vector<ULong64_t>");
        for name in ["Hit", "vector<", "vector<int,int>", "list<int>", "float*", ""] {
            assert!(CppType::parse(name).is_err(), "{name}");
        }
    }

    #[test]
    fn classes_are_found_again() {
        let pt = CppType::class(
            "Pt",
            vec![("x".into(), CppType::Number(DType::F32)), ("w".into(), CppType::Array(DType::I64, 3))],
        );
        let class = CppType::class(
            "C",
            vec![
                ("p".into(), pt.clone()),
                ("ps".into(), CppType::vector(pt)),
                ("s".into(), CppType::Text),
                ("m".into(), CppType::Map(Box::new(CppType::Text), Box::new(CppType::Number(DType::Bool)))),
            ],
        );
        let mut described = Described::default();
        class.describe(&mut described);
        assert_eq!(named("vector<C>", &described, 0).unwrap(), CppType::vector(class));
    }
}
