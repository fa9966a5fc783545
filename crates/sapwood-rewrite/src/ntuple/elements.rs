//! How many elements a column has for each entry, and what a field is called in messages.

use sapwood_format::ntuple::{Ntuple, Role, Schema};
use sapwood_span::{Error, Result};

/// The elements that the first column of a field has for each entry; none below collections and variants, where that
/// depends on the values.
///
/// # Errors
/// `Corrupt` for arrays of more items than there can be.
pub(super) fn per_entry(schema: &Schema, field: usize) -> Result<Option<u64>> {
    let mut n = 1_u64;
    let mut next = Some(field);
    while let Some(field) = next.and_then(|id| schema.fields.get(id)) {
        let times = field.array_size.unwrap_or(1);
        n = n.checked_mul(times).ok_or_else(|| Error::corrupt("an array with more items than there can be"))?;
        next = field.parent;
        let above = next.and_then(|id| schema.fields.get(id)).map(|f| f.role);
        if matches!(above, Some(Role::Collection | Role::Variant)) {
            return Ok(None);
        }
    }
    Ok(Some(n))
}

/// The name of a field with those of the fields that contain it.
pub(super) fn path_of(schema: &Schema, field: usize) -> String {
    let above = |&id: &usize| schema.fields.get(id).and_then(|f| f.parent);
    let mut names: Vec<&str> = std::iter::successors(Some(field), above)
        .filter_map(|id| schema.fields.get(id))
        .map(|f| f.name.as_str())
        .collect();
    names.reverse();
    names.join(".")
}

/// The field of a page, and which page of which cluster it is.
pub(super) fn place_of_page(ntuple: &Ntuple, page: usize) -> (String, String) {
    for (i, cluster) in ntuple.table.clusters.iter().enumerate() {
        for (c, column) in cluster.columns.iter().enumerate() {
            if column.pages.contains(&page) {
                let field = ntuple.schema.columns.get(c).map_or(0, |c| c.field);
                let place = format!("page {} of column {c} in cluster {i}", page - column.pages.start);
                return (path_of(&ntuple.schema, field), place);
            }
        }
    }
    (String::new(), format!("page {page}"))
}
