//! Changes to a tree's header: numbers, tables of baskets, removed branches.

use crate::survey::{Edit, Mark, Name, Node, Survey, array_code, put_integer};
use sapwood_format::streamer::code;
use sapwood_span::raw_text::text_of;
use sapwood_span::{Error, Result};

/// A `TObjArray` of null pointers: byte count, version 3, a `TObject`, no name, how many, lower bound 0. One slot for
/// every basket and the next, as in ROOT: its readers of old headers access them unchecked.
fn empty_places(n: usize) -> Vec<u8> {
    let count = (21 + 4 * n) as u32 | 0x4000_0000;
    let mut out = count.to_be_bytes().to_vec();
    out.extend_from_slice(&[0, 3, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    out.extend_from_slice(&(n as u32).to_be_bytes());
    out.resize(out.len() + 4 + 4 * n, 0);
    out
}

/// Removes branches from the header, and their leaves from the tree's list of leaves.
///
/// # Errors
/// `Invalid` when a remaining branch needs a removed one, as an array needs its counter.
pub fn drop_branches(s: &Survey, nodes: &[usize], edits: &mut Vec<Edit>) -> Result<()> {
    let gone: Vec<&Node> = nodes.iter().filter_map(|&n| s.nodes.get(n)).collect();
    // sub-branches are removed with their parent
    let outermost: Vec<&Node> = gone
        .iter()
        .filter(|n| !gone.iter().any(|o| o.at.start < n.at.start && n.at.end <= o.at.end))
        .copied()
        .collect();
    let within = |at: usize| outermost.iter().find(|n| n.at.contains(&at));
    edits.retain(|e| within(e.at.start).is_none());
    let mut removed: Vec<(usize, i64)> = Vec::new();
    let mut count = |list: usize| match removed.iter_mut().find(|(l, _)| *l == list) {
        Some((_, n)) => *n += 1,
        None => removed.push((list, 1)),
    };
    for n in &outermost {
        count(n.parent);
        edits.push(Edit { at: n.at.clone(), bytes: Vec::new() });
    }
    let leaves = s.find(|n| n.parent == 0 && n.via == Some(Name::Leaves)).next();
    for (at, mark) in &s.marks {
        let Mark::Object { target } = mark else { continue };
        if within(*at).is_some() || within(*target).is_none() {
            continue;
        }
        let list = leaves.filter(|&l| s.nodes.get(l).is_some_and(|l| l.at.contains(at)));
        let Some(list) = list else {
            let name = |at: usize| {
                let node = s.find(|n| n.class.starts_with("TBranch") && n.at.contains(&at)).last();
                let name = node.and_then(|n| s.text(n, Name::Identifier)).unwrap_or_default();
                text_of(name)
            };
            return Err(Error::invalid(format!(
                "branch {} requires branch {}, which would be dropped",
                name(*at),
                name(*target)
            ))
            .with_remedy("keep both"));
        };
        count(list);
        edits.push(Edit { at: *at..*at + 4, bytes: Vec::new() });
    }
    for (list, n) in removed {
        let size = s.integer(list, Name::Size).unwrap_or(0);
        set(s, list, Name::Size, Some(size - n), edits)?;
    }
    Ok(())
}

/// A header has room for at least this many baskets (`TBranch`'s initial tables).
const LEAST_BASKETS: usize = 10;

/// A basket in the new file.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// Position of its record.
    pub seek: u64,
    /// Bytes of the record.
    pub bytes: u32,
    /// Its first entry.
    pub first: u64,
}

/// Replaces a branch's tables of baskets; `end` is the entry after the last.
///
/// # Errors
/// When they exceed the limits of the header's version of ROOT.
pub fn set_baskets(s: &Survey, node: usize, baskets: &[Placed], end: u64, edits: &mut Vec<Edit>) -> Result<()> {
    let n = baskets.len();
    let places = LEAST_BASKETS.max(n + 1);
    set(s, node, Name::WriteBasket, Some(n as i64), edits)?;
    set(s, node, Name::MaxBaskets, Some(places as i64), edits)?;
    let filled = |values: &mut dyn Iterator<Item = u64>| {
        let mut out: Vec<u64> = values.collect();
        out.resize(places, 0);
        out
    };
    let bytes = filled(&mut baskets.iter().map(|b| u64::from(b.bytes)));
    let first = filled(&mut baskets.iter().map(|b| b.first).chain([end]));
    let seek = filled(&mut baskets.iter().map(|b| b.seek));
    set_array(s, node, Name::BasketBytes, &bytes, edits)?;
    set_array(s, node, Name::BasketEntry, &first, edits)?;
    set_array(s, node, Name::BasketSeek, &seek, edits)?;
    if let Some(f) = s.field(node, Name::Baskets) {
        edits.push(Edit { at: f.at.clone(), bytes: empty_places(n + 1) });
    }
    Ok(())
}

/// Replaces the ranges of clusters; false where the header's version of ROOT does not support any and there are some.
///
/// # Errors
/// When they exceed the limits of the header's version of ROOT.
pub fn set_ranges(s: &Survey, ranges: &[(u64, u64)], edits: &mut Vec<Edit>) -> Result<bool> {
    // versions of TTree before 19 have no ranges
    if s.field(0, Name::ClusterRanges).is_none() {
        return Ok(ranges.is_empty());
    }
    set(s, 0, Name::ClusterRanges, Some(ranges.len() as i64), edits)?;
    let ends: Vec<u64> = ranges.iter().map(|r| r.0).collect();
    let sizes: Vec<u64> = ranges.iter().map(|r| r.1).collect();
    set_array(s, 0, Name::ClusterRangeEnd, &ends, edits)?;
    set_array(s, 0, Name::ClusterSize, &sizes, edits)?;
    Ok(true)
}

/// Replaces a number, if the object has it.
pub fn set(s: &Survey, node: usize, name: Name, value: Option<i64>, edits: &mut Vec<Edit>) -> Result<()> {
    if let (Some(f), Some(value)) = (s.field(node, name), value) {
        let mut bytes = Vec::new();
        put_integer(&mut bytes, f.code, value)
            .map_err(|e| Error::new(e.kind(), format!("{}: {}", name.text(), e.what())))?;
        edits.push(Edit { at: f.at.clone(), bytes });
    }
    Ok(())
}

/// Replaces a counted array, if the object has it.
fn set_array(s: &Survey, node: usize, name: Name, values: &[u64], edits: &mut Vec<Edit>) -> Result<()> {
    let Some(f) = s.field(node, name) else { return Ok(()) };
    // until version 9 a flag of 2 marked 64-bit positions
    let wide = s.data.get(f.at.start) == Some(&2) || values.iter().any(|&v| v > i32::MAX as u64);
    let flag = match values.is_empty() {
        true => 0,
        false if name == Name::BasketSeek && f.version <= 9 && wide => 2,
        false => 1,
    };
    let item = if flag == 0 { code::INT } else { array_code(f, flag) };
    let mut bytes = vec![flag];
    for &v in values {
        let v = i64::try_from(v).map_err(|_| Error::unsupported(format!("{v} does not fit into 63 bits")))?;
        put_integer(&mut bytes, item, v)?;
    }
    edits.push(Edit { at: f.at.clone(), bytes });
    Ok(())
}
