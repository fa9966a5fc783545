//! Types of C++ objects, and their descriptions in a file.

use crate::classes::Described;
use sapwood_column::DType;
use sapwood_format::streamer::code;
use sapwood_format::{ClassInfo, Element};
use sapwood_span::{Error, Result};
use std::collections::HashMap;
use std::sync::Arc;

/// The C++ type of a branch's objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CppType {
    /// A number.
    Number(DType),
    /// A fixed number of numbers; only as a member of a class.
    Array(DType, usize),
    /// `std::string`.
    Text,
    /// `std::vector`.
    Vector(Box<CppType>),
    /// `std::map`.
    Map(Box<CppType>, Box<CppType>),
    /// A class without base classes.
    Class(Arc<Class>),
}

/// A class whose members are all public, in C++ a `struct`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// The version in front of its objects.
    pub version: u16,
    /// Names and types of its members, in order.
    pub members: Vec<(String, CppType)>,
}

impl CppType {
    /// A `std::vector` of this.
    pub fn vector(item: CppType) -> Self {
        CppType::Vector(Box::new(item))
    }

    /// A class of these members.
    pub fn class(name: impl Into<String>, members: Vec<(String, CppType)>) -> Self {
        CppType::Class(Arc::new(Class { name: name.into(), version: 1, members }))
    }

    /// The name in ROOT's spelling: without `std::`, with a blank between closing brackets.
    pub fn name(&self) -> String {
        let close = |inside: String| if inside.ends_with('>') { format!("{inside} >") } else { format!("{inside}>") };
        match self {
            CppType::Number(d) | CppType::Array(d, _) => number_name(*d).to_owned(),
            CppType::Text => "string".to_owned(),
            CppType::Vector(item) => close(format!("vector<{}", item.name())),
            CppType::Map(key, value) => close(format!("map<{},{}", key.name(), value.name())),
            CppType::Class(c) => c.name.clone(),
        }
    }

    /// The name with members in place of class names: `vector<{x: int, y: 3 * float64}>`.
    pub(crate) fn spelled(&self) -> String {
        match self {
            CppType::Vector(item) if item.has_class() => format!("vector<{}>", item.spelled()),
            CppType::Map(key, value) if self.has_class() => format!("map<{},{}>", key.spelled(), value.spelled()),
            CppType::Array(dtype, n) => format!("{n} * {}", dtype.name()),
            CppType::Class(c) => {
                let members: Vec<String> = c.members.iter().map(|(n, m)| format!("{n}: {}", m.spelled())).collect();
                format!("{{{}}}", members.join(", "))
            }
            _ => self.name(),
        }
    }

    /// ROOT's checksum of the class: of its name, and of its members' names, types and extents
    /// (`TClass::GetCheckSum`).
    pub(crate) fn checksum(&self) -> u32 {
        match self {
            // that of the library that ROOT is built with
            CppType::Text => 1_852_773_892,
            CppType::Class(c) => c.checksum(),
            _ => hash(0, &self.name()),
        }
    }

    /// ROOT's version for it.
    pub(crate) fn version(&self) -> u16 {
        match self {
            CppType::Vector(_) | CppType::Map(..) => 6,
            CppType::Text => 2,
            CppType::Class(c) => c.version,
            _ => 1,
        }
    }

    /// The type code of a member of this type.
    pub(crate) fn code(&self) -> i32 {
        match self {
            CppType::Number(d) => number_code(*d),
            CppType::Array(d, _) => number_code(*d) + code::OFFSET_L,
            CppType::Class(_) => code::ANY,
            CppType::Text | CppType::Vector(_) | CppType::Map(..) => code::STL,
        }
    }

