//! Entries of a friend by the values of two expressions.

/// Which entry of a friend has which values of two expressions: the first of those that have the same.
#[derive(Clone, Debug, Default)]
pub struct FriendIndex {
    /// Ascending.
    rows: Vec<(i64, i64, u64)>,
}

impl FriendIndex {
    /// Of rows in any order: both values, and the entry.
    pub fn new(mut rows: Vec<(i64, i64, u64)>) -> Self {
        if !rows.is_sorted() {
            rows.sort_unstable();
        }
        rows.dedup_by_key(|(major, minor, _)| (*major, *minor));
        Self { rows }
    }

    /// The entry with these values.
    pub fn entry(&self, major: i64, minor: i64) -> Option<u64> {
        let at = self.rows.partition_point(|(a, b, _)| (*a, *b) < (major, minor));
        self.rows.get(at).filter(|(a, b, _)| (*a, *b) == (major, minor)).map(|(_, _, entry)| *entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_entry_of_a_pair_counts() {
        let index = FriendIndex::new(vec![(1, 1, 6), (0, 2, 0), (1, 1, 3), (0, -1, 5)]);
        assert_eq!(index.entry(1, 1), Some(3));
        assert_eq!(index.entry(0, -1), Some(5));
        assert_eq!(index.entry(0, 1), None);
    }
}
