use crate::cpp::CppType;
use crate::layout::LONGEST_ENTRY;
use sapwood_codec::Compression;
use sapwood_column::DType;
use sapwood_span::raw_text::bytes_of;
use sapwood_span::{Error, Result, setters};

/// The content of one entry of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchType {
    /// One number.
    Scalar(DType),
    /// A fixed number of numbers per entry, at least one.
    Fixed(DType, usize),
    /// Any number of numbers.
    Jagged {
        /// The type of the numbers.
        dtype: DType,
        /// The branch that counts them: `n` and the branch's name when `None`. Branches with the
        /// same counter must have equal counts in every entry.
        counter: Option<String>,
    },
    /// A C++ object: a string, a collection, a class.
    Object(CppType),
    /// A string of bytes, as ROOT stores C strings (`TLeafC`).
    CString,
}

/// A branch to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BranchSpec {
    /// Its name, and its leaf's.
    pub name: String,
    /// Its title; ROOT's own, the leaf list (`x[nx]/F`), when `None`.
    pub title: Option<String>,
    /// What an entry holds.
    pub ty: BranchType,
    /// Its baskets' compression; the tree's when `None`.
    pub compression: Option<Compression>,
    /// Bytes of a basket before compression; the tree's when `None`.
    pub basket_bytes: Option<u32>,
    /// The extents of an entry of [`BranchType::Fixed`], outermost first, where there are several; their product is the
    /// number of its numbers.
    pub extents: Vec<usize>,
    /// How many levels of classes, collections of classes and maps get a branch for each member: ROOT's split level, 0
    /// for none, 99 for all.
    pub split_level: u8,
    /// Whether collections of classes that are not split are written member by member, as ROOT does, or object by
    /// object, as uproot can read them.
    pub member_wise: bool,
}

setters!(BranchSpec { split_level: u8 } into { basket_bytes: Option<u32>, extents: Vec<usize> });

impl BranchSpec {
    /// A branch of this type.
    pub fn new(name: impl Into<String>, ty: BranchType) -> Self {
        Self {
            name: name.into(),
            title: None,
            ty,
            compression: None,
            basket_bytes: None,
            extents: Vec::new(),
            split_level: 99,
            member_wise: false,
        }
    }

    /// A branch of one number per entry.
    pub fn scalar(name: impl Into<String>, dtype: DType) -> Self {
        Self::new(name, BranchType::Scalar(dtype))
    }

    /// A branch of `n` numbers per entry.
    pub fn fixed(name: impl Into<String>, dtype: DType, n: usize) -> Self {
        Self::new(name, BranchType::Fixed(dtype, n))
    }

    /// A branch of any number of numbers per entry, with its own counter branch `n<name>`.
    pub fn jagged(name: impl Into<String>, dtype: DType) -> Self {
        Self::new(name, BranchType::Jagged { dtype, counter: None })
    }

    /// The same with this counter branch, which several branches may share.
    pub fn jagged_by(name: impl Into<String>, dtype: DType, counter: impl Into<String>) -> Self {
        Self::new(name, BranchType::Jagged { dtype, counter: Some(counter.into()) })
    }

    /// A branch of a C++ object per entry.
    pub fn object(name: impl Into<String>, ty: CppType) -> Self {
        Self::new(name, BranchType::Object(ty))
    }

    /// A branch of such values.
    pub fn of<T: crate::Value>(name: impl Into<String>) -> Self {
        T::branch(&name.into())
    }

    /// The same counted by this branch.
    ///
    /// # Errors
    /// `Invalid` when it is not a list of numbers.
    pub fn counted_by(mut self, name: &str) -> Result<Self> {
        match &mut self.ty {
            BranchType::Jagged { counter, .. } => *counter = Some(name.to_owned()),
            _ => {
                return Err(Error::invalid(format!("{name} cannot count it: it is not a list of numbers"))
                    .in_branch(&self.name));
            }
        }
        Ok(self)
    }

    /// The same with a title.
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// The same with its own compression.
    pub fn compressed(mut self, compression: Compression) -> Self {
        self.compression = Some(compression);
        self
    }

    /// The same in one branch, whatever its type.
    pub fn unsplit(mut self) -> Self {
        self.split_level = 0;
        self
    }

    /// The same in one branch, collections of classes member by member.
    pub fn member_wise(mut self) -> Self {
        (self.split_level, self.member_wise) = (0, true);
        self
    }
}

