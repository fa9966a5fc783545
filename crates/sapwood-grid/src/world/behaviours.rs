//! How jobs behave that were measured.

use crate::behaviour::Behaviour;
use crate::keys::Map;
use sapwood_span::Result;

/// The work of measuring jobs among others, in all: some seconds.
const MOST_WORK: u64 = 60_000_000;
/// That of one such measurement.
const EACH: u64 = 6_000_000;

pub(super) struct Behaviours {
    /// By workload and kind of file; by threads, the number of the route, and among how many.
    numbers: Map<(u64, u64), u32>,
    all: Vec<Behaviour>,
    work: u64,
}

impl Default for Behaviours {
    fn default() -> Self {
        Self { numbers: Map::default(), all: Vec::new(), work: MOST_WORK }
    }
}

impl Behaviours {
    pub(super) fn number(&self, key: (u64, u64)) -> Option<u32> {
        self.numbers.get(&key).copied()
    }

    pub(super) fn get(&self, number: u32) -> Option<&Behaviour> {
        self.all.get(number as usize)
    }

    /// Lets jobs be measured among others, if there is work left for it: the number of how one of them behaves, or else of how it does alone.
    pub(super) fn among(
        &mut self,
        key: (u64, u64),
        alone: u32,
        measure: impl FnOnce(&Behaviour, &mut u64) -> Result<Option<Behaviour>>,
    ) -> Result<u32> {
        if let Some(known) = self.number(key) {
            return Ok(known);
        }
        let mut work = self.work.min(EACH);
        self.work -= work;
        let measured = self.all.get(alone as usize).map_or(Ok(None), |alone| measure(alone, &mut work))?;
        self.work += work;
        Ok(match measured {
            Some(measured) => self.insert(key, measured),
            None => {
                self.numbers.insert(key, alone);
                alone
            }
        })
    }

    pub(super) fn insert(&mut self, key: (u64, u64), measured: Behaviour) -> u32 {
        let number = self.all.len() as u32;
        self.all.push(measured);
        self.numbers.insert(key, number);
        number
    }
}
