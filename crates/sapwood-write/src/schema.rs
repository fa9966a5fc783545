use sapwood_column::DType;
use sapwood_span::{Error, Result};
use std::collections::{HashMap, HashSet};

/// What one entry of a branch holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchType {
    /// One number.
    Scalar(DType),
    /// So many numbers, the same for all entries: at least one.
    Fixed(DType, usize),
    /// Any number of numbers.
    Jagged {
        /// The type of the numbers.
        dtype: DType,
        /// The branch that counts them: `n` and the branch's name when `None`. Branches with the
        /// same counter must have equal counts in every entry.
        counter: Option<String>,
    },
}

/// A branch to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchSpec {
    /// Its name, and its leaf's.
    pub name: String,
    /// Its title; ROOT's own, the leaf list (`x[nx]/F`), when `None`.
    pub title: Option<String>,
    /// What an entry holds.
    pub ty: BranchType,
}

impl BranchSpec {
    /// A branch of one number per entry.
    pub fn scalar(name: impl Into<String>, dtype: DType) -> Self {
        Self { name: name.into(), title: None, ty: BranchType::Scalar(dtype) }
    }

    /// A branch of `n` numbers per entry.
    pub fn fixed(name: impl Into<String>, dtype: DType, n: usize) -> Self {
        Self { name: name.into(), title: None, ty: BranchType::Fixed(dtype, n) }
    }

    /// A branch of any number of numbers per entry, with its own counter branch `n<name>`.
    pub fn jagged(name: impl Into<String>, dtype: DType) -> Self {
        Self { name: name.into(), title: None, ty: BranchType::Jagged { dtype, counter: None } }
    }

    /// The same with this counter branch, which several branches may share.
    pub fn jagged_by(name: impl Into<String>, dtype: DType, counter: impl Into<String>) -> Self {
        let ty = BranchType::Jagged { dtype, counter: Some(counter.into()) };
        Self { name: name.into(), title: None, ty }
    }

    /// The same with a title.
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }
}

/// A branch as it is laid out in the file, counters included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// The branch's title.
    pub(crate) title: String,
    /// The leaf's title: the name with its dimension.
    pub(crate) leaf_title: String,
    pub(crate) dtype: DType,
    pub(crate) shape: Shape,
    /// Whether jagged branches are counted by this one.
    pub(crate) counts: bool,
    /// Whether the writer fills it itself.
    pub(crate) automatic: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Scalar,
    Fixed(usize),
    /// Counted by the column of this index, which comes before.
    Jagged(usize),
}

/// The longest name: a basket's key must stay below 32 kB with it.
const LONGEST_NAME: usize = 1024;
/// The longest title of a tree or branch.
const LONGEST_TITLE: usize = 16_384;
/// The most bytes one entry of one branch can take.
pub(crate) const LONGEST_ENTRY: u64 = 1 << 30;

/// Lays the branches out: each counter that was not asked for itself comes just before its first user.
pub(crate) fn resolve(specs: &[BranchSpec]) -> Result<Vec<Column>> {
    let asked = specs.iter().map(|s| &*s.name).collect();
    let mut layout = Layout { asked, columns: Vec::with_capacity(specs.len()), index: HashMap::new() };
    for spec in specs {
        let column = layout.resolve(spec).map_err(|e| e.in_branch(&spec.name))?;
        layout.push(column)?;
    }
    Ok(layout.columns)
}

struct Layout<'a> {
    /// The names of all branches asked for.
    asked: HashSet<&'a str>,
    columns: Vec<Column>,
    index: HashMap<String, usize>,
}

