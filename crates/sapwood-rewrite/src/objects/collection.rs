//! Lists and stacks: matching items are added, the rest of the second follows the first (`TSeqCollection::Merge`).

use super::part::{Part, Rule};
use sapwood_edit::survey::{Changes, Edit, Insert, Name, Survey, put_integer};
use sapwood_span::raw_text::text_of;
use sapwood_span::{Error, ErrorKind, Result};
use std::collections::HashMap;

/// Both lists in one. Items that can be added are added to the one of their class and name (where there are several,
/// each to one of them, in order); all others of the second list follow those of the first. `rule` gives how items of a
/// class are added.
///
/// # Errors
/// `Invalid` when items of one name do not match, with the difference.
pub(super) fn join<'p>(
    one: Part<'p>,
    two: Part<'p>,
    changes: &mut Changes<'p>,
    rule: fn(&str) -> Option<Rule>,
) -> Result<()> {
    let (a, b) = (one.survey, two.survey);
    let mut known: HashMap<(&str, &[u8]), Vec<usize>> = HashMap::new();
    // the last one first, so that they are taken from the end in order
    let mine: Vec<usize> = a.children(one.node).collect();
    for &i in mine.iter().rev() {
        known.entry((one.at(i).class(), name(a, i))).or_default().push(i);
    }
    let mut rest = Vec::new();
    for j in b.children(two.node) {
        let (class, called) = (two.at(j).class(), name(b, j));
        let partner = rule(class).and_then(|r| Some((r, known.get_mut(&(class, called))?.pop()?)));
        let Some((rule, i)) = partner else {
            rest.push(j);
            continue;
        };
        let (edits, inserts, notes) = (changes.edits.len(), changes.inserts.len(), changes.notes.len());
        match rule(one.at(i), two.at(j), changes) {
            Ok(()) => {}
            Err(e) if e.kind() == ErrorKind::Unsupported => {
                changes.edits.truncate(edits);
                changes.inserts.truncate(inserts);
                changes.notes.truncate(notes);
                rest.push(j);
            }
            Err(e) => {
                let called = text_of(called);
                let what = format!("{called} in it {}", e.what());
                return Err(e.worded(what));
            }
        }
    }
    let (Some(list), Some(size), Some(n)) =
        (a.nodes.get(one.node), a.field(one.node, Name::Size), a.integer(one.node, Name::Size))
    else {
        return Err(Error::unsupported("is a list in an unknown format"));
    };
    if rest.is_empty() {
        return Ok(());
    }
    let mut bytes = Vec::new();
    put_integer(&mut bytes, size.code, n.saturating_add(rest.len() as i64))?;
    changes.edits.push(Edit { at: size.at.clone(), bytes });
    // each item of a list is followed by an option: none
    let after: &[u8] = if one.class() == "TObjArray" { &[] } else { &[0] };
    for j in rest {
        let Some(item) = b.nodes.get(j) else { continue };
        let (at, within) = (list.at.end, size.at.end);
        changes.inserts.push(Insert { at, within, from: b, part: item.at.clone(), edits: Vec::new(), after });
    }
    Ok(())
}

/// Both stacks in one: their histograms, as lists.
///
/// # Errors
/// As [`join`]; `Unsupported` when one of them has none.
pub(super) fn join_stacks<'p>(
    one: Part<'p>,
    two: Part<'p>,
    changes: &mut Changes<'p>,
    rule: fn(&str) -> Option<Rule>,
) -> Result<()> {
    let (Some(a), Some(b)) = (one.survey.child(one.node, Name::Hists), two.survey.child(two.node, Name::Hists)) else {
        return Err(Error::unsupported("is a stack without histograms"));
    };
    join(one.at(a), two.at(b), changes, rule)
}

/// The name of an item; empty if it has none.
fn name<'p>(s: &'p Survey<'p>, node: usize) -> &'p [u8] {
    s.text(node, Name::Identifier).unwrap_or_default()
}
