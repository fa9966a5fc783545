//! Which rows a block of entries has, and which value of each column belongs to each row.

use crate::program::{Access, Level, Space, Step};
use crate::view::{View, ViewLevel};
use std::ops::Range;

/// A value that does not exist (for example `x[1]` of an entry with one item; such an entry has no row).
pub(crate) const MISSING: usize = usize::MAX;

/// Where the values of one access lie.
#[derive(Clone, Debug)]
pub(crate) enum Positions {
    /// One after another, from here.
    Run(usize),
    /// Anywhere: one position per row (or per entry), perhaps [`MISSING`].
    Each(Vec<usize>),
    /// Found while evaluating: it depends on a computed index.
    Computed,
}

/// The rows of a block of entries in one space.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Where the rows of each entry begin; one more than the entries.
    pub starts: Vec<usize>,
    /// Whether each entry has exactly one row.
    pub one_each: bool,
    /// One per access; per entry for accesses that change with the entry, per row for the others.
    pub positions: Vec<Positions>,
    /// Index of each row in each dimension, kept where a computed index stands beside free ones.
    pub coordinates: Vec<Vec<usize>>,
}

impl Layout {
    /// Rows in all.
    pub(crate) fn rows(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The layout of entries `range` in `space`.
    pub(crate) fn new(space: &Space, views: &[View<'_>], range: Range<usize>) -> Self {
        let entries = range.len();
        let mut positions = Vec::with_capacity(space.accesses.len());
        let may_lack = |a: &Access| !a.is_whole() || views[a.column].present.is_some();
        let mut required = vec![true; if space.accesses.iter().any(may_lack) { entries } else { 0 }];
        for a in &space.accesses {
            if let Some(present) = views[a.column].present {
                required.iter_mut().zip(&present[range.clone()]).for_each(|(r, p)| *r &= p);
            }
            positions.push(entry_positions(a, &views[a.column], &range, &mut required));
        }
        let rows = Rows { space, views, range, required: &required };
        if space.dims == 0 {
            return rows.scalar(positions);
        }
        if let Some(layout) = rows.whole(&mut positions) {
            return layout;
        }
        if let Some(layout) = rows.shortest(&mut positions) {
            return layout;
        }
        rows.nested(positions)
    }
}

/// Positions of an access that changes with the entry; marks the entries that lack a required item.
fn entry_positions(a: &Access, view: &View<'_>, range: &Range<usize>, required: &mut [bool]) -> Positions {
    if a.level == Level::Entry && !a.is_computed() {
        if a.steps.is_empty() {
            return Positions::Run(range.start);
        }
        let mut each = Vec::with_capacity(range.len());
        for (entry, present) in range.clone().zip(required.iter_mut()) {
            let position = constant_walk(a, view, entry).map_or(MISSING, |(p, _)| p);
            *present &= position != MISSING;
            each.push(position);
        }
        return Positions::Each(each);
    }
    if matches!(a.steps.first(), Some(Step::At(_))) {
        for (entry, present) in range.clone().zip(required.iter_mut()) {
            *present &= constant_walk(a, view, entry).is_some();
        }
    }
    Positions::Computed
}

/// Follows the fixed indices that an access begins with.
fn constant_walk(a: &Access, view: &View<'_>, entry: usize) -> Option<(usize, usize)> {
    descend(a, view, entry, 0)
}

/// Follows fixed indices from `step` on, to the next other step; `None` where an item is missing.
fn descend(a: &Access, view: &View<'_>, mut position: usize, mut step: usize) -> Option<(usize, usize)> {
    while let Some(Step::At(item)) = a.steps.get(step) {
        let (from, count) = view.levels[step].children(position);
        if *item >= count {
            return None;
        }
        position = from + item;
        step += 1;
    }
    Some((position, step))
}

struct Rows<'p, 'a> {
    space: &'p Space,
    views: &'p [View<'a>],
    range: Range<usize>,
    required: &'p [bool],
}

impl Rows<'_, '_> {
    fn is_required(&self, i: usize) -> bool {
        self.required.get(i).copied().unwrap_or(true)
    }

