//! Objects that point to each other arbitrarily: tables of objects by class, and pointers that are indices into them.
//!
//! The type of a column is known before its data, so a class that contains itself, or a pointer to any object whose
//! class contains such a pointer, would be an infinite record of records. Tables are finite: each class that a pointer
//! may lead to is a list of records, in which pointers are positions. Cycles and objects with several owners are
//! preserved.
//!
//! This is their layout; `read::graph` reads them.

use super::builtin_classes::{is_bookkeeping, is_list};
use super::{Context, class_item};
use crate::cpp_names::bare;
use crate::item::Item;
use sapwood_span::{Error, Result};
use std::cell::RefCell;

/// Tables of one branch, at most.
const MOST_TABLES: usize = 400;

/// ROOT's own classes that contain objects without naming their class.
const CONTAINERS: [&str; 5] = ["TList", "THashList", "TObjArray", "TClonesArray", "TMap"];

/// The classes to which pointers of a branch may lead, while its layout is built.
#[derive(Default)]
pub(crate) struct Tables {
    names: RefCell<Vec<String>>,
}

impl Tables {
    /// The numbers of the tables for a class and those derived from it.
    pub(crate) fn links(&self, class: &str, cx: &Context) -> Result<Item> {
        let mut names = self.names.borrow_mut();
        let mut number = |class: &str| {
            names.iter().position(|n| n == class).unwrap_or_else(|| {
                names.push(class.to_owned());
                names.len() - 1
            })
        };
        let mut links = vec![(class.to_owned(), number(class))];
        if class == "TObject" {
            links.extend(CONTAINERS.iter().map(|&c| (c.to_owned(), number(c))));
        }
        let kept = |name: &str| {
            !(class == "TObject" && (CONTAINERS.contains(&name) || (name != "TNamed" && is_bookkeeping(name))))
        };
        for c in cx.streamers.derived(class, MOST_TABLES, kept) {
            links.push((c.name.clone(), number(&c.name)));
        }
        if names.len() > MOST_TABLES {
            return Err(Error::unsupported(format!("pointers to more than {MOST_TABLES} classes")));
        }
        Ok(Item::Link(links))
    }
}

/// The item of a branch or field of this type, with pointers as links into tables of objects where a record of records would be
/// infinite: where a class contains itself, or where objects of any class may contain such again.
pub(crate) fn linked(type_name: &str, cx: &Context, make: impl Fn(&Context) -> Result<Item>) -> Result<Item> {
    let made = make(cx);
    // a list is worth nothing without classes that had to be left out; of an object they are a small part
    let list = is_list(bare(type_name).trim_end_matches('*'));
    // nor is a pointer to any object: only tables include the containers and ROOT's internal classes
    if bare(type_name) == "TObject*" && made.is_ok() {
        return graph(cx, make).or(made);
    }
    if !cx.deep.get() || (made.is_ok() && !list) {
        return made;
    }
    graph(cx, make).or(made)
}

/// Builds a layout in which pointers are links.
fn graph(cx: &Context, root: impl FnOnce(&Context) -> Result<Item>) -> Result<Item> {
    let cx = cx.with_tables();
    let root = root(&cx)?;
    let Some(tables) = &cx.tables else { return Ok(root) };
    let mut items = Vec::new();
    while items.len() < tables.names.borrow().len() {
        let name = tables.names.borrow()[items.len()].clone();
        // one that cannot be read matters only where it occurs
        items.push((name.clone(), class_item(&name, &cx).ok()));
    }
    Ok(Item::Graph { root: Box::new(root), tables: items })
}
