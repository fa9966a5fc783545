//! How jobs behave that were measured.

use crate::behaviour::Behaviour;
use crate::keys::Map;

#[derive(Default)]
pub(super) struct Behaviours {
    /// By workload and kind of file; by threads and the number of the route.
    numbers: Map<(u64, u64), u32>,
    all: Vec<Behaviour>,
}

impl Behaviours {
    pub(super) fn number(&self, key: (u64, u64)) -> Option<u32> {
        self.numbers.get(&key).copied()
    }

    pub(super) fn get(&self, number: u32) -> Option<&Behaviour> {
        self.all.get(number as usize)
    }

    pub(super) fn insert(&mut self, key: (u64, u64), measured: Behaviour) -> u32 {
        let number = self.all.len() as u32;
        self.all.push(measured);
        self.numbers.insert(key, number);
        number
    }
}