    /// No instances: one row per entry that has every required item.
    fn scalar(&self, positions: Vec<Positions>) -> Layout {
        if !self.required.contains(&false) {
            let starts = (0..=self.range.len()).collect();
            return Layout { one_each: true, starts, positions, coordinates: Vec::new() };
        }
        let mut starts = Vec::with_capacity(self.range.len() + 1);
        let mut rows = 0;
        starts.push(0);
        for i in 0..self.range.len() {
            rows += usize::from(self.is_required(i));
            starts.push(rows);
        }
        Layout { one_each: rows == self.range.len(), starts, positions, coordinates: Vec::new() }
    }

    fn row_accesses(&self) -> impl Iterator<Item = (usize, &Access)> {
        self.space.accesses.iter().enumerate().filter(|(_, a)| a.steps.iter().any(|s| matches!(s, Step::Free(_))))
    }

    /// All columns have the same structure and are taken whole: their values lie in row order.
    fn whole(&self, positions: &mut [Positions]) -> Option<Layout> {
        if self.required.contains(&false) {
            return None;
        }
        let first = &self.views[self.row_accesses().next()?.1.column];
        for (_, a) in self.row_accesses() {
            let view = &self.views[a.column];
            if !a.is_whole() || a.steps.len() != self.space.dims || !same_structure(first, view, &self.range) {
                return None;
            }
        }
        let base = first.values_before(self.range.start);
        let starts: Vec<usize> = (self.range.start..=self.range.end).map(|e| first.values_before(e) - base).collect();
        for (i, a) in self.row_accesses() {
            positions[i] = Positions::Run(self.views[a.column].values_before(self.range.start));
        }
        Some(Layout { one_each: false, starts, positions: positions.to_vec(), coordinates: Vec::new() })
    }

    /// One dimension, columns of different lengths: to the shortest.
    fn shortest(&self, positions: &mut [Positions]) -> Option<Layout> {
        if self.space.dims != 1 || self.row_accesses().any(|(_, a)| a.steps.len() != 1) {
            return None;
        }
        let columns: Vec<(usize, ViewLevel<'_>)> =
            self.row_accesses().map(|(i, a)| (i, self.views[a.column].levels[0])).collect();
        let mut starts = Vec::with_capacity(self.range.len() + 1);
        let mut rows = 0;
        starts.push(0);
        for (i, entry) in self.range.clone().enumerate() {
            if self.is_required(i) {
                rows += columns.iter().map(|(_, l)| l.children(entry).1).min().unwrap_or(0);
            }
            starts.push(rows);
        }
        for (access, level) in columns {
            let mut each = Vec::with_capacity(rows);
            for (i, entry) in self.range.clone().enumerate() {
                let from = level.children(entry).0;
                each.extend(from..from + starts[i + 1] - starts[i]);
            }
            positions[access] = Positions::Each(each);
        }
        Some(Layout { one_each: false, starts, positions: positions.to_vec(), coordinates: Vec::new() })
    }

    /// Anything else: walks the dimensions of every entry.
    fn nested(&self, mut positions: Vec<Positions>) -> Layout {
        let walked: Vec<usize> = self.row_accesses().map(|(i, _)| i).collect();
        let mut walk = Walk {
            rows: self,
            each: vec![Vec::new(); walked.len()],
            walked,
            coordinates: vec![Vec::new(); self.space.dims],
            here: vec![0; self.space.dims],
            count: 0,
        };
        let mut starts = Vec::with_capacity(self.range.len() + 1);
        starts.push(0);
        for (i, entry) in self.range.clone().enumerate() {
            if self.is_required(i) {
                let cursors = walk.begin(entry);
                if let Some(cursors) = cursors {
                    walk.dimension(0, &cursors);
                }
            }
            starts.push(walk.count);
        }
        for (i, each) in walk.walked.iter().zip(walk.each) {
            if !self.space.accesses[*i].is_computed() {
                positions[*i] = Positions::Each(each);
            }
        }
        Layout { one_each: false, starts, positions, coordinates: walk.coordinates }
    }
}

/// Where an access stands: a position and the step to take next.
type Cursor = (usize, usize);

struct Walk<'r, 'p, 'a> {
    rows: &'r Rows<'p, 'a>,
    walked: Vec<usize>,
    each: Vec<Vec<usize>>,
    coordinates: Vec<Vec<usize>>,
    here: Vec<usize>,
    count: usize,
}

impl<'p> Walk<'_, 'p, '_> {
    fn access(&self, k: usize) -> (&'p Access, &'p View<'_>) {
        let rows = self.rows;
        let a = &rows.space.accesses[self.walked[k]];
        (a, &rows.views[a.column])
    }

