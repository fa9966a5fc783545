//! A table of values by numbers. Where it is larger than the processor's cache, a place in it can be fetched ahead, which those of a general
//! map cannot; and a search goes to one place of memory.

use crate::keys::NumberHash;
use sapwood_pages::prefetch;
use std::hash::{BuildHasher, BuildHasherDefault};

/// No key is this number.
const NONE: u64 = u64::MAX;
/// Places of the smallest table.
const LEAST: usize = 16;

#[derive(Clone, Copy, Debug)]
struct Slot<V> {
    key: u64,
    value: V,
}

/// Values by their keys: each at the place of its key, or behind it.
#[derive(Clone, Debug)]
pub(crate) struct Lookup<V> {
    /// A power of two, of which half is used at most.
    slots: Vec<Slot<V>>,
    count: usize,
}

impl<V> Default for Lookup<V> {
    fn default() -> Self {
        Self { slots: Vec::new(), count: 0 }
    }
}

impl<V: Copy + Default> Lookup<V> {
    pub(crate) fn get(&self, key: u64) -> Option<V> {
        let slot = self.slots.get(self.find(key))?;
        (slot.key == key).then_some(slot.value)
    }

    /// A key will be looked for soon.
    pub(crate) fn prefetch(&self, key: u64) {
        if let Some(slot) = self.slots.get(self.place(key)) {
            prefetch(slot);
        }
    }

    /// The value of a key from now on.
    pub(crate) fn insert(&mut self, key: u64, value: V) {
        if 2 * self.count >= self.slots.len() {
            let places = (2 * self.slots.len()).max(LEAST);
            self.fill(places, |value| Some(value));
        }
        let at = self.find(key);
        if let Some(slot) = self.slots.get_mut(at) {
            self.count += usize::from(slot.key == NONE);
            *slot = Slot { key, value };
        }
    }

    /// Changes all values, or takes them out.
    pub(crate) fn change_all(&mut self, how: impl FnMut(V) -> Option<V>) {
        self.fill(self.slots.len(), how);
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    fn place(&self, key: u64) -> usize {
        BuildHasherDefault::<NumberHash>::default().hash_one(key) as usize & self.slots.len().saturating_sub(1)
    }

    /// Where a key is, or would be.
    fn find(&self, key: u64) -> usize {
        let mut at = self.place(key);
        while self.slots.get(at).is_some_and(|slot| slot.key != key && slot.key != NONE) {
            at = (at + 1) & (self.slots.len() - 1);
        }
        at
    }

    fn fill(&mut self, places: usize, mut how: impl FnMut(V) -> Option<V>) {
        let slots = vec![Slot { key: NONE, value: V::default() }; places];
        self.count = 0;
        for slot in std::mem::replace(&mut self.slots, slots).into_iter().filter(|slot| slot.key != NONE) {
            if let Some(value) = how(slot.value) {
                let at = self.find(slot.key);
                self.slots[at] = Slot { key: slot.key, value };
                self.count += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    proptest::proptest! {
        #[test]
        fn it_holds_what_a_map_holds(steps in proptest::collection::vec((0u64..99, 0u32..1000, 0u8..40), 1..400)) {
            let (mut table, mut plain) = (Lookup::default(), BTreeMap::new());
            for (key, value, what) in steps {
                match what {
                    0 => {
                        table.change_all(|value: u32| value.checked_sub(100));
                        plain = plain.into_iter().filter_map(|(key, value): (u64, u32)| Some((key, value.checked_sub(100)?))).collect();
                    }
                    1 => {
                        table.clear();
                        plain.clear();
                    }
                    _ => {
                        table.insert(key << 20, value);
                        plain.insert(key, value);
                    }
                }
                proptest::prop_assert_eq!(table.count, plain.len());
                for key in 0..99 {
                    proptest::prop_assert_eq!(table.get(key << 20), plain.get(&key).copied());
                }
            }
        }
    }
}
