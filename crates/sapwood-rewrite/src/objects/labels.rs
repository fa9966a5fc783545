//! Axes with labelled bins: bins of one label are added, wherever they are (`TH1::Merge`).

use super::axes::{self, Axis, EXTENDS, Joined, NAMED};
use super::filled::Filled;
use sapwood_edit::survey::{Changes, Edit, Insert, Name, put_integer};
use sapwood_span::raw_text::text_of;
use sapwood_span::{Error, Result};
use std::collections::{HashMap, HashSet};

/// The axes of both histograms.
///
/// # Errors
/// `Invalid` when bins differ, or are labelled so that contents of different meaning would be added.
pub(super) fn join_axes(x: &Filled, y: &Filled, notes: &mut Vec<String>) -> Result<Vec<Joined>> {
    if x.axes.len() != y.axes.len() {
        return Err(Error::invalid("has a different number of axes"));
    }
    let by_name = merged_by_name(x, y);
    // ROOT searches labels of a third axis in the second, so that its bins there are meaningless: here each axis has
    // its own
    let mut out = Vec::new();
    for (i, (a, b)) in x.axes.iter().zip(&y.axes).enumerate() {
        let letter = ["Xaxis", "Yaxis", "Zaxis"].get(i).copied().unwrap_or("axis");
        let joined = match by_name {
            true if takes_names(a, x.is_empty(), b, y.is_empty()) => by_names(a, b, &x.used(i), &y.used(i), letter)?,
            _ => {
                let both = !x.is_empty() && !y.is_empty();
                let joined = by_number(a, b, !both, letter)?;
                let letter = letter.trim_end_matches("axis");
                if both && a.names().is_empty() != b.names().is_empty() {
                    notes.push(format!(
                        "not all inputs have labels on the bins of its {letter} axis: the bins are added by number"
                    ));
                } else if !y.is_empty() && lacks_names(a, b) {
                    notes.push(format!("bin labels of its {letter} axis that the first input lacks are omitted"));
                }
                joined
            }
        };
        out.push(joined);
    }
    Ok(out)
}

/// Whether one of the axes is merged by labels when the histograms are.
fn takes_names(a: &Axis, a_is_empty: bool, b: &Axis, b_is_empty: bool) -> bool {
    let adds = b.labels.is_some() && b.extends;
    (a.extends || a_is_empty) && (adds || (b_is_empty && a.labels.is_some()))
}

/// Whether ROOT merges by labels: both have some on one axis, which can be extended. Labels of a histogram without
/// entries do not count.
fn merged_by_name(x: &Filled, y: &Filled) -> bool {
    let named = |f: &Filled, i: usize| f.axes.get(i).is_some_and(|a| a.labels.is_some());
    let grows = |i: usize| x.axes.get(i).is_some_and(|a| a.extends);
    let mut axes = 0..x.axes.len();
    match (x.is_empty(), y.is_empty()) {
        (true, true) => false,
        (true, false) => axes.any(|i| named(y, i)),
        (false, true) => axes.any(|i| named(x, i) && grows(i)),
        (false, false) => {
            let common = axes.clone().any(|i| named(x, i) && named(y, i));
            common && axes.any(|i| named(x, i) && grows(i))
        }
    }
}

/// The bins of an axis by their labels: the first and the last of each label.
fn by_name<'a>(axis: &'a Axis) -> HashMap<&'a [u8], (usize, usize)> {
    let mut out: HashMap<&[u8], (usize, usize)> = HashMap::new();
    for (bin, name) in axis.names() {
        out.entry(name).or_insert((*bin, *bin)).1 = *bin;
    }
    out
}

/// Whether the second axis has labels that the first one lacks.
fn lacks_names(a: &Axis, b: &Axis) -> bool {
    let names = by_name(a);
    b.names().iter().any(|(_, name)| !names.contains_key(name.as_slice()))
}

