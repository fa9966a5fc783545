//! Instances chosen one by one: items of the lists that entries have.

/// Of some entries of a tree the instances that are chosen; of the others all are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Instances {
    /// Ascending.
    entries: Vec<u64>,
    /// Where the numbers of each entry end.
    ends: Vec<usize>,
    /// Of each entry ascending.
    numbers: Vec<u32>,
}

impl Instances {
    /// Adds instances of an entry, which is behind all others; those of the last one are added to it.
    pub fn push(&mut self, entry: u64, numbers: &[u32]) {
        self.numbers.extend_from_slice(numbers);
        match (self.entries.last(), self.ends.last_mut()) {
            (Some(last), Some(end)) if *last == entry => *end = self.numbers.len(),
            _ => {
                self.entries.push(entry);
                self.ends.push(self.numbers.len());
            }
        }
    }

    /// Whether all instances of all entries are chosen.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The instances of an entry; none where all are chosen.
    pub fn of(&self, entry: u64) -> Option<&[u32]> {
        self.entries.binary_search(&entry).ok().and_then(|i| self.at(i))
    }

    fn at(&self, i: usize) -> Option<&[u32]> {
        let from = i.checked_sub(1).and_then(|i| self.ends.get(i)).copied().unwrap_or(0);
        self.numbers.get(from..*self.ends.get(i)?)
    }

    /// The entries with their instances.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[u32])> {
        self.entries.iter().enumerate().filter_map(|(i, entry)| Some((*entry, self.at(i)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_go_by_entry() {
        let mut instances = Instances::default();
        assert!(instances.is_empty());
        instances.push(3, &[0]);
        instances.push(3, &[2]);
        instances.push(7, &[]);
        instances.push(9, &[1]);
        assert_eq!(instances.of(3), Some([0, 2].as_slice()));
        assert_eq!(
            (instances.of(7), instances.of(8), instances.of(9)),
            (Some([].as_slice()), None, Some([1].as_slice()))
        );
        assert_eq!(instances.iter().map(|(e, n)| (e, n.len())).collect::<Vec<_>>(), [(3, 2), (7, 0), (9, 1)]);
    }
}