    /// Size and alignment in memory.
    fn size(&self) -> (usize, usize) {
        match self {
            CppType::Number(d) => (d.size(), d.size()),
            CppType::Array(d, n) => (d.size() * n, d.size()),
            CppType::Text => (32, 8),
            CppType::Vector(_) => (24, 8),
            CppType::Map(..) => (48, 8),
            CppType::Class(c) => {
                let (mut at, mut most) = (0_usize, 1);
                for (_, member) in &c.members {
                    let (size, align) = member.size();
                    at = at.next_multiple_of(align) + size;
                    most = most.max(align);
                }
                (at.next_multiple_of(most), most)
            }
        }
    }

    /// Whether it is a class or contains classes.
    pub(crate) fn has_class(&self) -> bool {
        match self {
            CppType::Number(_) | CppType::Array(..) | CppType::Text => false,
            CppType::Vector(item) => item.has_class(),
            CppType::Map(key, value) => key.has_class() || value.has_class(),
            CppType::Class(_) => true,
        }
    }

    /// Whether reading it requires descriptions of classes: those of maps' pairs count, too.
    pub(crate) fn is_described(&self) -> bool {
        match self {
            CppType::Number(_) | CppType::Array(..) | CppType::Text => false,
            CppType::Vector(item) => item.is_described(),
            CppType::Map(..) | CppType::Class(_) => true,
        }
    }

    /// The pair type of a map's items.
    pub(crate) fn pair(key: &CppType, value: &CppType) -> Class {
        let name = CppType::Map(Box::new(key.clone()), Box::new(value.clone())).name().replacen("map<", "pair<", 1);
        let members = vec![("first".to_owned(), key.clone()), ("second".to_owned(), value.clone())];
        Class { name, version: 1, members }
    }

    /// Each class that it contains, inner ones first, including the pairs of maps.
    fn classes(&self, each: &mut impl FnMut(&Class)) {
        match self {
            CppType::Number(_) | CppType::Array(..) | CppType::Text => {}
            CppType::Vector(item) => item.classes(each),
            CppType::Map(key, value) => {
                key.classes(each);
                value.classes(each);
                each(&CppType::pair(key, value));
            }
            CppType::Class(c) => {
                c.members.iter().for_each(|(_, m)| m.classes(each));
                each(c);
            }
        }
    }

    /// Describes all classes that it contains.
    pub(crate) fn describe(&self, into: &mut Described) {
        self.classes(&mut |class| into.add(&class.info()));
    }

    /// Refuses a class that has other members under the same name, among those seen before or in the file: a reader of
    /// the file finds one description for both.
    pub(crate) fn check_classes(&self, described: &Described, seen: &mut HashMap<String, u32>) -> Result<()> {
        let mut wrong = None;
        self.classes(&mut |class| {
            let checksum = class.checksum();
            let before = seen.insert(class.name.clone(), checksum);
            if before.is_some_and(|b| b != checksum) || described.differs(&class.name, checksum) {
                wrong.get_or_insert(class.name.clone());
            }
        });
        wrong.map_or(Ok(()), |name| {
            Err(Error::invalid(format!("the file already has a class {name} with different members"))
                .with_remedy("use another name for the class"))
        })
    }
}

impl Class {
    pub(crate) fn checksum(&self) -> u32 {
        self.members.iter().fold(hash(0, &self.name), |sum, (name, member)| {
            let sum = hash(hash(sum, name), &member.name());
            match member {
                CppType::Array(_, n) => sum.wrapping_mul(3).wrapping_add(*n as u32),
                _ => sum,
            }
        })
    }

    /// The description in the file.
    pub(crate) fn info(&self) -> ClassInfo {
        let elements = self.members.iter().map(|(name, member)| element(name, member)).collect();
        ClassInfo { name: self.name.clone(), version: i32::from(self.version), checksum: self.checksum(), elements }
    }
}

