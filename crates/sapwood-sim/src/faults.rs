use sapwood_plan::{BasketId, Fetch, FetchId};

/// Faults, chosen by a seed: the same seed fails the same fetches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// Used together with the number of the fetch.
    pub seed: u64,
    /// Of 1000 fetches, how many break off somewhere.
    pub broken_per_mille: u16,
    /// Of 1000 fetches, how many leave out a basket.
    pub short_per_mille: u16,
    /// Baskets that never arrive: each fetch with one of them breaks off before it.
    pub unreadable: Vec<BasketId>,
}

/// The fault in a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It ends before this basket (by its index in the reply).
    Breaks(usize),
    /// This basket is missing from it.
    Lacks(usize),
}

impl Faults {
    pub(crate) fn of(&self, fetch: &Fetch) -> Option<Fault> {
        if let Some(i) = fetch.baskets().position(|b| self.unreadable.contains(&b)) {
            return Some(Fault::Breaks(i));
        }
        let count = fetch.baskets().count().max(1);
        let dice = self.dice(fetch.id);
        let place = (dice >> 32) as usize % count;
        let roll = (dice & 0xffff_ffff) % 1000;
        let broken = u64::from(self.broken_per_mille);
        if roll < broken {
            Some(Fault::Breaks(place))
        } else if roll < broken + u64::from(self.short_per_mille) {
            Some(Fault::Lacks(place))
        } else {
            None
        }
    }

    /// The finaliser of splitmix64 (Steele, Lea, Flood 2014).
    fn dice(&self, fetch: FetchId) -> u64 {
        let mut z = self.seed.wrapping_add(fetch.0.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
