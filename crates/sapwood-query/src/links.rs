//! Objects that a collection holds by links: an unsplit TClonesArray, whose objects stand in tables by their classes.
//!
//! On the way to a member, `->Track` stands for the objects of the class `Track`, and `->` for the links to all objects.

use sapwood_column::{Array, ColumnType, Values};
use sapwood_span::{Error, Result};
use std::ops::Range;

/// What a step to linked objects begins with.
const STEP: &str = "->";
/// Classes of collections, whose objects are linked in turn, and what every object has.
const NO_ITEMS: [&str; 7] = ["TObject", "TNamed", "TList", "THashList", "TObjArray", "TClonesArray", "TMap"];

/// The step to the linked objects of a class.
pub(crate) fn step_to(class: &str) -> String {
    format!("{STEP}{class}")
}

/// The class to whose objects a step leads.
pub(crate) fn class_of_step(step: &str) -> Option<&str> {
    step.strip_prefix(STEP)
}

/// Whether the fields of a record are not members of a class but the objects of each class there is: those that pointers
/// may point to.
pub(crate) fn is_table(fields: &[(String, ColumnType)]) -> bool {
    let is_list = |column: &ColumnType| matches!(column, ColumnType::List { .. });
    match fields {
        [(first, _), rest @ ..] if first == "object" => !rest.is_empty() && rest.iter().all(|(_, c)| is_list(c)),
        [(first, column), _, ..] if first == "TObject" => is_list(column),
        _ => false,
    }
}

/// Whether a step leads to the links of a collection, not to the objects.
pub(crate) fn is_links(step: &str) -> bool {
    step == STEP || step == "object"
}

/// The classes of which a collection may hold objects.
pub(crate) fn linked_classes(column: &ColumnType) -> Vec<&str> {
    match column {
        ColumnType::Record { fields } => {
            let classes = fields.iter().map(|(name, _)| name.as_str());
            classes.filter(|name| *name != "object" && !NO_ITEMS.contains(name)).collect()
        }
        ColumnType::List { item } | ColumnType::Regular { item, .. } => linked_classes(item),
        ColumnType::Number(_) | ColumnType::Text => Vec::new(),
    }
}

/// The type of the linked objects of a class: a list of them in place of the tables.
pub(crate) fn linked_type(column: &ColumnType, class: &str) -> Option<ColumnType> {
    match column {
        ColumnType::List { item } => match item.as_ref() {
            ColumnType::Record { fields } if is_table(fields) && !is_graph(fields) => match class {
                "" => Some(ColumnType::List { item: Box::new(ColumnType::Record { fields: Vec::new() }) }),
                class => table_type(fields, class),
            },
            inner => Some(ColumnType::List { item: Box::new(linked_type(inner, class)?) }),
        },
        ColumnType::Regular { size, item } => {
            Some(ColumnType::Regular { size: *size, item: Box::new(linked_type(item, class)?) })
        }
        ColumnType::Record { fields } if is_graph(fields) => {
            let (_, object) = fields.first()?;
            let of_clones = || fields.iter().find(|(n, _)| n == "TClonesArray").map(|(_, c)| c);
            // a list of links, or the number of a TClonesArray
            let links = match object {
                ColumnType::Number(_) => match of_clones()? {
                    ColumnType::List { item } => item,
                    _ => return None,
                },
                list => list,
            };
            let links: &ColumnType = links;
            let ColumnType::List { item } = links else { return None };
            let ColumnType::Record { fields: link } = item.as_ref() else { return None };
            let is_link = link.first().is_some_and(|(n, _)| n == "class") && link.len() == 2;
            match class {
                _ if !is_link => None,
                "" => Some(links.clone()),
                class => table_type(fields, class),
            }
        }
        _ => None,
    }
}

fn is_graph(fields: &[(String, ColumnType)]) -> bool {
    is_table(fields) && fields.first().is_some_and(|(n, _)| n == "object")
}

fn table_type(fields: &[(String, ColumnType)], class: &str) -> Option<ColumnType> {
    let (_, table) = fields.iter().find(|(n, _)| n == class)?;
    matches!(table, ColumnType::List { .. }).then(|| table.clone())
}

fn misfit() -> Error {
    Error::invalid("a column of linked objects has another type than its branch")
}

