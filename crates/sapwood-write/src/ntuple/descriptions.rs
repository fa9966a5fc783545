//! Descriptions of fields in fields.

use super::field::FieldSpec;
use crate::schema::check_title;
use sapwood_format::ntuple::{Role, Schema};
use sapwood_span::{Error, Result};

/// Adds the descriptions of the fields below this one.
pub(super) fn describe(schema: &mut Schema, field: usize, spec: &FieldSpec) -> Result<()> {
    for (path, description) in &spec.inside {
        check_title(description)?;
        let found = path.split('.').try_fold(field, |at, name| below(schema, at, name));
        let found = found.and_then(|id| schema.fields.get_mut(id));
        found.ok_or_else(|| Error::not_found(format!("it has no field {path} to describe")))?.description =
            description.clone();
    }
    Ok(())
}

/// The field of this name below another one; below its items where it has items, whose own name is `_0`.
fn below(schema: &Schema, field: usize, name: &str) -> Option<usize> {
    // those below a field follow it
    let child = |of: usize, name: &str| {
        let mut fields = schema.fields.iter().enumerate().skip(of + 1);
        fields.find(|(_, f)| f.parent == Some(of) && f.name == name).map(|(id, _)| id)
    };
    let mut at = field;
    loop {
        if let Some(found) = child(at, name) {
            return Some(found);
        }
        if !matches!(schema.fields.get(at)?.role, Role::Collection | Role::Leaf) {
            return None;
        }
        at = child(at, "_0")?;
    }
}
