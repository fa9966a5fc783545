//! Which of a field's encodings a cluster uses, and whether its columns have the elements that its entries need.

use super::elements::{path_of, per_entry};
use sapwood_format::ntuple::{Cluster, Ntuple, Schema};
use sapwood_span::{Error, Result};

/// The type of columns of quantized numbers, in which zero bytes are not the number 0.
pub(super) const QUANTIZED: u16 = 0x1d;

/// The most elements that a column may lack in a cluster: nothing in the file has to be there for them.
const MOST_MISSING: u64 = 1 << 36;

/// The columns of a field, by representation.
pub(super) fn representations(schema: &Schema, field: usize) -> Vec<Vec<usize>> {
    let mut out: Vec<(u16, Vec<usize>)> = Vec::new();
    for &id in schema.fields.get(field).map_or(&[][..], |f| &f.columns) {
        let Some(column) = schema.columns.get(id).filter(|c| c.field == field) else { continue };
        match out.iter_mut().find(|(number, _)| *number == column.representation) {
            Some((_, columns)) => columns.push(id),
            None => out.push((column.representation, vec![id])),
        }
    }
    out.into_iter().map(|(_, columns)| columns).collect()
}

/// The columns that are used in a cluster of an input, and the elements that each lacks.
pub(super) fn used_columns(ntuple: &Ntuple, cluster: &Cluster) -> Result<Vec<(usize, u64)>> {
    let schema = &ntuple.schema;
    let entries = cluster.entries.end - cluster.entries.start;
    let is_used = |c: &usize| cluster.columns.get(*c).is_none_or(|c| !c.is_suppressed);
    let is_here = |c: &usize| cluster.columns.get(*c).is_some_and(|c| !c.is_suppressed);
    let mut out = Vec::new();
    for id in 0..schema.fields.len() {
        let all = representations(schema, id);
        if all.is_empty() {
            continue;
        }
        let corrupt = |what: String| Error::corrupt(what).in_branch(path_of(schema, id));
        let used = all.iter().find(|r| r.first().is_some_and(is_here)).or_else(|| {
            let is_absent = |r: &&Vec<usize>| r.first().is_some_and(is_used);
            all.iter().find(is_absent)
        });
        let used = used.ok_or_else(|| corrupt("none of its encodings is used in a cluster".to_owned()))?;
        let wanted = match per_entry(schema, id)? {
            Some(n) => Some(n.checked_mul(entries).ok_or_else(|| corrupt("more elements than there can be".into()))?),
            None => None,
        };
        for (place, &c) in used.iter().enumerate() {
            let Some(column) = schema.columns.get(c) else { continue };
            let pages = cluster.columns.get(c).map_or(0..0, |c| c.pages.clone());
            let pages = ntuple.table.pages.get(pages).unwrap_or_default();
            let stored: u64 = pages.iter().map(|p| u64::from(p.elements)).sum();
            let is_later = column.first_element > 0 || cluster.columns.len() <= c;
            let missing = match wanted.filter(|_| place == 0) {
                Some(wanted) if stored == wanted => 0,
                Some(wanted) if stored < wanted && is_later => wanted - stored,
                Some(wanted) => {
                    let what = format!("its pages have {stored} elements in a cluster that needs {wanted}");
                    return Err(corrupt(what));
                }
                None => 0,
            };
            check_missing(missing, schema, id)?;
            if missing > 0 && column.code == QUANTIZED {
                return Err(no_zero(path_of(schema, id)));
            }
            out.push((c, missing));
        }
    }
    Ok(out)
}

/// Refuses more elements to be filled with zeros than there can be.
pub(super) fn check_missing(missing: u64, schema: &Schema, field: usize) -> Result<()> {
    if missing <= MOST_MISSING {
        return Ok(());
    }
    Err(Error::unsupported(format!("{missing} of its elements are missing from a cluster, too many to be zeros"))
        .in_branch(path_of(schema, field))
        .with_remedy("omit the file"))
}

/// Why a field cannot be filled with zeros.
pub(super) fn no_zero(field: String) -> Error {
    Error::unsupported("it has no values in some entries, and its encoding has no zero for them")
        .in_branch(field)
        .with_remedy("omit the file, or write the ntuple again without reduced precision")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_format::ntuple::{ClusterColumn, Column, Field};

    /// A field that was added after so many entries of the only cluster.
    fn added_after(entries: u64) -> Ntuple {
        let field = Field { name: "late".to_owned(), columns: vec![0], ..Field::default() };
        let column = Column { code: 0x07, bits: 32, field: 0, representation: 0, first_element: entries, range: None };
        let mut ntuple = Ntuple { entries, ..Ntuple::default() };
        ntuple.schema.fields.push(field);
        ntuple.schema.columns.push(column);
        ntuple.table.clusters.push(Cluster { entries: 0..entries, columns: vec![ClusterColumn::default()] });
        ntuple
    }

    #[test]
    fn a_cluster_lacks_only_as_many_elements_as_can_be_written() {
        let used = |entries| {
            let ntuple = added_after(entries);
            used_columns(&ntuple, &ntuple.table.clusters[0])
        };
        assert_eq!(used(1000).unwrap(), [(0, 1000)]);
        let e = used(1 << 50).unwrap_err().to_string();
        assert!(e.contains("late") && e.contains("too many to be zeros"), "{e}");
    }
}
