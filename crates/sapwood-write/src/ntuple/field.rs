//! Fields of ntuples as they are declared.

use crate::cpp::CppType;
use crate::schema::{BranchSpec, BranchType};
use sapwood_column::DType;
use sapwood_span::raw_text::bytes_of;
use sapwood_span::{Error, Result};
use std::borrow::Cow;
use std::collections::HashSet;

/// The C++ type of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// A number.
    Number(DType),
    /// `std::string`.
    Text,
    /// `std::array`.
    Array(Box<FieldType>, usize),
    /// `std::vector`.
    Vector(Box<FieldType>),
    /// `std::map`.
    Map(Box<FieldType>, Box<FieldType>),
    /// A record without a class in C++: its members.
    Record(Vec<(String, FieldType)>),
    /// `std::optional`: given as lists of one item or none.
    Optional(Box<FieldType>),
    /// `std::pair` of two, `std::tuple` of any other number: given as records, whose members go by position.
    Tuple(Vec<FieldType>),
    /// `std::variant`: given as records of lists, one for each alternative, of which at most one has an item.
    Variant(Vec<FieldType>),
    /// A `float` or `double` that is stored with fewer bits.
    Reduced(DType, Precision),
}

/// How a real number is stored with fewer bits than it has in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Precision {
    /// As a half-precision number, of 16 bits.
    Half,
    /// The first bits of a single-precision number, 10 to 31: sign, exponent, and what remains of the mantissa.
    Truncated(u16),
    /// A whole number of these bits, 1 to 32, that counts equal steps from the first limit to the second. Values beyond
    /// them are refused.
    Quantized(u16, f64, f64),
}

// limits are compared by their bits: they are the same or they are not
impl Eq for Precision {}

/// A field to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldSpec {
    /// Its name.
    pub name: String,
    /// What an entry holds.
    pub ty: FieldType,
    /// Its description.
    pub description: String,
    /// Descriptions of fields in it, by their path in it. Items are `_0`, which may be omitted.
    pub inside: Vec<(String, String)>,
}

/// The longest name of a field.
const LONGEST_NAME: usize = 1024;
/// How deep fields may be nested.
const DEEPEST: usize = 50;
/// Fields of an ntuple, including those of its fields.
const MOST_FIELDS: usize = 200_000;
/// Members of a tuple.
const MOST_MEMBERS: usize = 1000;
/// Alternatives of a variant.
const MOST_ALTERNATIVES: usize = 125;
/// The most items of an array.
const MOST_ITEMS: usize = 1 << 27;

impl FieldType {
    /// A `std::vector` of this.
    pub fn vector(self) -> Self {
        FieldType::Vector(Box::new(self))
    }

    /// A `std::array` of this.
    pub fn array(self, n: usize) -> Self {
        FieldType::Array(Box::new(self), n)
    }

    /// ROOT's normalized name of the type; empty where it contains a record, which has no class.
    pub fn name(&self) -> String {
        let with = |outer: &str, inner: &[String], more: &str| {
            if inner.iter().any(String::is_empty) {
                return String::new();
            }
            format!("std::{outer}<{}{more}>", inner.join(","))
        };
        match self {
            FieldType::Number(dtype) => number_name(*dtype).to_owned(),
            FieldType::Text => "std::string".to_owned(),
            FieldType::Array(item, n) => with("array", &[item.name()], &format!(",{n}")),
            FieldType::Vector(item) => with("vector", &[item.name()], ""),
            FieldType::Map(key, value) => with("map", &[key.name(), value.name()], ""),
            FieldType::Record(_) => String::new(),
            FieldType::Optional(item) => with("optional", &[item.name()], ""),
            FieldType::Tuple(items) => {
                let outer = if items.len() == 2 { "pair" } else { "tuple" };
                with(outer, &items.iter().map(Self::name).collect::<Vec<_>>(), "")
            }
            FieldType::Variant(items) => with("variant", &items.iter().map(Self::name).collect::<Vec<_>>(), ""),
            FieldType::Reduced(dtype, _) => number_name(*dtype).to_owned(),
        }
    }

