//! The parts of a file that caches count: branches that the same workloads read.

use crate::profile::Profile;
use crate::reader::ProxyMap;
use crate::scenario::{Protocol, Workload};
use sapwood_engine::bytes_of_beginning;
use sapwood_span::{Error, Result};

/// The parts of the files of one profile, and what each workload reads of them.
#[derive(Debug)]
pub(crate) struct Parts {
    /// Bytes of each part; the first is all that no workload chooses, the header among it.
    pub(crate) bytes: Vec<u64>,
    /// The baskets, if a proxy is to know them.
    pub(crate) map: ProxyMap,
    /// By workload: the branches it reads, and the first bytes that it needs of each part.
    pub(crate) reads: Vec<Option<Reads>>,
}

/// What a workload reads of a file.
#[derive(Debug)]
pub(crate) struct Reads {
    pub(crate) chosen: Vec<bool>,
    /// Number of the part, and bytes.
    pub(crate) wanted: Vec<(usize, u64)>,
}

impl Parts {
    /// `reads_it` says which workloads read such files.
    pub(crate) fn new(profile: &Profile, workloads: &[Workload], reads_it: impl Fn(usize) -> bool) -> Result<Self> {
        let mut kinds: Vec<Vec<bool>> = Vec::new();
        let mut kind_of: Vec<Option<usize>> = Vec::new();
        for (i, workload) in workloads.iter().enumerate() {
            if !reads_it(i) {
                kind_of.push(None);
                continue;
            }
            let chosen = profile.chosen(&workload.branches, workload.share);
            let kind = kinds.iter().position(|k| *k == chosen).unwrap_or_else(|| {
                kinds.push(chosen);
                kinds.len() - 1
            });
            kind_of.push(Some(kind));
        }
        if kinds.len() > 64 {
            return Err(Error::invalid("the workloads choose branches of a dataset in more than 64 ways"));
        }
        let masks = (0..profile.branches.len()).map(|b| {
            let reads = kinds.iter().enumerate().filter(|(_, k)| k.get(b).is_some_and(|&c| c));
            reads.fold(0u64, |mask, (i, _)| mask | 1 << i)
        });
        let mut known = vec![0u64];
        let part_of: Vec<usize> = masks
            .map(|mask| {
                known.iter().position(|&m| m == mask).unwrap_or_else(|| {
                    known.push(mask);
                    known.len() - 1
                })
            })
            .collect();
        if known.len() > 255 {
            return Err(Error::invalid("the choices of branches of a dataset overlap in more than 255 ways"));
        }
        let part = |branch: u32| part_of.get(branch as usize).copied().unwrap_or(0);
        let mut bytes = vec![0u64; known.len()];
        for basket in &profile.baskets {
            bytes[part(basket.branch)] += basket.span.len;
        }
        let rest = profile.file_bytes.saturating_sub(bytes.iter().skip(1).sum());
        // both ends of the file; baskets at its beginning are counted as such
        let to_open = |over_xrootd| {
            let both = profile.to_open.saturating_add(bytes_of_beginning(over_xrootd));
            both.min(rest).max(profile.to_open)
        };
        bytes[0] = rest.max(profile.to_open);
        let reads = workloads.iter().zip(kind_of).map(|(workload, kind)| {
            let chosen = kinds.get(kind?)?.clone();
            let entries = workload.entries_of(profile.entries);
            let mut wanted = vec![0u64; known.len()];
            wanted[0] = to_open(workload.protocol == Protocol::Xrootd);
            for b in profile.baskets.iter().filter(|b| b.first < entries) {
                if chosen.get(b.branch as usize).is_some_and(|&c| c) {
                    wanted[part(b.branch)] += b.span.len;
                }
            }
            let wanted = wanted.into_iter().enumerate().filter(|w| w.1 > 0).collect();
            Some(Reads { chosen, wanted })
        });
        Ok(Self { reads: reads.collect(), bytes, map: ProxyMap::default() })
    }
}