    fn begin(&self, entry: usize) -> Option<Vec<Cursor>> {
        (0..self.walked.len())
            .map(|k| {
                let (a, view) = self.access(k);
                descend(a, view, entry, 0)
            })
            .collect()
    }

    /// All instances of dimension `dim`, from where the accesses stand.
    fn dimension(&mut self, dim: usize, cursors: &[Cursor]) {
        if dim == self.rows.space.dims {
            for (k, (position, _)) in cursors.iter().enumerate() {
                self.each[k].push(*position);
            }
            for (c, i) in self.coordinates.iter_mut().zip(&self.here) {
                c.push(*i);
            }
            self.count += 1;
            return;
        }
        let size = (0..cursors.len()).filter_map(|k| self.size(k, dim, cursors[k])).min().unwrap_or(0);
        let mut next = cursors.to_vec();
        'items: for item in 0..size {
            for k in 0..cursors.len() {
                let (a, view) = self.access(k);
                let (position, step) = cursors[k];
                if !matches!(a.steps.get(step), Some(Step::Free(d)) if *d == dim) {
                    continue;
                }
                let (from, _) = view.levels[step].children(position);
                match descend(a, view, from + item, step + 1) {
                    Some(cursor) => next[k] = cursor,
                    None => continue 'items,
                }
            }
            self.here[dim] = item;
            self.dimension(dim + 1, &next);
        }
    }

    /// How many items access `k` offers in dimension `dim`; `None` where it has no such dimension.
    fn size(&self, k: usize, dim: usize, (position, step): Cursor) -> Option<usize> {
        let (a, view) = self.access(k);
        match a.steps.get(step) {
            Some(Step::Free(d)) if *d == dim => Some(view.levels[step].children(position).1),
            // Behind a computed index only arrays of fixed size can be free.
            Some(Step::Computed(_)) => {
                let behind = a.steps.iter().position(|s| matches!(s, Step::Free(d) if *d == dim))?;
                match view.levels[behind] {
                    ViewLevel::Fixed(n) => Some(n),
                    ViewLevel::Jagged(_) => None,
                }
            }
            _ => None,
        }
    }
}

/// Whether two columns have the same number of items at every level, for these entries.
fn same_structure(a: &View<'_>, b: &View<'_>, range: &Range<usize>) -> bool {
    if a.levels.len() != b.levels.len() {
        return false;
    }
    let (mut at_a, mut at_b, mut count) = (range.start, range.start, range.len());
    for (x, y) in a.levels.iter().zip(&b.levels) {
        match (x, y) {
            (ViewLevel::Fixed(n), ViewLevel::Fixed(m)) if n == m => {
                (at_a, at_b, count) = (at_a * n, at_b * n, count * n);
            }
            (ViewLevel::Jagged(p), ViewLevel::Jagged(q)) => {
                let (p, q) = (&p[at_a..=at_a + count], &q[at_b..=at_b + count]);
                let shift = p[0] - q[0];
                if !std::ptr::eq(p, q) && p.iter().zip(q).any(|(s, t)| s - t != shift) {
                    return false;
                }
                let items = (p[count] - p[0]) as usize;
                (at_a, at_b, count) = (p[0] as usize, q[0] as usize, items);
            }
            _ => return false,
        }
    }
    true
}