    /// The type in words, for messages and lists of fields: `var * {x: float32}`.
    pub fn words(&self) -> String {
        match self {
            FieldType::Number(dtype) => dtype.name().to_owned(),
            FieldType::Text => "string".to_owned(),
            FieldType::Array(item, n) => format!("{n} * {}", item.words()),
            FieldType::Vector(item) => format!("var * {}", item.words()),
            FieldType::Map(key, value) => format!("map<{}, {}>", key.words(), value.words()),
            FieldType::Record(members) => {
                let members: Vec<String> =
                    members.iter().map(|(n, ty)| format!("{}: {}", quoted(n), ty.words())).collect();
                format!("{{{}}}", members.join(", "))
            }
            FieldType::Optional(item) => format!("?{}", item.words()),
            FieldType::Tuple(items) => format!("({})", words_of(items)),
            FieldType::Variant(items) => format!("union[{}]", words_of(items)),
            FieldType::Reduced(DType::F64, precision) => format!("float64 as {}", precision.words()),
            FieldType::Reduced(_, precision) => precision.words(),
        }
    }

    /// Refuses what ROOT cannot read. Returns the number of its fields.
    fn check(&self, depth: usize) -> Result<usize> {
        if depth > DEEPEST {
            return Err(Error::unsupported(format!("it is nested more than {DEEPEST} times")));
        }
        Ok(1 + match self {
            FieldType::Number(_) | FieldType::Text => 0,
            FieldType::Array(item, n) => {
                if *n == 0 || *n > MOST_ITEMS {
                    return Err(Error::invalid(format!("an array cannot have {n} items")));
                }
                let inner = item.check(depth + 1)?;
                if item.name().is_empty() {
                    return Err(Error::unsupported("fixed arrays of records").with_remedy("make them vectors"));
                }
                inner
            }
            FieldType::Vector(item) => item.check(depth + 1)?,
            FieldType::Map(key, value) => {
                let inner = 1 + key.check(depth + 2)? + value.check(depth + 2)?;
                if self.name().is_empty() {
                    return Err(Error::unsupported("maps of records").with_remedy("make them vectors of pairs"));
                }
                inner
            }
            FieldType::Record(members) => {
                if members.is_empty() {
                    return Err(Error::invalid("a record without members"));
                }
                check_names(members.iter().map(|(name, _)| &**name))?;
                members.iter().map(|(_, ty)| ty.check(depth + 1)).sum::<Result<usize>>()?
            }
            FieldType::Optional(item) => {
                let inner = item.check(depth + 1)?;
                if item.name().is_empty() {
                    return Err(Error::unsupported("optional records").with_remedy("make them lists of records"));
                }
                inner
            }
            FieldType::Tuple(items) | FieldType::Variant(items) => {
                let (what, most) = match self {
                    FieldType::Tuple(_) => ("tuple", MOST_MEMBERS),
                    // ROOT counts alternatives in a byte
                    _ => ("variant", MOST_ALTERNATIVES),
                };
                if items.is_empty() || items.len() > most {
                    return Err(Error::invalid(format!("a {what} cannot have {} types", items.len())));
                }
                let inner = items.iter().map(|ty| ty.check(depth + 1)).sum::<Result<usize>>()?;
                // a tuple without a name is a record without a class, whose members are `_0`, `_1`
                if matches!(self, FieldType::Variant(_)) && self.name().is_empty() {
                    return Err(Error::unsupported("values of several types, one of them a record")
                        .with_remedy("make it a record of lists, one for each type"));
                }
                inner
            }
            FieldType::Reduced(dtype, precision) => precision.check(*dtype).map(|()| 0)?,
        })
    }
}

impl Precision {
    fn words(self) -> String {
        match self {
            Precision::Half => "Real16".to_owned(),
            Precision::Truncated(bits) => format!("Real32Trunc<{bits}>"),
            Precision::Quantized(bits, least, most) => format!("Real32Quant<{bits}, {least}, {most}>"),
        }
    }

