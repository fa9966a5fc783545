//! An object that is added to another, or to which another is added.

use sapwood_edit::survey::{Changes, Survey};
use sapwood_span::Result;

/// Adds the second object to the first by replacing bytes of the first.
pub(super) type Rule = for<'p> fn(Part<'p>, Part<'p>, &mut Changes<'p>) -> Result<()>;

/// One of two objects: its survey, and its number there.
#[derive(Clone, Copy)]
pub(super) struct Part<'p> {
    pub(super) survey: &'p Survey<'p>,
    pub(super) node: usize,
}

impl<'p> Part<'p> {
    /// Its class.
    pub(super) fn class(&self) -> &'p str {
        self.survey.nodes.get(self.node).map_or("", |n| &n.class)
    }

    /// Another object of the same survey.
    pub(super) fn at(&self, node: usize) -> Self {
        Self { survey: self.survey, node }
    }
}
