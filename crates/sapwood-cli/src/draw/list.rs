//! Lists of entries: `>>list` without an expression.

use super::Draw;
use crate::failure::Failure;
use crate::reading::Reading;
use sapwood::query::{Binding, DrawnList, Entries, EntryListDraw, bind_each};
use sapwood::{Error, Result};
use std::ops::ControlFlow;

impl Draw {
    /// Whether it makes a list of entries.
    pub(super) fn is_list(&self) -> bool {
        self.expressions.is_empty()
    }

    /// Refuses what a list cannot have.
    pub(super) fn check_list(&self) -> Result<()> {
        if self.target.bins.is_empty() {
            return Ok(());
        }
        Err(Error::invalid(format!(">>{}: an entry list has no binning", self.target.name))
            .with_remedy("for a histogram, put an expression in front of >>"))
    }

    /// The entries that pass the cut; `session` are the lists that were made before.
    pub(super) fn fill_list(
        &self,
        reading: &Reading<'_>,
        chosen: Entries,
        session: &[DrawnList],
    ) -> Result<DrawnList, Failure> {
        reading.count(self.cut.iter())?;
        let binding = Binding::new(reading.first(), &[], self.cut.as_ref())?;
        let mut list = EntryListDraw::new(self.option.list);
        let bind = list.watch(bind_each(Vec::new(), self.cut.clone(), false));
        reading.each(chosen, &binding.branches, bind, |part| {
            let filled = reading.with(part, |query, batch| list.fill(&part.link, query, batch));
            filled.map_err(|e| e.in_file(part.link.tree.file().url()))?;
            Ok::<_, Failure>(ControlFlow::Continue(()))
        })?;
        let made = list.finish(&self.target.name, self.cut.as_ref());
        match session.iter().find(|l| l.name == made.name).filter(|_| self.target.append) {
            Some(there) => Ok(there.add(made)?),
            None => Ok(made),
        }
    }
}
