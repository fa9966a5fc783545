//! The ntuples of a file that is optimized.

use super::plan::boundaries;
use super::{OptimizeOptions, OptimizedTree, check, threads};
use crate::input::{Input, Reader};
use crate::ntuple::{InputNtuple, NtuplePlan, NtupleSum, NtupleSums};
use crate::output::Output;
use sapwood_engine::glob_match;
use sapwood_span::{Error, Result};

/// An ntuple, its new layout, and the sums of its elements once they are written.
pub(crate) struct PlannedNtuple {
    input: InputNtuple,
    plan: NtuplePlan,
    sums: NtupleSums,
}

/// Plans the new layout of all of them.
pub(super) fn plan_ntuples(ntuples: Vec<InputNtuple>, options: &OptimizeOptions) -> Result<Vec<PlannedNtuple>> {
    let plan = |input: InputNtuple| {
        let mut boundaries = boundaries(input.ntuple.entries, input.zip_bytes(), options.cluster);
        boundaries.extend(input.fixed_boundaries()?);
        boundaries.sort_unstable();
        boundaries.dedup();
        let (page_bytes, compression) = (options.basket_bytes as usize, options.compression);
        let plan = NtuplePlan { boundaries, page_bytes, compression, threads: threads(options) };
        Ok(PlannedNtuple { input, plan, sums: NtupleSums::default() })
    };
    ntuples.into_iter().map(plan).collect()
}

impl PlannedNtuple {
    pub(super) fn path(&self) -> &str {
        &self.input.path
    }

    /// Whether the pattern matches a field at its top.
    pub(super) fn has_field(&self, pattern: &str) -> bool {
        let fields = &self.input.ntuple.schema.fields;
        fields.iter().any(|f| f.parent.is_none() && glob_match(pattern, &f.name))
    }

    /// The number of its new clusters.
    pub(super) fn clusters(&self) -> u64 {
        self.plan.boundaries.len().saturating_sub(1) as u64
    }

    /// Writes its pages. `tell` is called after each cluster.
    pub(super) fn lay_out(
        &mut self,
        reader: &Reader,
        output: &mut Output,
        options: &OptimizeOptions,
        mut tell: impl FnMut(u64),
    ) -> Result<OptimizedTree> {
        let path = self.input.path.clone();
        let named = |e: Error| {
            let what = format!("ntuple {path}: {}", e.what());
            e.worded(what)
        };
        let mut sum = NtupleSum::new(&self.input, output.directory_of(&path), reader.name());
        let map = sum.adopt(&self.input).map_err(named)?;
        let (mut pages, mut bytes) = (0, 0);
        let done = self.input.lay_out(
            reader,
            &self.plan,
            (&mut sum, &map),
            |size, parts| {
                pages += parts.len() as u64;
                bytes += parts.iter().map(|part| part.len() as u64).sum::<u64>();
                let at = output.blob(size, parts)?;
                tell(output.position());
                Ok(at)
            },
            || check(options),
        );
        self.sums = done.map_err(named)?;
        output.add_ntuple(sum, pages);
        Ok(OptimizedTree {
            path: path.clone(),
            entries: self.input.ntuple.entries,
            clusters: self.clusters(),
            baskets: (self.input.stored.len() as u64, pages),
            bytes: (self.input.zip_bytes(), bytes),
            is_ntuple: true,
            ..OptimizedTree::default()
        })
    }

    /// Compares every element of the output with the input's.
    ///
    /// # Errors
    /// `Corrupt`, with the field and the entries that differ.
    pub(super) fn compare(&self, output: &Input, options: &OptimizeOptions) -> Result<()> {
        let path = &self.input.path;
        let found = output.ntuples.iter().find(|n| n.path == *path);
        let found = found.ok_or_else(|| Error::corrupt(format!("ntuple {path} is missing from the output")))?;
        found.compare(&output.reader, &self.plan, &self.sums, || check(options))
    }
}
