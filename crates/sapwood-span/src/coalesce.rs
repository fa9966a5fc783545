use crate::Span;

/// One range to request, and the wanted spans that it serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coalesced {
    /// The range to request.
    pub span: Span,
    /// Indices into the slice given to [`coalesce`], in order of offset.
    pub members: Vec<usize>,
}

/// Joins spans that touch, overlap or are at most `max_gap` bytes apart, in order of offset.
///
/// A joined range grows no longer than `max_len` bytes, except that a single wanted span, and
/// spans that overlap it, are never cut. Empty spans are left out.
pub fn coalesce(spans: &[Span], max_gap: u64, max_len: u64) -> Vec<Coalesced> {
    let mut order: Vec<usize> = (0..spans.len()).filter(|&i| !spans[i].is_empty()).collect();
    order.sort_by_key(|&i| (spans[i].start, spans[i].len));
    let mut out: Vec<Coalesced> = Vec::new();
    for i in order {
        let s = spans[i];
        if let Some(last) = out.last_mut() {
            let end = last.span.end();
            let joined = end.max(s.end()) - last.span.start;
            let overlapping = s.start < end;
            if overlapping || (s.start - end <= max_gap && joined <= max_len) {
                last.span.len = joined;
                last.members.push(i);
                continue;
            }
        }
        out.push(Coalesced { span: s, members: vec![i] });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(spans: &[(u64, u64)], gap: u64, max: u64) -> Vec<(u64, u64, Vec<usize>)> {
        let spans: Vec<Span> = spans.iter().map(|&(s, l)| Span::new(s, l)).collect();
        coalesce(&spans, gap, max).into_iter().map(|c| (c.span.start, c.span.len, c.members)).collect()
    }

    #[test]
    fn joins_neighbours_in_offset_order() {
        assert_eq!(ranges(&[(20, 5), (10, 10), (40, 1)], 0, 1 << 20), [(10, 15, vec![1, 0]), (40, 1, vec![2])]);
    }

    #[test]
    fn bridges_only_small_gaps() {
        assert_eq!(ranges(&[(0, 10), (14, 6), (30, 1)], 4, 1 << 20), [(0, 20, vec![0, 1]), (30, 1, vec![2])]);
    }

    #[test]
    fn never_longer_than_allowed_unless_overlapping() {
        assert_eq!(ranges(&[(0, 10), (10, 10)], 0, 15), [(0, 10, vec![0]), (10, 10, vec![1])]);
        assert_eq!(ranges(&[(0, 10), (5, 10)], 0, 12), [(0, 15, vec![0, 1])]);
        assert_eq!(ranges(&[(0, 0), (3, 100)], 0, 12), [(3, 100, vec![1])]);
    }
}