/// The longest name: a basket's key must stay below 32 kB with it.
const LONGEST_NAME: usize = 1024;
/// The longest title of a tree or branch.
const LONGEST_TITLE: usize = 16_384;
/// Members of a class, including those of its members.
const MOST_MEMBERS: usize = 10_000;

/// Whether a branch can be written.
pub(crate) fn check_spec(spec: &BranchSpec) -> Result<()> {
    check_name("branch", &spec.name)?;
    if spec.split_level > 99 {
        return Err(
            Error::invalid(format!("there is no split level {}", spec.split_level)).with_remedy("choose 0 to 99")
        );
    }
    if let Some(title) = &spec.title {
        check_title(title)?;
    }
    if let Some(bytes) = spec.basket_bytes {
        check_basket_bytes(bytes)?;
    }
    match &spec.ty {
        BranchType::Fixed(dtype, n) => {
            check_extent(*dtype, *n)?;
            let product = spec.extents.iter().try_fold(1_usize, |p, &e| p.checked_mul(e));
            if !spec.extents.is_empty() && product != Some(*n) {
                return Err(Error::invalid(format!("extents {:?} do not make {n} values", spec.extents)));
            }
            Ok(())
        }
        BranchType::Jagged { counter: Some(counter), .. } => check_name("counter", counter),
        BranchType::Object(ty) => check_type(ty, false).map(drop),
        _ => Ok(()),
    }
}

/// Refuses invalid buffer sizes.
pub(crate) fn check_basket_bytes(bytes: u32) -> Result<()> {
    if (100..=1 << 29).contains(&bytes) {
        return Ok(());
    }
    Err(Error::invalid(format!("basket size {bytes} is out of range")).with_remedy("choose 100 bytes to 512 MiB"))
}

fn check_extent(dtype: DType, n: usize) -> Result<()> {
    if n == 0 || (n as u64).saturating_mul(dtype.size() as u64) > LONGEST_ENTRY {
        return Err(Error::invalid(format!("an entry cannot have {n} values"))
            .with_remedy("use 1 or more values, at most 1 GiB"));
    }
    Ok(())
}

/// Refuses types that cannot be written; returns how many members a type has in all.
fn check_type(ty: &CppType, member: bool) -> Result<usize> {
    match ty {
        CppType::Number(_) | CppType::Array(..) if !member => {
            Err(Error::invalid("a number is not an object").with_remedy("make it a branch of numbers"))
        }
        CppType::Number(_) | CppType::Text => Ok(1),
        CppType::Array(dtype, n) => check_extent(*dtype, *n).map(|()| 1),
        CppType::Vector(item) => check_item(item),
        CppType::Map(key, value) => Ok(check_item(key)? + check_item(value)?),
        CppType::Class(class) => {
            let fair = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let name = |n: &str| n.chars().all(fair) && n.chars().next().is_some_and(|c| !c.is_ascii_digit());
            if !class.name.split("::").all(name) || class.members.is_empty() {
                return Err(Error::invalid(format!(
                    "a class with {} members cannot be named {:?}",
                    class.members.len(),
                    class.name
                ))
                .with_remedy("specify its name and at least one member, as in C++"));
            }
            let mut sum = 1;
            for (i, (n, ty)) in class.members.iter().enumerate() {
                if !name(n) || n.len() > LONGEST_NAME || class.members.iter().take(i).any(|(other, _)| other == n) {
                    return Err(Error::invalid(format!("class {} cannot have a member {n:?}", class.name))
                        .with_remedy("use a different name for each member, of letters, digits and underscores"));
                }
                sum += check_type(ty, true)?;
                if sum > MOST_MEMBERS {
                    return Err(Error::invalid(format!("class {} has more than {MOST_MEMBERS} members", class.name)));
                }
            }
            Ok(sum)
        }
    }
}

/// Arrays within collections have no type in the C++ library that ROOT could name.
fn check_item(ty: &CppType) -> Result<usize> {
    match ty {
        CppType::Array(..) => Err(Error::unsupported("fixed arrays as items of a collection")
            .with_remedy("make them vectors, or members of a class")),
        other => check_type(other, true),
    }
}

