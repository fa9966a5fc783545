//! A file divided into cells of equal size, each showing the largest part of its content.

use super::{Kind, MOST, Range};

/// What a cell shows; none where most of it is free.
pub(super) type Cell = Option<Kind>;

/// Divides `bytes` into `n` cells. Chosen baskets are shown wherever there are any: they are what the user looks for.
pub(super) fn cells(ranges: impl Iterator<Item = Range>, bytes: u64, n: usize) -> Vec<Cell> {
    // records, other baskets, each of the chosen
    let mut held = vec![[0u64; 2 + MOST]; n];
    let edge = |i: usize| (u128::from(bytes) * i as u128 / n.max(1) as u128) as u64;
    for Range { span, kind } in ranges {
        let place = match kind {
            Kind::Record => 0,
            Kind::Basket => 1,
            // with more trees than colours some share one
            Kind::Chosen(c) => 2 + c % MOST,
        };
        let (from, to) = (span.start, span.end().min(bytes));
        if from >= to {
            continue;
        }
        // the edges are rounded down: one cell earlier may be the right one
        let mut i = ((u128::from(from) * n as u128 / u128::from(bytes)) as usize).saturating_sub(1);
        while i < n && edge(i) < to {
            let within = to.min(edge(i + 1)).saturating_sub(from.max(edge(i)));
            if let Some(cell) = held.get_mut(i) {
                cell[place] += within;
            }
            i += 1;
        }
    }
    held.iter().enumerate().map(|(i, held)| shown(held, edge(i + 1) - edge(i))).collect()
}

fn shown(held: &[u64; 2 + MOST], size: u64) -> Cell {
    let [records, baskets, chosen @ ..] = held;
    let most = chosen.iter().enumerate().max_by_key(|(i, n)| (**n, MOST - i));
    match most {
        Some((i, n)) if *n > 0 => Some(Kind::Chosen(i)),
        _ if *baskets >= *records && *baskets > 0 => Some(Kind::Basket),
        // the header's hundred bytes must not show up in the map of a large file
        _ if *records > 0 && 2 * records >= size => Some(Kind::Record),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sapwood_span::Span;

    fn range(start: u64, len: u64, kind: Kind) -> Range {
        Range { span: Span::new(start, len), kind }
    }

    #[test]
    fn a_cell_shows_the_chosen_first() {
        let ranges = [
            range(0, 10, Kind::Record),
            range(10, 30, Kind::Basket),
            range(25, 1, Kind::Chosen(1)),
            range(26, 1, Kind::Chosen(0)),
            range(27, 1, Kind::Chosen(0)),
            range(79, 100, Kind::Basket),
        ];
        let seen = cells(ranges.into_iter(), 80, 8);
        let (record, basket, chosen) = (Some(Kind::Record), Some(Kind::Basket), Some(Kind::Chosen(0)));
        assert_eq!(seen, [record, basket, chosen, basket, None, None, None, basket]);
    }

    #[test]
    fn odd_sizes_lose_no_byte_and_cannot_overflow() {
        for n in [1, 3, 7, 1000] {
            let seen = cells([range(0, 101, Kind::Basket)].into_iter(), 101, n);
            assert!(seen.iter().filter(|c| c.is_some()).count() >= n.min(101), "{n}");
        }
        let far = [range(u64::MAX - 5, 5, Kind::Basket), range(0, u64::MAX, Kind::Record)];
        assert_eq!(cells(far.into_iter(), u64::MAX, 4).last(), Some(&Some(Kind::Record)));
        assert!(cells([range(5, 5, Kind::Basket)].into_iter(), 0, 4).iter().all(Option::is_none));
    }
}