/// The linked objects of a class.
///
/// # Errors
/// `Invalid` where the column is none of tables, or a link leads nowhere.
pub(crate) fn linked(column: &Array, class: &str) -> Result<Array> {
    match column {
        Array::List { offsets, content } => match content.as_ref() {
            Array::Record { fields, .. } if fields.first().is_some_and(|(n, _)| n == "TObject") => {
                // the objects of each class in a list of their own
                if class.is_empty() {
                    return all_counted(offsets, fields);
                }
                let (starts, objects) = list(field(fields, class)?)?;
                let offsets = offsets.iter().map(|&o| at(starts, o)).collect::<Result<Vec<_>>>()?;
                Ok(Array::List { offsets, content: Box::new(objects.clone()) })
            }
            inner => Ok(Array::List { offsets: offsets.clone(), content: Box::new(linked(inner, class)?) }),
        },
        Array::Regular { size, len, content } => {
            Ok(Array::Regular { size: *size, len: *len, content: Box::new(linked(content, class)?) })
        }
        Array::Record { len, fields } => of_graph(*len, fields, class),
        _ => Err(misfit()),
    }
}

/// As many items as there are objects in the lists of all classes.
fn all_counted(offsets: &[i64], fields: &[(String, Array)]) -> Result<Array> {
    let mut ends = vec![0_i64; offsets.len()];
    for (_, column) in fields {
        let (starts, _) = list(column)?;
        for (end, &o) in ends.iter_mut().zip(offsets) {
            *end = end.saturating_add(at(starts, o)?);
        }
    }
    let len = ends.last().and_then(|&n| usize::try_from(n).ok()).ok_or_else(misfit)?;
    Ok(Array::List { offsets: ends, content: Box::new(Array::Record { len, fields: Vec::new() }) })
}

/// The objects of a class to which the links of each entry lead.
fn of_graph(len: usize, fields: &[(String, Array)], class: &str) -> Result<Array> {
    let object = field(fields, "object")?;
    // where the links of each entry are
    let (spans, links): (Vec<Range<i64>>, &Array) = match object {
        Array::Flat(Values::I32(numbers)) => {
            let (arrays, items) = list(field(fields, "TClonesArray")?)?;
            let (starts, links) = list(items)?;
            let span = |(e, &n): (usize, &i32)| {
                if n < 0 {
                    return Ok(0..0);
                }
                let array = at(arrays, e as i64)?.saturating_add(n.into());
                Ok(at(starts, array)?..at(starts, array.saturating_add(1))?)
            };
            (numbers.iter().enumerate().map(span).collect::<Result<_>>()?, links)
        }
        other => {
            let (starts, links) = list(other)?;
            (starts.windows(2).map(|w| w[0]..w[1]).collect(), links)
        }
    };
    let Array::Record { fields: link, .. } = links else { return Err(misfit()) };
    let (Array::Text { offsets, bytes }, Array::Flat(Values::I32(indices))) =
        (field(link, "class")?, field(link, "index")?)
    else {
        return Err(misfit());
    };
    let (table_starts, objects) = if class.is_empty() { (&[][..], links) } else { list(field(fields, class)?)? };
    let mut runs = Runs { of: objects, runs: Vec::new() };
    let mut ends = Vec::with_capacity(len + 1);
    ends.push(0);
    let mut count = 0;
    for (e, span) in spans.into_iter().enumerate() {
        for i in span {
            if class.is_empty() {
                runs.add(i)?;
                count += 1;
                continue;
            }
            let name = usize::try_from(at(offsets, i)?)
                .ok()
                .zip(usize::try_from(at(offsets, i.saturating_add(1))?).ok())
                .and_then(|(from, to)| bytes.get(from..to))
                .ok_or_else(misfit)?;
            let index = usize::try_from(i).ok().and_then(|i| indices.get(i)).ok_or_else(misfit)?;
            if name == class.as_bytes() && *index >= 0 {
                let (from, to) = (at(table_starts, e as i64)?, at(table_starts, e as i64 + 1)?);
                let position = from.saturating_add((*index).into());
                // the objects of an entry are its own
                runs.add(if position < to { position } else { -1 })?;
                count += 1;
            }
        }
        ends.push(count);
    }
    Ok(Array::List { offsets: ends, content: Box::new(runs.finish()?) })
}