fn element(name: &str, member: &CppType) -> Element {
    let mut e = Element {
        name: name.to_owned(),
        code: member.code(),
        size: member.size().0 as i32,
        type_name: member.name(),
        ..Element::default()
    };
    e.kind = match member {
        CppType::Number(_) | CppType::Array(..) => "TStreamerBasicType",
        CppType::Text => "TStreamerSTLstring",
        CppType::Vector(_) | CppType::Map(..) => "TStreamerSTL",
        CppType::Class(_) => "TStreamerObjectAny",
    }
    .to_owned();
    match member {
        CppType::Array(_, n) => {
            e.array_len = *n as i32;
            e.dims = vec![*n as i32];
            e.max_index = [*n as i32, 0, 0, 0, 0];
        }
        CppType::Text => (e.stl, e.content) = (code::STL_STRING, code::STL_STRING),
        CppType::Vector(item) => (e.stl, e.content) = (1, content_code(item)),
        CppType::Map(key, _) => (e.stl, e.content) = (4, content_code(key)),
        _ => {}
    }
    e
}

/// The content of a collection: a number's code, or that of objects.
fn content_code(item: &CppType) -> i32 {
    match item {
        CppType::Number(d) => number_code(*d),
        _ => code::OBJECT,
    }
}

fn hash(seed: u32, text: &str) -> u32 {
    text.bytes().fold(seed, |sum, c| sum.wrapping_mul(3).wrapping_add(u32::from(c)))
}

/// ROOT's name of a number.
pub(crate) const fn number_name(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::I8 => "char",
        DType::U8 => "unsigned char",
        DType::I16 => "short",
        DType::U16 => "unsigned short",
        DType::I32 => "int",
        DType::U32 => "unsigned int",
        DType::I64 => "Long64_t",
        DType::U64 => "ULong64_t",
        DType::F32 => "float",
        DType::F64 => "double",
    }
}

const fn number_code(dtype: DType) -> i32 {
    match dtype {
        DType::Bool => code::BOOL,
        DType::I8 => code::CHAR,
        DType::U8 => code::UCHAR,
        DType::I16 => code::SHORT,
        DType::U16 => code::USHORT,
        DType::I32 => code::INT,
        DType::U32 => code::UINT,
        DType::I64 => code::LONG64,
        DType::U64 => code::ULONG64,
        DType::F32 => code::FLOAT,
        DType::F64 => code::DOUBLE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, members: &[(&str, CppType)]) -> CppType {
        CppType::class(name, members.iter().map(|(n, t)| ((*n).to_owned(), t.clone())).collect())
    }

    /// The numbers are those of ROOT 6.40, from dictionaries generated by rootcling.
    #[test]
    fn checksums_are_roots() {
        use CppType::{Array, Number, Text};
        use DType::{Bool, F32, F64, I32, I64, U8, U64};
        let floats = CppType::vector(Number(F32));
        let pt = named("Pt", &[("px", Number(F32)), ("py", Number(F64))]);
        let hit = [("x", Number(F32)), ("id", Number(I32)), ("v", floats.clone()), ("s", Text), ("a", Array(F64, 3))];
        let event = [
            ("run", Number(I32)),
            ("p", pt.clone()),
            ("v", floats.clone()),
            ("pts", CppType::vector(pt.clone())),
            ("name", Text),
            ("ok", Number(Bool)),
            ("big", Number(U64)),
            ("c", Number(U8)),
            ("ll", Number(I64)),
        ];
        assert_eq!(pt.checksum(), 1_623_189_418);
        assert_eq!(named("Hit", &hit).checksum(), 921_919_175);
        assert_eq!(named("Ev", &event).checksum(), 2_250_591_987);
        assert_eq!(floats.checksum(), 89_790_107);
        assert_eq!(CppType::vector(floats.clone()).checksum(), 2_170_935_584);
        assert_eq!(CppType::pair(&Number(I32), &Number(F32)).checksum(), 1_761_814_904);
        assert_eq!(pt.size(), (16, 8));
        assert_eq!(CppType::Map(Box::new(Text), Box::new(floats)).name(), "map<string,vector<float> >");
    }
}
