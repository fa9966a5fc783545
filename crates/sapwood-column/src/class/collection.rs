//! Turns the names of collections into items.

use super::{Context, arrays, class_item, class_or_absent, number_item, pointer};
use crate::cpp_names::{bare, is_collection, is_list, is_map, pointee, template};
use crate::item::DEEPEST;
use crate::{DType, Item, Object, PackedFloat, kernel};
use sapwood_format::streamer::{ClassInfo, code};
use sapwood_span::{Error, Result};

/// A collection or string with byte count and version in front, or an array of them with one header; `content` is the
/// type code of its items, where the class description has it (0: unknown).
pub(crate) fn headed(name: &str, dims: &[usize], content: i32, cx: &Context) -> Result<Item> {
    let item = match inside(name, cx, 0) {
        // an enumeration: the file does not describe it, but has its underlying type; always four bytes are written
        Ok(Item::Records(item)) if matches!(*item, Item::Enumeration(_)) => match number_item(content, "") {
            Some(number @ Item::Number(_)) if number.fixed_size() == Some(4) => Item::Sequence(Box::new(number)),
            Some(Item::Number(_)) => Item::Sequence(Box::new(Item::Number(DType::I32))),
            _ => Item::Records(item),
        },
        other => other?,
    };
    match item {
        item @ (Item::Sequence(_) | Item::Records(_)) => Ok(Item::Headed(Box::new(arrays(item, dims)))),
        Item::Text if bare(name) != "TString" => Ok(Item::Headed(Box::new(arrays(Item::Text, dims)))),
        item => Ok(arrays(item, dims)),
    }
}

/// An item inside a collection: without its own header, except for objects.
pub(crate) fn inside(name: &str, cx: &Context, depth: usize) -> Result<Item> {
    if depth > DEEPEST {
        return Err(Error::unsupported("collections that are too deeply nested"));
    }
    match bare(name) {
        "string" | "TString" => return Ok(Item::Text),
        "Double32_t" => return Ok(Item::Packed(PackedFloat::Float, DType::F64)),
        "Float16_t" => return Ok(Item::Packed(PackedFloat::Truncated { bits: 12 }, DType::F32)),
        "" => return Err(Error::unsupported("a collection without an item type")),
        _ => {}
    }
    if let Some(d) = kernel::dtype_of(bare(name)) {
        return Ok(Item::Number(d));
    }
    match pointee(name) {
        // written as the string that it points to
        Some(class) if bare(class) == "string" => return Ok(Item::Text),
        Some(class) => return pointer(class, cx),
        None => {}
    }
    let (outer, arguments) = template(name).unwrap_or_default();
    if outer == "bitset" {
        return Ok(Item::Sequence(Box::new(Item::Number(DType::Bool))));
    }
    if is_map(outer) {
        let [key, value, ..] = arguments.as_slice() else {
            return Err(Error::unsupported(format!("the type {name}")));
        };
        let described = cx.versions(&format!("pair<{key},{value}>"));
        let half = |name: &str, number: usize| {
            let item = member(name, cx, depth + 1)?;
            // an enumeration is as wide here as in memory
            let element = described.first().and_then(|pair| pair.elements.get(number));
            Ok(match (item, element.and_then(|e| number_item(e.code, ""))) {
                (Item::Enumeration(_), Some(number)) => number,
                (item, _) => item,
            })
        };
        let pair = (half(key, 0)?, half(value, 1)?);
        return Ok(Item::Records(Box::new(Item::Pair(Box::new(pair)))));
    }
    if is_list(outer) {
        let Some(argument) = arguments.first() else { return Err(Error::unsupported(format!("the type {name}"))) };
        return Ok(match inside(argument, cx, depth + 1)? {
            item @ (Item::Object(_) | Item::Absent(_) | Item::Enumeration(_)) => Item::Records(Box::new(item)),
            item => Item::Sequence(Box::new(item)),
        });
    }
    match class_or_absent(name, cx)? {
        Item::Absent(_) if depth == 0 || name.contains('*') => Err(Error::unsupported(format!("the type {name}"))),
        Item::Absent(class) if !class.contains('<') => Ok(Item::Enumeration(class)),
        item => Ok(item),
    }
}

/// A map's key or value as stored in a map written member by member: as a member of a class.
fn member(name: &str, cx: &Context, depth: usize) -> Result<Item> {
    Ok(match inside(name, cx, depth)? {
        item @ (Item::Sequence(_) | Item::Records(_)) => Item::Headed(Box::new(item)),
        Item::Text if bare(name) == "string" => Item::Headed(Box::new(Item::Text)),
        item => item,
    })
}

/// A class that is not described under its own name, but under that of another argument of the same template which does
/// not affect its bytes; and pairs, whose members need no description.
pub(crate) fn relative(name: &str, cx: &Context) -> Option<Result<Item>> {
    let (outer, arguments) = template(name)?;
    match (outer, arguments.as_slice()) {
        ("pair", [first, second]) => Some(pair(name, first, second, cx)),
        // ATLAS's links: those that were never set are not described
        ("ElementLink", _) => {
            let other = cx.streamers.classes().iter().find(|c| template(&c.name).is_some_and(|(o, _)| o == outer))?;
            Some(class_item(&other.name, cx))
        }
        // an argument given by its name inside the class
        (_, arguments) if arguments.contains(&"value_type") => {
            let fits = |other: &[&str]| {
                other.len() == arguments.len() && arguments.iter().zip(other).all(|(a, b)| a == b || *a == "value_type")
            };
            let mut found = cx
                .streamers
                .classes()
                .iter()
                .filter(|c| template(&c.name).is_some_and(|(o, a)| o == outer && fits(&a)));
            let other = found.next()?;
            found.next().is_none().then(|| class_item(&other.name, cx))
        }
        _ => None,
    }
}

/// A pair as an object: it has a header, with the version of any class without versions.
fn pair(name: &str, first: &str, second: &str, cx: &Context) -> Result<Item> {
    let members = vec![("first".to_owned(), member(first, cx, 1)?), ("second".to_owned(), member(second, cx, 1)?)];
    Ok(Item::Object(Object { class: name.to_owned(), version: -1, members, ..Object::default() }))
}

/// Whether the class marks itself as a collection: its description is only `This`.
pub(crate) fn is_own(info: &ClassInfo) -> bool {
    matches!(info.elements.as_slice(), [e] if e.name == "This" && e.code == code::STL) && !is_collection(&info.name)
}

/// A class that marks itself as a collection, like ATLAS's `DataVector`: its items are given by the template argument.
pub(crate) fn own(info: &ClassInfo, cx: &Context) -> Result<Item> {
    let item = match template(&info.name).and_then(|(_, a)| a.first().copied()) {
        Some(content) => match inside(content, cx, 1)? {
            Item::Enumeration(class) => Item::Absent(class),
            item => item,
        },
        None => Item::Absent(format!("{}::value_type", info.name)),
    };
    Ok(Item::Headed(Box::new(Item::Records(Box::new(item)))))
}
