//! Clusters of fields whose pages arrive one by one: they are decoded once all are here.

use crate::scan::task::{ClusterPages, DecodeTask, Record};
use sapwood_plan::BasketId;
use std::collections::HashMap;
use std::sync::Arc;

/// A cluster of a field, in the place of a basket.
struct Partial {
    /// Its pages; none where one is still to come.
    pages: Vec<Option<Record>>,
    missing: usize,
    /// The planner's numbers of those that came and that it counts as held.
    counted: Vec<BasketId>,
}

/// Those of which not all pages are here.
#[derive(Default)]
pub(super) struct PartialClusters {
    /// By the number of the basket.
    clusters: HashMap<usize, Partial>,
    /// Parts of clusters that are not decoded yet, by the number of the first, where one is.
    undone: HashMap<usize, usize>,
}

/// What is to be decoded.
fn task(basket: usize, pages: Vec<Option<Record>>) -> DecodeTask {
    let pages = ClusterPages::new(pages.into_iter().flatten().collect());
    DecodeTask::held(basket, Record::Pages(Arc::new(pages)))
}

impl PartialClusters {
    /// A cluster of which these pages are here; all are: what is to be decoded.
    pub(super) fn begin(&mut self, basket: usize, pages: Vec<Option<Record>>) -> Option<DecodeTask> {
        let missing = pages.iter().filter(|p| p.is_none()).count();
        if missing == 0 {
            return Some(task(basket, pages));
        }
        self.clusters.insert(basket, Partial { pages, missing, counted: Vec::new() });
        None
    }

    /// A page is here. Once it is the last, what is to be decoded; the planner gets all of them when that is done.
    pub(super) fn arrived(&mut self, basket: usize, page: u32, id: BasketId, record: Record) -> Option<DecodeTask> {
        let cluster = self.clusters.get_mut(&basket)?;
        let place = cluster.pages.get_mut(page as usize).filter(|p| p.is_none())?;
        *place = Some(record);
        cluster.missing -= 1;
        cluster.counted.push(id);
        if cluster.missing > 0 {
            return None;
        }
        let pages = self.clusters.remove(&basket)?.pages;
        Some(task(basket, pages))
    }

    /// One of so many parts of a cluster is decoded; whether it is the last. `first`: the number of its first part.
    pub(super) fn decoded(&mut self, first: usize, parts: usize) -> bool {
        let undone = self.undone.entry(first).or_insert(parts);
        *undone = undone.saturating_sub(1);
        let is_last = *undone == 0;
        if is_last {
            self.undone.remove(&first);
        }
        is_last
    }

    /// Nobody needs this cluster: the pages that came for nothing.
    pub(super) fn skip(&mut self, basket: usize) -> Vec<BasketId> {
        self.clusters.remove(&basket).map_or_else(Vec::new, |c| c.counted)
    }

    /// The pages of this cluster that the planner counts as held. It is waited for: they must not keep the planner from
    /// asking for the rest.
    pub(super) fn uncount(&mut self, needed: impl Fn(usize) -> bool) -> Vec<BasketId> {
        let wanted = self.clusters.iter_mut().filter(|(basket, _)| needed(**basket));
        wanted.flat_map(|(_, c)| std::mem::take(&mut c.counted)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn a_cluster_is_decoded_with_its_last_page() {
        let page = |n: u8| Record::Here(Bytes::from(vec![n]));
        let mut partial = PartialClusters::default();
        assert!(partial.begin(7, vec![None, Some(page(1)), None]).is_none());
        assert!(partial.arrived(7, 2, BasketId(5), page(2)).is_none());
        // the same again changes nothing
        assert!(partial.arrived(7, 2, BasketId(5), page(9)).is_none());
        assert_eq!(partial.uncount(|b| b == 7), [BasketId(5)]);
        assert_eq!(partial.uncount(|b| b == 7), []);
        let task = partial.arrived(7, 0, BasketId(4), page(0)).unwrap();
        let pages = ClusterPages::new(vec![page(0), page(1), page(2)]);
        assert_eq!((task.basket, task.record), (7, Record::Pages(Arc::new(pages))));
        assert_eq!([7, 7, 8, 7, 8].map(|b| partial.decoded(b, 10 - b)), [false, false, false, true, true]);
        assert!(partial.begin(8, Vec::new()).is_some(), "a cluster without pages");
        assert!(partial.begin(9, vec![None, None]).is_none());
        assert!(partial.arrived(9, 0, BasketId(6), page(0)).is_none());
        assert_eq!(partial.skip(9), [BasketId(6)]);
        assert!(partial.arrived(9, 1, BasketId(7), page(0)).is_none());
    }
}