    fn check(self, dtype: DType) -> Result<()> {
        if !matches!(dtype, DType::F32 | DType::F64) {
            return Err(Error::invalid(format!("only real numbers are stored with fewer bits, not {}", dtype.name())));
        }
        match self {
            Precision::Half | Precision::Truncated(10..=31) => Ok(()),
            Precision::Truncated(bits) => {
                Err(Error::invalid(format!("a real number cannot be truncated to {bits} bits"))
                    .with_remedy("choose 10 to 31 bits"))
            }
            Precision::Quantized(bits, ..) if !(1..=32).contains(&bits) => {
                Err(Error::invalid(format!("steps cannot be counted with {bits} bits"))
                    .with_remedy("choose 1 to 32 bits"))
            }
            // nor are there between limits whose distance has no reciprocal
            Precision::Quantized(bits, least, most)
                if !(least < most && (most - least).is_finite() && (last_step(bits) / (most - least)).is_finite()) =>
            {
                Err(Error::invalid(format!("there are no steps from {least} to {most}"))
                    .with_remedy("specify finite limits, the smaller one first"))
            }
            Precision::Quantized(..) => Ok(()),
        }
    }
}

/// The name of a member in words: between quotation marks where it has characters that types have.
fn quoted(name: &str) -> Cow<'_, str> {
    if name.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return Cow::Borrowed(name);
    }
    Cow::Owned(format!("\"{}\"", name.replace('\\', r"\\").replace('"', r#"\""#)))
}

fn words_of(items: &[FieldType]) -> String {
    items.iter().map(FieldType::words).collect::<Vec<_>>().join(", ")
}

/// The largest number of a step with so many bits.
pub(super) fn last_step(bits: u16) -> f64 {
    f64::from(u32::MAX >> 32u32.saturating_sub(bits.into()))
}

/// ROOT's name of a number in ntuples.
const fn number_name(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::I8 => "std::int8_t",
        DType::U8 => "std::uint8_t",
        DType::I16 => "std::int16_t",
        DType::U16 => "std::uint16_t",
        DType::I32 => "std::int32_t",
        DType::U32 => "std::uint32_t",
        DType::I64 => "std::int64_t",
        DType::U64 => "std::uint64_t",
        DType::F32 => "float",
        DType::F64 => "double",
    }
}

impl FieldSpec {
    /// A field of this type.
    pub fn new(name: impl Into<String>, ty: FieldType) -> Self {
        Self { name: name.into(), ty, description: String::new(), inside: Vec::new() }
    }

    /// Whether such a field can be written.
    ///
    /// # Errors
    /// `Invalid` or `Unsupported`, with the reason.
    pub fn check(&self) -> Result<()> {
        check_fields(std::slice::from_ref(self))
    }

    /// Whether it can be written so deep below another one, beside so many fields. Returns the number of fields that it is.
    pub(super) fn check_below(&self, depth: usize, others: usize) -> Result<usize> {
        check_names(std::iter::once(&*self.name))?;
        let fields = self.ty.check(1 + depth).map_err(|e| e.in_branch(&self.name))?;
        crate::schema::check_title(&self.description).map_err(|e| e.in_branch(&self.name))?;
        check_number(others.saturating_add(fields))?;
        Ok(fields)
    }

    /// The same with a description.
    pub fn described(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// The same with descriptions of fields in it, by their path in it.
    pub fn described_inside(mut self, inside: Vec<(String, String)>) -> Self {
        self.inside = inside;
        self
    }
}

impl From<&CppType> for FieldType {
    fn from(ty: &CppType) -> Self {
        match ty {
            CppType::Number(dtype) => FieldType::Number(*dtype),
            CppType::Array(dtype, n) => FieldType::Number(*dtype).array(*n),
            CppType::Text => FieldType::Text,
            CppType::Vector(item) => Self::from(&**item).vector(),
            CppType::Map(key, value) => FieldType::Map(Box::new((&**key).into()), Box::new((&**value).into())),
            CppType::Class(class) => {
                FieldType::Record(class.members.iter().map(|(name, ty)| (name.clone(), ty.into())).collect())
            }
        }
    }
}

impl From<&BranchSpec> for FieldSpec {
    /// The field that takes the same columns as a branch. Lists of an ntuple have no counters.
    fn from(spec: &BranchSpec) -> Self {
        let ty = match &spec.ty {
            BranchType::Scalar(dtype) => FieldType::Number(*dtype),
            BranchType::Fixed(dtype, n) => FieldType::Number(*dtype).array(*n),
            BranchType::Jagged { dtype, .. } => FieldType::Number(*dtype).vector(),
            BranchType::Object(ty) => ty.into(),
            BranchType::CString => FieldType::Text,
        };
        Self::new(spec.name.clone(), ty).described(spec.title.clone().unwrap_or_default())
    }
}

/// Refuses fields that cannot be written.
pub(super) fn check_fields(fields: &[FieldSpec]) -> Result<()> {
    check_names(fields.iter().map(|f| &*f.name))?;
    let mut sum = 0;
    for field in fields {
        sum += field.ty.check(1).map_err(|e| e.in_branch(&field.name))?;
        crate::schema::check_title(&field.description).map_err(|e| e.in_branch(&field.name))?;
    }
    check_number(sum)
}

fn check_number(fields: usize) -> Result<()> {
    if fields > MOST_FIELDS {
        return Err(Error::unsupported(format!("{fields} fields and members, more than {MOST_FIELDS}")));
    }
    Ok(())
}

/// Refuses names with characters that ROOT refuses.
pub(super) fn check_characters(what: &str, name: &str) -> Result<()> {
    match name.chars().find(|c| "./\\ ".contains(*c) || c.is_control()) {
        None => Ok(()),
        Some(bad) => Err(Error::invalid(format!("{name:?} is not a valid {what} name: ROOT refuses {bad:?} in it"))
            .with_remedy("use letters, digits and underscores")),
    }
}

/// Refuses names that ROOT refuses, and names that occur twice.
fn check_names<'a>(names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut seen = HashSet::new();
    for name in names {
        let len = bytes_of(name).len();
        if len == 0 || len > LONGEST_NAME {
            return Err(Error::invalid(format!("a field name must have 1 to {LONGEST_NAME} bytes, not {len}")));
        }
        check_characters("field", name)?;
        if name.strip_prefix('_').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())) {
            return Err(Error::invalid(format!("{name:?} is not a valid field name: ROOT gives it to items"))
                .with_remedy("use another name"));
        }
        if !seen.insert(name) {
            return Err(Error::invalid(format!("two fields have the name {name}")).with_remedy("use another name"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_roots() {
        let float = FieldType::Number(DType::F32);
        assert_eq!(float.clone().array(3).vector().name(), "std::vector<std::array<float,3>>");
        let map = FieldType::Map(Box::new(FieldType::Text), Box::new(FieldType::Number(DType::I32)));
        assert_eq!(map.name(), "std::map<std::string,std::int32_t>");
        let record = FieldType::Record(vec![("x".to_owned(), float)]);
        assert_eq!(
            (record.clone().vector().name(), record.vector().words()),
            (String::new(), "var * {x: float32}".to_owned())
        );
        let odd = FieldType::Record(vec![("a, \"b\": {".to_owned(), FieldType::Text)]);
        assert_eq!(odd.words(), r#"{"a, \"b\": {": string}"#);
    }

    #[test]
    fn what_cannot_be_written_is_named() {
        let float = || FieldType::Number(DType::F32);
        let fail = |fields: &[FieldSpec]| check_fields(fields).unwrap_err().to_string();
        assert!(fail(&[FieldSpec::new("a.b", float())]).contains("ROOT refuses '.'"));
        assert!(fail(&[FieldSpec::new("_0", float())]).contains("ROOT gives it to items"));
        assert!(fail(&[FieldSpec::new("", float())]).contains("1 to 1024 bytes"));
        assert!(fail(&[FieldSpec::new("a", float()), FieldSpec::new("a", float())]).contains("two fields"));
        assert!(fail(&[FieldSpec::new("a", float().array(0))]).contains("cannot have 0 items"));
        let record = FieldType::Record(vec![("x".to_owned(), float())]);
        assert!(fail(&[FieldSpec::new("a", record.array(2))]).contains("fixed arrays of records"));
        let steps = |least, most| FieldType::Reduced(DType::F64, Precision::Quantized(20, least, most));
        assert!(fail(&[FieldSpec::new("a", steps(1.0, 1.0))]).contains("no steps from 1 to 1"));
        assert!(fail(&[FieldSpec::new("a", steps(0.0, 1e-310))]).contains("no steps"));
        assert!(check_fields(&[FieldSpec::new("a", steps(0.0, 1e-300))]).is_ok());
        assert!(fail(&[FieldSpec::new("a", FieldType::Record(vec![]))]).contains("without members"));
        let deep = (0..100).fold(float(), |ty, _| ty.vector());
        assert!(fail(&[FieldSpec::new("a", deep)]).contains("nested more than 50 times"));
    }
}