/// Bins of one number are added. Labels may be missing on one side, but must not contradict each other, unless all bins
/// have labels and they are the same ones in another order.
fn by_number(a: &Axis, b: &Axis, either_is_empty: bool, letter: &str) -> Result<Joined> {
    let mut out = axes::join(a, b, letter)?;
    let renumbered = out.places(false).is_some_and(|p| (1..=a.bins).any(|bin| p.get(bin) != Some(&bin)));
    if renumbered && !a.names().is_empty() {
        return Err(Error::invalid(format!("has different limits on its {letter}, where bins have labels"))
            .with_remedy("use the same limits for all of them, or omit it"));
    }
    if either_is_empty || a.names().is_empty() || b.names().is_empty() || a.names() == b.names() {
        return Ok(out);
    }
    if a.same_bins(b)
        && let Some(places) = in_other_order(a, b)
    {
        out.second = Some(places);
        return Ok(out);
    }
    let names = by_name(a);
    let contradicts = |(bin, name): &(usize, Vec<u8>)| {
        let other_name = a.label(*bin).is_some_and(|n| n != name);
        other_name || names.get(name.as_slice()).is_some_and(|bins| *bins != (*bin, *bin))
    };
    if !a.same_bins(b) || b.names().iter().any(contradicts) {
        return Err(Error::invalid(format!("has different labels on its {letter}: {}, not {}", list(b), list(a)))
            .with_remedy("use the same labels for all of them, or omit it"));
    }
    Ok(out)
}

/// The new numbers of bins that all have labels, the same ones in another order.
fn in_other_order(a: &Axis, b: &Axis) -> Option<Vec<usize>> {
    let (l, m, bins) = (a.names(), b.names(), a.bins);
    if l.len() != bins || m.len() != bins {
        return None;
    }
    let mut places: Vec<usize> = (0..bins + 2).collect();
    let names = by_name(a);
    for (from, label) in m {
        let (to, _) = names.get(label.as_slice()).filter(|(first, last)| *first >= 1 && *last <= bins)?;
        *places.get_mut(*from)? = *to;
    }
    let mut seen = places.clone();
    seen.sort_unstable();
    seen.dedup();
    (seen.len() == bins + 2).then_some(places)
}

/// Bins of one label are added, and labels that the first one lacks follow its own, in the order in which the second
/// one's bins occur. The axis is the one over both, doubled until all have room (`TAxis::FindBin`,
/// `TH1::LabelsInflate`). `used` are the filled bins, in the order in which they occur.
fn by_names(a: &Axis, b: &Axis, used_a: &[usize], used_b: &[usize], letter: &str) -> Result<Joined> {
    let without_name = |which: &str| {
        Err(Error::invalid(format!("has bins with and without labels on its {letter}{which}"))
            .with_remedy("label all bins with contents, or omit it"))
    };
    for axis in [a, b] {
        let mut names: Vec<&[u8]> = axis.names().iter().map(|(_, n)| n.as_slice()).collect();
        names.sort_unstable();
        if names.windows(2).any(|w| w[0] == w[1]) {
            return Err(Error::invalid(format!("has the same label at two bins of its {letter}"))
                .with_remedy("rename one of them, or omit it"));
        }
    }
    let inner = |axis: &Axis, bin: usize| (1..=axis.bins).contains(&bin);
    let mut out = axes::join(a, b, letter)?;
    // bins keep their numbers, regardless of the limits
    (out.first, out.second, out.outside) = (None, None, [[true; 2]; 2]);
    let mut places: Vec<Option<usize>> = vec![None; b.bins + 2];
    let mut last = a.names().len();
    let by_name: HashMap<&[u8], usize> = a.names().iter().map(|(bin, name)| (name.as_slice(), *bin)).collect();
    let mut taken: HashSet<usize> = by_name.values().copied().collect();
    let filled: HashSet<usize> = used_a.iter().copied().filter(|bin| inner(a, *bin)).collect();
    for &bin in used_b.iter().filter(|bin| inner(b, **bin)) {
        let Some(name) = b.label(bin) else { continue };
        let known = by_name.get(name).copied();
        let to = match known {
            Some(to) => to,
            None if a.labels.is_none() => bin,
            None => {
                last += 1;
                last
            }
        };
        if known.is_none() {
            if filled.contains(&to) || !taken.insert(to) {
                return without_name("");
            }
            out.named.push((bin, to));
        }
        if let Some(place) = places.get_mut(bin) {
            *place = Some(to);
        }
    }
    let unchanged = (a.bins, a.low, a.high) == (out.bins, out.low, out.high);
    while out.bins < taken.iter().copied().max().unwrap_or(0) {
        out.high = out.low + 2.0 * (out.high - out.low);
        out.bins = out.bins.saturating_mul(2).max(1);
    }
    let grown = out.bins != a.bins;
    // bins without a label keep their number, if nothing of another meaning is there
    for &bin in used_b.iter().filter(|bin| inner(b, **bin) && b.label(**bin).is_none()) {
        if !a.same_bins(b) || taken.contains(&bin) {
            return without_name("");
        }
        if let Some(place) = places.get_mut(bin) {
            *place = Some(bin);
        }
    }
    if !unchanged && used_a.iter().any(|bin| inner(a, *bin) && a.label(*bin).is_none()) {
        return without_name(" in the file before");
    }
    let above = |n: usize| if n == 0 { 0 } else { out.bins + 1 };
    if grown {
        let whole = (0..a.bins + 2).map(|bin| if inner(a, bin) { bin } else { above(bin) });
        out.first = Some(whole.collect());
    }
    // empty bins have no new number: they add nothing anywhere
    let second = places.iter().enumerate();
    out.second = Some(second.map(|(bin, to)| if inner(b, bin) { to.unwrap_or(0) } else { above(bin) }).collect());
    if grown || !a.same_bins(b) {
        out.outside = [[false; 2]; 2];
    }
    Ok(out)
}

