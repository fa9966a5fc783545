//! Entry lists between Python and the core.

use crate::column::Buffer;
use crate::convert::values;
use crate::error::{Missing, exception};
use crate::text::Text;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sapwood::query::Entries;
use sapwood::{Counted, EntryList, EntryListObject, Error, Instances, ListKind, ListPart, Result, Values};
use std::sync::Arc;

/// Entries, each with its instances.
pub(crate) type EntryInstances = Vec<(u64, Vec<u32>)>;

/// The entries of a tree: its path, its file, numbers, and of some of them the instances.
pub(crate) type TreeEntries = (Text, Text, Buffer, EntryInstances);

/// The same from Python.
pub(crate) type GivenEntries<'py> = (Text, Text, Bound<'py, PyAny>, EntryInstances);

/// A tree and where its entries stand among those of all files: (file, tree, first, behind the last).
pub(crate) type ChainEntry = (Text, Text, u64, u64);

/// Entries from a numpy array of their numbers (int64, ascending).
pub(crate) fn entries(given: &Bound<'_, PyAny>) -> PyResult<EntryList> {
    match values(given)? {
        Values::I64(v) => {
            let numbers: std::result::Result<Vec<u64>, _> = v.into_iter().map(u64::try_from).collect();
            numbers
                .map(EntryList::from_numbers)
                .map_err(|_| PyValueError::new_err("an entry number cannot be negative"))
        }
        _ => Err(PyValueError::new_err("entries are numbers of int64")),
    }
}

/// The numbers of entries as int64.
pub(crate) fn numbers(list: &EntryList) -> Buffer {
    Buffer::new(Values::I64(list.iter().map(|n| n as i64).collect()))
}

/// A list as Python has it.
pub(crate) fn trees(list: &EntryListObject) -> Vec<TreeEntries> {
    let tree = |part: &ListPart| {
        let instances = part.instances.iter().map(|(entry, of)| (entry, of.to_vec())).collect();
        (Text::from(&part.tree), Text::from(&part.file), numbers(&part.entries), instances)
    };
    list.parts().iter().map(tree).collect()
}

/// A list from Python.
pub(crate) fn list(parts: Vec<GivenEntries<'_>>) -> PyResult<EntryListObject> {
    let part = |(tree, file, numbers, of): GivenEntries<'_>| {
        Ok(ListPart { tree: tree.0, file: file.0, entries: entries(&numbers)?, instances: instances(of) })
    };
    Ok(EntryListObject::new(parts.into_iter().map(part).collect::<PyResult<_>>()?))
}

/// Instances from Python.
fn instances(mut given: EntryInstances) -> Instances {
    given.sort();
    let mut instances = Instances::default();
    for (entry, mut numbers) in given {
        numbers.sort_unstable();
        numbers.dedup();
        instances.push(entry, &numbers);
    }
    instances
}

/// What is to be drawn: `start..stop`, or the selected entries with the instances that are chosen of them.
pub(crate) fn chosen(start: u64, stop: u64, selected: Option<Chosen<'_>>) -> PyResult<(Entries, Instances)> {
    Ok(match selected {
        Some((list, of)) => (Entries::List(Arc::new(entries(&list)?)), instances(of)),
        None => (Entries::Range(start..stop), Instances::default()),
    })
}

/// Selected entries: their numbers, and of some of them the instances.
pub(crate) type Chosen<'py> = (Bound<'py, PyAny>, EntryInstances);

/// The class of this name.
pub(crate) fn kind(class: &str) -> Result<ListKind> {
    let kinds = [ListKind::TEventList, ListKind::TEntryList, ListKind::TEntryListArray];
    let found = kinds.into_iter().find(|kind| kind.class() == class);
    found.ok_or_else(|| Error::unsupported(format!("entry lists of class {class} cannot be written")))
}

/// The numbers that an entry list (see [`trees`]) has for a chain of trees, and the instances.
#[pyfunction]
pub(crate) fn entries_of_list(
    py: Python<'_>,
    parts: Vec<GivenEntries<'_>>,
    places: Vec<ChainEntry>,
) -> PyResult<(Buffer, EntryInstances)> {
    let counted = |(file, tree, first, last): ChainEntry| Counted { file: file.0, tree: tree.0, entries: first..last };
    let trees: Vec<Counted> = places.into_iter().map(counted).collect();
    let (entries, of) = list(parts)?.of_trees(&trees).map_err(|e| exception(py, &e, Missing::Key))?;
    Ok((numbers(&entries), of.iter().map(|(entry, of)| (entry, of.to_vec())).collect()))
}
