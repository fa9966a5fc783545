//! Names that are stored nowhere, but follow from what is: the characters of a string (`fTitle.fData`), the size of an array
//! that a class stores (`fSumw2.fN`), members of the object that a TRef refers to (`fLastTrack.fPx`).
//!
//! A TRef stores the number of an object, and the object stores it as fUniqueID beside a bit that says so. ROOT looks the object
//! up in a table of the tree; here it is looked for among the items of the split collections of the same entry, by that number.

use crate::ast::{Ast, AstKind, Expr, Index, with_depth};
use crate::method_formula::WHOLE;
use crate::shape::{Kind, Schema};
use std::collections::BTreeSet;

/// The bit of fBits that says that fUniqueID is the number of an object that is referred to (`TObject::kIsReferenced`).
const IS_REFERENCED: u32 = 1 << 4;

/// What a name stands for that the tree does not have; the error says why a reference is not followed.
pub(crate) fn derived<S: Schema + ?Sized>(
    schema: &S,
    name: &str,
    indices: &[Index],
    at: usize,
) -> Result<Option<Ast>, String> {
    let name = &name.replace("->", ".");
    let Some((object, member)) = name.rsplit_once('.') else { return Ok(None) };
    let shape = schema.shape(object);
    if member == "fData" && shape.as_ref().is_some_and(|s| s.kind == Kind::Text) {
        return Ok(Some(named(object.to_owned(), indices.to_vec(), at)));
    }
    if member == "fN" && indices.is_empty() {
        let array = match shape.map(|s| s.kind) {
            Some(Kind::Number(_)) => object.rsplit_once('.').map(|(owner, _)| (owner, object.to_owned())),
            _ => Some((object, format!("{object}.fArray"))),
        };
        let sized = array.filter(|(owner, array)| schema.is_single(owner) && is_list(schema, array));
        return Ok(sized.map(|(_, array)| {
            let length = with_depth(AstKind::Call("Length$".to_owned(), vec![named(array, Vec::new(), at)]), at);
            with_depth(AstKind::Call(WHOLE.to_owned(), vec![length]), at)
        }));
    }
    let fronts = name.rmatch_indices('.').filter_map(|(dot, _)| name.get(..dot).zip(name.get(dot + 1..)));
    for (object, member) in fronts {
        if is_reference(schema, object) {
            return referred(schema, object, member, indices, at).map(Some);
        }
        if is_reference_array(schema, object) {
            return Err(format!(
                "{object} contains references, which are not followed; count them with @{object}.size()"
            ));
        }
    }
    Ok(None)
}

/// The number of references in a TRefArray.
pub(crate) fn references(name: &str, at: usize) -> Ast {
    with_depth(AstKind::Call(WHOLE.to_owned(), vec![named(format!("{name}.fSize"), Vec::new(), at)]), at)
}

/// Whether a name is that of arrays of references.
pub(crate) fn is_reference_array<S: Schema + ?Sized>(schema: &S, name: &str) -> bool {
    schema.classes(name).first().is_some_and(|class| class == "TRefArray")
}

/// Whether a name is that of the elements of symmetric matrices.
pub(crate) fn is_upper_half<S: Schema + ?Sized>(schema: &S, name: &str) -> bool {
    name.strip_suffix(".fElements")
        .and_then(|matrix| schema.classes(matrix).into_iter().next())
        .is_some_and(|class| class.starts_with("TMatrixTSym"))
}

fn is_reference<S: Schema + ?Sized>(schema: &S, name: &str) -> bool {
    schema.classes(name).first().is_some_and(|class| class == "TRef")
}

/// Whether a name is that of numbers in arrays of variable size.
fn is_list<S: Schema + ?Sized>(schema: &S, name: &str) -> bool {
    schema.shape(name).is_some_and(|s| matches!(s.kind, Kind::Number(_)) && !s.dims.is_empty())
}

/// The member of the one object in the collections of the entry to which a TRef refers; no row where there is none.
fn referred<S: Schema + ?Sized>(
    schema: &S,
    object: &str,
    member: &str,
    indices: &[Index],
    at: usize,
) -> Result<Ast, String> {
    if !schema.is_single(object) {
        return Err(format!("{object} contains several references, which are not followed"));
    }
    let collections: BTreeSet<String> = schema.collections_with(member).into_iter().collect();
    let collection = match collections.iter().collect::<Vec<_>>().as_slice() {
        [] => {
            return Err(format!(
                "{object} is a reference, and no split collection of the tree has objects with a member {member}"
            ));
        }
        [only] => (*only).clone(),
        several => {
            let several: Vec<&str> = several.iter().map(|s| s.as_str()).collect();
            return Err(format!("{object} may refer to an object of any of {}", several.join(", ")));
        }
    };
    let is_object = format!(
        "`{collection}.fUniqueID`==`{object}.ref` && (`{collection}.fBits`&{IS_REFERENCED}) && `{object}.ref`!=0"
    );
    let item = format!("Sum$({is_object})==1 ? MinIf$(Iteration$, {is_object}) : -1");
    let item = Expr::parse(&item).map_err(|e| e.what().to_owned())?.ast;
    let indices = std::iter::once(Index::At(item)).chain(indices.iter().cloned()).collect();
    Ok(named(format!("{collection}.{member}"), indices, at))
}

fn named(name: String, indices: Vec<Index>, at: usize) -> Ast {
    with_depth(AstKind::Name { name, indices, plain: false }, at)
}