/// Adds the labels that the first one lacks to its list.
///
/// # Errors
/// `Unsupported` when a list does not match its class.
pub(super) fn add_names<'p>(joined: &Joined, a: &Axis<'p>, b: &Axis<'p>, changes: &mut Changes<'p>) -> Result<()> {
    if joined.named.is_empty() {
        return Ok(());
    }
    let strange = || Error::unsupported("has a list of labels in an unknown format");
    let (s, t) = (a.part.survey, b.part.survey);
    let theirs = t.child(b.part.node, Name::Labels).ok_or_else(strange)?;
    if let Some(f) = s.field(a.part.node, Name::AxisBits) {
        let bits = s.integer(a.part.node, Name::AxisBits).unwrap_or(0) | NAMED | EXTENDS;
        let mut bytes = Vec::new();
        put_integer(&mut bytes, f.code, bits)?;
        changes.edits.push(Edit { at: f.at.clone(), bytes });
    }
    let Some(mine) = s.child(a.part.node, Name::Labels) else {
        // no list, a null pointer: replaced by the other one's list
        let pointer = s.field(a.part.node, Name::Labels).ok_or_else(strange)?.at.clone();
        let part = t.nodes.get(theirs).ok_or_else(strange)?.at.clone();
        let at = pointer.start;
        changes.inserts.push(Insert { at, within: at, from: t, part, edits: Vec::new(), after: &[] });
        changes.edits.push(Edit { at: pointer, bytes: Vec::new() });
        return Ok(());
    };
    let (list, size) = (s.nodes.get(mine).ok_or_else(strange)?, s.field(mine, Name::Size).ok_or_else(strange)?);
    let mut bytes = Vec::new();
    let n = s.integer(mine, Name::Size).unwrap_or(0);
    put_integer(&mut bytes, size.code, n.saturating_add(joined.named.len() as i64))?;
    changes.edits.push(Edit { at: size.at.clone(), bytes });
    let mut items: HashMap<i64, usize> = HashMap::new();
    for item in t.children(theirs) {
        if let Some(number) = t.integer(item, Name::UniqueId) {
            items.entry(number).or_insert(item);
        }
    }
    for (from, to) in &joined.named {
        let item = *items.get(&(*from as i64)).ok_or_else(strange)?;
        let (node, id) = (t.nodes.get(item).ok_or_else(strange)?, t.field(item, Name::UniqueId).ok_or_else(strange)?);
        let mut bytes = Vec::new();
        put_integer(&mut bytes, id.code, *to as i64)?;
        changes.inserts.push(Insert {
            at: list.at.end,
            within: size.at.end,
            from: t,
            part: node.at.clone(),
            edits: vec![Edit { at: id.at.clone(), bytes }],
            // each item of a list is followed by an option: none
            after: &[0],
        });
    }
    Ok(())
}

fn list(axis: &Axis) -> String {
    let names = axis.names();
    if names.is_empty() {
        return "none".to_owned();
    }
    let shown: Vec<String> = names.iter().take(5).map(|(_, n)| text_of(n)).collect();
    format!("{}{}", shown.join(", "), if names.len() > 5 { ", …" } else { "" })
}
