//! Objects as data: the content of an object of any class, as the file describes it.

use crate::streamer::{ClassInfo, Element};
use sapwood_span::raw_text::text_of;
use sapwood_span::{ErrorKind, Span};
use std::borrow::Cow;
use std::sync::Arc;

/// An object and all objects that it points to.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    pub(super) all: Vec<Object>,
    pub(super) refused: Vec<Refused>,
}

/// A part of an object that cannot be read, and why; the rest of the object is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Class of the refused part.
    pub class: String,
    /// Its bytes in the object's decompressed payload, label included.
    pub span: Span,
    /// `Corrupt` where its bytes do not follow the description of its class, `Unsupported` where there is none.
    pub kind: ErrorKind,
    /// The reason.
    pub why: String,
}

impl Objects {
    /// The object of the key itself.
    pub fn root(&self) -> &Object {
        // there is always one: the reader creates it first
        &self.all[0]
    }

    /// The target of a [`Value::Pointer`].
    pub fn get(&self, index: usize) -> Option<&Object> {
        self.all.get(index)
    }

    /// All objects, the key's own first, then those pointed to.
    pub fn all(&self) -> &[Object] {
        &self.all
    }

    /// Parts that could not be read.
    pub fn refused(&self) -> &[Refused] {
        &self.refused
    }

    /// The object that a value is or points to.
    pub fn object<'a>(&'a self, value: &'a Value) -> Option<&'a Object> {
        match value {
            Value::Object(o) => Some(o),
            Value::Pointer(i) => self.get(*i),
            _ => None,
        }
    }
}

/// An object: its class and a value for each base and member.
#[derive(Clone, Debug)]
pub struct Object {
    /// The class as it was written: name, version, bases and members.
    pub class: Arc<ClassInfo>,
    /// A value for each element of the class, bases included, in its order.
    pub values: Vec<Value>,
    /// The content of classes with custom streamers: the items of a list, the numbers of a TArray, the pairs of a TMap.
    pub content: Value,
}

impl Object {
    /// Its bases, with their objects.
    pub fn bases(&self) -> impl Iterator<Item = &Value> {
        self.elements().filter(|(e, _)| e.is_base()).map(|(_, v)| v)
    }

    /// Its own members, without those of its bases.
    pub fn members(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.elements().filter(|(e, _)| !e.is_base()).map(|(e, v)| (e.name.as_str(), v))
    }

    /// The elements of its class with their values.
    pub fn elements(&self) -> impl Iterator<Item = (&Element, &Value)> {
        self.class.elements.iter().zip(&self.values)
    }

    /// A member of the object or of one of its bases.
    pub fn member(&self, name: &str) -> Option<&Value> {
        let own = self.members().find(|(n, _)| *n == name).map(|(_, v)| v);
        own.or_else(|| self.base_objects().find_map(|b| b.member(name)))
    }

    /// Whether the object is of this class or has it as a base.
    pub fn is_a(&self, class: &str) -> bool {
        self.class.name == class || self.base_objects().any(|b| b.is_a(class))
    }

    /// The content of the object or of its first base with content, apart from members.
    pub fn content(&self) -> &Value {
        match &self.content {
            Value::Null => {
                self.base_objects().map(Object::content).find(|c| **c != Value::Null).unwrap_or(&Value::Null)
            }
            here => here,
        }
    }

    fn base_objects(&self) -> impl Iterator<Item = &Object> {
        self.bases().filter_map(|b| match b {
            Value::Object(o) => Some(&**o),
            _ => None,
        })
    }
}

/// Objects are the same when class, version and values are.
impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        (&self.class.name, self.class.version, &self.values, &self.content)
            == (&other.class.name, other.class.version, &other.values, &other.content)
    }
}