/// Some items of a column, in any order.
struct Runs<'a> {
    of: &'a Array,
    runs: Vec<Range<usize>>,
}

impl Runs<'_> {
    fn add(&mut self, position: i64) -> Result<()> {
        let position = usize::try_from(position).ok().filter(|p| *p < self.of.len()).ok_or_else(misfit)?;
        match self.runs.last_mut().filter(|run| run.end == position) {
            Some(run) => run.end += 1,
            None => self.runs.push(position..position + 1),
        }
        Ok(())
    }

    fn finish(self) -> Result<Array> {
        let mut out = self.of.slice(0, 0);
        match self.runs.as_slice() {
            [run] if *run == (0..self.of.len()) => return Ok(self.of.clone()),
            runs => runs.iter().try_for_each(|run| out.append_range(self.of, run.clone()))?,
        }
        Ok(out)
    }
}

fn field<'a>(fields: &'a [(String, Array)], name: &str) -> Result<&'a Array> {
    fields.iter().find(|(n, _)| n == name).map(|(_, a)| a).ok_or_else(misfit)
}

fn list(array: &Array) -> Result<(&[i64], &Array)> {
    match array {
        Array::List { offsets, content } => Ok((offsets, content)),
        _ => Err(misfit()),
    }
}

fn at(offsets: &[i64], i: i64) -> Result<i64> {
    usize::try_from(i).ok().and_then(|i| offsets.get(i)).copied().ok_or_else(misfit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(values: &[i32]) -> Array {
        Array::Flat(Values::I32(values.to_vec()))
    }

    fn listed(offsets: &[i64], content: Array) -> Array {
        Array::List { offsets: offsets.to_vec(), content: Box::new(content) }
    }

    fn record(fields: Vec<(&str, Array)>) -> Array {
        let len = fields[0].1.len();
        Array::Record { len, fields: fields.into_iter().map(|(n, a)| (n.to_owned(), a)).collect() }
    }

    /// Two entries: A1 B0 A0, and A0.
    fn graph(indices: &[i32]) -> Array {
        let class = Array::Text { offsets: vec![0, 1, 2, 3, 4], bytes: b"ABAA".to_vec() };
        let links = record(vec![("class", class), ("index", numbers(indices))]);
        let table = |offsets: &[i64], x: &[i32]| listed(offsets, record(vec![("x", numbers(x))]));
        record(vec![
            ("object", listed(&[0, 3, 4], links)),
            ("A", table(&[0, 2, 3], &[10, 11, 12])),
            ("B", table(&[0, 1, 1], &[20])),
        ])
    }

    #[test]
    fn objects_of_a_class_come_in_the_order_of_their_links() {
        let column = graph(&[1, 0, 0, 0]);
        let of = |x: &[i32]| record(vec![("x", numbers(x))]);
        assert_eq!(linked(&column, "A").unwrap(), listed(&[0, 2, 3], of(&[11, 10, 12])));
        assert_eq!(linked(&column, "B").unwrap(), listed(&[0, 1, 1], of(&[20])));
        let Array::List { offsets, .. } = linked(&column, "").unwrap() else { panic!("no list") };
        assert_eq!(offsets, [0, 3, 4]);
    }

    #[test]
    fn links_beyond_the_tables_are_errors() {
        assert!(linked(&graph(&[2, 0, 0, 0]), "A").is_err());
        assert!(linked(&graph(&[1, 0, 0, 1]), "A").is_err());
        assert!(linked(&graph(&[1, 0, 0, i32::MAX]), "A").is_err());
        assert!(linked(&graph(&[1, 0, 0, 0]), "C").is_err());
        assert!(linked(&numbers(&[1]), "A").is_err());
    }

    #[test]
    fn lists_by_class_are_joined() {
        let table = |offsets: &[i64], x: &[i32]| listed(offsets, record(vec![("x", numbers(x))]));
        let tables = record(vec![("TObject", table(&[0, 0, 0], &[])), ("A", table(&[0, 2, 3], &[1, 2, 3]))]);
        let column = listed(&[0, 1, 1, 2], tables);
        assert_eq!(linked(&column, "A").unwrap(), table(&[0, 2, 2, 3], &[1, 2, 3]));
        let Array::List { offsets, .. } = linked(&column, "").unwrap() else { panic!("no list") };
        assert_eq!(offsets, [0, 2, 2, 3]);
    }
}