impl Layout<'_> {
    fn resolve(&mut self, spec: &BranchSpec) -> Result<Column> {
        check_name("branch", &spec.name)?;
        if let Some(title) = &spec.title {
            check_title(title)?;
        }
        let name = &spec.name;
        let (dtype, shape, leaf_title) = match &spec.ty {
            BranchType::Scalar(dtype) => (*dtype, Shape::Scalar, name.clone()),
            BranchType::Fixed(dtype, n) => {
                if *n == 0 || (*n as u64).saturating_mul(dtype.size() as u64) > LONGEST_ENTRY {
                    return Err(Error::invalid(format!("an entry cannot hold {n} values"))
                        .with_remedy("give 1 or more values, 1 GiB at the most"));
                }
                (*dtype, Shape::Fixed(*n), format!("{name}[{n}]"))
            }
            BranchType::Jagged { dtype, counter } => {
                let counter = counter.clone().unwrap_or_else(|| format!("n{name}"));
                let index = self.counter(&counter)?;
                (*dtype, Shape::Jagged(index), format!("{name}[{counter}]"))
            }
        };
        let title = spec.title.clone().unwrap_or_else(|| format!("{leaf_title}/{}", code(dtype)));
        Ok(Column { name: name.clone(), title, leaf_title, dtype, shape, counts: false, automatic: false })
    }

    /// The column that counts, made here unless it is there.
    fn counter(&mut self, counter: &str) -> Result<usize> {
        if let Some((&i, column)) = self.index.get(counter).and_then(|i| Some((i, self.columns.get_mut(*i)?))) {
            if column.shape != Shape::Scalar || !matches!(column.dtype, DType::I32 | DType::U32) {
                return Err(Error::invalid(format!("branch {counter} cannot count: an entry is not one int32"))
                    .with_remedy("make it a scalar int32 or uint32, or leave it out to have it written"));
            }
            column.counts = true;
            return Ok(i);
        }
        if self.asked.contains(counter) {
            return Err(Error::invalid(format!("its counter {counter} comes after it"))
                .with_remedy(format!("name {counter} first, or leave it out to have it written")));
        }
        check_name("counter", counter)?;
        let title = format!("{counter}/{}", code(DType::I32));
        self.push(Column {
            name: counter.to_owned(),
            title,
            leaf_title: counter.to_owned(),
            dtype: DType::I32,
            shape: Shape::Scalar,
            counts: true,
            automatic: true,
        })?;
        Ok(self.columns.len() - 1)
    }

    fn push(&mut self, column: Column) -> Result<()> {
        if self.index.insert(column.name.clone(), self.columns.len()).is_some() {
            return Err(Error::invalid(format!("there are two branches called {}", column.name))
                .with_remedy("give each branch, and each counter, its own name"));
        }
        self.columns.push(column);
        Ok(())
    }
}

/// Refuses names that ROOT would take for something else: for a path, a dimension, a leaf list.
pub(crate) fn check_name(what: &str, name: &str) -> Result<()> {
    if name.is_empty() || name.len() > LONGEST_NAME {
        return Err(Error::invalid(format!("a {what}'s name has 1 to {LONGEST_NAME} bytes, not {}", name.len())));
    }
    if let Some(bad) = name.chars().find(|c| "/[]:;".contains(*c) || c.is_control()) {
        return Err(Error::invalid(format!("a {what} cannot be called {name:?}: {bad:?} has a meaning in ROOT"))
            .with_remedy("use letters, digits, dots and underscores"));
    }
    Ok(())
}

/// Refuses titles that a key cannot hold.
pub(crate) fn check_title(title: &str) -> Result<()> {
    if title.len() > LONGEST_TITLE {
        return Err(Error::invalid(format!("a title has at most {LONGEST_TITLE} bytes, not {}", title.len())));
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

    #[test]
    fn counters_come_first_and_once() {
        let columns = resolve(&[
            BranchSpec::scalar("run", DType::U32),
            BranchSpec::jagged_by("Muon_pt", DType::F32, "nMuon"),
            BranchSpec::jagged_by("Muon_eta", DType::F32, "nMuon").titled("eta"),
            BranchSpec::jagged("x", DType::F64),
            BranchSpec::fixed("w", DType::I16, 3),
        ])
        .unwrap();
        let said: Vec<String> = columns.iter().map(|c| format!("{} {:?}", c.title, c.shape)).collect();
        assert_eq!(
            said,
            [
                "run/i Scalar",
                "nMuon/I Scalar",
                "Muon_pt[nMuon]/F Jagged(1)",
                "eta Jagged(1)",
                "nx/I Scalar",
                "x[nx]/D Jagged(4)",
                "w[3]/S Fixed(3)"
            ]
        );
        assert!(columns[1].counts && columns[1].automatic && !columns[0].counts);
    }

    #[test]
    fn nonsense_is_named() {
        let fail = |specs: &[BranchSpec]| resolve(specs).unwrap_err().to_string();
        let x = || BranchSpec::scalar("x", DType::F32);
        assert!(fail(&[x(), x()]).contains("two branches called x"));
        assert!(fail(&[BranchSpec::scalar("a/b", DType::F32)]).contains("'/' has a meaning"));
        assert!(fail(&[BranchSpec::scalar("", DType::F32)]).contains("1 to 1024 bytes"));
        assert!(fail(&[BranchSpec::fixed("x", DType::F32, 0)]).contains("cannot hold 0 values"));
        assert!(fail(&[x(), BranchSpec::jagged_by("y", DType::F32, "x")]).contains("branch x cannot count"));
        assert!(fail(&[BranchSpec::jagged_by("y", DType::F32, "x"), x()]).contains("comes after it"));
    }
}