/// The value of a member.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A null pointer, or nothing.
    Null,
    /// `Bool_t`.
    Bool(bool),
    /// A signed number of any width.
    Int(i64),
    /// An unsigned number of any width.
    UInt(u64),
    /// A number of 32 bits.
    Float(f32),
    /// A number of 64 bits.
    Double(f64),
    /// Text: TString, std::string, `char*`. ROOT does not say how it is encoded; nearly always UTF-8.
    Text(Box<[u8]>),
    /// Numbers of one type, in one dimension or several.
    Numbers(Box<Numbers>),
    /// Values in sequence.
    List(Vec<Value>),
    /// Keys and their values.
    Map(Box<[(Value, Value)]>),
    /// An object within the object.
    Object(Box<Object>),
    /// A pointer: the number of an object in [`Objects`].
    Pointer(usize),
    /// A part that cannot be read: index of the reason in [`Objects::refused`].
    Refused(usize),
}

impl Value {
    /// A whole number that fits; none for other values.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Value::Int(i) => Some(*i),
            Value::UInt(u) => i64::try_from(*u).ok(),
            Value::Bool(b) => Some(i64::from(*b)),
            _ => None,
        }
    }

    /// Any number.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Int(i) => Some(*i as f64),
            Value::UInt(u) => Some(*u as f64),
            Value::Bool(b) => Some(f64::from(u8::from(*b))),
            Value::Float(x) => Some(f64::from(*x)),
            Value::Double(x) => Some(*x),
            _ => None,
        }
    }

    /// Text; bytes that are not UTF-8 are kept, see [`sapwood_span::raw_text`].
    pub fn as_text(&self) -> Option<Cow<'_, str>> {
        match self {
            Value::Text(b) => Some(Cow::Owned(text_of(b))),
            _ => None,
        }
    }
}

/// Numbers of one type; several dimensions are stored row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    /// Extents, outermost first.
    pub shape: Vec<usize>,
    /// The numbers.
    pub data: Data,
}

macro_rules! data {
    ($($(#[$doc:meta])* $name:ident($t:ty)),* $(,)?) => {
        /// Numbers of one type.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Data {
            $($(#[$doc])* $name(Vec<$t>),)*
        }

        impl Data {
            /// How many.
            pub fn len(&self) -> usize {
                match self { $(Data::$name(v) => v.len(),)* }
            }

            /// Bytes in memory.
            pub fn nbytes(&self) -> usize {
                match self { $(Data::$name(v) => std::mem::size_of_val(v.as_slice()),)* }
            }

            /// Whether there are none.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }
    };
}

data! {
    /// `Bool_t`, as bytes that are 0 or 1.
    Bool(u8),
    /// 8 bits.
    I8(i8),
    /// 8 bits without sign.
    U8(u8),
    /// 16 bits.
    I16(i16),
    /// 16 bits without sign.
    U16(u16),
    /// 32 bits.
    I32(i32),
    /// 32 bits without sign.
    U32(u32),
    /// 64 bits.
    I64(i64),
    /// 64 bits without sign.
    U64(u64),
    /// 32 bits.
    F32(f32),
    /// 64 bits.
    F64(f64),
}

impl Data {
    /// One number; none beyond the end.
    pub fn get(&self, i: usize) -> Option<Value> {
        Some(match self {
            Data::Bool(v) => Value::Bool(*v.get(i)? != 0),
            Data::I8(v) => Value::Int((*v.get(i)?).into()),
            Data::U8(v) => Value::UInt((*v.get(i)?).into()),
            Data::I16(v) => Value::Int((*v.get(i)?).into()),
            Data::U16(v) => Value::UInt((*v.get(i)?).into()),
            Data::I32(v) => Value::Int((*v.get(i)?).into()),
            Data::U32(v) => Value::UInt((*v.get(i)?).into()),
            Data::I64(v) => Value::Int(*v.get(i)?),
            Data::U64(v) => Value::UInt(*v.get(i)?),
            Data::F32(v) => Value::Float(*v.get(i)?),
            Data::F64(v) => Value::Double(*v.get(i)?),
        })
    }
}

impl Numbers {
    /// One dimension.
    pub fn flat(data: Data) -> Self {
        Self { shape: vec![data.len()], data }
    }
}