/// Refuses names that ROOT would interpret as something else: a path, a dimension, a leaf list.
pub(crate) fn check_name(what: &str, name: &str) -> Result<()> {
    let len = bytes_of(name).len();
    if len == 0 || len > LONGEST_NAME {
        return Err(Error::invalid(format!("a {what} name must have 1 to {LONGEST_NAME} bytes, not {len}")));
    }
    if matches!(name, "." | "..") {
        return Err(Error::invalid(format!("{name:?} is not a valid {what} name: it cannot be part of a path"))
            .with_remedy("use letters, digits, dots and underscores"));
    }
    if let Some(bad) = name.chars().find(|c| "/[]:;".contains(*c) || c.is_control()) {
        return Err(Error::invalid(format!(
            "{name:?} is not a valid {what} name: {bad:?} has a special meaning in ROOT"
        ))
        .with_remedy("use letters, digits, dots and underscores"));
    }
    Ok(())
}

/// Refuses titles that a key cannot hold.
pub(crate) fn check_title(title: &str) -> Result<()> {
    let len = bytes_of(title).len();
    if len > LONGEST_TITLE {
        return Err(Error::invalid(format!("a title has at most {LONGEST_TITLE} bytes, not {len}")));
    }
    Ok(())
}

/// ROOT's letter of a type in leaf lists (`TTree::Branch`).
pub(crate) const fn code(dtype: DType) -> char {
    match dtype {
        DType::Bool => 'O',
        DType::I8 => 'B',
        DType::U8 => 'b',
        DType::I16 => 'S',
        DType::U16 => 's',
        DType::I32 => 'I',
        DType::U32 => 'i',
        DType::I64 => 'L',
        DType::U64 => 'l',
        DType::F32 => 'F',
        DType::F64 => 'D',
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split_branches::resolve;

    #[test]
    fn counters_come_first_and_once() {
        let (columns, _) = resolve(&[
            BranchSpec::scalar("run", DType::U32),
            BranchSpec::jagged_by("Muon_pt", DType::F32, "nMuon"),
            BranchSpec::jagged_by("Muon_eta", DType::F32, "nMuon").titled("eta"),
            BranchSpec::jagged("x", DType::F64),
            BranchSpec::fixed("w", DType::I16, 3),
        ])
        .unwrap();
        let said: Vec<&str> = columns.iter().map(|c| &*c.title).collect();
        assert_eq!(said, ["run/i", "nMuon/I", "Muon_pt[nMuon]/F", "eta", "nx/I", "x[nx]/D", "w[3]/S"]);
        assert!(columns[1].counts() && !columns[0].counts());
    }

    #[test]
    fn c_strings_have_a_leaf_of_their_own() {
        let (columns, _) = resolve(&[BranchSpec::new("s", BranchType::CString)]).unwrap();
        assert_eq!((&*columns[0].title, columns[0].leaf_class()), ("s/C", Some("TLeafC")));
        assert!(columns[0].is_c_string() && columns[0].element.is_none());
    }

    #[test]
    fn nonsense_is_named() {
        let fail = |specs: &[BranchSpec]| resolve(specs).unwrap_err().to_string();
        let x = || BranchSpec::scalar("x", DType::F32);
        assert!(fail(&[x(), x()]).contains("two branches have the name x"));
        assert!(fail(&[BranchSpec::scalar("a/b", DType::F32)]).contains("'/' has a special meaning"));
        assert!(fail(&[BranchSpec::scalar("", DType::F32)]).contains("1 to 1024 bytes"));
        assert!(fail(&[BranchSpec::fixed("x", DType::F32, 0)]).contains("cannot have 0 values"));
        assert!(fail(&[x(), BranchSpec::jagged_by("y", DType::F32, "x")]).contains("branch x cannot count"));
        assert!(fail(&[BranchSpec::jagged_by("y", DType::F32, "x"), x()]).contains("comes after it"));
        let number = CppType::Number(DType::F32);
        assert!(fail(&[BranchSpec::object("y", number.clone())]).contains("not an object"));
        let array = CppType::vector(CppType::Array(DType::F32, 2));
        assert!(fail(&[BranchSpec::object("y", array)]).contains("fixed arrays as items"));
        let twice = vec![("a".to_owned(), number.clone()), ("a".to_owned(), number)];
        assert!(fail(&[BranchSpec::object("y", CppType::class("C", twice))]).contains("cannot have a member \"a\""));
    }
}
