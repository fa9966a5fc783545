//! Lists of entries: those of both, each once, ascending (`TEventList::Merge`). They count within their original files,
//! so they are not shifted.

use super::part::Part;
use sapwood_edit::survey::{Changes, Edit, Name, put_integer};
use sapwood_format::streamer::code;
use sapwood_span::{Error, Result};

/// Both lists in one.
///
/// # Errors
/// `Unsupported` when they do not match their class.
pub(super) fn join<'p>(one: Part<'p>, two: Part<'p>, changes: &mut Changes<'p>) -> Result<()> {
    let s = one.survey;
    let mut entries = s.integers(one.node, Name::List)?;
    entries.extend(two.survey.integers(two.node, Name::List)?);
    entries.sort_unstable();
    entries.dedup();
    let (Some(n), Some(list)) = (s.field(one.node, Name::IndexSize), s.field(one.node, Name::List)) else {
        return Err(Error::unsupported("is not an entry list that this version can read"));
    };
    if list.code != code::OFFSET_P + code::LONG64 {
        return Err(Error::unsupported("has entries of an unknown type"));
    }
    // fSize is the capacity of the list in memory, which is not less than its length
    for f in [Some(n), s.field(one.node, Name::Size)].into_iter().flatten() {
        let mut bytes = Vec::new();
        put_integer(&mut bytes, f.code, entries.len() as i64)?;
        changes.edits.push(Edit { at: f.at.clone(), bytes });
    }
    let mut bytes = vec![u8::from(!entries.is_empty())];
    bytes.extend(entries.iter().flat_map(|e| e.to_be_bytes()));
    changes.edits.push(Edit { at: list.at.clone(), bytes });
    Ok(())
}
